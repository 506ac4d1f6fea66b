//! Few clusters: a square that fits into a core's cache, of which a merge writes one row.
//!
//! A row that is looked at takes over the values of clusters that have merged meanwhile from their rows; short rows
//! learn of each merge at once.

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::chain::Chain;
use super::few_square::{LANES, padded, stride, write_padded};
use super::matrix::Matrix;
use super::rows::{SquareRows, similarity};
use super::{Doubts, Linkage, NOBODY, Nearest, Tolerance};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;
use crate::tree::RawMerge;

/// Up to so many leaves.
pub(super) const FEW: usize = 1500;
/// It can hold so many.
pub(super) const MOST: usize = 2048;

/// Vectors of which the largest similarities are kept, so that only those near the largest of all are looked at again.
const BLOCK: usize = 8;
/// Squares of fewer positions are not packed, others when one of so many clusters is left.
const PACK_FROM: usize = 64;
const PACK: usize = 2;
/// Rows of so many values learn of a merge at once: a value that has just been written can't be read with its whole
/// vector for a while.
const AT_ONCE: usize = 128;

/// Clusters by position, in the order of their smallest leaves.
pub(super) struct SmallRows<'a, U: Update> {
    update: &'a U,
    /// By position; minus infinity of a cluster with itself.
    values: &'a mut [f64],
    stride: usize,
    /// How many positions are in use, with the clusters that are gone, and how many clusters there are.
    n_used: usize,
    n_alive: usize,
    /// By position: the size, its inverse, where values are sums, and what is added to similarities: minus infinity
    /// where no cluster is.
    sizes: Vec<f64>,
    shares: Vec<f64>,
    gone: Vec<f64>,
    /// By position: the smallest leaf.
    names: Vec<u32>,
    /// By smallest leaf: the position.
    positions: Vec<u32>,
    /// The positions of merged clusters, in the order of the merges, and how many of them a row has seen; empty where
    /// rows learn of a merge at once.
    log: Vec<u32>,
    seen: Vec<u32>,
    /// The largest similarities of the blocks of a row.
    tops: Vec<[f64; LANES]>,
    tolerance: Tolerance,
}

/// The merges of few leaves, not in order.
pub(super) fn merges<U: Update>(
    update: &U,
    matrix: &Matrix<'_>,
    squared: bool,
    doubts: &mut Doubts<'_>,
) -> Result<Vec<RawMerge>> {
    entered!(small);
    let (mut chain, mut room) = (Chain::unlisted(matrix.n_leaves()), room(matrix.n_leaves()));
    let mut rows = SmallRows::new(update, matrix, squared, &mut room, doubts.tolerance(), doubts.monitor())?;
    rows.finish(&mut chain, doubts)?;
    Ok(chain.into_merges())
}

/// Memory for the similarities of `n` clusters.
pub(super) fn room(n: usize) -> Vec<f64> {
    vec![0.0; stride(n) * padded(n)]
}

impl<'a, U: Update> SmallRows<'a, U> {
    /// Leaves, in the [`room`] for them.
    pub(super) fn new(
        update: &'a U,
        matrix: &Matrix<'_>,
        squared: bool,
        values: &'a mut [f64],
        tolerance: Tolerance,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n = matrix.n_leaves();
        write_padded(matrix, squared, values, stride(n), monitor)?;
        let names: Vec<u32> = (0..n as u32).collect();
        Ok(Self::over(update, values, names.clone(), names, |_| 1.0, tolerance))
    }

    /// What is left of a larger square, in its memory; nothing, if it isn't larger, or where what
    /// may fail is looked at when it is written.
    pub(super) fn within(rows: &'a mut SquareRows<'_, U>) -> Option<Self>
    where
        U: 'a,
    {
        let (n, from) = (rows.n_alive, rows.stride);
        let to = stride(n);
        if U::MAY_FAIL || to > from {
            return None;
        }
        entered!(small_after_square);
        rows.pack();
        let SquareRows { update, values, lines, sizes, clusters, positions, tolerance, .. } = rows;
        let values: &mut [f64] = values;
        for (at, &line) in lines.iter().enumerate() {
            let start = line as usize * from;
            values.copy_within(start..start + n, at * to);
            values[at * to + n..at * to + padded(n)].fill(0.0);
        }
        let names = clusters.iter().map(|&cluster| cluster as u32).collect();
        let positions = positions.iter().map(|&at| at as u32).collect();
        Some(Self::over(update, values, names, positions, |at| sizes[at], *tolerance))
    }

