//! Runs the algorithm that [`choose`] selects for an agglomeration.

use super::any_update::{AnyUpdate, TriangleLinkage};
use super::centers;
use super::chain::Chain;
use super::choose::{Strategy, choose};
use super::constraints::with_last;
use super::doubts::Doubts;
use super::engine::{Among, Engine, staged};
use super::groups::{after_groups, after_pairs};
use super::matrix::Matrix;
use super::nearest::{Linkage, Nearest};
use super::precise_matrix::{PreciseMatrix, PreciseUpdate};
use super::read::stride;
use super::rounds::{Pairs, all_nearest, settle};
use super::square::{FEW, Similarities, room};
use super::store::Store;
use super::task::{AT_ONCE, Input, Task};
use super::tolerance::Tolerance;
use super::triangle_rows::{Given, Slots};
use super::{naive, nearest_pair, single};
use crate::error::{Error, Result};
use crate::linkage::{Average, AverageOfWhole, Centroid, Complete, Median, Plain, Rule, Single, Ward, Weighted};
use crate::monitor::Monitor;
use crate::similarity::condensed_len;
use crate::tree::{Dendrogram, Found, Partition, RawMerge, with_initial};

/// If a linkage rounds and its values are not squared, the values are multiplied by a power of two, so that the largest
/// value is at least 2^`SMALLEST`.
const SMALLEST: i32 = -200;
/// Before dissimilarities are squared, they are multiplied by a power of two. The largest dissimilarity is then about
/// 2^`SQUARED_TO`.
const SQUARED_TO: i32 = 400;

/// Merges, and two powers of two by which the input values were multiplied.
type Scaled = (Vec<RawMerge>, [f64; 2]);

