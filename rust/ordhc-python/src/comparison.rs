//! Checked comparisons.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::comparison::{Comparisons, narrow};
use pyo3::prelude::*;

use crate::arrays::rows;
use crate::error::to_py;

type Checked<'py> = (Bound<'py, PyArray2<i32>>, usize);

#[pyfunction]
pub(crate) fn check_triplets<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, i64>,
    n_leaves: Option<usize>,
) -> PyResult<Checked<'py>> {
    check::<3>(py, &rows, n_leaves)
}

#[pyfunction]
pub(crate) fn check_quadruplets<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, i64>,
    n_leaves: Option<usize>,
) -> PyResult<Checked<'py>> {
    check::<4>(py, &rows, n_leaves)
}

fn check<'py, const K: usize>(
    py: Python<'py>,
    array: &PyReadonlyArray2<'py, i64>,
    n_leaves: Option<usize>,
) -> PyResult<Checked<'py>> {
    let wide = rows::<i64, K>(array.as_slice()?, array.shape())?;
    let (narrow, n_leaves) = py.detach(|| narrow(wide, n_leaves)).map_err(to_py)?;
    let m = narrow.len();
    let flat = PyArray1::from_vec(py, narrow.into_flattened());
    Ok((flat.reshape([m, K])?, n_leaves))
}

/// What the two kinds of comparisons have in common: borrowed from arrays and checked again, which
/// takes a fraction of any work that is done with them.
pub(crate) fn comparisons<'a, const K: usize>(
    values: &'a PyReadonlyArray2<'_, i32>,
    weights: Option<&'a PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
) -> PyResult<Comparisons<'a, K>> {
    let rows = rows::<i32, K>(values.as_slice()?, values.shape())?;
    let comparisons = Comparisons::new(rows, Some(n_leaves)).map_err(to_py)?;
    match weights {
        None => Ok(comparisons),
        Some(weights) => comparisons.with_weights(weights.as_slice()?).map_err(to_py),
    }
}
