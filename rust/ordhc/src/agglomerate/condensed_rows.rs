//! The condensed matrix, every merge written at once.

use super::matrix::{Matrix, mirror};
use super::rows::{SquareRows, check_row, similarity};
use super::{Linkage, Nearest, Tolerance};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::memory::Buffer;
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::{condensed_len, row_start, triangle_ranges};
use crate::tree::RawMerge;

/// Half the memory of [`SquareRows`], for as long as a square of the clusters would not fit into it.
///
/// Reciprocal nearest pairs are merged in rounds: one pass over the matrix finds them all.
pub(crate) struct CondensedRows<'u, U: Update> {
    update: &'u U,
    values: Buffer,
    /// By slot: the size and the cluster.
    sizes: Vec<f64>,
    clusters: Vec<usize>,
    /// By cluster: the slot.
    slots: Vec<usize>,
    tolerance: Tolerance,
}

/// Rounds go on while they merge at least one of this many clusters.
const WORTHWHILE: usize = 24;

impl<'u, U: Update> CondensedRows<'u, U> {
    pub(crate) fn new(
        update: &'u U,
        matrix: &Matrix<'_>,
        squared: bool,
        tolerance: Tolerance,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n = matrix.n_leaves();
        let mut values = Buffer::zeros("the working matrix", condensed_len(n))?;
        matrix.write_condensed(squared, &mut values, monitor)?;
        let clusters: Vec<usize> = (0..n).collect();
        Ok(Self { update, values, sizes: vec![1.0; n], slots: clusters.clone(), clusters, tolerance })
    }

    /// How few clusters there must be for [`CondensedRows::into_square`].
    pub(crate) fn square_fits(n_leaves: usize) -> usize {
        condensed_len(n_leaves).isqrt()
    }

    /// Merges all reciprocal nearest pairs, round by round, until few enough clusters are left for a
    /// square or the rounds find few pairs.
    pub(crate) fn rounds(&mut self, merges: &mut Vec<RawMerge>, monitor: &Monitor) -> Result<()> {
        let until = Self::square_fits(self.slots.len());
        while self.clusters.len() > until {
            let nearest = self.all_nearest();
            monitor.advance(0)?;
            let k = self.clusters.len();
            let reciprocal = |&i: &usize| nearest[i].cluster > i && nearest[nearest[i].cluster].cluster == i;
            let pairs: Vec<usize> = (0..k).filter(reciprocal).collect();
            let mut alive = vec![true; k];
            let mut folds = Vec::with_capacity(pairs.len());
            for &i in &pairs {
                let j = nearest[i].cluster;
                folds.push((i, j, self.merge_after(i, j)));
                alive[j] = false;
                let similarity = nearest[i].similarity;
                merges.push(RawMerge { i: self.clusters[i], j: self.clusters[j], similarity });
                monitor.advance(k as u64)?;
            }
            self.pack(&alive, &folds, monitor)?;
            if pairs.is_empty() || pairs.len() < k / WORTHWHILE {
                break;
            }
        }
        Ok(())
    }

    /// The nearest slot of every slot, in one pass over the matrix.
    fn all_nearest(&self) -> Vec<Nearest> {
        let (k, tolerance) = (self.clusters.len(), self.tolerance);
        let found = parallel::map(triangle_ranges(k), |rows| {
            let mut best = vec![f64::NEG_INFINITY; k];
            let mut place = vec![u64::MAX; k];
            for i in rows {
                let start = row_start(k, i).wrapping_add(i + 1);
                let row = &self.values[start..start + (k - i - 1)];
                let n_i = self.sizes[i];
                let columns = best[i + 1..].iter_mut().zip(&mut place[i + 1..]);
                for ((best, place), (&x, &n_k)) in columns.zip(row.iter().zip(&self.sizes[i + 1..])) {
                    let s = similarity::<U>(x, n_i, n_k);
                    let better = s > tolerance.ceiling(*best);
                    *place = if better { i as u64 } else { *place };
                    *best = if better { s } else { *best };
                }
                // Columns before i have come first, so that they win ties.
                let top = super::rows::largest::<U>(row, &self.sizes[i + 1..], n_i);
                if top > tolerance.ceiling(best[i]) {
                    let floor = tolerance.floor(top);
                    let mut pairs = row.iter().zip(&self.sizes[i + 1..]);
                    if let Some(at) = pairs.position(|(&x, &n_k)| similarity::<U>(x, n_i, n_k) >= floor) {
                        place[i] = (i + 1 + at) as u64;
                        best[i] = similarity::<U>(row[at], n_i, self.sizes[i + 1 + at]);
                    }
                }
            }
            (best, place)
        });
        let mut all = vec![Nearest { cluster: usize::MAX, similarity: f64::NEG_INFINITY }; k];
        for (best, place) in found {
            for (slot, near) in all.iter_mut().enumerate() {
                // Later parts hold later rows, or columns after all of those.
                if best[slot] > tolerance.ceiling(near.similarity) {
                    *near = Nearest { cluster: place[slot] as usize, similarity: best[slot] };
                }
            }
        }
        all
    }

