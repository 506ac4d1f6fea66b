//! One pass over the values of a matrix, which checks them.

use std::ops::Range;

use super::{BLOCK, Facts, Layout};
use crate::error::{Error, Position, Result};
use crate::numbers::Number;
use crate::parallel;
use crate::similarity::Triangle;

/// Relative difference up to which two halves count as symmetric; their mean is used.
const ASYMMETRY: f64 = 1e-8;

/// What one pass over the values finds out.
///
/// # Errors
/// A value that isn't finite, or halves that differ.
pub(super) fn scan<T: Number>(values: &[T], layout: Layout, n: usize) -> Result<Facts> {
    match layout {
        Layout::Condensed => {
            let parts = parallel::ranges(values.len(), 1 << 19);
            let facts = parallel::map(parts, |part| {
                let mut seen = Seen::default();
                // Few numbers mostly tell that not all are whole.
                let (first, rest) = values[part.clone()].split_at(part.len().min(64));
                for chunk in std::iter::once(first).chain(rest.chunks(4096)) {
                    seen.add(chunk);
                }
                seen
            });
            let seen = facts.into_iter().reduce(Seen::join).unwrap_or_default();
            if !seen.finite() {
                let at = values.iter().position(|x| !x.float().is_finite()).expect("one is not finite");
                let (i, j) = Triangle::new(n).pair(at);
                return Err(not_finite(Position::Condensed { at, i, j }, values[at].float()));
            }
            Ok(seen.facts(true))
        }
        Layout::Square => {
            let parts = parallel::ranges(n.div_ceil(BLOCK), 8);
            let found = parallel::map(parts, |blocks| scan_square(values, n, blocks));
            let mut all = Seen::default();
            let mut symmetric = true;
            let mut bad = None;
            for (seen, same, first_bad) in found {
                all = all.join(seen);
                symmetric &= same;
                bad = bad.or(first_bad);
            }
            if !all.finite() {
                let bad = |&at: &usize| at / n != at % n && !values[at].float().is_finite();
                let at = (0..n * n).find(bad).expect("one is not finite");
                return Err(not_finite(Position::Pair(at / n, at % n), values[at].float()));
            }
            if let Some((i, j)) = bad {
                let (a, b) = (values[i * n + j].float(), values[j * n + i].float());
                return Err(Error::Asymmetric { i, j, value: a, other: b, tolerance: ASYMMETRY });
            }
            Ok(all.facts(symmetric))
        }
    }
}

fn not_finite(place: Position, value: f64) -> Error {
    Error::BadValue { what: "the value", place, value, limit: "similarities and dissimilarities must be finite" }
}

/// One range of block rows against the blocks of columns up to the diagonal.
fn scan_square<T: Number>(values: &[T], n: usize, blocks: Range<usize>) -> (Seen, bool, Option<(usize, usize)>) {
    let mut seen = Seen::default();
    let mut symmetric = true;
    let mut bad = None;
    for row in blocks.map(|block| block * BLOCK) {
        for i in row..(row + BLOCK).min(n) {
            let line = &values[i * n..(i + 1) * n];
            seen.add(&line[..i]);
            seen.add(&line[i + 1..]);
        }
        for column in (0..=row).step_by(BLOCK) {
            for i in row..(row + BLOCK).min(n) {
                for j in column..(column + BLOCK).min(i) {
                    let (lower, upper) = (values[i * n + j], values[j * n + i]);
                    if lower != upper {
                        symmetric = false;
                        let (a, b) = (lower.float(), upper.float());
                        if (a - b).abs() > ASYMMETRY * a.abs().max(b.abs()) && bad.is_none() {
                            bad = Some((j, i));
                        }
                    }
                }
            }
        }
    }
    (seen, symmetric, bad)
}

/// Running minimum, maximum, finiteness and wholeness.
#[derive(Debug, Clone, Copy)]
struct Seen {
    low: f64,
    high: f64,
    poison: f64,
    fractions: f64,
}

impl Default for Seen {
    fn default() -> Self {
        Self { low: f64::INFINITY, high: f64::NEG_INFINITY, poison: 0.0, fractions: 0.0 }
    }
}

impl Seen {
    fn add<T: Number>(&mut self, values: &[T]) {
        const LANES: usize = 8;
        let (mut low, mut high) = ([self.low; LANES], [self.high; LANES]);
        let (mut poison, mut fractions) = ([0.0; LANES], [0.0; LANES]);
        let whole = self.fractions == 0.0;
        let (chunks, rest) = values.as_chunks::<LANES>();
        let mut step = |lane: usize, x: f64| {
            low[lane] = if x < low[lane] { x } else { low[lane] };
            high[lane] = if x > high[lane] { x } else { high[lane] };
            // Zero for finite values, NaN for the others.
            poison[lane] += x * 0.0;
            if whole {
                // Adding and taking 1.5 * 2^52 rounds to whole numbers below 2^51.
                const ROUND: f64 = 6_755_399_441_055_744.0;
                fractions[lane] += (x - ((x + ROUND) - ROUND)).abs();
            }
        };
        for chunk in chunks {
            for lane in 0..LANES {
                step(lane, chunk[lane].float());
            }
        }
        for (lane, x) in rest.iter().enumerate() {
            step(lane, x.float());
        }
        for lane in 0..LANES {
            self.low = self.low.min(low[lane]);
            self.high = self.high.max(high[lane]);
            self.poison += poison[lane];
            self.fractions += fractions[lane];
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.poison += other.poison;
        self.fractions += other.fractions;
        self
    }

    fn finite(&self) -> bool {
        self.poison == 0.0
    }

    fn facts(&self, symmetric: bool) -> Facts {
        let largest = if self.low > self.high { 0.0 } else { self.high.abs().max(self.low.abs()) };
        Facts {
            largest,
            low: self.low,
            whole: self.fractions == 0.0 && largest < (1u64 << 50) as f64,
            positive: self.high > 0.0,
            negative: self.low < 0.0,
            symmetric,
        }
    }
}
