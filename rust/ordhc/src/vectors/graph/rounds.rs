//! Merges reciprocal nearest clusters along the edges of a graph of neighbours, in rounds. The code calls these edges
//! links.
//!
//! A merged cluster inherits the edges of its two clusters. But edges between leaves say little about large clusters.
//! So the nearest neighbours of the clusters' means are searched again each time the number of clusters has fallen to a
//! quarter.
//!
//! If ties or slowly changing similarities leave few reciprocal pairs, pairs of nearly nearest clusters merge as well
//! (Dhulipala et al. 2023, "TeraHAC: Hierarchical Agglomerative Clustering of Trillion-Edge Graphs").

use super::clusters::{Clusters, Form};
use super::mixed;
use super::search::{NONE, Points, nearest};
use std::cmp::Reverse;

use crate::error::Result;
use crate::memory::{check, filled, room};
use crate::monitor::Monitor;
use crate::numbers::in_order;
use crate::parallel;
use crate::sorting::{order_by, sort_by_key};
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

/// A round of merges is slow if it merges fewer pairs than the number of clusters divided by this number. Pairs of
/// nearly nearest clusters then merge as well.
const SLOW: usize = 48;
/// A cluster is nearly the nearest if it is farther than the nearest cluster by at most this share.
const EPSILON: f64 = 0.1;
/// Neighbours are searched again when the number of clusters has been divided by this number.
const AGAIN: usize = 4;
const GRAIN: usize = 256;

/// An edge of the graph of neighbours: from a cluster to a near cluster, which has the index `to`. The similarity is
/// NaN until it is computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) to: u32,
    pub(super) similarity: f64,
}

impl Link {
    /// Returns true if this edge of the cluster `from` is better than the edge `other`: more similar, or equally
    /// similar and earlier in a pseudo-random order. If the order of leaves broke ties, equally spaced clusters in a
    /// line would merge at one end only.
    fn is_better(self, other: Self, from: u32) -> bool {
        let rank = |link: Self| mixed(u64::from(from.min(link.to)) << 32 | u64::from(from.max(link.to)));
        self.similarity > other.similarity || self.similarity == other.similarity && rank(self) < rank(other)
    }
}

/// The clusters and their edges (`links`) to near clusters, ordered by the smallest leaf of each cluster.
pub(super) struct Rounds<'c> {
    pub(super) clusters: &'c mut Clusters,
    pub(super) names: Vec<u32>,
    pub(super) links: Vec<Vec<Link>>,
    alive: Vec<bool>,
    n_alive: usize,
    /// For each cluster: the index of the cluster into which it was merged in this round, or else its own index.
    into: Vec<u32>,
    changed: Vec<bool>,
    k: usize,
    pub(super) merges: Vec<RawMerge>,
}

impl<'c> Rounds<'c> {
    /// Returns clusters without edges. `names` has the smallest leaf of each cluster, in ascending order.
    pub(super) fn new(clusters: &'c mut Clusters, names: Vec<u32>, k: usize) -> Result<Self> {
        let n = names.len();
        check("links", (n * (size_of::<Vec<Link>>() + 2 * k.min(n) * size_of::<Link>())) as u64)?;
        Ok(Self {
            clusters,
            links: filled("links", Vec::new(), n)?,
            alive: vec![true; n],
            n_alive: n,
            into: (0..n as u32).collect(),
            changed: vec![false; n],
            k,
            merges: room("merges", n)?,
            names,
        })
    }

    /// Merges until at most `until` clusters are left. `until` must be less than the current number of clusters.
    /// Advances the monitor by `steps` for the search, and by `steps` for the merges.
    pub(super) fn run(&mut self, given: Option<&[u32]>, until: usize, monitor: &Monitor, steps: u64) -> Result<()> {
        entered!(vectors_graph_rounds);
        let start = self.n_alive;
        match given {
            Some(found) => self.link(found, monitor)?,
            None => self.search(monitor, steps)?,
        }
        let mut again = self.n_alive / AGAIN;
        let mut done = 0;
        while self.n_alive > until {
            let before = self.n_alive;
            let pairs = match self.clusters.form {
                Form::Most => self.merge_forest(until, monitor)?,
                _ => self.round(until, monitor)?,
            };
            let merged = (start - self.n_alive).min(start - until) as u64;
            let progress = merged * steps / (start - until) as u64;
            monitor.advance(progress - done)?;
            done = progress;
            if self.n_alive > until && (self.n_alive <= again || pairs == 0) {
                self.pack();
                self.search(monitor, 0)?;
                again = self.n_alive / AGAIN;
            }
            debug_assert!(self.n_alive < before || pairs == 0);
        }
        self.pack();
        Ok(())
    }

    fn search(&mut self, monitor: &Monitor, steps: u64) -> Result<()> {
        let points = Points::new(self.names.len(), self.clusters.n_coordinates(), |at| {
            self.clusters.mean(self.names[at] as usize)
        })?;
        let found = nearest(&points, self.k, monitor, steps)?;
        drop(points);
        self.link(&found, monitor)
    }

