//! Ward's linkage of vectors: centroids and sizes tell how much the variance would grow.

use super::centroid_tree::TREE_FROM;
use super::criteria::Variance;
use super::dense_rows::Vectors;
use super::of_squares;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::Dendrogram;

/// Ward's linkage of Euclidean distances without a matrix of pairs.
///
/// Clusters of sizes a and b whose centroids have distance d merge at the height sqrt(2 a b / (a + b)) d, which
/// is that of [`Rule::Ward`](crate::linkage::Rule::Ward) and of SciPy. Time is O(n^2 p), by a
/// nearest-neighbour chain, for few coordinates mostly O(n log n), by a k-d tree of centroids; memory O(n p): copies of
/// the vectors in double and single precision. Ties, up to rounding, take the
/// pair with the lexicographically smallest (smallest leaf, smallest leaf).
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
    ward_from(vectors, TREE_FROM, monitor)
}

fn ward_from(vectors: &Vectors<'_>, tree_from: usize, monitor: &Monitor) -> Result<Dendrogram> {
    of_squares::linkage(vectors, Variance, tree_from, |unit, x| unit.grow((-x).sqrt(), 1), monitor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
    use crate::error::Error;
    use crate::kind::Kind;
    use crate::linkage::Rule;

    proptest! {
        #[test]
        fn as_from_a_matrix((n, p, values) in (1..70usize, prop_oneof![1..20usize, 1..4usize]).prop_flat_map(|(n, p)| {
            (Just(n), Just(p), prop::collection::vec(-3.0..3.0f64, n * p))
        }), tied: bool) {
            let values: Vec<f64> = if tied { values.iter().map(|x| x.round()).collect() } else { values };
            let pair = |i: usize, j: usize| -> f64 {
                (0..p).map(|k| (values[i * p + k] - values[j * p + k]).powi(2)).sum::<f64>().sqrt()
            };
            let square: Vec<f64> = (0..n * n).map(|at| pair(at / n, at % n)).collect();
            let matrix = Matrix::new(Values::F64(&square), Layout::Square, Kind::Dissimilarity).unwrap();
            let expected = Agglomeration::new(Rule::Ward).engine(Engine::Naive).run(&matrix).unwrap();
            for tree_from in [0, usize::MAX] {
                let tree = ward_from(&Vectors::new(&values, n, p).unwrap(), tree_from, &Monitor::new()).unwrap();
                prop_assert_eq!(tree.merges(), expected.merges());
                for (a, b) in tree.heights().iter().zip(expected.heights()) {
                    prop_assert!((a - b).abs() <= 1e-7 + 1e-12 * b, "{} {}", a, b);
                }
            }
        }
    }

    #[test]
    fn work_can_be_stopped_and_equal_vectors_merge_in_order() {
        let vectors = Vectors::new(&[0.1; 60], 20, 3).unwrap();
        let one_by_one: Vec<[u32; 2]> = (1..20).map(|k| if k == 1 { [0, 1] } else { [k, 18 + k] }).collect();
        for tree_from in [0, usize::MAX] {
            let tree = ward_from(&vectors, tree_from, &Monitor::new()).unwrap();
            assert_eq!(tree.merges(), one_by_one);
            assert_eq!(tree.heights(), [0.0; 19]);
        }
        let monitor = Monitor::new();
        monitor.cancel();
        assert_eq!(ward_linkage(&vectors, Some(&monitor)), Err(Error::Interrupted));
    }
}
