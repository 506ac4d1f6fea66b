//! Searches for the nearest clusters of given clusters. Single-precision bounds exclude most candidates. The
//! similarities of the other candidates are computed in double precision.

use std::ops::Range;

use super::bounds::{LANES, QUERIES, Tiles};
use super::clusters::MeanClusters;
use crate::agglomerate::Tolerance;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;

/// The nearest cluster of a cluster, and their similarity. Among equally near clusters, this is the first cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) cluster: u32,
    pub(super) value: f64,
}

const NO_CLUSTER: Near = Near { cluster: u32::MAX, value: f64::NEG_INFINITY };

impl Near {
    fn offer(&mut self, other: Near, tolerance: Tolerance) -> bool {
        let order = tolerance.compare(other.value, self.value).0;
        let better = order.is_gt() || (order.is_eq() && other.cluster < self.cluster);
        if better {
            *self = other;
        }
        better
    }
}

/// The number of bytes of cluster means that are compared with all queries at a time, so that these means stay in the
/// cache.
const CACHED: usize = 256 << 10;
const GRAIN: usize = 1 << 21;
const GROUPS: usize = 64;

/// A cluster whose nearest neighbour is searched. `most` is an upper bound of the similarity to the neighbour, up to
/// rounding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Query {
    pub(super) cluster: usize,
    pub(super) most: f64,
}

/// Returns the nearest cluster of each cluster in `queries`: the cluster with the largest similarity, and the first of
/// them in a tie. Similarities above `most` of the query are rounding errors, and count as `most`.
///
/// If `count` is true, the monitor advances by about one step for each pair of a query and a cluster.
pub(super) fn nearest(
    clusters: &MeanClusters,
    tiles: &Tiles,
    queries: &[Query],
    count: bool,
    monitor: &Monitor,
) -> Result<Vec<Near>> {
    entered!(vectors_search);
    let lookup = Lookup::new(clusters, tiles, queries, count, monitor);
    let grain = GRAIN / (tiles.tile_len() * queries.len()).max(1) + 1;
    lookup.run_parts(parallel::ranges(tiles.len(), grain))
}

struct Lookup<'a> {
    clusters: &'a MeanClusters,
    tiles: &'a Tiles,
    queries: &'a [Query],
    packed: Vec<f32>,
    count: bool,
    monitor: &'a Monitor,
}

impl<'a> Lookup<'a> {
    fn new(
        clusters: &'a MeanClusters,
        tiles: &'a Tiles,
        queries: &'a [Query],
        count: bool,
        monitor: &'a Monitor,
    ) -> Self {
        let len = tiles.height() * QUERIES;
        let mut packed = vec![0.0; queries.len().div_ceil(QUERIES) * len];
        for (at, query) in queries.iter().enumerate() {
            tiles.write_query(query.cluster, &mut packed[at / QUERIES * len + at % QUERIES..]);
        }
        Self { clusters, tiles, queries, packed, count, monitor }
    }

    fn run_parts(&self, parts: Vec<Range<usize>>) -> Result<Vec<Near>> {
        let mut found = vec![NO_CLUSTER; self.queries.len()];
        for part in parallel::map(parts, |part| self.run(part)) {
            for (near, other) in found.iter_mut().zip(part?) {
                near.offer(other, self.clusters.tolerance());
            }
        }
        Ok(found)
    }

    fn run(&self, range: Range<usize>) -> Result<Vec<Near>> {
        let n_groups = self.queries.len().div_ceil(QUERIES);
        let mut found = vec![NO_CLUSTER; self.queries.len()];
        let mut least = vec![[f32::NEG_INFINITY; QUERIES]; n_groups];
        if !self.queries.len().is_multiple_of(QUERIES) {
            least[n_groups - 1][self.queries.len() % QUERIES..].fill(DONE);
        }
        let step = (CACHED / (4 * self.tiles.tile_len())).max(1);
        for first in range.clone().step_by(step) {
            let cached = first..(first + step).min(range.end);
            let steps = if self.count { (GROUPS * QUERIES * LANES * cached.len()) as u64 } else { 0 };
            let groups = found.chunks_mut(QUERIES).zip(&mut least);
            for (group, (found, least)) in groups.enumerate() {
                if group % GROUPS == 0 {
                    self.monitor.advance(steps)?;
                }
                self.scan(group, cached.clone(), found, least);
            }
        }
        Ok(found)
    }

