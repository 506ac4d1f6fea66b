//! From a matrix and a linkage to the dendrogram: which engine does it.

use super::chain::Chain;
use super::condensed_rows::CondensedRows;
use super::matrix::{About, Layout, Matrix, Values};
use super::naive::PlainMatrix;
use super::row_update::{RowMerge, RowUpdate};
use super::rows::SquareRows;
use super::store::Store;
use super::{Linkage, Tolerance, naive, nearest_pair, single};
use crate::error::{Error, Result};
use crate::linkage::{Average, AverageOfWhole, Centroid, Complete, Median, Rule, Single, Update, Ward, Weighted};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};

/// How the nearest pair is found. The tree does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// The chain for reducible linkages, nearest pairs for the others.
    #[default]
    Auto,
    /// The nearest-neighbour chain; reducible linkages only.
    Chain,
    /// Cached nearest pairs.
    NearestPair,
    /// All pairs before every merge.
    Naive,
}

impl Engine {
    /// The engine of this name: `auto`, `chain`, `nearest-pair` or `naive`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn from_name(name: &str) -> Result<Self> {
        Ok(match name {
            "auto" => Engine::Auto,
            "chain" => Engine::Chain,
            "nearest-pair" => Engine::NearestPair,
            "naive" => Engine::Naive,
            _ => {
                let known = "auto, chain, nearest-pair, naive";
                return Err(Error::Argument(format!("unknown engine `{name}`; there are {known}")));
            }
        })
    }
}

/// Merges the most similar pair of clusters until one is left.
///
/// Ties take the pair with the lexicographically smallest (smallest leaf, smallest leaf). Heights
/// are the similarity (or dissimilarity) at the merge. Merges stand in order of height, for linkages
/// that can invert (centroid, median) in the order of merging.
///
/// On similarities the rules that square dissimilarities (ward, centroid, median) take the
/// similarity s as a negative squared dissimilarity -d^2, and heights stay in units of s. A constant
/// added to all similarities changes nothing for ward; for centroid and median it matters.
///
/// # Errors
/// A chain for a linkage that isn't reducible; dissimilarities that cannot be squared; not enough
/// memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::agglomerate::{Engine, Layout, Matrix, Values, agglomerate};
/// use ordhc::{Monitor, linkage::Rule};
///
/// let pairs = [9.0, 1.0, 2.0]; // (0,1), (0,2), (1,2)
/// let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, false)?;
/// let tree = agglomerate(&matrix, &Rule::Average, Engine::Auto, &Monitor::new())?;
/// assert_eq!(tree.heights(), [9.0, 1.5]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn agglomerate(matrix: &Matrix<'_>, rule: &Rule, engine: Engine, monitor: &Monitor) -> Result<Dendrogram> {
    agglomerate_from(matrix, rule, engine, None, monitor)
}

/// The same from initial clusters: as long as there are pairs within them, the most similar one of
/// these is merged.
///
/// The merges within come first, at least as high (as similarities) as the closest one after.
///
/// # Errors
/// As [`agglomerate`]; initial clusters of another number of leaves.
///
/// ```
/// use ordhc::agglomerate::{Engine, Layout, Matrix, Values, agglomerate_from};
/// use ordhc::{Monitor, linkage::Rule, tree::Partition};
///
/// let pairs = [9.0, 1.0, 2.0]; // (0,1), (0,2), (1,2)
/// let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, false)?;
/// let initial = Partition::new(&[0, 1, 1])?;
/// let tree = agglomerate_from(&matrix, &Rule::Average, Engine::Auto, Some(&initial), &Monitor::new())?;
/// assert_eq!(tree.to_newick_topology(), "(0,(1,2));");
/// assert_eq!(tree.heights(), [5.0, 5.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn agglomerate_from(
    matrix: &Matrix<'_>,
    rule: &Rule,
    engine: Engine,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    Job::checked(matrix, rule, engine, initial, monitor)?.dispatch(Input::Given(matrix))
}

