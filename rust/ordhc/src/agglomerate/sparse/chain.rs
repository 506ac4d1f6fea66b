//! The nearest-neighbour chain on a sparse graph, and lists of edges for the chain. A merge moves the edges of the
//! cluster with fewer edges one by one to the other cluster.

use super::graph::{Graph, Near, Rules, SHARE, nearest};
use super::links::{Entry, Link, Summary, sort_ascending};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::tree::RawMerge;

mod hub;

use hub::Hub;

/// A cluster with at least this number of edges has an index of its edges, sorted by similarity.
const HUB: usize = 256;

/// Clusters and the edges between them, with the methods that a nearest-neighbour chain needs. A cluster is given by
/// its index in the initial graph. A merged cluster gets the index of one of the two clusters.
pub(super) trait Linked {
    fn n_clusters(&self) -> usize;

    /// Returns the smallest leaf of a cluster, or `None` if the cluster has been merged into another cluster.
    fn name(&self, cluster: usize) -> Option<u32>;

    fn nearest(&mut self, cluster: usize) -> Option<Near>;

    fn merge(&mut self, a: usize, b: usize) -> usize;

    fn should_continue(&self) -> bool {
        true
    }
}

/// Merges as long as any cluster has a nearest neighbour and the chain should continue. Returns true if no cluster has
/// a nearest neighbour any more.
///
/// The chain has a cycle only if rounding makes the similarity of two clusters depend on their order. Then the last two
/// clusters of the chain merge.
pub(super) fn run(linked: &mut dyn Linked, merges: &mut Vec<RawMerge>, monitor: &Monitor) -> Result<bool> {
    let mut stack: Vec<(usize, f64)> = Vec::new();
    let mut on_stack = vec![false; linked.n_clusters()];
    let mut start = 0;
    let mut next = 0;
    while linked.should_continue() {
        if stack.is_empty() {
            if start == on_stack.len() {
                return Ok(true);
            }
            stack.push((start, f64::NEG_INFINITY));
            on_stack[start] = true;
        }
        let (top, before) = stack[stack.len() - 1];
        let near = linked.name(top).and_then(|_| linked.nearest(top));
        let Some(near) = near else {
            // Only the first cluster of the chain can have no nearest neighbour. Every other cluster has an edge to the
            // cluster before it.
            stack.drain(..).for_each(|(cluster, _)| on_stack[cluster] = false);
            next += 1;
            start = next;
            continue;
        };
        let cluster = near.cluster as usize;
        if !on_stack[cluster] {
            on_stack[cluster] = true;
            stack.push((cluster, near.similarity));
            continue;
        }
        let last = stack[stack.len() - 2].0;
        stack.truncate(stack.len() - 2);
        (on_stack[top], on_stack[last]) = (false, false);
        if let (Some(a), Some(b)) = (linked.name(top), linked.name(last)) {
            merges.push(RawMerge { i: a.min(b) as usize, j: a.max(b) as usize, similarity: before });
        }
        start = linked.merge(top, last);
        monitor.advance(1)?;
    }
    Ok(false)
}

pub(super) struct Lists<'m> {
    clusters: Vec<Cluster>,
    rows: Vec<Row>,
    rules: Rules<'m>,
    hubs: Hubs,
    stamps: Vec<u32>,
    stamp: u32,
}

#[derive(Clone, Copy)]
struct Cluster {
    name: u32,
    size: f64,
    alive: bool,
}

/// The number of edges from which a cluster has an index, and how the index orders edges.
#[derive(Clone, Copy)]
struct Hubs {
    from: usize,
    summary: Summary,
}

struct Row {
    entries: Vec<Entry>,
    hub: Option<Box<Hub>>,
}

impl<'m> Lists<'m> {
    pub(super) fn new(graph: Graph, rules: Rules<'m>) -> Result<Self> {
        entered!(sparse_lists);
        memory::check("the links of clusters", (size_of::<Entry>() * graph.n_entries()) as u64)?;
        let cluster = |(&name, &size): (&u32, &f64)| Cluster { name, size, alive: true };
        let clusters: Vec<Cluster> = graph.names.iter().zip(&graph.sizes).map(cluster).collect();
        // Tests set `share` to other values, so that graphs with few edges reach every code path. For the same reason,
        // they need hubs with few edges.
        let hubs = Hubs { from: if rules.share == SHARE { HUB } else { 3 }, summary: rules.summary };
        let row = |k: usize| Row::new(graph.row(k).to_vec(), &clusters, hubs);
        let rows = (0..graph.len()).map(row).collect();
        let stamps = vec![0; clusters.len()];
        Ok(Self { clusters, rows, rules, hubs, stamps, stamp: 0 })
    }

