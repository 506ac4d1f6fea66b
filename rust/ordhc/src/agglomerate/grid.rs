//! The rows of a square matrix of similarities, and the search of a cluster's nearest neighbour. All this is compiled
//! once, and not for each linkage.

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::kept::Kept;
use super::nearest::{NO_CLUSTER, Nearest};
use super::read::{LANES, padded, stride};
use super::search::similarity;
use super::threads::split;
use super::tolerance::Tolerance;
use crate::linkage::Stored;
use crate::parallel;

/// The number of SIMD vectors in a block of a row. A search stores the largest similarity of each block, and reads only
/// the blocks with a similarity near the largest again.
const BLOCK: usize = 8;
/// Rows of at most this number of values are updated at each merge. In such rows, updating single values just before
/// the row is read would be slow: reading a vector stalls after a write to a part of the vector, because there is no
/// store-to-load forwarding.
const AT_ONCE: usize = 128;

/// The clusters and the square matrix of their similarities. Rows have the order of the clusters' smallest leaves
/// (`names`). `positions` has the row index for each smallest leaf.
pub(super) struct Grid<'a> {
    /// Similarities, or their sums over pairs of leaves ([`Stored::SUMS`]). Minus infinity on the diagonal.
    pub(super) values: &'a mut [f64],
    /// Up to this number of clusters, a long row copies the values of merged clusters from other rows. If there are
    /// more clusters, each row computes these values.
    pub(super) few: usize,
    pub(super) stride: usize,
    pub(super) n_used: usize,
    pub(super) n_alive: usize,
    pub(super) sizes: Vec<f64>,
    /// For each row: one over the size of its cluster. Empty unless `values` are sums over pairs of leaves.
    pub(super) shares: Vec<f64>,
    /// For each column: the summand that is added to similarities. Minus infinity for removed clusters, and otherwise
    /// 0.
    pub(super) gone: Vec<f64>,
    pub(super) names: Vec<u32>,
    pub(super) positions: Vec<u32>,
    /// The rows of merged clusters, in the order of merging. Other rows later copy values from these rows. Empty if there
    /// are more than `few` clusters.
    copied: Vec<u32>,
    /// For each row: the number of merges, in `copied` or in the log of [`Square`](super::square::Square), that were
    /// applied to the row.
    pub(super) seen: Vec<u32>,
    tops: Vec<[f64; LANES]>,
    pub(super) tolerance: Tolerance,
}

/// A function that applies missed merges to a row. Its arguments are the row, the number of merges that were applied
/// before, the row's number and the size of its cluster.
pub(super) type Replay<'r> = &'r (dyn Fn(&mut [f64], usize, usize, f64) + Sync);

