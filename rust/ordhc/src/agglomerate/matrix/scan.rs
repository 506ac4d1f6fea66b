//! Checks the values of a matrix in one pass.

use std::ops::Range;

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use crate::error::{Error, Position, Result};
use crate::numbers::Number;
use crate::parallel;
use crate::similarity::Triangle;

/// The number of columns in a block of a square matrix. Each block below the diagonal is compared with its mirror image
/// above the diagonal, while both are in the cache.
pub(in crate::agglomerate) const BLOCK: usize = 64;
/// The largest relative difference between values at (i, j) and (j, i) for which a matrix counts as symmetric. The mean
/// of both values is used.
const ASYMMETRY: f64 = 1e-8;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// The largest absolute value in the matrix.
    pub(crate) largest: f64,
    /// The smallest value.
    pub(crate) low: f64,
    /// True if all values are integers below 2^50.
    pub(crate) whole: bool,
    pub(crate) positive: bool,
    pub(crate) negative: bool,
    /// True if the upper and the lower triangle of the matrix are equal, or if only one of them is stored.
    pub(in crate::agglomerate) symmetric: bool,
}

impl Facts {
    /// Returns true if all values are equal and not negative.
    pub(in crate::agglomerate) fn all_equal(self) -> bool {
        self.low == self.largest
    }
}

/// Values of any type, which are read as `f64`. Values of other types are converted in blocks, so that the checks are
/// compiled only for `f64`.
pub(super) trait Floats: Sync {
    fn len(&self) -> usize;

    fn at(&self, at: usize) -> f64;

    /// Returns a block of a matrix whose rows have `n` values, and the distance between the starts of its rows. The
    /// returned slice begins with the block's first value. `room` is used for converted values.
    fn block<'b>(
        &'b self,
        n: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        room: &'b mut Vec<f64>,
    ) -> (&'b [f64], usize);
}

impl<T: Number> Floats for &[T] {
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn at(&self, at: usize) -> f64 {
        self[at].float()
    }

    fn block<'b>(
        &'b self,
        n: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        room: &'b mut Vec<f64>,
    ) -> (&'b [f64], usize) {
        if let Some(floats) = T::as_floats(self) {
            return (&floats[rows.start * n + columns.start..], n);
        }
        room.clear();
        for row in rows {
            room.extend(self[row * n..][columns.clone()].iter().map(|x| x.float()));
        }
        (room, columns.len())
    }
}

pub(super) fn scan_condensed(values: &dyn Floats, n: usize) -> Result<Facts> {
    let parts = parallel::ranges(values.len(), 1 << 19);
    let facts = parallel::map(parts, |part| {
        let mut seen = Seen::default();
        let mut room = Vec::new();
        // Check a few values first: if any is not an integer, the rest is not checked for integers.
        let mut start = part.start;
        let mut end = part.end.min(start + 64);
        while start < part.end {
            let (chunk, _) = values.block(0, 0..1, start..end, &mut room);
            let chunk = &chunk[..end - start];
            wide!(simd => seen.add(simd, chunk));
            (start, end) = (end, part.end.min(end + 4096));
        }
        seen
    });
    let seen = facts.into_iter().reduce(Seen::join).unwrap_or_default();
    if !seen.finite() {
        let Some(at) = (0..values.len()).find(|&at| !values.at(at).is_finite()) else {
            return Err(Error::changed_meanwhile());
        };
        let (i, j) = Triangle::new(n).pair(at);
        return Err(not_finite(Position::Condensed { at, i, j }, values.at(at)));
    }
    Ok(seen.facts(true))
}

