//! Agglomeration: merge the most similar pair of clusters until one is left.
//!
//! `job` chooses the algorithm from the input. All algorithms give the same tree, ties included.
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
//! * `small` runs the chain on a square that fits into a core's cache: for up to 1,500 leaves, and for the last
//!   1,500 clusters of more.
//! * `sparse` has its own algorithms for similarities of which few are stored.
//!
//! **Storage.** `CondensedRows` is a triangle. A round reads a triangle and writes the next, smaller one in the same memory,
//! and finds the nearest of each row while writing it. The first round reads the input, so the working copy
//! begins with what that round leaves. `SquareRows` rewrites one row for each merge; other rows replay a `log` of merges
//! when they are read, and columns are packed when a third of the clusters has gone. A triangle becomes a square
//! in the same memory as soon as the square fits and rounds get small. A round needs the columns of merging clusters:
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
//! equal, for which reciprocal pairs may not commute; and so many doubts that this takes less time. A doubt that remains
//! is a warning: values of very different size have cancelled. Memory that is worked in does not keep the input, so it
//! is left alone where doubts are likely (values that repeat and are not exact); otherwise a doubt is a warning.

mod agglomeration;
mod apart;
mod between;
mod centers;
mod chain;
mod columns;
mod condensed_rows;
mod doubts;
mod engine;
mod equal;
mod few_square;
mod groups;
mod job;
mod kept;
mod lent;
mod log;
mod matrix;
pub(crate) mod naive;
mod nearest_pair;
mod precise_matrix;
mod read;
mod rounds;
mod row_update;
mod rows;
mod search;
mod single;
mod small;
mod spanning_tree;
mod sparse;
mod square_rounds;
mod store;
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
pub use nearest_pair::nearest_pair;
pub use row_update::RowMerge;
pub(crate) use single::merges_along;
pub(crate) use sparse::Pair;
pub use sparse::{Missing, SparsePairs};
use square_rounds::parts as parallel_parts;
pub(crate) use tied_clusters::{Finder, Space};
pub use tolerance::Tolerance;
pub(crate) use tolerance::rounding;

use crate::error::Result;

/// The nearest cluster of a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// The nearest cluster; among equally near ones the one with the smallest leaf.
    pub cluster: usize,
    /// Its similarity.
    pub similarity: f64,
    /// Whether another cluster might be the nearest, had similarities been rounded otherwise.
    pub doubtful: bool,
}

pub(crate) const NOBODY: Nearest = Nearest { cluster: usize::MAX, similarity: f64::NEG_INFINITY, doubtful: false };

impl Nearest {
    fn new(cluster: usize, similarity: f64) -> Self {
        Self { cluster, similarity, doubtful: false }
    }

    /// Takes over another one that is nearer, or as near and before. Returns whether it was.
    pub(crate) fn offer(&mut self, other: Self, tolerance: Tolerance) -> bool {
        let (order, doubtful) = tolerance.compare(other.similarity, self.similarity);
        let doubtful = self.doubtful | other.doubtful | doubtful;
        let better = order.is_gt() || (order.is_eq() && other.cluster < self.cluster);
        if better {
            *self = other;
        }
        self.doubtful = doubtful;
        better
    }
}

/// What the similarity of two clusters means, for the engines that merge the most similar pair.
///
/// A cluster is named by its smallest leaf, so that merging `i < j` gives cluster `i`. Nothing is
/// assumed about how similarities come about: there need not be a matrix. `active` lists the
/// clusters there are, ascending.
///
/// ```
/// use ordhc::agglomerate::{Linkage, nearest_pair};
///
/// /// Points on a line; clusters are as similar as their leftmost points are close.
/// struct Leftmost(Vec<f64>);
///
/// impl Linkage for Leftmost {
///     fn n_leaves(&self) -> usize {
///         self.0.len()
///     }
///     fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> ordhc::Result<()> {
///         for (value, &k) in out.iter_mut().zip(others) {
///             *value = -(self.0[i] - self.0[k]).abs();
///         }
///         Ok(())
///     }
///     fn merge(&mut self, i: usize, j: usize, _active: &[usize]) -> ordhc::Result<()> {
///         self.0[i] = self.0[i].min(self.0[j]);
///         Ok(())
///     }
/// }
///
/// let tree = nearest_pair(&mut Leftmost(vec![0.0, 1.0, 5.0]), None)?;
/// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
/// # Ok::<(), ordhc::Error>(())
/// ```
pub trait Linkage {
    /// The number of leaves.
    fn n_leaves(&self) -> usize;

    /// Writes the similarity of cluster `i` with each of `others` (never `i` itself).
    ///
    /// # Errors
    /// Whatever keeps the linkage from answering.
    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()>;

    /// Merges cluster `j` into cluster `i < j`; `active` are the clusters before the merge.
    ///
    /// # Errors
    /// Whatever keeps the linkage from merging.
    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()>;

    /// When similarities count as equal. By default, when they are.
    fn tolerance(&self) -> Tolerance {
        Tolerance::EXACT
    }

    /// The nearest of the active clusters to `i`; of equal ones, the one with the smallest leaf.
    ///
    /// # Errors
    /// As [`Linkage::similarities`].
    fn nearest(&mut self, i: usize, active: &[usize]) -> Result<Nearest> {
        nearest_among(self, i, active)
    }
}

/// The nearest of some clusters to `i`.
fn nearest_among(linkage: &mut (impl Linkage + ?Sized), i: usize, clusters: &[usize]) -> Result<Nearest> {
    let others: Vec<usize> = clusters.iter().copied().filter(|&k| k != i).collect();
    let mut values = vec![0.0; others.len()];
    linkage.similarities(i, &others, &mut values)?;
    Ok(nearest_of(&others, &values, linkage.tolerance()))
}

/// The first of `others` whose value equals the largest one.
fn nearest_of(others: &[usize], values: &[f64], tolerance: Tolerance) -> Nearest {
    const LANES: usize = 16;
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = larger(lanes[lane], chunk[lane]);
        }
    }
    let largest = lanes.iter().chain(rest).copied().fold(f64::NEG_INFINITY, larger);
    if largest == f64::NEG_INFINITY {
        return NOBODY;
    }
    let floor = tolerance.floor(largest);
    let Some(first) = values.iter().position(|&value| value >= floor) else { return NOBODY };
    let mut best = Nearest::new(others[first], values[first]);
    if tolerance == Tolerance::EXACT {
        return best;
    }
    let (others, values) = (&others[first + 1..], &values[first + 1..]);
    if values.iter().fold(false, |any, &value| any | (value >= floor)) {
        for (&cluster, &similarity) in others.iter().zip(values).filter(|&(_, &value)| value >= floor) {
            best.offer(Nearest::new(cluster, similarity), tolerance);
        }
    }
    best
}
