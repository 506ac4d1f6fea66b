//! What people answered: triplets and quadruplets, validated.

mod comparisons;

pub use comparisons::{Comparisons, Quadruplets, Triplets, narrow};
