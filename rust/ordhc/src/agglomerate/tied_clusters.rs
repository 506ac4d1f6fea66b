//! Decides the order in which single linkage merges clusters that are connected by edges of the same similarity.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

const NONE: u32 = u32::MAX;
/// The number of levels of equal similarities between two reports to the monitor.
const LEVELS: usize = 1 << 12;

/// Functions for leaves that are points in space, to find ties without comparing all pairs.
pub(crate) struct Space<'a> {
    pub(crate) same: &'a dyn Fn(u32, u32) -> bool,
    /// Returns a function that finds tied leaves among the given leaves, which must be at different points.
    pub(crate) finder: &'a dyn Fn(&[u32]) -> Finder<'a>,
}

/// A function that appends all leaves whose similarity with a leaf is exactly the given similarity.
pub(crate) type Finder<'a> = Box<dyn Fn(u32, f64, &mut Vec<u32>) + 'a>;

pub(super) struct Clusters<'a> {
    pub(super) leaves: UnionFind,
    /// Finds tied pairs of clusters. `None` if the edges include all tied pairs.
    lookup: Option<Lookup<'a>>,
    /// For each cluster: its index in [`Level::names`] while the edges of a level are read, and otherwise `NONE`.
    places: Vec<u32>,
}

struct Lookup<'a> {
    similarity: &'a dyn Fn(u32, u32) -> f64,
    members: Vec<Vec<u32>>,
    /// Finds ties if the leaves are points. `None` if the leaves are not points. [`Lookup::keep_names`] can also set
    /// `None`.
    space: Option<Space<'a>>,
    finder: Option<Finder<'a>>,
}

impl<'a> Clusters<'a> {
    pub(super) fn without_lookup(n: usize) -> Self {
        Self { leaves: UnionFind::new(n), lookup: None, places: vec![NONE; n] }
    }

    pub(super) fn along_tree(n: usize, similarity: &'a dyn Fn(u32, u32) -> f64, space: Option<Space<'a>>) -> Self {
        entered!(tied_clusters);
        let members = (0..n as u32).map(|leaf| vec![leaf]).collect();
        Self { lookup: Some(Lookup { similarity, members, space, finder: None }), ..Self::without_lookup(n) }
    }

    pub(super) fn names(&self) -> Vec<u32> {
        self.leaves.names()
    }

    pub(super) fn join_all(
        &mut self,
        mut edges: Vec<RawMerge>,
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
    ) -> Result<()> {
        // The stable sort is fast if edges are already in order.
        edges.sort_by(RawMerge::by_similarity);
        // `==` takes 0 and -0 as equal.
        for (at, level) in edges.chunk_by(|a, b| a.similarity == b.similarity).enumerate() {
            if at % LEVELS == 0 {
                monitor.advance(0)?;
            }
            self.join(level, merges, monitor)?;
            if let Some(lookup) = self.lookup.as_mut().filter(|_| level[0].similarity == 0.0) {
                lookup.keep_names(&self.leaves.names());
            }
        }
        Ok(())
    }

    fn join(&mut self, level: &[RawMerge], merges: &mut Vec<RawMerge>, monitor: &Monitor) -> Result<()> {
        let similarity = level[0].similarity;
        let leaves = &mut self.leaves;
        let ends = level.iter().map(|edge| [edge.i, edge.j].map(|leaf| leaves.find(leaf as u32)));
        // Most edges connect leaves of the same cluster. Skip these edges.
        let mut ends = ends.filter(|[a, b]| a != b);
        let Some([a, b]) = ends.next() else { return Ok(()) };
        let Some(another) = ends.next() else {
            let (i, j) = (a.min(b), a.max(b));
            leaves.attach(j, i);
            if let Some(lookup) = &mut self.lookup {
                lookup.merge(i, j);
            }
            merges.push(RawMerge { i: i as usize, j: j as usize, similarity });
            return Ok(());
        };
        let mut ends: Vec<[u32; 2]> = [[a, b], another].into_iter().chain(ends).collect();
        let mut names = Vec::new();
        for &name in ends.as_flattened() {
            if std::mem::replace(&mut self.places[name as usize], 0) == NONE {
                names.push(name);
            }
        }
        names.sort_unstable();
        (0..).zip(&names).for_each(|(place, &name)| self.places[name as usize] = place);
        ends.as_flattened_mut().iter_mut().for_each(|end| *end = self.places[*end as usize]);
        names.iter().for_each(|&name| self.places[name as usize] = NONE);
        let mut known = vec![false; names.len()];
        let mut level = Level { near: Neighbours::of(names.len(), &ends), names, similarity, all_known: false };
        let groups = level.groups();
        if let Some(lookup) = self.lookup.as_mut().filter(|lookup| lookup.space.is_some() && similarity != 0.0) {
            lookup.add_ties(&level, &groups, &mut self.leaves, &mut ends, monitor)?;
            level = Level { near: Neighbours::of(level.names.len(), &ends), all_known: true, ..level };
        }
        for group in groups {
            for (i, j) in level.grow(&group, &mut known, self.lookup.as_mut(), monitor)? {
                self.leaves.attach(j, i);
                merges.push(RawMerge { i: i as usize, j: j as usize, similarity });
            }
        }
        Ok(())
    }
}

