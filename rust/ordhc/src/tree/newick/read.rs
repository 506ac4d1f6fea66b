//! Newick text to trees.

use super::Annotations;
use super::assemble::assemble;
use super::scan::{Node, Scanner};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::tree::Dendrogram;

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
/// * **Branch lengths** are kept as they are, unless the heights tell them.
/// * **Heights** come from comments as [`Newick::heights`](super::Newick::heights) writes them; else from branch lengths, if
///   all leaves are as far from the root (but for 1e-4 of the height): a node's height is the longest way
///   down to a leaf. Else heights are ranks, a node is one higher than its highest child, and `note` says so.
/// * **Nodes of more than two children** become merges of equal height, in the order written, all but the last
///   of which are joined. A node with one child is passed over, and its branch added to the child's.
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
/// assert_eq!(beside.branch_lengths.unwrap()[..4], [1.0, 2.0, 3.0, 1.0]);
/// assert_eq!(read.tree.heights(), [1.0, 2.0]);
/// assert!(read.note.unwrap().contains("`a` is 2 from the root"));
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NewickTree {
    /// The tree; leaves are numbered in the order in which they stand.
    pub tree: Dendrogram,
    /// All else, names of leaves always.
    pub annotations: Annotations,
    /// The leaves' own numbers 0 to n - 1, where the text tells them.
    pub numbers: Option<Vec<u32>>,
    /// Whether leaves have these numbers instead of names.
    pub is_numbered: bool,
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
