//! The log-likelihoods of choices among several pairs of leaves, for all places where a subtree can be inserted.
//!
//! If one leaf of a pair is in the moved subtree, and the other leaf (the outer leaf) is not, the height of the pair
//! depends on the insertion. The paths from the outer leaves to the root form a small tree. Insert the subtree on a
//! branch of this tree: then each pair with an outer leaf below the branch gets the height of the insertion. The
//! heights of all other pairs are constant along the branch.

use super::choices::Choices;
use super::height_tree::{HeightTree, NONE};
use super::luce;
use super::places::{Rest, Spot};
use crate::sorting::order_by_key;

/// A pair of leaves of an answer: one leaf is in the moved subtree, and the other leaf (`outer`) is not. The height of
/// the pair depends on where the subtree is inserted.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: u32,
    outer: u32,
    option: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ChoiceScores {
    /// For each node: exp of its height, and exp of the height of the new node if the subtree is put on the edge above
    /// this node.
    pub(super) powers: Vec<[f64; 2]>,
    open: Vec<Open>,
    joins: Vec<u32>,
    weights: Vec<f64>,
    factors: Vec<f64>,
}

/// The probability of an answer as a function of x = exp(h), where h is the height at which the subtree is put.
enum Curve {
    /// (num\[0\] + num\[1\] y) / (den\[0\] + den\[1\] y), where y is x, or 1 / x if `is_inverse` is true.
    Ratio {
        num: [f64; 2],
        den: [f64; 2],
        is_inverse: bool,
    },
    Any,
}

struct Scored<'a> {
    choices: &'a Choices,
    choice: usize,
    weight: f64,
    noise: f64,
    tree: &'a HeightTree,
}

impl ChoiceScores {
    pub(super) fn add(&mut self, spots: &mut [Spot], rest: &Rest<'_>, choices: &Choices, choice: usize) {
        let pairs = choices.pairs(choice);
        self.open.clear();
        self.weights.clear();
        self.factors.clear();
        for (option, &pair) in pairs.iter().enumerate() {
            let factor = rest.lengths.factor(pair);
            let [first, second] = pair.map(|leaf| rest.inside[leaf as usize]);
            let weight = if first == second {
                let [a, b] = pair;
                factor * self.powers[rest.spans.join(rest.tree, a, b) as usize][0]
            } else {
                let outer = pair[usize::from(first)];
                self.open.push(Open { start: rest.spans.start(outer), outer, option });
                factor
            };
            self.weights.push(weight);
            self.factors.push(factor);
        }
        order_by_key(&mut self.open, |open| (open.start, open.option));
        let is_alone = self.open.first().map(|open| open.outer) == self.open.last().map(|open| open.outer);
        if self.open.is_empty() || is_alone && self.open.len() == pairs.len() {
            // The likelihood of the answer does not depend on where the subtree is inserted.
            return;
        }
        self.joins.clear();
        self.joins.extend(self.open.windows(2).map(|two| {
            let [a, b] = [two[0].outer, two[1].outer];
            if a == b { a } else { rest.spans.join(rest.tree, a, b) }
        }));
        let noise = rest.noises.of(choices.person(choice)).noise();
        let scored = Scored { choices, choice, weight: choices.weight(choice), noise, tree: rest.tree };
        self.branch(spots, &scored, [0, self.open.len()], NONE);
    }

    /// Adds the log-likelihood of the answer to the scores of some places. These places are on the paths from the node
    /// `stop` down to the leaf `outer` of each pair in `open[from..to]`.
    fn branch(&mut self, spots: &mut [Spot], scored: &Scored<'_>, [from, to]: [usize; 2], stop: u32) {
        let tree = scored.tree;
        let height = |node: &u32| if tree.is_leaf(*node) { f64::INFINITY } else { tree.height(*node) };
        let joins = self.joins[from..to - 1].iter().copied();
        let bottom = joins.min_by(|a, b| height(a).total_cmp(&height(b))).unwrap_or(self.open[from].outer);
        let curve = self.curve(scored, [from, to]);
        let log = |scores: &mut Self, power: f64| {
            let clear = scores.clear(scored, &curve, [from, to], power);
            scored.choices.log(scored.choice, clear, scored.noise)
        };
        // A subtree cannot be put under a leaf, so the initial value of `here` has no effect if `bottom` is a leaf.
        let (mut node, mut here) = (bottom, 0.0);
        if !tree.is_leaf(bottom) {
            here = log(self, self.powers[bottom as usize][0]);
        }
        loop {
            let parent = spots[node as usize].parent;
            let above = if parent == NONE { 0.0 } else { log(self, self.powers[parent as usize][0]) };
            let beside = log(self, self.powers[node as usize][1]);
            let spot = &mut spots[node as usize];
            spot.under += scored.weight * (here - above);
            spot.beside += scored.weight * (beside - above);
            if parent == stop {
                break;
            }
            (node, here) = (parent, above);
        }
        if tree.is_leaf(bottom) {
            return;
        }
        let mut start = from;
        for end in from + 1..=to {
            if end == to || self.joins[end - 1] == bottom {
                // Insert the subtree in one branch below `bottom`. Then `bottom` is the lowest common ancestor of each
                // moved leaf and each outer leaf in another branch, so the height of `bottom` gives the weights of
                // these pairs.
                let power = self.powers[bottom as usize][0];
                for at in (from..start).chain(end..to) {
                    let option = self.open[at].option;
                    self.weights[option] = self.factors[option] * power;
                }
                self.branch(spots, scored, [start, end], bottom);
                start = end;
            }
        }
    }

    fn curve(&self, scored: &Scored<'_>, [from, to]: [usize; 2]) -> Curve {
        let count = self.weights.len();
        // If the answer has two ranks, and the best rank is a single pair, the probability of the answer is the weight
        // of this pair divided by the sum of all weights. If the worst rank is a single pair, the same is true for
        // inverse weights.
        let (one, is_inverse) = match *scored.choices.blocks(scored.choice) {
            [1, _] => (0, false),
            [_, 1] => (count - 1, true),
            _ => return Curve::Any,
        };
        let of = |weight: f64| if is_inverse { 1.0 / weight } else { weight };
        let mut den = [0.0; 2];
        let mut num = [of(self.weights[one]), 0.0];
        let is_open = |option: usize| self.open[from..to].iter().any(|open| open.option == option);
        for option in 0..count {
            if is_open(option) {
                den[1] += of(self.factors[option]);
            } else {
                den[0] += of(self.weights[option]);
            }
        }
        if is_open(one) {
            num = [0.0, of(self.factors[one])];
        }
        Curve::Ratio { num, den, is_inverse }
    }

    #[inline]
    fn clear(&mut self, scored: &Scored<'_>, curve: &Curve, [from, to]: [usize; 2], power: f64) -> f64 {
        match *curve {
            Curve::Ratio { num, den, is_inverse: false } => (num[0] + num[1] * power) / (den[0] + den[1] * power),
            Curve::Ratio { num, den, is_inverse: true } => (num[0] * power + num[1]) / (den[0] * power + den[1]),
            Curve::Any => {
                for open in &self.open[from..to] {
                    self.weights[open.option] = self.factors[open.option] * power;
                }
                luce::probability(&self.weights, scored.choices.blocks(scored.choice))
            }
        }
    }
}
