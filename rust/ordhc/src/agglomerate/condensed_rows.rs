//! The condensed matrix, every merge written at once.

use super::matrix::Matrix;
use super::read::mirror;
use super::rounds::{Condensed, Given, Pairs, Round, TriangleRows, all_nearest};
use super::rows::{SquareRows, check_row, similarity};
use super::store::Store;
use super::{Linkage, Nearest, Tolerance};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;
use crate::similarity::{Triangle, condensed_len};
use crate::tree::RawMerge;

/// Half the memory of [`SquareRows`], for as long as a square of the clusters would not fit into it.
///
/// Reciprocal nearest pairs are merged in rounds, each of them one pass from one triangle to the next.
pub(crate) struct CondensedRows<'a, U: Update> {
    update: &'a U,
    values: Store<'a>,
    /// Where the triangle of the slots stands in `values`.
    start: usize,
    /// By slot: the size and the cluster.
    sizes: Vec<f64>,
    clusters: Vec<usize>,
    /// By cluster: the slot.
    slots: Vec<usize>,
    /// By slot, where the rounds have left it behind; else empty.
    nearest: Vec<Nearest>,
    tolerance: Tolerance,
}

/// Rounds go on while they merge at least one of this many clusters, and where a square fits, of that many.
const WORTHWHILE: [usize; 2] = [24, 12];

impl<'a, U: Update> CondensedRows<'a, U> {
    /// `values` begin with the condensed similarities of `n` leaves; there may be room after them.
    pub(crate) fn from_similarities(update: &'a U, values: Store<'a>, n: usize, tolerance: Tolerance) -> Self {
        let clusters: Vec<usize> = (0..n).collect();
        let slots = clusters.clone();
        Self { update, values, start: 0, sizes: vec![1.0; n], slots, clusters, nearest: Vec::new(), tolerance }
    }

    fn worthwhile(&self, pairs: &Pairs) -> bool {
        let k = self.clusters.len();
        pairs.len() > 0 && pairs.len() >= k / WORTHWHILE[usize::from(k <= self.square_fits())]
    }

    /// Does the first round on the input as it is, which is copied only if there are few pairs to merge;
    /// then all the others.
    pub(crate) fn after_rounds(
        update: &'a U,
        matrix: &Matrix<'_>,
        squared: bool,
        tolerance: Tolerance,
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n = matrix.n_leaves();
        let values = Store::zeros(condensed_len(n))?;
        let mut this = Self::from_similarities(update, values, n, tolerance);
        let from = Given { matrix, squared };
        let nearest = all_nearest::<U>(&from, &this.sizes, tolerance, monitor)?;
        let pairs = Pairs::of::<U>(&from, &nearest, &this.sizes, tolerance, monitor)?;
        if this.worthwhile(&pairs) {
            let new_sizes = this.log(&pairs, &nearest, merges, monitor)?;
            let len = condensed_len(pairs.n_left());
            let mut values = std::mem::take(&mut this.values);
            let nearest = this.round(from, &pairs, &new_sizes, &mut values[..len], monitor)?;
            this.values = values;
            this.keep(&pairs, new_sizes);
            this.rounds(Some(nearest), merges, monitor)?;
        } else {
            matrix.write_condensed(squared, &mut this.values, monitor)?;
        }
        Ok(this)
    }

    /// How few clusters there must be for [`CondensedRows::into_square`].
    pub(crate) fn square_fits(&self) -> usize {
        self.values.len().isqrt()
    }

