//! Merges as the engines find them, before clusters have labels.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::agglomerate::Tolerance;
use crate::monitor::Monitor;
use crate::numbers::in_order;

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
    pub(crate) fn sort(n: usize, merges: Vec<RawMerge>, tolerance: Tolerance, monitor: &Monitor) -> Vec<RawMerge> {
        Self::sort_ranked(n, merges, &[], tolerance, monitor)
    }

    /// As [`sort`](Self::sort), but of equally similar merges that of the lower rank comes first, then ties by `(i, j)`.
    pub(crate) fn sort_ranked(
        n: usize,
        mut merges: Vec<RawMerge>,
        ranks: &[u64],
        tolerance: Tolerance,
        monitor: &Monitor,
    ) -> Vec<RawMerge> {
        const LEAF: usize = usize::MAX;
        let parts = |made_by: &[usize], merge: &RawMerge| {
            [made_by[merge.i], made_by[merge.j]].into_iter().filter(|&part| part != LEAF)
        };
        let mut made_by = vec![LEAF; n];
        let mut of_leaves = vec![false; merges.len()];
        for at in 0..merges.len() {
            of_leaves[at] = parts(&made_by, &merges[at]).next().is_none();
            for part in parts(&made_by, &merges[at]) {
                merges[at].similarity = merges[at].similarity.min(merges[part].similarity);
            }
            made_by[merges[at].i] = at;
        }
        // Numbers that are smaller if a similarity is larger, with places.
        let mut by_similarity: Vec<(i64, u32)> =
            merges.iter().zip(0..).map(|(merge, at)| (!in_order(merge.similarity), at)).collect();
        by_similarity.sort_unstable_by_key(|&(x, _)| x);
        let by_similarity = || by_similarity.iter().map(|&(_, at)| at as usize);
        let below = |(at, before): (usize, usize)| {
            let [similarity, above] = [at, before].map(|at: usize| merges[at].similarity);
            // Most are so far apart that there is nothing to compare.
            let (order, doubtful) = match similarity < tolerance.floor(above) {
                true => (Ordering::Less, false),
                false => tolerance.among(of_leaves[at] && of_leaves[before]).compare_keys(similarity, above),
            };
            if doubtful {
                monitor.doubt();
            }
            order.is_lt()
        };
        let neighbours = || by_similarity().skip(1).zip(by_similarity());
        if neighbours().all(below) {
            // Without ties parts come before wholes.
            return by_similarity().map(|at| merges[at]).collect();
        }
        let mut tie = vec![0; merges.len()];
        for (at, before) in neighbours() {
            tie[at] = tie[before] + usize::from(below((at, before)));
        }
        let mut whole_of = vec![None; merges.len()];
        let mut waits_for = vec![0u8; merges.len()];
        made_by.fill(LEAF);
        for (at, merge) in merges.iter().enumerate() {
            for part in parts(&made_by, merge) {
                whole_of[part] = Some(at);
                waits_for[at] += 1;
            }
            made_by[merge.i] = at;
        }
        let rank = |at: usize| ranks.get(at).copied().unwrap_or(0);
        let ready = |at: usize| Reverse((tie[at], rank(at), merges[at].i, merges[at].j, at));
        let mut heap: BinaryHeap<_> = (0..merges.len()).filter(|&at| waits_for[at] == 0).map(ready).collect();
        let mut sorted = Vec::with_capacity(merges.len());
        while let Some(Reverse((.., at))) = heap.pop() {
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
