//! The revenue of a tree under comparisons.

use super::count::same_leaves;
use super::sum::Sum;
use crate::comparison::Comparisons;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::{LcaSizes, Topology};

/// The [`revenue`](revenue()) of a tree: an integer for unweighted comparisons, otherwise a float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Revenue {
    /// The exact sum of unweighted comparisons.
    Whole(i64),
    /// The sum of weighted comparisons.
    Weighted(f64),
}

impl Revenue {
    /// Returns the value as a float.
    ///
    /// ```
    /// assert_eq!(ordhc::metric::Revenue::Whole(-3).to_f64(), -3.0);
    /// ```
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Weighted(value) => value,
        }
    }

    fn whole(value: i128) -> Result<Self> {
        let too_large = || {
            Error::Argument(format!(
                "the revenue {value} overflows a 64-bit integer; give weights of 1.0 to compute it as a float"
            ))
        };
        i64::try_from(value).map(Self::Whole).map_err(|_| too_large())
    }

    fn weighted(value: f64) -> Result<Self> {
        if value.is_finite() {
            return Ok(Self::Weighted(value));
        }
        Err(Error::Argument("the weights are so large that the revenue overflows a float; rescale them".into()))
    }
}

/// Returns the revenue of a tree: the sum over comparisons of w (|H(farther pair)| - |H(closer pair)|), where w is the
/// weight of the comparison, and |H(i, j)| is the number of leaves below the lowest common ancestor of i and j.
///
/// This is the triplet revenue Trev or the quadruplet revenue Qrev of Mandal, Perrot & Ghoshdastidar, "A revenue
/// function for comparison-based hierarchical clustering" (equations 3 and 4). Higher is better, and [`best_revenue`]
/// is an upper bound. The time is linear in the number of comparisons. The result does not depend on the number of
/// threads.
///
/// # Errors
/// Comparisons and a tree with different numbers of leaves; a value too large for its type; [`Error::Interrupted`].
///
/// ```
/// use ordhc::metric::{Revenue, revenue};
/// use ordhc::{Dendrogram, Kind, Monitor, Triplets};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![2.0, 1.0], Kind::Similarity)?;
/// let triplets = Triplets::new(vec![[0, 1, 2], [0, 2, 1], [1, 0, 2]], None)?;
/// assert_eq!(revenue(tree.topology(), &triplets, None)?, Revenue::Whole(1));
///
/// let monitor = Monitor::new();
/// assert_eq!(revenue(tree.topology(), &triplets, Some(&monitor))?, Revenue::Whole(1));
/// assert_eq!(monitor.fraction(), 1.0);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn revenue<const K: usize>(
    tree: &Topology,
    comparisons: &Comparisons<'_, K>,
    monitor: Option<&Monitor>,
) -> Result<Revenue> {
    watched!(monitor);
    same_leaves(["the tree has", "the comparisons have"], [tree.n_leaves(), comparisons.n_leaves()])?;
    let lca = LcaSizes::new(tree);
    let n = tree.n_leaves();
    // For few leaves and many comparisons, a table is faster. The table has the number of leaves below the LCA of each
    // pair.
    if n <= 2048 && comparisons.len() > n * n / 4 {
        let table: Vec<u16> = (0..n * n).map(|at| lca.size(at / n, at % n) as u16).collect();
        return sum(comparisons, |[i, j]| i64::from(table[i * n + j]), monitor);
    }
    sum(comparisons, |[i, j]| i64::from(lca.size(i, j)), monitor)
}

/// Returns an upper bound of the revenue: the sum over comparisons of w (n - 2), where w is the weight of the
/// comparison, and n is the number of leaves.
///
/// The bound assumes that every farther pair joins at the root, and every closer pair in a cluster of two leaves. For
/// most sets of comparisons, no tree reaches the bound. But `revenue / best_revenue` is at most 1, and can be compared
/// between sets of different sizes. The bound is 0 without comparisons.
///
/// # Errors
/// A value too large for its type.
///
/// ```
/// use ordhc::metric::{best_revenue, revenue};
/// use ordhc::{Dendrogram, Kind, Triplets};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![2.0, 1.0], Kind::Similarity)?;
/// let triplets = Triplets::new(vec![[0, 1, 2], [0, 2, 1], [1, 0, 2]], None)?;
/// let normalized = revenue(tree.topology(), &triplets, None)?.to_f64() / best_revenue(&triplets)?.to_f64();
/// assert_eq!(normalized, 1.0 / 3.0);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn best_revenue<const K: usize>(comparisons: &Comparisons<'_, K>) -> Result<Revenue> {
    let each = comparisons.n_leaves().saturating_sub(2);
    match comparisons.weights() {
        None => Revenue::whole(comparisons.len() as i128 * each as i128),
        Some(weights) => Revenue::weighted(weights.iter().map(|w| w * each as f64).collect::<Sum>().value()),
    }
}

