//! Lengths of leaves: a leaf with a larger length is less similar to all other leaves.
//!
//! The length of the path between two leaves i and j is l(i) + l(j) - h(i, j). Without lengths all leaves are equally
//! far from the root (an ultrametric tree). With lengths the tree is additive (Sattath and Tversky 1977, "Additive
//! similarity trees"), by the transform of Farris, Kluge and Eckardt (1970).

use super::answers::Answer;
use super::random::Random;

/// Shape and scale of the inverse gamma prior of the variance of the leaves' lengths. The prior favours standard
/// deviations of about 0.1, but a few answers suffice to estimate a much larger standard deviation.
const SHAPE: f64 = 1.0;
const SCALE: f64 = 0.01;

/// `LONGEST` is the largest absolute length of a leaf, and `MOST` is the largest absolute argument of exp. These limits
/// prevent overflow, even in sums.
const LONGEST: f64 = 50.0;
const MOST: f64 = 200.0;

/// Returns exp(x), limited so that products and sums of a few such numbers do not overflow.
#[inline]
pub(super) fn power(x: f64) -> f64 {
    x.clamp(-MOST, MOST).exp()
}

pub(super) fn may_be(length: f64) -> bool {
    length.abs() <= LONGEST
}

/// The lengths of leaves. A leaf with a larger length is less similar to all other leaves. Lengths have a normal prior
/// of mean 0 whose standard deviation is estimated. The lists are empty for trees without lengths.
#[derive(Debug, Clone)]
pub(super) struct Lengths {
    values: Vec<f64>,
    factors: Vec<f64>,
    deviation: f64,
}

impl Lengths {
    pub(super) fn new(n: usize) -> Self {
        Self { values: vec![0.0; n], factors: vec![1.0; n], deviation: 0.5 }
    }

    pub(super) fn are_learnt(&self) -> bool {
        !self.values.is_empty()
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn deviation(&self) -> f64 {
        self.deviation
    }

    pub(super) fn spread(&self) -> f64 {
        if self.values.is_empty() { 0.0 } else { self.deviation }
    }

    #[inline]
    pub(super) fn of(&self, leaf: u32) -> f64 {
        self.values[leaf as usize]
    }

    pub(super) fn set(&mut self, leaf: u32, length: f64) {
        self.values[leaf as usize] = length;
        self.factors[leaf as usize] = power(-length);
    }

    /// Returns the sum of the leaf lengths of the farther pair, minus that of the nearer pair.
    #[inline]
    pub(super) fn offset(&self, answer: &Answer) -> f64 {
        if self.values.is_empty() {
            return 0.0;
        }
        let [near, far] = [answer.near, answer.far].map(|[i, j]| self.of(i) + self.of(j));
        far - near
    }

    #[inline]
    pub(super) fn closeness(&self, [i, j]: [u32; 2]) -> f64 {
        if self.values.is_empty() { 0.0 } else { -self.of(i) - self.of(j) }
    }

    #[inline]
    pub(super) fn factor(&self, [i, j]: [u32; 2]) -> f64 {
        if self.values.is_empty() { 1.0 } else { self.factors[i as usize] * self.factors[j as usize] }
    }

    pub(super) fn may_scale(&self, factor: f64) -> bool {
        self.values.iter().all(|&length| may_be(factor * length))
    }

    pub(super) fn scale(&mut self, factor: f64) {
        for leaf in 0..self.values.len() {
            self.set(leaf as u32, self.values[leaf] * factor);
        }
        self.deviation *= factor;
    }

    pub(super) fn shift(&mut self, random: &mut Random) {
        let n = self.values.len() as f64;
        let change = self.deviation / n.sqrt() * random.normal() - self.values.iter().sum::<f64>() / n;
        for leaf in 0..self.values.len() {
            self.set(leaf as u32, self.values[leaf] + change);
        }
    }

    pub(super) fn learn(&mut self, random: &mut Random) {
        entered!(posterior_lengths);
        let squares: f64 = self.values.iter().map(|length| length * length).sum();
        let shape = SHAPE + 0.5 * self.values.len() as f64;
        self.deviation = ((SCALE + 0.5 * squares) / random.gamma(shape)).sqrt();
    }

    pub(super) fn log_density(&self, length: f64) -> f64 {
        -0.5 * (length / self.deviation).powi(2)
    }

    pub(super) fn log_scaled(&self, factor: f64) -> f64 {
        if self.values.is_empty() {
            return 0.0;
        }
        let log = |deviation: f64| -2.0 * SHAPE * deviation.ln() - SCALE / (deviation * deviation);
        log(self.deviation * factor) - log(self.deviation)
    }
}
