//! The similarities of clusters as a condensed matrix, which is updated at every merge.

use super::doubts::Doubts;
use super::nearest::{Linkage, Nearest};
use super::read::{mirror, stride};
use super::rounds::{Pairs, Round, all_nearest, settle};
use super::search::{check_row, similarity};
use super::square::Similarities;
use super::store::Store;
use super::threads::split;
use super::tolerance::Tolerance;
use super::triangle_rows::{Condensed, Given, Slots};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::Triangle;
use crate::tree::RawMerge;

/// The similarities of clusters as a condensed matrix, which needs half the memory of a square matrix. This layout is
/// used until a square matrix of the remaining clusters fits into the same memory.
///
/// `clusters` has the smallest leaf of each row's cluster, and `slots` has the row of each smallest leaf.
pub(super) struct CondensedRows<'a, U: Update> {
    update: &'a U,
    values: Store<'a>,
    sizes: Vec<f64>,
    clusters: Vec<usize>,
    slots: Vec<usize>,
    tolerance: Tolerance,
}

/// A round of merges runs only if it makes at least k / `WORTHWHILE[0]` merges of the k clusters. If a square matrix of
/// the clusters fits into the memory of the condensed matrix, `WORTHWHILE[1]` applies instead.
const WORTHWHILE: [usize; 2] = [24, 12];

impl<'a, U: Update> CondensedRows<'a, U> {
    /// `values` begin with the condensed similarities of `n` leaves. More values may follow.
    pub(super) fn from_similarities(update: &'a U, values: Store<'a>, n: usize, tolerance: Tolerance) -> Self {
        let clusters: Vec<usize> = (0..n).collect();
        let slots = clusters.clone();
        Self { update, values, sizes: vec![1.0; n], slots, clusters, tolerance }
    }

    fn worthwhile(&self, pairs: &Pairs) -> bool {
        let k = self.clusters.len();
        pairs.len() > 0 && pairs.len() >= k / WORTHWHILE[usize::from(k <= self.square_fits())]
    }

    /// Merges reciprocal nearest pairs of the leaves of `given` in rounds, and stores the condensed matrix of the
    /// remaining clusters. If the first round would merge only a few pairs, copies the input and runs no rounds.
    pub(super) fn first_rounds(
        &mut self,
        given: &Given<'_>,
        (nearest, pairs): (&[Nearest], &Pairs),
        merges: &mut Vec<RawMerge>,
        doubts: &mut Doubts<'_>,
    ) -> Result<()> {
        let monitor = doubts.monitor();
        if self.worthwhile(pairs) {
            entered!(triangle_round_of_input);
            let run = |round: &Round<'_, U>, values: &mut [f64]| round.run(given, values, monitor);
            let nearest = self.merge_pairs(pairs, nearest, merges, monitor, run)?;
            self.rounds(Some(nearest), merges, doubts)
        } else {
            entered!(triangle_of_input);
            given.matrix.write_condensed(given.squared, &mut self.values, monitor)
        }
    }

    /// Returns the largest number of clusters for which a square matrix of similarities fits into the memory of the
    /// condensed matrix.
    pub(super) fn square_fits(&self) -> usize {
        let mut side = self.values.len().isqrt();
        while stride(side) > self.values.len().isqrt() {
            side -= 1;
        }
        side
    }

    pub(super) fn rounds(
        &mut self,
        mut known: Option<Vec<Nearest>>,
        merges: &mut Vec<RawMerge>,
        doubts: &mut Doubts<'_>,
    ) -> Result<()> {
        let monitor = doubts.monitor();
        let mut spare = Vec::new();
        loop {
            let k = self.clusters.len();
            if k < 2 {
                return Ok(());
            }
            let rows = Condensed { values: &self.values[..], k, n_gone: 0 };
            let mut nearest = match known.take() {
                Some(nearest) => nearest,
                None => all_nearest::<U::Stored>(&rows, &self.sizes, self.tolerance, monitor)?,
            };
            let slots = Slots { sizes: &self.sizes, clusters: &self.clusters, merges: &*merges };
            settle::<U::Stored>(&rows, slots, &mut nearest, doubts)?;
            let pairs = Pairs::of::<U::Stored>(&rows, &nearest, slots, self.tolerance, doubts)?;
            if !self.worthwhile(&pairs) {
                return Ok(());
            }
            let run = |round: &Round<'_, U>, values: &mut [f64]| round.run_in_place(k, values, &mut spare, monitor);
            known = Some(self.merge_pairs(&pairs, &nearest, merges, monitor, run)?);
        }
    }

