//! Merges in rounds. A round merges all reciprocal nearest pairs. One pass reads the condensed matrix before the merges
//! and writes the matrix after the merges.

use std::ops::Range;

use fearless_simd::Simd;

use super::columns::{Columns, WithColumns};
use super::doubts::Doubts;
use super::kept::Kept;
use super::nearest::Nearest;
use super::search::{RowSearch, check_row, similarity};
use super::threads::{parts, shared, threads};
use super::ties::Ties;
use super::tolerance::Tolerance;
use super::triangle_rows::{Condensed, Slots, TriangleRows};
use crate::error::Result;
use crate::linkage::{Merging, Stored, Update};
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::Triangle;

/// If the number of reciprocal pairs is less than the number of clusters divided by this number, the round also
/// searches tied clusters, so that larger groups can merge.
const FEW: usize = 8;

fn many_ties(nearest: &[Nearest], n_pairs: usize, tolerance: Tolerance) -> bool {
    let mut keys: Vec<f64> = nearest.iter().map(|nearest| tolerance.key(nearest.similarity)).collect();
    keys.sort_unstable_by(f64::total_cmp);
    keys.dedup();
    // Without ties, only the two clusters of a reciprocal pair have the same similarity to their nearest cluster.
    keys.len() + n_pairs + nearest.len() / FEW < nearest.len()
}

pub(super) fn all_nearest<S: Stored>(
    triangle: &dyn TriangleRows,
    sizes: &[f64],
    tolerance: Tolerance,
    monitor: &Monitor,
) -> Result<Vec<Nearest>> {
    let k = triangle.len();
    let states = (0..threads(k)).map(|_| (RowSearch::new(k, tolerance), vec![0.0; k])).collect();
    let found = parallel::share(states, parts(k), |(search, scratch), rows| {
        for i in rows {
            search.add::<S>(i, triangle.row(i, scratch), sizes);
        }
        monitor.advance(0)
    })?;
    Ok(RowSearch::join(found.into_iter().map(|(search, _)| search).collect()))
}

/// Computes the doubtful results of [`all_nearest`] again, from the similarities of leaves.
pub(super) fn settle<S: Stored>(
    triangle: &dyn TriangleRows,
    slots: Slots<'_>,
    nearest: &mut [Nearest],
    doubts: &mut Doubts<'_>,
) -> Result<()> {
    let Slots { sizes, clusters, merges } = slots;
    let k = triangle.len();
    for (i, nearest) in nearest.iter_mut().enumerate().filter(|(_, nearest)| nearest.doubtful) {
        let (mut values, mut scratch) = (vec![0.0; k - 1], vec![0.0; k]);
        triangle.column(i, 0..i, &mut values[..i]);
        values[i..].copy_from_slice(triangle.row(i, &mut scratch));
        let others: Vec<usize> = (0..k).filter(|&slot| slot != i).collect();
        let pairs = values.iter().zip(&others);
        let values: Vec<f64> = pairs.map(|(&x, &slot)| similarity::<S>(x, sizes[i], sizes[slot])).collect();
        let names: Vec<usize> = others.iter().map(|&slot| clusters[slot]).collect();
        let found = doubts.nearest(
            Nearest { cluster: clusters[nearest.cluster], ..*nearest },
            merges,
            clusters[i],
            &names,
            &values,
        )?;
        *nearest = Nearest { cluster: clusters.partition_point(|&name| name < found.cluster), ..found };
    }
    Ok(())
}

/// The clusters that merge in a round, given by their indices in the condensed matrix: mostly disjoint pairs `i < j`.
/// If many clusters are equally near, larger groups merge as well: the first cluster of a group absorbs the other
/// clusters one after the other.
pub(super) struct Pairs {
    /// For each cluster after the round: its index before the round. A merged cluster has the index of the cluster that
    /// absorbed the others.
    left: Vec<u32>,
    /// For each merge: the index of the merged cluster after the round, and the index of the absorbed cluster before
    /// the round. Sorted by both indices.
    merged: Vec<(u32, u32)>,
}

impl Pairs {
    pub(super) fn of<S: Stored>(
        triangle: &dyn TriangleRows,
        nearest: &[Nearest],
        slots: Slots<'_>,
        tolerance: Tolerance,
        doubts: &mut Doubts<'_>,
    ) -> Result<Self> {
        let pairs = Self::reciprocal(nearest);
        if pairs.len() >= nearest.len() / FEW || !many_ties(nearest, pairs.len(), tolerance) {
            return Ok(pairs);
        }
        let ties = Ties::of::<S>(triangle, nearest, slots, tolerance, doubts)?;
        Ok(Self::grouped(&ties.groups()))
    }

    /// The groups must be ordered by their first clusters. A cluster that is not merged is a group of its own.
    fn grouped(groups: &[Vec<u32>]) -> Self {
        let left = groups.iter().map(|group| group[0]).collect();
        let merged = (0..).zip(groups).flat_map(|(slot, group)| group[1..].iter().map(move |&j| (slot, j)));
        Self { left, merged: merged.collect() }
    }

