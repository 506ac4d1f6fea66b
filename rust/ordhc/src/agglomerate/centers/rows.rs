//! Sums over the pairs between clusters, as square rows that learn of merges when they are read.

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::super::few_square::LANES;
use super::super::kept::Kept;
use super::super::log::stream;
use super::super::parallel_parts;
use super::super::store::Store;
use super::Means;
use crate::parallel;

/// No position.
pub(super) const NONE: u32 = u32::MAX;

pub(super) struct Rows<'a> {
    values: Store<'a>,
    pub(super) stride: usize,
    /// By position: the smallest leaf, the number of leaves, and whether it is there.
    pub(super) names: Vec<u32>,
    pub(super) sizes: Vec<f64>,
    alive: Vec<bool>,
    pub(super) n_alive: usize,
    /// What sums are multiplied with, for each of the two clusters.
    share: Vec<f64>,
    /// The sum over pairs of a cluster's own members (centroid), and what it takes from similarities with others;
    /// infinite for clusters that are gone.
    pub(super) sums: Vec<f64>,
    pub(super) inner: Vec<f64>,
    means: Means,
    /// Merges, and how many of them a row has seen.
    log: Vec<(u32, u32)>,
    seen: Vec<usize>,
}

/// A row from its own position on, with what it takes to make similarities of it.
pub(super) struct Forward<'r> {
    values: &'r [f64],
    share: &'r [f64],
    inner: &'r [f64],
    own_share: f64,
    own_inner: f64,
}

/// Matrices below this many rows are not packed.
const PACK_FROM: usize = 64;

impl<'a> Rows<'a> {
    /// `values` are the square similarities of `n` leaves.
    pub(super) fn new(values: Store<'a>, n: usize, means: Means) -> Self {
        Self {
            values,
            stride: n,
            names: (0..n as u32).collect(),
            sizes: vec![1.0; n],
            alive: vec![true; n],
            n_alive: n,
            share: vec![1.0; n],
            sums: vec![0.0; n],
            inner: vec![0.0; n],
            means,
            log: Vec::new(),
            seen: vec![0; n],
        }
    }

    pub(super) fn sum(&self, i: usize, k: usize) -> f64 {
        self.values[i * self.stride + k]
    }

    /// The similarity of the clusters at two positions, the first of which is up to date.
    pub(super) fn similarity(&self, i: usize, k: usize) -> f64 {
        similarity(self.sum(i, k), self.share[i] * self.share[k], self.inner[i] + self.inner[k])
    }

    /// Those of the cluster at `i` with the positions from `start` on.
    #[inline(always)]
    pub(super) fn similarities(&self, i: usize, start: usize, out: &mut [f64]) {
        let end = start + out.len();
        let row = &self.values[i * self.stride..][start..end];
        let others = self.share[start..end].iter().zip(&self.inner[start..end]);
        wide!(for ((value, &sum), (&share, &inner)) in out.iter_mut().zip(row).zip(others) {
            *value = similarity(sum, self.share[i] * share, self.inner[i] + inner);
        });
    }

    pub(super) fn forward(&self, i: usize) -> Forward<'_> {
        Forward {
            values: &self.values[i * self.stride + i + 1..(i + 1) * self.stride],
            share: &self.share[i + 1..],
            inner: &self.inner[i + 1..],
            own_share: self.share[i],
            own_inner: self.inner[i],
        }
    }

    fn factor(&self) -> f64 {
        if self.means == Means::Median { 0.5 } else { 1.0 }
    }

    pub(super) fn bring_up_to_date(&mut self, i: usize) {
        let factor = self.factor();
        let row = &mut self.values[i * self.stride..(i + 1) * self.stride];
        replay(row, &self.log[self.seen[i]..], factor);
        self.seen[i] = self.log.len();
    }

    /// Merges position `j` into position `i < j`.
    pub(super) fn merge(&mut self, i: usize, j: usize) {
        self.bring_up_to_date(i);
        self.bring_up_to_date(j);
        let (factor, between) = (self.factor(), self.sum(i, j));
        let (head, tail) = self.values.split_at_mut(j * self.stride);
        let row_i = &mut head[i * self.stride..][..self.stride];
        let row_j = &tail[..self.stride];
        wide!(row_i.iter_mut().zip(row_j).for_each(|(x_i, &x_j)| *x_i = (*x_i + x_j) * factor));
        self.log.push((i as u32, j as u32));
        self.seen[i] = self.log.len();
        self.sizes[i] += self.sizes[j];
        match self.means {
            Means::Centroid => {
                self.sums[i] += self.sums[j] + between;
                self.share[i] = 1.0 / self.sizes[i];
                self.inner[i] = self.sums[i] / (self.sizes[i] * self.sizes[i]);
            }
            Means::Median => self.inner[i] = 0.25 * (self.inner[i] + self.inner[j] + between),
        }
        self.inner[j] = f64::INFINITY;
        self.alive[j] = false;
        self.n_alive -= 1;
    }

    /// Drops the positions of clusters that are gone, if they are the most, and returns those that are kept.
    pub(super) fn pack(&mut self) -> Option<Vec<usize>> {
        if self.stride <= PACK_FROM || 2 * self.n_alive > self.stride {
            return None;
        }
        let kept: Vec<usize> = (0..self.stride).filter(|&at| self.alive[at]).collect();
        let bits = Kept::of(kept.iter().copied(), self.stride);
        let (factor, stride) = (self.factor(), kept.len());
        let (log, alive) = (&self.log, &self.alive);
        let rows = self.values.chunks_exact_mut(self.stride).zip(&self.seen).zip(alive);
        let rows: Vec<_> = rows.filter(|&(_, &alive)| alive).map(|(row, _)| row).collect();
        parallel::map(parallel_parts(rows, stride * self.stride), |rows| {
            for (row, &seen) in rows {
                replay(row, &log[seen..], factor);
                wide!(simd => bits.pack(simd, row));
            }
        });
        for (new, &old) in kept.iter().enumerate() {
            let from = old * self.stride;
            self.values.copy_within(from..from + stride, new * stride);
        }
        self.values.truncate(stride * stride);
        self.names = kept.iter().map(|&at| self.names[at]).collect();
        for values in [&mut self.sizes, &mut self.share, &mut self.sums, &mut self.inner] {
            *values = kept.iter().map(|&at| values[at]).collect();
        }
        self.seen = vec![0; stride];
        self.alive = vec![true; stride];
        self.log.clear();
        self.stride = stride;
        Some(kept)
    }
}

