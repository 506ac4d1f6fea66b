//! The dendrogram: what we believe the hierarchy to be.

mod additive;
mod build;
mod cut;
mod dendrogram;
mod general;
mod heavy_paths;
mod lca;
mod newick;
mod nodes;
mod partition;
mod range_max;
mod raw;
mod rest;
mod restriction;
mod topology;

pub use additive::AdditiveTree;
pub use build::build;
pub use dendrogram::Dendrogram;
pub use general::Tree;
pub(crate) use heavy_paths::HeavyPaths;
pub use lca::LcaSizes;
pub use newick::{Annotations, Newick, NewickTree, Underscores};
pub(crate) use nodes::{Child, dendrogram_of_nodes};
pub use partition::Partition;
pub(crate) use partition::with_initial;
pub(crate) use range_max::RangeMax;
pub(crate) use raw::RawMerge;
pub(crate) use restriction::Restriction;
pub use topology::Topology;
