//! Insertion of leaves into a tree if some answers may be wrong.

use std::collections::{HashMap, VecDeque};

use super::inserting::{Inserting, Progress};
use super::learner::Told;
use super::noise::{Risk, Schedule, needed};
use super::noisy_search::{Attempt, Check, NoisySearch, Settings};
use super::slots;
use super::work::Work;
use crate::search::{GrowingTree, Order, Outcome, Place, SizedTree};

/// Inserts leaves by a search and a verification, see [`Method::Robust`](super::Method::Robust).
///
/// A search computes the posterior probabilities of all places of a leaf in the tree. Each question is about a node
/// (the pivot) and two of its children. The search asks the questions with the most expected information, until one
/// place is likely. An *attempt* then verifies this place by questions whose right answers are known if the place is
/// right. For a place beside a node, the answer about this node must be "outside". The answer about its parent must be
/// "at or below the node". For a place under a node (as one more child), the answer about each pair of children must be
/// "neither".
///
/// Each of these tests counts its answers since the attempt began: right answers add 1, and others subtract 1. A test
/// is passed when its count reaches a threshold. If the place is wrong, one of the tests expects a wrong answer. The
/// count of this test reaches the threshold a with a probability of at most ((1-p)/p)^a. Thresholds are chosen so that
/// these probabilities add up to at most delta.
///
/// Searches in parallel have their own posteriors. When a leaf is inserted at a place that another search verifies, the
/// attempt of this search restarts if the place is beside a node. If the place is under a node, the attempt gets one
/// more test.
#[derive(Debug, Clone)]
pub(crate) struct Robust {
    settings: Settings,
    progress: Progress,
    risk: Risk,
    /// The number of leaves whose places were known at the start, or whose searches have begun.
    started: usize,
    /// For each leaf: its likely places in the tree when it was inserted. Stored only if the learner started from a
    /// tree or leaves were added.
    kept: Option<HashMap<u32, Vec<(Place, f64)>>>,
    /// The number of leaves that were inserted as one more child of a node.
    under: usize,
    tree: SizedTree,
    searches: Vec<Option<Box<NoisySearch>>>,
    idle: Vec<u32>,
    ready: VecDeque<u32>,
    /// The failure probability that finished searches did not use. Other searches may use it.
    spare: f64,
    patience: u64,
    seed: u64,
    path: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Purpose {
    slot: u32,
    pivot: u32,
    /// The two children of the pivot that the question is about, or nodes below these children if the tree has grown.
    children: [u32; 2],
    check: Option<Check>,
}

/// The verification of a leaf's place in the tree begins if the probability of the place is at least `LIKELY`. The
/// verification ends if this probability falls below `UNLIKELY`.
const LIKELY: f64 = 0.6;
const UNLIKELY: f64 = 0.25;

/// A verification with one test may use this share of the allowed failure probability that is left. A verification with
/// more tests may use twice this share.
const SHARE: f64 = 0.3;

/// A pseudo-count, added to the number of leaves that were inserted as one more child of a node.
const FEW: f64 = 0.25;

/// The share of `delta` that is used if the places of leaves are accepted by their posterior probability alone. The
/// rest is a margin, because a posterior is only as good as its assumptions.
const MARGIN: f64 = 0.7;

/// A verification has at most `CAREFUL` open questions if the probability of the leaf's place is below `SURE`.
const SURE: f64 = 0.95;
const CAREFUL: u32 = 6;

const LEAST: f64 = 1e-3;

const MOST_SURE: f64 = 1.0 - 1e-9;

impl Robust {
    /// `settings.p` must be less than 1.
    pub(crate) fn new(order: Order, settings: Settings, seed: u64) -> Self {
        let all = if settings.is_by_posterior() { MARGIN * settings.delta } else { settings.delta };
        let risk = Risk::new(all, order.len() - order.n_begun());
        Self::with_risk(order, settings, seed, risk, 0.0)
    }

