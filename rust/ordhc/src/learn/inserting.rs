//! The shared code of strategies that insert one leaf after the other into a tree.

use super::asking::Strategy;
use super::learner::{LikelyPlace, Told};
use super::work::Work;
use crate::error::{Error, Result};
use crate::search::{GrowingTree, Order, Place, Sketch};
use crate::tree::Dendrogram;

/// The leaves that are inserted one after the other into a tree, and an estimate of the number of remaining questions.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    order: Order,
    /// The number of leaves that the learner ever had, including removed (retired) ones.
    n: usize,
    placed: usize,
    /// The number of answers so far about leaves that are not in the tree yet.
    under_way: u64,
    work: Work,
}

impl Progress {
    pub(crate) fn new(order: Order, placed: usize, work: Work) -> Self {
        let n = order.len();
        Self { order, n, placed, under_way: 0, work }
    }

    pub(crate) fn n_leaves(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn placed(&self) -> usize {
        self.placed
    }

    pub(crate) fn is_done(&self) -> bool {
        self.placed == self.order.len()
    }

    pub(crate) fn leaf(&self, at: usize) -> u32 {
        self.order.leaf(at)
    }

    pub(crate) fn next_leaf(&self) -> u32 {
        self.order.leaf(self.placed)
    }

    fn add(&mut self, leaf: u32) {
        self.order.push(leaf);
        self.work.add(self.order.len());
    }

    pub(crate) fn answered(&mut self) {
        self.under_way += 1;
    }

    pub(crate) fn place(&mut self, answers: u64) {
        self.placed += 1;
        self.under_way -= answers;
        self.work.placed(self.placed);
    }

    pub(crate) fn place_next(&mut self) {
        self.place(self.under_way);
    }
}

/// A strategy that inserts one leaf after the other into a growing tree. Methods without a doc are as in [`Strategy`].
pub(crate) trait Inserting: Send + Clone + 'static {
    type Purpose: Send + Clone;

    fn next(&mut self) -> Option<([u32; 3], Self::Purpose)>;

    fn failure(&self) -> Option<Error> {
        None
    }

    fn take(&mut self, purpose: Self::Purpose, told: Told);

    fn set_parallel(&mut self, _parallel: usize) {}

    fn progress(&self) -> &Progress;

    fn progress_mut(&mut self) -> &mut Progress;

    /// Returns a new strategy with the same settings, for the leaves in `order`. All searches start again.
    fn restarted(&self, order: Order) -> Self;

    fn note_added(&mut self, _leaf: u32) {}

    /// Continues to insert leaves, after a leaf was added. `was_done` is true if all other leaves
    /// are in the tree.
    fn resume(&mut self, was_done: bool);

    fn grown(&self) -> &GrowingTree;

    /// Returns the likely places of a leaf in the tree, with their probabilities. Returns `None` if the strategy
    /// doesn't compute probabilities of places.
    fn likely(&self, _leaf: u32) -> Option<Vec<(Place, f64)>> {
        None
    }
}

impl<I: Inserting> Strategy for I {
    type Purpose = I::Purpose;

    fn next(&mut self) -> Option<([u32; 3], I::Purpose)> {
        Inserting::next(self)
    }

    fn failure(&self) -> Option<Error> {
        Inserting::failure(self)
    }

    fn take(&mut self, purpose: I::Purpose, told: Told) {
        Inserting::take(self, purpose, told);
    }

    fn set_parallel(&mut self, parallel: usize) {
        Inserting::set_parallel(self, parallel);
    }

    fn add_leaf(&mut self) -> Result<()> {
        let n = self.progress().n;
        let leaf = n as u32;
        self.note_added(leaf);
        if self.progress().n_leaves() < 2 {
            // With fewer than three leaves, no questions were asked. So a restart loses no answers.
            let mut order = self.progress().order.clone();
            order.push(leaf);
            *self = self.restarted(order);
        } else {
            let was_done = self.progress().is_done();
            self.progress_mut().add(leaf);
            self.resume(was_done);
        }
        self.progress_mut().n = n + 1;
        Ok(())
    }

    fn retire(&mut self, leaf: u32) -> Result<()> {
        let Progress { n, order, .. } = self.progress();
        let (n, order) = (*n, order.without(leaf, self.grown())?);
        *self = self.restarted(order);
        self.progress_mut().n = n;
        Ok(())
    }

    fn unplaced(&self) -> Option<Vec<u32>> {
        Some(self.progress().order.unplaced(self.grown()))
    }

    fn done(&self) -> bool {
        self.progress().is_done()
    }

    fn tree(&self) -> Result<Dendrogram> {
        Sketch::of(self.grown(), self.n_leaves()).finish(self.n_leaves())
    }

    fn places(&self, leaf: u32) -> Option<Vec<LikelyPlace>> {
        let tree = self.grown();
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
        self.progress().n
    }

    fn placed(&self) -> usize {
        self.progress().placed()
    }

    fn remaining(&self, n_answered: u64) -> f64 {
        let Progress { work, under_way, .. } = self.progress();
        work.remaining(n_answered, *under_way)
    }
}
