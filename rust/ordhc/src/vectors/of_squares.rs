//! Linkages that depend on squared distances of means: Ward's linkage, and average linkage of squared distances.

use super::centroid_tiles::CentroidTiles;
use super::centroid_tree::{CentroidTree, TREE_FROM};
use super::criteria::{About, MeanSquare, OfSquares, Variance};
use super::dense_rows::Vectors;
use super::mean_dot::Unit;
use super::with_heights;
use crate::agglomerate::{Chain, Tolerance, rounding};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, RawMerge};

/// The largest number of coordinates for which a k-d tree of means is faster than comparing all pairs of means.
const FEW: usize = 8;

/// Returns Ward's linkage of Euclidean distances, without a matrix of pairs.
///
/// Clusters of sizes a and b whose centroids have distance d merge at the height sqrt(2 a b / (a + b)) d, as in
/// [`Rule::Ward`](crate::linkage::Rule::Ward) and SciPy. A nearest-neighbour chain takes O(n^2 p) time. For few
/// coordinates, a k-d tree of centroids usually takes O(n log n). The memory is O(n p), for copies of the vectors in
/// double and single precision. Clusters are named by their smallest leaves. Among ties, up to rounding, the
/// lexicographically smallest pair of names merges first.
///
/// # Errors
/// Heights that overflow; not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::vectors::{Vectors, ward_linkage};
///
/// let vectors = Vectors::new(&[0.0, 2.0, 9.0], 3, 1)?;
/// let tree = ward_linkage(&vectors, None)?;
/// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
/// assert_eq!(tree.heights(), [2.0, (256.0f64 / 3.0).sqrt()]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn ward_linkage(vectors: &Vectors<'_>, monitor: Option<&Monitor>) -> Result<Dendrogram> {
    watched!(monitor);
    linkage(vectors, Variance, TREE_FROM, |unit, x| unit.grow((-x).sqrt(), 1), monitor)
}

/// Returns the average linkage of squared Euclidean distances, without a matrix of pairs.
///
/// Heights are mean squared distances. The mean squared distance of two clusters is the squared distance of their
/// centroids, plus the mean squared distance of each cluster's vectors to its centroid. The mean of unsquared distances
/// is not a function of the centroids, so it needs [`Agglomeration`](crate::agglomerate::Agglomeration) of a matrix.
///
/// A nearest-neighbour chain takes O(n^2 p) time. For few coordinates, a k-d tree of centroids usually takes O(n log
/// n). The memory is O(n p), for copies of the vectors in double and single precision. Clusters are named by their
/// smallest leaves. Among ties, up to rounding, the lexicographically smallest pair of names merges first.
///
/// # Errors
/// Heights that overflow; not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::vectors::{Vectors, mean_square_linkage};
///
/// let vectors = Vectors::new(&[0.0, 2.0, 9.0], 3, 1)?;
/// let tree = mean_square_linkage(&vectors, None)?;
/// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
/// assert_eq!(tree.heights(), [4.0, (81.0 + 49.0) / 2.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn mean_square_linkage(vectors: &Vectors<'_>, monitor: Option<&Monitor>) -> Result<Dendrogram> {
    watched!(monitor);
    linkage(vectors, MeanSquare, TREE_FROM, |unit, x| unit.grow(-x, 2), monitor)
}

