//! Dasgupta's cost of all places of a subtree.

use super::anneal::Annealing;
use super::climb::Objective;
use super::shape::Shape;
use crate::agglomerate::{Matrix, Values};
use crate::error::Result;
use crate::memory::Buffer;

/// Similarities of every node with every leaf.
pub(super) struct Cost {
    n: usize,
    /// (2n - 1, n): sums of the similarities of the leaves under a node with each leaf.
    rows: Buffer,
    /// By inner node, from the first: the sum of similarities between its two children.
    cross: Vec<f64>,
    /// Inner nodes, children before parents, and where each is.
    joins: Vec<Join>,
    at: Vec<u32>,
    /// By node: the sum of similarities with the subtree at hand.
    with_subtree: Vec<f64>,
    /// The joins above the subtree at hand, as they are with it.
    kept: Vec<Join>,
    /// Whether all sums are exact.
    exact: bool,
}

/// An inner node, with what all that is under it has in common.
#[derive(Debug, Clone, Copy, Default)]
struct Join {
    node: u32,
    children: [u32; 2],
    sizes: [f64; 2],
    /// The sum of similarities between the two children.
    cross: f64,
}

impl Cost {
    /// Leaf i of the matrix is leaf `number[i]` of the tree.
    pub(super) fn new(matrix: &Matrix<'_>, shape: &Shape, number: &[u32]) -> Result<Self> {
        let n = shape.n_leaves();
        let cell = |i: usize, j: usize| number[i] as usize * n + number[j] as usize;
        let mut rows = Buffer::zeros("the similarities of subtrees", (2 * n - 1) * n)?;
        let sign = if matrix.is_dissimilarity() { -1.0 } else { 1.0 };
        symmetric(matrix, |i, j, share| rows[cell(i, j)] += sign * share);
        // The largest sum is of n^2 similarities, each times n.
        let facts = matrix.facts();
        let exact = facts.whole && matrix.is_symmetric() && facts.largest * (n as f64).powi(3) < (1u64 << 52) as f64;
        let (cross, joins, at) = (vec![0.0; n - 1], vec![Join::default(); n - 1], vec![0; n - 1]);
        let (with_subtree, kept) = (vec![0.0; 2 * n - 1], Vec::new());
        let mut cost = Self { n, rows, cross, joins, at, with_subtree, kept, exact };
        cost.prepare(shape);
        Ok(cost)
    }

    fn row(&self, node: usize) -> &[f64] {
        &self.rows[node * self.n..][..self.n]
    }

    fn sum_rows(&mut self, node: usize, [a, b]: [usize; 2]) {
        let n = self.n;
        // Children may have larger numbers than their parent.
        let [sum, a, b] = disjoint_rows(&mut self.rows, n, [node, a, b]);
        for ((sum, &a), &b) in sum.iter_mut().zip(&*a).zip(&*b) {
            *sum = a + b;
        }
    }

    fn sum_cross(&mut self, shape: &Shape, node: usize) {
        let [a, b] = shape.children(node);
        let (few, many) = if shape.size(a) < shape.size(b) { (a, b) } else { (b, a) };
        let row = self.row(many);
        self.cross[node - self.n] = shape.leaves(few).map(|leaf| row[leaf]).sum();
    }

    /// The mean similarity between the two children of a node.
    pub(super) fn mean(&self, shape: &Shape, node: usize) -> f64 {
        let [a, b] = shape.children(node).map(|child| shape.size(child) as f64);
        self.cross[node - self.n] / (a * b)
    }

    /// Similarities with a subtree, without its own.
    fn sum_with(&mut self, shape: &Shape, subtree: usize) {
        let n = self.n;
        self.with_subtree[..n].copy_from_slice(&self.rows[subtree * n..][..n]);
        shape.leaves(subtree).for_each(|leaf| self.with_subtree[leaf] = 0.0);
        for join in &self.joins {
            let [a, b] = join.children.map(|child| self.with_subtree[child as usize]);
            self.with_subtree[join.node as usize] = a + b;
        }
    }

    /// Takes a subtree out of the sizes and sums of the joins above it.
    fn take_out(&mut self, shape: &Shape, subtree: usize) {
        let x = shape.size(subtree) as f64;
        self.kept.clear();
        let mut child = subtree;
        while let Some(parent) = shape.parent(child) {
            let join = &mut self.joins[self.at[parent - self.n] as usize];
            self.kept.push(*join);
            let side = usize::from(join.children[1] as usize == child);
            join.sizes[side] -= x;
            // The parent goes when the subtree is cut off.
            let rest = join.cross - self.with_subtree[join.children[1 - side] as usize];
            join.cross = if child == subtree { 0.0 } else { rest };
            child = parent;
        }
    }

