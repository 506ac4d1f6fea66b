//! Similarities from comparisons that are added in chunks.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use ordhc::bindings::{
    AdditionsView, AnyComparisons, RunOptions, add_sorted_f64, add_sorted_i32, add_sorted_i64, merge_runs,
};
use ordhc::{Error, Monitor};
use pyo3::prelude::*;

use crate::callbacks;
use crate::comparison::{Rows, answers};
use crate::error::to_py;
use crate::similarity::Sums;

/// Above this number of answers, a computation runs on a separate thread.
const LONG: usize = 1 << 18;

#[pyfunction]
pub(crate) fn adds_into<'py>(
    py: Python<'py>,
    out: &Bound<'py, PyAny>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
) -> PyResult<()> {
    let answers = answers(&rows, weights.as_ref(), n_leaves)?;
    if let Ok(out) = out.cast::<PyArray1<i32>>() {
        add(py, out, &answers)
    } else if let Ok(out) = out.cast::<PyArray1<i64>>() {
        add(py, out, &answers)
    } else if let Ok(out) = out.cast::<PyArray1<f64>>() {
        add(py, out, &answers)
    } else {
        Err(to_py(Error::Argument("sums must be a 1-dimensional array of float64, int64 or int32".into())))
    }
}

fn add<T: Sums>(py: Python<'_>, out: &Bound<'_, PyArray1<T>>, answers: &AnyComparisons<'_>) -> PyResult<()> {
    let mut out = out.try_readwrite()?;
    let out = out.as_slice_mut()?;
    callbacks::run(py, answers.len() > LONG, None, |monitor: &Monitor| T::adds(answers, out, Some(monitor)))
}

/// The starts of the buckets, the codes and the weights of `ordhc::bindings::Additions`.
type Additions<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);
type ReadAdditions<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>);

#[pyfunction]
pub(crate) fn sorted_additions<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
) -> PyResult<Additions<'py>> {
    let answers = answers(&rows, weights.as_ref(), n_leaves)?;
    let work = |monitor: &Monitor| answers.sorted_additions(Some(monitor));
    let found = callbacks::run(py, answers.len() > LONG, None, work)?;
    let starts = found.starts.iter().map(|&start| start as u64).collect();
    Ok((PyArray1::from_vec(py, starts), PyArray1::from_vec(py, found.codes), PyArray1::from_vec(py, found.weights)))
}

#[pyfunction]
pub(crate) fn add_sorted<'py>(
    py: Python<'py>,
    out: &Bound<'py, PyAny>,
    parts: Vec<ReadAdditions<'py>>,
) -> PyResult<()> {
    let starts: Vec<Vec<usize>> = parts
        .iter()
        .map(|(starts, ..)| Ok(starts.as_slice()?.iter().map(|&start| start as usize).collect()))
        .collect::<PyResult<_>>()?;
    if let Ok(out) = out.cast::<PyArray1<f64>>() {
        let views = parts.iter().zip(&starts).map(|((_, codes, weights), starts)| {
            Ok(AdditionsView { starts, codes: codes.as_slice()?, weights: weights.as_slice()? })
        });
        return make(py, out, &views.collect::<PyResult<Vec<_>>>()?, add_sorted_f64);
    }
    if parts.iter().any(|(.., weights)| weights.len() > 0) {
        return Err(to_py(Error::Argument("sums of weighted comparisons must be float64".into())));
    }
    if let Ok(out) = out.cast::<PyArray1<i32>>() {
        make(py, out, &unweighted(&parts, &starts)?, add_sorted_i32)
    } else {
        make(py, out.cast::<PyArray1<i64>>()?, &unweighted(&parts, &starts)?, add_sorted_i64)
    }
}

fn unweighted<'a, T>(parts: &'a [ReadAdditions<'_>], starts: &'a [Vec<usize>]) -> PyResult<Vec<AdditionsView<'a, T>>> {
    let views = parts.iter().zip(starts);
    views.map(|((_, codes, _), starts)| Ok(AdditionsView { starts, codes: codes.as_slice()?, weights: &[] })).collect()
}

