//! The possible places of a subtree in the tree, with scores from the answers about leaves of this subtree alone.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::Answer;
use super::reliability::{Reliability, says};
use super::shape::{NONE, Place, Shape};

/// Differences of log-likelihoods below this value may be rounding errors.
const ROUNDED: f64 = 1e-9;

/// A possible place of a subtree in the tree, and the score of the place. If `is_part` is true, the subtree can be put
/// beside any leaf at or below `node`, because no answer distinguishes these places. Otherwise, the place is beside
/// `node` (on the edge above it).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    pub(super) node: u32,
    pub(super) is_part: bool,
    pub(super) score: f64,
}

/// The scores of the possible places of a subtree that was cut off the tree. A score is the log-likelihood of the
/// answers about the subtree, up to a constant.
///
/// An answer about the subtree and two other leaves depends on the place only along the paths from these leaves to the
/// root. So only the nodes of these paths are visited, and get a *gain*. The score of the place beside a node is the
/// sum of the gains of this node and all nodes above. In a subtree without gains, all places have the score of the node
/// above this subtree.
#[derive(Debug, Clone)]
pub(super) struct Places {
    gains: Vec<f64>,
    /// For each node: the value of `mark` when its gain was written. Gains with another mark are of earlier subtrees,
    /// and count as 0.
    marks: Vec<u32>,
    mark: u32,
    pub(super) spots: Vec<Spot>,
    open: Vec<(u32, f64)>,
    weights: Vec<f64>,
    /// The entropy of the distribution over the possible places of the current subtree, in nats.
    pub(super) entropy: f64,
}

/// The rest of the tree after a subtree was cut off. `size` is the number of leaves of the subtree, and `inside` is
/// true for these leaves.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    pub(super) shape: &'a Shape,
    pub(super) logs: &'a [f64],
    pub(super) reliability: &'a Reliability,
    pub(super) size: u32,
    pub(super) inside: &'a [bool],
}

impl Rest<'_> {
    fn log(&self, node: u32) -> f64 {
        self.logs[self.shape.size(node) as usize]
    }

    fn log_with(&self, node: u32) -> f64 {
        self.logs[(self.shape.size(node) + self.size) as usize]
    }

    fn is_outside(&self, leaf: u32) -> bool {
        self.shape.has(leaf) && !self.inside[leaf as usize]
    }
}

impl Places {
    pub(super) fn new(n_nodes: usize) -> Self {
        Self {
            gains: vec![0.0; n_nodes],
            marks: vec![0; n_nodes],
            mark: 0,
            spots: Vec::new(),
            open: Vec::new(),
            weights: Vec::new(),
            entropy: 0.0,
        }
    }

    pub(super) fn begin(&mut self) {
        if self.mark == u32::MAX {
            self.marks.fill(0);
            self.mark = 0;
        }
        self.mark += 1;
    }

    #[inline]
    fn add(&mut self, node: u32, gain: f64) {
        let at = node as usize;
        if self.marks[at] != self.mark {
            self.marks[at] = self.mark;
            self.gains[at] = 0.0;
        }
        self.gains[at] += gain;
    }

    /// Adds gains to the nodes on the path from the node `from` up to the child of `stop`.
    ///
    /// If the place beside `stop` has the score `top`, the place beside each node of the path then has the score
    /// `value(node)`. The places below this node that are not on the path have the same score.
    #[inline]
    fn climb(&mut self, shape: &Shape, from: u32, stop: u32, value: impl Fn(u32) -> f64, top: f64) {
        let mut node = from;
        if node == stop {
            return;
        }
        let mut here = value(node);
        loop {
            let above = shape.parent(node);
            let next = if above == stop { top } else { value(above) };
            self.add(node, here - next);
            if above == stop {
                break;
            }
            (node, here) = (above, next);
        }
    }

    /// Ignores answers that don't depend on the place of the subtree.
    pub(super) fn add_answer<const K: usize>(&mut self, rest: &Rest<'_>, answer: &Answer<K>, level: usize) {
        let (leaves, told, _) = *answer;
        if !says::<K>(told) {
            return;
        }
        if K == 4 {
            self.add_pairs(rest, std::array::from_fn(|at| leaves[at]), told, level);
        } else {
            self.add_odd(rest, std::array::from_fn(|at| leaves[at]), told, level);
        }
    }

    fn add_odd(&mut self, rest: &Rest<'_>, leaves: [u32; 3], odd: i8, level: usize) {
        let Some(at) = (0..3).find(|&at| rest.inside[leaves[at] as usize]) else { return };
        let [a, b] = [leaves[(at + 1) % 3], leaves[(at + 2) % 3]];
        if !rest.is_outside(a) || !rest.is_outside(b) {
            return;
        }
        let odd = leaves[odd as usize];
        let join = rest.shape.join(a, b);
        let top = rest.log(join);
        let value =
            |difference: f64, is_right: bool| rest.reliability.logs(level, difference.max(0.0))[usize::from(!is_right)];
        // Above the node where `a` and `b` join, the subtree is the odd one out.
        let is_odd = odd != a && odd != b;
        let above = |node: u32| value(rest.log_with(node) - top, is_odd);
        let shape = rest.shape;
        self.climb(shape, join, NONE, above, 0.0);
        let at_join = above(join);
        for (near, far) in [(a, b), (b, a)] {
            let with = |node: u32| value(rest.log_with(join) - rest.log_with(node), odd == far);
            self.climb(shape, near, join, with, at_join);
        }
    }

