//! Linkages from the answers themselves.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::callbacks;
use crate::comparison::{Answers, Rows, comparisons, with};
use crate::linkage::partition;
use crate::tree::Dendrogram;

#[pyfunction]
pub(crate) fn preference_linkage(
    py: Python<'_>,
    rows: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
    initial: Option<PyReadonlyArray1<'_, i64>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Dendrogram> {
    let weights = weights.as_ref();
    let initial = partition(initial)?;
    let (initial, progress) = (initial.as_ref(), progress.as_ref());
    let answers = Answers::of(&rows, weights, n_leaves)?;
    let tree = callbacks::run(
        py,
        true,
        progress,
        |monitor| with!(&answers, answers => ordhc::preference::preference_linkage(answers, initial, monitor)),
    )?;
    Ok(tree.into())
}

#[pyfunction]
pub(crate) fn pairs_beaten<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let answers = comparisons(&rows, weights.as_ref(), n_leaves)?;
    let work = |monitor: &ordhc::Monitor| ordhc::preference::pairs_beaten(&answers, monitor);
    let beaten = callbacks::run(py, answers.len() > 1 << 18, progress.as_ref(), work)?;
    Ok(PyArray1::from_vec(py, beaten))
}

#[pyfunction]
pub(crate) fn build(
    py: Python<'_>,
    rows: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Dendrogram> {
    let answers = comparisons(&rows, weights.as_ref(), n_leaves)?;
    let work = |monitor: &ordhc::Monitor| ordhc::tree::build(&answers, monitor);
    let tree = callbacks::run(py, answers.len() > 1 << 14, progress.as_ref(), work)?;
    Ok(tree.into())
}
