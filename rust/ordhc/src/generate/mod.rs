//! Generators of data whose true tree is known: planted hierarchies, random trees, and oracles that answer questions.
//!
//! ```
//! use ordhc::generate::{TreeOracle, TreeShape, Wrong, random_tree};
//!
//! let tree = random_tree(TreeShape::Yule, 20, 7)?;
//! // An oracle that is always right, and an oracle that is wrong with probability 0.2.
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