    /// Clusters of which the square holds the similarities.
    fn over(
        update: &'a U,
        values: &'a mut [f64],
        names: Vec<u32>,
        positions: Vec<u32>,
        size: impl Fn(usize) -> f64,
        tolerance: Tolerance,
    ) -> Self {
        let n = names.len();
        let n_padded = padded(n);
        let padded_with = |rest: f64, number: &dyn Fn(usize) -> f64| {
            let mut numbers = Vec::with_capacity(n_padded);
            numbers.extend((0..n).map(number));
            numbers.resize(n_padded, rest);
            numbers
        };
        let stride = stride(n);
        let seen = if stride <= AT_ONCE { Vec::new() } else { vec![0; n] };
        Self {
            update,
            values,
            stride,
            n_used: n,
            n_alive: n,
            sizes: padded_with(1.0, &size),
            shares: if U::SUMS { padded_with(1.0, &|at| 1.0 / size(at)) } else { Vec::new() },
            gone: padded_with(f64::NEG_INFINITY, &|_| 0.0),
            names,
            positions,
            log: Vec::with_capacity(seen.len()),
            seen,
            tops: vec![[f64::NEG_INFINITY; LANES]; n_padded.div_ceil(BLOCK * LANES)],
            tolerance,
        }
    }

    /// Goes on with a chain until one cluster is left.
    pub(super) fn finish(&mut self, chain: &mut Chain, doubts: &mut Doubts<'_>) -> Result<()> {
        wide!(simd => chain.run_on(&mut InLanes { rows: self, simd }, 1, doubts))
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.positions.len()
    }

    /// The nearest of cluster `i`.
    pub(super) fn nearest(&mut self, i: usize) -> Nearest {
        wide!(simd => self.look(simd, i))
    }

    /// Merges cluster `j` into cluster `i < j`.
    pub(super) fn merge(&mut self, i: usize, j: usize) {
        wide!(self.fold(i, j));
    }

    /// Writes the similarity of cluster `i` with each of `others`.
    pub(super) fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) {
        let i = self.positions[i] as usize;
        self.bring_up_to_date(i);
        for (value, &k) in out.iter_mut().zip(others) {
            let k = self.positions[k] as usize;
            *value = similarity::<U>(self.values[i * self.stride + k], self.sizes[i], self.sizes[k]);
        }
    }

    /// The row of a position takes over what others have learned.
    #[inline(always)]
    fn bring_up_to_date(&mut self, at: usize) {
        if self.log.is_empty() {
            return;
        }
        let Self { values, stride, .. } = self;
        let (values, stride, own) = (&mut **values, *stride, at * *stride);
        for &merged in &self.log[self.seen[at] as usize..] {
            // With itself and with what is gone it has no similarity.
            values[own + merged as usize] = values[merged as usize * stride + at];
        }
        self.seen[at] = self.log.len() as u32;
    }

    /// All rows take over what that of a merged cluster has.
    #[inline(always)]
    fn tell(&mut self, merged: usize) {
        let (before, rest) = self.values.split_at_mut(merged * self.stride);
        let (row, after) = rest.split_at_mut(self.stride);
        for (other, &x) in before.chunks_exact_mut(self.stride).zip(&row[..merged]) {
            other[merged] = x;
        }
        for (other, &x) in after.chunks_exact_mut(self.stride).zip(&row[merged + 1..self.n_used]) {
            other[merged] = x;
        }
    }

    #[inline(always)]
    fn look<S: Simd>(&mut self, simd: S, i: usize) -> Nearest {
        let at = self.positions[i] as usize;
        self.bring_up_to_date(at);
        let (tolerance, n) = (self.tolerance, padded(self.n_used));
        let row = self.values[at * self.stride..][..n].as_chunks::<LANES>().0;
        let shares = if U::SUMS { &self.shares } else { &self.sizes };
        let shares = shares[..n].as_chunks::<LANES>().0;
        let gone = self.gone[..n].as_chunks::<LANES>().0;
        let tops = &mut self.tops[..row.len().div_ceil(BLOCK)];
        let block = |block: usize| block * BLOCK..(block * BLOCK + BLOCK).min(row.len());
        let nothing = f64x8::splat(simd, f64::NEG_INFINITY);
        let mut top = nothing;
        for (at, block_top) in tops.iter_mut().enumerate() {
            let mut largest = nothing;
            for chunk in block(at) {
                largest = about::<S, U>(simd, &row[chunk], &shares[chunk], &gone[chunk]).max(largest);
            }
            largest.store_array(block_top);
            top = largest.max(top);
        }
        let top = top.reduce_max();
        if top == f64::NEG_INFINITY {
            return NOBODY;
        }
        let floor = if U::SUMS {
            debug_assert!(tolerance == Tolerance::EXACT, "sums are exact");
            top - 4.0 * f64::EPSILON * top.abs()
        } else {
            tolerance.floor(top)
        };
        let floor = f64x8::splat(simd, floor);
        // Each by itself, so that they stay in registers.
        let Nearest { mut cluster, similarity: mut best, mut doubtful } = NOBODY;
        let mut certain = f64::NAN;
        let is_one = tops.len() == 1;
        for (at_block, block_top) in tops.iter().enumerate() {
            if !is_one && !f64x8::load_array_ref(simd, block_top).simd_ge(floor).any_true() {
                continue;
            }
            let (mut lanes, first) = (0, at_block * BLOCK);
            for chunk in block(at_block) {
                let similarities = about::<S, U>(simd, &row[chunk], &shares[chunk], &gone[chunk]);
                lanes |= similarities.simd_ge(floor).to_bitmask() << (LANES * (chunk - first));
            }
            while lanes != 0 {
                let other = LANES * first + lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let x = row[other / LANES][other % LANES];
                let similarity = similarity::<U>(x, self.sizes[at], self.sizes[other]);
                let another = self.names[other] as usize;
                if cluster == NOBODY.cluster {
                    (cluster, best) = (another, similarity);
                } else if similarity != certain {
                    let near = Nearest { cluster, similarity: best, doubtful };
                    let near = consider(near, &mut certain, Nearest::new(another, similarity), tolerance);
                    Nearest { cluster, similarity: best, doubtful } = near;
                }
            }
        }
        Nearest { cluster, similarity: best, doubtful }
    }

    #[inline(always)]
    fn fold(&mut self, i: usize, j: usize) {
        let (at_i, at_j) = (self.positions[i] as usize, self.positions[j] as usize);
        self.bring_up_to_date(at_i);
        self.bring_up_to_date(at_j);
        let (n_i, n_j) = (self.sizes[at_i], self.sizes[at_j]);
        let n = padded(self.n_used);
        let (head, tail) = self.values.split_at_mut(at_j * self.stride);
        let (row_i, row_j) = (&mut head[at_i * self.stride..][..n], &tail[..n]);
        let merge = self.update.merge(Merging { n_i, n_j, x_ij: row_i[at_j] });
        // What is gone gets no numbers that grow.
        for (((x_i, &x_j), &n_k), &gone) in row_i.iter_mut().zip(row_j).zip(&self.sizes[..n]).zip(&self.gone[..n]) {
            let x = self.update.fold(&merge, *x_i, x_j, n_k);
            *x_i = if gone == 0.0 { x } else { gone };
        }
        (row_i[at_i], row_i[at_j]) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        self.sizes[at_i] = n_i + n_j;
        if U::SUMS {
            self.shares[at_i] = 1.0 / (n_i + n_j);
        }
        self.gone[at_j] = f64::NEG_INFINITY;
        self.n_alive -= 1;
        if self.stride <= AT_ONCE {
            self.tell(at_i);
        } else {
            self.log.push(at_i as u32);
            self.seen[at_i] = self.log.len() as u32;
        }
        if self.n_used > PACK_FROM && PACK * self.n_alive <= self.n_used {
            self.pack();
        }
    }

    /// Drops the positions of clusters that are gone.
    #[inline(never)]
    fn pack(&mut self) {
        let kept: Vec<usize> = (0..self.n_used).filter(|&at| self.gone[at] == 0.0).collect();
        let (old, new) = (self.stride, stride(kept.len()));
        kept.iter().for_each(|&at| self.bring_up_to_date(at));
        for (to, &from) in kept.iter().enumerate() {
            let row = &mut self.values[from * old..][..old];
            for (to, &from) in kept.iter().enumerate() {
                row[to] = row[from];
            }
            self.values.copy_within(from * old..from * old + kept.len(), to * new);
        }
        for (to, &from) in kept.iter().enumerate() {
            self.sizes[to] = self.sizes[from];
            if U::SUMS {
                self.shares[to] = self.shares[from];
            }
            self.names[to] = self.names[from];
            self.positions[self.names[to] as usize] = to as u32;
            self.gone[to] = 0.0;
        }
        (self.stride, self.n_used) = (new, kept.len());
        let rest = self.n_used..padded(self.n_used);
        self.gone[rest].fill(f64::NEG_INFINITY);
        self.log.clear();
        self.seen.fill(0);
    }
}

