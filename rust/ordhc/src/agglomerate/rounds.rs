//! Rounds: all reciprocal nearest pairs are merged in one pass from one triangle to the next.

use std::ops::Range;
use std::sync::Mutex;

use super::columns::Columns;
use super::matrix::Matrix;
use super::rows::check_row;
use super::search::Search;
use super::{Nearest, Tolerance};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::{condensed_len, row_start};

/// A triangle that is only read.
pub(super) trait Triangle: Sync {
    /// The number of slots.
    fn len(&self) -> usize;

    /// The values of slot `i` with the slots after it, maybe written to `scratch`.
    fn row<'s>(&'s self, i: usize, scratch: &'s mut [f64]) -> &'s [f64];

    /// Writes the values of slot `i` with the slots `others`, all after it.
    fn pick(&self, i: usize, others: &[u32], out: &mut [f64]);

    /// The value of slots `i < j`.
    fn value(&self, i: usize, j: usize) -> f64 {
        let mut out = [0.0];
        self.pick(i, &[j as u32], &mut out);
        out[0]
    }
}

/// The input as it is.
pub(super) struct Given<'m> {
    pub(super) matrix: &'m Matrix<'m>,
    pub(super) squared: bool,
}

impl Triangle for Given<'_> {
    fn len(&self) -> usize {
        self.matrix.n_leaves()
    }

    fn row<'s>(&'s self, i: usize, scratch: &'s mut [f64]) -> &'s [f64] {
        let row = &mut scratch[..self.len() - i - 1];
        self.matrix.write_row_after(i, self.squared, row);
        row
    }

    fn pick(&self, i: usize, others: &[u32], out: &mut [f64]) {
        self.matrix.write_picked(i, others, self.squared, out);
    }
}

/// Condensed similarities.
pub(super) struct Condensed<'v> {
    pub(super) values: &'v [f64],
    pub(super) k: usize,
}

impl Triangle for Condensed<'_> {
    fn len(&self) -> usize {
        self.k
    }

    fn row<'s>(&'s self, i: usize, _: &'s mut [f64]) -> &'s [f64] {
        let start = row_start(self.k, i).wrapping_add(i + 1);
        &self.values[start..start + (self.k - i - 1)]
    }

    fn pick(&self, i: usize, others: &[u32], out: &mut [f64]) {
        let start = row_start(self.k, i);
        for (value, &j) in out.iter_mut().zip(others) {
            *value = self.values[start.wrapping_add(j as usize)];
        }
    }
}

/// The nearest slot of every slot, in one pass.
pub(super) fn all_nearest<U: Update>(
    triangle: &impl Triangle,
    sizes: &[f64],
    tolerance: Tolerance,
    monitor: &Monitor,
) -> Result<Vec<Nearest>> {
    let k = triangle.len();
    let parts = Mutex::new(parts(k).into_iter());
    let found = parallel::map(threads(k), |_| {
        let mut search = Search::new(k, tolerance);
        let mut scratch = vec![0.0; k];
        while let Some(rows) = next(&parts) {
            for i in rows {
                search.add::<U>(i, triangle.row(i, &mut scratch), sizes);
            }
            monitor.advance(0)?;
        }
        Ok(search)
    });
    Ok(Search::join(found.into_iter().collect::<Result<_>>()?))
}

/// Pairs of slots `i < j` that merge, a pair at a time; slots that were merged may merge again.
pub(super) struct Pairs {
    /// By new slot: the old slot, the first one of those that it is made of.
    left: Vec<u32>,
    /// By new slot: where its pairs end in `merged`.
    ends: Vec<u32>,
    /// The pairs of old slots.
    merged: Vec<(u32, u32)>,
}

