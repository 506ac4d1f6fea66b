//! Reports which mechanisms of the engine have been used (entered).

use std::collections::BTreeMap;

use pyo3::prelude::*;

/// Returns, for each mechanism by name, whether this process has entered it.
#[pyfunction]
pub(crate) fn mechanisms() -> BTreeMap<&'static str, bool> {
    ordhc::entered::mechanisms().into_iter().collect()
}