/// Similarities, or where values are sums numbers that are about as many times as large for all of a row.
#[inline(always)]
fn about<S: Simd, U: Update>(simd: S, x: &[f64; LANES], share: &[f64; LANES], gone: &[f64; LANES]) -> f64x8<S> {
    let x = f64x8::load_array_ref(simd, x);
    let x = if U::SUMS { x * f64x8::load_array_ref(simd, share) } else { x };
    x + f64x8::load_array_ref(simd, gone)
}

/// What equals one for certain is as near, and comes later.
#[inline(never)]
fn consider(mut near: Nearest, certain: &mut f64, another: Nearest, tolerance: Tolerance) -> Nearest {
    if certain.is_nan() {
        *certain = tolerance.certain(near.similarity);
    }
    if another.similarity != *certain && near.offer(another, tolerance) {
        *certain = f64::NAN;
    }
    near
}

/// Rows in the vectors of a processor.
struct InLanes<'r, 'a, U: Update, S> {
    rows: &'r mut SmallRows<'a, U>,
    simd: S,
}

impl<U: Update, S: Simd> Linkage for InLanes<'_, '_, U, S> {
    fn n_leaves(&self) -> usize {
        self.rows.positions.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.rows.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        self.rows.similarities(i, others, out);
        Ok(())
    }

    #[inline(always)]
    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        self.rows.fold(i, j);
        Ok(())
    }

    #[inline(always)]
    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        Ok(self.rows.look(self.simd, i))
    }
}