impl Pairs {
    /// Pairs, sorted by the slot that `first` says that they end in.
    pub(super) fn new(first: &[usize], pairs: impl Iterator<Item = (usize, usize)>) -> Self {
        let merged: Vec<(u32, u32)> = pairs.map(|(i, j)| (i as u32, j as u32)).collect();
        let mut left = Vec::with_capacity(first.len() - merged.len());
        let mut ends = Vec::with_capacity(first.len() - merged.len());
        let mut end = 0;
        for slot in (0..first.len()).filter(|&slot| first[slot] == slot) {
            end += merged[end..].iter().take_while(|&&(i, _)| first[i as usize] == slot).count();
            left.push(slot as u32);
            ends.push(end as u32);
        }
        Self { left, ends, merged }
    }

    /// The reciprocal pairs.
    pub(super) fn reciprocal(nearest: &[Nearest]) -> Self {
        let partner =
            |i: usize| nearest.get(nearest[i].cluster).filter(|near| near.cluster == i).map(|_| nearest[i].cluster);
        let first: Vec<usize> = (0..nearest.len()).map(|i| partner(i).map_or(i, |j| i.min(j))).collect();
        let pairs = (0..nearest.len()).filter_map(|i| partner(i).filter(|&j| i < j).map(|j| (i, j)));
        Self::new(&first, pairs)
    }

    /// The number of slots that are left.
    pub(super) fn n_left(&self) -> usize {
        self.left.len()
    }

    /// The pairs, for every slot that is left in the order of merging.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.merged.iter().map(|&(i, j)| (i as usize, j as usize))
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.merged.len()
    }

    /// The sizes of the slots that are left, from those before.
    pub(super) fn sizes(&self, sizes: &[f64]) -> Vec<f64> {
        let mut sizes = sizes.to_vec();
        self.iter().for_each(|(i, j)| sizes[i] += sizes[j]);
        self.left().map(|slot| sizes[slot]).collect()
    }

    /// The slots that are left.
    pub(super) fn left(&self) -> impl Iterator<Item = usize> {
        self.left.iter().map(|&slot| slot as usize)
    }

    /// Which of the pairs make up a new slot.
    fn of(&self, slot: usize) -> Range<usize> {
        let start = slot.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[slot] as usize
    }

    /// What merging the pairs does to others, where no slot is in two pairs.
    pub(super) fn folds<U: Update>(&self, update: &U, from: &impl Triangle, sizes: &[f64]) -> Vec<U::Merge> {
        let fold =
            |(i, j): (usize, usize)| update.merge(Merging { n_i: sizes[i], n_j: sizes[j], x_ij: from.value(i, j) });
        self.iter().map(fold).collect()
    }
}

/// So many rows are written at a time, that columns share cache lines.
const BATCH: usize = 256;

/// One round. `sizes` and `clusters` are those before it, `new_sizes` those after.
pub(super) struct Round<'a, U: Update, T: Triangle> {
    pub(super) update: &'a U,
    pub(super) from: T,
    pub(super) pairs: &'a Pairs,
    pub(super) folds: &'a [U::Merge],
    pub(super) sizes: &'a [f64],
    pub(super) new_sizes: &'a [f64],
    pub(super) clusters: &'a [usize],
    pub(super) tolerance: Tolerance,
}

