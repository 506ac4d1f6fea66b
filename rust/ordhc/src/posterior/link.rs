//! How likely an answer is, by the difference of two heights.

/// What people were asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Asked {
    /// Which of two pairs is closer: the one that stands higher by d, with probability 1 / (1 + exp(-d)).
    #[default]
    Pairs,
    /// Which of three leaves is the odd one out: each with a probability in proportion to exp(h), where h is the height
    /// of the other two. An answer is two triplets, one from each of the two that are closer, which both count.
    OddOneOut,
}

/// Half of the range of differences in the table, and its cells in a unit.
const REACH: f64 = 24.0;
const CELLS: f64 = 32.0;

/// The probability of an answer whose closer pair stands higher by `difference`, when a share of `2 noise` of the
/// answers is given by a coin.
pub(super) fn probability(difference: f64, noise: f64) -> f64 {
    noise + (1.0 - 2.0 * noise) / (1.0 + (-difference).exp())
}

/// The probability of the right answer to which of three leaves is the odd one out, and that of each other one, when
/// the other two stand higher by `difference`, and a share of `2 noise` of the answers is given by chance.
pub(super) fn odd_one_out(difference: f64, noise: f64) -> [f64; 2] {
    let less = (-difference).exp();
    let right = 2.0 * noise / 3.0 + (1.0 - 2.0 * noise) / (1.0 + 2.0 * less);
    [right, (1.0 - right) / 2.0]
}

/// What a triplet adds to the log-likelihood, by the difference of its two heights.
fn log_of(asked: Asked, difference: f64, noise: f64) -> f64 {
    match asked {
        Asked::Pairs => probability(difference, noise).ln(),
        // Of the two triplets of a right answer both say so; of a wrong one the first says the contrary, and the second
        // compares two pairs of the same height.
        Asked::OddOneOut => {
            let [right, wrong] = odd_one_out(difference.abs(), noise);
            if difference >= 0.0 { 0.5 * right.ln() } else { wrong.ln() + 0.5 * 3f64.ln() }
        }
    }
}

/// What a triplet adds to the log-likelihood, straight between the points of a table, and constant beyond it.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// At each point the value, and by how much the next one is larger.
    table: Vec<[f64; 2]>,
    asked: Asked,
    noise: f64,
}

impl Link {
    pub(super) fn new(asked: Asked, noise: f64) -> Self {
        let n_cells = (2.0 * REACH * CELLS) as usize;
        let mut new = Self { table: vec![[0.0; 2]; n_cells + 1], asked, noise };
        new.set(noise);
        new
    }

    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    pub(super) fn asked(&self) -> Asked {
        self.asked
    }

    pub(super) fn set(&mut self, noise: f64) {
        self.noise = noise;
        let asked = self.asked;
        let value = |cell: usize| log_of(asked, cell as f64 / CELLS - REACH, noise);
        let last = self.table.len() - 1;
        let mut here = value(0);
        for cell in 0..last {
            let next = value(cell + 1);
            self.table[cell] = [here, next - here];
            here = next;
        }
        self.table[last] = [here, 0.0];
    }

    #[inline]
    pub(super) fn log(&self, difference: f64) -> f64 {
        let at = (difference.clamp(-REACH, REACH) + REACH) * CELLS;
        let cell = at as usize;
        let [value, rise] = self.table[cell];
        value + rise * (at - cell as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_probabilities() {
        for noise in [1e-6, 0.01, 0.2, 0.45] {
            let link = Link::new(Asked::Pairs, noise);
            for step in -240..=240 {
                let difference = f64::from(step) / 10.0;
                assert!((link.log(difference) - probability(difference, noise).ln()).abs() < 1e-4, "{difference}");
                let sum = link.log(difference).exp() + link.log(-difference).exp();
                assert!((sum - 1.0).abs() < 1e-4);
            }
            assert_eq!(link.log(1e9), link.log(24.0));
            assert!((link.log(0.0) - 0.5f64.ln()).abs() < 1e-12);
        }
    }

    #[test]
    fn answers_of_three_have_a_probability_of_one_together() {
        for noise in [1e-6, 0.01, 0.2, 0.45] {
            let link = Link::new(Asked::OddOneOut, noise);
            for step in 0..=100 {
                let difference = f64::from(step) / 8.0;
                let right = (2.0 * link.log(difference)).exp();
                let wrong = (link.log(-difference) + link.log(0.0)).exp();
                assert!((right + 2.0 * wrong - 1.0).abs() < 1e-3, "{difference} {right} {wrong}");
                let exact = odd_one_out(difference, noise);
                assert!((right - exact[0]).abs() < 1e-3 && (wrong - exact[1]).abs() < 1e-3);
                let odds = (exact[0] - 2.0 * noise / 3.0) / (exact[1] - 2.0 * noise / 3.0);
                assert!((odds.ln() - difference).abs() < 1e-6);
            }
        }
    }
}
