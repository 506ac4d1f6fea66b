//! How good a dendrogram is.

mod ari;
mod coloring;
mod purity;
mod revenue;
mod robinson_foulds;
#[cfg(test)]
mod samples;
mod satisfied;
mod triplet_distance;

pub use ari::{LevelScores, aari, aari_of_trees, ari};
pub use purity::purity;
pub use revenue::{Revenue, revenue};
pub use robinson_foulds::{ClusterCounts, robinson_foulds};
pub(crate) use satisfied::Judge;
pub use satisfied::{Satisfied, satisfied};
pub use triplet_distance::{TripletCounts, triplet_distance};
