//! The correlation of the heights of a tree with a matrix or another tree.

use super::count::{same_leaves, same_leaves_of_trees};
use super::path::{Paths, Rows, for_places};
use super::sum::Sum;
use crate::agglomerate::Matrix;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::tree::Dendrogram;

/// Returns the cophenetic correlation of a tree and a matrix. This is Pearson's correlation, over all pairs of leaves,
/// of the height at which the two leaves merge and the matrix value of the pair.
///
/// A perfect tree has correlation 1 if heights and values are both similarities or both dissimilarities, and otherwise
/// -1. The computation makes two passes over the matrix and takes O(n) memory. The result does not depend on the number
/// of threads.
///
/// # Errors
/// A matrix and a tree with different numbers of leaves; heights or values that are all equal, which includes fewer
/// than three leaves; [`Error::Interrupted`].
///
/// ```
/// use ordhc::agglomerate::{Layout, Matrix, Values};
/// use ordhc::{Dendrogram, Kind, metric::cophenetic_correlation};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity)?;
/// let distances = Matrix::new(Values::F64(&[10.0, 20.0, 20.0]), Layout::Condensed, Kind::Dissimilarity)?;
/// assert!((cophenetic_correlation(&tree, &distances, None)? - 1.0).abs() < 1e-15);
/// let similarities = Matrix::new(Values::I32(&[5, 0, 0]), Layout::Condensed, Kind::Similarity)?;
/// assert!((cophenetic_correlation(&tree, &similarities, None)? + 1.0).abs() < 1e-15);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn cophenetic_correlation(tree: &Dendrogram, matrix: &Matrix<'_>, monitor: Option<&Monitor>) -> Result<f64> {
    watched!(monitor);
    same_leaves(["the tree has", "the matrix has"], [tree.n_leaves(), matrix.n_leaves()])?;
    let n = tree.n_leaves();
    monitor.start(2 * n as u64);
    let heights = Centred::of(tree)?;
    let scale = power_of_two(matrix.facts().largest);
    let mean = scaled_mean(matrix, scale, monitor)?;
    let paths = Paths::new(tree.topology());
    let state = || (Rows::new(&paths, &heights.values, paths.order()), vec![0.0; n]);
    let row_sums = |(rows, buffer): &mut (Rows<'_, f64>, Vec<f64>), place: usize| {
        let leaf = paths.order()[place] as usize;
        let values = &mut buffer[..n - leaf - 1];
        matrix.write_row_after(leaf, false, values);
        products(values, &rows.at(place)[leaf + 1..], |x| x * scale - mean)
    };
    let [mut sum, mut squares, mut both] = [Sum::default(); 3];
    for row in for_places(n, state, row_sums, monitor)? {
        sum.add(row[0]);
        squares.add(row[1]);
        both.add(row[2]);
    }
    let values = Moments::new(sum.value(), squares.value(), heights.pairs);
    let correlation = correlation(heights.moments, values, both.value(), heights.pairs)?;
    // `write_row_after` negates dissimilarities, so negate the correlation again.
    Ok(if matrix.is_dissimilarity() { -correlation } else { correlation })
}

/// Returns the cophenetic correlation of two dendrograms. This is Pearson's correlation, over all pairs of leaves, of
/// the heights at which they merge.
///
/// If one tree has similarities and the other has dissimilarities, -1 is perfect. The computation takes O(n^2) time and
/// O(n) memory. The result does not depend on the number of threads.
///
/// # Errors
/// Trees with different numbers of leaves; a tree whose heights are all equal, which includes fewer than three leaves;
/// [`Error::Interrupted`].
///
/// ```
/// use ordhc::bindings::cophenetic_correlation_of_trees;
/// use ordhc::{Dendrogram, Kind};
///
/// let a = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity)?;
/// let b = Dendrogram::new(vec![[0, 2], [1, 3]], vec![1.0, 2.0], Kind::Dissimilarity)?;
/// let correlation = cophenetic_correlation_of_trees(&a, &b, None)?;
/// assert!((correlation + 0.5).abs() < 1e-15);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn cophenetic_correlation_of_trees(a: &Dendrogram, b: &Dendrogram, monitor: Option<&Monitor>) -> Result<f64> {
    watched!(monitor);
    same_leaves_of_trees(a.n_leaves(), b.n_leaves())?;
    let n = a.n_leaves();
    monitor.start(n as u64);
    let (a_heights, b_heights) = (Centred::of(a)?, Centred::of(b)?);
    let (inner, outer) = (Paths::new(a.topology()), Paths::new(b.topology()));
    let columns: Vec<u32> = inner.order().iter().map(|&leaf| outer.places()[leaf as usize]).collect();
    let row_sum = |rows: &mut Rows<'_, f64>, place: usize| {
        let row = rows.at(place);
        let steps = outer.walk(inner.order()[place] as usize);
        steps.map(|(merge, joining)| b_heights.values[merge] * plain_sum(&row[joining])).collect::<Sum>().value()
    };
    let rows = for_places(n, || Rows::new(&inner, &a_heights.values, &columns), row_sum, monitor)?;
    // Each pair of leaves is in two rows of the matrix of heights, so halve the sum.
    let both = 0.5 * rows.into_iter().collect::<Sum>().value();
    correlation(a_heights.moments, b_heights.moments, both, a_heights.pairs)
}

