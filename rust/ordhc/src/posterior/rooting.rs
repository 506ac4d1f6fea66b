//! Moves of the root of a tree whose leaves have lengths.
//!
//! Answers depend only on the paths between leaves, and paths do not determine the root. With other heights and lengths
//! (Farris's transform), every node and every point of an edge can be the root of a tree with the same paths. So the
//! root is drawn from its prior. The prior favours equal lengths, likely sizes of nodes and likely increments of
//! height. One pass from the root down scores all possible roots, in O(n).

use super::height_tree::{HeightTree, Place};
use super::increments::Increments;
use super::lengths::Lengths;
use super::random::Random;

#[derive(Debug, Clone, Copy, Default)]
struct AsRoot {
    /// The mean length of leaves if the node is the root, minus the present mean length.
    mean: f64,
    /// The sum of the squared deviations of leaf lengths from their mean, if the node is the root.
    squares: f64,
    /// The total cost of inner nodes if the node is the root, minus the present total cost. The
    /// cost of a node with a given number of leaves is minus the logarithm of its prior weight.
    cost: f64,
}

pub(super) struct Rooting<'a> {
    pub(super) tree: &'a HeightTree,
    pub(super) order: &'a [u32],
    pub(super) sizes: &'a [u32],
    pub(super) lengths: &'a Lengths,
    pub(super) increments: &'a Increments,
}

impl Rooting<'_> {
    /// Returns the possible places of the root, with the logarithms of their weights: each inner node, and one random
    /// point on each edge. A point has the weight of its whole edge. The first place is the current root. If the
    /// current root has two children, it counts as a point on the edge between these children. `cost` returns the cost
    /// of a node with the given number of leaves (minus its log prior weight).
    pub(super) fn places(&self, cost: impl Fn(u32) -> f64, random: &mut Random) -> (Vec<Place>, Vec<f64>) {
        let Self { tree, order, increments, .. } = *self;
        let (root, n) = (tree.root(), tree.n_leaves() as u32);
        let is_on_edge = tree.degree(root) == 2;
        let sums = self.sums();
        let mut as_root = vec![AsRoot::default(); tree.n_nodes()];
        as_root[root as usize].squares = self.squares();
        let density = |squares: f64| -0.5 * squares / self.lengths.deviation().powi(2);
        let mut places = Vec::with_capacity(2 * order.len());
        let mut weights = Vec::with_capacity(2 * order.len());
        let here = density(as_root[root as usize].squares);
        if is_on_edge {
            let [length, point] = self.own_edge();
            places.push(Place::Beside(order[1], tree.height(root)));
            weights.push(here + increments.log_beside(0.0, length, f64::INFINITY, point));
        } else {
            places.push(Place::Under(root));
            weights.push(here);
        }
        for &node in &order[1..] {
            let parent = tree.parent(node);
            let above = as_root[parent as usize];
            let size = self.sizes[node as usize];
            // If the root moves to `parent`, the lengths of all leaves below `node` decrease by half of `rise`.
            let rise = tree.height(parent) - tree.height(root);
            let count = f64::from(size);
            let slope = count * above.mean - (sums[node as usize] - 0.5 * count * rise);
            let curvature = count * f64::from(n - size) / f64::from(n);
            let squares = |x: f64| above.squares + x * (2.0 * slope + x * curvature);
            let is_own_edge = is_on_edge && parent == root;
            let length = if tree.is_leaf(node) { f64::INFINITY } else { tree.height(node) - tree.height(parent) };
            // If the root moves below `parent`, to `node` or the edge above, `parent` keeps all leaves except those
            // below `node`.
            let split = if is_own_edge { 0.0 } else { above.cost + cost(n - size) };
            if !is_own_edge {
                let point = increments.new_height(0.0, length, random);
                places.push(Place::Beside(node, tree.height(parent) + point));
                let prior = increments.log_beside(0.0, length, f64::INFINITY, point);
                weights.push(density(squares(point)) + prior - split);
            }
            if !tree.is_leaf(node) {
                let mean = above.mean + 0.5 * length * (1.0 - 2.0 * count / f64::from(n));
                let there = AsRoot { mean, squares: squares(length), cost: split - cost(size) };
                as_root[node as usize] = there;
                places.push(Place::Under(node));
                weights.push(density(there.squares) - there.cost);
            }
        }
        (places, weights)
    }

    /// Draws another point for the root from the prior, on the edge between the two children of the
    /// root. Also returns the log weight of the point minus the log weight of the current root.
    /// Returns `None` if the root has more than two children.
    pub(super) fn another_point(&self, random: &mut Random) -> Option<(Place, f64)> {
        let Self { tree, increments, .. } = *self;
        let root = tree.root();
        if tree.degree(root) != 2 {
            return None;
        }
        let [length, point] = self.own_edge();
        let new = increments.new_height(0.0, length, random);
        // `point` and `new` are the distances of the current root and of the new root from `node`, an inner child of
        // the root.
        let node = self.inner_child();
        let count = f64::from(self.sizes[node as usize]);
        let n = tree.n_leaves() as f64;
        let x = point - new;
        let squares = x * (-2.0 * self.sums()[node as usize] + x * count * (n - count) / n);
        let prior = |point: f64| increments.log_beside(0.0, length, f64::INFINITY, point);
        let gain = prior(new) - prior(point) - 0.5 * squares / self.lengths.deviation().powi(2);
        Some((Place::Beside(node, tree.height(root) + x), gain))
    }

    fn inner_child(&self) -> u32 {
        let mut inner = self.tree.children(self.tree.root()).filter(|&child| !self.tree.is_leaf(child));
        inner.next().expect("two leaves are no tree with lengths")
    }

    /// Returns the length of the edge between the two children of the root, and the distance of the
    /// root from its inner child.
    fn own_edge(&self) -> [f64; 2] {
        let tree = self.tree;
        let rise = |child: u32| tree.height(child) - tree.height(tree.root());
        let of = |child: u32| if tree.is_leaf(child) { f64::INFINITY } else { rise(child) };
        [tree.children(tree.root()).map(of).sum(), rise(self.inner_child())]
    }

    /// Returns, for each node, the sum over its leaves of the leaf length minus the mean leaf length.
    fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.tree.n_nodes()];
        let mean = self.mean();
        for &node in self.order.iter().rev() {
            if self.tree.is_leaf(node) {
                sums[node as usize] = self.lengths.of(node) - mean;
            }
            if node != self.tree.root() {
                sums[self.tree.parent(node) as usize] += sums[node as usize];
            }
        }
        sums
    }

    fn mean(&self) -> f64 {
        self.lengths.values().iter().sum::<f64>() / self.tree.n_leaves() as f64
    }

    fn squares(&self) -> f64 {
        let mean = self.mean();
        self.lengths.values().iter().map(|length| (length - mean).powi(2)).sum()
    }
}

