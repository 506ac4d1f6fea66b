//! Threads for the few loops that use them.
//!
//! Threads are scoped and created for each call, so a process may fork between calls. Results are the same for any
//! number of threads. If the system provides no thread, the caller's thread does the work.
//!
//! If a process forks while another thread is inside a call, POSIX does not define the behaviour of the child: even an
//! allocation may block forever. Such programs must start children with `spawn` or `forkserver`.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

use crate::error::Result;
use crate::monitor::Monitor;

/// The maximum number of threads of a call. 0 means no limit.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Sets the maximum number of threads for all later calls of this process, and returns the previous limit. `None`
/// removes the limit.
///
/// Results do not depend on the limit. Use it to share cores among several tasks that run at the same time.
///
/// ```
/// assert_eq!(ordhc::limit_threads(Some(1)), None);
/// assert_eq!(ordhc::limit_threads(None), Some(1));
/// ```
pub fn limit_threads(limit: Option<usize>) -> Option<usize> {
    let before = LIMIT.swap(limit.map_or(0, |limit| limit.max(1)), Ordering::Relaxed);
    (before > 0).then_some(before)
}

/// Returns the number of threads: the environment variable `ORDHC_NUM_THREADS`, or the number of cores if this variable
/// is not set. The limit of [`limit_threads`] is the maximum.
pub fn n_threads() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        0 => all_threads(),
        limit => limit.min(all_threads()),
    }
}

fn all_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        std::env::var("ORDHC_NUM_THREADS")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .filter(|&n| n > 0)
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    })
}

/// Splits `0..n` into contiguous ranges, at most one for each thread. If there are several ranges, each has at least
/// `grain` items.
pub(crate) fn ranges(n: usize, grain: usize) -> Vec<Range<usize>> {
    let parts = n_threads().min(n / grain.max(1)).max(1);
    (0..parts).map(|p| n * p / parts..n * (p + 1) / parts).collect()
}

/// Runs `work` on all items in parallel, and returns the results in order. The last item runs on the caller's thread,
/// and each other item runs on a new thread. If the system provides no more threads, the remaining items also run on
/// the caller's thread. So items must not wait for each other.
///
/// Pass about as many items as there are threads.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    map_any(items, &work)
}

/// Returns the results of [`map`], or the first error.
pub(crate) fn try_map<T: Send, R: Send, C: FromIterator<R>>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<C> {
    map(items, work).into_iter().collect()
}

/// Calls `work(state, item)` for each item, on one thread for each of the `states`, and returns the states. A thread
/// takes the next item when it has finished one.
pub(crate) fn share<S: Send, I: IntoIterator<IntoIter: Send>>(
    states: Vec<S>,
    items: I,
    work: impl Fn(&mut S, I::Item) -> Result<()> + Sync,
) -> Result<Vec<S>> {
    let queue = Mutex::new(items.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    try_map(states, |mut state| {
        while let Some(item) = next() {
            work(&mut state, item)?;
        }
        Ok(state)
    })
}

/// A function is passed by reference, so that the code of this module is compiled only once for all functions.
type Any<'a, T, R> = &'a (dyn Fn(T) -> R + Sync);

fn map_any<T: Send, R: Send>(mut items: Vec<T>, work: Any<'_, T, R>) -> Vec<R> {
    if items.len() <= 1 {
        return items.pop().map_or_else(Vec::new, |item| vec![work(item)]);
    }
    results_of(items, work, run_each).expect("every item has its result")
}

/// Does the same as [`map`] for more items than threads. Each item runs on the first thread that is free.
pub(crate) fn map_in_turn<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    results_of(items, &work, run_in_turn).expect("every item has its result")
}

/// Runs `work` on all items at the same time, so that they may wait for each other. Returns `None` if the system does
/// not provide enough threads.
pub(crate) fn together<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Option<Vec<R>> {
    results_of(items, &work, run_together)
}

/// The call of a function with an item, which stores its result. Code that runs tasks does not need to know the types
/// of items and results, so it is compiled only once.
type Task<'a> = Mutex<Option<Box<dyn FnOnce() + Send + 'a>>>;

