//! The prior distribution of trees.
//!
//! The prior weight of a tree is the product of the weights of its inner nodes. The weight of an inner node with s
//! leaves is `node` times (s - 1)^-balance. With balance 0, all trees with the same number of nodes are equally likely.
//! If the balance is 1, the prior of binary trees is that of Yule's model. With a larger balance, the sizes of siblings
//! are more equal. With a negative balance, most trees are caterpillars. Both parameters are estimated, with a uniform
//! prior over a grid of (`node`, balance). The prior of height differences is in `increments`.

use super::dot;
use super::random::Random;
use crate::error::Result;
use crate::memory;
use crate::parallel;

/// The possible values of the balance, a parameter of the prior of trees. The prior weight of an inner node with s
/// leaves is a constant times (s - 1)^-balance.
const BALANCES: [f64; 10] = [-0.5, -0.2, -0.08, 0.0, 0.3, 0.6, 1.0, 1.5, 2.2, 3.0];
/// The smallest possible value of ln(`node`) is `LEAST_NODE`, and the number of values is `NODES`,
/// in steps of 1. `node` is a factor in the prior weight of each inner node.
const LEAST_NODE: f64 = -5.0;
const NODES: usize = 13;

/// The prior of the shapes of trees, for each point of a grid of its two parameters (see [`Shape`]).
#[derive(Debug, Clone)]
pub(super) struct Shapes {
    /// ln(size - 1) for a node of `size` leaves, at the index size - 1. ln(0) is set to 0.
    logs: Vec<f64>,
    /// The log normalising constant of the prior for each point of the parameter grid: ln(Z / n!). Z is the sum of the
    /// prior weights of all trees with n leaves, see [`log_sum`].
    sums: Vec<f64>,
}

/// The two parameters of the prior of tree shapes. An inner node with s leaves has the prior weight exp(`log_node`)
/// times (s - 1)^-`balance`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub(super) log_node: f64,
    pub(super) balance: f64,
}

impl Shape {
    fn at(cell: usize) -> Self {
        Self { log_node: LEAST_NODE + (cell % NODES) as f64, balance: BALANCES[cell / NODES] }
    }
}

impl Shapes {
    pub(super) fn new(n: usize) -> Result<Self> {
        const WHAT: &str = "sums over trees";
        let mut logs = memory::room(WHAT, n + 1)?;
        logs.extend((0..=n).map(|size| (size.max(1) as f64).ln()));
        let parts = parallel::map(parallel::ranges(BALANCES.len() * NODES, 1), |cells| {
            cells.map(|cell| log_sum(n, Shape::at(cell), &logs)).collect::<Result<Vec<f64>>>()
        });
        Ok(Self { sums: parts.into_iter().collect::<Result<Vec<_>>>()?.concat(), logs })
    }

    pub(super) fn first(&self) -> Shape {
        Shape { log_node: 0.0, balance: 0.6 }
    }

    /// Returns the cost of a node with `size` leaves, which is minus the logarithm of its prior weight.
    #[inline]
    pub(super) fn cost(&self, shape: Shape, size: u32) -> f64 {
        shape.balance * self.logs[size as usize - 1] - shape.log_node
    }

    #[inline]
    pub(super) fn growth(&self, shape: Shape, size: u32, more: u32) -> f64 {
        shape.balance * (self.logs[(size + more) as usize - 1] - self.logs[size as usize - 1])
    }

    pub(super) fn draw(&self, sizes: impl Iterator<Item = u32>, random: &mut Random) -> Shape {
        let (count, sum) =
            sizes.fold((0.0, 0.0), |(count, sum), size| (count + 1.0, sum + self.logs[size as usize - 1]));
        let of = |(cell, all): (usize, &f64)| {
            let shape = Shape::at(cell);
            count * shape.log_node - shape.balance * sum - all
        };
        let mut weights: Vec<f64> = self.sums.iter().enumerate().map(of).collect();
        Shape::at(random.place(&mut weights))
    }
}

