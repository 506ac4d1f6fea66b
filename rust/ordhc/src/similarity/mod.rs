//! Similarities of pairs of leaves, and how to build them from comparisons.

mod adds;
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
