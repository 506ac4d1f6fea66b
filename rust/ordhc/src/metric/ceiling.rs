//! The noise ceiling: bounds of the share of answers that a tree can satisfy, from questions that were asked
//! repeatedly.

use std::ops::Range;

use crate::comparison::Comparisons;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::{memory, parallel, sorting};

/// Bounds of the share of answers that a tree can satisfy; see [`noise_ceiling`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseCeiling {
    /// The lower bound: the share of answers that agree with the majority of the other answers to the same question.
    pub lower: f64,
    /// The upper bound: the share of answers that agree with the majority of all answers to the same question.
    pub upper: f64,
    /// The number of answers to questions that were asked more than once. `lower` and `upper` are shares of these
    /// answers.
    pub n_answers: f64,
}

/// Answers are summed in chunks of this length, so the sums do not depend on the number of threads.
const BLOCK: usize = 1 << 16;

/// Returns the noise ceiling of answers: bounds of the share of answers that a tree can satisfy. Returns `None` if no
/// question was asked more than once.
///
/// `answers` has, for each row (comparison), the index of the answer to which the row belongs. Without `answers`, each
/// row is an answer. If all weights are whole numbers, a weight is the number of equal answers. Rows of weight 0 are
/// skipped.
///
/// # Errors
/// [`Error::Length`] if `answers` and the comparisons have different lengths, [`Error::OutOfMemory`],
/// [`Error::Interrupted`].
///
/// ```
/// use ordhc::Triplets;
/// use ordhc::bindings::noise_ceiling;
///
/// let answers = Triplets::new(vec![[0, 1, 2], [0, 1, 2], [0, 2, 1]], None)?;
/// let found = noise_ceiling(&answers, None, None)?.unwrap();
/// assert_eq!((found.lower, found.upper, found.n_answers), (1.0 / 3.0, 2.0 / 3.0, 3.0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn noise_ceiling<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    answers: Option<&[i64]>,
    monitor: Option<&Monitor>,
) -> Result<Option<NoiseCeiling>> {
    watched!(monitor);
    let weights = comparisons.weights();
    let counts = weights.is_none_or(|weights| weights.iter().all(|weight| weight.fract() == 0.0));
    let answers = Answers { comparisons, counts, grouped: answers.map(|of| Grouped::of(comparisons, of)).transpose()? };
    let count = answers.len();
    let mut keys = memory::filled("the keys of questions", 0u64, count)?;
    let blocks: Vec<_> = (0..count).step_by(BLOCK).map(|start| start..(start + BLOCK).min(count)).collect();
    monitor.start(2 * blocks.len() as u64);
    // The number of low bits of a key that contain the index of the answer.
    let low = usize::BITS - count.leading_zeros();
    let hashed = parallel::map_in_turn(keys.chunks_mut(BLOCK).enumerate().collect(), |(block, keys)| {
        monitor.advance(1)?;
        let mut question = Vec::new();
        for (key, answer) in keys.iter_mut().zip(block * BLOCK..) {
            answers.question(answer, &mut question);
            *key = hash(&question) << low | answer as u64;
        }
        Ok(())
    });
    hashed.into_iter().collect::<Result<()>>()?;
    sorting::sort(&mut keys, monitor)?;
    let sums = parallel::map_in_turn(blocks, |block| {
        monitor.advance(1)?;
        Ok(answers.sums(&keys, low, block))
    });
    let mut sum = Sums::default();
    for found in sums {
        sum.add(found?);
    }
    let Sums { lower, upper, whole, n_answers } = sum;
    Ok((n_answers > 0.0).then(|| NoiseCeiling { lower: lower / whole, upper: upper / whole, n_answers }))
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    lower: f64,
    upper: f64,
    whole: f64,
    n_answers: f64,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.lower += other.lower;
        self.upper += other.upper;
        self.whole += other.whole;
        self.n_answers += other.n_answers;
    }
}

