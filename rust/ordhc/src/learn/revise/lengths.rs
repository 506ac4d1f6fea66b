//! Lengths of leaves: how far each leaf is from all other leaves.

use super::evidence::Evidence;
use crate::refine::Shape;

/// The length of each leaf: how far the leaf is from all other leaves. Untypical leaves have large
/// lengths, because people choose them as the odd one out more often than the tree predicts.
///
/// P(leaf i is chosen) is proportional to exp(l(i) + e) if i is the odd one out in the tree, and to
/// exp(l(i)) otherwise. Here l(i) is the length of the leaf, and e is the log odds of a right
/// answer against either wrong one. Lengths have a normal prior with mean 0. The variance of the
/// prior is estimated by empirical Bayes (MacKay 1992). The variance is 0 if chance explains how
/// often leaves are chosen.
#[derive(Debug, Clone)]
pub(super) struct Lengths {
    lengths: Vec<f64>,
    evidence: f64,
}

const UPDATES: usize = 20;
const STEPS: usize = 20;
/// The estimated prior variance of the lengths (see [`Lengths`]) is final when its relative change is below `SETTLED`.
/// The lengths are final when no length changes by `FOUND` or more.
const SETTLED: f64 = 1e-2;
const FOUND: f64 = 1e-3;
/// If the estimated prior variance of the lengths (see [`Lengths`]) is at most `LEAST_VARIANCE`, all lengths become 0.
/// The estimate is at most `MOST_VARIANCE`: a standard deviation of 5, in log odds.
const LEAST_VARIANCE: f64 = 1e-4;
const MOST_VARIANCE: f64 = 25.0;

/// An answer: the three leaves, the index of the leaf that was chosen as the odd one out, and the index of the odd one
/// out in the tree. Both indices are 0, 1 or 2.
type Called = ([u32; 3], usize, usize);

fn odd_in(shape: &Shape, leaves: [u32; 3]) -> usize {
    let [a, b, c] = leaves.map(|leaf| leaf as usize);
    let whole = shape.smallest_holding(&[a, b, c]);
    [[b, c], [a, c]].iter().position(|pair| shape.smallest_holding(pair) != whole).unwrap_or(2)
}

impl Lengths {
    pub(super) fn new(n: usize, evidence: f64) -> Self {
        Self { lengths: vec![0.0; n], evidence }
    }

    #[cfg(test)]
    pub(super) fn of(lengths: Vec<f64>, evidence: f64) -> Self {
        Self { lengths, evidence }
    }

    fn probabilities(&self, leaves: [u32; 3], truth: usize) -> [f64; 3] {
        let mut found = leaves.map(|leaf| self.lengths[leaf as usize].exp());
        found[truth] *= self.evidence.exp();
        let total: f64 = found.iter().sum();
        found.map(|share| share / total)
    }

    pub(super) fn log_probability(&self, leaves: [u32; 3], answer: usize, truth: usize) -> f64 {
        self.probabilities(leaves, truth)[answer].ln()
    }

    pub(super) fn learn(&mut self, evidence: &Evidence, shape: &Shape) {
        let called: Vec<Called> = evidence
            .answers()
            .filter_map(|&(leaves, answer)| {
                let odd = usize::try_from(answer).ok()?;
                Some((leaves, odd, odd_in(shape, leaves)))
            })
            .collect();
        self.lengths.fill(0.0);
        let mut variance = 1.0f64;
        for _ in 0..UPDATES {
            let information = self.fit(&called, variance);
            let squares: f64 = self.lengths.iter().map(|l| l * l).sum();
            // The effective number of lengths that are determined by the answers and not by the prior.
            let decided: f64 = information.iter().map(|h| h / (h + 1.0 / variance)).sum();
            let next = (squares / decided).min(MOST_VARIANCE);
            if next.is_nan() || next <= LEAST_VARIANCE {
                self.lengths.fill(0.0);
                return;
            }
            let change = (next / variance).ln().abs();
            variance = next;
            if change < SETTLED {
                break;
            }
        }
        self.fit(&called, variance);
    }

