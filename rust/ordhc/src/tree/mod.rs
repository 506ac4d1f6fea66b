//! Trees over the leaves: dendrograms, cuts, lowest common ancestors and Newick text.
//!
//! ```
//! use ordhc::tree::{Dendrogram, Topology};
//! use ordhc::Kind;
//!
//! let topology = Topology::from_merges(vec![[0, 1], [2, 3], [4, 5]])?;
//! let tree = Dendrogram::of_nodes(topology, vec![1.0, 2.0, 5.0], Kind::Dissimilarity)?;
//! assert_eq!(tree.cut_clusters(2)?, [0, 0, 1, 1]);
//! let text = tree.newick().names(&["cat", "dog", "car", "bus"])?.lengths().to_string();
//! let (read, names) = Dendrogram::from_newick(&text)?;
//! assert_eq!((read.n_leaves(), names[3].as_str()), (4, "bus"));
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! `Topology` is the shape of a tree: its nodes. [`Dendrogram`] is a tree with heights, and `AdditiveTree` is a tree
//! with edge lengths. The enum `Tree` is a tree with heights, with lengths, or with its shape only. A function that
//! needs heights or lengths calls `Tree::dendrogram` or `Tree::edge_lengths`, which return an error if the tree has
//! neither. Each function of a tree must give the same result if children are shuffled or nodes are renumbered.
//!
//! In a tree with heights, the length of the edge above a node is half the difference of the heights at its ends. So in
//! a tree of dissimilarities, the path between two leaves is as long as the height of their lowest common ancestor.

mod additive;
mod build;
mod cut;
mod dendrogram;
mod general;
mod heavy_paths;
pub(crate) mod lca;
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
pub(crate) use lca::LcaSizes;
pub use newick::{Annotations, Newick, NewickTree, Underscores};
pub(crate) use nodes::{Child, dendrogram_of_nodes};
pub use partition::Partition;
pub(crate) use partition::with_initial;
pub(crate) use range_max::RangeMax;
pub(crate) use raw::{Found, RawMerge};
pub(crate) use restriction::Restriction;
pub use topology::Topology;
