//! The linkage of ordhc-soft: a function that computes one row of similarities per merge.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the soft maximum of two rows of similarities, weighted by the sizes of the two clusters.
///
/// The similarity of the merged cluster is `log((n_i e^(a x) + n_j e^(a y)) / (n_i + n_j)) / a`, where a is the
/// sharpness. The limit of a = 0 is average linkage; the limit of large a is single linkage.
#[pyfunction]
fn soft_maximum<'py>(
    py: Python<'py>,
    row_i: PyReadonlyArray1<'py, f64>,
    row_j: PyReadonlyArray1<'py, f64>,
    n_i: f64,
    n_j: f64,
    sharpness: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    if !(sharpness > 0.0 && sharpness.is_finite()) {
        return Err(PyValueError::new_err(format!("sharpness is {sharpness}; it must be a positive number")));
    }
    let (share_i, share_j) = (n_i / (n_i + n_j), n_j / (n_i + n_j));
    let (row_i, row_j) = (row_i.as_array(), row_j.as_array());
    let merged = row_i.iter().zip(row_j).map(|(&x, &y)| {
        // Subtract the larger value first, so that the exponentials do not overflow.
        let most = x.max(y);
        let sum = share_i * (sharpness * (x - most)).exp() + share_j * (sharpness * (y - most)).exp();
        most + sum.ln() / sharpness
    });
    Ok(PyArray1::from_iter(py, merged))
}

/// The Python module `ordhc_soft._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(soft_maximum, module)?)
}
