//! Converts the crate's errors to Python exceptions.

use ordhc::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyUserWarning, PyValueError};
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

pyo3::create_exception!(
    ordhc._ordhc,
    InputError,
    PyValueError,
    "The input cannot be used. The message says where and why.

Attributes
----------
reason
    What is wrong, without the place.
row
    The row of the comparisons or of the matrix that the error is about, from 0; None if there is no such row.
line
    The line of the text that the error is about, from 1; None if there is no such line.
leaves
    The leaves that the error is about, as tuples of ids: triplets, pairs, the leaves of a row, or single leaves; None
    if there are no such leaves.
path
    The file that the error is about, as it is written in messages; None if there is no such file.

Examples
--------
>>> import ordhc
>>> try:
...     ordhc.Triplets([[0, 1, 2], [0, 1, 1]])
... except ordhc.errors.InputError as error:
...     error.row, error.leaves
(1, ((0, 1, 1),))
"
);

pyo3::create_exception!(
    ordhc._ordhc,
    OrdhcWarning,
    PyUserWarning,
    "A warning about something that was skipped or is uncertain."
);

pub(crate) fn to_py(error: Error) -> PyErr {
    Python::attach(|py| converted(py, &error, error.reason()))
}

/// With `names`, the message contains the names of leaves instead of their ids.
pub(crate) fn to_py_named(py: Python<'_>, error: &Error, names: Option<&Bound<'_, PyTuple>>) -> PyErr {
    let Some(names) = names else { return converted(py, error, error.reason()) };
    let name = |leaf: usize| names.get_item(leaf).map_or_else(|_| leaf.to_string(), |name| name.to_string());
    converted(py, error, error.named(name))
}

fn converted(py: Python<'_>, error: &Error, reason: String) -> PyErr {
    match error {
        Error::OutOfMemory { .. } => PyMemoryError::new_err(reason),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        _ => input_error(py, error, reason).map_or_else(|failure| failure, PyErr::from_value),
    }
}

fn input_error<'py>(py: Python<'py>, error: &Error, reason: String) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("row", error.row())?;
    fields.set_item("line", error.line())?;
    let groups = error.leaves();
    if !groups.is_empty() {
        let groups: Vec<_> = groups.iter().map(|group| PyTuple::new(py, group)).collect::<PyResult<_>>()?;
        fields.set_item("leaves", PyTuple::new(py, groups)?)?;
    }
    py.get_type::<InputError>().call((reason,), Some(&fields))
}

/// Adds the class of exceptions that Rust panics raise to the Python module. `ordhc.errors` converts such an exception
/// to an ordinary exception.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("InternalError", module.py().get_type::<PanicException>())
}

#[pyfunction]
pub(crate) fn panic(message: &str) {
    panic!("{message}");
}
