//! A learner with the people who answer its questions. It replays the events of a session.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::learner::{Learner, Told};
use crate::error::Result;
use crate::monitor::Monitor;

mod stored;

use stored::Stored;

/// An event of a [`SessionLearner`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<const K: usize = 3> {
    /// The caller wants this number of questions. If fewer questions are available, the learner is
    /// asked for more.
    Wanted(u64),
    /// A question is handed to a person: (number, leaves). The caller chooses the number. The person's answer refers to
    /// this number.
    Handed(u64, [u32; K]),
    /// A person's answer to a question: (number, leaves, answer). The answer is ignored if no question with this number
    /// was handed to a person. If a question is answered more than once, only `Flexible` learners (which accept any
    /// answer) use all of its answers; other learners use the first answer.
    Answered(u64, [u32; K], Told),
    /// An answer to a question that was not handed to a person. The answer is used when the learner asks the question.
    Given([u32; K], Told),
    /// A person gets a question that the caller chose instead of the learner, such as a question drawn at random. The
    /// question counts towards the budget.
    Spent,
    /// From now on, this number of leaves is inserted into the tree in parallel, see [`Learner::set_parallel`].
    Parallel(u64),
    /// Stored answers are used: the learner is asked for questions as long as a stored answer fits
    /// one of them.
    Use,
    /// A leaf is added, see [`Learner::add_leaf`].
    Added,
    /// A leaf is retired, see [`Learner::retire`]. Questions about it are withdrawn, and answers to them are ignored.
    Retired(u32),
}

/// A learner, and the questions that people have. People keep their questions, whatever the learner asks later.
///
/// The state depends only on the learner and on the [events](Event), in order. To take an answer back, apply the same
/// events without this answer to a new session. Questions that the learner asks again keep their numbers. Questions
/// that the learner doesn't ask any more stay open for the people who have them. Answers are matched to questions by
/// their leaves, so any sequence of events is valid. Answers to questions that the learner does not ask are stored.
///
/// ```
/// use ordhc::bindings::{SessionLearner, Event};
/// use ordhc::learn::{Method, Told};
///
/// let mut session = SessionLearner::new(Method::Insertion { parallel: 1 }.learner(3, 0)?, None, None);
/// session.apply(Event::Wanted(1))?;
/// let leaves = session.waiting(1, None)?[0];
/// session.apply(Event::Handed(17, leaves))?;
/// assert_eq!(session.open(10, &[]), [(17, leaves)]);
/// session.apply(Event::Answered(17, leaves, Told::new(0)))?;
/// assert!(session.done());
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Clone)]
pub struct SessionLearner<const K: usize = 3> {
    learner: Box<dyn Learner<K>>,
    limit: u64,
    budget: u64,
    /// The questions of the learner that have no answer yet, by [`Question::id`](super::Question::id), here called
    /// *slot*. The values are the leaves, and the number of the question in [`Event::Handed`] if a person has the
    /// question now.
    live: BTreeMap<u64, ([u32; K], Option<u64>)>,
    /// The ids in `live` of the questions that no person has.
    waiting: BTreeSet<u64>,
    /// For each [`key`] of a question: the ids in `live` of all questions about these leaves.
    by_key: HashMap<[u32; K], Vec<u64>>,
    /// The questions without an answer that were handed to people, by their numbers. The values are the leaves, and
    /// the question's id in `live`, or `None` if the learner doesn't ask the question now.
    held: BTreeMap<u64, ([u32; K], Option<u64>)>,
    /// For each [`key`]: the numbers of the questions that people have, but that the learner doesn't ask now.
    orphans: HashMap<[u32; K], VecDeque<u64>>,
    /// For each [`key`]: the answers to use when the learner next asks this question.
    stored: Stored<K>,
    retired: BTreeSet<u32>,
    /// True if the learner restarts its searches when a leaf is retired.
    is_restarting: bool,
    /// If `is_restarting`: the answers that the learner has used, in order. They are stored again after a leaf is
    /// retired. Answers that are only about leaves in the tree may be missing.
    used: Vec<([u32; K], Told)>,
    n_used: usize,
    /// The number of answers that returned from `used` to `stored` when a leaf was retired. They
    /// already count in `spent` and `answered`.
    n_back: u64,
    /// If the learner is `Flexible` (accepts any question): the numbers of all questions that were handed to people.
    handed: Vec<u64>,
    /// If the learner is `Flexible`: the number of questions that the caller wants. Every event clears `wanted` and
    /// `drafts`.
    wanted: u64,
    /// The questions that a `Flexible` learner suggested. `None` until [`Self::waiting`] is called.
    drafts: Option<Vec<[u32; K]>>,
    /// The number of questions that count towards the budget: handed to a person or answered.
    spent: u64,
    answered: u64,
}

