//! The shape of a rooted tree: the children of each node.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::error::{Error, Result, check_n_leaves};

/// The shape of a rooted tree over the leaves `0..n`.
///
/// Nodes `0..n` are the leaves. The inner nodes follow, children before parents, with the root last. An inner node has
/// at least two children. In a binary tree there are `n - 1` inner nodes, and node `n + k` is merge `k`, as in SciPy.
///
/// ```
/// use ordhc::tree::Topology;
///
/// let tree = Topology::from_parents(4, vec![4, 4, 4, 5, 5, 5])?;
/// assert_eq!((tree.n_leaves(), tree.n_nodes(), tree.root()), (4, 6, 5));
/// assert_eq!((tree.children(4), tree.children(5)), (&[0, 1, 2][..], &[3, 4][..]));
/// assert_eq!(tree.merges().as_ref(), [[0, 1], [2, 4], [3, 5]]);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Topology {
    n_leaves: usize,
    /// The children of all inner nodes. The children of one node are consecutive and in ascending order.
    children: Vec<u32>,
    /// The children of inner node `n + k` are `children[ends[k - 1]..ends[k]]`. Empty if all inner nodes have two
    /// children.
    ends: Vec<u32>,
    sizes: Vec<u32>,
    parents: OnceLock<Vec<u32>>,
}

impl PartialEq for Topology {
    fn eq(&self, other: &Self) -> bool {
        (self.n_leaves, &self.children, &self.ends) == (other.n_leaves, &other.children, &other.ends)
    }
}

impl Eq for Topology {}

impl Topology {
    /// Returns the tree of these merges. Every cluster must be merged exactly once, after the merge that made it, and
    /// the last merge must be the root.
    ///
    /// # Errors
    /// The first merge that is not possible.
    pub fn from_merges(mut merges: Vec<[u32; 2]>) -> Result<Self> {
        let n = merges.len() + 1;
        check_n_leaves(n)?;
        let mut used = vec![false; n + merges.len()];
        let mut sizes: Vec<u32> = Vec::with_capacity(merges.len());
        for (k, pair) in merges.iter_mut().enumerate() {
            pair.sort_unstable();
            let mut size = 0;
            for &mut cluster in pair {
                let cluster = cluster as usize;
                if cluster >= n + k {
                    return Err(Error::Argument(format!(
                        "merge {k}: cluster {cluster} is not made yet (the clusters so far are 0..={})",
                        n + k - 1
                    )));
                }
                if std::mem::replace(&mut used[cluster], true) {
                    return Err(Error::Argument(format!("merge {k}: cluster {cluster} is merged a second time")));
                }
                size += if cluster < n { 1 } else { sizes[cluster - n] };
            }
            sizes.push(size);
        }
        let children = merges.into_flattened();
        Ok(Self { n_leaves: n, children, ends: Vec::new(), sizes, parents: OnceLock::new() })
    }

    /// Returns the tree in which node `v` is a child of node `parents[v]`. The root is the last node, and
    /// `parents[root]` is ignored.
    ///
    /// # Errors
    /// A parent that does not come after its child, or is a leaf; an inner node with fewer than two children.
    pub fn from_parents(n_leaves: usize, mut parents: Vec<u32>) -> Result<Self> {
        check_n_leaves(n_leaves)?;
        let n_nodes = parents.len();
        if n_nodes < n_leaves || (n_leaves > 1 && n_nodes == n_leaves) || n_nodes >= 2 * n_leaves {
            return Err(Error::Argument(format!("{n_nodes} nodes cannot be a tree of {n_leaves} leaves")));
        }
        let root = n_nodes - 1;
        parents[root] = root as u32;
        let mut n_children = vec![0u32; n_nodes - n_leaves];
        for (node, &parent) in parents[..root].iter().enumerate() {
            if parent as usize <= node || parent as usize > root || (parent as usize) < n_leaves {
                let limit = format!("above {} and at most {root}", node.max(n_leaves - 1));
                return Err(Error::Argument(format!("the parent of node {node} is {parent}, but must be {limit}")));
            }
            n_children[parent as usize - n_leaves] += 1;
        }
        if let Some(at) = n_children.iter().position(|&count| count < 2) {
            let (node, count) = (n_leaves + at, n_children[at]);
            return Err(Error::Argument(format!("inner node {node} has {count} children, but must have 2 or more")));
        }
        Ok(Self::of_parents(n_leaves, parents))
    }

