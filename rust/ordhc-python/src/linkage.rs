//! Linkages and agglomeration.

use std::collections::BTreeMap;

use numpy::{IxDyn, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::agglomerate::{Agglomeration, Constraints, Engine, Layout, Matrix, RowMerge, Values};
use ordhc::linkage::{LanceWilliams, Rule};
use ordhc::tree::Partition;
use ordhc::{Error, Monitor};
use pyo3::prelude::*;

use crate::arrays::{AnyMatrix, kind, layout, overwritten, read};
use crate::callbacks;
use crate::error::to_py;
use crate::tree::Tree;

#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Linkage(Form);

enum Form {
    Rule(Rule),
    RowUpdate(Py<PyAny>),
}

#[pymethods]
impl Linkage {
    #[staticmethod]
    fn native(name: &str) -> PyResult<Self> {
        Ok(Self(Form::Rule(name.parse::<Rule>().map_err(to_py)?)))
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
        Ok(Self(Form::Rule(Rule::Coefficients(coefficients.reducible(reducible).squared(squared)))))
    }

    #[staticmethod]
    fn update_row(callback: Py<PyAny>) -> Self {
        Self(Form::RowUpdate(callback))
    }

    #[staticmethod]
    fn native_names() -> Vec<&'static str> {
        Rule::NAMES.to_vec()
    }
}

impl Linkage {
    pub(crate) fn rule(&self) -> Option<&Rule> {
        match &self.0 {
            Form::Rule(rule) => Some(rule),
            Form::RowUpdate(_) => None,
        }
    }
}

pub(crate) fn partition(labels: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Option<Partition>> {
    labels.map(|labels| Partition::new(labels.as_slice()?).map_err(to_py)).transpose()
}

/// Maximum number of values for which the interpreter's lock is kept. For so few values, releasing the lock would take
/// longer than the work.
const QUICK: usize = 1 << 11;
const MANY: usize = 512 * 512;

/// Returns the tree of a small matrix, which must be a contiguous float64 array.
///
/// Returns `None` if the array is not such a matrix, if Python must check the dissimilarities, and after any error or
/// warning. Call `agglomerate` in these cases.
#[pyfunction]
pub(crate) fn agglomerate_few(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    linkage: &Bound<'_, Linkage>,
    dissimilarity: bool,
) -> PyResult<Option<Tree>> {
    let (Some(rule), Some(Ok(array))) = (linkage.get().rule(), read::<f64, IxDyn>(values)) else { return Ok(None) };
    let layout = match array.shape() {
        [_] => Layout::Condensed,
        [rows, columns] if rows == columns => Layout::Square,
        _ => return Ok(None),
    };
    let Ok(slice) = array.as_slice() else { return Ok(None) };
    if slice.len() > MANY {
        return Ok(None);
    }
    let work = || {
        let matrix = Matrix::new(Values::F64(slice), layout, kind(dissimilarity)).ok()?;
        // Python must check negative dissimilarities and the diagonal of a square matrix of dissimilarities. Only
        // `agglomerate` calls Python.
        if dissimilarity && (layout == Layout::Square || matrix.any_negative()) {
            return None;
        }
        let monitor = Monitor::new();
        let tree = Agglomeration::new(rule.clone()).monitor(&monitor).run(&matrix).ok()?;
        monitor.warning().is_none().then_some(tree)
    };
    let tree = if slice.len() <= QUICK { work() } else { py.detach(work) };
    Ok(tree.map(Tree::from))
}

/// Work on more values runs on a separate thread, because it takes some tenths of a second. A separate thread costs
/// some milliseconds.
const LONG: usize = 1 << 26;

/// Returns the tree of a matrix. The Python function `look` reports similarities that were passed as dissimilarities by
/// mistake.
#[pyfunction]
#[pyo3(signature = (values, linkage, dissimilarity, engine, initial, progress, overwrite = false, look = None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of a Python function")]
pub(crate) fn agglomerate(
    py: Python<'_>,
    values: &Bound<'_, PyAny>,
    linkage: &Bound<'_, Linkage>,
    dissimilarity: bool,
    engine: &str,
    initial: Option<PyReadonlyArray1<'_, i64>>,
    progress: Option<Bound<'_, PyAny>>,
    overwrite: bool,
    look: Option<Bound<'_, PyAny>>,
) -> PyResult<Tree> {
    let engine = engine.parse::<Engine>().map_err(to_py)?;
    let initial = partition(initial)?;
    let initial = initial.as_ref();
    let by = |rule: &Rule| Agglomeration::new(rule.clone()).engine(engine).initial(initial);
    if let (Form::Rule(rule), true) = (&linkage.get().0, overwrite) {
        let mut array = overwritten(values)?;
        let layout = layout(array.shape())?;
        let values = array.as_slice_mut()?;
        let long = values.len() > LONG;
        let tree = callbacks::run(py, long, progress.as_ref(), |monitor| {
            by(rule).monitor(monitor).run_in_place(values, layout, kind(dissimilarity))
        })?;
        return Ok(Tree::from(tree));
    }
    let array = values.extract::<AnyMatrix<'_>>()?;
    let layout = array.layout()?;
    let values = array.values()?;
    let long = array.len() > LONG;
    let matrix = callbacks::run(py, long, None, |_| Matrix::new(values, layout, kind(dissimilarity)))?;
    if let Some(look) = look
        && (matrix.any_negative() || layout == Layout::Square)
    {
        look.call1((matrix.any_negative(),))?;
    }
    let tree = match &linkage.get().0 {
        Form::Rule(rule) => {
            callbacks::run(py, long, progress.as_ref(), |monitor| by(rule).monitor(monitor).run(&matrix))?
        }
        Form::RowUpdate(callback) => {
            let steps = matrix.n_leaves().saturating_sub(1).max(1);
            let mut failure = None;
            let mut done = 0;
            let update = |merge: RowMerge<'_>, out: &mut [f64]| {
                done += 1;
                if let Some(progress) = &progress
                    && done % 64 == 0
                    && let Err(error) = progress.call1((done as f64 / steps as f64,))
                {
                    failure = Some(error);
                    return Err(Error::Interrupted);
                }
                callbacks::update_row(py, callback, &mut failure, &merge, out)
            };
            let result = Agglomeration::by_rows(update).engine(engine).initial(initial).run(&matrix);
            match failure {
                Some(error) => return Err(error),
                None => result.map_err(to_py)?,
            }
        }
    };
    Ok(Tree::from(tree))
}

