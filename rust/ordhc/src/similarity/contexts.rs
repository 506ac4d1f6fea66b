//! Kernels as products X X^T of a sparse matrix X. A row of X belongs to a leaf (item). A column (context) belongs to a
//! question about a leaf: in MulK3 "is k or l closer?". Each answer adds +1 or -1 to entries of X. Two leaves are
//! similar if they have the same answers to many questions.

use std::ops::Range;

use super::condensed::condensed_len;
use super::kernel::{Found, Kernel};
use super::triangle::Triangle;
use crate::comparison::Comparisons;
use crate::error::{Error, Position, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::numbers::Number;
use crate::parallel;

trait Value: Number + Send + std::ops::AddAssign {
    fn of(sign: i8, weight: f64) -> Self;
}

impl Value for i32 {
    fn of(sign: i8, _: f64) -> Self {
        i32::from(sign)
    }
}

impl Value for f64 {
    fn of(sign: i8, weight: f64) -> Self {
        f64::from(sign) * weight
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry<V> {
    context: u64,
    item: u32,
    value: V,
}

/// Columns of the sparse matrix X, in which each leaf has a row. `items` has the leaves with a nonzero entry in a
/// column, and `values` has these entries. Each column belongs to a context (in MulK3 a pair of leaves {k, l}). Columns
/// with fewer than two entries are left out, because they add nothing to pairs of leaves.
#[derive(Default)]
struct Groups {
    ends: Vec<usize>,
    items: Vec<u32>,
    values: Vec<f64>,
    answered: Vec<u64>,
    squares: Vec<f64>,
}

/// Approximate maximum number of additions to X (see [`Said`]) that all threads together sort at a time.
const ENTRIES: u64 = 48 << 20;

/// One addition of an answer to the sparse matrix X: `sign` (+1 or -1) in the row of leaf `item` and the column
/// `context`. In MulK3, the answer "i is closer to k than to l" makes one addition, in row i and column {k, l}: +1 if k
/// < l, otherwise -1.
#[derive(Clone, Copy)]
pub(super) struct Said {
    pub(super) context: u64,
    pub(super) item: u32,
    pub(super) sign: i8,
}

/// Returns the unnormalized kernel X X^T: for each pair of leaves, the sum over the columns of X of the product of the
/// two leaves' entries. `say` returns what an answer adds to X (see [`Said`]). The columns (contexts) are
/// `0..n_contexts`.
pub(super) fn sum_products<const K: usize, const E: usize>(
    comparisons: &Comparisons<'_, K>,
    n_contexts: u64,
    say: impl Fn(&[i32; K]) -> [Said; E] + Sync,
    monitor: &Monitor,
) -> Result<Found> {
    entered!(mulk_contexts);
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
        let groups: Vec<Groups> = parallel::try_map((0..n_parts).map(part).collect(), |range| {
            if comparisons.weights().is_some() {
                group::<f64, K, E>(comparisons, range, &say, monitor)
            } else {
                group::<i32, K, E>(comparisons, range, &say, monitor)
            }
        })?;
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

/// Returns an error for infinite values, because products of finite weights can overflow.
fn check_finite(pairs: &[f64], diagonal: &[f64], n: usize) -> Result<()> {
    let limit = "weights are too large: divide all by the largest one";
    let what = "the kernel";
    if let Some(i) = diagonal.iter().position(|x| !x.is_finite()) {
        return Err(Error::BadValue { what, place: Position::Pair(i, i), value: diagonal[i], limit });
    }
    let Some(at) = pairs.iter().position(|x| !x.is_finite()) else { return Ok(()) };
    let (i, j) = Triangle::new(n).pair(at);
    Err(Error::BadValue { what, place: Position::Pair(i, j), value: pairs[at], limit })
}

fn group<V: Value, const K: usize, const E: usize>(
    comparisons: &Comparisons<'_, K>,
    range: Range<u64>,
    say: &impl Fn(&[i32; K]) -> [Said; E],
    monitor: &Monitor,
) -> Result<Groups> {
    let n = comparisons.n_leaves();
    let width = (range.end - range.start).max(1);
    // Each bucket has the entries of a range of columns of X (contexts). The number of buckets grows with the number of
    // comparisons, so that each bucket has few entries and is sorted fast.
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
    // During this loop, `ends[b]` is the next free index in bucket b. After this loop, `ends[b]` is the end of bucket
    // b.
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
        sort_by_context(bucket);
        for same in bucket.chunk_by(|a, b| a.context == b.context) {
            groups.push(same)?;
        }
    }
    Ok(groups)
}

fn sort_by_context<V>(bucket: &mut [Entry<V>]) {
    bucket.sort_by_key(|entry| (entry.context, entry.item));
}

/// Calls `work` with each addition to X (see [`Said`]) and its weight, in the order of the answers. Skips columns of X
/// (contexts) outside of `range`, and answers of weight 0.
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
    /// Appends a column of X. `entries` are the answers' additions to this column, sorted by leaf (`item`).
    fn push<V: Value>(&mut self, entries: &[Entry<V>]) -> Result<()> {
        const WHAT: &str = "the contexts of items";
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

/// For every column of X, adds the products of every two entries to the kernel. Every thread has its own rows of the
/// kernel and processes the columns in the same order, so sums do not depend on the number of threads.
fn add_products(groups: &[Groups], n: usize, pairs: &mut [f64], monitor: &Monitor) -> Result<()> {
    let parts = Triangle::new(n).shares();
    let parts = parallel::with_parts(parts, pairs, |end| Triangle::new(n).before(end));
    parallel::try_map(parts, |(rows, out)| {
        let offset = Triangle::new(n).before(rows.start);
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
                    let base = Triangle::new(n).base(i).wrapping_sub(offset);
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
}