    pub(super) fn reciprocal(nearest: &[Nearest]) -> Self {
        let (mut left, mut merged) = (Vec::with_capacity(nearest.len()), Vec::new());
        for (i, near) in nearest.iter().enumerate() {
            if near.cluster < nearest.len() && nearest[near.cluster].cluster == i {
                if near.cluster < i {
                    continue;
                }
                merged.push((left.len() as u32, near.cluster as u32));
            }
            left.push(i as u32);
        }
        Self { left, merged }
    }

    pub(super) fn n_left(&self) -> usize {
        self.left.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.merged.iter().map(|&(i, j)| (self.left[i as usize] as usize, j as usize))
    }

    pub(super) fn len(&self) -> usize {
        self.merged.len()
    }

    pub(super) fn sizes(&self, sizes: &[f64]) -> Vec<f64> {
        let mut new: Vec<f64> = self.left().map(|slot| sizes[slot]).collect();
        self.merged.iter().for_each(|&(i, j)| new[i as usize] += sizes[j as usize]);
        new
    }

    pub(super) fn left(&self) -> impl Iterator<Item = usize> {
        self.left.iter().map(|&slot| slot as usize)
    }
}

pub(super) struct Round<'a, U: Update> {
    pub(super) update: &'a U,
    pub(super) pairs: &'a Pairs,
    pub(super) sizes: &'a [f64],
    pub(super) new_sizes: &'a [f64],
    pub(super) clusters: &'a [usize],
    pub(super) tolerance: Tolerance,
}

struct Worker {
    search: RowSearch,
    scratch: Scratch,
}

