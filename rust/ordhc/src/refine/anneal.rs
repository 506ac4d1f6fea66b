//! Simulated annealing of trees.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::climb::{Climber, Looked, Objective};
use super::shape::Shape;
use crate::error::Result;
use crate::monitor::Monitor;

/// Annealing never puts a subtree on an edge whose weight (relative probability) is below e^-REACH times the largest
/// weight.
const REACH: f64 = 12.0;

pub(super) trait Scored: Objective {
    /// Writes a score for each node: the objective, up to a constant, if the subtree is put on the edge above the node.
    /// Nodes above which the subtree must not be put get minus infinity. Returns a bound of a score's rounding error.
    fn score(&mut self, shape: &Shape, subtree: usize, scores: &mut [f64]) -> f64;
}

pub(super) fn better_by_score(
    objective: &mut impl Scored,
    shape: &Shape,
    subtree: usize,
    scores: &mut [f64],
) -> Looked {
    let mut looked = Looked { subtrees: 1, target: None };
    let Some(sibling) = shape.sibling(subtree) else { return looked };
    let rounding = objective.score(shape, subtree, scores);
    let best = largest(scores);
    if best > scores[sibling] + rounding {
        // Take the first node whose score differs from the best score by at most the rounding error.
        let mut places = (0..shape.n_nodes()).map(|place| shape.node_at(place));
        looked.target = places.find(|&node| scores[node] >= best - rounding);
    }
    looked
}

#[derive(Clone, Copy)]
pub(super) struct Annealing {
    pub(super) sweeps: u64,
    pub(super) hot: f64,
    pub(super) cold: f64,
}

/// Moves random subtrees, each to a random edge (heat bath). The probability of an edge is proportional to
/// exp(score / temperature). The temperature falls from `hot` to `cold`.
pub(super) fn anneal(
    climber: &mut Climber<'_>,
    shape: &mut Shape,
    objective: &mut impl Scored,
    Annealing { sweeps, hot, cold }: Annealing,
    random: &mut ChaCha8Rng,
    monitor: &Monitor,
) -> Result<()> {
    let steps = sweeps * climber.turn.len() as u64;
    let mut scores = vec![0.0; shape.n_nodes()];
    let mut places = Vec::new();
    for step in 0..steps {
        monitor.advance(1)?;
        if climber.left == 0 {
            break;
        }
        let temperature = hot * (cold / hot).powf(step as f64 / steps as f64);
        let subtree = climber.turn[random.random_range(0..climber.turn.len())];
        let target = drawn_place(shape, objective, subtree, temperature, random, (&mut scores, &mut places));
        if let Some(target) = target {
            climber.make(shape, objective, subtree, target);
        }
    }
    Ok(())
}

fn drawn_place(
    shape: &Shape,
    objective: &mut impl Scored,
    subtree: usize,
    temperature: f64,
    random: &mut ChaCha8Rng,
    (scores, places): (&mut [f64], &mut Vec<(usize, f64)>),
) -> Option<usize> {
    let here = shape.sibling(subtree)?;
    objective.score(shape, subtree, scores);
    let best = largest(scores);
    let mut sum = ((scores[here] - best) / temperature).exp();
    places.clear();
    places.push((here, sum));
    let floor = best - REACH * temperature;
    let others = (0..shape.n_nodes()).map(|place| shape.node_at(place));
    for place in others.filter(|&place| scores[place] >= floor && place != here) {
        sum += ((scores[place] - best) / temperature).exp();
        places.push((place, sum));
    }
    let drawn = random.random_range(0.0..1.0) * sum;
    let &(place, _) = places.iter().find(|&&(_, sum)| sum >= drawn)?;
    (place != here).then_some(place)
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
