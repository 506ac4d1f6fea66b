//! Clusters that many trees have in common.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::refine::canonical::mix;
use crate::tree::Topology;

/// Returns, for each inner node of `tree`, the share of the trees `others` that have a node with the same leaves.
///
/// # Errors
/// `others` is empty; trees with different numbers of leaves.
///
/// ```
/// use ordhc::{Dendrogram, Kind, bootstrap::support};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity)?;
/// let other = Dendrogram::new(vec![[1, 2], [0, 3]], vec![1.0, 2.0], Kind::Dissimilarity)?;
/// assert_eq!(support(tree.topology(), &[tree.topology(), other.topology()])?, [0.5, 1.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn support(tree: &Topology, others: &[&Topology]) -> Result<Vec<f64>> {
    check(tree.n_leaves(), others)?;
    // For each cluster, identified by a hash of its leaves: the number of trees that have the cluster.
    let mut counts: HashMap<u128, u32> = HashMap::new();
    for other in others {
        codes(other).into_iter().for_each(|code| *counts.entry(code).or_default() += 1);
    }
    let share = |code: &u128| counts.get(code).map_or(0.0, |&times| f64::from(times) / others.len() as f64);
    Ok(codes(tree).iter().map(share).collect())
}

/// Returns a hash of the leaves of each inner node: the exclusive or of the random numbers of these leaves. Two
/// different clusters have the same hash with a probability of 2^-128.
fn codes(tree: &Topology) -> Vec<u128> {
    let n = tree.n_leaves();
    let mut codes: Vec<u128> = Vec::with_capacity(tree.n_inner());
    for node in n..tree.n_nodes() {
        let of = |&child: &u32| (child as usize).checked_sub(n).map_or_else(|| code(u64::from(child)), |at| codes[at]);
        codes.push(tree.children(node).iter().map(of).fold(0, |all, code| all ^ code));
    }
    codes
}

fn code(leaf: u64) -> u128 {
    u128::from(mix(2 * leaf)) << 64 | u128::from(mix(2 * leaf + 1))
}

fn check(n: usize, trees: &[&Topology]) -> Result<()> {
    if trees.is_empty() {
        return Err(Error::Argument("there are no trees to compare".into()));
    }
    if let Some(other) = trees.iter().find(|tree| tree.n_leaves() != n) {
        return Err(Error::Argument(format!("trees of {n} and of {} leaves", other.n_leaves())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree(order: &[usize], n: usize) -> Topology {
        let mut there: Vec<u32> = (0..n as u32).collect();
        let mut merges = Vec::new();
        for (k, &at) in order.iter().enumerate().take(n - 1) {
            let a = there.swap_remove(at % there.len());
            let b = there.swap_remove((at / 7) % there.len());
            merges.push([a, b]);
            there.push((n + k) as u32);
        }
        Topology::from_merges(merges).unwrap().without(|node| node % 3 == order[0] % 4).0
    }

    fn sets(tree: &Topology) -> Vec<u32> {
        let n = tree.n_leaves();
        let mut sets: Vec<u32> = (0..n).map(|leaf| 1 << leaf).collect();
        for node in n..tree.n_nodes() {
            sets.push(tree.children(node).iter().fold(0, |set, &child| set | sets[child as usize]));
        }
        sets.split_off(n)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 100, ..ProptestConfig::default() })]

        #[test]
        fn support_is_the_share_of_trees_with_the_cluster(orders in prop::collection::vec(prop::collection::vec(0usize..50, 6), 1..6)) {
            let trees: Vec<Topology> = orders.iter().map(|order| tree(order, 7)).collect();
            let times = |set: &u32| trees.iter().filter(|tree| sets(tree).contains(set)).count();
            let found = support(&trees[0], &trees.iter().collect::<Vec<_>>()).unwrap();
            for (set, share) in sets(&trees[0]).iter().zip(found) {
                prop_assert_eq!(share, times(set) as f64 / trees.len() as f64);
            }
        }
    }
}
