//! Centroids of few coordinates in a k-d tree, which follows while clusters merge: for Ward's linkage.

use super::closeness::{Closeness, SquaredEuclidean};
use super::kd_tree::Tree;
use super::ward::weight;
use crate::agglomerate::{Linkage, NOBODY, Nearest, Tolerance};
use crate::error::Result;

/// Centroids of up to so many coordinates are worth a tree.
pub(super) const FEW: usize = 8;
/// Centroids from which a tree pays.
pub(super) const TREE_FROM: usize = 256;
/// What a bound may be off by, relative.
const SLACK: f64 = 1e-14;
/// No node above, or no cluster.
const NONE: u32 = u32::MAX;
const GONE: f64 = 0.0;

/// Clusters by place in the tree; a merged cluster takes the place of its larger part.
pub(super) struct CentroidTree {
    tree: Tree,
    /// By place: the size, nothing where a cluster is gone, the smallest leaf, and the node.
    sizes: Vec<f64>,
    names: Vec<u32>,
    node_of: Vec<u32>,
    /// By smallest leaf.
    places: Vec<u32>,
    nodes: Vec<Known>,
    n_alive: usize,
    tolerance: Tolerance,
    /// Nodes that a search has still to look at, each with a bound of the similarities.
    stack: Vec<(f64, u32)>,
}

/// What a node has beside its box.
#[derive(Debug, Clone, Copy)]
struct Known {
    parent: u32,
    /// The least size, infinite where no cluster is left, and the smallest leaf of all.
    least: f64,
    first: u32,
}

impl CentroidTree {
    /// `points` are rows of `p` coordinates.
    pub(super) fn new(points: &[f64], p: usize, tolerance: Tolerance) -> Self {
        let n = points.len() / p;
        let mut this = Self {
            tree: Tree::new(&[], p),
            sizes: Vec::new(),
            names: Vec::new(),
            node_of: Vec::new(),
            places: vec![NONE; n],
            nodes: Vec::new(),
            n_alive: n,
            tolerance,
            stack: Vec::new(),
        };
        this.build(points, &vec![1.0; n], &(0..n as u32).collect::<Vec<_>>());
        this
    }

    fn build(&mut self, points: &[f64], sizes: &[f64], names: &[u32]) {
        self.tree = Tree::new(points, self.tree.p);
        self.sizes = self.tree.leaves.iter().map(|&at| sizes[at as usize]).collect();
        self.names = self.tree.leaves.iter().map(|&at| names[at as usize]).collect();
        for (place, &name) in (0..).zip(&self.names) {
            self.places[name as usize] = place;
        }
        self.nodes = vec![Known { parent: NONE, least: f64::INFINITY, first: NONE }; self.tree.nodes.len()];
        self.node_of = vec![0; self.sizes.len()];
        for at in 0..self.nodes.len() {
            let node = &self.tree.nodes[at];
            if node.second > 0 {
                self.nodes[at + 1].parent = at as u32;
                self.nodes[node.second as usize].parent = at as u32;
            } else {
                self.node_of[node.places.start as usize..node.places.end as usize].fill(at as u32);
            }
        }
        (0..self.nodes.len() as u32).rev().for_each(|node| self.look_again(node));
    }

    /// Leaves out what is gone.
    fn pack(&mut self) {
        let p = self.tree.p;
        let alive: Vec<usize> = (0..self.sizes.len()).filter(|&at| self.sizes[at] != GONE).collect();
        let points: Vec<f64> = alive.iter().flat_map(|&at| &self.tree.points[at * p..][..p]).copied().collect();
        let sizes: Vec<f64> = alive.iter().map(|&at| self.sizes[at]).collect();
        let names: Vec<u32> = alive.iter().map(|&at| self.names[at]).collect();
        self.build(&points, &sizes, &names);
    }

