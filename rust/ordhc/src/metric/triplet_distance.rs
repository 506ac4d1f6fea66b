//! The rooted triplet distance.

use crate::error::Result;
use crate::tree::Topology;

/// Sets of three leaves by what two trees say about them.
///
/// A tree resolves three leaves when two of them are closer to each other than to the third.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TripletCounts {
    /// Resolved alike by both trees.
    pub same: u64,
    /// Resolved differently.
    pub different: u64,
    /// Resolved by the first tree only.
    pub only_a: u64,
    /// Resolved by the second tree only.
    pub only_b: u64,
    /// Resolved by neither.
    pub unresolved: u64,
}

impl TripletCounts {
    /// The counts, given what both trees resolve and what each one resolves.
    fn new(n: u64, same: u64, different: u64, resolved: [u64; 2]) -> Self {
        let [only_a, only_b] = resolved.map(|resolved| resolved - same - different);
        Self { same, different, only_a, only_b, unresolved: three(n) - same - different - only_a - only_b }
    }

    /// The number of sets about which the trees differ.
    ///
    /// ```
    /// let counts = ordhc::metric::TripletCounts { same: 1, different: 2, only_a: 3, only_b: 4, unresolved: 5 };
    /// assert_eq!(counts.distance(), 9);
    /// ```
    pub fn distance(&self) -> u64 {
        self.different + self.only_a + self.only_b
    }

    /// The distance divided by the number of sets, 0 for fewer than 3 leaves.
    ///
    /// ```
    /// let counts = ordhc::metric::TripletCounts { same: 1, different: 2, only_a: 3, only_b: 4, unresolved: 5 };
    /// assert_eq!(counts.normalized(), 0.6);
    /// ```
    pub fn normalized(&self) -> f64 {
        let distance = self.distance();
        if distance == 0 { 0.0 } else { distance as f64 / (distance + self.same + self.unresolved) as f64 }
    }
}

/// x choose 2.
fn two(x: u64) -> u64 {
    x * x.saturating_sub(1) / 2
}

/// x choose 3.
fn three(x: u64) -> u64 {
    (u128::from(x) * u128::from(x.saturating_sub(1)) * u128::from(x.saturating_sub(2)) / 6) as u64
}

/// The number of sets of three leaves that a tree resolves.
fn resolved(tree: &Topology) -> u64 {
    let sizes = tree.sizes();
    (0..tree.root()).map(|node| two(sizes[node].into()) * u64::from(sizes[tree.parent(node)] - sizes[node])).sum()
}

/// All sets of three leaves by what the trees say about them; the rooted triplet distance is
/// [`TripletCounts::distance`].
///
/// # Errors
/// Trees of different numbers of leaves.
pub fn triplet_distance(a: &Topology, b: &Topology) -> Result<TripletCounts> {
    a.check_leaves(b)?;
    Ok(by_pairs_of_nodes(a, b))
}

/// O(n^2): sums over pairs of nodes, one of each tree, with their parents.
fn by_pairs_of_nodes(a: &Topology, b: &Topology) -> TripletCounts {
    let width = b.n_nodes();
    // The number of leaves under both nodes.
    let mut common = vec![vec![0u64; width]; a.n_nodes()];
    for leaf in 0..a.n_leaves() {
        let mut node = leaf;
        common[leaf][node] = 1;
        while node != b.root() {
            node = b.parent(node);
            common[leaf][node] = 1;
        }
    }
    for node in 0..a.root() {
        for other in 0..width {
            common[a.parent(node)][other] += common[node][other];
        }
    }
    let (mut same, mut different) = (0, 0);
    for node in 0..a.root() {
        let (inside, above) = (&common[node], &common[a.parent(node)]);
        for other in 0..b.root() {
            let (both, parent) = (inside[other], b.parent(other));
            let (only_a, only_b) = (inside[parent] - both, above[other] - both);
            same += two(both) * (above[parent] - inside[parent] - only_b);
            different += both * only_a * only_b;
        }
    }
    TripletCounts::new(a.n_leaves() as u64, same, different, [resolved(a), resolved(b)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metric::samples::two_trees;

    /// The leaf that is apart from the other two.
    fn apart(tree: &Topology, leaves: [usize; 3]) -> Option<usize> {
        let clusters = clusters(tree);
        (0..3).find(|&at| clusters.iter().any(|cluster| (0..3).all(|k| (cluster >> leaves[k] & 1 == 1) == (k != at))))
    }

    /// The leaves under each node as bits.
    fn clusters(tree: &Topology) -> Vec<u32> {
        let mut clusters: Vec<u32> = (0..tree.n_leaves()).map(|leaf| 1 << leaf).collect();
        for node in tree.n_leaves()..tree.n_nodes() {
            clusters.push(tree.children(node).iter().map(|&child| clusters[child as usize]).sum());
        }
        clusters
    }

    fn by_triples(a: &Topology, b: &Topology) -> TripletCounts {
        let mut counts = TripletCounts::default();
        let n = a.n_leaves();
        for [i, j, k] in (0..n).flat_map(|i| (0..i).flat_map(move |j| (0..j).map(move |k| [i, j, k]))) {
            let count = match (apart(a, [i, j, k]), apart(b, [i, j, k])) {
                (Some(a), Some(b)) if a == b => &mut counts.same,
                (Some(_), Some(_)) => &mut counts.different,
                (Some(_), None) => &mut counts.only_a,
                (None, Some(_)) => &mut counts.only_b,
                (None, None) => &mut counts.unresolved,
            };
            *count += 1;
        }
        counts
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 200, ..ProptestConfig::default() })]
        #[test]
        fn naive_twins_agree((a, b) in two_trees()) {
            let counts = triplet_distance(&a, &b).unwrap();
            prop_assert_eq!(counts, by_triples(&a, &b));
            prop_assert_eq!(counts, by_pairs_of_nodes(&a, &b));
            let same = triplet_distance(&a, &a).unwrap();
            prop_assert_eq!((same.distance(), same.normalized()), (0, 0.0));
        }
    }

    #[test]
    fn binomials() {
        for x in 0..20u64 {
            assert_eq!(two(x), x * x.saturating_sub(1) / 2);
            assert_eq!(three(x), x * x.saturating_sub(1) * x.saturating_sub(2) / 6);
        }
        assert_eq!(three(1 << 21), 1_537_226_473_786_572_800);
    }
}