    fn with_risk(order: Order, settings: Settings, seed: u64, risk: Risk, spare: f64) -> Self {
        let mut tree = SizedTree::of(&order);
        let begun = order.n_begun();
        if order.n_known() < begun {
            tree.insert(Place::Above(tree.root()), order.leaf(1));
        }
        let cost = settings.cost(order.len());
        let work = Work::with_cost(order.len(), begun, cost);
        let mut new = Self {
            kept: (order.n_known() > 1).then(HashMap::new),
            progress: Progress::new(order, begun, work),
            settings,
            risk,
            started: begun,
            under: 0,
            tree,
            searches: Vec::new(),
            idle: Vec::new(),
            ready: VecDeque::new(),
            spare,
            patience: (100.0 + 50.0 * cost) as u64,
            seed,
            path: Vec::new(),
        };
        new.start();
        new
    }

    fn start(&mut self) {
        while self.started < self.progress.n_leaves() {
            let Settings { parallel, schedule, .. } = self.settings;
            let at_once = match schedule {
                Schedule::Questions => parallel,
                Schedule::Balanced => parallel.max(self.progress.placed() / 8),
                Schedule::Rounds => parallel.max(self.progress.placed()),
            };
            if self.searches.len() - self.idle.len() >= at_once {
                return;
            }
            let slot = slots::put(&mut self.searches, &mut self.idle, None);
            let leaf = self.progress.leaf(self.started);
            let search = NoisySearch::new(leaf, self.risk.of(leaf), &self.tree, self.likelier(), self.seed);
            self.searches[slot as usize] = Some(Box::new(search));
            self.started += 1;
            self.decide(slot);
        }
    }

    /// Returns the prior weight of a place under an inner node (as one more child). A place on the edge above a node
    /// has weight 1. The result is estimated from the leaves inserted so far. The result is 1 if places are accepted by
    /// their posterior probability alone.
    fn likelier(&self) -> f64 {
        if self.settings.is_by_posterior() {
            return 1.0;
        }
        let share = ((self.under as f64 + FEW) / (self.progress.placed() as f64 + 1.0)).min(0.9);
        let root = self.tree.root();
        share / (1.0 - share) * self.tree.nodes(root) / self.tree.inner(root)
    }

    /// Inserts the leaf of a search if its place is found, and otherwise continues the search. The search must have no
    /// open questions.
    fn decide(&mut self, slot: u32) {
        let Some(mut search) = self.searches[slot as usize].take() else { return };
        match self.found(&mut search) {
            Some(place) => self.insert(slot, *search, place),
            None => {
                if !std::mem::replace(&mut search.is_ready, true) {
                    self.ready.push_back(slot);
                }
                self.searches[slot as usize] = Some(search);
            }
        }
    }

    fn found(&mut self, search: &mut NoisySearch) -> Option<Place> {
        let Self { tree, settings, .. } = self;
        if search.effort > (self.patience * u64::from(tree.widest()) / 2) as f64 {
            return Some(search.posterior.heaviest(tree).0);
        }
        if let Some(attempt) = &mut search.attempt {
            let place = attempt.place;
            if attempt.is_passed() {
                return Some(place);
            }
            let weight = search.posterior.weight(tree, place);
            attempt.at_once = if weight < SURE { CAREFUL } else { u32::MAX };
            if weight >= UNLIKELY {
                return None;
            }
            search.attempt = None;
        }
        let (place, weight) = search.posterior.heaviest(tree);
        let means = search.risk_left + self.spare;
        let cost = if settings.is_by_posterior() {
            if 1.0 - weight > means {
                search.choose(tree, settings);
                return search.pivot.is_none().then_some(place);
            }
            1.0 - weight
        } else if weight < LIKELY {
            search.choose(tree, settings);
            return None;
        } else {
            search.attempts += 1;
            let mut attempt = Attempt::new(tree.tree(), place, search.attempts);
            let threshold = needed(settings.p, SHARE * attempt.n_tests().min(2) as f64 * means);
            attempt.threshold = threshold;
            attempt.at_once = if weight < SURE { CAREFUL } else { u32::MAX };
            search.attempt = Some(attempt);
            settings.failure(threshold)
        };
        let own = cost.min(search.risk_left);
        search.risk_left -= own;
        self.spare = (self.spare - (cost - own)).max(0.0);
        search.attempt.is_none().then_some(place)
    }

