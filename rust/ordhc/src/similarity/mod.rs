//! Similarities of pairs of leaves, computed from comparisons.
//!
//! ```
//! use ordhc::similarity::{Normalization, Triangle, adds, mulk3};
//! use ordhc::Triplets;
//!
//! let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?;
//! let triangle = Triangle::new(3);
//! let mut pairs = vec![0; triangle.n_pairs()];
//! adds(&triplets, &mut pairs, None)?;
//! assert_eq!((pairs[triangle.index(0, 1)], pairs[triangle.index(0, 2)]), (2, -1));
//! let kernel = mulk3(&triplets, Normalization::Raw, None)?;
//! assert_eq!(kernel.pairs.len(), 3);
//! # Ok::<(), ordhc::Error>(())
//! ```

pub(crate) mod adds;
pub(crate) mod condensed;
mod contexts;
mod dense_kernel;
mod kernel;
mod leaf_lengths;
pub(crate) mod near_far;
pub(crate) mod runs;
mod sparse_adds;
mod triangle;

pub use crate::numbers::Cell;
pub use adds::adds;
pub use condensed::condensed_len;
pub use kernel::{Kernel, Normalization, mulk3, mulk4};
pub use leaf_lengths::leaf_lengths;
pub use sparse_adds::sparse_adds;
pub use triangle::Triangle;
pub(crate) use triangle::nth_pair;
