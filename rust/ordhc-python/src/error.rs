//! The one conversion of errors.

use ordhc::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyUserWarning, PyValueError};
use pyo3::panic::PanicException;
use pyo3::prelude::*;

pyo3::create_exception!(
    ordhc._ordhc,
    InputError,
    PyValueError,
    "Input that cannot be used; the message says where and why."
);

pyo3::create_exception!(
    ordhc._ordhc,
    OrdhcWarning,
    PyUserWarning,
    "Something was passed over that the user should know of."
);

pub(crate) fn to_py(error: Error) -> PyErr {
    match error {
        Error::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        _ => InputError::new_err(error.to_string()),
    }
}

/// What a panic is in Python: pyo3's exception, which `ordhc.errors` makes an ordinary one.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("InternalError", module.py().get_type::<PanicException>())
}

/// Panics, so that tests see what a panic becomes in Python.
#[pyfunction]
pub(crate) fn panic(message: &str) {
    panic!("{message}");
}
