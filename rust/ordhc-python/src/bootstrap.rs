//! Resampled answers and their trees.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use ordhc::Error;
use ordhc::bootstrap::{Draws, Resample};
use pyo3::prelude::*;

use crate::callbacks;
use crate::comparison::{Answers, Rows, with};
use crate::error::to_py;
use crate::linkage::Linkage;
use crate::tree::Dendrogram;

fn draws(m: usize, groups: Option<PyReadonlyArray1<'_, i64>>, seed: u64) -> PyResult<Draws> {
    let number = |&group: &i64| u32::try_from(group).unwrap_or(u32::MAX);
    let groups = match groups {
        None => None,
        Some(groups) => Some(groups.as_slice()?.iter().map(number).collect()),
    };
    Draws::new(m, groups, seed).map_err(to_py)
}

/// How often each answer is in a resample.
#[pyfunction]
pub(crate) fn draw_times<'py>(
    py: Python<'py>,
    m: usize,
    groups: Option<PyReadonlyArray1<'py, i64>>,
    seed: u64,
    index: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let times = draws(m, groups, seed)?.times(index);
    Ok(PyArray1::from_iter(py, times.into_iter().map(i64::from)))
}

/// Trees of resamples, and (n, 3) scores: revenue and satisfied share of the first tree, held-out share.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords have no place in the engine's functions")]
pub(crate) fn bootstrap_adds<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    linkage: &Bound<'py, Linkage>,
    tree: &Bound<'py, Dendrogram>,
    groups: Option<PyReadonlyArray1<'py, i64>>,
    shares: Option<PyReadonlyArray1<'py, f64>>,
    seed: u64,
    n_resamples: u64,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Vec<Dendrogram>, Bound<'py, PyArray2<f64>>)> {
    let Some(rule) = linkage.get().rule() else {
        return Err(to_py(Error::Argument("row updates are not resampled in the engine".into())));
    };
    let first = tree.get().inner();
    let n = first.n_leaves();
    let draws = draws(rows.shape()[0], groups, seed)?;
    let shares = shares.as_ref().map(|shares| shares.as_slice()).transpose()?;
    let (weights, progress) = (weights.as_ref(), progress.as_ref());
    let answers = Answers::of(&rows, weights, n)?;
    let resamples: Vec<Resample> = callbacks::run(py, true, progress, |monitor| {
        with!(&answers, answers => {
            ordhc::bootstrap::adds(answers, shares, rule, first, &draws, n_resamples, Some(monitor))
        })
    })?;
    let scores = resamples.iter().flat_map(|found| [found.revenue, found.satisfied, found.held_out]);
    let scores = PyArray1::from_iter(py, scores).reshape([resamples.len(), 3])?;
    Ok((resamples.into_iter().map(|found| found.tree.into()).collect(), scores))
}

fn inner(trees: &[Bound<'_, Dendrogram>]) -> Vec<ordhc::Dendrogram> {
    trees.iter().map(|tree| tree.get().inner().clone()).collect()
}

#[pyfunction]
pub(crate) fn support<'py>(
    py: Python<'py>,
    tree: &Bound<'py, Dendrogram>,
    others: Vec<Bound<'py, Dendrogram>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let others = inner(&others);
    let tree = tree.get().inner();
    let found = py.detach(|| ordhc::bootstrap::support(tree, &others)).map_err(to_py)?;
    Ok(PyArray1::from_vec(py, found))
}