struct Grouped {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Grouped {
    fn of<const K: usize>(comparisons: &Comparisons<'_, K>, answers: &[i64]) -> Result<Self> {
        let (found, expected) = (answers.len(), comparisons.len());
        if found != expected {
            return Err(Error::Length { what: "answers", found, of: "comparisons", expected });
        }
        let what = "the rows of answers";
        let counted = |&at: &usize| comparisons.weights().is_none_or(|weights| weights[at] > 0.0);
        let n_answers = answers.iter().max().map_or(0, |&last| last as usize + 1);
        let mut ends = memory::filled(what, 0u32, n_answers + 1)?;
        (0..found).filter(counted).for_each(|at| ends[answers[at] as usize + 1] += 1);
        for at in 0..n_answers {
            ends[at + 1] += ends[at];
        }
        let mut rows = memory::filled(what, 0u32, ends[n_answers] as usize)?;
        for at in (0..found).filter(counted) {
            let next = &mut ends[answers[at] as usize];
            rows[*next as usize] = at as u32;
            *next += 1;
        }
        // The loop has changed `ends[a]` from the start to the end of the rows of answer a. Remove the element after
        // the last answer, which has no rows.
        ends.pop();
        Ok(Self { rows, ends })
    }
}

struct Answers<'a, const K: usize> {
    comparisons: &'a Comparisons<'a, K>,
    /// True if all weights are whole numbers. A weight is then a number of equal answers.
    counts: bool,
    /// `None` if each row is an answer.
    grouped: Option<Grouped>,
}

/// The leaves of a comparison. Three leaves are in ascending order, followed by -1. Four leaves are two pairs.
type Cell = [i32; 4];

