//! The open questions of a learner.

use std::collections::VecDeque;

use super::learner::{Counts, Question, Told};
use crate::error::{Error, Result};

/// Gives ids to the questions of a learner, and collects the answers. Each question is stored with a purpose: data of
/// type `T` that are returned with the answer.
#[derive(Debug, Clone)]
pub(crate) struct Ledger<T, const K: usize = 3> {
    first: u64,
    /// All questions since the oldest open question, each with its purpose. `None` for an answered question.
    open: VecDeque<Option<([u32; K], T)>>,
    n_open: usize,
    told: Vec<(u64, T, Told)>,
    n_rounds: u64,
    /// The number of questions before the last call of [`restart`](Self::restart). The counts of questions and answers
    /// leave these out.
    base: u64,
}

impl<T, const K: usize> Default for Ledger<T, K> {
    fn default() -> Self {
        Self { first: 0, open: VecDeque::new(), n_open: 0, told: Vec::new(), n_rounds: 0, base: 0 }
    }
}

impl<T, const K: usize> Ledger<T, K> {
    /// Asks at most `limit` questions, until `next` returns `None`. For each question, `next` returns the leaves and a
    /// purpose. The purpose is data of the caller that are stored with the question and returned with the answer.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn ask(
        &mut self,
        limit: usize,
        mut next: impl FnMut() -> Option<([u32; K], T)>,
    ) -> Result<Vec<Question<K>>> {
        let mut questions = Vec::new();
        let is_round = self.n_open == 0;
        while questions.len() < limit {
            // Reserve memory first, because every question that is returned must be recorded.
            if questions.try_reserve(1).is_err() || self.open.try_reserve(1).is_err() {
                if questions.is_empty() {
                    let bytes = size_of_val(&*questions) + self.open.len() * size_of::<Option<([u32; K], T)>>();
                    return Err(Error::OutOfMemory { what: "open questions", bytes: 2 * bytes as u64 });
                }
                break;
            }
            let Some((leaves, purpose)) = next() else { break };
            questions.push(Question { id: self.next_id(), leaves });
            self.open.push_back(Some((leaves, purpose)));
            self.n_open += 1;
        }
        self.n_rounds += u64::from(is_round && !questions.is_empty());
        Ok(questions)
    }

    pub(crate) fn tell(&mut self, id: u64, told: Told) -> Result<()> {
        let Told { answer, p, .. } = told;
        let (largest, known) = if K == 4 { (1, "1, -1 or 0") } else { (2, "0, 1, 2 or -1") };
        if !(-1..=largest).contains(&answer) {
            return Err(Error::Question { id, reason: format!("the answer {answer} is not {known}") });
        }
        if let Some(p) = p
            && !(0.5..=1.0).contains(&p)
        {
            return Err(Error::Question { id, reason: format!("p = {p} is outside [1/2, 1]") });
        }
        if id >= self.next_id() {
            let reason = format!("it was never asked (questions so far: {})", self.next_id());
            return Err(Error::Question { id, reason });
        }
        let entry = id.checked_sub(self.first).and_then(|at| self.open.get_mut(at as usize));
        let Some((_, purpose)) = entry.and_then(Option::take) else {
            return Err(Error::Question { id, reason: "it is answered already".into() });
        };
        self.told.push((id, purpose, told));
        self.n_open -= 1;
        while let Some(None) = self.open.front() {
            self.open.pop_front();
            self.first += 1;
        }
        Ok(())
    }

    /// Returns the answers since the last call, ordered by question id.
    pub(crate) fn take(&mut self) -> Vec<(u64, T, Told)> {
        let told = std::mem::take(&mut self.told);
        if told.is_sorted_by_key(|told| told.0) {
            return told;
        }
        // Sort pairs of id and index instead of answers, so that the sort is compiled once for all types `T`.
        let mut order: Vec<(u64, usize)> = told.iter().map(|told| told.0).zip(0..).collect();
        order.sort_unstable();
        let mut told: Vec<_> = told.into_iter().map(Some).collect();
        order.into_iter().filter_map(|(_, at)| told[at].take()).collect()
    }

    pub(crate) fn give_back(&mut self, mut told: Vec<(u64, T, Told)>) {
        told.clear();
        self.told = told;
    }

    pub(crate) fn open(&self) -> Vec<Question<K>> {
        let entries = (self.first..).zip(&self.open);
        let question = |(id, entry): (u64, &Option<([u32; K], T)>)| Some(Question { id, leaves: entry.as_ref()?.0 });
        entries.filter_map(question).collect()
    }

    pub(crate) fn n_open(&self) -> usize {
        self.n_open
    }

    /// Withdraws all open questions, and restarts the counts of questions and answers at 0. The ids
    /// and the count of rounds continue.
    pub(crate) fn restart(&mut self) {
        self.first = self.next_id();
        self.base = self.first;
        self.open.clear();
        self.told.clear();
        self.n_open = 0;
    }

    /// Withdraws the open questions that `is_gone` selects. These questions count as answered.
    pub(crate) fn withdraw(&mut self, is_gone: impl Fn(&[u32; K]) -> bool) {
        for entry in &mut self.open {
            if entry.as_ref().is_some_and(|(leaves, _)| is_gone(leaves)) {
                *entry = None;
                self.n_open -= 1;
            }
        }
    }

    fn next_id(&self) -> u64 {
        self.first + self.open.len() as u64
    }

    pub(crate) fn n_asked(&self) -> u64 {
        self.next_id() - self.base
    }

    pub(crate) fn counts(&self) -> Counts {
        let asked = self.n_asked();
        Counts { asked, answered: asked - self.n_open as u64, rounds: self.n_rounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_answered_once() {
        let mut ledger = Ledger::default();
        let mut next = 0;
        let mut ask = |ledger: &mut Ledger<u32>, limit| {
            let asked = ledger.ask(limit, || {
                next += 1;
                Some(([0, 1, 2], next))
            });
            asked.unwrap()
        };
        assert_eq!(ask(&mut ledger, 2).iter().map(|question| question.id).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(ask(&mut ledger, 1)[0].id, 2);
        let message = |result: Result<()>| result.unwrap_err().to_string();
        ledger.tell(2, Told::new(-1)).unwrap();
        assert!(message(ledger.tell(2, Told::new(0))).contains("question 2: it is answered already"));
        ledger.tell(0, Told { p: Some(0.75), ..Told::new(1) }).unwrap();
        assert!(message(ledger.tell(0, Told::new(0))).contains("question 0: it is answered already"));
        assert!(message(ledger.tell(3, Told::new(0))).contains("question 3: it was never asked (questions so far: 3)"));
        assert!(message(ledger.tell(1, Told::new(3))).contains("question 1: the answer 3"));
        for p in [0.4, 1.1, f64::NAN] {
            assert!(message(ledger.tell(1, Told { p: Some(p), ..Told::new(0) })).contains("is outside [1/2, 1]"));
        }
        assert_eq!(ledger.open(), [Question { id: 1, leaves: [0, 1, 2] }]);
        assert_eq!(ledger.take(), [(0, 1, Told { p: Some(0.75), ..Told::new(1) }), (2, 3, Told::new(-1))]);
        assert_eq!((ledger.counts(), ledger.n_open()), (Counts { asked: 3, answered: 2, rounds: 1 }, 1));
    }
}
