//! The prior of increments: the height differences between inner nodes and their parents.

use super::random::Random;

/// Shape and scale of the inverse gamma prior of the mean increment. An increment is the height difference between an
/// inner node and its parent.
const SHAPE: f64 = 2.0;
const SCALE: f64 = 2.0;
/// The possible shape parameters of the gamma distribution of increments (height differences between inner nodes and
/// their parents). All are equally likely. Shape 1 is the exponential distribution. Larger shapes make increments more
/// equal.
const REGULARITIES: [i32; 5] = [1, 2, 3, 4, 6];

#[derive(Debug, Clone)]
pub(super) struct Increments {
    mean: f64,
    regularity: i32,
    constant: f64,
}

impl Increments {
    pub(super) fn new() -> Self {
        let mut new = Self { mean: 1.0, regularity: 1, constant: 0.0 };
        new.set(1.0, 1);
        new
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    fn set(&mut self, mean: f64, regularity: i32) {
        (self.mean, self.regularity) = (mean, regularity);
        self.constant = log_factor(mean, regularity);
    }

    pub(super) fn set_mean(&mut self, mean: f64) {
        self.set(mean, self.regularity);
    }

    #[inline]
    pub(super) fn log(&self, increment: f64) -> f64 {
        let k = self.regularity;
        let powers = if k == 1 { 0.0 } else { f64::from(k - 1) * increment.ln() };
        self.constant + powers - f64::from(k) * increment / self.mean
    }

    /// Returns the change of the log density of all increments (height differences along edges) when a node is added,
    /// minus ln(`density`). `count` is the change of the number of increments, `more` is the change of their sum, and
    /// `times` is the factor by which their product changes. The height of the node was drawn with the density
    /// `density`.
    #[inline]
    fn log_of(&self, count: f64, more: f64, times: f64, density: f64) -> f64 {
        let k = self.regularity;
        count * self.constant + (times.powi(k - 1) / density).ln() - f64::from(k) * more / self.mean
    }

    fn draw(&self, random: &mut Random) -> f64 {
        random.exponentials(self.regularity) * self.mean / f64::from(self.regularity)
    }

    /// Draws the height of a new node. `lowest` is the height of its parent, or minus infinity if there is no parent.
    /// `highest` is the smaller of the heights of its two children, or infinity if both are leaves.
    pub(super) fn new_height(&self, lowest: f64, highest: f64, random: &mut Random) -> f64 {
        if lowest == f64::NEG_INFINITY {
            highest - self.draw(random)
        } else if highest == f64::INFINITY {
            lowest + self.draw(random)
        } else {
            lowest + random.uniform() * (highest - lowest)
        }
    }

    /// Returns the change of the log density of all increments when a node at height `new` is added, minus the log
    /// density with which [`new_height`](Self::new_height) draws `new`. `lowest` is the height of the parent of the new
    /// node. `height` and `most` are the heights of its two children: the node below it on the edge, and the moved
    /// subtree. The height of a leaf is infinity.
    pub(super) fn log_beside(&self, lowest: f64, height: f64, most: f64, new: f64) -> f64 {
        let highest = height.min(most);
        let (is_leaf, moves_leaf) = (height == f64::INFINITY, most == f64::INFINITY);
        if lowest == f64::NEG_INFINITY {
            // `new_height` drew the increment to the child with the smaller height from this prior, so its density
            // cancels. Only the increment to the other child remains, if the other child is not a leaf.
            return if moves_leaf { 0.0 } else { self.log(height.max(most) - new) };
        }
        if highest <= lowest {
            return f64::NEG_INFINITY;
        }
        let density = 1.0 / (highest - lowest);
        let rise = new - lowest;
        match (is_leaf, moves_leaf) {
            (true, true) => 0.0,
            (false, true) => self.log_of(1.0, 0.0, rise * (height - new) / (height - lowest), density),
            (true, false) => self.log_of(2.0, most - lowest, rise * (most - new), density),
            (false, false) => {
                let times = rise * (height - new) / (height - lowest) * (most - new);
                self.log_of(2.0, most - new, times, density)
            }
        }
    }

    pub(super) fn learn(&mut self, increments: impl Iterator<Item = f64>, random: &mut Random) {
        let (mut count, mut sum, mut logs) = (0.0, 0.0, 0.0);
        for increment in increments {
            count += 1.0;
            sum += increment;
            logs += increment.ln();
        }
        let k = f64::from(self.regularity);
        let mean = (SCALE + k * sum) / random.gamma(SHAPE + k * count);
        let of = |k: i32| count * log_factor(mean, k) + f64::from(k - 1) * logs - f64::from(k) * sum / mean;
        let mut weights = REGULARITIES.map(of);
        self.set(mean, REGULARITIES[random.place(&mut weights)]);
    }
}

fn log_factor(mean: f64, regularity: i32) -> f64 {
    let k = f64::from(regularity);
    let factorial: f64 = (1..regularity).map(f64::from).product();
    k * (k / mean).ln() - factorial.ln()
}

pub(super) fn log_mean(mean: f64) -> f64 {
    -(SHAPE + 1.0) * mean.ln() - SCALE / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mean: f64, regularity: i32) -> Increments {
        let mut new = Increments::new();
        new.set(mean, regularity);
        new
    }

    #[test]
    fn densities_are_those_of_what_is_drawn() {
        for regularity in REGULARITIES {
            let increments = of(1.7, regularity);
            let mut random = Random::new(5, 0);
            let n = 40_000;
            let mean = (0..n).map(|_| increments.draw(&mut random)).sum::<f64>() / f64::from(n);
            assert!((mean - 1.7).abs() < 0.05, "{mean}");
            let cell = 0.01;
            let densities =
                (0..3000).map(|at| (f64::from(at) + 0.5) * cell).map(|x| (x, increments.log(x).exp() * cell));
            let (all, first) = densities.fold((0.0, 0.0), |(all, first), (x, p)| (all + p, first + p * x));
            assert!((all - 1.0).abs() < 1e-3 && (first - 1.7).abs() < 1e-2, "{all} {first}");
        }
    }

    #[test]
    fn places_weigh_what_their_increments_do() {
        for regularity in REGULARITIES {
            let increments = of(0.8, regularity);
            let (leaf, f) = (f64::INFINITY, |x: f64| increments.log(x));
            let found = |lowest, height, most, new| increments.log_beside(lowest, height, most, new);
            let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
            near(found(1.0, leaf, leaf, 1.4), 0.0);
            near(found(1.0, 3.0, leaf, 1.4), f(0.4) + f(1.6) - f(2.0) + 2f64.ln());
            near(found(1.0, leaf, 3.0, 1.4), f(0.4) + f(1.6) + 2f64.ln());
            near(found(1.0, 2.0, 3.0, 1.4), f(0.4) + f(0.6) + f(1.6) - f(1.0));
            near(found(1.0, 3.0, 2.0, 1.4), f(0.4) + f(1.6) + f(0.6) - f(2.0));
            near(found(f64::NEG_INFINITY, 2.0, leaf, 1.4), 0.0);
            near(found(f64::NEG_INFINITY, 2.0, 3.0, 1.4), f(1.6));
            assert_eq!(found(1.0, 3.0, 0.5, 1.4), f64::NEG_INFINITY);
        }
    }
}
