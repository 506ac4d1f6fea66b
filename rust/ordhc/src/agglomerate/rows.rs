//! The similarities of the clusters there are, kept up to date while clusters merge.

use super::kept::Kept;
use super::log::{Logged, replay};
use super::matrix::Matrix;
use super::square_rounds::parts;
use super::store::Store;
use super::{Linkage, NOBODY, Nearest, Tolerance};
use crate::error::{Error, Result};
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;
use crate::parallel;

/// A value kept for a pair, as a similarity.
#[inline(always)]
pub(super) fn similarity<U: Update>(value: f64, n_i: f64, n_k: f64) -> f64 {
    if U::SUMS { value / (n_i * n_k) } else { value }
}

/// A full square matrix in which a merge rewrites one row only.
///
/// All other rows learn of a merge when they are read next: merges are logged, and a row replays
/// what it has missed, within its own (cached, contiguous) memory. Merged-away columns hold minus
/// infinity. When a third of the clusters has gone the matrix is packed.
pub(crate) struct SquareRows<'a, U: Update> {
    pub(super) update: &'a U,
    pub(super) values: Store<'a>,
    /// Rows are so far apart.
    pub(super) stride: usize,
    /// By position: which row of the memory is its own. Positions and rows are in the same order.
    pub(super) lines: Vec<u32>,
    /// By position: the size, the cluster, how much of the log its row has seen.
    pub(super) sizes: Vec<f64>,
    pub(super) clusters: Vec<usize>,
    pub(super) seen: Vec<usize>,
    pub(super) alive: Vec<bool>,
    /// By position, where that is known before the first merge; else empty.
    pub(super) nearest: Vec<Nearest>,
    pub(super) n_alive: usize,
    /// By cluster: the position.
    pub(super) positions: Vec<usize>,
    pub(super) log: Vec<Logged<U::Merge>>,
    pub(super) tolerance: Tolerance,
}

/// Matrices below this many rows are not packed.
const PACK_FROM: usize = 64;

impl<'a, U: Update> SquareRows<'a, U> {
    pub(crate) fn new(
        update: &'a U,
        matrix: &Matrix<'_>,
        squared: bool,
        tolerance: Tolerance,
        monitor: &Monitor,
    ) -> Result<Self> {
        entered!(square);
        let n = matrix.n_leaves();
        let mut values = Store::zeros(n * n)?;
        matrix.write_square(squared, &mut values, monitor)?;
        Ok(Self::from_similarities(update, values, n, tolerance))
    }

    /// `values` are the square similarities of `n` leaves.
    pub(crate) fn from_similarities(update: &'a U, values: Store<'a>, n: usize, tolerance: Tolerance) -> Self {
        Self::from_parts(update, values, vec![1.0; n], (0..n).collect(), n, tolerance)
    }

    /// `values` is a square over `clusters`; `n` is the number of leaves.
    pub(super) fn from_parts(
        update: &'a U,
        values: Store<'a>,
        sizes: Vec<f64>,
        clusters: Vec<usize>,
        n: usize,
        tolerance: Tolerance,
    ) -> Self {
        let stride = clusters.len();
        let mut positions = vec![usize::MAX; n];
        for (position, &cluster) in clusters.iter().enumerate() {
            positions[cluster] = position;
        }
        Self {
            update,
            values,
            stride,
            lines: (0..stride as u32).collect(),
            sizes,
            clusters,
            seen: vec![0; stride],
            alive: vec![true; stride],
            nearest: Vec::new(),
            n_alive: stride,
            positions,
            log: Vec::new(),
            tolerance,
        }
    }

    /// The number of positions.
    pub(super) fn width(&self) -> usize {
        self.clusters.len()
    }

    fn row_range(&self, position: usize) -> std::ops::Range<usize> {
        let start = self.lines[position] as usize * self.stride;
        start..start + self.width()
    }

    /// Replays the merges that a row has missed.
    fn bring_up_to_date(&mut self, position: usize) {
        let range = self.row_range(position);
        let missed = &self.log[self.seen[position]..];
        replay(self.update, &mut self.values[range], missed, position, self.sizes[position]);
        self.seen[position] = self.log.len();
    }

    pub(super) fn wants_packing(&self) -> bool {
        self.width() > PACK_FROM && 3 * self.n_alive < 2 * self.width()
    }

