//! A growing tree that stores the sizes of its subtrees.

use super::growing_tree::{GrowingTree, NONE};
use super::order::Order;
use super::place::Place;

/// A [`GrowingTree`] that stores the number of leaves and of inner nodes at and below every node. Adding a leaf takes
/// time in proportion to the leaf's depth.
#[derive(Debug, Clone, Default)]
pub(crate) struct SizedTree {
    tree: GrowingTree,
    leaves: Vec<u32>,
    inner: Vec<u32>,
    degrees: Vec<u32>,
    widest: u32,
    nodes: Vec<u32>,
}

impl SizedTree {
    pub(crate) fn new(leaf: u32) -> Self {
        let mut new = Self::default();
        let root = new.tree.leaf(leaf);
        new.leaves.push(1);
        new.inner.push(0);
        new.degrees.push(0);
        new.note(leaf, root);
        new
    }

    pub(crate) fn of(order: &Order) -> Self {
        let mut new = Self::new(order.leaf(0));
        for (place, leaf) in order.known() {
            new.insert(place, leaf);
        }
        new
    }

    fn note(&mut self, leaf: u32, node: u32) {
        let least = leaf as usize + 1;
        if self.nodes.len() < least {
            self.nodes.resize(least, NONE);
        }
        self.nodes[leaf as usize] = node;
    }

    pub(crate) fn tree(&self) -> &GrowingTree {
        &self.tree
    }

    pub(crate) fn root(&self) -> u32 {
        self.tree.root()
    }

    pub(crate) fn node_of(&self, leaf: u32) -> u32 {
        self.nodes[leaf as usize]
    }

    pub(crate) fn leaves(&self, node: u32) -> u32 {
        self.leaves[node as usize]
    }

    pub(crate) fn inner(&self, node: u32) -> f64 {
        f64::from(self.inner[node as usize])
    }

    pub(crate) fn nodes(&self, node: u32) -> f64 {
        f64::from(self.leaves(node)) + self.inner(node)
    }

    pub(crate) fn degree(&self, node: u32) -> u32 {
        self.degrees[node as usize]
    }

    pub(crate) fn widest(&self) -> u32 {
        self.widest
    }

    /// Returns the child of `above` on the path down to `node`, which must be below `above`.
    pub(crate) fn child_towards(&self, above: u32, node: u32) -> u32 {
        let mut at = node;
        while self.tree.parent(at) != above {
            at = self.tree.parent(at);
        }
        at
    }

    pub(crate) fn path(&self, node: u32, path: &mut Vec<u32>) {
        path.clear();
        path.extend(self.tree.up_from(node));
        path.reverse();
    }

    pub(crate) fn insert(&mut self, place: Place, leaf: u32) -> [u32; 2] {
        let [parent, new] = self.tree.insert(place, leaf);
        self.note(leaf, new);
        for (counts, count) in [(&mut self.leaves, 1), (&mut self.inner, 0), (&mut self.degrees, 0)] {
            counts.resize(self.tree.len(), count);
        }
        let mut grown = 0;
        if let Place::Above(node) = place {
            self.leaves[parent as usize] = self.leaves[node as usize];
            self.inner[parent as usize] = self.inner[node as usize];
            self.degrees[parent as usize] = 1;
            grown = 1;
        }
        self.degrees[parent as usize] += 1;
        self.widest = self.widest.max(self.degrees[parent as usize]);
        for at in self.tree.up_from(parent) {
            self.leaves[at as usize] += 1;
            self.inner[at as usize] += grown;
        }
        [parent, new]
    }

    pub(crate) fn leaf_at(&self, node: u32, at: u32) -> u32 {
        let (mut node, mut at) = (node, at);
        'down: while self.degree(node) > 0 {
            for child in self.tree.children(node) {
                if at < self.leaves(child) {
                    node = child;
                    continue 'down;
                }
                at -= self.leaves(child);
            }
            break;
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
        let [top, eight] = tree.insert(Place::Above(tree.root()), 8);
        let [pair, nine] = tree.insert(Place::Above(eight), 9);
        assert_eq!((tree.root(), tree.leaves(top), tree.leaves(pair)), (top, 3, 2));
        assert_eq!((tree.nodes(top), tree.inner(top), tree.nodes(pair)), (5.0, 2.0, 3.0));
        assert_eq!((tree.child_towards(top, nine), tree.child_towards(pair, nine)), (pair, nine));
        assert_eq!(tree.insert(Place::Under(pair), 10)[0], pair);
        assert_eq!((tree.degree(pair), tree.widest(), tree.degree(top), tree.degree(nine)), (3, 3, 2, 0));
        assert_eq!((tree.nodes(top), tree.inner(top), tree.leaves(top), tree.leaves(pair)), (6.0, 2.0, 4, 3));
        let mut leaves: Vec<u32> = (0..4).map(|at| tree.leaf_at(top, at)).collect();
        leaves.sort_unstable();
        assert_eq!(leaves, [7, 8, 9, 10]);
    }
}
