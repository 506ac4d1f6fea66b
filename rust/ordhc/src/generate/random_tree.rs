//! Random trees.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result, check_n_leaves};
use crate::search::{GrowingTree, NONE, Place, Sketch};
use crate::tree::Dendrogram;

/// The distribution of a random tree. The ids of leaves are assigned in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeShape {
    /// All binary trees are equally likely: each new leaf is inserted on the edge above a random node.
    Uniform,
    /// Yule's process: each new leaf is inserted on the edge above a random leaf.
    Yule,
    /// Every cluster is split into halves.
    Balanced,
    /// Every cluster is split into one leaf and all its other leaves.
    Caterpillar,
    /// Nodes have at most this number of children, which must be at least 2. Each new leaf is inserted on the edge
    /// above a random node. If this node has children, but fewer than the maximum, the leaf becomes another child of
    /// the node with probability 1/2 instead.
    Degree(u32),
    /// Nodes have exactly this number of children, which must be at least 2. The root may have fewer children. The tree
    /// is built by repeatedly joining random clusters.
    Joined(u32),
    /// All leaves are children of the root.
    Star,
}

named!(TreeShape, "shape", {
    "uniform": Self::Uniform => Self::Uniform,
    "yule": Self::Yule => Self::Yule,
    "balanced": Self::Balanced => Self::Balanced,
    "caterpillar": Self::Caterpillar => Self::Caterpillar,
    "degree": Self::Degree(_) => Self::Degree(3),
    "joined": Self::Joined(_) => Self::Joined(3),
    "star": Self::Star => Self::Star,
});

/// Returns a random tree over `n` leaves. The height of a node is the largest number of edges on a path down to a leaf.
///
/// # Errors
/// `n` is 0 or more than 2^31 - 1; a degree below 2.
///
/// ```
/// use ordhc::generate::{TreeShape, random_tree};
///
/// let tree = random_tree(TreeShape::Caterpillar, 5, 1)?;
/// assert_eq!(tree.heights(), [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(random_tree(TreeShape::Star, 5, 1)?.heights(), [1.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn random_tree(shape: TreeShape, n: usize, seed: u64) -> Result<Dendrogram> {
    check_n_leaves(n)?;
    if let TreeShape::Degree(degree @ ..2) | TreeShape::Joined(degree @ ..2) = shape {
        return Err(Error::out_of_range("degree", degree as usize, "2.."));
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut leaves: Vec<u32> = (0..n as u32).collect();
    leaves.shuffle(&mut random);
    let mut tree = GrowingTree::default();
    let root = match shape {
        TreeShape::Balanced => halves(&mut tree, &leaves),
        TreeShape::Joined(degree) => joined(&mut tree, &leaves, degree, &mut random),
        _ => inserted(&mut tree, &leaves, shape, &mut random),
    };
    let mut sketch = Sketch::default();
    sketch.tree(0, &tree, root, n as u32);
    sketch.finish(n)
}

fn halves(tree: &mut GrowingTree, leaves: &[u32]) -> u32 {
    if let &[leaf] = leaves {
        return tree.leaf(leaf);
    }
    let (left, right) = leaves.split_at(leaves.len() / 2);
    let (left, right) = (halves(tree, left), halves(tree, right));
    tree.pair(left, right)
}

fn joined(tree: &mut GrowingTree, leaves: &[u32], degree: u32, random: &mut ChaCha8Rng) -> u32 {
    let mut open: Vec<u32> = leaves.iter().map(|&leaf| tree.leaf(leaf)).collect();
    while open.len() > 1 {
        let mut draw = |open: &mut Vec<u32>| open.swap_remove(random.random_range(0..open.len()));
        let [a, b] = [draw(&mut open), draw(&mut open)];
        let parent = tree.pair(a, b);
        for _ in 2..degree {
            if !open.is_empty() {
                let child = draw(&mut open);
                tree.put(Place::Under(parent), child);
            }
        }
        open.push(parent);
    }
    open[0]
}

fn inserted(tree: &mut GrowingTree, leaves: &[u32], shape: TreeShape, random: &mut ChaCha8Rng) -> u32 {
    let mut nodes = vec![tree.leaf(leaves[0])];
    for &leaf in &leaves[1..] {
        let place = match shape {
            TreeShape::Star if tree.first(tree.root()) != NONE => Place::Under(tree.root()),
            TreeShape::Star | TreeShape::Caterpillar => Place::Above(tree.root()),
            TreeShape::Degree(degree) => {
                let node = nodes[random.random_range(0..nodes.len())];
                let children = tree.children(node).take(degree as usize).count() as u32;
                let has_room = children > 0 && children < degree;
                if has_room && random.random() { Place::Under(node) } else { Place::Above(node) }
            }
            _ => Place::Above(nodes[random.random_range(0..nodes.len())]),
        };
        let [parent, new] = tree.insert(place, leaf);
        nodes.push(new);
        if shape != TreeShape::Yule && matches!(place, Place::Above(_)) {
            nodes.push(parent);
        }
    }
    tree.root()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn shapes_are_what_they_are_called() {
        let heights = |shape, n| random_tree(shape, n, 3).unwrap().heights().to_vec();
        assert_eq!(heights(TreeShape::Balanced, 8), [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0]);
        assert_eq!(heights(TreeShape::Caterpillar, 4), [1.0, 2.0, 3.0]);
        assert_eq!(heights(TreeShape::Star, 4), [1.0]);
        for shape in [TreeShape::Uniform, TreeShape::Yule, TreeShape::Degree(4)] {
            for n in [1, 2, 3, 50] {
                assert_eq!(random_tree(shape, n, 9).unwrap().n_leaves(), n);
            }
        }
        for (n, degrees) in [(27, 13), (30, 15)] {
            let tree = random_tree(TreeShape::Joined(3), n, 1).unwrap();
            let topology = tree.join_ties().into_topology();
            let of = |node: usize| topology.children(node).len();
            let inner: Vec<usize> = (n..topology.n_nodes()).map(of).collect();
            assert_eq!((inner.len(), inner.iter().filter(|&&degree| degree != 3).count() < 2), (degrees, true));
        }
        assert!(random_tree(TreeShape::Degree(1), 3, 0).is_err() && random_tree(TreeShape::Joined(0), 3, 0).is_err());
        assert!(random_tree(TreeShape::Yule, 0, 0).is_err());
    }

    #[test]
    fn trees_are_drawn_with_the_right_probabilities() {
        // With four leaves, 3 of 15 binary trees are balanced, and a third of Yule's trees are.
        for (shape, share) in [(TreeShape::Uniform, 0.2), (TreeShape::Yule, 1.0 / 3.0)] {
            let mut counts: HashMap<String, u32> = HashMap::new();
            let trees = 6000;
            for seed in 0..trees {
                *counts.entry(random_tree(shape, 4, seed).unwrap().newick().to_string()).or_default() += 1;
            }
            assert_eq!(counts.len(), 15);
            let balanced: u32 = counts.iter().filter(|(tree, _)| tree.starts_with("((")).map(|(_, count)| count).sum();
            assert!((f64::from(balanced) / trees as f64 - share).abs() < 0.03, "{counts:?}");
        }
    }
}
