//! The probabilities of all positions in a tree for a new leaf, given answers that may be wrong.

use std::collections::HashMap;

use super::growing_tree::NONE;
use super::place::Place;
use super::sized_tree::SizedTree;
use crate::sorting::order_by;

/// The weights of the positions for a new leaf at and below a node.
///
/// If the children of this node have no spots, each position beside a node at or below this node has the weight `own`.
/// Each position under such a node has `own` times [`Posterior::under`].
#[derive(Debug, Clone, Copy)]
struct Spot {
    node: u32,
    up: u32,
    /// The index in `spots` of the first child, or [`NONE`] if the children have no spots. Siblings are a linked list.
    first: u32,
    next: u32,
    degree: u32,
    /// The weight of the position beside the node (on the edge above it).
    own: f64,
    /// The total weight of the position beside the node and of all positions below the node.
    sum: f64,
    /// To get probabilities, multiply `under`, `below` and all weights in the spots below this node by `scale`.
    scale: f64,
    /// The weight of the position under the node (as one more child).
    under: f64,
    below: f64,
    /// The largest value of `below` since `below` was last summed over all children. In between, `below` is updated by
    /// adding differences, which accumulates rounding errors.
    summed: f64,
}

/// A probability distribution over the positions for a new leaf in a [`SizedTree`]. At first, all positions beside
/// nodes (on the edges above them) are equally likely. All positions under nodes (as one more child) are equally
/// likely, too.
///
/// An answer is about two children of a node, the *pivot*. The answer multiplies the weights of four groups of
/// positions: at or below the first child, at or below the second child, outside the pivot, and all other positions
/// below the pivot. An update takes time in proportion to the depth of the pivot. Memory is used only for the nodes
/// that were visited.
#[derive(Debug, Clone, Default)]
pub(crate) struct Posterior {
    spots: Vec<Spot>,
    /// The initial weight of a position under a node, relative to a position beside a node.
    under: f64,
    crowd: HashMap<u32, u32>,
    path: Vec<u32>,
    stack: Vec<(u32, f64)>,
}

pub(crate) type Pivot = (u32, [u32; 2], f64);

/// The bounds of the weights of positions. No weight becomes 0, so no position is ruled out permanently.
const BOUNDS: [f64; 2] = [1e-250, 1e250];

/// Maximum number of children of a node that a loop visits after every answer. For nodes with more children, a hash map
/// finds a child, and the total weight of the children is updated by differences.
const CROWD: u32 = 8;

fn scaled(weight: f64, factor: f64) -> f64 {
    (weight * factor).clamp(BOUNDS[0], BOUNDS[1])
}

impl Posterior {
    pub(crate) fn reset(&mut self, tree: &SizedTree, under: f64) {
        let root = tree.root();
        self.under = under;
        self.spots.clear();
        self.crowd.clear();
        let own = 1.0 / (tree.nodes(root) + under * tree.inner(root));
        self.spots.push(Self::closed(root, NONE, own, 1.0));
    }

    fn closed(node: u32, up: u32, own: f64, sum: f64) -> Spot {
        let (first, next) = (NONE, NONE);
        Spot { node, up, first, next, degree: 0, own, sum, scale: 1.0, under: 0.0, below: 0.0, summed: 0.0 }
    }

    fn multiply(&mut self, at: u32, factor: f64) {
        let spot = &mut self.spots[at as usize];
        spot.own = scaled(spot.own, factor);
        spot.sum = scaled(spot.sum, factor);
        if spot.first != NONE {
            spot.scale = scaled(spot.scale, factor);
        }
    }

    /// Adds a [`Spot`] for each child of the node, unless the children already have spots. Returns true if the node has
    /// children.
    fn open(&mut self, tree: &SizedTree, at: u32) -> bool {
        let Spot { node, first, own, .. } = self.spots[at as usize];
        if first != NONE || tree.degree(node) == 0 {
            return first != NONE;
        }
        for child in tree.tree().children(node) {
            let sum = scaled(own, tree.nodes(child) + self.under * tree.inner(child));
            self.adopt(at, Self::closed(child, at, own, sum));
        }
        let under = scaled(own, self.under);
        let spot = &mut self.spots[at as usize];
        (spot.scale, spot.under) = (1.0, under);
        self.sum(at);
        true
    }

