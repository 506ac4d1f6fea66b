//! A binary tree whose subtrees can be moved.

use std::ops::RangeInclusive;

const NONE: u32 = u32::MAX;

/// A binary tree. Nodes keep their indices: leaves come first, then inner nodes. When a subtree moves, its parent moves
/// with it.
///
/// The position of a node is its index in a list of all nodes with children before parents (a postorder). A subtree is
/// a range of positions that ends with the root of the subtree. The right child is just before its parent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    n: usize,
    root: usize,
    parents: Vec<u32>,
    children: Vec<[u32; 2]>,
    places: Vec<u32>,
    /// All nodes, each after its children. `sizes[k]` is the number of leaves at and below `order[k]`.
    order: Vec<u32>,
    sizes: Vec<u32>,
}

impl Shape {
    pub(crate) fn of(merges: Vec<[u32; 2]>) -> Self {
        let n = merges.len() + 1;
        let n_nodes = 2 * n - 1;
        let mut parents = vec![NONE; n_nodes];
        for (merge, parts) in merges.iter().enumerate() {
            parts.iter().for_each(|&part| parents[part as usize] = (n + merge) as u32);
        }
        let mut shape = Self {
            n,
            root: n_nodes - 1,
            parents,
            children: merges,
            places: vec![0; n_nodes],
            order: vec![0; n_nodes],
            sizes: vec![1; n_nodes],
        };
        shape.number();
        shape
    }

    fn number(&mut self) {
        let mut place = self.order.len();
        let mut open = vec![self.root as u32];
        while let Some(node) = open.pop() {
            place -= 1;
            self.order[place] = node;
            self.places[node as usize] = place as u32;
            if !self.is_leaf(node as usize) {
                open.extend(self.children[node as usize - self.n]);
            }
        }
        for place in 0..self.order.len() {
            self.sizes[place] = if self.is_leaf(self.node_at(place)) {
                1
            } else {
                let right = self.sizes[place - 1];
                right + self.sizes[place - 2 * right as usize]
            };
        }
    }

    #[cfg(test)]
    pub(crate) fn numbered(&self) -> Self {
        let mut shape = self.clone();
        shape.number();
        shape
    }

    pub(crate) fn n_leaves(&self) -> usize {
        self.n
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn is_leaf(&self, node: usize) -> bool {
        node < self.n
    }

    pub(crate) fn children(&self, node: usize) -> [usize; 2] {
        self.children[node - self.n].map(|child| child as usize)
    }

    pub(crate) fn parent(&self, node: usize) -> Option<usize> {
        let parent = self.parents[node];
        (parent != NONE).then_some(parent as usize)
    }

    pub(crate) fn place(&self, node: usize) -> usize {
        self.places[node] as usize
    }

    pub(crate) fn node_at(&self, place: usize) -> usize {
        self.order[place] as usize
    }

    pub(crate) fn size(&self, node: usize) -> usize {
        self.size_at(self.place(node))
    }

    pub(crate) fn size_at(&self, place: usize) -> usize {
        self.sizes[place] as usize
    }

    pub(crate) fn children_at(&self, place: usize) -> [usize; 2] {
        [place - 2 * self.size_at(place - 1), place - 1]
    }

    /// Returns the positions of a node and all nodes below it.
    pub(crate) fn span(&self, node: usize) -> RangeInclusive<usize> {
        let place = self.place(node);
        place + 2 - 2 * self.size_at(place)..=place
    }

    pub(crate) fn sibling(&self, node: usize) -> Option<usize> {
        let [a, b] = self.children(self.parent(node)?);
        Some(if a == node { b } else { a })
    }

    /// Returns the inner nodes, children before parents.
    pub(crate) fn inner_in_order(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&node| node as usize).filter(|&node| !self.is_leaf(node))
    }

    pub(crate) fn leaves(&self, node: usize) -> impl Iterator<Item = usize> {
        self.span(node).map(|place| self.node_at(place)).filter(|&node| self.is_leaf(node))
    }

