//! A matrix of all similarities in about twice the precision of floats, with error bounds. The naive engine uses this
//! matrix, and so do inputs with ties that rounding would otherwise decide.

use super::matrix::Matrix;
use super::nearest::Linkage;
use super::search::not_finite;
use super::tolerance::{CELL, key_of_sum, overlap};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::memory;
use crate::monitor::Monitor;
use crate::precise::Precise;
use crate::similarity::{Triangle, condensed_len};
use crate::tree::RawMerge;

/// A condensed matrix of similarities. The index of a cluster's row is its smallest leaf.
///
/// As a [`Linkage`], the matrix returns keys (similarities rounded to 36 bits), so that equal similarities compare as
/// equal. Afterwards, [`with_heights`](Self::with_heights) replaces the keys of merges by the similarities.
pub(super) struct PreciseMatrix<'a> {
    update: PreciseUpdate<'a>,
    cells: Vec<Cell>,
    sizes: Vec<f64>,
    zero: f64,
    /// For each removed cluster: the similarity of its merge.
    heights: Vec<f64>,
    is_doubtful: bool,
}

/// [`Update::fold_precisely`].
type Fold<'a> = &'a dyn Fn(&Merging<Precise>, Precise, Precise, f64) -> Precise;

/// The parts of an [`Update`] that this matrix needs. They are passed as one type, so that the matrix is compiled only
/// once for all linkages.
#[derive(Clone, Copy)]
pub(super) struct PreciseUpdate<'a> {
    fold: Fold<'a>,
    /// [`Update::PRECISE_SUMS`].
    sums: bool,
    /// [`Update::EXACT`].
    pub(super) exact: bool,
}

/// Calls `work` with the parts of `update`.
pub(super) fn with_precise<U: Update>(update: &U, work: &mut dyn FnMut(PreciseUpdate<'_>) -> Result<()>) -> Result<()> {
    let fold = |merging: &Merging<Precise>, x_i, x_j, n_k| update.fold_precisely(merging, x_i, x_j, n_k);
    work(PreciseUpdate { fold: &fold, sums: U::PRECISE_SUMS, exact: U::EXACT })
}

/// A rounding error is ignored if it is at most this share of the value.
pub(super) const VAGUE: f64 = 1e-20;
/// A sum counts as zero if two conditions hold: the sum is smaller than its rounding error, and the rounding error is
/// below `NOTHING` times the smallest input value.
pub(super) const NOTHING: f64 = 1e-20;

#[derive(Debug, Clone, Copy)]
struct Cell {
    /// The sum over the pairs of leaves if the linkage computes with sums ([`Update::PRECISE_SUMS`]), and otherwise the
    /// similarity.
    value: Precise,
    key: f64,
}

impl<'a> PreciseMatrix<'a> {
    /// Returns the matrix. Input values are multiplied by `unit[0]` and `unit[1]`, which are powers of two, and then
    /// squared if the rule squares dissimilarities.
    pub(super) fn new(
        update: PreciseUpdate<'a>,
        matrix: &Matrix<'_>,
        squared: bool,
        unit: [f64; 2],
        monitor: &Monitor,
    ) -> Result<Self> {
        entered!(precise_matrix);
        let n = matrix.n_leaves();
        let square = squared && matrix.is_dissimilarity();
        memory::check("the working matrix", (size_of::<Cell>() * condensed_len(n)) as u64)?;
        let mut cells = Vec::with_capacity(condensed_len(n));
        let (mut row, mut least) = (vec![0.0; n], f64::INFINITY);
        for i in 0..n {
            monitor.advance(0)?;
            let row = &mut row[..n - i - 1];
            matrix.write_row_after(i, false, row);
            for &x in &*row {
                let x = Precise::from(x * unit[0] * unit[1]);
                let value = if square { -(x * x) } else { x };
                least = if value.float() == 0.0 { least } else { least.min(value.float().abs()) };
                cells.push(Cell { value, key: update.key(value, 1.0, 1.0) });
            }
        }
        Ok(Self {
            update,
            cells,
            sizes: vec![1.0; n],
            zero: least * NOTHING,
            heights: vec![0.0; n],
            is_doubtful: false,
        })
    }

    /// Sets the sizes of leaves: a leaf of size 3 counts as three identical leaves. `is_ward` is true for Ward's
    /// linkage, for which the similarity of two leaves then is `-2 n_i n_j / (n_i + n_j) d^2`.
    pub(super) fn set_sizes(&mut self, sizes: &[f64], is_ward: bool) {
        self.sizes.copy_from_slice(sizes);
        for (i, &n_i) in sizes.iter().enumerate() {
            for (k, &n_k) in sizes.iter().enumerate().skip(i + 1) {
                let product = Precise::from(n_i) * Precise::from(n_k);
                let mut value = self.cells[self.at(i, k)].value;
                if self.update.sums {
                    value = value * product;
                } else if is_ward {
                    value = value * Precise::from(2.0) * product / (Precise::from(n_i) + Precise::from(n_k));
                }
                let at = self.at(i, k);
                self.cells[at] = Cell { value, key: self.update.key(value, n_i, n_k) };
            }
        }
    }

    /// Keeps pairs of leaves in different clusters until [`release`](Self::release): the key of clusters with such a pair
    /// between them is minus infinity.
    pub(super) fn keep_apart(&mut self, pairs: &[[usize; 2]]) {
        for &[a, b] in pairs {
            let at = self.at(a, b);
            self.cells[at].key = f64::NEG_INFINITY;
        }
    }

    /// Lets the clusters `left` merge, although pairs of their leaves were kept apart.
    pub(super) fn release(&mut self, left: &[usize]) {
        for (place, &i) in left.iter().enumerate() {
            for &k in &left[place + 1..] {
                let at = self.at(i, k);
                self.cells[at].key = self.update.key(self.cells[at].value, self.sizes[i], self.sizes[k]);
            }
        }
    }

    fn at(&self, i: usize, k: usize) -> usize {
        Triangle::new(self.sizes.len()).index(i, k)
    }

    fn doubtful(&self, (i, j): (usize, usize), k: usize) -> bool {
        let about = |i: usize, j: usize| (self.cells[self.at(i, j)], self.sizes[i], self.sizes[j]);
        let [(a, a_i, a_k), (b, b_i, b_k)] = [about(i, j), about(i, k)];
        let vague = |value: Precise| value.error() > VAGUE * value.float().abs();
        let are_apart = a.key.min(b.key) == f64::NEG_INFINITY;
        if are_apart || !vague(a.value) && !vague(b.value) {
            return false;
        }
        let slack = a.value.error() + b.value.error();
        if slack == 0.0 || (a.key - b.key).abs() > 4.0 * CELL * a.key.abs().max(b.key.abs()) + 2.0 * slack {
            return false;
        }
        overlap(self.update.ends(a.value, a_i, a_k), self.update.ends(b.value, b_i, b_k))
    }

    pub(super) fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    pub(super) fn with_heights(&self, mut merges: Vec<RawMerge>) -> Vec<RawMerge> {
        merges.iter_mut().for_each(|merge| merge.similarity = self.heights[merge.j]);
        merges
    }
}

impl PreciseUpdate<'_> {
    fn similarity(self, value: Precise, n_i: f64, n_k: f64) -> Precise {
        if self.sums && n_i * n_k != 1.0 { value / Precise::from(n_i * n_k) } else { value }
    }

    fn key(self, value: Precise, n_i: f64, n_k: f64) -> f64 {
        let similarity = self.similarity(value, n_i, n_k);
        if self.exact {
            return similarity.float();
        }
        key_of(similarity).0
    }

    fn ends(self, value: Precise, n_i: f64, n_k: f64) -> [f64; 2] {
        self.similarity(value, n_i, n_k).ends().map(key_of_sum)
    }
}

