//! Rounds: all reciprocal nearest pairs are merged in one pass from one triangle to the next.

use std::ops::Range;
use std::sync::Mutex;

use super::matrix::Matrix;
use super::rows::check_row;
use super::search::RowSearch;
use super::{Nearest, Tolerance};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::{Triangle, condensed_len};

/// A triangle that is only read.
pub(super) trait TriangleRows: Sync {
    /// The number of slots.
    fn len(&self) -> usize;

    /// The values of slot `i` with the slots after it, maybe written to `scratch`.
    fn row<'s>(&'s self, i: usize, scratch: &'s mut [f64]) -> &'s [f64];

    /// Writes the values of slot `j` with the slots `others`, all before it.
    fn column(&self, j: usize, others: Range<usize>, out: &mut [f64]);
}

/// The input as it is.
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

/// Condensed similarities.
pub(super) struct Condensed<'v> {
    pub(super) values: &'v [f64],
    pub(super) k: usize,
}

impl TriangleRows for Condensed<'_> {
    fn len(&self) -> usize {
        self.k
    }

    fn row<'s>(&'s self, i: usize, _: &'s mut [f64]) -> &'s [f64] {
        let start = Triangle::new(self.k).before(i);
        &self.values[start..start + (self.k - i - 1)]
    }

    fn column(&self, j: usize, others: Range<usize>, out: &mut [f64]) {
        for (value, i) in out.iter_mut().zip(others) {
            *value = self.values[Triangle::new(self.k).index(i, j)];
        }
    }
}

/// The nearest slot of every slot, in one pass.
pub(super) fn all_nearest<U: Update>(
    triangle: &impl TriangleRows,
    sizes: &[f64],
    tolerance: Tolerance,
    monitor: &Monitor,
) -> Result<Vec<Nearest>> {
    let k = triangle.len();
    let parts = Mutex::new(parts(k).into_iter());
    let found = parallel::map(threads(k), |_| {
        let mut search = RowSearch::new(k, tolerance);
        let mut scratch = vec![0.0; k];
        while let Some(rows) = next(&parts) {
            for i in rows {
                search.add::<U>(i, triangle.row(i, &mut scratch), sizes);
            }
            monitor.advance(0)?;
        }
        Ok(search)
    });
    Ok(RowSearch::join(found.into_iter().collect::<Result<_>>()?, monitor))
}

/// Disjoint pairs of slots `i < j` that merge.
pub(super) struct Pairs {
    /// By new slot: the old slot.
    left: Vec<u32>,
    /// New slots that are merged, ascending, and the old slots that they take in.
    merged: Vec<(u32, u32)>,
}

impl Pairs {
    /// The reciprocal pairs.
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

    /// The number of slots that are left.
    pub(super) fn n_left(&self) -> usize {
        self.left.len()
    }

    /// The pairs.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.merged.iter().map(|&(i, j)| (self.left[i as usize] as usize, j as usize))
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.merged.len()
    }

    /// The sizes of the slots that are left, from those before.
    pub(super) fn sizes(&self, sizes: &[f64]) -> Vec<f64> {
        let mut new: Vec<f64> = self.left().map(|slot| sizes[slot]).collect();
        self.merged.iter().for_each(|&(i, j)| new[i as usize] += sizes[j as usize]);
        new
    }

    /// The slots that are left.
    pub(super) fn left(&self) -> impl Iterator<Item = usize> {
        self.left.iter().map(|&slot| slot as usize)
    }
}

/// One round. `sizes` and `clusters` are those before it, `new_sizes` those after.
pub(super) struct Round<'a, U: Update, T: TriangleRows> {
    pub(super) update: &'a U,
    pub(super) from: T,
    pub(super) pairs: &'a Pairs,
    pub(super) sizes: &'a [f64],
    pub(super) new_sizes: &'a [f64],
    pub(super) clusters: &'a [usize],
    pub(super) tolerance: Tolerance,
}