    /// Merges slot `j` into slot `i < j` for all third slots after `i`, and returns what the third
    /// slots before `i` still have to do.
    fn merge_after(&mut self, i: usize, j: usize) -> U::Merge {
        let k = self.clusters.len();
        let values = &mut *self.values;
        let sizes = &self.sizes;
        let place = |a: usize, b: usize| row_start(k, a).wrapping_add(b);
        let x_ij = values[place(i, j)];
        let merge = self.update.merge(Merging { n_i: sizes[i], n_j: sizes[j], x_ij });
        for c in i + 1..j {
            let at = place(i, c);
            values[at] = self.update.fold(&merge, values[at], values[place(c, j)], sizes[c]);
        }
        let (head, tail) = values.split_at_mut(place(j, j + 1));
        let row_i = &mut head[row_start(k, i).wrapping_add(j + 1)..][..k - j - 1];
        for ((x_i, &x_j), &n_c) in row_i.iter_mut().zip(&tail[..k - j - 1]).zip(&sizes[j + 1..]) {
            *x_i = self.update.fold(&merge, *x_i, x_j, n_c);
        }
        self.sizes[i] += self.sizes[j];
        merge
    }

    /// Drops the slots that are gone, and lets every row catch up with the merges `folds` of slots
    /// after its own: within the row, in order. Its own merge came first, so its size is final.
    fn pack(&mut self, alive: &[bool], folds: &[(usize, usize, U::Merge)], monitor: &Monitor) -> Result<()> {
        let k = alive.len();
        let kept: Vec<usize> = (0..k).filter(|&slot| alive[slot]).collect();
        let values = &mut *self.values;
        let mut to = 0;
        for (at, &i) in kept.iter().enumerate() {
            monitor.advance(0)?;
            let start = row_start(k, i).wrapping_add(i + 1);
            let row = &mut values[start..start + (k - i - 1)];
            let later = folds.partition_point(|&(first, _, _)| first <= i);
            for (a, b, merge) in &folds[later..] {
                let (a, b) = (a - i - 1, b - i - 1);
                row[a] = self.update.fold(merge, row[a], row[b], self.sizes[i]);
            }
            for &j in &kept[at + 1..] {
                let x = values[start + (j - i - 1)];
                if U::MAY_FAIL {
                    check_row(&[x], |_| self.clusters[j], self.clusters[i])?;
                }
                values[to] = x;
                to += 1;
            }
        }
        for (new, &old) in kept.iter().enumerate() {
            self.sizes[new] = self.sizes[old];
            self.clusters[new] = self.clusters[old];
            self.slots[self.clusters[new]] = new;
        }
        self.sizes.truncate(kept.len());
        self.clusters.truncate(kept.len());
        Ok(())
    }

    /// Turns into square rows over the active clusters, in the same memory.
    pub(crate) fn into_square(mut self, active: &[usize], monitor: &Monitor) -> Result<SquareRows<'u, U>> {
        let mut alive = vec![false; self.clusters.len()];
        active.iter().for_each(|&cluster| alive[self.slots[cluster]] = true);
        monitor.advance(0)?;
        if active.len() < alive.len() {
            self.pack(&alive, &[], monitor)?;
        }
        let Self { update, mut values, sizes, clusters, slots, tolerance } = self;
        let (n, k) = (slots.len(), clusters.len());
        debug_assert!(k <= Self::square_fits(n));
        monitor.advance(0)?;
        // From the last row to the first, every value moves up.
        for row in (0..k).rev() {
            let from = row_start(k, row).wrapping_add(row + 1);
            values.copy_within(from..from + (k - row - 1), row * k + row + 1);
            values[row * k + row] = f64::NEG_INFINITY;
        }
        values.truncate(k * k);
        mirror(&mut values, k, monitor)?;
        Ok(SquareRows::from_parts(update, values, sizes, clusters, n, tolerance))
    }
}

impl<U: Update> Linkage for CondensedRows<'_, U> {
    fn n_leaves(&self) -> usize {
        self.slots.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        let k = self.clusters.len();
        let i = self.slots[i];
        let n_i = self.sizes[i];
        for (value, &other) in out.iter_mut().zip(others) {
            let other = self.slots[other];
            let at = row_start(k, other.min(i)).wrapping_add(other.max(i));
            *value = similarity::<U>(self.values[at], n_i, self.sizes[other]);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()> {
        let k = self.clusters.len();
        let (i, j) = (self.slots[i], self.slots[j]);
        let merge = self.merge_after(i, j);
        let values = &mut *self.values;
        for c in 0..i {
            let start = row_start(k, c);
            let (at, from) = (start.wrapping_add(i), start.wrapping_add(j));
            values[at] = self.update.fold(&merge, values[at], values[from], self.sizes[c]);
        }
        if U::MAY_FAIL {
            for c in active.iter().map(|&cluster| self.slots[cluster]).filter(|&c| c != i && c != j) {
                let x = values[row_start(k, c.min(i)).wrapping_add(c.max(i))];
                check_row(&[x], |_| self.clusters[c], self.clusters[i])?;
            }
        }
        Ok(())
    }
}
