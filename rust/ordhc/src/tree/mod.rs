//! The dendrogram: what we believe the hierarchy to be.

mod cut;
mod dendrogram;
mod lca;
mod newick;
mod raw;

pub use dendrogram::Dendrogram;
pub use lca::LcaSizes;
pub(crate) use raw::RawMerge;
