//! Single linkage by Prim's algorithm.

use std::collections::VecDeque;

use super::comparison::Compared;
use super::joins::dendrogram_of_joins;
use super::sorting::{Sorting, cost};
use super::{Pair, pair};
use crate::error::Result;
use crate::learn::Told;
use crate::learn::asking::Strategy;
use crate::sorting::order_by_key;
use crate::tree::Dendrogram;

/// Single linkage (Ghoshdastidar, Perrot & von Luxburg 2019, section 3.1). Prim's algorithm finds the spanning tree of
/// the most similar pairs. Then these pairs are sorted.
///
/// Each leaf outside of the spanning tree has a best pair: its most similar pair with a leaf in the tree. When a leaf
/// joins the tree, each leaf outside compares its pair with the new leaf to its best pair. This takes (n - 1)(n - 2) /
/// 2 questions in all, the smallest possible number.
///
/// The most similar of the best pairs is found by a knockout tournament. The results of matches are kept. A match is
/// repeated only if its loser got a better pair, or if its winner has joined the tree.
#[derive(Debug, Clone)]
pub(super) struct Single {
    n: usize,
    /// For each leaf in the spanning tree: the number of leaves that joined the tree before.
    /// [`NONE`] for the other leaves.
    places: Vec<u32>,
    best: Vec<u32>,
    newest: u32,
    pairs: Vec<Pair>,
    /// For each pair in `pairs`: 1 + the largest level of the pairs that are more similar
    /// according to the answers.
    levels: Vec<u32>,
    /// The winner of each match of the tournament, a leaf. The winners of the matches 2m and 2m + 1
    /// play match m. Index n + v has the leaf v, or [`NONE`] if v is in the spanning tree.
    winners: Vec<u32>,
    /// For each depth of the tournament: the matches whose winner is new or has a new best pair.
    /// The next match of this winner must be updated.
    changed: Vec<Vec<u32>>,
    is_changed: Vec<bool>,
    depth: usize,
    ready: VecDeque<Duel>,
    waiting: usize,
    n_challenges: f64,
    n_matches: f64,
    sorting: Option<Sorting>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Duel {
    Challenge(u32),
    Match(u32),
    Sort(u32),
}

const NONE: u32 = u32::MAX;

impl Single {
    /// `n` must be at least 1.
    pub(super) fn new(n: usize) -> Self {
        let mut winners = vec![NONE; n];
        winners.extend(0..n as u32);
        winners[n] = NONE;
        let mut places = vec![NONE; n];
        places[0] = 0;
        let depths = 1 + (2 * n).ilog2() as usize;
        let mut new = Self {
            n,
            places,
            best: vec![0; n],
            newest: 0,
            pairs: Vec::new(),
            levels: Vec::new(),
            winners,
            changed: vec![Vec::new(); depths],
            is_changed: vec![false; 2 * n],
            depth: depths,
            ready: VecDeque::new(),
            waiting: 0,
            n_challenges: 0.0,
            n_matches: 0.0,
            sorting: None,
        };
        (n as u32..2 * n as u32).for_each(|at| new.change(at));
        new.proceed();
        new
    }

    fn change(&mut self, at: u32) {
        if !std::mem::replace(&mut self.is_changed[at as usize], true) {
            self.changed[at.ilog2() as usize].push(at);
        }
    }

    fn proceed(&mut self) {
        while self.waiting == 0 && self.sorting.is_none() {
            if self.depth == 0 {
                self.join_tree(self.winners[1]);
                continue;
            }
            self.depth -= 1;
            if self.depth == 0 {
                for at in std::mem::take(&mut self.changed[0]) {
                    self.is_changed[at as usize] = false;
                }
                continue;
            }
            let mut above: Vec<u32> = self.changed[self.depth].iter().map(|at| at / 2).collect();
            above.sort_unstable();
            above.dedup();
            above.into_iter().for_each(|at| self.update_match(at));
            if self.waiting == 0 {
                self.settle();
            }
        }
    }

    fn settle(&mut self) {
        for at in std::mem::take(&mut self.changed[self.depth]) {
            self.is_changed[at as usize] = false;
        }
    }

    fn update_match(&mut self, at: u32) {
        let [left, right] = [2 * at, 2 * at + 1].map(|child| self.winners[child as usize]);
        let winner = self.winners[at as usize];
        let is_known = winner != NONE && self.places[winner as usize] == NONE;
        if left == NONE || right == NONE {
            self.winners[at as usize] = left.min(right);
        } else if is_known && !self.is_changed[(self.side(at, winner) ^ 1) as usize] {
            // Only the match from which the winner came has changed. The best pair of that match
            // can only have become more similar, so that match still gives the winner.
            self.winners[at as usize] = self.winners[self.side(at, winner) as usize];
        } else {
            self.ready.push_back(Duel::Match(at));
            self.waiting += 1;
            return;
        }
        self.change(at);
    }