/// Computes the linkage whose similarity of clusters is `criterion`. For at least `tree_from` vectors, a k-d tree of
/// means is used. `criterion` receives scaled coordinates, and `height` converts its similarities to heights for the
/// original coordinates.
fn linkage<C: OfSquares>(
    vectors: &Vectors<'_>,
    criterion: impl FnOnce(Tolerance) -> C,
    tree_from: usize,
    height: impl Fn(Unit, f64) -> f64,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    let (n, p) = (vectors.n_leaves(), vectors.n_coordinates());
    let unit = Unit::below_one(vectors.largest());
    let row = |leaf: usize| vectors.row(leaf).map(move |x| unit.shrink(x));
    let tolerance = Tolerance::rounded(4.0 * rounding(n + p), 0.0);
    let criterion = criterion(tolerance);
    monitor.start((n * n / 2) as u64);
    let merges = if n >= tree_from && (1..=FEW).contains(&p) {
        let points: Vec<f64> = (0..n).flat_map(row).collect();
        Chain::merges_of(&mut CentroidTree::new(points, p, vec![About::LEAF; n], criterion), monitor)?
    } else {
        Chain::merges_of(&mut CentroidTiles::new(n, p, row, criterion)?, monitor)?
    };
    let mut tree = Dendrogram::in_order(n, RawMerge::sort(n, merges, tolerance))?;
    tree.make_monotone();
    with_heights(tree, true, |x| height(unit, x))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
    use crate::error::Error;
    use crate::kind::Kind;
    use crate::linkage::Rule;

    fn both(values: &[f64], n: usize, p: usize, tree_from: usize) -> [Dendrogram; 2] {
        let (vectors, monitor) = (Vectors::new(values, n, p).unwrap(), Monitor::new());
        let ward = linkage(&vectors, Variance, tree_from, |unit, x| unit.grow((-x).sqrt(), 1), &monitor);
        [ward, linkage(&vectors, MeanSquare, tree_from, |unit, x| unit.grow(-x, 2), &monitor)].map(Result::unwrap)
    }

    proptest! {
        #[test]
        fn as_from_a_matrix((n, p, values) in (1..70usize, prop_oneof![1..4usize, 4..20usize]).prop_flat_map(|(n, p)| {
            (Just(n), Just(p), prop::collection::vec(-3.0..3.0f64, n * p))
        }), tied: bool) {
            let values: Vec<f64> = if tied { values.iter().map(|x| x.round()).collect() } else { values };
            let square = |i: usize, j: usize| -> f64 {
                (0..p).map(|k| (values[i * p + k] - values[j * p + k]).powi(2)).sum::<f64>()
            };
            let squares: Vec<f64> = (0..n * n).map(|at| square(at / n, at % n)).collect();
            let distances: Vec<f64> = squares.iter().map(|x| x.sqrt()).collect();
            // Ward's recurrence subtracts squared distances. If the difference is near 0, its square root magnifies the
            // rounding error.
            for (which, rule, pairs, near) in [(0, Rule::Ward, &distances, 1e-7), (1, Rule::Average, &squares, 0.0)] {
                let matrix = Matrix::new(Values::F64(pairs), Layout::Square, Kind::Dissimilarity).unwrap();
                let expected = Agglomeration::new(rule).engine(Engine::Naive).run(&matrix).unwrap();
                for tree_from in [0, usize::MAX] {
                    let tree = &both(&values, n, p, tree_from)[which];
                    prop_assert_eq!(tree.merges(), expected.merges());
                    for (a, b) in tree.heights().iter().zip(expected.heights()) {
                        prop_assert!((a - b).abs() <= near + 1e-12 * b, "{} {}", a, b);
                    }
                }
            }
        }
    }

    #[test]
    fn equal_vectors_merge_in_order_and_mistakes_are_named() {
        let one_by_one: Vec<[u32; 2]> = (1..20).map(|k| if k == 1 { [0, 1] } else { [k, 18 + k] }).collect();
        for tree in [0, usize::MAX].map(|tree_from| both(&[0.1; 60], 20, 3, tree_from)).concat() {
            assert_eq!(tree.merges(), one_by_one);
            assert_eq!(tree.heights(), [0.0; 19]);
        }
        let large = Vectors::new(&[1e200, -1e200], 2, 1).unwrap();
        let error = mean_square_linkage(&large, None).unwrap_err().to_string();
        assert!(error.contains("too large"), "{error}");
        let monitor = Monitor::new();
        monitor.cancel();
        for linkage in [ward_linkage, mean_square_linkage] {
            assert_eq!(linkage(&large, Some(&monitor)), Err(Error::Interrupted));
        }
    }
}
