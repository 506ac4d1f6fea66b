//! One tree that is updated by each answer: an answer moves only the leaves that it is about.
//!
//! Sampling a tree from the posterior takes time in proportion to the number of all answers. Each move of a leaf during
//! sampling takes time in proportion to the number of all leaves. In this module, the time for an answer depends on
//! neither number:
//!
//! * The possible places of a leaf in the tree are scored only on some paths to the root. The paths start at the leaves
//!   with which the leaf was compared.
//! * A leaf is moved when its number of answers has grown by a quarter. So a leaf with m answers was moved about 4 ln m
//!   times. At most `MOVES` leaves are moved between two questions.
//! * A move uses at most `ANSWERS` of the answers about the leaf: the last answers, and evenly spaced earlier answers.
//!
//! If most answers are new (after an import), the tree is rebuilt by average linkage of the AddS similarities (computed
//! from the answers).
//!
//! A question is about a leaf whose place in the tree is uncertain, given the rest of the tree. Likely places of this
//! leaf are sampled. The other leaves of the question are taken near two of these places, and the question with the
//! most expected information is asked. New leaves are added when the places of few leaves are uncertain, because a
//! place in a poor tree means little.
//!
//! The tree depends only on the answers, and on the number of answers at each request for questions. So a replay of the
//! events of a session gives the same questions.

use std::collections::{HashMap, VecDeque};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Answer;
use super::trees::linked;
use crate::error::Result;
use crate::kind::Kind;
use crate::monitor::Monitor;
use crate::search::Sketch;
use crate::sorting::order_by_key;
use crate::tree::Dendrogram;

mod choose;
mod places;
mod reliability;
mod shape;

use places::{Places, Rest};
use reliability::{Reliability, says};
use shape::{NONE, Place, Shape};

/// The maximum number of leaves that are moved in the tree at each request for questions.
const MOVES: usize = 8;
/// The maximum number of answers that are used to find a better place in the tree for a leaf.
const ANSWERS: usize = 256;
/// The maximum number of nodes that are visited to find a better place in the tree for a leaf or a subtree. At least
/// `LAST` answers are used in any case.
const VISITS: usize = 150_000;
/// The number of most recent answers about a leaf that are used to find a better place in the tree for the leaf. The
/// other answers that are used are evenly spaced earlier answers.
const LAST: usize = 32;
/// The maximum number of answers about a moved leaf that are compared with the tree, to estimate the reliability of
/// answers.
const OBSERVED: usize = 8;
/// The tree is rebuilt if at least this number of answers is new, and at least half of all answers are new.
const REBUILD: usize = 1_000;
/// The largest number of leaves for which the tree is rebuilt by average linkage. For more leaves, the similarities of
/// all pairs take too much memory.
const LINKED: usize = 8_000;
/// The maximum number of answers per leaf from which the similarities for average linkage are computed.
const LINKED_ANSWERS: usize = 100;
/// At most `SUBTREE` leaves and `OF_SUBTREE` answers are used to find a better place in the tree for a subtree. Most
/// answers about leaves of the subtree compare leaves within the subtree. They give no information about the place of
/// the subtree.
const SUBTREE: usize = 64;
const OF_SUBTREE: usize = 4_096;
/// A subtree is moved only if the log-likelihood of the answers rises by more than this number. So a few wrong answers
/// do not move many leaves.
const SURE: f64 = 2.0;
/// The number of times that better places are sought for all leaves and subtrees, for the result of [`Local::tree`].
const SWEEPS: usize = 8;

#[derive(Debug, Clone)]
pub(super) struct Local<const K: usize> {
    shape: Shape,
    logs: Vec<f64>,
    /// For each leaf: the indices of the answers about this leaf, without "neither" and "unknown".
    of_leaf: Vec<Vec<u32>>,
    people: Vec<u32>,
    numbers: HashMap<Option<u32>, u32>,
    reliability: Reliability,
    due: VecDeque<u32>,
    is_due: Vec<bool>,
    /// For each leaf: the number of answers about this leaf at which the leaf is added to the queue `due`.
    next: Vec<usize>,
    /// For each leaf: the entropy of the distribution over its possible places in the tree, computed at its last move,
    /// in nats.
    entropies: Vec<f64>,
    places: Places,
    inside: Vec<bool>,
    random: ChaCha8Rng,
}

impl<const K: usize> Local<K> {
    pub(super) fn new(n: usize, seed: u64) -> Self {
        let shape = Shape::new(n);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        Self {
            places: Places::new(shape.n_nodes()),
            shape,
            logs: (0..=2 * n).map(|size| (size.max(1) as f64).log2()).collect(),
            of_leaf: vec![Vec::new(); n],
            people: Vec::new(),
            numbers: HashMap::new(),
            reliability: Reliability::new(K),
            due: VecDeque::new(),
            is_due: vec![false; n],
            next: vec![1; n],
            entropies: vec![f64::INFINITY; n],
            inside: vec![false; n],
            random,
        }
    }

