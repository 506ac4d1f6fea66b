//! What people answered: triplets and quadruplets, validated.

mod comparisons;
mod delimited;
mod header;
mod leaf_rows;
mod table;

pub use comparisons::{Comparisons, Quadruplets, Triplets, narrow};
pub use delimited::{Cell, Delimiter, Rows, sniff};
pub use leaf_rows::LeafRows;
pub use table::{Columns, Labels, Table, TableOptions, parse_table};
