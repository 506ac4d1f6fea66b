//! Validated comparisons: triplets and quadruplets. The feature `csv` adds reading them from delimited text.
//!
//! ```
//! use ordhc::{Quadruplets, Triplets};
//!
//! // 0 is closer to 1 than to 2. Two people said so, and one the opposite.
//! let triplets = Triplets::new(vec![[0, 1, 2], [0, 2, 1]], None)?.with_weights(vec![2.0, 1.0])?;
//! assert_eq!((triplets.len(), triplets.n_leaves()), (2, 3));
//! // 0 and 1 are closer than 2 and 3; leaf 4 occurs in no comparison.
//! let quadruplets = Quadruplets::new(vec![[0, 1, 2, 3]], Some(5))?;
//! assert_eq!(quadruplets.n_leaves(), 5);
//! # Ok::<(), ordhc::Error>(())
//! ```

pub(crate) mod comparisons;
#[cfg(feature = "csv")]
pub(crate) mod delimited;
#[cfg(feature = "csv")]
mod header;
pub(crate) mod index;
mod leaf_rows;
#[cfg(feature = "csv")]
mod read;
#[cfg(feature = "csv")]
pub(crate) mod table;

pub use comparisons::{Comparisons, Quadruplets, Triplets};
pub use index::Index;
pub use leaf_rows::LeafRows;
