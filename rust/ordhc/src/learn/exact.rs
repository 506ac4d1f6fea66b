//! Insertion of leaves into a tree with the pivots of Emamjomeh-Zadeh & Kempe. A pivot is the node that a question is
//! about.

use super::inserting::{Inserting, Progress};
use super::learner::Told;
use super::work::Work;
use crate::search::{GrowingTree, Order, Outcome, PivotRule, Place, Region};

/// `InsertionClustering` with `FindSibling` (Emamjomeh-Zadeh & Kempe, Algorithms 3 and 4).
///
/// In a binary tree, the i-th leaf takes at most log2(2i - 3) questions, and all leaves together fewer than n log2 n.
/// The computation for the i-th leaf takes O(i).
#[derive(Debug, Clone)]
pub(crate) struct Exact {
    progress: Progress,
    tree: GrowingTree,
    region: Region,
    top: u32,
    /// The node that the next question is about, as an index in `region` (the nodes beside which the leaf may belong).
    pivot: u32,
    /// The children of the node `pivot` that may contain the leaf, as indices in `region`. Children with the most
    /// possible places come first.
    children: Vec<u32>,
    pairs: usize,
    is_ready: bool,
}

impl Exact {
    pub(crate) fn new(order: Order) -> Self {
        let tree = order.tree();
        let known = order.n_known();
        let work = Work::new(order.len(), known);
        let mut new = Self {
            progress: Progress::new(order, known, work),
            tree,
            region: Region::default(),
            top: 0,
            pivot: 0,
            children: Vec::new(),
            pairs: 0,
            is_ready: false,
        };
        new.begin();
        new
    }

    fn begin(&mut self) {
        if !self.progress.is_done() {
            self.region.whole(&self.tree);
            self.narrow(0);
        }
    }

    fn narrow(&mut self, top: u32) {
        self.top = top;
        if self.region.size(top) == 1 {
            return self.insert(Place::Above(self.region.node(top)));
        }
        self.pivot = self.region.pivot(top, PivotRule::Halving);
        self.region.children(self.pivot, &mut self.children);
        self.pairs = 0;
        self.is_ready = true;
    }

    fn insert(&mut self, place: Place) {
        self.tree.insert(place, self.progress.next_leaf());
        self.progress.place_next();
        self.begin();
    }

    fn pair(&self) -> (u32, Option<u32>) {
        (self.children[2 * self.pairs], self.children.get(2 * self.pairs + 1).copied())
    }
}

impl Inserting for Exact {
    type Purpose = ();

    fn next(&mut self) -> Option<([u32; 3], ())> {
        if !std::mem::replace(&mut self.is_ready, false) {
            return None;
        }
        let (first, second) = self.pair();
        let leaf = |at| self.tree.representative(self.region.node(at));
        Some(([leaf(first), leaf(second.unwrap_or(self.children[0])), self.progress.next_leaf()], ()))
    }

    fn take(&mut self, (): (), Told { answer, .. }: Told) {
        let (first, second) = self.pair();
        self.progress.answered();
        match (Outcome::of_answer(answer), second) {
            (Outcome::First, _) => self.narrow(first),
            (Outcome::Second, Some(second)) => self.narrow(second),
            (Outcome::Outside, _) if self.pairs == 0 => {
                self.region.cut(self.pivot, self.top);
                self.narrow(self.top);
            }
            // The leaf is below neither child, or the answer contradicts earlier answers.
            _ => {
                self.pairs += 1;
                if 2 * self.pairs < self.children.len() {
                    self.is_ready = true;
                } else {
                    self.insert(Place::Under(self.region.node(self.pivot)));
                }
            }
        }
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn restarted(&self, order: Order) -> Self {
        Self::new(order)
    }

    fn resume(&mut self, was_done: bool) {
        if was_done {
            self.begin();
        }
    }

    fn grown(&self) -> &GrowingTree {
        &self.tree
    }
}
