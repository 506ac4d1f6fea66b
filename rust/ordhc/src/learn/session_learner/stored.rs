//! Answers that are stored until the learner asks for them. Learners that use the store ignore who gave an answer.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::learn::learner::Told;

/// Stored answers by question, in the order of arrival. Clones share the memory of `shared`.
#[derive(Debug, Clone)]
pub(super) struct Stored<const K: usize> {
    shared: Arc<HashMap<[u32; K], Few>>,
    /// The answers to each question whose answers changed after the last merge into `shared`. They
    /// replace the answers to this question in `shared`, even if no answers are left.
    changed: HashMap<[u32; K], Few>,
    /// The answers that do not fit into [`Few`] (at most 15 answers without probabilities), and all
    /// later answers to the same questions.
    more: HashMap<[u32; K], VecDeque<Told>>,
    len: u64,
}

/// The entries of `changed` are merged into `shared` if `changed` has more than `APART` + (number
/// of entries of `shared`) / `SHARE` entries.
const APART: usize = 1024;
const SHARE: usize = 4;

impl<const K: usize> Default for Stored<K> {
    fn default() -> Self {
        Self { shared: Arc::default(), changed: HashMap::new(), more: HashMap::new(), len: 0 }
    }
}

impl<const K: usize> Stored<K> {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn push(&mut self, question: [u32; K], told: Told) {
        self.len += 1;
        let few = self.few(&question);
        let fits = if self.more.contains_key(&question) { None } else { few.with(told) };
        match fits {
            Some(few) => self.set(question, few),
            None => self.more.entry(question).or_default().push_back(told),
        }
    }

    pub(super) fn take(&mut self, question: [u32; K]) -> Option<Told> {
        if let Some((answer, few)) = self.few(&question).split() {
            self.len -= 1;
            self.set(question, few);
            return Some(Told::new(answer));
        }
        let more = self.more.get_mut(&question)?;
        let told = more.pop_front();
        if more.is_empty() {
            self.more.remove(&question);
        }
        self.len -= u64::from(told.is_some());
        told
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

/// At most 15 answers with two bits each. The first answer is in the lowest bits. The highest set bit marks the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Few(u32);

impl Default for Few {
    fn default() -> Self {
        Self(1)
    }
}

impl Few {
    /// Returns `None` if there are 15 answers already, or if the new answer has its own probability `p` of being right.
    fn with(self, Told { answer, p, .. }: Told) -> Option<Self> {
        let end = self.0.ilog2();
        (end < 30 && p.is_none())
            .then(|| Self((self.0 ^ (1 << end)) | (((answer + 1) as u32) << end) | (1 << (end + 2))))
    }

    fn split(self) -> Option<(i8, Self)> {
        (self.0 > 1).then_some(((self.0 & 3) as i8 - 1, Self(self.0 >> 2)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Plain = HashMap<[u32; 3], VecDeque<Told>>;

    proptest! {
        #[test]
        fn answers_come_in_their_order(acts in prop::collection::vec((0u32..12, 0u8..7, -1i8..=2, prop::option::weighted(0.02, 0.5..1.0)), 0..400), many: bool) {
            let mut stores = vec![(Stored::<3>::default(), Plain::new())];
            if many {
                for at in 0..3 * APART as u32 {
                    let (stored, plain) = &mut stores[0];
                    let told = Told::new((at % 4) as i8 - 1);
                    stored.push([at, 1, 2], told);
                    plain.entry([at, 1, 2]).or_default().push_back(told);
                }
                prop_assert!(stores[0].0.changed.len() < 3 * APART);
            }
            for (at, act, answer, p) in acts {
                let told = Told { p, ..Told::new(answer) };
                let which = at as usize % stores.len();
                let (stored, plain) = &mut stores[which];
                let question = [at / 2, 1, 2];
                match act {
                    0 if which < 3 => {
                        let copy = stores[which].clone();
                        stores.push(copy);
                    }
                    1 | 2 => {
                        let expected = plain.get_mut(&question).and_then(VecDeque::pop_front);
                        prop_assert_eq!(stored.take(question), expected);
                    }
                    _ => {
                        stored.push(question, told);
                        plain.entry(question).or_default().push_back(told);
                    }
                }
            }
            for (mut stored, plain) in stores {
                prop_assert_eq!(stored.len(), plain.values().map(|answers| answers.len() as u64).sum::<u64>());
                for (question, answers) in plain {
                    for told in answers {
                        prop_assert_eq!(stored.take(question), Some(told));
                    }
                    prop_assert_eq!(stored.take(question), None);
                }
                prop_assert_eq!(stored.len(), 0);
            }
        }
    }
}