    fn put_back(&mut self) {
        for join in &self.kept {
            self.joins[self.at[join.node as usize - self.n] as usize] = *join;
        }
    }
}

pub(super) fn put(values: Values<'_>, mut to: impl FnMut(usize, f64)) {
    match values {
        Values::F64(values) => values.iter().enumerate().for_each(|(at, &value)| to(at, value)),
        Values::F32(values) => values.iter().enumerate().for_each(|(at, &value)| to(at, f64::from(value))),
        Values::I64(values) => values.iter().enumerate().for_each(|(at, &value)| to(at, value as f64)),
        Values::I32(values) => values.iter().enumerate().for_each(|(at, &value)| to(at, f64::from(value))),
    }
}

/// Tells the value of every two leaves both ways round; of two values that differ by rounding, each half.
pub(super) fn symmetric(matrix: &Matrix<'_>, mut tell: impl FnMut(usize, usize, f64)) {
    let share = if matrix.is_symmetric() { 1.0 } else { 0.5 };
    for i in 0..matrix.n_leaves() {
        let [before, after] = matrix.row(i);
        let mut both = |j: usize, value: f64| {
            tell(i, j, share * value);
            tell(j, i, share * value);
        };
        if !matrix.is_symmetric() {
            put(before, &mut both);
        }
        put(after, |at, value| both(i + 1 + at, value));
    }
}

/// Three different rows of n values.
fn disjoint_rows(rows: &mut [f64], n: usize, which: [usize; 3]) -> [&mut [f64]; 3] {
    rows.get_disjoint_mut(which.map(|row| row * n..(row + 1) * n)).unwrap_or([&mut [], &mut [], &mut []])
}

impl Objective for Cost {
    fn prepare(&mut self, shape: &Shape) {
        let inner: Vec<usize> = shape.inner_in_order().collect();
        self.follow(shape, &inner);
    }

    /// A subtree of x leaves, put above v, costs (|v| + x) times its similarity with v; every node b above
    /// has x leaves more, for which its two parts pay x times their similarity, and pays |b| + x for the
    /// similarity of the subtree with the part that v isn't in. All sizes and sums are without the subtree.
    /// So from a node down to a child the cost rises by x times the similarity of the two children, and falls by
    /// the size of the other child times the similarity of the subtree with this one.
    fn score(&mut self, shape: &Shape, subtree: usize, scores: &mut [f64]) -> f64 {
        self.sum_with(shape, subtree);
        self.take_out(shape, subtree);
        let x = shape.size(subtree) as f64;
        let root = shape.root();
        // Its sibling's size times this: no place is in the subtree.
        self.with_subtree[subtree] = f64::NEG_INFINITY;
        scores[root] = -(shape.n_leaves() as f64) * self.with_subtree[root];
        for join in self.joins.iter().rev() {
            let here = scores[join.node as usize] - x * join.cross;
            let [a, b] = join.children.map(|child| child as usize);
            scores[a] = here + join.sizes[1] * self.with_subtree[a];
            scores[b] = here + join.sizes[0] * self.with_subtree[b];
        }
        self.put_back();
        if self.exact {
            return 0.0;
        }
        let largest =
            scores.iter().filter(|score| score.is_finite()).fold(0.0, |most: f64, score| most.max(score.abs()));
        1e-12 * largest
    }

    fn follow(&mut self, shape: &Shape, changed: &[usize]) {
        for &node in changed {
            self.sum_rows(node, shape.children(node));
            self.sum_cross(shape, node);
        }
        for (at, (node, join)) in shape.inner_in_order().zip(&mut self.joins).enumerate() {
            let children = shape.children(node);
            self.at[node - self.n] = at as u32;
            *join = Join {
                node: node as u32,
                children: children.map(|child| child as u32),
                sizes: children.map(|child| shape.size(child) as f64),
                cross: self.cross[node - self.n],
            };
        }
    }

    fn total(&self, shape: &Shape) -> f64 {
        -shape.inner_in_order().map(|node| shape.size(node) as f64 * self.cross[node - self.n]).sum::<f64>()
    }

    /// Shaking takes less time and finds no less.
    fn annealing(&self, _shape: &Shape) -> Option<Annealing> {
        None
    }
}
