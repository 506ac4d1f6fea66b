//! Runs an agglomeration of sparse similarities.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::graph::{FILLED, Graph, PATIENCE, Rules, SHARE};
use super::links::{Link, Summary, contracted};
use super::pairs::SparsePairs;
use super::rounds::reduce;
use super::zeros::{merge_somewhere_unlinked, merge_unlinked};
use crate::agglomerate::engine::Engine;
use crate::agglomerate::matrix::{Layout, Matrix, Values};
use crate::agglomerate::task::{Input, Task};
use crate::agglomerate::tied_clusters::Clusters;
use crate::agglomerate::tolerance::{Tolerance, rounding};
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::memory::{self, Buffer};
use crate::monitor::Monitor;
use crate::similarity::{Triangle, condensed_len};
use crate::sorting::sort_by;
use crate::tree::{Dendrogram, LcaSizes, Partition, RawMerge, with_initial};

/// The meaning of pairs that aren't stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// Pairs that aren't stored have similarity zero. The tree is the same as for a full matrix with these zeros.
    Zero,
    /// Pairs that aren't stored have an unknown similarity. Clusters are compared by their stored pairs only.
    Ignore,
}

named!(Missing, "missing", {
    "zero": Self::Zero => Self::Zero,
    "ignore": Self::Ignore => Self::Ignore,
});

pub(crate) fn agglomerate_sparse(
    pairs: &SparsePairs,
    rule: &Rule,
    missing: Missing,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<(Dendrogram, usize)> {
    let doubtful = AtomicBool::new(false);
    SparseJob::checked(pairs, rule, missing, initial, (monitor, &doubtful))?.run(initial)
}

/// Up to this number of leaves, the full matrix is agglomerated if rounding errors may have decided a tie.
const FULL: usize = 5000;
const NO_BAR: f64 = f64::NEG_INFINITY;

pub(super) struct SparseJob<'a> {
    pairs: &'a SparsePairs,
    rule: &'a Rule,
    missing: Missing,
    rules: Rules<'a>,
}

impl<'a> SparseJob<'a> {
    pub(super) fn checked(
        pairs: &'a SparsePairs,
        rule: &'a Rule,
        missing: Missing,
        initial: Option<&Partition>,
        (monitor, doubtful): (&'a Monitor, &'a AtomicBool),
    ) -> Result<Self> {
        initial.map_or(Ok(()), |initial| initial.check(pairs.n_leaves()))?;
        if !matches!(rule, Rule::Single | Rule::Complete | Rule::Average) {
            return Err(Error::Argument(
                "sparse similarities support single, complete and average linkage; other linkages need a full matrix"
                    .into(),
            ));
        }
        if pairs.is_dissimilarity() && missing == Missing::Zero {
            return Err(Error::Argument(
                "a dissimilarity of zero would make all pairs that aren't stored identical: sparse dissimilarities \
                 need missing = `ignore`"
                    .into(),
            ));
        }
        let facts = pairs.facts();
        let tolerance = if *rule != Rule::Average || facts.exact {
            Tolerance::EXACT
        } else {
            let relative = rounding(pairs.n_leaves());
            Tolerance::rounded(relative, f64::MIN_POSITIVE + if facts.mixed { relative * facts.largest } else { 0.0 })
        };
        Ok(Self {
            pairs,
            rule,
            missing,
            rules: Rules {
                summary: Summary { mean: *rule == Rule::Average, all: missing == Missing::Zero },
                bar: NO_BAR,
                tolerance,
                monitor,
                doubtful,
                share: SHARE,
                patience: PATIENCE,
                filled: FILLED,
            },
        })
    }

    #[cfg(test)]
    pub(super) fn with(mut self, [share, patience, filled]: [usize; 3]) -> Self {
        self.rules = Rules { share, patience, filled, ..self.rules };
        self
    }

    pub(super) fn run(&self, initial: Option<&Partition>) -> Result<(Dendrogram, usize)> {
        let monitor = self.rules.monitor;
        let found = self.quickly(initial)?;
        if !self.rules.doubtful.load(Relaxed) {
            return Ok(found);
        }
        if self.missing == Missing::Zero && self.pairs.n_leaves() <= FULL {
            return Ok((self.precisely(initial)?, 1));
        }
        if self.pairs.facts().mixed {
            monitor.warn(
                "values of both signs cancel out: some similarities of clusters differ by less than their rounding \
                 errors, so rounding decided which of them merged first"
                    .into(),
            );
        }
        Ok(found)
    }