/// The sum of the values of all pairs of leaves, and the sum of the squared deviations from their mean. Values are
/// heights or similarities, scaled and shifted so that their mean is near 0.
#[derive(Debug, Clone, Copy)]
struct Moments {
    sum: f64,
    squares: f64,
}

impl Moments {
    fn new(sum: f64, squares: f64, pairs: f64) -> Self {
        Self { sum, squares: squares - sum * sum / pairs }
    }
}

/// The heights of a tree's merges, scaled and shifted, so that their mean over pairs of leaves is 0 up to rounding
/// errors.
#[derive(Debug)]
struct Centred {
    values: Vec<f64>,
    moments: Moments,
    pairs: f64,
}

impl Centred {
    fn of(tree: &Dendrogram) -> Result<Self> {
        let (n, heights) = (tree.n_leaves(), tree.merge_heights());
        let topology = tree.topology().binary();
        if heights.iter().all(|height| *height == heights[0]) {
            return Err(constant("the heights of a tree", heights.first().copied()));
        }
        let size = |part: u32| f64::from(topology.size(part as usize));
        let joined: Vec<f64> = topology.merges().iter().map(|&[a, b]| size(a) * size(b)).collect();
        let over_pairs = |value: &dyn Fn(f64) -> f64, heights: &[f64]| {
            heights.iter().zip(&joined).map(|(&height, count)| value(height) * count).collect::<Sum>().value()
        };
        let pairs = n as f64 * (n as f64 - 1.0) / 2.0;
        let scale = power_of_two(heights.iter().fold(0.0, |largest, height| height.abs().max(largest)));
        let mean = over_pairs(&|height| height * scale, &heights) / pairs;
        let values: Vec<f64> = heights.iter().map(|height| height * scale - mean).collect();
        let moments = Moments::new(over_pairs(&|x| x, &values), over_pairs(&|x| x * x, &values), pairs);
        Ok(Self { values, moments, pairs })
    }
}

fn correlation(a: Moments, b: Moments, both: f64, pairs: f64) -> Result<f64> {
    let together = both - a.sum * b.sum / pairs;
    let apart = a.squares.sqrt() * b.squares.sqrt();
    if apart > 0.0 { Ok((together / apart).clamp(-1.0, 1.0)) } else { Err(constant("heights or values", None)) }
}

fn constant(what: &str, value: Option<f64>) -> Error {
    let all = value.map_or_else(String::new, |value| format!(" ({value})"));
    Error::Argument(format!("{what} are all the same{all}: there is no correlation"))
}

/// Returns a factor that scales numbers up to `largest` to about 1 or less. The factor is a power of two, so scaling is
/// exact.
fn power_of_two(largest: f64) -> f64 {
    if largest > 0.0 { (-largest.log2().floor().clamp(-1000.0, 1000.0)).exp2() } else { 1.0 }
}

