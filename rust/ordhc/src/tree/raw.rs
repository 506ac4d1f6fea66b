//! Merges as the algorithms produce them, before clusters have labels.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::convert::Infallible;

use crate::agglomerate::Tolerance;
use crate::error::{Error, Result};
use crate::numbers::in_order;

/// The merge of the clusters whose smallest leaves are `i < j`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RawMerge {
    pub(crate) i: usize,
    pub(crate) j: usize,
    pub(crate) similarity: f64,
}

/// Merges in the order in which they are made. `doubtful` is true if rounding errors may have changed this order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) merges: Vec<RawMerge>,
    pub(crate) doubtful: bool,
}

impl Found {
    pub(crate) fn certain(merges: Vec<RawMerge>) -> Self {
        Self { merges, doubtful: false }
    }

    pub(crate) fn append(&mut self, mut after: Self) {
        self.merges.append(&mut after.merges);
        self.doubtful |= after.doubtful;
    }
}

const LEAF: usize = usize::MAX;

fn parts(made_by: &[usize], merge: &RawMerge) -> impl Iterator<Item = usize> + use<> {
    [made_by[merge.i], made_by[merge.j]].into_iter().filter(|&part| part != LEAF)
}

/// Returns the key of a merge in a list of merges, see [`RawMerge::sort_settled`].
type KeyOf<'a, E> = &'a mut dyn FnMut(&[RawMerge], usize) -> std::result::Result<f64, E>;

