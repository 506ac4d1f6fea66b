//! Finds the merges of one round if many clusters are equally near.
//!
//! With many ties, few pairs are reciprocal, because the first leaves are the nearest of all other leaves. But whole
//! groups of tied clusters can merge without computing new similarities: a merged cluster is as close to a third
//! cluster as the closest of the clusters merged into it, only if all of these are equally close.

use std::sync::{Mutex, PoisonError};

use super::doubts::Doubts;
use super::nearest::Nearest;
use super::search::similarity;
use super::threads::{parts, threads};
use super::tolerance::Tolerance;
use super::triangle_rows::{Slots, TriangleRows};
use crate::error::{Error, Result};
use crate::linkage::Stored;
use crate::parallel;

/// For each cluster, the clusters that are tied with its nearest cluster. Clusters are given by their indices in the
/// condensed matrix.
pub(super) struct Ties {
    k: usize,
    stride: usize,
    /// A table of bits. Bit `j` of row `i`, for `i < j`, is set if cluster `j` is tied with the nearest cluster of `i`.
    of_row: Vec<u64>,
    /// A table of bits. Bit `j` of row `i`, for `i < j`, is set if cluster `i` is tied with the nearest cluster of `j`.
    of_column: Vec<u64>,
}

const WORD: usize = 64;
const LANES: usize = 16;

impl Ties {
    pub(super) fn of<S: Stored>(
        triangle: &dyn TriangleRows,
        nearest: &[Nearest],
        Slots { sizes, clusters, merges }: Slots<'_>,
        tolerance: Tolerance,
        doubts: &mut Doubts<'_>,
    ) -> Result<Self> {
        entered!(ties);
        let (monitor, doubts) = (doubts.monitor(), Mutex::new(doubts));
        let k = triangle.len();
        let stride = k.div_ceil(WORD);
        let exact = tolerance == Tolerance::EXACT;
        let floors: Vec<f64> = nearest.iter().map(|nearest| tolerance.floor(nearest.similarity)).collect();
        let (mut of_row, mut of_column) = (vec![0; k * stride], vec![0; k * stride]);
        let rows = parts(k);
        let of_rows = parallel::with_parts(rows.clone(), &mut of_row, |end| end * stride);
        let of_columns = parallel::with_parts(rows, &mut of_column, |end| end * stride);
        let bits = of_rows.into_iter().zip(of_columns);
        // For each cluster: its similarity with its nearest cluster, if an identical similarity is certainly a tie, and
        // NaN if rounding errors may hide that it is not a tie.
        let certain: Vec<f64> = nearest.iter().map(|near| tolerance.certain(near.similarity)).collect();
        let tied = |s: f64, i: usize, k: usize| {
            let near = nearest[i];
            let nearest_size = sizes.get(near.cluster).copied().unwrap_or(f64::INFINITY);
            let leaves = sizes[i] * sizes[k] * nearest_size == 1.0;
            let (order, doubtful) = tolerance.among(leaves).compare(s, near.similarity);
            if !doubtful {
                return Ok(order.is_ge());
            }
            let name = |slot: usize| clusters[slot];
            let mut doubts = doubts.lock().unwrap_or_else(PoisonError::into_inner);
            doubts.are_tied(merges, name(i), (name(k), s), (name(near.cluster), near.similarity))
        };
        parallel::share(vec![vec![0.0; k]; threads(k)], bits, |scratch, ((rows, of_row), (_, of_column))| {
            let bits = of_row.chunks_exact_mut(stride).zip(of_column.chunks_exact_mut(stride));
            for (i, (of_row, of_column)) in rows.zip(bits) {
                let row = triangle.row(i, scratch);
                let columns = row.chunks(LANES).zip(sizes[i + 1..].chunks(LANES));
                wide!({
                    for (at, ((values, counts), limits)) in columns.zip(floors[i + 1..].chunks(LANES)).enumerate() {
                        let mut any = false;
                        for ((&x, &n_k), &limit) in values.iter().zip(counts).zip(limits) {
                            any |= similarity::<S>(x, sizes[i], n_k) >= limit.min(floors[i]);
                        }
                        if !any {
                            continue;
                        }
                        // One bit for each SIMD lane: `by_row` and `by_column` mark values that may be tied,
                        // `sure_by_row` and `sure_by_column` mark values that are certainly tied.
                        let (mut by_row, mut by_column) = (0u64, 0u64);
                        let (mut sure_by_row, mut sure_by_column) = (0u64, 0u64);
                        let first = i + 1 + at * LANES;
                        let equals = &certain[first..];
                        let lanes = values.iter().zip(counts).zip(limits).zip(equals);
                        for (lane, (((&x, &n_k), &limit), &equal)) in lanes.enumerate() {
                            let s = similarity::<S>(x, sizes[i], n_k);
                            by_row |= u64::from(s >= floors[i]) << lane;
                            by_column |= u64::from(s >= limit) << lane;
                            sure_by_row |= u64::from(s == certain[i]) << lane;
                            sure_by_column |= u64::from(s == equal) << lane;
                        }
                        let verified = |bits: u64, sure: u64, of: &dyn Fn(usize) -> [usize; 2]| {
                            set_bits(bits & !sure).try_fold(bits, |bits, lane| {
                                let s = similarity::<S>(values[lane], sizes[i], counts[lane]);
                                let [slot, other] = of(lane);
                                Ok(if tied(s, slot, other)? { bits } else { bits & !(1 << lane) })
                            })
                        };
                        if !exact {
                            by_row = verified(by_row, sure_by_row, &|lane| [i, first + lane])?;
                            by_column = verified(by_column, sure_by_column, &|lane| [first + lane, i])?;
                        }
                        or_at(of_row, first, by_row);
                        or_at(of_column, first, by_column);
                    }
                    Ok::<(), Error>(())
                })?;
            }
            monitor.advance(0)
        })?;
        Ok(Self { k, stride, of_row, of_column })
    }

