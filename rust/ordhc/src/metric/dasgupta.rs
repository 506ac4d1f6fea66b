//! Dasgupta's cost of a tree under similarities.

use super::count::same_leaves;
use super::path::{Paths, Rows, for_places};
use super::sum::Sum;
use crate::agglomerate::{Layout, Matrix, Values};
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::monitor::Monitor;
use crate::tree::Topology;

/// The value of Dasgupta's cost or of the corresponding revenue of a tree. The value is exact for integer similarities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dasgupta {
    /// The exact sum of integers.
    Whole(i128),
    /// The sum of floats.
    Float(f64),
}

impl Dasgupta {
    /// Returns the value as a float.
    ///
    /// ```
    /// assert_eq!(ordhc::metric::Dasgupta::Whole(-3).to_f64(), -3.0);
    /// ```
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// Returns Dasgupta's cost of a tree for similarities (Dasgupta 2016): the sum over i < j of s(i, j) |H(i, j)|, where
/// |H(i, j)| is the number of leaves below the lowest common ancestor of i and j. Lower is better.
///
/// The values of the matrix are used unchanged. If they are dissimilarities, higher is better (Cohen-Addad et al.
/// 2019). The result is exact for integers. But if the upper and the lower triangle of a matrix of integers differ
/// slightly, their means are used, and the result is a float. The computation makes one pass over the matrix and takes
/// O(n) memory. The result does not depend on the number of threads.
///
/// # Errors
/// A matrix and a tree with different numbers of leaves; a value too large for its type; [`Error::Interrupted`].
///
/// ```
/// use ordhc::agglomerate::{Layout, Matrix, Values};
/// use ordhc::metric::{Dasgupta, dasgupta_cost};
/// use ordhc::{Dendrogram, Kind};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![5.0, 1.0], Kind::Similarity)?;
/// let similarities = Matrix::new(Values::I32(&[5, 1, 0]), Layout::Condensed, Kind::Similarity)?;
/// assert_eq!(dasgupta_cost(tree.topology(), &similarities, None)?, Dasgupta::Whole(2 * 5 + 3 * 1));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn dasgupta_cost(tree: &Topology, matrix: &Matrix<'_>, monitor: Option<&Monitor>) -> Result<Dasgupta> {
    watched!(monitor);
    let factors: Vec<i32> = tree.by_merge(tree.sizes()).iter().map(|&size| size as i32).collect();
    sum(tree, &factors, matrix, monitor)
}

/// The type of [`dasgupta_cost`] and [`dasgupta_revenue`].
pub type DasguptaScore = fn(&Topology, &Matrix<'_>, Option<&Monitor>) -> Result<Dasgupta>;

/// Returns Dasgupta's cost or revenue, and checks the similarities in the same pass. So a condensed matrix of floats is
/// read only once.
///
/// # Errors
/// The errors of [`dasgupta_cost`] and [`Matrix::new`].
///
/// ```
/// use ordhc::agglomerate::{Layout, Values};
/// use ordhc::bindings::dasgupta_checked;
/// use ordhc::metric::{Dasgupta, dasgupta_cost, dasgupta_revenue};
/// use ordhc::{Dendrogram, Kind};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![5.0, 1.0], Kind::Similarity)?;
/// let values = Values::F64(&[5.0, 1.0, 0.5]);
/// let cost = dasgupta_checked(dasgupta_cost, tree.topology(), values, Layout::Condensed, None)?;
/// assert_eq!(cost, Dasgupta::Float(2.0 * 5.0 + 3.0 * 1.5));
/// let nan = Values::F64(&[5.0, f64::NAN, 0.5]);
/// assert!(dasgupta_checked(dasgupta_revenue, tree.topology(), nan, Layout::Condensed, None).is_err());
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn dasgupta_checked(
    score: DasguptaScore,
    tree: &Topology,
    values: Values<'_>,
    layout: Layout,
    monitor: Option<&Monitor>,
) -> Result<Dasgupta> {
    if layout == Layout::Condensed && matches!(values, Values::F64(_) | Values::F32(_)) {
        match Matrix::unread(values).and_then(|matrix| score(tree, &matrix, monitor)) {
            // A value that is not finite or too large makes the sum NaN, which is an error. `Matrix::new` below then
            // reports which value is invalid.
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Ok(sum) => return Ok(sum),
            Err(_) => {}
        }
    }
    score(tree, &Matrix::new(values, layout, Kind::Similarity)?, monitor)
}

/// Returns the revenue that corresponds to Dasgupta's cost: n times the sum of the similarities, less the
/// [cost](dasgupta_cost). Higher is better.
///
/// For AddS similarities (sums over triplets or quadruplets), this is the [`revenue`](super::revenue()) of the
/// comparisons (Mandal, Perrot & Ghoshdastidar, "A revenue function for comparison-based hierarchical clustering",
/// theorem 1).
///
/// # Errors
/// The errors of [`dasgupta_cost`].
///
/// ```
/// use ordhc::agglomerate::{Layout, Matrix, Values};
/// use ordhc::metric::{Dasgupta, dasgupta_revenue};
/// use ordhc::{Dendrogram, Kind};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![5.0, 1.0], Kind::Similarity)?;
/// let similarities = Matrix::new(Values::F64(&[5.0, 1.0, 0.5]), Layout::Condensed, Kind::Similarity)?;
/// assert_eq!(dasgupta_revenue(tree.topology(), &similarities, None)?, Dasgupta::Float(5.0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn dasgupta_revenue(tree: &Topology, matrix: &Matrix<'_>, monitor: Option<&Monitor>) -> Result<Dasgupta> {
    watched!(monitor);
    let n = tree.n_leaves() as i32;
    let factors: Vec<i32> = tree.by_merge(tree.sizes()).iter().map(|&size| n - size as i32).collect();
    sum(tree, &factors, matrix, monitor)
}