    /// Merges all reciprocal nearest pairs, round by round, until one cluster is left or the rounds find
    /// few pairs.
    pub(crate) fn rounds(
        &mut self,
        mut known: Option<Vec<Nearest>>,
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
    ) -> Result<()> {
        loop {
            let k = self.clusters.len();
            if k < 2 {
                return Ok(());
            }
            let rows = Condensed { values: &self.values[self.start..], k };
            let nearest = match known.take() {
                Some(nearest) => nearest,
                None => all_nearest::<U>(&rows, &self.sizes, self.tolerance, monitor)?,
            };
            let pairs = Pairs::of::<U>(&rows, &nearest, &self.sizes, self.tolerance, monitor)?;
            if !self.worthwhile(&pairs) {
                self.nearest = nearest;
                return Ok(());
            }
            let new_sizes = self.log(&pairs, &nearest, merges, monitor)?;
            let (len, new_len) = (condensed_len(k), condensed_len(pairs.n_left()));
            let end = self.start + len;
            let mut values = std::mem::take(&mut self.values);
            let total = values.len();
            // To the other end, where there is room.
            let result = if self.start >= new_len {
                let (out, from) = values.split_at_mut(self.start);
                let from = Condensed { values: &from[..len], k };
                let nearest = self.round(from, &pairs, &new_sizes, &mut out[..new_len], monitor);
                self.start = 0;
                nearest.map(Some)
            } else if total - end >= new_len {
                let (from, out) = values.split_at_mut(total - new_len);
                let from = Condensed { values: &from[self.start..end], k };
                let nearest = self.round(from, &pairs, &new_sizes, out, monitor);
                self.start = total - new_len;
                nearest.map(Some)
            } else {
                self.values = values;
                self.settle();
                self.merge_in_place(&pairs, monitor)?;
                values = std::mem::take(&mut self.values);
                Ok(None)
            };
            self.values = values;
            known = result?;
            self.keep(&pairs, new_sizes);
        }
    }

    /// Notes the merges, and gives the sizes after them.
    fn log(
        &self,
        pairs: &Pairs,
        nearest: &[Nearest],
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
    ) -> Result<Vec<f64>> {
        for (i, j) in pairs.iter() {
            let similarity = nearest[i].similarity;
            merges.push(RawMerge { i: self.clusters[i], j: self.clusters[j], similarity });
            monitor.advance(self.clusters.len() as u64)?;
        }
        Ok(pairs.sizes(&self.sizes))
    }

    fn round(
        &self,
        from: impl TriangleRows,
        pairs: &Pairs,
        new_sizes: &[f64],
        out: &mut [f64],
        monitor: &Monitor,
    ) -> Result<Vec<Nearest>> {
        let Self { update, sizes, clusters, tolerance, .. } = self;
        let round = Round { update: *update, from, pairs, sizes, new_sizes, clusters, tolerance: *tolerance };
        round.run(out, monitor)
    }

    fn keep(&mut self, pairs: &Pairs, new_sizes: Vec<f64>) {
        self.clusters = pairs.left().map(|slot| self.clusters[slot]).collect();
        self.sizes = new_sizes;
        for (slot, &cluster) in self.clusters.iter().enumerate() {
            self.slots[cluster] = slot;
        }
    }

    /// Moves the triangle to the beginning.
    fn settle(&mut self) {
        let len = condensed_len(self.clusters.len());
        self.values.copy_within(self.start..self.start + len, 0);
        self.start = 0;
    }

    /// The same as a round, where there is no room for another triangle.
    fn merge_in_place(&mut self, pairs: &Pairs, monitor: &Monitor) -> Result<()> {
        let sizes = self.sizes.clone();
        let mut folds = Vec::with_capacity(pairs.len());
        for (i, j) in pairs.iter() {
            folds.push((i, j, self.merge_after(i, j)));
            monitor.advance(0)?;
        }
        let kept: Vec<usize> = pairs.left().collect();
        self.pack(&kept, &folds, monitor)?;
        self.sizes = sizes;
        Ok(())
    }

    /// Merges slot `j` into slot `i < j` for all third slots after `i`, and returns what the third
    /// slots before `i` still have to do.
    fn merge_after(&mut self, i: usize, j: usize) -> U::Merge {
        let k = self.clusters.len();
        let values = &mut *self.values;
        let sizes = &self.sizes;
        let triangle = Triangle::new(k);
        let x_ij = values[triangle.index(i, j)];
        let merge = self.update.merge(Merging { n_i: sizes[i], n_j: sizes[j], x_ij });
        for c in i + 1..j {
            let at = triangle.index(i, c);
            values[at] = self.update.fold(&merge, values[at], values[triangle.index(c, j)], sizes[c]);
        }
        let (head, tail) = values.split_at_mut(triangle.before(j));
        let row_i = &mut head[triangle.base(i).wrapping_add(j + 1)..][..k - j - 1];
        for ((x_i, &x_j), &n_c) in row_i.iter_mut().zip(&tail[..k - j - 1]).zip(&sizes[j + 1..]) {
            *x_i = self.update.fold(&merge, *x_i, x_j, n_c);
        }
        self.sizes[i] += self.sizes[j];
        merge
    }