/// Returns the tree of a matrix, in which leaf i counts as `sizes[i]` leaves. Each row of `apart` has two leaves whose
/// clusters must not merge while other clusters can merge.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the arguments of a Python function")]
pub(crate) fn agglomerate_constrained(
    py: Python<'_>,
    values: AnyMatrix<'_>,
    linkage: &Bound<'_, Linkage>,
    dissimilarity: bool,
    engine: &str,
    initial: Option<PyReadonlyArray1<'_, i64>>,
    sizes: Option<PyReadonlyArray1<'_, f64>>,
    apart: PyReadonlyArray2<'_, i64>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Tree> {
    let Some(rule) = linkage.get().rule() else {
        let message = "sizes= and cannot_link= do not work with a linkage that is a Python function: leave them out";
        return Err(to_py(Error::Argument(message.into())));
    };
    let (engine, initial) = (engine.parse::<Engine>().map_err(to_py)?, partition(initial)?);
    let layout = values.layout()?;
    let long = values.len() > LONG;
    let matrix = Matrix::new(values.values()?, layout, kind(dissimilarity)).map_err(to_py)?;
    let sizes = sizes.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let pairs: Vec<[usize; 2]> =
        apart.as_slice()?.as_chunks::<2>().0.iter().map(|pair| pair.map(|leaf| leaf as usize)).collect();
    let constraints = Constraints::new(matrix.n_leaves(), sizes, &pairs).map_err(to_py)?;
    let tree = callbacks::run(py, long, progress.as_ref(), |monitor| {
        let by = Agglomeration::new(rule.clone()).engine(engine).initial(initial.as_ref());
        by.constraints(&constraints).monitor(monitor).run(&matrix)
    })?;
    Ok(Tree::from(tree))
}
