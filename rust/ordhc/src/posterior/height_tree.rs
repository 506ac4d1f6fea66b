//! A tree of any degree whose inner nodes have heights. Subtrees can be cut off and attached elsewhere.

use crate::tree::Dendrogram;

pub(super) const NONE: u32 = u32::MAX;

/// A rooted tree. Leaves have the ids `0..n`, and inner nodes have ids in `n..2 n - 1`; unused ids are in `free`. Each
/// inner node has at least two children, and is higher than its parent. `first` has the first child of each node,
/// `next` and `before` have its next and its previous sibling.
#[derive(Debug, Clone)]
pub(super) struct HeightTree {
    n: usize,
    root: u32,
    parents: Vec<u32>,
    heights: Vec<f64>,
    first: Vec<u32>,
    next: Vec<u32>,
    before: Vec<u32>,
    degrees: Vec<u32>,
    free: Vec<u32>,
}

/// Where a subtree is inserted: as a child of a node (`Under`), or on the edge above a node (`Beside`). On an edge, the
/// subtree becomes a child of a new node with the given height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Under(u32),
    Beside(u32, f64),
}

impl HeightTree {
    /// Returns a tree with the clusters of a dendrogram, which must have at least two leaves. The heights are new: a
    /// node with s of the n leaves has a height proportional to log(n / s). So the root has height 0, and smaller
    /// clusters are higher.
    pub(super) fn of(tree: &Dendrogram) -> Self {
        const PER_DOUBLING: f64 = 1.2;
        let n = tree.n_leaves();
        let n_nodes = 2 * n - 1;
        let mut new = Self {
            n,
            root: n_nodes as u32 - 1,
            parents: vec![NONE; n_nodes],
            heights: vec![0.0; n_nodes],
            first: vec![NONE; n_nodes],
            next: vec![NONE; n_nodes],
            before: vec![NONE; n_nodes],
            degrees: vec![0; n_nodes],
            free: Vec::with_capacity(n),
        };
        let tree = tree.topology().binary();
        for (merge, pair) in tree.merges().iter().enumerate() {
            let node = n + merge;
            pair.iter().for_each(|&child| new.attach(child, node as u32));
            new.heights[node] = PER_DOUBLING * (n as f64 / f64::from(tree.sizes()[merge])).log2();
        }
        new
    }

    pub(super) fn bytes(n: usize) -> usize {
        n.saturating_mul(2 * (5 * size_of::<u32>() + size_of::<f64>()) + size_of::<u32>())
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.n
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn n_inner(&self) -> usize {
        self.n - 1 - self.free.len()
    }

    pub(super) fn root(&self) -> u32 {
        self.root
    }

    pub(super) fn is_leaf(&self, node: u32) -> bool {
        (node as usize) < self.n
    }

    pub(super) fn is_there(&self, node: u32) -> bool {
        self.is_leaf(node) || self.degrees[node as usize] > 0
    }

    #[inline]
    pub(super) fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    pub(super) fn degree(&self, node: u32) -> u32 {
        self.degrees[node as usize]
    }

    #[inline]
    pub(super) fn height(&self, node: u32) -> f64 {
        self.heights[node as usize]
    }

    pub(super) fn set_height(&mut self, node: u32, height: f64) {
        self.heights[node as usize] = height;
    }

    pub(super) fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let some = |node: u32| (node != NONE).then_some(node);
        std::iter::successors(some(self.first[node as usize]), move |&child| some(self.next[child as usize]))
    }

    /// Cuts a subtree off, and returns where it was. The parent is removed if it would have only one child. Returns
    /// `None` without a change for the root, and for a child of the root whose only sibling is a leaf.
    pub(super) fn cut(&mut self, top: u32) -> Option<Place> {
        let parent = self.parent(top);
        if parent == NONE {
            return None;
        }
        if self.degree(parent) > 2 {
            self.detach(top);
            return Some(Place::Under(parent));
        }
        let above = self.parent(parent);
        let sibling = self.children(parent).find(|&child| child != top)?;
        if above == NONE && self.is_leaf(sibling) {
            return None;
        }
        self.detach(top);
        self.detach(sibling);
        if above == NONE {
            self.root = sibling;
        } else {
            self.detach(parent);
            self.attach(sibling, above);
        }
        self.free.push(parent);
        Some(Place::Beside(sibling, self.height(parent)))
    }

    pub(super) fn put(&mut self, top: u32, place: Place) {
        match place {
            Place::Under(node) => self.attach(top, node),
            Place::Beside(sibling, height) => {
                let above = self.parent(sibling);
                let new = self.free.pop().expect("a tree of fewer leaves has fewer inner nodes");
                self.heights[new as usize] = height;
                if above == NONE {
                    self.root = new;
                } else {
                    self.detach(sibling);
                    self.attach(new, above);
                }
                self.attach(sibling, new);
                self.attach(top, new);
            }
        }
    }