    /// Takes the box and what is known of a node from its children, or from its clusters.
    fn look_again(&mut self, at: u32) {
        let (p, own) = (self.tree.p, at as usize);
        let second = self.tree.nodes[own].second;
        let places = self.tree.nodes[own].places.clone();
        let (mut least, mut first) = (f64::INFINITY, NONE);
        let mut bounds = [[f64::INFINITY; FEW], [f64::NEG_INFINITY; FEW]];
        let mut cover = |low: &[f64], high: &[f64], size: f64, name: u32| {
            least = least.min(size);
            first = first.min(name);
            for d in 0..p {
                bounds[0][d] = bounds[0][d].min(low[d]);
                bounds[1][d] = bounds[1][d].max(high[d]);
            }
        };
        if second > 0 {
            for child in [own + 1, second as usize] {
                let (low, high) = self.tree.boxes[2 * p * child..][..2 * p].split_at(p);
                cover(low, high, self.nodes[child].least, self.nodes[child].first);
            }
        } else {
            for place in (places.start as usize..places.end as usize).filter(|&place| self.sizes[place] != GONE) {
                let point = self.tree.point(place);
                cover(point, point, self.sizes[place], self.names[place]);
            }
        }
        let own_box = &mut self.tree.boxes[2 * p * own..][..2 * p];
        own_box[..p].copy_from_slice(&bounds[0][..p]);
        own_box[p..].copy_from_slice(&bounds[1][..p]);
        self.nodes[own] = Known { least, first, ..self.nodes[own] };
    }

    /// What has changed at a place changes all nodes above it.
    fn tell(&mut self, place: usize) {
        let mut node = self.node_of[place];
        while node != NONE {
            self.look_again(node);
            node = self.nodes[node as usize].parent;
        }
    }

    fn similarity(&self, a: usize, b: usize) -> f64 {
        let pairs = self.tree.point(a).iter().zip(self.tree.point(b));
        let sum = pairs.fold(0.0, |sum, (&x, &y)| SquaredEuclidean::add(sum, x, y));
        -(sum * weight(self.sizes[a], self.sizes[b]))
    }

    /// At least the similarity with any cluster of a node.
    fn bound(&self, point: &[f64], size: f64, node: u32) -> f64 {
        let least = self.nodes[node as usize].least;
        if least == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        -(self.tree.to_box::<SquaredEuclidean>(point, node) * weight(size, least)) * (1.0 - SLACK)
    }
}

impl Linkage for CentroidTree {
    fn n_leaves(&self) -> usize {
        self.places.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        for (value, &k) in out.iter_mut().zip(others) {
            *value = self.similarity(self.places[i] as usize, self.places[k] as usize);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        let [a, b] = [i, j].map(|cluster| self.places[cluster] as usize);
        let (size, p) = (self.sizes[a] + self.sizes[b], self.tree.p);
        let share = self.sizes[b] / size;
        let (kept, gone) = if self.sizes[a] < self.sizes[b] { (b, a) } else { (a, b) };
        for d in 0..p {
            let (x, y) = (self.tree.points[a * p + d], self.tree.points[b * p + d]);
            self.tree.points[kept * p + d] = x + (y - x) * share;
        }
        (self.sizes[kept], self.names[kept], self.places[i]) = (size, i as u32, kept as u32);
        self.sizes[gone] = GONE;
        self.n_alive -= 1;
        if 2 * self.n_alive < self.sizes.len() {
            self.pack();
        } else {
            self.tell(kept);
            self.tell(gone);
        }
        Ok(())
    }

    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let own = self.places[i] as usize;
        let mut stack = std::mem::take(&mut self.stack);
        let (point, size, tolerance) = (self.tree.point(own), self.sizes[own], self.tolerance);
        let (mut near, mut floor) = (NOBODY, f64::NEG_INFINITY);
        stack.clear();
        stack.push((0.0, 0));
        while let Some((bound, node)) = stack.pop() {
            // Of equally near clusters that of the smallest leaf is the nearest.
            let too_late = || {
                self.nodes[node as usize].first as usize > near.cluster
                    && tolerance.key(bound) <= tolerance.key(near.similarity)
            };
            if bound < floor || too_late() {
                continue;
            }
            let second = self.tree.nodes[node as usize].second;
            if second > 0 {
                let children = [node + 1, second].map(|child| (self.bound(point, size, child), child));
                let nearer_last = if children[0].0 > children[1].0 { [children[1], children[0]] } else { children };
                stack.extend(nearer_last.into_iter().filter(|child| child.0 >= floor && child.0 > f64::NEG_INFINITY));
                continue;
            }
            let places = self.tree.nodes[node as usize].places.clone();
            for place in places.start as usize..places.end as usize {
                if place == own || self.sizes[place] == GONE {
                    continue;
                }
                let similarity = self.similarity(own, place);
                let cluster = self.names[place] as usize;
                if similarity >= floor && near.offer(Nearest { cluster, similarity, doubtful: false }, tolerance) {
                    floor = tolerance.floor(similarity);
                }
            }
        }
        self.stack = stack;
        Ok(near)
    }
}
