//! AddS3 and AddS4 for few comparisons of many leaves, as a sparse matrix.

use super::runs::{PAIRS, Run, RunOptions, sorted_run};
use crate::agglomerate::{Pair, SparsePairs};
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;

/// Returns the pairs of leaves whose AddS similarity is not zero. The similarities are those of [`adds`](super::adds),
/// but no vector of all pairs is needed.
///
/// The memory is 16 bytes for each comparison (32 with weights), and up to 32 bytes for each returned pair. The time is
/// that of sorting the comparisons and pairs.
///
/// # Errors
/// Weights whose sums are not finite; not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::{Triplets, similarity::sparse_adds};
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2], [2, 1, 0]], None)?;
/// let pairs = sparse_adds(&triplets, None)?;
/// assert_eq!(pairs.to_csr(None)?, (vec![0, 2, 3, 4], vec![1, 2, 0, 0], vec![2.0, -2.0, 2.0, -2.0]));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn sparse_adds<const K: usize>(comparisons: &Comparisons<'_, K>, monitor: Option<&Monitor>) -> Result<SparsePairs> {
    entered!(adds_sparse);
    watched!(monitor);
    let Run { keys, values } = sorted_run(comparisons, RunOptions { both: false, sum: true }, Some(monitor))?;
    let pair = |(&key, &similarity): (&u64, &f64)| Pair { i: (key >> 32) as u32, j: key as u32, similarity };
    let pairs = memory::collected(PAIRS, keys.len(), keys.iter().zip(&values).map(pair))?;
    SparsePairs::ascending(comparisons.n_leaves(), pairs, false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comparison::Triplets;
    use crate::similarity::{Triangle, adds, condensed_len};

    fn check(triplets: &Triplets<'_>) {
        let n = triplets.n_leaves();
        let mut expected = vec![0.0; condensed_len(n)];
        adds(triplets, &mut expected, None).unwrap();
        let (starts, columns, values) = sparse_adds(triplets, None).unwrap().to_csr(None).unwrap();
        let mut found = vec![0.0; condensed_len(n)];
        for row in 0..n {
            for at in starts[row] as usize..starts[row + 1] as usize {
                let (i, j) = (row.min(columns[at] as usize), row.max(columns[at] as usize));
                assert!(values[at] != 0.0 && i < j);
                found[Triangle::new(n).index(i, j)] = values[at];
            }
        }
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn as_with_a_place_for_every_pair(
            rows in prop::collection::vec((0i32..9, 0i32..9, 0i32..9), 0..60), weighted: bool
        ) {
            let rows: Vec<[i32; 3]> =
                rows.into_iter().filter(|&(i, j, k)| i != j && i != k && j != k).map(|(i, j, k)| [i, j, k]).collect();
            let weights: Vec<f64> = (0..rows.len()).map(|k| k as f64 * 0.3).collect();
            let triplets = Triplets::new(rows, Some(9)).unwrap();
            check(&if weighted { triplets.with_weights(weights).unwrap() } else { triplets });
        }
    }
}