/// Returns a sum over pairs of leaves: the similarity of the pair, times the factor of the merge that joins the pair.
/// `factors` has a factor of at most n for each merge.
fn sum(tree: &Topology, factors: &[i32], matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Dasgupta> {
    let n = tree.n_leaves();
    same_leaves(["the tree has", "the matrix has"], [n, matrix.n_leaves()])?;
    monitor.start(n as u64);
    let paths = Paths::new(tree);
    let both = !matrix.is_symmetric();
    // The number of products whose sum certainly fits into 64 bits.
    let safe = (i64::MAX as f64 / 2.0 / (matrix.facts().largest * n as f64 + 1.0)) as usize;
    let most = Matrix::most(n);
    let state = || Rows::new(&paths, factors, paths.order());
    let row_sum = |rows: &mut Rows<'_, i32>, place: usize| {
        let leaf = paths.order()[place] as usize;
        let factors = rows.at(place);
        let [before, after] = matrix.row(leaf);
        let upper = part_sum(after, &factors[leaf + 1..], safe, most);
        if both { upper.plus(part_sum(before, &factors[..leaf], safe, most)) } else { upper }
    };
    let by_place = for_places(n, state, row_sum, monitor)?;
    let in_order = paths.places().iter().map(|&place| by_place[place as usize]);
    let whole = matches!(matrix.row(0)[1], Values::I64(_) | Values::I32(_));
    if whole && !both {
        let exact = in_order.map(|row| if let Dasgupta::Whole(value) = row { value } else { 0 });
        let sum = exact.into_iter().try_fold(0i128, i128::checked_add);
        return sum.map(Dasgupta::Whole).ok_or_else(|| too_large("128-bit integers"));
    }
    let sum = in_order.map(Dasgupta::to_f64).collect::<Sum>().value() * if both { 0.5 } else { 1.0 };
    if sum.is_finite() { Ok(Dasgupta::Float(sum)) } else { Err(too_large("floats")) }
}

fn too_large(range: &str) -> Error {
    Error::Argument(format!("the cost or revenue overflows {range}, because similarities are too large; rescale them"))
}

impl Dasgupta {
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Self::Whole(a + b),
            (a, b) => Self::Float(a.to_f64() + b.to_f64()),
        }
    }
}

fn part_sum(values: Values<'_>, factors: &[i32], safe: usize, most: f64) -> Dasgupta {
    match values {
        Values::F64(values) => Dasgupta::Float(float_sum(values, factors, most, |x| x)),
        Values::F32(values) => Dasgupta::Float(float_sum(values, factors, most, f64::from)),
        Values::I64(values) => Dasgupta::Whole(whole_sum(values, factors, safe, |x| x)),
        Values::I32(values) => Dasgupta::Whole(whole_sum(values, factors, safe, i64::from)),
    }
}

const LANES: usize = 8;
const BLOCK: usize = 1 << 10;

