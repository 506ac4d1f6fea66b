//! A learner that asks the questions with the most expected information.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::learner::{Counts, Flexible, Learner, Question, Told, fixed};
use super::ledger::Ledger;
use super::session_learner::key;
use crate::comparison::Comparisons;
use crate::error::{Result, check_n_leaves, check_positive};
use crate::monitor::Monitor;
use crate::posterior::{Samples, Sampling};
use crate::tree::Dendrogram;

mod local;
mod pool;
mod trees;

use local::Local;
use pool::Pool;
use trees::{best_tree, draw};

/// The leaves of a question, the answer, and the id of the person who answered.
type Answer<const K: usize> = ([u32; K], i8, Option<u32>);

/// New trees are sampled from the posterior when enough answers are new: at least the number of leaves divided by
/// `LEAVES_AN_ANSWER`, and at least the number of earlier answers divided by `ANSWERS_AN_ANSWER`. So the total time for
/// sampling is proportional to the number of answers.
const LEAVES_AN_ANSWER: usize = 2;
const ANSWERS_AN_ANSWER: usize = 16;
/// This number divided by the number of answers is the number of MCMC sweeps (iterations of a Markov chain) for the
/// result of `tree`. At least 60 and at most 240 sweeps are used. Half of the sweeps are burn-in.
const SWEEPS_OF_ANSWERS: usize = 480_000;
/// The smallest number of new answers after which new trees are sampled from the posterior.
const LEAST: usize = 8;
/// Above `MOST_LEAVES` leaves or `MOST_ANSWERS` answers, sampling trees from the posterior takes too long for a person
/// who waits. Then questions are chosen by one tree that each answer updates ([`Local`]).
const MOST_LEAVES: usize = 250;
const MOST_ANSWERS: usize = 8_000;
/// If questions are chosen by one tree ([`Local`]): the last `LAST_ASKED` questions are not asked again. New questions
/// avoid leaves that occur often in the last `LAST_OPEN` open questions.
const LAST_ASKED: usize = 1_000;
const LAST_OPEN: usize = 256;
/// The default number of questions per leaf.
const A_LEAF: u64 = 20;

/// A learner that asks the questions on whose answers trees sampled from the posterior disagree most.
///
/// The state depends only on the answers and the questions asked, in order. When questions are requested after enough
/// new answers, new trees are sampled given all answers at this time. Each question uses its own random stream, given
/// by the index of the question. So a program can replay the recorded events of a session without sampling trees. If
/// the answers name several people, the noise is estimated for each of them.
pub(super) struct Uncertain<const K: usize = 3> {
    n: usize,
    seed: u64,
    questions: u64,
    repeat: u64,
    /// The number of questions by which the total `questions` grows for each added leaf, or `None`
    /// if the total is fixed.
    each: Option<u64>,
    leaves: Vec<u32>,
    pool: Pool<K>,
    ledger: Ledger<[u32; K], K>,
    answers: Vec<Answer<K>>,
    seen: Vec<bool>,
    asked: Vec<[u32; K]>,
    /// The questions that must be asked again, if possible of other people, and how many times each must be asked.
    again: VecDeque<([u32; K], u64)>,
    /// The numbers of answers and of questions at the last request for questions at which new trees were due.
    mark: [usize; 2],
    drawn: Option<(usize, Arc<Samples>)>,
    tree: Mutex<Option<(usize, Arc<Dendrogram>)>>,
    follower: Follower<K>,
}

/// One tree ([`Local`]) that is updated when questions are wanted.
#[derive(Debug, Clone)]
struct Follower<const K: usize> {
    /// The total number of answers at each request for questions. Requests without new answers since the last request
    /// are left out. The tree is updated once for each number in this list.
    counts: Vec<usize>,
    done: usize,
    local: Option<Arc<Local<K>>>,
}

impl<const K: usize> Follower<K> {
    /// Updates the tree for all numbers in `counts` after the first `done` numbers. If an update is interrupted, the
    /// next call builds the tree again.
    fn catch_up(&mut self, n: usize, seed: u64, answers: &[Answer<K>], monitor: &Monitor) -> Result<&mut Local<K>> {
        let mut local = self.local.take().unwrap_or_else(|| {
            self.done = 0;
            Arc::new(Local::new(n, seed))
        });
        let follower = Arc::make_mut(&mut local);
        for &count in &self.counts[self.done..] {
            follower.learn(&answers[..count], monitor)?;
        }
        self.done = self.counts.len();
        Ok(Arc::make_mut(self.local.insert(local)))
    }
}

