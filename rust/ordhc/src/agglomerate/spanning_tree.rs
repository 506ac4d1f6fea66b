//! A maximum spanning tree of a matrix, in O(n) memory beside it.

use std::sync::Mutex;

use super::matrix::Matrix;
use super::rounds::{Given, TriangleRows, next, parts, threads};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::condensed_len;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

/// The edges, in any order.
///
/// Large matrices are read in passes that keep the few largest similarities between different
/// components (Kruskal 1956 with a filter); where that does not get far, Prim's algorithm reads every
/// pair once, many of them with strides.
pub(super) fn spanning_tree(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    if matrix.n_leaves() < FILTER_FROM {
        return grown(matrix, monitor);
    }
    if let Some(edges) = all_largest(matrix, monitor)? {
        return Ok(edges);
    }
    match filtered(matrix, monitor)? {
        Some(edges) => Ok(edges),
        None => grown(matrix, monitor),
    }
}

/// A tree of which all edges have the largest similarity there is, if it takes at most one of so many pairs to
/// find: only a few rows are read then.
const FEW: usize = 16;

fn all_largest(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Option<Vec<RawMerge>>> {
    let n = matrix.n_leaves();
    let facts = matrix.facts();
    // Where the largest number is a negative one, no pair has this similarity.
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
    Ok(Some(edges))
}

const FILTER_FROM: usize = 300;
/// A pass aims to keep this many pairs per leaf, and gives up at that many.
const AIM: usize = 16;
const MOST: usize = 64;
const PASSES: usize = 8;
const SAMPLE: usize = 1 << 16;

/// Kruskal's algorithm on ever more pairs, or nothing if they are too many.
fn filtered(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Option<Vec<RawMerge>>> {
    let n = matrix.n_leaves();
    let mut components = UnionFind::new(n);
    let mut edges = Vec::with_capacity(n - 1);
    for _ in 0..PASSES {
        let Some(mut pairs) = pairs_above(matrix, &components.names(), threshold(matrix, &components), monitor)? else {
            return Ok(None);
        };
        let place = |edge: &RawMerge| (edge.i, edge.j);
        pairs.sort_unstable_by(|a, b| b.similarity.total_cmp(&a.similarity).then(place(a).cmp(&place(b))));
        for edge in pairs {
            if components.join(edge.i as u32, edge.j as u32) {
                edges.push(edge);
            }
        }
        if edges.len() + 1 == n {
            return Ok(Some(edges));
        }
    }
    Ok(None)
}

/// A similarity that about `AIM` pairs per leaf of different components exceed.
fn threshold(matrix: &Matrix<'_>, components: &UnionFind) -> f64 {
    let n = matrix.n_leaves();
    let of = components.names();
    let mut sizes = vec![0u64; n];
    of.iter().for_each(|&component| sizes[component as usize] += 1);
    let between = condensed_len(n) as u64 - sizes.iter().map(|&size| size * size.saturating_sub(1) / 2).sum::<u64>();
    let wanted = (AIM * n) as f64 / between as f64;
    // Pairs that are spread evenly over rows and columns (steps by the golden ratio).
    let golden = |k: usize| (k as f64 * 0.618_033_988_749_894_9).fract();
    let mut sample = Vec::with_capacity(SAMPLE);
    for k in 0..SAMPLE {
        let (a, b) = ((n * k) / SAMPLE, ((n as f64 * golden(k)) as usize).min(n - 1));
        if of[a] != of[b] {
            sample.push(matrix.similarity(a as u32, b as u32));
        }
    }
    let at = (wanted * sample.len() as f64) as usize;
    if wanted > 0.25 || at >= sample.len() {
        return f64::NEG_INFINITY;
    }
    *sample.select_nth_unstable_by(at, |a, b| b.total_cmp(a)).1
}

/// All pairs of different components above a threshold, unless they are too many.
fn pairs_above(matrix: &Matrix<'_>, of: &[u32], threshold: f64, monitor: &Monitor) -> Result<Option<Vec<RawMerge>>> {
    const LANES: usize = 16;
    let n = matrix.n_leaves();
    // As floats, which are compared together with the values.
    let of: Vec<f64> = of.iter().map(|&component| f64::from(component)).collect();
    let triangle = Given { matrix, squared: false };
    let queue = Mutex::new(parts(n).into_iter());
    let found = parallel::map(threads(n), |_| {
        let mut scratch = vec![0.0; n];
        let mut pairs = Vec::new();
        while let Some(rows) = next(&queue) {
            for i in rows {
                let row = triangle.row(i, &mut scratch);
                for (at, (values, others)) in row.chunks(LANES).zip(of[i + 1..].chunks(LANES)).enumerate() {
                    let wanted = |(&x, &other): (&f64, &f64)| (x > threshold) & (other != of[i]);
                    if !values.iter().zip(others).fold(false, |any, pair| any | wanted(pair)) {
                        continue;
                    }
                    let first = i + 1 + at * LANES;
                    for (j, &similarity) in (first..).zip(values) {
                        if similarity > threshold && of[i] != of[j] {
                            pairs.push(RawMerge { i, j, similarity });
                        }
                    }
                }
                if pairs.len() > MOST * n {
                    return Ok(None);
                }
            }
            monitor.advance(0)?;
        }
        Ok(Some(pairs))
    });
    let found: Option<Vec<_>> = found.into_iter().collect::<Result<_>>()?;
    Ok(found.map(|parts| parts.concat()))
}

/// Leaves that are not in the tree yet are packed when one of this many has joined it.
const PACK: usize = 4;

/// Prim's algorithm: the edges in the order in which the tree grows.
fn grown(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    let n = matrix.n_leaves();
    // By place: a leaf, its largest similarity with the tree, and with which leaf. What has joined the
    // tree since the last packing has infinity: nothing is larger.
    let mut leaves: Vec<u32> = (1..n as u32).collect();
    let mut best = vec![f64::NEG_INFINITY; leaves.len()];
    let mut with = vec![0u32; leaves.len()];
    let mut row = vec![0.0; leaves.len()];
    let mut edges = Vec::with_capacity(leaves.len());
    let (mut last, mut gone) = (0, 0);
    while edges.len() + 1 < n {
        matrix.gather(last as usize, &leaves, &mut row);
        let largest = raise(&mut best, &mut with, &row, last);
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

/// Takes over what is larger in `row`, and returns the largest of `best` below infinity.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::{Layout, Values};
    use crate::kind::Kind;
    use crate::testkit::below;

    fn sorted(mut edges: Vec<RawMerge>) -> Vec<f64> {
        edges.sort_unstable_by(|a, b| a.similarity.total_cmp(&b.similarity));
        edges.into_iter().map(|edge| edge.similarity).collect()
    }

    proptest! {
        #[test]
        fn filtered_trees_are_as_similar_as_grown_ones(
            n in 2..60usize, kinds in 1..50u64, seed: u64, clusters in 1..7usize, dissimilarity: bool
        ) {
            let mut random = below(seed);
            let mut pair = |i: usize, j: usize| {
                let far = if i % clusters == j % clusters { 0 } else { 1000 };
                (random(kinds) + far) as f64
            };
            let values: Vec<f64> =
                (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| pair(i, j)).collect();
            let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::of(dissimilarity)).unwrap();
            let monitor = Monitor::new();
            let grown = sorted(grown(&matrix, &monitor).unwrap());
            if let Some(edges) = all_largest(&matrix, &monitor).unwrap() {
                prop_assert_eq!(sorted(edges), &grown[..]);
            }
            if let Some(edges) = filtered(&matrix, &monitor).unwrap() {
                prop_assert_eq!(sorted(edges), grown);
            }
        }
    }
}
