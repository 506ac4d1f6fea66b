//! The similarities of all clusters as a square matrix. A merge writes only the merged cluster's row.
//!
//! How the other rows are updated depends on their length:
//!
//! * short rows are updated at each merge;
//! * rows of up to [`FEW`] clusters are updated when they are next read. They copy the values of merged clusters from
//!   the rows of these clusters, because the matrix is in a core's cache;
//! * longer rows are also updated when they are next read. They compute the values of merged clusters again from their
//!   own values, which are read sequentially.

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::chain::Chain;
use super::doubts::Doubts;
use super::kept::{Kept, stream};
use super::matrix::Matrix;
use super::nearest::{Linkage, NO_CLUSTER, Nearest};
use super::read::{LANES, padded, stride, write_padded};
use super::search::{not_finite, similarity};
use super::store::Store;
use super::threads::split;
use super::tolerance::Tolerance;
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::memory::Buffer;
use crate::monitor::Monitor;
use crate::parallel;

/// The largest number of clusters for which a square matrix of similarities fits into a core's cache.
pub(super) const FEW: usize = 1500;

/// The number of SIMD vectors in a block of a row. A search stores the largest similarity of each block, and reads only
/// the blocks with a similarity near the largest again.
const BLOCK: usize = 8;
/// Square matrices with at most this number of rows keep the rows and columns of removed clusters.
const PACK_FROM: usize = 64;
/// Rows of at most this number of values are updated at each merge. In such rows, updating single values just before
/// the row is read would be slow: reading a vector stalls after a write to a part of the vector, because there is no
/// store-to-load forwarding.
const AT_ONCE: usize = 128;

/// Clusters in ascending order of their smallest leaves (`names`), and memory that begins with the square matrix of
/// their similarities. Rows start at multiples of the [`stride`]. The similarity of a cluster with itself is minus
/// infinity.
pub(super) struct Similarities<'a> {
    pub(super) values: Store<'a>,
    pub(super) names: Vec<usize>,
    pub(super) sizes: Vec<f64>,
}

impl Similarities<'_> {
    pub(super) fn of(matrix: &Matrix<'_>, squared: bool, monitor: &Monitor) -> Result<Self> {
        let n = matrix.n_leaves();
        Ok(Self {
            values: Store::Own(written(matrix, squared, monitor)?),
            names: (0..n).collect(),
            sizes: vec![1.0; n],
        })
    }
}

pub(super) fn written(matrix: &Matrix<'_>, squared: bool, monitor: &Monitor) -> Result<Buffer> {
    let stride = stride(matrix.n_leaves());
    let mut values = Buffer::zeros("the working matrix", stride * stride)?;
    if matrix.n_leaves() <= FEW {
        write_padded(matrix, squared, &mut values, stride, monitor)?;
    } else {
        matrix.write_square(squared, &mut values, monitor)?;
    }
    Ok(values)
}

struct Logged<M> {
    i: usize,
    j: usize,
    merge: M,
}

/// The clusters and the square matrix of their similarities. Rows have the order of the clusters' smallest leaves
/// (`names`). `positions` has the row index for each smallest leaf.
pub(super) struct Square<'a, U: Update> {
    update: &'a U,
    /// Similarities, or their sums over pairs of leaves ([`Update::SUMS`]). Minus infinity on the diagonal.
    values: &'a mut [f64],
    /// Up to this number of clusters, a long row copies the values of merged clusters from other rows. If there are
    /// more clusters, each row computes these values.
    few: usize,
    stride: usize,
    n_used: usize,
    n_alive: usize,
    sizes: Vec<f64>,
    /// For each row: one over the size of its cluster. Empty unless `values` are sums over pairs of leaves.
    shares: Vec<f64>,
    /// For each column: the summand that is added to similarities. Minus infinity for removed clusters, and otherwise
    /// 0.
    gone: Vec<f64>,
    names: Vec<u32>,
    positions: Vec<u32>,
    /// With at most `few` clusters: the rows of merged clusters, in the order of merging. Other rows later copy values
    /// from these rows.
    copied: Vec<u32>,
    /// With more than `few` clusters: the merges so far. Other rows later compute values for the merged clusters.
    log: Vec<Logged<U::Merge>>,
    /// For each row: the number of merges in `copied` or `log` that were applied to the row.
    seen: Vec<u32>,
    tops: Vec<[f64; LANES]>,
    tolerance: Tolerance,
}