/// Moves the root to a node (`Under`), or to a point on the edge above a node (`Beside`). The height of the point must
/// be between the heights of the ends of the edge. The new root has height 0. All paths between leaves keep their
/// lengths, up to a constant. The mean length of leaves stays the same.
pub(super) fn move_root(tree: &mut HeightTree, order: &[u32], lengths: &mut Lengths, place: Place) {
    let old = tree.root();
    let (node, height) = match place {
        Place::Under(node) => (node, tree.height(node)),
        Place::Beside(node, height) => (node, height),
    };
    let mut is_on_path = vec![false; tree.n_nodes()];
    tree.ancestors(node).for_each(|above| is_on_path[above as usize] = true);
    // For each node: the height at which its path to the old root joins the path between the old and the new root.
    let mut meets = vec![height; tree.n_nodes()];
    for &at in order {
        if is_on_path[at as usize] {
            meets[at as usize] = tree.height(at);
        } else if at != node {
            meets[at as usize] = meets[tree.parent(at) as usize];
        }
    }
    let half = 0.5 * (height + tree.height(old));
    let n = tree.n_leaves() as u32;
    let change = |leaf: u32| half - meets[leaf as usize];
    let mean = (0..n).map(change).sum::<f64>() / f64::from(n);
    (0..n).for_each(|leaf| lengths.set(leaf, lengths.of(leaf) + change(leaf) - mean));
    for &at in order.iter().filter(|&&at| at >= n) {
        tree.set_height(at, tree.height(at) + height - 2.0 * meets[at as usize]);
    }
    tree.put_root(place);
    tree.set_height(tree.root(), 0.0);
}
