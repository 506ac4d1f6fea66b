//! Newick text: trees as nested parentheses, with all that stands beside the topology.

mod assemble;
mod labels;
mod read;
mod scan;
#[cfg(test)]
mod tests;
mod write;

use super::dendrogram::Dendrogram;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

pub use read::NewickTree;

/// What a tree has besides merges and heights; what is `None` it hasn't.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Annotations {
    /// The leaves' names.
    pub names: Option<Vec<String>>,
    /// By merge: whether it is only a part of the node of the merge above, which has more than two
    /// children then.
    pub joined: Option<Vec<bool>>,
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

    /// What of the node above a merge is a part of it.
    fn is_joined(&self, merge: usize) -> bool {
        self.joined.as_ref().is_some_and(|joined| joined[merge])
    }

    fn check(&self, tree: &Dendrogram) -> Result<()> {
        let (n, m) = (tree.n_leaves(), tree.merges().len());
        for (what, found, of, expected) in [
            ("leaves in order", self.standing.as_ref().map(Vec::len), "leaves", n),
            ("names", self.names.as_ref().map(Vec::len), "leaves", n),
            ("leaf heights", self.leaf_heights.as_ref().map(Vec::len), "leaves", n),
            ("marks of joined merges", self.joined.as_ref().map(Vec::len), "merges", m),
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
        self.joined.as_ref().map_or(Ok(()), |joined| tree.check_joined(joined))
    }
}

/// What [`Dendrogram::write_newick`] writes besides names and support.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewickStyle {
    /// Branch lengths.
    pub branch_lengths: bool,
    /// Comments from which the tree is restored unchanged: the heights, and where the text would not tell
    /// them the numbers of leaves and merges.
    pub heights: bool,
}

impl Dendrogram {
    /// The tree as Newick text.
    ///
    /// Leaves are written by name (quoted where needed), or by number without `names`. Branch
    /// lengths are differences of merge heights; leaves stand at 0 with dissimilarities, at the
    /// height of the closest merge with similarities; under an inversion a length is negative.
    /// `heights` adds the exact merge heights as comments, `[&similarity=2.5]` or
    /// `[&dissimilarity=2.5]`, from which [`Dendrogram::from_newick`] restores the tree unchanged.
    ///
    /// # Errors
    /// Another number of names than leaves.
    ///
    /// ```
    /// let tree = ordhc::Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], true)?;
    /// let names = ["a", "b c", "d"];
    /// assert_eq!(tree.to_newick(Some(&names), true, false)?, "(d:2,(a:0.5,'b c':0.5):1.5);");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn to_newick<S: AsRef<str>>(&self, names: Option<&[S]>, branch_lengths: bool, heights: bool) -> Result<String> {
        let annotations = names.map_or_else(Annotations::default, Annotations::of_names);
        self.write_newick(&annotations, NewickStyle { branch_lengths, heights }, &Monitor::new())
    }

    /// The topology alone, leaves as numbers.
    pub fn to_newick_topology(&self) -> String {
        let written = self.write_newick(&Annotations::default(), NewickStyle::default(), &Monitor::new());
        // Nothing can be wrong with annotations that aren't there.
        written.unwrap_or_default()
    }

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
        let read = NewickTree::read(text, false, &Monitor::new())?;
        Ok((read.tree, read.annotations.names.unwrap_or_default()))
    }
}
