//! Lowest common ancestors.

use super::RangeMax;
use super::dendrogram::Dendrogram;

/// Answers how many leaves the smallest cluster has that holds two given leaves.
///
/// Leaves are laid out from left to right; between two neighbours stands the node where they join.
/// The LCA of two leaves is the latest node between them, a range maximum (sparse table, O(n log n)
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
    /// The nodes in the gaps between places, each as its last merge.
    gaps: RangeMax,
    sizes: Vec<u32>,
    /// By cluster: its first place.
    starts: Vec<u32>,
}

impl LcaSizes {
    /// Prepares a tree for questions.
    pub fn new(tree: &Dendrogram) -> Self {
        let places = Dendrogram::places(&tree.leaf_order());
        let (gaps, starts) = nodes_in_gaps(tree, &places);
        Self { places, gaps: RangeMax::new(gaps), sizes: tree.sizes().to_vec(), starts }
    }

    /// The node at which two different leaves join, as the number of its last merge.
    pub fn merge(&self, i: usize, j: usize) -> usize {
        let (i, j) = (self.places[i], self.places[j]);
        self.gaps.max(i.min(j) as usize, i.max(j) as usize) as usize
    }

    /// Whether the cluster of node `outer` holds that of node `inner`.
    pub(crate) fn holds(&self, outer: usize, inner: usize) -> bool {
        let [first, start] = [inner, outer].map(|merge| self.starts[self.n_leaves() + merge]);
        (start..start + self.sizes[outer]).contains(&first) && inner <= outer
    }

    /// The number of leaves under the LCA of two leaves, 1 for a leaf with itself.
    pub fn size(&self, i: usize, j: usize) -> u32 {
        if i == j { 1 } else { self.sizes[self.merge(i, j)] }
    }

    /// Of three different leaves the place (0 to 2) of the one that joins the two others later than they join each
    /// other; -1 where all three join at one node.
    ///
    /// ```
    /// use ordhc::{Dendrogram, tree::LcaSizes};
    ///
    /// let lca = LcaSizes::new(&Dendrogram::from_newick("(0,1,(2,3));")?.0);
    /// assert_eq!((lca.odd_one_out([0, 2, 3]), lca.odd_one_out([0, 1, 2])), (0, -1));
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn odd_one_out(&self, leaves: [u32; 3]) -> i8 {
        let place = |at: usize| self.places[leaves[at] as usize] as usize;
        let mut order = [0, 1, 2];
        order.sort_unstable_by_key(|&at| place(at));
        let [left, middle, right] = order.map(place);
        match self.gaps.max(left, middle).cmp(&self.gaps.max(middle, right)) {
            std::cmp::Ordering::Less => order[2] as i8,
            std::cmp::Ordering::Greater => order[0] as i8,
            std::cmp::Ordering::Equal => -1,
        }
    }

    /// The number of leaves of the tree.
    pub fn n_leaves(&self) -> usize {
        self.places.len()
    }
}

/// By gap between two neighbouring places the last merge of the node where they join, and by cluster its first place.
fn nodes_in_gaps(tree: &Dendrogram, places: &[u32]) -> (Vec<u32>, Vec<u32>) {
    // A merge joins two intervals of places: it stands in the gap before the right one.
    let mut gaps = vec![0; tree.n_leaves().saturating_sub(1)];
    let mut starts = places.to_vec();
    for (&[a, b], node) in tree.merges().iter().zip(tree.last_of_node()) {
        let (left, right) = (starts[a as usize], starts[b as usize]);
        gaps[left.max(right) as usize - 1] = node;
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
