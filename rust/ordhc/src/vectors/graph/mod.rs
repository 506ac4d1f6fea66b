//! Linkage along a graph of nearest neighbours, for data with too many vectors to compare all pairs.
//!
//! [`search`] finds the nearest neighbours. [`rounds`] merges clusters along the edges of the graph until a few
//! thousand clusters are left. [`last`] merges these clusters by the similarities of all pairs. The edges only decide
//! which pairs of clusters are compared. [`clusters`] computes the similarity of two clusters from means, sizes and
//! spreads, or from pairs of leaves.

mod clusters;
mod last;
mod rounds;
mod search;

use std::collections::HashMap;

use self::clusters::{Clusters, Form};
use self::rounds::Rounds;
use self::search::NONE;
use super::dense_rows::Vectors;
use super::mean_dot::Unit;
use super::with_heights;
use crate::agglomerate::{Tolerance, rounding};
use crate::error::{Error, Position, Result, check_len};
use crate::linkage::Rule;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};
use crate::vectors::Measure;

/// The nearest neighbours along which [`graph_linkage`] merges.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Neighbors<'a> {
    /// Search for this number of neighbours of each vector.
    Search(usize),
    /// The leaf ids of the neighbours of each vector, as n rows of equal length. Negative ids are skipped.
    Given(&'a [i64]),
}

/// Returns the tree of a linkage along a graph of nearest neighbours.
///
/// The rules are single, complete, average and weighted linkage of distances, squared distances and dot products, and
/// Ward's linkage of Euclidean distances. For dot products, vectors must have length 1 (cosines) or 0.
///
/// Reciprocal nearest clusters merge in rounds along the graph, until `until` clusters are left. These clusters merge
/// by the similarities of all pairs of clusters. How the similarity of two clusters is computed depends on the rule:
///
/// * Ward's linkage, and average and weighted linkage of squared distances and dot products, use the means, sizes and
///   spreads of the two clusters, which is exact;
/// * complete, average and weighted linkage of distances compare pairs of leaves: up to 16 leaves of each cluster along
///   the graph, and all leaves of the last clusters (or evenly chosen leaves, if there are more than 65,536 in all);
/// * single linkage first merges along the edges of the graph, the shortest first. Leaves of the last clusters are then
///   compared as for complete linkage.
///
/// With at most `until` different vectors, the tree is exact up to rounding, which may decide ties. With more vectors,
/// the tree is an approximation: a pair of clusters without an edge of the graph may be closer than a pair that merges.
/// If a round merges few pairs, it also merges pairs that are at most 10 % farther than the nearest neighbours of both
/// clusters. If a merge is closer than an earlier merge within its two clusters, it gets the height of the earlier
/// merge.
///
/// The search needs about O(n log n) time. The memory is O(n (p + k)) for p coordinates and k neighbours, and
/// O(until^2). The result does not depend on the number of threads.
///
/// # Errors
/// A rule and measure not named above; no neighbours; given neighbours that are not n rows of equal length, or not leaf
/// ids; initial clusters for a different number of leaves; heights that overflow; not enough memory;
/// [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::linkage::Rule;
/// use ordhc::vectors::{Measure, Neighbors, Vectors, graph_linkage};
///
/// let points: Vec<f64> = (0..3000).map(|x| f64::from(x * x)).collect();
/// let points = Vectors::new(&points, 3000, 1)?;
/// let tree = graph_linkage(&points, &Rule::Single, Measure::Euclidean, Neighbors::Search(5), 1000, None, None)?;
/// assert_eq!(tree.heights()[..3], [1.0, 3.0, 5.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn graph_linkage(
    vectors: &Vectors<'_>,
    rule: &Rule,
    measure: Measure,
    neighbors: Neighbors<'_>,
    until: usize,
    initial: Option<&Partition>,
    monitor: Option<&Monitor>,
) -> Result<Dendrogram> {
    watched!(monitor);
    let (n, p) = (vectors.n_leaves(), vectors.n_coordinates());
    initial.map_or(Ok(()), |initial| initial.check(n))?;
    let Some(form) = Form::of(rule, measure) else {
        let message = format!("linkage `{rule}` with measure `{measure}` cannot use a graph of neighbours");
        return Err(Error::Argument(message));
    };
    let (k, given) = checked(neighbors, n)?;
    let unit = match measure {
        // Do not scale vectors for cosines: their length is 1, and the distance of a cosine is its difference from 1.
        Measure::Dot => Unit::below_one(0.0),
        _ => Unit::below_one(vectors.largest()),
    };
    let row = |leaf: usize| vectors.row(leaf).map(move |x| unit.shrink(x));
    let halves = *rule == Rule::Weighted;
    let clusters = Clusters::new((form, measure), halves, [n, p], row)?;
    let mut job = Job { clusters, rule, k, until: until.max(1), merges: Vec::new() };
    let steps = (job.until as u64).pow(2) / 2 + 4;
    monitor.start(10 * steps);
    let tolerance = Tolerance::rounded(4.0 * rounding(n + p), 0.0);
    let sort = |merges| RawMerge::sort(n, merges, tolerance);
    let merges = match initial.filter(|initial| initial.n_clusters() < n) {
        None => {
            let names = job.merge_equal(vectors, monitor)?;
            job.run(names, given.as_deref(), monitor, steps)?;
            sort(job.merges)
        }
        Some(initial) => {
            let quiet = monitor.child();
            for leaves in initial.clusters() {
                job.run(leaves.iter().map(|&leaf| leaf as u32).collect(), None, &quiet, 0)?;
            }
            let within = job.merges.len();
            let names = initial.clusters().iter().map(|leaves| leaves[0] as u32).collect();
            job.run(names, None, monitor, steps)?;
            let after = job.merges.split_off(within);
            with_initial(sort(job.merges), sort(after))
        }
    };
    let mut tree = Dendrogram::in_order(n, merges)?;
    tree.make_monotone();
    let degree = if measure == Measure::Euclidean { 1 } else { 2 };
    with_heights(tree, measure != Measure::Dot, |x| match (form, measure) {
        (_, Measure::Dot) => x,
        (Form::Variance, _) => unit.grow((-x).sqrt(), 1),
        _ => unit.grow(-x, degree),
    })
}