    fn precisely(&self, initial: Option<&Partition>) -> Result<Dendrogram> {
        entered!(sparse_in_full);
        let n = self.pairs.n_leaves();
        let mut full = Buffer::zeros("the full matrix", condensed_len(n))?;
        for Link { a, b, value, .. } in self.pairs.links() {
            full[Triangle::new(n).index(a as usize, b as usize)] = value;
        }
        let matrix = Matrix::new(Values::F64(&full), Layout::Condensed, Kind::Similarity)?;
        Task::checked(&matrix, self.rule, Engine::Auto, initial, self.rules.monitor)?.dispatch(Input::Given(&matrix))
    }

    fn quickly(&self, initial: Option<&Partition>) -> Result<(Dendrogram, usize)> {
        let n = self.pairs.n_leaves();
        // Memory for merged clusters, merges, the order of merges, and the tree.
        memory::check("the clusters", 256 * n as u64)?;
        self.rules.monitor.start(n as u64);
        let initial = initial.filter(|initial| initial.n_clusters() < n);
        let mut clusters = Merged::leaves(n);
        let mut within = Vec::new();
        if let Some(initial) = initial {
            let of = initial.cluster_of();
            let inside = |link: &Link| of[link.a as usize] == of[link.b as usize];
            let links = memory::collected("the links of leaves", self.pairs.len(), self.pairs.links().filter(inside))?;
            self.merge(&mut clusters, links.iter().copied(), Some(initial))?;
            clusters.join_within(initial);
            within = std::mem::take(&mut clusters.merges);
            let first: Vec<u32> = of.iter().map(|&cluster| initial.clusters()[cluster as usize][0] as u32).collect();
            let (all, most) = (&mut self.pairs.links(), self.pairs.len());
            let links = contracted(all, most, &first, &|x, y| self.fold(x, y), self.rules.monitor)?;
            self.merge(&mut clusters, links.iter().copied(), None)?;
        } else {
            self.merge(&mut clusters, self.pairs.links(), None)?;
        }
        let after = std::mem::take(&mut clusters.merges);
        let trees = clusters.names();
        let join = |j: u32, similarity| RawMerge { i: trees[0] as usize, j: j as usize, similarity };
        let ranks = self.ranks(within.iter().chain(&after).copied().chain(trees[1..].iter().map(|&j| join(j, 0.0))))?;
        let (ranks_within, ranks_after) = ranks.split_at(within.len().min(ranks.len()));
        let sort = |merges, ranks| {
            let sorted = RawMerge::sort_ranked(n, merges, ranks, self.rules.tolerance);
            if sorted.doubtful {
                self.rules.doubt();
            }
            sorted.merges
        };
        let mut after = sort(after, ranks_after);
        let lowest = after.last().map_or(0.0, |merge| merge.similarity);
        after.extend(trees[1..].iter().map(|&j| join(j, lowest)));
        let merges = if initial.is_some() { with_initial(sort(within, ranks_within), after) } else { after };
        let mut tree = Dendrogram::in_order(n, merges)?;
        tree.make_monotone();
        let sign = if self.pairs.is_dissimilarity() { -1.0 } else { 1.0 };
        Ok((tree.map_heights(self.pairs.is_dissimilarity(), |x| sign * x), trees.len()))
    }

