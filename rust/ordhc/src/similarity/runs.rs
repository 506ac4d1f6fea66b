//! AddS of more comparisons than fit into memory. Each block of comparisons becomes a sorted run: a sorted list of
//! pairs of leaves. The runs are merged.

use std::ops::Range;

use crate::comparison::Comparisons;
use crate::error::{Error, Position, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;
use crate::sorting::sort;

/// A sorted run: pairs of leaves in ascending order, with the numbers that comparisons add to the similarity of each
/// pair.
///
/// A key is the pair (i, j) of leaves as one integer, `i 2^32 + j`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// The pairs of leaves as integers, in ascending order.
    pub keys: Vec<u64>,
    /// The number that is added to the similarity of each pair. A pair may occur more than once.
    pub values: Vec<f64>,
}

/// Options of [`sorted_run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// True if a pair is stored twice, as (i, j) and as (j, i). False if it is stored only as (i, j) with i < j.
    pub both: bool,
    /// True if [`sorted_run`] adds up the values of the same pair. Use this only for integer weights, whose sums are
    /// exact. If false, [`merge_runs`] adds up the values, in the order of the comparisons. So sums do not depend on
    /// how the comparisons were split.
    pub sum: bool,
}

const PAIRS: &str = "the pairs that were compared";

/// Returns the pairs of leaves in the comparisons, in ascending order, with the numbers to add to their similarities.
///
/// # Errors
/// Not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::bindings::{RunOptions, merge_runs, sorted_run};
/// use ordhc::Triplets;
///
/// let options = RunOptions { both: false, sum: true };
/// let parts = [vec![[0, 1, 2], [1, 0, 2]], vec![[0, 1, 2]]].map(|rows| Triplets::new(rows, Some(3)).unwrap());
/// let runs = [sorted_run(&parts[0], options, None)?, sorted_run(&parts[1], options, None)?];
/// assert_eq!((&runs[0].keys[..], &runs[0].values[..]), (&[1, 2, (1 << 32) + 2][..], &[2.0, -1.0, -1.0][..]));
/// let slices = runs.iter().map(|run| (&run.keys[..], &run.values[..])).collect::<Vec<_>>();
/// assert_eq!(merge_runs(&slices, None)?.values, [3.0, -2.0, -1.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn sorted_run<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    options: RunOptions,
    monitor: Option<&Monitor>,
) -> Result<Run> {
    entered!(adds_runs);
    watched!(monitor);
    let n = comparisons.n_leaves();
    let threads = parallel::ranges(comparisons.len(), 1 << 16).len();
    // Split the leaves into ranges, so that each thread has about the same number of pairs of leaves.
    let end = |p: usize| {
        let share = p as f64 / threads as f64;
        (n as f64 * if options.both { share } else { 1.0 - (1.0 - share).sqrt() }) as usize
    };
    let parts = (0..threads).map(|p| end(p)..if p + 1 == threads { n } else { end(p + 1) }).collect();
    let found = parallel::map(parts, |leaves| match comparisons.weights() {
        None if options.sum => counted(comparisons, &leaves, options.both, monitor),
        _ => weighted(comparisons, &leaves, options, monitor),
    });
    let mut found = found.into_iter().collect::<Result<Vec<_>>>()?;
    if found.len() == 1 {
        return Ok(found.swap_remove(0));
    }
    let len = found.iter().map(|run| run.keys.len()).sum();
    let mut run = Run { keys: memory::room(PAIRS, len)?, values: memory::room(PAIRS, len)? };
    for part in found {
        run.keys.extend_from_slice(&part.keys);
        run.values.extend_from_slice(&part.values);
    }
    Ok(run)
}

/// Calls `take(key, is_closer)` for the closer pair of a comparison, and then for the farther pair. A key is a pair (i,
/// j) of leaves as one integer, `i 2^32 + j`. If `both` is true, `take` is called for (i, j) and for (j, i). Pairs
/// whose first leaf is not in `leaves` are skipped.
#[inline]
fn each_key<const K: usize>(row: &[i32; K], leaves: &Range<usize>, both: bool, mut take: impl FnMut(u64, bool)) {
    let (near, far) = Comparisons::<K>::pairs(row);
    for ([a, b], closer) in [(near, true), (far, false)] {
        let (low, high) = (a.min(b), a.max(b));
        if leaves.contains(&low) {
            take((low as u64) << 32 | high as u64, closer);
        }
        if both && leaves.contains(&high) {
            take((high as u64) << 32 | low as u64, closer);
        }
    }
}

