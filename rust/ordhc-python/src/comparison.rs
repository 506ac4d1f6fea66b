//! Comparisons that are read from arrays and checked.

use std::borrow::Cow;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use ordhc::bindings::{AnyComparisons, Ids};
use ordhc::comparison::{Comparisons, LeafRows, Quadruplets, Triplets};
use pyo3::prelude::*;

use crate::arrays::{array_of, rows};
use crate::error::to_py;

array_of! {
    Rows, PyReadonlyArray2, "uint8, uint16 or int32 in 2 dimensions", U8(u8), U16(u16), I32(i32)
}

impl Rows<'_> {
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Self::U8(rows) => rows.shape(),
            Self::U16(rows) => rows.shape(),
            Self::I32(rows) => rows.shape(),
        }
    }

    fn ids(&self) -> PyResult<Ids<'_>> {
        Ok(match self {
            Self::U8(rows) => Ids::U8(rows.as_slice()?),
            Self::U16(rows) => Ids::U16(rows.as_slice()?),
            Self::I32(rows) => Ids::I32(rows.as_slice()?),
        })
    }
}

/// Checks that rows have `K` leaf ids.
fn check_width<const K: usize>(shape: &[usize]) -> PyResult<()> {
    rows::<u8, K>(&[], shape).map(drop)
}

/// Returns the rows as triplets or as quadruplets, by the number of their columns.
pub(crate) fn answers<'a>(
    rows: &'a Rows<'_>,
    weights: Option<&'a PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
) -> PyResult<AnyComparisons<'a>> {
    if rows.shape()[1] == 3 {
        triplets(rows, weights, n_leaves).map(AnyComparisons::Three)
    } else {
        quadruplets(rows, weights, n_leaves).map(AnyComparisons::Four)
    }
}

array_of! {
    /// Rows of leaf ids. int64 rows are converted to int32, and the other types are read without a copy.
    Wide, PyReadonlyArray2, "uint8, uint16, int32 or int64 in 2 dimensions", U8(u8), U16(u16), I32(i32), I64(i64)
}

type Checked<'py> = (Option<Bound<'py, PyArray2<i32>>>, usize);

#[pyfunction]
pub(crate) fn check_triplets<'py>(py: Python<'py>, rows: Wide<'py>, n_leaves: Option<usize>) -> PyResult<Checked<'py>> {
    check(py, &rows, n_leaves, |ids, n_leaves| ids.triplets(n_leaves))
}

#[pyfunction]
pub(crate) fn check_quadruplets<'py>(
    py: Python<'py>,
    rows: Wide<'py>,
    n_leaves: Option<usize>,
) -> PyResult<Checked<'py>> {
    check(py, &rows, n_leaves, |ids, n_leaves| ids.quadruplets(n_leaves))
}

fn check<'py, const K: usize>(
    py: Python<'py>,
    array: &Wide<'py>,
    n_leaves: Option<usize>,
    comparisons: for<'a> fn(Ids<'a>, Option<usize>) -> ordhc::Result<Comparisons<'a, K>>,
) -> PyResult<Checked<'py>> {
    let (ids, shape) = match array {
        Wide::U8(array) => (Ids::U8(array.as_slice()?), array.shape()),
        Wide::U16(array) => (Ids::U16(array.as_slice()?), array.shape()),
        Wide::I32(array) => (Ids::I32(array.as_slice()?), array.shape()),
        Wide::I64(array) => (Ids::I64(array.as_slice()?), array.shape()),
    };
    check_width::<K>(shape)?;
    let checked = py.detach(|| comparisons(ids, n_leaves)).map_err(to_py)?;
    let (m, n_leaves) = (checked.len(), checked.n_leaves());
    Ok(match checked.into_rows() {
        LeafRows::I32(Cow::Owned(narrow)) => {
            (Some(PyArray1::from_vec(py, narrow.into_flattened()).reshape([m, K])?), n_leaves)
        }
        _ => (None, n_leaves),
    })
}

#[pyfunction]
pub(crate) fn answered<'py>(
    py: Python<'py>,
    values: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let seen = answers(&values, weights.as_ref(), n_leaves)?.answered();
    Ok(PyArray1::from_vec(py, seen))
}

pub(crate) fn triplets<'a>(
    rows: &'a Rows<'_>,
    weights: Option<&'a PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
) -> PyResult<Triplets<'a>> {
    check_width::<3>(rows.shape())?;
    weighted(rows.ids()?.triplets(Some(n_leaves)), weights)
}

pub(crate) fn quadruplets<'a>(
    rows: &'a Rows<'_>,
    weights: Option<&'a PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
) -> PyResult<Quadruplets<'a>> {
    check_width::<4>(rows.shape())?;
    weighted(rows.ids()?.quadruplets(Some(n_leaves)), weights)
}

fn weighted<'a, const K: usize>(
    comparisons: ordhc::Result<Comparisons<'a, K>>,
    weights: Option<&'a PyReadonlyArray1<'_, f64>>,
) -> PyResult<Comparisons<'a, K>> {
    let comparisons = comparisons.map_err(to_py)?;
    match weights {
        None => Ok(comparisons),
        Some(weights) => comparisons.with_weights(weights.as_slice()?).map_err(to_py),
    }
}

type Ends<'py> = Bound<'py, PyArray1<i64>>;
type Counts<'py> = Bound<'py, PyArray2<i64>>;

#[pyfunction]
pub(crate) fn index_rows<'py>(
    py: Python<'py>,
    values: Rows<'py>,
    n_leaves: usize,
) -> PyResult<(Ends<'py>, Bound<'py, PyArray1<u32>>)> {
    let answers = answers(&values, None, n_leaves)?;
    let (ends, rows) = py.detach(|| answers.index()).map_err(to_py)?;
    let ends = ends.into_iter().map(|end| end as i64).collect();
    Ok((PyArray1::from_vec(py, ends), PyArray1::from_vec(py, rows)))
}

/// Returns the (q, K) leaves of the distinct questions, and the (q, 2) counts of the two answers to each question.
#[pyfunction]
pub(crate) fn questions<'py>(
    py: Python<'py>,
    values: Rows<'py>,
    n_leaves: usize,
) -> PyResult<(Bound<'py, PyArray2<i32>>, Counts<'py>)> {
    let answers = answers(&values, None, n_leaves)?;
    let (width, leaves, counts) = py.detach(|| answers.questions());
    let m = counts.len() / 2;
    Ok((PyArray1::from_vec(py, leaves).reshape([m, width])?, PyArray1::from_vec(py, counts).reshape([m, 2])?))
}