    pub(super) fn ancestors(&self, node: u32) -> impl Iterator<Item = u32> {
        let some = |node: u32| (node != NONE).then_some(node);
        std::iter::successors(some(self.parent(node)), move |&above| some(self.parent(above)))
    }

    /// Makes a node the root (`Under`), or makes a new root on the edge above a node (`Beside`). The height of a new
    /// root is not set. If the old root has two children, this root is removed, and its two edges become one edge. But
    /// if the new root would be on this edge, the tree does not change.
    pub(super) fn put_root(&mut self, place: Place) {
        let old = self.root;
        let (node, is_new) = match place {
            Place::Under(node) => (node, false),
            Place::Beside(node, _) => (node, true),
        };
        let is_joint = self.degree(old) == 2;
        if is_new && is_joint && self.parent(node) == old {
            return;
        }
        let mut path: Vec<u32> = (!is_new).then_some(node).into_iter().chain(self.ancestors(node)).collect();
        // Reverse the edges of the path.
        path[..path.len() - 1].iter().for_each(|&child| self.detach(child));
        if is_joint {
            let child = self.first[old as usize];
            self.detach(child);
            path.pop();
            self.attach(child, path[path.len() - 1]);
            self.free.push(old);
        }
        path.windows(2).for_each(|pair| self.attach(pair[1], pair[0]));
        self.root = node;
        if is_new {
            let new = self.free.pop().expect("a root of more than two children is not one of a binary tree");
            self.detach(node);
            self.attach(node, new);
            self.attach(path[0], new);
            self.root = new;
        }
    }

    fn attach(&mut self, child: u32, parent: u32) {
        let first = std::mem::replace(&mut self.first[parent as usize], child);
        self.parents[child as usize] = parent;
        self.next[child as usize] = first;
        self.before[child as usize] = NONE;
        if first != NONE {
            self.before[first as usize] = child;
        }
        self.degrees[parent as usize] += 1;
    }

    fn detach(&mut self, child: u32) {
        let parent = std::mem::replace(&mut self.parents[child as usize], NONE);
        let (before, next) = (self.before[child as usize], self.next[child as usize]);
        if before == NONE {
            self.first[parent as usize] = next;
        } else {
            self.next[before as usize] = next;
        }
        if next != NONE {
            self.before[next as usize] = before;
        }
        self.degrees[parent as usize] -= 1;
    }

    /// Writes `top` and all nodes below it to `order`, with parents before children.
    pub(super) fn nodes_under(&self, top: u32, order: &mut Vec<u32>) {
        order.clear();
        let mut at = top;
        loop {
            order.push(at);
            if self.first[at as usize] != NONE {
                at = self.first[at as usize];
                continue;
            }
            while at != top && self.next[at as usize] == NONE {
                at = self.parent(at);
            }
            if at == top {
                return;
            }
            at = self.next[at as usize];
        }
    }

    pub(super) fn put_root_at_zero(&mut self) {
        let root = self.height(self.root);
        self.heights[self.n..].iter_mut().for_each(|height| *height -= root);
    }

    pub(super) fn scale_heights(&mut self, factor: f64) {
        self.heights[self.n..].iter_mut().for_each(|height| *height *= factor);
    }

    pub(super) fn increments(&self) -> impl Iterator<Item = f64> {
        let inner = (self.n as u32..self.n_nodes() as u32).filter(|&node| self.is_there(node) && node != self.root);
        inner.map(|node| self.height(node) - self.height(self.parent(node)))
    }
}

/// For each node: the range of the nodes of its subtree in a preorder of all nodes.
#[derive(Debug, Clone)]
pub(super) struct Spans {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Spans {
    pub(super) fn new(n_nodes: usize) -> Self {
        Self { starts: vec![0; n_nodes], ends: vec![0; n_nodes] }
    }

    pub(super) fn follow(&mut self, tree: &HeightTree, order: &[u32]) {
        for (at, &node) in order.iter().enumerate() {
            self.starts[node as usize] = at as u32;
            self.ends[node as usize] = at as u32 + 1;
        }
        for &node in order[1..].iter().rev() {
            let (end, parent) = (self.ends[node as usize], tree.parent(node) as usize);
            self.ends[parent] = self.ends[parent].max(end);
        }
    }

    #[inline]
    pub(super) fn start(&self, node: u32) -> u32 {
        self.starts[node as usize]
    }

    #[inline]
    pub(super) fn join(&self, tree: &HeightTree, a: u32, b: u32) -> u32 {
        let place = self.starts[b as usize];
        let mut node = tree.parent(a);
        while place < self.starts[node as usize] || place >= self.ends[node as usize] {
            node = tree.parent(node);
        }
        node
    }
}
