//! Scores of trees.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::Monitor;
use ordhc::agglomerate::Matrix;
use ordhc::bindings::{DasguptaScore, dasgupta_checked};
use ordhc::metric::{self, Dasgupta, Revenue};
use pyo3::prelude::*;

use crate::arrays::{AnyMatrix, kind};
use crate::callbacks;
use crate::comparison::{Rows, answers};
use crate::error::to_py;
use crate::tree;

type Tree<'py> = Bound<'py, tree::Tree>;
type Progress<'py> = Option<Bound<'py, PyAny>>;
/// Kendall's tau-b: the mean over leaves, the standard error of the mean, the number of leaves without a value, and the
/// value of each leaf.
type Kendall<'py> = (f64, f64, usize, Bound<'py, PyArray1<f64>>);

/// Above this number of leaves, scores whose time grows faster than linearly are computed on a separate thread.
const LONG: usize = 1000;

fn revenue_to_py(py: Python<'_>, value: Revenue) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Revenue::Whole(value) => value.into_pyobject(py)?.into_any(),
        Revenue::Weighted(value) => value.into_pyobject(py)?.into_any(),
    })
}

#[pyfunction]
#[pyo3(signature = (tree, rows, weights, progress=None))]
pub(crate) fn revenue<'py>(
    py: Python<'py>,
    tree: &Tree<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    progress: Progress<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let tree = tree.get().topology();
    let weights = weights.as_ref();
    let n = tree.n_leaves();
    let long = rows.shape()[0] > 1 << 20;
    let answers = answers(&rows, weights, n)?;
    let value = callbacks::run(py, long, progress.as_ref(), |monitor| answers.revenue(tree, Some(monitor)))?;
    revenue_to_py(py, value)
}

#[pyfunction]
pub(crate) fn best_revenue<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let weights = weights.as_ref();
    let answers = answers(&rows, weights, n_leaves)?;
    let value = answers.best_revenue().map_err(to_py)?;
    revenue_to_py(py, value)
}

#[pyfunction]
#[pyo3(signature = (tree, rows, weights, progress=None))]
pub(crate) fn satisfied(
    py: Python<'_>,
    tree: &Tree<'_>,
    rows: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    progress: Progress<'_>,
) -> PyResult<(f64, f64, f64)> {
    let tree = tree.get().inner();
    let weights = weights.as_ref();
    let n = tree.topology().n_leaves();
    let long = rows.shape()[0] > 1 << 20;
    let answers = answers(&rows, weights, n)?;
    let found = callbacks::run(py, long, progress.as_ref(), |monitor| answers.satisfied(tree, Some(monitor)))?;
    Ok((found.agreed, found.disagreed, found.unresolved))
}

#[pyfunction]
#[pyo3(signature = (tree, rows, progress=None))]
pub(crate) fn verdicts<'py>(
    py: Python<'py>,
    tree: &Tree<'_>,
    rows: Rows<'_>,
    progress: Progress<'_>,
) -> PyResult<Bound<'py, PyArray1<i8>>> {
    let tree = tree.get().inner();
    let long = rows.shape()[0] > 1 << 20;
    let answers = answers(&rows, None, tree.topology().n_leaves())?;
    let found = callbacks::run(py, long, progress.as_ref(), |monitor| answers.verdicts(tree, Some(monitor)))?;
    Ok(found.into_pyarray(py))
}

/// Returns the lower and the upper noise ceiling, and the number of answers to repeated questions. Returns `None` if no
/// question was asked more than once.
#[pyfunction]
#[pyo3(signature = (rows, weights, answers, n_leaves, progress=None))]
pub(crate) fn noise_ceiling(
    py: Python<'_>,
    rows: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    answers: Option<PyReadonlyArray1<'_, i64>>,
    n_leaves: usize,
    progress: Progress<'_>,
) -> PyResult<Option<(f64, f64, f64)>> {
    let long = rows.shape()[0] > 1 << 16;
    let comparisons = crate::comparison::answers(&rows, weights.as_ref(), n_leaves)?;
    let answers = answers.as_ref().map(|answers| answers.as_slice()).transpose()?;
    let found =
        callbacks::run(py, long, progress.as_ref(), |monitor| comparisons.noise_ceiling(answers, Some(monitor)))?;
    Ok(found.map(|found| (found.lower, found.upper, found.n_answers)))
}

