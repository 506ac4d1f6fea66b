//! The dendrogram: what we believe the hierarchy to be.

mod build;
mod cut;
mod dendrogram;
mod lca;
mod newick;
mod nodes;
mod partition;
mod raw;
mod rest;

pub use build::build;
pub use dendrogram::Dendrogram;
pub use lca::LcaSizes;
pub(crate) use nodes::{Child, dendrogram_of_nodes};
pub use partition::Partition;
pub(crate) use partition::with_initial;
pub(crate) use raw::RawMerge;
