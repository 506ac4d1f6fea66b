//! A strategy that asks every question several times.

use std::collections::VecDeque;

use super::asking::Strategy;
use super::noise::repeats;
use crate::error::Result;
use crate::tree::Dendrogram;

/// Asks each question of another strategy (`inner`) up to k times, and passes the most frequent answer to `inner`. A
/// question is not repeated if the remaining answers cannot change the result.
///
/// `inner` is expected to ask `planned` questions. If nodes have many children, `inner` can ask additional questions.
/// The m-th additional question has its own k, so that the probability of a wrong majority is at most 0.1 delta / (m (m
/// + 1)). These probabilities add up to at most 0.1 delta.
#[derive(Debug, Clone)]
pub(crate) struct Majority<S: Strategy> {
    inner: S,
    k: u64,
    p: f64,
    delta: f64,
    planned: u64,
    asked: u64,
    decided: u64,
    polls: Vec<Option<Poll<S::Purpose>>>,
    free: Vec<u32>,
    ready: VecDeque<u32>,
    under_way: u64,
}

/// The share of `delta` for the questions that `inner` is expected to ask. The rest is for additional questions.
const PLANNED: f64 = 0.9;

#[derive(Debug, Clone)]
struct Poll<P> {
    leaves: [u32; 3],
    purpose: P,
    k: u64,
    votes: [u64; 4],
    open: u64,
}

impl<S: Strategy> Majority<S> {
    pub(crate) fn new(inner: S, planned: u64, p: f64, delta: f64) -> Self {
        let k = repeats(p, PLANNED * delta / planned.max(1) as f64);
        let (polls, free, ready) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { inner, k, p, delta, planned, asked: 0, decided: 0, polls, free, ready, under_way: 0 }
    }

    fn repeats(&mut self) -> u64 {
        self.asked += 1;
        let Some(beyond) = self.asked.checked_sub(self.planned).filter(|beyond| *beyond > 0) else { return self.k };
        let beyond = beyond as f64;
        repeats(self.p, (1.0 - PLANNED) * self.delta / (beyond * (beyond + 1.0)))
    }
}

impl<P> Poll<P> {
    /// Returns how many more answers decide the majority if all of them agree with the most frequent answer so far.
    fn missing(&self) -> u64 {
        let k = self.k;
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
                    && poll.open < poll.missing()
                {
                    poll.open += 1;
                    return Some((poll.leaves, at));
                }
                self.ready.pop_front();
            }
            let (leaves, purpose) = self.inner.next()?;
            let k = self.repeats();
            let poll = Some(Poll { leaves, purpose, k, votes: [0; 4], open: 0 });
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
        let missing = poll.missing();
        if missing == 0 && poll.open == 0 {
            self.under_way -= poll.votes.iter().sum::<u64>();
            let (mut best, mut most) = (0, 0);
            for (answer, votes) in (-1..).zip(poll.votes) {
                if votes > most {
                    (best, most) = (answer, votes);
                }
            }
            self.free.push(at);
            self.decided += 1;
            return self.inner.take(poll.purpose, best);
        }
        if poll.open < missing && !self.ready.contains(&at) {
            self.ready.push_back(at);
        }
        self.polls[at as usize] = Some(poll);
    }

    fn add_leaf(&mut self) -> Result<()> {
        self.inner.add_leaf()
    }

    fn retire(&mut self, leaf: u32) -> Result<()> {
        self.inner.retire(leaf)?;
        self.polls.clear();
        self.free.clear();
        self.ready.clear();
        // `inner` now estimates the number of remaining answers from later answers only, so `decided` restarts at 0,
        // too.
        self.decided = 0;
        self.under_way = 0;
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
        self.inner.remaining(self.decided) * each - self.under_way as f64
    }
}
