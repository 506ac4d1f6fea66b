//! The sparse graph: clusters, and edges between clusters with stored pairs of leaves.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::links::{Entry, Link, Summary, sort_ascending};
use crate::agglomerate::tolerance::Tolerance;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;

/// Clusters and the edges between them. An edge is a pair of clusters, with a summary of the stored pairs of leaves
/// between them. A cluster is named by its smallest leaf, and clusters are in the order of their names.
pub(super) struct Graph {
    pub(super) names: Vec<u32>,
    pub(super) sizes: Vec<f64>,
    /// The edges of each cluster.
    pub(super) rows: Vec<Vec<Entry>>,
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
        let mut lens = memory::filled(WHAT, 0, k)?;
        for (place, link) in links.clone().enumerate() {
            if place % BLOCK == 0 {
                monitor.check()?;
            }
            lens[at(link.a) as usize] += 1;
            lens[at(link.b) as usize] += 1;
        }
        memory::check(WHAT, (size_of::<Entry>() * lens.iter().sum::<usize>()) as u64)?;
        let mut rows: Vec<Vec<Entry>> = lens.into_iter().map(Vec::with_capacity).collect();
        for (place, Link { a, b, count, value }) in links.enumerate() {
            if place % BLOCK == 0 {
                monitor.check()?;
            }
            let (a, b) = (at(a), at(b));
            rows[a as usize].push(Entry { cluster: b, count, value });
            rows[b as usize].push(Entry { cluster: a, count, value });
        }
        Ok(Self { names, sizes, rows })
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn n_entries(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// Returns the edges, ordered by the names of their two clusters.
    pub(super) fn links(&self, monitor: &Monitor) -> Result<Vec<Link>> {
        let of = |cluster: usize| {
            let later = self.rows[cluster].iter().filter(move |entry| entry.cluster as usize > cluster);
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
pub(super) fn nearest<K: Summary>(
    entries: &[Entry],
    n_i: f64,
    about: impl Fn(u32) -> (f64, u32),
    rules: Rules<'_>,
) -> Option<Near> {
    let Rules { bar, tolerance, .. } = rules;
    // Only the mean of all pairs depends on the size of the other cluster.
    let similarity =
        |entry: &Entry| K::similarity(entry, n_i, if K::MEAN && K::ALL { about(entry.cluster).0 } else { 1.0 });
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
            best.offer(Near { cluster: entry.cluster, similarity }, K::share(entry, n_i, n_k), name, rules);
        }
    }
    best.near
}

/// A cluster with at least this number of edges has an index of its edges, sorted by similarity.
pub(super) const HUB: usize = 256;
pub(super) const PATIENCE: usize = 32;
/// Edges are stored in a table if at least one in `FILLED` pairs of clusters has an edge. The table then needs about
/// the same memory as lists of edges.
pub(super) const FILLED: usize = 2;

#[derive(Clone, Copy)]
pub(super) struct Rules<'m> {
    pub(super) bar: f64,
    pub(super) tolerance: Tolerance,
    pub(super) monitor: &'m Monitor,
    pub(super) doubtful: &'m AtomicBool,
    /// A cluster of `Lists` with at least this number of edges has an index of its edges, sorted by similarity.
    pub(super) hub: usize,
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
