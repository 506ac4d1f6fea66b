//! Dense vectors, checked to be finite.

use std::ops::Range;

use super::clusters::dot;
use crate::error::{Error, Position, Result, check_n_leaves};
use crate::parallel;

/// Coordinates in single or double precision.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Coordinates<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision.
    F32(&'a [f32]),
}

macro_rules! made_from {
    ($($variant:ident($number:ty)),*) => {$(
        impl<'a> From<&'a [$number]> for Coordinates<'a> {
            fn from(values: &'a [$number]) -> Self {
                Self::$variant(values)
            }
        }

        impl<'a, const N: usize> From<&'a [$number; N]> for Coordinates<'a> {
            fn from(values: &'a [$number; N]) -> Self {
                Self::$variant(values)
            }
        }

        impl<'a> From<&'a Vec<$number>> for Coordinates<'a> {
            fn from(values: &'a Vec<$number>) -> Self {
                Self::$variant(values)
            }
        }
    )*};
}

made_from!(F64(f64), F32(f32));

impl<'a> Coordinates<'a> {
    fn len(self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }

    fn range(self, range: Range<usize>) -> impl Iterator<Item = f64> + 'a {
        // One of the two slices is empty. So both precisions have the same iterator type.
        let (double, single): (&[f64], &[f32]) = match self {
            Self::F64(values) => (&values[range], &[]),
            Self::F32(values) => (&[], &values[range]),
        };
        double.iter().copied().chain(single.iter().map(|&x| f64::from(x)))
    }
}

/// One vector per leaf: n rows of p finite numbers, row by row.
///
/// ```
/// use ordhc::vectors::Vectors;
///
/// let vectors = Vectors::new(&[1.0f32, 0.0, 3.0, 4.0], 2, 2)?;
/// assert_eq!((vectors.n_leaves(), vectors.n_coordinates()), (2, 2));
/// assert_eq!(vectors.squared_norms(), [1.0, 25.0]);
/// let error = Vectors::new(&[1.0, 0.0, f64::NAN, 4.0], 2, 2).unwrap_err();
/// assert!(error.to_string().starts_with("the coordinate at [1, 0] is NaN"));
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    values: Coordinates<'a>,
    n: usize,
    p: usize,
    largest: f64,
    whole: bool,
}

impl<'a> Vectors<'a> {
    /// Checks `n` rows of `p` numbers, and returns them as vectors.
    ///
    /// # Errors
    /// No rows or too many; a number of values that differs from n p; a value that is NaN or infinite, with its row and
    /// column.
    pub fn new(values: impl Into<Coordinates<'a>>, n: usize, p: usize) -> Result<Self> {
        Self::checked(values.into(), n, p)
    }

    fn checked(values: Coordinates<'a>, n: usize, p: usize) -> Result<Self> {
        check_n_leaves(n)?;
        if n.checked_mul(p) != Some(values.len()) {
            return Err(Error::Argument(format!(
                "{n} vectors of {p} coordinates do not have {} values; the number of values must be {n} times {p}",
                values.len()
            )));
        }
        let parts = parallel::map(parallel::ranges(values.len(), 1 << 16), |part| {
            let (mut largest, mut whole, mut finite) = (0.0f64, true, true);
            values.range(part).for_each(|x| {
                largest = largest.max(x.abs());
                whole &= x == x.trunc();
                finite &= x.is_finite();
            });
            (largest, whole, finite)
        });
        if parts.iter().any(|part| !part.2) {
            let all = || values.range(0..values.len()).enumerate();
            let Some((at, value)) = all().find(|(_, x)| !x.is_finite()) else {
                return Err(Error::changed_meanwhile());
            };
            let place = Position::Coordinate { leaf: at / p, column: at % p };
            let limit = "coordinates must be finite";
            return Err(Error::BadValue { what: "the coordinate", place, value, limit });
        }
        let largest = parts.iter().fold(0.0, |largest: f64, part| largest.max(part.0));
        Ok(Self { values, n, p, largest, whole: parts.iter().all(|part| part.1) })
    }

    /// Returns the number of rows.
    pub fn n_leaves(&self) -> usize {
        self.n
    }

    /// Returns the number of columns.
    pub fn n_coordinates(&self) -> usize {
        self.p
    }

    /// Returns the dot product of each vector with itself.
    pub fn squared_norms(&self) -> Vec<f64> {
        let square = |i: usize| {
            let row: Vec<f64> = self.row(i).collect();
            dot(&row, &row)
        };
        (0..self.n).map(square).collect()
    }

    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = f64> + 'a {
        self.values.range(i * self.p..(i + 1) * self.p)
    }

    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// Returns true if sums of vectors, and dot products of such sums, are computed without rounding.
    pub(super) fn sums_are_exact(&self) -> bool {
        let sums = self.largest * self.n as f64 / 2.0;
        self.whole && 2.0 * sums.max(sums * sums * self.p as f64) < (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked() {
        assert!(Vectors::new(&[1.0; 6], 2, 3).is_ok());
        assert!(Vectors::new(&[1f32; 0], 5, 0).is_ok());
        let message = |values: &[f64], n, p| Vectors::new(values, n, p).unwrap_err().to_string();
        assert!(message(&[], 0, 3).contains("n_leaves = 0"));
        assert!(message(&[1.0; 5], 2, 3).contains("2 vectors of 3 coordinates"));
        assert!(message(&[1.0; 5], usize::MAX, 3).contains("n_leaves = "));
        assert!(message(&[1.0, f64::INFINITY, 2.0, 3.0], 2, 2).contains("[0, 1] is inf"));
    }

    #[test]
    fn whole_numbers_are_known() {
        assert!(Vectors::new(&[1.0, -3.0], 2, 1).unwrap().sums_are_exact());
        assert!(!Vectors::new(&[1.0, 0.5], 2, 1).unwrap().sums_are_exact());
        assert!(!Vectors::new(&[1.0, 1e9], 2, 1).unwrap().sums_are_exact());
    }
}
