//! Few clusters: a square that fits into a core's cache, in which a merge writes its rows and its columns at once.

use super::matrix::Matrix;
use super::rows::similarity;
use super::{Linkage, NOBODY, Nearest, Tolerance};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;

/// Up to so many leaves.
pub(super) const FEW: usize = 1500;
/// It can hold so many.
pub(super) const MOST: usize = 2048;

/// Clusters by slot, of which the first ones are there: the last one moves to where a cluster is gone.
pub(super) struct SmallRows<'a, U: Update> {
    update: &'a U,
    /// By slot; minus infinity of a cluster with itself.
    values: Vec<f64>,
    stride: usize,
    n_alive: usize,
    /// By slot: the size and the smallest leaf.
    sizes: Vec<f64>,
    names: Vec<usize>,
    /// By smallest leaf: the slot, how often the cluster has merged, and the nearest that was found, with how often
    /// that one had merged then.
    slots: Vec<usize>,
    merged: Vec<u32>,
    near: Vec<(Nearest, u32)>,
    /// The rows that become columns.
    columns: [Vec<f64>; 2],
    tolerance: Tolerance,
}

/// An odd number of cache lines for each of many rows: values of a column don't compete for the same places then.
fn stride(n: usize) -> usize {
    if n < BLOCK { n } else { (n.div_ceil(LANES) * LANES) | LANES }
}

/// Slots of which the largest similarity is known, so that only those near the largest of all are looked at again.
const BLOCK: usize = 64;
const LANES: usize = 8;

impl<'a, U: Update> SmallRows<'a, U> {
    pub(super) fn new(
        update: &'a U,
        matrix: &Matrix<'_>,
        squared: bool,
        tolerance: Tolerance,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n = matrix.n_leaves();
        let stride = stride(n);
        let mut values = vec![0.0; stride * stride];
        matrix.write_square(squared, &mut values, monitor)?;
        let names: Vec<usize> = (0..n).collect();
        Ok(Self {
            update,
            values,
            stride,
            n_alive: n,
            sizes: vec![1.0; n],
            slots: names.clone(),
            names,
            merged: vec![0; n],
            near: vec![(NOBODY, 0); n],
            columns: [vec![0.0; n], vec![0.0; n]],
            tolerance,
        })
    }

    fn row(&self, slot: usize) -> &[f64] {
        &self.values[slot * self.stride..][..self.n_alive]
    }

    /// The nearest of a slot.
    fn look(&self, slot: usize) -> Nearest {
        let (row, n_i, tolerance) = (self.row(slot), self.sizes[slot], self.tolerance);
        let sizes = &self.sizes[..row.len()];
        let mut tops = [f64::NEG_INFINITY; MOST / BLOCK];
        for (top, (values, sizes)) in tops.iter_mut().zip(row.chunks(BLOCK).zip(sizes.chunks(BLOCK))) {
            *top = largest::<U>(values, n_i, sizes);
        }
        let top = tops.into_iter().fold(f64::NEG_INFINITY, larger);
        if top == f64::NEG_INFINITY {
            return NOBODY;
        }
        let floor = tolerance.floor(top);
        let mut near = NOBODY;
        // What is equal to the nearest is as near, where that is certain; asked when there is another.
        let mut equal = None;
        let mut offer = |slot: usize, s: f64| {
            let name = self.names[slot];
            if near.cluster == NOBODY.cluster {
                near = Nearest::new(name, s);
            } else if s == *equal.get_or_insert_with(|| tolerance.certain(near.similarity)) {
                near.cluster = near.cluster.min(name);
            } else if near.offer(Nearest::new(name, s), tolerance) {
                equal = None;
            }
        };
        for block in (0..row.len().div_ceil(BLOCK)).filter(|&block| tops[block] >= floor) {
            let places = block * BLOCK..((block + 1) * BLOCK).min(row.len());
            let (values, sizes) = (&row[places.clone()], &sizes[places.clone()]);
            let (chunks, rest) = values.as_chunks::<LANES>();
            let mut first = places.start;
            for (values, sizes) in chunks.iter().zip(sizes.as_chunks::<LANES>().0) {
                let s: [f64; LANES] = std::array::from_fn(|k| similarity::<U>(values[k], n_i, sizes[k]));
                if s.iter().fold(false, |any, &s| any | (s >= floor)) {
                    (first..).zip(s).filter(|&(_, s)| s >= floor).for_each(|(slot, s)| offer(slot, s));
                }
                first += LANES;
            }
            for (slot, (&x, &n_k)) in (first..).zip(rest.iter().zip(sizes.as_chunks::<LANES>().1)) {
                let s = similarity::<U>(x, n_i, n_k);
                if s >= floor {
                    offer(slot, s);
                }
            }
        }
        near
    }
}