impl<const K: usize> Clone for Uncertain<K> {
    fn clone(&self) -> Self {
        Self {
            leaves: self.leaves.clone(),
            pool: self.pool.clone(),
            ledger: self.ledger.clone(),
            answers: self.answers.clone(),
            seen: self.seen.clone(),
            asked: self.asked.clone(),
            again: self.again.clone(),
            drawn: self.drawn.clone(),
            tree: Mutex::new(self.known_tree()),
            follower: self.follower.clone(),
            ..*self
        }
    }
}

/// Returns a learner like [`Method::Uncertain`](super::Method::Uncertain) that asks only questions of the list `among`.
/// Each question is asked as often as the list contains it. Use this learner if only some questions were answered
/// before, or are allowed.
///
/// For four leaves, the learner asks which of two pairs is closer. `questions` and `repeat` are as in the method. If
/// `questions` is `None`, the whole list is asked.
///
/// ```
/// use ordhc::bindings::uncertain_among_pairs;
/// use ordhc::learn::Learner;
///
/// // Is 0 closer to 1 than to 2, to 1 than to 3?
/// let mut learner = uncertain_among_pairs(4, vec![[0, 1, 0, 2], [0, 1, 0, 3]], None, 1, 0)?;
/// for question in learner.ask(10)? {
///     learner.tell(question.id, 1)?;
/// }
/// assert!(learner.done() && learner.n_answered() == 2);
/// # Ok::<(), ordhc::Error>(())
/// ```
///
/// # Errors
/// `n` is 0 or more than 2^31 - 1; `repeat` = 0; a question with a leaf that doesn't exist, with a leaf twice, or with
/// the same pair twice.
pub fn uncertain_among_pairs(
    n: usize,
    among: Vec<[u32; 4]>,
    questions: Option<u64>,
    repeat: u64,
    seed: u64,
) -> Result<Box<dyn Learner<4>>> {
    among_any(n, among, questions, repeat, seed)
}

/// Does the same as [`uncertain_among_pairs`] for questions about three leaves: which one is the odd one out?
///
/// # Errors
/// The errors of [`uncertain_among_pairs`].
pub fn uncertain_among(
    n: usize,
    among: Vec<[u32; 3]>,
    questions: Option<u64>,
    repeat: u64,
    seed: u64,
) -> Result<Box<dyn Learner>> {
    among_any(n, among, questions, repeat, seed)
}

fn among_any<const K: usize>(
    n: usize,
    among: Vec<[u32; K]>,
    questions: Option<u64>,
    repeat: u64,
    seed: u64,
) -> Result<Box<dyn Learner<K>>> {
    let mut learner = checked(n, seed, questions, repeat)?;
    let rows: Vec<[i32; K]> = among.iter().map(|row| row.map(|leaf| leaf as i32)).collect();
    Comparisons::<K>::new(rows, Some(n))?;
    let most = (among.len() as u64).saturating_mul(repeat);
    learner.each = None;
    learner.questions = questions.unwrap_or(most).min(most);
    learner.pool = Pool::of(among);
    Ok(Box::new(learner))
}

/// Returns a learner like [`Method::Uncertain`](super::Method::Uncertain) that asks which of two pairs is closer. If
/// `anchored`, the two pairs share a leaf. This leaf comes first in both pairs ("is a closer to b than to c?").
///
/// ```
/// use ordhc::bindings::uncertain_of_pairs;
///
/// let mut learner = uncertain_of_pairs(5, true, None, 1, 0)?;
/// assert!(learner.ask(3)?.iter().all(|question| question.leaves[0] == question.leaves[2]));
/// # Ok::<(), ordhc::Error>(())
/// ```
///
/// # Errors
/// `n` is 0 or more than 2^31 - 1; `repeat` = 0.
pub fn uncertain_of_pairs(
    n: usize,
    anchored: bool,
    questions: Option<u64>,
    repeat: u64,
    seed: u64,
) -> Result<Box<dyn Learner<4>>> {
    let mut learner = checked(n, seed, questions, repeat)?;
    if anchored {
        learner.pool = Pool::Anchored;
    }
    Ok(Box::new(learner))
}

fn checked<const K: usize>(n: usize, seed: u64, questions: Option<u64>, repeat: u64) -> Result<Uncertain<K>> {
    check_n_leaves(n)?;
    check_positive("repeat", repeat)?;
    Ok(Uncertain::new(n, seed, questions, repeat))
}

