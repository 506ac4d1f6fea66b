//! Trees and scores of resampled answers.

use std::sync::Mutex;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::Error;
use ordhc::bindings::{Draws, Resample};
use ordhc::metric::Satisfied;
use pyo3::prelude::*;

use crate::callbacks;
use crate::comparison::{Rows, answers};
use crate::error::to_py;
use crate::linkage::Linkage;
use crate::tree::Tree;

fn has_row_updates() -> PyErr {
    to_py(Error::Argument("bootstrap_adds cannot use a linkage in Python; cluster each resample instead".into()))
}

fn draws(m: usize, groups: Option<PyReadonlyArray1<'_, i64>>, seed: u64) -> PyResult<Draws> {
    let number = |&group: &i64| u32::try_from(group).unwrap_or(u32::MAX);
    let groups = match groups {
        None => None,
        Some(groups) => Some(groups.as_slice()?.iter().map(number).collect()),
    };
    Draws::new(m, groups, seed).map_err(to_py)
}

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

/// Returns the tree of each resample, and a (k, 3) array of scores with one row for each resample. The first two
/// columns are the revenue of the original tree, and the share of the drawn answers that the original tree satisfies.
/// The third column is for the answers that were not drawn: the share that the tree of the resample satisfies.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords have no place in the engine's functions")]
pub(crate) fn bootstrap_adds<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    linkage: &Bound<'py, Linkage>,
    tree: &Bound<'py, Tree>,
    groups: Option<PyReadonlyArray1<'py, i64>>,
    shares: Option<PyReadonlyArray1<'py, f64>>,
    seed: u64,
    first: u64,
    n_resamples: u64,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Vec<Tree>, Bound<'py, PyArray2<f64>>)> {
    let Some(rule) = linkage.get().rule() else {
        return Err(has_row_updates());
    };
    let tree = tree.get().dendrogram()?;
    let n = tree.n_leaves();
    let draws = draws(rows.shape()[0], groups, seed)?;
    let shares = shares.as_ref().map(|shares| shares.as_slice()).transpose()?;
    let (weights, progress) = (weights.as_ref(), progress.as_ref());
    let answers = answers(&rows, weights, n)?;
    let resamples: Vec<Resample> = callbacks::run(py, true, progress, |monitor| {
        answers.bootstrap_adds(shares, rule, tree, &draws, first..first + n_resamples, Some(monitor))
    })?;
    let scores = resamples.iter().flat_map(|found| [found.revenue, found.satisfied, found.held_out]);
    let scores = PyArray1::from_iter(py, scores).reshape([resamples.len(), 3])?;
    Ok((resamples.into_iter().map(|found| found.tree.into()).collect(), scores))
}

#[pyfunction]
pub(crate) fn support<'py>(
    py: Python<'py>,
    tree: &Bound<'py, Tree>,
    others: Vec<Bound<'py, Tree>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let others: Vec<_> = others.iter().map(|tree| tree.get().topology()).collect();
    let tree = tree.get().topology();
    let found = py.detach(|| ordhc::bootstrap::support(tree, &others)).map_err(to_py)?;
    Ok(PyArray1::from_vec(py, found))
}

fn times_of(times: &PyReadonlyArray2<'_, u32>) -> PyResult<Vec<Vec<u32>>> {
    let n_groups = times.shape()[1].max(1);
    Ok(times.as_slice()?.chunks(n_groups).map(<[u32]>::to_vec).collect())
}

fn groups_of<'a>(groups: &'a PyReadonlyArray1<'_, u32>, m: usize, n_groups: usize) -> PyResult<&'a [u32]> {
    let groups = groups.as_slice()?;
    if groups.len() != m || groups.iter().any(|&group| group as usize >= n_groups) {
        return Err(to_py(Error::Argument(format!(
            "groups has {} values; it must have one value below {n_groups} for each of {m} answers",
            groups.len()
        ))));
    }
    Ok(groups)
}

