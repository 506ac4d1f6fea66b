//! Average linkage of dot products: the mean dot product of two clusters is that of their means.

use super::clusters::MeanClusters;
use super::dense_rows::Vectors;
use super::rounds;
use crate::agglomerate::Tolerance;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};

/// Average linkage of dot products, without a matrix of pairs.
///
/// The similarity of two clusters is the average dot product of their vectors, which is the dot
/// product of their means (J. Gray et al., "Hierarchical clustering with dot products recovers hidden
/// tree structure"). Heights are these averages times `scale`: 1 / p for an average over
/// coordinates. Merges stand in order of height. `initial` are clusters to start from: as long as
/// there are pairs within them, the most similar one of these is merged; merges within come first, at
/// least as high as the closest one after.
///
/// Time is O(n^2 p), memory O(n p): a double- and a single-precision copy of the vectors.
///
/// Ties take the pair with the lexicographically smallest (smallest leaf, smallest leaf): values of the same
/// [`Tolerance::key`], which are rounded, as those of a matrix of dot products are, but otherwise. For whole numbers whose sums are exact, the tree is that of
/// [`Agglomeration`](crate::agglomerate::Agglomeration) with all its ties.
///
/// # Errors
/// Initial clusters of another number of leaves; a `scale` that isn't positive and finite; heights that
/// overflow; not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::vectors::{Vectors, mean_dot_linkage};
///
/// let vectors = Vectors::new(&[3.0, 0.0, 2.0, 0.0, 0.0, 4.0, 1.0, 2.0], 4, 2)?;
/// let tree = mean_dot_linkage(&vectors, 1.0, None, None)?;
/// assert_eq!(tree.newick().to_string(), "((2,3),(0,1));");
/// assert_eq!(tree.heights(), [8.0, 6.0, 1.25]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn mean_dot_linkage(
    vectors: &Vectors<'_>,
    scale: f64,
    initial: Option<&Partition>,
    monitor: Option<&Monitor>,
) -> Result<Dendrogram> {
    watched!(monitor);
    let n = vectors.n_leaves();
    initial.map_or(Ok(()), |initial| initial.check(n))?;
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Error::out_of_range("scale", scale, "the positive, finite numbers"));
    }
    let unit = Unit::below_one(vectors.largest());
    let (p, sums) = (vectors.n_coordinates(), vectors.sums_are_exact());
    let load = |leaves: &mut dyn ExactSizeIterator<Item = usize>| {
        let mut clusters = MeanClusters::new(leaves.len(), p, sums)?;
        for (at, leaf) in leaves.enumerate() {
            clusters.set(at, leaf as u32, 1.0, vectors.row(leaf).map(|x| unit.shrink(x)));
        }
        Ok(clusters)
    };
    let tolerance = if sums { Tolerance::EXACT } else { Tolerance::GRID };
    let sort = |merges| RawMerge::sort(n, merges, tolerance, monitor);
    let mut merges = match initial.filter(|initial| initial.n_clusters() < n) {
        None => {
            monitor.start(rounds::work(n));
            sort(rounds::merge_all(load(&mut (0..n))?, monitor)?.0)
        }
        Some(initial) => {
            let k = initial.n_clusters();
            monitor.start(
                initial.clusters().iter().map(|leaves| rounds::work(leaves.len())).sum::<u64>() + rounds::work(k),
            );
            let mut start = MeanClusters::new(k, p, sums)?;
            let mut within = Vec::with_capacity(n - k);
            for (at, leaves) in initial.clusters().iter().enumerate() {
                let (merges, whole) = rounds::merge_all(load(&mut leaves.iter().copied())?, monitor)?;
                within.extend(merges);
                start.set(at, leaves[0] as u32, leaves.len() as f64, whole.row(0).iter().copied());
            }
            let after = rounds::merge_all(start, monitor)?.0;
            with_initial(sort(within), sort(after))
        }
    };
    for merge in &mut merges {
        merge.similarity = unit.grow(merge.similarity, 2) * scale + 0.0;
    }
    let mut tree = Dendrogram::in_order(n, merges)?;
    tree.make_monotone();
    Ok(tree)
}

/// A power of two that brings all coordinates below 1, so that nothing overflows on the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    exponent: i32,
}

impl Unit {
    pub(super) fn below_one(largest: f64) -> Self {
        let exponent = if largest > 0.0 { largest.log2().floor() as i32 + 1 } else { 0 };
        Self { exponent }
    }

    pub(super) fn shrink(self, x: f64) -> f64 {
        times_power(x, -self.exponent)
    }

    /// For sums of products of `degree` coordinates.
    pub(super) fn grow(self, x: f64, degree: i32) -> f64 {
        times_power(x, degree * self.exponent)
    }
}

fn times_power(x: f64, exponent: i32) -> f64 {
    let first = exponent / 2;
    let second = first / 2;
    x * 2f64.powi(second) * 2f64.powi(first - second) * 2f64.powi(exponent - first)
}
