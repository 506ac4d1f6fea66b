//! The builder of Newick text.

use std::borrow::Cow;
use std::fmt;

use super::Annotations;
use super::write::Writer;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Tree};

/// A builder of Newick text, made by [`Dendrogram::newick`]. [`Display`](fmt::Display) writes the text;
/// [`text`](Self::text) also reports progress.
///
/// Leaves are written by name (quoted if needed), or by index. Support is written as the label of a node, in percent.
/// If a node also has a name, the name is the label, and support is in a comment, `[&support=93]`. Names of nodes that
/// are numbers are quoted, to distinguish names from support.
#[derive(Debug, Clone)]
pub struct Newick<'a> {
    tree: Cow<'a, Tree>,
    annotations: Cow<'a, Annotations>,
    pub(super) lengths: bool,
    pub(super) heights: bool,
}

impl Dendrogram {
    /// Returns a builder that writes the tree as Newick text, with names, support and other annotations if they are
    /// set.
    ///
    /// ```
    /// use ordhc::{Dendrogram, Kind};
    ///
    /// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], Kind::Dissimilarity)?;
    /// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
    /// let newick = tree.newick().names(&["a", "b c", "d"])?;
    /// assert_eq!(newick.clone().lengths().to_string(), "(d:1,(a:0.25,'b c':0.25):0.75);");
    /// assert_eq!(newick.support(&[0.9, 1.0])?.to_string(), "(d,(a,'b c')90)100;");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn newick(&self) -> Newick<'_> {
        Newick::of(Cow::Owned(Tree::Heights(self.clone())))
    }
}

impl Tree {
    /// Returns a builder that writes the tree as Newick text, see [`Dendrogram::newick`].
    pub fn newick(&self) -> Newick<'_> {
        Newick::of(Cow::Borrowed(self))
    }
}

impl<'a> Newick<'a> {
    fn of(tree: Cow<'a, Tree>) -> Self {
        Self { tree, annotations: Cow::Owned(Annotations::default()), lengths: false, heights: false }
    }

    /// Sets the names of the leaves.
    ///
    /// # Errors
    /// A number of names that differs from the number of leaves.
    pub fn names<S: AsRef<str>>(mut self, names: &[S]) -> Result<Self> {
        self.annotations.to_mut().names = Some(names.iter().map(|name| name.as_ref().to_string()).collect());
        self.checked()
    }

    /// Sets the support of each inner node, from 0 to 1, or NaN if unknown.
    ///
    /// # Errors
    /// A number of values that differs from the number of inner nodes.
    pub fn support(mut self, support: &[f64]) -> Result<Self> {
        self.annotations.to_mut().support = Some(support.to_vec());
        self.checked()
    }

    /// Sets all annotations, replacing names and support.
    ///
    /// # Errors
    /// Annotations whose lengths do not fit the tree.
    ///
    /// ```
    /// use ordhc::tree::{Annotations, Topology};
    /// use ordhc::{Dendrogram, Kind};
    ///
    /// let shape = Topology::from_parents(4, vec![4, 4, 5, 5, 5, 5])?;
    /// let tree = Dendrogram::of_nodes(shape, vec![1.0, 2.0], Kind::Dissimilarity)?;
    /// let mut annotations = Annotations::of_names(&["a", "b", "c", "d"]);
    /// annotations.support = Some(vec![0.9, 1.0]);
    /// let text = tree.newick().annotations(&annotations)?.lengths().to_string();
    /// assert_eq!(text, "(c:1,d:1,(a:0.5,b:0.5)90:0.5)100;");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn annotations(mut self, annotations: &'a Annotations) -> Result<Self> {
        self.annotations = Cow::Borrowed(annotations);
        self.checked()
    }

    /// Writes branch lengths: the tree's own lengths, or lengths from its heights ([`Dendrogram::edge_lengths`]).
    /// In a tree of dissimilarities, the path between two leaves is then as long as the height at which they join.
    /// Under an inversion a length is negative. A tree with its shape only has no lengths.
    #[must_use]
    pub fn lengths(mut self) -> Self {
        self.lengths = true;
        self
    }

    /// Writes comments from which [`NewickTree::read`](crate::tree::NewickTree::read) restores the tree unchanged. The
    /// comments are the heights as `[&similarity=2.5]` or `[&dissimilarity=2.5]`. If the text without comments would be
    /// read as a tree whose nodes have other indices, comments also have the indices of the nodes.
    #[must_use]
    pub fn heights(mut self) -> Self {
        self.heights = true;
        self
    }

    /// Returns the text.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn text(&self, monitor: Option<&Monitor>) -> Result<String> {
        watched!(monitor);
        let lengths = self.annotations.names.iter().flatten().map(|name| name.len() as u64).sum::<u64>();
        memory::check("Newick text", 64 * self.tree.topology().n_leaves() as u64 + 2 * lengths)?;
        Writer::new(&self.tree, &self.annotations, self).write(monitor)
    }

    fn checked(self) -> Result<Self> {
        self.annotations.check(self.tree.topology())?;
        Ok(self)
    }
}

impl fmt::Display for Newick<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text(None).map_err(|_| fmt::Error)?)
    }
}
