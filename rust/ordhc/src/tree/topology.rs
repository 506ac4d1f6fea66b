//! Rooted trees of any shape, as the scores of trees see them.

use super::Dendrogram;
use crate::error::Result;
use crate::memory;

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
    /// The tree of a dendrogram: joined merges are no nodes, all others are nodes in their order.
    pub fn of(tree: &Dendrogram) -> Self {
        let (n, last) = (tree.n_leaves(), tree.last_of_node());
        let mut n_nodes = n as u32;
        let mut node_of = vec![0; last.len()];
        for (merge, node) in node_of.iter_mut().enumerate().filter(|&(merge, _)| !tree.is_joined(merge)) {
            debug_assert_eq!(last[merge] as usize, merge);
            *node = n_nodes;
            n_nodes += 1;
        }
        let mut parent = vec![n_nodes - 1; n_nodes as usize];
        for (at, pair) in tree.merges().iter().enumerate() {
            for &part in pair {
                match (part as usize).checked_sub(n) {
                    None => parent[part as usize] = node_of[last[at] as usize],
                    Some(merge) if !tree.is_joined(merge) => {
                        parent[node_of[merge] as usize] = node_of[last[at] as usize];
                    }
                    Some(_) => {}
                }
            }
        }
        Self::from_parents(n, parent)
    }

    /// As [`Topology::of`], if there is memory for it.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub fn try_of(tree: &Dendrogram) -> Result<Self> {
        // At most two nodes a leaf, with what is needed on the way and for heavy paths.
        memory::check("the nodes of a tree", 88 * tree.n_leaves() as u64)?;
        Ok(Self::of(tree))
    }

    /// `parent` goes by node, children before parents.
    pub(super) fn from_parents(n_leaves: usize, parent: Vec<u32>) -> Self {
        let root = parent.len() - 1;
        let mut next = vec![0; parent.len() - n_leaves];
        for &above in &parent[..root] {
            next[above as usize - n_leaves] += 1;
        }
        let mut n_children = 0;
        for next in &mut next {
            n_children += std::mem::replace(next, n_children);
        }
        let mut children = vec![0; n_children];
        for (node, &above) in parent[..root].iter().enumerate() {
            let place = &mut next[above as usize - n_leaves];
            children[*place] = node as u32;
            *place += 1;
        }
        Self { n_leaves, parent, children, ends: next }
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

    /// The children of a node in ascending order, none for a leaf.
    pub fn children(&self, node: usize) -> &[u32] {
        match node.checked_sub(self.n_leaves) {
            None => &[],
            Some(0) => &self.children[..self.ends[0]],
            Some(at) => &self.children[self.ends[at - 1]..self.ends[at]],
        }
    }

    /// The number of leaves under each node, 1 for a leaf.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![1; self.n_leaves];
        sizes.resize(self.n_nodes(), 0);
        for node in 0..self.root() {
            sizes[self.parent(node)] += sizes[node];
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn ties_join() {
        let tree = Dendrogram::new(vec![[2, 3], [0, 4], [1, 5], [7, 6]], vec![1.0, 2.0, 1.0, 2.0], Kind::Dissimilarity)
            .unwrap();
        let binary = Topology::of(&tree);
        assert_eq!((binary.n_leaves(), binary.n_nodes(), binary.root()), (5, 9, 8));
        for (merge, pair) in tree.merges().iter().enumerate() {
            assert_eq!(binary.children(5 + merge), pair);
        }
        let joined = Topology::of(&tree.join_ties());
        assert_eq!((joined.n_nodes(), joined.sizes()), (7, vec![1, 1, 1, 1, 1, 3, 5]));
        assert_eq!(
            (joined.children(5), joined.children(6), joined.children(4)),
            (&[1, 2, 3][..], &[0, 4, 5][..], &[][..])
        );
        assert_eq!((joined.parent(5), joined.parent(6), joined.parent(3)), (6, 6, 5));
    }

    #[test]
    fn one_leaf_and_stars() {
        let leaf = Topology::of(&Dendrogram::new(vec![], vec![], Kind::Dissimilarity).unwrap());
        assert_eq!((leaf.n_leaves(), leaf.n_nodes(), leaf.root(), leaf.sizes()), (1, 1, 0, vec![1]));
        let n = 100_000;
        let merges = (0..n - 1).map(|k| if k == 0 { [0, 1] } else { [k + 1, n + k - 1] }).collect();
        let star =
            Topology::of(&Dendrogram::new(merges, vec![0.0; n as usize - 1], Kind::Dissimilarity).unwrap().join_ties());
        assert_eq!((star.n_nodes(), star.children(n as usize).len()), (n as usize + 1, n as usize));
    }
}
