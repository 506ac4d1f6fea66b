//! Answers, and the evidence that they give about a tree.

use std::ops::RangeInclusive;

use super::lengths::Lengths;
use super::places::Tilt;
use crate::refine::Shape;

#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    answers: Vec<([u32; 3], i8)>,
    /// For each leaf: the index of each answer about it, and the position (0, 1 or 2) of the leaf in that question.
    of_leaf: Vec<Vec<(u32, u8)>>,
    /// For each answer and each of its leaves: the evidence about the place of this leaf. Let C be the smallest cluster
    /// that contains the other two leaves. Each [`Tilt`] is the evidence that the leaf is below one child of C, rather
    /// than outside of C.
    tilts: Vec<[[Tilt; 2]; 3]>,
}

/// The numbers of answers about an inner node. An answer is about the node if two of its leaves are
/// below the node and the third is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Votes {
    pub(super) agree: u64,
    /// The number of answers about the node that are "no two leaves are closer".
    pub(super) none: u64,
    pub(super) all: u64,
}

impl Evidence {
    pub(super) fn new(n: usize) -> Self {
        Self { of_leaf: vec![Vec::new(); n], ..Self::default() }
    }

    pub(super) fn n_answers(&self) -> usize {
        self.answers.len()
    }

    pub(super) fn answers(&self) -> impl Iterator<Item = &([u32; 3], i8)> {
        self.answers.iter()
    }

    pub(super) fn count(&self, leaf: usize) -> usize {
        self.of_leaf[leaf].len()
    }

    /// Adds an answer. Its evidence is available after the next call of [`read`](Self::read).
    pub(super) fn take(&mut self, leaves: [u32; 3], answer: i8) {
        for (at, &leaf) in leaves.iter().enumerate() {
            self.of_leaf[leaf as usize].push((self.answers.len() as u32, at as u8));
        }
        self.answers.push((leaves, answer));
    }

    /// Returns the nodes at and above the leaves of new answers, in ascending order. Answers are new until the next
    /// call of [`read`](Self::read).
    pub(super) fn touched(&self, shape: &Shape) -> Vec<usize> {
        let mut is_touched = vec![false; shape.n_nodes()];
        for &(leaves, _) in &self.answers[self.tilts.len()..] {
            for leaf in leaves {
                for node in shape.up_from(leaf as usize) {
                    if std::mem::replace(&mut is_touched[node], true) {
                        break;
                    }
                }
            }
        }
        (0..shape.n_nodes()).filter(|&node| is_touched[node]).collect()
    }

    pub(super) fn read(&mut self, shape: &Shape, model: &Lengths) {
        let Self { answers, tilts, .. } = self;
        tilts.clear();
        tilts.extend(answers.iter().map(|&(leaves, answer)| {
            let Ok(odd) = usize::try_from(answer) else { return [(); 3].map(|()| [(); 2].map(|()| (0..0, 0.0))) };
            let logs = [0, 1, 2].map(|truth| model.log_probability(leaves, odd, truth));
            [0, 1, 2].map(|at| {
                let [first, second] = [1, 2].map(|step| (at + step) % 3);
                let pivot = shape.smallest_holding(&[first, second].map(|other| leaves[other] as usize));
                let [one, other] = shape.children(pivot).map(|child| shape.span(child));
                let is_first = one.contains(&shape.place(leaves[first] as usize));
                // Leaves `first` and `second` are below different children of `pivot`. If leaf `at`
                // is below the same child as `first`, then `second` is the odd one out, and vice versa.
                let odd_ones = if is_first { [second, first] } else { [first, second] };
                let tilt = |span: RangeInclusive<usize>, truth: usize| {
                    (*span.start()..*span.end() + 1, logs[truth] - logs[at])
                };
                [tilt(one, odd_ones[0]), tilt(other, odd_ones[1])]
            })
        }));
    }

    /// Returns the number of answers "no two leaves are closer" to questions about one leaf of a
    /// subtree and two leaves outside.
    pub(super) fn none(&self, shape: &Shape, subtree: usize) -> usize {
        let span = shape.span(subtree);
        let is_outside = |leaf: u32| !span.contains(&shape.place(leaf as usize));
        let about = shape.leaves(subtree).flat_map(|leaf| &self.of_leaf[leaf]);
        let found = about.map(|&(answer, _)| self.answers[answer as usize]);
        found
            .filter(|(leaves, answer)| *answer < 0 && leaves.iter().filter(|&&leaf| is_outside(leaf)).count() == 2)
            .count()
    }

