//! Rooted trees of any shape, as the scores of trees see them.

use super::Dendrogram;

/// A rooted tree over leaves `0..n`: nodes `0..n` are the leaves, inner nodes follow, children before
/// parents, the root last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    n_leaves: usize,
    parent: Vec<u32>,
    /// The children of inner node `n + k` are `children[ends[k - 1]..ends[k]]`.
    children: Vec<u32>,
    ends: Vec<usize>,
}

impl Topology {
    /// The tree of a dendrogram; with `join_ties` a merge and the merges right within it that stand at
    /// the same height become one node of more than two children.
    pub fn of(tree: &Dendrogram, join_ties: bool) -> Self {
        let n = tree.n_leaves();
        let (merges, heights) = (tree.merges(), tree.heights());
        let inner = |label: u32| (label as usize).checked_sub(n);
        // By merge: whether it is part of the node of the merge above.
        let mut joined = vec![false; merges.len()];
        for (pair, height) in merges.iter().zip(heights) {
            for part in pair.iter().filter_map(|&part| inner(part)) {
                joined[part] = join_ties && heights[part] == *height;
            }
        }
        let mut node = vec![0u32; merges.len()];
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); merges.len()];
        let (mut children, mut ends) = (Vec::new(), Vec::new());
        for (at, pair) in merges.iter().enumerate() {
            let mut own = Vec::new();
            for &part in pair {
                match inner(part) {
                    Some(merge) if joined[merge] => own.append(&mut below[merge]),
                    Some(merge) => own.push(node[merge]),
                    None => own.push(part),
                }
            }
            if joined[at] {
                below[at] = own;
            } else {
                node[at] = (n + ends.len()) as u32;
                children.extend(own);
                ends.push(children.len());
            }
        }
        Self::from_children(n, children, ends)
    }

    fn from_children(n_leaves: usize, children: Vec<u32>, ends: Vec<usize>) -> Self {
        let n_nodes = n_leaves + ends.len();
        let mut parent = vec![n_nodes.saturating_sub(1) as u32; n_nodes];
        let mut start = 0;
        for (at, &end) in ends.iter().enumerate() {
            children[start..end].iter().for_each(|&child| parent[child as usize] = (n_leaves + at) as u32);
            start = end;
        }
        Self { n_leaves, parent, children, ends }
    }

    /// The number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// The number of nodes, leaves included.
    pub fn n_nodes(&self) -> usize {
        self.parent.len()
    }

    /// The root.
    pub fn root(&self) -> usize {
        self.n_nodes() - 1
    }

    /// The parent of a node; the root is its own.
    pub fn parent(&self, node: usize) -> usize {
        self.parent[node] as usize
    }

    /// The children of a node, none for a leaf.
    pub fn children(&self, node: usize) -> &[u32] {
        match node.checked_sub(self.n_leaves) {
            None => &[],
            Some(0) => &self.children[..self.ends[0]],
            Some(at) => &self.children[self.ends[at - 1]..self.ends[at]],
        }
    }
}
