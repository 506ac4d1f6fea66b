//! Kernels that compare leaves by the answers they took part in: MulK3 and MulK4.
//!
//! Both are sums of products over *contexts*. An answer says something about an item in a context,
//! +1 or -1; two items are similar when they say the same in many contexts. In MulK3 the context is a
//! pair {k, l} and the item is the anchor; in MulK4 it is a pair {k, l} and a leaf r, and the item
//! is the other leaf of the pair {i, r} that {k, l} was compared with.

use std::ops::Range;

use super::condensed::{condensed_len, pair_index, row_start, triangle_ranges};
use super::dense_kernel;
use crate::comparison::Comparisons;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;

/// A kernel: the values of all pairs, as SciPy orders them, and of each leaf with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// The n(n-1)/2 values of pairs.
    pub pairs: Vec<f64>,
    /// The n values of the diagonal.
    pub diagonal: Vec<f64>,
}

/// MulK3, Kendall's kernel of triplets: K_ij = sum_{k<l} x(i;k,l) x(j;k,l) / sqrt(c_i c_j).
///
/// x(i;k,l) is the weight of "i is closer to k than to l" minus that of the opposite, c_i the number
/// of distinct pairs that were answered for anchor i; c_i = 0 gives 0. Without `normalize` the
/// denominator is left out (Kleindessner & von Luxburg 2017; Ghoshdastidar, Perrot & von Luxburg
/// 2019, equation 8).
///
/// # Errors
/// Not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::{Monitor, Triplets, similarity::mulk3};
///
/// let triplets = Triplets::new(vec![[0, 2, 3], [1, 2, 3], [0, 1, 3]], None)?;
/// let kernel = mulk3(&triplets, false, &Monitor::new())?;
/// assert_eq!((kernel.pairs[0], kernel.diagonal[0]), (1.0, 2.0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn mulk3(triplets: &Comparisons<'_, 3>, normalize: bool, monitor: &Monitor) -> Result<Kernel> {
    let n = triplets.n_leaves();
    let found = match dense_kernel::mulk3(triplets, monitor)? {
        Some(found) => found,
        None => {
            let say = |row: &[i32; 3]| {
                let [_, k, l] = row.map(|id| id as usize);
                [Said {
                    context: pair_index(n, k.min(l), k.max(l)) as u64,
                    item: row[0] as u32,
                    sign: if k < l { 1 } else { -1 },
                }]
            };
            contexts(triplets, condensed_len(n) as u64, say, monitor)?
        }
    };
    let Found { mut kernel, answered } = found;
    if normalize {
        let scale = |count: u64| if count == 0 { 0.0 } else { 1.0 / (count as f64).sqrt() };
        let scales: Vec<f64> = answered.iter().map(|&count| scale(count)).collect();
        let mut at = 0;
        for i in 0..n {
            for j in i + 1..n {
                kernel.pairs[at] *= scales[i] * scales[j];
                at += 1;
            }
            kernel.diagonal[i] = if answered[i] == 0 { 0.0 } else { kernel.diagonal[i] / answered[i] as f64 };
        }
    }
    Ok(kernel)
}

/// MulK4: K_ij = sum over r other than i, j and over pairs {k, l} of x(ir;kl) x(jr;kl).
///
/// x(ir;kl) is the weight of "i and r are closer than k and l" minus that of the opposite. The
/// kernel 4K of Ghoshdastidar, Perrot & von Luxburg 2019 (equation 3), in which r may be i or j and a
/// leaf is infinitely similar to itself, is MulK4 plus twice AddS4.
///
/// # Errors
/// Not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::{Monitor, Quadruplets, similarity::mulk4};
///
/// // {0, 4} and {1, 4} are both closer than {2, 3}: leaves 0 and 1 agree once.
/// let quadruplets = Quadruplets::new(vec![[0, 4, 2, 3], [1, 4, 3, 2]], None)?;
/// assert_eq!(mulk4(&quadruplets, &Monitor::new())?.pairs[0], 1.0);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn mulk4(quadruplets: &Comparisons<'_, 4>, monitor: &Monitor) -> Result<Kernel> {
    let n = quadruplets.n_leaves();
    let pair = |a: usize, b: usize| pair_index(n, a.min(b), a.max(b)) as u64;
    let say = |row: &[i32; 4]| {
        let [i, j, k, l] = row.map(|id| id as usize);
        let (near, far) = (pair(i, j) * n as u64, pair(k, l) * n as u64);
        [(far, j, i, 1), (far, i, j, 1), (near, l, k, -1), (near, k, l, -1)].map(|(pair, r, item, sign)| Said {
            context: pair + r as u64,
            item: item as u32,
            sign,
        })
    };
    let n_contexts = (condensed_len(n) as u64).saturating_mul(n as u64);
    Ok(contexts(quadruplets, n_contexts, say, monitor)?.kernel)
}

