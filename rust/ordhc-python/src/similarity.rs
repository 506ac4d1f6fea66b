//! Similarities from comparisons.

use std::sync::Mutex;

use numpy::{
    Element, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use ordhc::agglomerate::Layout;
use ordhc::bindings::{
    AnyComparisons, square_f32, square_f32_of_i32, square_f64, square_f64_of_i32, square_i32, square_i64,
    square_i64_of_i32,
};
use ordhc::similarity::{Cell, Kernel, Normalization, condensed_len};
use ordhc::{Error, Monitor, memory};
use pyo3::prelude::*;

use crate::arrays::{filled, rows};
use crate::callbacks;
use crate::comparison::{Rows, answers, quadruplets, triplets};
use crate::error::to_py;

#[pyfunction]
#[pyo3(signature = (rows, weights, n_leaves, layout, dtype, progress))]
pub(crate) fn adds<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    layout: &str,
    dtype: &str,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let square = layout.parse::<Layout>().map_err(to_py)? == Layout::Square;
    let weights = weights.as_ref();
    let answers = answers(&rows, weights, n_leaves)?;
    by_type(py, &answers, n_leaves, square, dtype, progress.as_ref())
}

fn by_type<'py>(
    py: Python<'py>,
    answers: &AnyComparisons<'_>,
    n_leaves: usize,
    square: bool,
    dtype: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    // Counts of comparisons are small integers. They fit in a matrix of `i32`, which needs less of the cache.
    let counts = answers.weights().is_none() && answers.len() as u64 <= i32::MOST;
    match (dtype, counts) {
        ("float64", true) => build(py, answers, n_leaves, square, progress, square_f64_of_i32),
        ("float64", false) => build(py, answers, n_leaves, square, progress, square_f64),
        ("float32", true) => build(py, answers, n_leaves, square, progress, square_f32_of_i32),
        ("float32", false) => build(py, answers, n_leaves, square, progress, square_f32),
        ("int64", true) => build(py, answers, n_leaves, square, progress, square_i64_of_i32),
        ("int64", false) => build(py, answers, n_leaves, square, progress, square_i64),
        ("int32", _) => build(py, answers, n_leaves, square, progress, square_i32),
        _ => Err(to_py(Error::Argument(format!("dtype `{dtype}` is not float64, float32, int64 or int32")))),
    }
}

/// A type of sums of comparisons.
pub(crate) trait Sums: Cell + Element {
    fn adds(answers: &AnyComparisons<'_>, out: &mut [Self], monitor: Option<&Monitor>) -> ordhc::Result<()>;
}

macro_rules! sums {
    ($($type:ty: $adds:ident),+) => {$(
        impl Sums for $type {
            fn adds(answers: &AnyComparisons<'_>, out: &mut [Self], monitor: Option<&Monitor>) -> ordhc::Result<()> {
                answers.$adds(out, monitor)
            }
        }
    )+};
}

sums!(i32: adds_i32, i64: adds_i64, f64: adds_f64);

fn build<'py, T: Element + Copy + Default + Send, C: Sums>(
    py: Python<'py>,
    answers: &AnyComparisons<'_>,
    n: usize,
    square: bool,
    progress: Option<&Bound<'py, PyAny>>,
    to_square: fn(&[C], &mut [T]) -> ordhc::Result<()>,
) -> PyResult<Bound<'py, PyAny>> {
    let pairs = condensed_len(n);
    let long = answers.len() > 1 << 20 || n > 3000;
    let add = |out: &mut [C], monitor: &Monitor| C::adds(answers, out, Some(monitor));
    if square {
        let (result, ()) = filled::<T, _>(py, "the similarity matrix", n * n, |out| {
            let (_, ()) = filled(py, "the similarities", pairs, |counted| {
                callbacks::run(py, long, progress, |monitor| {
                    add(counted, monitor)?;
                    to_square(counted, out)
                })
            })?;
            Ok(())
        })?;
        return Ok(result.reshape([n, n])?.into_any());
    }
    let (result, ()) =
        filled(py, "the similarities", pairs, |out| callbacks::run(py, long, progress, |monitor| add(out, monitor)))?;
    if size_of::<T>() == size_of::<C>() && T::get_dtype(py).is_equiv_to(&C::get_dtype(py)) {
        return Ok(result.into_any());
    }
    memory::check("the similarities", (pairs as u64).saturating_mul(size_of::<T>() as u64)).map_err(to_py)?;
    result.call_method1("astype", (T::get_dtype(py),))
}

type Pairs<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

