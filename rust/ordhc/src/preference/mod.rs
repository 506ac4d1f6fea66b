//! Linkages that need no similarities. 3-AL and 4-AL merge clusters by preferences computed from the answers
//! (Ghoshdastidar, Perrot & von Luxburg 2019). 4-SL and 4-CL need a complete set of answers.
//!
//! ```
//! use ordhc::{Triplets, preference::preference_linkage};
//!
//! let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 3], [2, 3, 0], [3, 2, 1]], None)?;
//! let tree = preference_linkage(&triplets, None, None)?;
//! assert_eq!(tree.newick().to_string(), "((0,1),(2,3));");
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! For each pair of clusters, 3-AL and 4-AL store the sum of answers for and against merging the pair. A merge changes
//! the sums of pairs that share answers with the merged clusters. Answers are stored in lists (`sparse`). If a table is
//! not much larger, they are stored in a table (`dense`). The table has a row for each pair, and a column for each
//! third cluster (3-AL) or second pair (4-AL). Lists become a table as the number of clusters decreases. Tables of
//! counts start with 16 bits, if no sum can overflow before clusters are next renumbered.

pub(crate) mod complete;
mod dense;
mod linkage;
mod sides;
mod slots;
mod sparse;

pub use linkage::preference_linkage;
