//! Single linkage: a maximum spanning tree of the input as it is, and the order in which its edges merge
//! clusters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Tolerance;
use super::matrix::Matrix;
use super::spanning_tree::spanning_tree;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

/// The merges of single linkage, in order, in O(n) memory beside the matrix.
pub(crate) fn merges(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    let n = matrix.n_leaves();
    monitor.start((n * n) as u64);
    merges_along(n, spanning_tree(matrix, monitor)?, &|a, b| matrix.similarity(a, b), None, monitor)
}

/// What finds ties of leaves that have places in space.
pub(crate) struct Space<'a> {
    /// Whether two leaves have the same place.
    pub(crate) same: &'a dyn Fn(u32, u32) -> bool,
    /// What finds the ones of some leaves, of which no two have the same place.
    pub(crate) finder: &'a dyn Fn(&[u32]) -> Finder<'a>,
}

/// Adds all leaves that have exactly a similarity with a leaf.
pub(crate) type Finder<'a> = Box<dyn Fn(u32, f64, &mut Vec<u32>) + 'a>;

/// The merges, in order, from the edges of a maximum spanning tree and the similarity of any two leaves.
///
/// Without a space all pairs of what is tied may have to be looked at.
pub(crate) fn merges_along(
    n: usize,
    mut edges: Vec<RawMerge>,
    similarity: &impl Fn(u32, u32) -> f64,
    mut space: Option<Space<'_>>,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    edges.sort_unstable_by(|a, b| b.similarity.total_cmp(&a.similarity));
    let mut clusters = Members::new(n);
    let mut merges = Vec::with_capacity(edges.len());
    let (mut tied, mut finder) = (false, None);
    // Zeros of both signs are equal.
    for level in edges.chunk_by(|a, b| a.similarity == b.similarity) {
        tied |= level.len() > 1;
        if let Some(space) = space.as_ref().filter(|_| level.len() > 1 && level[0].similarity != 0.0) {
            finder.get_or_insert_with(|| (space.finder)(&clusters.places));
        }
        clusters.join(level, similarity, finder.as_ref(), &mut merges, monitor)?;
        if level[0].similarity == 0.0 && space.as_ref().is_some_and(|space| !clusters.keep_names(space.same)) {
            space = None;
        }
    }
    Ok(if tied { RawMerge::sort(n, merges, Tolerance::EXACT, monitor) } else { merges })
}

/// Clusters named by their smallest leaves, with their members.
struct Members {
    leaves: UnionFind,
    /// By leaf: another one of its cluster, round and round.
    next: Vec<u32>,
    /// The leaves of which members are told.
    places: Vec<u32>,
}

impl Members {
    fn new(n: usize) -> Self {
        Self { leaves: UnionFind::new(n), next: (0..n as u32).collect(), places: (0..n as u32).collect() }
    }

    /// Of every cluster only the smallest leaf is a member from now on, if its leaves are all the same.
    fn keep_names(&mut self, same: &dyn Fn(u32, u32) -> bool) -> bool {
        let of = self.leaves.names();
        if !of.iter().zip(0u32..).all(|(&name, leaf)| same(name, leaf)) {
            return false;
        }
        self.places.retain(|&leaf| of[leaf as usize] == leaf);
        self.places.iter().for_each(|&leaf| self.next[leaf as usize] = leaf);
        true
    }

    /// The leaves of a cluster.
    fn members(&self, name: usize) -> impl Iterator<Item = u32> {
        let next = move |&leaf: &u32| Some(self.next[leaf as usize]).filter(|&next| next as usize != name);
        std::iter::successors(Some(name as u32), next)
    }

    fn of(&mut self, leaf: usize) -> usize {
        self.leaves.find(leaf as u32) as usize
    }

    fn merge(&mut self, i: usize, j: usize) {
        self.leaves.attach(j as u32, i as u32);
        self.next.swap(i, j);
    }

