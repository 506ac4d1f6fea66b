//! The matrix that agglomeration starts from, in whatever form the caller has it.

use std::ops::Range;

use crate::error::{Error, Position, Result, check_n_leaves};
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::parallel;
use crate::similarity::Triangle;

/// The numbers of a matrix.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Values<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision; computed with in double precision.
    F32(&'a [f32]),
    /// 64-bit integers, exact up to 2^53.
    I64(&'a [i64]),
    /// 32-bit integers.
    I32(&'a [i32]),
}

/// How the pairs are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// (n, n), row by row; the diagonal is ignored.
    Square,
    /// The upper triangle without the diagonal, row by row, as SciPy orders it.
    Condensed,
}

named!(Layout, "layout", {
    "square": Self::Square => Self::Square,
    "condensed": Self::Condensed => Self::Condensed,
});

/// A symmetric matrix of similarities or dissimilarities, checked.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    pub(super) values: Values<'a>,
    pub(super) layout: Layout,
    pub(super) n: usize,
    pub(super) dissimilarity: bool,
    pub(super) facts: Facts,
    /// What values are multiplied with before they are squared, a power of two.
    pub(super) unit: f64,
}

/// What one pass over the values finds out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) largest: f64,
    /// The smallest value.
    pub(crate) low: f64,
    pub(crate) whole: bool,
    pub(crate) positive: bool,
    pub(crate) negative: bool,
    pub(super) symmetric: bool,
}

/// All about a matrix but its values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    pub(super) layout: Layout,
    pub(crate) n: usize,
    pub(crate) dissimilarity: bool,
    pub(crate) facts: Facts,
    pub(super) unit: f64,
}

/// Relative difference up to which two halves count as symmetric; their mean is used.
const ASYMMETRY: f64 = 1e-8;
pub(super) const BLOCK: usize = 64;

pub(super) trait Number: Copy + Sync + PartialEq {
    fn float(self) -> f64;
}
impl Number for f64 {
    #[inline(always)]
    fn float(self) -> f64 {
        self
    }
}
impl Number for f32 {
    #[inline(always)]
    fn float(self) -> f64 {
        f64::from(self)
    }
}
impl Number for i32 {
    #[inline(always)]
    fn float(self) -> f64 {
        f64::from(self)
    }
}
impl Number for i64 {
    #[inline(always)]
    fn float(self) -> f64 {
        self as f64
    }
}

macro_rules! with_values {
    ($values:expr, $slice:ident => $body:expr) => {
        match $values {
            Values::F64($slice) => $body,
            Values::F32($slice) => $body,
            Values::I64($slice) => $body,
            Values::I32($slice) => $body,
        }
    };
}

pub(super) use with_values;

impl<'a> Matrix<'a> {
    /// Checks a matrix: its shape, that every value is finite, and that a square one is symmetric
    /// (up to a relative difference of 1e-8, of which the mean is taken).
    ///
    /// # Errors
    /// What is wrong, with the place and the value.
    ///
    /// ```
    /// use ordhc::Kind;
    /// use ordhc::agglomerate::{Layout, Matrix, Values};
    ///
    /// let bad = [0.0, 1.0, 2.0, 0.0];
    /// let error = Matrix::new(Values::F64(&bad), Layout::Square, Kind::Similarity).unwrap_err();
    /// assert!(error.to_string().starts_with("the matrix is not symmetric: [0, 1] is 1 but [1, 0] is 2"));
    /// ```
    pub fn new(values: Values<'a>, layout: Layout, kind: Kind) -> Result<Self> {
        let len = with_values!(values, slice => slice.len());
        let n = match layout {
            Layout::Square => (len as f64).sqrt().round() as usize,
            Layout::Condensed => Triangle::of_pairs(len)?.n_leaves(),
        };
        if layout == Layout::Square && n * n != len {
            return Err(Error::Argument(format!("{len} values are no square matrix")));
        }
        check_n_leaves(n)?;
        let facts = with_values!(values, slice => scan(slice, layout, n))?;
        if facts.largest > f64::MAX / (n as f64 * n as f64) {
            return Err(Error::Argument(format!(
                "values up to {:e} overflow when {n} leaves are summed; rescale them",
                facts.largest
            )));
        }
        if matches!(values, Values::I64(_)) && facts.largest > (1u64 << 53) as f64 {
            return Err(Error::Argument(format!(
                "integers up to {:e} are above 2^53 and not exact as floats",
                facts.largest
            )));
        }
        Ok(Self { values, layout, n, dissimilarity: kind.is_dissimilarity(), facts, unit: 1.0 })
    }

