//! The order in which leaves are inserted, with an optional initial tree.

use std::collections::HashSet;

use super::growing_tree::{GrowingTree, NONE};
use super::place::Place;
use super::sketch::Sketch;
use crate::error::{Error, Result};
use crate::tree::Topology;

/// The order in which leaves are inserted into a tree. The positions of the first leaves in the tree may be known from
/// an initial tree.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    leaves: Vec<u32>,
    /// The known positions of leaves, in the order of insertion, from the second leaf on. Nodes have the indices of a
    /// [`GrowingTree`] to which leaves are added in this order.
    places: Vec<Place>,
}

impl Order {
    /// Returns an insertion order without an initial tree. `leaves` must not be empty.
    pub(crate) fn new(leaves: Vec<u32>) -> Self {
        Self { leaves, places: Vec::new() }
    }

    /// Returns an insertion order that first builds the tree `start`, and then inserts `others`. Leaf `k` of `start` is
    /// replaced by `leaves[k]`.
    pub(crate) fn after(start: &Topology, leaves: &[u32], others: impl Iterator<Item = u32>) -> Self {
        let mut order = Self { leaves: Vec::with_capacity(leaves.len()), places: Vec::new() };
        // For each node of `start`: the index of its node in the growing tree, where nodes are indexed in the order of
        // insertion.
        let (mut grown, mut made) = (vec![NONE; start.n_nodes()], 0);
        // Use a stack instead of recursion, because a tree can be very deep. Each stack entry has a node, the number of
        // its finished children, and the position in the tree at which its first leaf is inserted.
        let mut stack = vec![(start.root(), 0, None)];
        while let Some((node, done, place)) = stack.last_mut() {
            let (node, place) = (*node, *place);
            if node < start.n_leaves() {
                stack.pop();
                grown[node] = made;
                made += 1 + u32::from(matches!(place, Some(Place::Above(_))));
                order.leaves.push(leaves[node]);
                order.places.extend(place);
                continue;
            }
            let children = start.children(node);
            let Some(&child) = children.get(*done) else {
                stack.pop();
                continue;
            };
            let place = match *done {
                0 => place,
                1 => {
                    // Inserting the next leaf makes two nodes: `made` is the node of the leaf, and `made + 1` is its
                    // parent. This parent corresponds to `node`.
                    grown[node] = made + 1;
                    Some(Place::Above(grown[children[0] as usize]))
                }
                _ => Some(Place::Under(grown[node])),
            };
            *done += 1;
            stack.push((child as usize, 0, place));
        }
        order.leaves.extend(others);
        order
    }

    /// Returns this insertion order without a leaf, or an error if the order has no other leaf. The new order begins
    /// with the other leaves of `tree`, which keep their positions in `tree`.
    pub(crate) fn without(&self, leaf: u32, tree: &GrowingTree) -> Result<Self> {
        let unplaced = self.unplaced(tree).into_iter().filter(|&other| other != leaf);
        let mut placed: Vec<u32> = tree.leaves(tree.root()).filter(|&other| other != leaf).collect();
        placed.sort_unstable();
        if placed.is_empty() {
            let leaves: Vec<u32> = unplaced.collect();
            let error = Error::Argument("the last leaf cannot be retired".to_string());
            return if leaves.is_empty() { Err(error) } else { Ok(Self::new(leaves)) };
        }
        let number = |leaf: u32| placed.binary_search(&leaf).ok().map(|at| at as u32);
        let left = Sketch::of(tree, u32::MAX as usize).renumbered(number).finish(placed.len())?;
        Ok(Self::after(left.topology(), &placed, unplaced))
    }

    pub(crate) fn unplaced(&self, tree: &GrowingTree) -> Vec<u32> {
        let placed: HashSet<u32> = tree.leaves(tree.root()).collect();
        self.leaves.iter().copied().filter(|leaf| !placed.contains(leaf)).collect()
    }

    pub(crate) fn push(&mut self, leaf: u32) {
        self.leaves.push(leaf);
    }

    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    pub(crate) fn n_known(&self) -> usize {
        self.places.len() + 1
    }

    /// Returns the number of leaves that are inserted without questions: the leaves with known positions, and at least
    /// the first two leaves.
    pub(crate) fn n_begun(&self) -> usize {
        self.n_known().max(self.len().min(2))
    }

    pub(crate) fn known(&self) -> impl Iterator<Item = (Place, u32)> + '_ {
        self.places.iter().copied().zip(self.leaves[1..].iter().copied())
    }

    pub(crate) fn tree(&self) -> GrowingTree {
        let mut tree = GrowingTree::default();
        tree.leaf(self.leaf(0));
        for (place, leaf) in self.known() {
            tree.insert(place, leaf);
        }
        tree
    }

    pub(crate) fn leaf(&self, at: usize) -> u32 {
        self.leaves[at]
    }

    pub(crate) fn leaves(&self) -> &[u32] {
        &self.leaves
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::{PivotTree, SizedTree, Sketch, random_tree};

    proptest! {
        #[test]
        fn a_tree_is_built_again(n in 1u32..60, degree in 2usize..6, seed in 0u64..1000) {
            let tree = random_tree(n, degree, seed);
            let expected = Sketch::of(&tree, n as usize).finish(n as usize).unwrap();
            // Leaf k of the tree has another id, `leaves[k]`, in the insertion order.
            let leaves: Vec<u32> = (0..n).map(|leaf| (leaf * 7 + 3) % 997).collect();
            let order = Order::after(expected.topology(), &leaves, [2000, 2001].into_iter());
            prop_assert_eq!(order.n_known(), n as usize);
            prop_assert_eq!(order.len(), n as usize + 2);
            let number = |leaf: u32| leaves.iter().position(|&known| known == leaf).unwrap() as u32;
            let mut renamed = order.clone();
            renamed.leaves.iter_mut().take(n as usize).for_each(|leaf| *leaf = number(*leaf));
            let of = |tree: &GrowingTree| Sketch::of(tree, n as usize).finish(n as usize).unwrap().topology().clone();
            let expected = expected.topology();
            prop_assert_eq!(&of(&renamed.tree()), expected);
            let pivots = PivotTree::of(&renamed);
            prop_assert_eq!(&of(pivots.tree()), expected);
            let sized = SizedTree::of(&renamed);
            prop_assert_eq!(&of(sized.tree()), expected);
        }
    }
}
