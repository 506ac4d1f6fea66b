//! Newick text: trees as nested parentheses, with all that stands beside the topology.

mod assemble;
mod labels;
mod read;
mod scan;
#[cfg(test)]
mod tests;
mod text;
mod write;

use super::dendrogram::Dendrogram;
use crate::error::{Error, Result};

pub use read::{NewickTree, Underscores};
pub use text::Newick;

/// What a tree has besides merges and heights; what is `None` it hasn't.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Annotations {
    /// The leaves' names.
    pub names: Option<Vec<String>>,
    /// By merge: the name of the node.
    pub node_names: Option<Vec<Option<String>>>,
    /// By merge: how sure the node is, from 0 to 1; NaN where that isn't known.
    pub support: Option<Vec<f64>>,
    /// Whether support is written as a share, not in percent.
    pub shares: bool,
    /// The leaves in the order in which they stand in the text, as it was read: each node's children are
    /// written by their first leaves. Without, children are written by their labels, single leaves first.
    pub standing: Option<Vec<u32>>,
    /// By cluster (leaves first): the length of the branch above; NaN where there is none. Without,
    /// lengths are differences of heights.
    pub branch_lengths: Option<Vec<f64>>,
    /// The heights at which leaves themselves stand.
    pub leaf_heights: Option<Vec<f64>>,
}

impl Annotations {
    /// Names of leaves only.
    pub fn of_names<S: AsRef<str>>(names: &[S]) -> Self {
        Self { names: Some(names.iter().map(|name| name.as_ref().to_string()).collect()), ..Self::default() }
    }

    fn check(&self, tree: &Dendrogram) -> Result<()> {
        let (n, m) = (tree.n_leaves(), tree.merges().len());
        for (what, found, of, expected) in [
            ("leaves in order", self.standing.as_ref().map(Vec::len), "leaves", n),
            ("names", self.names.as_ref().map(Vec::len), "leaves", n),
            ("leaf heights", self.leaf_heights.as_ref().map(Vec::len), "leaves", n),
            ("names of nodes", self.node_names.as_ref().map(Vec::len), "merges", m),
            ("values of support", self.support.as_ref().map(Vec::len), "merges", m),
            ("branch lengths", self.branch_lengths.as_ref().map(Vec::len), "leaves and merges", n + m),
        ] {
            if let Some(found) = found.filter(|&found| found != expected) {
                return Err(Error::Length { what, found, of, expected });
            }
        }
        let mut seen = vec![false; n];
        for &leaf in self.standing.iter().flatten() {
            if seen.get_mut(leaf as usize).is_none_or(|seen| std::mem::replace(seen, true)) {
                return Err(Error::Argument(format!("the order of leaves has {leaf} twice, or above {}", n - 1)));
            }
        }
        Ok(())
    }
}

impl Dendrogram {
    /// Reads Newick text: the tree, and the leaves' names in the order in which they stand.
    ///
    /// [`NewickTree`] says how, and has what else the text tells.
    ///
    /// # Errors
    /// What cannot be read, with its line.
    ///
    /// ```
    /// let (tree, names) = ordhc::Dendrogram::from_newick("((a:1,b:1):2,c:3);")?;
    /// assert_eq!(names, ["a", "b", "c"]);
    /// assert_eq!(tree.heights(), [1.0, 3.0]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn from_newick(text: &str) -> Result<(Self, Vec<String>)> {
        let read = NewickTree::read(text, Underscores::Blanks, None)?;
        Ok((read.tree, read.annotations.names.unwrap_or_default()))
    }
}
