//! How good a dendrogram is.

mod ari;
mod coloring;
mod cophenetic;
mod count;
mod dasgupta;
mod distortion;
mod kendall;
mod path;
mod purity;
mod revenue;
mod robinson_foulds;
#[cfg(test)]
mod samples;
mod satisfied;
mod sum;
mod triplet_distance;

pub use ari::{LevelScores, aari, aari_of_trees, ari};
pub use cophenetic::{cophenetic_correlation, cophenetic_correlation_of_trees};
pub(crate) use count::same_leaves;
pub use dasgupta::{Dasgupta, dasgupta_cost, dasgupta_cost_of, dasgupta_revenue, dasgupta_revenue_of};
pub use distortion::merge_distortion;
pub use kendall::{Itself, KendallTau, kendall_tau};
pub use purity::purity;
pub use revenue::{Revenue, best_revenue, revenue};
pub use robinson_foulds::{ClusterCounts, robinson_foulds};
pub(crate) use satisfied::Judge;
pub use satisfied::{Satisfied, satisfied, verdicts};
pub use triplet_distance::{TripletCounts, triplet_distance};
