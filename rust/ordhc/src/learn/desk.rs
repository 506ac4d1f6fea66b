//! A learner and the people who answer it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::learner::{Learner, Told};
use crate::error::Result;
use crate::monitor::Monitor;

mod bank;

use bank::Bank;

/// What happens at a [`Desk`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<const K: usize = 3> {
    /// So many questions are wanted: the learner is asked for what is missing.
    Wanted(u64),
    /// A question goes to somebody under a number, by which it is answered.
    Handed(u64, [u32; K]),
    /// The answer to a question by its number: (number, leaves, answer). A number that isn't open is passed over.
    Answered(u64, [u32; K], Told),
    /// An answer of its own, to be used wherever the learner asks for it.
    Given([u32; K], Told),
    /// A question that the learner doesn't ask goes to somebody; it counts for the budget.
    Spent,
    /// From now on so many leaves are searched side by side, see [`Learner::set_parallel`].
    Parallel(u64),
    /// The learner is asked as long as answers that are there already say something.
    Use,
}

/// A learner at work with people, whose questions stay theirs whatever becomes of the learner.
///
/// What it is depends on the learner and on the [events](Event), in order. So an answer is taken back by telling a
/// new desk the same events without it: questions that the learner asks again keep their numbers, questions that it
/// doesn't ask any more stay open for those who hold them, and answers find their questions by their leaves.
/// Whatever the events are, this works; answers that the learner never asks for wait.
///
/// ```
/// use ordhc::bindings::{Desk, Event};
/// use ordhc::learn::{Method, Told};
///
/// let mut desk = Desk::new(Method::Insertion { parallel: 1 }.learner(3, 0)?, None, None);
/// desk.apply(Event::Wanted(1))?;
/// let leaves = desk.waiting(1, None)?[0];
/// desk.apply(Event::Handed(17, leaves))?;
/// assert_eq!(desk.open(10, &[]), [(17, leaves)]);
/// desk.apply(Event::Answered(17, leaves, Told::new(0)))?;
/// assert!(desk.done());
/// # Ok::<(), ordhc::Error>(())
/// ```
pub struct Desk<const K: usize = 3> {
    learner: Box<dyn Learner<K>>,
    limit: u64,
    budget: u64,
    /// Slots that need an answer: their leaves and number, if somebody has the question.
    live: BTreeMap<u64, ([u32; K], Option<u64>)>,
    /// Those without a number.
    waiting: BTreeSet<u64>,
    by_key: HashMap<[u32; K], Vec<u64>>,
    /// The slots of numbers that aren't answered; none if the learner doesn't ask that now.
    held: BTreeMap<u64, ([u32; K], Option<u64>)>,
    /// Numbers without a slot.
    orphans: HashMap<[u32; K], VecDeque<u64>>,
    /// Answers that nobody has used, by `key`.
    bank: Bank<K>,
    /// Of a flexible learner: numbers that went to somebody, how many questions are wanted, and these once they are
    /// looked at. They are drawn anew after everything that happens.
    handed: Vec<u64>,
    wanted: u64,
    drafts: Option<Vec<[u32; K]>>,
    /// Slots that were answered or have a number.
    spent: u64,
    answered: u64,
}

impl<const K: usize> Clone for Desk<K> {
    fn clone(&self) -> Self {
        Self {
            learner: self.learner.boxed_clone(),
            live: self.live.clone(),
            waiting: self.waiting.clone(),
            by_key: self.by_key.clone(),
            held: self.held.clone(),
            orphans: self.orphans.clone(),
            bank: self.bank.clone(),
            handed: self.handed.clone(),
            drafts: self.drafts.clone(),
            ..*self
        }
    }
}

impl<const K: usize> Desk<K> {
    /// A learner that nothing was asked yet. At most `limit` questions are open at a time, at most `budget` are asked.
    pub fn new(learner: Box<dyn Learner<K>>, limit: Option<u64>, budget: Option<u64>) -> Self {
        Self {
            learner,
            limit: limit.unwrap_or(u64::MAX),
            budget: budget.unwrap_or(u64::MAX),
            live: BTreeMap::new(),
            waiting: BTreeSet::new(),
            by_key: HashMap::new(),
            held: BTreeMap::new(),
            orphans: HashMap::new(),
            bank: Bank::default(),
            handed: Vec::new(),
            wanted: 0,
            drafts: None,
            spent: 0,
            answered: 0,
        }
    }

    /// Something happens.
    ///
    /// # Errors
    /// Those of [`Learner::tell`]: an answer that is none.
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
            Event::Use => self.use_bank(),
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

    fn use_bank(&mut self) -> Result<()> {
        while self.bank.len() > 0 {
            let room = self.room(u64::MAX).saturating_sub(self.waiting.len() as u64);
            // More than there are answers need not be asked.
            let count = room.min(self.bank.len() + 1);
            if count == 0 || !self.ask(count)?.unwrap_or(false) {
                break;
            }
        }
        Ok(())
    }

