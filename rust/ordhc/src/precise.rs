//! Double-double numbers (Dekker 1971), which have about twice the precision of `f64`. Each has a bound of its error.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The unevaluated sum `hi + lo`, where `hi` is the nearest float. The true number differs from this sum by at most
/// `error`.
///
/// Sums and products that fit into two floats are exact and have error 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Precise {
    hi: f64,
    lo: f64,
    error: f64,
}

/// Products with a smaller absolute value may lose digits, because their rounding error is too small for a normal
/// float.
const TINY: f64 = 1e-270;

impl Precise {
    pub(crate) fn float(self) -> f64 {
        self.hi
    }

    pub(crate) fn error(self) -> f64 {
        self.error
    }

    pub(crate) fn within(self, error: f64) -> Self {
        Self { error: up(self.error + error), ..self }
    }

    /// Returns the two ends of the interval of possible numbers, each as a pair of floats whose sum is the end.
    pub(crate) fn ends(self) -> [(f64, f64); 2] {
        if self.error == 0.0 {
            return [(self.hi, self.lo); 2];
        }
        [-self.error, self.error].map(|error| {
            let end = Self { error: 0.0, ..self } + Self::from(error);
            (end.hi, end.lo)
        })
    }

    pub(crate) fn sqrt(self) -> Self {
        let root = self.hi.sqrt();
        if root == 0.0 || !root.is_finite() {
            return Self::from(root).within(self.error.sqrt());
        }
        let rest = (self - Self::from(root) * Self::from(root)) / Self::from(2.0 * root);
        (Self::from(root) + rest).within(root * 1e-30)
    }

    pub(crate) fn abs(self) -> Self {
        if self.hi < 0.0 { -self } else { self }
    }

    pub(crate) fn power(self, exponent: Self) -> Self {
        let whole = exponent.hi as i32;
        if exponent == Self::from(f64::from(whole)) && whole.abs() <= 64 {
            let power = (0..whole.abs()).fold(Self::from(1.0), |power, _| power * self);
            return if whole < 0 { Self::from(1.0) / power } else { power };
        }
        let power = self.hi.powf(exponent.hi);
        Self::from(power).within(power.abs() * 1e-14)
    }

    pub(crate) fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    pub(crate) fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl From<f64> for Precise {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0, error: 0.0 }
    }
}

/// Compares the sums `hi + lo`, and ignores the error bounds.
impl PartialOrd for Precise {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.hi, self.lo).partial_cmp(&(other.hi, other.lo))
    }
}

/// Rounds an error up slightly, so that a rounded sum of errors is still a bound.
fn up(error: f64) -> f64 {
    error * (1.0 + 1e-15)
}

/// Returns the rounded sum and its rounding error (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let from_b = sum - a;
    (sum, (a - (sum - from_b)) + (b - from_b))
}

impl Add for Precise {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (hi, rest) = two_sum(self.hi, other.hi);
        if !hi.is_finite() {
            return Self::from(hi);
        }
        let (low, lost) = two_sum(self.lo, other.lo);
        let (rest, more) = two_sum(rest, low);
        let (hi, rest) = two_sum(hi, rest);
        let (low, lost) = two_sum(more, lost);
        let (rest, dropped) = two_sum(rest, low);
        let (hi, lo) = two_sum(hi, rest);
        Self { hi, lo, error: up(self.error + other.error + (lost.abs() + dropped.abs())) }
    }
}

impl Neg for Precise {
    type Output = Self;

    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo, ..self }
    }
}

impl Sub for Precise {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

fn two_product(a: f64, b: f64) -> Precise {
    let hi = a * b;
    if !hi.is_finite() {
        return Precise::from(hi);
    }
    let lost = if hi.abs() < TINY && a != 0.0 && b != 0.0 { 1e-322 } else { 0.0 };
    Precise { hi, lo: a.mul_add(b, -hi), error: lost }
}

impl Mul for Precise {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let mut product = two_product(self.hi, other.hi);
        if !product.hi.is_finite() {
            return product;
        }
        if self.lo != 0.0 {
            product = product + two_product(self.lo, other.hi);
        }
        if other.lo != 0.0 {
            product = product + two_product(self.hi, other.lo);
        }
        let known = self.hi.abs() * other.error + other.hi.abs() * self.error;
        let error = known * (1.0 + 1e-15) + (self.lo * other.lo).abs() + self.error * other.error;
        if error > 0.0 { product.within(error) } else { product }
    }
}

impl Div for Precise {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        if !first.is_finite() || first == 0.0 && self.hi == 0.0 {
            let error = if self.error > 0.0 { self.error / other.hi.abs() } else { 0.0 };
            return Self { error, ..Self::from(first) };
        }
        let mut quotient = Self::from(first);
        let mut rest = self - other * quotient;
        for _ in 0..2 {
            let next = Self::from(rest.hi / other.hi);
            quotient = quotient + next;
            rest = rest - other * next;
        }
        let error = (rest.hi.abs() + rest.error) / (other.hi.abs() - other.error).max(0.0);
        if error > 0.0 { quotient.within(error * (1.0 + 1e-15)) } else { quotient }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(x: f64) -> Precise {
        Precise::from(x)
    }

    #[test]
    fn what_fits_is_exact() {
        let sum = of(1e15) + of(0.1) + of(-1e15);
        assert_eq!((sum.float(), sum.error), (0.1, 0.0));
        let third = of(1.0) / of(3.0);
        assert!(third.error > 0.0 && third.error < 1e-31);
        let rest = third * of(3.0) - of(1.0);
        assert!(rest.float().abs() <= rest.error && rest.error < 1e-30);
        assert_eq!(of(0.1) * of(0.1) / of(0.1), of(0.1));
        assert_eq!(of(12.0) / of(4.0), of(3.0));
        assert_eq!(of(2.0).power(of(-2.0)), of(0.25));
        assert!((of(2.0).sqrt() * of(2.0).sqrt() - of(2.0)).float().abs() < 1e-29);
    }

    #[test]
    fn what_does_not_fit_is_within_the_error() {
        let sum = of(1e200) + of(1.0) + of(1e-200) + of(-1e200);
        assert_eq!(sum.float(), 1.0);
        assert!(sum.error >= 1e-200 && sum.error < 1e-199);
        assert!((of(1e-200) * of(1e-200)).error > 0.0);
        assert_eq!((of(1.0) / of(0.0)).float(), f64::INFINITY);
        assert_eq!((of(1e300) * of(1e300)).float(), f64::INFINITY);
        assert!((of(0.0) / of(0.0)).float().is_nan());
        assert_eq!(of(0.0) / of(3.0), of(0.0));
    }
}
