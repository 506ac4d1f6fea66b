//! Work in parts for several threads.

use std::ops::Range;
use std::sync::Mutex;

use crate::parallel;
use crate::similarity::condensed_len;

/// Threads pay from this many values on that a thread only passes over.
const GRAIN: usize = 1 << 17;
/// So many parts for every thread, where there are several.
const PARTS: usize = 8;

/// One item for each thread that pays for the rows of a triangle of `k` slots.
pub(super) fn threads(k: usize) -> Vec<usize> {
    (0..parallel::ranges(condensed_len(k), 1 << 18).len()).collect()
}

/// Rows of a triangle in parts of about the same area, a few for every thread.
pub(super) fn parts(k: usize) -> Vec<Range<usize>> {
    let parts = match threads(k).len() {
        1 => 1,
        threads => PARTS * threads,
    };
    let end = |p: usize| (k as f64 * (1.0 - (1.0 - p as f64 / parts as f64).sqrt())) as usize;
    (0..parts).map(|p| end(p)..if p + 1 == parts { k } else { end(p + 1) }).collect()
}

/// Rows in parts for the threads that `k` slots have.
pub(super) fn shared(rows: &Range<usize>, k: usize) -> Vec<Range<usize>> {
    let parts = PARTS * threads(k).len();
    let end = |part: usize| rows.start + rows.len() * part / parts;
    (0..parts).map(|part| end(part)..end(part + 1)).collect()
}

/// The next item of a queue that threads share.
pub(super) fn next<T>(items: &Mutex<std::vec::IntoIter<T>>) -> Option<T> {
    items.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next()
}

/// Items of `n_values` values together, in as many parts as there are threads that pay.
pub(super) fn split<T>(items: Vec<T>, n_values: usize) -> Vec<Vec<T>> {
    let ranges = parallel::ranges(items.len(), items.len().div_ceil((n_values / GRAIN).max(1)));
    let mut items = items.into_iter();
    ranges.into_iter().map(|range| items.by_ref().take(range.len()).collect()).collect()
}
