//! Merges as the engines find them, before clusters have labels.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The merge of the clusters whose smallest leaves are `i < j`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RawMerge {
    pub(crate) i: usize,
    pub(crate) j: usize,
    pub(crate) similarity: f64,
}

impl RawMerge {
    /// Puts merges, parts before wholes, into the order in which the naive engine makes them:
    /// always the most similar of those whose parts are there, ties by `(i, j)`.
    ///
    /// A whole that rounding has put above one of its parts is lowered to that part.
    pub(crate) fn sort(n: usize, mut merges: Vec<RawMerge>) -> Vec<RawMerge> {
        /// The order of merging: the largest similarity, then the smallest pair.
        #[derive(PartialEq)]
        struct Ready(RawMerge, usize);
        impl Eq for Ready {}
        impl Ord for Ready {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                let by_pair = Reverse((self.0.i, self.0.j)).cmp(&Reverse((other.0.i, other.0.j)));
                self.0.similarity.total_cmp(&other.0.similarity).then(by_pair)
            }
        }
        impl PartialOrd for Ready {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

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
        let ready = |at: usize| Ready(merges[at], at);
        let mut heap: BinaryHeap<Ready> = (0..merges.len()).filter(|&at| waits_for[at] == 0).map(ready).collect();
        let mut sorted = Vec::with_capacity(merges.len());
        while let Some(Ready(merge, at)) = heap.pop() {
            sorted.push(merge);
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
