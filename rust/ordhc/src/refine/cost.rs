//! Dasgupta's cost for every edge on which a subtree can be put.

use std::ops::{Add, Mul, Sub};

use rand_chacha::ChaCha8Rng;

use super::climb::{Climber, Looked, Objective};
use super::lanes::Places;
use super::shape::Shape;
use crate::agglomerate::{Matrix, Values, with_values};
use crate::error::Result;
use crate::memory::Buffer;
use crate::monitor::Monitor;
use crate::numbers::{Held, Number};

pub(super) trait Real: Held + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {}
impl Real for f32 {}
impl Real for f64 {}

/// The floating-point precision in which sums of the values of a matrix are exact. `Rounded` means that sums have
/// rounding errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exactness {
    Single,
    Double,
    Rounded,
}

impl Exactness {
    pub(super) fn of(matrix: &Matrix<'_>) -> Self {
        let facts = matrix.facts();
        if !facts.whole || !matrix.is_symmetric() {
            return Self::Rounded;
        }
        // A cost is a sum of similarities that are multiplied by at most n. Compared values consist of at most four
        // such sums.
        let n = matrix.n_leaves() as f64;
        let mut total = facts.largest * n * n / 2.0;
        if 4.0 * n * total >= (1u64 << 24) as f64 {
            total = 0.0;
            for i in 0..matrix.n_leaves() {
                let [_, after] = matrix.row(i);
                put(after, |_, value| total += value.abs());
            }
        }
        match 4.0 * n * total {
            all if all < (1u64 << 24) as f64 => Self::Single,
            all if all < (1u64 << 53) as f64 => Self::Double,
            _ => Self::Rounded,
        }
    }
}

/// The number of moves after which sums with rounding errors are recomputed.
const SUMMED: u32 = 256;

/// The number of subtrees that are scored together, if sums of similarities are exact in single precision. `DOUBLE` is
/// for sums that are exact in double precision, and `ROUNDED` is for sums with rounding errors.
pub(super) const SINGLE: usize = 16;
pub(super) const DOUBLE: usize = 8;
pub(super) const ROUNDED: usize = 4;

pub(super) struct Cost<V, const LANES: usize> {
    n: usize,
    /// A (2n - 1, n) matrix with a row for each node. In each row, column i has the sum of similarities between leaf i
    /// and the leaves of the node.
    rows: Buffer<V>,
    stale: Vec<bool>,
    places: Places<V, LANES>,
    moves: u32,
    exact: bool,
}

impl<V: Real, const LANES: usize> Cost<V, LANES> {
    /// Leaf i of the matrix is leaf `number[i]` of the tree. Subtrees may be put only on edges above `movable` nodes.
    pub(super) fn new(matrix: &Matrix<'_>, shape: &Shape, number: &[u32], movable: &[bool]) -> Result<Self> {
        let n = shape.n_leaves();
        let mut rows = Buffer::<V>::zeros("the similarities of subtrees", (2 * n - 1) * n)?;
        let sign = if matrix.is_dissimilarity() { -1.0 } else { 1.0 };
        let cells = &mut rows[..];
        symmetric(matrix, |i, j, share| {
            let cell = &mut cells[number[i] as usize * n + number[j] as usize];
            *cell = *cell + V::of(sign * share);
        });
        let exact = Exactness::of(matrix) != Exactness::Rounded;
        let (stale, places) = (vec![true; n - 1], Places::new(n, movable, exact));
        let mut cost = Self { n, rows, stale, places, moves: 0, exact };
        cost.prepare(shape);
        Ok(cost)
    }

    fn row(&self, node: usize) -> &[V] {
        &self.rows[node * self.n..][..self.n]
    }

    fn freshen(&mut self, shape: &Shape, node: usize) {
        if shape.is_leaf(node) || !self.stale[node - self.n] {
            return;
        }
        let n = self.n;
        wide!(for place in shape.span(node) {
            let node = shape.node_at(place);
            if !shape.is_leaf(node) && std::mem::take(&mut self.stale[node - n]) {
                // Children may have larger indices than their parent.
                let rows = shape.children(node).map(|child| child * n..(child + 1) * n);
                let [a, b] = rows;
                let Ok([sum, a, b]) = self.rows.get_disjoint_mut([node * n..(node + 1) * n, a, b]) else { continue };
                for ((sum, &a), &b) in sum.iter_mut().zip(&*a).zip(&*b) {
                    *sum = a + b;
                }
            }
        });
    }

    fn mark_stale(&mut self, node: usize) {
        self.stale[node - self.n] = true;
        self.places.changes(node);
    }

    fn sum_cross(&mut self, shape: &Shape, node: usize) {
        let [a, b] = shape.children(node);
        let (few, many) = if shape.size(a) < shape.size(b) { (a, b) } else { (b, a) };
        let row = self.row(many);
        let sum = shape.leaves(few).fold(V::ZERO, |sum, leaf| sum + row[leaf]);
        *self.places.cross(node) = sum;
    }

    pub(super) fn mean(&self, shape: &Shape, node: usize) -> f64 {
        let [a, b] = shape.children(node).map(|child| shape.size(child) as f64);
        self.places.sum_between(node) / (a * b)
    }

    fn look(&mut self, shape: &Shape, group: usize, subtrees: [usize; LANES]) {
        subtrees.iter().for_each(|&subtree| self.freshen(shape, subtree));
        let rows = subtrees.map(|subtree| &self.rows[subtree * self.n..][..self.n]);
        self.places.look(shape, group, subtrees, rows);
    }