/// Returns the logarithm of Z(n) / n!, where Z(n) is the sum of the weights of all trees of n leaves.
///
/// Let z(m) = Z(m) / m!, and let e(m) be the coefficients of exp(z(1) x + z(2) x^2 + ...), which count sets of trees
/// with m leaves in all. Then m e(m) is the sum over j of j z(j) e(m - j). Every set of at least two trees can be
/// joined by a root, so z(m) = node (m - 1)^-balance (e(m) - z(m)). Coefficients are scaled by powers of a number, so
/// that they do not overflow. Coefficients that are still too small are treated as 0.
fn log_sum(n: usize, shape: Shape, logs: &[f64]) -> Result<f64> {
    const WHAT: &str = "sums over trees";
    const LARGEST: f64 = 1e80;
    // `numbered[j - 1]` is j z(j), and `sets[n - j]` is e(j), so that both are read in ascending order of memory.
    let mut numbered = memory::filled(WHAT, 0.0f64, n)?;
    let mut sets = memory::filled(WHAT, 0.0f64, n + 1)?;
    let mut log_base = 0.0;
    (numbered[0], sets[n]) = (1.0, 1.0);
    let mut last = 1.0f64;
    for m in 1..=n {
        let forest: f64 = dot(&numbered[..m - 1], &sets[n + 1 - m..n]) / m as f64;
        if m > 1 {
            last = forest * (shape.log_node - shape.balance * logs[m - 1]).exp();
            if m < n {
                numbered[m - 1] = m as f64 * last;
            }
        }
        sets[n - m] = if m == 1 { 1.0 } else { forest + last };
        if m == n {
            break;
        }
        if !(1.0 / LARGEST..LARGEST).contains(&sets[n - m]) || !(1.0 / LARGEST..LARGEST).contains(&last) {
            let by = sets[n - m].ln() / m as f64;
            log_base += by;
            (0..m).for_each(|at| numbered[at] *= (-by * (at + 1) as f64).exp());
            (1..=m).for_each(|at| sets[n - at] *= (-by * at as f64).exp());
        }
    }
    Ok(last.ln() + n as f64 * log_base)
}

/// Returns the log density of the noise, Beta(1, 4) up to [`MOST_NOISE`], without a constant.
pub(super) fn log_noise(noise: f64) -> f64 {
    3.0 * (1.0 - noise).ln()
}

/// The largest possible noise. At 0.5 all answers would be random.
pub(super) const MOST_NOISE: f64 = 0.45;

#[cfg(test)]
mod tests {
    use super::super::tests::exact::all_of_any_degree;
    use super::*;

    #[test]
    fn sums_are_those_over_all_trees() {
        // The numbers of trees are known from Schröder's fourth problem.
        assert_eq!((2..7).map(|n| all_of_any_degree(n).len()).collect::<Vec<_>>(), [1, 4, 26, 236, 2752]);
        for n in 2..7usize {
            let all = all_of_any_degree(n);
            let shapes = Shapes::new(n).unwrap();
            let factorial: f64 = (1..=n).map(|x| x as f64).product();
            for (cell, found) in shapes.sums.iter().enumerate() {
                let shape = Shape::at(cell);
                let of = |set: &u32| shape.log_node.exp() * f64::from(set.count_ones() - 1).powf(-shape.balance);
                let sum: f64 = all.iter().map(|tree| tree.iter().map(of).product::<f64>()).sum();
                assert!((found - (sum / factorial).ln()).abs() < 1e-9, "{n} {shape:?}: {found} {sum}");
            }
        }
    }

    #[test]
    fn sums_over_large_trees_stay_in_range() {
        let n = 3000;
        let shapes = Shapes::new(n).unwrap();
        assert!(shapes.sums.iter().all(|sum| sum.is_finite()));
        // If `balance` is 1, the sum of the weights of all binary trees is n! (`node` / 2)^(n - 1), as for Yule's
        // process. The sums in `sums` are divided by n!. With the largest `node`, other trees have little weight.
        let cell = 6 * NODES + NODES - 1;
        let shape = Shape::at(cell);
        assert_eq!(shape.balance, 1.0);
        let binary = (n as f64 - 1.0) * (shape.log_node - 2f64.ln());
        let share = (shapes.sums[cell] - binary) / n as f64;
        assert!((0.0..0.01).contains(&share), "{share}");
    }
}
