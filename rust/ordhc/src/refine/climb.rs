//! Moving subtrees as long as that helps.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Search;
use super::shape::Shape;
use crate::error::Result;
use crate::monitor::Monitor;

/// What is to be as large as possible.
pub(super) trait Objective {
    /// Gets ready for a tree.
    fn prepare(&mut self, shape: &Shape);

    /// Writes for every place outside of the subtree what the tree is worth with the subtree on the edge
    /// above, up to a constant. Gives the largest rounding error.
    fn score(&mut self, shape: &Shape, subtree: usize, scores: &mut [f64]) -> f64;

    /// Follows a move: nodes with other leaves under them or their children, children before parents.
    fn follow(&mut self, shape: &Shape, changed: &[usize]);

    /// What a tree is worth.
    fn total(&self, shape: &Shape) -> f64;

    /// Something about a leaf that doesn't depend on its number.
    fn weight(&self, leaf: usize) -> f64;
}

/// Subtrees are tried in turn, each put where it is worth most, until none is worth more elsewhere. Then
/// the tree is shaken and improved again, and kept if it got better. Gives the number of moves, and whether
/// none more would help.
pub(super) fn climb(
    shape: &mut Shape,
    objective: &mut impl Objective,
    movable: &[bool],
    search: &Search,
    monitor: &Monitor,
) -> Result<(u64, bool)> {
    let turn = turn(shape, objective, movable);
    let mut climber = Climber { turn: &turn, movable, left: search.max_moves.unwrap_or(u64::MAX), moves: 0 };
    monitor.start(turn.len() as u64 * (1 + u64::from(search.restarts)));
    let mut at_top = climber.climb_up(shape, objective, monitor)?;
    let mut random = ChaCha8Rng::seed_from_u64(search.seed);
    let mut best = objective.total(shape);
    for _ in 0..search.restarts {
        if climber.left == 0 || turn.len() < 2 {
            break;
        }
        let kept = shape.clone();
        climber.shake(shape, objective, &mut random);
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

/// The nodes that may be cut off, in an order that doesn't depend on how leaves are numbered: by the merge
/// that takes them in, then by their own, leaves by their weight.
fn turn(shape: &Shape, objective: &impl Objective, movable: &[bool]) -> Vec<usize> {
    let mut nodes: Vec<usize> =
        (0..shape.n_nodes()).filter(|&node| movable[node] && shape.parent(node).is_some()).collect();
    let weights: Vec<f64> = (0..shape.n_leaves()).map(|leaf| objective.weight(leaf)).collect();
    let leaf_weight = |node: usize| if shape.is_leaf(node) { weights[node] } else { f64::INFINITY };
    nodes.sort_by(|&a, &b| {
        let merges = shape.parent(a).cmp(&shape.parent(b));
        merges.then(leaf_weight(a).total_cmp(&leaf_weight(b))).then(a.cmp(&b))
    });
    nodes
}

struct Climber<'a> {
    turn: &'a [usize],
    movable: &'a [bool],
    left: u64,
    moves: u64,
}

impl Climber<'_> {
    /// Whether no move helps any more; otherwise there are no moves left.
    fn climb_up(&mut self, shape: &mut Shape, objective: &mut impl Objective, monitor: &Monitor) -> Result<bool> {
        let mut scores = vec![0.0; shape.n_nodes()];
        let mut farthest = 0;
        let mut since_last = 0;
        while since_last < self.turn.len() {
            for &subtree in self.turn {
                if self.left == 0 {
                    return Ok(false);
                }
                since_last += 1;
                if since_last > farthest {
                    farthest = since_last;
                    monitor.advance(1)?;
                } else {
                    monitor.advance(0)?;
                }
                if let Some(target) = self.better_place(shape, objective, subtree, &mut scores) {
                    self.make(shape, objective, subtree, target);
                    since_last = 0;
                } else if since_last >= self.turn.len() {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// The node above which a subtree is worth most, if that is more than where it is.
    fn better_place(
        &self,
        shape: &Shape,
        objective: &mut impl Objective,
        subtree: usize,
        scores: &mut [f64],
    ) -> Option<usize> {
        let (parent, sibling) = (shape.parent(subtree)?, shape.sibling(subtree)?);
        let rounding = objective.score(shape, subtree, scores);
        let mut best = scores[shape.place(sibling)] + rounding;
        let mut target = None;
        let (span, parent) = (shape.span(subtree), shape.place(parent));
        for place in (0..*span.start()).chain(*span.end() + 1..scores.len()) {
            if scores[place] > best && place != parent && self.movable[shape.node_at(place)] {
                (best, target) = (scores[place], Some(place));
            }
        }
        target.map(|place| shape.node_at(place))
    }

    fn make(&mut self, shape: &mut Shape, objective: &mut impl Objective, subtree: usize, target: usize) {
        if let Some(changed) = shape.regraft(subtree, target) {
            objective.follow(shape, &changed);
            self.left -= 1;
            self.moves += 1;
        }
    }

    /// Puts a twentieth of the nodes, but 2 to 25, somewhere.
    fn shake(&mut self, shape: &mut Shape, objective: &mut impl Objective, random: &mut ChaCha8Rng) {
        for _ in 0..(self.turn.len() / 20).clamp(2, 25) {
            let subtree = self.turn[random.random_range(0..self.turn.len())];
            let target = self.turn[random.random_range(0..self.turn.len())];
            if self.left > 0 {
                self.make(shape, objective, subtree, target);
            }
        }
    }
}
