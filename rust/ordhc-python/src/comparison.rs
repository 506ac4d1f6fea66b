//! Checked comparisons.

use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::comparison::{Comparisons, Id, narrow};
use pyo3::prelude::*;

use crate::arrays::{array_of, rows};
use crate::error::to_py;

array_of! {
    /// Rows of leaf ids, of a type that is used as it is.
    Rows, PyReadonlyArray2, "uint8, uint16 or int32 in 2 dimensions", U8(u8), U16(u16), I32(i32)
}

impl Rows<'_> {
    /// The shape, (m, 3) or (m, 4).
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Self::U8(rows) => rows.shape(),
            Self::U16(rows) => rows.shape(),
            Self::I32(rows) => rows.shape(),
        }
    }
}

/// Runs `$body` with rows of `$k` leaves as comparisons, whatever the type of ids.
macro_rules! with_comparisons {
    ($rows:expr, $weights:expr, $n:expr, $k:literal, $comparisons:ident => $body:expr) => {
        match &$rows {
            $crate::comparison::Rows::U8(rows) => {
                let $comparisons = $crate::comparison::comparisons::<u8, $k>(rows, $weights, $n)?;
                $body
            }
            $crate::comparison::Rows::U16(rows) => {
                let $comparisons = $crate::comparison::comparisons::<u16, $k>(rows, $weights, $n)?;
                $body
            }
            $crate::comparison::Rows::I32(rows) => {
                let $comparisons = $crate::comparison::comparisons::<i32, $k>(rows, $weights, $n)?;
                $body
            }
        }
    };
    ($rows:expr, $weights:expr, $n:expr, $comparisons:ident => $body:expr) => {
        if $rows.shape()[1] == 3 {
            $crate::comparison::with_comparisons!($rows, $weights, $n, 3, $comparisons => $body)
        } else {
            $crate::comparison::with_comparisons!($rows, $weights, $n, 4, $comparisons => $body)
        }
    };
}
pub(crate) use with_comparisons;

array_of! {
    /// Rows as they come: of a type that is kept, or wide.
    Wide, PyReadonlyArray2, "uint8, uint16, int32 or int64 in 2 dimensions", U8(u8), U16(u16), I32(i32), I64(i64)
}

/// The rows to keep (nothing if the array itself will do), and the number of leaves.
type Checked<'py> = (Option<Bound<'py, PyArray2<i32>>>, usize);

#[pyfunction]
pub(crate) fn check_triplets<'py>(py: Python<'py>, rows: Wide<'py>, n_leaves: Option<usize>) -> PyResult<Checked<'py>> {
    check::<3>(py, &rows, n_leaves)
}

#[pyfunction]
pub(crate) fn check_quadruplets<'py>(
    py: Python<'py>,
    rows: Wide<'py>,
    n_leaves: Option<usize>,
) -> PyResult<Checked<'py>> {
    check::<4>(py, &rows, n_leaves)
}

fn check<'py, const K: usize>(py: Python<'py>, array: &Wide<'py>, n_leaves: Option<usize>) -> PyResult<Checked<'py>> {
    match array {
        Wide::U8(array) => Ok((None, kept::<u8, K>(py, array, n_leaves)?)),
        Wide::U16(array) => Ok((None, kept::<u16, K>(py, array, n_leaves)?)),
        Wide::I32(array) => Ok((None, kept::<i32, K>(py, array, n_leaves)?)),
        Wide::I64(array) => {
            let wide = rows::<i64, K>(array.as_slice()?, array.shape())?;
            let (narrow, n_leaves) = py.detach(|| narrow(wide, n_leaves)).map_err(to_py)?;
            let m = narrow.len();
            let flat = PyArray1::from_vec(py, narrow.into_flattened());
            Ok((Some(flat.reshape([m, K])?), n_leaves))
        }
    }
}

fn kept<I: Id + Element, const K: usize>(
    py: Python<'_>,
    array: &PyReadonlyArray2<'_, I>,
    n_leaves: Option<usize>,
) -> PyResult<usize> {
    let rows = rows::<I, K>(array.as_slice()?, array.shape())?;
    py.detach(|| Comparisons::<K, I>::new(rows, n_leaves).map(|checked| checked.n_leaves())).map_err(to_py)
}

/// What the two kinds of comparisons have in common: borrowed from arrays and checked again, which
/// takes a fraction of any work that is done with them.
pub(crate) fn comparisons<'a, I: Id + Element, const K: usize>(
    values: &'a PyReadonlyArray2<'_, I>,
    weights: Option<&'a PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
) -> PyResult<Comparisons<'a, K, I>> {
    let rows = rows::<I, K>(values.as_slice()?, values.shape())?;
    let comparisons = Comparisons::new(rows, Some(n_leaves)).map_err(to_py)?;
    match weights {
        None => Ok(comparisons),
        Some(weights) => comparisons.with_weights(weights.as_slice()?).map_err(to_py),
    }
}
