//! Condensed matrices of similarities, as the input of a round of merges.

use std::ops::Range;

use super::matrix::Matrix;
use crate::similarity::Triangle;
use crate::tree::RawMerge;

/// A read-only condensed matrix: one value for each pair of clusters. Clusters are given by their indices in the
/// matrix.
pub(super) trait TriangleRows: Sync {
    fn len(&self) -> usize;

    /// Returns the values of the pairs of cluster `i` with all clusters after `i`. If the values must be computed, they
    /// are written to `scratch`.
    fn row<'s>(&'s self, i: usize, scratch: &'s mut [f64]) -> &'s [f64];

    fn column(&self, j: usize, others: Range<usize>, out: &mut [f64]);

    fn value(&self, i: usize, j: usize) -> f64 {
        let mut value = [0.0];
        self.column(j, i..i + 1, &mut value);
        value[0]
    }
}

pub(super) struct Given<'m> {
    pub(super) matrix: &'m Matrix<'m>,
    pub(super) squared: bool,
}

impl TriangleRows for Given<'_> {
    fn len(&self) -> usize {
        self.matrix.n_leaves()
    }

    fn row<'s>(&'s self, i: usize, scratch: &'s mut [f64]) -> &'s [f64] {
        let row = &mut scratch[..self.len() - i - 1];
        self.matrix.write_row_after(i, self.squared, row);
        row
    }

    fn column(&self, j: usize, others: Range<usize>, out: &mut [f64]) {
        self.matrix.write_column_before(j, others, self.squared, out);
    }
}

/// A condensed matrix of `k` clusters in memory, without its first `n_gone` values, which have been overwritten.
pub(super) struct Condensed<'v> {
    pub(super) values: &'v [f64],
    pub(super) k: usize,
    pub(super) n_gone: usize,
}

impl TriangleRows for Condensed<'_> {
    fn len(&self) -> usize {
        self.k
    }

    fn row<'s>(&'s self, i: usize, _: &'s mut [f64]) -> &'s [f64] {
        let start = Triangle::new(self.k).before(i) - self.n_gone;
        &self.values[start..start + (self.k - i - 1)]
    }

    fn column(&self, j: usize, others: Range<usize>, out: &mut [f64]) {
        for (value, i) in out.iter_mut().zip(others) {
            *value = self.values[Triangle::new(self.k).index(i, j) - self.n_gone];
        }
    }
}

/// The clusters of a condensed matrix, in the order of its rows. `sizes` has the size of each cluster, and `clusters`
/// its smallest leaf. `merges` are the merges that made the clusters.
#[derive(Clone, Copy)]
pub(super) struct Slots<'s> {
    pub(super) sizes: &'s [f64],
    pub(super) clusters: &'s [usize],
    pub(super) merges: &'s [RawMerge],
}
