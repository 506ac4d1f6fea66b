//! How much is left to ask when leaves are inserted one by one.

/// Counts work in bits, log2 (2i - 3) for the i-th leaf, and learns what a bit costs.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    total: f64,
    done: f64,
    /// Questions a bit as long as there is no evidence.
    usual: f64,
}

/// Questions a bit, measured on random trees, and how many bits of evidence it takes to overrule that.
const USUAL: f64 = 0.68;
const EVIDENCE: f64 = 50.0;

impl Work {
    /// `known` of the `n` leaves have their places before anything is asked.
    pub(crate) fn new(n: usize, known: usize) -> Self {
        Self { total: (known + 1..=n).map(bits).sum(), done: 0.0, usual: USUAL }
    }

    /// A leaf is expected to take `cost` questions in the whole tree.
    pub(crate) fn with_cost(n: usize, known: usize, cost: f64) -> Self {
        Self { usual: cost / bits(n.max(3)), ..Self::new(n, known) }
    }

    /// The i-th leaf has its place.
    pub(crate) fn placed(&mut self, i: usize) {
        self.done += bits(i);
    }

    /// The number of questions left; `under_way` of the answers are about leaves without a place.
    pub(crate) fn remaining(&self, n_answered: u64, under_way: u64) -> f64 {
        let price = ((n_answered - under_way) as f64 + self.usual * EVIDENCE) / (self.done + EVIDENCE);
        price * (self.total - self.done) - under_way as f64
    }
}

fn bits(i: usize) -> f64 {
    if i < 3 { 0.0 } else { (2.0 * i as f64 - 3.0).log2() }
}
