//! How likely every place is, after answers of which some are wrong.

use super::growing_tree::NONE;
use super::sized_tree::SizedTree;

/// A node of the tree whose weights are known one by one. One that is not open has equal weights on all
/// places at and below it.
#[derive(Debug, Clone, Copy)]
struct Spot {
    node: u32,
    up: u32,
    /// The first of the two children, which stand side by side; [`NONE`] if it is not open.
    first: u32,
    /// The weight of the place beside the node, and of all places at and below it.
    own: f64,
    sum: f64,
    /// What the children have yet to be multiplied with.
    owed: f64,
}

/// A distribution over the places of a [`SizedTree`], uniform at first.
///
/// An answer multiplies the weights on both sides below its pivot and outside it. This takes time in
/// proportion to the depth of the pivot, and memory only for the nodes that were looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Posterior {
    spots: Vec<Spot>,
    path: Vec<u32>,
    stack: Vec<u32>,
}

/// Weights stay within these bounds, so that no place is ever ruled out for good.
const BOUNDS: [f64; 2] = [1e-250, 1e250];

fn scaled(weight: f64, factor: f64) -> f64 {
    (weight * factor).clamp(BOUNDS[0], BOUNDS[1])
}

impl Posterior {
    /// Makes all places of the tree equally likely.
    pub(crate) fn reset(&mut self, tree: &SizedTree) {
        let own = 1.0 / tree.places(tree.root());
        self.spots.clear();
        self.spots.push(Spot { node: tree.root(), up: NONE, first: NONE, own, sum: 1.0, owed: 1.0 });
    }

    fn multiply(&mut self, at: u32, factor: f64) {
        let spot = &mut self.spots[at as usize];
        spot.own = scaled(spot.own, factor);
        spot.sum = scaled(spot.sum, factor);
        if spot.first != NONE {
            spot.owed = scaled(spot.owed, factor);
        }
    }

    /// The children of a spot with their weights, unless it is a leaf.
    fn open(&mut self, tree: &SizedTree, at: u32) -> Option<[u32; 2]> {
        let Spot { node, first, own, owed, .. } = self.spots[at as usize];
        if first != NONE {
            if owed != 1.0 {
                self.spots[at as usize].owed = 1.0;
                self.multiply(first, owed);
                self.multiply(first + 1, owed);
            }
            return Some([first, first + 1]);
        }
        let children = tree.children(node)?;
        let first = self.spots.len() as u32;
        self.spots[at as usize].first = first;
        self.spots.extend(children.map(|node| {
            let sum = scaled(own, tree.places(node));
            Spot { node, up: at, first: NONE, own, sum, owed: 1.0 }
        }));
        Some([first, first + 1])
    }

    /// The spot of a node.
    fn find(&mut self, tree: &SizedTree, node: u32) -> u32 {
        let mut path = std::mem::take(&mut self.path);
        tree.path(node, &mut path);
        let mut at = 0;
        for &next in &path[1..] {
            let Some([first, second]) = self.open(tree, at) else { break };
            at = if self.spots[first as usize].node == next { first } else { second };
        }
        self.path = path;
        at
    }

    /// Makes sums right from a spot up, and the whole 1.
    fn settle(&mut self, from: u32) {
        let mut at = from;
        while at != NONE {
            let Spot { up, first, own, .. } = self.spots[at as usize];
            if first != NONE {
                let below = self.spots[first as usize].sum + self.spots[first as usize + 1].sum;
                self.spots[at as usize].sum = own + below;
            }
            at = up;
        }
        self.multiply(0, 1.0 / self.spots[0].sum);
    }

    /// Multiplies the weights below the child of `pivot` towards `first`, below its other child, and
    /// outside.
    pub(crate) fn update(&mut self, tree: &SizedTree, pivot: u32, first: u32, factors: [f64; 3]) {
        self.multiply(0, factors[2]);
        let at = self.find(tree, pivot);
        let Some(children) = self.open(tree, at) else { return };
        let side = tree.child_towards(pivot, first);
        for child in children {
            let which = usize::from(self.spots[child as usize].node != side);
            self.multiply(child, factors[which] / factors[2]);
        }
        self.settle(at);
    }

