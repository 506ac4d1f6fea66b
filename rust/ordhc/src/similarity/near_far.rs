//! Counts of comparisons by their near and far leaves. Lengths of leaves depend only on these counts.

use super::leaf_lengths::lengths_of;
use crate::comparison::Comparisons;
use crate::error::{Error, Result, check_len};
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;

/// Counts of comparisons by their near and far leaves. The counts are a sufficient statistic for
/// [`leaf_lengths`](super::leaf_lengths), so comparisons can be added in blocks of rows.
///
/// A leaf in both pairs cancels, so a triplet counts as a combination of two leaves, and a quadruplet as a combination
/// of two or four leaves. Memory is 24 bytes for each distinct combination, and up to twice as much while comparisons
/// are added. An additional n x n table is used if it has at most 4 million cells, and at most as many cells as there
/// are comparisons. Weights are added in the order of comparisons, so the result does not depend on the blocks.
///
/// ```
/// use ordhc::bindings::NearFarCounts;
/// use ordhc::{Triplets, similarity::leaf_lengths};
///
/// let rows: Vec<[i32; 3]> = (0..40).map(|k| if k % 2 == 0 { [0, 1, 2] } else { [1, 0, 2] }).collect();
/// let mut counts = NearFarCounts::new(3, rows.len());
/// for block in rows.chunks(7) {
///     counts.add(&Triplets::new(block.to_vec(), Some(3))?, None)?;
/// }
/// assert_eq!(counts.lengths(1., None)?, leaf_lengths(&Triplets::new(rows, None)?, None)?);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NearFarCounts {
    n: usize,
    /// The total weight of the comparisons with one near and one far leaf, as an n x n array of (near, far). Empty if
    /// `has_table` is false, and before the first such comparison.
    table: Vec<f64>,
    has_table: bool,
    /// The total weights of the comparisons that are not in `table`, for each combination of near and far leaves. The
    /// first `merged` combinations are sorted and distinct.
    terms: Vec<Term>,
    merged: usize,
    largest: f64,
}

const CELLS: usize = 1 << 22;
/// Terms with the same near and far leaves are merged when the number of new terms reaches `PENDING` plus the number of
/// terms after the previous merge. So merging takes little time in total.
const PENDING: usize = 1 << 20;
/// If the largest weight exceeds this weight, all weights are scaled down, so that squares of sums stay finite.
const MOST_WEIGHT: f64 = 1e9;
const PARTS: f64 = 1_048_576.;
const WHAT: &str = "the counts of near and far leaves";
const BLOCK: usize = 1 << 16;

/// The total weight of all comparisons with the same near and far leaves. For n leaves, the id n means "no leaf".
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    near: [u32; 2],
    far: [u32; 2],
    pub(super) weight: f64,
}

impl Term {
    fn of<const K: usize>(row: &[i32; K], n: usize, weight: f64) -> Option<Self> {
        let none = n as u32;
        let (near, far) = Comparisons::pairs(row);
        let mut near = near.map(|leaf| leaf as u32);
        let mut far = far.map(|leaf| leaf as u32);
        for leaf in &mut near {
            if let Some(other) = far.iter_mut().find(|other| *other == leaf) {
                (*leaf, *other) = (none, none);
            }
        }
        near.sort_unstable();
        far.sort_unstable();
        (near[0] != none).then_some(Self { near, far, weight })
    }

    fn key(&self) -> [u32; 4] {
        [self.near[0], self.near[1], self.far[0], self.far[1]]
    }

    /// Returns the sum of the far leaves' lengths minus the sum of the near leaves' lengths. Each sum is computed
    /// separately, so rounding does not depend on the numbering of leaves.
    #[inline]
    pub(super) fn difference(&self, x: &[f64]) -> f64 {
        let at = |leaf: u32| x.get(leaf as usize).copied().unwrap_or(0.);
        (at(self.far[0]) + at(self.far[1])) - (at(self.near[0]) + at(self.near[1]))
    }

    #[inline]
    pub(super) fn add(&self, out: &mut [f64], to_far: f64, to_near: f64) {
        for (leaves, value) in [(self.far, to_far), (self.near, to_near)] {
            for leaf in leaves {
                if let Some(cell) = out.get_mut(leaf as usize) {
                    *cell += value;
                }
            }
        }
    }
}

impl NearFarCounts {
    /// Returns counts without comparisons, for `n_leaves` leaves. `expected` is the approximate number of comparisons
    /// that will be added.
    pub fn new(n_leaves: usize, expected: usize) -> Self {
        let has_table = n_leaves.saturating_mul(n_leaves) <= CELLS.min(expected);
        Self { n: n_leaves, table: Vec::new(), has_table, terms: Vec::new(), merged: 0, largest: 0. }
    }

