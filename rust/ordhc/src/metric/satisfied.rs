//! The share of comparisons that a tree agrees with.

use super::count::same_leaves;
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::{Dendrogram, LcaSizes, Topology, Tree};

/// The weight of the comparisons with which a tree agrees, with which it disagrees, and which it leaves open.
/// [`satisfied`] defines these words.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Satisfied {
    /// The weight of the comparisons with which the tree agrees: the closer pair is also closer in the tree.
    pub agreed: f64,
    /// The weight of the comparisons with which the tree disagrees: the farther pair is closer in the tree.
    pub disagreed: f64,
    /// The weight of the comparisons that the tree leaves open: neither pair is closer in the tree.
    pub unresolved: f64,
}

impl Satisfied {
    /// Returns the total weight of all comparisons.
    pub fn total(&self) -> f64 {
        self.agreed + self.disagreed + self.unresolved
    }

    /// Returns the share of the total weight with which the tree agrees, or NaN if the total is 0.
    pub(crate) fn share(&self) -> f64 {
        self.agreed / self.total()
    }

    pub(crate) fn add(&mut self, verdict: i8, weight: f64) {
        match verdict {
            1 => self.agreed += weight,
            -1 => self.disagreed += weight,
            _ => self.unresolved += weight,
        }
    }
}

/// Returns the number of comparisons (or their weight, if they have weights) with which a tree agrees or disagrees, or
/// which it leaves open.
///
/// A tree agrees with a triplet (i, j, k) if i and j join before k joins them, and disagrees if i and k join first. The
/// tree leaves the triplet open if j and k join first, or if all three join at one node.
///
/// A tree agrees with a quadruplet (i, j, k, l) if the lowest common ancestor (LCA) of i and j is below the LCA of k
/// and l. If the LCAs are in different branches, the closer height decides. A tree without heights then leaves the
/// quadruplet open.
///
/// # Errors
/// Comparisons and a tree with different numbers of leaves; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::{Dendrogram, Kind, Monitor, Triplets, metric::satisfied};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity)?.into();
/// let answers = Triplets::new(vec![[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]], None)?;
/// let found = satisfied(&tree, &answers, None)?;
/// assert_eq!((found.agreed, found.disagreed, found.unresolved), (1.0, 1.0, 2.0));
///
/// let monitor = Monitor::new();
/// assert_eq!(satisfied(&tree, &answers, Some(&monitor))?, found);
/// assert_eq!(monitor.fraction(), 1.0);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn satisfied<const K: usize>(
    tree: &Tree,
    comparisons: &Comparisons<'_, K>,
    monitor: Option<&Monitor>,
) -> Result<Satisfied> {
    watched!(monitor);
    same_leaves(["the tree has", "the comparisons have"], [tree.topology().n_leaves(), comparisons.n_leaves()])?;
    let judge = Judge::new(tree.topology(), tree.dendrogram().ok().as_deref());
    let rows = comparisons.rows();
    let sums = parallel::watched_blocks(rows.len(), monitor, |block| {
        let mut found = Satisfied::default();
        rows.each(block, |at, row| {
            let weight = comparisons.weights().map_or(1.0, |weights| weights[at]);
            found.add(judge.verdict(row), weight);
        });
        found
    })?;
    Ok(sums.into_iter().fold(Satisfied::default(), |sum, more| Satisfied {
        agreed: sum.agreed + more.agreed,
        disagreed: sum.disagreed + more.disagreed,
        unresolved: sum.unresolved + more.unresolved,
    }))
}

/// Returns, for each comparison in order, 1 if the tree agrees, -1 if it disagrees, and 0 if it leaves the comparison
/// open.
///
/// # Errors
/// The errors of [`satisfied`], which adds up these values.
///
/// ```
/// use ordhc::bindings::verdicts;
/// use ordhc::{Dendrogram, Kind, Triplets};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity)?.into();
/// let answers = Triplets::new(vec![[0, 1, 2], [1, 2, 0], [2, 0, 1]], None)?;
/// assert_eq!(verdicts(&tree, &answers, None)?, [1, -1, 0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn verdicts<const K: usize>(
    tree: &Tree,
    comparisons: &Comparisons<'_, K>,
    monitor: Option<&Monitor>,
) -> Result<Vec<i8>> {
    watched!(monitor);
    same_leaves(["the tree has", "the comparisons have"], [tree.topology().n_leaves(), comparisons.n_leaves()])?;
    let judge = Judge::new(tree.topology(), tree.dendrogram().ok().as_deref());
    let rows = comparisons.rows();
    let parts = parallel::watched_blocks(rows.len(), monitor, |block| {
        let mut found = Vec::with_capacity(block.len());
        rows.each(block, |_, row| found.push(judge.verdict(row)));
        found
    })?;
    Ok(parts.concat())
}

