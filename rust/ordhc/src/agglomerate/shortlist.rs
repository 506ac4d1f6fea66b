//! Short lists of every leaf's nearest leaves, found in one pass over the input, and all merges that they
//! are enough for.

use std::sync::Mutex;

use super::matrix::Matrix;
use super::rounds::{Given, Pairs, Triangle, next, parts, threads};
use super::rows::similarity;
use super::{Nearest, Tolerance, nearest_of};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::RawMerge;

/// The number of leaves on a list.
const LENGTH: usize = 8;
/// Clusters of more leaves are left to the rounds: looking one up takes as many reads as it has pairs.
const LARGEST: usize = 8;
const LANES: usize = 16;
const NOBODY: Near = Near { similarity: f64::NEG_INFINITY, leaf: u32::MAX };

/// A leaf on the list of another.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Near {
    similarity: f64,
    leaf: u32,
}

impl Near {
    /// Whether this one stands before another: larger, or as large and of a smaller leaf.
    fn before(self, other: Self) -> bool {
        self.similarity > other.similarity || (self.similarity == other.similarity && self.leaf < other.leaf)
    }
}

/// The nearest leaves of every leaf, in order. What is not on a list would stand behind its last entry.
struct Lists {
    /// By leaf: the similarity of the last entry.
    bars: Vec<f64>,
    lists: Vec<[Near; LENGTH]>,
}

impl Lists {
    fn new(n: usize) -> Self {
        Self { bars: vec![f64::NEG_INFINITY; n], lists: vec![[NOBODY; LENGTH]; n] }
    }

    /// The lists of all leaves.
    fn of(triangle: &impl Triangle, monitor: &Monitor) -> Result<Self> {
        let n = triangle.len();
        let rows = Mutex::new(parts(n).into_iter());
        let found = parallel::map(threads(n), |_| {
            let mut lists = Self::new(n);
            let mut scratch = vec![0.0; n];
            while let Some(rows) = next(&rows) {
                for i in rows {
                    lists.add(i, triangle.row(i, &mut scratch));
                }
                monitor.advance(0)?;
            }
            Ok(lists)
        });
        let all = found.into_iter().collect::<Result<Vec<Self>>>()?;
        Ok(all.into_iter().reduce(Self::join).unwrap_or_else(|| Self::new(0)))
    }

    /// Looks at `row`: leaf `i` with the leaves after it. Rows come in order.
    fn add(&mut self, i: usize, row: &[f64]) {
        let (head, lists) = self.lists.split_at_mut(i + 1);
        let own = &mut head[i];
        let bars = &mut self.bars[i + 1..];
        for (at, values) in row.chunks(LANES).enumerate() {
            let from = at * LANES;
            let bars = &mut bars[from..][..values.len()];
            let bar = own[LENGTH - 1].similarity;
            let higher = |any: bool, (&s, &theirs): (&f64, &f64)| any | (s > if theirs < bar { theirs } else { bar });
            let any = match (values.as_array::<LANES>(), bars.as_array::<LANES>()) {
                (Some(values), Some(bars)) => values.iter().zip(bars).fold(false, higher),
                _ => true,
            };
            if !any {
                continue;
            }
            for (lane, (&similarity, bar)) in values.iter().zip(bars).enumerate() {
                let j = from + lane;
                if similarity > *bar {
                    insert(&mut lists[j], Near { similarity, leaf: i as u32 });
                    *bar = lists[j][LENGTH - 1].similarity;
                }
                if similarity > own[LENGTH - 1].similarity {
                    insert(own, Near { similarity, leaf: (i + 1 + j) as u32 });
                }
            }
        }
        self.bars[i] = self.lists[i][LENGTH - 1].similarity;
    }

    /// The lists of two searches, each in some of the rows.
    fn join(mut self, other: Self) -> Self {
        for (list, theirs) in self.lists.iter_mut().zip(&other.lists) {
            let ours = *list;
            let (mut a, mut b) = (0, 0);
            for near in list.iter_mut() {
                if ours[a].before(theirs[b]) {
                    *near = ours[a];
                    a += 1;
                } else {
                    *near = theirs[b];
                    b += 1;
                }
            }
        }
        self
    }
}

