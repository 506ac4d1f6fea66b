//! Merges as the engines find them, before clusters have labels.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::agglomerate::Tolerance;
use crate::monitor::Monitor;

/// The merge of the clusters whose smallest leaves are `i < j`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RawMerge {
    pub(crate) i: usize,
    pub(crate) j: usize,
    pub(crate) similarity: f64,
}

impl RawMerge {
    /// The order in which the most similar comes first.
    pub(crate) fn by_similarity(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity)
    }

    /// Puts merges, parts before wholes, into the order in which the naive engine makes them:
    /// always the most similar of those whose parts are there, ties by `(i, j)`.
    ///
    /// A whole that rounding has put above one of its parts is lowered to that part. Doubts about what equals what
    /// go to the monitor.
    pub(crate) fn sort(n: usize, mut merges: Vec<RawMerge>, tolerance: Tolerance, monitor: &Monitor) -> Vec<RawMerge> {
        const LEAF: usize = usize::MAX;
        let mut made_by = vec![LEAF; n];
        let mut whole_of = vec![None; merges.len()];
        let mut waits_for = vec![0u8; merges.len()];
        for at in 0..merges.len() {
            let RawMerge { i, j, .. } = merges[at];
            for part in [made_by[i], made_by[j]] {
                if part != LEAF {
                    whole_of[part] = Some(at);
                    waits_for[at] += 1;
                    merges[at].similarity = merges[at].similarity.min(merges[part].similarity);
                }
            }
            made_by[i] = at;
        }
        let mut by_similarity: Vec<usize> = (0..merges.len()).collect();
        by_similarity.sort_unstable_by(|&a, &b| merges[b].similarity.total_cmp(&merges[a].similarity));
        let mut tie = vec![0; merges.len()];
        for pair in by_similarity.windows(2) {
            let (order, doubtful) = tolerance.compare(merges[pair[1]].similarity, merges[pair[0]].similarity);
            if doubtful {
                monitor.doubt();
            }
            tie[pair[1]] = tie[pair[0]] + usize::from(order.is_lt());
        }
        if by_similarity.last().is_none_or(|&last| tie[last] + 1 == merges.len()) {
            // Without ties parts come before wholes.
            return by_similarity.into_iter().map(|at| merges[at]).collect();
        }
        let ready = |at: usize| Reverse((tie[at], merges[at].i, merges[at].j, at));
        let mut heap: BinaryHeap<_> = (0..merges.len()).filter(|&at| waits_for[at] == 0).map(ready).collect();
        let mut sorted = Vec::with_capacity(merges.len());
        while let Some(Reverse((_, _, _, at))) = heap.pop() {
            sorted.push(merges[at]);
            if let Some(whole) = whole_of[at] {
                waits_for[whole] -= 1;
                if waits_for[whole] == 0 {
                    heap.push(ready(whole));
                }
            }
        }
        sorted
    }
}