    fn adopt(&mut self, at: u32, child: Spot) {
        let new = self.spots.len() as u32;
        let above = &mut self.spots[at as usize];
        let next = std::mem::replace(&mut above.first, new);
        above.degree += 1;
        let degree = above.degree;
        self.spots.push(Spot { up: at, next, ..child });
        if degree == CROWD + 1 {
            for each in self.children(at).collect::<Vec<_>>() {
                self.crowd.insert(self.spots[each as usize].node, each);
            }
        } else if degree > CROWD {
            self.crowd.insert(child.node, new);
        }
    }

    fn children(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |at: u32| (at != NONE).then_some(at);
        std::iter::successors(some(self.spots[at as usize].first), move |&child| some(self.spots[child as usize].next))
    }

    fn sum(&mut self, at: u32) {
        let below: f64 = self.children(at).map(|child| self.spots[child as usize].sum).sum();
        let spot = &mut self.spots[at as usize];
        spot.below = below + spot.under;
        spot.summed = spot.below;
    }

    fn child(&self, at: u32, node: u32) -> u32 {
        if self.spots[at as usize].degree > CROWD {
            return self.crowd[&node];
        }
        self.children(at).find(|&child| self.spots[child as usize].node == node).expect("an open spot has all children")
    }

    fn find(&mut self, tree: &SizedTree, node: u32) -> (u32, f64) {
        let mut path = std::mem::take(&mut self.path);
        tree.path(node, &mut path);
        let (mut at, mut unit) = (0, 1.0);
        for &next in &path[1..] {
            if !self.open(tree, at) {
                break;
            }
            unit *= self.spots[at as usize].scale;
            at = self.child(at, next);
        }
        self.path = path;
        (at, unit)
    }

    /// Corrects the sums of weights from a node up to the root, after the weight below the node has grown by `more`.
    /// Then normalizes the total to 1.
    fn settle(&mut self, from: u32, more: f64) {
        let (mut at, mut more) = (from, more);
        while at != NONE {
            let Spot { up, first, degree, below, summed, .. } = self.spots[at as usize];
            if first != NONE {
                self.spots[at as usize].below = below + more;
                // After a large decrease, rounding errors of earlier changes are large compared to `below`, so sum
                // again.
                if degree <= CROWD || below + more < 0.5 * summed {
                    self.sum(at);
                }
                let spot = &mut self.spots[at as usize];
                spot.summed = spot.summed.max(spot.below);
                let sum = spot.own + scaled(spot.below, spot.scale);
                more = sum - std::mem::replace(&mut spot.sum, sum);
            }
            at = up;
        }
        self.multiply(0, 1.0 / self.spots[0].sum);
    }

    /// Multiplies the weights by `factors`, one for each of the four groups of positions (see [`Posterior`]). For each
    /// of the two children, `pair` has the child or any node below the child.
    pub(crate) fn update(&mut self, tree: &SizedTree, pivot: u32, pair: [u32; 2], factors: [f64; 4]) {
        let [first, second, outside, neither] = factors;
        let (at, _) = self.find(tree, pivot);
        if !self.open(tree, at) {
            return;
        }
        let mut more = 0.0;
        for (node, factor) in pair.into_iter().zip([first, second]) {
            let child = self.child(at, tree.child_towards(pivot, node));
            more -= self.spots[child as usize].sum;
            self.multiply(child, factor / neither);
            more += self.spots[child as usize].sum;
        }
        let spot = &mut self.spots[at as usize];
        spot.scale = scaled(spot.scale, neither / outside);
        self.settle(at, more);
    }