    pub(crate) fn of_parents(n_leaves: usize, parents: Vec<u32>) -> Self {
        let root = parents.len() - 1;
        let n_inner = parents.len() - n_leaves;
        let mut ends = vec![0u32; n_inner];
        for &parent in &parents[..root] {
            ends[parent as usize - n_leaves] += 1;
        }
        let mut n_children = 0;
        for end in &mut ends {
            n_children += std::mem::replace(end, n_children);
        }
        let mut children = vec![0; n_children as usize];
        let mut sizes = vec![0u32; n_inner];
        for (node, &parent) in parents[..root].iter().enumerate() {
            let parent = parent as usize - n_leaves;
            children[ends[parent] as usize] = node as u32;
            ends[parent] += 1;
            sizes[parent] += node.checked_sub(n_leaves).map_or(1, |at| sizes[at]);
        }
        if n_inner + 1 == n_leaves {
            ends = Vec::new();
        }
        Self { n_leaves, children, ends, sizes, parents: OnceLock::from(parents) }
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// Returns the number of nodes, including leaves.
    pub fn n_nodes(&self) -> usize {
        self.n_leaves + self.sizes.len()
    }

    /// Returns the number of inner nodes.
    pub fn n_inner(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the root.
    pub fn root(&self) -> usize {
        self.n_nodes() - 1
    }

    /// Returns true if every inner node has two children.
    pub fn is_binary(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the parent of each node. The parent of the root is the root.
    pub fn parents(&self) -> &[u32] {
        self.parents.get_or_init(|| {
            let mut parents = vec![self.root() as u32; self.n_nodes()];
            for node in self.n_leaves..self.n_nodes() {
                self.children(node).iter().for_each(|&child| parents[child as usize] = node as u32);
            }
            parents
        })
    }

    /// Returns the parent of a node. The parent of the root is the root.
    pub fn parent(&self, node: usize) -> usize {
        self.parents()[node] as usize
    }

    /// Returns the children of a node in ascending order. A leaf has no children.
    pub fn children(&self, node: usize) -> &[u32] {
        let Some(at) = node.checked_sub(self.n_leaves) else { return &[] };
        if self.is_binary() {
            return &self.children[2 * at..2 * at + 2];
        }
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.children[start as usize..self.ends[at] as usize]
    }

    /// Returns the number of leaves below a node, 1 for a leaf.
    pub fn size(&self, node: usize) -> u32 {
        node.checked_sub(self.n_leaves).map_or(1, |at| self.sizes[at])
    }

    /// Returns the number of leaves below each inner node.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Returns the tree as merges of two clusters, in the order of the nodes. A node with k children becomes k - 1
    /// merges: first its first two children, then their cluster with the third child, and so on.
    pub fn merges(&self) -> Cow<'_, [[u32; 2]]> {
        let n = self.n_leaves;
        if self.is_binary() {
            return Cow::Borrowed(self.children.as_chunks().0);
        }
        let mut merges = Vec::with_capacity(n - 1);
        // The cluster of an inner node is the cluster that its last merge makes.
        let mut clusters: Vec<u32> = Vec::with_capacity(self.n_inner());
        for node in n..self.n_nodes() {
            let cluster = |&child: &u32| (child as usize).checked_sub(n).map_or(child, |at| clusters[at]);
            let mut children = self.children(node).iter().map(cluster);
            let mut whole = children.next().unwrap_or_default();
            for child in children {
                merges.push([child.min(whole), child.max(whole)]);
                whole = (n + merges.len() - 1) as u32;
            }
            clusters.push(whole);
        }
        Cow::Owned(merges)
    }

    /// Converts a value for each inner node into a value for each of the [`merges`](Self::merges). A merge gets the
    /// value of its node.
    pub fn by_merge<'a, T: Copy>(&self, by_node: &'a [T]) -> Cow<'a, [T]> {
        if self.is_binary() {
            return Cow::Borrowed(by_node);
        }
        let n_merges = |at: usize| self.children(self.n_leaves + at).len() - 1;
        Cow::Owned(by_node.iter().enumerate().flat_map(|(at, &x)| std::iter::repeat_n(x, n_merges(at))).collect())
    }

