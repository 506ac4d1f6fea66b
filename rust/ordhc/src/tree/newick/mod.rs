//! Newick text: trees as nested parentheses, with names, support, heights and lengths.

mod assemble;
mod labels;
mod read;
mod scan;
#[cfg(test)]
mod tests;
mod text;
mod write;

use super::{Dendrogram, Topology, Tree};
use crate::error::{Error, Result, check_len};

pub use read::{NewickTree, Underscores};
pub use text::Newick;

/// The data of a tree besides its nodes, heights and lengths. A field is `None` if the tree does not have it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Annotations {
    /// The names of the leaves.
    pub names: Option<Vec<String>>,
    /// The names of the inner nodes.
    pub node_names: Option<Vec<Option<String>>>,
    /// The support of each inner node, from 0 to 1, or NaN if unknown.
    pub support: Option<Vec<f64>>,
    /// True if support is written as a share, false if it is written in percent.
    pub shares: bool,
    /// The leaves in the order of the text that was read. The children of each node are written in the order of their
    /// first leaves. If `None`, children are written in the order of their indices, so leaves come first.
    pub standing: Option<Vec<u32>>,
}

impl Annotations {
    /// Returns annotations with the names of leaves only.
    pub fn of_names<S: AsRef<str>>(names: &[S]) -> Self {
        Self { names: Some(names.iter().map(|name| name.as_ref().to_string()).collect()), ..Self::default() }
    }

    fn check(&self, tree: &Topology) -> Result<()> {
        let (n, m) = (tree.n_leaves(), tree.n_inner());
        for (what, found, of, expected) in [
            ("leaves in order", self.standing.as_ref().map(Vec::len), "leaves", n),
            ("names", self.names.as_ref().map(Vec::len), "leaves", n),
            ("names of nodes", self.node_names.as_ref().map(Vec::len), "inner nodes", m),
            ("values of support", self.support.as_ref().map(Vec::len), "inner nodes", m),
        ] {
            check_len(what, found, of, expected)?;
        }
        let mut seen = vec![false; n];
        for &leaf in self.standing.iter().flatten() {
            if seen.get_mut(leaf as usize).is_none_or(|seen| std::mem::replace(seen, true)) {
                return Err(Error::Argument(format!(
                    "the order of leaves repeats {leaf}, or {leaf} is above {}",
                    n - 1
                )));
            }
        }
        Ok(())
    }
}

impl Dendrogram {
    /// Reads Newick text. Returns the tree, and the name of each leaf.
    ///
    /// [`NewickTree`] describes the format and returns all other contents of the text. If the text has neither heights
    /// nor lengths, the height of a node is the number of levels below.
    ///
    /// # Errors
    /// Invalid text, with its line; lengths of a tree that is not ultrametric.
    ///
    /// ```
    /// let (tree, names) = ordhc::Dendrogram::from_newick("((a:1,b:1):2,c:3);")?;
    /// assert_eq!(names, ["a", "b", "c"]);
    /// assert_eq!(tree.heights(), [2.0, 6.0]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn from_newick(text: &str) -> Result<(Self, Vec<String>)> {
        let read = NewickTree::read(text, Underscores::Blanks, None)?;
        let tree = match read.tree {
            Tree::Shape(topology) => Self::of_levels(topology),
            Tree::Heights(tree) => tree,
            Tree::Lengths(tree) => tree.ultrametric()?,
        };
        Ok((tree, read.annotations.names.unwrap_or_default()))
    }
}
