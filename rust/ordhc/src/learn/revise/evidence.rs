//! Answers, and what they say in a tree.

use super::places::Tilt;
use crate::refine::Shape;

/// Answers to questions about three leaves.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    answers: Vec<([u32; 3], i8)>,
    /// By leaf: its answers, and its place in their questions.
    of_leaf: Vec<Vec<(u32, u8)>>,
    /// By answer and leaf of its question: what the answer says of the place of this leaf beside the other two,
    /// nodes of which it makes one side likelier (1) or the other (-1); nothing (0).
    tilts: Vec<[(u32, u32, i8); 3]>,
}

/// How many answers agree with a node, and how many don't.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Votes {
    pub(super) agree: u64,
    /// Those that say that no two are closer.
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

    /// All answers.
    pub(super) fn answers(&self) -> impl Iterator<Item = &([u32; 3], i8)> {
        self.answers.iter()
    }

    /// In how many answers a leaf takes part.
    pub(super) fn count(&self, leaf: usize) -> usize {
        self.of_leaf[leaf].len()
    }

    /// Takes an answer; what it says is known after [`read`](Self::read).
    pub(super) fn take(&mut self, leaves: [u32; 3], answer: i8) {
        for (at, &leaf) in leaves.iter().enumerate() {
            self.of_leaf[leaf as usize].push((self.answers.len() as u32, at as u8));
        }
        self.answers.push((leaves, answer));
    }

    /// The nodes above leaves that answers are about which weren't read yet, in ascending order.
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

    /// Reads all answers in a tree.
    pub(super) fn read(&mut self, shape: &Shape) {
        let Self { answers, tilts, .. } = self;
        tilts.clear();
        tilts.extend(answers.iter().map(|&(leaves, answer)| {
            let Ok(odd) = usize::try_from(answer) else { return [(0, 0, 0); 3] };
            [0, 1, 2].map(|at| {
                let [first, second] = [1, 2].map(|step| leaves[(at + step) % 3] as usize);
                let pivot = shape.smallest_holding(&[first, second]);
                if odd == at {
                    let span = shape.span(pivot);
                    return (*span.start() as u32, *span.end() as u32, -1);
                }
                let near = leaves[3 - at - odd] as usize;
                let children = shape.children(pivot).map(|child| shape.span(child));
                let side = usize::from(children[1].contains(&shape.place(near)));
                (*children[side].start() as u32, *children[side].end() as u32 + 1, 1)
            })
        }));
    }

    /// How many answers about a leaf of a subtree and two others say that no two are closer.
    pub(super) fn none(&self, shape: &Shape, subtree: usize) -> usize {
        let span = shape.span(subtree);
        let is_outside = |leaf: u32| !span.contains(&shape.place(leaf as usize));
        let about = shape.leaves(subtree).flat_map(|leaf| &self.of_leaf[leaf]);
        let found = about.map(|&(answer, _)| self.answers[answer as usize]);
        found
            .filter(|(leaves, answer)| *answer < 0 && leaves.iter().filter(|&&leaf| is_outside(leaf)).count() == 2)
            .count()
    }

    /// What answers say of the place of a subtree: those with one of its leaves and two others.
    pub(super) fn tilts(&self, shape: &Shape, subtree: usize, evidence: f64) -> impl Iterator<Item = Tilt> {
        let span = shape.span(subtree);
        shape.leaves(subtree).flat_map(move |leaf| {
            let span = span.clone();
            self.of_leaf[leaf].iter().filter_map(move |&(answer, at)| {
                let (answer, at) = (answer as usize, at as usize);
                let leaves = self.answers[answer].0;
                let outside = |step: usize| !span.contains(&shape.place(leaves[(at + step) % 3] as usize));
                let (start, end, sign) = self.tilts[answer][at];
                let bears = sign != 0 && outside(1) && outside(2);
                bears.then_some((start as usize..end as usize, f64::from(sign) * evidence))
            })
        })
    }

    /// By node: the answers that bear on it. A node is what holds two leaves together against a third.
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
