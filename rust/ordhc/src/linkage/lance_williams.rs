//! Lance-Williams coefficients given as formulas.

use super::formula::Formula;
use super::rule::{Merging, Plain, Update};
use crate::error::{Error, Result};
use crate::precise::Precise;

/// A linkage by the Lance-Williams recurrence
/// `d(k, i+j) = alpha_i d(k,i) + alpha_j d(k,j) + beta d(i,j) + gamma |d(k,i) - d(k,j)|`.
/// The coefficients are formulas of the sizes `n_i`, `n_j`, `n_k` and of named parameters.
/// `alpha` is the formula of `alpha_i`. The formula of `alpha_j` has `n_i` and `n_j` exchanged. The formulas are for
/// dissimilarities. For similarities, gamma changes its sign. So a tree does not change if similarities are negated and
/// used as dissimilarities.
///
/// ```
/// use ordhc::linkage::LanceWilliams;
///
/// let flexible = LanceWilliams::new("(1 - b) / 2", "b", "0", &[("b", -0.25)])?.reducible(true);
/// assert!(LanceWilliams::new("n_i / size", "0", "0", &[]).is_err());
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LanceWilliams {
    alpha: Formula,
    beta: Formula,
    gamma: Formula,
    parameters: Vec<f64>,
    uses_n_k: bool,
    reducible: bool,
    squared: bool,
}

const N_K: usize = 2;

impl LanceWilliams {
    /// Parses the three formulas. `parameters` are names and values of further variables of the formulas.
    ///
    /// # Errors
    /// A formula that cannot be parsed; a parameter that is not finite, or whose name is already used.
    pub fn new(alpha: &str, beta: &str, gamma: &str, parameters: &[(&str, f64)]) -> Result<Self> {
        let mut variables = vec!["n_i", "n_j", "n_k"];
        for &(name, value) in parameters {
            if variables.contains(&name) {
                let message = format!("parameter `{name}` has the name of another variable; rename the parameter");
                return Err(Error::Argument(message));
            }
            if !value.is_finite() {
                return Err(Error::Argument(format!("parameter `{name}` is {value}; it must be finite")));
            }
            variables.push(name);
        }
        let [alpha, beta, gamma] =
            [Formula::parse(alpha, &variables)?, Formula::parse(beta, &variables)?, Formula::parse(gamma, &variables)?];
        let uses_n_k = [&alpha, &beta, &gamma].iter().any(|formula| formula.depends_on(N_K));
        let parameters = parameters.iter().map(|&(_, value)| value).collect();
        Ok(Self { alpha, beta, gamma, parameters, uses_n_k, reducible: false, squared: false })
    }

    /// Declares whether the linkage is reducible, see [`Rule::is_reducible`](super::Rule::is_reducible).
    #[must_use]
    pub fn reducible(mut self, reducible: bool) -> Self {
        self.reducible = reducible;
        self
    }

    /// Declares whether the recurrence uses squared dissimilarities. Heights are then square roots.
    #[must_use]
    pub fn squared(mut self, squared: bool) -> Self {
        self.squared = squared;
        self
    }

    pub(crate) fn is_reducible(&self) -> bool {
        self.reducible
    }

    pub(crate) fn is_squared(&self) -> bool {
        self.squared
    }

    /// Returns four numbers of the recurrence for a third cluster of size `n_k`: `alpha_i`, `alpha_j`, beta times the
    /// similarity of the two clusters that are merged, and gamma.
    #[inline(never)]
    fn terms(&self, merging: &Merging, n_k: f64) -> [f64; 4] {
        const INLINE: usize = 12;
        let mut inline = [0.0; INLINE];
        let mut heap;
        let length = 3 + self.parameters.len();
        let values: &mut [f64] = if length <= INLINE {
            &mut inline[..length]
        } else {
            heap = vec![0.0; length];
            &mut heap
        };
        values[3..].copy_from_slice(&self.parameters);
        values[..3].copy_from_slice(&[merging.n_j, merging.n_i, n_k]);
        let alpha_j = self.alpha.evaluate(values);
        values[..2].copy_from_slice(&[merging.n_i, merging.n_j]);
        let alpha_i = self.alpha.evaluate(values);
        [alpha_i, alpha_j, self.beta.evaluate(values) * merging.x_ij, self.gamma.evaluate(values)]
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    merging: Merging,
    terms: [f64; 4],
}

impl Update for LanceWilliams {
    type Merge = Terms;
    type Stored = Plain;
    const MAY_FAIL: bool = true;
    const MAY_COMMUTE: bool = true;

    fn merge(&self, merging: Merging) -> Terms {
        let terms = if self.uses_n_k { [0.0; 4] } else { self.terms(&merging, f64::NAN) };
        Terms { merging, terms }
    }

    fn fold(&self, merge: &Terms, x_i: f64, x_j: f64, n_k: f64) -> f64 {
        let [alpha_i, alpha_j, constant, gamma] =
            if self.uses_n_k { self.terms(&merge.merging, n_k) } else { merge.terms };
        alpha_i * x_i + alpha_j * x_j + constant - gamma * (x_i - x_j).abs()
    }

    fn fold_precisely(&self, m: &Merging<Precise>, x_i: Precise, x_j: Precise, n_k: f64) -> Precise {
        let mut values = [m.n_j, m.n_i, n_k].map(Precise::from).to_vec();
        values.extend(self.parameters.iter().map(|&x| Precise::from(x)));
        let alpha_j = self.alpha.evaluate_precisely(&values);
        values.swap(0, 1);
        let alpha_i = self.alpha.evaluate_precisely(&values);
        let (beta, gamma) = (self.beta.evaluate_precisely(&values), self.gamma.evaluate_precisely(&values));
        alpha_i * x_i + alpha_j * x_j + beta * m.x_ij - gamma * (x_i - x_j).abs()
    }

    /// Returns true if the linkage is reducible and gamma is a constant of at least 0. With a negative gamma, as in
    /// single linkage, the order of tied merges matters.
    fn commutes(&self) -> bool {
        let mut values = vec![f64::NAN; N_K + 1];
        values.extend(&self.parameters);
        self.reducible && self.gamma.evaluate(&values) >= 0.0
    }
}