fn with_matrix<R: Send>(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    dissimilarity: bool,
    progress: &Progress<'_>,
    work: impl FnOnce(&Matrix<'_>, &Monitor) -> ordhc::Result<R> + Send,
) -> PyResult<R> {
    let array = values.extract::<AnyMatrix<'_>>()?;
    let layout = array.layout()?;
    let values = array.values()?;
    callbacks::run(py, array.len() > 1 << 26, progress.as_ref(), |monitor| {
        work(&Matrix::new(values, layout, kind(dissimilarity))?, monitor)
    })
}

#[pyfunction]
pub(crate) fn dasgupta<'py>(
    py: Python<'py>,
    tree: &Tree<'py>,
    values: &Bound<'py, PyAny>,
    revenue: bool,
    progress: Progress<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let tree = tree.get().topology();
    let score: DasguptaScore = if revenue { metric::dasgupta_revenue } else { metric::dasgupta_cost };
    let array = values.extract::<AnyMatrix<'_>>()?;
    let (layout, values) = (array.layout()?, array.values()?);
    let value = callbacks::run(py, array.len() > 1 << 26, progress.as_ref(), |monitor| {
        dasgupta_checked(score, tree, values, layout, Some(monitor))
    })?;
    Ok(match value {
        Dasgupta::Whole(value) => value.into_pyobject(py)?.into_any(),
        Dasgupta::Float(value) => value.into_pyobject(py)?.into_any(),
    })
}

#[pyfunction]
pub(crate) fn cophenetic(
    py: Python<'_>,
    tree: &Tree<'_>,
    values: &Bound<'_, PyAny>,
    dissimilarity: bool,
    progress: Progress<'_>,
) -> PyResult<f64> {
    let tree = tree.get().dendrogram()?;
    with_matrix(py, values, dissimilarity, &progress, |matrix, monitor| {
        metric::cophenetic_correlation(tree, matrix, Some(monitor))
    })
}

fn with_trees<R: Send>(
    py: Python<'_>,
    [a, b]: [&Tree<'_>; 2],
    progress: &Progress<'_>,
    work: impl FnOnce(&ordhc::Dendrogram, &ordhc::Dendrogram, Option<&Monitor>) -> ordhc::Result<R> + Send,
) -> PyResult<R> {
    let (a, b) = (a.get().dendrogram()?, b.get().dendrogram()?);
    callbacks::run(py, a.n_leaves() > LONG, progress.as_ref(), |monitor| work(a, b, Some(monitor)))
}

#[pyfunction]
pub(crate) fn cophenetic_of_trees(py: Python<'_>, a: &Tree<'_>, b: &Tree<'_>, progress: Progress<'_>) -> PyResult<f64> {
    with_trees(py, [a, b], &progress, ordhc::bindings::cophenetic_correlation_of_trees)
}

#[pyfunction]
pub(crate) fn merge_distortion(py: Python<'_>, a: &Tree<'_>, b: &Tree<'_>, progress: Progress<'_>) -> PyResult<f64> {
    with_trees(py, [a, b], &progress, metric::merge_distortion)
}

#[pyfunction]
pub(crate) fn kendall_tau<'py>(
    py: Python<'py>,
    truth: &Tree<'py>,
    tree: &Tree<'py>,
    include_self: bool,
    tie_self: bool,
    progress: Progress<'py>,
) -> PyResult<Kendall<'py>> {
    let (truth, tree) = (truth.get().ranked()?, tree.get().ranked()?);
    let itself = itself(include_self, tie_self);
    let tau = callbacks::run(py, truth.n_leaves() > LONG, progress.as_ref(), |monitor| {
        metric::kendall_tau(truth, tree, itself, Some(monitor))
    })?;
    Ok(kendall_to_py(py, tau))
}

