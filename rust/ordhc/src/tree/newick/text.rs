//! The builder of Newick text.

use std::borrow::Cow;
use std::fmt;

use super::Annotations;
use super::write::Writer;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::tree::Dendrogram;

/// A tree on its way to Newick text; made by [`Dendrogram::newick`], written by [`Display`](fmt::Display) or, watched,
/// by [`text`](Self::text).
///
/// Leaves are written by name (quoted where needed), or by number. Support is the label of a node, in percent; where
/// a node has a name too, the name is its label and support stands in a comment, `[&support=93]`. Names that are
/// numbers are quoted, so that support is told from names. Joined merges are written as part of the node above them.
#[derive(Debug, Clone)]
pub struct Newick<'a> {
    tree: &'a Dendrogram,
    annotations: Cow<'a, Annotations>,
    pub(super) lengths: bool,
    pub(super) heights: bool,
}

impl Dendrogram {
    /// The tree as Newick text: its topology, and what it is told besides.
    ///
    /// ```
    /// use ordhc::{Dendrogram, Kind};
    ///
    /// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], Kind::Dissimilarity)?;
    /// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
    /// let newick = tree.newick().names(&["a", "b c", "d"])?;
    /// assert_eq!(newick.clone().lengths().to_string(), "(d:2,(a:0.5,'b c':0.5):1.5);");
    /// assert_eq!(newick.support(&[0.9, 1.0])?.to_string(), "(d,(a,'b c')90)100;");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn newick(&self) -> Newick<'_> {
        Newick { tree: self, annotations: Cow::Owned(Annotations::default()), lengths: false, heights: false }
    }
}

impl<'a> Newick<'a> {
    /// Names of leaves.
    ///
    /// # Errors
    /// Another number of names than leaves.
    pub fn names<S: AsRef<str>>(mut self, names: &[S]) -> Result<Self> {
        self.annotations.to_mut().names = Some(names.iter().map(|name| name.as_ref().to_string()).collect());
        self.checked()
    }

    /// By merge: how sure the node is, from 0 to 1; NaN where that isn't known.
    ///
    /// # Errors
    /// Another number of values than merges.
    pub fn support(mut self, support: &[f64]) -> Result<Self> {
        self.annotations.to_mut().support = Some(support.to_vec());
        self.checked()
    }

    /// All that a tree has besides merges and heights; it replaces names and support.
    ///
    /// # Errors
    /// Annotations of other lengths.
    ///
    /// ```
    /// use ordhc::{Dendrogram, Kind, tree::Annotations};
    ///
    /// let tree = Dendrogram::new(vec![[0, 1], [2, 4], [3, 5]], vec![1.0, 2.0, 2.0], Kind::Dissimilarity)?;
    /// let tree = tree.with_joined(vec![false, true, false])?;
    /// let mut annotations = Annotations::of_names(&["a", "b", "c", "d"]);
    /// annotations.support = Some(vec![0.9, f64::NAN, 1.0]);
    /// let text = tree.newick().annotations(&annotations)?.lengths().to_string();
    /// assert_eq!(text, "(d:2,c:2,(a:1,b:1)90:1)100;");
    /// annotations.leaf_heights = Some(vec![0.5, 0.0, 0.0, 1.0]);
    /// let text = tree.newick().annotations(&annotations)?.lengths().to_string();
    /// assert_eq!(text, "(d:1,c:2,(a:0.5,b:1)90:1)100;");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn annotations(mut self, annotations: &'a Annotations) -> Result<Self> {
        self.annotations = Cow::Borrowed(annotations);
        self.checked()
    }

    /// Writes branch lengths: those of the annotations, or the differences of merge heights; leaves stand at 0 with
    /// dissimilarities, at the height of the closest merge with similarities; under an inversion a length is negative.
    #[must_use]
    pub fn lengths(mut self) -> Self {
        self.lengths = true;
        self
    }

    /// Writes comments from which the tree is restored unchanged by [`Dendrogram::from_newick`]: the heights as
    /// `[&similarity=2.5]` or `[&dissimilarity=2.5]`, and where the text would not tell them the numbers of leaves
    /// and merges.
    #[must_use]
    pub fn heights(mut self) -> Self {
        self.heights = true;
        self
    }

    /// The text.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn text(&self, monitor: Option<&Monitor>) -> Result<String> {
        watched!(monitor);
        let lengths = self.annotations.names.iter().flatten().map(|name| name.len() as u64).sum::<u64>();
        memory::check("Newick text", 64 * self.tree.n_leaves() as u64 + 2 * lengths)?;
        Writer::new(self.tree, &self.annotations, self).write(monitor)
    }

    fn checked(self) -> Result<Self> {
        self.annotations.check(self.tree)?;
        Ok(self)
    }
}

impl fmt::Display for Newick<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text(None).map_err(|_| fmt::Error)?)
    }
}