    /// Returns an upper bound of the rounding error of a subtree's score.
    fn rounding(&self, shape: &Shape, subtree: usize) -> f64 {
        if self.exact {
            return 0.0;
        }
        let with: f64 = self.row(subtree).iter().map(|with| with.float().abs()).sum();
        let cross: f64 = shape.inner_in_order().map(|node| self.places.sum_between(node).abs()).sum();
        1e-12 * (self.n as f64 * with + shape.size(subtree) as f64 * cross)
    }

    /// Updates the sums of similarities before `subtree` is moved to the edge above `target`. Marks the rows of nodes
    /// whose leaves change as stale.
    fn follow(&mut self, shape: &Shape, subtree: usize, parent: usize, target: usize) {
        let lane = self.places.lane_of(subtree).unwrap_or_else(|| {
            self.look(shape, 0, [subtree; LANES]);
            [0, 0]
        });
        let place = shape.place(target);
        let holds_target = |node: usize| node != target && shape.span(node).contains(&place);
        let beside = |places: &Places<V, LANES>, child: usize| {
            shape.sibling(child).map_or(V::ZERO, |sibling| places.with(sibling, lane))
        };
        // Go up from the old parent of the subtree.
        let mut left = parent;
        let mut meet = Some(parent);
        while let Some(node) = meet.filter(|&node| !holds_target(node)) {
            if node != parent {
                let with = beside(&self.places, left);
                let cross = self.places.cross(node);
                *cross = *cross - with;
                self.mark_stale(node);
            }
            left = node;
            meet = shape.parent(node);
        }
        // Go up from the new edge of the subtree.
        let mut entered = target;
        while let Some(node) = shape.parent(entered).filter(|&node| Some(node) != meet) {
            let with = beside(&self.places, entered);
            let cross = self.places.cross(node);
            *cross = *cross + with;
            self.mark_stale(node);
            entered = node;
        }
        if let Some(meet) = meet.filter(|&meet| meet != parent && entered != left) {
            let change = beside(&self.places, entered) - beside(&self.places, left);
            let cross = self.places.cross(meet);
            *cross = *cross + change;
        }
        *self.places.cross(parent) = self.places.with(target, lane);
        self.mark_stale(parent);
    }
}

fn put(values: Values<'_>, mut to: impl FnMut(usize, f64)) {
    with_values!(values, values => values.iter().enumerate().for_each(|(at, value)| to(at, value.float())));
}

/// Calls `visit` with (i, j, value) and (j, i, value) for each pair of leaves. If the two triangles of the matrix
/// differ by rounding errors, `visit` gets half of each value, so that the sum is the mean of both values.
pub(super) fn symmetric(matrix: &Matrix<'_>, mut visit: impl FnMut(usize, usize, f64)) {
    let share = if matrix.is_symmetric() { 1.0 } else { 0.5 };
    for i in 0..matrix.n_leaves() {
        let [before, after] = matrix.row(i);
        let mut both = |j: usize, value: f64| {
            visit(i, j, share * value);
            visit(j, i, share * value);
        };
        if !matrix.is_symmetric() {
            put(before, &mut both);
        }
        put(after, |at, value| both(i + 1 + at, value));
    }
}

impl<V: Real, const LANES: usize> Objective for Cost<V, LANES> {
    fn prepare(&mut self, shape: &Shape) {
        self.moves = 0;
        (self.n..shape.n_nodes()).for_each(|node| self.mark_stale(node));
        self.freshen(shape, shape.root());
        for node in shape.inner_in_order() {
            self.sum_cross(shape, node);
            self.places.join(shape, node);
        }
        self.places.list(shape.root());
    }

    fn better(&mut self, shape: &Shape, turn: &[usize], from: usize) -> Looked {
        // Subtrees are scored in groups. Exact sums do not depend on the group, so groups start at multiples of
        // `LANES`, and stored groups can be reused. Sums with rounding errors can depend on the group, so each group
        // starts at `from`.
        let first = if self.exact { from - from % LANES } else { from };
        let subtrees: [usize; LANES] = std::array::from_fn(|at| turn[(first + at) % turn.len()]);
        let group = self.places.group_of(first / LANES);
        self.look(shape, group, subtrees);
        let end = if self.exact { turn.len().min(first + LANES) } else { first + LANES };
        for at in from..end {
            let subtree = turn[at % turn.len()];
            if let Some((gain, target)) = self.places.best(shape, subtree, [group, at - first])
                && gain > self.rounding(shape, subtree)
            {
                return Looked { subtrees: at + 1 - from, target: Some(target) };
            }
        }
        Looked { subtrees: end - from, target: None }
    }

    fn make(&mut self, shape: &mut Shape, subtree: usize, target: usize) -> bool {
        let Some(parent) = shape.parent(subtree) else { return false };
        let stays = target == parent || Some(target) == shape.sibling(subtree);
        if stays || shape.span(subtree).contains(&shape.place(target)) {
            return false;
        }
        self.follow(shape, subtree, parent, target);
        let above = shape.parent(parent);
        let moved = shape.regraft(subtree, target);
        for end in [above, Some(parent)].into_iter().flatten() {
            shape.up_from(end).for_each(|node| self.places.join(shape, node));
        }
        self.places.relist(shape, parent, above.unwrap_or(parent));
        self.moves += 1;
        if !self.exact && self.moves >= SUMMED {
            self.prepare(shape);
        }
        moved
    }

    fn settle(&mut self, shape: &Shape) {
        if !self.exact {
            self.prepare(shape);
        }
    }

    fn total(&self, shape: &Shape) -> f64 {
        -shape.inner_in_order().map(|node| shape.size(node) as f64 * self.places.sum_between(node)).sum::<f64>()
    }

    fn disturb(
        &mut self,
        climber: &mut Climber<'_>,
        shape: &mut Shape,
        random: &mut ChaCha8Rng,
        _: &Monitor,
    ) -> Result<()> {
        climber.shake(shape, self, random);
        Ok(())
    }
}
