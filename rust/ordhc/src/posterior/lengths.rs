//! Lengths of leaves: how untypical each of them is.
//!
//! The path between two leaves i and j is l(i) + l(j) - h(i, j) long. Without lengths all leaves stand equally far from
//! the root (an ultrametric tree); with them the tree is additive (Sattath and Tversky 1977, "Additive similarity
//! trees"), by the transform of Farris, Kluge and Eckardt (1970).

use super::answers::Answer;
use super::random::Random;

/// Shape and scale of the inverse gamma distribution of the variance of lengths: the deviation is likely to be some
/// hundredths or tenths, but few answers suffice to make it some units.
const SHAPE: f64 = 1.0;
const SCALE: f64 = 0.01;

/// No step makes a length larger than this, and what is larger than the other number is as good as certain: so exp doesn't
/// overflow, even of sums.
const LONGEST: f64 = 50.0;
const MOST: f64 = 200.0;

/// exp(x), within what products and sums of a few such numbers can hold.
#[inline]
pub(super) fn power(x: f64) -> f64 {
    x.clamp(-MOST, MOST).exp()
}

/// Whether a leaf may have this length.
pub(super) fn may_be(length: f64) -> bool {
    length.abs() <= LONGEST
}

/// The length of each leaf, normal of mean 0, and the deviation, which is learnt; or none.
#[derive(Debug, Clone)]
pub(super) struct Lengths {
    values: Vec<f64>,
    /// exp(-length) of each leaf.
    factors: Vec<f64>,
    deviation: f64,
}

impl Lengths {
    /// Lengths of so many leaves; of none if there are no lengths.
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

    /// The deviation, 0 if there are no lengths.
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

    /// By how much closer the nearer pair of an answer is because of lengths.
    #[inline]
    pub(super) fn offset(&self, answer: &Answer) -> f64 {
        if self.values.is_empty() {
            return 0.0;
        }
        let [near, far] = [answer.near, answer.far].map(|[i, j]| self.of(i) + self.of(j));
        far - near
    }

    /// What lengths add to the closeness of a pair.
    #[inline]
    pub(super) fn closeness(&self, [i, j]: [u32; 2]) -> f64 {
        if self.values.is_empty() { 0.0 } else { -self.of(i) - self.of(j) }
    }

    /// exp of the same.
    #[inline]
    pub(super) fn factor(&self, [i, j]: [u32; 2]) -> f64 {
        if self.values.is_empty() { 1.0 } else { self.factors[i as usize] * self.factors[j as usize] }
    }

    /// Whether lengths may become `factor` times as large.
    pub(super) fn may_scale(&self, factor: f64) -> bool {
        self.values.iter().all(|&length| may_be(factor * length))
    }

    /// Multiplies all lengths and their deviation.
    pub(super) fn scale(&mut self, factor: f64) {
        for leaf in 0..self.values.len() {
            self.set(leaf as u32, self.values[leaf] * factor);
        }
        self.deviation *= factor;
    }

    /// Shifts all lengths so that their mean is drawn from its distribution.
    pub(super) fn shift(&mut self, random: &mut Random) {
        let n = self.values.len() as f64;
        let change = self.deviation / n.sqrt() * random.normal() - self.values.iter().sum::<f64>() / n;
        for leaf in 0..self.values.len() {
            self.set(leaf as u32, self.values[leaf] + change);
        }
    }

    /// Draws the deviation from its distribution, given the lengths.
    pub(super) fn learn(&mut self, random: &mut Random) {
        entered!(posterior_lengths);
        let squares: f64 = self.values.iter().map(|length| length * length).sum();
        let shape = SHAPE + 0.5 * self.values.len() as f64;
        self.deviation = ((SCALE + 0.5 * squares) / random.gamma(shape)).sqrt();
    }

    /// The logarithm of the density of a length, without a constant.
    pub(super) fn log_density(&self, length: f64) -> f64 {
        -0.5 * (length / self.deviation).powi(2)
    }

    /// By how much the logarithm of the density of the deviation's logarithm rises when it is multiplied.
    pub(super) fn log_scaled(&self, factor: f64) -> f64 {
        if self.values.is_empty() {
            return 0.0;
        }
        let log = |deviation: f64| -2.0 * SHAPE * deviation.ln() - SCALE / (deviation * deviation);
        log(self.deviation * factor) - log(self.deviation)
    }
}