    fn row<'b>(&self, bits: &'b [u64], i: usize) -> &'b [u64] {
        &bits[i * self.stride..(i + 1) * self.stride]
    }

    /// Returns the groups of clusters that merge in this round, as indices, ordered by their first clusters. A cluster
    /// that does not merge is a group of its own.
    pub(super) fn groups(&self) -> Vec<Vec<u32>> {
        // Two bit sets of clusters. `apart`: the clusters that are in no group yet. `free`: the clusters that need not
        // wait for the merge of an earlier group. Other clusters get groups of their own, so they do not merge now.
        let mut apart = vec![u64::MAX; self.stride];
        let mut free = apart.clone();
        let mut groups = Vec::new();
        for i in 0..self.k {
            if !is_set(&apart, i) {
                continue;
            }
            clear(&mut apart, i);
            let mut group = vec![i as u32];
            if is_set(&free, i) {
                self.grow(&mut group, &mut apart, &free);
            }
            self.keep_waiting(&group, &apart, &mut free);
            groups.push(group);
        }
        groups
    }

    fn grow(&self, group: &mut Vec<u32>, apart: &mut [u64], free: &[u64]) {
        let i = group[0] as usize;
        // A cluster whose nearest clusters include a whole earlier group is not in `free`, so earlier groups are not
        // searched here.
        let mut tied: Vec<u64> = self.row(&self.of_row, i).iter().zip(&*apart).map(|(a, b)| a & b).collect();
        while let Some(j) = first(&tied, group[group.len() - 1] as usize) {
            // The group is complete: `j` waits for an earlier group, or other clusters are nearer to `j`.
            if !is_set(free, j) || !is_set(self.row(&self.of_column, i), j) {
                return;
            }
            clear(apart, j);
            group.push(j as u32);
            and(&mut tied, self.row(&self.of_row, j), j / WORD);
        }
    }

    /// Removes from `free` the clusters whose nearest clusters include the whole group. These clusters cannot merge
    /// before the group is complete, so they do not merge in this round.
    fn keep_waiting(&self, group: &[u32], apart: &[u64], free: &mut [u64]) {
        let i = group[0] as usize;
        let from = i / WORD;
        let mut tied = vec![0; self.stride];
        for at in from..self.stride {
            tied[at] = self.row(&self.of_column, i)[at] & apart[at] & free[at];
        }
        for &m in &group[1..] {
            let m = m as usize;
            let mut x = i;
            while let Some(next) = first(&tied, x).filter(|&next| next < m) {
                x = next;
                if !is_set(self.row(&self.of_row, x), m) {
                    clear(&mut tied, x);
                }
            }
            let (word, before) = (m / WORD, (1u64 << (m % WORD)) - 1);
            let row = self.row(&self.of_column, m);
            tied[word] &= row[word] | before;
            and(&mut tied, row, word + 1);
        }
        for (free, tied) in free[from..].iter_mut().zip(&tied[from..]) {
            *free &= !tied;
        }
    }
}

fn set_bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        at
    })
}

fn or_at(bits: &mut [u64], at: usize, lanes: u64) {
    let (word, shift) = (at / WORD, at % WORD);
    bits[word] |= lanes << shift;
    if shift + LANES > WORD && word + 1 < bits.len() {
        bits[word + 1] |= lanes >> (WORD - shift);
    }
}

fn is_set(bits: &[u64], at: usize) -> bool {
    bits[at / WORD] >> (at % WORD) & 1 == 1
}

fn clear(bits: &mut [u64], at: usize) {
    bits[at / WORD] &= !(1 << (at % WORD));
}

fn and(bits: &mut [u64], other: &[u64], from: usize) {
    for (bits, other) in bits[from..].iter_mut().zip(&other[from..]) {
        *bits &= other;
    }
}

fn first(bits: &[u64], after: usize) -> Option<usize> {
    let start = after + 1;
    let (word, before) = (start / WORD, (1u64 << (start % WORD)) - 1);
    let head = bits.get(word)? & !before;
    if head != 0 {
        return Some(word * WORD + head.trailing_zeros() as usize);
    }
    let at = bits[word + 1..].iter().position(|&bits| bits != 0)? + word + 1;
    Some(at * WORD + bits[at].trailing_zeros() as usize)
}