/// Returns the sum of values times factors. The sum is NaN if a value is NaN or has an absolute value above `most`.
fn float_sum<T: Copy>(values: &[T], factors: &[i32], most: f64, float: impl Fn(T) -> f64) -> f64 {
    let block_sum = |(values, factors): (&[T], &[i32])| {
        let (mut lanes, mut largest) = ([0.0; LANES], [0.0; LANES]);
        let ((values, rest), (factors, rest_factors)) = (values.as_chunks::<LANES>(), factors.as_chunks::<LANES>());
        let mut add = |lane: usize, x: f64, factor: i32| {
            lanes[lane] += x * f64::from(factor);
            largest[lane] = if x.abs() > largest[lane] { x.abs() } else { largest[lane] };
        };
        for (x, factor) in values.iter().zip(factors) {
            for lane in 0..LANES {
                add(lane, float(x[lane]), factor[lane]);
            }
        }
        for (lane, (&x, &factor)) in rest.iter().zip(rest_factors).enumerate() {
            add(lane, float(x), factor);
        }
        if largest.iter().all(|&x| x <= most) { lanes.into_iter().sum::<f64>() } else { f64::NAN }
    };
    values.chunks(BLOCK).zip(factors.chunks(BLOCK)).map(block_sum).collect::<Sum>().value()
}