impl Task<'_> {
    pub(super) fn dispatch(&self, input: Input<'_>) -> Result<Dendrogram> {
        let update: &dyn AnyUpdate = match self.rule {
            Rule::Single => &Single,
            Rule::Complete => &Complete,
            Rule::Average if self.sums_are_exact() && self.sizes().is_none() => &AverageOfWhole,
            Rule::Average => &Average,
            Rule::Weighted => &Weighted,
            Rule::Ward => &Ward,
            Rule::Centroid => &Centroid,
            Rule::Median => &Median,
            Rule::Coefficients(coefficients) => coefficients,
        };
        let squared = self.rule.is_squared();
        let (merges, unit) = match input {
            Input::Mutable(values) if self.is_kept(update, values) => {
                entered!(in_place_kept);
                self.merges(update, Input::Given(&Matrix::again(values, self.about)))?
            }
            input => self.merges(update, input)?,
        };
        let mut tree = Dendrogram::in_order(self.about.n, merges)?;
        if self.rule.is_reducible() {
            tree.make_monotone();
        }
        let grow = |x: f64| x / unit[0] / unit[1];
        Ok(match (self.about.dissimilarity, squared) {
            (false, _) => tree.map_heights(false, grow),
            (true, false) => tree.map_heights(true, |x| -grow(x)),
            // If the input isn't Euclidean, a square can become negative. The square root keeps this sign.
            (true, true) => tree.map_heights(true, |x| grow(if x > 0.0 { -x.sqrt() } else { (-x).sqrt() })),
        })
    }

    /// Returns true if the caller's memory must not be overwritten, because the input may be needed again to decide
    /// ties. For a linkage that rounds similarities, this is likely if there are few leaves or repeated values.
    fn is_kept(&self, update: &dyn AnyUpdate, values: &[f64]) -> bool {
        const SAMPLE: usize = 1000;
        if update.is_exact() || self.about.n < AT_ONCE {
            return !update.is_exact();
        }
        let step = (values.len() / SAMPLE).max(1) | 1;
        let mut sample: Vec<f64> = values.iter().step_by(step).copied().collect();
        sample.sort_unstable_by(f64::total_cmp);
        sample.windows(2).any(|pair| pair[0] == pair[1])
    }

    fn merges(&self, update: &dyn AnyUpdate, input: Input<'_>) -> Result<Scaled> {
        let given = input.given().copied();
        let scaled = given.map(|matrix| Matrix { about: self.about, ..matrix });
        let input = scaled.as_ref().map_or(input, Input::Given);
        let tolerance = self.tolerance(update, &self.matrix(&input));
        let strategy = choose(self, update, &input, tolerance);
        let Some(tolerance) = tolerance.filter(|_| !matches!(strategy, Strategy::Precisely)) else {
            let matrix = given.unwrap_or_else(|| self.matrix(&input));
            return self.precisely(update, &matrix);
        };
        let found = self.quickly(update, input, tolerance, strategy)?;
        match given {
            _ if !found.doubtful => {}
            Some(matrix) => return self.precisely(update, &matrix),
            None => self.monitor.warn(
                "some similarities of clusters differ by less than their rounding errors, so rounding decided which \
                 of them merged first; use `overwrite=False` for the exact tree"
                    .into(),
            ),
        }
        Ok((found.merges, [self.about.unit, 1.0]))
    }

    pub(super) fn quickly(
        &self,
        update: &dyn AnyUpdate,
        input: Input<'_>,
        tolerance: Tolerance,
        strategy: Strategy,
    ) -> Result<Found> {
        let n = self.about.n;
        let mut doubts = self.doubts(update, input.given(), tolerance);
        let merges = match (strategy, input) {
            (Strategy::Equal(merges), _) => return Ok(Found::certain(merges)),
            (Strategy::SpanningTree, input) => {
                return Ok(Found::certain(single::merges(&self.matrix(&input), self.monitor)?));
            }
            (Strategy::Centers(means), Input::Given(matrix)) => return centers::merges(matrix, means, self.monitor),
            (Strategy::Initial, input) => {
                return self.with_rows(update, input, tolerance, &mut |rows| self.chain_from(rows, &mut doubts));
            }
            (Strategy::AtOnce, Input::Given(matrix)) => self.at_once(update, matrix, &mut doubts)?,
            (Strategy::Rounds, Input::Given(matrix)) => self.rounds(update, matrix, &mut doubts)?,
            (Strategy::InPlace, Input::Mutable(values)) => self.in_place(update, values, &mut doubts)?,
            (_, input) => return self.with_rows(update, input, tolerance, &mut |rows| self.by_nearest_pair(rows)),
        };
        settled(n, merges, tolerance, &mut doubts)
    }

    fn precisely(&self, update: &dyn AnyUpdate, matrix: &Matrix<'_>) -> Result<Scaled> {
        let mut found = (Vec::new(), [1.0; 2]);
        update.precisely(&mut |update| {
            found = self.by_precise_matrix(update, matrix)?;
            Ok(())
        })?;
        Ok(found)
    }

    fn by_precise_matrix(&self, update: PreciseUpdate<'_>, matrix: &Matrix<'_>) -> Result<Scaled> {
        let (squared, reducible, monitor) = (self.rule.is_squared(), self.rule.is_reducible(), self.monitor);
        let exponent = matrix.exponent();
        let shift = match squared && self.about.dissimilarity {
            true => SQUARED_TO - exponent,
            false if !update.exact => (SMALLEST - exponent).max(0),
            false => 0,
        };
        let unit = [shift / 2, shift - shift / 2].map(|half| 2f64.powi(half));
        let mut rows = PreciseMatrix::new(update, matrix, squared, unit, monitor)?;
        if let Some(sizes) = self.sizes() {
            rows.set_sizes(sizes, *self.rule == Rule::Ward);
        }
        if let Some(constraints) = self.constraints {
            rows.keep_apart(constraints.apart());
        }
        // If similarities are nearly but not exactly equal, the order in which reciprocal pairs merge can change the
        // tree. So merge the most similar pair.
        let among: Among = if self.engine == Engine::Naive { naive::merges_among } else { nearest_pair::merges_among };
        let ([within, after], doubtful) = staged(&mut rows, self.initial, reducible, among, monitor)?;
        // Finally, merge the clusters that the constraints have kept apart.
        let mut is_left = vec![true; self.about.n];
        within.iter().chain(&after).for_each(|merge| is_left[merge.j] = false);
        let mut left: Vec<usize> = (0..self.about.n).filter(|&cluster| is_left[cluster]).collect();
        rows.release(&left);
        let last = if left.len() > 1 { among(&mut rows, left.clone(), &mut left, monitor)? } else { Found::default() };
        if doubtful || last.doubtful || rows.is_doubtful() {
            monitor.warn(
                "values of very different size cancel out: some similarities of clusters are smaller than their \
                 rounding errors, so the tree may be wrong there"
                    .into(),
            );
        }
        let after = with_last(rows.with_heights(after), rows.with_heights(last.merges));
        Ok((with_initial(rows.with_heights(within), after), unit))
    }

    fn with_rows(
        &self,
        update: &dyn AnyUpdate,
        input: Input<'_>,
        tolerance: Tolerance,
        work: &mut dyn FnMut(&mut dyn Linkage) -> Result<Found>,
    ) -> Result<Found> {
        let (squared, n) = (self.rule.is_squared(), self.about.n);
        match input {
            Input::Given(matrix) => {
                let mut leaves = Similarities::of(matrix, squared, self.monitor)?;
                work(&mut *update.square(&mut leaves, (n, self.few), tolerance))
            }
            Input::Mutable(values) => {
                self.about.condense(values, squared, self.monitor)?;
                work(&mut *update.triangle(Store::Borrowed(values), n, tolerance))
            }
        }
    }

    fn by_nearest_pair(&self, rows: &mut dyn Linkage) -> Result<Found> {
        let reducible = self.rule.is_reducible();
        let ([within, after], doubtful) =
            staged(rows, self.initial, reducible, nearest_pair::merges_among, self.monitor)?;
        Ok(Found { merges: with_initial(within, after), doubtful })
    }

    fn chain_from(&self, rows: &mut dyn Linkage, doubts: &mut Doubts<'_>) -> Result<Found> {
        entered!(initial_clusters);
        let n = self.about.n;
        self.monitor.start((n * n / 2) as u64);
        let mut active = (0..n).collect();
        let mut within = Found::default();
        for cluster in self.initial.map_or(&[][..], Partition::clusters) {
            within.append(nearest_pair::merges_among(rows, cluster.clone(), &mut active, self.monitor)?);
        }
        let n_within = within.merges.len();
        let mut chain = Chain::after(n, within.merges);
        chain.run(rows, 1, doubts)?;
        let merges = chain.into_merges();
        let mut sorted = |part: &[RawMerge], before: usize| {
            let key = |_: &[RawMerge], at: usize| doubts.key_of_merge(&merges, before + at);
            RawMerge::sort_settled(n, part.to_vec(), rows.tolerance(), &mut { key })
        };
        let (first, after) = (sorted(&merges[..n_within], 0)?, sorted(&merges[n_within..], n_within)?);
        let mut found = doubts.found(with_initial(first, after));
        found.doubtful |= within.doubtful;
        Ok(found)
    }

    fn at_once(&self, update: &dyn AnyUpdate, matrix: &Matrix<'_>, doubts: &mut Doubts<'_>) -> Result<Vec<RawMerge>> {
        entered!(small);
        let n = self.about.n;
        self.monitor.start((n * n / 2) as u64);
        let mut values = room(n);
        let mut rows = update.square_of_leaves(self.few, matrix, self.rule.is_squared(), &mut values, doubts)?;
        let mut chain = Chain::unlisted(n);
        rows.finish(&mut chain, doubts)?;
        Ok(chain.into_merges())
    }

    fn rounds(&self, update: &dyn AnyUpdate, matrix: &Matrix<'_>, doubts: &mut Doubts<'_>) -> Result<Vec<RawMerge>> {
        let (squared, n) = (self.rule.is_squared(), self.about.n);
        self.monitor.start((n * n / 2) as u64);
        if let Some((clusters, merges)) = after_groups(self, update, matrix, doubts)? {
            return self.chain_on(update, clusters, Chain::after(n, merges), doubts);
        }
        let given = Given { matrix, squared };
        let (nearest, pairs) = self.first_pairs(&given, doubts)?;
        if let Some((clusters, merges)) = after_pairs(self, update.between(), matrix, (&nearest, &pairs))? {
            return self.chain_on(update, clusters, Chain::after(n, merges), doubts);
        }
        let mut merges = Vec::new();
        let mut rows = update.triangle(Store::zeros(condensed_len(n))?, n, doubts.tolerance());
        rows.first_rounds(&given, (&nearest, &pairs), &mut merges, doubts)?;
        self.chain_on_triangle(update, rows, merges, doubts)
    }

    /// Returns the nearest leaf of each leaf, and the leaves that merge in the first round.
    fn first_pairs(&self, given: &Given<'_>, doubts: &mut Doubts<'_>) -> Result<(Vec<Nearest>, Pairs)> {
        let (n, tolerance) = (self.about.n, doubts.tolerance().of_leaves());
        let (sizes, clusters): (Vec<f64>, Vec<usize>) = (0..n).map(|leaf| (1.0, leaf)).unzip();
        let slots = Slots { sizes: &sizes, clusters: &clusters, merges: &[] };
        // The sum over the pairs of two leaves is their similarity, so this code need not know what the rule stores.
        let mut nearest = all_nearest::<Plain>(given, &sizes, tolerance, self.monitor)?;
        settle::<Plain>(given, slots, &mut nearest, doubts)?;
        let pairs = Pairs::of::<Plain>(given, &nearest, slots, tolerance, doubts)?;
        Ok((nearest, pairs))
    }

    fn in_place(&self, update: &dyn AnyUpdate, values: &mut [f64], doubts: &mut Doubts<'_>) -> Result<Vec<RawMerge>> {
        entered!(in_place);
        let (n, mut merges) = (self.about.n, Vec::new());
        self.monitor.start((n * n / 2) as u64);
        self.about.condense(values, self.rule.is_squared(), self.monitor)?;
        let mut rows = update.triangle(Store::Borrowed(values), n, doubts.tolerance());
        rows.rounds(&mut merges, doubts)?;
        self.chain_on_triangle(update, rows, merges, doubts)
    }

    fn chain_on_triangle<'r>(
        &self,
        update: &dyn AnyUpdate,
        mut rows: Box<dyn TriangleLinkage<'r> + 'r>,
        merges: Vec<RawMerge>,
        doubts: &mut Doubts<'_>,
    ) -> Result<Vec<RawMerge>> {
        if merges.len() + 1 == self.about.n {
            return Ok(merges);
        }
        entered!(triangle_chain);
        let mut chain = Chain::after(self.about.n, merges);
        let until = rows.square_fits();
        chain.run(&mut *rows, until, doubts)?;
        let clusters = rows.into_square(chain.active(), self.monitor)?;
        self.chain_on(update, clusters, chain, doubts)
    }

    pub(super) fn chain_on(
        &self,
        update: &dyn AnyUpdate,
        mut clusters: Similarities<'_>,
        mut chain: Chain,
        doubts: &mut Doubts<'_>,
    ) -> Result<Vec<RawMerge>> {
        let mut square = update.square(&mut clusters, (self.about.n, self.few), doubts.tolerance());
        square.finish(&mut chain, doubts)?;
        drop(square);
        Ok(chain.into_merges())
    }
}

