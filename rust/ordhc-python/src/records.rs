//! Rows of a table, from the bytes of an SQLite file.

use std::sync::{Mutex, PoisonError};

use numpy::PyArray1;
use ordhc::records::{self, Cells, Column};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Rows, some at a time.
#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Records {
    data: Py<PyBytes>,
    inner: Mutex<records::Records>,
}

#[pymethods]
impl Records {
    /// The table that begins at a page; its columns are w(hole), r(eal) or t(ext). None if the bytes are not what SQLite
    /// writes.
    #[staticmethod]
    fn open(py: Python<'_>, data: Py<PyBytes>, root: u32, columns: &str) -> Option<Self> {
        let kind = |letter| match letter {
            'r' => Cells::Real,
            't' => Cells::Text,
            _ => Cells::Whole,
        };
        let kinds: Vec<Cells> = columns.chars().map(kind).collect();
        let bytes = data.as_bytes(py);
        let inner = py.detach(|| records::Records::new(bytes, root, &kinds))?;
        Some(Self { inner: Mutex::new(inner), data })
    }

    /// About so many rows more: an array for each column, empty ones at the end. None if some are not what SQLite writes.
    fn take<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        let bytes = self.data.as_bytes(py);
        let found = py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).take(bytes, most));
        let Some(columns) = found else { return Ok(None) };
        let list = PyList::empty(py);
        for column in columns {
            match column {
                Column::Whole(values) => list.append(PyArray1::from_vec(py, values))?,
                Column::Real(values) => list.append(PyArray1::from_vec(py, values))?,
                Column::Text(values) => list.append(PyArray1::from_vec(py, values))?,
                _ => {}
            }
        }
        Ok(Some(list))
    }

    /// The texts of columns of text, by number.
    #[getter]
    fn texts(&self) -> Vec<String> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).texts().to_vec()
    }
}