impl<const K: usize> Answers<'_, K> {
    fn len(&self) -> usize {
        self.grouped.as_ref().map_or(self.comparisons.len(), |grouped| grouped.ends.len())
    }

    fn rows(&self, answer: usize) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
        let (range, rows) = match &self.grouped {
            Some(Grouped { rows, ends }) => {
                let start = answer.checked_sub(1).map_or(0, |before| ends[before]);
                (start as usize..ends[answer] as usize, Some(rows))
            }
            None if self.weight(answer) > 0.0 => (answer..answer + 1, None),
            None => (0..0, None),
        };
        range.map(move |at| rows.map_or(at, |rows| rows[at] as usize))
    }

    fn weight(&self, row: usize) -> f64 {
        self.comparisons.weights().map_or(1.0, |weights| weights[row])
    }

    /// Returns the multiplicity of an answer: the mean weight of its rows if weights are counts, and otherwise 1.
    fn times(&self, answer: usize) -> f64 {
        if !self.counts || self.comparisons.weights().is_none() {
            return 1.0;
        }
        let rows = self.rows(answer);
        rows.clone().map(|row| self.weight(row)).sum::<f64>() / rows.len() as f64
    }

    /// Writes integers into `key` that identify the question of an answer. If the answer is one comparison, these are
    /// its two pairs of leaves. If the answer is several comparisons (such as a ranking), these are all their leaves,
    /// and the columns that have the same leaf in all these comparisons.
    fn question(&self, answer: usize, key: &mut Vec<i32>) {
        key.clear();
        let rows = self.rows(answer);
        key.push(rows.len() as i32);
        let row = |at| self.comparisons.rows().row(at);
        let Some(first) = rows.clone().next().map(row) else { return };
        if rows.len() == 1 {
            let [near, far] = sorted_pairs(&first);
            return key.extend([near.min(far), near.max(far)].concat());
        }
        let constant: [bool; K] = std::array::from_fn(|at| rows.clone().all(|other| row(other)[at] == first[at]));
        key.push(constant.iter().fold(0, |bits, &same| 2 * bits + i32::from(same)));
        key.push(if constant[0] { first[0] } else { -1 });
        let form = key.len();
        key.extend(rows.flat_map(row));
        key[form..].sort_unstable();
        let mut last = None;
        let mut at = 0;
        key.retain(|&leaf| {
            at += 1;
            at <= form || last.replace(leaf) != Some(leaf)
        });
    }

    /// Returns sums over the answers to some questions. Each element of the sorted list `keys` is the hash of a
    /// question, followed by `low` bits with the index of an answer to the question. A question is included if the
    /// first element with its hash is in `block`.
    fn sums(&self, keys: &[u64], low: u32, block: Range<usize>) -> Sums {
        let mut sums = Sums::default();
        let mut start = block.start;
        let hash_at = |at: usize| keys[at] >> low;
        while start > 0 && start < block.end && hash_at(start) == hash_at(start - 1) {
            start += 1;
        }
        while start < block.end {
            let more = keys[start..].iter().take_while(|&key| key >> low == hash_at(start)).count();
            let same = &keys[start..start + more];
            // Most questions were asked only once, and don't count.
            if more > 1 || self.comparisons.weights().is_some() {
                let mask = (1 << low) - 1;
                self.by_question(same.iter().map(|key| (key & mask) as usize).collect(), &mut sums);
            }
            start += more;
        }
        sums
    }

    fn by_question(&self, mut answers: Vec<usize>, sums: &mut Sums) {
        let (mut first, mut other) = (Vec::new(), Vec::new());
        while let Some(&answer) = answers.first() {
            self.question(answer, &mut first);
            // Different questions can have the same hash.
            let (same, rest) = answers.into_iter().partition(|&answer| {
                self.question(answer, &mut other);
                first == other
            });
            if first[0] > 0 {
                self.of_question(same, sums);
            }
            answers = rest;
        }
    }

    fn of_question(&self, answers: Vec<usize>, sums: &mut Sums) {
        let asked: f64 = answers.iter().map(|&answer| self.times(answer)).sum();
        if asked <= 1.0 {
            return;
        }
        let (mut total, mut own) = (Vec::new(), Vec::new());
        for &answer in &answers {
            self.vote(answer, &mut total);
        }
        for &answer in &answers {
            own.clear();
            self.vote(answer, &mut own);
            let once = self.times(answer);
            for (cell, votes) in &own {
                let at = total.binary_search_by_key(cell, |&(cell, _)| cell).expect("every cell has its total");
                sums.lower += predicted(votes, &total[at].1, once);
                sums.whole += votes.iter().sum::<f64>();
            }
        }
        sums.upper += total.iter().map(|(_, votes)| votes.iter().copied().fold(0.0, f64::max)).sum::<f64>();
        sums.n_answers += asked;
    }

    fn vote(&self, answer: usize, cells: &mut Vec<(Cell, [f64; 3])>) {
        let rows = self.rows(answer);
        let size = rows.len() as f64;
        for at in rows {
            let (cell, way) = cell(&sorted_pairs(&self.comparisons.rows().row(at)));
            let place = cells.binary_search_by_key(&cell, |&(cell, _)| cell).unwrap_or_else(|place| {
                cells.insert(place, (cell, [0.0; 3]));
                place
            });
            cells[place].1[way] += self.weight(at) / size;
        }
    }
}

/// Returns how much of the votes of an answer agrees with the majority of all other answers to the same question. `own`
/// has the votes of the answer for each outcome. If k outcomes are tied for the majority, a vote for one of them counts
/// 1/k.
fn predicted(own: &[f64; 3], total: &[f64; 3], once: f64) -> f64 {
    let others: [f64; 3] = std::array::from_fn(|way| total[way] - own[way] / once);
    let most = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Sums of votes have rounding errors, so ties need a tolerance.
    let least = most - 1e-9 * (1.0 + others.iter().sum::<f64>());
    let best = others.map(|votes| votes >= least);
    let agreed: f64 = own.iter().zip(best).filter(|&(_, best)| best).map(|(votes, _)| votes).sum();
    agreed / best.iter().filter(|&&best| best).count() as f64
}

fn sorted_pairs<const K: usize>(row: &[i32; K]) -> [[i32; 2]; 2] {
    let [first, second] = [[row[0], row[1]], if K == 3 { [row[0], row[2]] } else { [row[2], row[K - 1]] }];
    [first, second].map(|[a, b]| [a.min(b), a.max(b)])
}

