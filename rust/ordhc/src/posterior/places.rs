//! The log-likelihoods of all places where a subtree can be inserted, computed together.

use super::answers::{Answer, Answers};
use super::choice_places::ChoiceScores;
use super::height_tree::{HeightTree, NONE, Spans};
use super::lengths::{Lengths, power};
use super::link::Against;
use super::reliability::Noises;

/// The score of each place where a subtree can be inserted: the log-likelihood of the answers, up to a constant.
///
/// [`fill`](Self::fill) first stores, for each node, the differences between its two scores (see [`Spot`]) and the
/// score `under` of its parent. Then one pass from the root down adds up these differences.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    spots: Vec<Spot>,
    of_choices: ChoiceScores,
}

/// The scores of two places for the subtree: as a child of a node (`under`), and on the edge above this node
/// (`beside`). The other fields are stored here because they are read together with the scores.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) parent: u32,
    above: f64,
    pub(super) new: f64,
    pub(super) under: f64,
    pub(super) beside: f64,
}

pub(super) struct Rest<'a> {
    pub(super) tree: &'a HeightTree,
    pub(super) spans: &'a Spans,
    pub(super) inside: &'a [bool],
    pub(super) noises: &'a Noises,
    pub(super) lengths: &'a Lengths,
}

impl Scores {
    pub(super) fn new(n_nodes: usize) -> Self {
        let spots = vec![Spot { parent: NONE, above: 0.0, new: 0.0, under: 0.0, beside: 0.0 }; n_nodes];
        Self { spots, of_choices: ChoiceScores::default() }
    }

    #[inline]
    pub(super) fn of(&self, node: u32) -> &Spot {
        &self.spots[node as usize]
    }

    pub(super) fn set_new(&mut self, node: u32, height: f64) {
        self.spots[node as usize].new = height;
    }

    /// Computes the score of each place where the subtree with the nodes `moving` and the leaves `leaves` can be
    /// inserted. `order` has the nodes of the rest of the tree, parents before children. The heights of new nodes must
    /// be set first, by [`set_new`](Self::set_new).
    pub(super) fn fill(&mut self, rest: &Rest<'_>, answers: &Answers, leaves: &[u32], [order, moving]: [&[u32]; 2]) {
        for &node in order {
            let parent = rest.tree.parent(node);
            let above = if parent == NONE { 0.0 } else { rest.tree.height(parent) };
            let spot = &mut self.spots[node as usize];
            *spot = Spot { parent, above, under: 0.0, beside: 0.0, ..*spot };
        }
        for &leaf in leaves {
            for answer in answers.of(leaf) {
                // Count each answer once, at the first of its leaves in the subtree.
                let inside = |leaf: &u32| rest.inside[*leaf as usize];
                if leaves.len() == 1 || answer.leaves().find(inside) == Some(leaf) {
                    self.add(rest, answer);
                }
            }
        }
        if !answers.choices().is_empty() {
            self.add_choices(rest, answers, leaves, [order, moving]);
        }
        // After this loop, `under` and `beside` are sums along the path from the root.
        for &node in &order[1..] {
            let above = self.spots[self.spots[node as usize].parent as usize].under;
            let spot = &mut self.spots[node as usize];
            spot.under += above;
            spot.beside += above;
        }
    }

    fn add_choices(&mut self, rest: &Rest<'_>, answers: &Answers, leaves: &[u32], nodes: [&[u32]; 2]) {
        entered!(posterior_choices);
        let Self { spots, of_choices } = self;
        of_choices.powers.resize(spots.len(), [1.0; 2]);
        for &node in nodes.into_iter().flatten() {
            of_choices.powers[node as usize] = [power(rest.tree.height(node)), power(spots[node as usize].new)];
        }
        for &leaf in leaves {
            for &choice in answers.choices().of(leaf) {
                let inside = |leaf: &&u32| rest.inside[**leaf as usize];
                let theirs = answers.choices().leaves(choice as usize);
                if leaves.len() == 1 || theirs.iter().find(inside) == Some(&leaf) {
                    of_choices.add(spots, rest, answers.choices(), choice as usize);
                }
            }
        }
    }

    #[inline]
    fn add(&mut self, rest: &Rest<'_>, answer: &Answer) {
        let inside = |leaf: u32| rest.inside[leaf as usize];
        let Answer { near, far, weight, person } = *answer;
        let offset = rest.lengths.offset(answer);
        let link = rest.noises.of(person);
        let varies = |pair: [u32; 2]| inside(pair[0]) != inside(pair[1]);
        let outer = |[a, b]: [u32; 2]| if inside(a) { b } else { a };
        let (near_varies, far_varies) = (varies(near), varies(far));
        if near_varies && far_varies {
            let sides = [outer(near), outer(far)];
            if sides[0] != sides[1] {
                let join = rest.spans.join(rest.tree, sides[0], sides[1]);
                let height = rest.tree.height(join);
                let even = link.log(offset);
                self.climb(even, link.against(height, 1.0, offset), weight, sides[0], join);
                self.climb(even, link.against(height, -1.0, offset), weight, sides[1], join);
            }
        } else if near_varies || far_varies {
            let (moving, fixed, sign) = if near_varies { (near, far, 1.0) } else { (far, near, -1.0) };
            let height = rest.tree.height(rest.spans.join(rest.tree, fixed[0], fixed[1]));
            self.climb(link.log(offset), link.against(height, sign, offset), weight, outer(moving), NONE);
        }
    }

    /// Adds the log-likelihood of a comparison to the scores of the nodes from `leaf` up to the child of `join`. `leaf`
    /// forms a pair of the comparison with a leaf of the subtree. `against` returns the log-likelihood for a height of
    /// this pair. If the subtree is put at `join` or above, the log-likelihood is `even`.
    #[inline]
    fn climb(&mut self, even: f64, against: Against<'_>, weight: f64, leaf: u32, join: u32) {
        // No subtree can be put under a leaf, so the initial value of `joined` has no effect.
        let (mut node, mut joined) = (leaf, even);
        loop {
            let spot = &mut self.spots[node as usize];
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
