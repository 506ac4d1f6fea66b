//! A strategy that inserts many leaves into a tree at a time, in few rounds.

use std::collections::VecDeque;

use super::asking::Strategy;
use super::learner::Told;
use super::slots;
use crate::error::Result;
use crate::search::{Order, Outcome, PivotTree, Place, Sketch};
use crate::sorting::order_by_key;
use crate::tree::Dendrogram;

/// Inserts many leaves in parallel, in few rounds. A sample of the leaves is inserted first, by the same method. Then
/// the places of all other leaves in the tree of the sample are searched in parallel. The leaves whose searches end at
/// the same place form a *bucket*. Each bucket is inserted by the same method.
///
/// If each sample has one leaf, this is `QuickClustering` (Emamjomeh-Zadeh & Kempe, Algorithm 1) with two differences.
/// Pivots (the nodes that questions are about) are never rejected. Trees are never merged, because every leaf is
/// inserted at the place in the tree where its search ends.
#[derive(Debug, Clone)]
pub(crate) struct Buckets {
    order: Order,
    /// The number of leaves that the learner ever had, including removed (retired) ones.
    n: usize,
    /// The number of inserted leaves of a bucket grows by about this factor in each step. If `None`, the first leaf of
    /// a bucket is inserted, and then all other leaves in one step.
    shrink: Option<usize>,
    placed: usize,
    tree: PivotTree,
    tasks: Vec<Bucket>,
    free: Vec<u32>,
    n_tasks: usize,
    ready: VecDeque<Seeker>,
    /// The estimated information, in bits, that is still needed to find the places of all leaves in the tree.
    left: f64,
    /// The approximate number of answers that give one bit of information about a leaf's place in the tree.
    price: f64,
}

/// A bucket: leaves that belong into the same region of the tree. Their searches begin at `state`, a state of the
/// [`PivotTree`] (the decision tree of all searches).
#[derive(Debug, Clone, Default)]
struct Bucket {
    state: u32,
    is_under: bool,
    leaves: Vec<u32>,
    /// The first `placed` of the `leaves` are in the tree. The leaves with the indices `placed..end` are being
    /// inserted.
    placed: usize,
    end: usize,
    waiting: usize,
    steps: usize,
    found: Vec<(u32, u32)>,
    parent: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Seeker {
    task: u32,
    leaf: u32,
    state: u32,
}

impl Buckets {
    /// `order` has the leaves with known places in the tree first, then the other leaves in random order.
    pub(crate) fn new(order: Order, shrink: Option<usize>) -> Self {
        let known = order.n_known();
        let mut new = Self {
            n: order.len(),
            shrink,
            placed: known,
            tree: PivotTree::of(&order),
            order,
            tasks: Vec::new(),
            free: Vec::new(),
            n_tasks: 0,
            ready: VecDeque::new(),
            left: 0.0,
            price: if shrink.is_some() { 0.75 } else { 0.9 },
        };
        if known > 1 {
            new.left = (new.n - known) as f64 * bits(new.n);
        }
        if new.n > known {
            new.search_all();
        }
        new
    }

    fn search(&mut self, leaf: u32) {
        self.left += bits(self.order.len());
        if let Some(whole) = self.tasks.iter_mut().find(|task| task.parent.is_none() && !task.leaves.is_empty()) {
            whole.leaves.push(leaf);
            return;
        }
        self.search_all();
    }

    /// Searches the places of all leaves after the first `placed` leaves of the order.
    fn search_all(&mut self) {
        let (state, placed, leaves) = (self.tree.start(), self.placed, self.order.leaves().to_vec());
        let task = if placed == 1 {
            self.bucket(state, leaves[1..].to_vec(), None)
        } else {
            self.n_tasks += 1;
            let task = Bucket { state, leaves, placed, end: placed, ..Bucket::default() };
            Some(slots::put(&mut self.tasks, &mut self.free, task))
        };
        self.proceed(task);
    }

    /// Inserts the first of the `leaves`. If there are other leaves, makes a bucket of all `leaves`, and returns its
    /// index in `tasks`.
    fn bucket(&mut self, state: u32, leaves: Vec<u32>, parent: Option<u32>) -> Option<u32> {
        let is_under = matches!(self.tree.place_of(state), Place::Under(_));
        self.tree.insert(state, leaves[0]);
        self.placed += 1;
        if leaves.len() == 1 {
            return None;
        }
        self.left += (leaves.len() - 1) as f64 * bits(leaves.len());
        let task = Bucket { state, is_under, leaves, placed: 1, end: 1, parent, ..Bucket::default() };
        self.n_tasks += 1;
        Some(slots::put(&mut self.tasks, &mut self.free, task))
    }