    pub(super) fn tilts(&self, shape: &Shape, subtree: usize) -> impl Iterator<Item = Tilt> {
        let span = shape.span(subtree);
        shape
            .leaves(subtree)
            .flat_map(move |leaf| {
                let span = span.clone();
                self.of_leaf[leaf].iter().filter_map(move |&(answer, at)| {
                    let (answer, at) = (answer as usize, at as usize);
                    let leaves = self.answers[answer].0;
                    let outside = |step: usize| !span.contains(&shape.place(leaves[(at + step) % 3] as usize));
                    (outside(1) && outside(2)).then(|| self.tilts[answer][at].clone())
                })
            })
            .flatten()
            .filter(|(_, more)| *more != 0.0)
    }

    pub(super) fn votes(&self, shape: &Shape) -> Vec<Votes> {
        let mut votes = vec![Votes::default(); shape.n_nodes()];
        for &(leaves, answer) in &self.answers {
            let whole = shape.smallest_holding(&leaves.map(|leaf| leaf as usize));
            for odd in 0..3 {
                let pair = [1, 2].map(|step| leaves[(odd + step) % 3] as usize);
                let mut node = shape.smallest_holding(&pair);
                while node != whole {
                    votes[node].all += 1;
                    votes[node].agree += u64::from(answer == odd as i8);
                    votes[node].none += u64::from(answer < 0);
                    node = shape.parent(node).unwrap_or(whole);
                }
            }
        }
        votes
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn tilts_are_the_likelihoods_of_trees_with_the_subtree_elsewhere() {
        for seed in 0..20 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let n = random.random_range(4..9u32);
            let mut free: Vec<u32> = (0..n).collect();
            let merges = (0..n - 1).map(|k| {
                let pair = [(); 2].map(|()| free.swap_remove(random.random_range(0..free.len())));
                free.push(n + k);
                pair
            });
            let shape = Shape::of(merges.collect());
            let lengths = Lengths::of((0..n).map(|_| random.random_range(-2.0..2.0)).collect(), 1.2);
            let mut evidence = Evidence::new(n as usize);
            for _ in 0..30 {
                let leaves = [(); 3].map(|()| random.random_range(0..n));
                if leaves[0] != leaves[1] && leaves[1] != leaves[2] && leaves[0] != leaves[2] {
                    evidence.take(leaves, random.random_range(-1..3));
                }
            }
            evidence.read(&shape, &lengths);
            for subtree in (0..shape.n_nodes()).filter(|&node| node != shape.root()) {
                let below: Vec<usize> = shape.leaves(subtree).collect();
                let likelihood = |shape: &Shape| -> f64 {
                    let about = evidence.answers().filter(|(leaves, answer)| {
                        *answer >= 0 && leaves.iter().filter(|&&leaf| below.contains(&(leaf as usize))).count() == 1
                    });
                    about
                        .map(|&(leaves, answer)| {
                            let depth = |one: usize, other: usize| {
                                shape.size(shape.smallest_holding(&[leaves[one] as usize, leaves[other] as usize]))
                            };
                            let sizes = [depth(1, 2), depth(0, 2), depth(0, 1)];
                            let truth = (0..3).min_by_key(|&odd| sizes[odd]).unwrap();
                            lengths.log_probability(leaves, answer as usize, truth)
                        })
                        .sum()
                };
                let tilts: Vec<Tilt> = evidence.tilts(&shape, subtree).collect();
                let told = |node: usize| -> f64 {
                    tilts.iter().filter(|(range, _)| range.contains(&shape.place(node))).map(|tilt| tilt.1).sum()
                };
                let here = shape.sibling(subtree).unwrap();
                for target in (0..shape.n_nodes()).filter(|&node| !shape.span(subtree).contains(&shape.place(node))) {
                    let mut moved = shape.clone();
                    if Some(target) != shape.parent(subtree) && target != here && moved.regraft(subtree, target) {
                        let (expected, found) = (likelihood(&moved) - likelihood(&shape), told(target) - told(here));
                        assert!((expected - found).abs() < 1e-9, "{seed} {subtree} {target}: {expected} {found}");
                    }
                }
            }
        }
    }
}
