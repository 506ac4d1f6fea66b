//! How good a dendrogram is.

mod kendall;
mod path;
mod revenue;

pub use kendall::{KendallTau, kendall_tau};
pub use revenue::{Revenue, revenue};
