//! Threads for the few loops that want them. Scoped and made per call, so a forked process is safe;
//! every caller gives the same result for any number of threads.

use std::ops::Range;
use std::sync::OnceLock;

/// The number of threads: `ORDHC_NUM_THREADS`, else what the machine offers.
pub(crate) fn n_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        std::env::var("ORDHC_NUM_THREADS")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .filter(|&n| n > 0)
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    })
}

/// Splits `0..n` into at most as many contiguous ranges as there are threads, none shorter than `grain`.
pub(crate) fn ranges(n: usize, grain: usize) -> Vec<Range<usize>> {
    let parts = n_threads().min(n / grain.max(1)).max(1);
    (0..parts).map(|p| n * p / parts..n * (p + 1) / parts).collect()
}

/// Runs `work` on every item, each on a thread of its own, and returns the results in order.
///
/// There should be about as many items as threads.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() <= 1 {
        return items.into_iter().map(work).collect();
    }
    std::thread::scope(|scope| {
        let handles: Vec<_> = items
            .into_iter()
            .map(|item| {
                let work = &work;
                scope.spawn(move || work(item))
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The length of [`blocks`].
const BLOCK: usize = 1 << 14;

/// Does `work` for the blocks of `0..n` and returns the results in order. Blocks do not depend on the
/// number of threads, so neither do sums of floats over them.
pub(crate) fn blocks<R: Send>(n: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let one = |block: usize| work(block * BLOCK..((block + 1) * BLOCK).min(n));
    let parts = map(ranges(n.div_ceil(BLOCK), 2), |blocks| blocks.map(one).collect::<Vec<R>>());
    parts.into_iter().flatten().collect()
}

/// Splits `data` at the given ends (ascending, the last one `data.len()`).
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

#[cfg(test)]
mod tests {
    use super::*;

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
            let all: Vec<usize> = blocks(n, |block| block.collect::<Vec<_>>()).concat();
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
