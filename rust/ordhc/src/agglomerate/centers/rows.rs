//! Sums of similarities over the pairs of leaves between clusters, as rows of a square matrix. Merges of other clusters
//! are applied to a row only when the row is read.

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use crate::agglomerate::grid::packed;
use crate::agglomerate::kept::stream;
use crate::agglomerate::read::{LANES, stride};
use crate::linkage::Rule;
use crate::memory::Buffer;

/// How the center of a cluster is defined: as the mean of its points (centroid), or as the midpoint between the centers
/// of the two merged clusters (median).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agglomerate) enum Means {
    Centroid,
    Median,
}

impl Means {
    pub(in crate::agglomerate) fn of(rule: &Rule) -> Option<Self> {
        match rule {
            Rule::Centroid => Some(Self::Centroid),
            Rule::Median => Some(Self::Median),
            _ => None,
        }
    }
}

pub(super) const NONE: u32 = u32::MAX;

pub(super) struct Rows {
    values: Buffer,
    pub(super) stride: usize,
    pub(super) names: Vec<u32>,
    pub(super) sizes: Vec<f64>,
    pub(super) n_alive: usize,
    /// For each cluster: the factor that converts sums over its leaves into means. This is one over the size for the
    /// centroid, and 1 for the median.
    share: Vec<f64>,
    pub(super) sums: Vec<f64>,
    /// For each cluster: half the mean similarity between its leaves, where a leaf has similarity 0 with itself.
    /// Infinite for removed clusters.
    pub(super) inner: Vec<f64>,
    means: Means,
    /// Pairs of rows whose clusters were merged since [`Rows::pack`] last removed the rows of removed clusters.
    log: Vec<(u32, u32)>,
    /// For each row: the number of merges in `log` that were applied to the row.
    seen: Vec<u32>,
}

const PACK_FROM: usize = 64;
const BLOCK: usize = 64;

/// `AFTER[k]` is added to a SIMD vector of similarities, to exclude its first `k` lanes from a search: they become
/// minus infinity.
const AFTER: [[f64; LANES]; LANES] = {
    let mut all = [[0.0; LANES]; LANES];
    let mut at = 0;
    while at < LANES * LANES {
        if at % LANES < at / LANES {
            all[at / LANES][at % LANES] = f64::NEG_INFINITY;
        }
        at += 1;
    }
    all
};

impl Rows {
    pub(super) fn new(values: Buffer, n: usize, means: Means) -> Self {
        let stride = stride(n);
        let mut inner = vec![0.0; stride];
        inner[n..].fill(f64::INFINITY);
        Self {
            values,
            stride,
            names: (0..n as u32).collect(),
            sizes: vec![1.0; n],
            n_alive: n,
            share: vec![1.0; stride],
            sums: vec![0.0; n],
            inner,
            means,
            log: Vec::with_capacity(n),
            seen: vec![0; n],
        }
    }

    #[inline(always)]
    pub(super) fn sum(&self, i: usize, k: usize) -> f64 {
        self.values[i * self.stride + k]
    }

    /// Returns the similarity of the clusters at rows `i` and `k`. All merges must have been applied to row `i`.
    #[inline(always)]
    pub(super) fn similarity(&self, i: usize, k: usize) -> f64 {
        self.sum(i, k) * (self.share[i] * self.share[k]) - (self.inner[i] + self.inner[k])
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> Row<'_> {
        Row {
            sums: self.values[i * self.stride..(i + 1) * self.stride].as_chunks().0,
            shares: self.share.as_chunks().0,
            inners: self.inner.as_chunks().0,
            share: self.share[i],
            inner: self.inner[i],
        }
    }

    /// Does what [`Row::top_two`] does for row `i`. All merges must have been applied to the row.
    #[inline(never)]
    pub(super) fn top_two(&self, i: usize) -> (usize, f64, f64) {
        wide!(simd => self.row(i).top_two(simd, i))
    }

    fn factor(&self) -> f64 {
        if self.means == Means::Median { 0.5 } else { 1.0 }
    }

    #[inline(always)]
    pub(super) fn bring_up_to_date(&mut self, i: usize) {
        let factor = self.factor();
        let row = &mut self.values[i * self.stride..(i + 1) * self.stride];
        replay(row, &self.log[self.seen[i] as usize..], factor);
        self.seen[i] = self.log.len() as u32;
    }

    #[inline(always)]
    pub(super) fn merge(&mut self, i: usize, j: usize) {
        self.bring_up_to_date(i);
        self.bring_up_to_date(j);
        let (factor, between) = (self.factor(), self.sum(i, j));
        let (head, tail) = self.values.split_at_mut(j * self.stride);
        let row_i = &mut head[i * self.stride..][..self.stride];
        for (x_i, &x_j) in row_i.iter_mut().zip(&tail[..self.stride]) {
            *x_i = (*x_i + x_j) * factor;
        }
        self.log.push((i as u32, j as u32));
        self.seen[i] = self.log.len() as u32;
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
        self.n_alive -= 1;
    }

    #[inline(always)]
    pub(super) fn is_sparse(&self) -> bool {
        self.stride > PACK_FROM && 2 * self.n_alive <= self.stride
    }