/// Runs `work` on all items, as `run` does it. Returns `None` if a task did not run.
fn results_of<T: Send, R: Send>(items: Vec<T>, work: Any<'_, T, R>, run: fn(&[Task<'_>])) -> Option<Vec<R>> {
    let mut results: Vec<Option<R>> = Vec::with_capacity(items.len());
    results.resize_with(items.len(), || None);
    let mut tasks: Vec<Task<'_>> = Vec::with_capacity(items.len());
    for (item, result) in items.into_iter().zip(&mut results) {
        tasks.push(Mutex::new(Some(Box::new(move || *result = Some(work(item))))));
    }
    run(&tasks);
    drop(tasks);
    let mut found = Vec::with_capacity(results.len());
    for result in results {
        found.push(result?);
    }
    Some(found)
}

fn run_task(task: &Task<'_>) {
    let task = task.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(task) = task {
        task();
    }
}

fn run_each(tasks: &[Task<'_>]) {
    each(tasks.len(), &|at| run_task(&tasks[at]));
}

fn run_in_turn(tasks: &[Task<'_>]) {
    let next = AtomicUsize::new(0);
    each(n_threads().min(tasks.len()), &|_| {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            run_task(task);
        }
    });
}

fn run_together(tasks: &[Task<'_>]) {
    each_together(tasks.len(), &|at| run_task(&tasks[at]));
}

type Work<'a> = &'a (dyn Fn(usize) + Sync);

fn each(count: usize, work: Work<'_>) {
    let Some(last) = count.checked_sub(1) else { return };
    if last == 0 {
        return work(0);
    }
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..last).map(|at| spawn(scope, at, work)).collect();
        work(last);
        for (at, thread) in started.into_iter().enumerate() {
            thread.map_or_else(|| work(at), join);
        }
    });
}

fn each_together(count: usize, work: Work<'_>) {
    let Some(last) = count.checked_sub(1) else { return };
    // Each thread waits until `gate` contains whether the system provided all threads.
    let (gate, opened) = (Mutex::new(None), Condvar::new());
    let all_came = || {
        let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        *opened.wait_while(closed, |all| all.is_none()).unwrap_or_else(PoisonError::into_inner) == Some(true)
    };
    let gated = |at| {
        if all_came() {
            work(at);
        }
    };
    let gated: Work<'_> = &gated;
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..last).map_while(|at| spawn(scope, at, gated)).collect();
        let all = started.len() == last;
        *gate.lock().unwrap_or_else(PoisonError::into_inner) = Some(all);
        opened.notify_all();
        if all {
            work(last);
        }
        started.into_iter().for_each(join);
    });
}

fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    at: usize,
    work: Work<'scope>,
) -> Option<ScopedJoinHandle<'scope, ()>> {
    #[cfg(test)]
    if tests::REFUSED.with(|refused| refused.replace(refused.get().saturating_sub(1))) == 1 {
        tests::REFUSED.with(|refused| refused.set(1));
        return None;
    }
    std::thread::Builder::new().spawn_scoped(scope, move || work(at)).ok()
}

