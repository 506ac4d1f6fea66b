//! Few clusters: a square that fits into a core's cache, in which a merge writes its row and its column at once.

use super::matrix::Matrix;
use super::rows::similarity;
use super::{Linkage, NOBODY, Nearest, Tolerance};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;

/// Up to so many leaves.
pub(super) const FEW: usize = 512;

/// Clusters by slot, in the order of their smallest leaves.
pub(super) struct SmallRows<'a, U: Update> {
    update: &'a U,
    values: Vec<f64>,
    stride: usize,
    /// By slot: the size, the smallest leaf, and what is added to similarities: minus infinity where a cluster is gone.
    sizes: Vec<f64>,
    names: Vec<usize>,
    gone: Vec<f64>,
    n_alive: usize,
    /// By smallest leaf.
    slots: Vec<usize>,
    tolerance: Tolerance,
}

/// Squares of fewer slots are not packed.
const PACK_FROM: usize = 32;
/// Slots of which the largest similarity is known, so that only those near the largest of all are looked at again.
const BLOCK: usize = 32;
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
        let mut values = vec![0.0; n * n];
        matrix.write_square(squared, &mut values, monitor)?;
        let names: Vec<usize> = (0..n).collect();
        let slots = names.clone();
        Ok(Self {
            update,
            values,
            stride: n,
            sizes: vec![1.0; n],
            names,
            gone: vec![0.0; n],
            n_alive: n,
            slots,
            tolerance,
        })
    }

    fn row(&self, slot: usize) -> &[f64] {
        &self.values[slot * self.stride..(slot + 1) * self.stride]
    }

    /// Leaves out slots of clusters that are gone.
    fn pack(&mut self) {
        let kept: Vec<usize> = (0..self.stride).filter(|&slot| self.gone[slot] == 0.0).collect();
        let mut to = 0;
        for &i in &kept {
            for &k in &kept {
                self.values[to] = self.values[i * self.stride + k];
                to += 1;
            }
        }
        self.stride = kept.len();
        self.sizes = kept.iter().map(|&slot| self.sizes[slot]).collect();
        self.names = kept.iter().map(|&slot| self.names[slot]).collect();
        self.gone.truncate(self.stride);
        self.gone.fill(0.0);
        for (slot, &name) in self.names.iter().enumerate() {
            self.slots[name] = slot;
        }
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
        let (i, j, stride) = (self.slots[i], self.slots[j], self.stride);
        let (head, tail) = self.values.split_at_mut(j * stride);
        let row_i = &mut head[i * stride..(i + 1) * stride];
        let merge = self.update.merge(Merging { n_i: self.sizes[i], n_j: self.sizes[j], x_ij: row_i[j] });
        for ((x_i, &x_j), &n_k) in row_i.iter_mut().zip(&*tail).zip(&self.sizes) {
            *x_i = self.update.fold(&merge, *x_i, x_j, n_k);
        }
        row_i[i] = f64::NEG_INFINITY;
        let (before, rest) = self.values.split_at_mut(i * stride);
        let (row_i, after) = rest.split_at_mut(stride);
        for (row, &x) in before.chunks_exact_mut(stride).zip(&*row_i) {
            row[i] = x;
        }
        for (row, &x) in after.chunks_exact_mut(stride).zip(&row_i[i + 1..]) {
            row[i] = x;
        }
        self.sizes[i] += self.sizes[j];
        self.gone[j] = f64::NEG_INFINITY;
        self.n_alive -= 1;
        if stride > PACK_FROM && 4 * self.n_alive < 3 * stride {
            self.pack();
        }
        Ok(())
    }

    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let own = self.slots[i];
        let (row, n_i, tolerance) = (self.row(own), self.sizes[own], self.tolerance);
        let at = |k: usize| similarity::<U>(row[k], n_i, self.sizes[k]) + self.gone[k];
        let blocks = row.chunks(BLOCK).zip(self.sizes.chunks(BLOCK)).zip(self.gone.chunks(BLOCK));
        let mut tops = [f64::NEG_INFINITY; FEW / BLOCK];
        for (top, ((values, sizes), gone)) in tops.iter_mut().zip(blocks) {
            *top = largest::<U>(values, n_i, sizes, gone);
        }
        let top = tops.into_iter().fold(f64::NEG_INFINITY, larger);
        if top == f64::NEG_INFINITY {
            return Ok(NOBODY);
        }
        let floor = tolerance.floor(top);
        let (mut near, mut equal) = (NOBODY, f64::NAN);
        for block in (0..row.len().div_ceil(BLOCK)).filter(|&block| tops[block] >= floor) {
            for k in block * BLOCK..((block + 1) * BLOCK).min(row.len()) {
                let s = at(k);
                if s >= floor && s != equal && near.offer(Nearest::new(k, s), tolerance) {
                    equal = tolerance.certain(s);
                }
            }
        }
        Ok(Nearest { cluster: self.names[near.cluster], ..near })
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// The largest similarity of a block.
fn largest<U: Update>(values: &[f64], n_i: f64, sizes: &[f64], gone: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let others = sizes.as_chunks::<LANES>().0.iter().zip(gone.as_chunks::<LANES>().0);
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for (values, (sizes, gone)) in chunks.iter().zip(others) {
        for lane in 0..LANES {
            lanes[lane] = larger(lanes[lane], similarity::<U>(values[lane], n_i, sizes[lane]) + gone[lane]);
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
        top = larger(top, similarity::<U>(values[k], n_i, sizes[k]) + gone[k]);
    }
    top
}