    /// Updates the weights after another leaf was inserted at the position `place`. `path` has the nodes from the root
    /// down to `parent`, the parent of the inserted leaf.
    ///
    /// The insertion makes new edges, and each edge is a position. Each new edge gets the weight of `place`. If `spots`
    /// does not store this weight, the new edges get the weight `own` of the closest node that is in `spots`, at
    /// `place` or above.
    pub(crate) fn insert(&mut self, path: &[u32], place: Place, [parent, leaf]: [u32; 2]) {
        let (Place::Above(node) | Place::Under(node)) = place;
        let mut at = 0;
        for &next in path[1..].iter().map(|next| if *next == parent { &node } else { next }) {
            if self.spots[at as usize].first == NONE {
                break;
            }
            at = self.child(at, next);
        }
        let old = self.spots[at as usize];
        let is_there = old.node == node;
        match place {
            Place::Above(_) if is_there => {
                let kept = self.spots.len() as u32;
                let under = scaled(old.own, self.under);
                self.spots.push(Spot { up: at, next: NONE, ..old });
                let mut each = old.first;
                while each != NONE {
                    self.spots[each as usize].up = kept;
                    each = self.spots[each as usize].next;
                }
                let top = Spot { node: parent, first: kept, degree: 1, scale: 1.0, under, ..old };
                self.spots[at as usize] = top;
                if self.crowd.remove(&node).is_some() {
                    self.crowd.insert(parent, at);
                }
                self.adopt(at, Self::closed(leaf, at, old.own, old.own));
                self.sum(at);
                self.settle(at, 0.0);
            }
            Place::Under(_) if is_there && old.first != NONE => {
                self.adopt(at, Self::closed(leaf, at, old.under, old.under));
                self.settle(at, old.under);
            }
            _ => {
                let places = if let Place::Above(_) = place { 2.0 + self.under } else { 1.0 };
                let more = scaled(old.own, places);
                self.spots[at as usize].sum += more;
                let up = self.spots[at as usize].up;
                if up == NONE { self.settle(at, 0.0) } else { self.settle(up, more) }
            }
        }
    }

    pub(crate) fn weight(&mut self, tree: &SizedTree, place: Place) -> f64 {
        let (Place::Above(node) | Place::Under(node)) = place;
        let (at, unit) = self.find(tree, node);
        if let Place::Above(_) = place {
            return unit * self.spots[at as usize].own;
        }
        if !self.open(tree, at) {
            return 0.0;
        }
        let Spot { scale, under, .. } = self.spots[at as usize];
        unit * scale * under
    }

    pub(crate) fn heaviest(&mut self, tree: &SizedTree) -> (Place, f64) {
        let mut best = (Place::Above(self.spots[0].node), 0.0);
        let mut stack = std::mem::take(&mut self.stack);
        stack.push((0, 1.0));
        while let Some((at, unit)) = stack.pop() {
            let Spot { node, first, own, sum, scale, under, .. } = self.spots[at as usize];
            if unit * sum <= best.1 {
                continue;
            }
            if unit * own > best.1 {
                best = (Place::Above(node), unit * own);
            }
            if first == NONE {
                if self.under > 1.0 && tree.degree(node) > 0 && unit * own * self.under > best.1 {
                    best = (Place::Under(node), unit * own * self.under);
                }
                continue;
            }
            let unit = unit * scale;
            if unit * under > best.1 {
                best = (Place::Under(node), unit * under);
            }
            stack.extend(self.children(at).map(|child| (child, unit)));
        }
        self.stack = stack;
        best
    }

    pub(crate) fn places(&self, tree: &SizedTree, least: f64) -> Vec<(Place, f64)> {
        let mut found = Vec::new();
        let mut stack = vec![(0, 1.0)];
        while let Some((at, unit)) = stack.pop() {
            let Spot { node, first, own, sum, scale, under, .. } = self.spots[at as usize];
            if unit * sum < least {
                continue;
            }
            found.push((Place::Above(node), unit * own));
            if first == NONE {
                // The positions beside this node and beside all nodes below this node have equal probabilities.
                if unit * own * self.under.max(1.0) >= least {
                    self.closed_places(tree, node, unit * own, &mut found);
                }
                continue;
            }
            let unit = unit * scale;
            found.push((Place::Under(node), unit * under));
            stack.extend(self.children(at).map(|child| (child, unit)));
        }
        found.retain(|&(_, weight)| weight >= least);
        order_by(&mut found, &|a, b| b.1.total_cmp(&a.1));
        found
    }