impl Lookup<'_> {
    /// Keeps only the smallest leaf of each cluster in `members`, because the other leaves are at the same point. If
    /// any cluster has leaves at different points, sets `space` to `None` instead.
    fn keep_names(&mut self, of: &[u32]) {
        let Some(space) = &self.space else { return };
        if !of.iter().zip(0..).all(|(&name, leaf)| (space.same)(name, leaf)) {
            self.space = None;
            return;
        }
        self.members.iter_mut().zip(0..).for_each(|(members, name)| members.retain(|&leaf| leaf == name));
    }

    /// Adds the tied pairs of clusters in each group to `ends`, if the leaves are points. The finder is not called for
    /// a group's largest cluster, because the other clusters already find all ties.
    fn add_ties(
        &mut self,
        level: &Level,
        groups: &[Vec<u32>],
        leaves: &mut UnionFind,
        ends: &mut Vec<[u32; 2]>,
        monitor: &Monitor,
    ) -> Result<()> {
        entered!(tied_in_space);
        let Some(space) = &self.space else { return Ok(()) };
        let finder = self.finder.get_or_insert_with(|| {
            let mut members: Vec<u32> = self.members.iter().flatten().copied().collect();
            members.sort_unstable();
            (space.finder)(&members)
        });
        let (names, mut found) = (&level.names, Vec::new());
        let members = |&place: &u32| &self.members[names[place as usize] as usize];
        // Clusters of a group are connected by known ties. A group of two clusters has only one pair, which is known.
        for group in groups.iter().filter(|group| group.len() > 2) {
            let largest = group.iter().copied().max_by_key(|place| members(place).len());
            for place in group.iter().filter(|&&place| Some(place) != largest) {
                let mut others = Vec::new();
                for &leaf in members(place) {
                    finder(leaf, level.similarity, &mut found);
                    others.extend(found.drain(..).filter_map(|leaf| names.binary_search(&leaves.find(leaf)).ok()));
                    // Consecutive leaves are mostly in the same cluster, so this keeps the list short.
                    others.dedup();
                }
                others.sort_unstable();
                others.dedup();
                ends.extend(others.into_iter().map(|other| [*place, other as u32]).filter(|[a, b]| a != b));
                monitor.advance(0)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, name: u32) -> Vec<u32> {
        std::mem::take(&mut self.members[name as usize])
    }

    fn any(&self, name: u32, leaves: &[u32], similarity: f64) -> bool {
        let members = &self.members[name as usize];
        leaves.iter().any(|&a| members.iter().any(|&b| (self.similarity)(a, b) == similarity))
    }

    fn merge(&mut self, i: u32, j: u32) {
        let gone = self.take(j);
        let members = &mut self.members[i as usize];
        if gone.len() <= members.len() {
            members.extend(gone);
        } else {
            let kept = std::mem::replace(members, gone);
            members.extend(kept);
        }
    }
}

/// The clusters that are connected by edges of the same similarity. Clusters are given by their indices in `names`, the
/// ascending list of their smallest leaves.
struct Level {
    names: Vec<u32>,
    near: Neighbours,
    similarity: f64,
    /// True if `near` includes all tied pairs of clusters.
    all_known: bool,
}

impl Level {
    fn groups(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.names.len()];
        let mut groups = Vec::new();
        for first in 0..self.names.len() {
            if std::mem::replace(&mut seen[first], true) {
                continue;
            }
            let mut group = vec![first as u32];
            let mut at = 0;
            while let Some(&place) = group.get(at) {
                for &other in self.near.with(place) {
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        group.push(other);
                    }
                }
                at += 1;
            }
            group.sort_unstable();
            groups.push(group);
        }
        groups
    }

    /// Returns the merges of a connected group. The first cluster repeatedly absorbs the first cluster that is tied
    /// with it. `known` marks the clusters that were absorbed, or found to be tied with the first cluster.
    fn grow(
        &self,
        group: &[u32],
        known: &mut [bool],
        mut lookup: Option<&mut Lookup<'_>>,
        monitor: &Monitor,
    ) -> Result<Vec<(u32, u32)>> {
        let first = self.names[group[0] as usize];
        let mut merges = Vec::with_capacity(group.len() - 1);
        let mut waiting = BinaryHeap::new();
        let mut apart = Apart::of(group);
        let mut inside = lookup.as_mut().map_or_else(Vec::new, |lookup| lookup.take(first));
        let mut new = group[0];
        known[new as usize] = true;
        for left in (1..group.len()).rev() {
            for &other in self.near.with(new) {
                if !std::mem::replace(&mut known[other as usize], true) {
                    waiting.push(Reverse(other));
                }
            }
            let mut next = None;
            if let Some(lookup) = &lookup
                && left > 1
                && !self.all_known
            {
                let before = waiting.peek().map_or(NONE, |&Reverse(place)| place);
                let tied =
                    |place: u32, from: usize| lookup.any(self.names[place as usize], &inside[from..], self.similarity);
                next = apart.first(before, inside.len(), known, tied);
            }
            // The group is connected, so there is a next cluster.
            let Some(place) = next.or_else(|| waiting.pop().map(|Reverse(place)| place)) else { break };
            known[place as usize] = true;
            let name = self.names[place as usize];
            if let Some(lookup) = &mut lookup {
                inside.extend(lookup.take(name));
            }
            merges.push((first, name));
            new = place;
            monitor.advance(0)?;
        }
        if let Some(lookup) = lookup {
            lookup.members[first as usize] = inside;
        }
        Ok(merges)
    }
}

