//! One agglomeration: which engine works on which rows.

use super::chain::Chain;
use super::condensed_rows::CondensedRows;
use super::engine::{Engine, staged};
use super::matrix::{About, Matrix};
use super::naive::PlainMatrix;
use super::rows::SquareRows;
use super::store::Store;
use super::{Linkage, Tolerance, naive, nearest_pair, single};
use crate::error::{Error, Result};
use crate::linkage::{Average, AverageOfWhole, Centroid, Complete, Median, Rule, Single, Update, Ward, Weighted};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};

/// From this number of leaves on, the chain starts on a condensed matrix to save memory.
const CONDENSED_FROM: usize = 1500;
/// Up to this number of clusters a chain is faster than rounds on square rows.
const CHAIN_BELOW: usize = 1500;
/// Differences up to this share of the values may be rounding (thousands of roundings, in fact).
pub(crate) const ROUNDING: f64 = 1e-13;

/// What there is to agglomerate.
pub(super) enum Input<'a> {
    Given(&'a Matrix<'a>),
    /// Memory to work in, with the values.
    Lent(&'a mut [f64]),
}

/// The working matrix.
enum Rows<'a, U: Update> {
    Square(SquareRows<'a, U>),
    Condensed(CondensedRows<'a, U>),
}

/// Everything but the values.
pub(super) struct Job<'a> {
    about: About,
    rule: &'a Rule,
    engine: Engine,
    initial: Option<&'a Partition>,
    monitor: &'a Monitor,
    condensed_from: usize,
    chain_below: usize,
}

impl<'a> Job<'a> {
    pub(super) fn checked(
        matrix: &Matrix<'_>,
        rule: &'a Rule,
        engine: Engine,
        initial: Option<&'a Partition>,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        initial.map_or(Ok(()), |initial| initial.check(matrix.n_leaves()))?;
        matrix.check_squarable(rule)?;
        if engine == Engine::Chain && !rule.is_reducible() {
            return Err(Error::Argument(
                "the chain engine needs a reducible linkage; use `nearest-pair` for this one".into(),
            ));
        }
        let initial = initial.filter(|initial| initial.n_clusters() < initial.n_leaves());
        Ok(Self {
            about: matrix.about(),
            rule,
            engine,
            initial,
            monitor,
            condensed_from: CONDENSED_FROM,
            chain_below: CHAIN_BELOW,
        })
    }

    /// The one place where a rule becomes code of its own.
    pub(super) fn dispatch(&self, input: Input<'_>) -> Result<Dendrogram> {
        match self.rule {
            Rule::Single => self.run(&Single, input),
            Rule::Complete => self.run(&Complete, input),
            Rule::Average if self.sums_are_exact() => self.run(&AverageOfWhole, input),
            Rule::Average => self.run(&Average, input),
            Rule::Weighted => self.run(&Weighted, input),
            Rule::Ward => self.run(&Ward, input),
            Rule::Centroid => self.run(&Centroid, input),
            Rule::Median => self.run(&Median, input),
            Rule::Coefficients(coefficients) => self.run(coefficients, input),
        }
    }

    /// Whether floats hold every sum over two clusters' pairs exactly.
    fn sums_are_exact(&self) -> bool {
        let facts = self.about.facts;
        let half = self.about.n as f64 / 2.0;
        facts.whole && facts.largest * half * half < (1u64 << 53) as f64
    }

    fn run<U: Update>(&self, update: &U, input: Input<'_>) -> Result<Dendrogram> {
        let squared = self.rule.is_squared();
        let n = self.about.n;
        let reducible = self.rule.is_reducible();
        let tolerance = self.tolerance::<U>();
        let (initial, monitor) = (self.initial, self.monitor);
        let merges = match self.engine {
            Engine::Naive => {
                let mut rows = PlainMatrix::new(update, &self.matrix(&input), squared, tolerance, monitor)?;
                staged(&mut rows, initial, reducible, naive::merges_among, monitor)?
            }
            Engine::Auto | Engine::Chain if *self.rule == Rule::Single && initial.is_none() => {
                single::merges(&self.matrix(&input), monitor)?
            }
            Engine::Auto | Engine::Chain if reducible && update.commutes() => match initial {
                None => self.chain(update, input, tolerance)?,
                Some(initial) => match self.rows(update, input, tolerance)? {
                    Rows::Square(mut rows) => self.chain_from(initial, &mut rows)?,
                    Rows::Condensed(mut rows) => self.chain_from(initial, &mut rows)?,
                },
            },
            _ => match self.rows(update, input, tolerance)? {
                Rows::Square(mut rows) => staged(&mut rows, initial, reducible, nearest_pair::merges_among, monitor)?,
                Rows::Condensed(mut rows) => {
                    staged(&mut rows, initial, reducible, nearest_pair::merges_among, monitor)?
                }
            },
        };
        let mut tree = Dendrogram::in_order(n, merges)?;
        if reducible {
            tree.make_monotone();
        }
        Ok(match (self.about.dissimilarity, squared) {
            (false, _) => tree,
            (true, false) => tree.map_heights(true, |x| -x),
            // Where the input isn't Euclidean a square can become negative: the root keeps the sign.
            (true, true) => tree.map_heights(true, |x| if x > 0.0 { -x.sqrt() } else { (-x).sqrt() }),
        })
    }