    /// Starts the next searches of the bucket `task`. All earlier searches of this bucket must have ended.
    fn proceed(&mut self, task: Option<u32>) {
        let mut open: Vec<u32> = task.into_iter().collect();
        while let Some(number) = open.pop() {
            let task = &mut self.tasks[number as usize];
            task.placed = task.end;
            if task.placed == task.leaves.len() {
                let parent = std::mem::take(task).parent;
                self.free.push(number);
                self.n_tasks -= 1;
                if let Some(parent) = parent {
                    self.tasks[parent as usize].waiting -= 1;
                    if self.tasks[parent as usize].waiting == 0 {
                        open.push(parent);
                    }
                }
                continue;
            }
            task.end = end(task, self.shrink);
            task.waiting = task.end - task.placed;
            if task.placed > 1 {
                self.tree.rebuild(task.state, false);
            }
            let state = task.state;
            let search = |&leaf: &u32| Seeker { task: number, leaf, state };
            self.ready.extend(task.leaves[task.placed..task.end].iter().map(search));
        }
    }

    /// Divides a bucket into smaller buckets of leaves whose searches ended at the same place. All its searches must
    /// have ended.
    fn distribute(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let mut found = std::mem::take(&mut task.found);
        let steps = std::mem::take(&mut task.steps) as f64 / self.price;
        self.left += steps - found.len() as f64 * bits(task.leaves.len());
        // The sort is stable, so each bucket keeps the random order of leaves.
        order_by_key(&mut found, |found| found.0);
        let mut buckets = Vec::new();
        for bucket in found.chunk_by(|a, b| a.0 == b.0) {
            let leaves = bucket.iter().map(|found| found.1).collect();
            buckets.extend(self.bucket(bucket[0].0, leaves, Some(number)));
        }
        self.tasks[number as usize].waiting = buckets.len();
        if buckets.is_empty() {
            self.proceed(Some(number));
        }
        for bucket in buckets {
            self.proceed(Some(bucket));
        }
    }
}

fn end(task: &Bucket, shrink: Option<usize>) -> usize {
    let all = task.leaves.len();
    if task.is_under && task.placed == 1 && all > 3 {
        // A question needs two children of a node, so first insert two leaves.
        return 2;
    }
    let Some(shrink) = shrink else { return all };
    let mut end = all;
    while end / shrink > task.placed {
        end /= shrink;
    }
    end
}

/// Returns the approximate information, in bits, about the place of one leaf in a bucket of `k` leaves.
fn bits(k: usize) -> f64 {
    (k as f64 + 1.0).log2()
}

impl Strategy for Buckets {
    type Purpose = Seeker;

    fn next(&mut self) -> Option<([u32; 3], Seeker)> {
        let search = self.ready.pop_front()?;
        let [first, second] = self.tree.question(search.state)?;
        Some(([first, second, search.leaf], search))
    }

    fn take(&mut self, mut search: Seeker, Told { answer, .. }: Told) {
        search.state = self.tree.step(search.state, Outcome::of_answer(answer));
        self.left -= 1.0 / self.price;
        self.tasks[search.task as usize].steps += 1;
        if self.tree.question(search.state).is_some() {
            self.ready.push_back(search);
            return;
        }
        let task = &mut self.tasks[search.task as usize];
        task.found.push((search.state, search.leaf));
        task.waiting -= 1;
        if task.waiting == 0 {
            self.distribute(search.task);
        }
    }

    fn add_leaf(&mut self) -> Result<()> {
        let leaf = self.n as u32;
        self.n += 1;
        self.order.push(leaf);
        self.search(leaf);
        Ok(())
    }

    fn retire(&mut self, leaf: u32) -> Result<()> {
        let order = self.order.without(leaf, self.tree.tree())?;
        *self = Self { n: self.n, ..Self::new(order, self.shrink) };
        Ok(())
    }

    fn unplaced(&self) -> Option<Vec<u32>> {
        Some(self.order.unplaced(self.tree.tree()))
    }

    fn done(&self) -> bool {
        self.n_tasks == 0
    }

    fn tree(&self) -> Result<Dendrogram> {
        Sketch::of(self.tree.tree(), self.n).finish(self.n)
    }

    fn n_leaves(&self) -> usize {
        self.n
    }

    fn placed(&self) -> usize {
        self.placed
    }

    fn remaining(&self, _n_answered: u64) -> f64 {
        (self.left * self.price).max(0.0)
    }
}