    fn add_pairs(&mut self, rest: &Rest<'_>, [a, b, c, d]: [u32; 4], told: i8, level: usize) {
        let inside = |leaf: u32| rest.inside[leaf as usize];
        let outer = |[one, other]: [u32; 2]| match (inside(one), inside(other)) {
            (true, false) => Some(other),
            (false, true) => Some(one),
            _ => None,
        };
        let pairs = [[a, b], [c, d]];
        let outers = pairs.map(outer);
        if pairs.iter().flatten().any(|&leaf| !inside(leaf) && !rest.shape.has(leaf)) {
            return;
        }
        let closer = usize::from(told < 0);
        let shape = rest.shape;
        let value = |difference: f64, is_right: bool| {
            if difference == 0.0 {
                rest.reliability.even()
            } else {
                rest.reliability.logs(level, difference.abs())[usize::from(!is_right)]
            }
        };
        match outers {
            [Some(one), Some(other)] => {
                if one == other {
                    return;
                }
                let join = shape.join(one, other);
                let even = rest.reliability.even();
                self.climb(shape, join, NONE, |_| even, 0.0);
                for (near, pair) in [(one, 0), (other, 1)] {
                    let with = |node: u32| value(rest.log_with(join) - rest.log_with(node), closer == pair);
                    self.climb(shape, near, join, with, even);
                }
            }
            [Some(near), None] | [None, Some(near)] => {
                let pair = usize::from(outers[0].is_none());
                let [one, other] = pairs[1 - pair];
                if inside(one) {
                    return;
                }
                let fixed = rest.log(shape.join(one, other));
                let with = |node: u32| {
                    let difference = fixed - rest.log_with(node);
                    value(difference, (closer == pair) == (difference > 0.0))
                };
                self.climb(shape, near, NONE, with, 0.0);
            }
            _ => {}
        }
    }

    pub(super) fn list(&mut self, shape: &Shape) {
        self.spots.clear();
        self.open.clear();
        self.open.push((shape.root, 0.0));
        while let Some((node, above)) = self.open.pop() {
            if self.marks[node as usize] != self.mark {
                self.spots.push(Spot { node, is_part: true, score: above });
                continue;
            }
            let score = above + self.gains[node as usize];
            self.spots.push(Spot { node, is_part: false, score });
            if !shape.is_leaf(node) {
                self.open.extend(shape.children(node).map(|child| (child, score)));
            }
        }
    }

    /// Computes the cumulative weights of the possible places of a subtree, and the entropy of their distribution.
    ///
    /// A [`Spot`] with `is_part` represents several places: one beside each leaf at or below its node. So its weight is
    /// multiplied by the number of these leaves. With this rule, a subtree without answers is put beside each leaf with
    /// the same probability, as in Yule's process.
    pub(super) fn weigh(&mut self, shape: &Shape) {
        let most = self.spots.iter().map(|spot| spot.score).fold(f64::NEG_INFINITY, f64::max);
        self.weights.clear();
        let (mut sum, mut mean) = (0.0, 0.0);
        for spot in &self.spots {
            let count = if spot.is_part { f64::from(shape.size(spot.node)) } else { 1.0 };
            let weight = count * (spot.score - most).exp();
            sum += weight;
            mean += weight * (spot.score - most);
            self.weights.push(sum);
        }
        self.entropy = sum.ln() - mean / sum;
    }

    pub(super) fn draw(&self, shape: &Shape, random: &mut ChaCha8Rng) -> Place {
        let sum = self.weights[self.weights.len() - 1];
        let drawn = random.random::<f64>() * sum;
        let at = self.weights.partition_point(|&sum| sum <= drawn).min(self.weights.len() - 1);
        self.place(shape, at, random)
    }

    /// Returns the place with the highest score if this score exceeds the score of the current
    /// place `before` by more than `least`. Otherwise, returns `before`.
    pub(super) fn best(&self, shape: &Shape, before: Place, least: f64, random: &mut ChaCha8Rng) -> Place {
        let up = |&node: &u32| Some(shape.parent(node)).filter(|&above| above != NONE);
        let path = std::iter::successors(Some(before.beside), up);
        let gain = |node: u32| if self.marks[node as usize] == self.mark { self.gains[node as usize] } else { 0.0 };
        let here: f64 = path.map(gain).sum();
        let score = |at: &usize| self.spots[*at].score;
        let best = (0..self.spots.len()).max_by(|one, other| score(one).total_cmp(&score(other)));
        best.filter(|best| score(best) > here + least + ROUNDED).map_or(before, |best| self.place(shape, best, random))
    }

    fn place(&self, shape: &Shape, at: usize, random: &mut ChaCha8Rng) -> Place {
        let Spot { node, is_part, .. } = self.spots[at];
        Place::beside(if is_part { shape.leaf_under(node, random.random_range(0..shape.size(node))) } else { node })
    }
}
