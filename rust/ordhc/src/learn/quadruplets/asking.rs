//! A learner from a strategy of comparing pairs.

use super::Pair;
use crate::error::Result;
use crate::learn::ledger::Ledger;
use crate::learn::{Learner, Question};
use crate::tree::Dendrogram;

/// What is known of two pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    /// 1 if the first pair is more similar, -1 if the second one is, 0 if that was not said.
    pub(super) sign: i8,
    /// Whether the first pair counts as more similar: if nothing was said, the lexicographically smaller.
    pub(super) is_first: bool,
}

/// What tells learners apart: the next two pairs to be compared, and what follows.
pub(super) trait Comparing: Send + Clone + 'static {
    /// What an open question is for.
    type Purpose: Send + Clone;

    /// Two different pairs that may be compared now, if there are.
    fn next(&mut self) -> Option<([Pair; 2], Self::Purpose)>;

    /// Takes the answer to a question.
    fn take(&mut self, purpose: Self::Purpose, verdict: Verdict);

    /// Whether there is nothing left to ask.
    fn done(&self) -> bool;

    /// The tree so far.
    fn tree(&self) -> Result<Dendrogram>;

    /// The number of leaves.
    fn n_leaves(&self) -> usize;

    /// How many leaves have their place.
    fn placed(&self) -> usize;

    /// About how many answers are needed.
    fn remaining(&self) -> f64;
}

/// A strategy and the questions it has open. The lexicographically smaller pair is asked about first.
#[derive(Debug, Clone)]
pub(super) struct Asking<C: Comparing> {
    strategy: C,
    /// With each question: whether its pairs changed places.
    ledger: Ledger<(C::Purpose, bool), 4>,
}

impl<C: Comparing> Asking<C> {
    pub(super) fn new(strategy: C) -> Self {
        Self { strategy, ledger: Ledger::default() }
    }

    fn settle(&mut self) {
        let mut told = self.ledger.take();
        for (_, (purpose, is_swapped), answer) in told.drain(..) {
            let sign = if is_swapped { -answer } else { answer };
            let is_first = if sign == 0 { !is_swapped } else { sign > 0 };
            self.strategy.take(purpose, Verdict { sign, is_first });
        }
        self.ledger.give_back(told);
    }
}

impl<C: Comparing> Learner<4> for Asking<C> {
    fn ask(&mut self, limit: usize) -> Result<Vec<Question<4>>> {
        self.settle();
        let Self { strategy, ledger } = self;
        ledger.ask(limit, || {
            let ([first, second], purpose) = strategy.next()?;
            let is_swapped = second < first;
            let ([i, j], [k, l]) = if is_swapped { (second, first) } else { (first, second) };
            Some(([i, j, k, l], (purpose, is_swapped)))
        })
    }

    fn open(&self) -> Vec<Question<4>> {
        self.ledger.open()
    }

    fn tell(&mut self, id: u64, answer: i8) -> Result<()> {
        self.ledger.tell(id, answer)?;
        if self.ledger.n_open() == 0 {
            self.settle();
        }
        Ok(())
    }

    fn tree(&self) -> Result<Dendrogram> {
        self.strategy.tree()
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

    fn n_asked(&self) -> u64 {
        self.ledger.n_asked()
    }

    fn n_answered(&self) -> u64 {
        self.ledger.n_answered()
    }

    fn n_rounds(&self) -> u64 {
        self.ledger.n_rounds()
    }

    fn remaining_estimate(&self) -> f64 {
        if self.done() { 0.0 } else { self.strategy.remaining().max(1.0) }
    }

    fn boxed_clone(&self) -> Box<dyn Learner<4>> {
        Box::new(self.clone())
    }
}
