//! Similarities of pairs of leaves, and how to build them from comparisons.

mod adds;
mod condensed;
mod contexts;
mod dense_kernel;
mod kernel;
mod sparse_adds;

pub use adds::{Cell, adds};
pub use condensed::{condensed_len, pair_index, square_from_condensed};
pub(crate) use condensed::{leaves_of_condensed, row_start, triangle_ranges};
pub use kernel::{Kernel, mulk3, mulk4};
pub use sparse_adds::sparse_adds;
