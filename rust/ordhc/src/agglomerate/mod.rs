//! Agglomeration: merge the most similar pair of clusters until one is left.
//!
//! ```
//! use ordhc::agglomerate::{Agglomeration, Layout, Matrix, Values};
//! use ordhc::{Kind, linkage::Rule};
//!
//! let distances = [1.0, 4.0, 5.0, 3.0, 6.0, 2.0]; // (0,1), (0,2), (0,3), (1,2), (1,3), (2,3)
//! let matrix = Matrix::new(Values::F64(&distances), Layout::Condensed, Kind::Dissimilarity)?;
//! let tree = Agglomeration::new(Rule::Complete).run(&matrix)?;
//! assert_eq!((tree.newick().to_string(), tree.heights()), ("((0,1),(2,3));".into(), &[1.0, 2.0, 6.0][..]));
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! `choose` selects the algorithm for an input, and `job` runs the algorithm. All algorithms give the same tree,
//! including ties.
//!
//! **Input.** A linkage is given in one of three ways:
//!
//! * as a [`Rule`](crate::linkage::Rule): the Lance-Williams recurrence, built in or with coefficients as formulas;
//! * as a row update: a function that computes the merged cluster's row;
//! * as an implementation of the [`Linkage`] trait, which needs no matrix.
//!
//! All engines compute with similarities: dissimilarities are negated, or squared and negated. A cluster is named by
//! its smallest leaf.
//!
//! **Algorithms.** Two clusters are reciprocal if each is the nearest neighbour of the other. The first lines of each
//! file describe its algorithm. For three reasons there are several:
//!
//! * The order of reciprocal merges does not matter for average, weighted, complete, ward, and reducible coefficients
//!   without negative gamma (`Update::commutes`). These merge in `rounds`, on all cores, or along a `chain`, always in
//!   O(n^2) time, and `RawMerge::sort` restores the order of similarity. `nearest_pair` works for any linkage.
//! * A condensed matrix (`condensed_rows`) needs half the memory of a square matrix (`square`), but columns are read
//!   with a stride. A round reads and writes condensed matrices row by row. Single merges are faster in a square matrix,
//!   and fastest if it fits into a core's cache.
//! * Tests compare all algorithms with `naive`, which computes with about 32 digits in O(n^3).
//!
//! **Ties.** Among tied pairs, the lexicographically smallest pair of names merges first. A merged cluster keeps the
//! smaller name of the two clusters, so the order of reciprocal merges does not matter, even under ties. Single,
//! complete, and average linkage of whole numbers (stored as exact sums) compare values exactly. If similarities are
//! rounded, similarities are tied if they are equal after rounding to 36 significant bits ([`Tolerance::key`]). This
//! relation is transitive, so the result does not depend on which pairs an algorithm compares.
//!
//! **Doubts.** There is a doubt if rounding errors could change which of two similarities is larger, because a value
//! may be on either side of the boundary between two rounded values. `Doubts` then computes these two similarities
//! again from the leaves of their clusters, with about 32 digits instead of 16. This works for average, weighted and
//! Ward's linkage in rounds and nearest-neighbour chains. `centers` does the same.
//!
//! In three cases, all merges are computed again from the input, with about 32 digits (`PreciseMatrix`):
//!
//! * a doubt among cached nearest pairs;
//! * three or more similarities that are nearly but not exactly equal, for which the order of reciprocal merges
//!   can matter;
//! * so large a number of doubts that computing all merges again takes less time.
//!
//! `Found` records whether a doubt is left open. A remaining doubt causes a warning: values of very different size have
//! cancelled.
//!
//! Working in the memory of the input destroys the input. So this memory is not used if doubts are likely (values that
//! repeat and are not exact). Otherwise, a doubt causes a warning.

mod agglomeration;
mod any_update;
mod between;
mod centers;
mod chain;
mod choose;
mod columns;
mod condensed_rows;
mod constraints;
mod doubts;
mod engine;
mod grid;
mod groups;
mod job;
mod kept;
mod matrix;
pub(crate) mod naive;
mod nearest;
mod nearest_pair;
mod precise_matrix;
mod read;
mod rounds;
mod row_update;
mod search;
mod separated;
mod single;
mod spanning_tree;
mod sparse;
mod square;
mod store;
mod task;
mod threads;
mod tied_clusters;
mod ties;
mod tolerance;
mod triangle_rows;

pub use agglomeration::{Agglomeration, ByRows};
pub(crate) use chain::Chain;
pub use constraints::Constraints;
#[doc(hidden)]
pub use engine::Engine;
pub(crate) use job::linkage_of_clusters;
pub(crate) use matrix::with_values;
pub use matrix::{Layout, Matrix, Values};
pub(crate) use naive::naive;
pub(crate) use nearest::NO_CLUSTER;
pub use nearest::{Linkage, Nearest};
pub use nearest_pair::nearest_pair;
pub use row_update::RowMerge;
pub(crate) use single::merges_along;
pub(crate) use sparse::Pair;
pub use sparse::{Missing, SparsePairs};
pub(crate) use tied_clusters::{Finder, Space};
pub use tolerance::Tolerance;
pub(crate) use tolerance::rounding;
