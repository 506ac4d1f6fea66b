//! Searches for the nearest cluster of every cluster in a condensed matrix, while its rows are read or written.

use super::nearest::{NO_CLUSTER, Nearest};
use super::tolerance::Tolerance;
use crate::error::{Error, Result};
use crate::linkage::Stored;

/// The nearest cluster of every cluster, as found in the rows of a condensed matrix that were added so far. Clusters
/// are given by their indices in the matrix. Rows must be added in order. Several threads add different rows to
/// separate searches, which [`join`](Self::join) combines.
pub(super) struct RowSearch {
    tolerance: Tolerance,
    /// For each cluster: only a similarity above this value can replace its nearest cluster so far.
    bar: Vec<f64>,
    /// For each cluster: a later cluster with exactly this similarity is tied with the nearest cluster so far, and does
    /// not replace it.
    equal: Vec<f64>,
    nearest: Vec<Nearest>,
}

const LANES: usize = 16;

impl RowSearch {
    pub(super) fn new(k: usize, tolerance: Tolerance) -> Self {
        Self { tolerance, bar: vec![f64::NEG_INFINITY; k], equal: vec![f64::NAN; k], nearest: vec![NO_CLUSTER; k] }
    }

    /// Adds row `i` of the condensed matrix to the search. `row[k]` is the value for the clusters `i` and `i + 1 + k`:
    /// their similarity, or with `S::SUMS` the sum of the similarities of their leaves. `sizes` are the sizes of all
    /// clusters.
    pub(super) fn add<S: Stored>(&mut self, i: usize, row: &[f64], sizes: &[f64]) {
        widest!(self.add_row::<S>(i, row, sizes));
    }

    #[inline(always)]
    fn add_row<S: Stored>(&mut self, i: usize, row: &[f64], sizes: &[f64]) {
        let n_i = sizes[i];
        let (all, sizes) = (sizes, &sizes[i + 1..]);
        let tolerance = self.tolerance;
        let exact = tolerance == Tolerance::EXACT;
        let is_leaf = |slot: usize| all.get(slot) == Some(&1.0);
        let offer = |bar: &mut f64, equal: &mut f64, nearest: &mut Nearest, s: f64, n_k: f64| {
            if s > *bar && s != *equal {
                let leaves = n_i * n_k == 1.0;
                if exact {
                    (*bar, *nearest) = (s, Nearest::new(i, s));
                } else if nearest.offer(Nearest::new(i, s), tolerance.among(leaves && is_leaf(nearest.cluster))) {
                    (*bar, *equal) = (tolerance.floor(s), tolerance.certain(s));
                }
            }
        };
        let (rows, row_rest) = row.as_chunks::<LANES>();
        let (counts, count_rest) = sizes.as_chunks::<LANES>();
        let (bars, bar_rest) = self.bar[i + 1..].as_chunks_mut::<LANES>();
        let (equals, equal_rest) = self.equal[i + 1..].as_chunks_mut::<LANES>();
        let (nears, near_rest) = self.nearest[i + 1..].as_chunks_mut::<LANES>();
        let chunks = rows.iter().zip(counts).zip(bars).zip(equals).zip(nears);
        for ((((values, counts), bars), equals), nears) in chunks {
            let mut higher = false;
            for lane in 0..LANES {
                higher |= similarity::<S>(values[lane], n_i, counts[lane]) > bars[lane];
            }
            if !higher {
                continue;
            }
            let mut other = exact;
            for lane in 0..LANES {
                let s = similarity::<S>(values[lane], n_i, counts[lane]);
                other |= (s > bars[lane]) & (s != equals[lane]);
            }
            if other {
                for lane in 0..LANES {
                    let s = similarity::<S>(values[lane], n_i, counts[lane]);
                    offer(&mut bars[lane], &mut equals[lane], &mut nears[lane], s, counts[lane]);
                }
            }
        }
        let rest = row_rest.iter().zip(count_rest).zip(bar_rest).zip(equal_rest).zip(near_rest);
        for ((((&x, &n_k), bar), equal), near) in rest {
            offer(bar, equal, near, similarity::<S>(x, n_i, n_k), n_k);
        }
        // The rows of clusters before `i` were added first, so these clusters win ties.
        if let Some(nearest) = nearest_in_row::<S>(row, sizes, n_i, tolerance, self.bar[i]) {
            let before = n_i == 1.0 && is_leaf(self.nearest[i].cluster);
            let leaves = before && sizes[nearest.cluster] == 1.0;
            self.nearest[i].offer(Nearest { cluster: i + 1 + nearest.cluster, ..nearest }, tolerance.among(leaves));
            let similarity = self.nearest[i].similarity;
            (self.bar[i], self.equal[i]) = (tolerance.floor(similarity), tolerance.certain(similarity));
        }
    }

    pub(super) fn join(searches: Vec<Self>) -> Vec<Nearest> {
        let joined = searches.into_iter().reduce(|mut all, other| {
            for (nearest, other) in all.nearest.iter_mut().zip(other.nearest) {
                nearest.offer(other, all.tolerance);
            }
            all
        });
        joined.map_or_else(Vec::new, |all| all.nearest)
    }
}

#[inline(always)]
pub(super) fn similarity<S: Stored>(value: f64, n_i: f64, n_k: f64) -> f64 {
    if S::SUMS { value / (n_i * n_k) } else { value }
}