/// Answers about leaves in the tree are removed from `used` when its length exceeds twice its length after the last
/// removal, plus `USED`.
const USED: usize = 1024;

impl<const K: usize> SessionLearner<K> {
    /// Returns a session learner with a `learner` that has not asked any question yet. At most
    /// `limit` questions are open at a time, and at most `budget` questions are asked in all.
    pub fn new(learner: Box<dyn Learner<K>>, limit: Option<u64>, budget: Option<u64>) -> Self {
        Self {
            is_restarting: learner.unplaced().is_some(),
            learner,
            limit: limit.unwrap_or(u64::MAX),
            budget: budget.unwrap_or(u64::MAX),
            live: BTreeMap::new(),
            waiting: BTreeSet::new(),
            by_key: HashMap::new(),
            held: BTreeMap::new(),
            orphans: HashMap::new(),
            stored: Stored::default(),
            retired: BTreeSet::new(),
            used: Vec::new(),
            n_used: 0,
            n_back: 0,
            handed: Vec::new(),
            wanted: 0,
            drafts: None,
            spent: 0,
            answered: 0,
        }
    }

    /// Applies an event.
    ///
    /// # Errors
    /// The errors of [`Learner::tell`], for an invalid answer.
    pub fn apply(&mut self, event: Event<K>) -> Result<()> {
        (self.wanted, self.drafts) = (0, None);
        match event {
            Event::Wanted(count) => self.want(count),
            Event::Handed(number, leaves) => self.hand(number, leaves),
            Event::Answered(number, leaves, told) => match self.held.remove(&number) {
                None if self.handed.binary_search(&number).is_ok() => self.give(leaves, told),
                None => Ok(()),
                Some((_, Some(slot))) => self.settle(slot, leaves, told),
                Some((asked, None)) => {
                    take_from(&mut self.orphans, key(asked), |&orphan| orphan == number);
                    self.give(leaves, told)
                }
            },
            Event::Given(leaves, told) => self.give(leaves, told),
            Event::Spent => {
                self.spent += 1;
                Ok(())
            }
            Event::Parallel(count) => {
                self.learner.set_parallel(usize::try_from(count).unwrap_or(usize::MAX));
                Ok(())
            }
            Event::Use => self.use_stored(),
            Event::Added => self.learner.add_leaf(),
            Event::Retired(leaf) => self.retire(leaf),
        }
    }

    fn retire(&mut self, leaf: u32) -> Result<()> {
        self.learner.retire(leaf)?;
        self.retired.insert(leaf);
        // A learner that restarts its searches has withdrawn all questions. People keep the questions that they have,
        // and the learner may ask these questions again.
        let gone: Vec<u64> =
            self.live.iter().filter(|(_, live)| self.is_restarting || live.0.contains(&leaf)).map(|at| *at.0).collect();
        for slot in gone {
            let Some((leaves, number)) = self.live.remove(&slot) else { continue };
            self.waiting.remove(&slot);
            self.forget_slot(slot, leaves);
            let Some(number) = number else { continue };
            if let Some(held) = self.held.get_mut(&number) {
                held.1 = None;
            }
            if self.is_restarting && !leaves.contains(&leaf) {
                self.spent -= 1;
                self.orphans.entry(key(leaves)).or_default().push_back(number);
            }
        }
        self.keep_unplaced();
        for (leaves, told) in std::mem::take(&mut self.used) {
            if !leaves.contains(&leaf) {
                self.n_back += 1;
                self.stored.push(key(leaves), told);
            }
        }
        Ok(())
    }

    fn keep_unplaced(&mut self) {
        let unplaced: BTreeSet<u32> = self.learner.unplaced().into_iter().flatten().collect();
        self.used.retain(|(leaves, _)| leaves.iter().any(|leaf| unplaced.contains(leaf)));
        self.n_used = self.used.len();
    }

    fn forget_slot(&mut self, slot: u64, leaves: [u32; K]) {
        let found = key(leaves);
        if let Some(slots) = self.by_key.get_mut(&found) {
            slots.retain(|&other| other != slot);
            if slots.is_empty() {
                self.by_key.remove(&found);
            }
        }
    }

    fn want(&mut self, count: u64) -> Result<()> {
        if let Some(learner) = self.learner.flexible() {
            learner.note();
            self.wanted = count;
            return Ok(());
        }
        loop {
            let missing = self.room(count).saturating_sub(self.waiting.len() as u64);
            if missing == 0 || self.ask(missing)?.is_none() {
                return Ok(());
            }
        }
    }

    fn use_stored(&mut self) -> Result<()> {
        while self.stored.len() > 0 {
            let room = self.room(u64::MAX).saturating_sub(self.waiting.len() as u64);
            // Ask for one question more than there are stored answers. The additional question
            // shows that no stored answer is left.
            let count = room.min(self.stored.len() + 1);
            if count == 0 || !self.ask(count)?.unwrap_or(false) {
                break;
            }
        }
        Ok(())
    }