    pub(super) fn n_placed(&self) -> usize {
        self.shape.n_placed() as usize
    }

    pub(super) fn learn(&mut self, answers: &[Answer<K>], monitor: &Monitor) -> Result<()> {
        let known = self.people.len();
        self.take(&answers[known..]);
        if answers.len() - known >= REBUILD.max(known) {
            return self.begin(answers, monitor);
        }
        for _ in 0..MOVES {
            let Some(leaf) = self.due.pop_front() else { break };
            self.is_due[leaf as usize] = false;
            self.move_leaf(answers, leaf);
            self.move_above(answers, leaf);
        }
        monitor.check()
    }

    fn take(&mut self, new: &[Answer<K>]) {
        for (leaves, answer, who) in new {
            let next = self.numbers.len() as u32;
            let person = *self.numbers.entry(*who).or_insert(next);
            let number = self.people.len() as u32;
            self.people.push(person);
            for (at, &leaf) in leaves.iter().enumerate() {
                if says::<K>(*answer) && !leaves[..at].contains(&leaf) {
                    self.of_leaf[leaf as usize].push(number);
                }
                let at = leaf as usize;
                if (self.of_leaf[at].len() >= self.next[at] || !self.shape.has(leaf)) && !self.is_due[at] {
                    self.is_due[at] = true;
                    self.due.push_back(leaf);
                }
            }
        }
    }

    fn begin(&mut self, answers: &[Answer<K>], monitor: &Monitor) -> Result<()> {
        let n = self.of_leaf.len();
        let seen: Vec<u32> = (0..n as u32).filter(|&leaf| !self.of_leaf[leaf as usize].is_empty()).collect();
        if n <= LINKED && seen.len() > 2 {
            let some = answers.len().min(LINKED_ANSWERS * n);
            let some: Vec<Answer<K>> = (0..some).map(|at| answers[at * answers.len() / some]).collect();
            self.shape = Shape::of(linked(n, &some, Some(monitor))?.topology());
            (0..n as u32)
                .filter(|&leaf| self.of_leaf[leaf as usize].is_empty())
                .for_each(|leaf| self.shape.remove(leaf));
            return Ok(());
        }
        for leaf in seen {
            self.move_leaf(answers, leaf);
            monitor.check()?;
        }
        Ok(())
    }

    fn move_leaf(&mut self, answers: &[Answer<K>], leaf: u32) {
        let count = self.of_leaf[leaf as usize].len();
        self.next[leaf as usize] = count + 1 + if count < 8 { 0 } else { count / 4 };
        self.move_subtree(answers, leaf);
        self.entropies[leaf as usize] = self.places.entropy;
        self.observe(answers, leaf);
    }

    /// Tries to move the subtree at a random node above a leaf. The parent of the leaf is chosen
    /// with probability 1/2, and each node above half as often as the node below. The reason is
    /// that answers about one leaf are evidence mostly about this leaf.
    fn move_above(&mut self, answers: &[Answer<K>], leaf: u32) {
        let levels = 1 + self.random.random::<u64>().trailing_zeros();
        let mut node = leaf;
        for _ in 0..levels {
            node = self.shape.parent(node);
            if node == NONE {
                return;
            }
        }
        self.move_subtree(answers, node);
    }

    /// Moves a subtree to the best place, given the rest of the tree. The subtree stays if no place is better than its
    /// current place. A new leaf is put at a random likely place, because the first answers about a leaf leave many
    /// places possible.
    fn move_subtree(&mut self, answers: &[Answer<K>], top: u32) {
        if self.shape.root == NONE {
            self.shape.put(top, Place::beside(NONE));
            return;
        }
        let before = if self.shape.has(top) { self.shape.cut(top) } else { None };
        if before.is_none() && self.shape.has(top) {
            return;
        }
        let mut random = self.random.clone();
        self.score(answers, top, &mut random);
        let Self { places, shape, .. } = self;
        let place = match before {
            Some(before) => places.best(shape, before, if shape.is_leaf(top) { 0.0 } else { SURE }, &mut random),
            None => places.draw(shape, &mut random),
        };
        shape.put(top, place);
        self.random = random;
    }

