//! The sparse graph: clusters, and edges between clusters with stored pairs of leaves.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::links::{Entry, Link, Summary, sort_ascending, with_constant};
use crate::agglomerate::tolerance::Tolerance;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;

/// Clusters and the edges between them. An edge is a pair of clusters, with a summary of the stored pairs of leaves
/// between them. A cluster is named by its smallest leaf, and clusters are in the order of their names.
pub(super) struct Graph {
    pub(super) names: Vec<u32>,
    pub(super) sizes: Vec<f64>,
    pub(super) chunks: Vec<Chunk>,
}

pub(super) struct Chunk {
    pub(super) first: usize,
    pub(super) ends: Vec<usize>,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) cluster: u32,
    pub(super) similarity: f64,
}

const BLOCK: usize = 1 << 16;

impl Graph {
    /// The edges `links` must be between clusters with these `names`, and ordered by their two clusters.
    pub(super) fn new(
        names: Vec<u32>,
        sizes: Vec<f64>,
        links: impl Iterator<Item = Link> + Clone,
        monitor: &Monitor,
    ) -> Result<Self> {
        const WHAT: &str = "the links of clusters";
        let k = names.len();
        let consecutive = names.last().is_none_or(|&last| last as usize + 1 == k);
        let mut number = Vec::new();
        if !consecutive {
            number = memory::filled(WHAT, 0, names[k - 1] as usize + 1)?;
            names.iter().enumerate().for_each(|(at, &name)| number[name as usize] = at as u32);
        }
        let at = |name: u32| if consecutive { name } else { number[name as usize] };
        let mut starts = memory::filled(WHAT, 0, k + 1)?;
        for (place, link) in links.clone().enumerate() {
            if place % BLOCK == 0 {
                monitor.check()?;
            }
            starts[at(link.a) as usize + 1] += 1;
            starts[at(link.b) as usize + 1] += 1;
        }
        for cluster in 0..k {
            starts[cluster + 1] += starts[cluster];
        }
        let ends = memory::collected(WHAT, k, starts[1..].iter().copied())?;
        let mut entries = memory::filled(WHAT, Entry { cluster: 0, count: 0, value: 0.0 }, starts[k])?;
        for (place, Link { a, b, count, value }) in links.enumerate() {
            if place % BLOCK == 0 {
                monitor.check()?;
            }
            let (a, b) = (at(a), at(b));
            for (from, cluster) in [(a, b), (b, a)] {
                entries[starts[from as usize]] = Entry { cluster, count, value };
                starts[from as usize] += 1;
            }
        }
        Ok(Self { names, sizes, chunks: vec![Chunk { first: 0, ends, entries }] })
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn row(&self, cluster: usize) -> &[Entry] {
        let chunk = &self.chunks[self.chunks.partition_point(|chunk| chunk.first <= cluster) - 1];
        let at = cluster - chunk.first;
        let start = if at == 0 { 0 } else { chunk.ends[at - 1] };
        &chunk.entries[start..chunk.ends[at]]
    }

    pub(super) fn n_entries(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.entries.len()).sum()
    }

    /// Returns the edges, ordered by the names of their two clusters.
    pub(super) fn links(&self, monitor: &Monitor) -> Result<Vec<Link>> {
        let of = |cluster: usize| {
            let later = self.row(cluster).iter().filter(move |entry| entry.cluster as usize > cluster);
            later.map(move |&Entry { cluster: other, count, value }| Link {
                a: self.names[cluster],
                b: self.names[other as usize],
                count,
                value,
            })
        };
        let all = (0..self.len()).flat_map(of);
        let mut links = memory::collected("the links that are left", self.n_entries() / 2, all)?;
        sort_ascending(&mut links, monitor)?;
        Ok(links)
    }
}

/// Returns the nearest neighbour of a cluster of size `n_i` whose edges are `entries`, or `None` if no similarity is
/// above `rules.bar`. Ties are broken by the larger share of stored pairs of leaves, then by the smaller name. `about`
/// returns the size and the name of a cluster.
pub(super) fn nearest(
    entries: &[Entry],
    n_i: f64,
    about: impl Fn(u32) -> (f64, u32),
    rules: Rules<'_>,
) -> Option<Near> {
    let summary = rules.summary;
    with_constant!(summary, nearest_by(summary, entries, n_i, about, rules))
}

/// [`nearest`] for a constant `summary`.
#[inline(always)]
pub(super) fn nearest_by(
    summary: Summary,
    entries: &[Entry],
    n_i: f64,
    about: impl Fn(u32) -> (f64, u32),
    rules: Rules<'_>,
) -> Option<Near> {
    let Rules { bar, tolerance, .. } = rules;
    // Only the mean of all pairs depends on the size of the other cluster.
    let needs_sizes = summary.mean && summary.all;
    let similarity =
        |entry: &Entry| summary.similarity(entry, n_i, if needs_sizes { about(entry.cluster).0 } else { 1.0 });
    let largest = entries.iter().map(similarity).fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
    if largest <= bar {
        return None;
    }
    let floor = tolerance.floor(largest);
    let mut best = Best::none();
    for entry in entries {
        let similarity = similarity(entry);
        if similarity >= floor && similarity > bar {
            let (n_k, name) = about(entry.cluster);
            best.offer(Near { cluster: entry.cluster, similarity }, summary.share(entry, n_i, n_k), name, rules);
        }
    }
    best.near
}

pub(super) const SHARE: usize = 128;
pub(super) const PATIENCE: usize = 32;
/// Edges are stored in a table if at least one in `FILLED` pairs of clusters has an edge. The table then needs about
/// the same memory as lists of edges.
pub(super) const FILLED: usize = 2;

#[derive(Clone, Copy)]
pub(super) struct Rules<'m> {
    pub(super) summary: Summary,
    pub(super) bar: f64,
    pub(super) tolerance: Tolerance,
    pub(super) monitor: &'m Monitor,
    pub(super) doubtful: &'m AtomicBool,
    /// Reciprocal pairs merge in rounds only if merging them one by one would copy at least 1 / `share` of all entries
    /// in the lists of edges. An edge has two entries, one for each of its clusters.
    pub(super) share: usize,
    /// A nearest-neighbour chain on `Rows` stops after it has read `patience` times the number of entries in the lists
    /// of edges, because `Rows` are slow to search. A chain on `Lists` has no limit.
    pub(super) patience: usize,
    /// Edges are stored in a table if at least one in `filled` pairs of clusters has an edge.
    pub(super) filled: usize,
}

impl Rules<'_> {
    pub(super) fn doubt(&self) {
        self.doubtful.store(true, Relaxed);
    }

    pub(super) fn fills_table(&self, n_clusters: usize, n_entries: usize) -> bool {
        n_clusters * n_clusters <= n_entries.saturating_mul(self.filled)
    }
}

pub(super) struct Best {
    pub(super) near: Option<Near>,
    share: f64,
    name: u32,
}

impl Best {
    pub(super) fn none() -> Self {
        Self { near: None, share: f64::NEG_INFINITY, name: u32::MAX }
    }

    pub(super) fn offer(&mut self, near: Near, share: f64, name: u32, rules: Rules<'_>) {
        let (order, doubtful) = match self.near {
            None => (Ordering::Greater, false),
            Some(best) => rules.tolerance.compare(near.similarity, best.similarity),
        };
        if doubtful {
            rules.doubt();
        }
        if order.is_gt() || order.is_eq() && (share > self.share || share == self.share && name < self.name) {
            *self = Self { near: Some(near), share, name };
        }
    }
}