    /// Merges what edges of one similarity join.
    fn join(
        &mut self,
        level: &[RawMerge],
        similarity_of: &impl Fn(u32, u32) -> f64,
        finder: Option<&Finder<'_>>,
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
    ) -> Result<()> {
        let similarity = level[0].similarity;
        if let [edge] = level {
            let (a, b) = (self.of(edge.i), self.of(edge.j));
            let (i, j) = (a.min(b), a.max(b));
            self.merge(i, j);
            merges.push(RawMerge { i, j, similarity });
            return Ok(());
        }
        // Connected groups of the clusters that the edges touch.
        let ends: Vec<[usize; 2]> = level.iter().map(|edge| [self.of(edge.i), self.of(edge.j)]).collect();
        let mut touched: Vec<usize> = ends.iter().flatten().copied().collect();
        touched.sort_unstable();
        touched.dedup();
        let place = |cluster: usize| touched.partition_point(|&other| other < cluster) as u32;
        let mut sets = UnionFind::new(touched.len());
        for [a, b] in ends {
            sets.join(place(a), place(b));
        }
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); touched.len()];
        for at in 0..touched.len() {
            groups[sets.find(at as u32) as usize].push(touched[at]);
        }
        for group in groups.into_iter().filter(|group| !group.is_empty()) {
            match finder.filter(|_| group.len() > 2) {
                Some(finder) => self.grow_in_space(&group, similarity, finder, merges, monitor)?,
                None => self.grow(&group, similarity, similarity_of, merges, monitor)?,
            }
        }
        Ok(())
    }

    /// [`Self::grow`] where ties are found: from all members but those of the largest cluster.
    fn grow_in_space(
        &mut self,
        group: &[usize],
        similarity: f64,
        finder: &Finder<'_>,
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
    ) -> Result<()> {
        let members: Vec<Vec<u32>> = group.iter().map(|&cluster| self.members(cluster).collect()).collect();
        let largest = (0..group.len()).max_by_key(|&at| members[at].len());
        let (mut found, mut pairs) = (Vec::new(), Vec::new());
        for at in (0..group.len()).filter(|&at| Some(at) != largest) {
            for &leaf in &members[at] {
                finder(leaf, similarity, &mut found);
                for leaf in found.drain(..) {
                    let cluster = self.of(leaf as usize);
                    let other = group.partition_point(|&before| before < cluster);
                    if other != at {
                        pairs.extend([(at, other), (other, at)]);
                    }
                }
            }
            pairs.dedup();
            monitor.advance(0)?;
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut apart = vec![true; group.len()];
        let mut adjacent = BinaryHeap::from([Reverse(0)]);
        apart[0] = false;
        while let Some(Reverse(at)) = adjacent.pop() {
            if at > 0 {
                self.merge(group[0], group[at]);
                merges.push(RawMerge { i: group[0], j: group[at], similarity });
            }
            let from = pairs.partition_point(|pair| pair.0 < at);
            for &(_, other) in pairs[from..].iter().take_while(|pair| pair.0 == at) {
                if std::mem::take(&mut apart[other]) {
                    adjacent.push(Reverse(other));
                }
            }
        }
        Ok(())
    }

    /// Merges a connected group of clusters, ascending: the first one takes, again and again, the first
    /// one that has a pair of leaves with it at exactly this similarity.
    fn grow(
        &mut self,
        group: &[usize],
        similarity: f64,
        similarity_of: &impl Fn(u32, u32) -> f64,
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
    ) -> Result<()> {
        let first = group[0];
        let mut apart = group[1..].to_vec();
        let mut adjacent = BinaryHeap::new();
        let mut new = first;
        loop {
            let mut at = 0;
            // Each pair of leaves is looked at once in the whole tree: it is in one group only, and
            // there only when the one is new and the other apart.
            while at < apart.len() {
                let other = apart[at];
                let tied = |a: u32| self.members(other).any(|b| similarity_of(a, b) == similarity);
                if apart.len() == 1 && adjacent.is_empty() || self.members(new).any(tied) {
                    adjacent.push(Reverse(other));
                    apart.swap_remove(at);
                } else {
                    at += 1;
                }
            }
            monitor.advance(0)?;
            let Some(Reverse(next)) = adjacent.pop() else { return Ok(()) };
            merges.push(RawMerge { i: first, j: next, similarity });
            if new != first {
                self.merge(first, new);
            }
            new = next;
            if apart.is_empty() && adjacent.is_empty() {
                self.merge(first, new);
                return Ok(());
            }
        }
    }
}
