//! An estimate of the number of questions that remain when leaves are inserted one by one.

/// Estimates the number of remaining questions. The place of the i-th leaf is log2 (2i - 3) bits of information,
/// because there are 2i - 3 possible places in a binary tree. The number of questions per bit is estimated from the
/// number of answers so far.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    total: f64,
    done: f64,
    usual: f64,
}

/// The number of questions per bit of information, measured on random trees. This prior has the weight of `EVIDENCE`
/// bits.
const USUAL: f64 = 0.68;
const EVIDENCE: f64 = 50.0;

impl Work {
    pub(crate) fn new(n: usize, known: usize) -> Self {
        Self { total: (known + 1..=n).map(bits).sum(), done: 0.0, usual: USUAL }
    }

    pub(crate) fn with_cost(n: usize, known: usize, cost: f64) -> Self {
        Self { usual: cost / bits(n.max(3)), ..Self::new(n, known) }
    }

    pub(crate) fn add(&mut self, i: usize) {
        self.total += bits(i);
    }

    pub(crate) fn placed(&mut self, i: usize) {
        self.done += bits(i);
    }

    pub(crate) fn remaining(&self, n_answered: u64, under_way: u64) -> f64 {
        let price = ((n_answered - under_way) as f64 + self.usual * EVIDENCE) / (self.done + EVIDENCE);
        price * (self.total - self.done) - under_way as f64
    }
}

fn bits(i: usize) -> f64 {
    if i < 3 { 0.0 } else { (2.0 * i as f64 - 3.0).log2() }
}