fn join(thread: ScopedJoinHandle<'_, ()>) {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// The number of items in a block of [`blocks`]. The last block may be shorter.
const BLOCK: usize = 1 << 14;

/// Splits `0..n` into blocks (ranges of [`BLOCK`] indices), calls `work` with each block, and returns the results in
/// order. Blocks do not depend on the number of threads, so sums of floats over blocks don't either.
fn blocks<R: Send>(n: usize, work: Any<'_, Range<usize>, R>) -> Vec<R> {
    let blocks = |blocks: Range<usize>| {
        let mut results = Vec::with_capacity(blocks.len());
        for block in blocks {
            results.push(work(block * BLOCK..((block + 1) * BLOCK).min(n)));
        }
        results
    };
    let mut all = Vec::with_capacity(n.div_ceil(BLOCK));
    for mut part in map_any(ranges(n.div_ceil(BLOCK), 2), &blocks) {
        all.append(&mut part);
    }
    all
}

pub(crate) fn watched_blocks<R: Send>(
    n: usize,
    monitor: &Monitor,
    work: impl Fn(Range<usize>) -> R + Sync,
) -> Result<Vec<R>> {
    watched_any_blocks(n, monitor, &work)
}

fn watched_any_blocks<R: Send>(n: usize, monitor: &Monitor, work: Any<'_, Range<usize>, R>) -> Result<Vec<R>> {
    monitor.start(n.div_ceil(BLOCK) as u64);
    let watched = |block| {
        monitor.advance(1)?;
        Ok(work(block))
    };
    blocks(n, &watched).into_iter().collect()
}

/// Splits `data` into slices that end at the indices `ends`. These are ascending, and the last one is `data.len()`.
pub(crate) fn split_at_ends<'a, T>(mut data: &'a mut [T], ends: &[usize]) -> Vec<&'a mut [T]> {
    let mut start = 0;
    ends.iter()
        .map(|&end| {
            let (head, tail) = std::mem::take(&mut data).split_at_mut(end - start);
            start = end;
            data = tail;
            head
        })
        .collect()
}

/// Splits `data` at the ends of consecutive ranges: the part of a range ends at `end(range.end)`. Returns each range
/// with its part.
pub(crate) fn with_parts<T>(
    ranges: Vec<Range<usize>>,
    data: &mut [T],
    end: impl Fn(usize) -> usize,
) -> Vec<(Range<usize>, &mut [T])> {
    let ends: Vec<usize> = ranges.iter().map(|range| end(range.end)).collect();
    ranges.into_iter().zip(split_at_ends(data, &ends)).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Barrier;

    use super::*;

    thread_local! {
        /// The number of threads that this thread can still create in a test, plus 1. 0 means no limit.
        pub(super) static REFUSED: Cell<usize> = const { Cell::new(0) };
    }

    fn with_threads<R>(there: usize, work: impl FnOnce() -> R) -> R {
        REFUSED.with(|refused| refused.set(there + 1));
        let result = work();
        REFUSED.with(|refused| refused.set(0));
        result
    }

    #[test]
    fn without_threads_the_caller_does_the_work() {
        for there in 0..5 {
            let found = with_threads(there, || map(vec![1, 2, 3, 4], |x| x * 10));
            assert_eq!(found, vec![10, 20, 30, 40], "{there} threads");
        }
    }

    #[test]
    fn those_who_wait_for_each_other_start_together_or_not_at_all() {
        for there in 0..5 {
            let barrier = Barrier::new(4);
            let found = with_threads(there, || {
                together(vec![1, 2, 3, 4], |x| {
                    barrier.wait();
                    x * 10
                })
            });
            assert_eq!(found, (there >= 3).then(|| vec![10, 20, 30, 40]), "{there} threads");
        }
        assert_eq!(together(Vec::<u8>::new(), |x| x), Some(vec![]));
    }

    #[test]
    fn panics_come_through() {
        for at in 0..3 {
            let work = |x: usize| if x == at { panic!("at {x}") } else { x };
            let panic = std::panic::catch_unwind(|| map(vec![0, 1, 2], work)).unwrap_err();
            assert_eq!(panic.downcast_ref::<String>(), Some(&format!("at {at}")));
        }
    }

    #[test]
    fn ranges_cover_everything_once() {
        for n in [0, 1, 7, 1000] {
            let all: Vec<usize> = ranges(n, 3).into_iter().flatten().collect();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn blocks_cover_everything_in_order() {
        for n in [0, 1, BLOCK, 5 * BLOCK + 1] {
            let all: Vec<usize> = blocks(n, &|block| block.collect::<Vec<_>>()).concat();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn map_keeps_the_order() {
        assert_eq!(map(vec![1, 2, 3], |x| x * 10), vec![10, 20, 30]);
    }

    #[test]
    fn splitting_gives_the_pieces_back() {
        let mut data = [1, 2, 3, 4, 5];
        let parts = split_at_ends(&mut data, &[2, 2, 5]);
        assert_eq!(parts, vec![&[1, 2][..], &[][..], &[3, 4, 5][..]]);
    }
}
