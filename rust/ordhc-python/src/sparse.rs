//! Agglomeration of sparse similarities.

use numpy::{PyArray1, PyReadonlyArray1};
use ordhc::agglomerate::{Agglomeration, Missing};
use ordhc::bindings::{pairs_of_csr_i32, pairs_of_csr_i64};
use ordhc::linkage::Rule;
use ordhc::{Error, Monitor};
use pyo3::prelude::*;

use crate::arrays::{array_of, kind};
use crate::callbacks;
use crate::comparison::{Rows, answers};
use crate::error::to_py;
use crate::linkage::{Linkage, partition};
use crate::tree::Tree;

array_of! {
    /// Row pointers or column indices, in SciPy's CSR layout.
    Places, PyReadonlyArray1, "int32 or int64 in 1 dimension", I32(i32), I64(i64)
}

/// Computations with more values, answers or leaves than this take some tens of milliseconds, and run on a separate
/// thread.
const LONG: usize = 1 << 16;

fn rule<'a>(linkage: &'a Bound<'_, Linkage>) -> PyResult<&'a Rule> {
    linkage.get().rule().ok_or_else(|| to_py(Error::Argument("a linkage in Python needs a full matrix".into())))
}

#[pyfunction]
#[pyo3(signature = (indptr, indices, values, linkage, dissimilarity, missing, initial, progress))]
#[allow(clippy::too_many_arguments, reason = "the arguments of a Python function")]
pub(crate) fn agglomerate_sparse(
    py: Python<'_>,
    indptr: Places<'_>,
    indices: Places<'_>,
    values: PyReadonlyArray1<'_, f64>,
    linkage: &Bound<'_, Linkage>,
    dissimilarity: bool,
    missing: &str,
    initial: Option<PyReadonlyArray1<'_, i64>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Tree, usize)> {
    let missing = missing.parse::<Missing>().map_err(to_py)?;
    let (rule, initial, values) = (rule(linkage)?, partition(initial)?, values.as_slice()?);
    macro_rules! run {
        ($indptr:expr, $indices:expr, $pairs:expr) => {{
            let (indptr, indices) = ($indptr.as_slice()?, $indices.as_slice()?);
            callbacks::run(py, values.len() > LONG, progress.as_ref(), |monitor| {
                let kind = kind(dissimilarity);
                let pairs = $pairs(indptr, indices, values, kind, Some(&monitor.child()))?;
                Agglomeration::new(rule.clone()).initial(initial.as_ref()).monitor(monitor).run_sparse(&pairs, missing)
            })
        }};
    }
    let (tree, n_trees) = match (&indptr, &indices) {
        (Places::I32(indptr), Places::I32(indices)) => run!(indptr, indices, pairs_of_csr_i32),
        (Places::I64(indptr), Places::I64(indices)) => run!(indptr, indices, pairs_of_csr_i64),
        _ => Err(to_py(Error::Argument("row pointers and columns must be of the same type".into()))),
    }?;
    Ok((tree.into(), n_trees))
}

#[pyfunction]
pub(crate) fn adds_linkage<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    linkage: &Bound<'py, Linkage>,
    initial: Option<PyReadonlyArray1<'py, i64>>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Tree> {
    let (rule, initial) = (rule(linkage)?, partition(initial)?);
    let answers = answers(&rows, weights.as_ref(), n_leaves)?;
    let (tree, _) = callbacks::run(py, answers.len() > LONG || n_leaves > LONG, progress.as_ref(), |monitor| {
        let pairs = answers.sparse_adds(Some(&monitor.child()))?;
        let by = Agglomeration::new(rule.clone()).initial(initial.as_ref()).monitor(monitor);
        by.run_sparse(&pairs, Missing::Zero)
    })?;
    Ok(tree.into())
}

type Csr<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

#[pyfunction]
pub(crate) fn adds_csr<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Csr<'py>> {
    let answers = answers(&rows, weights.as_ref(), n_leaves)?;
    let work = |monitor: &Monitor| answers.sparse_adds(Some(monitor))?.to_csr(Some(monitor));
    let (starts, columns, values) = callbacks::run(py, answers.len() > LONG, progress.as_ref(), work)?;
    Ok((PyArray1::from_vec(py, starts), PyArray1::from_vec(py, columns), PyArray1::from_vec(py, values)))
}
