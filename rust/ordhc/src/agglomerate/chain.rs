//! The nearest-neighbour chain (Benzécri 1982; Murtagh 1983).

use super::Linkage;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::RawMerge;

/// A chain of clusters, each the nearest of the one before; the end of it is a reciprocal pair.
///
/// It can be continued on another [`Linkage`] that holds the same clusters.
pub(crate) struct Chain {
    active: Vec<usize>,
    stack: Vec<usize>,
    merges: Vec<RawMerge>,
}

/// When the order of merges could matter, because a cluster has two nearest ones within rounding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caution {
    /// Relative size of a difference that rounding could have made.
    pub(crate) relative: f64,
    /// What it is relative to, at least.
    pub(crate) scale: f64,
}

impl Caution {
    pub(crate) fn doubts(&self, best: f64, next: f64) -> bool {
        best - next <= self.relative * self.scale.max(best.abs()).max(next.abs().min(f64::MAX))
            && next > f64::NEG_INFINITY
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Finished,
    /// Ties: another engine must decide.
    Doubtful,
}

impl Chain {
    /// Goes on after the merges that were made already.
    pub(crate) fn after(n_leaves: usize, merges: Vec<RawMerge>) -> Self {
        let mut there = vec![true; n_leaves];
        merges.iter().for_each(|merge| there[merge.j] = false);
        Self { active: (0..n_leaves).filter(|&k| there[k]).collect(), stack: Vec::new(), merges }
    }

    pub(crate) fn active(&self) -> &[usize] {
        &self.active
    }

    pub(crate) fn into_merges(self) -> Vec<RawMerge> {
        self.merges
    }

    /// Merges until `until` clusters are left, or until `caution` (if there is one) has doubts.
    pub(crate) fn run(
        &mut self,
        linkage: &mut impl Linkage,
        until: usize,
        caution: Option<Caution>,
        monitor: &Monitor,
    ) -> Result<Outcome> {
        while self.active.len() > until.max(1) {
            let top = match self.stack.last() {
                Some(&top) => top,
                None => {
                    self.stack.push(self.active[0]);
                    self.active[0]
                }
            };
            let nearest = linkage.nearest(top, &self.active)?;
            if caution.is_some_and(|caution| caution.doubts(nearest.similarity, nearest.runner_up)) {
                return Ok(Outcome::Doubtful);
            }
            if self.stack.len() < 2 || self.stack[self.stack.len() - 2] != nearest.cluster {
                self.stack.push(nearest.cluster);
                continue;
            }
            let (i, j) = (top.min(nearest.cluster), top.max(nearest.cluster));
            self.stack.truncate(self.stack.len() - 2);
            linkage.merge(i, j, &self.active)?;
            self.merges.push(RawMerge { i, j, similarity: nearest.similarity });
            let gone = self.active.partition_point(|&k| k < j);
            self.active.remove(gone);
            monitor.advance(self.active.len() as u64)?;
        }
        Ok(Outcome::Finished)
    }
}
