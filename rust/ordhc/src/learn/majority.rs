//! Every question several times.

use std::collections::VecDeque;

use super::asking::Strategy;
use super::noise::repeats;
use crate::search::Sketch;

/// Another strategy, each of whose questions is asked up to k times; the answer that most agree on counts.
/// What k answers cannot change any more is not asked.
#[derive(Debug, Clone)]
pub(crate) struct Majority<S: Strategy> {
    inner: S,
    k: u64,
    polls: Vec<Option<Poll<S::Purpose>>>,
    free: Vec<u32>,
    ready: VecDeque<u32>,
    /// Answers to questions without a majority.
    under_way: u64,
}

#[derive(Debug, Clone)]
struct Poll<P> {
    leaves: [u32; 3],
    purpose: P,
    votes: [u64; 4],
    open: u64,
}

impl<S: Strategy> Majority<S> {
    /// The inner strategy needs at most so many right majorities; with a probability of at least
    /// 1 - `delta` it gets them all from answers that are right with probability `p`.
    pub(crate) fn new(inner: S, questions: f64, p: f64, delta: f64) -> Self {
        let k = repeats(p, delta / questions.max(1.0));
        Self { inner, k, polls: Vec::new(), free: Vec::new(), ready: VecDeque::new(), under_way: 0 }
    }
}

impl<P> Poll<P> {
    /// How many more answers are needed if all agree with the most so far.
    fn missing(&self, k: u64) -> u64 {
        let all: u64 = self.votes.iter().sum();
        let most = self.votes.iter().max().copied().unwrap_or(0);
        (k / 2 + 1 - most.min(k / 2 + 1)).min(k - all)
    }
}

impl<S: Strategy> Strategy for Majority<S>
where
    S::Purpose: Clone,
{
    type Purpose = u32;

    fn next(&mut self) -> Option<([u32; 3], u32)> {
        loop {
            while let Some(&at) = self.ready.front() {
                if let Some(poll) = &mut self.polls[at as usize]
                    && poll.open < poll.missing(self.k)
                {
                    poll.open += 1;
                    return Some((poll.leaves, at));
                }
                self.ready.pop_front();
            }
            let (leaves, purpose) = self.inner.next()?;
            let poll = Some(Poll { leaves, purpose, votes: [0; 4], open: 0 });
            let at = match self.free.pop() {
                Some(at) => {
                    self.polls[at as usize] = poll;
                    at
                }
                None => {
                    self.polls.push(poll);
                    self.polls.len() as u32 - 1
                }
            };
            self.ready.push_back(at);
        }
    }

    fn take(&mut self, at: u32, answer: i8) {
        let Some(mut poll) = self.polls[at as usize].take() else { return };
        poll.votes[(answer + 1) as usize] += 1;
        poll.open -= 1;
        self.under_way += 1;
        let missing = poll.missing(self.k);
        if missing == 0 && poll.open == 0 {
            self.under_way -= poll.votes.iter().sum::<u64>();
            let (mut best, mut most) = (0, 0);
            for (answer, votes) in (-1..).zip(poll.votes) {
                if votes > most {
                    (best, most) = (answer, votes);
                }
            }
            self.free.push(at);
            return self.inner.take(poll.purpose, best);
        }
        if poll.open < missing && !self.ready.contains(&at) {
            self.ready.push_back(at);
        }
        self.polls[at as usize] = Some(poll);
    }

    fn done(&self) -> bool {
        self.inner.done()
    }

    fn sketch(&self) -> Sketch {
        self.inner.sketch()
    }

    fn n_leaves(&self) -> usize {
        self.inner.n_leaves()
    }

    fn placed(&self) -> usize {
        self.inner.placed()
    }

    fn remaining(&self, n_answered: u64) -> f64 {
        // The inner strategy counts answers of its own.
        let each = 1.2 * (self.k / 2 + 1) as f64;
        let inner = ((n_answered - self.under_way.min(n_answered)) as f64 / each) as u64;
        self.inner.remaining(inner) * each - self.under_way as f64
    }
}
