//! The dendrogram.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::Error;
use ordhc::tree::LcaSizes;
use pyo3::prelude::*;

use crate::arrays::rows;
use crate::callbacks;
use crate::error::to_py;

#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Dendrogram {
    tree: ordhc::Dendrogram,
    lca: std::sync::OnceLock<LcaSizes>,
}

impl From<ordhc::Dendrogram> for Dendrogram {
    fn from(tree: ordhc::Dendrogram) -> Self {
        Self { tree, lca: std::sync::OnceLock::new() }
    }
}

impl Dendrogram {
    pub(crate) fn inner(&self) -> &ordhc::Dendrogram {
        &self.tree
    }

    fn leaf(&self, id: i64) -> PyResult<usize> {
        let n = self.tree.n_leaves();
        match usize::try_from(id) {
            Ok(leaf) if leaf < n => Ok(leaf),
            _ => Err(to_py(Error::Argument(format!("leaf {id} is outside 0..={} (n_leaves = {n})", n - 1)))),
        }
    }
}

/// From so many bytes or leaves on, some tens of milliseconds of work.
const LONG: usize = 1 << 18;

/// Ids that don't even fit 32 bits are as wrong as any other that is too large.
fn label(id: i64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}

fn widened<'py>(py: Python<'py>, values: impl IntoIterator<Item = u32>) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, values.into_iter().map(i64::from))
}

#[pymethods]
impl Dendrogram {
    #[new]
    fn new(
        merges: PyReadonlyArray2<'_, i64>,
        heights: PyReadonlyArray1<'_, f64>,
        dissimilarity: bool,
    ) -> PyResult<Self> {
        let pairs = rows::<i64, 2>(merges.as_slice()?, merges.shape())?;
        let negative = pairs.iter().flatten().find(|&&id| id < 0);
        if let Some(id) = negative {
            return Err(to_py(Error::Argument(format!("cluster {id} is below 0"))));
        }
        let pairs = pairs.iter().map(|pair| pair.map(label)).collect();
        let tree = ordhc::Dendrogram::new(pairs, heights.as_slice()?.to_vec(), dissimilarity);
        Ok(tree.map_err(to_py)?.into())
    }

    #[staticmethod]
    fn from_newick(py: Python<'_>, text: &str) -> PyResult<(Self, Vec<String>)> {
        let long = text.len() > LONG;
        let (tree, names) = callbacks::run(py, long, None, |monitor| ordhc::Dendrogram::read_newick(text, monitor))?;
        Ok((tree.into(), names))
    }

    fn to_newick(
        &self,
        py: Python<'_>,
        names: Option<Vec<String>>,
        labels: Option<Vec<Option<String>>>,
        leaf_heights: Option<Vec<f64>>,
        branch_lengths: bool,
        heights: bool,
    ) -> PyResult<String> {
        let names = names.as_deref();
        let (labels, leaf_heights) = (labels.as_deref(), leaf_heights.as_deref());
        let style = (branch_lengths, heights);
        callbacks::run(py, self.tree.n_leaves() > LONG, None, |monitor| {
            self.tree.to_newick_with(names, labels, leaf_heights, style, monitor)
        })
    }

    #[getter]
    fn n_leaves(&self) -> usize {
        self.tree.n_leaves()
    }

    #[getter]
    fn dissimilarity(&self) -> bool {
        self.tree.is_dissimilarity()
    }

    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let flat = self.tree.merges().iter().flatten().copied();
        widened(py, flat).reshape([self.tree.merges().len(), 2])
    }

    fn heights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.tree.heights())
    }

    fn sizes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        widened(py, self.tree.sizes().iter().copied())
    }

    fn cut_clusters<'py>(&self, py: Python<'py>, n_clusters: i64) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let wanted = usize::try_from(n_clusters).unwrap_or(0);
        let n = self.tree.n_leaves();
        if wanted != n_clusters.max(0) as usize || wanted == 0 {
            let message = format!("n_clusters = {n_clusters} is outside 1..={n} (n_leaves = {n})");
            return Err(to_py(Error::Argument(message)));
        }
        Ok(widened(py, self.tree.cut_clusters(wanted).map_err(to_py)?))
    }

    fn cut_height<'py>(&self, py: Python<'py>, height: f64) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(widened(py, self.tree.cut_height(height).map_err(to_py)?))
    }

    fn lca_sizes<'py>(
        &self,
        py: Python<'py>,
        i: PyReadonlyArray1<'py, i64>,
        j: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let lca = self.lca.get_or_init(|| LcaSizes::new(&self.tree));
        let (i, j) = (i.as_slice()?, j.as_slice()?);
        if i.len() != j.len() {
            return Err(to_py(Error::Shape(format!("{} leaves against {}", i.len(), j.len()))));
        }
        let size = |(&i, &j): (&i64, &i64)| Ok(i64::from(lca.size(self.leaf(i)?, self.leaf(j)?)));
        let sizes: PyResult<Vec<i64>> = i.iter().zip(j).map(size).collect();
        Ok(PyArray1::from_vec(py, sizes?))
    }

    fn leaf_order<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        widened(py, self.tree.leaf_order())
    }

    fn relabel(&self, leaves: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let leaves: Vec<u32> = leaves.as_slice()?.iter().map(|&id| label(id)).collect();
        Ok(self.tree.relabel(&leaves).map_err(to_py)?.into())
    }

    fn is_monotone(&self) -> bool {
        self.tree.is_monotone()
    }
}