    /// Returns a rank for each merge. The rank is lower if the sparse matrix has values for a larger share of the pairs
    /// of leaves between the two merged clusters. Each merge must come after the merges that made its two clusters.
    ///
    /// Returns an empty list for single linkage, and if missing values count as zero.
    fn ranks(&self, merges: impl Iterator<Item = RawMerge>) -> Result<Vec<u64>> {
        if self.missing == Missing::Zero || *self.rule == Rule::Single {
            return Ok(Vec::new());
        }
        let no_heights = merges.map(|merge| RawMerge { similarity: 0.0, ..merge }).collect();
        let tree = Dendrogram::in_order(self.pairs.n_leaves(), no_heights)?;
        let lca = LcaSizes::new(tree.topology());
        let mut known = vec![0u64; tree.merges().len()];
        self.pairs.links().for_each(|link| known[lca.node(link.a as usize, link.b as usize)] += 1);
        let size = |part: u32| tree.topology().size(part as usize);
        let rank =
            |(&[a, b], known): (&[u32; 2], u64)| !(known as f64 / (f64::from(size(a)) * f64::from(size(b)))).to_bits();
        Ok(tree.merges().iter().zip(known).map(rank).collect())
    }

    fn fold(&self, x: f64, y: f64) -> f64 {
        match self.rule {
            Rule::Single => x.max(y),
            Rule::Complete => x.min(y),
            _ => x + y,
        }
    }

    /// Merges clusters along the edges of the sparse graph: only within the initial clusters `within`, or all clusters
    /// if `within` is `None`.
    fn merge(
        &self,
        clusters: &mut Merged,
        links: impl Iterator<Item = Link> + Clone,
        within: Option<&Partition>,
    ) -> Result<()> {
        let monitor = self.rules.monitor;
        let negative = links.clone().filter(|link| link.value < 0.0);
        match (self.rule, self.missing) {
            (Rule::Single, Missing::Ignore) => clusters.join(links, (self.pairs.len(), NO_BAR), monitor),
            (_, Missing::Ignore) => clusters.reduce(links, self.rules).map(|_| ()),
            (Rule::Single, Missing::Zero) => {
                clusters.join(links, (self.pairs.len(), 0.0), monitor)?;
                // Clusters with a positive edge between them have merged, and an edge with similarity 0 is the same as
                // no edge. So only edges with negative similarity matter from here on.
                let below = clusters.contracted(negative, &f64::max, monitor)?;
                let (graph, groups) = (clusters.graph(below.iter().copied(), monitor)?, clusters.groups(within));
                clusters.record(|merges| merge_somewhere_unlinked(&graph, groups, merges));
                let below = clusters.contracted(below.into_iter(), &f64::max, monitor)?;
                let most = below.len();
                clusters.join(below.into_iter(), (most, NO_BAR), monitor)
            }
            (Rule::Complete, Missing::Zero) => {
                let sizes = clusters.sizes.clone();
                let all = |link: &Link| f64::from(link.count) == sizes[link.a as usize] * sizes[link.b as usize];
                let above = links.clone().filter(|link| link.value > 0.0 && all(link));
                clusters.reduce(above, Rules { bar: 0.0, ..self.rules })?;
                let below = clusters.contracted(negative, &f64::min, monitor)?;
                self.merge_rest(clusters, below, within)
            }
            (_, Missing::Zero) => {
                let bar = self.rules.tolerance.zero();
                let mut below = clusters.reduce(links, Rules { bar, ..self.rules })?;
                let size = |name: u32| clusters.sizes[name as usize];
                below.retain(|link| {
                    let mean = link.value / (size(link.a) * size(link.b));
                    if mean.abs() <= bar && mean != 0.0 {
                        self.rules.doubt();
                    }
                    mean < -bar
                });
                self.merge_rest(clusters, below, within)
            }
        }
    }

    fn merge_rest(&self, clusters: &mut Merged, below: Vec<Link>, within: Option<&Partition>) -> Result<()> {
        let monitor = self.rules.monitor;
        let (graph, groups) = (clusters.graph(below.iter().copied(), monitor)?, clusters.groups(within));
        clusters.record(|merges| merge_unlinked(&graph, groups, merges));
        let below = clusters.contracted(below.into_iter(), &|x, y| self.rules.summary.fold(x, y), monitor)?;
        clusters.reduce(below.iter().copied(), self.rules).map(|_| ())
    }
}

struct Merged {
    clusters: Clusters<'static>,
    /// For each leaf: the size of the cluster with this name, or 0 if there is none.
    sizes: Vec<f64>,
    merges: Vec<RawMerge>,
}

impl Merged {
    fn leaves(n: usize) -> Self {
        Self { clusters: Clusters::without_lookup(n), sizes: vec![1.0; n], merges: Vec::with_capacity(n - 1) }
    }