impl<'a> Grid<'a> {
    pub(super) fn new(
        (few, sums): (usize, bool),
        values: &'a mut [f64],
        names: Vec<u32>,
        positions: Vec<u32>,
        size: &dyn Fn(usize) -> f64,
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
            values,
            few,
            stride,
            n_used: n,
            n_alive: n,
            sizes: padded_with(1.0, size),
            shares: if sums { padded_with(1.0, &|at| 1.0 / size(at)) } else { Vec::new() },
            gone: padded_with(f64::NEG_INFINITY, &|_| 0.0),
            names,
            positions,
            copied: Vec::with_capacity(if n <= few { seen.len() } else { 0 }),
            seen,
            tops: vec![[f64::NEG_INFINITY; LANES]; n_padded.div_ceil(BLOCK * LANES)],
            tolerance,
        }
    }

    #[inline(always)]
    pub(super) fn is_large(&self) -> bool {
        self.n_used > self.few
    }

    /// Copies the values of merged clusters into row `at`. For at most `few` clusters.
    #[inline(always)]
    pub(super) fn copy_merged(&mut self, at: usize) {
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

    /// Makes the values of the merged cluster `at` known to the other rows, now or when they are next read. For at most
    /// `few` clusters.
    #[inline(always)]
    pub(super) fn note_merged(&mut self, at: usize) {
        if self.stride <= AT_ONCE {
            self.update_rows(at);
        } else {
            self.copied.push(at as u32);
            self.seen[at] = self.copied.len() as u32;
        }
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

    /// Returns the nearest neighbour of the cluster of row `at`, which must be up to date.
    pub(super) fn nearest<V: Stored>(&mut self, at: usize) -> Nearest {
        widest!(simd => self.search::<_, V>(simd, at))
    }

    /// [`Grid::nearest`] within `widest!`.
    #[inline(always)]
    pub(super) fn search<S: Simd, V: Stored>(&mut self, simd: S, at: usize) -> Nearest {
        let (tolerance, n) = (self.tolerance, padded(self.n_used));
        let row = self.values[at * self.stride..][..n].as_chunks::<LANES>().0;
        let shares = if V::SUMS { &self.shares } else { &self.sizes };
        let shares = shares[..n].as_chunks::<LANES>().0;
        let gone = self.gone[..n].as_chunks::<LANES>().0;
        let tops = &mut self.tops[..row.len().div_ceil(BLOCK)];
        let block = |block: usize| block * BLOCK..(block * BLOCK + BLOCK).min(row.len());
        let nothing = f64x8::splat(simd, f64::NEG_INFINITY);
        let mut top = nothing;
        for (at, block_top) in tops.iter_mut().enumerate() {
            let mut largest = nothing;
            for chunk in block(at) {
                largest = about::<S, V>(simd, &row[chunk], &shares[chunk], &gone[chunk]).max(largest);
            }
            largest.store_array(block_top);
            top = largest.max(top);
        }
        let top = top.reduce_max();
        if top == f64::NEG_INFINITY {
            return NO_CLUSTER;
        }
        let floor = if V::SUMS {
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
                let similarities = about::<S, V>(simd, &row[chunk], &shares[chunk], &gone[chunk]);
                lanes |= similarities.simd_ge(floor).to_bitmask() << (LANES * (chunk - first));
            }
            while lanes != 0 {
                let other = LANES * first + lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let x = row[other / LANES][other % LANES];
                let similarity = similarity::<V>(x, self.sizes[at], self.sizes[other]);
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

    pub(super) fn similarities<V: Stored>(&self, at: usize, others: &[usize], out: &mut [f64]) {
        let row = &self.values[at * self.stride..][..self.n_used];
        for (value, &k) in out.iter_mut().zip(others) {
            let k = self.positions[k] as usize;
            *value = similarity::<V>(row[k], self.sizes[at], self.sizes[k]);
        }
    }

    /// Removes the rows and columns of absorbed clusters. `is_behind` is true if rows have missed merges, which `replay`
    /// then applies.
    #[inline(never)]
    pub(super) fn pack(&mut self, is_behind: bool, replay: Replay<'_>) {
        entered!(square_packed);
        let (old, n_used) = (self.stride, self.n_used);
        let kept: Vec<usize> = (0..n_used).filter(|&at| self.gone[at] == 0.0).collect();
        if !self.is_large() {
            kept.iter().for_each(|&at| self.copy_merged(at));
        }
        let (seen, sizes) = (&self.seen, &self.sizes);
        let replayed = |at: usize, row: &mut [f64]| {
            if is_behind {
                replay(row, seen[at] as usize, at, sizes[at]);
            }
        };
        let new = packed(self.values, old, (&kept, n_used), is_behind, &replayed);
        for (to, &from) in kept.iter().enumerate() {
            self.sizes[to] = self.sizes[from];
            if !self.shares.is_empty() {
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
            widest!(simd => bits.pack(simd, row));
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
            widest!(simd => bits.pack(simd, row));
        }
    });
    for (to, &from) in kept.iter().enumerate() {
        values.copy_within(from * old..from * old + kept.len(), to * new);
    }
    new
}

/// Returns the similarities in one SIMD vector of a row. If `x` contains sums over pairs of leaves, the returned values
/// are the similarities times the size of the row's cluster.
#[inline(always)]
fn about<S: Simd, V: Stored>(simd: S, x: &[f64; LANES], share: &[f64; LANES], gone: &[f64; LANES]) -> f64x8<S> {
    let x = f64x8::load_array_ref(simd, x);
    let x = if V::SUMS { x * f64x8::load_array_ref(simd, share) } else { x };
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
