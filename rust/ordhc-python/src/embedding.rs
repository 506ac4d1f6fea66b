//! Losses of ordinal embeddings.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::Error;
use ordhc::embedding::Model;
use ordhc::similarity::condensed_len;
use pyo3::prelude::*;

use crate::arrays::filled;
use crate::callbacks;
use crate::comparison::{Rows, triplets};
use crate::error::to_py;

#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct EmbeddingLoss(ordhc::embedding::EmbeddingLoss);

#[pymethods]
impl EmbeddingLoss {
    #[new]
    fn new(
        py: Python<'_>,
        rows: Rows<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        n_leaves: usize,
        model: &str,
        parameter: Option<f64>,
    ) -> PyResult<Self> {
        let model = Model::named(model, parameter).map_err(to_py)?;
        let weights = weights.as_ref();
        let triplets = triplets(&rows, weights, n_leaves)?;
        py.detach(|| ordhc::embedding::EmbeddingLoss::new(&triplets, model)).map(Self).map_err(to_py)
    }

    #[getter]
    fn total_weight(&self) -> f64 {
        self.0.total_weight()
    }

    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(f64, Bound<'py, PyArray2<f64>>)> {
        let coordinates = self.coordinates(&points)?;
        let mut gradient = vec![0.0; coordinates.len()];
        let loss = py.detach(|| self.0.evaluate(coordinates, &mut gradient)).map_err(to_py)?;
        let gradient = PyArray1::from_vec(py, gradient).reshape([points.shape()[0], points.shape()[1]])?;
        Ok((loss, gradient))
    }

    /// Returns the loss of an embedding, given as an (n, d) array of points. Also returns the derivatives of the loss
    /// with respect to the squared distance of each pair of points, in condensed order.
    fn evaluate_pairs<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
        let coordinates = self.coordinates(&points)?;
        let (pairs, loss) = filled(py, "the derivatives of pairs", condensed_len(self.0.n_leaves()), |out| {
            py.detach(|| self.0.evaluate_pairs(coordinates, out)).map_err(to_py)
        })?;
        Ok((loss, pairs))
    }
}

impl EmbeddingLoss {
    fn coordinates<'a>(&self, points: &'a PyReadonlyArray2<'_, f64>) -> PyResult<&'a [f64]> {
        let (found, n) = (points.shape()[0], self.0.n_leaves());
        if found != n {
            return Err(to_py(Error::Length { what: "points", found, of: "leaves", expected: n }));
        }
        Ok(points.as_slice()?)
    }
}

#[pyfunction]
pub(crate) fn expected_adds3<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    model: &str,
    parameter: Option<f64>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let model = Model::named(model, parameter).map_err(to_py)?;
    let (n, coordinates) = (points.shape()[0], points.as_slice()?);
    if n == 0 {
        return Err(to_py(Error::Argument("there are no points".into())));
    }
    let pairs = callbacks::run(py, n > 300, progress.as_ref(), |monitor| {
        ordhc::bindings::expected_adds3(coordinates, n, model, Some(monitor))
    })?;
    Ok(PyArray1::from_vec(py, pairs))
}