    /// Returns the index in `winners` of the match before `at` in which `leaf` plays. Returns n + `leaf` if `at` is the
    /// first match of the leaf.
    fn side(&self, at: u32, leaf: u32) -> u32 {
        let mut side = self.n as u32 + leaf;
        while side / 2 > at {
            side /= 2;
        }
        side
    }

    fn join_tree(&mut self, leaf: u32) {
        if leaf != NONE {
            let partner = self.best[leaf as usize];
            let place = self.places[partner as usize] as usize;
            // Each leaf joined the tree as a pair with a leaf in the tree. `pairs[place..]` are the pairs that were
            // added after `partner` joined. The answers say that all of them are more similar than the new pair, so
            // the new pair gets a larger level.
            let level = 1 + self.levels[place..].iter().max().map_or(0, |&level| level);
            self.pairs.push(pair(partner, leaf));
            self.levels.push(level);
            self.places[leaf as usize] = self.pairs.len() as u32;
        }
        if self.pairs.len() + 1 == self.n {
            self.sorting = Some(Sorting::new(self.by_level()));
            return;
        }
        self.newest = leaf;
        self.winners[self.n + leaf as usize] = NONE;
        self.change(self.n as u32 + leaf);
        self.depth = self.changed.len();
        let outside = (0..self.n as u32).filter(|&leaf| self.places[leaf as usize] == NONE);
        self.ready.extend(outside.map(Duel::Challenge));
        self.waiting = self.ready.len();
    }

    fn by_level(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.pairs.len() as u32).collect();
        order_by_key(&mut order, |at| self.levels[at as usize]);
        order
    }

    fn best_pair(&self, leaf: u32) -> Pair {
        pair(leaf, self.best[leaf as usize])
    }
}

impl Strategy<4> for Single {
    type Purpose = Compared<Duel>;

    fn next(&mut self) -> Option<([u32; 4], Compared<Duel>)> {
        if let Some(sorting) = &mut self.sorting {
            let (at, items) = sorting.next()?;
            return Some(Compared::question(items.map(|item| self.pairs[item as usize]), Duel::Sort(at)));
        }
        let task = self.ready.pop_front()?;
        let pairs = match task {
            Duel::Challenge(leaf) => [pair(leaf, self.newest), self.best_pair(leaf)],
            Duel::Match(at) | Duel::Sort(at) => {
                [2 * at, 2 * at + 1].map(|child| self.best_pair(self.winners[child as usize]))
            }
        };
        Some(Compared::question(pairs, task))
    }

    fn take(&mut self, compared: Compared<Duel>, Told { answer, .. }: Told) {
        let (task, verdict) = compared.answered(answer);
        match task {
            Duel::Sort(at) => {
                if let Some(sorting) = &mut self.sorting {
                    sorting.take(at, verdict.is_first);
                }
                return;
            }
            Duel::Challenge(leaf) => {
                self.n_challenges += 1.0;
                if verdict.is_first {
                    self.best[leaf as usize] = self.newest;
                    self.change(self.n as u32 + leaf);
                }
            }
            Duel::Match(at) => {
                self.n_matches += f64::from(u8::from(self.n_challenges > 0.0));
                let side = 2 * at + u32::from(!verdict.is_first);
                let winner = self.winners[side as usize];
                if self.winners[at as usize] != winner || self.is_changed[side as usize] {
                    self.winners[at as usize] = winner;
                    self.change(at);
                }
            }
        }
        self.waiting -= 1;
        if self.waiting == 0 {
            if matches!(task, Duel::Match(_)) {
                self.settle();
            }
            self.proceed();
        }
    }

    fn done(&self) -> bool {
        self.sorting.as_ref().is_some_and(Sorting::done)
    }

    fn tree(&self) -> Result<Dendrogram> {
        let pair = |at: u32| self.pairs[at as usize];
        match &self.sorting {
            None => {
                let level = |at: u32| f64::from(self.levels[at as usize]);
                dendrogram_of_joins(self.n, self.by_level().into_iter().map(|at| (pair(at), level(at))))
            }
            Some(sorting) => {
                let ranks = (1u32..).map(f64::from);
                dendrogram_of_joins(self.n, sorting.order().into_iter().map(pair).zip(ranks))
            }
        }
    }

    fn n_leaves(&self) -> usize {
        self.n
    }

    fn placed(&self) -> usize {
        1 + self.pairs.len()
    }

    fn remaining(&self, _n_answered: u64) -> f64 {
        if let Some(sorting) = &self.sorting {
            return sorting.remaining();
        }
        let (n, outside) = (self.n as f64, (self.n - self.placed()) as f64);
        let matches = (self.n_matches + 0.1 * n) / (self.n_challenges + n);
        self.waiting as f64 + outside * (outside - 1.0) / 2.0 * (1.0 + matches) + cost(self.n - 1)
    }
}
