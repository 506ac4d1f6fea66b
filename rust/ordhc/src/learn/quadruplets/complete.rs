//! Complete linkage by a nearest-neighbour chain.

use std::collections::VecDeque;

use super::Pair;
use super::bracket::Bracket;
use super::comparison::Compared;
use super::joins::dendrogram_of_joins;
use super::sorting::{Sorting, cost};
use crate::error::Result;
use crate::learn::Told;
use crate::learn::asking::Strategy;
use crate::memory;
use crate::similarity::{Triangle, condensed_len};
use crate::sorting::order_by_key;
use crate::tree::Dendrogram;

/// Complete linkage (Ghoshdastidar, Perrot & von Luxburg 2019, section 3.1) with O(n^2) questions.
///
/// The similarity of two clusters is the similarity of their representative, the least similar pair between them. A
/// merge of two clusters asks one question for each third cluster c. The question compares two representatives, of c
/// and the first cluster, and of c and the second cluster: which pair is less similar? The nearest cluster is found by
/// a tournament. The results of its matches are kept, and passed on to the merged cluster.
/// At the end the merges are sorted by their representatives.
#[derive(Debug, Clone)]
pub(super) struct Complete {
    n: usize,
    /// The least similar pair between each two clusters (their representative), as a condensed matrix. The id
    /// of a cluster is its smallest leaf.
    representatives: Vec<Pair>,
    active: Vec<u32>,
    brackets: Vec<Option<Bracket>>,
    /// The nearest-neighbour chain: each cluster except the first is the nearest neighbour of the cluster before it.
    chain: Vec<u32>,
    /// For each cluster: its leaf, or n + the index in `joins` of the merge that made the cluster.
    labels: Vec<u32>,
    joins: Vec<Join>,
    merging: Option<[u32; 2]>,
    /// For each third cluster during a merge of two clusters: true if its representative (least similar pair) with the
    /// second cluster is less similar than its representative with the first.
    is_second: Vec<bool>,
    ready: VecDeque<Contest>,
    waiting: usize,
    sorting: Option<Sorting>,
}

#[derive(Debug, Clone, Copy)]
struct Join {
    representative: Pair,
    parts: [u32; 2],
    level: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Contest {
    Match(u32),
    Third(u32),
    Sort(u32),
}

/// The approximate number of questions of complete linkage for n leaves, divided by n^2. Measured: 1.1 for leaves on
/// a line, 1.5 for independent similarities.
const PRICE: f64 = 1.25;

impl Complete {
    /// `n` must be at least 1.
    pub(super) fn new(n: usize) -> Result<Self> {
        memory::check("the representatives and tournaments", 12 * (n as u64) * n as u64)?;
        let leaves = 0..n as u32;
        let mut representatives = Vec::with_capacity(condensed_len(n));
        leaves.clone().for_each(|i| representatives.extend((i + 1..n as u32).map(|j| [i, j])));
        let mut new = Self {
            n,
            representatives,
            active: leaves.clone().collect(),
            brackets: vec![None; n],
            chain: Vec::new(),
            labels: leaves.collect(),
            joins: Vec::new(),
            merging: None,
            is_second: vec![false; n],
            ready: VecDeque::new(),
            waiting: 0,
            sorting: None,
        };
        new.proceed();
        Ok(new)
    }

    fn at(&self, a: u32, b: u32) -> usize {
        Triangle::new(self.n).index(a as usize, b as usize)
    }

    fn representative(&self, a: u32, b: u32) -> Pair {
        self.representatives[self.at(a, b)]
    }

    fn others<'a>(active: &'a [u32], not: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        active.iter().copied().filter(move |cluster| !not.contains(cluster))
    }

    fn proceed(&mut self) {
        while self.waiting == 0 && self.sorting.is_none() {
            if let Some(merging) = self.merging.take() {
                self.merged(merging);
            } else if self.active.len() == 1 {
                self.sorting = Some(Sorting::new(self.by_level()));
            } else {
                self.search();
            }
        }
    }

    fn search(&mut self) {
        let first = self.active[0];
        let last = *self.chain.last().unwrap_or(&first);
        if self.chain.is_empty() {
            self.chain.push(last);
        }
        let Self { brackets, active, n, .. } = self;
        let bracket = brackets[last as usize].get_or_insert_with(|| Bracket::new(*n, Self::others(active, &[last])));
        self.ready.extend(bracket.matches().into_iter().map(Contest::Match));
        self.waiting = self.ready.len();
        let Some(nearest) = bracket.winner() else { return };
        // If the nearest neighbour is in the chain but not the previous cluster, the answers contradict each other.
        // Merging ends this cycle.
        if let Some(at) = self.chain.iter().position(|&cluster| cluster == nearest) {
            self.chain.truncate(at);
            let merging = [last.min(nearest), last.max(nearest)];
            self.merging = Some(merging);
            self.ready.extend(Self::others(&self.active, &merging).map(Contest::Third));
            self.waiting = self.ready.len();
        } else {
            self.chain.push(nearest);
        }
    }

