//! Linkages that use the answers directly, without similarities.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::callbacks;
use crate::comparison::{Rows, answers, quadruplets, triplets};
use crate::error::to_py_named;
use crate::linkage::partition;
use crate::tree::Tree;

#[pyfunction]
pub(crate) fn preference_linkage(
    py: Python<'_>,
    rows: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
    initial: Option<PyReadonlyArray1<'_, i64>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Tree> {
    let weights = weights.as_ref();
    let initial = partition(initial)?;
    let (initial, progress) = (initial.as_ref(), progress.as_ref());
    let answers = answers(&rows, weights, n_leaves)?;
    let tree = callbacks::run(py, true, progress, |monitor| answers.preference_linkage(initial, Some(monitor)))?;
    Ok(tree.into())
}

#[pyfunction]
pub(crate) fn pairs_beaten<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    progress: Option<Bound<'py, PyAny>>,
    names: Option<Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let answers = quadruplets(&rows, weights.as_ref(), n_leaves)?;
    // Return the error as a value, so that its message can name leaves.
    let work = |monitor: &ordhc::Monitor| Ok(ordhc::bindings::pairs_beaten(&answers, Some(monitor)));
    let beaten = callbacks::run(py, answers.len() > 1 << 18, progress.as_ref(), work)?;
    Ok(PyArray1::from_vec(py, beaten.map_err(|error| to_py_named(py, &error, names.as_ref()))?))
}

#[pyfunction]
pub(crate) fn build(
    py: Python<'_>,
    rows: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
    progress: Option<Bound<'_, PyAny>>,
    names: Option<Bound<'_, PyTuple>>,
) -> PyResult<Tree> {
    let answers = triplets(&rows, weights.as_ref(), n_leaves)?;
    // Return the error as a value, so that its message can name leaves.
    let work = |monitor: &ordhc::Monitor| Ok(ordhc::tree::build(&answers, Some(monitor)));
    let tree = callbacks::run(py, answers.len() > 1 << 14, progress.as_ref(), work)?;
    Ok(tree.map_err(|error| to_py_named(py, &error, names.as_ref()))?.into())
}
