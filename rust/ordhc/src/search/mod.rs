//! Searches for the position of a new leaf in a growing tree.
//!
//! A question is about three leaves: the new leaf, and one leaf below each of two children of a node, the *pivot*.
//! There are four outcomes. The leaf belongs at or below the first child, at or below the second child, outside the
//! subtree of the pivot, or elsewhere below the pivot. Source: Emamjomeh-Zadeh & Kempe, "Adaptive hierarchical
//! clustering using ordinal queries", section 2.2.

mod growing_tree;
mod order;
mod pivot_tree;
mod place;
mod posterior;
mod region;
mod sized_tree;
mod sketch;
mod walk;

pub(crate) use growing_tree::{GrowingTree, NONE};
pub(crate) use order::Order;
pub(crate) use pivot_tree::PivotTree;
pub(crate) use place::{Outcome, Place};
pub(crate) use posterior::Posterior;
pub(crate) use region::{PivotRule, Region};
pub(crate) use sized_tree::SizedTree;
pub(crate) use sketch::Sketch;
pub(crate) use walk::Walk;

#[cfg(test)]
fn random_tree(n: u32, degree: usize, seed: u64) -> GrowingTree {
    use rand::{RngExt, SeedableRng};

    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut tree = GrowingTree::default();
    tree.leaf(0);
    for leaf in 1..n {
        let node = random.random_range(0..tree.len() as u32);
        let children = tree.children(node).count();
        let place = if children > 0 && children < degree { Place::Under(node) } else { Place::Above(node) };
        tree.insert(place, leaf);
    }
    tree
}
