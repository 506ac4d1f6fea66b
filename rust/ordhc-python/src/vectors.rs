//! Trees from vectors.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::Error;
use ordhc::bindings::{Csr, distances, gram_f32, gram_f32_of_f64, gram_f64, gram_f64_of_f32};
use ordhc::linkage::Rule;
use ordhc::similarity::condensed_len;
use ordhc::vectors::{
    Coordinates, Measure, Neighbors, Vectors, graph_linkage, mean_square_linkage, single_linkage, ward_linkage,
};
use pyo3::prelude::*;

use crate::arrays::{array_of, filled};
use crate::callbacks;
use crate::error::to_py;
use crate::linkage::partition;
use crate::tree::Tree;

array_of! {
    Dense, PyReadonlyArray2, "float64 or float32 in 2 dimensions", F64(f64), F32(f32)
}

impl Dense<'_> {
    fn shape(&self) -> [usize; 2] {
        let shape = match self {
            Self::F64(rows) => rows.shape(),
            Self::F32(rows) => rows.shape(),
        };
        [shape[0], shape[1]]
    }

    fn coordinates(&self) -> PyResult<Coordinates<'_>> {
        Ok(match self {
            Self::F64(rows) => Coordinates::from(rows.as_slice()?),
            Self::F32(rows) => Coordinates::from(rows.as_slice()?),
        })
    }
}

array_of! {
    Floats, PyReadonlyArray1, "float64 or float32 in 1 dimension", F64(f64), F32(f32)
}

/// Returns true if the distances between all pairs of `n` vectors with `p` coordinates take longer
/// than some tenths of a second.
fn is_long(n: usize, p: usize) -> bool {
    n.saturating_mul(n).saturating_mul(p) > 1 << 30
}

#[pyfunction]
pub(crate) fn mean_dot_linkage(
    py: Python<'_>,
    rows: Dense<'_>,
    scale: f64,
    initial: Option<PyReadonlyArray1<'_, i64>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Tree> {
    let initial = partition(initial)?;
    let initial = initial.as_ref();
    let ([n, p], values) = (rows.shape(), rows.coordinates()?);
    let tree = callbacks::run(py, is_long(n, p), progress.as_ref(), |monitor| {
        ordhc::vectors::mean_dot_linkage(&Vectors::new(values, n, p)?, scale, initial, Some(monitor))
    })?;
    Ok(tree.into())
}

#[pyfunction]
pub(crate) fn vector_linkage(
    py: Python<'_>,
    rows: Dense<'_>,
    linkage: &str,
    measure: &str,
    scale: f64,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Tree> {
    let measure = measure.parse::<Measure>().map_err(to_py)?;
    let ([n, p], values) = (rows.shape(), rows.coordinates()?);
    let tree = callbacks::run(py, is_long(n, p), progress.as_ref(), |monitor| {
        let vectors = Vectors::new(values, n, p)?;
        match (linkage, measure) {
            ("single", _) => single_linkage(&vectors, measure, scale, Some(monitor)),
            ("ward", Measure::Euclidean) => ward_linkage(&vectors, Some(monitor)),
            ("average", Measure::SquaredEuclidean) => mean_square_linkage(&vectors, Some(monitor)),
            _ => Err(Error::Argument(format!("linkage `{linkage}` with measure `{measure}` needs a full matrix"))),
        }
    })?;
    Ok(tree.into())
}

/// Returns the tree of a linkage that compares only neighbours. `given` has the neighbours of each
/// vector. Without `given`, the `neighbors` nearest vectors of each vector are the neighbours.
#[pyfunction]
#[pyo3(signature = (rows, linkage, measure, neighbors, given, until, initial, progress))]
#[allow(clippy::too_many_arguments, reason = "the arguments of a Python function")]
pub(crate) fn neighbor_linkage(
    py: Python<'_>,
    rows: Dense<'_>,
    linkage: &str,
    measure: &str,
    neighbors: usize,
    given: Option<PyReadonlyArray2<'_, i64>>,
    until: usize,
    initial: Option<PyReadonlyArray1<'_, i64>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Tree> {
    let (rule, measure) = (linkage.parse::<Rule>().map_err(to_py)?, measure.parse::<Measure>().map_err(to_py)?);
    let initial = partition(initial)?;
    let ([n, p], values) = (rows.shape(), rows.coordinates()?);
    let neighbors = match &given {
        Some(given) => Neighbors::Given(given.as_slice()?),
        None => Neighbors::Search(neighbors),
    };
    let tree = callbacks::run(py, n > 1000, progress.as_ref(), |monitor| {
        let vectors = Vectors::new(values, n, p)?;
        graph_linkage(&vectors, &rule, measure, neighbors, until, initial.as_ref(), Some(monitor))
    })?;
    Ok(tree.into())
}

#[pyfunction]
pub(crate) fn vector_distances<'py>(
    py: Python<'py>,
    rows: Dense<'py>,
    measure: &str,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let measure = measure.parse::<Measure>().map_err(to_py)?;
    let ([n, p], values) = (rows.shape(), rows.coordinates()?);
    let (out, ()) = filled(py, "the similarity matrix", condensed_len(n), |pairs| {
        callbacks::run(py, is_long(n, p), progress.as_ref(), |monitor| {
            distances(&Vectors::new(values, n, p)?, measure, pairs, Some(monitor))
        })
    })?;
    Ok(out)
}

type Gram<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);

/// Returns the dot product of each pair of sparse rows, in condensed layout. Also returns the dot
/// product of each row with itself.
#[pyfunction]
#[pyo3(signature = (indptr, indices, values, n_columns, narrow, progress))]
pub(crate) fn sparse_gram<'py>(
    py: Python<'py>,
    indptr: PyReadonlyArray1<'py, i64>,
    indices: PyReadonlyArray1<'py, i64>,
    values: Floats<'py>,
    n_columns: usize,
    narrow: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Gram<'py>> {
    let (indptr, indices) = (indptr.as_slice()?, indices.as_slice()?);
    let n = indptr.len().saturating_sub(1);
    macro_rules! run {
        ($values:expr, $gram:expr) => {{
            let values = $values.as_slice()?;
            let (out, own) = filled(py, "the similarity matrix", condensed_len(n), |cells| {
                callbacks::run(py, n > 1000, progress.as_ref(), |monitor| {
                    $gram(Csr { indptr, indices, values, shape: [n, n_columns] }, cells, Some(monitor))
                })
            })?;
            (out.into_any(), PyArray1::from_vec(py, own))
        }};
    }
    Ok(match (&values, narrow) {
        (Floats::F64(values), false) => run!(values, gram_f64),
        (Floats::F64(values), true) => run!(values, gram_f32_of_f64),
        (Floats::F32(values), false) => run!(values, gram_f64_of_f32),
        (Floats::F32(values), true) => run!(values, gram_f32),
    })
}

#[pyfunction]
pub(crate) fn leaf_heights<'py>(
    py: Python<'py>,
    tree: &Bound<'py, Tree>,
    own: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let own = own.as_slice()?;
    let heights = ordhc::bindings::leaf_heights(tree.get().dendrogram()?, own).map_err(to_py)?;
    Ok(PyArray1::from_vec(py, heights))
}
