//! Comparisons that are read from arrays and checked.

use std::borrow::Cow;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use ordhc::Error;
use ordhc::bindings::index_parts;
use ordhc::comparison::{Comparisons, Index, LeafRows, Quadruplets, Triplets};
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
}

pub(crate) enum Answers<'a> {
    Three(Triplets<'a>),
    Four(Quadruplets<'a>),
}

impl<'a> Answers<'a> {
    pub(crate) fn of(
        rows: &'a Rows<'_>,
        weights: Option<&'a PyReadonlyArray1<'_, f64>>,
        n_leaves: usize,
    ) -> PyResult<Self> {
        if rows.shape()[1] == 3 {
            comparisons(rows, weights, n_leaves).map(Self::Three)
        } else {
            comparisons(rows, weights, n_leaves).map(Self::Four)
        }
    }

    pub(crate) fn len(&self) -> usize {
        with!(self, answers => answers.len())
    }

    pub(crate) fn weights(&self) -> Option<&[f64]> {
        with!(self, answers => answers.weights())
    }
}

/// Evaluates an expression for triplets or for quadruplets. All code of the expression is compiled twice.
macro_rules! with {
    ($any:expr, $answers:ident => $value:expr) => {
        match $any {
            $crate::comparison::Answers::Three($answers) => $value,
            $crate::comparison::Answers::Four($answers) => $value,
        }
    };
}
pub(crate) use with;

array_of! {
    /// Rows of leaf ids. int64 rows are converted to int32, and the other types are read without a copy.
    Wide, PyReadonlyArray2, "uint8, uint16, int32 or int64 in 2 dimensions", U8(u8), U16(u16), I32(i32), I64(i64)
}

type Checked<'py> = (Option<Bound<'py, PyArray2<i32>>>, usize);

#[pyfunction]
pub(crate) fn check_triplets<'py>(py: Python<'py>, rows: Wide<'py>, n_leaves: Option<usize>) -> PyResult<Checked<'py>> {
    check::<3>(py, &rows, n_leaves)
}

#[pyfunction]
pub(crate) fn check_quadruplets<'py>(
    py: Python<'py>,
    rows: Wide<'py>,
    n_leaves: Option<usize>,
) -> PyResult<Checked<'py>> {
    check::<4>(py, &rows, n_leaves)
}

fn check<'py, const K: usize>(py: Python<'py>, array: &Wide<'py>, n_leaves: Option<usize>) -> PyResult<Checked<'py>> {
    let checked = match array {
        Wide::U8(array) => checked(py, rows(array.as_slice()?, array.shape())?, n_leaves)?,
        Wide::U16(array) => checked(py, rows(array.as_slice()?, array.shape())?, n_leaves)?,
        Wide::I32(array) => checked(py, rows(array.as_slice()?, array.shape())?, n_leaves)?,
        Wide::I64(array) => checked(py, rows::<i64, K>(array.as_slice()?, array.shape())?, n_leaves)?,
    };
    let (m, n_leaves) = (checked.len(), checked.n_leaves());
    Ok(match checked.into_rows() {
        LeafRows::I32(Cow::Owned(narrow)) => {
            (Some(PyArray1::from_vec(py, narrow.into_flattened()).reshape([m, K])?), n_leaves)
        }
        _ => (None, n_leaves),
    })
}

fn checked<'a, const K: usize>(
    py: Python<'_>,
    rows: impl TryInto<LeafRows<'a, K>, Error = Error> + Send,
    n_leaves: Option<usize>,
) -> PyResult<Comparisons<'a, K>> {
    py.detach(|| Comparisons::new(rows, n_leaves)).map_err(to_py)
}

#[pyfunction]
pub(crate) fn answered<'py>(
    py: Python<'py>,
    values: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    const ROWS: usize = 1 << 10;
    let answers = Answers::of(&values, weights.as_ref(), n_leaves)?;
    let seen = with!(&answers, answers => {
        let mut seen = vec![false; n_leaves];
        for start in (0..answers.len()).step_by(ROWS) {
            for at in start..(start + ROWS).min(answers.len()) {
                if answers.weights().is_none_or(|weights| weights[at] > 0.0) {
                    answers.rows().row(at).iter().for_each(|&leaf| seen[leaf as usize] = true);
                }
            }
            if seen.iter().all(|&seen| seen) {
                break;
            }
        }
        seen
    });
    Ok(PyArray1::from_vec(py, seen))
}

pub(crate) fn comparisons<'a, const K: usize>(
    values: &'a Rows<'_>,
    weights: Option<&'a PyReadonlyArray1<'_, f64>>,
    n_leaves: usize,
) -> PyResult<Comparisons<'a, K>> {
    let comparisons = match values {
        Rows::U8(array) => Comparisons::new(rows(array.as_slice()?, array.shape())?, Some(n_leaves)),
        Rows::U16(array) => Comparisons::new(rows(array.as_slice()?, array.shape())?, Some(n_leaves)),
        Rows::I32(array) => Comparisons::new(rows(array.as_slice()?, array.shape())?, Some(n_leaves)),
    }
    .map_err(to_py)?;
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
    let answers = Answers::of(&values, None, n_leaves)?;
    let (ends, rows) = py.detach(|| with!(&answers, answers => Index::new(answers).map(index_parts))).map_err(to_py)?;
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
    let answers = Answers::of(&values, None, n_leaves)?;
    let (width, leaves, counts) = py.detach(|| {
        with!(&answers, answers => {
            let found = ordhc::bindings::questions(answers);
            let width = found.first().map_or(0, |(leaves, _)| leaves.len());
            let leaves: Vec<i32> = found.iter().flat_map(|(leaves, _)| leaves.iter().map(|&leaf| leaf as i32)).collect();
            let counts: Vec<i64> = found.iter().flat_map(|(_, counts)| counts.iter().map(|&count| count as i64)).collect();
            (width, leaves, counts)
        })
    });
    let m = counts.len() / 2;
    Ok((PyArray1::from_vec(py, leaves).reshape([m, width])?, PyArray1::from_vec(py, counts).reshape([m, 2])?))
}
