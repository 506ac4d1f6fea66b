//! Computes the similarities of clusters from the similarities of all pairs of their leaves, in one pass.

use std::ops::Range;

use super::matrix::Matrix;
use super::read::stride;
use super::threads::threads;
use super::triangle_rows::{Given, TriangleRows};
use crate::error::Result;
use crate::linkage::Between;
use crate::memory::Buffer;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::RawMerge;

/// The side of a square block of the matrix. Blocks are processed one at a time, to stay in the cache.
const BLOCK: usize = 32;

/// Ward's linkage subtracts sums. Returns the smallest share of the sums that the difference may be. The relative error
/// of the sums is multiplied by at most 1 / share.
///
/// For similarities, a larger error leaves more ties in doubt, and then all merges are computed again. So the share is
/// larger for similarities.
pub(super) fn least_share(dissimilarity: bool) -> f64 {
    if dissimilarity { 1.0 / 16.0 } else { 1.0 / 4.0 }
}

/// Clusters in ascending order of their smallest leaves (`names`). `slots` has the index of each leaf's cluster.
pub(super) struct Clusters {
    pub(super) names: Vec<usize>,
    pub(super) sizes: Vec<f64>,
    leaves: Vec<Vec<u32>>,
    /// For Ward's linkage, for each cluster: the sum of the similarities between its leaves, with `shift` subtracted
    /// from each similarity.
    inside: Vec<f64>,
    shares: Vec<f64>,
    slots: Vec<u32>,
    exact: bool,
    /// This value is subtracted from all similarities, so that fewer digits cancel in Ward's linkage. The tree stays
    /// the same.
    shift: f64,
    least_share: f64,
}

impl Clusters {
    /// Returns the clusters of `n` leaves after `merges`. `whole` is the largest absolute similarity of two leaves if
    /// all similarities are integers, and otherwise `None`.
    pub(super) fn after(n: usize, merges: &[RawMerge], whole: Option<f64>, (shift, least_share): (f64, f64)) -> Self {
        let mut leaves: Vec<Vec<u32>> = (0..n as u32).map(|leaf| vec![leaf]).collect();
        let mut inside = vec![0.0; n];
        for &RawMerge { i, j, similarity } in merges {
            let [n_i, n_j] = [i, j].map(|k| leaves[k].len() as f64);
            let between = (similarity - shift) * (n_i + n_j) / 2.0 + n_j / n_i * inside[i] + n_i / n_j * inside[j];
            inside[i] += inside[j] + if whole.is_some() { between.round() } else { between };
            let gone = std::mem::take(&mut leaves[j]);
            leaves[i].extend(gone);
        }
        // From the last merge to the first, each of the two merged clusters gets half of the weight of their union.
        let mut shares = vec![1.0; n];
        for &RawMerge { i, j, .. } in merges.iter().rev() {
            shares[i] *= 0.5;
            shares[j] = shares[i];
        }
        let names: Vec<usize> = (0..n).filter(|&name| !leaves[name].is_empty()).collect();
        let inside = names.iter().map(|&name| inside[name]).collect();
        let leaves: Vec<Vec<u32>> = names.iter().map(|&name| std::mem::take(&mut leaves[name])).collect();
        let mut slots = vec![0; n];
        for (leaves, slot) in leaves.iter().zip(0..) {
            leaves.iter().for_each(|&leaf| slots[leaf as usize] = slot);
        }
        let sizes: Vec<f64> = leaves.iter().map(|leaves| leaves.len() as f64).collect();
        let most = sizes.iter().fold(0.0, |most: f64, &size| most.max(size));
        let exact = whole.is_some_and(|largest| largest * most.powi(4) < (1u64 << 52) as f64);
        Self { names, sizes, leaves, inside, shares, slots, exact, shift, least_share }
    }