    fn merged(&mut self, [kept, gone]: [u32; 2]) {
        let parts = [kept, gone].map(|cluster| self.labels[cluster as usize]);
        let level = |&part: &u32| (part as usize).checked_sub(self.n).map_or(0, |join| self.joins[join].level);
        let level = 1 + parts.iter().map(level).max().unwrap_or(0);
        self.labels[kept as usize] = (self.n + self.joins.len()) as u32;
        self.joins.push(Join { representative: self.representative(kept, gone), parts, level });
        self.active.retain(|&cluster| cluster != gone);
        let mut bracket = Bracket::new(self.n, Self::others(&self.active, &[kept]));
        let is_third = |cluster: u32| cluster != kept && cluster != gone;
        if let Some(parent) = self.brackets[kept as usize].take() {
            bracket.inherit(&parent, |third| is_third(third) && !self.is_second[third as usize]);
        }
        if let Some(parent) = self.brackets[gone as usize].take() {
            bracket.inherit(&parent, |third| is_third(third) && self.is_second[third as usize]);
        }
        for third in Self::others(&self.active, &[kept]) {
            let is_second = self.is_second[third as usize];
            if is_second {
                let at = self.at(third, kept);
                self.representatives[at] = self.representative(third, gone);
            }
            if let Some(bracket) = &mut self.brackets[third as usize] {
                bracket.leave(gone);
                if is_second {
                    bracket.decrease(kept);
                }
            }
        }
        self.brackets[kept as usize] = Some(bracket);
        if self.chain.is_empty() {
            self.chain.push(kept);
        }
    }

    fn by_level(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.joins.len() as u32).collect();
        order_by_key(&mut order, |join| self.joins[join as usize].level);
        order
    }

    /// Moves each merge in `order` after the merges that made its two clusters. The order changes only if answers
    /// contradict each other.
    fn parts_first(&self, order: Vec<u32>) -> Vec<u32> {
        let mut is_there = vec![false; self.joins.len()];
        let mut result = Vec::with_capacity(order.len());
        let mut stack = Vec::new();
        for join in order {
            stack.push(join);
            while let Some(&join) = stack.last() {
                let parts = self.joins[join as usize].parts.iter();
                let joins = parts.filter_map(|&part| part.checked_sub(self.n as u32));
                let missing: Vec<u32> = joins.filter(|&part| !is_there[part as usize]).collect();
                if missing.is_empty() {
                    stack.pop();
                    if !std::mem::replace(&mut is_there[join as usize], true) {
                        result.push(join);
                    }
                }
                stack.extend(missing);
            }
        }
        result
    }
}

impl Strategy<4> for Complete {
    type Purpose = Compared<Contest>;

    fn next(&mut self) -> Option<([u32; 4], Compared<Contest>)> {
        if let Some(sorting) = &mut self.sorting {
            let (at, items) = sorting.next()?;
            let pairs = items.map(|item| self.joins[item as usize].representative);
            return Some(Compared::question(pairs, Contest::Sort(at)));
        }
        let task = self.ready.pop_front()?;
        let ([a, b], other) = match task {
            Contest::Third(third) => (self.merging?, third),
            Contest::Match(at) | Contest::Sort(at) => {
                let last = *self.chain.last()?;
                (self.brackets[last as usize].as_ref()?.players(at), last)
            }
        };
        Some(Compared::question([self.representative(a, other), self.representative(b, other)], task))
    }

    fn take(&mut self, compared: Compared<Contest>, Told { answer, .. }: Told) {
        let (task, verdict) = compared.answered(answer);
        match task {
            Contest::Sort(at) => {
                if let Some(sorting) = &mut self.sorting {
                    sorting.take(at, verdict.is_first);
                }
                return;
            }
            Contest::Third(third) => self.is_second[third as usize] = verdict.is_first,
            Contest::Match(at) => {
                let bracket = self.chain.last().and_then(|&last| self.brackets[last as usize].as_mut());
                if let Some(bracket) = bracket {
                    bracket.decide(at, verdict.is_first);
                }
            }
        }
        self.waiting -= 1;
        if self.waiting == 0 {
            self.proceed();
        }
    }

    fn done(&self) -> bool {
        self.sorting.as_ref().is_some_and(Sorting::done)
    }

    fn tree(&self) -> Result<Dendrogram> {
        let join = |at: u32| self.joins[at as usize];
        match &self.sorting {
            None => {
                let joins = self.by_level().into_iter().map(join);
                dendrogram_of_joins(self.n, joins.map(|join| (join.representative, f64::from(join.level))))
            }
            Some(sorting) => {
                let joins = self.parts_first(sorting.order()).into_iter().map(join);
                let ranks = (1u32..).map(f64::from);
                dendrogram_of_joins(self.n, joins.map(|join| join.representative).zip(ranks))
            }
        }
    }

    fn n_leaves(&self) -> usize {
        self.n
    }

    fn placed(&self) -> usize {
        1 + self.joins.len()
    }

    fn remaining(&self, _n_answered: u64) -> f64 {
        match &self.sorting {
            Some(sorting) => sorting.remaining(),
            None => {
                let left = self.active.len() as f64 - 1.0;
                PRICE * left * left + self.waiting as f64 / 2.0 + cost(self.n - 1)
            }
        }
    }
}
