//! A test whether answers agree with a given tree more than by chance.

use crate::tree::{LcaSizes, Topology};

/// Tests whether answers agree with a tree more than by chance. This is a sequential test (Wald) of
/// two hypotheses. Either the tree is useful, and at most about half of its triplets are wrong, or
/// the tree is useless, and answers agree with it only by chance.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    tree: LcaSizes,
    agrees: f64,
    differs: f64,
    log_odds: f64,
    n: usize,
    most: usize,
}

/// The log odds at which the test decides. The odds are e^4, so about one decision in fifty is wrong.
const CLEAR: f64 = 4.0;
/// After `MOST` answers, or after `MOST_A_LEAF` answers per leaf if this is less, the test accepts the likelier
/// hypothesis: the tree is useful, or useless. If no answer is informative, the tree counts as useless.
const MOST: usize = 60;
const MOST_A_LEAF: usize = 2;
const BATCH: usize = 10;

impl Probe {
    pub(super) fn new(tree: &Topology, p: f64) -> Self {
        let chance = 1.0 / 3.0;
        let useful = 0.5 * (chance + p);
        Self {
            tree: LcaSizes::new(tree),
            agrees: (useful / chance).ln(),
            differs: ((1.0 - useful) / (1.0 - chance)).ln(),
            log_odds: 0.0,
            n: 0,
            most: MOST.min(MOST_A_LEAF * tree.n_leaves()),
        }
    }

    pub(super) fn take(&mut self, leaves: [u32; 3], answer: i8) {
        if self.is_decided() {
            return;
        }
        let expected = self.tree.odd_one_out(leaves);
        if answer >= 0 && expected >= 0 {
            self.log_odds += if answer == expected { self.agrees } else { self.differs };
        }
        self.n += 1;
    }

    pub(super) fn is_decided(&self) -> bool {
        self.log_odds.abs() >= CLEAR || self.n >= self.most
    }

    pub(super) fn is_useless(&self) -> bool {
        self.log_odds <= -CLEAR || (self.n >= self.most && self.log_odds <= 0.0)
    }

    pub(super) fn wanted(&self, n_open: usize) -> usize {
        BATCH.min(self.most.saturating_sub(self.n)).saturating_sub(n_open)
    }
}