    fn room(&self, count: u64) -> u64 {
        let n_open = (self.live.len() - self.waiting.len()) as u64;
        count.min(self.limit.saturating_sub(n_open)).min(self.left())
    }

    /// Asks the learner for questions. Returns `None` if the learner asks nothing, and otherwise
    /// whether a stored answer was used.
    fn ask(&mut self, count: u64) -> Result<Option<bool>> {
        // Ask for all repetitions of a question together. So a stored answer goes to a repetition
        // that was not handed to a person.
        let times = self.learner.times();
        let count = count.div_ceil(times).saturating_mul(times);
        let questions = self.learner.ask(usize::try_from(count).unwrap_or(usize::MAX))?;
        if questions.is_empty() {
            return Ok(None);
        }
        let mut is_used = false;
        for question in questions {
            let (slot, found) = (question.id, key(question.leaves));
            if let Some(told) = self.stored.take(found) {
                let is_back = self.n_back > 0;
                self.n_back -= u64::from(is_back);
                self.spent += u64::from(!is_back);
                self.answered -= u64::from(is_back);
                self.tell(slot, question.leaves, place(question.leaves, found, told))?;
                is_used = true;
                continue;
            }
            let number = take_from(&mut self.orphans, found, |_| true);
            match number {
                Some(number) => {
                    self.spent += 1;
                    if let Some(held) = self.held.get_mut(&number) {
                        held.1 = Some(slot);
                    }
                }
                None => {
                    self.waiting.insert(slot);
                }
            }
            self.live.insert(slot, (question.leaves, number));
            self.by_key.entry(found).or_default().push(slot);
        }
        Ok(Some(is_used))
    }

    fn hand(&mut self, number: u64, leaves: [u32; K]) -> Result<()> {
        let found = key(leaves);
        if let Some(learner) = self.learner.flexible() {
            let slot = learner.adopt(leaves)?;
            self.spent += 1;
            self.handed.push(number);
            self.live.insert(slot, (leaves, Some(number)));
            self.by_key.entry(found).or_default().push(slot);
            self.held.insert(number, (leaves, Some(slot)));
            return Ok(());
        }
        let slots = self.by_key.get(&found).into_iter().flatten();
        let slot = slots.copied().filter(|slot| self.waiting.contains(slot)).min();
        match slot {
            Some(slot) => {
                self.waiting.remove(&slot);
                self.spent += 1;
                if let Some(entry) = self.live.get_mut(&slot) {
                    entry.1 = Some(number);
                }
            }
            None => self.orphans.entry(found).or_default().push_back(number),
        }
        self.held.insert(number, (leaves, slot));
        Ok(())
    }

    /// Uses an answer for an open question about the same leaves, or stores the answer if there is no such question. If
    /// there are several such questions, one that was not handed to a person gets the answer.
    fn give(&mut self, leaves: [u32; K], told: Told) -> Result<()> {
        if leaves.iter().any(|leaf| self.retired.contains(leaf)) {
            return Ok(());
        }
        if let Some(learner) = self.learner.flexible() {
            learner.add(leaves, told);
            return Ok(());
        }
        let found = key(leaves);
        let slots = self.by_key.get(&found).into_iter().flatten();
        match slots.copied().min_by_key(|slot| (!self.waiting.contains(slot), *slot)) {
            Some(slot) => self.settle(slot, leaves, told),
            None => {
                self.stored.push(found, place(found, leaves, told));
                Ok(())
            }
        }
    }

    /// Passes the answer to the question with the id `slot` to the learner. A person who has this question keeps the
    /// question.
    fn settle(&mut self, slot: u64, leaves: [u32; K], told: Told) -> Result<()> {
        let Some((asked, number)) = self.live.remove(&slot) else { return Ok(()) };
        let found = key(asked);
        self.forget_slot(slot, asked);
        self.spent += u64::from(self.waiting.remove(&slot));
        if let Some(number) = number
            && let Some(held) = self.held.get_mut(&number)
        {
            held.1 = None;
            self.orphans.entry(found).or_default().push_back(number);
        }
        self.tell(slot, asked, place(asked, leaves, told))
    }

    fn tell(&mut self, slot: u64, asked: [u32; K], told: Told) -> Result<()> {
        self.answered += 1;
        self.learner.tell_with(slot, told)?;
        if self.is_restarting {
            let found = key(asked);
            self.used.push((found, place(found, asked, told)));
            if self.used.len() > 2 * self.n_used + USED {
                self.keep_unplaced();
            }
        }
        Ok(())
    }