/// A raw kernel, and in how many contexts each item was answered.
pub(super) struct Found {
    pub(super) kernel: Kernel,
    pub(super) answered: Vec<u64>,
}

/// A number that answers are counted in: whole for unweighted ones.
trait Value: Copy + Send + Sync + std::ops::AddAssign {
    fn of(sign: i8, weight: f64) -> Self;
    fn float(self) -> f64;
}

impl Value for i32 {
    fn of(sign: i8, _: f64) -> Self {
        i32::from(sign)
    }
    fn float(self) -> f64 {
        f64::from(self)
    }
}

impl Value for f64 {
    fn of(sign: i8, weight: f64) -> Self {
        f64::from(sign) * weight
    }
    fn float(self) -> f64 {
        self
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry<V> {
    context: u64,
    item: u32,
    value: V,
}

/// What the items of contexts said: contexts with more than one item, one after the other.
#[derive(Default)]
struct Groups {
    ends: Vec<usize>,
    items: Vec<u32>,
    values: Vec<f64>,
    answered: Vec<u64>,
    squares: Vec<f64>,
}

/// At most this many entries are sorted at a time, in all threads together.
const ENTRIES: u64 = 48 << 20;

/// What one answer says about an item.
#[derive(Clone, Copy)]
struct Said {
    context: u64,
    item: u32,
    sign: i8,
}

fn contexts<const K: usize, const E: usize>(
    comparisons: &Comparisons<'_, K>,
    n_contexts: u64,
    say: impl Fn(&[i32; K]) -> [Said; E] + Sync,
    monitor: &Monitor,
) -> Result<Found> {
    let n = comparisons.n_leaves();
    let mut pairs = memory::filled("the kernel", 0.0, condensed_len(n))?;
    let mut diagonal = vec![0.0; n];
    let mut answered = vec![0; n];
    let passes = ((comparisons.len() * E) as u64).div_ceil(ENTRIES).max(1);
    monitor.start(2 * passes);
    for pass in 0..passes {
        let share = |part: u64, of: u64| (u128::from(n_contexts) * u128::from(part) / u128::from(of)) as u64;
        let n_parts = parallel::ranges(comparisons.len(), 1 << 14).len() as u64;
        let part = |p| share(pass * n_parts + p, passes * n_parts)..share(pass * n_parts + p + 1, passes * n_parts);
        let groups: Vec<Groups> = parallel::map((0..n_parts).map(part).collect(), |range| {
            if comparisons.weights().is_some() {
                group::<f64, K, E>(comparisons, range, &say, monitor)
            } else {
                group::<i32, K, E>(comparisons, range, &say, monitor)
            }
        })
        .into_iter()
        .collect::<Result<_>>()?;
        monitor.advance(1)?;
        for found in &groups {
            answered.iter_mut().zip(&found.answered).for_each(|(sum, more)| *sum += more);
            diagonal.iter_mut().zip(&found.squares).for_each(|(sum, more)| *sum += more);
        }
        add_products(&groups, n, &mut pairs, monitor)?;
        monitor.advance(1)?;
    }
    check_finite(&pairs, &diagonal, n)?;
    Ok(Found { kernel: Kernel { pairs, diagonal }, answered })
}

/// Weights can be finite without their products being so.
fn check_finite(pairs: &[f64], diagonal: &[f64], n: usize) -> Result<()> {
    let limit = "weights are too large: divide all by the largest one";
    let what = "the kernel";
    if let Some(i) = diagonal.iter().position(|x| !x.is_finite()) {
        return Err(Error::BadValue { what, place: format!("[{i}, {i}]"), value: diagonal[i], limit });
    }
    let Some(at) = pairs.iter().position(|x| !x.is_finite()) else { return Ok(()) };
    let first = |i: usize| condensed_len(n) - condensed_len(n - i);
    let i = (0..n).rev().find(|&i| first(i) <= at).unwrap_or(0);
    Err(Error::BadValue { what, place: format!("[{i}, {}]", at - first(i) + i + 1), value: pairs[at], limit })
}

/// The answers whose context is in `range`, gathered by context.
fn group<V: Value, const K: usize, const E: usize>(
    comparisons: &Comparisons<'_, K>,
    range: Range<u64>,
    say: &impl Fn(&[i32; K]) -> [Said; E],
    monitor: &Monitor,
) -> Result<Groups> {
    let n = comparisons.n_leaves();
    let width = (range.end - range.start).max(1);
    // A few entries a bucket, so that sorting within buckets is cheap.
    let n_buckets = (comparisons.len() as u64 / 4).clamp(1, 1 << 24).min(width);
    let buckets_per_context = n_buckets as f64 / width as f64;
    let bucket =
        |context: u64| (((context - range.start) as f64 * buckets_per_context) as u64).min(n_buckets - 1) as usize;
    let mut ends = memory::filled("the places of contexts", 0usize, n_buckets as usize + 1)?;
    each_said(comparisons, &range, say, monitor, |said, _| ends[bucket(said.context) + 1] += 1)?;
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let total = ends[n_buckets as usize];
    let nothing = Entry { context: 0, item: 0, value: V::of(0, 0.0) };
    let mut entries = memory::filled("the answers by context", nothing, total)?;
    // `ends[b]` is the next free place of bucket b, and when all are placed the end of it.
    each_said(comparisons, &range, say, monitor, |said, weight| {
        let place = &mut ends[bucket(said.context)];
        entries[*place] = Entry { context: said.context, item: said.item, value: V::of(said.sign, weight) };
        *place += 1;
    })?;
    let mut groups = Groups { answered: vec![0; n], squares: vec![0.0; n], ..Groups::default() };
    let mut start = 0;
    for &end in &ends[..n_buckets as usize] {
        let bucket = &mut entries[start..end];
        start = end;
        bucket.sort_by_key(|entry| (entry.context, entry.item));
        for same in bucket.chunk_by(|a, b| a.context == b.context) {
            groups.push(same)?;
        }
    }
    Ok(groups)
}

/// What all answers say in the contexts of a range, in the order of the rows, with their weights.
fn each_said<const K: usize, const E: usize>(
    comparisons: &Comparisons<'_, K>,
    range: &Range<u64>,
    say: &impl Fn(&[i32; K]) -> [Said; E],
    monitor: &Monitor,
    mut work: impl FnMut(Said, f64),
) -> Result<()> {
    comparisons.rows().each_watched(monitor, |at, row| {
        let weight = comparisons.weights().map_or(1.0, |weights| weights[at]);
        for said in say(row) {
            if range.contains(&said.context) && weight > 0.0 {
                work(said, weight);
            }
        }
    })
}

impl Groups {
    /// Takes the answers of one context, sorted by item.
    fn push<V: Value>(&mut self, entries: &[Entry<V>]) -> Result<()> {
        const WHAT: &str = "what items have in common";
        let before = self.items.len();
        for same in entries.chunk_by(|a, b| a.item == b.item) {
            let mut sum = same[0].value;
            same[1..].iter().for_each(|entry| sum += entry.value);
            let (item, value) = (same[0].item as usize, sum.float());
            self.answered[item] += 1;
            self.squares[item] += value * value;
            if value != 0.0 {
                memory::push(WHAT, &mut self.items, same[0].item)?;
                memory::push(WHAT, &mut self.values, value)?;
            }
        }
        if self.items.len() - before < 2 {
            self.items.truncate(before);
            self.values.truncate(before);
        } else {
            memory::push(WHAT, &mut self.ends, self.items.len())?;
        }
        Ok(())
    }
}

/// Adds, for every context, the products of its items' values. Every thread has rows of its own and
/// sees the contexts in the same order, so sums do not depend on the number of threads.
fn add_products(groups: &[Groups], n: usize, pairs: &mut [f64], monitor: &Monitor) -> Result<()> {
    let parts = triangle_ranges(n);
    let ends: Vec<usize> = parts.iter().map(|rows| condensed_len(n) - condensed_len(n - rows.end)).collect();
    let slices = parallel::split_at_ends(pairs, &ends);
    parallel::map(parts.into_iter().zip(slices).collect(), |(rows, out)| {
        let offset = condensed_len(n) - condensed_len(n - rows.start);
        for groups in groups {
            let mut start = 0;
            for (at, &end) in groups.ends.iter().enumerate() {
                let (items, values) = (&groups.items[start..end], &groups.values[start..end]);
                start = end;
                for (a, (&i, &x)) in items.iter().zip(values).enumerate() {
                    let i = i as usize;
                    if i < rows.start {
                        continue;
                    }
                    if i >= rows.end {
                        break;
                    }
                    let base = row_start(n, i).wrapping_sub(offset);
                    for (&j, &y) in items[a + 1..].iter().zip(&values[a + 1..]) {
                        out[base.wrapping_add(j as usize)] += x * y;
                    }
                }
                if at % 4096 == 0 {
                    monitor.advance(0)?;
                }
            }
        }
        Ok(())
    })
    .into_iter()
    .collect::<Result<Vec<()>>>()
    .map(|_| ())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// x(i;k,l) of all anchors and pairs, and the pairs answered.
    fn naive(rows: &[[i32; 3]], weights: Option<&[f64]>, n: usize) -> (Kernel, Vec<u64>) {
        let mut x = vec![vec![0.0; n * n]; n];
        let mut seen = vec![vec![false; n * n]; n];
        for (at, &[i, k, l]) in rows.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[at]);
            let (low, high) = (k.min(l) as usize, k.max(l) as usize);
            x[i as usize][low * n + high] += if k < l { weight } else { -weight };
            seen[i as usize][low * n + high] |= weight > 0.0;
        }
        let dot = |i: usize, j: usize| (0..n * n).map(|at| x[i][at] * x[j][at]).sum::<f64>();
        let mut pairs = Vec::new();
        for i in 0..n {
            pairs.extend((i + 1..n).map(|j| dot(i, j)));
        }
        let diagonal = (0..n).map(|i| dot(i, i)).collect();
        let answered = seen.iter().map(|seen| seen.iter().filter(|&&yes| yes).count() as u64).collect();
        (Kernel { pairs, diagonal }, answered)
    }