/// Puts an entry behind those that are as large, in place of the last one.
fn insert(list: &mut [Near; LENGTH], near: Near) {
    let mut at = LENGTH - 1;
    while at > 0 && list[at - 1].similarity < near.similarity {
        list[at] = list[at - 1];
        at -= 1;
    }
    list[at] = near;
}

/// The merges that short lists are enough for: in the order of merging, and by the clusters that they make.
pub(super) struct Shortlisted<M> {
    pub(super) merges: Vec<RawMerge>,
    pub(super) pairs: Pairs,
    pub(super) folds: Vec<M>,
}

impl<M: Copy> Shortlisted<M> {
    /// Merges reciprocal nearest pairs for as long as the lists tell the nearest for certain.
    ///
    /// A cluster that has no leaf on the lists of another is no nearer to it than the lists' ends, for
    /// merging never brings a cluster closer to a third than both of its parts were.
    pub(super) fn of<U: Update<Merge = M>>(
        update: &U,
        given: &Given<'_>,
        tolerance: Tolerance,
        monitor: &Monitor,
    ) -> Result<Self> {
        let mut clusters = Small::new(update, given, tolerance, Lists::of(given, monitor)?);
        let mut wanted: Vec<usize> = (0..given.len()).collect();
        while !wanted.is_empty() {
            monitor.advance(0)?;
            wanted = clusters.round(&wanted);
        }
        Ok(clusters.finish())
    }
}

/// Two clusters, by the smallest leaf, have become one.
struct Joined<M> {
    i: usize,
    j: usize,
    /// The nodes of the two: leaves, or n + the number of a merge.
    parts: [usize; 2],
    size: usize,
    similarity: f64,
    fold: M,
}

/// Clusters of few leaves, over a matrix that is only read.
struct Small<'a, U: Update> {
    update: &'a U,
    matrix: &'a Given<'a>,
    tolerance: Tolerance,
    lists: Vec<[Near; LENGTH]>,
    /// By leaf: the cluster that it is in, named by the smallest leaf.
    clusters: Vec<usize>,
    /// By cluster: its leaves, its node, its nearest if that is certain.
    members: Vec<Vec<usize>>,
    nodes: Vec<usize>,
    nearest: Vec<Option<Nearest>>,
    joined: Vec<Joined<U::Merge>>,
}

impl<'a, U: Update> Small<'a, U> {
    fn new(update: &'a U, matrix: &'a Given<'a>, tolerance: Tolerance, lists: Lists) -> Self {
        let n = matrix.len();
        Self {
            update,
            matrix,
            tolerance,
            lists: lists.lists,
            clusters: (0..n).collect(),
            members: (0..n).map(|leaf| vec![leaf]).collect(),
            nodes: (0..n).collect(),
            nearest: vec![None; n],
            joined: Vec::new(),
        }
    }

