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

pub(super) fn scan_condensed<T: Number>(values: &[T], n: usize) -> Result<Facts> {
    let parts = parallel::ranges(values.len(), 1 << 19);
    let facts = parallel::map(parts, |part| {
        let mut seen = Seen::default();
        // Check a few values first: if any is not an integer, the rest is not checked for integers.
        let (first, rest) = values[part.clone()].split_at(part.len().min(64));
        wide!(simd => {
            seen.add(simd, first);
            for chunk in rest.chunks(4096) {
                seen.add(simd, chunk);
            }
        });
        seen
    });
    let seen = facts.into_iter().reduce(Seen::join).unwrap_or_default();
    if !seen.finite() {
        let Some(at) = values.iter().position(|x| !x.float().is_finite()) else {
            return Err(Error::changed_meanwhile());
        };
        let (i, j) = Triangle::new(n).pair(at);
        return Err(not_finite(Position::Condensed { at, i, j }, values[at].float()));
    }
    Ok(seen.facts(true))
}

pub(super) fn scan_square<T: Number>(values: &[T], n: usize) -> Result<Facts> {
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
        let bad = |&at: &usize| at / n != at % n && !values[at].float().is_finite();
        let Some(at) = (0..n * n).find(bad) else { return Err(Error::changed_meanwhile()) };
        return Err(not_finite(Position::Pair(at / n, at % n), values[at].float()));
    }
    if let Some((i, j)) = bad {
        let (a, b) = (values[i * n + j].float(), values[j * n + i].float());
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
fn scan_blocks<T: Number>(
    values: &[T],
    n: usize,
    blocks: impl Iterator<Item = usize>,
) -> (Seen, bool, Option<(usize, usize)>) {
    let mut seen = Seen::default();
    let mut symmetric = true;
    let mut bad = None;
    for row in blocks.map(|block| block * ROWS) {
        let rows = row..(row + ROWS).min(n);
        wide!(simd => for i in rows.clone() {
            seen.add(simd, &values[i * n..i * n + i]);
        });
        for column in (0..rows.end).step_by(BLOCK) {
            let columns = column..(column + BLOCK).min(rows.end);
            if wide!(mirrored(values, n, rows.clone(), columns.clone())) {
                continue;
            }
            symmetric = false;
            wide!(simd => for j in columns.clone() {
                seen.add(simd, &values[j * n + rows.start.max(j + 1)..j * n + rows.end]);
            });
            for i in rows.clone() {
                for j in column..columns.end.min(i) {
                    let (a, b) = (values[i * n + j].float(), values[j * n + i].float());
                    if (a - b).abs() > ASYMMETRY * a.abs().max(b.abs()) && bad.is_none() {
                        bad = Some((j, i));
                    }
                }
            }
        }
    }
    (seen, symmetric, bad)
}

#[inline(always)]
fn mirrored<T: Number>(values: &[T], n: usize, rows: Range<usize>, columns: Range<usize>) -> bool {
    const SIDE: usize = 8;
    let mut same = true;
    for row in rows.clone().step_by(SIDE) {
        for column in (columns.start..columns.end.min(row + SIDE)).step_by(SIDE) {
            let side = |line: usize, at: usize| {
                *values[line * n + at..].first_chunk::<SIDE>().expect("a side is inside of its row")
            };
            if row + SIDE <= rows.end && column + SIDE <= row {
                let upper: [[T; SIDE]; SIDE] = std::array::from_fn(|b| side(column + b, row));
                for a in 0..SIDE {
                    let lower = side(row + a, column);
                    for b in 0..SIDE {
                        same &= lower[b] == upper[b][a];
                    }
                }
            } else {
                for i in row..(row + SIDE).min(rows.end) {
                    for j in column..(column + SIDE).min(columns.end).min(i) {
                        same &= values[i * n + j] == values[j * n + i];
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
    fn add<S: Simd, T: Number>(&mut self, simd: S, values: &[T]) {
        let (chunks, rest) = values.as_chunks::<LANES>();
        let [mut low, mut high] = [f64x8::load_array(simd, self.low), f64x8::load_array(simd, self.high)];
        let mut poison = f64x8::load_array(simd, self.poison);
        let mut fractions = f64x8::load_array(simd, self.fractions);
        let (round, nothing) = (f64x8::splat(simd, ROUND), f64x8::splat(simd, 0.0));
        let whole = self.whole();
        for chunk in chunks {
            let mut lanes = [0.0; LANES];
            for (lane, x) in lanes.iter_mut().zip(chunk) {
                *lane = x.float();
            }
            let x = f64x8::load_array(simd, lanes);
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
        for (lane, x) in rest.iter().enumerate() {
            let x = x.float();
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
