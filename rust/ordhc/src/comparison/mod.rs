//! What people answered: triplets and quadruplets, validated; delimited text of them (with the feature `csv`).

mod comparisons;
#[cfg(feature = "csv")]
mod delimited;
#[cfg(feature = "csv")]
mod header;
mod leaf_rows;
#[cfg(feature = "csv")]
mod table;

#[doc(hidden)]
pub use comparisons::narrow;
pub use comparisons::{Comparisons, Quadruplets, Triplets};
#[cfg(feature = "csv")]
pub use delimited::{Cell, Delimiter, Rows, first_row, last_row, sniff};
pub use leaf_rows::LeafRows;
#[cfg(feature = "csv")]
pub use table::{Columns, Labels, Table, TableOptions, parse_table};