/// The clusters of a group that are not known to be tied with the growing cluster. Each of them is compared at most
/// once with each leaf of the growing cluster.
struct Apart<'g> {
    group: &'g [u32],
    /// For each index in the group: the index of the next cluster that is not known to be tied.
    next: Vec<usize>,
    /// For each index in the group: the number of leaves of the growing cluster that were compared with the cluster.
    compared: Vec<usize>,
}

impl<'g> Apart<'g> {
    fn of(group: &'g [u32]) -> Self {
        Self { group, next: (1..=group.len()).collect(), compared: vec![0; group.len()] }
    }

    fn first(
        &mut self,
        before: u32,
        n_inside: usize,
        known: &[bool],
        tied: impl Fn(u32, usize) -> bool,
    ) -> Option<u32> {
        let mut last = 0;
        loop {
            let at = self.next[last];
            let &place = self.group.get(at)?;
            if known[place as usize] {
                self.next[last] = self.next[at];
                continue;
            }
            if place > before {
                return None;
            }
            if tied(place, std::mem::replace(&mut self.compared[at], n_inside)) {
                return Some(place);
            }
            last = at;
        }
    }
}

struct Neighbours {
    starts: Vec<usize>,
    others: Vec<u32>,
}

impl Neighbours {
    fn of(n: usize, edges: &[[u32; 2]]) -> Self {
        let mut starts = vec![0; n + 2];
        edges.as_flattened().iter().for_each(|&end| starts[end as usize + 2] += 1);
        for place in 2..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut others = vec![0; 2 * edges.len()];
        for &[a, b] in edges {
            for (of, other) in [(a, b), (b, a)] {
                let at = &mut starts[of as usize + 1];
                others[*at] = other;
                *at += 1;
            }
        }
        Self { starts, others }
    }

    fn with(&self, place: u32) -> &[u32] {
        &self.others[self.starts[place as usize]..self.starts[place as usize + 1]]
    }
}
