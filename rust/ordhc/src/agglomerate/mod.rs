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
//! `choose` names the algorithm for an input, and `job` runs it. All algorithms give the same tree, ties included.
//!
//! **Input.** A linkage is a [`Rule`](crate::linkage::Rule) (the recurrence of Lance and Williams, native or with
//! coefficients as formulas), a row update (a function that computes the merged cluster's row), or the [`Linkage`] trait,
//! which needs no matrix. Everything is a similarity inside: dissimilarities are negated, or squared and negated. A cluster
//! is named by its smallest leaf.
//!
//! **Algorithms.** Two clusters are reciprocal if each is the nearest of the other.
//!
//! * `naive` compares all pairs before every merge, in twice the precision; O(n^3). Tests compare the others with it.
//! * `nearest_pair` caches the nearest cluster of every cluster, and keeps outdated similarities as upper bounds. Any
//!   linkage; O(n^2) time in ordinary cases.
//! * `rounds` merge all reciprocal pairs at once, on all cores. Where a round would merge few pairs, `chain` continues: it
//!   walks from cluster to nearest cluster until two are reciprocal. Both need a linkage for which the order of reciprocal
//!   merges does not matter (`Update::commutes`): average, weighted, complete, ward, and reducible coefficients
//!   without negative gamma. They take O(n^2) time always. They find merges in another order than by similarity, and
//!   `RawMerge::sort` restores it.
//! * `ties` merges whole groups in a round, where ties leave few reciprocal pairs. `groups` first merges groups of leaves
//!   that are far apart, each by itself, as long as nothing outside of the group can matter.
//! * `centers` serves centroid and median linkage. It keeps sums over pairs, which do not cancel.
//! * `single` reads the input where it is: passes list the most similar pairs between clusters, and where ties leave too
//!   many of them a maximum spanning tree grows.
//! * `sparse` has its own algorithms for similarities of which few are stored.
//!
//! **Storage.** `CondensedRows` is a triangle. A round reads a triangle and writes the next, smaller one in the same memory,
//! and finds the nearest of each row while writing it. The first round reads the input, so the working copy
//! begins with what that round leaves. `Square` rewrites one row for each merge, and other rows learn of it when they are
//! looked at: they copy values from the merged rows where the square fits into a core's cache (up to 1,500 clusters), and
//! compute them again where it does not. It is packed as clusters go. Up to 1,500 leaves start on a square, and a triangle
//! becomes one in the same memory as soon as it fits and rounds get small. A round needs the columns of merging clusters:
//! `Columns` gathers them from eight rows at a time, because a column read by itself costs a cache line for each value.
//! `Store` is memory of the engine's own, or the caller's.
//!
//! **Ties.** The pair with the lexicographically smallest (smallest leaf of one cluster, smallest leaf of the other)
//! merges first. A merged cluster carries the smaller name of its parts, so that reciprocal pairs commute, ties included.
//! Single, complete, and average linkage of whole numbers (kept as exact sums) compare values exactly. Where similarities
//! are rounded, those with the same [`Tolerance::key`] (36 significant bits) are tied. This is transitive, so it does not
//! matter which pairs an algorithm compares.
//!
//! **Doubts.** A comparison is in doubt if rounding errors could decide it, because a value may lie on either side of
//! the boundary between two keys. `Doubts` settles a doubt where it arises: it computes the few similarities in question
//! from the leaves of their clusters, in twice the precision. This works for average, weighted and Ward's linkage in
//! rounds and chains; `centers` does the same. In three cases the merges are found once more from the input, in
//! twice the precision (`PreciseMatrix`): cached nearest pairs; three or more similarities that are nearly but not quite
//! equal, for which reciprocal pairs may not commute; and so many doubts that this takes less time. What was found says whether
//! a doubt was left open (`Found`). A doubt that remains is a warning: values of very different size have cancelled. Memory that is worked in does not keep the input, so it
//! is left alone where doubts are likely (values that repeat and are not exact); otherwise a doubt is a warning.

mod agglomeration;
mod apart;
mod between;
mod centers;
mod chain;
mod choose;
mod columns;
mod condensed_rows;
mod doubts;
mod engine;
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
pub(crate) use doubts::Doubts;
#[doc(hidden)]
pub use engine::Engine;
pub(crate) use matrix::with_values;
pub use matrix::{Layout, Matrix, Values};
pub(crate) use naive::naive;
pub(crate) use nearest::NOBODY;
pub use nearest::{Linkage, Nearest};
pub use nearest_pair::nearest_pair;
pub use row_update::RowMerge;
pub(crate) use single::merges_along;
pub(crate) use sparse::Pair;
pub use sparse::{Missing, SparsePairs};
pub(crate) use tied_clusters::{Finder, Space};
pub use tolerance::Tolerance;
pub(crate) use tolerance::rounding;