#[inline(always)]
fn largest<S: Stored>(row: &[f64], sizes: &[f64], n_i: f64) -> f64 {
    const LANES: usize = 16;
    let mut best = [f64::NEG_INFINITY; LANES];
    let (rows, rest) = row.as_chunks::<LANES>();
    let (counts, rest_counts) = sizes.as_chunks::<LANES>();
    for (values, counts) in rows.iter().zip(counts) {
        for lane in 0..LANES {
            let x = similarity::<S>(values[lane], n_i, counts[lane]);
            best[lane] = if x > best[lane] { x } else { best[lane] };
        }
    }
    let rest = rest.iter().zip(rest_counts).map(|(&value, &n_k)| similarity::<S>(value, n_i, n_k));
    best.into_iter().chain(rest).fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a })
}

#[inline(always)]
fn nearest_in_row<S: Stored>(row: &[f64], sizes: &[f64], n_i: f64, tolerance: Tolerance, bar: f64) -> Option<Nearest> {
    // Split the row into a few blocks, so that mostly only the block with the largest similarity is read again.
    const BLOCKS: usize = 8;
    let block = row.len().div_ceil(BLOCKS).max(1);
    let blocks = row.chunks(block).zip(sizes.chunks(block));
    let mut tops = [f64::NEG_INFINITY; BLOCKS];
    for (top, (values, counts)) in tops.iter_mut().zip(blocks.clone()) {
        *top = largest::<S>(values, counts, n_i);
    }
    let top = tops.into_iter().fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
    if top <= bar {
        return None;
    }
    let floor = tolerance.floor(top);
    let value = |(&x, &n_k): (&f64, &f64)| similarity::<S>(x, n_i, n_k);
    let mut blocks = blocks.enumerate().filter(|&(at, _)| tops[at] >= floor);
    let (at, (values, counts)) = blocks.next()?;
    let place = values.iter().zip(counts).position(|pair| value(pair) >= floor)?;
    let mut n_best = counts[place];
    let mut best = Nearest::new(block * at + place, similarity::<S>(values[place], n_i, n_best));
    if tolerance == Tolerance::EXACT {
        return Some(best);
    }
    offer_all::<S>(
        (&mut best, &mut n_best, floor),
        (&values[place + 1..], &counts[place + 1..]),
        n_i,
        block * at + place + 1,
        tolerance,
    );
    for (at, (values, counts)) in blocks {
        offer_all::<S>((&mut best, &mut n_best, floor), (values, counts), n_i, block * at, tolerance);
    }
    Some(best)
}

/// Replaces `best`, the nearest cluster so far, if one of the given clusters is nearer. Ignores similarities below
/// `floor`. `first` is the index of the first given cluster.
#[inline(always)]
fn offer_all<S: Stored>(
    (best, n_best, floor): (&mut Nearest, &mut f64, f64),
    (values, sizes): (&[f64], &[f64]),
    n_i: f64,
    first: usize,
    tolerance: Tolerance,
) {
    const LANES: usize = 16;
    let mut equal = tolerance.certain(best.similarity);
    for (at, (values, counts)) in values.chunks(LANES).zip(sizes.chunks(LANES)).enumerate() {
        let mut any = false;
        for (&x, &n_k) in values.iter().zip(counts) {
            let s = similarity::<S>(x, n_i, n_k);
            any |= (s >= floor) & (s != equal);
        }
        if any {
            for (k, (&x, &n_k)) in (first + at * LANES..).zip(values.iter().zip(counts)) {
                let s = similarity::<S>(x, n_i, n_k);
                let leaves = n_i * n_k * *n_best == 1.0;
                if s >= floor && s != equal && best.offer(Nearest::new(k, s), tolerance.among(leaves)) {
                    (*n_best, equal) = (n_k, tolerance.certain(s));
                }
            }
        }
    }
}

pub(super) fn check_row(row: &[f64], cluster: impl Fn(usize) -> usize, i: usize) -> Result<()> {
    match row.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(not_finite(row[at], i, cluster(at))),
    }
}

pub(super) fn not_finite(x: f64, i: usize, j: usize) -> Error {
    Error::Leaves {
        before: format!("the linkage gives {x} for the similarity of clusters "),
        leaves: vec![vec![i], vec![j]],
        after: " (named by their smallest leaves)".into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::nearest::nearest_of;
    use crate::linkage::Plain;

    proptest! {
        #[test]
        fn the_nearest_is_the_first_that_equals_the_largest(
            row in proptest::collection::vec(prop::sample::select(vec![0.2, 0.3, 0.1 + 0.2, f64::NEG_INFINITY]), 0..100),
            exact: bool,
            bar in prop::sample::select(vec![f64::NEG_INFINITY, 0.25, 0.5]),
        ) {
            let tolerance = if exact { Tolerance::EXACT } else { Tolerance::rounded(1e-15, 0.0) };
            let expected = nearest_of(&(0..row.len()).collect::<Vec<_>>(), &row, tolerance);
            let expected = Some(expected).filter(|nearest| nearest.similarity > bar);
            let sizes = vec![1.0; row.len()];
            let found = widest!(nearest_in_row::<Plain>(&row, &sizes, 1.0, tolerance, bar));
            prop_assert_eq!(found, expected);
        }
    }
}
