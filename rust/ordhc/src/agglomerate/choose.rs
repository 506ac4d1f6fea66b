//! Chooses the algorithm for an agglomeration of a matrix.
//!
//! The first row that applies to the input selects the algorithm (strategy). Mechanisms are code paths, named as in the
//! macro calls `entered!(name)`. Reciprocal nearest pairs commute if the order in which they merge does not change the
//! tree.
//!
//! | input | strategy | first mechanism | later mechanism |
//! | --- | --- | --- | --- |
//! | tests select the naive engine | `Precisely` | `naive` on `precise_matrix` | |
//! | sizes of leaves, or pairs of leaves to keep apart | `Precisely` | `nearest_pair` on `precise_matrix` | |
//! | dissimilarities too small to square | `Precisely` | `nearest_pair` on `precise_matrix` | |
//! | all values equal; no merged cluster is farther from a leaf than leaves are from each other | `Equal` | `equal` | |
//! | single linkage | `SpanningTree` | `grown_in_square`, `all_largest`, `passes` or `grown_in_place` | `tied_clusters` |
//! | centroid, median; input not overwritten, no similarity near underflow | `Centers` | `centers` | `centers_keys` |
//! | reciprocal pairs commute, initial clusters | `Initial` | `initial_clusters` | `chain` |
//! | reciprocal pairs commute, input overwritten | `InPlace` | `in_place`, `triangle_rounds` | `square` |
//! | reciprocal pairs commute, up to 1,500 leaves | `AtOnce` | `small` | |
//! | reciprocal pairs commute, more leaves | `Rounds` | `groups`, `first_pairs` or `triangle_rounds` | `square` |
//! | all other inputs | `NearestPair` | `nearest_pair` on a `square` | |
//!
//! `Equal`, `SpanningTree` and `Centers` don't support initial clusters. Reciprocal pairs commute for average,
//! weighted, complete and Ward's linkage, and for coefficients if [`Update::commutes`](crate::linkage::Update::commutes) returns true. If rounding errors
//! may have changed the tree, `Precisely` computes the tree again, unless the input was overwritten.

use super::any_update::AnyUpdate;
use super::centers::Means;
use super::engine::Engine;
use super::task::{Input, SMALL, Task};
use super::tolerance::Tolerance;
use crate::linkage::Rule;
use crate::tree::RawMerge;

pub(super) enum Strategy {
    Equal(Vec<RawMerge>),
    Precisely,
    SpanningTree,
    Centers(Means),
    Initial,
    AtOnce,
    Rounds,
    InPlace,
    NearestPair,
}

/// Returns the algorithm for an input, by the table at the top of this file. `tolerance` decides when similarities
/// count as equal. `tolerance` is `None` if dissimilarities are too small to square.
pub(super) fn choose(
    task: &Task<'_>,
    update: &dyn AnyUpdate,
    input: &Input<'_>,
    tolerance: Option<Tolerance>,
) -> Strategy {
    let Task { about, rule, engine, initial, .. } = task;
    let squared = rule.is_squared();
    let (is_auto, may_chain) = (*engine == Engine::Auto, matches!(engine, Engine::Auto | Engine::Chain));
    let Some(tolerance) = tolerance.filter(|_| *engine != Engine::Naive && task.constraints.is_none()) else {
        return Strategy::Precisely;
    };
    if initial.is_none() {
        if let Some(similarity) = about.only_similarity(squared)
            && let Some(merges) = equal(update, about.n, similarity, tolerance)
        {
            return Strategy::Equal(merges);
        }
        if may_chain && **rule == Rule::Single {
            return Strategy::SpanningTree;
        }
        if is_auto
            && let (Some(means), Input::Given(matrix)) = (Means::of(rule), input)
            // `tolerance` is `None` for dissimilarities that are too small to square, so only similarities are checked
            // here.
            && (about.dissimilarity || !matrix.any_below(SMALL))
        {
            return Strategy::Centers(means);
        }
    }
    if !(may_chain && rule.is_reducible() && update.pairs_commute()) {
        return Strategy::NearestPair;
    }
    match (initial, input) {
        (Some(_), _) => Strategy::Initial,
        (None, Input::Mutable(_)) => Strategy::InPlace,
        (None, Input::Given(_)) if about.n <= task.at_once => Strategy::AtOnce,
        (None, Input::Given(_)) => Strategy::Rounds,
    }
}

/// Returns the merges of `n` leaves with equal similarities, in O(n). Returns `None` if the linkage makes a cluster
/// farther from a leaf than leaves are from each other, because other pairs then merge first.
fn equal(update: &dyn AnyUpdate, n: usize, similarity: f64, tolerance: Tolerance) -> Option<Vec<RawMerge>> {
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    // The similarity of the growing cluster to each remaining leaf.
    let mut value = similarity;
    for j in 1..n {
        let size = j as f64;
        let (near, next) = update.grown(size, value, similarity);
        let (order, doubtful) = tolerance.compare(near, similarity);
        if !near.is_finite() || order.is_lt() || doubtful {
            return None;
        }
        merges.push(RawMerge { i: 0, j, similarity: near });
        value = next;
    }
    entered!(equal);
    Some(merges)
}