fn checked(neighbors: Neighbors<'_>, n: usize) -> Result<(usize, Option<Vec<u32>>)> {
    let k = match neighbors {
        Neighbors::Search(k) => k,
        Neighbors::Given(ids) => ids.len() / n,
    };
    if k == 0 {
        return Err(Error::out_of_range("neighbours", 0.0, "1 and more"));
    }
    let Neighbors::Given(ids) = neighbors else { return Ok((k, None)) };
    check_len("neighbours", ids.len(), "rows of equal length", n * k)?;
    if let Some((at, &id)) = ids.iter().enumerate().find(|&(_, &id)| id >= n as i64) {
        let place = Position::Coordinate { leaf: at / k, column: at % k };
        return Err(Error::BadValue { what: "the neighbour", place, value: id as f64, limit: "neighbours are leaves" });
    }
    Ok((k, Some(ids.iter().map(|&id| u32::try_from(id).unwrap_or(NONE)).collect())))
}

/// Returns a hash of an integer (a round of splitmix64). Different integers have different hashes.
fn mixed(key: u64) -> u64 {
    let key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ key >> 31
}

struct Job<'a> {
    clusters: Clusters,
    rule: &'a Rule,
    k: usize,
    until: usize,
    merges: Vec<RawMerge>,
}

impl Job<'_> {
    /// Merges equal vectors, and returns the first leaf of each group. Without this step, all neighbours of a vector
    /// could be equal to the vector, and the graph would have no edge from it to a different vector.
    fn merge_equal(&mut self, vectors: &Vectors<'_>, monitor: &Monitor) -> Result<Vec<u32>> {
        let mut first: HashMap<u64, Vec<u32>> = HashMap::new();
        let mut names = Vec::new();
        for leaf in 0..vectors.n_leaves() {
            // Adding 0 turns -0 into 0, so that equal vectors have equal hashes (`key`).
            let key = vectors.row(leaf).fold(0, |key, x| mixed(key ^ (x + 0.0).to_bits()).wrapping_add(1));
            let before = first.entry(key).or_default();
            match before.iter().find(|&&other| vectors.row(leaf).eq(vectors.row(other as usize))) {
                None => {
                    before.push(leaf as u32);
                    names.push(leaf as u32);
                }
                Some(&other) => {
                    let i = other as usize;
                    let similarity = self.clusters.similarity(i, leaf);
                    self.merges.push(RawMerge { i, j: leaf, similarity });
                    self.clusters.merge(i, leaf);
                }
            }
            if leaf % 1024 == 0 {
                monitor.check()?;
            }
        }
        Ok(names)
    }

    /// Merges the clusters `names` into one cluster. Each name is the smallest leaf of a cluster. `given` has the `k`
    /// nearest neighbours of each leaf. If `given` is `None`, the neighbours are searched.
    ///
    /// The monitor advances by about `10 * steps`.
    fn run(&mut self, names: Vec<u32>, given: Option<&[u32]>, monitor: &Monitor, steps: u64) -> Result<()> {
        let (mut names, mut links) = (names, Vec::new());
        if names.len() > self.until {
            let given = given.map(|given| self.among(&names, given));
            let mut rounds = Rounds::new(&mut self.clusters, names, self.k)?;
            rounds.run(given.as_deref(), self.until, monitor, 4 * steps)?;
            self.merges.append(&mut rounds.merges);
            (names, links) = (rounds.names, rounds.links);
        }
        if names.len() > 1 {
            let all = std::mem::take(&mut self.merges);
            let after = last::merges(&self.clusters, &names, self.rule, (&all, &links), monitor, steps)?;
            self.merges = all;
            after.iter().for_each(|merge| self.clusters.merge(merge.i, merge.j));
            self.merges.extend(after);
        }
        Ok(())
    }

    /// Returns the neighbours of each cluster, as indices of `names`. Each name is the smallest leaf of a cluster. Only
    /// the given neighbours of this leaf are used, because the other leaves of the cluster are equal vectors.
    fn among(&self, names: &[u32], given: &[u32]) -> Vec<u32> {
        let k = self.k;
        let mut position = vec![NONE; given.len() / k];
        names.iter().zip(0..).for_each(|(&name, at)| position[name as usize] = at);
        self.merges.iter().for_each(|merge| position[merge.j] = position[merge.i]);
        let of = |&id: &u32| if id == NONE { NONE } else { position[id as usize] };
        names.iter().flat_map(|&name| given[name as usize * k..][..k].iter().map(of)).collect()
    }
}

#[cfg(test)]
mod tests;
