//! Dendrogram purity.

use super::ari::Labels;
use crate::error::{Error, Result, check_len};
use crate::tree::{HeavyPaths, Topology};

/// Returns the dendrogram purity (Heller & Ghahramani 2005), which is a mean over all pairs of leaves of the same
/// class. The value of a pair is the share of its class among the leaves below the pair's lowest common ancestor.
///
/// The purity is 1 if every class consists of all leaves below one node. Pairs are counted exactly, for nodes with any
/// number of children, in O(n log n).
///
/// # Errors
/// A number of labels that differs from the number of leaves; no class with two leaves.
///
/// ```
/// use ordhc::metric::purity;
/// use ordhc::{Dendrogram, Kind, tree::Topology};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3], [4, 5]], vec![1.0, 1.0, 2.0], Kind::Dissimilarity)?;
/// assert_eq!(purity(&tree.topology().clone(), &[5i64, 5, 6, 6])?, 1.0);
/// assert_eq!(purity(&tree.topology().clone(), &[5i64, 6, 6, 5])?, 0.5);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn purity<L: Into<i64> + Copy>(tree: &Topology, labels: &[L]) -> Result<f64> {
    let n = tree.n_leaves();
    check_len("labels", labels.len(), "leaves", n)?;
    let classes = Labels::new(labels)?;
    let n_pairs = classes.pairs();
    if n_pairs == 0 {
        return Err(Error::Argument(format!("none of the {} classes has two leaves", classes.sizes.len())));
    }
    let paths = HeavyPaths::new(tree);
    let mut counts = Counts { there: vec![0; classes.sizes.len()], joined: vec![0; classes.sizes.len()] };
    let mut sum = 0.0;
    for top in paths.tops().filter(|&top| top >= n) {
        for (at, node) in paths.path_up(top).into_iter().enumerate() {
            if at == 0 {
                counts.there[classes.of[node] as usize] = 1;
            } else {
                sum += counts.join(&paths, node, &classes.of) as f64 / paths.size(node) as f64;
            }
        }
        paths.leaves(top).iter().for_each(|&leaf| counts.there[classes.of[leaf as usize] as usize] = 0);
    }
    Ok(sum / n_pairs as f64)
}

#[derive(Debug)]
struct Counts {
    /// For each class: the number of its leaves below the current node.
    there: Vec<u64>,
    /// For each class: the number of pairs of its leaves whose lowest common ancestor is the current node.
    joined: Vec<u64>,
}

impl Counts {
    /// Counts the leaves below a node. The leaves below its largest child must be counted before. Returns a sum over
    /// classes: the number of pairs of leaves of the class whose lowest common ancestor is the node, times the number
    /// of leaves of the class below the node.
    fn join(&mut self, paths: &HeavyPaths<'_>, node: usize, class_of: &[u32]) -> u128 {
        let class = |&leaf: &u32| class_of[leaf as usize] as usize;
        for child in paths.light(node) {
            let leaves = paths.leaves(child);
            leaves.iter().map(class).for_each(|class| self.joined[class] += self.there[class]);
            leaves.iter().map(class).for_each(|class| self.there[class] += 1);
        }
        let sum_once = |class| u128::from(std::mem::take(&mut self.joined[class])) * u128::from(self.there[class]);
        paths.light_leaves(node).iter().map(class).map(sum_once).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metric::samples::{SHAPES, large, two_trees};
    use crate::testkit::members;

    fn naive(tree: &Topology, labels: &[i64]) -> f64 {
        let n = tree.n_leaves();
        let members = members(tree);
        let (mut sum, mut n_pairs) = (0.0, 0.0);
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| labels[i] == labels[j]) {
            let under = members.iter().filter(|leaves| leaves.contains(&(i as u32)) && leaves.contains(&(j as u32)));
            let leaves = under.min_by_key(|leaves| leaves.len()).unwrap();
            let same = leaves.iter().filter(|&&leaf| labels[leaf as usize] == labels[i]).count();
            sum += same as f64 / leaves.len() as f64;
            n_pairs += 1.0;
        }
        sum / n_pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 200, ..ProptestConfig::default() })]
        #[test]
        fn all_pairs_agree((tree, _) in two_trees(), labels in prop::collection::vec(-2i64..3, 12)) {
            let labels = &labels[..tree.n_leaves()];
            let expected = naive(&tree, labels);
            match purity(&tree, labels) {
                Ok(value) => prop_assert!((value - expected).abs() < 1e-12, "{} is not {}", value, expected),
                Err(_) => prop_assert!(expected.is_nan()),
            }
        }
    }

    #[test]
    fn large_trees() {
        for (seed, shape) in SHAPES.into_iter().enumerate() {
            let tree = large(shape, 200, seed as u64);
            let labels: Vec<i64> = (0..200).map(|leaf| leaf * leaf % 7).collect();
            for tree in [tree.join_ties(), tree] {
                let tree = tree.topology().clone();
                assert!((purity(&tree, &labels).unwrap() - naive(&tree, &labels)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn impossible_labels_are_named() {
        let tree = large(SHAPES[0], 3, 0).into_topology();
        assert!(purity(&tree, &[1i64, 2]).unwrap_err().to_string().contains("2 labels"));
        assert!(purity(&tree, &[1i64, 2, 3]).unwrap_err().to_string().contains("none of the 3 classes"));
        assert_eq!(purity(&tree, &[1i64, 1, 1]), Ok(1.0));
    }
}