    pub(crate) fn binary(&self) -> Cow<'_, Self> {
        match self.is_binary() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Self::from_merges(self.merges().into_owned()).expect("merges of a tree are possible")),
        }
    }

    /// Returns the leaves from left to right, with children in ascending order.
    pub fn leaf_order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.n_leaves);
        let mut open = vec![self.root() as u32];
        while let Some(node) = open.pop() {
            match (node as usize) < self.n_leaves {
                true => order.push(node),
                false => open.extend(self.children(node as usize).iter().rev()),
            }
        }
        order
    }

    pub(crate) fn places(order: &[u32]) -> Vec<u32> {
        let mut places = vec![0; order.len()];
        for (place, &leaf) in order.iter().enumerate() {
            places[leaf as usize] = place as u32;
        }
        places
    }

    /// Returns the same tree over renamed leaves: leaf `i` becomes `leaves[i]`.
    ///
    /// # Errors
    /// `leaves` is not a permutation.
    pub fn relabel(&self, leaves: &[u32]) -> Result<Self> {
        let n = self.n_leaves;
        let mut seen = vec![false; n];
        let is_new = |&leaf: &u32| seen.get_mut(leaf as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        if leaves.len() != n || !leaves.iter().all(is_new) {
            return Err(Error::Argument(format!("renaming needs a permutation of 0..{n}")));
        }
        let mut renamed = self.clone();
        renamed.parents = OnceLock::new();
        for child in &mut renamed.children {
            *child = leaves.get(*child as usize).copied().unwrap_or(*child);
        }
        let mut rest = &mut renamed.children[..];
        for node in n..self.n_nodes() {
            let (own, others) = rest.split_at_mut(self.children(node).len());
            own.sort_unstable();
            rest = others;
        }
        Ok(renamed)
    }

    /// Returns the tree without the inner nodes for which `goes` is true. The children of a removed node become
    /// children of the node above. The root is always kept.
    ///
    /// Also returns the former index of each node.
    pub fn without(&self, goes: impl Fn(usize) -> bool) -> (Self, Vec<u32>) {
        let mut kept: Vec<u32> = (0..self.n_leaves as u32).collect();
        kept.extend(
            (self.n_leaves..self.n_nodes()).filter(|&node| node == self.root() || !goes(node)).map(|v| v as u32),
        );
        let mut number = vec![u32::MAX; self.n_nodes()];
        kept.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as u32);
        // A removed node gets the index of the node that replaces it. Go from the root down, so that the new index of
        // the parent is already computed.
        for node in (self.n_leaves..self.root()).rev() {
            if number[node] == u32::MAX {
                number[node] = number[self.parent(node)];
            }
        }
        let parents = kept.iter().map(|&old| number[self.parent(old as usize)]).collect();
        (Self::of_parents(self.n_leaves, parents), kept)
    }

    /// Returns the tree restricted to some leaves. Nodes that would have one child are removed. The new leaf `i` is the
    /// former leaf `leaves[i]`. `leaves` must be in ascending order.
    ///
    /// Also returns the former index of each node.
    ///
    /// # Errors
    /// No leaves; leaves that are not ascending or not in the tree.
    pub fn restricted(&self, leaves: &[u32]) -> Result<(Self, Vec<u32>)> {
        let n = self.n_leaves;
        check_n_leaves(leaves.len())?;
        if !leaves.is_sorted_by(|a, b| a < b) || leaves[leaves.len() - 1] as usize >= n {
            return Err(Error::Argument(format!("leaves must be in ascending order and below {n}")));
        }
        const NONE: u32 = u32::MAX;
        // For each node: its new index. If the node is removed, the new index of the only node that remains below it.
        let mut left = vec![NONE; self.n_nodes()];
        leaves.iter().zip(0..).for_each(|(&old, new)| left[old as usize] = new);
        let mut kept = leaves.to_vec();
        let mut parents = vec![0; leaves.len()];
        for node in n..self.n_nodes() {
            let mut children = self.children(node).iter().map(|&child| left[child as usize]).filter(|&new| new != NONE);
            match (children.next(), children.next()) {
                (Some(first), Some(second)) => {
                    let new = kept.len() as u32;
                    [first, second].into_iter().chain(children).for_each(|child| parents[child as usize] = new);
                    kept.push(node as u32);
                    parents.push(new);
                    left[node] = new;
                }
                (only, _) => left[node] = only.unwrap_or(NONE),
            }
        }
        Ok((Self::of_parents(leaves.len(), parents), kept))
    }

    /// Returns the same tree with its inner nodes in another order. `order` has their current indices, children before
    /// parents.
    pub(crate) fn reordered(&self, order: &[u32]) -> Self {
        let mut number: Vec<u32> = (0..self.n_nodes() as u32).collect();
        for (at, &old) in order.iter().enumerate() {
            number[old as usize] = (self.n_leaves + at) as u32;
        }
        let parents = (0..self.n_leaves as u32).chain(order.iter().copied());
        let parents = parents.map(|old| number[self.parent(old as usize)]).collect();
        Self::of_parents(self.n_leaves, parents)
    }

    pub(crate) fn smallest_leaves(&self) -> Vec<u32> {
        let mut smallest: Vec<u32> = Vec::with_capacity(self.n_inner());
        for node in self.n_leaves..self.n_nodes() {
            let leaf = |&child: &u32| (child as usize).checked_sub(self.n_leaves).map_or(child, |at| smallest[at]);
            smallest.push(self.children(node).iter().map(leaf).min().unwrap_or_default());
        }
        smallest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_merges_are_named() {
        let message = |merges: Vec<[u32; 2]>| Topology::from_merges(merges).unwrap_err().to_string();
        assert!(message(vec![[0, 1], [0, 3]]).contains("merge 1: cluster 0 is merged a second time"));
        assert!(message(vec![[0, 3], [1, 2]]).contains("merge 0: cluster 3 is not made yet"));
        assert!(message(vec![[0, 0]]).contains("second time"));
    }

    #[test]
    fn impossible_parents_are_named() {
        let message = |n, parents: Vec<u32>| Topology::from_parents(n, parents).unwrap_err().to_string();
        assert!(message(3, vec![3, 3, 3]).contains("3 nodes cannot be a tree of 3 leaves"));
        assert!(message(2, vec![2, 2, 3, 3]).contains("4 nodes cannot be a tree of 2 leaves"));
        assert!(message(3, vec![3, 2, 3, 3]).contains("the parent of node 1 is 2, but must be above 2 and at most 3"));
        assert!(message(3, vec![4, 4, 3, 4, 4]).contains("inner node 3 has 1 children"));
        assert!(message(0, vec![]).contains("leaves"));
    }

    #[test]
    fn a_binary_tree_is_its_merges() {
        let merges = vec![[2, 3], [0, 4], [1, 5], [6, 7]];
        let tree = Topology::from_merges(merges.clone()).unwrap();
        assert_eq!(tree.merges().as_ref(), merges);
        assert_eq!((tree.n_leaves(), tree.n_nodes(), tree.root(), tree.sizes()), (5, 9, 8, &[2, 2, 2 + 1, 5][..]));
    }

    #[test]
    fn one_leaf_and_stars() {
        let leaf = Topology::from_parents(1, vec![0]).unwrap();
        assert_eq!((leaf.n_leaves(), leaf.n_nodes(), leaf.root(), leaf.leaf_order()), (1, 1, 0, vec![0]));
        assert_eq!(leaf, Topology::from_merges(vec![]).unwrap());
        let n = 100_000;
        let star = Topology::from_parents(n, vec![n as u32; n + 1]).unwrap();
        assert_eq!((star.n_nodes(), star.children(n).len(), star.merges().len()), (n + 1, n, n - 1));
        assert_eq!(Topology::from_merges(star.merges().into_owned()).unwrap().without(|_| true).0, star);
    }

    #[test]
    fn some_leaves_make_a_tree() {
        let tree = Topology::from_parents(6, vec![6, 6, 6, 7, 7, 8, 8, 8, 8]).unwrap();
        let (few, kept) = tree.restricted(&[0, 2, 3, 5]).unwrap();
        assert_eq!(kept, [0, 2, 3, 5, 6, 8]);
        assert_eq!((few.children(4), few.children(5)), (&[0, 1][..], &[2, 3, 4][..]));
        assert_eq!(tree.restricted(&[4]).unwrap().1, [4]);
        assert_eq!(tree.restricted(&[3, 4]).unwrap().1, [3, 4, 7]);
        assert_eq!(tree.restricted(&[0, 1, 2, 3, 4, 5]).unwrap().0, tree);
        for wrong in [&[][..], &[1, 0], &[0, 0], &[6]] {
            assert!(tree.restricted(wrong).is_err());
        }
    }

    #[test]
    fn nodes_go_and_change_places() {
        let tree = Topology::from_merges(vec![[0, 1], [2, 3], [5, 6], [4, 7]]).unwrap();
        let (fewer, kept) = tree.without(|node| node == 5 || node == 7);
        assert_eq!(kept, [0, 1, 2, 3, 4, 6, 8]);
        assert_eq!((fewer.children(5), fewer.children(6)), (&[2, 3][..], &[0, 1, 4, 5][..]));
        assert_eq!(fewer.by_merge(&[7, 8]).as_ref(), [7, 8, 8, 8]);
        let turned = tree.reordered(&[6, 5, 7, 8]);
        assert_eq!(
            (turned.children(5), turned.children(6), turned.smallest_leaves()),
            (&[2, 3][..], &[0, 1][..], vec![2, 0, 0, 0])
        );
        assert_eq!(tree.relabel(&[4, 3, 2, 1, 0]).unwrap().merges().as_ref(), [[3, 4], [1, 2], [5, 6], [0, 7]]);
        assert!(tree.relabel(&[0, 0, 1, 2, 3]).is_err());
    }
}
