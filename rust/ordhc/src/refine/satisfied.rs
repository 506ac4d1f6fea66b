//! The weight of satisfied triplets, for every edge on which a subtree can be put.

use std::cmp::Ordering;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::climb::{Climber, Looked, Objective};
use super::shape::Shape;
use crate::comparison::Triplets;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::sorting::order_by;
use crate::tree::RangeMax;

/// Annealing never puts a subtree on an edge whose weight (relative probability) is below e^-REACH times the largest
/// weight.
const REACH: f64 = 12.0;

/// The condition that a triplet sets for one of its leaves. `others` are its two other leaves. If `apart` is false, the
/// leaf must join the first of these two leaves before the second. If `apart` is true, these two leaves must join each
/// other before the leaf joins them.
#[derive(Debug, Clone, Copy)]
struct Wish {
    others: [u32; 2],
    weight: f64,
    apart: bool,
}

impl Wish {
    fn by_content(&self, other: &Self) -> Ordering {
        let content = |wish: &Self| (wish.others, wish.apart);
        content(self).cmp(&content(other)).then(self.weight.total_cmp(&other.weight))
    }

    fn is_repeat(&self, other: &Self) -> bool {
        (self.others, self.apart) == (other.others, other.apart)
    }
}

/// The conditions ([`Wish`]) that triplets set for their leaves, indexed by leaf.
pub(super) struct SatisfiedTriplets<'a> {
    starts: Vec<usize>,
    wishes: Vec<Wish>,
    ranks: Vec<u32>,
    /// For each pair of neighbouring leaves: `Shape::place` of their lowest common ancestor.
    joins: RangeMax,
    /// For each node, ordered by `Shape::place`: the objective, up to a constant, if the current subtree is put on the
    /// edge above the node.
    worth: Vec<f64>,
    scores: Vec<f64>,
    movable: &'a [bool],
    exact: bool,
    /// The mean weight of a triplet. Repeats of a triplet count as one triplet with the sum of their weights.
    mean: f64,
}

impl<'a> SatisfiedTriplets<'a> {
    /// Leaf i of the triplets is leaf `number[i]` of the tree.
    pub(super) fn new(triplets: &Triplets<'_>, shape: &Shape, number: &[u32], movable: &'a [bool]) -> Result<Self> {
        let bytes = 3 * triplets.len() * size_of::<Wish>();
        memory::check("triplets by leaf", bytes as u64)?;
        let mut starts = vec![0; shape.n_leaves() + 1];
        triplets.rows().each(0..triplets.len(), |_, row| {
            row.iter().for_each(|&leaf| starts[number[leaf as usize] as usize + 1] += 1);
        });
        for leaf in 0..shape.n_leaves() {
            starts[leaf + 1] += starts[leaf];
        }
        let mut next = starts.clone();
        let nothing = Wish { others: [0; 2], weight: 0.0, apart: false };
        let mut wishes = vec![nothing; 3 * triplets.len()];
        triplets.rows().each(0..triplets.len(), |at, row| {
            let weight = triplets.weights().map_or(1.0, |weights| weights[at]);
            let [anchor, near, far] = row.map(|leaf| number[leaf as usize]);
            for (leaf, others, apart) in
                [(anchor, [near, far], false), (near, [anchor, far], false), (far, [anchor, near], true)]
            {
                wishes[next[leaf as usize]] = Wish { others, weight, apart };
                next[leaf as usize] += 1;
            }
        });
        // Sums must not depend on the order of rows, so sort the conditions. Repeated conditions become one, with the
        // sum of their weights, because annealing must not depend on how often all triplets are repeated.
        let (mut n_wishes, mut first) = (0, 0);
        let (mut total, mut n_apart, mut all_whole) = (0.0, 0, true);
        for leaf in 0..shape.n_leaves() {
            let last = std::mem::replace(&mut first, starts[leaf + 1]);
            order_by(&mut wishes[last..first], &|one, other| one.by_content(&other));
            starts[leaf] = n_wishes;
            for at in last..first {
                let wish = wishes[at];
                all_whole &= wish.weight.fract() == 0.0;
                if n_wishes > starts[leaf] && wishes[n_wishes - 1].is_repeat(&wish) {
                    wishes[n_wishes - 1].weight += wish.weight;
                } else if wish.weight > 0.0 {
                    wishes[n_wishes] = wish;
                    n_wishes += 1;
                    n_apart += usize::from(wish.apart);
                }
                total += if wish.apart { wish.weight } else { 0.0 };
            }
        }
        starts[shape.n_leaves()] = n_wishes;
        wishes.truncate(n_wishes);
        // Each triplet sets three conditions, one for each of its leaves. `apart` is true only in the condition for the
        // far leaf, so the mean over these conditions is the mean over triplets.
        let mean = total / n_apart.max(1) as f64;
        let exact = all_whole && total < (1u64 << 52) as f64;
        let (ranks, joins) = (vec![0; shape.n_leaves()], RangeMax::new(Vec::new()));
        let worth = vec![0.0; shape.n_nodes()];
        let scores = worth.clone();
        let mut satisfied = Self { starts, wishes, ranks, joins, worth, scores, movable, exact, mean };
        satisfied.prepare(shape);
        Ok(satisfied)
    }

