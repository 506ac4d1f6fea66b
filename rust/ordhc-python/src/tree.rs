//! Trees.

use std::sync::OnceLock;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::bindings::LcaSizes;
use ordhc::tree::{AdditiveTree, Annotations, NewickTree, Topology, Underscores};
use ordhc::{Dendrogram, Error, Kind};
use pyo3::prelude::*;

use crate::arrays::{kind, rows};
use crate::callbacks;
use crate::error::to_py;

/// Texts with more bytes are parsed on a separate thread, so that parsing can be interrupted.
const LONG_TEXT: usize = 1 << 20;

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Integers<'py> = Bound<'py, PyArray1<i64>>;

/// The data that were read from Newick text:
/// * the tree,
/// * the names of the leaves,
/// * true if these names are the indices of the leaves,
/// * true if comments number the inner nodes,
/// * the leaves in the order of the text,
/// * the names of the nodes,
/// * the support of the nodes,
/// * true if the support is written as shares,
/// * a note about the text.
type Read<'py> = (
    Tree,
    Vec<String>,
    bool,
    bool,
    Integers<'py>,
    Option<Vec<Option<String>>>,
    Option<Floats<'py>>,
    bool,
    Option<String>,
);

#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Tree {
    tree: ordhc::tree::Tree,
    by_height: OnceLock<Dendrogram>,
    by_level: OnceLock<Dendrogram>,
    by_diameter: OnceLock<Dendrogram>,
    lca: OnceLock<LcaSizes>,
}

impl<T: Into<ordhc::tree::Tree>> From<T> for Tree {
    fn from(tree: T) -> Self {
        Self {
            tree: tree.into(),
            by_height: OnceLock::new(),
            by_level: OnceLock::new(),
            by_diameter: OnceLock::new(),
            lca: OnceLock::new(),
        }
    }
}

impl Tree {
    pub(crate) fn inner(&self) -> &ordhc::tree::Tree {
        &self.tree
    }

    pub(crate) fn topology(&self) -> &Topology {
        self.tree.topology()
    }

    pub(crate) fn dendrogram(&self) -> PyResult<&Dendrogram> {
        match &self.tree {
            ordhc::tree::Tree::Heights(tree) => Ok(tree),
            tree => made_once(&self.by_height, || Ok(tree.dendrogram()?.into_owned())),
        }
    }

    /// Returns the tree with heights. For a tree with lengths, the height of a node is the length of the longest path
    /// between two leaves below the node.
    pub(crate) fn in_order(&self) -> PyResult<&Dendrogram> {
        match &self.tree {
            ordhc::tree::Tree::Lengths(tree) => made_once(&self.by_diameter, || tree.diameters()),
            _ => self.dendrogram(),
        }
    }

    /// Returns the tree with heights. If a tree has only a shape, the height of a node is the number of levels below
    /// it.
    pub(crate) fn ranked(&self) -> PyResult<&Dendrogram> {
        match &self.tree {
            ordhc::tree::Tree::Shape(tree) => made_once(&self.by_level, || Ok(Dendrogram::of_levels(tree.clone()))),
            _ => self.dendrogram(),
        }
    }

    /// Returns the tree with its heights. If it has no heights, the height of a node is the number of levels below it.
    pub(crate) fn of_shape(&self) -> Dendrogram {
        self.dendrogram().cloned().unwrap_or_else(|_| Dendrogram::of_levels(self.topology().clone()))
    }

    /// Heights that are computed from lengths are dissimilarities.
    pub(crate) fn is_dissimilarity(&self) -> bool {
        !matches!(&self.tree, ordhc::tree::Tree::Heights(tree) if tree.kind() == Kind::Similarity)
    }

    fn leaf(&self, id: i64) -> PyResult<usize> {
        let n = self.topology().n_leaves();
        match usize::try_from(id) {
            Ok(leaf) if leaf < n => Ok(leaf),
            _ => Err(to_py(Error::Argument(format!("leaf {id} is outside 0..={} (n_leaves = {n})", n - 1)))),
        }
    }
}

fn made_once<T>(place: &OnceLock<T>, make: impl FnOnce() -> ordhc::Result<T>) -> PyResult<&T> {
    match place.get() {
        Some(made) => Ok(made),
        None => {
            let made = make().map_err(to_py)?;
            Ok(place.get_or_init(|| made))
        }
    }
}

/// Ids that do not fit into 32 bits become the largest id, so that they cause the same error as other large ids.
fn label(id: i64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}

fn labels(ids: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<u32>> {
    Ok(ids.as_slice()?.iter().map(|&id| label(id)).collect())
}

pub(crate) fn widened<'py>(py: Python<'py>, values: impl IntoIterator<Item = u32>) -> Integers<'py> {
    PyArray1::from_iter(py, values.into_iter().map(i64::from))
}