    /// Returns the first and the negative second derivative of the log-likelihood with respect to each length.
    fn slopes(&self, called: &[Called]) -> (Vec<f64>, Vec<f64>) {
        let n = self.lengths.len();
        let (mut gradient, mut information) = (vec![0.0; n], vec![0.0; n]);
        for &(leaves, odd, truth) in called {
            let chances = self.probabilities(leaves, truth);
            for (at, leaf) in leaves.into_iter().enumerate() {
                gradient[leaf as usize] += f64::from(u8::from(at == odd)) - chances[at];
                information[leaf as usize] += chances[at] * (1.0 - chances[at]);
            }
        }
        (gradient, information)
    }

    /// Computes the most likely lengths, given their prior variance. Returns the negative second derivative of the
    /// log-likelihood with respect to each length.
    fn fit(&mut self, called: &[Called], variance: f64) -> Vec<f64> {
        let mut last = Vec::new();
        for _ in 0..STEPS {
            let (gradient, information) = self.slopes(called);
            let mut largest = 0.0f64;
            for (at, length) in self.lengths.iter_mut().enumerate() {
                // Each step assumes that the other lengths stay the same, but all lengths change at
                // once. Full Newton steps can therefore be up to twice too long. Half steps are
                // safe.
                let step = 0.5 * (gradient[at] - *length / variance) / (information[at] + 1.0 / variance);
                *length += step;
                largest = largest.max(step.abs());
            }
            last = information;
            if largest < FOUND {
                break;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(answers: &[([u32; 3], i8)]) -> Lengths {
        let shape = Shape::of(vec![[0, 1], [2, 3], [4, 5]]);
        let (mut evidence, mut lengths) = (Evidence::new(4), Lengths::new(4, 1.5));
        answers.iter().for_each(|&(leaves, answer)| evidence.take(leaves, answer));
        lengths.learn(&evidence, &shape);
        lengths
    }

    #[test]
    fn a_leaf_that_is_called_odd_is_long() {
        let answers = [([0, 2, 3], 2), ([1, 3, 2], 1), ([0, 1, 3], 2), ([0, 1, 2], 2)].repeat(8);
        let found = learnt(&answers).lengths;
        assert!(found[3] > 1.0, "{found:?}");
        assert!((0..3).all(|leaf| found[leaf] < 0.5), "{found:?}");
    }

    #[test]
    fn without_answers_or_with_those_of_the_tree_there_are_no_lengths() {
        assert_eq!(learnt(&[]).lengths, [0.0; 4]);
        assert_eq!(learnt(&[([0, 1, 2], -1)]).lengths, [0.0; 4]);
        let answers = [([0, 2, 3], 0), ([1, 2, 3], 0), ([0, 1, 3], 2), ([0, 1, 2], 2)].repeat(8);
        let found = learnt(&answers).lengths;
        assert!(found.iter().all(|length| length.abs() < 0.1), "{found:?}");
    }

    #[test]
    fn lengths_are_the_likeliest_ones() {
        let shape = Shape::of(vec![[0, 1], [2, 3], [4, 5]]);
        let called: Vec<Called> = [([0, 2, 3], 2), ([1, 3, 2], 1), ([0, 1, 3], 0), ([0, 1, 2], 1), ([3, 1, 2], 0)]
            .map(|(leaves, odd)| (leaves, odd, odd_in(&shape, leaves)))
            .repeat(3);
        let (mut found, variance) = (Lengths::new(4, 1.5), 0.8);
        found.fit(&called, variance);
        // The log density, computed from the definition. This density must be lower if any fitted
        // length is changed.
        let density = |lengths: &[f64]| {
            let prior: f64 = lengths.iter().map(|l| -0.5 * l * l / variance).sum();
            let each = called.iter().map(|&(leaves, odd, truth)| {
                let odds = |at: usize| (lengths[leaves[at] as usize] + if at == truth { 1.5 } else { 0.0 }).exp();
                (odds(odd) / (odds(0) + odds(1) + odds(2))).ln()
            });
            prior + each.sum::<f64>()
        };
        let best = density(&found.lengths);
        for leaf in 0..4 {
            for step in [-0.05, 0.05] {
                let mut other = found.lengths.clone();
                other[leaf] += step;
                assert!(density(&other) < best, "{leaf} {step}");
            }
        }
    }
}
