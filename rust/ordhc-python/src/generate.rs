//! Generated data whose right answer is known.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use ordhc::generate::{Planted, PlantedModel};
use pyo3::prelude::*;

use crate::callbacks;
use crate::error::to_py;

type Similarities<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>);
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
        draw(py, &model, n_comparisons, progress, ordhc::bindings::planted_quadruplets)
    } else {
        draw(py, &model, n_comparisons, progress, ordhc::bindings::planted_triplets)
    }
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the parameters of the model, by name in Python")]
pub(crate) fn planted_similarities(
    py: Python<'_>,
    levels: u32,
    leaves_per_cluster: usize,
    mu: f64,
    delta: f64,
    sigma: f64,
    permute: bool,
    seed: u64,
) -> PyResult<Similarities<'_>> {
    let model = PlantedModel { levels, leaves_per_cluster, mu, delta, sigma, flip: 0.0, permute, seed };
    let (similarities, labels) = py.detach(|| ordhc::bindings::planted_similarities(&model)).map_err(to_py)?;
    let n = labels.len();
    Ok((PyArray1::from_vec(py, similarities).reshape([n, n])?, labels_to_py(py, &model, labels)?))
}

fn labels_to_py<'py>(
    py: Python<'py>,
    model: &PlantedModel,
    labels: Vec<Vec<u32>>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let n = labels.len();
    let labels: Vec<i64> = labels.into_iter().flatten().map(i64::from).collect();
    PyArray1::from_vec(py, labels).reshape([n, model.levels as usize])
}

fn draw<'py, const K: usize>(
    py: Python<'py>,
    model: &PlantedModel,
    n_comparisons: usize,
    progress: Option<&Bound<'py, PyAny>>,
    drawn: fn(&PlantedModel, usize, Option<&ordhc::Monitor>) -> ordhc::Result<Planted<K>>,
) -> PyResult<Drawn<'py>> {
    let long = n_comparisons > 1 << 18;
    let planted = callbacks::run(py, long, progress, |monitor| drawn(model, n_comparisons, Some(monitor)))?;
    let m = planted.rows.len();
    let rows = PyArray1::from_vec(py, planted.rows.into_flattened()).reshape([m, K])?;
    Ok((rows, labels_to_py(py, model, planted.labels)?))
}
