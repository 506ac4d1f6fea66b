//! The input matrix of an agglomeration, in any of the supported types and layouts.

mod scan;

pub(super) use scan::BLOCK;
pub(crate) use scan::Facts;
use scan::{scan_condensed, scan_square};

use crate::error::{Error, Result, check_n_leaves};
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::numbers::Number;
use crate::parallel;
use crate::similarity::Triangle;

/// The values of a matrix.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Values<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision. Computations use double precision.
    F32(&'a [f32]),
    /// 64-bit integers, exact up to 2^53.
    I64(&'a [i64]),
    /// 32-bit integers.
    I32(&'a [i32]),
}

/// The layout of the pairs in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// An (n, n) matrix, row by row. The diagonal is ignored.
    Square,
    /// The upper triangle without the diagonal, row by row, as in SciPy.
    Condensed,
}

named!(Layout, "layout", {
    "square": Self::Square => Self::Square,
    "condensed": Self::Condensed => Self::Condensed,
});

/// A symmetric matrix of similarities or dissimilarities that has been checked.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    pub(super) values: Values<'a>,
    pub(super) about: About,
}

/// The properties of a matrix, except its values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    pub(super) layout: Layout,
    pub(crate) n: usize,
    pub(crate) dissimilarity: bool,
    pub(crate) facts: Facts,
    /// The power of two by which values are multiplied before they are squared.
    pub(super) unit: f64,
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

pub(crate) use with_values;

impl<'a> Matrix<'a> {
    /// Checks a matrix and returns it. The shape must be valid, and every value must be finite. A square matrix must be
    /// symmetric up to a relative difference of 1e-8; the mean of its upper and lower triangle is used.
    ///
    /// # Errors
    /// A number of values that does not fit the layout; a value that is not finite or too large, with its position; an
    /// upper triangle that differs from the lower one; too many leaves.
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
            return Err(Error::Argument(format!("{len} values are not a square matrix")));
        }
        check_n_leaves(n)?;
        let facts = with_values!(values, slice => match layout {
            Layout::Square => scan_square(&slice, n),
            Layout::Condensed => scan_condensed(&slice, n),
        })?;
        if facts.largest > Self::most(n) {
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
        Ok(Self { values, about: About { layout, n, dissimilarity: kind.is_dissimilarity(), facts, unit: 1.0 } })
    }

    /// Returns the largest allowed absolute value in a matrix of `n` leaves.
    pub(crate) fn most(n: usize) -> f64 {
        f64::MAX / (n as f64 * n as f64)
    }

    /// Returns a condensed matrix, and checks only its number of values. The code that reads the values must check
    /// them. The matrix counts as symmetric. Its other properties are placeholders.
    pub(crate) fn unread(values: Values<'a>) -> Result<Self> {
        let n = Triangle::of_pairs(with_values!(values, slice => slice.len()))?.n_leaves();
        check_n_leaves(n)?;
        let facts = Facts { largest: 0.0, low: 0.0, whole: false, positive: false, negative: false, symmetric: true };
        Ok(Self { values, about: About { layout: Layout::Condensed, n, dissimilarity: false, facts, unit: 1.0 } })
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.about.n
    }

    /// Returns whether the values are similarities (larger is closer) or dissimilarities (smaller is closer).
    pub fn kind(&self) -> Kind {
        Kind::of(self.about.dissimilarity)
    }

    /// Returns true if a value outside the diagonal is negative. For the bindings.
    #[doc(hidden)]
    pub fn any_negative(&self) -> bool {
        self.about.facts.negative
    }

    pub(crate) fn is_dissimilarity(&self) -> bool {
        self.about.dissimilarity
    }

    pub(crate) fn facts(&self) -> Facts {
        self.about.facts
    }

    /// Returns a matrix with the properties `about` of an earlier check, without checking the values.
    pub(super) fn again(values: &'a [f64], about: About) -> Self {
        Self { values: Values::F64(values), about }
    }

    pub(crate) fn is_symmetric(&self) -> bool {
        self.about.facts.symmetric
    }

    /// Returns two slices of the stored values: of leaf `i` with earlier leaves (empty in the condensed layout), and of
    /// leaf `i` with later leaves.
    pub(crate) fn row(&self, i: usize) -> [Values<'a>; 2] {
        let n = self.about.n;
        let [before, after] = match self.about.layout {
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

    pub(super) fn exponent(&self) -> i32 {
        if self.about.facts.largest > 0.0 { self.about.facts.largest.log2().floor() as i32 } else { 0 }
    }

    /// Returns the properties of the matrix. If the rule squares dissimilarities, the field `unit` is chosen so that
    /// the largest dissimilarity times `unit` can be squared.
    pub(super) fn for_rule(&self, rule: &Rule) -> Result<About> {
        let (mut about, exponent) = (self.about, self.exponent());
        if !self.about.dissimilarity || !rule.is_squared() {
            return Ok(about);
        }
        if self.about.facts.negative {
            return Err(Error::Argument(
                "this linkage squares dissimilarities, so they must not be negative, and some are".into(),
            ));
        }
        let least = self.about.facts.largest * FARTHEST;
        if self.any_below(least) {
            return Err(Error::Argument(format!(
                "this linkage squares dissimilarities, and some are below {least:e}, too small beside the largest, \
                 {:e}; replace them by zero",
                self.about.facts.largest
            )));
        }
        if !(-300..=300).contains(&exponent) {
            about.unit = 2f64.powi((-exponent).clamp(-1000, 1000));
        }
        Ok(about)
    }

    pub(super) fn any_below(&self, limit: f64) -> bool {
        let none_below = self.about.facts.low >= limit || self.about.facts.whole && limit <= 1.0;
        if limit == 0.0 || none_below {
            return false;
        }
        let parts = parallel::map(parallel::ranges(self.about.n, (1 << 18) / self.about.n + 1), |rows| {
            rows.into_iter().flat_map(|i| self.row(i)).any(|row| {
                wide!(with_values!(row, row => {
                    row.chunks(1024).any(|chunk| chunk.iter().fold(false, |any, x| {
                        let x = x.float().abs();
                        any | ((x < limit) & (x > 0.0))
                    }))
                }))
            })
        });
        parts.into_iter().any(|any| any)
    }
}

/// Dissimilarities below this share of the largest dissimilarity are too small to square, even with about 32 digits.
const FARTHEST: f64 = 1e-250;

#[cfg(test)]
mod tests;
