//! The nearest-neighbour chain (Benzécri 1982; Murtagh 1983).

use super::doubts::Doubts;
use super::nearest::{Linkage, NOBODY, Nearest};
use crate::error::{Error, Result};
use crate::tree::RawMerge;

/// Most stacks have room for so many clusters.
const STACK: usize = 64;

/// A chain of clusters, each the nearest of the one before; the end of it is a reciprocal pair.
///
/// It can be continued on another [`Linkage`] that holds the same clusters.
pub(crate) struct Chain {
    /// Empty, if nobody needs a list.
    active: Vec<usize>,
    /// By cluster.
    state: Vec<State>,
    n_active: usize,
    /// All clusters before it are gone.
    first: usize,
    /// Clusters, each with the similarity to the one before.
    stack: Vec<(usize, f64)>,
    merges: Vec<RawMerge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    There,
    OnStack,
    Gone,
}

impl Chain {
    /// Goes on after the merges that were made already.
    pub(crate) fn after(n_leaves: usize, merges: Vec<RawMerge>) -> Self {
        let mut chain = Self { merges, ..Self::unlisted(n_leaves) };
        chain.merges.iter().for_each(|merge| chain.state[merge.j] = State::Gone);
        chain.n_active -= chain.merges.len();
        chain.active = (0..n_leaves).filter(|&k| chain.state[k] != State::Gone).collect();
        chain
    }

    /// A chain from the beginning, for a linkage that knows by itself which clusters there are.
    pub(crate) fn unlisted(n_leaves: usize) -> Self {
        Self {
            active: Vec::new(),
            state: vec![State::There; n_leaves],
            n_active: n_leaves,
            first: 0,
            stack: Vec::with_capacity(STACK.min(n_leaves)),
            merges: Vec::with_capacity(n_leaves),
        }
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
    /// Of equally near clusters the one with the smallest leaf is the nearest. A chain cannot run in a
    /// circle then, unless rounding makes the similarity of two clusters different from both sides, which is a
    /// doubt: a circle ends where it closes. `doubts` settles the others.
    pub(crate) fn run(&mut self, linkage: &mut dyn Linkage, until: usize, doubts: &mut Doubts<'_>) -> Result<()> {
        self.run_on(linkage, until, doubts)
    }

    /// As [`run`](Self::run), compiled into the caller.
    #[inline(always)]
    pub(super) fn run_on(
        &mut self,
        linkage: &mut (impl Linkage + ?Sized),
        until: usize,
        doubts: &mut Doubts<'_>,
    ) -> Result<()> {
        entered!(chain);
        let monitor = doubts.monitor();
        // Few clusters merge faster than a clock can be read.
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
                nearest = self.settled(linkage, top, nearest, doubts)?;
            }
            // Nothing is near where a value is NaN.
            if nearest.cluster == NOBODY.cluster {
                return Err(Error::changed_meanwhile());
            }
            if self.state[nearest.cluster] != State::OnStack {
                self.push(nearest.cluster, nearest.similarity);
                continue;
            }
            let (last, similarity) = (self.stack[self.stack.len() - 2].0, before);
            let (i, j) = (top.min(last), top.max(last));
            self.stack.truncate(self.stack.len() - 2);
            (self.state[i], self.state[j]) = (State::There, State::Gone);
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

    #[cold]
    fn settled(
        &self,
        linkage: &mut (impl Linkage + ?Sized),
        i: usize,
        nearest: Nearest,
        doubts: &mut Doubts<'_>,
    ) -> Result<Nearest> {
        let others: Vec<usize> = (0..self.state.len()).filter(|&k| k != i && self.state[k] != State::Gone).collect();
        let mut values = vec![0.0; others.len()];
        linkage.similarities(i, &others, &mut values)?;
        doubts.nearest(nearest, &self.merges, i, &others, &values)
    }
}
