//! Linkages and agglomeration.

use std::collections::BTreeMap;

use numpy::PyReadonlyArray1;
use ordhc::Error;
use ordhc::agglomerate::{Engine, Matrix, agglomerate_with_rows};
use ordhc::linkage::{LanceWilliams, Rule};
use ordhc::tree::Partition;
use pyo3::prelude::*;

use crate::arrays::{AnyMatrix, Overwritten};
use crate::callbacks;
use crate::error::to_py;
use crate::tree::Dendrogram;

#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Linkage(Kind);

enum Kind {
    Rule(Rule),
    RowUpdate(Py<PyAny>),
}

#[pymethods]
impl Linkage {
    #[staticmethod]
    fn native(name: &str) -> PyResult<Self> {
        Ok(Self(Kind::Rule(Rule::from_name(name).map_err(to_py)?)))
    }

    #[staticmethod]
    #[pyo3(signature = (alpha, beta, gamma, parameters, *, reducible, squared))]
    fn coefficients(
        alpha: &str,
        beta: &str,
        gamma: &str,
        parameters: BTreeMap<String, f64>,
        reducible: bool,
        squared: bool,
    ) -> PyResult<Self> {
        let parameters: Vec<(&str, f64)> = parameters.iter().map(|(name, &value)| (name.as_str(), value)).collect();
        let coefficients = LanceWilliams::new(alpha, beta, gamma, &parameters).map_err(to_py)?;
        Ok(Self(Kind::Rule(Rule::Coefficients(coefficients.reducible(reducible).squared(squared)))))
    }

    #[staticmethod]
    fn update_row(callback: Py<PyAny>) -> Self {
        Self(Kind::RowUpdate(callback))
    }

    #[staticmethod]
    fn native_names() -> Vec<&'static str> {
        Rule::NAMES.to_vec()
    }
}

impl Linkage {
    /// The rule, where there is one.
    pub(crate) fn rule(&self) -> Option<&Rule> {
        match &self.0 {
            Kind::Rule(rule) => Some(rule),
            Kind::RowUpdate(_) => None,
        }
    }
}

/// Initial clusters from labels.
pub(crate) fn partition(labels: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Option<Partition>> {
    labels.map(|labels| Partition::new(labels.as_slice()?).map_err(to_py)).transpose()
}

/// From this many values on, the work (some tens of milliseconds) runs on a thread of its own.
const LONG: usize = 1 << 21;

#[pyfunction]
#[pyo3(signature = (values, linkage, dissimilarity, engine, initial, progress, overwrite = false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn agglomerate(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    linkage: &Bound<'_, Linkage>,
    dissimilarity: bool,
    engine: &str,
    initial: Option<PyReadonlyArray1<'_, i64>>,
    progress: Option<Bound<'_, PyAny>>,
    overwrite: bool,
) -> PyResult<Dendrogram> {
    let engine = Engine::from_name(engine).map_err(to_py)?;
    let initial = partition(initial)?;
    if let (Kind::Rule(rule), true) = (&linkage.get().0, overwrite) {
        let mut array = Overwritten::of(values)?;
        let layout = array.layout()?;
        let values = array.values()?;
        let long = values.len() > LONG;
        let tree = callbacks::run(py, long, progress.as_ref(), |monitor| {
            let matrix = (values, layout, dissimilarity);
            ordhc::agglomerate::agglomerate_in_place(matrix, rule, engine, initial.as_ref(), monitor)
        })?;
        return Ok(Dendrogram::from(tree));
    }
    let array = values.extract::<AnyMatrix<'_>>()?;
    let layout = array.layout()?;
    let values = array.values()?;
    let tree = match &linkage.get().0 {
        Kind::Rule(rule) => {
            let long = array.len() > LONG;
            callbacks::run(py, long, progress.as_ref(), |monitor| {
                let matrix = Matrix::new(values, layout, dissimilarity)?;
                ordhc::agglomerate::agglomerate_from(&matrix, rule, engine, initial.as_ref(), monitor)
            })?
        }
        Kind::RowUpdate(callback) => {
            let matrix = Matrix::new(values, layout, dissimilarity).map_err(to_py)?;
            let steps = matrix.n_leaves().saturating_sub(1).max(1);
            let mut failure = None;
            let mut done = 0;
            let result = agglomerate_with_rows(
                &matrix,
                |merge, out| {
                    done += 1;
                    if let Some(progress) = &progress
                        && done % 64 == 0
                        && let Err(error) = progress.call1((done as f64 / steps as f64,))
                    {
                        failure = Some(error);
                        return Err(Error::Interrupted);
                    }
                    callbacks::update_row(py, callback, &mut failure, &merge, out)
                },
                engine,
                initial.as_ref(),
                &ordhc::Monitor::new(),
            );
            match failure {
                Some(error) => return Err(error),
                None => result.map_err(to_py)?,
            }
        }
    };
    Ok(Dendrogram::from(tree))
}