impl<U: Update> Round<'_, U> {
    /// Writes the condensed matrix after the merges to the beginning of `out`, which may be longer. Returns the nearest
    /// cluster of each cluster after the merges.
    pub(super) fn run(&self, from: &dyn TriangleRows, out: &mut [f64], monitor: &Monitor) -> Result<Vec<Nearest>> {
        let mut workers = self.workers(from.len());
        let merges = self.merges(from);
        let (out, room) = out.split_at_mut(Triangle::new(self.pairs.n_left()).n_pairs());
        let columns = Columns::of(from, &mut self.pairs.iter(), room, monitor)?;
        let from = WithColumns { triangle: from, columns: columns.as_ref() };
        self.write(&from, &merges, parts(self.pairs.n_left()), out, &mut workers, monitor)?;
        Ok(Self::found(workers))
    }

    /// Does the same as [`run`](Self::run), within the memory `values`, which begins with the condensed matrix of `k`
    /// clusters. New rows overwrite old rows that are not needed any more. While there are too few such old rows, new
    /// rows are first written to `spare`.
    pub(super) fn run_in_place(
        &self,
        k: usize,
        values: &mut [f64],
        spare: &mut Vec<f64>,
        monitor: &Monitor,
    ) -> Result<Vec<Nearest>> {
        let (old, new) = (Triangle::new(k), Triangle::new(self.pairs.n_left()));
        let mut workers = self.workers(k);
        let (values, room) = values.split_at_mut(old.n_pairs());
        let whole = Condensed { values: &*values, k, n_gone: 0 };
        let merges = self.merges(&whole);
        let columns = Columns::of(&whole, &mut self.pairs.iter(), room, monitor)?;
        let at_least = (new.n_pairs() / CHUNKS).max(CHUNK);
        let mut slot = 0;
        while slot < new.n_leaves() {
            let (start, n_gone) = (new.before(slot), old.before(self.pairs.left[slot] as usize));
            let small = new.last_before(slot, start + at_least).max(slot + 1);
            let fits = new.last_before(slot, n_gone);
            let rows = slot..small.max(fits);
            let len = new.before(rows.end) - start;
            let (head, tail) = values.split_at_mut(n_gone);
            let rest = Condensed { values: &*tail, k, n_gone };
            let from = WithColumns { triangle: &rest, columns: columns.as_ref() };
            if fits >= small {
                self.write(&from, &merges, shared(&rows, k), &mut head[start..start + len], &mut workers, monitor)?;
            } else {
                spare.resize(spare.len().max(len), 0.0);
                self.write(&from, &merges, shared(&rows, k), &mut spare[..len], &mut workers, monitor)?;
                values[start..start + len].copy_from_slice(&spare[..len]);
            }
            slot = rows.end;
        }
        Ok(Self::found(workers))
    }

    fn workers(&self, k: usize) -> Vec<Worker> {
        let search = || RowSearch::new(self.pairs.n_left(), self.tolerance);
        (0..threads(self.pairs.n_left())).map(|_| Worker { search: search(), scratch: Scratch::new(k) }).collect()
    }

    fn found(workers: Vec<Worker>) -> Vec<Nearest> {
        RowSearch::join(workers.into_iter().map(|worker| worker.search).collect())
    }

    fn write(
        &self,
        from: &dyn TriangleRows,
        merges: &[U::Merge],
        rows: Vec<Range<usize>>,
        out: &mut [f64],
        workers: &mut [Worker],
        monitor: &Monitor,
    ) -> Result<()> {
        let k = self.pairs.n_left();
        let start = rows.first().map_or(0, |rows| Triangle::new(k).before(rows.start));
        let parts = parallel::with_parts(rows, out, |end| Triangle::new(k).before(end) - start);
        let kept = Kept::of(self.pairs.left(), from.len());
        let workers = workers.iter_mut().collect();
        parallel::share(workers, parts, |Worker { search, scratch }, (rows, mut out)| {
            for slot in rows {
                let (row, rest) = out.split_at_mut(k - slot - 1);
                widest!(simd => self.write_row(simd, from, (slot, &kept), merges, scratch, row));
                if U::MAY_FAIL {
                    let name = |slot: usize| self.clusters[self.pairs.left[slot] as usize];
                    check_row(row, |at| name(slot + 1 + at), name(slot))?;
                }
                search.add::<U::Stored>(slot, row, self.new_sizes);
                out = rest;
                monitor.advance(0)?;
            }
            Ok(())
        })
        .map(drop)
    }

    fn merges(&self, from: &dyn TriangleRows) -> Vec<U::Merge> {
        let Pairs { left, merged } = self.pairs;
        let mut merges = Vec::with_capacity(merged.len());
        let mut scratch = vec![0.0; from.len()];
        for group in merged.chunk_by(|a, b| a.0 == b.0) {
            let i = left[group[0].0 as usize] as usize;
            let mut values: Vec<f64> = group.iter().map(|&(_, j)| from.value(i, j as usize)).collect();
            let mut n_i = self.sizes[i];
            for (at, &(_, j)) in group.iter().enumerate() {
                let n_j = self.sizes[j as usize];
                let merge = self.update.merge(Merging { n_i, n_j, x_ij: values[at] });
                merges.push(merge);
                n_i += n_j;
                if at + 1 < group.len() {
                    let row = from.row(j as usize, &mut scratch);
                    for (value, &(_, k)) in values[at + 1..].iter_mut().zip(&group[at + 1..]) {
                        *value = self.update.fold(&merge, *value, row[(k - j - 1) as usize], self.sizes[k as usize]);
                    }
                }
            }
        }
        merges
    }

    #[inline(always)]
    fn write_row<S: Simd>(
        &self,
        simd: S,
        from: &dyn TriangleRows,
        (slot, kept): (usize, &Kept),
        merges: &[U::Merge],
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        if out.is_empty() {
            return;
        }
        let Pairs { left, merged } = self.pairs;
        let i = left[slot] as usize;
        let earlier = merged.partition_point(|&(first, _)| (first as usize) < slot);
        let later = earlier + merged[earlier..].partition_point(|&(first, _)| first as usize == slot);
        let Scratch { row, own, column } = scratch;
        let mut old: &[f64] = from.row(i, row);
        if later > earlier {
            let own = &mut own[..old.len()];
            own.copy_from_slice(old);
            for (&(_, j), merge) in merged[earlier..later].iter().zip(&merges[earlier..]) {
                let j = j as usize;
                let between = &mut column[..j - i - 1];
                from.column(j, i + 1..j, between);
                let (head, tail) = own.split_at_mut(j - i - 1);
                for ((x_i, &x_j), &n_k) in head.iter_mut().zip(&*between).zip(&self.sizes[i + 1..]) {
                    *x_i = self.update.fold(merge, *x_i, x_j, n_k);
                }
                let row_j = from.row(j, column);
                for ((x_i, &x_j), &n_k) in tail[1..].iter_mut().zip(row_j).zip(&self.sizes[j + 1..]) {
                    *x_i = self.update.fold(merge, *x_i, x_j, n_k);
                }
            }
            old = own;
        }
        kept.copy(simd, i + 1, old, out);
        let n_i = self.new_sizes[slot];
        for (&(first, j), merge) in merged[later..].iter().zip(&merges[later..]) {
            let value = &mut out[first as usize - slot - 1];
            *value = self.update.fold(merge, *value, old[j as usize - i - 1], n_i);
        }
    }
}

struct Scratch {
    row: Vec<f64>,
    own: Vec<f64>,
    column: Vec<f64>,
}

impl Scratch {
    fn new(k: usize) -> Self {
        let zeros = || vec![0.0; k];
        Self { row: zeros(), own: zeros(), column: zeros() }
    }
}

/// A round that overwrites its input writes the new condensed matrix in steps, each of at least 1 / `CHUNKS` of all
/// pairs.
const CHUNKS: usize = 16;
/// A round that overwrites its input writes at least this number of pairs in each step.
const CHUNK: usize = if cfg!(test) { 16 } else { 1 << 17 };
