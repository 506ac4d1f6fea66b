//! An index of the comparisons about each leaf.

use super::comparisons::Comparisons;
use crate::error::{Error, Result};
use crate::memory;

/// An index of comparisons by leaf. The index returns the comparisons about given leaves without reading all rows. It
/// also counts how often each question was asked, and with which result.
///
/// ```
/// use ordhc::Triplets;
/// use ordhc::comparison::Index;
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [0, 2, 1], [0, 1, 2], [3, 1, 2]], None)?;
/// let index = Index::new(&triplets)?;
/// assert_eq!(index.about(0), [0, 1, 2]);
/// assert_eq!(index.about_all(&[3, 2]), [3]);
/// // "Is 0 more like 1 or like 2?" was asked three times, and twice 1 was nearer.
/// assert_eq!(index.questions(), [([0, 1, 2], [2, 1]), ([3, 1, 2], [1, 0])]);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Index<'a, 'b, const K: usize> {
    comparisons: &'a Comparisons<'b, K>,
    /// The rows about leaf `i` are `rows[ends[i - 1]..ends[i]]`.
    ends: Vec<usize>,
    rows: Vec<u32>,
}

impl<'a, 'b, const K: usize> Index<'a, 'b, K> {
    /// Builds the index. Time and memory are proportional to the number of rows.
    ///
    /// # Errors
    /// More than 2^32 - 1 rows; not enough memory.
    pub fn new(comparisons: &'a Comparisons<'b, K>) -> Result<Self> {
        let m = comparisons.len();
        if u32::try_from(m).is_err() {
            return Err(Error::Argument(format!("{m} comparisons are too many for an index: at most {}", u32::MAX)));
        }
        let n = comparisons.n_leaves();
        let mut ends = vec![0usize; n + 1];
        // A quadruplet (a, b, a, c) contains leaf a twice.
        let distinct =
            |row: [i32; K]| (0..K).filter(move |&at| !row[..at].contains(&row[at])).map(move |at| row[at] as usize);
        for row in comparisons.rows().iter() {
            distinct(row).for_each(|leaf| ends[leaf + 1] += 1);
        }
        for leaf in 0..n {
            ends[leaf + 1] += ends[leaf];
        }
        let mut rows = Vec::new();
        memory::reserve("an index of comparisons", &mut rows, ends[n])?;
        rows.resize(ends[n], 0);
        // Before this loop, `ends[i]` is the start of the rows about leaf i. After this loop, `ends[i]` is the end of
        // these rows.
        for (at, row) in comparisons.rows().iter().enumerate() {
            for leaf in distinct(row) {
                rows[ends[leaf]] = at as u32;
                ends[leaf] += 1;
            }
        }
        ends.truncate(n);
        Ok(Self { comparisons, ends, rows })
    }

    /// Returns the indices of the rows that contain the given leaf, in ascending order. Empty if no row contains the
    /// leaf.
    pub fn about(&self, leaf: u32) -> &[u32] {
        let Some(&end) = self.ends.get(leaf as usize) else { return &[] };
        let start = if leaf == 0 { 0 } else { self.ends[leaf as usize - 1] };
        &self.rows[start..end]
    }

    /// Returns the indices of the rows that contain all of the given leaves, in ascending order. Without leaves,
    /// returns the indices of all rows.
    pub fn about_all(&self, leaves: &[u32]) -> Vec<u32> {
        let Some(&rarest) = leaves.iter().min_by_key(|&&leaf| self.about(leaf).len()) else {
            return (0..self.comparisons.len() as u32).collect();
        };
        let has_all = |&at: &u32| {
            let row = self.comparisons.rows().row(at as usize);
            leaves.iter().all(|&leaf| row.contains(&(leaf as i32)))
        };
        self.about(rarest).iter().copied().filter(has_all).collect()
    }

    /// Returns the leaves of each question that was asked, and how often each of its two answers was given. Weights are
    /// ignored.
    ///
    /// A question of triplets is `[anchor, a, b]` with `a < b`. The counts are the answers that `a` is nearer, and that
    /// `b` is nearer. A question of quadruplets is two pairs. The leaves of a pair are in ascending order, and the
    /// smaller pair is first. The counts are the answers that the first pair is closer, and that the second pair is
    /// closer.
    pub fn questions(&self) -> Vec<([u32; K], [u64; 2])> {
        questions(self.comparisons)
    }
}

