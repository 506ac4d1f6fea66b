//! One agglomeration: which engine works on which rows.

use super::centers::{self, Means};
use super::chain::Chain;
use super::condensed_rows::CondensedRows;
use super::doubts::Form;
use super::engine::{Engine, staged};
use super::matrix::{About, Matrix};
use super::precise_matrix::PreciseMatrix;
use super::rounds::{Pairs, Slots, all_nearest, settle};
use super::rows::SquareRows;
use super::small::{self, FEW, SmallRows};
use super::store::Store;
use super::triangle_rows::Given;
use super::{Doubts, Linkage, Nearest, Tolerance, equal, naive, nearest_pair, rounding, single};
use crate::error::{Error, Result};
use crate::linkage::{Average, AverageOfWhole, Centroid, Complete, Median, Rule, Single, Update, Ward, Weighted};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};

/// From this number of leaves on, the chain starts on a condensed matrix to save memory.
const CONDENSED_FROM: usize = 1500;
/// Up to this number of clusters a chain is faster than rounds on square rows.
const CHAIN_BELOW: usize = 1500;
/// Below these, sums and sums of squares could lose digits.
const SMALL: f64 = f64::MIN_POSITIVE * (1u64 << 60) as f64;
const SMALL_SQUARED: f64 = 1e-135;
/// In twice the precision the largest value is brought to this power of two, or to this one before it is squared.
const SMALLEST: i32 = -200;
const SQUARED_TO: i32 = 400;

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
    pub(super) about: About,
    pub(super) rule: &'a Rule,
    pub(super) engine: Engine,
    pub(super) initial: Option<&'a Partition>,
    pub(super) monitor: &'a Monitor,
    /// Up to so many leaves are few.
    small: usize,
    pub(super) condensed_from: usize,
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
        let about = matrix.for_rule(rule)?;
        if engine == Engine::Chain && !rule.is_reducible() {
            return Err(Error::Argument(
                "the chain engine needs a reducible linkage; use `nearest-pair` for this one".into(),
            ));
        }
        let initial = initial.filter(|initial| initial.n_clusters() < initial.n_leaves());
        let (small, condensed_from, chain_below) = (FEW, CONDENSED_FROM, CHAIN_BELOW);
        Ok(Self { about, rule, engine, initial, monitor, small, condensed_from, chain_below })
    }

    /// Runs the code that is compiled for the rule; no other place tells rules apart.
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
        let kept = self.kept(U::EXACT, &input);
        let (merges, unit) = match (input, kept) {
            (Input::Lent(values), true) => {
                entered!(in_place_kept);
                self.merges(update, Input::Given(&Matrix::again(values, self.about)))?
            }
            (input, _) => self.merges(update, input)?,
        };
        self.tree(merges, unit)
    }

    /// The tree of the merges, with heights in the unit of the input.
    fn tree(&self, merges: Vec<RawMerge>, unit: [f64; 2]) -> Result<Dendrogram> {
        let squared = self.rule.is_squared();
        let mut tree = Dendrogram::in_order(self.about.n, merges)?;
        if self.rule.is_reducible() {
            tree.make_monotone();
        }
        let grow = |x: f64| x / unit[0] / unit[1];
        Ok(match (self.about.dissimilarity, squared) {
            (false, _) => tree.map_heights(false, grow),
            (true, false) => tree.map_heights(true, |x| -grow(x)),
            // Where the input isn't Euclidean a square can become negative: the root keeps the sign.
            (true, true) => tree.map_heights(true, |x| grow(if x > 0.0 { -x.sqrt() } else { (-x).sqrt() })),
        })
    }

    /// Whether memory that was lent is left alone, as the input in it may be needed again: where rounding could
    /// decide ties, and for few leaves.
    fn kept(&self, exact: bool, input: &Input<'_>) -> bool {
        const SAMPLE: usize = 1000;
        let Input::Lent(values) = input else { return false };
        if exact || self.about.n < self.condensed_from {
            return !exact;
        }
        let step = (values.len() / SAMPLE).max(1) | 1;
        let mut sample: Vec<f64> = values.iter().step_by(step).copied().collect();
        sample.sort_unstable_by(f64::total_cmp);
        sample.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The merges in order, and what similarities were multiplied with (squared ones with its square).
    fn merges<U: Update>(&self, update: &U, input: Input<'_>) -> Result<(Vec<RawMerge>, [f64; 2])> {
        let given = match &input {
            Input::Given(matrix) => Some(**matrix),
            Input::Lent(_) => None,
        };
        let tolerance = self.tolerance::<U>(&self.matrix(&input))?;
        if let (Some(tolerance), Some(similarity), None) =
            (tolerance, self.about.only_similarity(self.rule.is_squared()), self.initial)
            && let Some(merges) = equal::merges(update, self.about.n, similarity, tolerance)
        {
            return Ok((merges, [self.about.unit, 1.0]));
        }
        let Some(tolerance) = tolerance else {
            return self.precisely(update, &self.matrix(&input));
        };
        self.monitor.take_doubt();
        let scaled = given.map(|matrix| Matrix { unit: self.about.unit, ..matrix });
        let input = scaled.as_ref().map_or(input, Input::Given);
        let merges = self.quickly(update, input, tolerance)?;
        match given {
            _ if !self.monitor.take_doubt() => {}
            Some(matrix) => return self.precisely(update, &matrix),
            None => self.monitor.warn(
                "some similarities of clusters are equal as far as their rounding tells, and which of them merged \
                 first is up to it; with `overwrite=False` it would be exact"
                    .into(),
            ),
        }
        Ok((merges, [self.about.unit, 1.0]))
    }

    /// The merges with similarities that are rounded.
    fn quickly<U: Update>(&self, update: &U, input: Input<'_>, tolerance: Tolerance) -> Result<Vec<RawMerge>> {
        let reducible = self.rule.is_reducible();
        let (initial, monitor) = (self.initial, self.monitor);
        let [within, after] = match self.engine {
            Engine::Auto | Engine::Chain if *self.rule == Rule::Single && initial.is_none() => {
                return single::merges(&self.matrix(&input), monitor);
            }
            Engine::Auto
                if let (Some(means), None, Input::Given(matrix)) = (Means::of(self.rule), initial, &input)
                    // Squares are in a unit in which none is too small.
                    && (self.about.dissimilarity || !matrix.any_below(SMALL)) =>
            {
                return centers::merges(matrix, means, monitor);
            }
            Engine::Auto | Engine::Chain if reducible && update.commutes() => match initial {
                None => return self.chain(update, input, tolerance),
                Some(_) => {
                    let given = match &input {
                        Input::Given(matrix) => Some(*matrix),
                        Input::Lent(_) => None,
                    };
                    let mut doubts = self.doubts::<U>(given, tolerance);
                    match self.rows(update, input, tolerance)? {
                        Rows::Square(mut rows) => self.chain_from(&mut rows, &mut doubts)?,
                        Rows::Condensed(mut rows) => self.chain_from(&mut rows, &mut doubts)?,
                    }
                }
            },
            _ => match self.rows(update, input, tolerance)? {
                Rows::Square(mut rows) => staged(&mut rows, initial, reducible, nearest_pair::merges_among, monitor)?,
                Rows::Condensed(mut rows) => {
                    staged(&mut rows, initial, reducible, nearest_pair::merges_among, monitor)?
                }
            },
        };
        Ok(self.joined(within, after))
    }

    fn joined(&self, within: Vec<RawMerge>, after: Vec<RawMerge>) -> Vec<RawMerge> {
        if self.initial.is_some() { with_initial(within, after) } else { after }
    }

    /// The merges in twice the precision.
    fn precisely<U: Update>(&self, update: &U, matrix: &Matrix<'_>) -> Result<(Vec<RawMerge>, [f64; 2])> {
        let (squared, reducible, monitor) = (self.rule.is_squared(), self.rule.is_reducible(), self.monitor);
        let exponent = matrix.exponent();
        let shift = match squared && self.about.dissimilarity {
            true => SQUARED_TO - exponent,
            false if !U::EXACT => (SMALLEST - exponent).max(0),
            false => 0,
        };
        let unit = [shift / 2, shift - shift / 2].map(|half| 2f64.powi(half));
        monitor.take_doubt();
        let mut rows = PreciseMatrix::new(update, matrix, squared, unit, monitor)?;
        let [within, after] = match self.engine {
            Engine::Naive => staged(&mut rows, self.initial, reducible, naive::merges_among, monitor)?,
            // Nearly equal values keep reciprocal pairs from commuting.
            _ => staged(&mut rows, self.initial, reducible, nearest_pair::merges_among, monitor)?,
        };
        if monitor.take_doubt() {
            monitor.warn(
                "values of very different size cancel out: some similarities of clusters are less than the rounding \
                 of what they are sums of, so that the tree is not to be trusted there"
                    .into(),
            );
        }
        Ok((self.joined(rows.with_heights(within), rows.with_heights(after)), unit))
    }

    /// When similarities of clusters count as equal; nothing, if they are too small to be squared as they are.
    pub(super) fn tolerance<U: Update>(&self, matrix: &Matrix<'_>) -> Result<Option<Tolerance>> {
        self.tolerance_if(U::EXACT, matrix)
    }

    fn tolerance_if(&self, exact: bool, matrix: &Matrix<'_>) -> Result<Option<Tolerance>> {
        if self.engine == Engine::Naive {
            return Ok(None);
        }
        if exact {
            return Ok(Some(Tolerance::EXACT));
        }
        let facts = self.about.facts;
        let squared = self.rule.is_squared() && self.about.dissimilarity;
        let largest = if squared { (facts.largest * self.about.unit).powi(2) } else { facts.largest };
        // Where values of both signs are added the sum is less exact than its size tells.
        let (factor, cancels) = match self.rule {
            Rule::Coefficients(_) | Rule::Centroid | Rule::Median => (8.0, true),
            // Of pairs that aren't nearest, as initial clusters merge, squares cancel, too.
            Rule::Ward => (4.0, !squared || self.initial.is_some()),
            _ => (1.0, facts.positive && facts.negative),
        };
        let relative = factor * rounding(self.about.n);
        let tiny =
            cancels && !squared || matrix.any_below(if squared { SMALL_SQUARED / self.about.unit } else { SMALL });
        if tiny && squared {
            return Ok(None);
        }
        let absolute = if cancels { relative * largest } else { 0.0 } + if tiny { f64::MIN_POSITIVE } else { 0.0 };
        let tolerance = Tolerance::rounded(relative, absolute);
        // Initial clusters stand where leaves would.
        Ok(Some(if self.initial.is_none() { tolerance.with_leaves(squared) } else { tolerance }))
    }

    fn matrix<'b>(&self, input: &'b Input<'_>) -> Matrix<'b> {
        match input {
            Input::Given(matrix) => Matrix { unit: self.about.unit, ..**matrix },
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
    fn chain_from(&self, rows: &mut dyn Linkage, doubts: &mut Doubts<'_>) -> Result<[Vec<RawMerge>; 2]> {
        entered!(initial_clusters);
        let n = self.about.n;
        self.monitor.start((n * n / 2) as u64);
        let mut active = (0..n).collect();
        let mut within = Vec::new();
        for cluster in self.initial.map_or(&[][..], Partition::clusters) {
            within.extend(nearest_pair::merges_among(rows, cluster.clone(), &mut active, self.monitor)?);
        }
        let mut chain = Chain::after(n, within.clone());
        chain.run(rows, 1, doubts)?;
        let merges = chain.into_merges();
        let mut sorted = |part: &[RawMerge], before: usize| {
            let key = |_: &[RawMerge], at: usize| doubts.key_of_merge(&merges, before + at);
            RawMerge::sort_settled(n, part.to_vec(), rows.tolerance(), key)
        };
        Ok([sorted(&merges[..within.len()], 0)?, sorted(&merges[within.len()..], within.len())?])
    }

    /// Settles doubts from the input, where the input is left alone.
    pub(super) fn doubts<'b, U: Update>(&self, matrix: Option<&'b Matrix<'b>>, tolerance: Tolerance) -> Doubts<'b>
    where
        'a: 'b,
    {
        Doubts::new(Form::of(U::BETWEEN), matrix, self.rule.is_squared(), tolerance, self.monitor)
    }

    /// The merges of reciprocal nearest pairs, in order.
    pub(super) fn chain<U: Update>(&self, update: &U, input: Input<'_>, tolerance: Tolerance) -> Result<Vec<RawMerge>> {
        let n = self.about.n;
        self.monitor.start((n * n / 2) as u64);
        let given = match &input {
            Input::Given(matrix) => Some(*matrix),
            Input::Lent(_) => None,
        };
        let doubts = &mut self.doubts::<U>(given, tolerance);
        let merges = self.reciprocal(update, input, doubts)?;
        RawMerge::sort_settled(n, merges, tolerance, |merges, at| doubts.key_of_merge(merges, at))
    }

    /// The merges of reciprocal nearest pairs, parts before wholes.
    fn reciprocal<U: Update>(&self, update: &U, input: Input<'_>, doubts: &mut Doubts<'_>) -> Result<Vec<RawMerge>> {
        let (squared, n, tolerance) = (self.rule.is_squared(), self.about.n, doubts.tolerance());
        let mut merges = Vec::new();
        let mut rows = match input {
            // What may fail is looked at where it is written.
            Input::Given(matrix) if n <= self.small && !U::MAY_FAIL => {
                return small::merges(update, matrix, squared, doubts);
            }
            Input::Given(matrix) if n < self.condensed_from => {
                let rows = SquareRows::<U>::new(update, matrix, squared, tolerance, self.monitor)?;
                return self.square_chain(rows, merges, doubts);
            }
            Input::Given(matrix) => {
                if let Some((rows, merges)) = self.grouped(update, matrix, tolerance)? {
                    return self.square_chain(rows, merges, doubts);
                }
                let given = Given { matrix, squared };
                let (nearest, pairs) = self.pairs_of_leaves(&given, doubts)?;
                if let Some((rows, merges)) = self.after_pairs(update, matrix, tolerance, (&nearest, &pairs))? {
                    return self.square_chain(rows, merges, doubts);
                }
                CondensedRows::after_rounds(update, &given, (&nearest[..], &pairs), &mut merges, doubts)?
            }
            Input::Lent(values) => {
                entered!(in_place);
                self.about.condense(values, squared, self.monitor)?;
                let mut rows = CondensedRows::from_similarities(update, Store::Lent(values), n, tolerance);
                rows.rounds(None, &mut merges, doubts)?;
                rows
            }
        };
        if merges.len() + 1 < n {
            // The rounds found few pairs.
            entered!(triangle_chain);
            let mut chain = Chain::after(n, merges);
            let until = rows.square_fits();
            chain.run(&mut rows, until, doubts)?;
            let rows = rows.into_square(chain.active(), self.monitor)?;
            merges = self.square_chain(rows, chain.into_merges(), doubts)?;
        }
        Ok(merges)
    }

    /// The nearest leaf of each leaf, and the pairs to merge first. They are the same for all rules, because sums of single
    /// leaves are means, so this code is compiled once.
    fn pairs_of_leaves(&self, given: &Given<'_>, doubts: &mut Doubts<'_>) -> Result<(Vec<Nearest>, Pairs)> {
        let (sizes, clusters): (Vec<f64>, Vec<usize>) = (0..self.about.n).map(|leaf| (1.0, leaf)).unzip();
        let slots = Slots { sizes: &sizes, clusters: &clusters, merges: &[] };
        let of_leaves = doubts.tolerance().of_leaves();
        let mut nearest = all_nearest::<Average, _>(given, &sizes, of_leaves, self.monitor)?;
        settle::<Average, _>(given, slots, &mut nearest, doubts)?;
        let pairs = Pairs::of::<Average>(given, &nearest, slots, of_leaves, doubts)?;
        Ok((nearest, pairs))
    }

    /// Goes on with rounds on square rows, and with a chain for few or where rounds don't pay.
    pub(super) fn square_chain<U: Update>(
        &self,
        mut rows: SquareRows<'_, U>,
        mut merges: Vec<RawMerge>,
        doubts: &mut Doubts<'_>,
    ) -> Result<Vec<RawMerge>> {
        let n = self.about.n;
        if n - merges.len() > self.chain_below {
            rows.rounds(self.small, &mut merges, doubts)?;
        }
        let mut chain = Chain::after(n, merges);
        chain.run(&mut rows, self.small, doubts)?;
        if let Some(mut few) = SmallRows::within(&mut rows) {
            few.finish(&mut chain, doubts)?;
        }
        chain.run(&mut rows, 1, doubts)?;
        Ok(chain.into_merges())
    }
}

#[cfg(test)]
mod tests;