    fn scan(&self, group: usize, tiles: Range<usize>, found: &mut [Near], least: &mut [f32; QUERIES]) {
        let len = self.tiles.height() * QUERIES;
        let packed = &self.packed[group * len..(group + 1) * len];
        if least.iter().all(|&least| least == DONE) {
            return;
        }
        wide!(for tile in tiles {
            let Some(bounds) = self.tiles.bounds(tile, packed, least) else { continue };
            for query in 0..QUERIES {
                let hit = bounds[query].iter().fold(false, |hit, &bound| hit | (bound >= least[query]));
                if hit && query < found.len() {
                    let asked = self.queries[group * QUERIES + query];
                    self.compare(asked, tile, &bounds[query], &mut found[query], &mut least[query]);
                    if least.iter().all(|&least| least == DONE) {
                        return;
                    }
                }
            }
        });
    }

    #[inline(never)]
    fn compare(&self, query: Query, tile: usize, bounds: &[f32; LANES], near: &mut Near, least: &mut f32) {
        for (lane, &bound) in bounds.iter().enumerate() {
            let at = tile * LANES + lane;
            if bound >= *least && bound > f32::NEG_INFINITY && at != query.cluster {
                let value = self.clusters.value(query.cluster, at).min(query.most);
                let tolerance = self.clusters.tolerance();
                if near.offer(Near { cluster: at as u32, value }, tolerance) {
                    let done = tolerance.key(value) == tolerance.key(query.most);
                    *least = if done { DONE } else { rounded_down(tolerance.floor(value) - self.tiles.slack()) };
                }
            }
        }
    }
}

/// The value of `least` for a query that needs no further search. Clusters are compared only if the upper bound of
/// their similarity is at least `least`, so no cluster is compared.
const DONE: f32 = f32::INFINITY;

fn rounded_down(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) > x { rounded.next_down() } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::fractions;

    fn check(rows: &[Vec<f64>], most: impl Fn(usize) -> f64) {
        let (k, p) = (rows.len(), rows[0].len());
        let mut clusters = MeanClusters::new(k, p, false).unwrap();
        rows.iter().enumerate().for_each(|(at, row)| clusters.set(at, at as u32, 1.0, row.iter().copied()));
        let mut tiles = Tiles::new(&clusters).unwrap();
        (0..k).step_by(2).for_each(|at| tiles.remove(at));
        let left = || (1..k).step_by(2);
        let queries: Vec<Query> = left().map(|cluster| Query { cluster, most: most(cluster) }).collect();
        let key = |x| Tolerance::GRID.key(x);
        let mut expected = vec![NO_CLUSTER; queries.len()];
        for (query, near) in queries.iter().zip(&mut expected) {
            for at in left().filter(|&at| at != query.cluster) {
                let value = clusters.value(query.cluster, at).min(query.most);
                if key(value) > key(near.value) {
                    *near = Near { cluster: at as u32, value };
                }
            }
        }
        let monitor = Monitor::new();
        let lookup = Lookup::new(&clusters, &tiles, &queries, false, &monitor);
        for parts in 1..5 {
            let ranges = (0..parts).map(|part| tiles.len() * part / parts..tiles.len() * (part + 1) / parts).collect();
            assert_eq!(lookup.run_parts(ranges).unwrap(), expected);
        }
    }

    #[test]
    fn any_division_finds_the_first_of_the_nearest() {
        let mut random = fractions(1);
        for (k, p) in [(2, 1), (4, 0), (90, 3), (91, 34), (75, 300)] {
            let rows: Vec<Vec<f64>> = (0..k).map(|_| (0..p).map(|_| random() - 0.5).collect()).collect();
            check(&rows, |_| f64::INFINITY);
            check(&rows, |at| if at % 3 == 0 { 0.01 } else { f64::INFINITY });
            // Points closer than single precision resolves, and tiny values.
            let close: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| 0.5 + x * 1e-12).collect()).collect();
            check(&close, |_| f64::INFINITY);
            for tiny in [1e-10, 1e-22, 1e-30, 1e-100] {
                let small: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x * tiny).collect()).collect();
                check(&small, |_| f64::INFINITY);
            }
            let coarse: Vec<Vec<f64>> =
                rows.iter().map(|row| row.iter().map(|x| (x * 3.0).round()).collect()).collect();
            check(&coarse, |_| f64::INFINITY);
            check(&coarse, |_| 1.0);
        }
    }
}
