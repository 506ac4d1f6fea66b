//! Refines trees by moving subtrees, and orders leaves.

use numpy::{PyArray1, PyReadonlyArray1};
use ordhc::Monitor;
use ordhc::agglomerate::Matrix;
use ordhc::refine::{Heights, Refined, Search};
use pyo3::prelude::*;

use crate::arrays::{AnyMatrix, kind};
use crate::callbacks;
use crate::comparison::{Rows, answers, triplets};
use crate::linkage::partition;
use crate::tree::{Tree, widened};

/// Settings of a search: the maximum number of moves of subtrees, the number of restarts, the seed, and the labels of
/// clusters to keep.
type How<'py> = (Option<u64>, u32, u64, Option<PyReadonlyArray1<'py, i64>>);
/// The refined tree, the gain of its score, the number of moves of subtrees, and true if no further move improves the
/// tree.
type Found = (Tree, f64, u64, bool);

/// If the number of leaves times (1 + the number of restarts) exceeds this limit, the search has its own thread.
const LONG: usize = 1000;

fn is_long(n_leaves: usize, search: &Search) -> bool {
    n_leaves.saturating_mul(1 + search.restarts as usize) > LONG
}

fn search(how: How<'_>) -> PyResult<Search> {
    let (max_moves, restarts, seed, kept) = how;
    Ok(Search { max_moves, restarts, seed, kept: partition(kept)? })
}

fn to_py(refined: Refined) -> Found {
    (refined.tree.into(), refined.gain, refined.moves, refined.is_local_optimum)
}

#[pyfunction]
pub(crate) fn refine_similarity<'py>(
    py: Python<'py>,
    tree: &Bound<'py, Tree>,
    values: &Bound<'py, PyAny>,
    dissimilarity: bool,
    average_heights: bool,
    how: How<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Found> {
    let tree = tree.get().topology();
    let search = search(how)?;
    let heights = if average_heights { Heights::Average } else { Heights::Sizes };
    let array = values.extract::<AnyMatrix<'_>>()?;
    let layout = array.layout()?;
    let values = array.values()?;
    let work = |monitor: &Monitor| {
        let matrix = Matrix::new(values, layout, kind(dissimilarity))?;
        ordhc::refine::refine(tree, &matrix, heights, &search, Some(monitor))
    };
    callbacks::run(py, is_long(tree.n_leaves(), &search), progress.as_ref(), work).map(to_py)
}

/// Returns the leaves in the order in which neighbours are most similar, among the orders in which the tree can be
/// drawn without crossings.
#[pyfunction]
pub(crate) fn optimal_leaf_order<'py>(
    py: Python<'py>,
    tree: &Bound<'py, Tree>,
    values: &Bound<'py, PyAny>,
    dissimilarity: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let tree = tree.get().topology();
    let array = values.extract::<AnyMatrix<'_>>()?;
    let layout = array.layout()?;
    let values = array.values()?;
    let work = |monitor: &Monitor| {
        let matrix = Matrix::new(values, layout, kind(dissimilarity))?;
        ordhc::refine::optimal_leaf_order(tree, &matrix, Some(monitor))
    };
    let order = callbacks::run(py, tree.n_leaves() > LONG, progress.as_ref(), work)?;
    Ok(widened(py, order))
}

#[pyfunction]
pub(crate) fn refine_satisfied<'py>(
    py: Python<'py>,
    tree: &Bound<'py, Tree>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    how: How<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Found> {
    let (tree, kind) = (tree.get().topology(), kind(tree.get().is_dissimilarity()));
    let search = search(how)?;
    let n = tree.n_leaves();
    let triplets = triplets(&rows, weights.as_ref(), n)?;
    let work = |monitor: &Monitor| ordhc::refine::refine_satisfied(tree, kind, &triplets, &search, Some(monitor));
    let long = is_long(n, &search) || triplets.len() > 1 << 14;
    callbacks::run(py, long, progress.as_ref(), work).map(to_py)
}

#[pyfunction]
pub(crate) fn canonical_order<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let answers = answers(&rows, weights.as_ref(), n_leaves)?;
    let work = |_: &Monitor| Ok(answers.canonical_order());
    let order = callbacks::run(py, false, None, work)?;
    Ok(widened(py, order))
}