impl RawMerge {
    pub(crate) fn by_similarity(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity)
    }

    /// Sorts merges in the order of the naive algorithm, which always makes the most similar of all possible merges. A
    /// merge is possible once the two clusters that it joins (its parts) have been made. Ties are broken by `(i, j)`.
    /// In `merges`, each merge must come after the merges of its parts.
    ///
    /// If rounding errors made a merge more similar than the merge of one of its parts, its similarity is lowered.
    pub(crate) fn sort(n: usize, merges: Vec<RawMerge>, tolerance: Tolerance) -> Vec<RawMerge> {
        Self::sort_ranked(n, merges, &[], tolerance).merges
    }

    /// Does the same as [`sort`](Self::sort), but among equally similar merges the lower rank comes first. Remaining
    /// ties are broken by `(i, j)`. Also returns whether rounding errors make it unclear which similarities are equal.
    pub(crate) fn sort_ranked(n: usize, merges: Vec<RawMerge>, ranks: &[u64], tolerance: Tolerance) -> Found {
        let mut doubtful = false;
        let mut doubted = |merges: &[RawMerge], at: usize| {
            doubtful = true;
            Ok::<f64, Infallible>(tolerance.key(merges[at].similarity))
        };
        let Ok(merges) = Self::sort_by(n, merges, ranks, tolerance, &mut doubted);
        Found { merges, doubtful }
    }

    /// Does the same as [`sort`](Self::sort), but decides doubtful cases. If rounding errors make it unclear whether
    /// two similarities are equal, their keys decide. `key_of(merges, at)` returns the key of `merges[at]`: its exact
    /// similarity, rounded to a grid. `key_of` receives the merges in the order in which they were passed.
    pub(crate) fn sort_settled(
        n: usize,
        merges: Vec<RawMerge>,
        tolerance: Tolerance,
        key_of: KeyOf<'_, Error>,
    ) -> Result<Vec<RawMerge>> {
        Self::sort_by(n, merges, &[], tolerance, key_of)
    }

    fn sort_by<E>(
        n: usize,
        mut merges: Vec<RawMerge>,
        ranks: &[u64],
        mut tolerance: Tolerance,
        key_of: KeyOf<'_, E>,
    ) -> std::result::Result<Vec<RawMerge>, E> {
        let mut made_by = vec![LEAF; n];
        let mut of_leaves = vec![false; merges.len()];
        for at in 0..merges.len() {
            of_leaves[at] = parts(&made_by, &merges[at]).next().is_none();
            for part in parts(&made_by, &merges[at]) {
                merges[at].similarity = merges[at].similarity.min(merges[part].similarity);
            }
            made_by[merges[at].i] = at;
        }
        let mut order = Self::order(merges.iter().map(|merge| merge.similarity));
        let compare = |tolerance: Tolerance, (at, similarity): (usize, f64), (before, above): (usize, f64)| {
            // A fast test, because most similarities differ by much more than rounding errors.
            match similarity < tolerance.floor(above) {
                true => (Ordering::Less, false),
                false => tolerance.among(of_leaves[at] && of_leaves[before]).compare_keys(similarity, above),
            }
        };
        let mut keys: Vec<f64> = Vec::new();
        let mut any_tie = false;
        let mut doubted: Vec<usize> = Vec::new();
        for pair in order.windows(2) {
            let [before, at] = [pair[0].1 as usize, pair[1].1 as usize];
            let [above, similarity] = [before, at].map(|at| merges[at].similarity);
            let (order, doubtful) = compare(tolerance, (at, similarity), (before, above));
            any_tie |= !order.is_lt();
            if doubtful {
                doubted.extend([before, at]);
            }
        }
        if !doubted.is_empty() {
            // From here on, the keys of merges are compared instead of their similarities.
            keys.extend(merges.iter().map(|merge| tolerance.key(merge.similarity)));
            doubted.dedup();
            for at in doubted {
                keys[at] = key_of(&merges, at)?;
            }
            made_by.fill(LEAF);
            for at in 0..merges.len() {
                for part in parts(&made_by, &merges[at]) {
                    keys[at] = keys[at].min(keys[part]);
                }
                made_by[merges[at].i] = at;
            }
            order = Self::order(keys.iter().copied());
            (any_tie, tolerance) = (true, Tolerance::GRID);
        }
        if !any_tie {
            // Without ties, each merge already comes after the merges that made its two clusters.
            return Ok(order.iter().map(|&(_, at)| merges[at as usize]).collect());
        }
        let compared = |at: usize| keys.get(at).copied().unwrap_or(merges[at].similarity);
        let mut tie = vec![0; merges.len()];
        for pair in order.windows(2) {
            let [before, at] = [pair[0].1 as usize, pair[1].1 as usize];
            let (order, _) = compare(tolerance, (at, compared(at)), (before, compared(before)));
            tie[at] = tie[before] + usize::from(order.is_lt());
        }
        Ok(Self::parts_first(n, &merges, |at| (tie[at], ranks.get(at).copied().unwrap_or(0))))
    }

    /// Sorts merges by `key`, then by leaves. `key` gets the index of a merge. Each merge comes after the merges that
    /// made its two clusters.
    fn parts_first(n: usize, merges: &[Self], key: impl Fn(usize) -> (usize, u64)) -> Vec<Self> {
        let mut made_by = vec![LEAF; n];
        let mut whole_of = vec![None; merges.len()];
        let mut waits_for = vec![0u8; merges.len()];
        for (at, merge) in merges.iter().enumerate() {
            for part in parts(&made_by, merge) {
                whole_of[part] = Some(at);
                waits_for[at] += 1;
            }
            made_by[merge.i] = at;
        }
        let ready = |at: usize| Reverse((key(at), merges[at].i, merges[at].j, at));
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

    /// Returns a pair for each number, in descending order of the numbers: an integer that sorts in this order, and the
    /// index of the number.
    fn order(numbers: impl Iterator<Item = f64>) -> Vec<(i64, u32)> {
        let mut order: Vec<(i64, u32)> = numbers.zip(0..).map(|(x, at)| (!in_order(x), at)).collect();
        order.sort_unstable_by_key(|&(x, _)| x);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_about_the_order_are_settled_by_keys() {
        // Keys are rounded similarities. The first two similarities are about halfway between two keys, so rounding
        // errors can change their keys. The second similarity is larger by one unit in the last place.
        let half = 1.0 + 0.5f64.powi(36);
        let merge = |i, j, similarity| RawMerge { i, j, similarity };
        let merges = vec![merge(0, 1, half), merge(2, 3, half + f64::EPSILON), merge(4, 5, 0.5), merge(0, 2, 0.25)];
        let order = |merges: Vec<RawMerge>| merges.iter().map(|merge| merge.i).collect::<Vec<_>>();
        let tolerance = Tolerance::rounded(1e-14, 0.0);
        for (keys, expected) in [([2.0, 1.5], [0, 2, 4, 0]), ([1.5, 2.0], [2, 0, 4, 0]), ([2.0, 2.0], [0, 2, 4, 0])] {
            let mut asked = Vec::new();
            let sorted = RawMerge::sort_settled(6, merges.clone(), tolerance, &mut |given, at| {
                assert_eq!(given, merges);
                asked.push(at);
                Ok(keys[at])
            });
            assert_eq!((order(sorted.unwrap()), asked.len()), (expected.to_vec(), 2));
        }
        let found = RawMerge::sort_ranked(6, merges.clone(), &[], tolerance);
        assert_eq!((order(found.merges), found.doubtful), (vec![0, 2, 4, 0], true));
        let found = RawMerge::sort_ranked(6, merges, &[], Tolerance::EXACT);
        assert_eq!((order(found.merges), found.doubtful), (vec![2, 0, 4, 0], false));
    }
}