fn pairs<'py>(py: Python<'py>, kernel: Kernel) -> Pairs<'py> {
    (PyArray1::from_vec(py, kernel.pairs), PyArray1::from_vec(py, kernel.diagonal))
}

#[pyfunction]
pub(crate) fn mulk3<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    normalize: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Pairs<'py>> {
    let triplets = triplets(&rows, weights.as_ref(), n_leaves)?;
    let long = triplets.len() > 1 << 14 || n_leaves > 3000;
    let normalization = if normalize { Normalization::ByAnswers } else { Normalization::Raw };
    let work = |monitor: &Monitor| ordhc::similarity::mulk3(&triplets, normalization, Some(monitor));
    callbacks::run(py, long, progress.as_ref(), work).map(|kernel| pairs(py, kernel))
}

#[pyfunction]
pub(crate) fn mulk4<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_leaves: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Pairs<'py>> {
    let quadruplets = quadruplets(&rows, weights.as_ref(), n_leaves)?;
    let long = quadruplets.len() > 1 << 14 || n_leaves > 3000;
    let work = |monitor: &Monitor| ordhc::similarity::mulk4(&quadruplets, Some(monitor));
    callbacks::run(py, long, progress.as_ref(), work).map(|kernel| pairs(py, kernel))
}

#[pyfunction]
pub(crate) fn square<'py>(
    py: Python<'py>,
    condensed: PyReadonlyArray1<'py, f64>,
    diagonal: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (condensed, diagonal) = (condensed.as_slice()?, diagonal.as_slice()?);
    let n = diagonal.len();
    let (result, ()) = filled(py, "the similarity matrix", n * n, |out| {
        py.detach(|| square_f64(condensed, out)).map_err(to_py)?;
        for (i, &value) in diagonal.iter().enumerate() {
            out[i * n + i] = value;
        }
        Ok(())
    })?;
    result.reshape([n, n])
}

#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct NearFarCounts {
    inner: Mutex<ordhc::bindings::NearFarCounts>,
    n_leaves: usize,
}

const BROKE: &str = "an earlier call broke";
type Columns<'py> = (Bound<'py, PyArray2<u32>>, Bound<'py, PyArray1<f64>>, f64);

#[pymethods]
impl NearFarCounts {
    #[new]
    fn new(n_leaves: usize, expected: usize) -> Self {
        Self { inner: Mutex::new(ordhc::bindings::NearFarCounts::new(n_leaves, expected)), n_leaves }
    }

    fn add<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let answers = &answers(&rows, weights.as_ref(), self.n_leaves)?;
        callbacks::run(py, answers.len() > 1 << 20, progress.as_ref(), |monitor| {
            let mut inner = self.inner.lock().expect(BROKE);
            answers.count(&mut inner, Some(monitor))
        })
    }

    fn merge(
        &self,
        py: Python<'_>,
        keys: PyReadonlyArray2<'_, u32>,
        weights: PyReadonlyArray1<'_, f64>,
        largest: f64,
    ) -> PyResult<()> {
        let (keys, weights) = (rows::<u32, 4>(keys.as_slice()?, keys.shape())?, weights.as_slice()?);
        callbacks::run(py, true, None, |_| {
            let other = ordhc::bindings::NearFarCounts::from_columns(self.n_leaves, keys, weights, largest)?;
            self.inner.lock().expect(BROKE).merge(&other)
        })
    }

    /// Returns a (k, 4) array with the leaves of the near and the far pair in each row, the (k,) weights of the rows,
    /// and the largest weight of a comparison.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Columns<'py>> {
        let (keys, weights, largest) = py.detach(|| self.inner.lock().expect(BROKE).columns()).map_err(to_py)?;
        let k = keys.len();
        let keys = PyArray1::from_vec(py, keys.into_flattened()).reshape([k, 4])?;
        Ok((keys, PyArray1::from_vec(py, weights), largest))
    }

    fn total(&self) -> f64 {
        self.inner.lock().expect(BROKE).total()
    }

    fn lengths<'py>(
        &self,
        py: Python<'py>,
        unit: f64,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let work = |monitor: &Monitor| self.inner.lock().expect(BROKE).lengths(unit, Some(monitor));
        callbacks::run(py, true, progress.as_ref(), work).map(|lengths| PyArray1::from_vec(py, lengths))
    }
}

#[pyfunction]
pub(crate) fn weights_less_lengths<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    lengths: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let lengths = lengths.as_slice()?;
    let answers = &answers(&rows, weights.as_ref(), lengths.len())?;
    let found = py.detach(|| answers.weights_less_lengths(lengths)).map_err(to_py)?;
    Ok(PyArray1::from_vec(py, found))
}