/// Returns memory for [`Square::of_leaves`].
pub(super) fn room(n: usize) -> Vec<f64> {
    vec![0.0; stride(n) * padded(n)]
}

impl<'a, U: Update> Square<'a, U> {
    pub(super) fn of_leaves(
        (update, few): (&'a U, usize),
        matrix: &Matrix<'_>,
        squared: bool,
        values: &'a mut [f64],
        doubts: &Doubts<'_>,
    ) -> Result<Self> {
        let n = matrix.n_leaves();
        write_padded(matrix, squared, values, stride(n), doubts.monitor())?;
        let names: Vec<u32> = (0..n as u32).collect();
        Ok(Self::over((update, few), values, names.clone(), names, |_| 1.0, doubts.tolerance()))
    }

    pub(super) fn of(
        update: &'a U,
        clusters: &'a mut Similarities<'_>,
        (n, few): (usize, usize),
        tolerance: Tolerance,
    ) -> Self {
        entered!(square);
        let Similarities { values, names, sizes } = clusters;
        let mut positions = vec![u32::MAX; n];
        names.iter().zip(0..).for_each(|(&name, at)| positions[name] = at);
        let names = names.iter().map(|&name| name as u32).collect();
        Self::over((update, few), values, names, positions, |at| sizes[at], tolerance)
    }

    fn over(
        (update, few): (&'a U, usize),
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
        let seen = if stride <= AT_ONCE && n <= few { Vec::new() } else { vec![0; n] };
        Self {
            update,
            values,
            few,
            stride,
            n_used: n,
            n_alive: n,
            sizes: padded_with(1.0, &size),
            shares: if U::SUMS { padded_with(1.0, &|at| 1.0 / size(at)) } else { Vec::new() },
            gone: padded_with(f64::NEG_INFINITY, &|_| 0.0),
            names,
            positions,
            copied: Vec::with_capacity(if n <= few { seen.len() } else { 0 }),
            log: Vec::new(),
            seen,
            tops: vec![[f64::NEG_INFINITY; LANES]; n_padded.div_ceil(BLOCK * LANES)],
            tolerance,
        }
    }

    /// Merges all clusters. The whole chain uses wide vectors: with a call for each row, 100 leaves would take 1.1 times
    /// as long.
    pub(super) fn finish(&mut self, chain: &mut Chain, doubts: &mut Doubts<'_>) -> Result<()> {
        wide!(simd => chain.run_on(&mut InLanes { rows: self, simd }, 1, doubts))
    }

    #[inline(always)]
    fn is_large(&self) -> bool {
        self.n_used > self.few
    }

    #[inline(always)]
    fn bring_up_to_date(&mut self, at: usize) {
        if self.is_large() {
            return self.replay(at);
        }
        if self.copied.is_empty() {
            return;
        }
        let Self { values, stride, .. } = self;
        let (values, stride, own) = (&mut **values, *stride, at * *stride);
        for &merged in &self.copied[self.seen[at] as usize..] {
            // This may also copy the values for row `at` itself and for removed clusters. These values are never used.
            values[own + merged as usize] = values[merged as usize * stride + at];
        }
        self.seen[at] = self.copied.len() as u32;
    }

    #[inline(never)]
    fn replay(&mut self, at: usize) {
        let row = &mut self.values[at * self.stride..][..self.n_used];
        replay(self.update, row, &self.log[self.seen[at] as usize..], at, self.sizes[at]);
        self.seen[at] = self.log.len() as u32;
    }

    #[inline(always)]
    fn update_rows(&mut self, merged: usize) {
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
    fn search<S: Simd>(&mut self, simd: S, i: usize) -> Nearest {
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
            return NO_CLUSTER;
        }
        let floor = if U::SUMS {
            debug_assert!(tolerance == Tolerance::EXACT, "sums are exact");
            top - 4.0 * f64::EPSILON * top.abs()
        } else {
            tolerance.floor(top)
        };
        let floor = f64x8::splat(simd, floor);
        // These are separate variables instead of a `Nearest`, so that they stay in registers.
        let Nearest { mut cluster, similarity: mut best, mut doubtful } = NO_CLUSTER;
        let (mut certain, mut n_best) = (f64::NAN, 1.0);
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
                let similarity = similarity::<U::Stored>(x, self.sizes[at], self.sizes[other]);
                let another = self.names[other] as usize;
                if cluster == NO_CLUSTER.cluster {
                    (cluster, best, n_best) = (another, similarity, self.sizes[other]);
                } else if similarity != certain {
                    let near = Nearest { cluster, similarity: best, doubtful };
                    let are_leaves = self.sizes[at] * self.sizes[other] * n_best == 1.0;
                    let another = (Nearest::new(another, similarity), are_leaves);
                    let near = consider(near, &mut certain, another, tolerance);
                    if near.cluster != cluster {
                        n_best = self.sizes[other];
                    }
                    Nearest { cluster, similarity: best, doubtful } = near;
                }
            }
        }
        Nearest { cluster, similarity: best, doubtful }
    }