pub(super) fn scan_square(values: &dyn Floats, n: usize) -> Result<Facts> {
    // Later blocks of rows are longer, so each thread takes every `n_threads`-th block.
    let (n_blocks, n_threads) = (n.div_ceil(ROWS), parallel::ranges(n.div_ceil(ROWS), 2).len());
    let found =
        parallel::map((0..n_threads).collect(), |thread| scan_blocks(values, n, (thread..n_blocks).step_by(n_threads)));
    let mut all = Seen::default();
    let mut symmetric = true;
    let mut bad: Option<(usize, usize)> = None;
    for (seen, same, first_bad) in found {
        all = all.join(seen);
        symmetric &= same;
        bad = bad.into_iter().chain(first_bad).min_by_key(|&(_, i)| i / ROWS);
    }
    if !all.finite() {
        let bad = |&at: &usize| at / n != at % n && !values.at(at).is_finite();
        let Some(at) = (0..n * n).find(bad) else { return Err(Error::changed_meanwhile()) };
        return Err(not_finite(Position::Pair(at / n, at % n), values.at(at)));
    }
    if let Some((i, j)) = bad {
        let (a, b) = (values.at(i * n + j), values.at(j * n + i));
        return Err(Error::Asymmetric { i, j, value: a, other: b, tolerance: ASYMMETRY });
    }
    Ok(all.facts(symmetric))
}

fn not_finite(place: Position, value: f64) -> Error {
    Error::BadValue { what: "the value", place, value, limit: "similarities and dissimilarities must be finite" }
}

const ROWS: usize = 4 * BLOCK;

/// Checks the values in blocks of rows below the diagonal. Returns their properties, whether the matrix is symmetric,
/// and the first pair whose two values differ too much.
///
/// Values above the diagonal are checked only if they differ from the values below.
fn scan_blocks(
    values: &dyn Floats,
    n: usize,
    blocks: impl Iterator<Item = usize>,
) -> (Seen, bool, Option<(usize, usize)>) {
    let mut seen = Seen::default();
    let mut symmetric = true;
    let mut bad = None;
    let mut rooms = [Vec::new(), Vec::new()];
    for row in blocks.map(|block| block * ROWS) {
        let rows = row..(row + ROWS).min(n);
        wide!(simd => for i in rows.clone() {
            let (line, _) = values.block(n, i..i + 1, 0..i, &mut rooms[0]);
            seen.add(simd, &line[..i]);
        });
        for column in (0..rows.end).step_by(BLOCK) {
            let columns = column..(column + BLOCK).min(rows.end);
            let [below, above] = &mut rooms;
            let (lower, lower_stride) = values.block(n, rows.clone(), columns.clone(), below);
            let (upper, upper_stride) = values.block(n, columns.clone(), rows.clone(), above);
            let (lower, upper) = ((lower, lower_stride), (upper, upper_stride));
            if wide!(mirrored(lower, upper, rows.clone(), columns.clone())) {
                continue;
            }
            symmetric = false;
            let (upper, stride) = upper;
            wide!(simd => for j in columns.clone() {
                let first = rows.start.max(j + 1) - rows.start;
                seen.add(simd, &upper[(j - column) * stride..][first..rows.len()]);
            });
            for i in rows.clone() {
                for j in column..columns.end.min(i) {
                    let a = lower.0[(i - row) * lower.1 + j - column];
                    let b = upper[(j - column) * stride + i - row];
                    if (a - b).abs() > ASYMMETRY * a.abs().max(b.abs()) && bad.is_none() {
                        bad = Some((j, i));
                    }
                }
            }
        }
    }
    (seen, symmetric, bad)
}

