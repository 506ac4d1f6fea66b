//! The search for the place of one leaf in the tree if some answers may be wrong.

use std::collections::{HashMap, HashSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::noise::{Assume, Noise, Schedule, needed};
use crate::search::{GrowingTree, NONE, Outcome, Place, Posterior, SizedTree};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) p: f64,
    pub(crate) delta: f64,
    pub(crate) assume: Assume,
    pub(crate) noise: Noise,
    pub(crate) parallel: usize,
    pub(crate) schedule: Schedule,
}

impl Settings {
    /// Returns the weight of an answer in the count of a place in the tree (answers for the place minus answers against
    /// the place). `p` is the probability that the answer is right. The weight is 1 if `p` is the probability in these
    /// settings.
    ///
    /// With these weights, the probability that the count of a wrong place reaches a given value does not depend on
    /// `p`, see docs/decisions/0004-noisy-search.md.
    pub(crate) fn step(&self, p: f64) -> f64 {
        if p == self.p { 1.0 } else { (p / (1.0 - p)).ln() / (self.p / (1.0 - self.p)).ln() }
    }

    /// Returns how useful an answer is for a search, at most 1, if the answer is right with probability `p`. An answer
    /// that is right with the assumed probability `self.p` has the value 1.
    pub(crate) fn worth(&self, p: f64) -> f64 {
        if p == self.p { 1.0 } else { ((2.0 * p - 1.0) / (2.0 * self.p - 1.0)).powi(2).min(1.0) }
    }

    pub(crate) fn is_by_posterior(&self) -> bool {
        self.assume == Assume::Uniform || self.noise == Noise::Persistent
    }

    /// Returns the entropy of an answer. `parts` has, for each possible answer, the probability
    /// that this answer is right. All wrong answers are equally likely.
    fn entropy(&self, parts: [f64; 4]) -> f64 {
        let wrong = (1.0 - self.p) / 3.0;
        let q = parts.map(|part| wrong + (self.p - wrong) * part);
        -q.iter().map(|q| q * q.ln()).sum::<f64>()
    }

    /// Returns true if an answer with this `entropy` is expected to give information. The entropy must be larger than
    /// that of the noise: the entropy of an answer if the right answer is known.
    fn is_informative(&self, entropy: f64) -> bool {
        let noise = self.entropy([1.0, 0.0, 0.0, 0.0]);
        entropy - noise > self.delta * 1e-3 * (self.p - wrong(self.p)) * (self.p / wrong(self.p)).ln()
    }

    /// Returns an upper bound of the probability that a wrong place in the tree ever gets `count` more answers for it
    /// than against it.
    pub(crate) fn failure(&self, count: f64) -> f64 {
        ((1.0 - self.p) / self.p).powf(count)
    }

