//! Numbers that are all the same.

use super::Tolerance;
use crate::linkage::{Merging, Update};
use crate::tree::RawMerge;

/// The merges of `n` leaves that are all as similar, if each brings the cluster of the first leaves no farther from the
/// others than these are from each other: by the rule for ties it takes one after the other. O(n).
///
/// Linkages of dissimilarities mostly are like that: heights stay what they are, or fall (centroid, median).
pub(super) fn merges<U: Update>(update: &U, n: usize, similarity: f64, tolerance: Tolerance) -> Option<Vec<RawMerge>> {
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
