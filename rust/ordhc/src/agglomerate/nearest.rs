//! The interface between engines and linkages: the similarities of clusters, and the nearest cluster.

use super::tolerance::Tolerance;
use crate::error::Result;

/// The nearest neighbour of a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// The nearest cluster. Among equally near clusters, this is the cluster with the smallest leaf.
    pub cluster: usize,
    /// The similarity to the nearest cluster.
    pub similarity: f64,
    /// True if rounding errors could make another cluster the nearest.
    pub doubtful: bool,
}

pub(crate) const NO_CLUSTER: Nearest = Nearest { cluster: usize::MAX, similarity: f64::NEG_INFINITY, doubtful: false };

impl Nearest {
    pub(super) fn new(cluster: usize, similarity: f64) -> Self {
        Self { cluster, similarity, doubtful: false }
    }

    /// Replaces this result by `other` if `other` is nearer, or equally near with a smaller leaf. Returns true if the
    /// result was replaced.
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

/// A definition of the similarity of two clusters, for the engines that merge the most similar pair.
///
/// A cluster is named by its smallest leaf, so merging `i < j` gives cluster `i`. Similarities may be computed in any
/// way, even without a matrix. `active` lists the existing clusters in ascending order.
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
    /// Returns the number of leaves.
    fn n_leaves(&self) -> usize;

    /// Writes the similarity of cluster `i` to each of `others`, which never contain `i`.
    ///
    /// # Errors
    /// Any error that prevents the linkage from computing similarities.
    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()>;

    /// Merges cluster `j` into cluster `i < j`. `active` are the clusters before the merge.
    ///
    /// # Errors
    /// Any error that prevents the linkage from merging.
    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()>;

    /// Returns the tolerance within which similarities count as equal. The default counts only equal numbers as equal.
    fn tolerance(&self) -> Tolerance {
        Tolerance::EXACT
    }

    /// Returns the active cluster that is nearest to `i`. Among equally near clusters, returns the cluster with the
    /// smallest leaf.
    ///
    /// # Errors
    /// The errors of [`Linkage::similarities`].
    fn nearest(&mut self, i: usize, active: &[usize]) -> Result<Nearest> {
        nearest_among(self, i, active)
    }
}

pub(super) fn nearest_among(linkage: &mut (impl Linkage + ?Sized), i: usize, clusters: &[usize]) -> Result<Nearest> {
    let others: Vec<usize> = clusters.iter().copied().filter(|&k| k != i).collect();
    let mut values = vec![0.0; others.len()];
    linkage.similarities(i, &others, &mut values)?;
    Ok(nearest_of(&others, &values, linkage.tolerance()))
}

/// Returns the first cluster of `others` whose similarity in `values` equals the largest similarity, within the
/// tolerance.
pub(super) fn nearest_of(others: &[usize], values: &[f64], tolerance: Tolerance) -> Nearest {
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
        return NO_CLUSTER;
    }
    let floor = tolerance.floor(largest);
    let Some(first) = values.iter().position(|&value| value >= floor) else { return NO_CLUSTER };
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
