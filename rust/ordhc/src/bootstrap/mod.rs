//! The uncertainty of a tree: trees of resampled answers, and the clusters that these trees have in common.
//!
//! ```
//! use ordhc::{Dendrogram, bootstrap::support};
//!
//! let (tree, _) = Dendrogram::from_newick("((0,1),(2,3));")?;
//! let (other, _) = Dendrogram::from_newick("(((0,1),2),3);")?;
//! // For each cluster of the first tree: the share of the two trees that have this cluster.
//! let supports = support(tree.topology(), &[tree.topology(), other.topology()])?;
//! assert_eq!(supports, [1.0, 0.5, 1.0]);
//! # Ok::<(), ordhc::Error>(())
//! ```

pub(crate) mod adds;
mod clusters;
pub(crate) mod draw;
pub(crate) mod tally;

pub use clusters::support;
