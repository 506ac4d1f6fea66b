//! Data with a known answer.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use ordhc::generate::PlantedModel;
use pyo3::prelude::*;

use crate::callbacks;

type Drawn<'py> = (Bound<'py, PyArray2<i32>>, Bound<'py, PyArray2<i64>>);

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the parameters of the model, by name in Python")]
pub(crate) fn planted<'py>(
    py: Python<'py>,
    levels: u32,
    leaves_per_cluster: usize,
    mu: f64,
    delta: f64,
    sigma: f64,
    n_comparisons: usize,
    flip: f64,
    quadruplets: bool,
    permute: bool,
    seed: u64,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Drawn<'py>> {
    let model = PlantedModel { levels, leaves_per_cluster, mu, delta, sigma, flip, permute, seed };
    let progress = progress.as_ref();
    if quadruplets {
        draw::<4>(py, &model, n_comparisons, progress)
    } else {
        draw::<3>(py, &model, n_comparisons, progress)
    }
}

fn draw<'py, const K: usize>(
    py: Python<'py>,
    model: &PlantedModel,
    n_comparisons: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Drawn<'py>> {
    let long = n_comparisons > 1 << 18;
    let planted = callbacks::run(py, long, progress, |monitor| model.draw::<K>(n_comparisons, Some(monitor)))?;
    let (m, n) = (planted.rows.len(), planted.labels.len());
    let rows = PyArray1::from_vec(py, planted.rows.into_flattened()).reshape([m, K])?;
    let labels: Vec<i64> = planted.labels.into_iter().flatten().map(i64::from).collect();
    Ok((rows, PyArray1::from_vec(py, labels).reshape([n, model.levels as usize])?))
}
