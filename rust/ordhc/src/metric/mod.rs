//! Scores of dendrograms: agreement with a matrix, comparisons, labels or another tree.
//!
//! ```
//! use ordhc::metric::{ari, purity, robinson_foulds};
//! use ordhc::Dendrogram;
//!
//! let (tree, _) = Dendrogram::from_newick("((0,1),(2,3));")?;
//! let (other, _) = Dendrogram::from_newick("((0,2),(1,3));")?;
//! assert_eq!(robinson_foulds(tree.topology(), other.topology())?.distance(), 4);
//! let labels = [0, 0, 1, 1];
//! assert_eq!(purity(tree.topology(), &labels)?, 1.0);
//! assert_eq!(ari(&tree.cut_clusters(2)?, &labels)?, 1.0);
//! # Ok::<(), ordhc::Error>(())
//! ```

pub(crate) mod ari;
pub(crate) mod ceiling;
mod coloring;
pub(crate) mod cophenetic;
mod count;
pub(crate) mod dasgupta;
mod distortion;
pub(crate) mod kendall;
mod path;
mod purity;
mod revenue;
pub(crate) mod robinson_foulds;
#[cfg(test)]
mod samples;
pub(crate) mod satisfied;
mod sum;
pub(crate) mod triplet_distance;

pub use ari::{aari, ari};
pub use cophenetic::cophenetic_correlation;
pub(crate) use count::same_leaves;
pub use dasgupta::{Dasgupta, dasgupta_cost, dasgupta_revenue};
pub use distortion::merge_distortion;
pub use kendall::{Itself, KendallTau, kendall_tau};
pub use purity::purity;
pub use revenue::{Revenue, best_revenue, revenue};
pub use robinson_foulds::robinson_foulds;
pub(crate) use satisfied::Judge;
pub use satisfied::{Satisfied, satisfied};
pub use triplet_distance::triplet_distance;