    fn closed_places(&self, tree: &SizedTree, top: u32, own: f64, found: &mut Vec<(Place, f64)>) {
        let mut stack = vec![top];
        while let Some(node) = stack.pop() {
            if node != top {
                found.push((Place::Above(node), own));
            }
            if tree.degree(node) > 0 {
                found.push((Place::Under(node), own * self.under));
                stack.extend(tree.tree().children(node));
            }
        }
    }

    /// Returns the best question among those that `may` allows: the node to ask about (the pivot), two of its children,
    /// and the value of the question.
    ///
    /// `value` receives the probabilities of the four outcomes of a question. The new leaf belongs near the first child
    /// (below or beside the child), near the second child, outside the pivot's subtree, or elsewhere below the pivot.
    /// Like an entropy, `value` must be largest for equal probabilities and must not depend on their order.
    ///
    /// For each pivot, only one pair of children that `may` allows is considered. Pairs of children near which the new
    /// leaf more probably belongs are tried first.
    pub(crate) fn pivot(
        &mut self,
        tree: &SizedTree,
        value: impl Fn([f64; 4]) -> f64,
        may: impl Fn(u32, [u32; 2]) -> bool,
    ) -> Option<Pivot> {
        let mut best: Option<Pivot> = None;
        let mut stack = std::mem::take(&mut self.stack);
        stack.push((0, 1.0));
        while let Some((at, unit)) = stack.pop() {
            let Spot { node, sum, .. } = self.spots[at as usize];
            // For each pivot at or below this node, the probability of the outcome "outside" is at least `1.0 - all`.
            // The value of a question about such a pivot is largest if the three other outcomes are equally likely.
            let all = unit * sum;
            let third = all / 3.0;
            let is_worse = |best: &Pivot| all <= 0.75 && value([third, third, third, 1.0 - all]) <= best.2;
            if best.as_ref().is_some_and(is_worse) || !self.open(tree, at) {
                continue;
            }
            let unit = unit * self.spots[at as usize].scale;
            if let Some(pair) = self.pair(at, |pair| may(node, pair)) {
                let [first, second] = pair.map(|child| unit * self.spots[child as usize].sum);
                let inside = unit * self.spots[at as usize].below;
                let value = value([first, second, (1.0 - inside).max(0.0), (inside - first - second).max(0.0)]);
                if best.is_none_or(|best| value > best.2) {
                    best = Some((node, pair.map(|child| self.spots[child as usize].node), value));
                }
            }
            // Visit the child with the largest weight first.
            let from = stack.len();
            let is_inner = |child: &u32| tree.degree(self.spots[*child as usize].node) > 0;
            stack.extend(self.children(at).filter(is_inner).map(|child| (child, unit)));
            let sum = |entry: (u32, f64)| self.spots[entry.0 as usize].sum;
            order_by(&mut stack[from..], &|a, b| sum(a).total_cmp(&sum(b)));
        }
        self.stack = stack;
        best
    }

    fn pair(&self, at: u32, may: impl Fn([u32; 2]) -> bool) -> Option<[u32; 2]> {
        let weight = |child: u32| self.spots[child as usize].sum;
        let nodes = |pair: [u32; 2]| pair.map(|child| self.spots[child as usize].node);
        let [mut first, mut second] = [NONE; 2];
        for child in self.children(at) {
            if first == NONE || weight(child) > weight(first) {
                (first, second) = (child, first);
            } else if second == NONE || weight(child) > weight(second) {
                second = child;
            }
        }
        if may(nodes([first, second])) {
            return Some([first, second]);
        }
        let mut all: Vec<u32> = self.children(at).collect();
        order_by(&mut all, &|a, b| weight(b).total_cmp(&weight(a)));
        let pairs = (1..all.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
        pairs.map(|pair| pair.map(|at| all[at])).find(|&pair| may(nodes(pair)))
    }
}

#[cfg(test)]
mod tests;