    #[inline(always)]
    fn fold(&mut self, i: usize, j: usize) -> Result<()> {
        let (at_i, at_j) = (self.positions[i] as usize, self.positions[j] as usize);
        self.bring_up_to_date(at_i);
        self.bring_up_to_date(at_j);
        let (n_i, n_j) = (self.sizes[at_i], self.sizes[at_j]);
        let n = padded(self.n_used);
        let (head, tail) = self.values.split_at_mut(at_j * self.stride);
        let (row_i, row_j) = (&mut head[at_i * self.stride..][..n], &tail[..n]);
        let merge = self.update.merge(Merging { n_i, n_j, x_ij: row_i[at_j] });
        // Set the values of removed clusters to a constant, so that they cannot grow until they overflow.
        for (((x_i, &x_j), &n_k), &gone) in row_i.iter_mut().zip(row_j).zip(&self.sizes[..n]).zip(&self.gone[..n]) {
            let x = self.update.fold(&merge, *x_i, x_j, n_k);
            *x_i = if gone == 0.0 { x } else { gone };
        }
        (row_i[at_i], row_i[at_j]) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        self.gone[at_j] = f64::NEG_INFINITY;
        if U::MAY_FAIL {
            let is_other = |at: usize| at != at_i && self.gone[at] == 0.0;
            if let Some(at) = (0..self.n_used).find(|&at| is_other(at) && !row_i[at].is_finite()) {
                return Err(not_finite(row_i[at], i, self.names[at] as usize));
            }
        }
        self.sizes[at_i] = n_i + n_j;
        if U::SUMS {
            self.shares[at_i] = 1.0 / (n_i + n_j);
        }
        self.n_alive -= 1;
        if self.is_large() {
            self.log.push(Logged { i: at_i, j: at_j, merge });
            self.seen[at_i] = self.log.len() as u32;
            if 3 * self.n_alive < 2 * self.n_used || self.n_alive <= self.few {
                self.pack();
            }
            return Ok(());
        }
        if self.stride <= AT_ONCE {
            self.update_rows(at_i);
        } else {
            self.copied.push(at_i as u32);
            self.seen[at_i] = self.copied.len() as u32;
        }
        if self.n_used > PACK_FROM && 2 * self.n_alive <= self.n_used {
            self.pack();
        }
        Ok(())
    }

    #[inline(never)]
    fn pack(&mut self) {
        entered!(square_packed);
        let (old, n_used) = (self.stride, self.n_used);
        let kept: Vec<usize> = (0..n_used).filter(|&at| self.gone[at] == 0.0).collect();
        if !self.is_large() {
            kept.iter().for_each(|&at| self.bring_up_to_date(at));
        }
        let Self { update, log, seen, sizes, .. } = self;
        let (update, log, seen, sizes) = (*update, &*log, &*seen, &*sizes);
        let replayed = |at: usize, row: &mut [f64]| {
            if !log.is_empty() {
                replay(update, row, &log[seen[at] as usize..], at, sizes[at]);
            }
        };
        let new = packed(self.values, old, (&kept, n_used), !log.is_empty(), &replayed);
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
        self.copied.clear();
        self.log.clear();
        self.seen.fill(0);
    }
}