    fn of(&self, leaf: usize) -> &[Wish] {
        &self.wishes[self.starts[leaf]..self.starts[leaf + 1]]
    }

    fn join(&self, [a, b]: [u32; 2]) -> usize {
        let (a, b) = (self.ranks[a as usize], self.ranks[b as usize]);
        self.joins.max(a.min(b) as usize, a.max(b) as usize) as usize
    }

    /// Writes a score for each node to `scores`: the objective, up to a constant, if the subtree is put on the edge above
    /// the node. Nodes above which the subtree must not be put get minus infinity. Returns a bound of a score's rounding
    /// error.
    ///
    /// Only triplets with exactly one leaf in the subtree are counted, because a move of the subtree does not change
    /// whether the tree agrees with other triplets.
    fn score(&mut self, shape: &Shape, subtree: usize) -> f64 {
        let (span, parent) = (shape.span(subtree), shape.parent(subtree));
        let (mut worth, mut scores) = (std::mem::take(&mut self.worth), std::mem::take(&mut self.scores));
        worth.fill(0.0);
        let mut everywhere = 0.0;
        let mut sum = 0.0;
        for leaf in shape.leaves(subtree) {
            for wish in self.of(leaf) {
                let places = wish.others.map(|other| shape.place(other as usize));
                if places.iter().any(|place| span.contains(place)) {
                    continue;
                }
                let [left, right] = shape.children_at(self.join(wish.others));
                let toward = |place: usize| if place <= left { left } else { right };
                if wish.apart {
                    everywhere += wish.weight;
                    worth[left] -= wish.weight;
                    worth[right] -= wish.weight;
                } else {
                    worth[toward(places[0])] += wish.weight;
                }
                sum += wish.weight;
            }
        }
        worth[shape.n_nodes() - 1] += everywhere;
        for place in (0..shape.n_nodes()).rev() {
            if !shape.is_leaf(shape.node_at(place)) {
                let here = worth[place];
                shape.children_at(place).iter().for_each(|&child| worth[child] += here);
            }
        }
        for (place, &worth) in worth.iter().enumerate() {
            let node = shape.node_at(place);
            let is_one = !span.contains(&place) && self.movable[node] && Some(node) != parent;
            scores[node] = if is_one { worth } else { f64::NEG_INFINITY };
        }
        (self.worth, self.scores) = (worth, scores);
        if self.exact { 0.0 } else { 1e-12 * sum }
    }
    fn drawn_place(
        &mut self,
        shape: &Shape,
        subtree: usize,
        temperature: f64,
        random: &mut ChaCha8Rng,
    ) -> Option<usize> {
        let here = shape.sibling(subtree)?;
        self.score(shape, subtree);
        let best = largest(&self.scores);
        let weight = |place: usize| ((self.scores[place] - best) / temperature).exp();
        let mut sum = weight(here);
        let mut places = vec![(here, sum)];
        let floor = best - REACH * temperature;
        let others = (0..shape.n_nodes()).map(|place| shape.node_at(place));
        for place in others.filter(|&place| self.scores[place] >= floor && place != here) {
            sum += weight(place);
            places.push((place, sum));
        }
        let drawn = random.random_range(0.0..1.0) * sum;
        let &(place, _) = places.iter().find(|&&(_, sum)| sum >= drawn)?;
        (place != here).then_some(place)
    }
}

