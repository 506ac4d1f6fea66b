//! What people answered: triplets and quadruplets, validated.

mod comparisons;
mod table;

pub use comparisons::{Comparisons, Id, Quadruplets, Triplets, narrow};
pub use table::{Columns, Table, TableOptions, parse_table};
