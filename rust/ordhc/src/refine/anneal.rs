//! Moves by chance, from hot to cold.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::climb::{Climber, Objective};
use super::shape::Shape;
use crate::error::Result;
use crate::monitor::Monitor;

/// Places whose weights are below e^-REACH of the best place's are left out.
const REACH: f64 = 12.0;

/// How the temperature falls, in units of worth.
#[derive(Clone, Copy)]
pub(super) struct Annealing {
    /// How many times each subtree is looked at, on average.
    pub(super) sweeps: u64,
    pub(super) hot: f64,
    pub(super) cold: f64,
}

/// Puts subtrees, drawn at random, at places drawn by weights exp(worth / temperature), while the temperature falls
/// from the first to the second (heat bath).
pub(super) fn anneal(
    climber: &mut Climber<'_>,
    shape: &mut Shape,
    objective: &mut impl Objective,
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
        let target = drawn_place(climber, shape, objective, subtree, temperature, random, (&mut scores, &mut places));
        if let Some(target) = target {
            climber.make(shape, objective, subtree, target);
        }
    }
    Ok(())
}

/// The node above which a subtree goes, if it is elsewhere than now.
fn drawn_place(
    climber: &Climber<'_>,
    shape: &Shape,
    objective: &mut impl Objective,
    subtree: usize,
    temperature: f64,
    random: &mut ChaCha8Rng,
    (scores, places): (&mut [f64], &mut Vec<(usize, f64)>),
) -> Option<usize> {
    let here = shape.sibling(subtree)?;
    objective.score(shape, subtree, scores);
    let best = climber.other_places(shape, subtree).map(|place| scores[place]).fold(scores[here], f64::max);
    let mut sum = ((scores[here] - best) / temperature).exp();
    places.clear();
    places.push((here, sum));
    let floor = best - REACH * temperature;
    for place in climber.other_places(shape, subtree).filter(|&place| scores[place] >= floor && place != here) {
        sum += ((scores[place] - best) / temperature).exp();
        places.push((place, sum));
    }
    let drawn = random.random_range(0.0..1.0) * sum;
    let &(place, _) = places.iter().find(|&&(_, sum)| sum >= drawn)?;
    (place != here).then_some(place)
}