/// [`agglomerate_from`] within the memory of the matrix, whose values are undefined afterwards: beside it
/// O(n) memory is needed, but for the naive engine.
///
/// # Errors
/// As [`Matrix::new`] and [`agglomerate_from`].
///
/// ```
/// use ordhc::agglomerate::{Engine, Layout, agglomerate_in_place};
/// use ordhc::{Monitor, linkage::Rule};
///
/// let mut pairs = [9.0, 1.0, 2.0]; // (0,1), (0,2), (1,2)
/// let matrix = (&mut pairs[..], Layout::Condensed, false);
/// let tree = agglomerate_in_place(matrix, &Rule::Average, Engine::Auto, None, &Monitor::new())?;
/// assert_eq!(tree.heights(), [9.0, 1.5]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn agglomerate_in_place(
    (values, layout, dissimilarity): (&mut [f64], Layout, bool),
    rule: &Rule,
    engine: Engine,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    let matrix = Matrix::new(Values::F64(values), layout, dissimilarity)?;
    let job = Job::checked(&matrix, rule, engine, initial, monitor)?;
    job.dispatch(Input::Lent(values))
}

/// [`agglomerate_from`] for a linkage given as a row update, which `update` writes once per merge.
///
/// # Errors
/// What `update` reports; a row that is not finite; as [`agglomerate`].
pub fn agglomerate_with_rows(
    matrix: &Matrix<'_>,
    update: impl FnMut(RowMerge<'_>, &mut [f64]) -> Result<()>,
    engine: Engine,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    initial.map_or(Ok(()), |initial| initial.check(matrix.n_leaves()))?;
    let mut rows = RowUpdate::new(matrix, update, monitor)?;
    let merges = match engine {
        Engine::Auto | Engine::NearestPair => staged(&mut rows, initial, false, nearest_pair::merges_among, monitor)?,
        Engine::Naive => staged(&mut rows, initial, false, naive::merges_among, monitor)?,
        Engine::Chain => {
            return Err(Error::Argument("the chain engine takes no row updates; use `nearest-pair`".into()));
        }
    };
    let tree = Dendrogram::in_order(matrix.n_leaves(), merges)?;
    Ok(if matrix.is_dissimilarity() { tree.map_heights(true, |x| -x) } else { tree })
}

/// From this number of leaves on, the chain starts on a condensed matrix to save memory.
const CONDENSED_FROM: usize = 1500;
/// Differences up to this share of the values may be rounding (thousands of roundings, in fact).
const ROUNDING: f64 = 1e-13;

/// The merges within initial clusters and those after them, both by the same engine.
fn staged<L: Linkage>(
    linkage: &mut L,
    initial: Option<&Partition>,
    monotone: bool,
    among: impl Fn(&mut L, Vec<usize>, &mut Vec<usize>, &Monitor) -> Result<Vec<RawMerge>>,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let mut active: Vec<usize> = (0..linkage.n_leaves()).collect();
    let mut within = Vec::new();
    for cluster in initial.map_or(&[][..], Partition::clusters) {
        within.extend(among(linkage, cluster.clone(), &mut active, monitor)?);
    }
    if monotone {
        within = RawMerge::sort(linkage.n_leaves(), within, linkage.tolerance());
    }
    let after = among(linkage, active.clone(), &mut active, monitor)?;
    Ok(if initial.is_some() { with_initial(within, after) } else { after })
}

enum Input<'a> {
    Given(&'a Matrix<'a>),
    /// Memory to work in, with the values.
    Lent(&'a mut [f64]),
}

/// The working matrix.
enum Rows<'a, U: Update> {
    Square(SquareRows<'a, U>),
    Condensed(CondensedRows<'a, U>),
}

struct Job<'a> {
    about: About,
    rule: &'a Rule,
    engine: Engine,
    initial: Option<&'a Partition>,
    monitor: &'a Monitor,
    condensed_from: usize,
}

impl<'a> Job<'a> {
    fn checked(
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
        Ok(Self { about: matrix.about(), rule, engine, initial, monitor, condensed_from: CONDENSED_FROM })
    }

    /// The one place where a rule becomes code of its own.
    fn dispatch(&self, input: Input<'_>) -> Result<Dendrogram> {
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
                let mut chain = Chain::after(n, merges);
                let mut rows = SquareRows::new(update, matrix, squared, tolerance, self.monitor)?;
                chain.run(&mut rows, 1, self.monitor)?;
                return Ok(sort(chain.into_merges()));
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
            // The rounds found few pairs: the chain goes on.
            let mut chain = Chain::after(n, merges);
            let until = rows.square_fits();
            chain.run(&mut rows, until, self.monitor)?;
            let mut rows = rows.into_square(chain.active(), self.monitor)?;
            chain.run(&mut rows, 1, self.monitor)?;
            merges = chain.into_merges();
        }
        Ok(sort(merges))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linkage::LanceWilliams;
    use crate::similarity::condensed_len;

    fn rules() -> Vec<Rule> {
        let formulas = |alpha, beta| LanceWilliams::new(alpha, beta, "0", &[("b", -0.25)]).unwrap();
        let mut rules: Vec<Rule> = Rule::NAMES.iter().map(|name| Rule::from_name(name).unwrap()).collect();
        rules.push(Rule::Coefficients(formulas("(1 - b) / 2", "b")));
        rules.push(Rule::Coefficients(formulas("n_i / (n_i + n_j)", "0").reducible(true)));
        let single = LanceWilliams::new("0.5", "0", "-0.5", &[]).unwrap();
        rules.push(Rule::Coefficients(single.reducible(true)));
        rules
    }

    struct Case<'a> {
        values: &'a [f64],
        dissimilarity: bool,
        initial: Option<&'a Partition>,
    }

    fn tree(input: &Case<'_>, rule: &Rule, engine: Engine, condensed_from: usize) -> Dendrogram {
        let Case { values, dissimilarity, initial } = *input;
        let matrix = Matrix::new(Values::F64(values), Layout::Condensed, dissimilarity).unwrap();
        let monitor = Monitor::new();
        let job = Job { condensed_from, ..Job::checked(&matrix, rule, engine, initial, &monitor).unwrap() };
        job.dispatch(Input::Given(&matrix)).unwrap()
    }

    fn tree_in_place(input: &Case<'_>, rule: &Rule, engine: Engine, layout: Layout) -> Dendrogram {
        let mut values = input.values.to_vec();
        if layout == Layout::Square {
            let n = crate::similarity::leaves_of_condensed(values.len()).unwrap();
            let mut square = vec![0.0; n * n];
            crate::similarity::square_from_condensed(&values, &mut square, |x| x).unwrap();
            values = square;
        }
        let matrix = (&mut values[..], layout, input.dissimilarity);
        agglomerate_in_place(matrix, rule, engine, input.initial, &Monitor::new()).unwrap()
    }

    fn assert_engines_agree(values: &[f64], dissimilarity: bool, exactly: bool) {
        let n = crate::similarity::leaves_of_condensed(values.len()).unwrap();
        let labels: Vec<i64> = (0..n as i64).map(|leaf| leaf * leaf % (1 + n as i64 / 2)).collect();
        let initial = Partition::new(&labels).unwrap();
        assert_engines_agree_on(&Case { values, dissimilarity, initial: None }, exactly);
        assert_engines_agree_on(&Case { values, dissimilarity, initial: Some(&initial) }, exactly);
    }

    fn assert_engines_agree_on(input: &Case<'_>, exactly: bool) {
        for rule in rules() {
            let expected = tree(input, &rule, Engine::Naive, 0);
            if let Some(initial) = input.initial {
                let cut = expected.cut_clusters(initial.n_clusters()).unwrap();
                assert_eq!(cut, initial.cluster_of(), "{rule:?}");
            }
            let mut all = vec![(Engine::NearestPair, 0)];
            if rule.is_reducible() {
                all.extend([(Engine::Chain, 0), (Engine::Chain, usize::MAX)]);
            }
            let mut trees: Vec<(Engine, String, Dendrogram)> = Vec::new();
            for (engine, condensed_from) in all {
                let found = tree(input, &rule, engine, condensed_from);
                trees.push((engine, format!("from {condensed_from}"), found));
            }
            for engine in [Engine::Auto, Engine::NearestPair] {
                for layout in [Layout::Condensed, Layout::Square] {
                    let found = tree_in_place(input, &rule, engine, layout);
                    trees.push((engine, format!("{layout:?} in place"), found));
                }
            }
            for (engine, how, found) in trees {
                assert_eq!(found.merges(), expected.merges(), "{rule:?} {engine:?} {how}");
                for (a, b) in found.heights().iter().zip(expected.heights()) {
                    assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{rule:?} {engine:?}: {a} {b}");
                    assert!(!exactly || engine != Engine::NearestPair || a == b, "{rule:?}: {a} {b}");
                }
            }
        }
    }

    fn condensed(value: impl Strategy<Value = f64> + Clone + 'static, most: usize) -> impl Strategy<Value = Vec<f64>> {
        (1..most).prop_flat_map(move |n| prop::collection::vec(value.clone(), condensed_len(n)))
    }

    proptest! {
        #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(150) })]

        #[test]
        fn engines_agree_without_ties(values in condensed(0.0..1.0f64, 40), dissimilarity: bool) {
            prop_assume!(!values.is_empty());
            assert_engines_agree(&values, dissimilarity, true);
        }

        #[test]
        fn engines_agree_with_ties(values in condensed((0..4i32).prop_map(f64::from), 12), dissimilarity: bool) {
            prop_assume!(!values.is_empty());
            assert_engines_agree(&values, dissimilarity, true);
        }

        #[test]
        fn engines_agree_with_inexact_ties(values in condensed((-3..4i32).prop_map(|x| f64::from(x) * 0.1), 14)) {
            prop_assume!(!values.is_empty());
            assert_engines_agree(&values, false, true);
        }

        #[test]
        fn engines_agree_on_tenths(
            values in condensed((0..4i32).prop_map(|x| f64::from(x) * 0.1), 60), dissimilarity: bool
        ) {
            prop_assume!(!values.is_empty());
            assert_engines_agree(&values, dissimilarity, true);
        }

        #[test]
        fn engines_agree_on_duplicated_rows(
            few in condensed((1..9i32).prop_map(|x| f64::from(x) / 7.0), 9),
            copies in prop::collection::vec(0..8usize, 2..60),
            dissimilarity: bool,
        ) {
            // Leaves of the same kind are as close as any, so that blocks are constant.
            let kinds = crate::similarity::leaves_of_condensed(few.len()).unwrap();
            let pair = |a: usize, b: usize| match (a % kinds, b % kinds) {
                (a, b) if a == b => if dissimilarity { 0.1 } else { 1.3 },
                (a, b) => few[crate::similarity::pair_index(kinds, a.min(b), a.max(b))],
            };
            let n = copies.len();
            let values: Vec<f64> =
                (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| pair(copies[i], copies[j])).collect();
            assert_engines_agree(&values, dissimilarity, true);
        }
    }

    #[test]
    fn packing_and_handing_over_keep_the_tree() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let values: Vec<f64> = (0..condensed_len(230)).map(|_| random()).collect();
        assert_engines_agree(&values, true, true);
        let whole: Vec<f64> = values.iter().map(|x| (x * 50.0).floor()).collect();
        assert_engines_agree(&whole, false, true);
        let tenths: Vec<f64> = values.iter().map(|x| (x * 9.0).floor() * 0.1).collect();
        assert_engines_agree(&tenths, false, true);
        for constant in [0.1, 1.0, -0.7] {
            assert_engines_agree(&vec![constant; condensed_len(60)], false, true);
        }
    }

    #[test]
    fn single_leaves_and_constants() {
        for rule in rules() {
            let matrix = Matrix::new(Values::F64(&[3.0]), Layout::Square, false).unwrap();
            let lone = agglomerate(&matrix, &rule, Engine::Auto, &Monitor::new()).unwrap();
            assert_eq!((lone.n_leaves(), lone.merges().len()), (1, 0));
            let constant = vec![0.1; condensed_len(9)];
            let matrix = Matrix::new(Values::F64(&constant), Layout::Condensed, true).unwrap();
            let tree = agglomerate(&matrix, &rule, Engine::Auto, &Monitor::new()).unwrap();
            if rule.is_reducible() && rule != Rule::Ward && !matches!(rule, Rule::Coefficients(_)) {
                assert_eq!(tree.to_newick_topology(), "(8,(7,(6,(5,(4,(3,(2,(0,1))))))));", "{rule:?}");
            }
        }
    }

    #[test]
    fn nonsense_formulas_are_errors() {
        let values = [1.0, 2.0, 3.0];
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, false).unwrap();
        let rule = Rule::Coefficients(LanceWilliams::new("1 / (n_i - n_j)", "0", "0", &[]).unwrap());
        for engine in [Engine::Auto, Engine::NearestPair, Engine::Naive] {
            let error = agglomerate(&matrix, &rule, engine, &Monitor::new()).unwrap_err();
            assert!(error.to_string().contains("the linkage gives"), "{error}");
        }
        let centroid = agglomerate(&matrix, &Rule::Centroid, Engine::Chain, &Monitor::new());
        assert!(centroid.unwrap_err().to_string().contains("reducible"));
    }

    #[test]
    fn work_can_be_stopped() {
        let values = vec![1.0; condensed_len(50)];
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, false).unwrap();
        let monitor = Monitor::new();
        monitor.cancel();
        for engine in [Engine::Auto, Engine::NearestPair, Engine::Naive] {
            assert_eq!(agglomerate(&matrix, &Rule::Average, engine, &monitor), Err(Error::Interrupted));
        }
    }
}