    fn names(&self) -> Vec<u32> {
        (0..self.sizes.len() as u32).filter(|&leaf| self.sizes[leaf as usize] > 0.0).collect()
    }

    fn record<R>(&mut self, make: impl FnOnce(&mut Vec<RawMerge>) -> R) -> R {
        let before = self.merges.len();
        let result = make(&mut self.merges);
        for &RawMerge { i, j, .. } in &self.merges[before..] {
            self.clusters.leaves.attach(j as u32, i as u32);
        }
        self.add_sizes(before);
        result
    }

    fn add_sizes(&mut self, before: usize) {
        for &RawMerge { i, j, .. } in &self.merges[before..] {
            self.sizes[i] += std::mem::take(&mut self.sizes[j]);
        }
    }

    fn reduce(&mut self, links: impl Iterator<Item = Link> + Clone, rules: Rules<'_>) -> Result<Vec<Link>> {
        if links.clone().next().is_none() {
            return Ok(Vec::new());
        }
        let graph = self.graph(links, rules.monitor)?;
        self.record(|merges| reduce(graph, rules, merges))
    }

    fn graph(&self, links: impl Iterator<Item = Link> + Clone, monitor: &Monitor) -> Result<Graph> {
        let names = self.names();
        let sizes = names.iter().map(|&name| self.sizes[name as usize]).collect();
        Graph::new(names, sizes, links, monitor)
    }

    /// Merges the clusters that are connected by at most `most` edges with similarities above `bar`, in descending order
    /// of similarity (Kruskal 1956).
    fn join(&mut self, links: impl Iterator<Item = Link>, (most, bar): (usize, f64), monitor: &Monitor) -> Result<()> {
        entered!(sparse_single);
        let edge = |link: Link| RawMerge { i: link.a as usize, j: link.b as usize, similarity: link.value };
        let edges = links.filter(|link| link.value > bar).map(edge);
        let mut edges = memory::collected("the links of leaves", most, edges)?;
        sort_by(&mut edges, RawMerge::by_similarity, monitor)?;
        let before = self.merges.len();
        self.clusters.join_all(edges, &mut self.merges, monitor)?;
        self.add_sizes(before);
        monitor.advance((self.merges.len() - before) as u64)
    }

    fn contracted(
        &mut self,
        mut links: impl Iterator<Item = Link>,
        fold: &dyn Fn(f64, f64) -> f64,
        monitor: &Monitor,
    ) -> Result<Vec<Link>> {
        let of: Vec<u32> = (0..self.sizes.len() as u32).map(|leaf| self.clusters.leaves.find(leaf)).collect();
        contracted(&mut links, 0, &of, fold, monitor)
    }

    /// Returns the clusters in each initial cluster, as indices in [`Merged::names`].
    fn groups(&self, within: Option<&Partition>) -> Vec<Vec<u32>> {
        let mut groups = vec![Vec::new(); within.map_or(1, Partition::n_clusters)];
        for (name, at) in self.names().into_iter().zip(0..) {
            groups[within.map_or(0, |within| within.cluster_of()[name as usize] as usize)].push(at);
        }
        groups
    }

    /// Merges the remaining clusters within each initial cluster, in the order of their names. No pair of leaves
    /// between the remaining clusters is stored. So the similarity of these merges is the lowest similarity of the
    /// earlier merges in the initial cluster, or minus infinity without earlier merges.
    fn join_within(&mut self, initial: &Partition) {
        let mut lowest = vec![f64::INFINITY; initial.n_clusters()];
        for merge in &self.merges {
            let low = &mut lowest[initial.cluster_of()[merge.i] as usize];
            *low = low.min(merge.similarity);
        }
        let (names, groups) = (self.names(), self.groups(Some(initial)));
        self.record(|merges| {
            for (group, low) in groups.iter().zip(lowest) {
                let similarity = if low == f64::INFINITY { f64::NEG_INFINITY } else { low };
                for &other in &group[1..] {
                    let (i, j) = (names[group[0] as usize] as usize, names[other as usize] as usize);
                    merges.push(RawMerge { i, j, similarity });
                }
            }
        });
    }
}

#[cfg(test)]
mod tests;