    /// The number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n
    }

    /// Whether larger or smaller values are closer.
    pub fn kind(&self) -> Kind {
        Kind::of(self.dissimilarity)
    }

    pub(crate) fn is_dissimilarity(&self) -> bool {
        self.dissimilarity
    }

    pub(crate) fn facts(&self) -> Facts {
        self.facts
    }

    pub(crate) fn about(&self) -> About {
        let Self { layout, n, dissimilarity, facts, unit, .. } = *self;
        About { layout, n, dissimilarity, facts, unit }
    }

    /// The same matrix again.
    pub(crate) fn again(values: &'a [f64], about: About) -> Self {
        let About { layout, n, dissimilarity, facts, unit } = about;
        Self { values: Values::F64(values), layout, n, dissimilarity, facts, unit }
    }

    /// Whether both halves are the same, or there is only one.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.facts.symmetric
    }

    /// The stored values of leaf `i` with the leaves before it (none in the condensed layout) and with
    /// those after it.
    pub(crate) fn row(&self, i: usize) -> [Values<'a>; 2] {
        let n = self.n;
        let [before, after] = match self.layout {
            Layout::Square => [i * n..i * n + i, i * n + i + 1..(i + 1) * n],
            Layout::Condensed => [0..0, Triangle::new(n).row(i)],
        };
        match self.values {
            Values::F64(all) => [before, after].map(|part| Values::F64(&all[part])),
            Values::F32(all) => [before, after].map(|part| Values::F32(&all[part])),
            Values::I64(all) => [before, after].map(|part| Values::I64(&all[part])),
            Values::I32(all) => [before, after].map(|part| Values::I32(&all[part])),
        }
    }

    /// The exponent of the largest value, as a power of two.
    pub(super) fn exponent(&self) -> i32 {
        if self.facts.largest > 0.0 { self.facts.largest.log2().floor() as i32 } else { 0 }
    }

    /// All about the matrix, with a unit in which a rule that squares dissimilarities can square the largest one.
    pub(super) fn for_rule(&self, rule: &Rule) -> Result<About> {
        let (mut about, exponent) = (self.about(), self.exponent());
        if !self.dissimilarity || !rule.is_squared() {
            return Ok(about);
        }
        if self.facts.negative {
            return Err(Error::Argument(
                "this linkage squares dissimilarities, and some are negative; give non-negative ones".into(),
            ));
        }
        let least = self.facts.largest * FARTHEST;
        if self.any_below(least) {
            return Err(Error::Argument(format!(
                "this linkage squares dissimilarities, and some are below {least:e}, too small beside the largest, \
                 {:e}; take them as zero",
                self.facts.largest
            )));
        }
        if !(-300..=300).contains(&exponent) {
            about.unit = 2f64.powi((-exponent).clamp(-1000, 1000));
        }
        Ok(about)
    }

    /// Whether there are values nearer to zero than `limit`, but not zero.
    pub(super) fn any_below(&self, limit: f64) -> bool {
        if limit == 0.0 || self.facts.low >= limit {
            return false;
        }
        let parts = parallel::map(parallel::ranges(self.n, (1 << 18) / self.n + 1), |rows| {
            rows.into_iter().flat_map(|i| self.row(i)).any(|row| {
                with_values!(row, row => {
                    row.chunks(1024).any(|chunk| chunk.iter().fold(false, |any, x| {
                        let x = x.float().abs();
                        any | ((x < limit) & (x > 0.0))
                    }))
                })
            })
        });
        parts.into_iter().any(|any| any)
    }
}

/// Dissimilarities that are this much smaller than the largest cannot be squared in twice the precision.
const FARTHEST: f64 = 1e-250;