fn sum<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    size: impl Fn([usize; 2]) -> i64 + Sync,
    monitor: &Monitor,
) -> Result<Revenue> {
    let gain = |row: &[i32; K]| {
        let (near, far) = Comparisons::<K>::pairs(row);
        size(far) - size(near)
    };
    let rows = comparisons.rows();
    match comparisons.weights() {
        None => {
            // The sum does not overflow: gains are below 2^31, and each range `block` has at most 2^14 comparisons.
            let sums = parallel::watched_blocks(rows.len(), monitor, |block| {
                let mut sum = 0;
                rows.each(block, |_, row| sum += gain(row));
                sum
            })?;
            Revenue::whole(sums.into_iter().map(i128::from).sum())
        }
        Some(weights) => {
            let sums = parallel::watched_blocks(rows.len(), monitor, |block| {
                block.map(|at| weights[at] * gain(&rows.row(at)) as f64).collect::<Sum>().value()
            })?;
            Revenue::weighted(sums.into_iter().collect::<Sum>().value())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Quadruplets, Triplets};
    use crate::kind::Kind;
    use crate::tree::Dendrogram;

    #[test]
    fn tables_and_questions_agree() {
        let tree = Dendrogram::new(vec![[0, 3], [1, 2], [5, 6], [4, 7]], vec![0.0; 4], Kind::Dissimilarity).unwrap();
        let all: Vec<[i32; 3]> = (0..5)
            .flat_map(|i| (0..5).flat_map(move |j| (0..5).map(move |k| [i, j, k])))
            .filter(|[i, j, k]| i != j && i != k && j < k)
            .collect();
        let lca = LcaSizes::new(tree.topology());
        let expected: i64 = all
            .iter()
            .map(|&[i, j, k]| i64::from(lca.size(i as usize, k as usize)) - i64::from(lca.size(i as usize, j as usize)))
            .sum();
        assert_eq!(
            revenue(tree.topology(), &Triplets::new(all.clone(), None).unwrap(), None).unwrap(),
            Revenue::Whole(expected)
        );
        let few = Triplets::new(all[..2].to_vec(), Some(5)).unwrap();
        let single = |row: &[i32; 3]| match revenue(tree.topology(), &Triplets::new(vec![*row], Some(5)).unwrap(), None)
            .unwrap()
        {
            Revenue::Whole(value) => value,
            Revenue::Weighted(_) => unreachable!(),
        };
        assert_eq!(revenue(tree.topology(), &few, None).unwrap(), Revenue::Whole(single(&all[0]) + single(&all[1])));
        let four: Vec<[i32; 4]> = all.iter().map(|&[i, j, k]| [i, j, i, k]).collect();
        assert_eq!(
            revenue(tree.topology(), &Quadruplets::new(four, None).unwrap(), None).unwrap(),
            Revenue::Whole(expected)
        );
        let doubled = Triplets::new(all.clone(), None).unwrap().with_weights(vec![2.0; all.len()]).unwrap();
        assert_eq!(revenue(tree.topology(), &doubled, None).unwrap(), Revenue::Weighted(2.0 * expected as f64));
        assert!(revenue(tree.topology(), &Triplets::new(vec![[0, 1, 2]], None).unwrap(), None).is_err());
    }

    #[test]
    fn no_revenue_is_above_the_best() {
        let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity).unwrap();
        let rows = vec![[0, 1, 2], [1, 0, 2], [1, 0, 2]];
        let triplets = Triplets::new(rows.clone(), None).unwrap();
        assert_eq!(best_revenue(&triplets), Ok(Revenue::Whole(3)));
        assert_eq!(revenue(tree.topology(), &triplets, None), best_revenue(&triplets));
        let weighted = triplets.with_weights(vec![0.5, 1.0, 0.0]).unwrap();
        assert_eq!(best_revenue(&weighted), Ok(Revenue::Weighted(1.5)));
        assert_eq!(revenue(tree.topology(), &weighted, None), best_revenue(&weighted));
        let pairs = Quadruplets::new(vec![[0, 1, 2, 3]], Some(10)).unwrap();
        assert_eq!(best_revenue(&pairs), Ok(Revenue::Whole(8)));
        let none = Triplets::new(Vec::<[i32; 3]>::new(), Some(1)).unwrap();
        assert_eq!(best_revenue(&none), Ok(Revenue::Whole(0)));
        assert_eq!(
            revenue(Dendrogram::new(vec![], vec![], Kind::Dissimilarity).unwrap().topology(), &none, None),
            Ok(Revenue::Whole(0))
        );
    }

    #[test]
    fn ids_of_any_width() {
        let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity).unwrap();
        let scores = |found: [Result<Revenue>; 2]| assert_eq!(found, [Ok(Revenue::Whole(0)), Ok(Revenue::Whole(2))]);
        let narrow = Triplets::new(vec![[0u8, 1, 2], [0, 2, 1]], None).unwrap();
        scores([revenue(tree.topology(), &narrow, None), best_revenue(&narrow)]);
        let middle = Triplets::new(vec![[0u16, 1, 2], [0, 2, 1]], None).unwrap();
        scores([revenue(tree.topology(), &middle, None), best_revenue(&middle)]);
    }

    #[test]
    fn weights_of_any_size() {
        let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity).unwrap();
        let weighted = |rows, weights: Vec<f64>| {
            let triplets = Triplets::new(rows, None).unwrap().with_weights(weights).unwrap();
            (revenue(tree.topology(), &triplets, None), best_revenue(&triplets))
        };
        let (found, best) = weighted(vec![[0, 1, 2], [1, 0, 2], [0, 2, 1]], vec![1e17, 1.0, 1e17]);
        assert_eq!(found, Ok(Revenue::Weighted(1.0)));
        assert_eq!(best, Ok(Revenue::Weighted(2e17)));
        let (found, best) = weighted(vec![[0, 1, 2], [1, 0, 2]], vec![f64::MAX; 2]);
        assert!(found.unwrap_err().to_string().contains("overflows") && best.is_err());
        assert!(Revenue::whole(1 << 63).is_err() && Revenue::whole(-(1 << 63)).is_ok());
    }
}