fn count_keys<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    leaves: &Range<usize>,
    both: bool,
    monitor: &Monitor,
) -> Result<usize> {
    let mut n_keys = 0;
    comparisons.rows().each_watched(monitor, |_, row| each_key(row, leaves, both, |_, _| n_keys += 1))?;
    Ok(n_keys)
}

fn counted<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    leaves: &Range<usize>,
    both: bool,
    monitor: &Monitor,
) -> Result<Run> {
    let mut codes = memory::room(PAIRS, count_keys(comparisons, leaves, both, monitor)?)?;
    comparisons.rows().each_watched(monitor, |_, row| {
        each_key(row, leaves, both, |key, closer| codes.push(key << 1 | u64::from(!closer)));
    })?;
    sort(&mut codes, monitor)?;
    let same = |a: &u64, b: &u64| a >> 1 == b >> 1;
    let sums = codes.chunk_by(same).map(|codes| {
        let far = codes.iter().filter(|&code| code & 1 == 1).count();
        (codes[0] >> 1, codes.len() as f64 - 2.0 * far as f64)
    });
    nonzero(codes.chunk_by(same).count(), sums)
}

fn weighted<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    leaves: &Range<usize>,
    options: RunOptions,
    monitor: &Monitor,
) -> Result<Run> {
    let mut updates = memory::room(PAIRS, count_keys(comparisons, leaves, options.both, monitor)?)?;
    comparisons.rows().each_watched(monitor, |at, row| {
        let weight = comparisons.weights().map_or(1.0, |weights| weights[at]);
        each_key(row, leaves, options.both, |key, closer| updates.push((key, if closer { weight } else { -weight })));
    })?;
    sort_by_pair(&mut updates);
    monitor.check()?;
    if options.sum {
        return summed(&updates);
    }
    let mut run = Run { keys: memory::room(PAIRS, updates.len())?, values: memory::room(PAIRS, updates.len())? };
    for (key, value) in updates {
        run.keys.push(key);
        run.values.push(value);
    }
    Ok(run)
}

/// Returns the sums of several runs (sorted pairs of leaves with values). Values of the same pair are added in the
/// order of the runs. Pairs whose sum is zero are omitted.
///
/// # Errors
/// Sums that are not finite; not enough memory; [`Error::Interrupted`].
pub fn merge_runs(runs: &[(&[u64], &[f64])], monitor: Option<&Monitor>) -> Result<Run> {
    entered!(adds_runs_merged);
    watched!(monitor);
    let len = runs.iter().map(|(keys, _)| keys.len()).sum();
    let mut updates: Vec<(u64, f64)> = memory::room(PAIRS, len)?;
    for (keys, values) in runs {
        updates.extend(keys.iter().copied().zip(values.iter().copied()));
        monitor.check()?;
    }
    sort_by_pair(&mut updates);
    monitor.check()?;
    summed(&updates)
}

/// The sort is stable, so the values of a pair of leaves stay in the order of the runs and, within a run, of the
/// comparisons.
fn sort_by_pair(updates: &mut [(u64, f64)]) {
    updates.sort_by_key(|&(key, _)| key);
}

fn summed(updates: &[(u64, f64)]) -> Result<Run> {
    let same = |a: &(u64, f64), b: &(u64, f64)| a.0 == b.0;
    let total = |updates: &[(u64, f64)]| updates.iter().fold(0.0, |sum, (_, value)| sum + value);
    if let Some(updates) = updates.chunk_by(same).find(|updates| !total(updates).is_finite()) {
        let (i, j) = ((updates[0].0 >> 32) as usize, updates[0].0 as u32 as usize);
        let limit = "weights are too large: divide all by the largest one";
        let place = Position::Pair(i, j);
        return Err(Error::BadValue { what: "the similarity", place, value: total(updates), limit });
    }
    nonzero(updates.chunk_by(same).count(), updates.chunk_by(same).map(|updates| (updates[0].0, total(updates))))
}