    /// Adds comparisons.
    ///
    /// # Errors
    /// A different number of leaves; not enough memory for the counts; [`Error::Interrupted`].
    pub fn add<const K: usize>(&mut self, comparisons: &Comparisons<'_, K>, monitor: Option<&Monitor>) -> Result<()> {
        watched!(monitor);
        let n = comparisons.n_leaves();
        check_len("leaves", n, "leaves of the counts", self.n)?;
        let weights = comparisons.weights();
        for start in (0..comparisons.len()).step_by(BLOCK) {
            monitor.check()?;
            for at in start..(start + BLOCK).min(comparisons.len()) {
                let weight = weights.map_or(1., |weights| weights[at]);
                if weight > 0. {
                    self.largest = self.largest.max(weight);
                    if let Some(term) = Term::of(&comparisons.rows().row(at), n, weight) {
                        self.count(term)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the counts `other` of later comparisons.
    ///
    /// # Errors
    /// A different number of leaves; not enough memory for the counts.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        check_len("leaves", other.n, "leaves of the counts", self.n)?;
        self.largest = self.largest.max(other.largest);
        for term in other.terms()? {
            self.count(term)?;
        }
        Ok(())
    }

    /// Returns the total weight of all comparisons.
    pub fn total(&self) -> f64 {
        self.table.iter().sum::<f64>() + self.terms.iter().map(|term| term.weight).sum::<f64>()
    }

    /// Returns the counts as columns, for [`Self::from_columns`]: the (near, near, far, far) leaves of each term, the
    /// weights of the terms, and the largest weight of a comparison. The id `n_leaves` means "no leaf".
    ///
    /// # Errors
    /// Not enough memory for the counts.
    pub fn columns(&self) -> Result<(Vec<[u32; 4]>, Vec<f64>, f64)> {
        let terms = self.terms()?;
        let keys = memory::collected(WHAT, terms.len(), terms.iter().map(Term::key))?;
        let weights = memory::collected(WHAT, terms.len(), terms.iter().map(|term| term.weight))?;
        Ok((keys, weights, self.largest))
    }

    /// Returns the counts from which [`Self::columns`] made the given columns.
    ///
    /// # Errors
    /// Columns that `columns` cannot return; not enough memory for the counts.
    pub fn from_columns(n_leaves: usize, keys: &[[u32; 4]], weights: &[f64], largest: f64) -> Result<Self> {
        let none = n_leaves as u32;
        let is_term =
            |&[a, b, c, d]: &[u32; 4]| a < none && c < none && b <= none && d <= none && (b == none) == (d == none);
        if keys.len() != weights.len() || !keys.iter().all(is_term) || !weights.iter().all(|&weight| weight > 0.) {
            return Err(Error::Argument(format!(
                "{} terms of {n_leaves} leaves and {} weights are not columns of counts",
                keys.len(),
                weights.len()
            )));
        }
        let terms = keys.iter().zip(weights).map(|(&[a, b, c, d], &weight)| Term { near: [a, b], far: [c, d], weight });
        let terms = memory::collected(WHAT, keys.len(), terms)?;
        Ok(Self { n: n_leaves, table: Vec::new(), has_table: false, terms, merged: 0, largest })
    }

    /// Returns the lengths as [`leaf_lengths`](super::leaf_lengths) does. A weight of 1 counts as `unit` answers.
    ///
    /// # Errors
    /// Not enough memory for the counts; [`Error::Interrupted`].
    pub fn lengths(&self, unit: f64, monitor: Option<&Monitor>) -> Result<Vec<f64>> {
        watched!(monitor);
        let mut terms = self.terms()?;
        let largest = self.largest * unit;
        let scale = if largest > MOST_WEIGHT { MOST_WEIGHT / self.largest } else { unit };
        if scale != 1. {
            terms.iter_mut().for_each(|term| term.weight *= scale);
        }
        lengths_of(self.n, terms, monitor)
    }

    fn count(&mut self, term: Term) -> Result<()> {
        let none = self.n as u32;
        if self.has_table && term.near[1] == none {
            if self.table.is_empty() {
                self.table = memory::filled(WHAT, 0., self.n * self.n)?;
            }
            self.table[term.near[0] as usize * self.n + term.far[0] as usize] += term.weight;
            return Ok(());
        }
        memory::push(WHAT, &mut self.terms, term)?;
        if self.terms.len() >= 2 * self.merged + PENDING {
            merge_equal(&mut self.terms);
            self.merged = self.terms.len();
        }
        Ok(())
    }

    fn terms(&self) -> Result<Vec<Term>> {
        let (n, none) = (self.n, self.n as u32);
        let filled = self.table.iter().filter(|&&weight| weight > 0.).count();
        let mut all = memory::room(WHAT, filled + self.terms.len())?;
        all.extend_from_slice(&self.terms);
        let cells = self.table.iter().enumerate().filter(|cell| *cell.1 > 0.);
        all.extend(cells.map(|(at, &weight)| Term {
            near: [(at / n) as u32, none],
            far: [(at % n) as u32, none],
            weight,
        }));
        merge_equal(&mut all);
        Ok(all)
    }
}

/// Sorts the terms by their near and far leaves. Adds the weights of terms with equal leaves, in their order.
fn merge_equal(terms: &mut Vec<Term>) {
    terms.sort_by_key(Term::key);
    terms.dedup_by(|next, kept| {
        let same = next.key() == kept.key();
        if same {
            kept.weight += next.weight;
        }
        same
    });
}

/// Returns the weight of each comparison times 2 (1 - p). Here p is the comparison's probability given only the lengths
/// of leaves, see [`leaf_lengths`](super::leaf_lengths). So comparisons that lengths do not explain count more.
///
/// The factors 2 (1 - p) are multiples of 2^-20, so that sums do not depend on the order of comparisons. Factors are
/// never 0, so a comparison of positive weight keeps a positive weight. Factors depend on neither the numbering of
/// leaves nor the number of threads.
///
/// # Errors
/// A number of lengths that differs from the number of leaves.
///
/// ```
/// use ordhc::bindings::weights_less_lengths;
/// use ordhc::Triplets;
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [0, 2, 1]], None)?;
/// let weights = weights_less_lengths(&triplets, &[0., 0., 2.])?;
/// assert!(weights[0] < 0.3 && weights[1] > 1.7);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn weights_less_lengths<const K: usize>(comparisons: &Comparisons<'_, K>, lengths: &[f64]) -> Result<Vec<f64>> {
    entered!(less_leaf_lengths);
    let n = comparisons.n_leaves();
    check_len("lengths", lengths.len(), "leaves", n)?;
    memory::check("the weights of comparisons", (comparisons.len() as u64).saturating_mul(8))?;
    let parts = parallel::map(parallel::ranges(comparisons.len(), BLOCK), |part| {
        let weight = |at: usize| {
            let odds = Term::of(&comparisons.rows().row(at), n, 1.).map_or(0., |term| term.difference(lengths));
            let left = (PARTS * 2. / (1. + odds.exp())).round().max(1.) / PARTS;
            left * comparisons.weights().map_or(1., |weights| weights[at])
        };
        part.map(weight).collect::<Vec<f64>>()
    });
    Ok(parts.concat())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::{Quadruplets, Triplets};

    fn triplet() -> impl Strategy<Value = [i32; 3]> {
        (0..7, 0..7, 0..7).prop_filter_map("distinct", |(i, j, k)| (i != j && i != k && j != k).then_some([i, j, k]))
    }

    fn quadruplet() -> impl Strategy<Value = [i32; 4]> {
        (0i32..7, 0i32..7, 0i32..7, 0i32..7).prop_filter_map("pairs", |(i, j, k, l)| {
            (i != j && k != l && [i.min(j), i.max(j)] != [k.min(l), k.max(l)]).then_some([i, j, k, l])
        })
    }

    fn naive<const K: usize>(rows: &[[i32; K]], weights: &[f64]) -> BTreeMap<Vec<i32>, f64> {
        let mut found = BTreeMap::new();
        for (row, weight) in rows.iter().zip(weights) {
            let (near, far) = Comparisons::pairs(row);
            let mut signs = vec![0; 7];
            far.iter().for_each(|&leaf| signs[leaf] += 1);
            near.iter().for_each(|&leaf| signs[leaf] -= 1);
            if *weight > 0. {
                *found.entry(signs).or_default() += weight;
            }
        }
        found
    }

    fn check<const K: usize>(rows: &[[i32; K]], weights: &[f64], cut: usize) {
        let of = |part: std::ops::Range<usize>| {
            Comparisons::new(rows[part.clone()].to_vec(), Some(7))
                .unwrap()
                .with_weights(weights[part].to_vec())
                .unwrap()
        };
        for expected in [0, 1000] {
            let mut whole = NearFarCounts::new(7, expected);
            whole.add(&of(0..rows.len()), None).unwrap();
            let (mut cuts, mut merged) = (NearFarCounts::new(7, expected), NearFarCounts::new(7, expected));
            for part in [0..cut, cut..rows.len()] {
                cuts.add(&of(part.clone()), None).unwrap();
                let mut elsewhere = NearFarCounts::new(7, 1000 - expected);
                elsewhere.add(&of(part), None).unwrap();
                let (keys, weights, largest) = elsewhere.columns().unwrap();
                merged.merge(&NearFarCounts::from_columns(7, &keys, &weights, largest).unwrap()).unwrap();
            }
            let columns = whole.columns().unwrap();
            assert_eq!(columns, cuts.columns().unwrap());
            assert_eq!(columns, merged.columns().unwrap());
            let mut signs = BTreeMap::new();
            for (&[a, b, c, d], &weight) in columns.0.iter().zip(&columns.1) {
                let mut row = vec![0; 7];
                [c, d].iter().filter(|&&leaf| leaf < 7).for_each(|&leaf| row[leaf as usize] += 1);
                [a, b].iter().filter(|&&leaf| leaf < 7).for_each(|&leaf| row[leaf as usize] -= 1);
                assert!(signs.insert(row, weight).is_none());
            }
            assert_eq!(signs, naive(rows, weights));
            assert_eq!(whole.total(), weights.iter().sum::<f64>());
        }
    }

    proptest! {
        #[test]
        fn as_counted_in_a_map(
            three in prop::collection::vec((triplet(), 0..4), 1..60),
            four in prop::collection::vec((quadruplet(), 0..4), 1..60),
            cut in 0.0..1.0,
        ) {
            let (rows, weights): (Vec<_>, Vec<_>) = three.into_iter().map(|(row, w)| (row, f64::from(w))).unzip();
            check(&rows, &weights, (cut * rows.len() as f64) as usize);
            let (rows, weights): (Vec<_>, Vec<_>) = four.into_iter().map(|(row, w)| (row, f64::from(w))).unzip();
            check(&rows, &weights, (cut * rows.len() as f64) as usize);
        }
    }

    #[test]
    fn more_terms_than_are_held_are_merged() {
        // Quadruplets of 60 leaves: more distinct terms than `PENDING`, each of them twice.
        let leaf = |k: usize, step: usize| (k / step % 60) as i32;
        let rows: Vec<[i32; 4]> = (0..1_400_000)
            .map(|k| [leaf(k, 1), leaf(k, 60), leaf(k, 3600), leaf(k, 7)])
            .filter(|[i, j, k, l]| i != j && k != l && [i.min(j), i.max(j)] != [k.min(l), k.max(l)])
            .collect();
        let twice = [rows.clone(), rows].concat();
        let fractions: Vec<f64> = (0..twice.len()).map(|k| 0.1 + k as f64 * 1e-7).collect();
        let whole = Quadruplets::new(twice.clone(), Some(60)).unwrap().with_weights(fractions.clone()).unwrap();
        let mut counts = NearFarCounts::new(60, 0);
        counts.add(&whole, None).unwrap();
        assert!(counts.merged > 0 && counts.terms.len() < twice.len());
        let mut all: Vec<Term> =
            twice.iter().zip(&fractions).filter_map(|(row, &weight)| Term::of(row, 60, weight)).collect();
        merge_equal(&mut all);
        assert_eq!(counts.columns().unwrap().1, all.iter().map(|term| term.weight).collect::<Vec<_>>());
    }

    #[test]
    fn weights_are_multiples_whatever_the_numbers_of_leaves() {
        let lengths = [0.3, -0.7, 1.1, 400., -400.];
        let rows = vec![[0, 1, 2, 3], [1, 0, 2, 3], [1, 0, 3, 2], [4, 0, 3, 1], [3, 1, 4, 0], [0, 1, 1, 2]];
        let found = weights_less_lengths(&Quadruplets::new(rows, None).unwrap(), &lengths).unwrap();
        assert!(found.iter().all(|x| (x * PARTS).fract() == 0. && *x > 0. && *x <= 2.));
        assert!(found[0] == found[1] && found[1] == found[2] && found[3] == 1. / PARTS && found[4] == 2.);
        let three = weights_less_lengths(&Triplets::new(vec![[1, 0, 2]], Some(5)).unwrap(), &lengths).unwrap();
        assert!(three[0] == found[5] && (three[0] - 2. / (1. + 0.8f64.exp())).abs() < 1e-6);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let triplets = Triplets::new(vec![[0, 1, 2]], None).unwrap();
        assert!(NearFarCounts::new(4, 1).add(&triplets, None).is_err());
        assert!(NearFarCounts::new(4, 1).merge(&NearFarCounts::new(3, 1)).is_err());
        assert!(weights_less_lengths(&triplets, &[0.]).is_err());
        for key in [[3, 3, 0, 3], [0, 3, 1, 2], [0, 4, 1, 4]] {
            assert!(NearFarCounts::from_columns(3, &[key], &[1.], 1.).is_err());
        }
        let stopped = Monitor::new();
        stopped.cancel();
        assert_eq!(NearFarCounts::new(3, 1).add(&triplets, Some(&stopped)), Err(Error::Interrupted));
    }
}
