//! Splits work into ranges of rows for several threads.

use std::ops::Range;
use std::sync::Mutex;

use crate::parallel;
use crate::similarity::condensed_len;

/// The smallest number of values per thread for which several threads save time, if each value needs little work.
const GRAIN: usize = 1 << 17;
/// The number of row ranges per thread. A thread that has finished a range takes the next range, so all threads end at
/// about the same time.
const PARTS: usize = 8;

pub(super) fn threads(k: usize) -> usize {
    parallel::ranges(condensed_len(k), 1 << 18).len()
}

/// Splits the rows of a condensed matrix of `k` clusters into several ranges for each thread, with about the same
/// number of values.
pub(super) fn parts(k: usize) -> Vec<Range<usize>> {
    let parts = match threads(k) {
        1 => 1,
        threads => PARTS * threads,
    };
    let end = |p: usize| (k as f64 * (1.0 - (1.0 - p as f64 / parts as f64).sqrt())) as usize;
    (0..parts).map(|p| end(p)..if p + 1 == parts { k } else { end(p + 1) }).collect()
}

pub(super) fn shared(rows: &Range<usize>, k: usize) -> Vec<Range<usize>> {
    let parts = PARTS * threads(k);
    let end = |part: usize| rows.start + rows.len() * part / parts;
    (0..parts).map(|part| end(part)..end(part + 1)).collect()
}

pub(super) fn next<T>(items: &Mutex<std::vec::IntoIter<T>>) -> Option<T> {
    items.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next()
}

pub(super) fn split<T>(items: Vec<T>, n_values: usize) -> Vec<Vec<T>> {
    let ranges = parallel::ranges(items.len(), items.len().div_ceil((n_values / GRAIN).max(1)));
    let mut items = items.into_iter();
    ranges.into_iter().map(|range| items.by_ref().take(range.len()).collect()).collect()
}