    /// Drops the positions of clusters that are gone, and returns those that are kept. Rows stay where they are.
    pub(super) fn pack(&mut self) -> Vec<usize> {
        entered!(square_packed);
        let width = self.width();
        let kept: Vec<usize> = (0..width).filter(|&p| self.alive[p]).collect();
        let bits = Kept::of(kept.iter().copied(), width);
        let Self { update, values, log, sizes, alive, seen, .. } = self;
        let (update, log, sizes) = (*update, &*log, &*sizes);
        let rows = rows_mut(values, self.stride, &self.lines, width).zip(&*seen).enumerate();
        let rows: Vec<_> = rows.filter(|&(at, _)| alive[at]).collect();
        parallel::map(parts(rows, kept.len() * width), |rows| {
            for (at, (row, &seen)) in rows {
                replay(update, row, &log[seen..], at, sizes[at]);
                wide!(simd => bits.pack(simd, row));
            }
        });
        for (new, &old) in kept.iter().enumerate() {
            self.lines[new] = self.lines[old];
            self.sizes[new] = self.sizes[old];
            self.clusters[new] = self.clusters[old];
            self.positions[self.clusters[new]] = new;
        }
        self.lines.truncate(kept.len());
        self.sizes.truncate(kept.len());
        self.clusters.truncate(kept.len());
        self.seen = vec![0; kept.len()];
        self.alive = vec![true; kept.len()];
        self.log.clear();
        kept
    }
}

/// The rows of all positions.
pub(super) fn rows_mut<'v>(
    values: &'v mut [f64],
    stride: usize,
    lines: &'v [u32],
    width: usize,
) -> impl Iterator<Item = &'v mut [f64]> {
    let mut lines = lines.iter().peekable();
    let rows = values.chunks_exact_mut(stride.max(1)).zip(0u32..);
    rows.filter_map(move |(row, line)| lines.next_if_eq(&&line).map(|_| &mut row[..width]))
}

/// Replaces `row_i` by the row of the merged cluster, given the row of the other part, which is at `j`.
///
/// `fail` makes the error for a value that is not finite, and its position.
pub(super) fn fold_row<U: Update>(
    update: &U,
    merge: &U::Merge,
    row_i: &mut [f64],
    row_j: &[f64],
    sizes: &[f64],
    j: usize,
    fail: &dyn Fn(f64, usize) -> Error,
) -> Result<()> {
    let mut wrong = None;
    wide!(for (at, ((x_i, &x_j), &n_k)) in row_i.iter_mut().zip(row_j).zip(sizes).enumerate() {
        let (a, b) = (*x_i, x_j);
        let folded = update.fold(merge, a, b, n_k);
        let gone = a == f64::NEG_INFINITY || b == f64::NEG_INFINITY;
        if U::MAY_FAIL && !gone && !folded.is_finite() && wrong.is_none() {
            wrong = Some((at, folded));
        }
        *x_i = if gone { f64::NEG_INFINITY } else { folded };
    });
    row_i[j] = f64::NEG_INFINITY;
    wrong.map_or(Ok(()), |(at, x)| Err(fail(x, at)))
}

impl<U: Update> Linkage for SquareRows<'_, U> {
    fn n_leaves(&self) -> usize {
        self.positions.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        let position = self.positions[i];
        self.bring_up_to_date(position);
        let row = &self.values[self.row_range(position)];
        let n_i = self.sizes[position];
        for (value, &k) in out.iter_mut().zip(others) {
            let k = self.positions[k];
            *value = similarity::<U>(row[k], n_i, self.sizes[k]);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        let (at_i, at_j) = (self.positions[i], self.positions[j]);
        self.bring_up_to_date(at_i);
        self.bring_up_to_date(at_j);
        let (range_i, range_j) = (self.row_range(at_i), self.row_range(at_j));
        let (head, tail) = self.values.split_at_mut(range_j.start);
        let (row_i, row_j) = (&mut head[range_i], &tail[..range_j.len()]);
        let merge = self.update.merge(Merging { n_i: self.sizes[at_i], n_j: self.sizes[at_j], x_ij: row_i[at_j] });
        let clusters = &self.clusters;
        fold_row(self.update, &merge, row_i, row_j, &self.sizes, at_j, &|x, k| not_finite(x, i, clusters[k]))?;
        self.sizes[at_i] += self.sizes[at_j];
        self.log.push(Logged { i: at_i, j: at_j, merge });
        self.seen[at_i] = self.log.len();
        self.alive[at_j] = false;
        self.n_alive -= 1;
        if self.wants_packing() {
            self.pack();
        }
        Ok(())
    }

    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let position = self.positions[i];
        self.bring_up_to_date(position);
        let row = &self.values[self.row_range(position)];
        let n_i = self.sizes[position];
        let nearest = nearest::<U>(row, &self.sizes, n_i, self.tolerance, f64::NEG_INFINITY);
        Ok(nearest.map_or(NOBODY, |nearest| Nearest { cluster: self.clusters[nearest.cluster], ..nearest }))
    }
}

