//! What people answered: triplets and quadruplets, validated.

mod comparisons;
mod delimited;
mod header;
mod table;

pub use comparisons::{Comparisons, Id, Quadruplets, Triplets, narrow};
pub use delimited::{Cell, Delimiter, Rows, sniff};
pub use table::{Columns, Labels, Table, TableOptions, parse_table};