/// Sorts the merges of a chain or of rounds.
fn settled(n: usize, merges: Vec<RawMerge>, tolerance: Tolerance, doubts: &mut Doubts<'_>) -> Result<Found> {
    let mut key = |merges: &[RawMerge], at: usize| doubts.key_of_merge(merges, at);
    let merges = RawMerge::sort_settled(n, merges, tolerance, &mut key)?;
    Ok(doubts.found(merges))
}

/// Returns the merges of given clusters. `sizes` has the number of leaves of each cluster. The name of a cluster is its
/// index in `sizes`. `write(values, stride)` writes the similarities of the clusters to a square matrix whose rows
/// start at multiples of `stride`, with minus infinity on the diagonal. Rounding errors are not corrected.
pub(crate) fn linkage_of_clusters(
    rule: &Rule,
    sizes: Vec<f64>,
    write: impl FnOnce(&mut [f64], usize) -> Result<()>,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let (n, stride) = (sizes.len(), stride(sizes.len()));
    let mut values = Store::zeros(stride * stride)?;
    write(&mut values, stride)?;
    let mut clusters = Similarities { values, names: (0..n).collect(), sizes };
    let update: &dyn AnyUpdate = match rule {
        Rule::Single => &Single,
        Rule::Complete => &Complete,
        Rule::Average => &Average,
        Rule::Weighted => &Weighted,
        Rule::Ward => &Ward,
        _ => {
            return Err(Error::Argument(format!(
                "linkage `{rule}` cannot start from clusters; use single, complete, average, weighted or ward"
            )));
        }
    };
    let tolerance = if update.is_exact() { Tolerance::EXACT } else { Tolerance::GRID };
    let mut chain = Chain::unlisted(n);
    let mut square = update.square(&mut clusters, (n, FEW), tolerance);
    square.finish(&mut chain, &mut Doubts::left_open(monitor))?;
    drop(square);
    Ok(chain.into_merges())
}

#[cfg(test)]
mod tests;
