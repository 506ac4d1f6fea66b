//! Linkages given as a row update: the merged cluster's row from the rows of its two parts.

use super::Linkage;
use super::matrix::Matrix;
use crate::error::{Error, Result};
use crate::memory::Buffer;
use crate::monitor::Monitor;

/// Two clusters about to merge, as a row update sees them.
#[derive(Debug)]
pub struct RowMerge<'a> {
    /// Similarities of cluster `i` with the others.
    pub row_i: &'a [f64],
    /// Similarities of cluster `j` with the others.
    pub row_j: &'a [f64],
    /// The similarity of the two.
    pub s_ij: f64,
    /// The size of cluster `i`.
    pub n_i: usize,
    /// The size of cluster `j`.
    pub n_j: usize,
    /// The sizes of the others.
    pub sizes: &'a [i64],
    /// The smallest leaf of the one cluster, `i < j`.
    pub i: usize,
    /// The smallest leaf of the other cluster.
    pub j: usize,
    /// The smallest leaves of the others.
    pub others: &'a [i64],
}

/// A linkage whose rows are made by `update`, called once per merge; it writes the new row into the
/// slice it is given.
pub struct RowUpdate<F> {
    values: Buffer,
    sizes: Vec<i64>,
    update: F,
}

impl<F: FnMut(RowMerge<'_>, &mut [f64]) -> Result<()>> RowUpdate<F> {
    /// Starts from a matrix; dissimilarities are negated.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Interrupted`].
    pub fn new(matrix: &Matrix<'_>, update: F, monitor: &Monitor) -> Result<Self> {
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
        let others: Vec<usize> = active.iter().copied().filter(|&k| k != i && k != j).collect();
        let gather = |from: usize| others.iter().map(|&k| self.values[from * n + k]).collect::<Vec<f64>>();
        let mut row = vec![0.0; others.len()];
        let merge = RowMerge {
            row_i: &gather(i),
            row_j: &gather(j),
            s_ij: self.values[i * n + j],
            n_i: self.sizes[i] as usize,
            n_j: self.sizes[j] as usize,
            sizes: &others.iter().map(|&k| self.sizes[k]).collect::<Vec<i64>>(),
            i,
            j,
            others: &others.iter().map(|&k| k as i64).collect::<Vec<i64>>(),
        };
        (self.update)(merge, &mut row)?;
        for (&k, &x) in others.iter().zip(&row) {
            if !x.is_finite() {
                return Err(Error::Argument(format!(
                    "the row update gives {x} for clusters {i} and {k} (named by their smallest leaves)"
                )));
            }
            self.values[i * n + k] = x;
            self.values[k * n + i] = x;
        }
        self.sizes[i] += self.sizes[j];
        Ok(())
    }
}
