//! A tree under construction.

use super::growing_tree::{GrowingTree, NONE};
use crate::error::Result;
use crate::tree::{Child, Dendrogram, dendrogram_of_nodes};

/// Inner nodes and leaves, parents first, from which a dendrogram is made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketch {
    /// For each node: the index of its parent in `nodes`, and its leaf id if the node is a leaf. The first node is the
    /// root, which is its own parent.
    nodes: Vec<(usize, Option<u32>)>,
}

impl Sketch {
    pub(crate) fn of(tree: &GrowingTree, n: usize) -> Self {
        let mut sketch = Self::default();
        sketch.tree(0, tree, tree.root(), n as u32);
        sketch
    }

    pub(crate) fn renumbered(mut self, number: impl Fn(u32) -> Option<u32>) -> Self {
        for (_, leaf) in &mut self.nodes {
            *leaf = leaf.and_then(&number);
        }
        self
    }

    pub(crate) fn node(&mut self, parent: usize) -> usize {
        self.nodes.push((parent, None));
        self.nodes.len() - 1
    }

    pub(crate) fn leaf(&mut self, parent: usize, leaf: u32) {
        self.nodes.push((parent, Some(leaf)));
    }

    pub(crate) fn tree(&mut self, parent: usize, tree: &GrowingTree, root: u32, n: u32) {
        let mut stack = vec![(parent, root)];
        while let Some((parent, node)) = stack.pop() {
            if tree.first(node) != NONE {
                let at = self.node(parent);
                stack.extend(tree.children(node).map(|child| (at, child)));
            } else if tree.representative(node) < n {
                self.leaf(parent, tree.representative(node));
            }
        }
    }

    /// Returns the dendrogram of the leaves `0..n`. Nodes without leaves are removed, and nodes with one child are
    /// replaced by the child. Leaves that are not in the sketch become children of a new root.
    pub(crate) fn finish(mut self, n: usize) -> Result<Dendrogram> {
        let mut missing = vec![true; n];
        self.nodes.iter().filter_map(|node| node.1).for_each(|leaf| missing[leaf as usize] = false);
        let mut open: Vec<Vec<Child>> = vec![Vec::new(); self.nodes.len()];
        let mut nodes: Vec<Vec<Child>> = Vec::new();
        let mut root = None;
        while let Some((parent, leaf)) = self.nodes.pop() {
            let children = open.pop().expect("there is a list for each node");
            let child = match (leaf, children.as_slice()) {
                (Some(leaf), _) => Child::Leaf(leaf),
                (None, []) => continue,
                (None, &[only]) => only,
                (None, _) => {
                    nodes.push(children);
                    Child::Node(nodes.len() - 1)
                }
            };
            match open.get_mut(parent) {
                Some(siblings) => siblings.push(child),
                None => root = Some(child),
            }
        }
        let missing = (0..n as u32).filter(|&leaf| missing[leaf as usize]).map(Child::Leaf);
        let top: Vec<Child> = root.into_iter().chain(missing).collect();
        if top.len() > 1 {
            nodes.push(top);
        }
        dendrogram_of_nodes(n, &nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_closed() {
        let mut sketch = Sketch::default();
        let root = sketch.node(0);
        let single = sketch.node(root);
        let pair = sketch.node(single);
        sketch.leaf(pair, 3);
        sketch.leaf(pair, 0);
        sketch.node(pair);
        sketch.leaf(root, 2);
        let tree = sketch.finish(6).unwrap();
        assert_eq!((tree.sizes(), tree.heights()), (&[2, 3, 6][..], &[1.0, 2.0, 3.0][..]));
        assert_eq!(Sketch::default().finish(1).unwrap().n_leaves(), 1);
        assert_eq!(Sketch::default().finish(3).unwrap().heights(), [1.0]);
    }
}
