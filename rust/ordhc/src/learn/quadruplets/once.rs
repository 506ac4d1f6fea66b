//! A strategy that asks no question twice.

use std::collections::HashMap;

use crate::error::Result;
use crate::learn::Told;
use crate::learn::asking::Strategy;
use crate::tree::Dendrogram;

/// Passes on the questions of another strategy, but asks no question twice: a repeated question gets the earlier
/// answer.
#[derive(Debug, Clone)]
pub(super) struct Once<S: Strategy<4>> {
    strategy: S,
    asked: HashMap<[u32; 4], State<S::Purpose>>,
    next: Option<([u32; 4], S::Purpose)>,
}

#[derive(Debug, Clone)]
enum State<P> {
    Open(Vec<P>),
    Answered(Told),
}

impl<S: Strategy<4>> Once<S> {
    pub(super) fn new(strategy: S) -> Self {
        let mut new = Self { strategy, asked: HashMap::new(), next: None };
        new.find_next();
        new
    }

    /// Gives repeated questions their earlier answers in advance, because the strategy may be done after these answers.
    fn find_next(&mut self) {
        while self.next.is_none() {
            let Some((leaves, purpose)) = self.strategy.next() else { return };
            match self.asked.get_mut(&leaves) {
                None => self.next = Some((leaves, purpose)),
                Some(State::Open(purposes)) => purposes.push(purpose),
                Some(State::Answered(told)) => self.strategy.take(purpose, *told),
            }
        }
    }
}

impl<S: Strategy<4>> Strategy<4> for Once<S> {
    type Purpose = ([u32; 4], S::Purpose);

    fn next(&mut self) -> Option<([u32; 4], Self::Purpose)> {
        let (leaves, purpose) = self.next.take()?;
        self.asked.insert(leaves, State::Open(Vec::new()));
        self.find_next();
        Some((leaves, (leaves, purpose)))
    }

    fn take(&mut self, (leaves, purpose): Self::Purpose, told: Told) {
        let before = self.asked.insert(leaves, State::Answered(told));
        self.strategy.take(purpose, told);
        if let Some(State::Open(purposes)) = before {
            purposes.into_iter().for_each(|purpose| self.strategy.take(purpose, told));
        }
        self.find_next();
    }

    fn done(&self) -> bool {
        self.strategy.done()
    }

    fn tree(&self) -> Result<Dendrogram> {
        self.strategy.tree()
    }

    fn n_leaves(&self) -> usize {
        self.strategy.n_leaves()
    }

    fn placed(&self) -> usize {
        self.strategy.placed()
    }

    fn remaining(&self, n_answered: u64) -> f64 {
        self.strategy.remaining(n_answered)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};

    use super::super::complete::Complete;
    use super::super::single::Single;
    use super::*;
    use crate::learn::Learner;
    use crate::learn::asking::Asking;
    use crate::similarity::{Triangle, condensed_len};

    fn learned<S: Strategy<4>>(strategy: S, values: &[u16], batch: usize) -> (Dendrogram, Vec<[u32; 4]>) {
        let n = strategy.n_leaves();
        let value = |i: u32, j: u32| values[Triangle::new(n).index(i as usize, j as usize)];
        let mut learner = Asking::new(strategy);
        let mut asked = Vec::new();
        while !learner.done() {
            let questions = learner.ask(batch).unwrap();
            assert!(!questions.is_empty());
            for question in questions {
                let [i, j, k, l] = question.leaves;
                asked.push(question.leaves);
                learner.tell(question.id, value(i, j).cmp(&value(k, l)) as i8).unwrap();
            }
        }
        (learner.tree().unwrap(), asked)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn no_question_is_asked_twice(n in 1..41usize, few: bool, batch in 1..50usize, random in proptest::collection::vec(0..60_000u16, 780)) {
            // A small number of different values gives ties.
            let values: Vec<u16> = random[..condensed_len(n)].iter().map(|&value| if few { value % 4 } else { value }).collect();
            let single = [learned(Single::new(n), &values, batch), learned(Single::new(n), &values, usize::MAX)];
            let once = learned(Once::new(Single::new(n)), &values, batch);
            prop_assert_eq!(&once.0, &single[1].0);
            prop_assert_eq!(once.1.len(), once.1.iter().collect::<HashSet<_>>().len());
            prop_assert_eq!(once.1.iter().collect::<HashSet<_>>(), single[0].1.iter().collect::<HashSet<_>>());
            let complete = learned(Complete::new(n).unwrap(), &values, batch);
            let once = learned(Once::new(Complete::new(n).unwrap()), &values, batch);
            prop_assert_eq!(&once.0, &complete.0);
            prop_assert_eq!(once.1.len(), once.1.iter().collect::<HashSet<_>>().len());
            prop_assert_eq!(once.1.iter().collect::<HashSet<_>>(), complete.1.iter().collect::<HashSet<_>>());
        }
    }
}
