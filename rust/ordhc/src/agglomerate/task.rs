//! The input of an agglomeration, and the tolerance for equal similarities.

use super::any_update::AnyUpdate;
use super::between::least_share;
use super::constraints::Constraints;
use super::doubts::{Doubts, Form};
use super::engine::Engine;
use super::matrix::{About, Matrix};
use super::square::FEW;
use super::tolerance::{Tolerance, rounding};
use crate::error::{Error, Result};
use crate::linkage::Rule;
use crate::monitor::Monitor;
use crate::tree::Partition;

/// Sums of values below this limit could lose digits by underflow.
pub(super) const SMALL: f64 = f64::MIN_POSITIVE * (1u64 << 60) as f64;
/// Sums of squares of values below this limit could lose digits by underflow.
const SMALL_SQUARED: f64 = 1e-135;

pub(super) enum Input<'a> {
    Given(&'a Matrix<'a>),
    Mutable(&'a mut [f64]),
}

impl<'a> Input<'a> {
    pub(super) fn given(&self) -> Option<&'a Matrix<'a>> {
        match self {
            Input::Given(matrix) => Some(matrix),
            Input::Mutable(_) => None,
        }
    }
}

/// The settings of an agglomeration, and all properties of the input except its values.
pub(super) struct Task<'a> {
    pub(super) about: About,
    pub(super) rule: &'a Rule,
    pub(super) engine: Engine,
    pub(super) initial: Option<&'a Partition>,
    pub(super) constraints: Option<&'a Constraints>,
    pub(super) monitor: &'a Monitor,
    /// The largest number of leaves for which the agglomeration uses a square matrix from the start.
    pub(super) at_once: usize,
    /// The largest number of clusters whose square similarity matrix fits into a core's cache (default [`FEW`]).
    pub(super) few: usize,
}

/// The default of [`Task::at_once`]. Inputs with more leaves first merge clusters in rounds, in a condensed matrix.
pub(super) const AT_ONCE: usize = 1500;

impl<'a> Task<'a> {
    pub(super) fn checked(
        matrix: &Matrix<'_>,
        rule: &'a Rule,
        engine: Engine,
        initial: Option<&'a Partition>,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        initial.map_or(Ok(()), |initial| initial.check(matrix.n_leaves()))?;
        let about = matrix.for_rule(rule)?;
        if engine == Engine::Chain && !rule.is_reducible() {
            return Err(Error::Argument(
                "the chain engine needs a reducible linkage; use the engine `nearest-pair`".into(),
            ));
        }
        let initial = initial.filter(|initial| initial.n_clusters() < initial.n_leaves());
        Ok(Self { about, rule, engine, initial, constraints: None, monitor, at_once: AT_ONCE, few: FEW })
    }

    pub(super) fn constrained(mut self, constraints: Option<&'a Constraints>) -> Result<Self> {
        if let Some(constraints) = constraints {
            constraints.check(self.about.n, self.initial)?;
            if constraints.sizes().is_some() && *self.rule == Rule::Ward && !self.about.dissimilarity {
                return Err(Error::Argument(
                    "ward takes sizes with dissimilarities only; this matrix has similarities".into(),
                ));
            }
            self.constraints = Some(constraints);
        }
        Ok(self)
    }

    pub(super) fn sizes(&self) -> Option<&'a [f64]> {
        self.constraints.and_then(Constraints::sizes)
    }

    pub(super) fn sums_are_exact(&self) -> bool {
        let facts = self.about.facts;
        let half = self.about.n as f64 / 2.0;
        facts.whole && facts.largest * half * half < (1u64 << 53) as f64
    }

    pub(super) fn matrix<'b>(&self, input: &'b Input<'_>) -> Matrix<'b> {
        match input {
            Input::Given(matrix) => Matrix { about: self.about, ..**matrix },
            Input::Mutable(values) => Matrix::again(values, self.about),
        }
    }

    /// Returns the tolerance within which similarities of clusters count as equal, or `None` if dissimilarities are so
    /// small that their squares would lose digits.
    pub(super) fn tolerance(&self, update: &dyn AnyUpdate, matrix: &Matrix<'_>) -> Option<Tolerance> {
        if update.is_exact() {
            return Some(Tolerance::EXACT);
        }
        let facts = self.about.facts;
        let squared = self.rule.is_squared() && self.about.dissimilarity;
        let largest = if squared { (facts.largest * self.about.unit).powi(2) } else { facts.largest };
        // A sum of values of both signs has larger rounding errors than its size suggests.
        let (factor, cancels) = match self.rule {
            Rule::Coefficients(_) | Rule::Centroid | Rule::Median => (8.0, true),
            // With initial clusters, leaves within a cluster merge first, even if other leaves are nearer. Then the
            // squared dissimilarities of later merges can be small differences of large numbers, which lose digits.
            Rule::Ward => {
                let cancels = !squared || self.initial.is_some();
                (1.0 / least_share(!cancels), cancels)
            }
            _ => (1.0, facts.positive && facts.negative),
        };
        let relative = factor * rounding(self.about.n);
        let tiny =
            cancels && !squared || matrix.any_below(if squared { SMALL_SQUARED / self.about.unit } else { SMALL });
        if tiny && squared {
            return None;
        }
        let absolute = if cancels { relative * largest } else { 0.0 } + if tiny { f64::MIN_POSITIVE } else { 0.0 };
        let tolerance = Tolerance::rounded(relative, absolute);
        // With initial clusters, the engine compares similarities of clusters, so the smaller error for two leaves is
        // not used.
        Some(if self.initial.is_none() { tolerance.with_leaves(squared) } else { tolerance })
    }

    pub(super) fn doubts<'b>(
        &self,
        update: &dyn AnyUpdate,
        matrix: Option<&'b Matrix<'b>>,
        tolerance: Tolerance,
    ) -> Doubts<'b>
    where
        'a: 'b,
    {
        Doubts::new(Form::of(update.between()), matrix, self.rule.is_squared(), tolerance, self.monitor)
    }
}