impl<U: Update, T: Triangle> Round<'_, U, T> {
    /// Writes the triangle after the merges to `out` and returns the nearest of its slots.
    pub(super) fn run(&self, out: &mut [f64], monitor: &Monitor) -> Result<Vec<Nearest>> {
        let k = self.pairs.n_left();
        let rows = parts(k);
        let ends: Vec<usize> = rows.iter().map(|rows| condensed_len(k) - condensed_len(k - rows.end)).collect();
        let slices = parallel::split_at_ends(out, &ends);
        let parts = Mutex::new(rows.into_iter().zip(slices).collect::<Vec<_>>().into_iter());
        let found = parallel::map(threads(k), |_| {
            let mut search = Search::new(k, self.tolerance);
            let (mut columns, mut scratch) = (Columns::default(), Vec::new());
            while let Some((rows, mut out)) = next(&parts) {
                for start in rows.clone().step_by(BATCH) {
                    let slots = start..rows.end.min(start + BATCH);
                    columns.read(&self.from, slots.clone().flat_map(|slot| self.columns(slot)));
                    for slot in slots {
                        let (row, rest) = out.split_at_mut(k - slot - 1);
                        self.write_row(slot, &columns, &mut scratch, row);
                        if U::MAY_FAIL {
                            let name = |slot: usize| self.clusters[self.pairs.left[slot] as usize];
                            check_row(row, |at| name(slot + 1 + at), name(slot))?;
                        }
                        search.add::<U>(slot, row, self.new_sizes);
                        out = rest;
                        monitor.advance(0)?;
                    }
                }
            }
            Ok(search)
        });
        Ok(Search::join(found.into_iter().collect::<Result<_>>()?))
    }

    /// The columns that the row of a new slot needs: old slots, each from the first one that matters.
    fn columns(&self, slot: usize) -> impl Iterator<Item = (usize, usize)> {
        let first = self.pairs.left[slot] as usize + 1;
        self.pairs.merged[self.pairs.of(slot)].iter().map(move |&(_, j)| (first, j as usize))
    }

    /// One row of the next triangle: first its own merges, then those of later slots, in order.
    fn write_row(&self, slot: usize, columns: &Columns, scratch: &mut Vec<Vec<f64>>, out: &mut [f64]) {
        let Pairs { left, merged, .. } = self.pairs;
        let i = left[slot] as usize;
        let Range { start, end } = self.pairs.of(slot);
        let own = &merged[start..end];
        let k = self.from.len();
        while scratch.len() < own.len() + 2 {
            scratch.push(vec![0.0; k]);
        }
        let (spare, scratch) = scratch.split_first_mut().expect("there are two");
        let len = k - i - 1;
        let old = self.from.row(i, spare);
        let row: &mut [f64] = &mut scratch[0][..len];
        row.copy_from_slice(old);
        for (&(_, j), column) in own.iter().zip(&mut scratch[1..]) {
            let j = j as usize;
            column[..j - i - 1].copy_from_slice(columns.of(j));
            column[j - i..len].copy_from_slice(self.from.row(j, spare));
        }
        for (at, (&(a, _), fold)) in own.iter().zip(&self.folds[start..]).enumerate() {
            let to = own.iter().position(|&(_, j)| j == a).map_or(0, |at| at + 1);
            let Ok([to, from]) = scratch.get_disjoint_mut([to, at + 1]) else { continue };
            for ((x_i, &x_j), &n_k) in to[..len].iter_mut().zip(&from[..len]).zip(&self.sizes[i + 1..]) {
                *x_i = self.update.fold(fold, *x_i, x_j, n_k);
            }
        }
        let row = &mut scratch[0][..len];
        let n_i = self.new_sizes[slot];
        for (&(a, b), fold) in merged[end..].iter().zip(&self.folds[end..]) {
            let (a, b) = (a as usize - i - 1, b as usize - i - 1);
            row[a] = self.update.fold(fold, row[a], row[b], n_i);
        }
        for (value, &from) in out.iter_mut().zip(&left[slot + 1..]) {
            *value = row[from as usize - i - 1];
        }
    }
}

/// Threads only pay for many pairs.
pub(super) fn threads(k: usize) -> Vec<usize> {
    (0..parallel::ranges(condensed_len(k), 1 << 18).len()).collect()
}

/// Rows of a triangle in parts of about the same area, a few for every thread.
pub(super) fn parts(k: usize) -> Vec<Range<usize>> {
    const EACH: usize = 8;
    let parts = match threads(k).len() {
        1 => 1,
        threads => EACH * threads,
    };
    let end = |p: usize| (k as f64 * (1.0 - (1.0 - p as f64 / parts as f64).sqrt())) as usize;
    (0..parts).map(|p| end(p)..if p + 1 == parts { k } else { end(p + 1) }).collect()
}

pub(super) fn next<T>(items: &Mutex<std::vec::IntoIter<T>>) -> Option<T> {
    items.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next()
}