fn make<T: numpy::Element>(
    py: Python<'_>,
    out: &Bound<'_, PyArray1<T>>,
    parts: &[AdditionsView<'_, T>],
    add_sorted: fn(&[AdditionsView<'_, T>], &mut [T]) -> ordhc::Result<()>,
) -> PyResult<()> {
    let mut out = out.try_readwrite()?;
    let out = out.as_slice_mut()?;
    py.detach(|| add_sorted(parts, out)).map_err(to_py)
}

type Run<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f64>>);

fn arrays(py: Python<'_>, run: ordhc::bindings::Run) -> Run<'_> {
    (PyArray1::from_vec(py, run.keys), PyArray1::from_vec(py, run.values))
}

/// Returns the pairs (i, j) of leaves in comparisons, each as the integer `i 2^32 + j`, in ascending order. Also
/// returns the number to add to the similarity of each pair.
#[pyfunction]
pub(crate) fn pair_run<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    both: bool,
    sum: bool,
) -> PyResult<Run<'py>> {
    let answers = answers(&rows, weights.as_ref(), n_leaves)?;
    let options = RunOptions { both, sum };
    let work = |monitor: &Monitor| answers.sorted_run(options, Some(monitor));
    callbacks::run(py, answers.len() > LONG, None, work).map(|run| arrays(py, run))
}

/// Merges several results of `pair_run`: sorted integers that encode pairs of leaves, and the numbers to add to their
/// similarities. Numbers for the same pair are added up in the order of `runs`.
#[pyfunction]
pub(crate) fn merged_runs<'py>(
    py: Python<'py>,
    runs: Vec<(PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, f64>)>,
) -> PyResult<Run<'py>> {
    let mut slices = Vec::with_capacity(runs.len());
    for (keys, values) in &runs {
        let (keys, values) = (keys.as_slice()?, values.as_slice()?);
        if keys.len() != values.len() {
            return Err(to_py(Error::Argument(format!("{} keys and {} values", keys.len(), values.len()))));
        }
        slices.push((keys, values));
    }
    let len: usize = slices.iter().map(|(keys, _)| keys.len()).sum();
    callbacks::run(py, len > LONG, None, |monitor| merge_runs(&slices, Some(monitor))).map(|run| arrays(py, run))
}

/// Adds to `sums`, for each leaf, the hash of the comparisons about the leaf. `keys` has the
/// present hash of each leaf. Weights are divided by `unit` before they are rounded: `unit` is 1 if
/// all weights are integers, and otherwise the largest weight.
#[pyfunction]
pub(crate) fn canonical_sums<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    unit: f64,
    keys: PyReadonlyArray1<'py, u64>,
    sums: &Bound<'py, PyArray1<u64>>,
) -> PyResult<()> {
    let keys = keys.as_slice()?;
    let answers = answers(&rows, weights.as_ref(), keys.len())?;
    let mut sums = sums.try_readwrite()?;
    let sums = sums.as_slice_mut()?;
    if sums.len() != keys.len() {
        return Err(to_py(Error::Argument(format!("{} sums for {} leaves", sums.len(), keys.len()))));
    }
    py.detach(|| answers.add_to_sums(unit, keys, sums));
    Ok(())
}

/// Returns new hashes of the leaves, computed from the hashes `keys` and the results `sums` of
/// `canonical_sums`. Returns `None` if the new hashes do not distinguish more leaves than `keys`.
#[pyfunction]
pub(crate) fn canonical_keys<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray1<'py, u64>,
    sums: PyReadonlyArray1<'py, u64>,
) -> PyResult<Option<Bound<'py, PyArray1<u64>>>> {
    let next = ordhc::bindings::next_keys(keys.as_slice()?, sums.as_slice()?);
    Ok(next.map(|keys| PyArray1::from_vec(py, keys)))
}

#[pyfunction]
pub(crate) fn limit_threads(limit: Option<usize>) -> Option<usize> {
    ordhc::limit_threads(limit)
}

#[pyfunction]
pub(crate) fn n_threads() -> usize {
    ordhc::bindings::n_threads()
}
