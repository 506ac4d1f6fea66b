//! Linkages given as a row update: a function that computes the merged cluster's row from the rows of the two clusters
//! that merge.

use super::matrix::Matrix;
use super::nearest::Linkage;
use super::tolerance::Tolerance;
use crate::error::{Error, Result};
use crate::memory::Buffer;
use crate::monitor::Monitor;

/// A merge of clusters `i` and `j`, as the argument of a function that computes the merged cluster's similarities.
#[derive(Debug)]
pub struct RowMerge<'a> {
    /// The similarity of cluster `i` to each cluster in `others`.
    pub row_i: &'a [f64],
    /// The similarity of cluster `j` to each cluster in `others`.
    pub row_j: &'a [f64],
    /// The similarity of clusters `i` and `j`.
    pub s_ij: f64,
    /// The size of cluster `i`.
    pub n_i: usize,
    /// The size of cluster `j`.
    pub n_j: usize,
    /// The number of leaves of each cluster except `i` and `j`, in the order of `others`.
    pub sizes: &'a [i64],
    /// The smallest leaf of cluster `i`, which is less than `j`.
    pub i: usize,
    /// The smallest leaf of cluster `j`.
    pub j: usize,
    /// The smallest leaf of each cluster except `i` and `j`.
    pub others: &'a [i64],
}

pub(crate) struct RowUpdate<F> {
    values: Buffer,
    sizes: Vec<i64>,
    update: F,
}

impl<F: FnMut(RowMerge<'_>, &mut [f64]) -> Result<()>> RowUpdate<F> {
    pub(crate) fn new(matrix: &Matrix<'_>, update: F, monitor: &Monitor) -> Result<Self> {
        entered!(row_update);
        let n = matrix.n_leaves();
        let mut values = Buffer::zeros("the working matrix", n * n)?;
        matrix.write_square(false, &mut values, monitor)?;
        Ok(Self { values, sizes: vec![1; n], update })
    }
}

impl<F: FnMut(RowMerge<'_>, &mut [f64]) -> Result<()>> Linkage for RowUpdate<F> {
    fn n_leaves(&self) -> usize {
        self.sizes.len()
    }

    /// Returns a tolerance without rounding errors. The caller's function computes the similarities, so their errors
    /// are unknown and taken as zero.
    fn tolerance(&self) -> Tolerance {
        Tolerance::GRID
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        let n = self.sizes.len();
        let row = &self.values[i * n..(i + 1) * n];
        for (value, &k) in out.iter_mut().zip(others) {
            *value = row[k];
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()> {
        let n = self.sizes.len();
        let Self { values, sizes, update } = self;
        let others: Vec<i64> = active.iter().filter(|&&k| k != i && k != j).map(|&k| k as i64).collect();
        let counts: Vec<i64> = others.iter().map(|&k| sizes[k as usize]).collect();
        let row_of = |cluster: usize| others.iter().map(|&k| values[cluster * n + k as usize]).collect::<Vec<f64>>();
        let (row_i, row_j) = (row_of(i), row_of(j));
        let mut row = vec![0.0; others.len()];
        let merge = RowMerge {
            row_i: &row_i,
            row_j: &row_j,
            s_ij: values[i * n + j],
            n_i: sizes[i] as usize,
            n_j: sizes[j] as usize,
            sizes: &counts,
            i,
            j,
            others: &others,
        };
        update(merge, &mut row)?;
        for (&k, &x) in others.iter().zip(&row) {
            if !x.is_finite() {
                return Err(Error::Leaves {
                    before: format!("the row update gives {x} for clusters "),
                    leaves: vec![vec![i], vec![k as usize]],
                    after: " (named by their smallest leaves)".into(),
                });
            }
            values[i * n + k as usize] = x;
            values[k as usize * n + i] = x;
        }
        sizes[i] += sizes[j];
        Ok(())
    }
}
