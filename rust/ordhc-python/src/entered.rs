//! Reports which mechanisms (algorithms and code paths) of the engine this process has run.

use std::collections::BTreeMap;

use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn mechanisms() -> BTreeMap<&'static str, bool> {
    ordhc::entered::mechanisms().into_iter().collect()
}
