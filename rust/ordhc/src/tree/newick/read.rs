//! Reads trees from Newick text.

use super::Annotations;
use super::assemble::assemble;
use super::scan::{Node, Scanner};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::tree::Tree;

/// The meaning of underscores in labels without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Underscores {
    /// Underscores are blanks, as the format defines.
    Blanks,
    /// Underscores are kept.
    Kept,
}

named!(Underscores, "underscores", {
    "blanks": Self::Blanks => Self::Blanks,
    "kept": Self::Kept => Self::Kept,
});

/// A tree read from Newick text.
///
/// * **Names**: within quotes, `''` is one quote. Without quotes, `_` is a blank, as in the format and in DendroPy,
///   unless underscores are kept.
/// * **Labels of inner nodes** are support if they are numbers without quotes, and otherwise names (as in Bio.Phylo,
///   which also ignores the quotes). If one number is outside 0 to 100, all labels are names. Support is in percent,
///   unless no number in the tree is above 1. Several numbers such as `95.2/98` (IQ-TREE) count as the last one.
///   Support is also read from comments: `support` (`[&support=98]`) and, if there is no other support, `posterior`,
///   `prob`, `bootstrap`, and `B` of NHX.
/// * **Heights** are read from comments as [`Newick::heights`](super::Newick::heights) writes them. Without such
///   comments, the tree has the **branch lengths** of the text unchanged, or its shape only.
/// * **Nodes with one child** are removed, and their lengths are added to the branch of the child.
/// * **Comments** (`[&R]`, `[...]`) may be anywhere between labels, and may be nested.
///
/// Leaves without a name, duplicate names and text after the tree are errors. The reader does not recurse, so deep
/// trees do not overflow the stack.
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
    /// The tree. If the text has numbers instead of names of leaves, these numbers are the ids of the leaves.
    /// Otherwise, leaves are numbered in the order of the text. Inner nodes are numbered as in [`Tree::sorted`], unless
    /// comments number them.
    pub tree: Tree,
    /// The names of the leaves, and all other contents of the text that are not in `tree`. The field `names` is never
    /// `None`.
    pub annotations: Annotations,
    /// True if the text has numbers 0 to n - 1 instead of names of leaves.
    pub is_numbered: bool,
    /// True if comments in the text number the inner nodes. The inner nodes of `tree` then have these numbers.
    pub has_node_numbers: bool,
    /// A note on the parts of the text that the tree does not represent exactly, or `None`.
    pub note: Option<String>,
}

impl NewickTree {
    /// Reads the text of one tree.
    ///
    /// # Errors
    /// Text that is not valid, with its line; [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn read(text: &str, underscores: Underscores, monitor: Option<&Monitor>) -> Result<Self> {
        watched!(monitor);
        let marks = text.bytes().filter(|byte| b"(,".contains(byte)).count() as u64;
        // An estimate of the memory for nodes, names, children, heights and merges.
        memory::check("the tree of the Newick text", text.len() as u64 + marks * (size_of::<Node>() as u64 + 150))?;
        let found = Scanner::new(text, underscores == Underscores::Kept).scan(monitor)?;
        assemble(found, monitor)
    }
}
