//! A search from the root down.

use super::growing_tree::{GrowingTree, NONE};
use super::place::{Outcome, Place};

/// A search that asks about one node after the other, from the root down (Emamjomeh-Zadeh & Kempe, Algorithm 2).
/// Children are asked about in pairs. The search needs no preparation, but takes as many questions as the place is
/// deep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    pivot: u32,
    /// The children to ask about. If there is no second child, the first child of the pivot is asked about again.
    first: u32,
    second: u32,
    end: Option<Place>,
}

impl Walk {
    /// Returns a walk that starts at a root.
    pub(crate) fn new(tree: &GrowingTree, root: u32) -> Self {
        let first = tree.first(root);
        if first == NONE {
            return Self { pivot: root, first, second: NONE, end: Some(Place::Above(root)) };
        }
        Self { pivot: root, first, second: tree.next(first), end: None }
    }

    /// Returns the place where the walk ended, or `None` if it has not ended.
    pub(crate) fn end(&self) -> Option<Place> {
        self.end
    }

    /// Returns representatives of the children to ask about. The walk must not have ended.
    pub(crate) fn question(&self, tree: &GrowingTree) -> [u32; 2] {
        let second = if self.second == NONE { tree.first(self.pivot) } else { self.second };
        [self.first, second].map(|node| tree.representative(node))
    }

    /// Continues with an outcome. An answer that contradicts earlier ones counts as "neither".
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