#[pymethods]
impl Tree {
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
        let tree = Dendrogram::new(pairs, heights.as_slice()?.to_vec(), kind(dissimilarity)).map_err(to_py)?;
        Ok(tree.into())
    }

    #[staticmethod]
    #[pyo3(signature = (n_leaves, parents, heights, lengths, *, dissimilarity, sort))]
    fn of_nodes<'py>(
        py: Python<'py>,
        n_leaves: usize,
        parents: PyReadonlyArray1<'py, i64>,
        heights: Option<PyReadonlyArray1<'py, f64>>,
        lengths: Option<PyReadonlyArray1<'py, f64>>,
        dissimilarity: bool,
        sort: bool,
    ) -> PyResult<(Self, Integers<'py>)> {
        let shape = Topology::from_parents(n_leaves, labels(&parents)?).map_err(to_py)?;
        let tree = match (heights, lengths) {
            (Some(heights), _) => {
                Dendrogram::of_nodes(shape, heights.as_slice()?.to_vec(), kind(dissimilarity)).map(Into::into)
            }
            (None, Some(lengths)) => {
                AdditiveTree::new(shape, lengths.as_slice()?.to_vec()).map(ordhc::tree::Tree::Lengths)
            }
            (None, None) => Ok(ordhc::tree::Tree::Shape(shape)),
        };
        let tree = tree.map_err(to_py)?;
        let n_nodes = tree.topology().n_nodes() as u32;
        let (tree, order) = if sort { tree.sorted() } else { (tree, (0..n_nodes).collect()) };
        Ok((tree.into(), widened(py, order)))
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
        Ok((
            read.tree.into(),
            beside.names.unwrap_or_default(),
            read.is_numbered,
            read.has_node_numbers,
            widened(py, beside.standing.unwrap_or_default()),
            beside.node_names,
            beside.support.map(|values| PyArray1::from_vec(py, values)),
            beside.shares,
            read.note,
        ))
    }

    #[pyo3(signature = (names, node_names, support, shares, standing, *, lengths, heights, progress))]
    #[allow(clippy::too_many_arguments, reason = "all that a tree has")]
    fn to_newick(
        &self,
        py: Python<'_>,
        names: Option<Vec<String>>,
        node_names: Option<Vec<Option<String>>>,
        support: Option<PyReadonlyArray1<'_, f64>>,
        shares: bool,
        standing: Option<PyReadonlyArray1<'_, i64>>,
        lengths: bool,
        heights: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let annotations = Annotations {
            names,
            node_names,
            support: support.map(|array| Ok::<_, PyErr>(array.as_slice()?.to_vec())).transpose()?,
            shares,
            standing: standing.as_ref().map(labels).transpose()?,
        };
        let mut newick = self.tree.newick().annotations(&annotations).map_err(to_py)?;
        newick = if lengths { newick.lengths() } else { newick };
        newick = if heights { newick.heights() } else { newick };
        let long = self.topology().n_leaves() > LONG_TEXT / 16;
        callbacks::run(py, long, progress.as_ref(), |monitor| newick.text(Some(monitor)))
    }

    #[getter]
    fn n_leaves(&self) -> usize {
        self.topology().n_leaves()
    }

    #[getter]
    fn n_nodes(&self) -> usize {
        self.topology().n_nodes()
    }

    #[getter]
    fn scale(&self) -> &'static str {
        match self.tree {
            ordhc::tree::Tree::Shape(_) => "shape",
            ordhc::tree::Tree::Heights(_) => "heights",
            ordhc::tree::Tree::Lengths(_) => "lengths",
        }
    }

    #[getter]
    fn dissimilarity(&self) -> bool {
        self.is_dissimilarity()
    }

    fn parents<'py>(&self, py: Python<'py>) -> Integers<'py> {
        widened(py, self.topology().parents().iter().copied())
    }

    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let merges = self.topology().merges();
        widened(py, merges.iter().flatten().copied()).reshape([merges.len(), 2])
    }

    fn heights<'py>(&self, py: Python<'py>) -> PyResult<Floats<'py>> {
        Ok(PyArray1::from_slice(py, self.dendrogram()?.heights()))
    }

    fn merge_heights<'py>(&self, py: Python<'py>) -> PyResult<Floats<'py>> {
        Ok(PyArray1::from_slice(py, &self.dendrogram()?.merge_heights()))
    }

    fn all_heights<'py>(&self, py: Python<'py>) -> PyResult<Floats<'py>> {
        Ok(PyArray1::from_vec(py, self.dendrogram()?.all_heights()))
    }

    fn leaf_heights<'py>(&self, py: Python<'py>) -> Option<Floats<'py>> {
        match &self.tree {
            ordhc::tree::Tree::Heights(tree) => tree.leaf_heights().map(|heights| PyArray1::from_slice(py, heights)),
            _ => None,
        }
    }

    fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Floats<'py>> {
        Ok(PyArray1::from_slice(py, &self.tree.edge_lengths().map_err(to_py)?))
    }

    fn with_leaf_heights(&self, heights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Self> {
        let heights = heights.map(|heights| Ok::<_, PyErr>(heights.as_slice()?.to_vec())).transpose()?;
        Ok(self.dendrogram()?.clone().with_leaf_heights(heights).map_err(to_py)?.into())
    }

    fn sizes<'py>(&self, py: Python<'py>) -> Integers<'py> {
        widened(py, self.topology().sizes().iter().copied())
    }

    fn cut_clusters<'py>(&self, py: Python<'py>, n_clusters: i64) -> PyResult<Integers<'py>> {
        let wanted = usize::try_from(n_clusters).unwrap_or(0);
        let n = self.topology().n_leaves();
        if wanted != n_clusters.max(0) as usize || wanted == 0 {
            let range = format!("1..={n} (n_leaves = {n})");
            return Err(to_py(Error::OutOfRange { what: "n_clusters", value: n_clusters as f64, range }));
        }
        Ok(widened(py, self.in_order()?.cut_clusters(wanted).map_err(to_py)?))
    }

    /// Returns the numbers of clusters, from 2 to n - 1, that a cut by height can give. A cut between two equal heights
    /// is not possible.
    fn levels(&self) -> PyResult<Vec<usize>> {
        let tree = self.in_order()?;
        let (n, shape, heights) = (tree.n_leaves(), tree.topology(), tree.heights());
        let (mut count, mut found) = (1, Vec::new());
        for at in (1..heights.len()).rev() {
            count += shape.children(n + at).len() - 1;
            if heights[at - 1] != heights[at] {
                found.push(count);
            }
        }
        Ok(found)
    }

    fn cut_height<'py>(&self, py: Python<'py>, height: f64) -> PyResult<Integers<'py>> {
        Ok(widened(py, self.dendrogram()?.cut_height(height).map_err(to_py)?))
    }

    fn cut_path<'py>(&self, py: Python<'py>, length: f64) -> PyResult<Integers<'py>> {
        let labels = match &self.tree {
            ordhc::tree::Tree::Lengths(_) => self.in_order()?.cut_height(length),
            tree => {
                let lengths = tree.edge_lengths().map_err(to_py)?.into_owned();
                AdditiveTree::new(self.topology().clone(), lengths)
                    .and_then(|tree| tree.diameters())
                    .and_then(|tree| tree.cut_height(length))
            }
        };
        Ok(widened(py, labels.map_err(to_py)?))
    }

    fn lca_nodes<'py>(
        &self,
        py: Python<'py>,
        i: PyReadonlyArray1<'py, i64>,
        j: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Integers<'py>> {
        let lca = self.lca.get_or_init(|| LcaSizes::new(self.topology()));
        let (i, j) = (i.as_slice()?, j.as_slice()?);
        if i.len() != j.len() {
            return Err(to_py(Error::Length {
                what: "leaves",
                found: j.len(),
                of: "leaves of the other side",
                expected: i.len(),
            }));
        }
        let node = |(&i, &j): (&i64, &i64)| {
            let (one, other) = (self.leaf(i)?, self.leaf(j)?);
            Ok(if i == j { i } else { (lca.n_leaves() + lca.node(one, other)) as i64 })
        };
        let nodes: PyResult<Vec<i64>> = i.iter().zip(j).map(node).collect();
        Ok(PyArray1::from_vec(py, nodes?))
    }

    fn leaf_order<'py>(&self, py: Python<'py>) -> Integers<'py> {
        widened(py, self.topology().leaf_order())
    }

    fn relabel(&self, leaves: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        Ok(self.tree.relabel(&labels(&leaves)?).map_err(to_py)?.into())
    }

    fn sorted<'py>(&self, py: Python<'py>) -> (Self, Integers<'py>) {
        let (tree, order) = self.tree.clone().sorted();
        (tree.into(), widened(py, order))
    }

    fn without<'py>(&self, py: Python<'py>, goes: PyReadonlyArray1<'py, bool>) -> PyResult<(Self, Integers<'py>)> {
        let (goes, n) = (goes.as_slice()?, self.topology().n_leaves());
        let (tree, kept) = self.tree.without(|node| goes.get(node - n).copied().unwrap_or(false));
        Ok((tree.into(), widened(py, kept)))
    }

    fn restricted<'py>(&self, py: Python<'py>, leaves: PyReadonlyArray1<'py, i64>) -> PyResult<(Self, Integers<'py>)> {
        let (tree, kept) = self.tree.restricted(&labels(&leaves)?).map_err(to_py)?;
        Ok((tree.into(), widened(py, kept)))
    }

    fn is_monotone(&self) -> PyResult<bool> {
        Ok(self.dendrogram()?.is_monotone())
    }

    fn equals(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}
