//! Merges reciprocal nearest pairs of clusters (each is nearest to the other) in rounds.
//!
//! Average linkage is reducible: a merged cluster is never nearer to another cluster than the nearer of its two
//! clusters was. So a cluster's nearest neighbour stays the same until this neighbour is merged, and reciprocal pairs
//! can merge in any order.

use super::bounds::Tiles;
use super::clusters::MeanClusters;
use super::search::{self, Near, Query};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::sorting::order_by;
use crate::tree::RawMerge;

/// Returns the number of progress steps for merging `k` clusters: k^2 for the first search of all nearest neighbours,
/// and k^2 / 2 for the merges.
pub(super) fn work(k: usize) -> u64 {
    let k = k as u64;
    if k > 1 { k * k + k * k / 2 } else { 0 }
}

/// Merges all clusters. Returns the merges, each after the merges that made its two clusters, and the cluster that is
/// left.
pub(super) fn merge_all(clusters: MeanClusters, monitor: &Monitor) -> Result<(Vec<RawMerge>, MeanClusters)> {
    entered!(vectors_rounds);
    if clusters.len() < 2 {
        return Ok((Vec::new(), clusters));
    }
    let patience = PATIENCE * clusters.len();
    let mut rounds = Rounds::new(clusters, patience, monitor)?;
    rounds.run()?;
    let last = rounds.alive.iter().position(|&alive| alive).expect("one cluster is left");
    rounds.clusters.keep(&[last]);
    Ok((rounds.merges, rounds.clusters))
}

/// If the number of searches for nearest neighbours exceeds `PATIENCE` times the number of clusters, the remaining
/// merges follow a single nearest-neighbour chain. The chain needs at most three more searches per cluster.
const PATIENCE: usize = 8;
/// Each round searches the nearest neighbours of 1 / `SHARE` of the clusters that need a search, but of at least
/// `SMALL` clusters. Clusters with the largest upper bounds of the similarity to their neighbour come first. The other
/// clusters are searched in later rounds, because the merges of this round would outdate many of their nearest
/// neighbours.
const SHARE: usize = 8;
const SMALL: usize = 64;

struct Rounds<'m> {
    clusters: MeanClusters,
    tiles: Tiles,
    alive: Vec<bool>,
    n_alive: usize,
    nearest: Vec<Nearest>,
    n_queries: usize,
    patience: usize,
    merges: Vec<RawMerge>,
    monitor: &'m Monitor,
}

/// The nearest neighbour of a cluster or, if unknown, an upper bound of the similarity to this neighbour.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Nearest {
    /// The nearest neighbour is unknown. `most` is an upper bound of the similarity to this neighbour. `new` is true
    /// until the first search for this neighbour.
    Unknown {
        most: f64,
        new: bool,
    },
    Known(Near),
}

impl<'m> Rounds<'m> {
    fn new(clusters: MeanClusters, patience: usize, monitor: &'m Monitor) -> Result<Self> {
        let k = clusters.len();
        // The largest squared norm is an upper bound of all dot products (Cauchy-Schwarz). The search for a nearest
        // vector ends when it reaches this bound, as with equal vectors.
        let most = (0..k).map(|at| clusters.value(at, at)).fold(0.0, f64::max);
        let zero = |at: usize| clusters.row(at).iter().all(|&x| x == 0.0);
        let unknown = |at| Nearest::Unknown { most: if zero(at) { 0.0 } else { most }, new: true };
        Ok(Self {
            nearest: (0..k).map(unknown).collect(),
            tiles: Tiles::new(&clusters)?,
            clusters,
            alive: vec![true; k],
            n_alive: k,
            n_queries: 0,
            patience,
            merges: Vec::with_capacity(k - 1),
            monitor,
        })
    }

    fn run(&mut self) -> Result<()> {
        let mut wanted: Vec<usize> = (0..self.n_alive).collect();
        while self.n_alive > 1 {
            self.look_up(&wanted)?;
            let pairs = self.reciprocal(&wanted);
            self.merge(&pairs)?;
            self.pack()?;
            wanted = self.wanted();
        }
        Ok(())
    }

    fn known(&self, at: usize) -> Option<usize> {
        match self.nearest[at] {
            Nearest::Known(near) => Some(near.cluster as usize),
            Nearest::Unknown { .. } => None,
        }
    }

    fn look_up(&mut self, wanted: &[usize]) -> Result<()> {
        let query = |&cluster: &usize| match self.nearest[cluster] {
            Nearest::Unknown { most, .. } => Query { cluster, most },
            Nearest::Known(_) => Query { cluster, most: f64::INFINITY },
        };
        let queries: Vec<Query> = wanted.iter().map(query).collect();
        self.n_queries += queries.len();
        let count = self.merges.is_empty() && queries.len() == self.n_alive;
        let found = search::nearest(&self.clusters, &self.tiles, &queries, count, self.monitor)?;
        for (&at, near) in wanted.iter().zip(found) {
            self.nearest[at] = Nearest::Known(near);
        }
        Ok(())
    }