/// Returns the leaves that a comparison compares, and its outcome. For three leaves, the outcome is the position of the
/// leaf outside the closer pair. For four leaves, the outcome is 1 if the first pair is closer, and otherwise 0.
fn cell(&[near, far]: &[[i32; 2]; 2]) -> (Cell, usize) {
    let [a, b, c, d] = [near[0], near[1], far[0], far[1]];
    if a != c && a != d && b != c && b != d {
        let (low, high) = (near.min(far), near.max(far));
        return ([low[0], low[1], high[0], high[1]], usize::from(near < far));
    }
    let mut leaves = [a, b, if c == a || c == b { d } else { c }];
    let apart = leaves[2];
    leaves.sort_unstable();
    let way = leaves.iter().position(|&leaf| leaf == apart).expect("the leaf is one of the three");
    ([leaves[0], leaves[1], leaves[2], -1], way)
}

fn hash(values: &[i32]) -> u64 {
    let mixed = values
        .iter()
        .fold(0u64, |sum, &value| (sum.rotate_left(29) ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row() -> impl Strategy<Value = [i32; 3]> {
        Just([0, 1, 2, 3]).prop_shuffle().prop_map(|[a, b, c, _]| [a, b, c])
    }

    proptest! {
        #[test]
        fn colliding_hashes_have_no_effect(
            rows in prop::collection::vec(row(), 1..30),
            weights in prop::collection::vec(0..4u8, 30),
            whole in any::<bool>(),
        ) {
            let m = rows.len();
            let scale = if whole { 1.0 } else { 0.3 };
            let weights: Vec<f64> = weights[..m].iter().map(|&weight| f64::from(weight) * scale).collect();
            let comparisons = Comparisons::new(rows, None).unwrap().with_weights(weights).unwrap();
            let of: Vec<i64> = (0..m as i64).map(|at| at / 2).collect();
            let grouped = Some(Grouped::of(&comparisons, &of).unwrap());
            let answers = Answers { comparisons: &comparisons, counts: whole, grouped };
            // A key is a hash of the question, followed by bits for the index of the answer. Here all hashes are 0, so
            // that `sums` must compare the questions themselves.
            let keys: Vec<u64> = (0..answers.len() as u64).collect();
            let sums = answers.sums(&keys, usize::BITS - answers.len().leading_zeros(), 0..keys.len());
            match noise_ceiling(&comparisons, Some(&of), None).unwrap() {
                None => prop_assert_eq!(sums.n_answers, 0.0),
                Some(found) => {
                    prop_assert!((found.lower - sums.lower / sums.whole).abs() < 1e-12);
                    prop_assert!((found.upper - sums.upper / sums.whole).abs() < 1e-12);
                    prop_assert!((found.n_answers - sums.n_answers).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn blocks_do_not_cut_questions() {
        // One question has more answers than fit into a chunk.
        let m = 2 * BLOCK + 7;
        let rows = (0..m).map(|at| if at % 3 == 0 { [0, 2, 1] } else { [0, 1, 2] }).collect::<Vec<_>>();
        let found = noise_ceiling(&Comparisons::new(rows, None).unwrap(), None, None).unwrap().unwrap();
        assert_eq!(found.n_answers, m as f64);
        assert_eq!((found.lower, found.upper), (found.upper, (m - m.div_ceil(3)) as f64 / m as f64));
    }

    #[test]
    fn answers_are_as_many_as_rows() {
        let comparisons = Comparisons::new(vec![[0, 1, 2]], None).unwrap();
        let found = noise_ceiling(&comparisons, Some(&[0, 1]), None);
        assert_eq!(found, Err(Error::Length { what: "answers", found: 2, of: "comparisons", expected: 1 }));
        assert_eq!(noise_ceiling(&comparisons, Some(&[0]), None), Ok(None));
    }
}
