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
    /// By place: the sum of similarities with the subtree at hand.
    with_subtree: Vec<f64>,
    /// By place: what the ancestors cost with the subtree under them, all told from the root.
    above: Vec<f64>,
    /// Whether all sums are exact.
    exact: bool,
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
        let exact = facts.whole && matrix.is_symmetric() && facts.largest * (n as f64).powi(3) < (1u64 << 53) as f64;
        let n_nodes = 2 * n - 1;
        let (with_subtree, above) = (vec![0.0; n_nodes], vec![0.0; n_nodes]);
        let mut cost = Self { n, rows, cross: vec![0.0; n - 1], with_subtree, above, exact };
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
    fn score(&mut self, shape: &Shape, subtree: usize, scores: &mut [f64]) -> f64 {
        let row = &self.rows[subtree * self.n..][..self.n];
        let span = shape.span(subtree);
        let (first, last) = (*span.start(), *span.end());
        self.with_subtree[first..=last].fill(0.0);
        for place in (0..first).chain(last + 1..shape.n_nodes()) {
            let node = shape.node_at(place);
            self.with_subtree[place] = if shape.is_leaf(node) {
                row[node]
            } else {
                let [left, right] = shape.children_at(place);
                self.with_subtree[left] + self.with_subtree[right]
            };
        }
        let x = shape.size(subtree) as f64;
        let mut largest: f64 = 0.0;
        self.above[shape.n_nodes() - 1] = 0.0;
        for place in (last + 1..shape.n_nodes()).rev().chain((0..first).rev()) {
            let node = shape.node_at(place);
            let mut size = shape.size_at(place) as f64;
            let holds_subtree = place > last && place + 2 - 2 * shape.size_at(place) <= first;
            if holds_subtree {
                size -= x;
            }
            let here = self.above[place];
            let score = here + (size + x) * self.with_subtree[place];
            scores[place] = -score;
            largest = largest.max(score.abs());
            if shape.is_leaf(node) {
                continue;
            }
            let [left, right] = shape.children_at(place);
            if left == last || right == last {
                // The parent goes when the subtree is cut off.
                (self.above[left], self.above[right]) = (here, here);
                continue;
            }
            let mut cross = self.cross[node - self.n];
            if holds_subtree {
                let in_left = left >= last && left + 2 - 2 * shape.size_at(left) <= first;
                cross -= self.with_subtree[if in_left { right } else { left }];
            }
            self.above[left] = here + (size + x) * self.with_subtree[right] + x * cross;
            self.above[right] = here + (size + x) * self.with_subtree[left] + x * cross;
        }
        if self.exact { 0.0 } else { 1e-12 * largest }
    }

    fn follow(&mut self, shape: &Shape, changed: &[usize]) {
        for &node in changed {
            self.sum_rows(node, shape.children(node));
            self.sum_cross(shape, node);
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
