//! A learner whose questions are chosen by a strategy.

use super::learner::{Counts, Learner, LikelyPlace, Question, Told, fixed};
use super::ledger::Ledger;
use crate::error::{Error, Result};
use crate::tree::{Dendrogram, Topology};

/// Chooses a learner's questions about `K` leaves, and uses the answers. [`Asking`] stores the questions and returns
/// the answers. Methods without a doc are as in [`Learner`].
pub(crate) trait Strategy<const K: usize = 3>: Send + Clone + 'static {
    /// The data about a question that the strategy needs when the question is answered.
    type Purpose: Send + Clone;

    /// Returns a question that may be asked now, or `None`.
    fn next(&mut self) -> Option<([u32; K], Self::Purpose)>;

    /// Returns an error if the learner is not done but can never ask another question.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Uses the answer to a question. `purpose` is the value that [`next`](Self::next) returned with the question.
    fn take(&mut self, purpose: Self::Purpose, told: Told);

    fn set_parallel(&mut self, _parallel: usize) {}

    fn add_leaf(&mut self) -> Result<()> {
        Err(fixed())
    }

    /// Removes a leaf, as in [`Learner`]. All open questions are withdrawn, so the strategy gets no answers to these
    /// questions.
    fn retire(&mut self, _leaf: u32) -> Result<()> {
        Err(fixed())
    }

    fn unplaced(&self) -> Option<Vec<u32>> {
        None
    }

    fn done(&self) -> bool {
        self.placed() == self.n_leaves()
    }

    fn tree(&self) -> Result<Dendrogram>;

    fn support(&self, _tree: &Topology) -> Option<Vec<f64>> {
        None
    }

    fn places(&self, _leaf: u32) -> Option<Vec<LikelyPlace>> {
        None
    }

    fn n_leaves(&self) -> usize;

    fn placed(&self) -> usize;

    /// Returns an estimate of the number of answers that are still needed after the first `n_answered`.
    fn remaining(&self, n_answered: u64) -> f64;
}

/// A learner that asks the questions of a strategy, and records which questions are open.
#[derive(Debug, Clone)]
pub(crate) struct Asking<S: Strategy<K>, const K: usize = 3> {
    strategy: S,
    ledger: Ledger<S::Purpose, K>,
}

impl<S: Strategy<K>, const K: usize> Asking<S, K> {
    pub(crate) fn new(strategy: S) -> Self {
        Self { strategy, ledger: Ledger::default() }
    }

    fn settle(&mut self) {
        let mut told = self.ledger.take();
        for (_, purpose, told) in told.drain(..) {
            self.strategy.take(purpose, told);
        }
        self.ledger.give_back(told);
    }
}

impl<S: Strategy<K>, const K: usize> Learner<K> for Asking<S, K> {
    fn ask(&mut self, limit: usize) -> Result<Vec<Question<K>>> {
        self.settle();
        let Self { strategy, ledger } = self;
        if let Some(failure) = strategy.failure() {
            return Err(failure);
        }
        ledger.ask(limit, || strategy.next())
    }

    fn open(&self) -> Vec<Question<K>> {
        self.ledger.open()
    }

    fn tell_with(&mut self, id: u64, told: Told) -> Result<()> {
        self.ledger.tell(id, told)?;
        if self.ledger.n_open() == 0 {
            self.settle();
        }
        Ok(())
    }

    fn tree(&self) -> Result<Dendrogram> {
        self.strategy.tree()
    }

    fn support(&self, tree: &Topology) -> Option<Vec<f64>> {
        self.strategy.support(tree)
    }

    fn places(&self, leaf: u32) -> Option<Vec<LikelyPlace>> {
        self.strategy.places(leaf)
    }

    fn done(&self) -> bool {
        self.strategy.done()
    }

    fn n_leaves(&self) -> usize {
        self.strategy.n_leaves()
    }

    fn placed(&self) -> usize {
        self.strategy.placed()
    }

    fn counts(&self) -> Counts {
        self.ledger.counts()
    }

    fn remaining_estimate(&self) -> f64 {
        if self.done() { 0.0 } else { self.strategy.remaining(self.n_answered()).max(1.0) }
    }

    fn set_parallel(&mut self, parallel: usize) {
        self.strategy.set_parallel(parallel);
    }

    fn add_leaf(&mut self) -> Result<()> {
        self.settle();
        self.strategy.add_leaf()
    }

    fn retire(&mut self, leaf: u32) -> Result<()> {
        self.settle();
        self.strategy.retire(leaf)?;
        self.ledger.restart();
        Ok(())
    }

    fn unplaced(&self) -> Option<Vec<u32>> {
        self.strategy.unplaced()
    }

    fn boxed_clone(&self) -> Box<dyn Learner<K>> {
        Box::new(self.clone())
    }
}
