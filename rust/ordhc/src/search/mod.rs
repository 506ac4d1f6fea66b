//! Searching a tree that grows: where does a new leaf belong?
//!
//! A question about the new leaf and representatives of two children of a node, the *pivot*, says under
//! which of the two the leaf belongs, or that it is outside the pivot, or under it but beside both
//! (Emamjomeh-Zadeh & Kempe, "Adaptive hierarchical clustering using ordinal queries", section 2.2).

mod growing_tree;
mod pivot_tree;
mod place;
mod region;
mod sketch;
mod walk;

pub(crate) use growing_tree::{GrowingTree, NONE};
pub(crate) use pivot_tree::PivotTree;
pub(crate) use place::{Outcome, Place};
pub(crate) use region::{PivotRule, Region};
pub(crate) use sketch::Sketch;
pub(crate) use walk::Walk;