pub(super) fn key_of(number: Precise) -> (f64, bool) {
    // If the exact number, within its error bound, could round to two different keys, choose the key farther from zero.
    let [low, high] = number.ends().map(key_of_sum);
    (if low.abs() > high.abs() { low } else { high }, low == high)
}

impl Linkage for PreciseMatrix<'_> {
    fn n_leaves(&self) -> usize {
        self.sizes.len()
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        for (value, &k) in out.iter_mut().zip(others) {
            *value = self.cells[self.at(i, k)].key;
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()> {
        let others = || active.iter().copied().filter(|&k| k != i && k != j);
        if !self.update.exact && others().any(|k| self.doubtful((i, j), k) || self.doubtful((j, i), k)) {
            self.is_doubtful = true;
        }
        let [n_i, n_j] = [i, j].map(|k| self.sizes[k]);
        let x_ij = self.cells[self.at(i, j)].value;
        self.heights[j] = self.update.similarity(x_ij, n_i, n_j).float();
        let merging = Merging { n_i, n_j, x_ij };
        for k in others() {
            let (to, from, n_k) = (self.at(i, k), self.at(j, k), self.sizes[k]);
            let value = (self.update.fold)(&merging, self.cells[to].value, self.cells[from].value, n_k);
            if !value.float().is_finite() {
                return Err(not_finite(value.float(), i, k));
            }
            let nothing = value.float().abs() <= value.error() && value.error() < self.zero;
            let value = if nothing { Precise::from(0.0) } else { value };
            let are_apart = self.cells[to].key.min(self.cells[from].key) == f64::NEG_INFINITY;
            let key = if are_apart { f64::NEG_INFINITY } else { self.update.key(value, n_i + n_j, n_k) };
            self.cells[to] = Cell { value, key };
        }
        self.sizes[i] += n_j;
        Ok(())
    }
}
