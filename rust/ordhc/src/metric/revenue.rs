//! The revenue of a tree under comparisons.

use crate::comparison::{Comparisons, Id};
use crate::error::{Error, Result};
use crate::parallel;
use crate::tree::{Dendrogram, LcaSizes};

/// A revenue: exact for unweighted comparisons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Revenue {
    /// The exact sum of unweighted comparisons.
    Whole(i64),
    /// The sum of weighted comparisons.
    Weighted(f64),
}

/// Sum over comparisons of w (|H(farther pair)| - |H(closer pair)|), where |H(i, j)| is the number
/// of leaves under the LCA of i and j.
///
/// The triplet revenue Trev and the quadruplet revenue Qrev of Mandal, Perrot & Ghoshdastidar,
/// "A revenue function for comparison-based hierarchical clustering" (equations 3 and 4): higher is
/// better. Linear in the number of comparisons; the result does not depend on the number of threads.
///
/// # Errors
/// Comparisons over another number of leaves than the tree's.
///
/// ```
/// use ordhc::metric::{Revenue, revenue};
/// use ordhc::{Dendrogram, Triplets};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![2.0, 1.0], false)?;
/// let triplets = Triplets::new(vec![[0, 1, 2], [0, 2, 1], [1, 0, 2]], None)?;
/// assert_eq!(revenue(&tree, &triplets)?, Revenue::Whole(1));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn revenue<const K: usize, I: Id>(tree: &Dendrogram, comparisons: &Comparisons<'_, K, I>) -> Result<Revenue> {
    if tree.n_leaves() != comparisons.n_leaves() {
        return Err(Error::Shape(format!(
            "the tree has {} leaves, the comparisons have {}",
            tree.n_leaves(),
            comparisons.n_leaves()
        )));
    }
    let lca = LcaSizes::new(tree);
    let n = tree.n_leaves();
    // For few leaves and many comparisons all answers fit into a table.
    if n <= 2048 && comparisons.len() > n * n / 4 {
        let table: Vec<u16> = (0..n * n).map(|at| lca.size(at / n, at % n) as u16).collect();
        return Ok(sum(comparisons, |[i, j]| i64::from(table[i * n + j])));
    }
    Ok(sum(comparisons, |[i, j]| i64::from(lca.size(i, j))))
}

/// Rows that are summed one after the other; sums of blocks are added in order.
const BLOCK: usize = 1 << 14;

fn sum<const K: usize, I: Id>(comparisons: &Comparisons<'_, K, I>, size: impl Fn([usize; 2]) -> i64 + Sync) -> Revenue {
    let gain = |row: &[I; K]| {
        let (near, far) = Comparisons::<K, I>::pairs(row);
        size(far) - size(near)
    };
    let rows = comparisons.rows();
    let n_blocks = rows.len().div_ceil(BLOCK);
    let parts = parallel::ranges(n_blocks, 2);
    let block = |b: usize| b * BLOCK..((b + 1) * BLOCK).min(rows.len());
    match comparisons.weights() {
        None => {
            let sums = parallel::map(parts, |blocks| {
                blocks.map(|b| rows[block(b)].iter().map(gain).sum::<i64>()).sum::<i64>()
            });
            Revenue::Whole(sums.into_iter().sum())
        }
        Some(weights) => {
            let sums = parallel::map(parts, |blocks| {
                let one = |b: usize| -> f64 {
                    rows[block(b)].iter().zip(&weights[block(b)]).map(|(row, w)| w * gain(row) as f64).sum()
                };
                blocks.map(one).collect::<Vec<f64>>()
            });
            Revenue::Weighted(sums.into_iter().flatten().sum())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Quadruplets, Triplets};

    #[test]
    fn tables_and_questions_agree() {
        let tree = Dendrogram::new(vec![[0, 3], [1, 2], [5, 6], [4, 7]], vec![0.0; 4], true).unwrap();
        let all: Vec<[i32; 3]> = (0..5)
            .flat_map(|i| (0..5).flat_map(move |j| (0..5).map(move |k| [i, j, k])))
            .filter(|[i, j, k]| i != j && i != k && j < k)
            .collect();
        let lca = LcaSizes::new(&tree);
        let expected: i64 = all
            .iter()
            .map(|&[i, j, k]| i64::from(lca.size(i as usize, k as usize)) - i64::from(lca.size(i as usize, j as usize)))
            .sum();
        assert_eq!(revenue(&tree, &Triplets::new(all.clone(), None).unwrap()).unwrap(), Revenue::Whole(expected));
        let few = Triplets::new(all[..2].to_vec(), Some(5)).unwrap();
        let single = |row: &[i32; 3]| match revenue(&tree, &Triplets::new(vec![*row], Some(5)).unwrap()).unwrap() {
            Revenue::Whole(value) => value,
            Revenue::Weighted(_) => unreachable!(),
        };
        assert_eq!(revenue(&tree, &few).unwrap(), Revenue::Whole(single(&all[0]) + single(&all[1])));
        let four: Vec<[i32; 4]> = all.iter().map(|&[i, j, k]| [i, j, i, k]).collect();
        assert_eq!(revenue(&tree, &Quadruplets::new(four, None).unwrap()).unwrap(), Revenue::Whole(expected));
        let doubled = Triplets::new(all.clone(), None).unwrap().with_weights(vec![2.0; all.len()]).unwrap();
        assert_eq!(revenue(&tree, &doubled).unwrap(), Revenue::Weighted(2.0 * expected as f64));
        assert!(revenue(&tree, &Triplets::new(vec![[0, 1, 2]], None).unwrap()).is_err());
    }
}