#[pyfunction]
pub(crate) fn kendall_tau_of_rows<'py>(
    py: Python<'py>,
    matrix: PyReadonlyArray2<'py, f64>,
    is_dissimilarity: bool,
    tree: &Tree<'py>,
    include_self: bool,
    tie_self: bool,
    progress: Progress<'py>,
) -> PyResult<Kendall<'py>> {
    let (values, tree, itself) = (matrix.as_slice()?, tree.get().ranked()?, itself(include_self, tie_self));
    let tau = callbacks::run(py, tree.n_leaves() > LONG, progress.as_ref(), |monitor| {
        ordhc::bindings::kendall_tau_of_rows(values, is_dissimilarity, tree, itself, Some(monitor))
    })?;
    Ok(kendall_to_py(py, tau))
}

fn itself(include_self: bool, tie_self: bool) -> metric::Itself {
    match (include_self, tie_self) {
        (false, _) => metric::Itself::LeftOut,
        (true, false) => metric::Itself::First,
        (true, true) => metric::Itself::InFinestClass,
    }
}

fn kendall_to_py(py: Python<'_>, tau: metric::KendallTau) -> Kendall<'_> {
    (tau.mean, tau.standard_error, tau.undefined, PyArray1::from_vec(py, tau.values))
}

#[pyfunction]
pub(crate) fn triplet_counts(py: Python<'_>, a: &Tree<'_>, b: &Tree<'_>, progress: Progress<'_>) -> PyResult<[u64; 5]> {
    let (a, b) = (a.get().topology(), b.get().topology());
    let counts = callbacks::run(py, a.n_leaves() > LONG, progress.as_ref(), |monitor| {
        metric::triplet_distance(a, b, Some(monitor))
    })?;
    Ok([counts.same, counts.different, counts.only_a, counts.only_b, counts.unresolved])
}

#[pyfunction]
pub(crate) fn cluster_counts(py: Python<'_>, a: &Tree<'_>, b: &Tree<'_>) -> PyResult<[u64; 3]> {
    let (a, b) = (a.get().topology(), b.get().topology());
    let counts = callbacks::run(py, a.n_leaves() > LONG, None, |_| metric::robinson_foulds(a, b))?;
    Ok([counts.shared, counts.only_a, counts.only_b])
}

#[pyfunction]
pub(crate) fn dendrogram_purity(py: Python<'_>, tree: &Tree<'_>, labels: PyReadonlyArray1<'_, i64>) -> PyResult<f64> {
    let (tree, labels) = (tree.get().topology(), labels.as_slice()?);
    callbacks::run(py, labels.len() > 1 << 18, None, |_| ordhc::bindings::purity(tree, labels))
}

#[pyfunction]
pub(crate) fn ari(py: Python<'_>, a: PyReadonlyArray1<'_, i64>, b: PyReadonlyArray1<'_, i64>) -> PyResult<f64> {
    let (a, b) = (a.as_slice()?, b.as_slice()?);
    py.detach(|| ordhc::bindings::ari(a, b)).map_err(to_py)
}

#[pyfunction]
pub(crate) fn aari(
    py: Python<'_>,
    tree: &Tree<'_>,
    levels: PyReadonlyArray2<'_, i64>,
    progress: Progress<'_>,
) -> PyResult<(f64, Vec<f64>)> {
    let n = levels.shape()[1];
    let tree = tree.get().in_order()?;
    let columns: Vec<&[i64]> = levels.as_slice()?.chunks(n.max(1)).collect();
    let long = columns.len() * n > 1 << 18;
    let scores =
        callbacks::run(py, long, progress.as_ref(), |monitor| ordhc::bindings::aari(tree, &columns, Some(monitor)))?;
    Ok((scores.mean, scores.levels))
}

#[pyfunction]
pub(crate) fn aari_of_trees(
    py: Python<'_>,
    a: &Tree<'_>,
    b: &Tree<'_>,
    n_clusters: Vec<usize>,
    progress: Progress<'_>,
) -> PyResult<(f64, Vec<f64>)> {
    let (a, b) = (a.get().in_order()?, b.get().in_order()?);
    let scores = callbacks::run(py, a.n_leaves() > LONG, progress.as_ref(), |monitor| {
        ordhc::bindings::aari_of_trees(a, b, &n_clusters, Some(monitor))
    })?;
    Ok((scores.mean, scores.levels))
}
