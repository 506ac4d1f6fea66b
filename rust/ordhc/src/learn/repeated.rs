//! A learner that asks each question of another learner several times.

use std::collections::{HashMap, VecDeque};

use super::learner::{Counts, Learner, LikelyPlace, Question, Told};
use super::ledger::Ledger;
use crate::error::{Error, Result};
use crate::tree::{Dendrogram, Topology};

/// Returns a learner that asks each question of `learner` `times` times in a row, and passes the most frequent answer
/// to `learner`. If no answer is more frequent than all others, it passes -1 (no two leaves are closer) for three
/// leaves, and 0 (neither pair is more similar) for four leaves.
///
/// ```
/// use ordhc::bindings::repeated;
/// use ordhc::learn::Method;
///
/// let mut learner = repeated(Method::Exact.learner(3, 0)?, 3)?;
/// let asked = learner.ask(10)?;
/// assert!(asked.len() == 3 && asked.iter().all(|question| question.leaves == asked[0].leaves));
/// for (question, answer) in asked.iter().zip([1, 0, 1]) {
///     learner.tell(question.id, answer)?;
/// }
/// assert!(learner.done() && learner.n_answered() == 3);
/// # Ok::<(), ordhc::Error>(())
/// ```
///
/// # Errors
/// `times` is even.
pub fn repeated(learner: Box<dyn Learner>, times: u64) -> Result<Box<dyn Learner>> {
    of_any(learner, times)
}

/// Does the same as [`repeated`] for questions about four leaves.
///
/// # Errors
/// The errors of [`repeated`].
pub fn repeated_of_four(learner: Box<dyn Learner<4>>, times: u64) -> Result<Box<dyn Learner<4>>> {
    of_any(learner, times)
}

fn of_any<const K: usize>(learner: Box<dyn Learner<K>>, times: u64) -> Result<Box<dyn Learner<K>>> {
    if times.is_multiple_of(2) {
        return Err(Error::Argument(format!("repeat = {times} is even: a majority needs an odd number")));
    }
    if times == 1 {
        return Ok(learner);
    }
    Ok(Box::new(Repeated {
        learner,
        times,
        begun: VecDeque::new(),
        n_begun: 0,
        ledger: Ledger::default(),
        votes: HashMap::new(),
    }))
}

/// The maximum number of questions that one call of `ask` returns.
const MOST: usize = 1 << 22;

#[derive(Clone)]
struct Repeated<const K: usize> {
    learner: Box<dyn Learner<K>>,
    times: u64,
    /// The questions of `learner` to repeat. The first was already asked `n_begun` times.
    begun: VecDeque<Question<K>>,
    n_begun: u64,
    /// Each question in this ledger is stored with the id of the question of `learner` that it repeats.
    ledger: Ledger<u64, K>,
    /// For each id of a question of `learner`: the numbers of answers -1, 0, 1 and 2.
    votes: HashMap<u64, [u64; 4]>,
}

impl<const K: usize> Repeated<K> {
    fn ready(&self) -> u64 {
        self.begun.len() as u64 * self.times - self.n_begun
    }

    fn count(&mut self, question: u64, answer: i8) -> Result<()> {
        let votes = self.votes.entry(question).or_default();
        votes[(answer + 1) as usize] += 1;
        if votes.iter().sum::<u64>() < self.times {
            return Ok(());
        }
        let verdict = verdict::<K>(*votes);
        self.votes.remove(&question);
        self.learner.tell(question, verdict)
    }
}

fn verdict<const K: usize>(votes: [u64; 4]) -> i8 {
    let most = votes.into_iter().max();
    let mut best = (-1..).zip(votes).filter(|&(_, count)| Some(count) == most);
    match (best.next(), best.next()) {
        (Some((answer, _)), None) => answer,
        _ if K == 4 => 0,
        _ => -1,
    }
}

impl<const K: usize> Learner<K> for Repeated<K> {
    fn ask(&mut self, limit: usize) -> Result<Vec<Question<K>>> {
        let limit = limit.min(MOST);
        let missing = (limit as u64).saturating_sub(self.ready()).div_ceil(self.times);
        if missing > 0 {
            self.begun.extend(self.learner.ask(missing as usize)?);
        }
        let Self { begun, n_begun, times, ledger, .. } = self;
        ledger.ask(limit, || {
            let Question { id, leaves } = *begun.front()?;
            *n_begun += 1;
            if n_begun == times {
                begun.pop_front();
                *n_begun = 0;
            }
            Some((leaves, id))
        })
    }