/// Keeps only the rows and columns `kept` of a square matrix. Uses several threads if `is_much` is true. Returns the
/// new stride.
pub(super) fn packed(
    values: &mut [f64],
    old: usize,
    (kept, n_used): (&[usize], usize),
    is_much: bool,
    bring_up_to_date: &(dyn Fn(usize, &mut [f64]) + Sync),
) -> usize {
    let (new, bits) = (stride(kept.len()), Kept::of(kept.iter().copied(), n_used));
    if !is_much {
        for (to, &from) in kept.iter().enumerate() {
            let row = &mut values[from * old..][..n_used];
            bring_up_to_date(from, row);
            wide!(simd => bits.pack(simd, row));
            values.copy_within(from * old..from * old + kept.len(), to * new);
        }
        return new;
    }
    let mut places = kept.iter().peekable();
    let rows = values.chunks_exact_mut(old).enumerate();
    let rows: Vec<_> = rows.filter(|(at, _)| places.next_if_eq(&at).is_some()).collect();
    parallel::map(split(rows, kept.len() * n_used), |rows| {
        for (at, row) in rows {
            let row = &mut row[..n_used];
            bring_up_to_date(at, row);
            wide!(simd => bits.pack(simd, row));
        }
    });
    for (to, &from) in kept.iter().enumerate() {
        values.copy_within(from * old..from * old + kept.len(), to * new);
    }
    new
}

/// Applies `missed`, merges of other clusters, to row `own`. Merges of the row's own cluster were applied before.
fn replay<U: Update>(update: &U, row: &mut [f64], missed: &[Logged<U::Merge>], own: usize, n_k: f64) {
    stream(row, missed.len());
    wide!(for Logged { i, j, merge } in missed {
        if *i != own {
            row[*i] = update.fold(merge, row[*i], row[*j], n_k);
            row[*j] = f64::NEG_INFINITY;
        }
    })
}

/// Returns the similarities in one SIMD vector of a row. If `x` contains sums over pairs of leaves, the returned values
/// are the similarities times the size of the row's cluster.
#[inline(always)]
fn about<S: Simd, U: Update>(simd: S, x: &[f64; LANES], share: &[f64; LANES], gone: &[f64; LANES]) -> f64x8<S> {
    let x = f64x8::load_array_ref(simd, x);
    let x = if U::SUMS { x * f64x8::load_array_ref(simd, share) } else { x };
    x + f64x8::load_array_ref(simd, gone)
}

/// Returns the nearer cluster, `near` or `another`. If both are equally near, returns the cluster that comes first.
/// `certain` caches [`Tolerance::certain`] for the similarity of `near`, or is NaN.
#[inline(never)]
fn consider(
    mut near: Nearest,
    certain: &mut f64,
    (another, are_leaves): (Nearest, bool),
    tolerance: Tolerance,
) -> Nearest {
    if certain.is_nan() {
        *certain = tolerance.certain(near.similarity);
    }
    if another.similarity != *certain && near.offer(another, tolerance.among(are_leaves)) {
        *certain = f64::NAN;
    }
    near
}

impl<U: Update> Linkage for Square<'_, U> {
    fn n_leaves(&self) -> usize {
        self.positions.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        let i = self.positions[i] as usize;
        self.bring_up_to_date(i);
        let row = &self.values[i * self.stride..][..self.n_used];
        for (value, &k) in out.iter_mut().zip(others) {
            let k = self.positions[k] as usize;
            *value = similarity::<U::Stored>(row[k], self.sizes[i], self.sizes[k]);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        wide!(self.fold(i, j))
    }

    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        Ok(wide!(simd => self.search(simd, i)))
    }
}

struct InLanes<'r, 'a, U: Update, S> {
    rows: &'r mut Square<'a, U>,
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
        self.rows.similarities(i, others, out)
    }

    #[inline(always)]
    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        self.rows.fold(i, j)
    }

    #[inline(always)]
    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        Ok(self.rows.search(self.simd, i))
    }
}