fn whole_sum<T: Copy>(values: &[T], factors: &[i32], safe: usize, whole: impl Fn(T) -> i64) -> i128 {
    let pairs = values.iter().zip(factors);
    if safe == 0 {
        return pairs.map(|(&x, &factor)| i128::from(whole(x)) * i128::from(factor)).sum();
    }
    let block = safe.min(1 << 20);
    let block_sum = |(values, factors): (&[T], &[i32])| -> i64 {
        values.iter().zip(factors).map(|(&x, &factor)| whole(x) * i64::from(factor)).sum()
    };
    values.chunks(block).zip(factors.chunks(block)).map(block_sum).map(i128::from).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::revenue;
    use super::*;
    use crate::agglomerate::Layout;
    use crate::comparison::{Quadruplets, Triplets};
    use crate::kind::Kind;
    use crate::metric::Revenue;
    use crate::metric::samples::{Draw, draws, random_tree};
    use crate::similarity::{Triangle, adds, condensed_len};
    use crate::tree::{Dendrogram, LcaSizes};

    fn naive(tree: &Dendrogram, pair: impl Fn(usize, usize) -> i64) -> [i128; 2] {
        let lca = LcaSizes::new(tree.topology());
        let n = tree.n_leaves();
        let mut sums = [0; 2];
        for i in 0..n {
            for j in i + 1..n {
                sums[0] += i128::from(pair(i, j)) * i128::from(lca.size(i, j));
                sums[1] += i128::from(pair(i, j)) * (n as i128 - i128::from(lca.size(i, j)));
            }
        }
        sums
    }

    fn both(tree: &Dendrogram, values: Values<'_>, layout: Layout) -> [Dasgupta; 2] {
        let matrix = Matrix::new(values, layout, Kind::Similarity).unwrap();
        [
            dasgupta_cost(tree.topology(), &matrix, None).unwrap(),
            dasgupta_revenue(tree.topology(), &matrix, None).unwrap(),
        ]
    }

    fn assert_as_defined(tree: &Dendrogram, largest: i64, seed: u64) {
        let n = tree.n_leaves();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let condensed: Vec<i64> = (0..condensed_len(n)).map(|_| rng.random_range(-largest..=largest)).collect();
        let pair = |i: usize, j: usize| if i == j { 7 } else { condensed[Triangle::new(n).index(i, j)] };
        let square: Vec<i64> = (0..n * n).map(|at| pair(at / n, at % n)).collect();
        let expected = naive(tree, pair);
        let whole = expected.map(Dasgupta::Whole);
        assert_eq!(both(tree, Values::I64(&square), Layout::Square), whole);
        if n > 1 {
            assert_eq!(both(tree, Values::I64(&condensed), Layout::Condensed), whole);
        }
        if largest <= 1 << 20 {
            let float = expected.map(|sum| Dasgupta::Float(sum as f64));
            let narrow: Vec<i32> = square.iter().map(|&x| x as i32).collect();
            let double: Vec<f64> = square.iter().map(|&x| x as f64).collect();
            let single: Vec<f32> = square.iter().map(|&x| x as f32).collect();
            assert_eq!(both(tree, Values::I32(&narrow), Layout::Square), whole);
            assert_eq!(both(tree, Values::F64(&double), Layout::Square), float);
            assert_eq!(both(tree, Values::F32(&single), Layout::Square), float);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(100) })]

        #[test]
        fn as_defined(n in 1..24usize, draw in draws(), seed: u64, bits in prop::sample::select(vec![2, 20, 53])) {
            assert_as_defined(&random_tree(n, draw, seed), 1 << bits, seed);
        }

        #[test]
        fn the_revenue_of_comparisons(n in 3..10usize, draw in draws(), seed: u64) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let rows: Vec<[i32; 4]> = (0..30).map(|_| [(); 4].map(|()| rng.random_range(0..n as i32))).collect();
            let three: Vec<[i32; 3]> = rows.iter().map(|row| [row[0], row[1], row[2]]).collect();
            let three = three.into_iter().filter(|row| Triplets::new(vec![*row], Some(n)).is_ok()).collect::<Vec<_>>();
            let four = rows.into_iter().filter(|row| Quadruplets::new(vec![*row], Some(n)).is_ok()).collect::<Vec<_>>();
            let (three, four) = (Triplets::new(three, Some(n)).unwrap(), Quadruplets::new(four, Some(n)).unwrap());
            let tree = random_tree(n, draw, seed);
            let mut pairs = vec![0i64; condensed_len(n)];
            adds(&three, &mut pairs, None).unwrap();
            let found = both(&tree, Values::I64(&pairs), Layout::Condensed)[1];
            prop_assert_eq!(revenue(tree.topology(), &three, None).unwrap(), Revenue::Whole(found.to_f64() as i64));
            pairs.fill(0);
            adds(&four, &mut pairs, None).unwrap();
            let found = both(&tree, Values::I64(&pairs), Layout::Condensed)[1];
            prop_assert_eq!(revenue(tree.topology(), &four, None).unwrap(), Revenue::Whole(found.to_f64() as i64));
        }
    }

    #[test]
    fn what_is_checked_on_the_way() {
        let tree = random_tree(4, Draw { caterpillar: true, monotone: true, dissimilarity: true, heights: 1 }, 1);
        let fine = [1.0, 0.5, -2.0, 0.0, 3.0, 1.5];
        for at in 0..6 {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, 1e300] {
                let mut values = fine;
                values[at] = value;
                let text = |result: Result<Dasgupta>| result.map_err(|error| error.to_string());
                let checked = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity)
                    .and_then(|matrix| dasgupta_cost(tree.topology(), &matrix, None));
                let found =
                    dasgupta_checked(dasgupta_cost, tree.topology(), Values::F64(&values), Layout::Condensed, None);
                assert_eq!(text(found), text(checked), "{value}");
                let single = values.map(|x| x as f32);
                let checked = Matrix::new(Values::F32(&single), Layout::Condensed, Kind::Similarity)
                    .and_then(|matrix| dasgupta_revenue(tree.topology(), &matrix, None));
                let found =
                    dasgupta_checked(dasgupta_revenue, tree.topology(), Values::F32(&single), Layout::Condensed, None);
                assert_eq!(text(found), text(checked), "{value}");
            }
        }
        for wrong in [&fine[..3], &fine[..5]] {
            assert!(
                dasgupta_checked(dasgupta_cost, tree.topology(), Values::F64(wrong), Layout::Condensed, None).is_err()
            );
        }
    }

    #[test]
    fn many_leaves() {
        for caterpillar in [false, true] {
            let draw = Draw { caterpillar, monotone: true, dissimilarity: true, heights: 9 };
            assert_as_defined(&random_tree(300, draw, 1), 1000, 2);
            assert_as_defined(&random_tree(300, draw, 3), 1 << 53, 4);
        }
    }

    #[test]
    fn slight_asymmetry_takes_the_mean() {
        let tree = Dendrogram::new(vec![[0, 1]], vec![1.0], Kind::Similarity).unwrap();
        let [cost, revenue] = both(&tree, Values::I64(&[0, 1 << 40, (1 << 40) + 1, 0]), Layout::Square);
        assert_eq!((cost, revenue), (Dasgupta::Float((1i64 << 41) as f64 + 1.0), Dasgupta::Float(0.0)));
    }

    #[test]
    fn sums_that_do_not_fit() {
        let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 1.0], Kind::Similarity).unwrap();
        let matrix = Matrix::new(Values::F64(&[1.0; 6]), Layout::Condensed, Kind::Similarity).unwrap();
        let error = dasgupta_cost(tree.topology(), &matrix, None).unwrap_err().to_string();
        assert_eq!(error, "the tree has 3 leaves, the matrix has 4");
        let values = [[1.1e307; 6], [1e306; 6]];
        let large = |at: usize| Matrix::new(Values::F64(&values[at]), Layout::Condensed, Kind::Similarity).unwrap();
        let tree = random_tree(4, Draw { caterpillar: true, monotone: true, dissimilarity: true, heights: 1 }, 1);
        let error = dasgupta_cost(tree.topology(), &large(0), None).unwrap_err().to_string();
        assert!(error.contains("overflows floats"));
        assert!(dasgupta_cost(tree.topology(), &large(1), None).is_ok());
    }
}
