//! Scores.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::metric::Revenue;
use pyo3::prelude::*;

use crate::callbacks;
use crate::comparison::comparisons;
use crate::tree::Dendrogram;

#[pyfunction]
pub(crate) fn revenue<'py>(
    py: Python<'py>,
    tree: &Bound<'py, Dendrogram>,
    rows: PyReadonlyArray2<'py, i32>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyAny>> {
    let tree = tree.get().inner();
    let weights = weights.as_ref();
    let n = tree.n_leaves();
    let long = rows.len() > 1 << 22;
    let value = if rows.shape()[1] == 3 {
        let comparisons = comparisons::<3>(&rows, weights, n)?;
        callbacks::run(py, long, None, |_| ordhc::metric::revenue(tree, &comparisons))?
    } else {
        let comparisons = comparisons::<4>(&rows, weights, n)?;
        callbacks::run(py, long, None, |_| ordhc::metric::revenue(tree, &comparisons))?
    };
    Ok(match value {
        Revenue::Whole(value) => value.into_pyobject(py)?.into_any(),
        Revenue::Weighted(value) => value.into_pyobject(py)?.into_any(),
    })
}

#[pyfunction]
pub(crate) fn satisfied(
    py: Python<'_>,
    tree: &Bound<'_, Dendrogram>,
    rows: PyReadonlyArray2<'_, i32>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<(f64, f64, f64)> {
    let tree = tree.get().inner();
    let weights = weights.as_ref();
    let n = tree.n_leaves();
    let long = rows.len() > 1 << 22;
    let found = if rows.shape()[1] == 3 {
        let comparisons = comparisons::<3>(&rows, weights, n)?;
        callbacks::run(py, long, None, |_| ordhc::metric::satisfied(tree, &comparisons))?
    } else {
        let comparisons = comparisons::<4>(&rows, weights, n)?;
        callbacks::run(py, long, None, |_| ordhc::metric::satisfied(tree, &comparisons))?
    };
    Ok((found.agreed, found.disagreed, found.unresolved))
}
