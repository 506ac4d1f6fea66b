//! A learner that revises a given tree.

mod evidence;
mod lengths;
mod places;
mod probe;
mod revision;
mod support;

use std::collections::{HashSet, VecDeque};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::asking::Strategy;
use super::learner::{Learner, Told};
use super::noise::Schedule;
use crate::error::Result;
use crate::tree::{Dendrogram, Topology};
use places::{Places, Trust};
use probe::Probe;
use revision::Revision;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) p: f64,
    pub(crate) strength: f64,
    pub(crate) parallel: usize,
    pub(crate) schedule: Schedule,
}

/// A learner that moves subtrees of a given tree according to answers, see [`Method::Revise`](super::Method::Revise).
///
/// Every subtree has a posterior over its possible places, which are the edges of the rest of the
/// tree ([`Places`]). The questions are those that are expected to correct the most triplets. A subtree
/// moves if its current place is unlikely. Subtrees with the strongest evidence move first. Among
/// subtrees with equal evidence, the smallest moves first, because an answer about one leaf may be
/// true of this leaf only.
///
/// The first questions are about random leaves. If the answers agree with the tree no more than by chance, the tree is
/// ignored, and another learner (the *fallback*) starts without it.
#[derive(Clone)]
pub(crate) struct Revise {
    settings: Settings,
    revision: Revision,
    open: Vec<u32>,
    n_open: usize,
    asked: HashSet<[u32; 3]>,
    queue: VecDeque<[u32; 3]>,
    /// True if there were answers since questions were last chosen, or if no questions were chosen yet.
    is_new: bool,
    is_done: bool,
    probe: Probe,
    fallback: Box<dyn Learner>,
    random: ChaCha8Rng,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Revise([u32; 3]),
    Fallback(u64),
}

/// An answer agrees with the right place of a subtree with a probability of `PURE` times `p`, the
/// assumed probability of a right answer. `PURE` is below 1, because other leaves of the question
/// may be at wrong places.
const PURE: f64 = 0.8;

/// The maximum of [`Trust::loose`]. In the learner's binary tree, the children of a node with more than two children
/// are joined in an arbitrary order. So other places below such a node are likely.
const LOOSE: f64 = 3.0;

/// A question is asked only if it is expected to correct more than `WORTH` triplets for each leaf
/// of the tree.
const WORTH: f64 = 1e-3;

impl Revise {
    pub(crate) fn new(prior: &Topology, settings: Settings, seed: u64, fallback: Box<dyn Learner>) -> Self {
        let n = prior.n_leaves();
        let Settings { p, strength, .. } = settings;
        let trust = Trust { right: PURE * p, strength, loose: strength.min(LOOSE) };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(2);
        Self {
            settings,
            revision: Revision::new(prior, trust),
            open: vec![0; n],
            n_open: 0,
            asked: HashSet::new(),
            queue: VecDeque::new(),
            is_new: true,
            is_done: n < 3,
            probe: Probe::new(prior, settings.p),
            fallback,
            random,
        }
    }

    fn other(&self) -> Option<&dyn Learner> {
        self.probe.is_useless().then_some(&*self.fallback)
    }

    fn at_once(&self) -> usize {
        let n = self.revision.shape.n_leaves();
        let share = match self.settings.schedule {
            Schedule::Questions => n / 20,
            Schedule::Balanced => n / 10,
            Schedule::Rounds => n / 4,
        };
        share.max(self.settings.parallel).max(1)
    }

