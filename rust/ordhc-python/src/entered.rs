//! Reports which mechanisms have been entered.

use std::collections::BTreeMap;

use pyo3::prelude::*;

/// Returns all mechanisms by name, and whether this process has entered them.
#[pyfunction]
pub(crate) fn mechanisms() -> BTreeMap<&'static str, bool> {
    ordhc::entered::mechanisms().into_iter().collect()
}