/// Returns true if the block `lower` below the diagonal is the mirror image of the block `upper`. A block is given by
/// its values, from its first value on, and by the distance between the starts of its rows.
#[inline(always)]
fn mirrored(lower: (&[f64], usize), upper: (&[f64], usize), rows: Range<usize>, columns: Range<usize>) -> bool {
    const SIDE: usize = 8;
    let below = |i: usize, j: usize| (i - rows.start) * lower.1 + j - columns.start;
    let above = |j: usize, i: usize| (j - columns.start) * upper.1 + i - rows.start;
    let mut same = true;
    for row in rows.clone().step_by(SIDE) {
        for column in (columns.start..columns.end.min(row + SIDE)).step_by(SIDE) {
            let side =
                |values: &[f64], at: usize| *values[at..].first_chunk::<SIDE>().expect("a side is inside of its row");
            if row + SIDE <= rows.end && column + SIDE <= row {
                let upper: [[f64; SIDE]; SIDE] = std::array::from_fn(|b| side(upper.0, above(column + b, row)));
                for a in 0..SIDE {
                    let lower = side(lower.0, below(row + a, column));
                    for b in 0..SIDE {
                        same &= lower[b] == upper[b][a];
                    }
                }
            } else {
                for i in row..(row + SIDE).min(rows.end) {
                    for j in column..(column + SIDE).min(columns.end).min(i) {
                        same &= lower.0[below(i, j)] == upper.0[above(j, i)];
                    }
                }
            }
        }
    }
    same
}

const LANES: usize = 8;

/// Adding and then subtracting this number, 1.5 * 2^52, rounds numbers below 2^51 to integers.
const ROUND: f64 = 6_755_399_441_055_744.0;

#[derive(Debug, Clone, Copy)]
struct Seen {
    low: [f64; LANES],
    high: [f64; LANES],
    /// For each SIMD lane: 0 if all values are finite, and otherwise NaN.
    poison: [f64; LANES],
    /// For each SIMD lane: the sum of the distances of the values to their nearest integers. 0 if all values are
    /// integers.
    fractions: [f64; LANES],
}

impl Default for Seen {
    fn default() -> Self {
        let zeros = [0.0; LANES];
        Self { low: [f64::INFINITY; LANES], high: [f64::NEG_INFINITY; LANES], poison: zeros, fractions: zeros }
    }
}

impl Seen {
    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, values: &[f64]) {
        let (chunks, rest) = values.as_chunks::<LANES>();
        let [mut low, mut high] = [f64x8::load_array(simd, self.low), f64x8::load_array(simd, self.high)];
        let mut poison = f64x8::load_array(simd, self.poison);
        let mut fractions = f64x8::load_array(simd, self.fractions);
        let (round, nothing) = (f64x8::splat(simd, ROUND), f64x8::splat(simd, 0.0));
        let whole = self.whole();
        for chunk in chunks {
            let x = f64x8::load_array_ref(simd, chunk);
            (low, high) = (x.min(low), x.max(high));
            poison += x * nothing;
            if whole {
                fractions += (x - ((x + round) - round)).abs();
            }
        }
        low.store_array(&mut self.low);
        high.store_array(&mut self.high);
        poison.store_array(&mut self.poison);
        fractions.store_array(&mut self.fractions);
        for (lane, &x) in rest.iter().enumerate() {
            self.low[lane] = if x < self.low[lane] { x } else { self.low[lane] };
            self.high[lane] = if x > self.high[lane] { x } else { self.high[lane] };
            self.poison[lane] += x * 0.0;
            if whole {
                self.fractions[lane] += (x - ((x + ROUND) - ROUND)).abs();
            }
        }
    }

    fn join(mut self, other: Self) -> Self {
        for lane in 0..LANES {
            self.low[lane] = self.low[lane].min(other.low[lane]);
            self.high[lane] = self.high[lane].max(other.high[lane]);
            self.poison[lane] += other.poison[lane];
            self.fractions[lane] += other.fractions[lane];
        }
        self
    }

    fn whole(&self) -> bool {
        self.fractions.iter().all(|&x| x == 0.0)
    }

    fn finite(&self) -> bool {
        self.poison.iter().all(|&x| x == 0.0)
    }

    fn facts(&self, symmetric: bool) -> Facts {
        let low = self.low.into_iter().fold(f64::INFINITY, f64::min);
        let high = self.high.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let largest = if low > high { 0.0 } else { high.abs().max(low.abs()) };
        Facts {
            largest,
            low,
            whole: self.whole() && largest < (1u64 << 50) as f64,
            positive: high > 0.0,
            negative: low < 0.0,
            symmetric,
        }
    }
}