    fn reciprocal(&self, wanted: &[usize]) -> Vec<(usize, usize)> {
        let pair = |&a: &usize| self.known(a).filter(|&b| self.known(b) == Some(a)).map(|b| (a.min(b), a.max(b)));
        let mut pairs: Vec<(usize, usize)> = wanted.iter().filter_map(pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    fn merge(&mut self, pairs: &[(usize, usize)]) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        let mut merged = vec![false; self.alive.len()];
        for &(i, j) in pairs {
            let Nearest::Known(Near { value: similarity, .. }) = self.nearest[i] else { continue };
            let name = |at: usize| self.clusters.names[at] as usize;
            self.merges.push(RawMerge { i: name(i), j: name(j), similarity });
            self.clusters.merge(i, j);
            self.tiles.set(&self.clusters, i);
            self.tiles.remove(j);
            self.alive[j] = false;
            self.n_alive -= 1;
            self.nearest[i] = Nearest::Unknown { most: similarity, new: true };
            (merged[i], merged[j]) = (true, true);
            self.monitor.advance(self.n_alive as u64)?;
        }
        for nearest in &mut self.nearest {
            if let Nearest::Known(Near { cluster, value: most }) = *nearest
                && merged[cluster as usize]
            {
                *nearest = Nearest::Unknown { most, new: false };
            }
        }
        Ok(())
    }

    fn pack(&mut self) -> Result<()> {
        let k = self.alive.len();
        if 3 * self.n_alive >= 2 * k {
            return Ok(());
        }
        entered!(vectors_packed);
        let kept: Vec<usize> = (0..k).filter(|&at| self.alive[at]).collect();
        let mut place = vec![0; k];
        kept.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
        let moved = |nearest| match nearest {
            Nearest::Known(Near { cluster, value }) => Nearest::Known(Near { cluster: place[cluster as usize], value }),
            unknown => unknown,
        };
        self.nearest = kept.iter().map(|&at| moved(self.nearest[at])).collect();
        self.alive = vec![true; kept.len()];
        self.clusters.keep(&kept);
        self.tiles = Tiles::new(&self.clusters)?;
        Ok(())
    }

    /// Returns the clusters whose nearest neighbours are searched next: new clusters, and clusters with an unknown
    /// neighbour that are the nearest neighbour of a cluster.
    ///
    /// Each merge can make many such clusters, so the number for one round is limited.
    fn wanted(&self) -> Vec<usize> {
        if self.n_queries >= self.patience {
            return self.end_of_chain();
        }
        let mut is_nearest = vec![false; self.alive.len()];
        (0..is_nearest.len()).filter_map(|at| self.known(at)).for_each(|at| is_nearest[at] = true);
        let wanted = |at: usize| match self.nearest[at] {
            Nearest::Unknown { new, most } if self.alive[at] && (new || is_nearest[at]) => Some((most, at)),
            _ => None,
        };
        let mut wanted: Vec<(f64, usize)> = (0..is_nearest.len()).filter_map(wanted).collect();
        let room = (wanted.len() / SHARE).max(SMALL);
        if wanted.len() > room {
            order_by(&mut wanted, &|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            wanted.truncate(room);
        }
        if wanted.is_empty() { self.end_of_chain() } else { wanted.into_iter().map(|(_, at)| at).collect() }
    }

    /// Follows the nearest neighbours from the first cluster. Returns the first cluster on this path whose nearest
    /// neighbour is unknown. If rounding makes the path end in a cycle, returns the clusters of the cycle.
    fn end_of_chain(&self) -> Vec<usize> {
        entered!(vectors_chain);
        let mut at = 0;
        for _ in 0..self.n_alive {
            match self.known(at) {
                Some(next) => at = next,
                None => return vec![at],
            }
        }
        let mut cycle = vec![at];
        while let Some(next) = self.known(cycle[cycle.len() - 1]).filter(|&next| next != at) {
            cycle.push(next);
        }
        cycle.sort_unstable();
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agglomerate::Tolerance;
    use crate::testkit::fractions;

    fn clusters(rows: &[Vec<f64>]) -> MeanClusters {
        let mut clusters = MeanClusters::new(rows.len(), rows[0].len(), false).unwrap();
        rows.iter().enumerate().for_each(|(at, row)| clusters.set(at, at as u32, 1.0, row.iter().copied()));
        clusters
    }

    fn random_rows(k: usize, p: usize, shift: f64) -> Vec<Vec<f64>> {
        let mut random = fractions(1);
        (0..k).map(|_| (0..p).map(|_| random() - shift).collect()).collect()
    }

    #[test]
    fn a_single_chain_and_many_make_the_same_merges_in_few_queries() {
        let monitor = Monitor::new();
        let falling = |ratio: f64| (0..500).map(|i| vec![ratio.powi(i), 1.0]).collect();
        let stars =
            (0..500).map(|i| vec![f64::from(i % 20), f64::from(i / 20) * 0.01, 1.0 + f64::from(i) * 1e-7]).collect();
        let equal = vec![vec![0.1; 3]; 500];
        for rows in [random_rows(700, 5, 0.5), random_rows(500, 9, 0.0), falling(0.9), falling(1.01), stars, equal] {
            let k = rows.len();
            let mut found = Vec::new();
            for patience in [0, k, PATIENCE * k, usize::MAX] {
                let mut rounds = Rounds::new(clusters(&rows), patience, &monitor).unwrap();
                rounds.run().unwrap();
                // The last round may exceed the limit, and all clusters are searched once at the beginning.
                let most = patience.saturating_add(k / SHARE + SMALL).saturating_add(4 * k);
                assert!(rounds.n_queries <= most, "{} queries for {k} clusters", rounds.n_queries);
                found.push(RawMerge::sort(k, rounds.merges, Tolerance::GRID));
            }
            assert!(found.iter().all(|merges| *merges == found[0]));
        }
    }

    #[test]
    fn circles_are_looked_up_again() {
        let monitor = Monitor::new();
        let mut rounds = Rounds::new(clusters(&random_rows(5, 3, 0.5)), usize::MAX, &monitor).unwrap();
        for (at, cluster) in [(0, 3), (1, 0), (2, 4), (3, 2), (4, 3)] {
            rounds.nearest[at] = Nearest::Known(Near { cluster, value: 1.0 });
        }
        assert_eq!(rounds.wanted(), [2, 3, 4]);
        rounds.nearest[4] = Nearest::Unknown { most: 1.0, new: false };
        assert_eq!(rounds.wanted(), [4]);
    }
}
