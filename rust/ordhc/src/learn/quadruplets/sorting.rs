//! A merge sort whose comparisons are questions.

use std::collections::VecDeque;

/// A merge sort of `0..n` whose comparisons are questions. All merges of one level run in parallel. The sort takes at
/// most n log2 n questions in at most 3n rounds. The questions of a round are asked at the same time.
#[derive(Debug, Clone, Default)]
pub(super) struct Sorting {
    runs: Vec<Vec<u32>>,
    merges: Vec<Merge>,
    ready: VecDeque<u32>,
    n_open: usize,
    n: usize,
    n_taken: u64,
}

#[derive(Debug, Clone)]
struct Merge {
    parts: [VecDeque<u32>; 2],
    merged: Vec<u32>,
}

impl Sorting {
    pub(super) fn new(order: Vec<u32>) -> Self {
        let runs: Vec<Vec<u32>> = order.into_iter().map(|item| vec![item]).collect();
        let mut new = Self { n: runs.len(), runs, ..Self::default() };
        new.begin();
        new
    }

    fn begin(&mut self) {
        let runs = std::mem::take(&mut self.runs);
        if runs.len() <= 1 {
            self.runs = runs;
            return;
        }
        let mut parts = runs.into_iter().map(VecDeque::from);
        while let Some(first) = parts.next() {
            let second = parts.next().unwrap_or_default();
            if !second.is_empty() {
                self.ready.push_back(self.merges.len() as u32);
                self.n_open += 1;
            }
            self.merges.push(Merge { parts: [first, second], merged: Vec::new() });
        }
    }

    pub(super) fn next(&mut self) -> Option<(u32, [u32; 2])> {
        let at = self.ready.pop_front()?;
        let [first, second] = &self.merges[at as usize].parts;
        Some((at, [*first.front()?, *second.front()?]))
    }

    pub(super) fn take(&mut self, at: u32, is_first: bool) {
        self.n_taken += 1;
        let Merge { parts, merged } = &mut self.merges[at as usize];
        merged.extend(parts[usize::from(!is_first)].pop_front());
        if parts.iter().all(|part| !part.is_empty()) {
            self.ready.push_back(at);
            return;
        }
        self.n_open -= 1;
        if self.n_open == 0 {
            self.runs = self.merges.drain(..).map(Merge::so_far).collect();
            self.begin();
        }
    }

    pub(super) fn done(&self) -> bool {
        self.merges.is_empty()
    }

    pub(super) fn order(&self) -> Vec<u32> {
        let merges = self.merges.iter().cloned().map(Merge::so_far);
        self.runs.iter().cloned().chain(merges).flatten().collect()
    }

    pub(super) fn remaining(&self) -> f64 {
        if self.done() { 0.0 } else { (cost(self.n) - self.n_taken as f64).max(1.0) }
    }
}

impl Merge {
    fn so_far(self) -> Vec<u32> {
        let [first, second] = self.parts;
        self.merged.into_iter().chain(first).chain(second).collect()
    }
}

/// Returns the approximate number of comparisons for sorting `n` items.
pub(super) fn cost(n: usize) -> f64 {
    let n = n as f64;
    if n < 2.0 { 0.0 } else { (n * n.log2() - 1.25 * n + 1.5).max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_with_few_questions() {
        for n in [0usize, 1, 2, 3, 7, 64, 100, 1000] {
            let value = |item: u32| (u64::from(item) * 7919 + 13) % 1009;
            let mut sorting = Sorting::new((0..n as u32).collect());
            let (mut asked, mut rounds) = (0, 0);
            while !sorting.done() {
                let batch: Vec<_> = std::iter::from_fn(|| sorting.next()).collect();
                assert!(!batch.is_empty() && sorting.remaining() > 0.0);
                (asked, rounds) = (asked + batch.len(), rounds + 1);
                for (at, [a, b]) in batch {
                    sorting.take(at, value(a) < value(b));
                }
                assert_eq!(sorting.order().len(), n);
            }
            let order: Vec<u64> = sorting.order().into_iter().map(value).collect();
            assert!(order.is_sorted() && order.len() == n && sorting.next().is_none());
            assert!(asked as f64 <= n as f64 * (n.max(1) as f64).log2() && rounds <= 3 * n);
        }
    }
}
