//! An estimate of the number of questions that remain when leaves are inserted one by one.

/// Measures work in bits, log2 (2i - 3) for the i-th leaf, and estimates the questions per bit.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    total: f64,
    done: f64,
    /// The expected number of questions per bit before there are answers.
    usual: f64,
}

/// The number of questions per bit, measured on random trees. This prior has the weight of `EVIDENCE` bits.
const USUAL: f64 = 0.68;
const EVIDENCE: f64 = 50.0;

impl Work {
    /// Returns the work for `n` leaves. The first `known` leaves have their places from the start.
    pub(crate) fn new(n: usize, known: usize) -> Self {
        Self { total: (known + 1..=n).map(bits).sum(), done: 0.0, usual: USUAL }
    }

    /// Does the same as [`new`](Self::new), if a leaf is expected to take `cost` questions in the whole tree.
    pub(crate) fn with_cost(n: usize, known: usize, cost: f64) -> Self {
        Self { usual: cost / bits(n.max(3)), ..Self::new(n, known) }
    }

    /// Adds the work for an i-th leaf.
    pub(crate) fn add(&mut self, i: usize) {
        self.total += bits(i);
    }

    /// Records that the i-th leaf has its place.
    pub(crate) fn placed(&mut self, i: usize) {
        self.done += bits(i);
    }

    /// Returns the estimated number of remaining questions. `under_way` is the number of answers about leaves without a
    /// place.
    pub(crate) fn remaining(&self, n_answered: u64, under_way: u64) -> f64 {
        let price = ((n_answered - under_way) as f64 + self.usual * EVIDENCE) / (self.done + EVIDENCE);
        price * (self.total - self.done) - under_way as f64
    }
}

fn bits(i: usize) -> f64 {
    if i < 3 { 0.0 } else { (2.0 * i as f64 - 3.0).log2() }
}
