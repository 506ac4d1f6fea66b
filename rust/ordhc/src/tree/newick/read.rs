//! Newick text to trees.

use super::Annotations;
use super::assemble::assemble;
use super::scan::{Node, Scanner};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::tree::Tree;

/// What underscores outside of quotes mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Underscores {
    /// Blanks, as the format has it.
    Blanks,
    /// Themselves.
    Kept,
}

named!(Underscores, "underscores", {
    "blanks": Self::Blanks => Self::Blanks,
    "kept": Self::Kept => Self::Kept,
});

/// A tree as Newick text tells it.
///
/// * **Names**: `''` within quotes is a quote; outside of quotes `_` is a blank (DendroPy's convention, and
///   the format's), unless these are kept.
/// * **Labels of inner nodes** are support if they are numbers outside of quotes, else names (as
///   Bio.Phylo has it, which looks into quotes too); with one number that is not within 0 to 100 all are
///   names. Support is in percent, unless no number of the tree is above 1. Of numbers such as `95.2/98` (IQ-TREE) it is the last.
///   So is `support` in comments (`[&support=98]`), and where there is no other `posterior`, `prob`, `bootstrap`, and
///   `B` of NHX.
/// * **Heights** come from comments as [`Newick::heights`](super::Newick::heights) writes them. Without these the tree has
///   the **branch lengths** of the text, as they are, or is shape alone.
/// * **Nodes of one child** are passed over; the child's branch gets their lengths too.
/// * **Comments** (`[&R]`, `[...]`) may stand anywhere between labels, and within each other.
///
/// Leaves without a name, names that occur twice and text after the tree are errors. Nothing recurses.
///
/// ```
/// use ordhc::tree::{NewickTree, Underscores};
///
/// let read = NewickTree::read("((a:1,b_c:2)90:1,d:3)root;", Underscores::Blanks, None)?;
/// let beside = read.annotations;
/// assert_eq!(beside.names.unwrap(), ["a", "b c", "d"]);
/// assert_eq!(beside.node_names.unwrap(), [None, Some("root".to_string())]);
/// assert_eq!(beside.support.unwrap()[0], 0.9);
/// assert_eq!(read.tree.edge_lengths()?[..4], [1.0, 2.0, 3.0, 1.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NewickTree {
    /// The tree. Leaves have their own numbers, where the text has these, else they are numbered in the order in which
    /// they are written. Inner nodes are numbered as by [`Tree::sorted`], unless comments number them.
    pub tree: Tree,
    /// All else, names of leaves always.
    pub annotations: Annotations,
    /// Whether leaves have numbers 0 to n - 1 instead of names.
    pub is_numbered: bool,
    /// Whether comments number the inner nodes, which then have these numbers.
    pub has_node_numbers: bool,
    /// What of the text the tree does not show as it stands.
    pub note: Option<String>,
}

impl NewickTree {
    /// Reads the text of one tree.
    ///
    /// # Errors
    /// What cannot be read, with its line; [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn read(text: &str, underscores: Underscores, monitor: Option<&Monitor>) -> Result<Self> {
        watched!(monitor);
        let marks = text.bytes().filter(|byte| b"(,".contains(byte)).count() as u64;
        // Besides nodes there are names, children, heights and merges.
        memory::check("the tree of the Newick text", text.len() as u64 + marks * (size_of::<Node>() as u64 + 150))?;
        let found = Scanner::new(text, underscores == Underscores::Kept).scan(monitor)?;
        assemble(found, monitor)
    }
}