    /// A leaf was put beside `node`, under the new `parent`: the new places are as likely as that one was.
    /// `path` has the nodes above `parent`, from the root down.
    pub(crate) fn insert(&mut self, tree: &SizedTree, path: &[u32], node: u32, [parent, leaf]: [u32; 2]) {
        let mut at = 0;
        for next in path.iter().skip(1).chain((!path.is_empty()).then_some(&node)) {
            if self.spots[at as usize].first == NONE {
                break;
            }
            let Some([first, second]) = self.open(tree, at) else { break };
            at = if self.spots[first as usize].node == *next { first } else { second };
        }
        let old = self.spots[at as usize];
        if old.node != node {
            self.spots[at as usize].sum += 2.0 * old.own;
            return self.settle(at);
        }
        let first = self.spots.len() as u32;
        self.spots.push(Spot { up: at, ..old });
        self.spots.push(Spot { node: leaf, up: at, first: NONE, own: old.own, sum: old.own, owed: 1.0 });
        self.spots[at as usize] = Spot { node: parent, first, owed: 1.0, ..old };
        if old.first != NONE {
            for child in [old.first, old.first + 1] {
                self.spots[child as usize].up = first;
            }
        }
        self.settle(at);
    }

    /// How likely the place beside a node is.
    pub(crate) fn weight(&mut self, tree: &SizedTree, node: u32) -> f64 {
        let at = self.find(tree, node);
        self.spots[at as usize].own
    }

    /// The likeliest place.
    pub(crate) fn heaviest(&mut self, tree: &SizedTree) -> (u32, f64) {
        let mut best = (self.spots[0].node, self.spots[0].own);
        self.stack.clear();
        self.stack.push(0);
        while let Some(at) = self.stack.pop() {
            let Spot { node, first, own, sum, .. } = self.spots[at as usize];
            if own > best.1 {
                best = (node, own);
            }
            if first != NONE && sum > best.1 {
                self.open(tree, at);
                self.stack.extend([first, first + 1]);
            }
        }
        best
    }