    /// Merges `pairs` in a round. `run` writes the condensed matrix after the merges to the given memory, and returns the
    /// nearest cluster of each cluster.
    fn merge_pairs(
        &mut self,
        pairs: &Pairs,
        nearest: &[Nearest],
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
        run: impl FnOnce(&Round<'_, U>, &mut [f64]) -> Result<Vec<Nearest>>,
    ) -> Result<Vec<Nearest>> {
        entered!(triangle_rounds);
        let Self { update, values, sizes, clusters, slots, tolerance } = self;
        for (i, j) in pairs.iter() {
            merges.push(RawMerge { i: clusters[i], j: clusters[j], similarity: nearest[i].similarity });
            monitor.advance(clusters.len() as u64)?;
        }
        let new_sizes = pairs.sizes(sizes);
        let round = Round { update: *update, pairs, sizes, new_sizes: &new_sizes, clusters, tolerance: *tolerance };
        let found = run(&round, values)?;
        *clusters = pairs.left().map(|slot| clusters[slot]).collect();
        *sizes = new_sizes;
        clusters.iter().enumerate().for_each(|(slot, &cluster)| slots[cluster] = slot);
        Ok(found)
    }

    fn merge_after(&mut self, i: usize, j: usize) -> U::Merge {
        let k = self.clusters.len();
        let values = &mut *self.values;
        let sizes = &self.sizes;
        let triangle = Triangle::new(k);
        let x_ij = values[triangle.index(i, j)];
        let merge = self.update.merge(Merging { n_i: sizes[i], n_j: sizes[j], x_ij });
        for c in i + 1..j {
            let at = triangle.index(i, c);
            let (x_i, x_j) = (values[at], values[triangle.index(c, j)]);
            values[at] = self.update.fold(&merge, x_i, x_j, sizes[c]);
        }
        let (head, tail) = values.split_at_mut(triangle.before(j));
        let row_i = &mut head[triangle.base(i).wrapping_add(j + 1)..][..k - j - 1];
        for ((x_i, &x_j), &n_c) in row_i.iter_mut().zip(&tail[..k - j - 1]).zip(&sizes[j + 1..]) {
            *x_i = self.update.fold(&merge, *x_i, x_j, n_c);
        }
        self.sizes[i] += self.sizes[j];
        merge
    }

    pub(super) fn into_square(self, active: &[usize], monitor: &Monitor) -> Result<Similarities<'a>> {
        let kept: Vec<usize> = active.iter().map(|&cluster| self.slots[cluster]).collect();
        let sizes = kept.iter().map(|&slot| self.sizes[slot]).collect();
        debug_assert!(kept.len() <= self.square_fits());
        let values = to_square(self.values, self.clusters.len(), &kept, monitor)?;
        Ok(Similarities { values, names: active.to_vec(), sizes })
    }
}

/// Returns the square matrix of the clusters `kept` of a condensed matrix of `k` clusters, in the same memory.
fn to_square<'a>(mut values: Store<'a>, k: usize, kept: &[usize], monitor: &Monitor) -> Result<Store<'a>> {
    entered!(triangle_to_square);
    if kept.len() < k {
        pack(&mut values, k, kept, monitor)?;
    }
    let (k, side) = (kept.len(), stride(kept.len()));
    monitor.advance(0)?;
    values.truncate(side * side);
    spread(&mut values, k, side);
    mirror(&mut values, side, monitor)?;
    Ok(values)
}

fn pack(values: &mut [f64], k: usize, kept: &[usize], monitor: &Monitor) -> Result<()> {
    entered!(triangle_packed);
    let mut to = 0;
    for (at, &i) in kept.iter().enumerate() {
        monitor.advance(0)?;
        let base = Triangle::new(k).base(i);
        for &j in &kept[at + 1..] {
            values[to] = values[base.wrapping_add(j)];
            to += 1;
        }
    }
    Ok(())
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
        let values = &*self.values;
        for (value, &other) in out.iter_mut().zip(others) {
            let other = self.slots[other];
            let at = Triangle::new(k).index(other, i);
            *value = similarity::<U::Stored>(values[at], n_i, self.sizes[other]);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()> {
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

fn spread(values: &mut [f64], k: usize, side: usize) {
    let triangle = Triangle::new(k);
    let put = |row: usize, from: &[f64], to: &mut [f64]| {
        to[row] = f64::NEG_INFINITY;
        to[row + 1..k].copy_from_slice(from);
        to[k..].fill(0.0);
    };
    let mut end = k;
    // Every row moves towards the end of `values`, so start with the last rows. Rows `start..end` can move at the same
    // time, because their targets do not overlap the old positions of these and earlier rows.
    while end > 0 {
        let start = triangle.before(end).div_ceil(side).min(end);
        if parallel::ranges((end - start) * k, 1 << 18).len() == 1 {
            break;
        }
        let (head, tail) = values.split_at_mut(start * side);
        let rows: Vec<_> = (start..end).zip(tail.chunks_exact_mut(side)).collect();
        parallel::map(split(rows, (end - start) * k), |rows| {
            rows.into_iter().for_each(|(row, to)| put(row, &head[triangle.row(row)], to));
        });
        end = start;
    }
    let mut row = vec![0.0; k];
    for at in (0..end).rev() {
        let from = &mut row[..k - at - 1];
        from.copy_from_slice(&values[triangle.row(at)]);
        put(at, from, &mut values[at * side..(at + 1) * side]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linkage::Average;
    use crate::similarity::condensed_len;

    #[test]
    fn squares_come_from_triangles() {
        // The last size is large enough for several threads.
        for k in (1..30).chain([1100]) {
            let side = stride(k);
            let mut values = Store::zeros(side * side).unwrap();
            (0..condensed_len(k)).for_each(|at| values[at] = at as f64);
            let rows = CondensedRows::from_similarities(&Average, values, k, Tolerance::EXACT);
            let active: Vec<usize> = (0..k).collect();
            let square = rows.into_square(&active, &Monitor::new()).unwrap();
            assert_eq!((square.names, square.sizes), (active, vec![1.0; k]));
            for (i, j) in (0..k).flat_map(|i| (0..k).map(move |j| (i, j))) {
                let value = square.values[i * side + j];
                let expected = if i == j { f64::NEG_INFINITY } else { Triangle::new(k).index(i, j) as f64 };
                assert_eq!(value, expected, "[{i}, {j}] of {k}");
            }
        }
    }
}