    fn choose(&mut self) {
        self.revision.settle();
        if self.revision.evidence.n_answers() == 0 || !self.probe.is_decided() {
            let count = self.probe.wanted(self.n_open);
            self.sample(count);
            if !self.queue.is_empty() || self.n_open > 0 {
                return;
            }
        }
        let n = self.n_leaves() as f64;
        let (mut places, mut taken) = (Places::default(), self.open.clone());
        for (_, subtree) in self.revision.doubts(WORTH * n) {
            if self.queue.len() >= self.at_once() {
                break;
            }
            let Self { revision, asked, random, .. } = self;
            let may = |leaves| !asked.contains(&sorted(leaves));
            if let Some(leaves) = revision.question(subtree, &mut places, &taken, may, random) {
                self.enqueue(leaves);
                leaves.iter().for_each(|&leaf| taken[leaf as usize] += 1);
            }
        }
        self.is_done = self.queue.is_empty() && self.n_open == 0;
    }

    /// Adds questions about random leaves. In a large tree, no leaf is in two open questions.
    fn sample(&mut self, count: usize) {
        let n = self.revision.shape.n_leaves() as u32;
        let mut taken = self.open.clone();
        for _ in 0..50 * count {
            if self.queue.len() == count {
                break;
            }
            let leaves = [(); 3].map(|()| self.random.random_range(0..n));
            let [a, b, c] = leaves;
            let is_free = leaves.iter().all(|&leaf| taken[leaf as usize] == 0) || (n as usize) < 3 * count;
            if a != b && b != c && a != c && is_free && !self.asked.contains(&sorted(leaves)) {
                self.enqueue(leaves);
                leaves.iter().for_each(|&leaf| taken[leaf as usize] += 1);
            }
        }
    }

    fn enqueue(&mut self, leaves: [u32; 3]) {
        self.asked.insert(sorted(leaves));
        self.queue.push_back(leaves);
    }
}

fn sorted(mut leaves: [u32; 3]) -> [u32; 3] {
    leaves.sort_unstable();
    leaves
}

impl Strategy for Revise {
    type Purpose = Purpose;

    fn next(&mut self) -> Option<([u32; 3], Purpose)> {
        if self.probe.is_useless() {
            let question = self.fallback.ask(1).ok()?.pop()?;
            return Some((question.leaves, Purpose::Fallback(question.id)));
        }
        if self.queue.is_empty() && !self.is_done && std::mem::replace(&mut self.is_new, false) {
            self.choose();
        }
        let leaves = self.queue.pop_front()?;
        leaves.iter().for_each(|&leaf| self.open[leaf as usize] += 1);
        self.n_open += 1;
        Some((leaves, Purpose::Revise(leaves)))
    }

    fn take(&mut self, purpose: Purpose, Told { answer, .. }: Told) {
        match purpose {
            Purpose::Fallback(id) => {
                // The fallback learner has asked this question, and the answer was checked before.
                self.fallback.tell(id, answer).expect("an open question");
            }
            Purpose::Revise(leaves) => {
                leaves.iter().for_each(|&leaf| self.open[leaf as usize] -= 1);
                self.n_open -= 1;
                self.is_new = true;
                self.revision.evidence.take(leaves, answer);
                self.probe.take(leaves, answer);
            }
        }
    }

    fn set_parallel(&mut self, parallel: usize) {
        self.settings.parallel = parallel.max(1);
        self.fallback.set_parallel(parallel);
    }

    fn done(&self) -> bool {
        self.other().map_or(self.is_done, |other| other.done())
    }

    fn tree(&self) -> Result<Dendrogram> {
        if let Some(other) = self.other() {
            return other.tree();
        }
        let mut last = self.revision.clone();
        if self.is_new {
            last.settle();
        }
        last.tree()
    }

    fn support(&self, tree: &Topology) -> Option<Vec<f64>> {
        self.other().is_none().then(|| support::support(self.revision.evidence.answers(), tree))
    }

    fn n_leaves(&self) -> usize {
        self.revision.shape.n_leaves()
    }

    fn placed(&self) -> usize {
        self.other().map_or(self.n_leaves(), |other| other.placed())
    }

    fn remaining(&self, n_answered: u64) -> f64 {
        if let Some(other) = self.other() {
            return other.remaining_estimate();
        }
        8.0 * self.n_leaves() as f64 - n_answered as f64
    }
}
