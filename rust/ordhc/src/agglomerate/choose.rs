//! Which algorithm runs.

use super::centers::Means;
use super::engine::Engine;
use super::task::{Input, SMALL, Task};
use super::tolerance::Tolerance;
use crate::linkage::{Merging, Rule, Update};
use crate::tree::RawMerge;

/// An algorithm, as [`choose`] names it.
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

/// The algorithm for an input, the first one that applies; `tolerance` says when similarities count as equal.
///
/// | input | strategy | mechanisms | then |
/// | --- | --- | --- | --- |
/// | tests ask for the reference | `Precisely` | `naive` on `precise_matrix` | |
/// | dissimilarities too small to square | `Precisely` | `nearest_pair` on `precise_matrix` | |
/// | all values equal, if merging keeps them nearest | `Equal` | `equal` | |
/// | single linkage | `SpanningTree` | `grown_in_square`, `all_largest`, `passes` or `grown_in_place` | `tied_clusters` |
/// | centroid, median; input not overwritten, no similarity near underflow | `Centers` | `centers` | `centers_keys` |
/// | reciprocal merges commute, initial clusters | `Initial` | `initial_clusters` | `chain` |
/// | they commute, `overwrite=True` | `InPlace` | `in_place`, `triangle_rounds` | `square` |
/// | they commute, up to 1,500 leaves | `AtOnce` | `small` | |
/// | they commute, more leaves | `Rounds` | `groups`, `first_pairs` or `triangle_rounds` | `square` |
/// | all others | `NearestPair` | `nearest_pair` on a `square` | |
///
/// `Equal`, `SpanningTree` and `Centers` take no initial clusters. Reciprocal merges commute for average, weighted,
/// complete and Ward's linkage, and coefficients may say so ([`Update::commutes`]). Whatever leaves a doubt behind
/// runs once more as `Precisely`, if the input is still there.
pub(super) fn choose<U: Update>(
    task: &Task<'_>,
    update: &U,
    input: &Input<'_>,
    tolerance: Option<Tolerance>,
) -> Strategy {
    let Task { about, rule, engine, initial, .. } = task;
    let squared = rule.is_squared();
    let (is_auto, may_chain) = (*engine == Engine::Auto, matches!(engine, Engine::Auto | Engine::Chain));
    let Some(tolerance) = tolerance.filter(|_| *engine != Engine::Naive) else { return Strategy::Precisely };
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
            // Squares are in a unit in which none is too small.
            && (about.dissimilarity || !matrix.any_below(SMALL))
        {
            return Strategy::Centers(means);
        }
    }
    if !(may_chain && rule.is_reducible() && update.commutes()) {
        return Strategy::NearestPair;
    }
    match (initial, input) {
        (Some(_), _) => Strategy::Initial,
        (None, Input::Lent(_)) => Strategy::InPlace,
        (None, Input::Given(_)) if about.n <= task.at_once => Strategy::AtOnce,
        (None, Input::Given(_)) => Strategy::Rounds,
    }
}

/// The merges of `n` leaves that are all as similar, if each brings the cluster of the first leaves no farther from the
/// others than these are from each other: by the rule for ties it takes one after the other. O(n).
///
/// Linkages of dissimilarities mostly are like that: heights stay what they are, or fall (centroid, median).
fn equal<U: Update>(update: &U, n: usize, similarity: f64, tolerance: Tolerance) -> Option<Vec<RawMerge>> {
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    // Of the cluster and any leaf that is left.
    let mut value = similarity;
    for j in 1..n {
        let size = j as f64;
        let near = if U::SUMS { value / size } else { value };
        let (order, doubtful) = tolerance.compare(near, similarity);
        if !near.is_finite() || order.is_lt() || doubtful {
            return None;
        }
        merges.push(RawMerge { i: 0, j, similarity: near });
        let merge = update.merge(Merging { n_i: size, n_j: 1.0, x_ij: value });
        value = update.fold(&merge, value, similarity, 1.0);
    }
    entered!(equal);
    Some(merges)
}
