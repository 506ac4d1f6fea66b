//! Lowest common ancestors.

use super::RangeMax;
use super::dendrogram::Dendrogram;

/// Answers how many leaves the smallest cluster has that holds two given leaves.
///
/// Leaves are laid out from left to right; between two neighbours stands the merge that joins them.
/// The LCA of two leaves is the latest merge between them, a range maximum (sparse table, O(n log n)
/// to build, O(1) a question).
///
/// ```
/// use ordhc::{Dendrogram, Kind, tree::LcaSizes};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], Kind::Dissimilarity)?;
/// let lca = LcaSizes::new(&tree);
/// assert_eq!((lca.size(0, 1), lca.size(1, 2), lca.size(2, 2)), (2, 3, 1));
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LcaSizes {
    places: Vec<u32>,
    /// The merges in the gaps between places.
    gaps: RangeMax,
    sizes: Vec<u32>,
    /// By cluster: its first place.
    starts: Vec<u32>,
}

impl LcaSizes {
    /// Prepares a tree for questions.
    pub fn new(tree: &Dendrogram) -> Self {
        let places = Dendrogram::places(&tree.leaf_order());
        let (gaps, starts) = merges_in_gaps(tree, &places);
        Self { places, gaps: RangeMax::new(gaps), sizes: tree.sizes().to_vec(), starts }
    }

    /// The latest merge that joins two different leaves.
    pub fn merge(&self, i: usize, j: usize) -> usize {
        let (i, j) = (self.places[i], self.places[j]);
        self.gaps.max(i.min(j) as usize, i.max(j) as usize) as usize
    }

    /// Whether the cluster of merge `outer` holds that of merge `inner`.
    pub(crate) fn holds(&self, outer: usize, inner: usize) -> bool {
        let [first, start] = [inner, outer].map(|merge| self.starts[self.n_leaves() + merge]);
        (start..start + self.sizes[outer]).contains(&first) && inner <= outer
    }

    /// The number of leaves under the LCA of two leaves, 1 for a leaf with itself.
    pub fn size(&self, i: usize, j: usize) -> u32 {
        if i == j { 1 } else { self.sizes[self.merge(i, j)] }
    }

    /// The number of leaves of the tree.
    pub fn n_leaves(&self) -> usize {
        self.places.len()
    }
}

/// By gap between two neighbouring places the merge that joins them, and by cluster its first place.
pub(crate) fn merges_in_gaps(tree: &Dendrogram, places: &[u32]) -> (Vec<u32>, Vec<u32>) {
    // A merge joins two intervals of places: it stands in the gap before the right one.
    let mut gaps = vec![0; tree.n_leaves().saturating_sub(1)];
    let mut starts = places.to_vec();
    for (merge, &[a, b]) in tree.merges().iter().enumerate() {
        let (left, right) = (starts[a as usize], starts[b as usize]);
        gaps[left.max(right) as usize - 1] = merge as u32;
        starts.push(left.min(right));
    }
    (gaps, starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn every_pair_of_some_trees() {
        let trees = [
            vec![],
            vec![[0, 1]],
            vec![[3, 1], [0, 2], [4, 5]],
            vec![[4, 0], [5, 3], [6, 1], [7, 2]],
            vec![[0, 5], [1, 4], [2, 3], [7, 8], [6, 9]],
        ];
        for merges in trees {
            let heights = vec![0.0; merges.len()];
            let tree = Dendrogram::new(merges, heights, Kind::Dissimilarity).unwrap();
            let lca = LcaSizes::new(&tree);
            let n = tree.n_leaves();
            let mut members: Vec<Vec<usize>> = (0..n).map(|leaf| vec![leaf]).collect();
            for &[a, b] in tree.merges() {
                let joined = [members[a as usize].clone(), members[b as usize].clone()].concat();
                members.push(joined);
            }
            for i in 0..n {
                for j in 0..n {
                    let holds = |cluster: &&Vec<usize>| cluster.contains(&i) && cluster.contains(&j);
                    let expected = members.iter().filter(holds).map(Vec::len).min().unwrap();
                    assert_eq!(lca.size(i, j) as usize, expected);
                }
            }
        }
    }
}