impl<U: Update, T: TriangleRows> Round<'_, U, T> {
    /// Writes the triangle after the merges to `out` and returns the nearest of its slots.
    pub(super) fn run(&self, out: &mut [f64], monitor: &Monitor) -> Result<Vec<Nearest>> {
        let k = self.pairs.n_left();
        let merges: Vec<U::Merge> = self.pairs.iter().map(|(i, j)| self.merge(i, j)).collect();
        let rows = parts(k);
        let ends: Vec<usize> = rows.iter().map(|rows| Triangle::new(k).before(rows.end)).collect();
        let slices = parallel::split_at_ends(out, &ends);
        let parts = Mutex::new(rows.into_iter().zip(slices).collect::<Vec<_>>().into_iter());
        let found = parallel::map(threads(k), |_| {
            let mut search = RowSearch::new(k, self.tolerance);
            let mut scratch = Scratch::new(self.from.len());
            while let Some((rows, mut out)) = next(&parts) {
                for slot in rows {
                    let (row, rest) = out.split_at_mut(k - slot - 1);
                    self.write_row(slot, &merges, &mut scratch, row);
                    if U::MAY_FAIL {
                        let name = |slot: usize| self.clusters[self.pairs.left[slot] as usize];
                        check_row(row, |at| name(slot + 1 + at), name(slot))?;
                    }
                    search.add::<U>(slot, row, self.new_sizes);
                    out = rest;
                    monitor.advance(0)?;
                }
            }
            Ok(search)
        });
        Ok(RowSearch::join(found.into_iter().collect::<Result<_>>()?, monitor))
    }

    fn merge(&self, i: usize, j: usize) -> U::Merge {
        let mut x_ij = [0.0];
        self.from.column(j, i..i + 1, &mut x_ij);
        self.update.merge(Merging { n_i: self.sizes[i], n_j: self.sizes[j], x_ij: x_ij[0] })
    }

    /// One row of the next triangle: first its own merge, then those of later slots, in order.
    fn write_row(&self, slot: usize, merges: &[U::Merge], scratch: &mut Scratch, out: &mut [f64]) {
        let Pairs { left, merged } = self.pairs;
        let i = left[slot] as usize;
        let later = merged.partition_point(|&(first, _)| first as usize <= slot);
        let other = merged[..later].last().filter(|&&(first, _)| first as usize == slot).map(|&(_, j)| j as usize);
        let Scratch { row, row_j, column } = scratch;
        let old: &[f64] = match other {
            None => self.from.row(i, row),
            Some(j) => {
                let merge = &merges[later - 1];
                let row_i = self.from.row(i, row);
                let between = &mut column[..j - i - 1];
                self.from.column(j, i + 1..j, between);
                let (head, tail) = row_i.split_at(j - i - 1);
                for ((x_j, &x_i), &n_k) in between.iter_mut().zip(head).zip(&self.sizes[i + 1..]) {
                    *x_j = self.update.fold(merge, x_i, *x_j, n_k);
                }
                let row_j = self.from.row(j, row_j);
                let after = column[j - i..].iter_mut().zip(&self.sizes[j + 1..]);
                for ((value, &n_k), (&x_i, &x_j)) in after.zip(tail[1..].iter().zip(row_j)) {
                    *value = self.update.fold(merge, x_i, x_j, n_k);
                }
                column
            }
        };
        for (value, &from) in out.iter_mut().zip(&left[slot + 1..]) {
            *value = old[from as usize - i - 1];
        }
        let n_i = self.new_sizes[slot];
        for (&(first, j), merge) in merged[later..].iter().zip(&merges[later..]) {
            let value = &mut out[first as usize - slot - 1];
            *value = self.update.fold(merge, *value, old[j as usize - i - 1], n_i);
        }
    }
}

struct Scratch {
    row: Vec<f64>,
    row_j: Vec<f64>,
    column: Vec<f64>,
}

impl Scratch {
    fn new(k: usize) -> Self {
        Self { row: vec![0.0; k], row_j: vec![0.0; k], column: vec![0.0; k] }
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