    /// When similarities of clusters count as equal.
    fn tolerance<U: Update>(&self) -> Tolerance {
        if U::EXACT || !self.rule.is_reducible() {
            return Tolerance::EXACT;
        }
        let facts = self.about.facts;
        let squared = self.rule.is_squared() && self.about.dissimilarity;
        let largest = if squared { facts.largest * facts.largest } else { facts.largest };
        // Where values of both signs are added the sum is less exact than its size tells.
        let cancels = match self.rule {
            Rule::Coefficients(_) => true,
            Rule::Ward => !squared,
            _ => facts.positive && facts.negative,
        };
        Tolerance::relative(ROUNDING, if cancels { largest } else { 0.0 })
    }

    fn matrix<'b>(&self, input: &'b Input<'_>) -> Matrix<'b> {
        match input {
            Input::Given(matrix) => **matrix,
            Input::Lent(values) => Matrix::again(values, self.about),
        }
    }

    /// The working matrix: a square, but for condensed memory that was lent.
    fn rows<'b, U: Update>(&self, update: &'b U, input: Input<'b>, tolerance: Tolerance) -> Result<Rows<'b, U>> {
        let (squared, n) = (self.rule.is_squared(), self.about.n);
        Ok(match input {
            Input::Given(matrix) => Rows::Square(SquareRows::new(update, matrix, squared, tolerance, self.monitor)?),
            Input::Lent(values) if self.about.is_square() => {
                self.about.square(values, squared, self.monitor)?;
                Rows::Square(SquareRows::from_similarities(update, Store::Lent(values), n, tolerance))
            }
            Input::Lent(values) => {
                self.about.condense(values, squared, self.monitor)?;
                Rows::Condensed(CondensedRows::from_similarities(update, Store::Lent(values), n, tolerance))
            }
        })
    }

    /// The merges within initial clusters, and those of a chain after them.
    fn chain_from(&self, initial: &Partition, rows: &mut impl Linkage) -> Result<Vec<RawMerge>> {
        let n = self.about.n;
        self.monitor.start((n * n / 2) as u64);
        let mut active = (0..n).collect();
        let mut within = Vec::new();
        for cluster in initial.clusters() {
            within.extend(nearest_pair::merges_among(rows, cluster.clone(), &mut active, self.monitor)?);
        }
        let mut chain = Chain::after(n, within.clone());
        chain.run(rows, 1, self.monitor)?;
        let after = chain.into_merges().split_off(within.len());
        let sort = |merges| RawMerge::sort(n, merges, rows.tolerance());
        Ok(with_initial(sort(within), sort(after)))
    }

    /// The merges of reciprocal nearest pairs, in order.
    fn chain<U: Update>(&self, update: &U, input: Input<'_>, tolerance: Tolerance) -> Result<Vec<RawMerge>> {
        let (squared, n) = (self.rule.is_squared(), self.about.n);
        self.monitor.start((n * n / 2) as u64);
        let sort = |merges| RawMerge::sort(n, merges, tolerance);
        let mut merges = Vec::with_capacity(n);
        let mut rows = match input {
            Input::Given(matrix) if n < self.condensed_from => {
                let rows = SquareRows::new(update, matrix, squared, tolerance, self.monitor)?;
                return Ok(sort(self.square_chain(rows, merges)?));
            }
            Input::Given(matrix) => {
                CondensedRows::after_rounds(update, matrix, squared, tolerance, &mut merges, self.monitor)?
            }
            Input::Lent(values) => {
                self.about.condense(values, squared, self.monitor)?;
                let mut rows = CondensedRows::from_similarities(update, Store::Lent(values), n, tolerance);
                rows.rounds(None, &mut merges, self.monitor)?;
                rows
            }
        };
        if merges.len() + 1 < n {
            // The rounds found few pairs.
            let mut chain = Chain::after(n, merges);
            let until = rows.square_fits();
            chain.run(&mut rows, until, self.monitor)?;
            let rows = rows.into_square(chain.active(), self.monitor)?;
            merges = self.square_chain(rows, chain.into_merges())?;
        }
        Ok(sort(merges))
    }

    /// Goes on with rounds on square rows, and with a chain for few or where rounds don't pay.
    fn square_chain<U: Update>(&self, mut rows: SquareRows<'_, U>, mut merges: Vec<RawMerge>) -> Result<Vec<RawMerge>> {
        let n = self.about.n;
        if n - merges.len() > self.chain_below {
            rows.rounds(&mut merges, self.monitor)?;
        }
        let mut chain = Chain::after(n, merges);
        chain.run(&mut rows, 1, self.monitor)?;
        Ok(chain.into_merges())
    }
}

#[cfg(test)]
mod tests;