    /// Returns the similarities between all clusters, as a square matrix whose rows start at multiples of the
    /// [`stride`]. The diagonal is minus infinity. Returns `None` if too many digits would cancel.
    pub(super) fn similarities(
        &self,
        matrix: &Matrix<'_>,
        squared: bool,
        between: Between,
        monitor: &Monitor,
    ) -> Result<Option<Buffer>> {
        let k = self.names.len();
        let side = stride(k);
        let mut values = Buffer::zeros("the working matrix", side * side)?;
        let triangle = Given { matrix, squared };
        let n = self.slots.len();
        let scratches = vec![(vec![0.0; n], vec![0.0; k]); threads(n)];
        parallel::share(
            scratches,
            values.chunks_exact_mut(side).zip(&self.leaves),
            |(scratch, part), (row, leaves)| {
                let row = &mut row[..k];
                if between == Between::Least {
                    row.fill(f64::INFINITY);
                }
                for &leaf in leaves {
                    let i = leaf as usize;
                    let later = triangle.row(i, scratch).iter().zip(&self.slots[i + 1..]);
                    match between {
                        Between::Least => later.for_each(|(&x, &slot)| {
                            let least = &mut row[slot as usize];
                            *least = if x < *least { x } else { *least };
                        }),
                        Between::Halves => {
                            let shares = &self.shares[i + 1..];
                            later.zip(shares).for_each(|((&x, &slot), &share)| part[slot as usize] += x * share);
                        }
                        _ => later.for_each(|(&x, &slot)| part[slot as usize] += x - self.shift),
                    }
                    if between != Between::Least {
                        // First sum the similarities of each leaf to each cluster separately. This accumulates fewer
                        // rounding errors than one long sum.
                        let share = if between == Between::Halves { self.shares[i] } else { 1.0 };
                        for (sum, part) in row.iter_mut().zip(&mut *part) {
                            *sum += *part * share;
                            *part = 0.0;
                        }
                    }
                    monitor.advance(0)?;
                }
                Ok(())
            },
        )?;
        let certain = self.join(&mut values, between, monitor)?;
        Ok(certain.then_some(values))
    }

    /// For each pair of clusters, combines the two sums above and below the diagonal of `values` into one similarity
    /// (complete linkage: combines two minima). Returns false if too many digits have cancelled.
    fn join(&self, values: &mut [f64], between: Between, monitor: &Monitor) -> Result<bool> {
        let (k, side) = (self.names.len(), stride(self.names.len()));
        let mut certain = true;
        for rows in (0..k).step_by(BLOCK) {
            monitor.advance(0)?;
            for columns in (rows..k).step_by(BLOCK) {
                certain &=
                    wide!(self.join_block(values, rows..k.min(rows + BLOCK), columns..k.min(columns + BLOCK), between));
            }
        }
        (0..k).for_each(|a| values[a * side + a] = f64::NEG_INFINITY);
        Ok(certain)
    }

    #[inline(always)]
    fn join_block(&self, values: &mut [f64], rows: Range<usize>, columns: Range<usize>, between: Between) -> bool {
        let side = stride(self.names.len());
        // The sums (or minima) below the diagonal, transposed.
        let mut turned = [[0.0; BLOCK]; BLOCK];
        for (b, at_b) in columns.clone().zip(0..) {
            for (line, &y) in turned.iter_mut().zip(&values[b * side..][rows.clone()]) {
                line[at_b] = y;
            }
        }
        let mut certain = true;
        for (a, line) in rows.clone().zip(&mut turned) {
            let first = columns.start.max(a + 1).min(columns.end);
            let row = &mut values[a * side + first..a * side + columns.end];
            let line = &mut line[first - columns.start..][..row.len()];
            let others = self.sizes[first..columns.end].iter().zip(&self.inside[first..columns.end]);
            certain &= self.join_row(a, row, line, others, between);
        }
        for (b, at_b) in columns.zip(0..) {
            let before = rows.start..rows.end.min(b);
            for (line, y) in turned.iter().zip(&mut values[b * side..][before]) {
                *y = line[at_b];
            }
        }
        certain
    }

    #[inline(always)]
    fn join_row<'s>(
        &self,
        a: usize,
        row: &mut [f64],
        line: &mut [f64],
        others: impl Iterator<Item = (&'s f64, &'s f64)>,
        between: Between,
    ) -> bool {
        let (n_a, inside_a, exact, least_share) = (self.sizes[a], self.inside[a], self.exact, self.least_share);
        let pairs = row.iter_mut().zip(&mut *line);
        let mut vague = false;
        match between {
            Between::Least => {
                for (x, y) in pairs {
                    *x = if *x < *y { *x } else { *y };
                }
            }
            Between::Sum | Between::Halves => {
                for (x, y) in pairs {
                    *x += *y;
                }
            }
            Between::Mean => {
                for ((x, y), (&n_b, _)) in pairs.zip(others) {
                    *x = (*x + *y) / (n_a * n_b);
                }
            }
            Between::Ward => {
                for ((x, y), (&n_b, &inside_b)) in pairs.zip(others) {
                    // If all values are integers, `all` and `apart` are integers, so their difference is exact.
                    let (all, apart) = (n_a * n_b * (*x + *y), n_b * n_b * inside_a + n_a * n_a * inside_b);
                    let difference = all - apart;
                    vague |= !exact & (apart != 0.0) & (difference.abs() < least_share * (all.abs() + apart.abs()));
                    *x = 2.0 * difference / (n_a * n_b * (n_a + n_b)) + self.shift;
                }
            }
        }
        line.copy_from_slice(row);
        !vague
    }
}
