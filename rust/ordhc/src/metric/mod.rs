//! How good a dendrogram is.

mod cophenetic;
mod dasgupta;
mod distortion;
mod kendall;
mod path;
mod revenue;
mod sum;

pub use cophenetic::{cophenetic_correlation, cophenetic_correlation_of_trees};
pub use dasgupta::{Dasgupta, dasgupta_cost, dasgupta_revenue};
pub use distortion::merge_distortion;
pub use kendall::{KendallTau, kendall_tau};
pub use revenue::{Revenue, best_revenue, revenue};
