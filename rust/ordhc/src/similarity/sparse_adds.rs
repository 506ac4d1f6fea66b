//! AddS3 and AddS4 of few comparisons of many leaves.

use std::ops::Range;

use crate::agglomerate::{Pair, SparsePairs};
use crate::comparison::{Comparisons, Id};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;

/// The pairs of leaves whose AddS similarity is not zero: those of [`adds`](super::adds), without a place for
/// every pair.
///
/// Memory and time are those of sorting the comparisons, 16 bytes for each, 32 if they have weights.
///
/// # Errors
/// Not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::{Monitor, Triplets, similarity::sparse_adds};
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2], [2, 1, 0]], None)?;
/// let pairs = sparse_adds(&triplets, &Monitor::new())?;
/// assert_eq!(pairs.to_csr(), (vec![0, 2, 3, 4], vec![1, 2, 0, 0], vec![2.0, -2.0, 2.0, -2.0]));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn sparse_adds<const K: usize, I: Id>(
    comparisons: &Comparisons<'_, K, I>,
    monitor: &Monitor,
) -> Result<SparsePairs> {
    let n = comparisons.n_leaves();
    let bytes = if comparisons.weights().is_some() { 32 } else { 16 };
    memory::check("the pairs that were compared", bytes * comparisons.len() as u64)?;
    let threads = parallel::ranges(comparisons.len(), 1 << 16).len();
    monitor.start(threads as u64);
    // Leaves with about the same number of pairs each: a thread takes the pairs whose first leaf is one of its own.
    let end = |p: usize| (n as f64 * (1.0 - (1.0 - p as f64 / threads as f64).sqrt())) as usize;
    let parts = (0..threads).map(|p| end(p)..if p + 1 == threads { n } else { end(p + 1) }).collect();
    let found = parallel::map(parts, |leaves| {
        let pairs = match comparisons.weights() {
            None => counted(comparisons, &leaves),
            Some(weights) => weighted(comparisons, weights, &leaves),
        };
        monitor.advance(1).map(|()| pairs)
    });
    let pairs = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
    SparsePairs::ascending(n, pairs, false)
}

/// The pairs of a row as numbers in the order of pairs, the closer one first.
fn keys<const K: usize, I: Id>(row: &[I; K], leaves: &Range<usize>) -> [Option<u64>; 2] {
    let (near, far) = Comparisons::<K, I>::pairs(row);
    [near, far].map(|[a, b]| leaves.contains(&a.min(b)).then(|| (a.min(b) as u64) << 32 | a.max(b) as u64))
}

fn pair(key: u64, similarity: f64) -> Option<Pair> {
    (similarity != 0.0).then_some(Pair { i: (key >> 32) as u32, j: key as u32, similarity })
}

fn counted<const K: usize, I: Id>(comparisons: &Comparisons<'_, K, I>, leaves: &Range<usize>) -> Vec<Pair> {
    let codes = |row| {
        let [near, far] = keys(row, leaves);
        [near.map(|key| key << 1), far.map(|key| key << 1 | 1)].into_iter().flatten()
    };
    let mut codes: Vec<u64> = comparisons.rows().iter().flat_map(codes).collect();
    codes.sort_unstable();
    let sum = |codes: &[u64]| {
        let far = codes.iter().filter(|&code| code & 1 == 1).count();
        pair(codes[0] >> 1, codes.len() as f64 - 2.0 * far as f64)
    };
    codes.chunk_by(|a, b| a >> 1 == b >> 1).filter_map(sum).collect()
}

fn weighted<const K: usize, I: Id>(
    comparisons: &Comparisons<'_, K, I>,
    weights: &[f64],
    leaves: &Range<usize>,
) -> Vec<Pair> {
    let signed = |(row, &weight): (_, &f64)| {
        let [near, far] = keys(row, leaves);
        [near.map(|key| (key, weight)), far.map(|key| (key, -weight))].into_iter().flatten()
    };
    let mut updates: Vec<(u64, f64)> = comparisons.rows().iter().zip(weights).flat_map(signed).collect();
    // Stable: each pair sees its weights in the order of the rows.
    updates.sort_by_key(|&(key, _)| key);
    let sum = |updates: &[(u64, f64)]| pair(updates[0].0, updates.iter().fold(0.0, |sum, (_, weight)| sum + weight));
    updates.chunk_by(|a, b| a.0 == b.0).filter_map(sum).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comparison::Triplets;
    use crate::similarity::{adds, condensed_len, pair_index};

    fn check(triplets: &Triplets<'_>) {
        let n = triplets.n_leaves();
        let mut expected = vec![0.0; condensed_len(n)];
        adds(triplets, &mut expected, &Monitor::new()).unwrap();
        let (starts, columns, values) = sparse_adds(triplets, &Monitor::new()).unwrap().to_csr();
        let mut found = vec![0.0; condensed_len(n)];
        for row in 0..n {
            for at in starts[row] as usize..starts[row + 1] as usize {
                let (i, j) = (row.min(columns[at] as usize), row.max(columns[at] as usize));
                assert!(values[at] != 0.0 && i < j);
                found[pair_index(n, i, j)] = values[at];
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

    #[test]
    fn many_on_several_threads() {
        let leaf = |k: usize, step: usize| (k * step % 300) as i32;
        let rows: Vec<[i32; 3]> =
            (0..200_000).map(|k| [leaf(k, 7919), leaf(k + 1, 104_729), leaf(k + 2, 1_299_709)]).collect();
        let rows: Vec<[i32; 3]> = rows.into_iter().filter(|[i, j, k]| i != j && i != k && j != k).collect();
        assert!(rows.len() > 1 << 17);
        check(&Triplets::new(rows, Some(300)).unwrap());
    }
}
