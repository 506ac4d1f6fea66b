//! The strategy `Exact` with several answers to each question.

use super::asking::Strategy;
use super::exact::Exact;
use super::learner::Told;
use super::noise::repeats;
use crate::error::Result;
use crate::tree::Dendrogram;

/// Asks each question of [`Exact`] (`inner`) up to k times, and passes the most frequent answer to `inner`. A question
/// is not repeated if the remaining answers cannot change the result. `inner` asks its next question when it has this
/// answer, so there is one `poll` at a time.
///
/// `inner` is expected to ask `planned` questions. If nodes have many children, `inner` can ask additional questions.
/// The m-th additional question has its own k, so that the probability of a wrong majority is at most 0.1 delta / (m (m
/// + 1)). These probabilities add up to at most 0.1 delta.
#[derive(Debug, Clone)]
pub(crate) struct Majority {
    inner: Exact,
    k: u64,
    p: f64,
    delta: f64,
    planned: u64,
    asked: u64,
    decided: u64,
    poll: Option<Poll>,
}

/// The share of `delta` for the questions that `inner` is expected to ask. The rest is for additional questions.
const PLANNED: f64 = 0.9;

#[derive(Debug, Clone)]
struct Poll {
    leaves: [u32; 3],
    k: u64,
    votes: [u64; 4],
    open: u64,
}

impl Majority {
    pub(crate) fn new(inner: Exact, planned: u64, p: f64, delta: f64) -> Self {
        let k = repeats(p, PLANNED * delta / planned.max(1) as f64);
        Self { inner, k, p, delta, planned, asked: 0, decided: 0, poll: None }
    }

    fn repeats(&mut self) -> u64 {
        self.asked += 1;
        let Some(beyond) = self.asked.checked_sub(self.planned).filter(|beyond| *beyond > 0) else { return self.k };
        let beyond = beyond as f64;
        repeats(self.p, (1.0 - PLANNED) * self.delta / (beyond * (beyond + 1.0)))
    }
}

impl Poll {
    fn n_votes(&self) -> u64 {
        self.votes.iter().sum()
    }

    /// Returns how many more answers decide the majority if all of them agree with the most frequent answer so far.
    fn missing(&self) -> u64 {
        let k = self.k;
        let most = self.votes.iter().max().copied().unwrap_or(0);
        (k / 2 + 1 - most.min(k / 2 + 1)).min(k - self.n_votes())
    }
}

impl Strategy for Majority {
    type Purpose = ();

    fn next(&mut self) -> Option<([u32; 3], ())> {
        if self.poll.is_none() {
            let (leaves, ()) = self.inner.next()?;
            self.poll = Some(Poll { leaves, k: self.repeats(), votes: [0; 4], open: 0 });
        }
        let poll = self.poll.as_mut().filter(|poll| poll.open < poll.missing())?;
        poll.open += 1;
        Some((poll.leaves, ()))
    }

    fn take(&mut self, (): (), told: Told) {
        let Some(poll) = &mut self.poll else { return };
        poll.votes[(told.answer + 1) as usize] += 1;
        poll.open -= 1;
        if poll.missing() == 0 && poll.open == 0 {
            let (mut best, mut most) = (0, 0);
            for (answer, votes) in (-1..).zip(poll.votes) {
                if votes > most {
                    (best, most) = (answer, votes);
                }
            }
            self.poll = None;
            self.decided += 1;
            self.inner.take((), Told::new(best));
        }
    }

    fn add_leaf(&mut self) -> Result<()> {
        self.inner.add_leaf()
    }

    fn retire(&mut self, leaf: u32) -> Result<()> {
        self.inner.retire(leaf)?;
        self.poll = None;
        // `inner` now estimates the number of remaining answers from later answers only, so `decided` restarts at 0,
        // too.
        self.decided = 0;
        Ok(())
    }

    fn unplaced(&self) -> Option<Vec<u32>> {
        self.inner.unplaced()
    }

    fn done(&self) -> bool {
        self.inner.done()
    }

    fn tree(&self) -> Result<Dendrogram> {
        self.inner.tree()
    }

    fn n_leaves(&self) -> usize {
        self.inner.n_leaves()
    }

    fn placed(&self) -> usize {
        self.inner.placed()
    }

    fn remaining(&self, _n_answered: u64) -> f64 {
        // `inner` counts one answer per majority, and a majority takes about `each` answers.
        let each = 1.2 * (self.k / 2 + 1) as f64;
        let under_way = self.poll.as_ref().map_or(0, Poll::n_votes);
        self.inner.remaining(self.decided) * each - under_way as f64
    }
}