    /// Looks up some clusters, merges reciprocal pairs, and returns the clusters to look up next.
    fn round(&mut self, wanted: &[usize]) -> Vec<usize> {
        let blocks = parallel::blocks(wanted.len(), |block| {
            wanted[block].iter().map(|&cluster| self.look_up(cluster)).collect::<Vec<_>>()
        });
        for (&cluster, nearest) in wanted.iter().zip(blocks.into_iter().flatten()) {
            self.nearest[cluster] = nearest;
        }
        let partner = |cluster: usize| self.nearest[cluster].map(|nearest| nearest.cluster);
        let size = |cluster: usize| self.members[cluster].len();
        let reciprocal = |&(i, j): &(usize, usize)| partner(j) == Some(i) && size(i) + size(j) <= LARGEST;
        let pairs = wanted.iter().filter_map(|&i| partner(i).map(|j| (i, j)));
        let mut pairs: Vec<_> = pairs.filter(reciprocal).map(|(i, j)| (i.min(j), i.max(j))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for &(i, j) in &pairs {
            self.join(i, j);
        }
        if pairs.is_empty() {
            return Vec::new();
        }
        let gone = |cluster: usize| self.nearest[cluster].is_some_and(|near| self.changed(near.cluster, &pairs));
        let there = |&cluster: &usize| self.clusters[cluster] == cluster;
        (0..self.clusters.len()).filter(there).filter(|&c| self.changed(c, &pairs) || gone(c)).collect()
    }

    fn changed(&self, cluster: usize, pairs: &[(usize, usize)]) -> bool {
        self.clusters[cluster] != cluster || pairs.binary_search_by_key(&cluster, |&(i, _)| i).is_ok()
    }

    fn join(&mut self, i: usize, j: usize) {
        let [a, b] = [i, j].map(|cluster| self.nodes[cluster]);
        let (n_i, n_j) = (self.members[i].len(), self.members[j].len());
        let merging = Merging { n_i: n_i as f64, n_j: n_j as f64, x_ij: self.value(a, b) };
        let similarity = similarity::<U>(merging.x_ij, merging.n_i, merging.n_j);
        let fold = self.update.merge(merging);
        self.nodes[i] = self.clusters.len() + self.joined.len();
        self.joined.push(Joined { i, j, parts: [a, b], size: n_i + n_j, similarity, fold });
        for leaf in std::mem::take(&mut self.members[j]) {
            self.clusters[leaf] = i;
            self.members[i].push(leaf);
        }
    }

    /// What is kept for the pair of two nodes: the one made last is taken apart.
    fn value(&self, a: usize, b: usize) -> f64 {
        let n = self.clusters.len();
        let (a, b) = (a.min(b), a.max(b));
        if b < n {
            return self.matrix.value(a, b);
        }
        let Joined { parts: [i, j], fold, .. } = &self.joined[b - n];
        let size = if a < n { 1 } else { self.joined[a - n].size };
        self.update.fold(fold, self.value(a, *i), self.value(a, *j), size as f64)
    }

    /// The nearest of a cluster, if its leaves' lists tell.
    fn look_up(&self, cluster: usize) -> Option<Nearest> {
        let members = &self.members[cluster];
        let mut entries: Vec<Near> = Vec::with_capacity(members.len() * LENGTH);
        let mut end = NOBODY;
        for &leaf in members {
            let list = &self.lists[leaf];
            let last = list[LENGTH - 1];
            if last.before(end) {
                end = last;
            }
            let others = list.iter().filter(|near| near.leaf != u32::MAX);
            entries.extend(others.map(|near| Near { leaf: self.clusters[near.leaf as usize] as u32, ..*near }));
        }
        if members.len() > 1 {
            entries.retain(|near| near.leaf as usize != cluster);
            entries.sort_unstable_by(|a, b| b.similarity.total_cmp(&a.similarity));
        }
        let mut seen: Vec<(usize, f64)> = Vec::new();
        let mut best = f64::NEG_INFINITY;
        for near in entries {
            if near.similarity < self.tolerance.floor(best) {
                break;
            }
            let other = near.leaf as usize;
            if seen.iter().any(|&(cluster, _)| cluster == other) {
                continue;
            }
            let value = self.value(self.nodes[cluster], self.nodes[other]);
            let similarity = similarity::<U>(value, members.len() as f64, self.members[other].len() as f64);
            if U::MAY_FAIL && !similarity.is_finite() {
                return None;
            }
            best = best.max(similarity);
            seen.push((other, similarity));
        }
        seen.sort_unstable_by_key(|&(cluster, _)| cluster);
        let (others, values): (Vec<usize>, Vec<f64>) = seen.into_iter().unzip();
        let nearest = nearest_of(&others, &values, self.tolerance);
        let exact = self.tolerance == Tolerance::EXACT;
        let found = Near { similarity: best, leaf: nearest.cluster as u32 };
        let certain = self.tolerance.floor(best) > end.similarity || (exact && !end.before(found));
        (certain && best > f64::NEG_INFINITY).then_some(nearest)
    }

    fn finish(self) -> Shortlisted<U::Merge> {
        let merges = self.joined.iter().map(|&Joined { i, j, similarity, .. }| RawMerge { i, j, similarity }).collect();
        let mut joined = self.joined;
        joined.sort_by_key(|joined| self.clusters[joined.i]);
        let pairs = Pairs::new(&self.clusters, joined.iter().map(|joined| (joined.i, joined.j)));
        Shortlisted { merges, pairs, folds: joined.into_iter().map(|joined| joined.fold).collect() }
    }
}

impl Matrix<'_> {
    /// As similarities.
    pub(super) fn given(&self, squared: bool) -> Given<'_> {
        Given { matrix: self, squared }
    }
}
