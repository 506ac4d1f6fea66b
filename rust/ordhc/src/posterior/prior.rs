//! What is believed of a tree before there are answers.
//!
//! The number of inner nodes is anything from 1 to n - 1, all equally likely; so are all trees with that many. So
//! trees whose nodes have many children are normal, and so are binary ones. Differences of height along edges
//! between inner nodes are exponential.

use crate::error::Result;
use crate::memory;

/// By number of inner nodes: by how much a tree with one more is less likely, in logarithms.
#[derive(Debug, Clone)]
pub(super) struct NodeCosts(Vec<f64>);

impl NodeCosts {
    /// The number of trees of m leaves and k inner nodes follows from those of one leaf less: the leaf joins
    /// one of k nodes, or comes to stand beside one of m + k - 2,
    /// T(m, k) = k T(m - 1, k) + (m + k - 2) T(m - 1, k - 1). Ratios T(m, k) / T(m, k - 1) follow without ever
    /// being too large.
    pub(super) fn new(n: usize) -> Result<Self> {
        let mut ratios = memory::filled("numbers of trees", 0.0f64, n + 1)?;
        // `ratios[k]` for k from 2; there is one tree of two leaves, with one inner node.
        for m in 3..=n {
            let m = m as f64;
            // T(m - 1, k - 1) / T(m - 1, k - 2), before it is overwritten.
            let mut before = f64::INFINITY;
            for k in 2..m as usize {
                let (here, count) = (ratios[k], k as f64);
                ratios[k] = (count * here + m + count - 2.0) / (count - 1.0 + (m + count - 3.0) / before);
                before = here;
            }
        }
        ratios.iter_mut().for_each(|ratio| *ratio = ratio.ln());
        Ok(Self(ratios))
    }

    /// What a new node costs a tree of `n_inner` inner nodes.
    pub(super) fn of_new(&self, n_inner: usize) -> f64 {
        self.0[n_inner + 1]
    }
}

/// An inverse gamma distribution: of the mean increment of heights, with a mean of 1.
pub(super) const SHAPE: f64 = 3.0;
pub(super) const SCALE: f64 = 2.0;

/// The logarithm of the density of the mean increment, without a constant.
pub(super) fn log_mean_increment(mean: f64) -> f64 {
    -(SHAPE + 1.0) * mean.ln() - SCALE / mean
}

/// The logarithm of the density of the noise, Beta(1, 10) up to [`MOST_NOISE`], without a constant.
pub(super) fn log_noise(noise: f64) -> f64 {
    9.0 * (1.0 - noise).ln()
}

/// Answers by chance alone would be half.
pub(super) const MOST_NOISE: f64 = 0.45;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_numbers_of_trees() {
        // T(m, k): rooted trees with m numbered leaves and k inner nodes.
        let mut counts = vec![vec![0.0, 1.0]];
        for m in 3..40usize {
            let last = &counts[m - 3];
            let at = |k: usize| last.get(k).copied().unwrap_or(0.0);
            let next = (0..m).map(|k| if k == 0 { 0.0 } else { k as f64 * at(k) + (m + k - 2) as f64 * at(k - 1) });
            counts.push(next.collect::<Vec<f64>>());
        }
        // Schröder's fourth problem: 1, 4, 26, 236, 2752 trees.
        let sums: Vec<f64> = counts[..5].iter().map(|row| row.iter().sum()).collect();
        assert_eq!(sums, [1.0, 4.0, 26.0, 236.0, 2752.0]);
        for n in 2..40usize {
            let costs = NodeCosts::new(n).unwrap();
            for k in 1..n - 1 {
                let exact = (counts[n - 2][k + 1] / counts[n - 2][k]).ln();
                assert!((costs.of_new(k) - exact).abs() < 1e-9, "{n} {k}: {} {exact}", costs.of_new(k));
            }
        }
    }
}
