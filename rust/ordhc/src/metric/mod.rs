//! How good a dendrogram is.

mod revenue;
mod satisfied;

pub use revenue::{Revenue, revenue};
pub(crate) use satisfied::Judge;
pub use satisfied::{Satisfied, satisfied};
