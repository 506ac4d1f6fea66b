//! Reports which mechanisms (algorithms and code paths) of the engine this process has run.

use std::collections::BTreeMap;

use pyo3::prelude::*;

/// Returns the name of each mechanism, and true if this process has run it.
#[pyfunction]
pub(crate) fn mechanisms() -> BTreeMap<&'static str, bool> {
    ordhc::entered::mechanisms().into_iter().collect()
}
