//! Answers that wait until the learner asks for them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Answers by question, the first one first. Copies share what both have.
#[derive(Debug, Clone)]
pub(super) struct Bank<const K: usize> {
    shared: Arc<HashMap<[u32; K], Few>>,
    /// What has changed since; a question without answers hides those that are shared.
    changed: HashMap<[u32; K], Few>,
    /// Of questions with more answers than `Few` holds: those after the first ones.
    more: HashMap<[u32; K], VecDeque<i8>>,
    len: u64,
}

/// So many changes are kept apart, and a share of all that is there.
const APART: usize = 1024;
const SHARE: usize = 4;

impl<const K: usize> Default for Bank<K> {
    fn default() -> Self {
        Self { shared: Arc::default(), changed: HashMap::new(), more: HashMap::new(), len: 0 }
    }
}

impl<const K: usize> Bank<K> {
    /// How many answers there are.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// One more answer to a question.
    pub(super) fn push(&mut self, question: [u32; K], answer: i8) {
        self.len += 1;
        let few = self.few(&question);
        let fits = if self.more.contains_key(&question) { None } else { few.with(answer) };
        match fits {
            Some(few) => self.set(question, few),
            None => self.more.entry(question).or_default().push_back(answer),
        }
    }

    /// Takes the first answer to a question.
    pub(super) fn take(&mut self, question: [u32; K]) -> Option<i8> {
        let (answer, mut few) = self.few(&question).split()?;
        self.len -= 1;
        if let Some(more) = self.more.get_mut(&question) {
            if let Some(fuller) = more.front().and_then(|&next| few.with(next)) {
                few = fuller;
                more.pop_front();
            }
            if more.is_empty() {
                self.more.remove(&question);
            }
        }
        self.set(question, few);
        Some(answer)
    }

    fn few(&self, question: &[u32; K]) -> Few {
        self.changed.get(question).or_else(|| self.shared.get(question)).copied().unwrap_or_default()
    }

    fn set(&mut self, question: [u32; K], few: Few) {
        self.changed.insert(question, few);
        if self.changed.len() > APART + self.shared.len() / SHARE {
            let shared = Arc::make_mut(&mut self.shared);
            for (question, few) in self.changed.drain() {
                if few == Few::default() {
                    shared.remove(&question);
                } else {
                    shared.insert(question, few);
                }
            }
            self.changed = HashMap::new();
        }
    }
}

/// At most 15 answers, two bits each, the first ones lowest, under a bit that is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Few(u32);

impl Default for Few {
    fn default() -> Self {
        Self(1)
    }
}

impl Few {
    /// With another answer at the end, if there is room.
    fn with(self, answer: i8) -> Option<Self> {
        let end = self.0.ilog2();
        (end < 30).then(|| Self((self.0 ^ (1 << end)) | (((answer + 1) as u32) << end) | (1 << (end + 2))))
    }

    /// The first answer, and the others.
    fn split(self) -> Option<(i8, Self)> {
        (self.0 > 1).then_some(((self.0 & 3) as i8 - 1, Self(self.0 >> 2)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Plain = HashMap<[u32; 3], VecDeque<i8>>;

    proptest! {
        /// Beside lists, with copies that go their own ways.
        #[test]
        fn answers_come_in_their_order(acts in prop::collection::vec((0u32..12, 0u8..7, -1i8..=2), 0..400), many: bool) {
            let mut banks = vec![(Bank::<3>::default(), Plain::new())];
            if many {
                for at in 0..3 * APART as u32 {
                    let (bank, plain) = &mut banks[0];
                    bank.push([at, 1, 2], (at % 4) as i8 - 1);
                    plain.entry([at, 1, 2]).or_default().push_back((at % 4) as i8 - 1);
                }
                prop_assert!(banks[0].0.changed.len() < 3 * APART);
            }
            for (at, act, answer) in acts {
                let which = at as usize % banks.len();
                let (bank, plain) = &mut banks[which];
                let question = [at / 2, 1, 2];
                match act {
                    0 if which < 3 => {
                        let copy = banks[which].clone();
                        banks.push(copy);
                    }
                    1 | 2 => {
                        let expected = plain.get_mut(&question).and_then(VecDeque::pop_front);
                        prop_assert_eq!(bank.take(question), expected);
                    }
                    _ => {
                        bank.push(question, answer);
                        plain.entry(question).or_default().push_back(answer);
                    }
                }
            }
            for (mut bank, plain) in banks {
                prop_assert_eq!(bank.len(), plain.values().map(|answers| answers.len() as u64).sum::<u64>());
                for (question, answers) in plain {
                    for answer in answers {
                        prop_assert_eq!(bank.take(question), Some(answer));
                    }
                    prop_assert_eq!(bank.take(question), None);
                }
                prop_assert_eq!(bank.len(), 0);
            }
        }
    }
}
