//! Insertion of one leaf after the other into a tree, or of several leaves in parallel.

use std::collections::VecDeque;

use super::inserting::{Inserting, Progress};
use super::learner::Told;
use super::slots;
use super::work::Work;
use crate::search::{GrowingTree, Order, Outcome, PivotTree};

/// Inserts leaves into a tree, one after the other or several in parallel: `InsertionClustering` (Emamjomeh-Zadeh &
/// Kempe, Algorithm 3). Each question is about a node of the tree, the pivot. The search for the place of a leaf in the
/// tree asks about the pivots whose answers have the largest entropy. At most `parallel` searches run at the same time.
///
/// A leaf is inserted as soon as the search for its place ends. The parent of the inserted leaf is then the pivot at
/// this place. If another search later arrives at the same place, this search asks about the new pivot.
#[derive(Debug, Clone)]
pub(crate) struct Insertion {
    progress: Progress,
    started: usize,
    parallel: usize,
    tree: PivotTree,
    searches: Vec<Option<Descent>>,
    idle: Vec<u32>,
    ready: VecDeque<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Descent {
    leaf: u32,
    state: u32,
    steps: u64,
}

impl Insertion {
    pub(crate) fn new(order: Order, parallel: usize) -> Self {
        let tree = PivotTree::of(&order);
        let known = order.n_known();
        let work = Work::new(order.len(), known);
        let mut new = Self {
            progress: Progress::new(order, known, work),
            started: known,
            parallel,
            tree,
            searches: Vec::new(),
            idle: Vec::new(),
            ready: VecDeque::new(),
        };
        new.start();
        new
    }

    fn start(&mut self) {
        while self.started < self.progress.n_leaves() && self.searches.len() - self.idle.len() < self.parallel {
            let slot = slots::put(&mut self.searches, &mut self.idle, None);
            let leaf = self.progress.leaf(self.started);
            self.started += 1;
            self.search(slot, Descent { leaf, state: self.tree.start(), steps: 0 });
        }
    }

    fn search(&mut self, slot: u32, search: Descent) {
        let Descent { leaf, state, steps } = search;
        if self.tree.question(state).is_some() {
            self.searches[slot as usize] = Some(search);
            self.ready.push_back(slot);
            return;
        }
        self.searches[slot as usize] = None;
        self.idle.push(slot);
        self.progress.place(steps);
        self.tree.insert(state, leaf);
        self.tree.balance(state, self.idle.len() < self.searches.len());
        if self.tree.is_littered() {
            self.tree.sweep(self.searches.iter().flatten().map(|search| search.state));
        }
    }
}

impl Inserting for Insertion {
    type Purpose = u32;

    fn next(&mut self) -> Option<([u32; 3], u32)> {
        let slot = self.ready.pop_front()?;
        let Descent { leaf, state, .. } = self.searches[slot as usize]?;
        let [first, second] = self.tree.question(state)?;
        Some(([first, second, leaf], slot))
    }

    fn take(&mut self, slot: u32, Told { answer, .. }: Told) {
        if let Some(Descent { leaf, state, steps }) = self.searches[slot as usize] {
            let state = self.tree.step(state, Outcome::of_answer(answer));
            self.progress.answered();
            self.search(slot, Descent { leaf, state, steps: steps + 1 });
            self.start();
        }
    }

    fn set_parallel(&mut self, parallel: usize) {
        self.parallel = parallel.max(1);
        self.start();
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn restarted(&self, order: Order) -> Self {
        Self::new(order, self.parallel)
    }

    fn resume(&mut self, _was_done: bool) {
        self.start();
    }

    fn grown(&self) -> &GrowingTree {
        self.tree.tree()
    }
}