    fn open(&self) -> Vec<Question<K>> {
        self.ledger.open()
    }

    fn tell_with(&mut self, id: u64, told: Told) -> Result<()> {
        self.ledger.tell(id, told)?;
        let mut told = self.ledger.take();
        let counted = told.drain(..).try_for_each(|(_, question, told)| self.count(question, told.answer));
        self.ledger.give_back(told);
        counted
    }

    fn tree(&self) -> Result<Dendrogram> {
        self.learner.tree()
    }

    fn support(&self, tree: &Topology) -> Option<Vec<f64>> {
        self.learner.support(tree)
    }

    fn places(&self, leaf: u32) -> Option<Vec<LikelyPlace>> {
        self.learner.places(leaf)
    }

    fn done(&self) -> bool {
        self.learner.done()
    }

    fn n_leaves(&self) -> usize {
        self.learner.n_leaves()
    }

    fn placed(&self) -> usize {
        self.learner.placed()
    }

    fn counts(&self) -> Counts {
        self.ledger.counts()
    }

    fn remaining_estimate(&self) -> f64 {
        self.learner.remaining_estimate() * self.times as f64
    }

    fn set_parallel(&mut self, parallel: usize) {
        self.learner.set_parallel(parallel);
    }

    fn add_leaf(&mut self) -> Result<()> {
        self.learner.add_leaf()
    }

    fn retire(&mut self, leaf: u32) -> Result<()> {
        self.learner.retire(leaf)?;
        self.begun.clear();
        self.n_begun = 0;
        self.votes.clear();
        self.ledger.restart();
        Ok(())
    }

    fn unplaced(&self) -> Option<Vec<u32>> {
        self.learner.unplaced()
    }

    fn times(&self) -> u64 {
        self.times
    }

    fn boxed_clone(&self) -> Box<dyn Learner<K>> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{Method, QuadrupletMethod};

    #[test]
    fn ties_are_none() {
        assert_eq!(verdict::<3>([0, 1, 2, 0]), 1);
        assert_eq!(verdict::<3>([3, 1, 1, 0]), -1);
        assert_eq!(verdict::<3>([0, 1, 1, 1]), -1);
        assert_eq!(verdict::<4>([1, 1, 1, 0]), 0);
        assert_eq!(verdict::<4>([1, 0, 2, 0]), 1);
        assert!(repeated(Method::Quick.learner(4, 0).unwrap(), 2).is_err());
        assert!(repeated_of_four(QuadrupletMethod::Single.learner(4, 0).unwrap(), 0).is_err());
    }

    #[test]
    fn questions_come_in_a_row() {
        let new = || repeated(Method::Rounds.learner(9, 1).unwrap(), 3).unwrap();
        let (mut one, mut other) = (new(), new());
        let together = one.ask(8).unwrap();
        let apart: Vec<Question> = (0..8).flat_map(|_| other.ask(1).unwrap()).collect();
        assert_eq!(together, apart);
        assert!(together.chunks(3).all(|votes| votes.iter().all(|vote| vote.leaves == votes[0].leaves)));
        assert_eq!((one.n_asked(), one.n_rounds(), one.times()), (8, 1, 3));
        for (at, question) in together.iter().enumerate().rev() {
            one.tell(question.id, (at % 2) as i8).unwrap();
            assert!(one.tell(question.id, 0).is_err());
            assert_eq!(one.open(), together[..at]);
        }
        assert!(one.tell(8, 0).is_err() && one.n_answered() == 8);
        let mut copy = one.boxed_clone();
        assert_eq!(copy.ask(4).unwrap(), one.ask(4).unwrap());
        assert_eq!(copy.open()[0].leaves, together[7].leaves);
    }

    #[test]
    fn many_repeats_take_no_memory() {
        let mut learner = repeated(Method::Quick.learner(5, 0).unwrap(), u64::MAX).unwrap();
        assert_eq!(learner.ask(usize::MAX).unwrap().len(), MOST);
    }
}
