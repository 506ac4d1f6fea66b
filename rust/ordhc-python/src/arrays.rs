//! Borrows NumPy arrays as slices, and creates new arrays.

use numpy::ndarray::Dimension;
use numpy::{
    BorrowError, Element, PyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray, PyReadwriteArrayDyn,
    PyUntypedArray, PyUntypedArrayMethods,
};
use ordhc::agglomerate::{Layout, Values};
use ordhc::{Error, Kind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::to_py;

/// Loads the parts of NumPy that the bindings need. Otherwise, these parts are loaded when the first array is created.
/// Loading runs Python code, so Ctrl-C at that moment would cause a panic.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    let array = PyArray1::<f64>::zeros(py, 1, false);
    drop(array.try_readonly()?);
    drop(array.try_readwrite()?);
    Ok(())
}

/// Returns `None` unless `values` is an array with numbers of type `T` and with `D` dimensions.
pub(crate) fn read<'py, T: Element, D: Dimension>(
    values: &Bound<'py, PyAny>,
) -> Option<PyResult<PyReadonlyArray<'py, T, D>>> {
    values.cast::<PyArray<T, D>>().ok().map(|array| array.try_readonly().map_err(taken))
}

/// Defines an enum of arrays, with one variant for each accepted dtype. The dtype of an array selects its variant. An
/// array that is borrowed for writing elsewhere is an error.
macro_rules! array_of {
    ($(#[$doc:meta])* $name:ident, $array:ident, $needed:literal, $($variant:ident($value:ty)),+) => {
        $(#[$doc])*
        pub(crate) enum $name<'py> {
            $($variant(numpy::$array<'py, $value>)),+
        }

        impl<'py> pyo3::FromPyObject<'_, 'py> for $name<'py> {
            type Error = pyo3::PyErr;

            fn extract(values: pyo3::Borrowed<'_, 'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                $(if let Some(array) = $crate::arrays::read(&values) {
                    return array.map(Self::$variant);
                })+
                Err($crate::arrays::unfit(&values, $needed))
            }
        }
    };
}
pub(crate) use array_of;

pub(crate) fn unfit(values: &Bound<'_, PyAny>, needed: &str) -> PyErr {
    let found = match values.cast::<PyUntypedArray>() {
        Ok(array) => format!("{}-dimensional {}", array.ndim(), array.dtype()),
        Err(_) => values.get_type().to_string(),
    };
    PyTypeError::new_err(format!("an array of {needed} is needed, not {found}"))
}

pub(crate) fn rows<'a, T: Element, const K: usize>(values: &'a [T], shape: &[usize]) -> PyResult<&'a [[T; K]]> {
    if shape.len() != 2 || shape[1] != K {
        return Err(to_py(Error::Argument(format!("rows of {K} leaves are needed, not an array of shape {shape:?}"))));
    }
    Ok(values.as_chunks::<K>().0)
}

array_of! {
    AnyMatrix, PyReadonlyArrayDyn, "float64, float32, int64 or int32", F64(f64), F32(f32), I64(i64), I32(i32)
}

impl AnyMatrix<'_> {
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

fn taken(_: BorrowError) -> PyErr {
    to_py(Error::Argument(
        "the array is in use by another call that overwrites it, or would be overwritten while it is read: \
         wait for that call, or give it a copy"
            .into(),
    ))
}

pub(crate) fn kind(dissimilarity: bool) -> Kind {
    if dissimilarity { Kind::Dissimilarity } else { Kind::Similarity }
}

pub(crate) fn layout(shape: &[usize]) -> PyResult<Layout> {
    match shape {
        [_] => Ok(Layout::Condensed),
        [rows, columns] if rows == columns => Ok(Layout::Square),
        _ => Err(to_py(Error::Argument(format!(
            "an (n, n) matrix or a condensed vector of n(n-1)/2 values is needed, not shape {shape:?}"
        )))),
    }
}

/// Returns a matrix that a computation may overwrite, to save memory.
pub(crate) fn overwritten<'py>(values: &Bound<'py, PyAny>) -> PyResult<PyReadwriteArrayDyn<'py, f64>> {
    let needed = || to_py(Error::Argument("the matrix is overwritten: pass a writable array of float64".into()));
    let array = values.cast::<PyArrayDyn<f64>>().map_err(|_| needed())?;
    array.try_readwrite().map_err(|error| match error {
        BorrowError::AlreadyBorrowed => taken(error),
        _ => needed(),
    })
}

/// Returns a new array that `fill` has written, with the result of `fill`. The array is zero before. If memory is not
/// available, raises a memory error without allocating anything.
///
/// NumPy's allocator asks for huge pages, which make access to large arrays faster.
pub(crate) fn filled<'py, T: Element, R>(
    py: Python<'py>,
    what: &'static str,
    len: usize,
    fill: impl FnOnce(&mut [T]) -> PyResult<R>,
) -> PyResult<(Bound<'py, PyArray1<T>>, R)> {
    ordhc::memory::check(what, (len as u64).saturating_mul(size_of::<T>() as u64)).map_err(to_py)?;
    let array = py.import("numpy")?.call_method1("zeros", (len, T::get_dtype(py)))?;
    let array = array.cast_into::<PyArray1<T>>()?;
    let found = fill(array.readwrite().as_slice_mut()?)?;
    Ok((array, found))
}

#[pyfunction]
pub(crate) fn check_memory(what: &str, n_bytes: u64) -> PyResult<()> {
    ordhc::memory::check("it", n_bytes).map_err(|_| {
        let gib = n_bytes as f64 / f64::from(1 << 30);
        pyo3::exceptions::PyMemoryError::new_err(format!(
            "{what} needs {n_bytes} bytes ({gib:.1} GiB), more than can be allocated"
        ))
    })
}