    fn triplets(n: i32) -> impl Strategy<Value = Vec<[i32; 3]>> {
        let row = (0..n, 0..n, 0..n).prop_filter("distinct", |&(a, b, c)| a != b && a != c && b != c);
        proptest::collection::vec(row.prop_map(|(a, b, c)| [a, b, c]), 1..80)
    }

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]

        #[test]
        fn mulk3_is_its_definition(rows in triplets(6), weighted: bool, repeats in 1usize..3) {
            let rows: Vec<[i32; 3]> = (0..repeats).flat_map(|_| rows.clone()).collect();
            let weights: Vec<f64> = (0..rows.len()).map(|at| (at % 4) as f64 / 2.0).collect();
            let weights = weighted.then_some(weights.as_slice());
            let (raw, answered) = naive(&rows, weights, 6);
            let mut data = Comparisons::<3>::new(rows.as_slice(), Some(6)).unwrap();
            if let Some(weights) = weights {
                data = data.with_weights(weights).unwrap();
            }
            let found = mulk3(&data, false, &Monitor::new()).unwrap();
            prop_assert!(close(&found.pairs, &raw.pairs) && close(&found.diagonal, &raw.diagonal));
            let normal = mulk3(&data, true, &Monitor::new()).unwrap();
            for i in 0..6 {
                for j in i + 1..6 {
                    let at = pair_index(6, i, j);
                    let c = (answered[i] * answered[j]) as f64;
                    let expected = if c == 0.0 { 0.0 } else { raw.pairs[at] / c.sqrt() };
                    prop_assert!((normal.pairs[at] - expected).abs() < 1e-9);
                }
            }
        }

        #[test]
        fn dense_and_sparse_agree(rows in triplets(5), repeats in 1usize..140) {
            let rows: Vec<[i32; 3]> = (0..repeats).flat_map(|_| rows.clone()).collect();
            let data = Comparisons::<3>::new(rows.as_slice(), Some(5)).unwrap();
            let (raw, answered) = naive(&rows, None, 5);
            if let Some(found) = dense_kernel::of_counts(&data, &Monitor::new()).unwrap() {
                prop_assert_eq!(&found.kernel, &raw);
                prop_assert_eq!(found.answered, answered);
            }
        }
    }
}
