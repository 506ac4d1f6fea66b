//! The dendrogram.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::tree::{Annotations, LcaSizes, NewickTree, Underscores};
use ordhc::{Error, Kind};
use pyo3::prelude::*;

use crate::arrays::{kind, rows};
use crate::callbacks;
use crate::error::to_py;

/// Texts of more bytes are read on a thread of their own, which can be stopped.
const LONG_TEXT: usize = 1 << 20;

/// The tree, names, numbers and whether these are all, names of nodes, support and whether it is written as shares,
/// branch lengths, heights of leaves, the note.
type Read<'py> = (
    Dendrogram,
    Vec<String>,
    Option<Bound<'py, PyArray1<i64>>>,
    bool,
    Option<Vec<Option<String>>>,
    Option<Bound<'py, PyArray1<f64>>>,
    bool,
    Option<Bound<'py, PyArray1<f64>>>,
    Option<Bound<'py, PyArray1<f64>>>,
    Option<String>,
);

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

/// Ids that don't even fit 32 bits are as wrong as any other that is too large.
fn label(id: i64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}

pub(crate) fn widened<'py>(py: Python<'py>, values: impl IntoIterator<Item = u32>) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, values.into_iter().map(i64::from))
}

#[pymethods]
impl Dendrogram {
    #[new]
    #[pyo3(signature = (merges, heights, dissimilarity, joined=None))]
    fn new(
        merges: PyReadonlyArray2<'_, i64>,
        heights: PyReadonlyArray1<'_, f64>,
        dissimilarity: bool,
        joined: Option<PyReadonlyArray1<'_, bool>>,
    ) -> PyResult<Self> {
        let pairs = rows::<i64, 2>(merges.as_slice()?, merges.shape())?;
        let negative = pairs.iter().flatten().find(|&&id| id < 0);
        if let Some(id) = negative {
            return Err(to_py(Error::Argument(format!("cluster {id} is below 0"))));
        }
        let pairs = pairs.iter().map(|pair| pair.map(label)).collect();
        let tree = ordhc::Dendrogram::new(pairs, heights.as_slice()?.to_vec(), kind(dissimilarity)).map_err(to_py)?;
        Ok(match joined {
            None => tree,
            Some(marks) => tree.with_joined(marks.as_slice()?.to_vec()).map_err(to_py)?,
        }
        .into())
    }

    #[staticmethod]
    fn from_newick<'py>(
        py: Python<'py>,
        text: &str,
        preserve_underscores: bool,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Read<'py>> {
        let read = callbacks::run(py, text.len() > LONG_TEXT, progress.as_ref(), |monitor| {
            let underscores = if preserve_underscores { Underscores::Kept } else { Underscores::Blanks };
            NewickTree::read(text, underscores, Some(monitor))
        })?;
        let beside = read.annotations;
        let array = |values: Option<Vec<f64>>| values.map(|values| PyArray1::from_vec(py, values));
        Ok((
            read.tree.into(),
            beside.names.unwrap_or_default(),
            read.numbers.map(|numbers| widened(py, numbers)),
            read.is_numbered,
            beside.node_names,
            array(beside.support),
            beside.shares,
            array(beside.branch_lengths),
            array(beside.leaf_heights),
            read.note,
        ))
    }

    #[pyo3(signature = (names, node_names, support, shares, standing, branch_lengths, leaf_heights, *, lengths, heights, progress))]
    #[allow(clippy::too_many_arguments, reason = "all that a tree has")]
    fn to_newick(
        &self,
        py: Python<'_>,
        names: Option<Vec<String>>,
        node_names: Option<Vec<Option<String>>>,
        support: Option<PyReadonlyArray1<'_, f64>>,
        shares: bool,
        standing: Option<PyReadonlyArray1<'_, i64>>,
        branch_lengths: Option<PyReadonlyArray1<'_, f64>>,
        leaf_heights: Option<PyReadonlyArray1<'_, f64>>,
        lengths: bool,
        heights: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let values =
            |array: Option<PyReadonlyArray1<'_, f64>>| array.map(|array| Ok::<_, PyErr>(array.as_slice()?.to_vec()));
        let annotations = Annotations {
            names,
            node_names,
            support: values(support).transpose()?,
            shares,
            standing: standing
                .map(|leaves| Ok::<_, PyErr>(leaves.as_slice()?.iter().map(|&id| label(id)).collect()))
                .transpose()?,
            branch_lengths: values(branch_lengths).transpose()?,
            leaf_heights: values(leaf_heights).transpose()?,
        };
        let mut newick = self.tree.newick().annotations(&annotations).map_err(to_py)?;
        newick = if lengths { newick.lengths() } else { newick };
        newick = if heights { newick.heights() } else { newick };
        let long = self.tree.n_leaves() > LONG_TEXT / 16;
        callbacks::run(py, long, progress.as_ref(), |monitor| newick.text(Some(monitor)))
    }

    /// Whether each merge is only a part of the node of the merge above; None if none is.
    fn joined<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<bool>>> {
        let joined = self.tree.joined();
        (!joined.is_empty()).then(|| PyArray1::from_slice(py, joined))
    }

    fn join_ties(&self) -> Self {
        self.tree.join_ties().into()
    }

    fn in_order_of_children(&self) -> Self {
        self.tree.in_order_of_children().into()
    }

    #[getter]
    fn n_leaves(&self) -> usize {
        self.tree.n_leaves()
    }

    #[getter]
    fn dissimilarity(&self) -> bool {
        self.tree.kind() == Kind::Dissimilarity
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
            let range = format!("1..={n} (n_leaves = {n})");
            return Err(to_py(Error::OutOfRange { what: "n_clusters", value: n_clusters as f64, range }));
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
            return Err(to_py(Error::Length {
                what: "leaves",
                found: j.len(),
                of: "leaves of the other side",
                expected: i.len(),
            }));
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
