//! A binary tree that grows leaf by leaf, and from which subtrees can be cut off.

use crate::tree::Topology;

/// Marks a missing node.
pub(super) const NONE: u32 = u32::MAX;

/// The place of a subtree in the tree: beside a node (on the edge above it), as the first or second child of the new
/// parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) beside: u32,
    pub(super) is_first: bool,
}

impl Place {
    pub(super) fn beside(node: u32) -> Self {
        Self { beside: node, is_first: false }
    }
}

/// A rooted binary tree that contains some of `n` leaves. Leaves are the nodes `0..n`, and inner nodes have indices
/// from `n` to `2n - 2`. Every node stores its number of leaves, so that a path can be followed without visiting the
/// rest of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    n: usize,
    pub(super) root: u32,
    parents: Vec<u32>,
    children: Vec<[u32; 2]>,
    /// The number of leaves at and below each node, or 0 for a node that is not in the tree.
    sizes: Vec<u32>,
    free: Vec<u32>,
}

impl Shape {
    pub(super) fn new(n: usize) -> Self {
        let n_nodes = (2 * n).saturating_sub(1);
        Self {
            n,
            root: NONE,
            parents: vec![NONE; n_nodes],
            children: vec![[NONE; 2]; n_nodes],
            sizes: vec![0; n_nodes],
            free: (n as u32..n_nodes as u32).rev().collect(),
        }
    }

    /// Returns a tree of all leaves of a dendrogram. A node with more than two children becomes several binary nodes.
    pub(super) fn of(tree: &Topology) -> Self {
        let tree = tree.binary();
        let mut new = Self::new(tree.n_leaves());
        new.sizes[..new.n].fill(1);
        new.free.clear();
        for (merge, &pair) in tree.merges().iter().enumerate() {
            let node = (new.n + merge) as u32;
            new.children[node as usize] = pair;
            new.sizes[node as usize] = pair.map(|child| new.sizes[child as usize]).iter().sum();
            pair.iter().for_each(|&child| new.parents[child as usize] = node);
        }
        new.root = new.sizes.len() as u32 - 1;
        new
    }

    pub(super) fn is_leaf(&self, node: u32) -> bool {
        (node as usize) < self.n
    }

    pub(super) fn has(&self, node: u32) -> bool {
        self.sizes[node as usize] > 0
    }

    #[inline]
    pub(super) fn size(&self, node: u32) -> u32 {
        self.sizes[node as usize]
    }

    #[inline]
    pub(super) fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    pub(super) fn children(&self, node: u32) -> [u32; 2] {
        self.children[node as usize]
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.sizes.len()
    }

    pub(super) fn n_placed(&self) -> u32 {
        if self.root == NONE { 0 } else { self.size(self.root) }
    }

    pub(super) fn depth(&self, node: u32) -> usize {
        let up = |&node: &u32| Some(self.parent(node)).filter(|&above| above != NONE);
        std::iter::successors(up(&node), up).count()
    }

    /// Returns the lowest common ancestor of two nodes. A node has fewer leaves than each node above it, so the smaller
    /// of two different nodes is never the ancestor and can move up.
    #[inline]
    pub(super) fn join(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if self.sizes[a as usize] <= self.sizes[b as usize] {
                a = self.parents[a as usize];
            } else {
                b = self.parents[b as usize];
            }
        }
        a
    }

    pub(super) fn put(&mut self, top: u32, place: Place) {
        if self.is_leaf(top) {
            self.sizes[top as usize] = 1;
        }
        if self.root == NONE {
            self.root = top;
            return;
        }
        let Place { beside, is_first } = place;
        let above = self.parent(beside);
        let new = self.free.pop().expect("a tree of fewer leaves has fewer inner nodes");
        self.children[new as usize] = if is_first { [top, beside] } else { [beside, top] };
        self.parents[beside as usize] = new;
        self.parents[top as usize] = new;
        self.parents[new as usize] = above;
        self.sizes[new as usize] = self.size(beside) + self.size(top);
        if above == NONE {
            self.root = new;
        } else {
            self.replace_child(above, beside, new);
        }
        let more = self.size(top);
        self.resize(above, |size| size + more);
    }

    /// Cuts a subtree off the tree, and returns its place. [`put`](Self::put) at this place restores the same tree.
    /// Returns `None` for the root, which is not cut off.
    pub(super) fn cut(&mut self, top: u32) -> Option<Place> {
        let parent = self.parent(top);
        if parent == NONE {
            return None;
        }
        let [a, b] = self.children(parent);
        let sibling = if a == top { b } else { a };
        let above = self.parent(parent);
        self.parents[sibling as usize] = above;
        self.parents[top as usize] = NONE;
        self.sizes[parent as usize] = 0;
        self.free.push(parent);
        if above == NONE {
            self.root = sibling;
        } else {
            self.replace_child(above, parent, sibling);
        }
        let fewer = self.size(top);
        self.resize(above, |size| size - fewer);
        Some(Place { beside: sibling, is_first: a == top })
    }

    pub(super) fn remove(&mut self, leaf: u32) {
        if self.cut(leaf).is_none() && self.root == leaf {
            self.root = NONE;
        }
        self.sizes[leaf as usize] = 0;
    }

    fn replace_child(&mut self, node: u32, old: u32, new: u32) {
        for child in &mut self.children[node as usize] {
            if *child == old {
                *child = new;
            }
        }
    }

    fn resize(&mut self, from: u32, new: impl Fn(u32) -> u32) {
        let mut node = from;
        while node != NONE {
            self.sizes[node as usize] = new(self.sizes[node as usize]);
            node = self.parents[node as usize];
        }
    }

    pub(super) fn leaf_under(&self, node: u32, mut at: u32) -> u32 {
        let mut node = node;
        while !self.is_leaf(node) {
            let [a, b] = self.children(node);
            node = if at < self.size(a) {
                a
            } else {
                at -= self.size(a);
                b
            };
        }
        node
    }

    pub(super) fn leaves_under(&self, node: u32, leaves: &mut Vec<u32>) {
        leaves.clear();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if self.is_leaf(node) {
                leaves.push(node);
            } else {
                open.extend(self.children(node));
            }
        }
    }

    /// Returns the inner nodes, children before parents.
    pub(super) fn inner_nodes(&self) -> Vec<u32> {
        let mut order = Vec::new();
        let mut open = vec![self.root];
        while let Some(node) = open.pop() {
            if node != NONE && !self.is_leaf(node) {
                order.push(node);
                open.extend(self.children(node));
            }
        }
        order.reverse();
        order
    }
}
