//! A binary tree that grows and knows how large its parts are.

use super::growing_tree::{GrowingTree, NONE};
use super::place::Place;

/// A binary [`GrowingTree`] with the number of leaves under every node. Adding a leaf takes time in
/// proportion to its depth.
#[derive(Debug, Clone, Default)]
pub(crate) struct SizedTree {
    tree: GrowingTree,
    root: u32,
    /// By node: the leaves under it.
    leaves: Vec<u32>,
}

impl SizedTree {
    /// The tree of one leaf.
    pub(crate) fn new(leaf: u32) -> Self {
        let mut new = Self::default();
        new.root = new.tree.leaf(leaf);
        new.leaves.push(1);
        new
    }

    /// The tree itself.
    pub(crate) fn tree(&self) -> &GrowingTree {
        &self.tree
    }

    /// Its root.
    pub(crate) fn root(&self) -> u32 {
        self.root
    }

    /// The number of leaves under a node.
    pub(crate) fn leaves(&self, node: u32) -> u32 {
        self.leaves[node as usize]
    }

    /// The places at and below a node: beside each of its nodes.
    pub(crate) fn places(&self, node: u32) -> f64 {
        2.0 * f64::from(self.leaves(node)) - 1.0
    }

    /// The two children of a node; none of a leaf.
    pub(crate) fn children(&self, node: u32) -> Option<[u32; 2]> {
        let first = self.tree.first(node);
        (first != NONE).then(|| [first, self.tree.next(first)])
    }

    /// The child of `above` on the way down to `node`, which is below it.
    pub(crate) fn child_towards(&self, above: u32, node: u32) -> u32 {
        let mut at = node;
        while self.tree.parent(at) != above {
            at = self.tree.parent(at);
        }
        at
    }

    /// The nodes from the root down to a node.
    pub(crate) fn path(&self, node: u32, path: &mut Vec<u32>) {
        let up = |&node: &u32| Some(self.tree.parent(node)).filter(|&up| up != NONE);
        path.clear();
        path.extend(std::iter::successors(Some(node), up));
        path.reverse();
    }

    /// Puts a new leaf beside a node; returns the nodes of their parent and of the leaf.
    pub(crate) fn insert(&mut self, node: u32, leaf: u32) -> [u32; 2] {
        let new = self.tree.leaf(leaf);
        let parent = self.tree.put(Place::Above(node), new);
        // Representatives differ from level to level.
        self.tree.represent(parent, leaf);
        self.leaves.resize(self.tree.len(), 1);
        self.leaves[parent as usize] = self.leaves[node as usize] + 1;
        if node == self.root {
            self.root = parent;
        }
        let mut above = self.tree.parent(parent);
        while above != NONE {
            self.leaves[above as usize] += 1;
            above = self.tree.parent(above);
        }
        [parent, new]
    }

    /// The leaf under a node that is the `at`-th from the left.
    pub(crate) fn leaf_at(&self, node: u32, at: u32) -> u32 {
        let (mut node, mut at) = (node, at);
        while let Some([first, second]) = self.children(node) {
            node = if at < self.leaves(first) {
                first
            } else {
                at -= self.leaves(first);
                second
            };
        }
        self.tree.representative(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_parts() {
        let mut tree = SizedTree::new(7);
        let [top, eight] = tree.insert(tree.root(), 8);
        let [pair, nine] = tree.insert(eight, 9);
        assert_eq!((tree.root(), tree.leaves(top), tree.leaves(pair), tree.places(top)), (top, 3, 2, 5.0));
        assert_eq!((tree.child_towards(top, nine), tree.child_towards(pair, nine)), (pair, nine));
        let mut leaves: Vec<u32> = (0..3).map(|at| tree.leaf_at(top, at)).collect();
        leaves.sort_unstable();
        assert_eq!(leaves, [7, 8, 9]);
        assert_eq!(tree.children(nine), None);
    }
}
