//! Scores.

use numpy::PyReadonlyArray1;
use ordhc::metric::Revenue;
use pyo3::prelude::*;

use crate::callbacks;
use crate::comparison::{Rows, with_comparisons};
use crate::tree::Dendrogram;

#[pyfunction]
pub(crate) fn revenue<'py>(
    py: Python<'py>,
    tree: &Bound<'py, Dendrogram>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyAny>> {
    let tree = tree.get().inner();
    let weights = weights.as_ref();
    let n = tree.n_leaves();
    let long = rows.shape()[0] > 1 << 20;
    let value = with_comparisons!(rows, weights, n, answers => {
        callbacks::run(py, long, None, |_| ordhc::metric::revenue(tree, &answers))?
    });
    Ok(match value {
        Revenue::Whole(value) => value.into_pyobject(py)?.into_any(),
        Revenue::Weighted(value) => value.into_pyobject(py)?.into_any(),
    })
}

#[pyfunction]
pub(crate) fn satisfied(
    py: Python<'_>,
    tree: &Bound<'_, Dendrogram>,
    rows: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<(f64, f64, f64)> {
    let tree = tree.get().inner();
    let weights = weights.as_ref();
    let n = tree.n_leaves();
    let long = rows.shape()[0] > 1 << 20;
    let found = with_comparisons!(rows, weights, n, answers => {
        callbacks::run(py, long, None, |_| ordhc::metric::satisfied(tree, &answers))?
    });
    Ok((found.agreed, found.disagreed, found.unresolved))
}