    /// The pivot of largest value, and its value, among those that may be asked.
    ///
    /// `value` is given the weights below both children and outside; it must be largest for equal weights
    /// and the same in any order of them, as entropies are.
    pub(crate) fn pivot(
        &mut self,
        tree: &SizedTree,
        value: impl Fn([f64; 3]) -> f64,
        may: impl Fn(u32) -> bool,
    ) -> Option<(u32, f64)> {
        let mut best: Option<(u32, f64)> = None;
        self.stack.clear();
        self.stack.push(0);
        while let Some(at) = self.stack.pop() {
            let Spot { node, sum, .. } = self.spots[at as usize];
            // Outside a node below this one is more than outside this one.
            let bound =
                |sum: f64| if sum > 2.0 / 3.0 { f64::INFINITY } else { value([sum / 2.0, sum / 2.0, 1.0 - sum]) };
            if best.is_some_and(|best| bound(sum) <= best.1) {
                continue;
            }
            let Some([first, second]) = self.open(tree, at) else { continue };
            let below = [first, second].map(|child| self.spots[child as usize].sum);
            if may(node) {
                let value = value([below[0], below[1], (1.0 - below[0] - below[1]).max(0.0)]);
                if best.is_none_or(|best| value > best.1) {
                    best = Some((node, value));
                }
            }
            // The heavier one first.
            self.stack.extend(if below[0] > below[1] { [second, first] } else { [first, second] });
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn entropy(parts: [f64; 3]) -> f64 {
        -parts.iter().map(|part| 0.05 + 0.85 * part).map(|q| q * q.ln()).sum::<f64>()
    }

    fn is_below(tree: &SizedTree, node: u32, top: u32) -> bool {
        let up = |&node: &u32| Some(tree.tree().parent(node)).filter(|&up| up != NONE);
        std::iter::successors(Some(node), up).any(|node| node == top)
    }

    fn any_pivot(tree: &SizedTree, random: &mut impl Rng) -> (u32, [u32; 2]) {
        loop {
            let node = random.random_range(0..tree.tree().len() as u32);
            if let Some(children) = tree.children(node) {
                return (node, children);
            }
        }
    }

    #[test]
    fn weights_are_those_of_a_list() {
        for seed in 0..40 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut tree = SizedTree::new(0);
            for leaf in 1..3 + seed as u32 {
                tree.insert(random.random_range(0..tree.tree().len() as u32), leaf);
            }
            let mut weights = vec![1.0; tree.tree().len()];
            let mut posterior = Posterior::default();
            posterior.reset(&tree);
            for step in 0..60 {
                if step % 5 == 4 {
                    let node = random.random_range(0..tree.tree().len() as u32);
                    let new = tree.insert(node, 1000 + step);
                    weights.resize(tree.tree().len(), weights[node as usize]);
                    let mut path = Vec::new();
                    tree.path(new[0], &mut path);
                    path.pop();
                    posterior.insert(&tree, &path, node, new);
                } else {
                    let (pivot, children) = any_pivot(&tree, &mut random);
                    let first = children[random.random_range(0..2)];
                    // Below the child, so that the child is found again.
                    let first = tree.children(first).map_or(first, |children| children[0]);
                    let factors = [0.1, 0.7, 0.2];
                    posterior.update(&tree, pivot, first, factors);
                    let side = tree.child_towards(pivot, first);
                    for (node, weight) in weights.iter_mut().enumerate() {
                        let node = node as u32;
                        let is_inside = node != pivot && is_below(&tree, node, pivot);
                        *weight *= factors[if is_below(&tree, node, side) { 0 } else { 2 - usize::from(is_inside) }];
                    }
                }
                let total: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|weight| *weight /= total);
                let part = |top: u32| -> f64 {
                    let nodes = 0..weights.len() as u32;
                    nodes.filter(|&node| is_below(&tree, node, top)).map(|node| weights[node as usize]).sum()
                };
                let value = |node: u32| {
                    let [first, second] = tree.children(node).unwrap().map(part);
                    entropy([first, second, 1.0 - first - second])
                };
                let inner = || (0..weights.len() as u32).filter(|&node| tree.children(node).is_some());
                let best = inner().map(value).fold(0.0, f64::max);
                let (pivot, found) = posterior.pivot(&tree, entropy, |_| true).unwrap();
                assert!((found - best).abs() < 1e-9 && (value(pivot) - best).abs() < 1e-9);
                let odd = inner().filter(|node| node % 2 == 1).map(value).fold(0.0, f64::max);
                let found = posterior.pivot(&tree, entropy, |node| node % 2 == 1);
                assert!((found.map_or(0.0, |found| found.1) - odd).abs() < 1e-9);
                let largest = weights.iter().fold(0.0, |a: f64, b| a.max(*b));
                assert!((posterior.heaviest(&tree).1 - largest).abs() < 1e-12);
                let node = random.random_range(0..weights.len());
                assert!((posterior.weight(&tree, node as u32) - weights[node]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn nothing_is_ruled_out() {
        let mut tree = SizedTree::new(0);
        let [root, leaf] = tree.insert(0, 1);
        let mut posterior = Posterior::default();
        posterior.reset(&tree);
        for factors in [[1.0, 1e-3, 1e-3], [1e-3, 1.0, 1e-3]] {
            (0..400).for_each(|_| posterior.update(&tree, root, leaf, factors));
        }
        assert!(posterior.weight(&tree, 0) > 0.99);
    }
}
