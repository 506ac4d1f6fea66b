//! Finds the edges of single linkage: maximum spanning trees, and the most similar pairs.

use std::sync::Mutex;

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::matrix::Matrix;
use super::read::{LANES, padded, stride, write_padded};
use super::threads::{next, parts, threads};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::condensed_len;
use crate::sorting::nth_largest;
use crate::tree::RawMerge;

/// The search of [`all_largest`] ends after it has read more than n^2 / `FEW` values.
const FEW: usize = 16;

/// Returns a spanning tree whose edges all have the largest similarity. Returns `None` if there is no such tree, or if
/// the search would read more than a few rows.
pub(super) fn all_largest(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Option<Vec<RawMerge>>> {
    let n = matrix.n_leaves();
    let facts = matrix.facts();
    // `facts.largest` is an absolute value. If all similarities are negative, no pair has this similarity, and the
    // search ends after one row.
    let largest = if matrix.is_dissimilarity() { -facts.low } else { facts.largest };
    let mut apart: Vec<u32> = (1..n as u32).collect();
    let mut row = vec![0.0; apart.len()];
    let mut joined = vec![0u32];
    let mut edges = Vec::with_capacity(apart.len());
    let (mut next, mut n_read) = (0, 0);
    while !apart.is_empty() {
        let Some(&leaf) = joined.get(next) else { return Ok(None) };
        if n_read > n * n / FEW {
            return Ok(None);
        }
        next += 1;
        n_read += apart.len();
        let row = &mut row[..apart.len()];
        matrix.gather(leaf as usize, &apart, row);
        let mut values = row.iter();
        apart.retain(|&other| {
            let joins = values.next() == Some(&largest);
            if joins {
                joined.push(other);
                edges.push(RawMerge { i: leaf.min(other) as usize, j: leaf.max(other) as usize, similarity: largest });
            }
            !joins
        });
        monitor.advance(0)?;
    }
    entered!(all_largest);
    Ok(Some(edges))
}

/// The number of most similar pairs, per leaf, that a pass over the matrix aims to keep.
const AIM: usize = 8;
/// A pass over the matrix stops without a result if it would keep more than this number of pairs per leaf.
const MOST: usize = 128;
const SAMPLE: usize = 2;

/// Returns the most similar pairs of leaves of different clusters, including all ties: about [`AIM`] pairs per leaf.
/// Returns `None` if ties lead to too many pairs. `of` is the cluster of each leaf.
pub(super) fn most_similar(matrix: &Matrix<'_>, of: &[u32], monitor: &Monitor) -> Result<Option<Vec<RawMerge>>> {
    entered!(passes);
    match threshold(matrix, of) {
        Some(threshold) => pairs_from(matrix, of, threshold, monitor),
        None => Ok(None),
    }
}

/// Returns a similarity that about [`AIM`] pairs per leaf reach, as estimated from a sample of pairs of different
/// clusters. If too many sampled pairs are tied at this similarity, returns the next larger similarity of the sample,
/// or `None` if there is none.
fn threshold(matrix: &Matrix<'_>, of: &[u32]) -> Option<f64> {
    let n = matrix.n_leaves();
    let mut sizes = vec![0u64; n];
    of.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
    let between = condensed_len(n) as u64 - sizes.iter().map(|&size| size * size.saturating_sub(1) / 2).sum::<u64>();
    let per_leaf = n as f64 / between as f64;
    if AIM as f64 * per_leaf > 0.25 {
        return Some(f64::NEG_INFINITY);
    }
    // Steps by the golden ratio spread the sampled pairs evenly over rows and columns.
    let golden = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract();
    let size = SAMPLE * n;
    let mut sample = Vec::with_capacity(size);
    for k in 0..size {
        let (a, b) = (k / SAMPLE, ((n as f64 * golden(k)) as usize).min(n - 1));
        if of[a] != of[b] {
            sample.push(matrix.similarity(a as u32, b as u32));
        }
    }
    let at = (AIM as f64 * per_leaf * sample.len() as f64) as usize;
    if at >= sample.len() {
        return Some(f64::NEG_INFINITY);
    }
    let wanted = nth_largest(&mut sample, at);
    let reached = sample.iter().filter(|&&x| x >= wanted).count();
    // The sample gives only an estimate, so allow only half of the maximum number of pairs.
    if reached as f64 <= MOST as f64 / 2.0 * per_leaf * sample.len() as f64 {
        return Some(wanted);
    }
    sample.into_iter().filter(|&x| x > wanted).min_by(f64::total_cmp)
}

fn pairs_from(matrix: &Matrix<'_>, of: &[u32], threshold: f64, monitor: &Monitor) -> Result<Option<Vec<RawMerge>>> {
    const LANES: usize = 16;
    let n = matrix.n_leaves();
    // Store cluster ids as f64, the type of the similarities, so that both have the same number of SIMD lanes.
    let of: Vec<f64> = of.iter().map(|&cluster| f64::from(cluster)).collect();
    let queue = Mutex::new(parts(n).into_iter());
    let found: Option<Vec<_>> = parallel::try_map((0..threads(n)).collect(), |_| {
        let mut scratch = vec![0.0; n];
        let mut pairs = Vec::new();
        while let Some(rows) = next(&queue) {
            for i in rows {
                let (row, sign) = matrix.row_after(i, &mut scratch);
                widest!(for (at, (values, others)) in row.chunks(LANES).zip(of[i + 1..].chunks(LANES)).enumerate() {
                    let wanted = |(&x, &other): (&f64, &f64)| (sign * x >= threshold) & (other != of[i]);
                    if !values.iter().zip(others).fold(false, |any, pair| any | wanted(pair)) {
                        continue;
                    }
                    let first = i + 1 + at * LANES;
                    for (j, &x) in (first..).zip(values) {
                        let similarity = sign * x;
                        if similarity >= threshold && of[i] != of[j] {
                            pairs.push(RawMerge { i, j, similarity });
                        }
                    }
                });
                if pairs.len() > MOST * n {
                    return Ok(None);
                }
            }
            monitor.advance(0)?;
        }
        // Each thread sorts its pairs, so that the later sort of all pairs is faster.
        pairs.sort_unstable_by(RawMerge::by_similarity);
        Ok(Some(pairs))
    })?;
    Ok(found.map(|parts| parts.concat()))
}

/// When more than 1 / `PACK` of the listed leaves have joined the spanning tree, these leaves are removed from the
/// list.
const PACK: usize = 4;

/// Up to this number of leaves, the input is first copied to a square matrix, so that rows are read instead of columns.
pub(super) const SQUARE: usize = 1024;

pub(super) fn grown(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    if matrix.n_leaves() <= SQUARE { grown_in_square(matrix, monitor) } else { grown_in_place(matrix, monitor) }
}

pub(super) fn grown_in_place(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    entered!(grown_in_place);
    let n = matrix.n_leaves();
    // The lists have an entry for each leaf outside the tree: `best` is its largest similarity with a leaf of the tree,
    // and `with` is that leaf of the tree. Leaves that have just joined the tree stay in the lists for a while. Their
    // `best` is infinite, so that no similarity is larger.
    let mut leaves: Vec<u32> = (1..n as u32).collect();
    let mut best = vec![f64::NEG_INFINITY; leaves.len()];
    let mut with = vec![0u32; leaves.len()];
    let mut row = vec![0.0; leaves.len()];
    let mut edges = Vec::with_capacity(leaves.len());
    let (mut last, mut gone) = (0, 0);
    while edges.len() + 1 < n {
        matrix.gather(last as usize, &leaves, &mut row);
        let largest = widest!(raise(&mut best, &mut with, &row, last));
        let at = best.iter().position(|&x| x == largest).expect("the largest is one of them");
        let (a, b) = (with[at] as usize, leaves[at] as usize);
        edges.push(RawMerge { i: a.min(b), j: a.max(b), similarity: largest });
        last = leaves[at];
        best[at] = f64::INFINITY;
        gone += 1;
        if PACK * gone > leaves.len() {
            let kept: Vec<usize> = (0..leaves.len()).filter(|&at| best[at] < f64::INFINITY).collect();
            for (to, &from) in kept.iter().enumerate() {
                (leaves[to], best[to], with[to]) = (leaves[from], best[from], with[from]);
            }
            leaves.truncate(kept.len());
            best.truncate(kept.len());
            with.truncate(kept.len());
            row.truncate(kept.len());
            gone = 0;
        }
        monitor.advance((n - edges.len()) as u64)?;
    }
    Ok(edges)
}

fn grown_in_square(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    entered!(grown_in_square);
    let n = matrix.n_leaves();
    let (stride, n_padded) = (stride(n), padded(n));
    let mut square = vec![0.0; stride * n_padded];
    write_padded(matrix, false, &mut square, stride, monitor)?;
    let mut edges = Vec::with_capacity(n.saturating_sub(1));
    widest!(simd => grow(simd, &square, stride, n, &mut edges));
    monitor.advance((n * n / 2) as u64)?;
    Ok(edges)
}

/// The state of [`LANES`] leaves (one SIMD vector) while the tree grows.
#[derive(Clone)]
struct Grown {
    best: [f64; LANES],
    with: [f64; LANES],
    /// The summand that is added to similarities: minus infinity for leaves in the tree, and otherwise 0.
    gone: [f64; LANES],
}

/// Leaf k is stored as the float `NUMBERED` + k. The lowest bits of this float are the bits of k.
const NUMBERED: f64 = (1u64 << 52) as f64;

#[inline(always)]
fn leaf_of(number: f64) -> usize {
    (number.to_bits() - NUMBERED.to_bits()) as usize
}

#[inline(always)]
fn grow<S: Simd>(simd: S, square: &[f64], stride: usize, n: usize, edges: &mut Vec<RawMerge>) {
    let n_chunks = n.div_ceil(LANES);
    let [nothing, all] = [f64::NEG_INFINITY, f64::INFINITY].map(|x| f64x8::splat(simd, x));
    let unused = Grown { best: [f64::NEG_INFINITY; LANES], with: [0.0; LANES], gone: [f64::NEG_INFINITY; LANES] };
    let mut grown = vec![unused; n_chunks];
    (0..n).for_each(|leaf| grown[leaf / LANES].gone[leaf % LANES] = 0.0);
    let lanes = f64x8::load_array(simd, std::array::from_fn(|lane| NUMBERED + lane as f64));
    let step = f64x8::splat(simd, LANES as f64);
    let mut last = 0;
    while edges.len() + 1 < n {
        // Write whole vectors, because reading a vector stalls if only a part of it was just written.
        let Grown { best, gone, .. } = &mut grown[last / LANES];
        let limit = lanes.simd_eq(f64x8::splat(simd, NUMBERED + (last % LANES) as f64)).select(nothing, all);
        f64x8::load_array_ref(simd, best).min(limit).store_array(best);
        f64x8::load_array_ref(simd, gone).min(limit).store_array(gone);
        let row = square[last * stride..][..n_chunks * LANES].as_chunks::<LANES>().0;
        let joined = f64x8::splat(simd, NUMBERED + last as f64);
        // For each SIMD lane: the largest similarity between a leaf outside the spanning tree and a leaf of the
        // spanning tree (`top`), and the leaf outside the spanning tree that has this similarity (`at`).
        let (mut top, mut at, mut numbers) = (nothing, lanes, lanes);
        for (Grown { best, with, gone }, x) in grown.iter_mut().zip(row) {
            let x = f64x8::load_array_ref(simd, x) + f64x8::load_array_ref(simd, gone);
            let before = f64x8::load_array_ref(simd, best);
            x.simd_gt(before).select(joined, f64x8::load_array_ref(simd, with)).store_array(with);
            let now = x.max(before);
            now.store_array(best);
            at = now.simd_gt(top).select(numbers, at);
            top = now.max(top);
            numbers += step;
        }
        let similarity = top.reduce_max();
        let lane = top.simd_eq(f64x8::splat(simd, similarity)).to_bitmask().trailing_zeros() as usize;
        let mut leaves = [0.0; LANES];
        at.store_array(&mut leaves);
        last = leaf_of(leaves[lane]);
        let with = leaf_of(grown[last / LANES].with[last % LANES]);
        edges.push(RawMerge { i: with.min(last), j: with.max(last), similarity });
    }
}

/// Where values of `row` are larger than values of `best`, copies them to `best` and sets `with` to `last`. Returns the
/// largest finite value of `best`.
#[inline(always)]
fn raise(best: &mut [f64], with: &mut [u32], row: &[f64], last: u32) -> f64 {
    const LANES: usize = 16;
    let mut largest = [f64::NEG_INFINITY; LANES];
    let (bests, best_rest) = best.as_chunks_mut::<LANES>();
    let (rows, row_rest) = row.as_chunks::<LANES>();
    let (withs, with_rest) = with.as_chunks_mut::<LANES>();
    for ((best, row), with) in bests.iter_mut().zip(rows).zip(withs) {
        let mut any = false;
        for lane in 0..LANES {
            any |= row[lane] > best[lane];
        }
        if any {
            for lane in 0..LANES {
                if row[lane] > best[lane] {
                    (best[lane], with[lane]) = (row[lane], last);
                }
            }
        }
        for lane in 0..LANES {
            let x = if best[lane] < f64::INFINITY { best[lane] } else { f64::NEG_INFINITY };
            largest[lane] = if x > largest[lane] { x } else { largest[lane] };
        }
    }
    for ((best, &x), with) in best_rest.iter_mut().zip(row_rest).zip(with_rest) {
        if x > *best {
            (*best, *with) = (x, last);
        }
        if *best < f64::INFINITY && *best > largest[0] {
            largest[0] = *best;
        }
    }
    largest.into_iter().fold(f64::NEG_INFINITY, f64::max)
}
