//! Many leaves at a time, in few rounds.

use std::collections::VecDeque;

use super::asking::Strategy;
use crate::error::Result;
use crate::search::{Order, Outcome, PivotTree, Place, Sketch};
use crate::tree::Dendrogram;

/// Sample and buckets: some leaves are placed, all others search the tree of these side by side, and
/// those that end at the same place, a *bucket*, are placed there in the same way.
///
/// With samples of one leaf this is QuickClustering (Emamjomeh-Zadeh & Kempe, Algorithm 1) without
/// rejected pivots and without merging: a place is a pivot already, and what is found outside it stays
/// there.
#[derive(Debug, Clone)]
pub(crate) struct Buckets {
    n: usize,
    /// By how much samples are smaller than what they are samples of; none: of one leaf.
    shrink: Option<usize>,
    placed: usize,
    tree: PivotTree,
    tasks: Vec<Bucket>,
    free: Vec<u32>,
    n_tasks: usize,
    ready: VecDeque<Seeker>,
    /// The sum over leaves without a place of [`bits`], less what answers under way are worth.
    left: f64,
    /// Questions a bit, nearly.
    price: f64,
}

/// A bucket of leaves to be placed at and below a state that was a place.
#[derive(Debug, Clone, Default)]
struct Bucket {
    state: u32,
    is_under: bool,
    leaves: Vec<u32>,
    /// The first leaves have their places, those up to `end` are searching or in buckets.
    placed: usize,
    end: usize,
    /// Searches and buckets that have not finished.
    waiting: usize,
    /// Answers about leaves between the two.
    steps: usize,
    /// Where searches ended: state and leaf.
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
    /// Leaves in random order, after those whose places are known.
    pub(crate) fn new(order: Order, shrink: Option<usize>) -> Self {
        let known = order.n_known();
        let mut new = Self {
            n: order.len(),
            shrink,
            placed: known,
            tree: PivotTree::of(&order),
            tasks: Vec::new(),
            free: Vec::new(),
            n_tasks: 0,
            ready: VecDeque::new(),
            left: 0.0,
            price: if shrink.is_some() { 0.75 } else { 0.9 },
        };
        let (state, leaves) = (new.tree.start(), order.into_leaves());
        if known > 1 && new.n > known {
            new.left = (new.n - known) as f64 * bits(new.n);
            new.tasks.push(Bucket { state, leaves, placed: known, end: known, ..Bucket::default() });
            new.n_tasks = 1;
            new.proceed(Some(0));
        } else if new.n > known {
            let task = new.bucket(state, leaves[1..].to_vec(), None);
            new.proceed(task);
        }
        new
    }

    /// Places the first leaf; there is a task if there are more.
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
        Some(match self.free.pop() {
            Some(free) => {
                self.tasks[free as usize] = task;
                free
            }
            None => {
                self.tasks.push(task);
                self.tasks.len() as u32 - 1
            }
        })
    }

    /// Goes on with a task that waits for nothing.
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

    /// All searches of a task have ended.
    fn distribute(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let mut found = std::mem::take(&mut task.found);
        let steps = std::mem::take(&mut task.steps) as f64 / self.price;
        self.left += steps - found.len() as f64 * bits(task.leaves.len());
        // Stable, in the order of the leaves: buckets are in random order too.
        found.sort_by_key(|found| found.0);
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

/// How many leaves of the task are searching next.
fn end(task: &Bucket, shrink: Option<usize>) -> usize {
    let all = task.leaves.len();
    if task.is_under && task.placed == 1 && all > 3 {
        // Two children of a node make one question, so there should be two.
        return 2;
    }
    let Some(shrink) = shrink else { return all };
    let mut end = all;
    while end / shrink > task.placed {
        end /= shrink;
    }
    end
}

/// What a leaf costs in a bucket of this size, nearly.
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

    fn take(&mut self, mut search: Seeker, answer: i8) {
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

    fn done(&self) -> bool {
        self.n_tasks == 0
    }

    fn tree(&self) -> Result<Dendrogram> {
        Sketch::of(self.tree.tree(), self.tree.root(), self.n).finish(self.n)
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
