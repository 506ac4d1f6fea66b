//! Hierarchical clustering from comparisons.
//!
//! People and models can reliably answer questions such as "is A more like B or like C?". This crate turns such answers
//! into a dendrogram, and measures how good the dendrogram is.
//!
//! ```
//! use ordhc::agglomerate::{Agglomeration, Layout, Matrix, Values};
//! use ordhc::{Kind, Triplets, linkage::Rule, similarity};
//!
//! // anchor, near, far: "0 is more like 1 than 2".
//! let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 3], [2, 3, 0], [3, 2, 1]], None)?;
//! let mut pairs = vec![0; similarity::condensed_len(triplets.n_leaves())];
//! similarity::adds(&triplets, &mut pairs, None)?;
//! let matrix = Matrix::new(Values::I32(&pairs), Layout::Condensed, Kind::Similarity)?;
//! let tree = Agglomeration::new(Rule::Average).run(&matrix)?;
//! assert_eq!(tree.newick().to_string(), "((0,1),(2,3));");
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! [`adds_average_linkage`] does the same in one call.
//!
//! # Modules
//!
//! * [`comparison`]: comparisons, as [`Triplets`] and [`Quadruplets`];
//! * [`similarity`]: similarities of pairs of leaves, from comparisons;
//! * [`linkage`]: definitions of the similarity of two clusters;
//! * [`mod@agglomerate`]: merges the most similar pair of clusters until one is left;
//! * [`preference`]: linkages computed from the comparisons directly, without similarities;
//! * [`tree`]: the [`Dendrogram`], cuts, lowest common ancestors, and Newick text;
//! * [`metric`]: scores of a dendrogram;
//! * [`mod@refine`]: improves trees by moving subtrees;
//! * [`bootstrap`]: the uncertainty of a dendrogram, by resampling;
//! * [`posterior`]: the posterior distribution of trees, given noisy comparisons;
//! * [`vectors`]: hierarchies from vectors;
//! * [`embedding`]: losses of ordinal embeddings;
//! * [`learn`]: learners, which choose the questions themselves;
//! * [`generate`]: simulated data whose true tree is known.
//!
//! # Policies
//!
//! *Ties*: every cluster is named by its smallest leaf. If several pairs of clusters are equally similar, the
//! lexicographically smallest pair of names merges first. All engines follow this rule.
//!
//! *NaN and infinity* in weights or similarities are errors. The error names the position of the value.
//!
//! *Determinism*: the same input gives the same output for any number of threads (`ORDHC_NUM_THREADS`, by default all
//! cores).
//!
//! *Long computations* report progress to a [`Monitor`], and stop when it is cancelled.
//!
//! # Limits
//!
//! There can be at most 2^31 - 1 leaves. Agglomeration of a matrix needs about the memory of one value for each pair of
//! leaves.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[macro_use]
#[doc(hidden)]
pub mod entered;
#[macro_use]
mod named;
#[macro_use]
mod wide;

mod error;
mod kind;
#[macro_use]
mod monitor;
mod numbers;
mod parallel;
mod search;
mod sorting;
#[cfg(test)]
mod testkit;
mod union_find;

pub mod agglomerate;
#[doc(hidden)]
pub mod bindings;
pub mod bootstrap;
pub mod comparison;
pub mod embedding;
pub mod generate;
pub mod learn;
pub mod linkage;
#[doc(hidden)]
pub mod memory;
pub mod metric;
pub mod posterior;
mod precise;
pub mod preference;
pub mod refine;
pub mod similarity;
pub mod tree;
pub mod vectors;

pub use comparison::{Quadruplets, Triplets};
pub use error::{Error, Position, Result};
pub use kind::Kind;
pub use monitor::Monitor;
pub use parallel::limit_threads;
pub use tree::Dendrogram;

use agglomerate::{Agglomeration, Layout, Matrix, Values};
use comparison::Comparisons;

/// Returns the average linkage of AddS similarities: AddS3-AL for triplets, and AddS4-AL for quadruplets (Mandal,
/// Perrot & Ghoshdastidar, "A revenue function for comparison-based hierarchical clustering"). Each comparison adds to
/// the AddS similarity of its closer pair of leaves, and subtracts from that of its farther pair.
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// ```
/// let triplets = ordhc::Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?;
/// assert_eq!(ordhc::adds_average_linkage(&triplets)?.newick().to_string(), "(2,(0,1));");
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn adds_average_linkage<const K: usize>(comparisons: &Comparisons<'_, K>) -> Result<Dendrogram> {
    let monitor = Monitor::new();
    let mut pairs = memory::Buffer::zeros("the similarities", similarity::condensed_len(comparisons.n_leaves()))?;
    similarity::adds(comparisons, &mut pairs[..], Some(&monitor))?;
    if comparisons.n_leaves() == 1 {
        return Dendrogram::new(Vec::new(), Vec::new(), Kind::Similarity);
    }
    let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Similarity)?;
    Agglomeration::new(linkage::Rule::Average).monitor(&monitor).run(&matrix)
}