    fn score(&mut self, answers: &[Answer<K>], top: u32, random: &mut ChaCha8Rng) {
        let mut leaves = vec![top];
        if !self.shape.is_leaf(top) {
            self.shape.leaves_under(top, &mut leaves);
        }
        leaves.iter().for_each(|&leaf| self.inside[leaf as usize] = true);
        let Self { places, shape, logs, reliability, inside, of_leaf, people, .. } = self;
        let size = leaves.len() as u32;
        let rest = Rest { shape, logs, reliability, size, inside };
        places.begin();
        // Deep trees have long paths from the leaves to the root. Estimate the length of these paths by the depth of a
        // random leaf.
        let some = shape.leaf_under(shape.root, random.random_range(0..shape.size(shape.root)));
        let limit = if leaves.len() == 1 { ANSWERS } else { OF_SUBTREE };
        let total = (VISITS / (2 * shape.depth(some) + 2)).clamp(LAST, limit);
        let some = leaves.len().min(SUBTREE);
        let most = total.div_ceil(some).max(4);
        for leaf in (0..some).map(|at| leaves[at * leaves.len() / some]) {
            for number in some_of(&of_leaf[leaf as usize], most) {
                let level = reliability.level(people[number as usize]);
                places.add_answer(&rest, &answers[number as usize], level);
            }
        }
        places.list(shape);
        places.weigh(shape);
        leaves.iter().for_each(|&leaf| self.inside[leaf as usize] = false);
    }

    fn observe(&mut self, answers: &[Answer<K>], leaf: u32) {
        let Self { shape, logs, reliability, of_leaf, people, .. } = self;
        for number in some_of(&of_leaf[leaf as usize], OBSERVED) {
            let (leaves, answer, _) = answers[number as usize];
            if leaves.iter().all(|&leaf| shape.has(leaf))
                && let Some((expected, difference)) = expected(shape, logs, leaves)
            {
                reliability.observe(people[number as usize], difference, answer == expected);
            }
        }
    }

    pub(super) fn tree(&mut self, answers: &[Answer<K>], monitor: &Monitor) -> Result<Dendrogram> {
        let n = self.of_leaf.len();
        self.learn(answers, monitor)?;
        while !self.due.is_empty() {
            self.learn(answers, monitor)?;
        }
        let leaves: Vec<u32> = (0..n as u32).filter(|&leaf| self.shape.has(leaf)).collect();
        monitor.start((SWEEPS * leaves.len()) as u64);
        for _ in 0..SWEEPS {
            for &leaf in &leaves {
                self.move_leaf(answers, leaf);
                monitor.advance(1)?;
            }
            for node in self.shape.inner_nodes() {
                if self.shape.has(node) && node != self.shape.root {
                    self.move_subtree(answers, node);
                    monitor.advance(0)?;
                }
            }
        }
        self.dendrogram()
    }

    fn dendrogram(&self) -> Result<Dendrogram> {
        let (n, shape) = (self.of_leaf.len(), &self.shape);
        let mut number = vec![NONE; shape.n_nodes()];
        (0..n).for_each(|leaf| number[leaf] = leaf as u32);
        let (mut merges, mut heights) = (Vec::new(), Vec::new());
        let mut inner = shape.inner_nodes();
        order_by_key(&mut inner, |node| shape.size(node));
        for node in inner {
            number[node as usize] = (n + merges.len()) as u32;
            merges.push(shape.children(node).map(|child| number[child as usize]));
            heights.push(self.logs[shape.size(node) as usize]);
        }
        if merges.is_empty() {
            return Sketch::default().finish(n);
        }
        let last = heights[heights.len() - 1];
        for leaf in (0..n as u32).filter(|&leaf| !shape.has(leaf)) {
            merges.push([(n + merges.len() - 1) as u32, leaf]);
            heights.push(last);
        }
        Dendrogram::new(merges, heights, Kind::Dissimilarity)
    }
}

/// Returns at most `most` of the `numbers`: the last ones, and evenly spaced earlier ones.
fn some_of(numbers: &[u32], most: usize) -> impl Iterator<Item = u32> {
    let (older, last) = numbers.split_at(numbers.len().saturating_sub(LAST.min(most.div_ceil(2))));
    let some = (most - last.len().min(most)).min(older.len());
    (0..some).map(move |at| older[at * older.len() / some]).chain(last.iter().copied())
}

/// Returns the answer that a tree predicts, and the base-2 logarithm of the ratio of the sizes of the two compared
/// clusters. Returns `None` if a question about two pairs compares a cluster with itself.
fn expected<const K: usize>(shape: &Shape, logs: &[f64], leaves: [u32; K]) -> Option<(i8, f64)> {
    let log = |a: u32, b: u32| logs[shape.size(shape.join(a, b)) as usize];
    if K == 4 {
        let [first, second] = [log(leaves[0], leaves[1]), log(leaves[2], leaves[3])];
        return (first != second).then(|| (if first < second { 1 } else { -1 }, (first - second).abs()));
    }
    let [a, b, c] = [0, 1, 2].map(|at| leaves[at]);
    let joins = [log(b, c), log(a, c), log(a, b)];
    let odd = (0..3).min_by(|&one, &other| joins[one].total_cmp(&joins[other]))?;
    Some((odd as i8, joins[(odd + 1) % 3] - joins[odd]))
}

#[cfg(test)]
mod tests;
