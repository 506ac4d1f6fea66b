//! Hill climbing: moves subtrees as long as the objective improves.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Search;
use super::shape::Shape;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::sorting::order_by_key;

/// An objective of trees that is maximized by moving subtrees.
pub(super) trait Objective {
    fn prepare(&mut self, shape: &Shape);

    /// Scores one or more subtrees in the order `turn`, starting at index `from`. Stops at the first subtree whose move
    /// to another edge improves the objective.
    fn better(&mut self, shape: &Shape, turn: &[usize], from: usize) -> Looked;

    /// Puts `subtree` on the edge above `target`, and updates the data for scoring. Returns true if the tree changes.
    fn make(&mut self, shape: &mut Shape, subtree: usize, target: usize) -> bool;

    /// Recomputes sums in which moves have accumulated rounding errors.
    fn settle(&mut self, _shape: &Shape) {}

    fn total(&self, shape: &Shape) -> f64;

    /// Returns how often annealing moves each subtree, on average. Returns `None` if restarts perturb the tree by
    /// random moves instead.
    fn sweeps(&self, _shape: &Shape) -> Option<u64> {
        None
    }

    /// Anneals or perturbs the tree.
    fn disturb(
        &mut self,
        climber: &mut Climber<'_>,
        shape: &mut Shape,
        random: &mut ChaCha8Rng,
        monitor: &Monitor,
    ) -> Result<()>;
}

pub(super) struct Looked {
    pub(super) subtrees: usize,
    /// The node above which the last scored subtree should be put, or `None` if no move of this subtree improves the
    /// objective. If nodes are equally good, this is the one with the smallest position (`Shape::place`).
    pub(super) target: Option<usize>,
}

/// The total number of steps of a search is unknown. So after s steps, the reported progress is s / (s + `CLIMB` ×
/// number of subtrees).
const CLIMB: u64 = 4;
const STRIDE: u64 = 64;
/// The number of perturbations in a restart without annealing. After each perturbation, the tree is improved again.
const SHAKES: u32 = 2;
/// The share of the subtrees that a perturbation moves to random edges.
const SHAKEN: f64 = 0.015;

/// Moves subtrees one after the other, each to its best edge, until no single move improves the tree. Then each restart
/// anneals or perturbs the tree, and improves it again. The new tree is kept if it is better. Returns the number of
/// moves, and true if no single move improves the tree.
pub(super) fn climb(
    shape: &mut Shape,
    objective: &mut dyn Objective,
    movable: &[bool],
    search: &Search,
    monitor: &Monitor,
) -> Result<(u64, bool)> {
    let turn = turn(shape, movable);
    let left = search.max_moves.unwrap_or(u64::MAX);
    let mut climber = Climber { turn: &turn, first_root: shape.root(), left, moves: 0 };
    let sweeps = objective.sweeps(shape);
    let rounds = if sweeps.is_some() { search.restarts } else { search.restarts.saturating_mul(SHAKES) };
    monitor.start(turn.len() as u64 * (CLIMB + u64::from(rounds) * (CLIMB + sweeps.unwrap_or(0))));
    let mut at_top = climber.climb_up(shape, objective, None, monitor)? == Climbed::Top;
    let mut random = ChaCha8Rng::seed_from_u64(search.seed);
    let mut best = objective.total(shape);
    for _ in 0..rounds {
        if climber.left == 0 || turn.len() < 2 {
            break;
        }
        let kept = shape.clone();
        objective.disturb(&mut climber, shape, &mut random, monitor)?;
        let climbed = climber.climb_up(shape, objective, Some(&kept), monitor)?;
        let total = objective.total(shape);
        if climbed != Climbed::Back && total > best {
            (best, at_top) = (total, climbed == Climbed::Top);
        } else {
            *shape = kept;
            objective.prepare(shape);
        }
    }
    Ok((climber.moves, at_top))
}

/// Returns the nodes that may be moved, ordered by the index of the parent, then by the index of the node.
fn turn(shape: &Shape, movable: &[bool]) -> Vec<usize> {
    let mut nodes: Vec<usize> =
        (0..shape.n_nodes()).filter(|&node| movable[node] && shape.parent(node).is_some()).collect();
    order_by_key(&mut nodes, |node| (shape.parent(node), node));
    nodes
}

#[derive(PartialEq, Eq)]
enum Climbed {
    Top,
    /// After a perturbation, the search returned to the tree before the perturbation.
    Back,
    Stopped,
}

pub(super) struct Climber<'a> {
    pub(super) turn: &'a [usize],
    first_root: usize,
    pub(super) left: u64,
    moves: u64,
}

impl Climber<'_> {
    /// Moves subtrees until no single move improves the tree. Stops earlier if the search returns to `shaken`, the tree
    /// before a perturbation.
    fn climb_up(
        &mut self,
        shape: &mut Shape,
        objective: &mut dyn Objective,
        shaken: Option<&Shape>,
        monitor: &Monitor,
    ) -> Result<Climbed> {
        // The initial root is not in `self.turn`, but a later tree may have another root.
        let turn: Vec<usize> = self.turn.iter().copied().chain([self.first_root]).collect();
        let all = CLIMB * self.turn.len() as u64;
        let (mut steps, mut next_report, mut reported) = (0, STRIDE, 0);
        let (mut next, mut since_last) = (0, 0);
        while since_last < turn.len() {
            if steps >= next_report {
                let done = (all as f64 * steps as f64 / (steps + all) as f64) as u64;
                monitor.advance(done - reported)?;
                (reported, next_report) = (done, steps + STRIDE);
            }
            let looked = objective.better(shape, &turn, next);
            if self.left == 0 {
                break;
            }
            since_last += looked.subtrees;
            if let Some(target) = looked.target.filter(|_| since_last <= turn.len()) {
                self.make(shape, objective, turn[(next + looked.subtrees - 1) % turn.len()], target);
                since_last = 0;
            } else if since_last == looked.subtrees && shaken.is_some_and(|tree| shape.is_tree_of(tree)) {
                monitor.advance(all - reported)?;
                return Ok(Climbed::Back);
            }
            steps += looked.subtrees as u64;
            next = (next + looked.subtrees) % turn.len();
        }
        objective.settle(shape);
        monitor.advance(all - reported)?;
        Ok(if since_last >= turn.len() { Climbed::Top } else { Climbed::Stopped })
    }

    pub(super) fn shake(&mut self, shape: &mut Shape, objective: &mut dyn Objective, random: &mut ChaCha8Rng) {
        let moves = (SHAKEN * self.turn.len() as f64) as usize;
        for _ in 0..moves.max(2) {
            let [subtree, target] = [(); 2].map(|()| self.turn[random.random_range(0..self.turn.len())]);
            if self.left > 0 {
                self.make(shape, objective, subtree, target);
            }
        }
    }

    pub(super) fn make(&mut self, shape: &mut Shape, objective: &mut dyn Objective, subtree: usize, target: usize) {
        if objective.make(shape, subtree, target) {
            self.left -= 1;
            self.moves += 1;
        }
    }
}