impl<const K: usize> Uncertain<K> {
    pub(super) fn new(n: usize, seed: u64, questions: Option<u64>, repeat: u64) -> Self {
        Self {
            n,
            seed,
            questions: questions.unwrap_or((A_LEAF * n as u64).saturating_mul(repeat)),
            repeat,
            each: questions.is_none().then(|| A_LEAF.saturating_mul(repeat)),
            leaves: (0..n as u32).collect(),
            pool: Pool::All,
            ledger: Ledger::default(),
            answers: Vec::new(),
            seen: vec![false; n],
            asked: Vec::new(),
            again: VecDeque::new(),
            mark: [0; 2],
            drawn: None,
            tree: Mutex::new(None),
            follower: Follower { counts: Vec::new(), done: 0, local: None },
        }
    }

    fn is_large(&self) -> bool {
        self.n > MOST_LEAVES || self.answers.len() > MOST_ANSWERS
    }

    fn known_tree(&self) -> Option<(usize, Arc<Dendrogram>)> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn draw(&mut self, monitor: Option<&Monitor>) -> Result<Option<Arc<Samples>>> {
        let count = self.mark[0];
        if count == 0 {
            return Ok(None);
        }
        if self.drawn.as_ref().is_none_or(|drawn| drawn.0 != count) {
            let sampling = Sampling { chains: 2, sweeps: 32, burn_in: 12, kept: 40, ..self.sampling() };
            let samples = draw(self.n, &self.answers[..count], &sampling, monitor)?;
            self.drawn = Some((count, Arc::new(samples)));
        }
        Ok(self.drawn.as_ref().map(|drawn| Arc::clone(&drawn.1)))
    }

    /// Discards all trees, because the leaves to ask about have changed. The tree in `follower` is built again when
    /// questions are requested, so that a replay of the recorded events gives the same tree.
    fn forget_trees(&mut self) {
        self.drawn = None;
        self.tree = Mutex::new(None);
        self.follower.local = None;
    }

    fn sampling(&self) -> Sampling {
        // The questions are about uncertain parts of the tree, so a linkage of the answers is a poor initial tree. Use
        // many sweeps (iterations of a Markov chain), because such a start takes long to correct.
        let sweeps = (SWEEPS_OF_ANSWERS / self.answers.len().max(1)).clamp(60, 240);
        Sampling { chains: 4, sweeps, burn_in: sweeps / 2, kept: 200, seed: self.seed, lengths: true }
    }

    fn fresh_of_many(&mut self, count: usize, monitor: Option<&Monitor>) -> Result<Vec<[u32; K]>> {
        watched!(monitor);
        let local = self.follower.catch_up(self.n, self.seed, &self.answers, monitor)?;
        let last = &self.asked[self.asked.len().saturating_sub(LAST_ASKED)..];
        let mut known: HashSet<[u32; K]> = last.iter().copied().map(key).collect();
        let open = self.ledger.open();
        let mut uses = vec![0usize; self.n];
        let n_before = open.len().min(LAST_OPEN);
        open[open.len() - n_before..].iter().flat_map(|one| one.leaves).for_each(|leaf| uses[leaf as usize] += 1);
        let mut found: Vec<[u32; K]> = Vec::new();
        for n_open in n_before..n_before.saturating_add(count) {
            monitor.check()?;
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(2 + (self.asked.len() + found.len()) as u64);
            let from_list = !self.pool.is_endless();
            let mut candidates = if from_list {
                let rows = self.pool.candidates(&self.leaves, &mut random);
                rows.into_iter().map(|leaves| (local.worth(&self.answers, leaves, &mut random), leaves)).collect()
            } else {
                local.candidates(&self.answers, &self.leaves, n_open, self.pool.is_anchored(), &mut random)
            };
            if candidates.is_empty() {
                // If the tree gives no candidate question, prefer leaves that occur in few open questions.
                let few = |leaves: &[u32; K]| -(leaves.iter().map(|&leaf| uses[leaf as usize]).sum::<usize>() as f64);
                let rows = self.pool.candidates(&self.leaves, &mut random);
                candidates = rows.into_iter().map(|leaves| (few(&leaves), leaves)).collect();
            }
            if from_list {
                candidates.retain(|&(_, leaves)| !found.iter().any(|&other| key(other) == key(leaves)));
            }
            // Open questions about the same leaf give partly the same information, so limit the number of open
            // questions about a leaf.
            let most = 2 + 6 * n_open / local.n_placed().max(3);
            let is_new = |leaves: [u32; K]| {
                !known.contains(&key(leaves)) && leaves.iter().all(|&leaf| uses[leaf as usize] < most)
            };
            let fits = candidates.iter().filter(|&&(_, leaves)| is_new(leaves));
            let best = fits.max_by(|one, other| one.0.total_cmp(&other.0)).or(candidates.first());
            let Some(&(_, leaves)) = best else { break };
            known.insert(key(leaves));
            leaves.iter().for_each(|&leaf| uses[leaf as usize] += 1);
            found.push(leaves);
        }
        Ok(found)
    }