fn scaled_mean(matrix: &Matrix<'_>, scale: f64, monitor: &Monitor) -> Result<f64> {
    let n = matrix.n_leaves();
    let mut first = vec![0.0; n - 1];
    matrix.write_row_after(0, false, &mut first);
    let row = |buffer: &mut Vec<f64>, leaf: usize| {
        let values = &mut buffer[..n - leaf - 1];
        matrix.write_row_after(leaf, false, values);
        let same = values.iter().fold(true, |same, &x| same & (x == first[0]));
        (values.chunks(BLOCK).map(|block| plain_sum(block) * scale).collect::<Sum>().value(), same)
    };
    let rows = for_places(n, || vec![0.0; n], row, monitor)?;
    if rows.iter().all(|&(_, same)| same) {
        let sign = if matrix.is_dissimilarity() { -1.0 } else { 1.0 };
        return Err(constant("the values of the matrix", first.first().map(|x| sign * x)));
    }
    let pairs = n as f64 * (n as f64 - 1.0) / 2.0;
    Ok(rows.into_iter().map(|(sum, _)| sum).collect::<Sum>().value() / pairs)
}

const LANES: usize = 8;
/// The number of values that are summed together by SIMD instructions. [`Sum`] then adds these partial sums, with
/// compensation for rounding errors.
const BLOCK: usize = 1 << 10;

