//! The expected information of an answer.

use super::samples::Samples;

impl Samples {
    /// Returns the expected information, in nats, of the answer to a question: which of three leaves is the odd one
    /// out, or which of two pairs is closer. Each sampled tree gives a distribution of the answer. The result is the
    /// entropy of the mean of these distributions minus the mean of their entropies (Houlsby et al. 2011, "Bayesian
    /// active learning for classification and preference learning").
    pub fn information<const K: usize>(&self, leaves: [u32; K]) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let answers = self.trees().iter().map(|tree| {
            if K == 4 {
                let p = tree.answer(&leaves.map(|leaf| leaf as i32));
                [p, 1.0 - p, 0.0]
            } else {
                tree.odd_one_out(std::array::from_fn(|at| leaves[at]))
            }
        });
        expected_information(answers, self.len())
    }
}

/// Returns the entropy of the mean of `count` distributions minus their mean entropy, in nats.
pub(crate) fn expected_information(distributions: impl Iterator<Item = [f64; 3]>, count: usize) -> f64 {
    let (mut mean, mut within) = ([0.0; 3], 0.0);
    for probabilities in distributions {
        within += entropy(probabilities);
        (0..3).for_each(|at| mean[at] += probabilities[at]);
    }
    let count = count as f64;
    (entropy(mean.map(|sum| sum / count)) - within / count).max(0.0)
}

fn entropy(probabilities: [f64; 3]) -> f64 {
    -probabilities.into_iter().filter(|&p| p > 0.0).map(|p| p * p.ln()).sum::<f64>()
}
