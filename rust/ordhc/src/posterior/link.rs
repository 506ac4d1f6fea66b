//! How likely an answer is, by the difference of two heights.

/// Half of the range of differences in the table, and its cells in a unit.
const REACH: f64 = 24.0;
const CELLS: f64 = 32.0;

/// The probability of an answer whose closer pair stands higher by `difference`, when a share of `2 noise` of the
/// answers is given by a coin.
pub(super) fn probability(difference: f64, noise: f64) -> f64 {
    noise + (1.0 - 2.0 * noise) / (1.0 + (-difference).exp())
}

/// Logarithms of [`probability`], straight between the points of a table, and constant beyond it.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// At each point the value, and by how much the next one is larger.
    table: Vec<[f64; 2]>,
    noise: f64,
}

impl Link {
    pub(super) fn new(noise: f64) -> Self {
        let n_cells = (2.0 * REACH * CELLS) as usize;
        let mut new = Self { table: vec![[0.0; 2]; n_cells + 1], noise };
        new.set(noise);
        new
    }

    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    pub(super) fn set(&mut self, noise: f64) {
        self.noise = noise;
        let value = |cell: usize| probability(cell as f64 / CELLS - REACH, noise).ln();
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
            let link = Link::new(noise);
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
}
