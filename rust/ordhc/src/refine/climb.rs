//! Moving subtrees as long as that helps.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Search;
use super::anneal::{Annealing, anneal};
use super::shape::Shape;
use crate::error::Result;
use crate::monitor::Monitor;

/// What is to be as large as possible.
pub(super) trait Objective {
    /// Gets ready for a tree.
    fn prepare(&mut self, shape: &Shape);

    /// Writes for every node outside of the subtree what the tree is worth with the subtree on the edge
    /// above, up to a constant, and minus infinity for nodes in it. Gives the largest rounding error.
    fn score(&mut self, shape: &Shape, subtree: usize, scores: &mut [f64]) -> f64;

    /// Follows a move: nodes with other leaves under them or their children, children before parents.
    fn follow(&mut self, shape: &Shape, changed: &[usize]);

    /// What a tree is worth.
    fn total(&self, shape: &Shape) -> f64;

    /// How the tree is annealed at a restart; without that it is shaken.
    fn annealing(&self, shape: &Shape) -> Option<Annealing>;
}

/// The share of a climb that is told as done is steps / (steps + this many turns of all subtrees).
const CLIMB: u64 = 4;
/// Progress is told after this many subtrees.
const TOLD: u64 = 16;
/// A restart that doesn't anneal shakes the best tree, and improves it, this many times.
const SHAKES: u32 = 2;
/// The share of the subtrees that are put somewhere when the tree is shaken.
const SHAKEN: f64 = 0.015;

/// Subtrees are tried in turn, each put where it is worth most, until none is worth more elsewhere. Then
/// the tree is annealed or shaken and improved again, and kept if it got better. Gives the number of moves, and whether
/// none more would help.
pub(super) fn climb(
    shape: &mut Shape,
    objective: &mut impl Objective,
    movable: &[bool],
    search: &Search,
    monitor: &Monitor,
) -> Result<(u64, bool)> {
    let turn = turn(shape, movable);
    let left = search.max_moves.unwrap_or(u64::MAX);
    let mut climber = Climber { turn: &turn, first_root: shape.root(), movable, left, moves: 0 };
    let annealing = objective.annealing(shape);
    let rounds = if annealing.is_some() { search.restarts } else { search.restarts.saturating_mul(SHAKES) };
    let sweeps = annealing.map_or(0, |annealing| annealing.sweeps);
    monitor.start(turn.len() as u64 * (CLIMB + u64::from(rounds) * (CLIMB + sweeps)));
    let mut at_top = climber.climb_up(shape, objective, monitor)?;
    let mut random = ChaCha8Rng::seed_from_u64(search.seed);
    let mut best = objective.total(shape);
    for _ in 0..rounds {
        if climber.left == 0 || turn.len() < 2 {
            break;
        }
        let kept = shape.clone();
        match annealing {
            Some(annealing) => anneal(&mut climber, shape, objective, annealing, &mut random, monitor)?,
            None => climber.shake(shape, objective, &mut random),
        }
        let top = climber.climb_up(shape, objective, monitor)?;
        let total = objective.total(shape);
        if total > best {
            (best, at_top) = (total, top);
        } else {
            *shape = kept;
            objective.prepare(shape);
        }
    }
    Ok((climber.moves, at_top))
}

/// The nodes that may be cut off: by the node above, then by their own numbers.
fn turn(shape: &Shape, movable: &[bool]) -> Vec<usize> {
    let mut nodes: Vec<usize> =
        (0..shape.n_nodes()).filter(|&node| movable[node] && shape.parent(node).is_some()).collect();
    nodes.sort_by_key(|&node| (shape.parent(node), node));
    nodes
}

pub(super) struct Climber<'a> {
    pub(super) turn: &'a [usize],
    /// Is under another root after some moves, and then moves like any node.
    first_root: usize,
    movable: &'a [bool],
    pub(super) left: u64,
    moves: u64,
}

impl Climber<'_> {
    /// Whether no move helps any more; otherwise there are no moves left.
    fn climb_up(&mut self, shape: &mut Shape, objective: &mut impl Objective, monitor: &Monitor) -> Result<bool> {
        let mut scores = vec![0.0; shape.n_nodes()];
        let all = CLIMB * self.turn.len() as u64;
        let (mut steps, mut told) = (0, 0);
        let mut since_last = 0;
        let mut at_top = true;
        let (turn, first_root) = (self.turn, [self.first_root]);
        'turns: while since_last <= self.turn.len() {
            for &subtree in turn.iter().chain(&first_root) {
                if self.left == 0 {
                    at_top = false;
                    break 'turns;
                }
                steps += 1;
                since_last += 1;
                if steps % TOLD == 0 {
                    let done = (all as f64 * steps as f64 / (steps + all) as f64) as u64;
                    monitor.advance(done - told)?;
                    told = done;
                }
                if let Some(target) = self.better_place(shape, objective, subtree, &mut scores) {
                    self.make(shape, objective, subtree, target);
                    since_last = 0;
                } else if since_last > self.turn.len() {
                    break;
                }
            }
        }
        monitor.advance(all - told)?;
        Ok(at_top)
    }

    /// The node above which a subtree is worth most, if that is more than where it is.
    fn better_place(
        &self,
        shape: &Shape,
        objective: &mut impl Objective,
        subtree: usize,
        scores: &mut [f64],
    ) -> Option<usize> {
        let sibling = shape.sibling(subtree)?;
        let rounding = objective.score(shape, subtree, scores);
        let mut best = scores[sibling] + rounding;
        if largest(scores) <= best {
            return None;
        }
        let mut target = None;
        for node in self.other_places(shape, subtree) {
            if scores[node] > best {
                (best, target) = (scores[node], Some(node));
            }
        }
        target
    }

    /// The nodes above which a subtree may go, its sibling among them, in the order of their places.
    pub(super) fn other_places(&self, shape: &Shape, subtree: usize) -> impl Iterator<Item = usize> {
        let span = shape.span(subtree);
        let places = (0..*span.start()).chain(*span.end() + 1..shape.n_nodes());
        let parent = shape.parent(subtree);
        places.map(|place| shape.node_at(place)).filter(move |&node| parent != Some(node) && self.movable[node])
    }

    /// Puts a few subtrees somewhere.
    fn shake(&mut self, shape: &mut Shape, objective: &mut impl Objective, random: &mut ChaCha8Rng) {
        let moves = (SHAKEN * self.turn.len() as f64) as usize;
        for _ in 0..moves.max(2) {
            let [subtree, target] = [(); 2].map(|()| self.turn[random.random_range(0..self.turn.len())]);
            if self.left > 0 {
                self.make(shape, objective, subtree, target);
            }
        }
    }

    pub(super) fn make(&mut self, shape: &mut Shape, objective: &mut impl Objective, subtree: usize, target: usize) {
        if let Some(changed) = shape.regraft(subtree, target) {
            objective.follow(shape, &changed);
            self.left -= 1;
            self.moves += 1;
        }
    }
}

/// The largest of numbers, in lanes.
fn largest(values: &[f64]) -> f64 {
    let greater = |a: f64, b: f64| if a > b { a } else { b };
    let (lanes, rest) = values.as_chunks::<8>();
    let mut most = [f64::NEG_INFINITY; 8];
    for lane in lanes {
        most = std::array::from_fn(|at| greater(lane[at], most[at]));
    }
    most.iter().chain(rest).copied().fold(f64::NEG_INFINITY, greater)
}
