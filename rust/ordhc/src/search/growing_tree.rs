//! One or several rooted trees that grow leaf by leaf.

use super::place::Place;

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    first: u32,
    next: u32,
    previous: u32,
    /// The leaf that represents the node in questions: the node itself if it is a leaf, or a leaf below the node.
    leaf: u32,
}

/// Rooted trees whose inner nodes have at least two children. The index of a node never changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct GrowingTree {
    nodes: Vec<Node>,
    /// The root of the tree that grows from the first leaf (node 0) by [`Self::insert`].
    root: u32,
}

impl GrowingTree {
    pub(crate) fn leaf(&mut self, leaf: u32) -> u32 {
        self.nodes.push(Node { parent: NONE, first: NONE, next: NONE, previous: NONE, leaf });
        self.nodes.len() as u32 - 1
    }

    /// Makes a node with the children `a` and `b`. The leaf of `b` represents the new node in questions, so that nested
    /// nodes are represented by different leaves if `b` is a new leaf.
    pub(crate) fn pair(&mut self, a: u32, b: u32) -> u32 {
        let parent = self.leaf(self.representative(b));
        self.adopt(parent, b);
        self.adopt(parent, a);
        parent
    }

    /// Inserts the tree with the root `sub` at the position `place` of another tree. Returns the parent of `sub`. For
    /// [`Place::Above`] (beside a node), the parent is a new node.
    pub(crate) fn put(&mut self, place: Place, sub: u32) -> u32 {
        match place {
            Place::Above(node) => {
                let links = self.nodes[node as usize];
                let parent = self.pair(node, sub);
                self.link(parent, links);
                if node == self.root {
                    self.root = parent;
                }
                parent
            }
            Place::Under(node) => {
                self.adopt(node, sub);
                node
            }
        }
    }

    /// Inserts a leaf at a position of the tree. Returns the parent of the new node, and the new node.
    pub(crate) fn insert(&mut self, place: Place, leaf: u32) -> [u32; 2] {
        let new = self.leaf(leaf);
        [self.put(place, new), new]
    }

    pub(crate) fn replace(&mut self, old: u32, sub: u32) {
        self.link(sub, self.nodes[old as usize]);
        let gone = &mut self.nodes[old as usize];
        (gone.parent, gone.next, gone.previous) = (NONE, NONE, NONE);
    }

    /// Gives `node` a parent and siblings.
    fn link(&mut self, node: u32, Node { parent, next, previous, .. }: Node) {
        let new = &mut self.nodes[node as usize];
        (new.parent, new.next, new.previous) = (parent, next, previous);
        if next != NONE {
            self.nodes[next as usize].previous = node;
        }
        if previous != NONE {
            self.nodes[previous as usize].next = node;
        } else if parent != NONE {
            self.nodes[parent as usize].first = node;
        }
    }

    fn adopt(&mut self, parent: u32, child: u32) {
        let next = std::mem::replace(&mut self.nodes[parent as usize].first, child);
        let node = &mut self.nodes[child as usize];
        (node.parent, node.next, node.previous) = (parent, next, NONE);
        if next != NONE {
            self.nodes[next as usize].previous = child;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn root(&self) -> u32 {
        self.root
    }

    /// Returns all nodes at and below the root, parents first.
    pub(crate) fn nodes(&self) -> Vec<u32> {
        let mut order = vec![self.root];
        let mut at = 0;
        while at < order.len() {
            order.extend(self.children(order[at]));
            at += 1;
        }
        order
    }

    /// Returns a node and the nodes above it.
    pub(crate) fn up_from(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(node), |&node| Some(self.parent(node)).filter(|&up| up != NONE))
    }

    pub(crate) fn parent(&self, node: u32) -> u32 {
        self.nodes[node as usize].parent
    }

    pub(crate) fn first(&self, node: u32) -> u32 {
        self.nodes[node as usize].first
    }

    pub(crate) fn next(&self, node: u32) -> u32 {
        self.nodes[node as usize].next
    }

    pub(crate) fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |node: u32| (node != NONE).then_some(node);
        std::iter::successors(some(self.first(node)), move |&child| some(self.next(child)))
    }

    pub(crate) fn leaves(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let mut stack = vec![node];
        std::iter::from_fn(move || {
            while let Some(node) = stack.pop() {
                if self.first(node) == NONE {
                    return Some(self.representative(node));
                }
                stack.extend(self.children(node));
            }
            None
        })
    }

    pub(crate) fn representative(&self, node: u32) -> u32 {
        self.nodes[node as usize].leaf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_go_where_they_should() {
        let mut tree = GrowingTree::default();
        let (a, b, c, d) = (tree.leaf(0), tree.leaf(1), tree.leaf(2), tree.leaf(3));
        let ab = tree.pair(a, b);
        assert_eq!(tree.put(Place::Under(ab), c), ab);
        assert_eq!(tree.children(ab).collect::<Vec<_>>(), [c, a, b]);
        let ad = tree.put(Place::Above(a), d);
        assert_eq!(tree.children(ab).collect::<Vec<_>>(), [c, ad, b]);
        assert_eq!((tree.children(ad).collect::<Vec<_>>(), tree.parent(ad)), (vec![a, d], ab));
        let e = tree.leaf(4);
        let top = tree.put(Place::Above(ab), e);
        assert_eq!((tree.parent(top), tree.parent(ab), tree.representative(top)), (NONE, top, 4));
        let f = tree.leaf(5);
        tree.replace(c, f);
        assert_eq!((tree.children(ab).collect::<Vec<_>>(), tree.parent(c)), (vec![f, ad, b], NONE));
        assert_eq!(tree.len(), 9);
    }
}
