//! All places of a subtree at once: what the answers say about each.

use super::answers::{Answer, Answers};
use super::height_tree::{HeightTree, NONE, Spans};
use super::link::Link;
use super::reliability::Noises;

/// Log-likelihoods of places, as sums along paths.
///
/// Under a node a subtree is worth `under` of all nodes from the root down to it; beside it `beside` of the node, and
/// `under` of those above. All of it is beside what it is worth if no height of the subtree's differs from
/// any other one.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub(super) under: Vec<f64>,
    pub(super) beside: Vec<f64>,
    /// By node: the height of the new node, should the subtree come to stand beside it.
    pub(super) heights: Vec<f64>,
}

/// The tree that a subtree was cut off from.
pub(super) struct Rest<'a> {
    pub(super) tree: &'a HeightTree,
    pub(super) spans: &'a Spans,
    /// By leaf: whether it is in the subtree.
    pub(super) inside: &'a [bool],
    pub(super) noises: &'a Noises,
}

impl Scores {
    pub(super) fn new(n_nodes: usize) -> Self {
        Self { under: vec![0.0; n_nodes], beside: vec![0.0; n_nodes], heights: vec![0.0; n_nodes] }
    }

    /// Scores all places of the subtree with these leaves, for the `heights` that are there. `order` has the nodes of
    /// the rest, parents before children.
    pub(super) fn fill(&mut self, rest: &Rest<'_>, answers: &Answers, leaves: &[u32], order: &[u32]) {
        for &node in order {
            self.under[node as usize] = 0.0;
            self.beside[node as usize] = 0.0;
        }
        for &leaf in leaves {
            for answer in answers.of(leaf) {
                // One leaf speaks for all of an answer's that are in the subtree.
                let inside = |leaf: &u32| rest.inside[*leaf as usize];
                if leaves.len() == 1 || answer.leaves().find(inside) == Some(leaf) {
                    self.add(rest, answer);
                }
            }
        }
        for &node in &order[1..] {
            self.under[node as usize] += self.under[rest.tree.parent(node) as usize];
        }
        // From here on `beside` is the sum, too.
        for &node in order {
            let parent = rest.tree.parent(node);
            if parent != NONE {
                self.beside[node as usize] += self.under[parent as usize];
            }
        }
    }

    #[inline]
    fn add(&mut self, rest: &Rest<'_>, answer: &Answer) {
        let inside = |leaf: u32| rest.inside[leaf as usize];
        let Answer { near, far, weight, person } = *answer;
        let link = rest.noises.link(rest.noises.level(person));
        let varies = |pair: [u32; 2]| inside(pair[0]) != inside(pair[1]);
        let outer = |[a, b]: [u32; 2]| if inside(a) { b } else { a };
        let (near_varies, far_varies) = (varies(near), varies(far));
        if near_varies && far_varies {
            let sides = [outer(near), outer(far)];
            if sides[0] != sides[1] {
                let join = rest.spans.join(rest.tree, sides[0], sides[1]);
                self.climb_to(rest, link, sides[0], join, [1.0, weight]);
                self.climb_to(rest, link, sides[1], join, [-1.0, weight]);
            }
        } else if near_varies || far_varies {
            let (moving, fixed, sign) = if near_varies { (near, far, 1.0) } else { (far, near, -1.0) };
            let height = rest.tree.height(rest.spans.join(rest.tree, fixed[0], fixed[1]));
            self.climb(rest, link, outer(moving), height, [sign, weight]);
        }
    }

    /// A pair of the subtree and `leaf` is compared with a pair of this height.
    #[inline]
    fn climb(&mut self, rest: &Rest<'_>, link: &Link, leaf: u32, height: f64, [sign, weight]: [f64; 2]) {
        let even = link.log(0.0);
        let value = |other: f64| link.log(sign * (other - height)) - even;
        let mut node = leaf;
        let mut parent = rest.tree.parent(node);
        let mut joined = value(rest.tree.height(parent));
        loop {
            self.beside[node as usize] += weight * (value(self.heights[node as usize]) - joined);
            if parent == NONE {
                return;
            }
            (node, parent) = (parent, rest.tree.parent(parent));
            let above = if parent == NONE { 0.0 } else { value(rest.tree.height(parent)) };
            self.under[node as usize] += weight * (joined - above);
            joined = above;
        }
    }

    /// Pairs of the subtree with leaves on two sides of `join` are compared; at `join` and above there is no difference.
    #[inline]
    fn climb_to(&mut self, rest: &Rest<'_>, link: &Link, leaf: u32, join: u32, [sign, weight]: [f64; 2]) {
        let height = rest.tree.height(join);
        let even = link.log(0.0);
        let value = |other: f64| link.log(sign * (other - height)) - even;
        let mut node = leaf;
        let mut parent = rest.tree.parent(node);
        let mut joined = if parent == join { 0.0 } else { value(rest.tree.height(parent)) };
        loop {
            self.beside[node as usize] += weight * (value(self.heights[node as usize]) - joined);
            if parent == join {
                return;
            }
            (node, parent) = (parent, rest.tree.parent(parent));
            let above = if parent == join { 0.0 } else { value(rest.tree.height(parent)) };
            self.under[node as usize] += weight * (joined - above);
            joined = above;
        }
    }
}
