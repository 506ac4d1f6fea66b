//! The search for the place of one leaf when some answers are wrong.

use std::collections::HashMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::noise::{Assume, Noise, Schedule};
use crate::search::{NONE, Outcome, Posterior, SizedTree};

/// How a tree is learned from answers of which some are wrong.
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
    /// Whether the posterior alone says when to stop.
    pub(crate) fn is_by_posterior(&self) -> bool {
        self.assume == Assume::Uniform || self.noise == Noise::Persistent
    }

    /// The probability of one of the two wrong answers.
    fn wrong(&self) -> f64 {
        0.5 * (1.0 - self.p)
    }

    /// The entropy of an answer, when these are the probabilities of the right one.
    fn entropy(&self, parts: [f64; 3]) -> f64 {
        let q = parts.map(|part| self.wrong() + (self.p - self.wrong()) * part);
        -q.iter().map(|q| q * q.ln()).sum::<f64>()
    }

    /// Whether an answer of this entropy is more than noise.
    fn tells(&self, entropy: f64) -> bool {
        let noise = self.entropy([1.0, 0.0, 0.0]);
        entropy - noise > self.delta * 1e-3 * (self.p - self.wrong()) * (self.p / self.wrong()).ln()
    }

    /// How many net answers make a failure as unlikely as this.
    pub(crate) fn needed(&self, failure: f64) -> f64 {
        (failure.ln() / self.failure(1.0).ln()).ceil().max(1.0)
    }

    /// How likely the count of a wrong place comes as high as this.
    pub(crate) fn failure(&self, count: f64) -> f64 {
        ((1.0 - self.p) / self.p).powf(count)
    }

    /// About how many questions a leaf takes in a tree of `n`.
    pub(crate) fn cost(&self, n: usize) -> f64 {
        let answer = 3f64.ln() - self.entropy([1.0, 0.0, 0.0]);
        let search = (2.0 * n as f64).ln() / answer;
        let net = self.needed(self.delta / n as f64) / (2.0 * self.p - 1.0);
        search + if self.is_by_posterior() { (n as f64 / self.delta).ln() / answer } else { 1.5 * net }
    }
}

/// The search for the place of one leaf.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    pub(crate) leaf: u32,
    pub(crate) posterior: Posterior,
    /// The pivot to be asked next, if there is no attempt.
    pub(crate) pivot: Option<u32>,
    pub(crate) attempt: Option<Attempt>,
    /// How many attempts there were.
    pub(crate) attempts: u32,
    /// With which probability it may still go wrong.
    pub(crate) purse: f64,
    pub(crate) open: u32,
    pub(crate) answered: u64,
    pub(crate) is_ready: bool,
    /// By pivot: the pairs of leaves that were asked with, if questions must not be repeated.
    asked: HashMap<u32, Vec<[u32; 2]>>,
}

impl Search {
    pub(crate) fn new(leaf: u32, purse: f64, tree: &SizedTree) -> Self {
        let mut posterior = Posterior::default();
        posterior.reset(tree);
        Self {
            leaf,
            posterior,
            pivot: None,
            attempt: None,
            attempts: 0,
            purse,
            open: 0,
            answered: 0,
            is_ready: false,
            asked: HashMap::new(),
        }
    }

    /// Chooses the pivot of largest information; none if no question says anything.
    pub(crate) fn choose(&mut self, tree: &SizedTree, settings: &Settings) {
        let Self { posterior, asked, .. } = self;
        let may = |node| match (settings.noise, tree.children(node), asked.get(&node)) {
            (Noise::Persistent, Some([first, second]), Some(asked)) => {
                u64::from(tree.leaves(first)) * u64::from(tree.leaves(second)) > asked.len() as u64
            }
            _ => true,
        };
        let best = posterior.pivot(tree, |parts| settings.entropy(parts), may);
        self.pivot =
            best.filter(|best| settings.noise == Noise::Independent || settings.tells(best.1)).map(|best| best.0);
    }