/// Returns each question that was asked, and how often each of its two answers was given, in the form of
/// [`Index::questions`].
pub(crate) fn questions<const K: usize>(comparisons: &Comparisons<'_, K>) -> Vec<([u32; K], [u64; 2])> {
    let mut asked: Vec<([u32; K], bool)> = comparisons.rows().iter().map(question).collect();
    asked.sort_unstable();
    let mut found: Vec<([u32; K], [u64; 2])> = Vec::new();
    for (leaves, is_second) in asked {
        match found.last_mut() {
            Some((last, counts)) if *last == leaves => counts[usize::from(is_second)] += 1,
            _ => found.push((leaves, if is_second { [0, 1] } else { [1, 0] })),
        }
    }
    found
}

/// Returns the two arrays `ends` and `rows` of an index, for the Python bindings. The rows about leaf `i` are
/// `rows[ends[i - 1]..ends[i]]`.
pub(crate) fn index_parts<const K: usize>(index: Index<'_, '_, K>) -> (Vec<usize>, Vec<u32>) {
    (index.ends, index.rows)
}

fn question<const K: usize>(row: [i32; K]) -> ([u32; K], bool) {
    let mut leaves = row.map(|leaf| leaf as u32);
    if K == 3 {
        let is_second = leaves[1] > leaves[2];
        leaves[1..].sort_unstable();
        return (leaves, is_second);
    }
    let (first, second) = leaves.split_at_mut(2);
    first.sort_unstable();
    second.sort_unstable();
    let is_second = first > second;
    if is_second {
        first.swap_with_slice(second);
    }
    (leaves, is_second)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::comparison::{Quadruplets, Triplets};

    fn check<const K: usize>(data: &Comparisons<'_, K>) {
        let index = Index::new(data).unwrap();
        let rows: Vec<BTreeSet<u32>> =
            data.rows().iter().map(|row| row.iter().map(|&leaf| leaf as u32).collect()).collect();
        let n = data.n_leaves() as u32;
        let plain = |leaves: &[u32]| -> Vec<u32> {
            (0..rows.len() as u32).filter(|&at| leaves.iter().all(|leaf| rows[at as usize].contains(leaf))).collect()
        };
        for leaf in 0..n + 2 {
            assert_eq!(index.about(leaf), plain(&[leaf]));
            for other in 0..n {
                assert_eq!(index.about_all(&[leaf, other]), plain(&[leaf, other]));
                assert_eq!(index.about_all(&[other, leaf, 0]), plain(&[leaf, other, 0]));
            }
        }
        assert_eq!(index.about_all(&[]), plain(&[]));
    }

    proptest! {
        #[test]
        fn rows_are_found_as_by_looking_at_all(rows in prop::collection::vec([0i32..7, 0i32..7, 0i32..7, 0i32..7], 1..40)) {
            let threes: Vec<[i32; 3]> =
                rows.iter().map(|&[a, b, c, _]| [a, b, c]).filter(|[a, b, c]| a != b && b != c && a != c).collect();
            let fours: Vec<[i32; 4]> = rows
                .into_iter()
                .filter(|[a, b, c, d]| a != b && c != d && [a.min(b), a.max(b)] != [c.min(d), c.max(d)])
                .collect();
            let triplets = Triplets::new(threes.clone(), Some(7)).unwrap();
            check(&triplets);
            let mut expected: BTreeMap<(i32, [i32; 2]), [u64; 2]> = BTreeMap::new();
            for [anchor, near, far] in threes {
                let counts = expected.entry((anchor, [near.min(far), near.max(far)])).or_default();
                counts[usize::from(near > far)] += 1;
            }
            let found = Index::new(&triplets).unwrap().questions();
            let expected: Vec<_> =
                expected.into_iter().map(|((a, [b, c]), counts)| ([a, b, c].map(|leaf| leaf as u32), counts)).collect();
            prop_assert_eq!(found, expected);
            let quadruplets = Quadruplets::new(fours.clone(), Some(7)).unwrap();
            check(&quadruplets);
            let asked = Index::new(&quadruplets).unwrap().questions();
            prop_assert_eq!(asked.iter().map(|(_, counts)| counts[0] + counts[1]).sum::<u64>(), fours.len() as u64);
            for (leaves, counts) in asked {
                let of = |[a, b, c, d]: [u32; 4]| {
                    let pair = |x: i32, y: i32| [x.min(y) as u32, x.max(y) as u32];
                    let row = |&[i, j, k, l]: &[i32; 4]| pair(i, j) == [a, b] && pair(k, l) == [c, d];
                    fours.iter().filter(|other| row(other)).count() as u64
                };
                let [a, b, c, d] = leaves;
                prop_assert_eq!(counts, [of([a, b, c, d]), of([c, d, a, b])]);
            }
        }
    }
}