/// Replays merges of others on a row. Its own it has seen.
fn replay(row: &mut [f64], missed: &[(u32, u32)], factor: f64) {
    stream(row, missed.len());
    for &(i, j) in missed {
        row[i as usize] = (row[i as usize] + row[j as usize]) * factor;
    }
}

#[inline(always)]
fn similarity(sum: f64, share: f64, inner: f64) -> f64 {
    sum * share - inner
}

/// Similarities of several others.
#[inline(always)]
fn lanes<S: Simd>(
    own_share: f64x8<S>,
    own_inner: f64x8<S>,
    sums: &[f64; LANES],
    shares: &[f64; LANES],
    inners: &[f64; LANES],
) -> f64x8<S> {
    let simd = own_share.token();
    let share = own_share * f64x8::load_array_ref(simd, shares);
    let inner = own_inner + f64x8::load_array_ref(simd, inners);
    f64x8::load_array_ref(simd, sums) * share - inner
}

/// Where the largest similarity of a row stands, what it is, and the second largest.
pub(super) fn top_two(row: &Forward<'_>) -> (usize, f64, f64) {
    wide!(simd => top_two_in(simd, row))
}

#[inline(always)]
fn top_two_in<S: Simd>(simd: S, row: &Forward<'_>) -> (usize, f64, f64) {
    const BLOCK: usize = 64;
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let smaller = |a: f64, b: f64| if b < a { b } else { a };
    let (values, rest) = row.values.as_chunks::<LANES>();
    let (shares, inners) = (row.share.as_chunks::<LANES>().0, row.inner.as_chunks::<LANES>().0);
    let (own_share, own_inner) = (f64x8::splat(simd, row.own_share), f64x8::splat(simd, row.own_inner));
    let one = |k: usize| similarity(row.values[k], row.own_share * row.share[k], row.own_inner + row.inner[k]);
    let nothing = f64x8::splat(simd, f64::NEG_INFINITY);
    let (mut block, mut top, mut second) = (0, f64::NEG_INFINITY, f64::NEG_INFINITY);
    for start in (0..values.len()).step_by(BLOCK) {
        let (mut tops, mut seconds) = (nothing, nothing);
        for chunk in start..(start + BLOCK).min(values.len()) {
            let x = lanes(own_share, own_inner, &values[chunk], &shares[chunk], &inners[chunk]);
            seconds = x.min(tops).max(seconds);
            tops = x.max(tops);
        }
        let largest = tops.reduce_max();
        let first = tops.simd_ge(f64x8::splat(simd, largest));
        let is_one = first.to_bitmask().is_power_of_two();
        let next = if is_one { first.select(seconds, tops).reduce_max() } else { largest };
        second = larger(larger(second, next), smaller(top, largest));
        if largest > top {
            (block, top) = (start, largest);
        }
    }
    let after = row.values.len() - rest.len();
    let mut place = after;
    for k in after..row.values.len() {
        let s = one(k);
        second = larger(second, smaller(top, s));
        if s > top {
            (place, top) = (k, s);
        }
    }
    for chunk in block..(block + BLOCK).min(values.len()) {
        let x = lanes(own_share, own_inner, &values[chunk], &shares[chunk], &inners[chunk]);
        let found = x.simd_eq(f64x8::splat(simd, top)).to_bitmask();
        if found != 0 {
            return (chunk * LANES + found.trailing_zeros() as usize, top, second);
        }
    }
    (place, top, second)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_two_largest_are_found(values in proptest::collection::vec((-9..9i32).prop_map(f64::from), 1..1200)) {
            let ones = vec![1.0; values.len()];
            let inner: Vec<f64> = (0..values.len()).map(|at| if at % 7 == 3 { f64::INFINITY } else { 0.5 }).collect();
            let row = Forward { values: &values, share: &ones, inner: &inner, own_share: 0.5, own_inner: 1.0 };
            let all: Vec<f64> = values.iter().zip(&inner).map(|(x, g)| x * 0.5 - (1.0 + g)).collect();
            let mut sorted = all.clone();
            sorted.sort_unstable_by(|a, b| b.total_cmp(a));
            let (place, top, second) = top_two(&row);
            prop_assert_eq!((top, second), (sorted[0], sorted.get(1).copied().unwrap_or(f64::NEG_INFINITY)));
            prop_assert_eq!(place, all.iter().position(|&x| x == top).unwrap());
        }
    }
}
