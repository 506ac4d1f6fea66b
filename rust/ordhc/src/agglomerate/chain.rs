//! The nearest-neighbour chain (Benzécri 1982; Murtagh 1983).

use super::doubts::Doubts;
use super::nearest::{Linkage, NO_CLUSTER};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::tree::RawMerge;

const STACK: usize = 64;

/// A nearest-neighbour chain: each cluster is the nearest neighbour of the cluster before it. The chain grows until its
/// last two clusters are a reciprocal pair, which merges.
///
/// The chain can be continued on another [`Linkage`] with the same clusters.
pub(crate) struct Chain {
    /// The active clusters. Empty if the linkage doesn't need this list.
    active: Vec<usize>,
    state: Vec<State>,
    n_active: usize,
    /// All clusters before this cluster are removed.
    first: usize,
    /// The clusters of the chain, each with its similarity to the cluster before it.
    stack: Vec<(usize, f64)>,
    merges: Vec<RawMerge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Active,
    OnStack,
    Gone,
}

impl Chain {
    pub(crate) fn after(n_leaves: usize, merges: Vec<RawMerge>) -> Self {
        let mut chain = Self { merges, ..Self::unlisted(n_leaves) };
        chain.merges.iter().for_each(|merge| chain.state[merge.j] = State::Gone);
        chain.n_active -= chain.merges.len();
        chain.active = (0..n_leaves).filter(|&k| chain.state[k] != State::Gone).collect();
        chain
    }

    pub(crate) fn unlisted(n_leaves: usize) -> Self {
        Self {
            active: Vec::new(),
            state: vec![State::Active; n_leaves],
            n_active: n_leaves,
            first: 0,
            stack: Vec::with_capacity(STACK.min(n_leaves)),
            merges: Vec::with_capacity(n_leaves),
        }
    }

    /// Returns the merges of all clusters of a linkage.
    pub(crate) fn merges_of(linkage: &mut dyn Linkage, monitor: &Monitor) -> Result<Vec<RawMerge>> {
        let mut chain = Self::unlisted(linkage.n_leaves());
        chain.run(linkage, 1, &mut Doubts::left_open(monitor))?;
        Ok(chain.merges)
    }

    pub(crate) fn active(&self) -> &[usize] {
        &self.active
    }

    pub(crate) fn into_merges(self) -> Vec<RawMerge> {
        self.merges
    }

    fn push(&mut self, cluster: usize, similarity: f64) {
        self.stack.push((cluster, similarity));
        self.state[cluster] = State::OnStack;
    }

    /// Merges until `until` clusters are left.
    ///
    /// The chain has a cycle only if rounding makes the similarity of two clusters depend on their order. Then the last
    /// two clusters of the chain merge.
    pub(crate) fn run(&mut self, linkage: &mut dyn Linkage, until: usize, doubts: &mut Doubts<'_>) -> Result<()> {
        self.run_on(linkage, until, doubts)
    }

    #[inline(always)]
    pub(super) fn run_on(
        &mut self,
        linkage: &mut (impl Linkage + ?Sized),
        until: usize,
        doubts: &mut Doubts<'_>,
    ) -> Result<()> {
        entered!(chain);
        let monitor = doubts.monitor();
        // Merging few clusters takes less time than reading a clock, so report to the monitor rarely.
        const STEPS: u64 = 1 << 14;
        let mut steps = 0;
        monitor.advance(0)?;
        while self.n_active > until.max(1) {
            if self.stack.is_empty() {
                self.first += self.state[self.first..].iter().take_while(|&&state| state == State::Gone).count();
                self.push(self.first, f64::NEG_INFINITY);
            }
            let &(top, before) = &self.stack[self.stack.len() - 1];
            let mut nearest = linkage.nearest(top, &self.active)?;
            if nearest.doubtful {
                nearest = doubts.settled(linkage, top, nearest, &self.merges)?;
            }
            // There is no nearest cluster only if another thread has written NaN to the values.
            if nearest.cluster == NO_CLUSTER.cluster {
                return Err(Error::changed_meanwhile());
            }
            if self.state[nearest.cluster] != State::OnStack {
                self.push(nearest.cluster, nearest.similarity);
                continue;
            }
            let (last, similarity) = (self.stack[self.stack.len() - 2].0, before);
            let (i, j) = (top.min(last), top.max(last));
            self.stack.truncate(self.stack.len() - 2);
            (self.state[i], self.state[j]) = (State::Active, State::Gone);
            linkage.merge(i, j, &self.active)?;
            self.merges.push(RawMerge { i, j, similarity });
            self.n_active -= 1;
            if let Ok(gone) = self.active.binary_search(&j) {
                self.active.remove(gone);
            }
            steps += self.n_active as u64;
            if steps >= STEPS {
                monitor.advance(std::mem::take(&mut steps))?;
            }
        }
        monitor.advance(steps)
    }
}