impl<U: Update> Linkage for SmallRows<'_, U> {
    fn n_leaves(&self) -> usize {
        self.slots.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        let i = self.slots[i];
        for (value, &k) in out.iter_mut().zip(others) {
            let k = self.slots[k];
            *value = similarity::<U>(self.row(i)[k], self.sizes[i], self.sizes[k]);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        let (at_i, at_j, stride, n) = (self.slots[i], self.slots[j], self.stride, self.n_alive);
        // The merged cluster takes the first of the two slots, the last one the second.
        let (kept, gone, last) = (at_i.min(at_j), at_i.max(at_j), n - 1);
        let [sizes_i, sizes_j] = [at_i, at_j].map(|at| self.sizes[at]);
        let (head, tail) = self.values.split_at_mut(gone * stride);
        let (row_kept, row_gone) = (&mut head[kept * stride..][..n], &tail[..n]);
        let merge = self.update.merge(Merging { n_i: sizes_i, n_j: sizes_j, x_ij: row_kept[gone] });
        for ((x, &y), &n_k) in row_kept.iter_mut().zip(row_gone).zip(&self.sizes) {
            let (x_i, x_j) = if at_i == kept { (*x, y) } else { (y, *x) };
            *x = self.update.fold(&merge, x_i, x_j, n_k);
        }
        row_kept[kept] = f64::NEG_INFINITY;
        row_kept[gone] = row_kept[last];
        let [column, moved] = &mut self.columns;
        column[..n].copy_from_slice(row_kept);
        (self.sizes[kept], self.names[kept], self.slots[i]) = (sizes_i + sizes_j, i, kept);
        self.n_alive = last;
        if gone == last {
            for (row, &x) in self.values.chunks_exact_mut(stride).zip(&column[..last]) {
                row[kept] = x;
            }
        } else {
            self.values.copy_within(last * stride..last * stride + n, gone * stride);
            let row = &mut self.values[gone * stride..][..n];
            (row[kept], row[gone]) = (column[gone], f64::NEG_INFINITY);
            moved[..n].copy_from_slice(row);
            let rows = self.values.chunks_exact_mut(stride);
            for ((row, &x), &y) in rows.zip(&column[..last]).zip(&moved[..last]) {
                row[kept] = x;
                row[gone] = y;
            }
            (self.sizes[gone], self.names[gone]) = (self.sizes[last], self.names[last]);
            self.slots[self.names[gone]] = gone;
        }
        self.merged[i] += 1;
        self.merged[j] += 1;
        self.near[i] = (NOBODY, 0);
        Ok(())
    }

    /// A nearest that was found stays the nearest until it merges: the linkage is reducible, and a merged cluster that
    /// is as near comes later, since both of its parts did.
    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let (known, merged) = self.near[i];
        if known.cluster != NOBODY.cluster && self.merged[known.cluster] == merged {
            return Ok(known);
        }
        let found = self.look(self.slots[i]);
        self.near[i] = (found, self.merged.get(found.cluster).copied().unwrap_or(0));
        Ok(found)
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// The largest similarity of a block.
fn largest<U: Update>(values: &[f64], n_i: f64, sizes: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for (values, sizes) in chunks.iter().zip(sizes.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            lanes[lane] = larger(lanes[lane], similarity::<U>(values[lane], n_i, sizes[lane]));
        }
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] = larger(lanes[lane], lanes[lane + width]);
        }
    }
    let mut top = lanes[0];
    for k in values.len() - rest.len()..values.len() {
        top = larger(top, similarity::<U>(values[k], n_i, sizes[k]));
    }
    top
}
