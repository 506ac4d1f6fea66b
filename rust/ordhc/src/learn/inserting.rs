//! What strategies have in common that insert leaf after leaf.

use super::asking::Strategy;
use super::learner::{LikelyPlace, Told};
use super::work::Work;
use crate::error::{Error, Result};
use crate::search::{GrowingTree, Order, Place, Sketch};
use crate::tree::Dendrogram;

/// Which leaves have their places, and how much is left to ask.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    order: Order,
    placed: usize,
    /// Answers about leaves without a place.
    under_way: u64,
    work: Work,
}

impl Progress {
    /// Leaves are taken in this order; the first ones have their places.
    pub(crate) fn new(order: Order, placed: usize, work: Work) -> Self {
        Self { order, placed, under_way: 0, work }
    }

    /// The number of leaves.
    pub(crate) fn n_leaves(&self) -> usize {
        self.order.len()
    }

    /// How many leaves have their places.
    pub(crate) fn placed(&self) -> usize {
        self.placed
    }

    /// Whether all have.
    pub(crate) fn is_done(&self) -> bool {
        self.placed == self.order.len()
    }

    /// The leaf at a place in the order.
    pub(crate) fn leaf(&self, at: usize) -> u32 {
        self.order.leaf(at)
    }

    /// The first leaf without a place, of those that are inserted in order.
    pub(crate) fn next_leaf(&self) -> u32 {
        self.order.leaf(self.placed)
    }

    /// An answer has come.
    pub(crate) fn answered(&mut self) {
        self.under_way += 1;
    }

    /// A leaf has its place, after so many answers.
    pub(crate) fn place(&mut self, answers: u64) {
        self.placed += 1;
        self.under_way -= answers;
        self.work.placed(self.placed);
    }

    /// The next leaf has its place, and no other one has answers.
    pub(crate) fn place_next(&mut self) {
        self.place(self.under_way);
    }
}

/// A strategy that inserts leaf after leaf into a growing tree.
pub(crate) trait Inserting: Send + Clone + 'static {
    /// As [`Strategy::Purpose`].
    type Purpose: Send + Clone;

    /// As [`Strategy::next`].
    fn next(&mut self) -> Option<([u32; 3], Self::Purpose)>;

    /// As [`Strategy::trouble`].
    fn trouble(&self) -> Option<Error> {
        None
    }

    /// As [`Strategy::take`].
    fn take(&mut self, purpose: Self::Purpose, answer: i8);

    /// As [`Strategy::weigh`].
    fn weigh(&mut self, purpose: Self::Purpose, told: Told) {
        self.take(purpose, told.answer);
    }

    /// As [`Strategy::set_parallel`].
    fn set_parallel(&mut self, _parallel: usize) {}

    /// Which leaves have their places.
    fn progress(&self) -> &Progress;

    /// The tree of these, and its root.
    fn grown(&self) -> (&GrowingTree, u32);

    /// The likely places of a leaf, if the strategy knows how likely places are.
    fn likely(&self, _leaf: u32) -> Option<Vec<(Place, f64)>> {
        None
    }
}

impl<I: Inserting> Strategy for I {
    type Purpose = I::Purpose;

    fn next(&mut self) -> Option<([u32; 3], I::Purpose)> {
        Inserting::next(self)
    }

    fn trouble(&self) -> Option<Error> {
        Inserting::trouble(self)
    }

    fn take(&mut self, purpose: I::Purpose, answer: i8) {
        Inserting::take(self, purpose, answer);
    }

    fn weigh(&mut self, purpose: I::Purpose, told: Told) {
        Inserting::weigh(self, purpose, told);
    }

    fn set_parallel(&mut self, parallel: usize) {
        Inserting::set_parallel(self, parallel);
    }

    fn tree(&self) -> Result<Dendrogram> {
        let (tree, root) = self.grown();
        Sketch::of(tree, root, self.n_leaves()).finish(self.n_leaves())
    }

    fn places(&self, leaf: u32) -> Option<Vec<LikelyPlace>> {
        let (tree, _) = self.grown();
        let of = |(place, probability)| {
            let (node, is_under) = match place {
                Place::Above(node) => (node, false),
                Place::Under(node) => (node, true),
            };
            let mut leaves: Vec<u32> = tree.leaves(node).filter(|&other| other != leaf).collect();
            leaves.sort_unstable();
            LikelyPlace { probability, leaves, is_under }
        };
        Some(self.likely(leaf)?.into_iter().map(of).collect())
    }

    fn n_leaves(&self) -> usize {
        self.progress().n_leaves()
    }

    fn placed(&self) -> usize {
        self.progress().placed()
    }

    fn remaining(&self, n_answered: u64) -> f64 {
        let Progress { work, under_way, .. } = self.progress();
        work.remaining(n_answered, *under_way)
    }
}