pub(crate) struct Judge {
    lca: LcaSizes,
    /// The heights of the inner nodes, as dissimilarities. `None` if the tree has no heights.
    heights: Option<Vec<f64>>,
}

impl Judge {
    pub(crate) fn new(tree: &Topology, by_height: Option<&Dendrogram>) -> Self {
        let heights = by_height.map(|tree| {
            let sign = if tree.is_dissimilarity() { 1.0 } else { -1.0 };
            tree.heights().iter().map(|height| sign * height).collect()
        });
        Self { lca: LcaSizes::new(tree), heights }
    }

    pub(crate) fn of(tree: &Dendrogram) -> Self {
        Self::new(tree.topology(), Some(tree))
    }

    /// Returns 1 if the tree agrees, -1 if it disagrees, and 0 if it leaves the comparison open.
    pub(crate) fn verdict<const K: usize>(&self, row: &[i32; K]) -> i8 {
        let (near, far) = Comparisons::<K>::pairs(row);
        let (near, far) = (self.lca.node(near[0], near[1]), self.lca.node(far[0], far[1]));
        match near.cmp(&far) {
            std::cmp::Ordering::Equal => 0,
            // Both nodes are above the anchor of a triplet. Parents have larger numbers than children, so the node with
            // the larger number is above the other.
            order if K == 3 => order.reverse() as i8,
            std::cmp::Ordering::Less => self.earlier(near, far),
            std::cmp::Ordering::Greater => -self.earlier(far, near),
        }
    }

    /// Returns 1 if the node `first` is below `second`, or otherwise if `first` has the closer height. Returns -1 if
    /// `second` has the closer height, and 0 for equal heights or a tree without heights. The id of `first` must be
    /// smaller than that of `second`.
    fn earlier(&self, first: usize, second: usize) -> i8 {
        if self.lca.holds(second, first) {
            return 1;
        }
        let Some(heights) = &self.heights else { return 0 };
        match heights[first].partial_cmp(&heights[second]) {
            Some(std::cmp::Ordering::Less) => 1,
            Some(std::cmp::Ordering::Greater) => -1,
            _ => 0,
        }
    }

    /// Returns the number of leaves below the lowest common ancestor of the farther pair, minus the number of leaves
    /// below the lowest common ancestor of the closer pair.
    pub(crate) fn gain<const K: usize>(&self, row: &[i32; K]) -> i64 {
        let (near, far) = Comparisons::<K>::pairs(row);
        i64::from(self.lca.size(far[0], far[1])) - i64::from(self.lca.size(near[0], near[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn quadruplets_go_by_place_and_height() {
        // ((0,1),(2,3)) with both pairs at the same height, below a higher root.
        let tree = Dendrogram::new(vec![[0, 1], [2, 3], [4, 5]], vec![1.0, 1.0, 2.0], Kind::Dissimilarity).unwrap();
        let judge = Judge::of(&tree);
        assert_eq!(judge.verdict(&[0, 1, 2, 3]), 0);
        assert_eq!(judge.verdict(&[0, 1, 0, 2]), 1);
        assert_eq!(judge.verdict(&[0, 3, 2, 3]), -1);
        assert_eq!(judge.verdict(&[0, 3, 1, 2]), 0);
        // Heights need not be monotone: a later merge may be closer than an earlier one, and the root closer than both.
        for (heights, dissimilarity) in [([2.0, 1.0, 0.5], true), ([1.0, 2.0, 3.0], false)] {
            let tree =
                Dendrogram::new(vec![[0, 1], [2, 3], [4, 5]], heights.to_vec(), Kind::of(dissimilarity)).unwrap();
            let judge = Judge::of(&tree);
            assert_eq!(judge.verdict(&[2, 3, 0, 1]), 1);
            assert_eq!(judge.verdict(&[0, 1, 2, 3]), -1);
            assert_eq!(judge.verdict(&[0, 1, 0, 2]), 1);
            assert_eq!(judge.verdict(&[0, 2, 3, 2]), -1);
        }
        // A merge below another merge is closer, even if both have the same height.
        let tree = Dendrogram::new(vec![[0, 1], [2, 4], [3, 5]], vec![1.0, 1.0, 1.0], Kind::Dissimilarity).unwrap();
        let judge = Judge::of(&tree);
        assert_eq!(judge.verdict(&[0, 1, 2]), 1);
        assert_eq!(judge.verdict(&[0, 3, 2]), -1);
        assert_eq!(judge.verdict(&[3, 0, 1]), 0);
    }
}
