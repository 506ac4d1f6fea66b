//! Accurate sums of floats.

/// A compensated sum: the rounding errors are summed separately, and added at the end (Neumaier 1974).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    pub(super) fn add(&mut self, x: f64) {
        let total = self.total + x;
        self.lost += if self.total.abs() >= x.abs() { (self.total - total) + x } else { (x - total) + self.total };
        self.total = total;
    }

    pub(super) fn value(self) -> f64 {
        self.total + self.lost
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|x| sum.add(x));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_are_kept() {
        let sum: Sum = [1e16, 1.0, 1.0, -1e16, 1e-3].into_iter().collect();
        assert_eq!(sum.value(), 2.001);
        assert!(![1e308, 1e308, -1e308].into_iter().collect::<Sum>().value().is_finite());
        assert_eq!(Sum::default().value(), 0.0);
    }
}