    /// Drops all slots but `kept`, and lets every row catch up with the merges `folds` of slots
    /// after its own: within the row, in order. Its own merge came first, so its size is final.
    fn pack(&mut self, kept: &[usize], folds: &[(usize, usize, U::Merge)], monitor: &Monitor) -> Result<()> {
        let k = self.clusters.len();
        let values = &mut *self.values;
        let mut to = 0;
        for (at, &i) in kept.iter().enumerate() {
            monitor.advance(0)?;
            let start = Triangle::new(k).before(i);
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
        Ok(())
    }

    /// Turns into square rows over the active clusters, in the same memory.
    pub(crate) fn into_square(mut self, active: &[usize], monitor: &Monitor) -> Result<SquareRows<'a, U>> {
        let kept: Vec<usize> = active.iter().map(|&cluster| self.slots[cluster]).collect();
        if kept.len() < self.clusters.len() {
            self.settle();
            self.pack(&kept, &[], monitor)?;
        }
        let sizes = kept.iter().map(|&slot| self.sizes[slot]).collect();
        let k = kept.len();
        debug_assert!(k <= self.square_fits());
        let Self { update, mut values, start, slots, nearest, tolerance, .. } = self;
        monitor.advance(0)?;
        let mut spread = |row| {
            let from = start + Triangle::new(k).before(row);
            values.copy_within(from..from + (k - row - 1), row * k + row + 1);
            values[row * k + row] = f64::NEG_INFINITY;
        };
        // From the beginning every value moves up, from the end down: no row runs over the next.
        match start {
            0 => (0..k).rev().for_each(&mut spread),
            _ => (0..k).for_each(&mut spread),
        }
        values.truncate(k * k);
        mirror(&mut values, k, monitor)?;
        let mut rows = SquareRows::from_parts(update, values, sizes, active.to_vec(), slots.len(), tolerance);
        rows.nearest = nearest;
        Ok(rows)
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
        let values = &self.values[self.start..];
        for (value, &other) in out.iter_mut().zip(others) {
            let other = self.slots[other];
            let at = Triangle::new(k).index(other, i);
            *value = similarity::<U>(values[at], n_i, self.sizes[other]);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()> {
        if self.start > 0 {
            self.settle();
        }
        self.nearest.clear();
        let k = self.clusters.len();
        let (i, j) = (self.slots[i], self.slots[j]);
        let merge = self.merge_after(i, j);
        let values = &mut *self.values;
        for c in 0..i {
            let start = Triangle::new(k).base(c);
            let (at, from) = (start.wrapping_add(i), start.wrapping_add(j));
            values[at] = self.update.fold(&merge, values[at], values[from], self.sizes[c]);
        }
        if U::MAY_FAIL {
            for c in active.iter().map(|&cluster| self.slots[cluster]).filter(|&c| c != i && c != j) {
                let x = values[Triangle::new(k).index(c, i)];
                check_row(&[x], |_| self.clusters[c], self.clusters[i])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linkage::Average;

    #[test]
    fn squares_come_from_triangles_at_either_end() {
        for k in 1..30 {
            let len = condensed_len(k);
            for start in [0, k * k - len] {
                let mut values = Store::zeros(k * k).unwrap();
                (0..len).for_each(|at| values[start + at] = at as f64);
                let rows = CondensedRows::from_similarities(&Average, values, k, Tolerance::EXACT);
                let active: Vec<usize> = (0..k).collect();
                let square = CondensedRows { start, ..rows }.into_square(&active, &Monitor::new()).unwrap();
                for (at, &value) in square.values.iter().enumerate() {
                    let (i, j) = (at / k, at % k);
                    let expected = if i == j { f64::NEG_INFINITY } else { Triangle::new(k).index(i, j) as f64 };
                    assert_eq!(value, expected, "[{i}, {j}] of {k}");
                }
            }
        }
    }
}
