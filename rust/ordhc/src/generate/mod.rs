//! Generators of data with a known answer: planted hierarchies, random trees, and oracles.
//!
//! ```
//! use ordhc::generate::{TreeOracle, TreeShape, Wrong, random_tree};
//!
//! let tree = random_tree(TreeShape::Yule, 20, 7)?;
//! // An oracle that knows the tree, and one that gives a wrong answer to one question in five.
//! let mut oracle = TreeOracle::new(tree.topology());
//! assert_eq!(oracle.answer([0, 1, 2]), oracle.truth([0, 1, 2]));
//! let noisy = TreeOracle::new(tree.topology()).with_noise(0.8, Wrong::Random, 1)?;
//! assert_eq!(noisy.n_leaves(), 20);
//! # Ok::<(), ordhc::Error>(())
//! ```

pub(crate) mod planted;
mod quadruplet_oracle;
mod random_tree;
mod tree_oracle;

pub use planted::{Planted, PlantedModel};
pub use quadruplet_oracle::QuadrupletOracle;
pub use random_tree::{TreeShape, random_tree};
pub use tree_oracle::{TreeOracle, Wrong};
