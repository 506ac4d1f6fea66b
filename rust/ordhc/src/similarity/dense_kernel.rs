//! MulK3 if most anchors have answers about most pairs of leaves. Each anchor has a row of small counts, one for each
//! pair. Each value of the kernel is the dot product of two rows.

use std::ops::Range;

use super::condensed::condensed_len;
use super::kernel::{Found, Kernel};
use super::triangle::Triangle;
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;

/// Returns MulK3 without its denominator, computed from a table that has a row for each anchor and a column for each
/// pair of leaves. Returns `None` if there are weights, if the sparse algorithm is faster, or if there is no memory for
/// the table.
pub(super) fn mulk3(triplets: &Comparisons<'_, 3>, monitor: &Monitor) -> Result<Option<Found>> {
    let n = triplets.n_leaves();
    let cells = n as u64 * condensed_len(n) as u64;
    let pays = cells <= 4 * triplets.len() as u64 && cells > 1 << 16;
    // A cell of the table takes less than 1.5 bytes: a byte for the count, a bit that says whether there are answers,
    // and two bits for the sign.
    if triplets.weights().is_some() || !pays || memory::check("the answers", cells + cells / 2).is_err() {
        return Ok(None);
    }
    of_counts(triplets, monitor)
}

/// Does the same as [`mulk3`], even if the sparse algorithm is faster. Each cell of the table of anchors and pairs is
/// the number of answers minus the number of opposite answers. Returns `None` if a cell does not fit into a byte.
pub(super) fn of_counts(triplets: &Comparisons<'_, 3>, monitor: &Monitor) -> Result<Option<Found>> {
    entered!(mulk_dense);
    let n = triplets.n_leaves();
    let n_pairs = condensed_len(n);
    let words = n_pairs.div_ceil(64);
    monitor.start(2 * n_pairs as u64);
    let mut counts = memory::filled("the answers", 0i8, n * n_pairs)?;
    let mut seen = memory::filled("the answers", 0u64, n * words)?;
    let parts = parallel::ranges(n, 16);
    let ends = |width: usize| parts.iter().map(|part| part.end * width).collect::<Vec<_>>();
    let counts_of = parallel::split_at_ends(&mut counts, &ends(n_pairs));
    let seen_of = parallel::split_at_ends(&mut seen, &ends(words));
    let work = parts.iter().cloned().zip(counts_of.into_iter().zip(seen_of)).collect();
    for fits in parallel::map(work, |(anchors, (counts, seen))| fill(triplets, anchors, counts, seen, monitor)) {
        if !fits? {
            return Ok(None);
        }
    }
    monitor.advance(n_pairs as u64)?;
    let ones = |i: usize| seen[i * words..(i + 1) * words].iter().map(|word| u64::from(word.count_ones())).sum();
    let answered = (0..n).map(ones).collect();
    let row = |i: usize| &counts[i * n_pairs..(i + 1) * n_pairs];
    let square = |&x: &i8| f64::from(x) * f64::from(x);
    let diagonal = (0..n).map(|i| row(i).iter().map(square).sum()).collect();
    let pairs = if counts.iter().all(|count| count.unsigned_abs() <= 1) {
        entered!(mulk_dense_signs);
        let rows: Vec<Vec<Signs>> = (0..n).map(|i| row(i).chunks(64).map(Signs::of).collect()).collect();
        products(
            n,
            words,
            size_of::<Signs>(),
            |i, j, block| dot_of_signs(&rows[i][block.clone()], &rows[j][block]),
            monitor,
        )?
    } else {
        products(n, n_pairs, 1, |i, j, block| dot(&row(i)[block.clone()], &row(j)[block]), monitor)?
    };
    Ok(Some(Found { kernel: Kernel { pairs, diagonal }, answered }))
}

/// Maximum number of bytes of a block of columns of the table of anchors and pairs. Blocks of this size stay in the
/// cache.
const CACHE: usize = 1 << 19;
/// Maximum length of two rows of 8-bit counts whose dot product certainly fits into 32 bits.
const LONGEST: usize = 1 << 16;

fn products(
    n: usize,
    row_length: usize,
    item_bytes: usize,
    dot: impl Fn(usize, usize, Range<usize>) -> i32 + Sync,
    monitor: &Monitor,
) -> Result<Vec<f64>> {
    let n_pairs = condensed_len(n);
    let mut pairs = memory::filled("the kernel", 0.0, n_pairs)?;
    let ranges = Triangle::new(n).shares();
    let parts = parallel::with_parts(ranges, &mut pairs, |end| Triangle::new(n).before(end));
    let width = (CACHE / (n * item_bytes).max(1)).clamp(64, LONGEST / 64);
    let steps = row_length.div_ceil(width).max(1);
    parallel::try_map::<_, _, ()>(parts, |(rows, out)| {
        for start in (0..row_length).step_by(width) {
            let block = start..(start + width).min(row_length);
            let mut out = out.iter_mut();
            for i in rows.clone() {
                for (j, value) in (i + 1..n).zip(&mut out) {
                    *value += f64::from(dot(i, j, block.clone()));
                }
            }
            monitor.advance((n_pairs / (2 * steps)) as u64)?;
        }
        Ok(())
    })?;
    Ok(pairs)
}

/// 64 counts of -1, 0 or 1, as two bits each.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    some: u64,
    negative: u64,
}

impl Signs {
    fn of(counts: &[i8]) -> Self {
        let mut signs = Self::default();
        for (bit, &count) in counts.iter().enumerate() {
            signs.some |= u64::from(count != 0) << bit;
            signs.negative |= u64::from(count < 0) << bit;
        }
        signs
    }
}

fn dot_of_signs(x: &[Signs], y: &[Signs]) -> i32 {
    let of = |(x, y): (&Signs, &Signs)| {
        let both = x.some & y.some;
        both.count_ones() as i32 - 2 * (both & (x.negative ^ y.negative)).count_ones() as i32
    };
    x.iter().zip(y).map(of).sum()
}

/// Adds the answers about a range of anchors to `counts`. Sets a bit in `seen` for each anchor and pair of leaves with
/// an answer. Returns false if a count does not fit into a byte.
fn fill(
    triplets: &Comparisons<'_, 3>,
    anchors: Range<usize>,
    counts: &mut [i8],
    seen: &mut [u64],
    monitor: &Monitor,
) -> Result<bool> {
    let n = triplets.n_leaves();
    let n_pairs = condensed_len(n);
    let words = n_pairs.div_ceil(64);
    let mut all_fit = true;
    triplets.rows().each_watched(monitor, |_, row| {
        let [i, k, l] = row.map(|id| id as usize);
        if !anchors.contains(&i) {
            return;
        }
        let i = i - anchors.start;
        let pair = Triangle::new(n).index(k, l);
        let count = &mut counts[i * n_pairs + pair];
        match count.checked_add(if k < l { 1 } else { -1 }) {
            Some(sum) => *count = sum,
            None => all_fit = false,
        }
        seen[i * words + pair / 64] |= 1 << (pair % 64);
    })?;
    Ok(all_fit)
}

/// Rows have at most `LONGEST` counts. The compiler turns this loop into multiply-and-add instructions.
fn dot(x: &[i8], y: &[i8]) -> i32 {
    x.iter().zip(y).map(|(&a, &b)| i32::from(i16::from(a)) * i32::from(i16::from(b))).sum()
}