    /// Returns the approximate number of questions for inserting a leaf into a tree of `n` leaves.
    pub(crate) fn cost(&self, n: usize) -> f64 {
        let wrong = wrong(self.p);
        let answer = 3f64.ln() + self.p * self.p.ln() + 2.0 * wrong * wrong.ln();
        let search = (2.0 * n as f64).ln() / answer;
        let net = needed(self.p, self.delta / n as f64) / (2.0 * self.p - 1.0);
        search + if self.is_by_posterior() { (n as f64 / self.delta).ln() / answer } else { 1.5 * net }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct NoisySearch {
    pub(crate) leaf: u32,
    pub(crate) posterior: Posterior,
    /// The node that the next question is about (the pivot), and the two of its children that are compared. `None`
    /// while a place of the leaf is verified, or if no question is informative.
    pub(crate) pivot: Option<(u32, [u32; 2])>,
    pub(crate) attempt: Option<Attempt>,
    pub(crate) attempts: u32,
    /// The part of the leaf's failure probability (the allowed probability of a wrong place) that is not used yet.
    pub(crate) risk_left: f64,
    pub(crate) open: u32,
    pub(crate) answered: u64,
    pub(crate) effort: f64,
    pub(crate) is_ready: bool,
    /// The random stream of this search alone, so that other searches don't change its questions.
    random: ChaCha8Rng,
    /// For each pivot: the pairs of leaves that were asked about, if questions must not be repeated.
    asked: HashMap<u32, HashSet<[u32; 2]>>,
}

impl NoisySearch {
    /// `under` is the initial weight of a place under a node (as one more child). A place on the edge above a node has
    /// the initial weight 1.
    pub(crate) fn new(leaf: u32, risk_left: f64, tree: &SizedTree, under: f64, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // The random streams 1 and 2 of this seed are used elsewhere.
        random.set_stream(3 + u64::from(leaf));
        let mut posterior = Posterior::default();
        posterior.reset(tree, under);
        Self {
            leaf,
            posterior,
            pivot: None,
            attempt: None,
            attempts: 0,
            risk_left,
            open: 0,
            answered: 0,
            effort: 0.0,
            is_ready: false,
            random,
            asked: HashMap::new(),
        }
    }

    pub(crate) fn choose(&mut self, tree: &SizedTree, settings: &Settings) {
        let Self { posterior, asked, .. } = self;
        let may = |pivot: u32, pair: [u32; 2]| match (settings.noise, asked.get(&pivot)) {
            (Noise::Persistent, Some(asked)) => {
                let all = pair.map(|child| u64::from(tree.leaves(child))).iter().product::<u64>();
                all > asked.len() as u64 || all > n_between(tree, pivot, pair, asked)
            }
            _ => true,
        };
        let best = posterior.pivot(tree, |parts| settings.entropy(parts), may);
        let best = best.filter(|best| settings.noise == Noise::Independent || settings.is_informative(best.2));
        self.pivot = best.map(|(pivot, pair, _)| (pivot, pair));
    }

    /// Returns one random leaf below each of the two `children`. With [`Noise::Persistent`], prefers two leaves that
    /// were not compared at this pivot before.
    pub(crate) fn leaves(&mut self, tree: &SizedTree, settings: &Settings, pivot: u32, children: [u32; 2]) -> [u32; 2] {
        let Self { random, asked, .. } = self;
        let mut draw = || children.map(|child| tree.leaf_at(child, random.random_range(0..tree.leaves(child))));
        if settings.noise == Noise::Independent {
            return draw();
        }
        let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        let asked = asked.entry(pivot).or_default();
        let mut pair = draw();
        for _ in 0..20 {
            if !asked.contains(&sorted(pair)) {
                break;
            }
            pair = draw();
        }
        let [first, second] = children.map(|child| tree.leaves(child));
        let mut all = (0..first).flat_map(|a| (0..second).map(move |b| [a, b]));
        while asked.contains(&sorted(pair)) {
            let Some([a, b]) = all.next() else { break };
            pair = [tree.leaf_at(children[0], a), tree.leaf_at(children[1], b)];
        }
        asked.insert(sorted(pair));
        pair
    }

    pub(crate) fn learn(&mut self, tree: &SizedTree, p: f64, about: (u32, [u32; 2]), outcome: Outcome) {
        let mut factors = [wrong(p); 4];
        factors[outcome as usize] = p;
        self.posterior.update(tree, about.0, about.1, factors);
    }
}

/// Returns the assumed largest probability of one particular wrong answer: half of 1 - p, because at least two wrong
/// answers are possible.
fn wrong(p: f64) -> f64 {
    0.5 * (1.0 - p)
}

fn n_between(tree: &SizedTree, pivot: u32, children: [u32; 2], pairs: &HashSet<[u32; 2]>) -> u64 {
    let is_between = |pair: &&[u32; 2]| {
        let [a, b] = pair.map(|leaf| tree.child_towards(pivot, tree.node_of(leaf)));
        [a, b] == children || [b, a] == children
    };
    pairs.iter().filter(is_between).count() as u64
}

/// The verification of a leaf's place in the tree. Only questions that were asked after the verification started count.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) place: Place,
    number: u32,
    pub(crate) threshold: f64,
    pub(crate) at_once: u32,
    tests: Vec<Test>,
}

/// A question about two children of `pivot` that tests a leaf's place in the tree. `expected` is the right answer if
/// the place is right.
#[derive(Debug, Clone, Copy)]
struct Test {
    pivot: u32,
    children: [u32; 2],
    expected: Outcome,
    count: f64,
    open: u32,
}

/// A question that verifies a leaf's place in the tree: the id of the [`Attempt`], the index of the [`Test`], and the
/// expected outcome.
pub(crate) type Check = (u32, u32, Outcome);

impl Attempt {
    pub(crate) fn new(tree: &GrowingTree, place: Place, number: u32) -> Self {
        let mut new = Self { place, number, threshold: 1.0, at_once: 0, tests: Vec::new() };
        match place {
            Place::Above(node) => {
                if let [first, second, ..] = tree.children(node).take(2).collect::<Vec<u32>>()[..] {
                    new.test(node, [first, second], Outcome::Outside);
                }
                let above = tree.parent(node);
                if above != NONE
                    && let Some(other) = tree.children(above).find(|&child| child != node)
                {
                    new.test(above, [node, other], Outcome::First);
                }
            }
            Place::Under(node) => {
                let children: Vec<u32> = tree.children(node).collect();
                for pair in children.chunks(2) {
                    new.test(node, [pair[0], *pair.get(1).unwrap_or(&children[0])], Outcome::Neither);
                }
            }
        }
        new
    }

    fn test(&mut self, pivot: u32, children: [u32; 2], expected: Outcome) {
        self.tests.push(Test { pivot, children, expected, count: 0.0, open: 0 });
    }

    /// Adds a test for a new child of `pivot`. Call this only if the verified place is one more child of `pivot`.
    pub(crate) fn extend(&mut self, tree: &GrowingTree, pivot: u32, child: u32) {
        if let Some(other) = tree.children(pivot).find(|&other| other != child) {
            self.test(pivot, [child, other], Outcome::Neither);
        }
    }

    pub(crate) fn n_tests(&self) -> usize {
        self.tests.len()
    }

    pub(crate) fn is_passed(&self) -> bool {
        self.tests.iter().all(|test| test.count >= self.threshold)
    }

    pub(crate) fn is_refuted(&self) -> bool {
        self.tests.iter().any(|test| test.count <= -self.threshold)
    }

    /// Returns a question for a test that is not passed yet, or `None` if all tests are passed. Open questions count as
    /// if they were answered as expected.
    pub(crate) fn next(&mut self) -> Option<(u32, [u32; 2], Check)> {
        // The weight of an answer depends on the person who gives it, and it is unknown who will answer an open
        // question. So an open question counts as an expected answer of weight 1. This is the weight of an answer that
        // is right with the probability `p` of the settings.
        let expected = |test: &Test| test.count + f64::from(test.open);
        let tests = self.tests.iter_mut().enumerate();
        let least = tests.min_by(|(_, one), (_, other)| expected(one).total_cmp(&expected(other)));
        let (which, test) = least.filter(|(_, test)| expected(test) < self.threshold)?;
        test.open += 1;
        Some((test.pivot, test.children, (self.number, which as u32, test.expected)))
    }

    pub(crate) fn count(&mut self, (number, which, expected): Check, outcome: Outcome, step: f64) {
        if number == self.number {
            let test = &mut self.tests[which as usize];
            test.open -= 1;
            test.count += if outcome == expected { step } else { -step };
        }
    }
}