/// Resamples of answers that are added in chunks.
#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Tallies {
    inner: Mutex<Option<ordhc::bindings::Tallies>>,
    n_leaves: usize,
    n_groups: usize,
}

const GONE: &str = "the trees were made, or an earlier call broke";

#[pymethods]
impl Tallies {
    #[new]
    fn new(n_leaves: usize, times: PyReadonlyArray2<'_, u32>) -> PyResult<Self> {
        let tallies = ordhc::bindings::Tallies::new(n_leaves, times_of(&times)?).map_err(to_py)?;
        Ok(Self { inner: Mutex::new(Some(tallies)), n_leaves, n_groups: times.shape()[1] })
    }

    fn add<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        groups: PyReadonlyArray1<'py, u32>,
        first: &Bound<'py, Tree>,
    ) -> PyResult<()> {
        let answers = answers(&rows, weights.as_ref(), self.n_leaves)?;
        let groups = groups_of(&groups, answers.len(), self.n_groups)?;
        let first = first.get().dendrogram()?;
        callbacks::run(py, true, None, |monitor| {
            let mut inner = self.inner.lock().expect(GONE);
            let tallies = inner.as_mut().ok_or_else(|| Error::Argument(GONE.into()))?;
            answers.tally(tallies, groups, first, Some(monitor))
        })
    }

    /// Returns a (k, 2) array with one row for each resample: the revenue of the original tree, and the share of the
    /// drawn answers that this tree satisfies.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inner = self.inner.lock().expect(GONE);
        let tallies = inner.as_ref().ok_or_else(|| to_py(Error::Argument(GONE.into())))?;
        let scores = tallies.scores();
        PyArray1::from_iter(py, scores.iter().flat_map(|&(revenue, share)| [revenue, share])).reshape([scores.len(), 2])
    }

    /// Returns the tree of each resample. This method can be called only once.
    fn trees<'py>(
        &self,
        py: Python<'py>,
        linkage: &Bound<'py, Linkage>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Tree>> {
        let Some(rule) = linkage.get().rule() else {
            return Err(has_row_updates());
        };
        let trees = callbacks::run(py, true, progress.as_ref(), |monitor| {
            let taken = self.inner.lock().expect(GONE).take();
            taken.ok_or_else(|| Error::Argument(GONE.into()))?.trees(rule, Some(monitor))
        })?;
        Ok(trees.into_iter().map(Tree::from).collect())
    }
}

/// Adds the weights of the answers that were not drawn to `sums`, a (k, 3) array with one row for each resample. The
/// three columns are for answers that the tree of the resample satisfies, contradicts, or does not decide.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords have no place in the engine's functions")]
pub(crate) fn add_rest<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    groups: PyReadonlyArray1<'py, u32>,
    times: PyReadonlyArray2<'py, u32>,
    trees: Vec<Bound<'py, Tree>>,
    sums: &Bound<'py, PyArray2<f64>>,
) -> PyResult<()> {
    let answers = answers(&rows, weights.as_ref(), n_leaves)?;
    let groups = groups_of(&groups, answers.len(), times.shape()[1])?;
    let times = times_of(&times)?;
    let trees: Vec<ordhc::Dendrogram> =
        trees.iter().map(|tree| tree.get().dendrogram().cloned()).collect::<PyResult<_>>()?;
    let mut sums = sums.try_readwrite()?;
    let sums = sums.as_slice_mut()?;
    let mut found: Vec<Satisfied> =
        sums.chunks(3).map(|sum| Satisfied { agreed: sum[0], disagreed: sum[1], unresolved: sum[2] }).collect();
    callbacks::run(py, true, None, |_| answers.add_held_out(groups, &times, &trees, &mut found))?;
    for (sum, found) in sums.chunks_mut(3).zip(found) {
        sum.copy_from_slice(&[found.agreed, found.disagreed, found.unresolved]);
    }
    Ok(())
}
