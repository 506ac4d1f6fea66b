//! A search for the position of a new leaf, from the root of the tree down.

use super::growing_tree::{GrowingTree, NONE};
use super::place::{Outcome, Place};

/// A search for the position of a new leaf, from the root down (Emamjomeh-Zadeh & Kempe, Algorithm 2). At each node,
/// the search asks about pairs of children. The search needs no preparation, but its number of questions grows with the
/// depth of the position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    pivot: u32,
    /// The two children to ask about. If only one child is left, `second` is [`NONE`]. The question is then about this
    /// child and the first child of the pivot, because a question needs two children.
    first: u32,
    second: u32,
    end: Option<Place>,
}

impl Walk {
    pub(crate) fn new(tree: &GrowingTree, root: u32) -> Self {
        let first = tree.first(root);
        if first == NONE {
            return Self { pivot: root, first, second: NONE, end: Some(Place::Above(root)) };
        }
        Self { pivot: root, first, second: tree.next(first), end: None }
    }

    pub(crate) fn end(&self) -> Option<Place> {
        self.end
    }

    pub(crate) fn question(&self, tree: &GrowingTree) -> [u32; 2] {
        let second = if self.second == NONE { tree.first(self.pivot) } else { self.second };
        [self.first, second].map(|node| tree.representative(node))
    }

    /// Continues the search after an answer. An outcome that contradicts earlier outcomes counts as
    /// [`Outcome::Neither`].
    pub(crate) fn step(&mut self, tree: &GrowingTree, outcome: Outcome) {
        match outcome {
            Outcome::First => *self = Self::new(tree, self.first),
            Outcome::Second if self.second != NONE => *self = Self::new(tree, self.second),
            Outcome::Outside if self.first == tree.first(self.pivot) => self.end = Some(Place::Above(self.pivot)),
            _ => {
                self.first = if self.second == NONE { NONE } else { tree.next(self.second) };
                if self.first == NONE {
                    self.end = Some(Place::Under(self.pivot));
                } else {
                    self.second = tree.next(self.first);
                }
            }
        }
    }
}
