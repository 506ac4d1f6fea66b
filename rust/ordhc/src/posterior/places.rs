//! All places of a subtree at once: what the answers say about each.

use super::answers::{Answer, Answers};
use super::height_tree::{HeightTree, NONE, Spans};
use super::link::{Against, Link};
use super::reliability::Noises;

/// Log-likelihoods of places, as sums along paths.
///
/// Under a node a subtree is worth `under` of all nodes from the root down to it; beside it `beside` of the node, and
/// `under` of those above. All of it is beside what it is worth if no height of the subtree's differs from
/// any other one.
#[derive(Debug, Clone)]
pub(super) struct Scores(Vec<Spot>);

/// A node as a place, all that a path needs side by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    parent: u32,
    /// The height of its parent.
    above: f64,
    /// The height of the new node, should the subtree come to stand beside this one.
    pub(super) new: f64,
    pub(super) under: f64,
    pub(super) beside: f64,
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
        Self(vec![Spot { parent: NONE, above: 0.0, new: 0.0, under: 0.0, beside: 0.0 }; n_nodes])
    }

    #[inline]
    pub(super) fn of(&self, node: u32) -> &Spot {
        &self.0[node as usize]
    }

    pub(super) fn set_new(&mut self, node: u32, height: f64) {
        self.0[node as usize].new = height;
    }

    /// Scores all places of the subtree with these leaves, for the heights of `new` nodes that are there. `order` has the
    /// nodes of the rest, parents before children.
    pub(super) fn fill(&mut self, rest: &Rest<'_>, answers: &Answers, leaves: &[u32], order: &[u32]) {
        for &node in order {
            let parent = rest.tree.parent(node);
            let above = if parent == NONE { 0.0 } else { rest.tree.height(parent) };
            self.0[node as usize] = Spot { parent, above, under: 0.0, beside: 0.0, ..self.0[node as usize] };
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
        // From here on both are sums.
        for &node in &order[1..] {
            let above = self.0[self.0[node as usize].parent as usize].under;
            let spot = &mut self.0[node as usize];
            spot.under += above;
            spot.beside += above;
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
                let height = rest.tree.height(join);
                self.climb(link, link.against(height, 1.0), weight, sides[0], join);
                self.climb(link, link.against(height, -1.0), weight, sides[1], join);
            }
        } else if near_varies || far_varies {
            let (moving, fixed, sign) = if near_varies { (near, far, 1.0) } else { (far, near, -1.0) };
            let height = rest.tree.height(rest.spans.join(rest.tree, fixed[0], fixed[1]));
            self.climb(link, link.against(height, sign), weight, outer(moving), NONE);
        }
    }

    /// A pair of the subtree and `leaf` is compared with a pair of another height. At `join`, and above it, there is no
    /// difference: there is none anywhere above the root.
    #[inline]
    fn climb(&mut self, link: &Link, against: Against<'_>, weight: f64, leaf: u32, join: u32) {
        let even = link.log(0.0);
        // Nothing stands under a leaf, so it doesn't matter what this begins with.
        let (mut node, mut joined) = (leaf, even);
        loop {
            let spot = &mut self.0[node as usize];
            let above = if spot.parent == join { even } else { against.log(spot.above) };
            spot.under += weight * (joined - above);
            spot.beside += weight * (against.log(spot.new) - above);
            if spot.parent == join {
                return;
            }
            (node, joined) = (spot.parent, above);
        }
    }
}
