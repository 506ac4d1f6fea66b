//! Sparse vectors, checked to be valid and finite.

use crate::error::{Error, Position, Result, check_len, check_n_leaves};

/// One sparse vector per leaf: n rows of p finite numbers in compressed sparse rows (CSR).
///
/// Row i has the values `values[indptr[i]..indptr[i + 1]]`, in the columns `indices[indptr[i]..indptr[i + 1]]`. The
/// columns of a row may be in any order, but must not repeat. Indices may be `i32`, `i64` or `u32`, and values `f32` or
/// `f64`.
///
/// ```
/// use ordhc::vectors::SparseRows;
///
/// let rows = SparseRows::new(&[0, 1, 3], &[0, 2, 0], &[1.0, 4.0, 3.0], 2, 3)?;
/// assert_eq!((rows.n_leaves(), rows.n_coordinates()), (2, 3));
/// let error = SparseRows::new(&[0, 1, 3], &[0, 2, 3], &[1.0, 4.0, 3.0], 2, 3).unwrap_err();
/// assert_eq!(error.to_string(), "row 1: column 3 (index 2) is outside 0..=2");
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SparseRows<'a, I, V> {
    indptr: &'a [I],
    indices: &'a [I],
    values: &'a [V],
    p: usize,
}

impl<'a, I: Copy + Sync + Into<i64>, V: Copy + Sync + Into<f64>> SparseRows<'a, I, V> {
    /// Checks `n` rows of `p` columns, and returns them as vectors.
    ///
    /// # Errors
    /// A number of row pointers that differs from n + 1; row pointers that don't start at 0, decrease, or don't end at
    /// the number of values; a column outside of `0..p`; a row with two values for the same column; a value that is NaN
    /// or infinite.
    pub fn new(indptr: &'a [I], indices: &'a [I], values: &'a [V], n: usize, p: usize) -> Result<Self> {
        if n > 0 {
            check_n_leaves(n)?;
        }
        if p > i32::MAX as usize {
            return Err(Error::out_of_range("the number of columns", p, format!("0..={}", i32::MAX)));
        }
        check_len("row pointers", indptr.len(), "starts and the end of rows", n + 1)?;
        check_len("column indices", indices.len(), "values", values.len())?;
        let pointer = |at: usize| -> i64 { indptr[at].into() };
        if pointer(0) != 0 {
            return Err(Error::Argument(format!("row pointer 0 is {}, not 0", pointer(0))));
        }
        if let Some(i) = (0..n).find(|&i| pointer(i + 1) < pointer(i)) {
            let (before, after) = (pointer(i), pointer(i + 1));
            let fall = format!("row pointer {} is {after}, less than row pointer {i} ({before})", i + 1);
            return Err(Error::Argument(format!("{fall}; row pointers must not decrease")));
        }
        if pointer(n) != values.len() as i64 {
            let (last, count) = (pointer(n), values.len());
            return Err(Error::Argument(format!("row pointer {n} is {last}, not the number of values ({count})")));
        }
        let rows = Self { indptr, indices, values, p };
        let mut last_row = vec![usize::MAX; p];
        for i in 0..n {
            for at in rows.range(i) {
                let column: i64 = indices[at].into();
                let Some(last) = usize::try_from(column).ok().and_then(|column| last_row.get_mut(column)) else {
                    let last = p as i64 - 1;
                    return Err(of_row(i, format!("column {column} (index {at}) is outside 0..={last}")));
                };
                if std::mem::replace(last, i) == i {
                    return Err(of_row(i, format!("column {column} (index {at}) occurs twice")));
                }
                let value: f64 = values[at].into();
                if !value.is_finite() {
                    let place = Position::Coordinate { leaf: i, column: column as usize };
                    return Err(Error::BadValue {
                        what: "the coordinate",
                        place,
                        value,
                        limit: "coordinates must be finite",
                    });
                }
            }
        }
        Ok(rows)
    }

    /// Returns the number of rows.
    pub fn n_leaves(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Returns the number of columns.
    pub fn n_coordinates(&self) -> usize {
        self.p
    }

    /// Returns the number of stored values.
    pub fn n_values(&self) -> usize {
        self.values.len()
    }

    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (usize, V)> {
        let range = self.range(i);
        let columns = self.indices[range.clone()].iter().map(|&column| -> i64 { column.into() });
        columns.map(|column| column as usize).zip(self.values[range].iter().copied())
    }

    fn range(&self, i: usize) -> std::ops::Range<usize> {
        let pointer = |at: usize| -> i64 { self.indptr[at].into() };
        pointer(i) as usize..pointer(i + 1) as usize
    }
}

fn of_row(row: usize, reason: String) -> Error {
    Error::Row { row, leaves: vec![row as i64], reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_rows_are_explained() {
        let message = |indptr: &[i32], indices: &[i32], values: &[f64]| {
            SparseRows::new(indptr, indices, values, 2, 3).unwrap_err().to_string()
        };
        let one = [1.0, 1.0];
        assert!(message(&[0, 2], &[0, 1], &one).contains("2 row pointers for 3 "));
        assert!(message(&[1, 1, 2], &[0, 1], &one).contains("row pointer 0 is 1"));
        assert!(message(&[0, 2, 1], &[0, 1], &one).contains("row pointer 2 is 1, less than row pointer 1 (2)"));
        assert!(message(&[0, 1, 3], &[0, 1], &one).contains("row pointer 2 is 3, not the number of values (2)"));
        assert!(message(&[0, 1, 2], &[0], &one).contains("1 column indices for 2 values"));
        assert!(message(&[0, 1, 2], &[0, -1], &one).contains("row 1: column -1 (index 1) is outside 0..=2"));
        assert!(message(&[0, 0, 2], &[1, 1], &one).contains("row 1: column 1 (index 1) occurs twice"));
        assert!(message(&[0, 1, 2], &[0, 2], &[1.0, f64::NAN]).contains("[1, 2] is NaN"));
        assert!(SparseRows::new(&[0i64], &[], &[0.0f32; 0], 0, 0).is_ok());
    }
}