fn scan<T: Number>(values: &[T], layout: Layout, n: usize) -> Result<Facts> {
    match layout {
        Layout::Condensed => {
            let parts = parallel::ranges(values.len(), 1 << 19);
            let facts = parallel::map(parts, |part| {
                let mut seen = Seen::default();
                for chunk in values[part].chunks(4096) {
                    seen.add(chunk);
                }
                seen
            });
            let seen = facts.into_iter().reduce(Seen::join).unwrap_or_default();
            if !seen.finite() {
                let at = values.iter().position(|x| !x.float().is_finite()).unwrap_or(0);
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
                let at = (0..n * n).find(|&at| at / n != at % n && !values[at].float().is_finite()).unwrap_or(0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Monitor;
    use crate::similarity::condensed_len;

    fn message(values: &[f64], layout: Layout) -> String {
        Matrix::new(Values::F64(values), layout, Kind::Similarity).unwrap_err().to_string()
    }

    #[test]
    fn bad_matrices_are_explained() {
        let nan = f64::NAN;
        assert!(message(&[0.0, nan, nan, 0.0], Layout::Square).starts_with("the value at [0, 1] is NaN"));
        assert!(message(&[0.0, 1.0, f64::INFINITY, 0.0], Layout::Square).contains("at [1, 0] is inf"));
        assert!(message(&[1.0, 2.0, 3.0, 4.0, nan, 6.0], Layout::Condensed).contains("position 4 (pair [1, 3])"));
        assert!(message(&[0.0; 3], Layout::Square).contains("no square matrix"));
        assert!(message(&[0.0; 5], Layout::Condensed).contains("n(n-1)/2"));
        assert!(message(&[], Layout::Square).contains("n_leaves = 0"));
        assert!(message(&[1e308; 9], Layout::Square).contains("overflow"));
    }

    #[test]
    fn the_diagonal_may_be_anything() {
        assert!(
            Matrix::new(Values::F64(&[f64::NAN, 1.0, 1.0, f64::INFINITY]), Layout::Square, Kind::Similarity).is_ok()
        );
    }

    #[test]
    fn layouts_and_types_agree() {
        for n in [1usize, 2, 3, 70, 150] {
            let pair = |i: usize, j: usize| ((i.min(j) * 31 + i.max(j) * 17) % 101) as f64;
            let square: Vec<f64> = (0..n * n).map(|at| pair(at / n, at % n)).collect();
            let condensed: Vec<f64> = (0..n).flat_map(|i| (i + 1..n).map(move |j| pair(i, j))).collect();
            let narrow: Vec<i32> = square.iter().map(|&x| x as i32).collect();
            let wide: Vec<i64> = square.iter().map(|&x| x as i64).collect();
            let single: Vec<f32> = square.iter().map(|&x| x as f32).collect();
            for dissimilarity in [false, true] {
                let expected: Vec<f64> = condensed.iter().map(|&x| if dissimilarity { -x * x } else { x }).collect();
                for (values, layout) in [
                    (Values::F64(&square), Layout::Square),
                    (Values::F64(&condensed), Layout::Condensed),
                    (Values::I32(&narrow), Layout::Square),
                    (Values::I64(&wide), Layout::Square),
                    (Values::F32(&single), Layout::Square),
                ] {
                    let matrix = Matrix::new(values, layout, Kind::of(dissimilarity)).unwrap();
                    assert!(matrix.facts().whole);
                    let mut out = vec![0.0; condensed_len(n)];
                    matrix.write_condensed(true, &mut out, &Monitor::new()).unwrap();
                    assert_eq!(out, expected);
                    let mut out = vec![0.0; n * n];
                    matrix.write_square(true, &mut out, &Monitor::new()).unwrap();
                    for i in 0..n {
                        assert_eq!(out[i * n + i], f64::NEG_INFINITY);
                        for j in i + 1..n {
                            assert_eq!(out[i * n + j], expected[Triangle::new(n).index(i, j)]);
                            assert_eq!(out[i * n + j], out[j * n + i]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rows_are_found_in_both_layouts() {
        let square: Vec<i32> = (0..9).collect();
        let condensed = [1i64, 2, 5];
        let parts = |matrix: &Matrix<'_>, i| {
            matrix.row(i).map(|part| with_values!(part, part => part.iter().map(|x| x.float()).collect::<Vec<f64>>()))
        };
        let facts = scan(&condensed, Layout::Condensed, 3).unwrap();
        let square = Matrix {
            values: Values::I32(&square),
            layout: Layout::Square,
            n: 3,
            dissimilarity: false,
            facts,
            unit: 1.0,
        };
        let condensed = Matrix::new(Values::I64(&condensed), Layout::Condensed, Kind::Similarity).unwrap();
        for (i, before, after) in [(0, vec![], vec![1.0, 2.0]), (1, vec![3.0], vec![5.0]), (2, vec![6.0, 7.0], vec![])]
        {
            assert_eq!(parts(&square, i), [before, after.clone()]);
            assert_eq!(parts(&condensed, i), [vec![], after]);
        }
    }

    #[test]
    fn slight_asymmetry_takes_the_mean() {
        let values = [0.0, 1.0, 1.0 + 1e-12, 0.0];
        let matrix = Matrix::new(Values::F64(&values), Layout::Square, Kind::Similarity).unwrap();
        let mut out = [0.0];
        matrix.write_condensed(false, &mut out, &Monitor::new()).unwrap();
        assert_eq!(out[0], 0.5 * (1.0 + 1e-12) + 0.5);
        assert!(!matrix.facts().whole);
    }
}