    /// The leaves to ask about two children with.
    pub(crate) fn leaves(
        &mut self,
        tree: &SizedTree,
        settings: &Settings,
        pivot: u32,
        children: [u32; 2],
        random: &mut ChaCha8Rng,
    ) -> [u32; 2] {
        let mut draw = || children.map(|child| tree.leaf_at(child, random.random_range(0..tree.leaves(child))));
        if settings.noise == Noise::Independent {
            return draw();
        }
        let asked = self.asked.entry(pivot).or_default();
        let mut pair = draw();
        for _ in 0..20 {
            if !asked.contains(&pair) {
                break;
            }
            pair = draw();
        }
        let [first, second] = children.map(|child| tree.leaves(child));
        let mut all = (0..first).flat_map(|a| (0..second).map(move |b| [a, b]));
        while asked.contains(&pair) {
            let Some([a, b]) = all.next() else { break };
            pair = [tree.leaf_at(children[0], a), tree.leaf_at(children[1], b)];
        }
        asked.push(pair);
        pair
    }

    /// Takes an answer to a question about a pivot.
    pub(crate) fn learn(&mut self, tree: &SizedTree, settings: &Settings, pivot: u32, first: u32, outcome: Outcome) {
        let (right, wrong) = (settings.p, settings.wrong());
        let mut factors = [wrong; 3];
        match outcome {
            Outcome::First => factors[0] = right,
            Outcome::Second => factors[1] = right,
            Outcome::Outside => factors[2] = right,
            // Never right in a binary tree.
            Outcome::Neither => return,
        }
        self.posterior.update(tree, pivot, first, factors);
    }
}

/// The verification of a place by answers that were asked for after it began.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) place: u32,
    number: u32,
    /// What every count must come to.
    pub(crate) threshold: i64,
    /// At most so many questions are open at a time.
    pub(crate) at_once: u32,
    tests: Vec<Test>,
}

/// A question whose answer is known if the place is right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    pub(crate) pivot: u32,
    pub(crate) expected: Outcome,
    count: i64,
    open: i64,
}

/// Of an attempt: its number, which of its tests, and the outcome that it expects.
pub(crate) type Check = (u32, usize, Outcome);

impl Attempt {
    pub(crate) fn new(tree: &SizedTree, place: u32, number: u32) -> Self {
        let mut tests = Vec::with_capacity(2);
        if tree.children(place).is_some() {
            tests.push(Test { pivot: place, expected: Outcome::Outside, count: 0, open: 0 });
        }
        let above = tree.tree().parent(place);
        if above != NONE {
            let is_first = tree.children(above).is_some_and(|children| children[0] == place);
            let expected = if is_first { Outcome::First } else { Outcome::Second };
            tests.push(Test { pivot: above, expected, count: 0, open: 0 });
        }
        Self { place, number, threshold: 1, at_once: 0, tests }
    }

    pub(crate) fn n_tests(&self) -> usize {
        self.tests.len()
    }

    pub(crate) fn is_passed(&self) -> bool {
        self.tests.iter().all(|test| test.count >= self.threshold)
    }

    /// The test that lags most behind, if one of them needs more answers than are open.
    pub(crate) fn next(&mut self) -> Option<(u32, Check)> {
        let (which, test) = self.tests.iter_mut().enumerate().min_by_key(|(_, test)| test.count + test.open)?;
        if test.count + test.open >= self.threshold {
            return None;
        }
        test.open += 1;
        Some((test.pivot, (self.number, which, test.expected)))
    }

    /// Counts an answer, if it is about this attempt.
    pub(crate) fn count(&mut self, (number, which, expected): Check, outcome: Outcome) {
        if number == self.number {
            let test = &mut self.tests[which];
            test.open -= 1;
            test.count += if outcome == expected { 1 } else { -1 };
        }
    }
}