    pub(crate) fn below(&self, node: usize) -> impl Iterator<Item = usize> {
        let span = self.span(node);
        (*span.start()..*span.end()).map(|place| self.node_at(place))
    }

    pub(crate) fn up_from(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |&node| self.parent(node))
    }

    pub(crate) fn smallest_holding(&self, leaves: &[usize]) -> usize {
        let (first, last) = leaves
            .iter()
            .fold((usize::MAX, 0), |(first, last), &leaf| (first.min(self.place(leaf)), last.max(self.place(leaf))));
        let holds = |&node: &usize| self.span(node).contains(&first) && self.place(node) >= last;
        self.up_from(leaves[0]).find(holds).unwrap_or(self.root)
    }

    /// Returns true if the other tree has the same clusters. Indices of inner nodes and the order of children are
    /// ignored.
    pub(crate) fn is_tree_of(&self, other: &Self) -> bool {
        // For each node: the node of the other tree with the same leaves.
        let mut same: Vec<u32> = (0..self.n_nodes() as u32).collect();
        self.n == other.n
            && self.inner_in_order().all(|node| {
                let [a, b] = self.children(node).map(|child| other.parents[same[child] as usize]);
                same[node] = a;
                a == b
            })
    }

    pub(crate) fn root(&self) -> usize {
        self.root
    }

    /// Cuts a subtree off and puts it on the edge above `target`, which must not be in the subtree. The parent of the
    /// subtree moves with it. Returns true if the tree changes.
    pub(crate) fn regraft(&mut self, subtree: usize, target: usize) -> bool {
        let (Some(parent), Some(sibling)) = (self.parent(subtree), self.sibling(subtree)) else { return false };
        if target == sibling || target == parent || self.span(subtree).contains(&self.place(target)) {
            return false;
        }
        let from = self.parent(parent);
        self.replace(parent, sibling, from);
        let to = self.parent(target);
        self.replace(target, parent, to);
        self.children[parent - self.n] = [target as u32, subtree as u32];
        self.parents[target] = parent as u32;
        let moved = self.size(subtree) as u32;
        self.resize_from(from, |size| size - moved);
        self.put_behind(subtree, parent, target);
        let place = self.place(parent);
        self.sizes[place] = self.size(target) as u32 + moved;
        self.resize_from(self.parent(parent), |size| size + moved);
        true
    }

    fn resize_from(&mut self, node: Option<usize>, change: impl Fn(u32) -> u32) {
        let mut next = node;
        while let Some(node) = next {
            let size = &mut self.sizes[self.places[node] as usize];
            *size = change(*size);
            next = self.parent(node);
        }
    }

    /// Changes positions after a move: the nodes of a subtree and its parent get the positions directly after `target`.
    /// The positions of the nodes in between shift.
    fn put_behind(&mut self, subtree: usize, parent: usize, target: usize) {
        let (subtree, parent, target) = (self.span(subtree), self.place(parent), self.place(target));
        let (first, last) = (*subtree.start(), *subtree.end());
        let n_moved = last + 2 - first;
        for values in [&mut self.order, &mut self.sizes] {
            // Put the parent directly after its subtree. The nodes between them shift by one.
            values[last + 1..=parent].rotate_right(1);
            if target < first {
                values[target + 1..=last + 1].rotate_right(n_moved);
            } else {
                values[first..=target + usize::from(target < parent)].rotate_left(n_moved);
            }
        }
        for place in first.min(target)..=parent.max(target) {
            self.places[self.order[place] as usize] = place as u32;
        }
    }

    fn replace(&mut self, old: usize, new: usize, above: Option<usize>) {
        self.parents[new] = above.map_or(NONE, |above| above as u32);
        match above {
            None => self.root = new,
            Some(above) => {
                let children = &mut self.children[above - self.n];
                children.iter_mut().filter(|child| **child == old as u32).for_each(|child| *child = new as u32);
            }
        }
    }
}
