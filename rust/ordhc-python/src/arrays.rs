//! NumPy arrays as slices, and new ones.

use numpy::{
    BorrowError, Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn,
    PyUntypedArrayMethods,
};
use ordhc::Error;
use ordhc::agglomerate::{Layout, Values};
use pyo3::prelude::*;

use crate::error::to_py;

/// The rows of an (m, K) array.
pub(crate) fn rows<'a, T: Element, const K: usize>(values: &'a [T], shape: &[usize]) -> PyResult<&'a [[T; K]]> {
    if shape.len() != 2 || shape[1] != K {
        return Err(to_py(Error::Shape(format!("rows of {K} leaves are needed, not an array of shape {shape:?}"))));
    }
    Ok(values.as_chunks::<K>().0)
}

/// A matrix of one of the types the engines read.
pub(crate) enum AnyMatrix<'py> {
    F64(PyReadonlyArrayDyn<'py, f64>),
    F32(PyReadonlyArrayDyn<'py, f32>),
    I64(PyReadonlyArrayDyn<'py, i64>),
    I32(PyReadonlyArrayDyn<'py, i32>),
}

impl<'py> AnyMatrix<'py> {
    pub(crate) fn of(values: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = values.cast::<PyArrayDyn<f64>>() {
            return array.try_readonly().map(Self::F64).map_err(taken);
        }
        if let Ok(array) = values.cast::<PyArrayDyn<f32>>() {
            return array.try_readonly().map(Self::F32).map_err(taken);
        }
        if let Ok(array) = values.cast::<PyArrayDyn<i64>>() {
            return array.try_readonly().map(Self::I64).map_err(taken);
        }
        match values.cast::<PyArrayDyn<i32>>() {
            Ok(array) => array.try_readonly().map(Self::I32).map_err(taken),
            Err(_) => Err(to_py(Error::Argument("an array of float64, float32, int64 or int32 is needed".into()))),
        }
    }

    pub(crate) fn layout(&self) -> PyResult<Layout> {
        let shape = match self {
            Self::F64(array) => array.shape(),
            Self::F32(array) => array.shape(),
            Self::I64(array) => array.shape(),
            Self::I32(array) => array.shape(),
        };
        layout(shape)
    }

    pub(crate) fn values(&self) -> PyResult<Values<'_>> {
        Ok(match self {
            Self::F64(array) => Values::F64(array.as_slice()?),
            Self::F32(array) => Values::F32(array.as_slice()?),
            Self::I64(array) => Values::I64(array.as_slice()?),
            Self::I32(array) => Values::I32(array.as_slice()?),
        })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F64(array) => array.len(),
            Self::F32(array) => array.len(),
            Self::I64(array) => array.len(),
            Self::I32(array) => array.len(),
        }
    }
}

/// Another thread works in the array, or reads it while this one wants to work in it.
fn taken(_: BorrowError) -> PyErr {
    to_py(Error::Argument(
        "the array is in use by another call that overwrites it, or would be overwritten while it is read: \
         wait for that call, or give it a copy"
            .into(),
    ))
}

fn layout(shape: &[usize]) -> PyResult<Layout> {
    match shape {
        [_] => Ok(Layout::Condensed),
        [rows, columns] if rows == columns => Ok(Layout::Square),
        _ => Err(to_py(Error::Shape(format!(
            "an (n, n) matrix or a condensed vector of n(n-1)/2 values is needed, not shape {shape:?}"
        )))),
    }
}

/// A matrix that is handed over.
pub(crate) struct Overwritten<'py>(PyReadwriteArrayDyn<'py, f64>);

impl<'py> Overwritten<'py> {
    pub(crate) fn of(values: &Bound<'py, PyAny>) -> PyResult<Self> {
        let needed = || to_py(Error::Argument("a writable array of float64 is needed to be overwritten".into()));
        let array = values.cast::<PyArrayDyn<f64>>().map_err(|_| needed())?;
        Ok(Self(array.try_readwrite().map_err(|error| match error {
            BorrowError::AlreadyBorrowed => taken(error),
            _ => needed(),
        })?))
    }

    pub(crate) fn layout(&self) -> PyResult<Layout> {
        layout(self.0.shape())
    }

    pub(crate) fn values(&mut self) -> PyResult<&mut [f64]> {
        Ok(self.0.as_slice_mut()?)
    }
}

/// A new zeroed array, or a memory error before anything is allocated.
///
/// NumPy's allocator asks for huge pages, which large arrays profit from.
pub(crate) fn zeros<'py, T: Element>(
    py: Python<'py>,
    what: &'static str,
    len: usize,
) -> PyResult<Bound<'py, PyArray1<T>>> {
    ordhc::memory::check(what, (len as u64).saturating_mul(size_of::<T>() as u64)).map_err(to_py)?;
    let array = py.import("numpy")?.call_method1("zeros", (len, T::get_dtype(py)))?;
    Ok(array.cast_into()?)
}

/// Raises a memory error before anything is allocated.
#[pyfunction]
pub(crate) fn check_memory(what: &str, n_bytes: u64) -> PyResult<()> {
    ordhc::memory::check("it", n_bytes).map_err(|_| {
        let gib = n_bytes as f64 / f64::from(1 << 30);
        pyo3::exceptions::PyMemoryError::new_err(format!(
            "{what} needs {n_bytes} bytes ({gib:.1} GiB), more than can be allocated"
        ))
    })
}
