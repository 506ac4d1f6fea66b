//! The probability of an answer as a function of the difference of the heights of its two pairs.

use std::sync::OnceLock;

/// The table of log-likelihoods in a [`Link`] covers height differences from `-REACH` to `REACH`, with `CELLS` cells
/// per unit of height.
const REACH: f64 = 24.0;
const CELLS: f64 = 32.0;

const MIDDLE: f64 = REACH * CELLS - 0.5;

/// Returns the probability of the answer that one pair is closer than another. `difference` is the height of the first
/// pair minus the height of the second pair; a pair with a larger height is closer. A share of 2 `noise` of all answers
/// is random.
pub(super) fn probability(difference: f64, noise: f64) -> f64 {
    noise + (1.0 - 2.0 * noise) / (1.0 + (-difference).exp())
}

fn clear() -> &'static [f64] {
    static CLEAR: OnceLock<Vec<f64>> = OnceLock::new();
    CLEAR.get_or_init(|| (0..=POINTS).map(|at| probability(at as f64 / CELLS - REACH, 0.0)).collect())
}

fn value(noise: f64, point: usize) -> f64 {
    (noise + (1.0 - 2.0 * noise) * clear()[point]).ln()
}

pub(super) fn log_without_table(noise: f64, difference: f64) -> f64 {
    let [place, rounded] = place_of(difference * CELLS + MIDDLE);
    let point = (rounded.to_bits() as usize % LEN).min(POINTS);
    let (here, next) = (value(noise, point), value(noise, (point + 1).min(POINTS)));
    0.5 * (here + next) + (next - here) * (place - (rounded - ROUND))
}

/// Returns `place`, a position in the table of log-likelihoods, limited to the range of the table. Also returns this
/// number plus `ROUND`: the lowest bits of the sum are the index of the cell.
#[inline]
fn place_of(place: f64) -> [f64; 2] {
    let place = place.max(-0.5).min(POINTS as f64 - 0.5);
    [place, place + ROUND]
}

const POINTS: usize = (2.0 * REACH * CELLS) as usize;
/// The number of cells of the table of log-likelihoods. The number is a power of two, so that `% LEN` extracts the
/// lowest bits of an integer. All cells beyond the height difference `REACH` have the same log-likelihood.
const LEN: usize = 2048;
/// Adding this constant to a small number rounds it to an integer, which is then in the lowest bits of the sum.
const ROUND: f64 = 1.5 * (1u64 << 52) as f64;

/// The log-likelihood of an answer as a function of a height difference. The log-likelihood is interpolated linearly in
/// a table, and is constant outside of the range of the table.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// For each cell of the table: the log-likelihood at its middle, and the increase from its beginning to its end.
    table: Box<[[f64; 2]; LEN]>,
    noise: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Against<'a> {
    link: &'a Link,
    factor: f64,
    offset: f64,
}

impl Link {
    pub(super) fn new(noise: f64) -> Self {
        let mut new = Self { table: Box::new([[0.0; 2]; LEN]), noise };
        new.set(noise);
        new
    }

    pub(super) fn noise(&self) -> f64 {
        self.noise
    }

    pub(super) fn set(&mut self, noise: f64) {
        self.noise = noise;
        let mut here = value(noise, 0);
        for (cell, entry) in self.table.iter_mut().enumerate() {
            let next = if cell < POINTS { value(noise, cell + 1) } else { here };
            *entry = [0.5 * (here + next), next - here];
            here = next;
        }
    }

    #[inline]
    pub(super) fn log(&self, difference: f64) -> f64 {
        self.at(difference * CELLS + MIDDLE)
    }

    /// Returns the log-likelihood of a comparison of two pairs, as a function of the height of one pair. The other pair
    /// has height `height`. `sign` is 1 if the pair with the variable height is the nearer pair, and otherwise -1.
    /// `offset` is the sum of the leaf lengths of the farther pair, minus that of the nearer pair.
    #[inline]
    pub(super) fn against(&self, height: f64, sign: f64, offset: f64) -> Against<'_> {
        Against { link: self, factor: sign * CELLS, offset: MIDDLE - sign * CELLS * height + CELLS * offset }
    }

    #[inline]
    fn at(&self, place: f64) -> f64 {
        let [place, rounded] = place_of(place);
        let [middle, rise] = self.table[rounded.to_bits() as usize % LEN];
        middle + rise * (place - (rounded - ROUND))
    }
}

impl Against<'_> {
    #[inline]
    pub(super) fn log(&self, height: f64) -> f64 {
        self.link.at(self.factor * height + self.offset)
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
                assert_eq!(log_without_table(noise, difference), link.log(difference));
            }
            assert_eq!(link.log(1e9), link.log(24.0));
            assert_eq!(link.log(-1e9), link.log(-24.0));
            assert!((link.against(1.3, -1.0, 0.0).log(0.4) - link.log(0.9)).abs() < 1e-12);
            assert!((link.against(1.3, -1.0, 0.2).log(0.4) - link.log(1.1)).abs() < 1e-12);
            assert!((link.log(0.0) - 0.5f64.ln()).abs() < 1e-12);
        }
    }
}
