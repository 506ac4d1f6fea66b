//! How sure a tree is: trees of resampled answers, and what they have in common.

pub(crate) mod adds;
mod clusters;
pub(crate) mod draw;
pub(crate) mod tally;

pub use clusters::support;