    fn insert(&mut self, slot: u32, search: NoisySearch, place: Place) {
        self.idle.push(slot);
        self.spare += search.risk_left;
        self.progress.place(search.answered);
        if let Some(kept) = &mut self.kept {
            kept.insert(search.leaf, search.posterior.places(&self.tree, LEAST));
        }
        let new = self.tree.insert(place, search.leaf);
        self.tree.path(new[0], &mut self.path);
        for search in self.searches.iter_mut().flatten() {
            search.posterior.insert(&self.path, place, new);
            let Some(attempt) = search.attempt.as_mut().filter(|attempt| attempt.place == place) else { continue };
            match place {
                Place::Above(_) => {
                    search.attempt = None;
                    search.choose(&self.tree, &self.settings);
                }
                Place::Under(node) => attempt.extend(self.tree.tree(), node, new[1]),
            }
        }
        self.under += usize::from(matches!(place, Place::Under(_)));
    }
}

impl Inserting for Robust {
    type Purpose = Purpose;

    fn next(&mut self) -> Option<([u32; 3], Purpose)> {
        while let Some(&slot) = self.ready.front() {
            let Self { tree, settings, .. } = self;
            let Some(search) = &mut self.searches[slot as usize] else {
                self.ready.pop_front();
                continue;
            };
            let next = match &mut search.attempt {
                Some(attempt) if search.open < attempt.at_once => {
                    attempt.next().map(|(pivot, children, check)| (pivot, children, Some(check)))
                }
                None if search.open == 0 => search.pivot.map(|(pivot, children)| (pivot, children, None)),
                _ => None,
            };
            let Some((pivot, children, check)) = next else {
                search.is_ready = false;
                self.ready.pop_front();
                continue;
            };
            search.open += 1;
            let now = children.map(|child| tree.child_towards(pivot, child));
            let [first, second] = search.leaves(tree, settings, pivot, now);
            let purpose = Purpose { slot, pivot, children, check };
            return Some(([first, second, search.leaf], purpose));
        }
        None
    }

    fn take(&mut self, purpose: Purpose, told: Told) {
        let Purpose { slot, pivot, children, check } = purpose;
        let Some(search) = &mut self.searches[slot as usize] else { return };
        let outcome = Outcome::of_answer(told.answer);
        let p = told.p.unwrap_or(self.settings.p).min(MOST_SURE);
        if p > 0.5 {
            search.learn(&self.tree, p, (pivot, children), outcome);
        }
        search.open -= 1;
        search.answered += 1;
        search.effort += self.settings.worth(p);
        self.progress.answered();
        if let (Some(attempt), Some(check)) = (&mut search.attempt, check) {
            attempt.count(check, outcome, self.settings.step(p));
        }
        if search.open == 0 {
            self.decide(slot);
            self.start();
        } else if search.attempt.is_some() && !std::mem::replace(&mut search.is_ready, true) {
            self.ready.push_back(slot);
        }
    }

    fn set_parallel(&mut self, parallel: usize) {
        self.settings.parallel = parallel.max(1);
        self.start();
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn restarted(&self, order: Order) -> Self {
        let mut risk = self.risk.clone();
        for search in self.searches.iter().flatten() {
            risk.set(search.leaf, search.risk_left);
        }
        Self::with_risk(order, self.settings, self.seed, risk, self.spare)
    }

    fn note_added(&mut self, leaf: u32) {
        self.risk.add(leaf);
        self.kept.get_or_insert_with(HashMap::new);
    }

    fn resume(&mut self, _was_done: bool) {
        self.start();
    }

    fn grown(&self) -> &GrowingTree {
        self.tree.tree()
    }

    fn likely(&self, leaf: u32) -> Option<Vec<(Place, f64)>> {
        let search = self.searches.iter().flatten().find(|search| search.leaf == leaf);
        match search {
            Some(search) => Some(search.posterior.places(&self.tree, LEAST)),
            None => self.kept.as_ref()?.get(&leaf).cloned(),
        }
    }
}
