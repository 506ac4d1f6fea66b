//! The Robinson-Foulds distance of rooted trees.

use super::count::same_leaves_of_trees;
use crate::error::Result;
use crate::tree::{HeavyPaths, Topology};

/// The numbers of clusters that two trees share or do not share. Clusters are the leaf sets of inner nodes except the
/// root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClusterCounts {
    /// The number of clusters in both trees.
    pub shared: u64,
    /// The number of clusters in the first tree only.
    pub only_a: u64,
    /// The number of clusters in the second tree only.
    pub only_b: u64,
}

impl ClusterCounts {
    /// Returns the number of clusters in only one of the trees.
    ///
    /// ```
    /// let counts = ordhc::bindings::ClusterCounts { shared: 3, only_a: 1, only_b: 0 };
    /// assert_eq!(counts.distance(), 1);
    /// ```
    pub fn distance(&self) -> u64 {
        self.only_a + self.only_b
    }

    /// Returns the distance divided by the total number of clusters of both trees, or 0 if there are none.
    ///
    /// ```
    /// let counts = ordhc::bindings::ClusterCounts { shared: 1, only_a: 1, only_b: 1 };
    /// assert_eq!(counts.normalized(), 0.5);
    /// ```
    pub fn normalized(&self) -> f64 {
        let distance = self.distance();
        if distance == 0 { 0.0 } else { distance as f64 / (distance + 2 * self.shared) as f64 }
    }
}

/// Counts the clusters that are in both trees, or in only one of them. [`ClusterCounts::distance`] is the
/// Robinson-Foulds distance.
///
/// The time is linear in the number of leaves (Day 1985). Leaves are numbered by their position in the first tree. So
/// the clusters of this tree are ranges of numbers, and one end of a range identifies the cluster.
///
/// # Errors
/// Trees with different numbers of leaves.
///
/// ```
/// use ordhc::metric::robinson_foulds;
/// use ordhc::{Dendrogram, tree::Topology};
///
/// let tree = |text: &str| Ok::<_, ordhc::Error>(Dendrogram::from_newick(text)?.0.into_topology());
/// let counts = robinson_foulds(&tree("(((0,1),2),(3,4));")?, &tree("((0,1,2),((3,4),5));")?);
/// assert!(counts.unwrap_err().to_string().contains("has 5 leaves, the second tree has 6"));
/// let counts = robinson_foulds(&tree("(((0,1),2),(3,4));")?, &tree("((0,1,2),3,4);")?)?;
/// assert_eq!((counts.shared, counts.only_a, counts.only_b), (1, 2, 0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn robinson_foulds(a: &Topology, b: &Topology) -> Result<ClusterCounts> {
    same_leaves_of_trees(a.n_leaves(), b.n_leaves())?;
    let n = a.n_leaves();
    let ranges = Ranges::new(a);
    // For each node: the first and the last position of its leaves, and the number of its leaves.
    let mut spans = vec![(u32::MAX, 0, 0); b.n_nodes()];
    for leaf in 0..n {
        let place = ranges.place[leaf];
        spans[leaf] = (place, place, 1);
    }
    let mut shared = 0;
    for node in 0..b.root() {
        let (first, last, size) = spans[node];
        let range = last - first + 1 == size;
        shared += u64::from(node >= n && range && ranges.contains(first, last));
        let above = &mut spans[b.parent(node)];
        *above = (above.0.min(first), above.1.max(last), above.2 + size);
    }
    let clusters = |tree: &Topology| (tree.root().saturating_sub(n)) as u64;
    Ok(ClusterCounts { shared, only_a: clusters(a) - shared, only_b: clusters(b) - shared })
}

/// The clusters of all inner nodes except the root. Each cluster is a range of leaf positions, from `a` to `b`. If its
/// parent also begins at `a`, the cluster is stored as `first[b] = a`, and otherwise as `last[a] = b`.
#[derive(Debug)]
struct Ranges {
    place: Vec<u32>,
    last: Vec<u32>,
    first: Vec<u32>,
}

impl Ranges {
    fn new(tree: &Topology) -> Self {
        let n = tree.n_leaves();
        let paths = HeavyPaths::new(tree);
        let place = (0..n).map(|leaf| paths.start(leaf) as u32).collect();
        let (mut last, mut first) = (vec![u32::MAX; n], vec![u32::MAX; n]);
        for node in n..tree.root() {
            let (start, end) = (paths.start(node), paths.start(node) + paths.size(node) - 1);
            if start == paths.start(tree.parent(node)) {
                first[end] = start as u32;
            } else {
                last[start] = end as u32;
            }
        }
        Self { place, last, first }
    }

    fn contains(&self, first: u32, last: u32) -> bool {
        self.last[first as usize] == last || self.first[last as usize] == first
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::metric::samples::{SHAPES, large, two_trees};
    use crate::testkit::members;

    fn clusters(tree: &Topology) -> HashSet<Vec<u32>> {
        let (n, root) = (tree.n_leaves(), tree.root());
        members(tree)[n.min(root)..root].iter().cloned().collect()
    }

    fn naive(a: &Topology, b: &Topology) -> ClusterCounts {
        let (a, b) = (clusters(a), clusters(b));
        let shared = a.intersection(&b).count() as u64;
        ClusterCounts { shared, only_a: a.len() as u64 - shared, only_b: b.len() as u64 - shared }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 200, ..ProptestConfig::default() })]
        #[test]
        fn the_naive_twin_agrees((a, b) in two_trees()) {
            let counts = robinson_foulds(&a, &b).unwrap();
            prop_assert_eq!(counts, naive(&a, &b));
            prop_assert_eq!(robinson_foulds(&a, &a).unwrap().normalized(), 0.0);
            prop_assert!((0.0..=1.0).contains(&counts.normalized()));
        }
    }

    #[test]
    fn large_trees() {
        for (seed, shape) in SHAPES.into_iter().enumerate() {
            let tree = large(shape, 1000, seed as u64);
            let (binary, joined) = (tree.topology().clone(), tree.join_ties().into_topology());
            let counts = robinson_foulds(&binary, &joined).unwrap();
            assert_eq!(counts, naive(&binary, &joined));
            assert_eq!(counts.only_b, 0);
        }
    }
}