    /// Removes the rows of removed clusters. Returns the old indices of the rows that are kept.
    pub(super) fn pack(&mut self) -> Vec<usize> {
        let (factor, old) = (self.factor(), self.stride);
        let kept: Vec<usize> = (0..self.names.len()).filter(|&at| self.inner[at] < f64::INFINITY).collect();
        let (log, seen) = (&self.log, &self.seen);
        let replayed = |at: usize, row: &mut [f64]| replay(row, &log[seen[at] as usize..], factor);
        let stride = packed(&mut self.values, old, (&kept, self.names.len()), true, &replayed);
        self.values.truncate(stride * kept.len());
        for (to, &from) in kept.iter().enumerate() {
            self.names[to] = self.names[from];
            for values in [&mut self.sizes, &mut self.share, &mut self.sums, &mut self.inner] {
                values[to] = values[from];
            }
        }
        self.inner[kept.len()..].fill(f64::INFINITY);
        [&mut self.share, &mut self.inner].into_iter().for_each(|values| values.truncate(stride));
        self.names.truncate(kept.len());
        self.seen[..kept.len()].fill(0);
        self.log.clear();
        self.stride = stride;
        kept
    }
}

#[inline(always)]
fn replay(row: &mut [f64], missed: &[(u32, u32)], factor: f64) {
    stream(row, missed.len());
    for &(i, j) in missed {
        row[i as usize] = (row[i as usize] + row[j as usize]) * factor;
    }
}

/// The values from which the similarities of one cluster to all clusters are computed, by the formula in
/// [`centers`](super). For each other cluster, `sums` has the sum (centroid) or the mean (median) of the similarities
/// between the leaves of both clusters.
pub(super) struct Row<'r> {
    sums: &'r [[f64; LANES]],
    shares: &'r [[f64; LANES]],
    inners: &'r [[f64; LANES]],
    share: f64,
    inner: f64,
}

impl Row<'_> {
    #[inline(always)]
    pub(super) fn similarities<S: Simd>(&self, simd: S, chunk: usize) -> f64x8<S> {
        let share = f64x8::load_array_ref(simd, &self.shares[chunk]) * self.share;
        let inner = f64x8::load_array_ref(simd, &self.inners[chunk]) + self.inner;
        f64x8::load_array_ref(simd, &self.sums[chunk]) * share - inner
    }

    /// Searches the clusters after `i`. Returns the index of the cluster with the largest similarity, this similarity,
    /// and the second largest similarity.
    #[inline(always)]
    fn top_two<S: Simd>(&self, simd: S, i: usize) -> (usize, f64, f64) {
        let larger = |a: f64, b: f64| if b > a { b } else { a };
        let smaller = |a: f64, b: f64| if b < a { b } else { a };
        let (begin, end) = ((i + 1) / LANES, self.sums.len());
        let nothing = f64x8::splat(simd, f64::NEG_INFINITY);
        let (mut block, mut top, mut second) = (begin, f64::NEG_INFINITY, f64::NEG_INFINITY);
        for start in (begin..end).step_by(BLOCK) {
            let (mut tops, mut seconds) = (nothing, nothing);
            let mut after = f64x8::load_array_ref(simd, &AFTER[if start == begin { (i + 1) % LANES } else { 0 }]);
            for chunk in start..(start + BLOCK).min(end) {
                let x = self.similarities(simd, chunk) + after;
                after = f64x8::splat(simd, 0.0);
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
        for chunk in block..(block + BLOCK).min(end) {
            let mut found = self.similarities(simd, chunk).simd_eq(f64x8::splat(simd, top)).to_bitmask();
            if chunk == begin {
                found &= u64::MAX << ((i + 1) % LANES);
            }
            if found != 0 {
                return (chunk * LANES + found.trailing_zeros() as usize, top, second);
            }
        }
        (i, top, second)
    }
}

/// Returns the largest of `values`. Their number must be a multiple of [`LANES`].
#[inline(always)]
pub(super) fn largest<S: Simd>(simd: S, values: &[f64]) -> f64 {
    let mut lanes = [f64x8::splat(simd, f64::NEG_INFINITY); 2];
    for (at, chunk) in values.as_chunks::<LANES>().0.iter().enumerate() {
        lanes[at % 2] = f64x8::load_array_ref(simd, chunk).max(lanes[at % 2]);
    }
    lanes[0].max(lanes[1]).reduce_max()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_two_largest_are_found(
            values in proptest::collection::vec((-9..9i32).prop_map(f64::from), 1..1200), i in 0..1200usize
        ) {
            let n = values.len();
            let i = i % n;
            let of = |values: Vec<f64>| {
                let mut vectors = vec![[f64::INFINITY; LANES]; n.div_ceil(LANES)];
                vectors.as_flattened_mut()[..n].copy_from_slice(&values);
                vectors
            };
            let inner: Vec<f64> = (0..n).map(|at| if at % 7 == 3 { f64::INFINITY } else { 0.5 }).collect();
            let all: Vec<f64> = values.iter().zip(&inner).map(|(x, g)| x * 0.5 - (1.0 + g)).collect();
            let ones = vec![[1.0; LANES]; n.div_ceil(LANES)];
            let (mut sums, inners) = (of(values), of(inner));
            sums.as_flattened_mut()[n..].fill(0.0);
            let row = Row { sums: &sums, shares: &ones, inners: &inners, share: 0.5, inner: 1.0 };
            let mut sorted = all[i + 1..].to_vec();
            sorted.extend([f64::NEG_INFINITY; 2]);
            sorted.sort_unstable_by(|a, b| b.total_cmp(a));
            let (place, top, second) = wide!(simd => row.top_two(simd, i));
            prop_assert_eq!((top, second), (sorted[0], sorted[1]));
            if top > f64::NEG_INFINITY {
                prop_assert_eq!(place, i + 1 + all[i + 1..].iter().position(|&x| x == top).unwrap());
            }
        }
    }
}