    fn fresh(&mut self, count: usize, monitor: Option<&Monitor>) -> Result<Vec<[u32; K]>> {
        if self.is_large() {
            return self.fresh_of_many(count, monitor);
        }
        let trees = self.draw(monitor)?;
        let recent = &self.asked[self.mark[1]..];
        let mut known: HashSet<[u32; K]> = recent.iter().copied().map(key).collect();
        let mut uses = vec![0usize; self.n];
        recent.iter().flatten().for_each(|&leaf| uses[leaf as usize] += 1);
        let (mut found, mut chosen) = (Vec::new(), HashSet::new());
        for at in 0..count {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(2 + (self.asked.len() + at) as u64);
            // Questions about the same leaf give partly the same information, so limit the number of questions about a
            // leaf.
            let most = 2 + 6 * (recent.len() + at) / self.leaves.len();
            let mut best: Option<(f64, [u32; K])> = None;
            let mut instead = None;
            for leaves in self.pool.candidates(&self.leaves, &mut random) {
                if !self.pool.is_endless() && chosen.contains(&key(leaves)) {
                    continue;
                }
                instead = instead.or(Some(leaves));
                if known.contains(&key(leaves)) || leaves.iter().any(|&leaf| uses[leaf as usize] >= most) {
                    continue;
                }
                let worth = match &trees {
                    Some(trees) => trees.information(leaves),
                    // Before any trees are sampled, prefer leaves that occur in few questions.
                    None => -(leaves.iter().map(|&leaf| uses[leaf as usize]).sum::<usize>() as f64),
                };
                if best.is_none_or(|(other, _)| worth > other) {
                    best = Some((worth, leaves));
                }
            }
            let Some(leaves) = best.map(|best| best.1).or(instead) else { break };
            known.insert(key(leaves));
            chosen.insert(key(leaves));
            leaves.iter().for_each(|&leaf| uses[leaf as usize] += 1);
            found.push(leaves);
        }
        Ok(found)
    }
}

impl<const K: usize> Flexible<K> for Uncertain<K> {
    fn note(&mut self) {
        let more = (self.n / LEAVES_AN_ANSWER).max(self.mark[0] / ANSWERS_AN_ANSWER).max(LEAST);
        if self.answers.len() >= self.mark[0] + more {
            self.mark = [self.answers.len(), self.asked.len()];
        }
        if self.is_large() && self.follower.counts.last() != Some(&self.answers.len()) {
            self.follower.counts.push(self.answers.len());
        }
    }

    fn suggest(&mut self, count: usize, monitor: Option<&Monitor>) -> Result<Vec<[u32; K]>> {
        if self.leaves.len() < 3 {
            return Ok(Vec::new());
        }
        let left = usize::try_from(self.questions.saturating_sub(self.ledger.n_asked())).unwrap_or(usize::MAX);
        let mut found: Vec<[u32; K]> = self.again.iter().map(|&(leaves, _)| leaves).take(left).collect();
        found.extend(self.fresh(count.min(left - found.len()).min(self.leaves.len()), monitor)?);
        Ok(found)
    }

    fn adopt(&mut self, leaves: [u32; K]) -> Result<u64> {
        let found = self.ledger.ask(1, || Some((leaves, leaves)))?;
        self.asked.push(leaves);
        match self.again.iter().position(|&(other, _)| key(other) == key(leaves)) {
            Some(at) => {
                self.again[at].1 -= 1;
                if self.again[at].1 == 0 {
                    self.again.remove(at);
                }
            }
            None => {
                self.pool.take(leaves);
                if self.repeat > 1 {
                    self.again.push_back((leaves, self.repeat - 1));
                }
            }
        }
        Ok(found[0].id)
    }

    fn add(&mut self, leaves: [u32; K], told: Told) {
        if leaves.iter().any(|leaf| self.leaves.binary_search(leaf).is_err()) {
            return;
        }
        leaves.iter().for_each(|&leaf| self.seen[leaf as usize] = true);
        self.answers.push((leaves, told.answer, told.who));
    }
}