fn plain_sum(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    lanes.into_iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// Returns the sums of x, x^2 and x y, where x is `turn(values[k])` and y is `others[k]`.
fn products(values: &[f64], others: &[f64], turn: impl Fn(f64) -> f64) -> [f64; 3] {
    const LANES: usize = 4;
    let mut sums = [Sum::default(); 3];
    for (values, others) in values.chunks(BLOCK).zip(others.chunks(BLOCK)) {
        let mut lanes = [[0.0; LANES]; 3];
        let mut step = |lane: usize, value: f64, y: f64| {
            let x = turn(value);
            lanes[0][lane] += x;
            lanes[1][lane] += x * x;
            lanes[2][lane] += x * y;
        };
        let ((values, rest), (others, rest_others)) = (values.as_chunks::<LANES>(), others.as_chunks::<LANES>());
        for (x, y) in values.iter().zip(others) {
            for lane in 0..LANES {
                step(lane, x[lane], y[lane]);
            }
        }
        for (lane, (&x, &y)) in rest.iter().zip(rest_others).enumerate() {
            step(lane, x, y);
        }
        for (sum, lanes) in sums.iter_mut().zip(lanes) {
            sum.add(lanes.into_iter().sum());
        }
    }
    sums.map(Sum::value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::agglomerate::{Layout, Values};
    use crate::kind::Kind;
    use crate::metric::samples::{Draw, draws, naive_heights, random_tree, two_dendrograms};

    fn heights(tree: &Dendrogram) -> Vec<f64> {
        (0..tree.n_leaves()).flat_map(|i| naive_heights(tree, i).split_off(i + 1)).collect()
    }

    fn naive(x: &[f64], y: &[f64]) -> Option<f64> {
        let deviations = |v: &[f64]| -> Vec<f64> {
            let mean = v.iter().sum::<f64>() / v.len() as f64;
            v.iter().map(|x| x - mean).collect()
        };
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let constant = |v: &[f64]| v.iter().all(|x| *x == v[0]);
        let (dx, dy) = (deviations(x), deviations(y));
        (!constant(x) && !constant(y)).then(|| dot(&dx, &dy) / dot(&dx, &dx).sqrt() / dot(&dy, &dy).sqrt())
    }

    fn assert_close(found: Result<f64>, expected: Option<f64>) {
        match (&found, expected) {
            (Ok(found), Some(expected)) => assert!((found - expected).abs() < 1e-12, "{found} {expected}"),
            (Err(error), None) => assert!(error.to_string().contains("all the same")),
            _ => panic!("{found:?} {expected:?}"),
        }
    }

    fn assert_as_defined(tree: &Dendrogram, dissimilarity: bool, seed: u64) {
        let n = tree.n_leaves();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let noise = f64::from(rng.random_range(0..3u8));
        let condensed: Vec<f64> =
            heights(tree).into_iter().map(|h| (1000.0 * (h + noise * rng.random::<f64>())).round()).collect();
        let pair = |i: usize, j: usize| {
            if i == j { f64::NAN } else { condensed[crate::similarity::Triangle::new(n).index(i, j)] }
        };
        let square: Vec<f64> = (0..n * n).map(|at| pair(at / n, at % n)).collect();
        let narrow: Vec<i32> = square.iter().map(|&x| x as i32).collect();
        let expected = naive(&heights(tree), &condensed);
        let found = |values, layout| {
            cophenetic_correlation(tree, &Matrix::new(values, layout, Kind::of(dissimilarity)).unwrap(), None)
        };
        assert_close(found(Values::F64(&square), Layout::Square), expected);
        assert_close(found(Values::I32(&narrow), Layout::Square), expected);
        if n > 1 {
            assert_close(found(Values::F64(&condensed), Layout::Condensed), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(100) })]

        #[test]
        fn with_a_matrix(n in 1..24usize, draw in draws(), dissimilarity: bool, seed: u64) {
            assert_as_defined(&random_tree(n, draw, seed), dissimilarity, seed);
        }

        #[test]
        fn of_two_trees((a, b) in two_dendrograms(24)) {
            let expected = naive(&heights(&a), &heights(&b));
            assert_close(cophenetic_correlation_of_trees(&a, &b, None), expected);
            assert_close(cophenetic_correlation_of_trees(&b, &a, None), expected);
            assert_close(cophenetic_correlation_of_trees(&a, &a, None), naive(&heights(&a), &heights(&a)));
        }
    }

    #[test]
    fn many_leaves() {
        for caterpillar in [false, true] {
            let draw = Draw { caterpillar, monotone: true, dissimilarity: true, heights: 99 };
            let a = random_tree(300, draw, 1);
            let b = random_tree(300, Draw { monotone: false, ..draw }, 2);
            assert_as_defined(&a, caterpillar, 3);
            let expected = naive(&heights(&a), &heights(&b));
            assert_close(cophenetic_correlation_of_trees(&a, &b, None), expected);
        }
    }

    #[test]
    fn heights_of_any_size() {
        let merges = vec![[0, 1], [2, 3], [4, 5]];
        let tree = |heights: [f64; 3]| Dendrogram::new(merges.clone(), heights.to_vec(), Kind::Dissimilarity).unwrap();
        let plain = tree([1.0, 2.0, 4.0]);
        for (shift, scale) in [(0.0, 2e307), (0.0, 1e-308), (0.0, 5e-324), (1e9, 1e-6), (-1e15, 0.125), (1.0, 2.3e-16)]
        {
            let other = tree([1.0, 2.0, 4.0].map(|h| shift + scale * h));
            let rounded: Vec<f64> = other.heights().iter().map(|h| (h - shift) / scale).collect();
            let [x, y] = [&plain, &tree([rounded[0], rounded[1], rounded[2]])].map(heights);
            let found = cophenetic_correlation_of_trees(&plain, &other, None).unwrap();
            assert!((found - naive(&x, &y).unwrap()).abs() < 1e-14, "{shift} {scale} {found}");
            let values: Vec<f64> = heights(&other).iter().map(|h| h / 32.0).collect();
            let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity);
            if scale > 1e-320 {
                let found = cophenetic_correlation(&other, &matrix.unwrap(), None).unwrap();
                assert!((found - 1.0).abs() < 1e-14, "{shift} {scale} {found}");
            }
        }
    }

    #[test]
    fn what_has_no_correlation() {
        let tree = |heights: &[f64]| {
            let merges = [[0, 1], [2, 3]][..heights.len()].to_vec();
            Dendrogram::new(merges, heights.to_vec(), Kind::Dissimilarity).unwrap()
        };
        let trees =
            |a: &Dendrogram, b: &Dendrogram| cophenetic_correlation_of_trees(a, b, None).unwrap_err().to_string();
        let flat = tree(&[2.0, 2.0]);
        assert_eq!(trees(&flat, &flat), "the heights of a tree are all the same (2): there is no correlation");
        let one = Dendrogram::new(vec![], vec![], Kind::Dissimilarity).unwrap();
        assert!(trees(&one, &one).contains("all the same"));
        assert!(trees(&one, &flat).contains("the second tree has 3"));
        let matrix = Matrix::new(Values::I64(&[3, 3, 3]), Layout::Condensed, Kind::Dissimilarity).unwrap();
        let error = cophenetic_correlation(&tree(&[1.0, 2.0]), &matrix, None).unwrap_err();
        assert!(error.to_string().starts_with("the values of the matrix are all the same (3)"));
        assert!(cophenetic_correlation(&one, &matrix, None).is_err());
    }
}
