//! What people answered: triplets and quadruplets, validated; delimited text of them (with the feature `csv`).

pub(crate) mod comparisons;
#[cfg(feature = "csv")]
pub(crate) mod delimited;
#[cfg(feature = "csv")]
mod header;
mod leaf_rows;
#[cfg(feature = "csv")]
pub(crate) mod table;

pub use comparisons::{Comparisons, Quadruplets, Triplets};
pub use leaf_rows::LeafRows;