impl<const K: usize> Learner<K> for Uncertain<K> {
    fn ask(&mut self, limit: usize) -> Result<Vec<Question<K>>> {
        self.ask_watched(limit, None)
    }

    fn ask_watched(&mut self, limit: usize, monitor: Option<&Monitor>) -> Result<Vec<Question<K>>> {
        self.note();
        let mut asked = Vec::new();
        for leaves in self.suggest(limit, monitor)?.into_iter().take(limit) {
            asked.push(Question { id: self.adopt(leaves)?, leaves });
        }
        Ok(asked)
    }

    fn open(&self) -> Vec<Question<K>> {
        self.ledger.open()
    }

    fn tell_with(&mut self, id: u64, told: Told) -> Result<()> {
        self.ledger.tell(id, told)?;
        let mut told = self.ledger.take();
        for (_, leaves, one) in told.drain(..) {
            self.add(leaves, one);
        }
        self.ledger.give_back(told);
        Ok(())
    }

    fn tree(&self) -> Result<Dendrogram> {
        self.tree_watched(None)
    }

    fn tree_watched(&self, monitor: Option<&Monitor>) -> Result<Dendrogram> {
        let count = self.answers.len();
        if let Some((_, tree)) = self.known_tree().filter(|known| known.0 == count) {
            return Ok((*tree).clone());
        }
        let tree = if self.is_large() {
            watched!(monitor);
            let mut follower = self.follower.clone();
            let local = follower.catch_up(self.n, self.seed, &self.answers, monitor)?;
            local.tree(&self.answers, monitor)?
        } else {
            best_tree(self.n, &self.answers, &self.seen, &self.sampling(), monitor)?
        };
        *self.tree.lock().unwrap_or_else(PoisonError::into_inner) = Some((count, Arc::new(tree.clone())));
        Ok(tree)
    }

    fn done(&self) -> bool {
        self.leaves.len() < 3 || self.ledger.counts().answered >= self.questions
    }

    fn n_leaves(&self) -> usize {
        self.n
    }

    fn placed(&self) -> usize {
        if self.leaves.len() < 3 { self.leaves.len() } else { self.seen.iter().filter(|&&seen| seen).count() }
    }

    fn counts(&self) -> Counts {
        self.ledger.counts()
    }

    fn remaining_estimate(&self) -> f64 {
        if self.leaves.len() < 3 { 0.0 } else { self.questions.saturating_sub(self.ledger.counts().answered) as f64 }
    }

    fn add_leaf(&mut self) -> Result<()> {
        if !self.pool.is_endless() {
            return Err(fixed());
        }
        self.leaves.push(self.n as u32);
        self.n += 1;
        self.seen.push(false);
        self.questions = self.questions.saturating_add(self.each.unwrap_or(0));
        self.forget_trees();
        Ok(())
    }

    fn retire(&mut self, leaf: u32) -> Result<()> {
        let Ok(at) = self.leaves.binary_search(&leaf) else { return Ok(()) };
        if !self.pool.is_endless() || self.leaves.len() == 1 {
            return Err(fixed());
        }
        if let Some(each) = self.each {
            // Answers about the removed leaf no longer help, so other questions are asked in place of the questions
            // about this leaf.
            let is_lost = |leaves: &&[u32; K]| {
                leaves.contains(&leaf) && leaves.iter().all(|leaf| self.leaves.binary_search(leaf).is_ok())
            };
            let lost = self.asked.iter().filter(is_lost).count() as u64;
            self.questions = (self.questions + lost).saturating_sub(each);
        }
        self.leaves.remove(at);
        self.seen[leaf as usize] = false;
        let lost: Vec<usize> = (0..self.answers.len()).filter(|&at| self.answers[at].0.contains(&leaf)).collect();
        let without_lost = |count: usize| count - lost.partition_point(|&at| at < count);
        self.mark[0] = without_lost(self.mark[0]);
        self.follower.counts.iter_mut().for_each(|count| *count = without_lost(*count));
        self.answers.retain(|answer| !answer.0.contains(&leaf));
        self.again.retain(|(leaves, _)| !leaves.contains(&leaf));
        self.ledger.withdraw(|leaves| leaves.contains(&leaf));
        self.forget_trees();
        Ok(())
    }

    fn flexible(&mut self) -> Option<&mut dyn Flexible<K>> {
        Some(self)
    }

    fn boxed_clone(&self) -> Box<dyn Learner<K>> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
