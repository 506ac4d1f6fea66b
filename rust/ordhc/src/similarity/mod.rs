//! Similarities of pairs of leaves, and how to build them from comparisons.

mod adds;
mod condensed;
mod contexts;
mod dense_kernel;
mod kernel;
mod leaf_lengths;
mod near_far;
mod runs;
mod sparse_adds;
mod triangle;

pub use crate::numbers::Cell;
pub use adds::adds;
pub use condensed::{condensed_len, square_from_condensed};
pub use kernel::{Kernel, Normalization, mulk3, mulk4};
pub use leaf_lengths::leaf_lengths;
pub use near_far::{NearFarCounts, weights_less_lengths};
pub use runs::{Run, RunOptions, merge_runs, sorted_run};
pub use sparse_adds::sparse_adds;
pub use triangle::Triangle;