    fn link(&mut self, found: &[u32], monitor: &Monitor) -> Result<()> {
        let k = found.len() / self.names.len();
        for (at, row) in found.chunks_exact(k.max(1)).enumerate() {
            for &to in row.iter().filter(|&&to| to != NONE && to as usize != at) {
                self.links[at].push(Link { to, similarity: f64::NAN });
                self.links[to as usize].push(Link { to: at as u32, similarity: f64::NAN });
            }
        }
        self.tidy(monitor)
    }

    fn pack(&mut self) {
        let mut next = 0;
        let number: Vec<u32> = self
            .alive
            .iter()
            .map(|&alive| {
                if alive {
                    next += 1;
                    next - 1
                } else {
                    NONE
                }
            })
            .collect();
        let mut at = 0..self.alive.len();
        self.links.retain(|_| at.next().is_some_and(|at| self.alive[at]));
        self.links.iter_mut().flatten().for_each(|link| link.to = number[link.to as usize]);
        let mut at = 0..self.alive.len();
        self.names.retain(|_| at.next().is_some_and(|at| self.alive[at]));
        self.alive = vec![true; self.n_alive];
        self.into = (0..self.n_alive as u32).collect();
        self.changed = vec![false; self.n_alive];
    }

    fn round(&mut self, until: usize, monitor: &Monitor) -> Result<usize> {
        let mut best = self.best(monitor)?;
        self.link_back(&mut best);
        let mut pairs = self.reciprocal(&best);
        if pairs.len() * SLOW < self.n_alive {
            let nearly = self.nearly_best(&best, monitor)?;
            pairs.extend(self.reciprocal(&nearly));
            pairs = disjoint(pairs, self.names.len());
        }
        let most = self.n_alive - until;
        if pairs.len() > most {
            order_by(&mut pairs, &|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
            pairs.truncate(most);
        }
        for &(a, b, similarity) in &pairs {
            self.merge(a, b, similarity);
        }
        self.tidy(monitor)?;
        Ok(pairs.len())
    }

    /// Merges clusters along edges, the most similar pair first, until at most `until` clusters are left. This is
    /// single linkage (Kruskal's algorithm). Returns the number of merges.
    fn merge_forest(&mut self, until: usize, monitor: &Monitor) -> Result<usize> {
        let mut all = room("links", self.links.iter().map(Vec::len).sum())?;
        for (at, links) in (0..).zip(&self.links) {
            all.extend(
                links.iter().filter(|link| at < link.to).map(|link| (Reverse(in_order(link.similarity)), at, *link)),
            );
        }
        sort_by_key(&mut all, |&(key, at, link)| (key, at, link.to), monitor)?;
        let mut sets = UnionFind::new(self.names.len());
        let before = self.n_alive;
        for (_, at, link) in all {
            if self.n_alive <= until {
                break;
            }
            let [a, b] = [sets.find(at), sets.find(link.to)];
            if a != b {
                sets.join(a, b);
                self.merge(a.min(b), a.max(b), link.similarity);
            }
        }
        self.into = sets.names();
        self.tidy(monitor)?;
        Ok(before - self.n_alive)
    }

    pub(super) fn merge(&mut self, a: u32, b: u32, similarity: f64) {
        let [i, j] = [a, b].map(|at| self.names[at as usize] as usize);
        self.clusters.merge(i, j);
        self.merges.push(RawMerge { i, j, similarity });
        let [a, b] = [a as usize, b as usize];
        self.alive[b] = false;
        self.n_alive -= 1;
        self.into[b] = a as u32;
        (self.changed[a], self.changed[b]) = (true, true);
        let links = std::mem::take(&mut self.links[b]);
        self.links[a].extend(links);
    }

    fn best(&self, monitor: &Monitor) -> Result<Vec<Option<Link>>> {
        let best = |at: usize| {
            self.links[at]
                .iter()
                .copied()
                .reduce(|best, link| if link.is_better(best, at as u32) { link } else { best })
        };
        self.of_each(monitor, best)
    }

    fn of_each<R: Send>(&self, monitor: &Monitor, of: impl Fn(usize) -> R + Sync) -> Result<Vec<R>> {
        monitor.check()?;
        let parts = parallel::map(parallel::ranges(self.names.len(), GRAIN), |part| part.map(&of).collect::<Vec<_>>());
        Ok(parts.into_iter().flatten().collect())
    }

    /// Adds missing edges in the opposite direction: if the best edge of cluster a is to cluster b, b also gets an edge
    /// to a. Such an edge can be missing, because only the best edges of each cluster are kept. Updates `best`.
    fn link_back(&mut self, best: &mut [Option<Link>]) {
        let back = |(at, link): (u32, &Option<Link>)| link.map(|link| (link.to, Link { to: at, ..link }));
        let wanted: Vec<(u32, Link)> = (0..).zip(&*best).filter_map(back).collect();
        for (at, link) in wanted {
            let links = &mut self.links[at as usize];
            if links.iter().all(|own| own.to != link.to) {
                links.push(link);
                let own = &mut best[at as usize];
                *own = Some(own.filter(|own| !link.is_better(*own, at)).unwrap_or(link));
            }
        }
    }

    fn reciprocal(&self, chosen: &[Option<Link>]) -> Vec<(u32, u32, f64)> {
        let pair = |(at, link): (u32, &Option<Link>)| {
            let link = link.filter(|link| at < link.to)?;
            chosen[link.to as usize].is_some_and(|back| back.to == at).then_some((at, link.to, link.similarity))
        };
        (0..).zip(chosen).filter_map(pair).collect()
    }

    /// Returns one nearly best edge for each cluster, or `None` for a cluster without such an edge. An edge between
    /// clusters a and b is nearly best if its distance is at most (1 + [`EPSILON`]) times the distance of the best edge
    /// of a, and at most (1 + [`EPSILON`]) times the distance of the best edge of b.
    fn nearly_best(&self, best: &[Option<Link>], monitor: &Monitor) -> Result<Vec<Option<Link>>> {
        // The distance of cosines is their difference from 1.
        let most = if self.clusters.is_similarity() { 1.0 } else { 0.0 };
        let is_near = |link: Link, best: Option<Link>| {
            best.is_none_or(|best| most - link.similarity <= (1.0 + EPSILON) * (most - best.similarity))
        };
        let rank =
            |at: usize, link: &Link| mixed((at as u64).min(link.to.into()) << 32 | (at as u64).max(link.to.into()));
        self.of_each(monitor, |at| {
            let near = |link: &&Link| is_near(**link, best[at]) && is_near(**link, best[link.to as usize]);
            self.links[at].iter().filter(near).min_by_key(|link| rank(at, link)).copied()
        })
    }

    /// Updates all edges after merges: renames clusters that have merged, computes missing similarities, and keeps the
    /// best edges of each cluster (for single linkage, all edges).
    pub(super) fn tidy(&mut self, monitor: &Monitor) -> Result<()> {
        monitor.check()?;
        let Self { clusters, names, links, into, changed, k, .. } = self;
        let (clusters, names, into, changed, most) = (&**clusters, &*names, &*into, &*changed, 2 * *k + 8);
        let per_part = names.len().div_ceil(parallel::n_threads() * 8).max(GRAIN);
        let parts = links.chunks_mut(per_part).enumerate().map(|(part, links)| (part * per_part, links)).collect();
        parallel::map_in_turn(parts, |(first, links): (usize, &mut [Vec<Link>])| {
            let mut scratch = Scratch::default();
            for (at, links) in (first..).zip(links) {
                scratch.tidy(at, links, (clusters, names, into, changed), most);
            }
            monitor.check()
        })
        .into_iter()
        .collect::<Result<()>>()?;
        self.changed.fill(false);
        Ok(())
    }
}

fn disjoint(pairs: Vec<(u32, u32, f64)>, n: usize) -> Vec<(u32, u32, f64)> {
    let mut taken = vec![false; n];
    let free = |&(a, b, _): &(u32, u32, f64)| {
        let free = !taken[a as usize] && !taken[b as usize];
        if free {
            (taken[a as usize], taken[b as usize]) = (true, true);
        }
        free
    };
    pairs.into_iter().filter(free).collect()
}

#[derive(Default)]
struct Scratch {
    stale: Vec<usize>,
    values: Vec<f64>,
}

impl Scratch {
    fn tidy(
        &mut self,
        at: usize,
        links: &mut Vec<Link>,
        (clusters, names, into, changed): (&Clusters, &[u32], &[u32], &[bool]),
        most: usize,
    ) {
        let is_fresh = |link: &Link| !changed[link.to as usize] && !link.similarity.is_nan();
        if !changed[at] && links.iter().all(is_fresh) {
            return;
        }
        let is_single = clusters.form == Form::Most;
        for link in links.iter_mut() {
            if !is_single && (changed[at] || changed[link.to as usize]) {
                link.similarity = f64::NAN;
            }
            link.to = into[link.to as usize];
        }
        links.retain(|link| link.to as usize != at);
        // Sort edges to the same cluster by similarity, so that `dedup` keeps the largest computed similarity.
        links.sort_unstable_by(|a, b| {
            let known = |link: &Link| if link.similarity.is_nan() { f64::NEG_INFINITY } else { link.similarity };
            a.to.cmp(&b.to).then(known(b).total_cmp(&known(a)))
        });
        links.dedup_by_key(|link| link.to);
        self.stale.clear();
        self.stale.extend((0..links.len()).filter(|&link| links[link].similarity.is_nan()));
        self.values.resize(self.stale.len(), 0.0);
        let others = self.stale.iter().map(|&link| names[links[link].to as usize] as usize);
        clusters.similarities(names[at] as usize, others, &mut self.values);
        for (&link, &value) in self.stale.iter().zip(&self.values) {
            links[link].similarity = value;
        }
        if links.len() > most && !is_single {
            order_by(links, &|a, b| b.is_better(a, at as u32).cmp(&a.is_better(b, at as u32)));
            links.truncate(most);
        }
        links.shrink_to(2 * most);
    }
}
