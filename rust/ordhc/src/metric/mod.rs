//! How good a dendrogram is.

mod revenue;

pub use revenue::{Revenue, revenue};