    pub(super) fn links(&self, monitor: &Monitor) -> Result<Vec<Link>> {
        let most = self.rows.iter().map(|row| row.entries.len()).sum::<usize>().div_ceil(2);
        let mut links = memory::room("the links that are left", most)?;
        for (at, row) in self.rows.iter().enumerate() {
            let a = self.clusters[at].name;
            for &Entry { cluster, count, value } in &row.entries {
                let b = self.clusters[cluster as usize].name;
                links.extend((a < b).then_some(Link { a, b, count, value }));
            }
        }
        sort_ascending(&mut links, monitor)?;
        Ok(links)
    }

    /// Keeps only those edges of cluster `large` whose other cluster also has an edge in `moved`, the edges of the
    /// cluster that merges into `large`.
    fn keep_common(&mut self, moved: &[Entry], large: usize, stamp: u32) {
        moved.iter().for_each(|entry| self.stamps[entry.cluster as usize] = stamp);
        let stamps = &self.stamps;
        let common = |entry: &Entry| stamps[entry.cluster as usize] == stamp;
        let (kept, dropped): (Vec<Entry>, Vec<Entry>) =
            self.rows[large].entries.iter().partition(|&entry| common(entry));
        dropped.iter().for_each(|entry| self.rows[entry.cluster as usize].remove(large));
        self.rows[large] = Row::new(kept, &self.clusters, self.hubs);
    }
}

impl Linked for Lists<'_> {
    fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    fn name(&self, cluster: usize) -> Option<u32> {
        let Cluster { name, alive, .. } = self.clusters[cluster];
        alive.then_some(name)
    }

    fn nearest(&mut self, i: usize) -> Option<Near> {
        let Self { clusters, rows, rules, .. } = self;
        let Row { entries, hub } = &mut rows[i];
        let about = |k: u32| (clusters[k as usize].size, clusters[k as usize].name);
        let (n_i, rules) = (clusters[i].size, *rules);
        match hub {
            None => nearest(entries, n_i, about, rules),
            Some(hub) => hub.nearest(entries, n_i, about, rules),
        }
    }

    fn merge(&mut self, a: usize, b: usize) -> usize {
        self.stamp += 1;
        let (stamp, summary) = (self.stamp, self.rules.summary);
        let (small, large) = if self.rows[a].entries.len() < self.rows[b].entries.len() { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.rows[small].entries);
        self.rows[small].hub = None;
        let gone = self.clusters[small];
        self.clusters[small].alive = false;
        self.clusters[large].size += gone.size;
        self.clusters[large].name = self.clusters[large].name.min(gone.name);
        self.rows[large].remove(small);
        if summary.is_least_of_all() {
            self.keep_common(&moved, large, stamp);
        }
        for entry in moved {
            let k = entry.cluster as usize;
            if k == large {
                continue;
            }
            self.rows[k].remove(small);
            let known = self.rows[large].get(k).copied();
            let link = match known {
                None if summary.is_least_of_all() => continue,
                None => entry,
                Some(other) => {
                    Entry { value: summary.fold(other.value, entry.value), count: other.count + entry.count, ..entry }
                }
            };
            self.rows[large].set(link, &self.clusters, self.hubs);
            self.rows[k].set(Entry { cluster: large as u32, ..link }, &self.clusters, self.hubs);
        }
        large
    }
}

impl Row {
    fn new(entries: Vec<Entry>, clusters: &[Cluster], hubs: Hubs) -> Self {
        let mut row = Self { entries, hub: None };
        row.sort(clusters, hubs);
        row
    }

    fn sort(&mut self, clusters: &[Cluster], hubs: Hubs) {
        if self.hub.is_none() && self.entries.len() >= hubs.from {
            let about = |k: u32| (clusters[k as usize].size, clusters[k as usize].name);
            self.hub = Some(Box::new(Hub::new(&self.entries, about, hubs.summary)));
        }
    }

    fn place(&self, k: usize) -> Option<usize> {
        match &self.hub {
            None => self.entries.iter().position(|entry| entry.cluster as usize == k),
            Some(hub) => hub.place(k as u32),
        }
    }

    fn get(&self, k: usize) -> Option<&Entry> {
        self.place(k).map(|at| &self.entries[at])
    }

    fn remove(&mut self, k: usize) {
        let Some(at) = self.place(k) else { return };
        self.entries.swap_remove(at);
        if let Some(hub) = &mut self.hub {
            hub.remove(k as u32, at, self.entries.get(at));
        }
    }

    fn set(&mut self, entry: Entry, clusters: &[Cluster], hubs: Hubs) {
        let at = self.place(entry.cluster as usize).unwrap_or(self.entries.len());
        if at == self.entries.len() {
            self.entries.push(entry);
        } else {
            self.entries[at] = entry;
        }
        let about = |k: u32| (clusters[k as usize].size, clusters[k as usize].name);
        match &mut self.hub {
            Some(hub) => hub.set(&entry, at, about(entry.cluster), hubs.summary),
            None => self.sort(clusters, hubs),
        }
    }
}
