//! A tree that is there already, revised by asking.

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
use super::learner::Learner;
use super::noise::Schedule;
use crate::error::Result;
use crate::tree::{Dendrogram, Topology};
use places::{Places, Trust};
use probe::Probe;
use revision::Revision;

/// How a tree is revised.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) p: f64,
    pub(crate) strength: f64,
    pub(crate) parallel: usize,
    pub(crate) schedule: Schedule,
}

/// Subtrees of a given tree go elsewhere when answers say so; see [`Method::Revise`](super::Method::Revise).
///
/// Every subtree has a posterior over its places while all others stay where they are ([`Places`]). Questions are
/// asked that are expected to save most triplets. Those who find that most of a subtree's posterior is elsewhere
/// move it, the clearest ones first; of those that are as clear, the smallest, since what an answer about one leaf
/// says may be so of this leaf alone.
///
/// The first questions are about any three leaves: should the answers agree with the tree no more than with chance, then
/// it is left aside, and another learner begins anew.
#[derive(Clone)]
pub(crate) struct Revise {
    settings: Settings,
    revision: Revision,
    /// By leaf: in how many open questions it takes part.
    open: Vec<u32>,
    n_open: usize,
    /// Leaves in ascending order.
    asked: HashSet<[u32; 3]>,
    queue: VecDeque<[u32; 3]>,
    /// There were answers since questions were chosen, or none were chosen yet.
    is_new: bool,
    is_done: bool,
    probe: Probe,
    anew: Anew,
    random: ChaCha8Rng,
}

/// The learner that goes on without the tree.
struct Anew(Box<dyn Learner>);

impl Clone for Anew {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
    }
}

/// What an open question is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Revise([u32; 3]),
    /// The number of the question of the other learner.
    Anew(u64),
}

/// An answer is right about the tree so much more rarely than answers are: its leaves may be at wrong places.
const PURE: f64 = 0.8;

/// Of a node of many children nothing is known but that.
const LOOSE: f64 = 3.0;

/// No question is worth asking that is expected to mend fewer triplets, for each leaf of the tree.
const WORTH: f64 = 1e-3;

impl Revise {
    /// Revises a tree; `anew` begins if it is worth nothing.
    pub(crate) fn new(prior: &Topology, settings: Settings, seed: u64, anew: Box<dyn Learner>) -> Self {
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
            anew: Anew(anew),
            random,
        }
    }

    /// The learner that goes on without the tree.
    fn other(&self) -> Option<&dyn Learner> {
        self.probe.is_useless().then_some(&*self.anew.0)
    }

    /// How many questions are chosen at a time.
    fn at_once(&self) -> usize {
        let n = self.revision.shape.n_leaves();
        let share = match self.settings.schedule {
            Schedule::Questions => n / 20,
            Schedule::Balanced => n / 10,
            Schedule::Rounds => n / 4,
        };
        share.max(self.settings.parallel).max(1)
    }

    /// Chooses the next questions.
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

    /// Questions about any leaves, which aren't in others.
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
            let question = self.anew.0.ask(1).ok()?.pop()?;
            return Some((question.leaves, Purpose::Anew(question.id)));
        }
        if self.queue.is_empty() && !self.is_done && std::mem::replace(&mut self.is_new, false) {
            self.choose();
        }
        let leaves = self.queue.pop_front()?;
        leaves.iter().for_each(|&leaf| self.open[leaf as usize] += 1);
        self.n_open += 1;
        Some((leaves, Purpose::Revise(leaves)))
    }

    fn take(&mut self, purpose: Purpose, answer: i8) {
        match purpose {
            Purpose::Anew(id) => {
                // It has asked this question, and answers are checked before.
                self.anew.0.tell(id, answer).expect("an open question");
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
        self.anew.0.set_parallel(parallel);
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