/// The largest similarity of a row, in independent lanes.
#[inline(always)]
fn largest<U: Update>(row: &[f64], sizes: &[f64], n_i: f64) -> f64 {
    const LANES: usize = 16;
    let mut best = [f64::NEG_INFINITY; LANES];
    let (rows, rest) = row.as_chunks::<LANES>();
    let (counts, rest_counts) = sizes.as_chunks::<LANES>();
    for (values, counts) in rows.iter().zip(counts) {
        for lane in 0..LANES {
            let x = similarity::<U>(values[lane], n_i, counts[lane]);
            best[lane] = if x > best[lane] { x } else { best[lane] };
        }
    }
    let rest = rest.iter().zip(rest_counts).map(|(&value, &n_k)| similarity::<U>(value, n_i, n_k));
    best.into_iter().chain(rest).fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a })
}

/// The nearest of a row, if the largest similarity is above `bar`: the first that equals the largest.
#[inline(never)] // Rules of the same similarity share the code.
pub(super) fn nearest<U: Update>(
    row: &[f64],
    sizes: &[f64],
    n_i: f64,
    tolerance: Tolerance,
    bar: f64,
) -> Option<Nearest> {
    wide!(nearest_in_row::<U>(row, sizes, n_i, tolerance, bar))
}

#[inline(always)]
pub(super) fn nearest_in_row<U: Update>(
    row: &[f64],
    sizes: &[f64],
    n_i: f64,
    tolerance: Tolerance,
    bar: f64,
) -> Option<Nearest> {
    // A few blocks, of which only one is looked at again.
    const BLOCKS: usize = 8;
    let block = row.len().div_ceil(BLOCKS).max(1);
    let blocks = row.chunks(block).zip(sizes.chunks(block));
    let mut tops = [f64::NEG_INFINITY; BLOCKS];
    for (top, (values, counts)) in tops.iter_mut().zip(blocks.clone()) {
        *top = largest::<U>(values, counts, n_i);
    }
    let top = tops.into_iter().fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
    if top <= bar {
        return None;
    }
    let floor = tolerance.floor(top);
    let value = |(&x, &n_k): (&f64, &f64)| similarity::<U>(x, n_i, n_k);
    let mut blocks = blocks.enumerate().filter(|&(at, _)| tops[at] >= floor);
    let (at, (values, counts)) = blocks.next()?;
    let place = values.iter().zip(counts).position(|pair| value(pair) >= floor)?;
    let mut n_best = counts[place];
    let mut best = Nearest::new(block * at + place, similarity::<U>(values[place], n_i, n_best));
    if tolerance == Tolerance::EXACT {
        return Some(best);
    }
    // Others that may be as near, and aren't just equal.
    offer_all::<U>(
        (&mut best, &mut n_best, floor),
        (&values[place + 1..], &counts[place + 1..]),
        n_i,
        block * at + place + 1,
        tolerance,
    );
    for (at, (values, counts)) in blocks {
        offer_all::<U>((&mut best, &mut n_best, floor), (values, counts), n_i, block * at, tolerance);
    }
    Some(best)
}

/// Offers what is at least `floor`, of the slots from `first` on. The best so far is a cluster of `n_best` leaves.
#[inline(always)]
fn offer_all<U: Update>(
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
            let s = similarity::<U>(x, n_i, n_k);
            any |= (s >= floor) & (s != equal);
        }
        if any {
            for (k, (&x, &n_k)) in (first + at * LANES..).zip(values.iter().zip(counts)) {
                let s = similarity::<U>(x, n_i, n_k);
                let leaves = n_i * n_k * *n_best == 1.0;
                if s >= floor && s != equal && best.offer(Nearest::new(k, s), tolerance.among(leaves)) {
                    (*n_best, equal) = (n_k, tolerance.certain(s));
                }
            }
        }
    }
}

/// A linkage formula may give NaN or infinity where it divides by zero: an error, not a wrong tree.
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
    use crate::agglomerate::nearest_of;
    use crate::linkage::Average;

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
            prop_assert_eq!(nearest::<Average>(&row, &vec![1.0; row.len()], 1.0, tolerance, bar), expected);
        }
    }
}