impl Objective for SatisfiedTriplets<'_> {
    fn prepare(&mut self, shape: &Shape) {
        let mut joins = vec![0; shape.n_leaves() - 1];
        let mut n_before = 0;
        for place in 0..shape.n_nodes() {
            let node = shape.node_at(place);
            if shape.is_leaf(node) {
                self.ranks[node] = n_before;
                n_before += 1;
            } else {
                let right = shape.size_at(place - 1) as u32;
                joins[(n_before - right) as usize - 1] = place as u32;
            }
        }
        self.joins = RangeMax::new(joins);
    }

    fn better(&mut self, shape: &Shape, turn: &[usize], from: usize) -> Looked {
        let mut looked = Looked { subtrees: 1, target: None };
        let Some(sibling) = shape.sibling(turn[from]) else { return looked };
        let rounding = self.score(shape, turn[from]);
        let best = largest(&self.scores);
        if best > self.scores[sibling] + rounding {
            // Take the first node whose score differs from the best score by at most the rounding error.
            let mut places = (0..shape.n_nodes()).map(|place| shape.node_at(place));
            looked.target = places.find(|&node| self.scores[node] >= best - rounding);
        }
        looked
    }

    fn make(&mut self, shape: &mut Shape, subtree: usize, target: usize) -> bool {
        let moved = shape.regraft(subtree, target);
        if moved {
            self.prepare(shape);
        }
        moved
    }

    fn total(&self, shape: &Shape) -> f64 {
        let agreed = |leaf: usize| {
            let mut sum = 0.0;
            for wish in self.of(leaf).iter().filter(|wish| wish.apart) {
                let [anchor, near] = wish.others;
                let inner = self.join([anchor, near]);
                // The condition holds if the far leaf is outside of the smallest cluster of the two other leaves.
                let place = shape.place(leaf);
                if place > inner || place + 2 * shape.size_at(inner) < inner + 2 {
                    sum += wish.weight;
                }
            }
            sum
        };
        (0..shape.n_leaves()).map(agreed).sum()
    }

    fn sweeps(&self, shape: &Shape) -> Option<u64> {
        // A sweep moves each subtree once, on average. The longer a sweep takes, the fewer sweeps are used.
        let operations = (shape.n_leaves() as u64).pow(2) + 2 * self.wishes.len() as u64;
        (self.mean > 0.0).then_some((2_000_000 / operations.max(1)).clamp(4, 40))
    }

    /// Anneals the tree: moves random subtrees, each to a random edge (heat bath). The probability of an edge is
    /// proportional to exp(score / temperature). The temperature falls from `hot` to `cold`.
    fn disturb(
        &mut self,
        climber: &mut Climber<'_>,
        shape: &mut Shape,
        random: &mut ChaCha8Rng,
        monitor: &Monitor,
    ) -> Result<()> {
        let Some(sweeps) = self.sweeps(shape) else {
            climber.shake(shape, self, random);
            return Ok(());
        };
        let (hot, cold) = (self.mean, self.mean / 10.0);
        let steps = sweeps * climber.turn.len() as u64;
        for step in 0..steps {
            monitor.advance(1)?;
            if climber.left == 0 {
                break;
            }
            let temperature = hot * (cold / hot).powf(step as f64 / steps as f64);
            let subtree = climber.turn[random.random_range(0..climber.turn.len())];
            if let Some(target) = self.drawn_place(shape, subtree, temperature, random) {
                climber.make(shape, self, subtree, target);
            }
        }
        Ok(())
    }
}

/// Computes eight maxima side by side, so that the compiler can use SIMD instructions.
fn largest(values: &[f64]) -> f64 {
    let greater = |a: f64, b: f64| if a > b { a } else { b };
    let (lanes, rest) = values.as_chunks::<8>();
    let mut most = [f64::NEG_INFINITY; 8];
    for lane in lanes {
        most = std::array::from_fn(|at| greater(lane[at], most[at]));
    }
    most.iter().chain(rest).copied().fold(f64::NEG_INFINITY, greater)
}
