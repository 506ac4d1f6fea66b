//! Random numbers with the distributions that the Markov chains need.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[derive(Debug, Clone)]
pub(super) struct Random(ChaCha8Rng);

impl Random {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        Self(random)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    #[inline]
    pub(super) fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    #[inline]
    pub(super) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    #[inline]
    pub(super) fn exponentials(&mut self, count: i32) -> f64 {
        -(0..count).map(|_| 1.0 - self.uniform()).product::<f64>().ln()
    }

    pub(super) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Returns a gamma deviate with a shape of at least 1 and scale 1 (Marsaglia & Tsang 2000).
    pub(super) fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    pub(super) fn shuffle(&mut self, values: &mut [u32]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }

    /// Draws an index with a probability in proportion to its weight. `weights` has the logarithms of the weights, and
    /// is overwritten. Indices with a weight below e^-36 times the largest weight are never drawn.
    pub(super) fn place(&mut self, weights: &mut [f64]) -> usize {
        const NEVER: f64 = -36.0;
        let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for weight in weights.iter_mut() {
            let less = *weight - largest;
            if less > NEVER {
                sum += less.exp();
            }
            *weight = sum;
        }
        let drawn = self.uniform() * sum;
        weights.partition_point(|&sum| sum <= drawn).min(weights.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_variances_are_right() {
        let mut random = Random::new(1, 0);
        let mut check = |draw: &mut dyn FnMut(&mut Random) -> f64, mean: f64, variance: f64| {
            let n = 200_000;
            let draws: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
            let found = draws.iter().sum::<f64>() / f64::from(n);
            let spread = draws.iter().map(|x| (x - found).powi(2)).sum::<f64>() / f64::from(n);
            assert!((found - mean).abs() < 5.0 * (variance / f64::from(n)).sqrt(), "{found} {mean}");
            assert!((spread / variance - 1.0).abs() < 0.05, "{spread} {variance}");
        };
        check(&mut Random::uniform, 0.5, 1.0 / 12.0);
        check(&mut Random::exponential, 1.0, 1.0);
        check(&mut |random| random.exponentials(6), 6.0, 6.0);
        check(&mut Random::normal, 0.0, 1.0);
        check(&mut |random| random.gamma(3.0), 3.0, 3.0);
        check(&mut |random| random.gamma(40.5), 40.5, 40.5);
    }

    #[test]
    fn places_are_drawn_by_their_weights() {
        let mut random = Random::new(2, 7);
        let mut times = [0; 4];
        for _ in 0..60_000 {
            let mut weights = [1f64.ln() + 700.0, 2f64.ln() + 700.0, f64::NEG_INFINITY, 3f64.ln() + 700.0];
            times[random.place(&mut weights)] += 1;
        }
        assert_eq!(times[2], 0);
        for (at, expected) in [(0, 10_000), (1, 20_000), (3, 30_000)] {
            assert!((i32::abs(times[at] - expected)) < 600, "{times:?}");
        }
    }
}
