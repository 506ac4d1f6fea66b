//! AddS3 and AddS4 for few comparisons of many leaves, as a sparse matrix.

use std::ops::Range;

use crate::agglomerate::{Pair, SparsePairs};
use crate::comparison::Comparisons;
use crate::error::{Error, Position, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;
use crate::sorting::{sort, sort_by_key};

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
    let n = comparisons.n_leaves();
    let threads = parallel::ranges(comparisons.len(), 1 << 16).len();
    monitor.start(threads as u64);
    // Pairs are assigned to threads by their first leaf, so that each thread has about the same number of pairs.
    let end = |p: usize| (n as f64 * (1.0 - (1.0 - p as f64 / threads as f64).sqrt())) as usize;
    let parts = (0..threads).map(|p| end(p)..if p + 1 == threads { n } else { end(p + 1) }).collect();
    let found = parallel::map(parts, |leaves| {
        let pairs = match comparisons.weights() {
            None => counted(comparisons, &leaves, monitor),
            Some(weights) => weighted(comparisons, weights, &leaves, monitor),
        }?;
        monitor.advance(1).map(|()| pairs)
    });
    let mut found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let pairs = match &mut found[..] {
        [pairs] => std::mem::take(pairs),
        _ => {
            let n_pairs = found.iter().map(Vec::len).sum();
            memory::collected(PAIRS, n_pairs, found.into_iter().flatten())?
        }
    };
    SparsePairs::ascending(n, pairs, false)
}

fn keys<const K: usize>(row: &[i32; K], leaves: &Range<usize>) -> [Option<u64>; 2] {
    let (near, far) = Comparisons::<K>::pairs(row);
    [near, far].map(|[a, b]| leaves.contains(&a.min(b)).then(|| (a.min(b) as u64) << 32 | a.max(b) as u64))
}

fn pair(key: u64, similarity: f64) -> Option<Pair> {
    (similarity != 0.0).then_some(Pair { i: (key >> 32) as u32, j: key as u32, similarity })
}

const PAIRS: &str = "the pairs that were compared";

/// Returns `keep(key, row, is_closer)` for each pair of all comparisons, in the order of the rows. `key` is the pair of
/// leaves `i < j` as the integer `i 2^32 + j`, and `row` is the index of the comparison. Pairs whose first leaf is not
/// in `leaves` are skipped.
fn all_keys<T, const K: usize>(
    comparisons: &Comparisons<'_, K>,
    leaves: &Range<usize>,
    monitor: &Monitor,
    keep: impl Fn(u64, usize, bool) -> T,
) -> Result<Vec<T>> {
    let mut n_keys = 0;
    comparisons.rows().each_watched(monitor, |_, row| n_keys += keys(row, leaves).iter().flatten().count())?;
    let mut kept = memory::room(PAIRS, n_keys)?;
    comparisons.rows().each_watched(monitor, |at, row| {
        let [near, far] = keys(row, leaves);
        kept.extend(near.map(|key| keep(key, at, true)));
        kept.extend(far.map(|key| keep(key, at, false)));
    })?;
    Ok(kept)
}

fn counted<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    leaves: &Range<usize>,
    monitor: &Monitor,
) -> Result<Vec<Pair>> {
    let mut codes = all_keys(comparisons, leaves, monitor, |key, _, near| key << 1 | u64::from(!near))?;
    sort(&mut codes, monitor)?;
    let sum = |codes: &[u64]| {
        let far = codes.iter().filter(|&code| code & 1 == 1).count();
        pair(codes[0] >> 1, codes.len() as f64 - 2.0 * far as f64)
    };
    let same = |a: &u64, b: &u64| a >> 1 == b >> 1;
    let n_pairs = codes.chunk_by(same).count();
    memory::collected(PAIRS, n_pairs, codes.chunk_by(same).filter_map(sum))
}

fn sort_by_pair(updates: &mut [(u64, u64, f64)], monitor: &Monitor) -> Result<()> {
    sort_by_key(updates, |&(key, at, _)| (key, at), monitor)
}

fn weighted<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    weights: &[f64],
    leaves: &Range<usize>,
    monitor: &Monitor,
) -> Result<Vec<Pair>> {
    let mut updates = all_keys(comparisons, leaves, monitor, |key, at, near| {
        // The second number of an update sorts the weights of a pair into the order of the comparisons.
        (key, 2 * at as u64 + u64::from(!near), if near { weights[at] } else { -weights[at] })
    })?;
    sort_by_pair(&mut updates, monitor)?;
    let total = |updates: &[(u64, u64, f64)]| updates.iter().fold(0.0, |sum, (_, _, weight)| sum + weight);
    let same = |a: &(u64, u64, f64), b: &(u64, u64, f64)| a.0 == b.0;
    let wrong = |updates: &&[(u64, u64, f64)]| !total(updates).is_finite();
    if let Some(updates) = updates.chunk_by(same).find(wrong) {
        let (i, j) = ((updates[0].0 >> 32) as usize, updates[0].0 as u32 as usize);
        let limit = "weights are too large: divide all by the largest one";
        let place = Position::Pair(i, j);
        return Err(Error::BadValue { what: "the similarity", place, value: total(updates), limit });
    }
    let sum = |updates: &[(u64, u64, f64)]| pair(updates[0].0, total(updates));
    let n_pairs = updates.chunk_by(same).count();
    memory::collected(PAIRS, n_pairs, updates.chunk_by(same).filter_map(sum))
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
