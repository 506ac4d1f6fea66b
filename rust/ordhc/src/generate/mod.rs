//! Data with a known answer.

mod planted;
mod quadruplet_oracle;
mod random_tree;
mod tree_oracle;

pub use planted::{Planted, PlantedModel};
pub use quadruplet_oracle::QuadrupletOracle;
pub use random_tree::{TreeShape, random_tree};
pub use tree_oracle::{TreeOracle, Wrong};