    /// Returns at most `most` questions that the learner asks and that no person has.
    ///
    /// # Errors
    /// Not enough memory; [`Error::Interrupted`](crate::Error::Interrupted), after which this method may be called
    /// again.
    pub fn waiting(&mut self, most: u64, monitor: Option<&Monitor>) -> Result<Vec<[u32; K]>> {
        let most = usize::try_from(self.room(most)).unwrap_or(usize::MAX);
        let wanted = usize::try_from(self.room(self.wanted)).unwrap_or(usize::MAX);
        if let Some(learner) = self.learner.flexible() {
            if self.drafts.is_none() && wanted > 0 {
                self.drafts = Some(learner.suggest(wanted, monitor)?);
            }
            return Ok(self.drafts.iter().flatten().take(most).copied().collect());
        }
        Ok(self.waiting.iter().take(most).filter_map(|slot| Some(self.live.get(slot)?.0)).collect())
    }

    /// Returns at most `most` questions, with their numbers, that the learner asks and a person has. Numbers in `taken`
    /// are left out. `taken` must be in ascending order.
    pub fn open(&self, most: usize, taken: &[u64]) -> Vec<(u64, [u32; K])> {
        let live = self.held.iter().filter(|(_, (_, slot))| slot.is_some());
        let free = live.filter(|(number, _)| taken.binary_search(number).is_err());
        free.take(most).map(|(&number, &(leaves, _))| (number, leaves)).collect()
    }

    /// Returns the leaves of the question with this number, or `None` if the question is answered or unknown. Also
    /// returns the leaves if the learner doesn't ask the question any more.
    pub fn held(&self, number: u64) -> Option<[u32; K]> {
        Some(self.held.get(&number)?.0)
    }

    /// Returns true if the question with this number is not answered, and the learner still asks it.
    pub fn is_asked(&self, number: u64) -> bool {
        self.held.get(&number).is_some_and(|held| held.1.is_some())
    }

    /// Returns true if the learner asks about these leaves now, whether or not a person has the question.
    pub fn asks(&self, leaves: [u32; K]) -> bool {
        self.by_key.contains_key(&key(leaves))
    }

    /// Returns how many more questions may be handed to people.
    pub fn left(&self) -> u64 {
        self.budget.saturating_sub(self.spent)
    }

    /// Returns true if nothing is left to ask, or if the budget is spent and all questions are answered.
    pub fn done(&self) -> bool {
        self.learner.done() || (self.spent >= self.budget && self.live.len() == self.waiting.len())
    }

    /// Returns an estimate of the number of answers that are still needed, 0 when done.
    pub fn remaining_estimate(&self) -> f64 {
        if self.done() {
            return 0.0;
        }
        let left = self.budget.saturating_sub(self.answered) as f64;
        self.learner.remaining_estimate().min(left).max(0.0)
    }

    /// Returns the learner.
    pub fn learner(&self) -> &dyn Learner<K> {
        &*self.learner
    }
}

fn take_from<const K: usize, T>(
    table: &mut HashMap<[u32; K], VecDeque<T>>,
    key: [u32; K],
    fits: impl FnMut(&T) -> bool,
) -> Option<T> {
    let entries = table.get_mut(&key)?;
    let at = entries.iter().position(fits);
    let found = at.and_then(|at| entries.remove(at));
    if entries.is_empty() {
        table.remove(&key);
    }
    found
}

/// Returns the leaves of a question in a standard order. Questions about the same three leaves, or the same two pairs,
/// give the same result.
pub(super) fn key<const K: usize>(mut leaves: [u32; K]) -> [u32; K] {
    if K == 4 {
        leaves[..2].sort_unstable();
        leaves[2..].sort_unstable();
        if leaves[2..] < leaves[..2] {
            leaves.rotate_left(2);
        }
    } else {
        leaves.sort_unstable();
    }
    leaves
}

/// Converts `told`, an answer to the question about `leaves`, into an answer to the question about
/// `asked`. Both questions have the same leaves, maybe in different orders.
fn place<const K: usize>(asked: [u32; K], leaves: [u32; K], told: Told) -> Told {
    Told { answer: place_of(asked, leaves, told.answer), ..told }
}

fn place_of<const K: usize>(asked: [u32; K], leaves: [u32; K], answer: i8) -> i8 {
    if K == 4 {
        let is_same = (asked[0], asked[1]) == (leaves[0], leaves[1]) || (asked[0], asked[1]) == (leaves[1], leaves[0]);
        return if is_same { answer } else { -answer };
    }
    let odd = usize::try_from(answer).ok().and_then(|at| leaves.get(at));
    odd.and_then(|odd| asked.iter().position(|leaf| leaf == odd)).map_or(-1, |at| at as i8)
}

#[cfg(test)]
mod tests;