fn nonzero(most: usize, sums: impl Iterator<Item = (u64, f64)>) -> Result<Run> {
    let mut run = Run { keys: memory::room(PAIRS, most)?, values: memory::room(PAIRS, most)? };
    for (key, sum) in sums.filter(|&(_, sum)| sum != 0.0) {
        run.keys.push(key);
        run.values.push(sum);
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comparison::Triplets;
    use crate::similarity::{Triangle, adds, condensed_len};

    fn merged(parts: &[Triplets<'_>], options: RunOptions) -> Run {
        let runs: Vec<Run> = parts.iter().map(|part| sorted_run(part, options, None).unwrap()).collect();
        let slices: Vec<_> = runs.iter().map(|run| (&run.keys[..], &run.values[..])).collect();
        merge_runs(&slices, None).unwrap()
    }

    fn check(rows: &[[i32; 3]], weights: Option<&[f64]>, cut: usize, options: RunOptions) {
        let n = 300;
        let part = |range: std::ops::Range<usize>| {
            let triplets = Triplets::new(rows[range.clone()].to_vec(), Some(n)).unwrap();
            match weights {
                None => triplets,
                Some(weights) => triplets.with_weights(weights[range].to_vec()).unwrap(),
            }
        };
        let mut expected = vec![0.0; condensed_len(n)];
        adds(&part(0..rows.len()), &mut expected, None).unwrap();
        let mut found = vec![0.0; condensed_len(n)];
        let run = merged(&[part(0..cut), part(cut..rows.len())], options);
        assert!(run.keys.windows(2).all(|two| two[0] < two[1]));
        for (&key, &value) in run.keys.iter().zip(&run.values) {
            let (i, j) = ((key >> 32) as usize, key as u32 as usize);
            assert!(options.both || i < j);
            let cell = &mut found[Triangle::new(n).index(i.min(j), i.max(j))];
            assert!(*cell == 0.0 || *cell == value);
            *cell = value;
        }
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn as_with_a_place_for_every_pair(
            rows in prop::collection::vec((0i32..9, 0i32..9, 0i32..9), 0..60), weighted: bool, both: bool, cut in 0.0..1.0
        ) {
            let rows: Vec<[i32; 3]> =
                rows.into_iter().filter(|&(i, j, k)| i != j && i != k && j != k).map(|(i, j, k)| [i, j, k]).collect();
            let weights: Vec<f64> = (0..rows.len()).map(|k| k as f64 * 0.3).collect();
            let cut = (rows.len() as f64 * cut) as usize;
            check(&rows, weighted.then_some(&weights), cut, RunOptions { both, sum: !weighted });
        }
    }

    #[test]
    fn many_on_several_threads() {
        let leaf = |k: usize, step: usize| (k * step % 300) as i32;
        let rows: Vec<[i32; 3]> =
            (0..200_000).map(|k| [leaf(k, 7919), leaf(k + 1, 104_729), leaf(k + 2, 1_299_709)]).collect();
        let rows: Vec<[i32; 3]> = rows.into_iter().filter(|[i, j, k]| i != j && i != k && j != k).collect();
        check(&rows, None, 150_000, RunOptions { both: true, sum: true });
        let weights: Vec<f64> = (0..rows.len()).map(|k| 0.1 * (k % 17) as f64).collect();
        check(&rows, Some(&weights), 150_000, RunOptions { both: false, sum: false });
        let whole: Vec<f64> = (0..rows.len()).map(|k| (k % 17) as f64).collect();
        check(&rows, Some(&whole), 150_000, RunOptions { both: true, sum: true });
    }

    #[test]
    fn sums_that_are_not_finite() {
        let large = Triplets::new(vec![[0, 1, 2]; 2], None).unwrap().with_weights(vec![f64::MAX; 2]).unwrap();
        let runs = sorted_run(&large, RunOptions { both: false, sum: false }, None).unwrap();
        let error = merge_runs(&[(&runs.keys, &runs.values)], None).unwrap_err();
        assert!(error.to_string().contains("the similarity at [0, 1]"));
    }
}