    /// How many of so many questions may be asked.
    fn room(&self, count: u64) -> u64 {
        let n_open = (self.live.len() - self.waiting.len()) as u64;
        count.min(self.limit.saturating_sub(n_open)).min(self.left())
    }

    /// Asks the learner. None if it asks nothing, else whether an answer was there already.
    fn ask(&mut self, count: u64) -> Result<Option<bool>> {
        // All of a question that is asked several times: answers that are there already go to what nobody has.
        let times = self.learner.times();
        let count = count.div_ceil(times).saturating_mul(times);
        let questions = self.learner.ask(usize::try_from(count).unwrap_or(usize::MAX))?;
        if questions.is_empty() {
            return Ok(None);
        }
        let mut is_used = false;
        for question in questions {
            let (slot, found) = (question.id, key(question.leaves));
            if let Some(told) = self.bank.take(found) {
                self.spent += 1;
                self.tell(slot, place(question.leaves, found, told))?;
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

    /// An answer without a question: one that waits is answered first.
    fn give(&mut self, leaves: [u32; K], told: Told) -> Result<()> {
        if let Some(learner) = self.learner.flexible() {
            learner.add(leaves, told);
            return Ok(());
        }
        let found = key(leaves);
        let slots = self.by_key.get(&found).into_iter().flatten();
        match slots.copied().min_by_key(|slot| (!self.waiting.contains(slot), *slot)) {
            Some(slot) => self.settle(slot, leaves, told),
            None => {
                self.bank.push(found, place(found, leaves, told));
                Ok(())
            }
        }
    }

    /// A slot has its answer. Somebody who still has its question keeps it.
    fn settle(&mut self, slot: u64, leaves: [u32; K], told: Told) -> Result<()> {
        let Some((asked, number)) = self.live.remove(&slot) else { return Ok(()) };
        let found = key(asked);
        if let Some(slots) = self.by_key.get_mut(&found) {
            slots.retain(|&other| other != slot);
            if slots.is_empty() {
                self.by_key.remove(&found);
            }
        }
        self.spent += u64::from(self.waiting.remove(&slot));
        if let Some(number) = number
            && let Some(held) = self.held.get_mut(&number)
        {
            held.1 = None;
            self.orphans.entry(found).or_default().push_back(number);
        }
        self.tell(slot, place(asked, leaves, told))
    }

    fn tell(&mut self, slot: u64, told: Told) -> Result<()> {
        self.answered += 1;
        self.learner.tell_with(slot, told)
    }

    /// The first questions that the learner asks and nobody has, at most so many.
    ///
    /// # Errors
    /// Not enough memory; [`Error::Interrupted`](crate::Error::Interrupted), after which it may be called again.
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

    /// Questions that the learner asks and somebody has, by number, at most so many and without those of `taken`
    /// (in ascending order).
    pub fn open(&self, most: usize, taken: &[u64]) -> Vec<(u64, [u32; K])> {
        let live = self.held.iter().filter(|(_, (_, slot))| slot.is_some());
        let free = live.filter(|(number, _)| taken.binary_search(number).is_err());
        free.take(most).map(|(&number, &(leaves, _))| (number, leaves)).collect()
    }

    /// The leaves of a number that is not answered, whether the learner still asks it or not.
    pub fn held(&self, number: u64) -> Option<[u32; K]> {
        Some(self.held.get(&number)?.0)
    }

    /// Whether a number is not answered, and the learner still asks it.
    pub fn is_asked(&self, number: u64) -> bool {
        self.held.get(&number).is_some_and(|held| held.1.is_some())
    }

    /// Whether the learner asks about these leaves now, whoever has the question.
    pub fn asks(&self, leaves: [u32; K]) -> bool {
        self.by_key.contains_key(&key(leaves))
    }

    /// How many questions more may go to somebody.
    pub fn left(&self) -> u64 {
        self.budget.saturating_sub(self.spent)
    }

    /// Whether there is nothing left to ask, or the budget is spent and all is answered.
    pub fn done(&self) -> bool {
        self.learner.done() || (self.spent >= self.budget && self.live.len() == self.waiting.len())
    }

    /// About how many answers are still needed; 0 when done.
    pub fn remaining_estimate(&self) -> f64 {
        if self.done() {
            return 0.0;
        }
        let left = self.budget.saturating_sub(self.answered) as f64;
        self.learner.remaining_estimate().min(left).max(0.0)
    }

    /// The learner, for what it knows.
    pub fn learner(&self) -> &dyn Learner<K> {
        &*self.learner
    }
}

/// Takes the first entry of a key that fits.
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

/// The same for the same question, however it is put.
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

/// The answer to `leaves` as the answer to the same question as it was `asked`.
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
