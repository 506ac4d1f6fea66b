//! Merges in rounds. A round merges all reciprocal nearest pairs of clusters at once, and writes the graph of the
//! remaining clusters.

use std::ops::Range;

use super::chain::{self, Lists};
use super::graph::{Chunk, Graph, Near, Rules, nearest, nearest_by};
use super::links::{Entry, Link, Summary, with_constant};
use super::rows::Rows;
use super::table::Table;
use crate::error::Result;
use crate::memory;
use crate::parallel;
use crate::tree::RawMerge;

/// Merges clusters as long as the similarity of any two clusters is above `rules.bar`. Returns the edges that are left.
pub(super) fn reduce(mut graph: Graph, rules: Rules<'_>, merges: &mut Vec<RawMerge>) -> Result<Vec<Link>> {
    let mut nearest = all_nearest(&graph, rules)?;
    loop {
        let pairs = Pairs::reciprocal(&nearest);
        let degree = |&(i, j): &(u32, u32)| graph.row(i as usize).len().min(graph.row(j as usize).len());
        let one_by_one: usize = pairs.merged.iter().map(degree).sum();
        if nearest.iter().all(Option::is_none) {
            return graph.links(rules.monitor);
        }
        // If there are no reciprocal pairs, rounding has made a cycle of nearest neighbours. A nearest-neighbour chain
        // can break the cycle.
        let small = one_by_one.saturating_mul(rules.share) < graph.n_entries();
        if pairs.merged.is_empty() || small || rules.fills_table(graph.len(), graph.n_entries()) {
            return reduce_by_chain(graph, rules, merges);
        }
        for &(i, j) in &pairs.merged {
            let similarity = nearest[i as usize].map_or(0.0, |near| near.similarity);
            let name = |cluster: u32| graph.names[cluster as usize] as usize;
            merges.push(RawMerge { i: name(i), j: name(j), similarity });
        }
        rules.monitor.advance(pairs.merged.len() as u64)?;
        (graph, nearest) = pairs.merge(&graph, rules)?;
    }
}

fn reduce_by_chain(mut graph: Graph, rules: Rules<'_>, merges: &mut Vec<RawMerge>) -> Result<Vec<Link>> {
    let mut filled = rules.filled;
    loop {
        if (Rules { filled, ..rules }).fills_table(graph.len(), graph.n_entries()) {
            let mut table = Table::new(graph, rules)?;
            chain::run(&mut table, merges, rules.monitor)?;
            return Ok(table.links());
        }
        if rules.summary.is_least_of_all() {
            break;
        }
        memory::check("the links of clusters", (size_of::<Entry>() * graph.n_entries()) as u64)?;
        let mut rows = Rows::new(graph, rules);
        let done = chain::run(&mut rows, merges, rules.monitor)?;
        let is_patient = rows.is_patient();
        graph = rows.into_graph();
        if done {
            return graph.links(rules.monitor);
        }
        if !is_patient {
            break;
        }
        // The nearest-neighbour chain stopped because `Rows` seem to have enough edges for a table. But `Rows` count an
        // edge twice if both parts of a merged cluster had an edge to the same cluster, so the true number may be too
        // small. The next chain would then stop again almost at once. So the number of edges that a table needs is
        // halved, by doubling `filled`: at least one in `filled` pairs of clusters must have an edge.
        filled = rules.filled.saturating_mul(2);
    }
    let mut lists = Lists::new(graph, rules)?;
    chain::run(&mut lists, merges, rules.monitor)?;
    lists.links(rules.monitor)
}

fn all_nearest(graph: &Graph, rules: Rules<'_>) -> Result<Vec<Option<Near>>> {
    let parts = parallel::map(parallel::ranges(graph.len(), 1 << 12), |part| {
        let find = |cluster: usize| {
            let about = |other: u32| (graph.sizes[other as usize], other);
            nearest(graph.row(cluster), graph.sizes[cluster], about, rules)
        };
        let mut found = memory::room("the nearest of clusters", part.len())?;
        for cluster in part {
            if cluster % (1 << 12) == 0 {
                rules.monitor.check()?;
            }
            found.push(find(cluster));
        }
        Ok(found)
    });
    let mut parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    match &mut parts[..] {
        [part] => Ok(std::mem::take(part)),
        _ => memory::collected("the nearest of clusters", graph.len(), parts.into_iter().flatten()),
    }
}

struct Pairs {
    /// For each cluster after the round: the cluster before the round that stays as it is, or that absorbs another
    /// cluster.
    left: Vec<u32>,
    /// For each cluster after the round: the cluster before the round that is absorbed, or `NO_CLUSTER`.
    taken: Vec<u32>,
    merged: Vec<(u32, u32)>,
}

const NO_CLUSTER: u32 = u32::MAX;

impl Pairs {
    fn reciprocal(nearest: &[Option<Near>]) -> Self {
        let (mut left, mut taken, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        for (i, near) in nearest.iter().enumerate() {
            let back = |near: Near| nearest[near.cluster as usize].is_some_and(|back| back.cluster as usize == i);
            let other = near.filter(|&near| back(near)).map(|near| near.cluster);
            if other.is_some_and(|j| (j as usize) < i) {
                continue;
            }
            left.push(i as u32);
            taken.push(other.unwrap_or(NO_CLUSTER));
            merged.extend(other.map(|j| (i as u32, j)));
        }
        Self { left, taken, merged }
    }

    fn merge(&self, graph: &Graph, rules: Rules<'_>) -> Result<(Graph, Vec<Option<Near>>)> {
        entered!(sparse_rounds);
        let k = self.left.len();
        // For each cluster before the round: twice the index of its cluster after the round, plus 1 if it is the second
        // of two merged clusters.
        let mut to = vec![0u32; graph.len()];
        let mut sizes = Vec::with_capacity(k);
        for (new, (&i, &j)) in self.left.iter().zip(&self.taken).enumerate() {
            to[i as usize] = (new as u32) << 1;
            let mut size = graph.sizes[i as usize];
            if j != NO_CLUSTER {
                to[j as usize] = (new as u32) << 1 | 1;
                size += graph.sizes[j as usize];
            }
            sizes.push(size);
        }
        memory::check("the links of clusters", (size_of::<Entry>() * graph.n_entries()) as u64)?;
        let parts = self.parts(graph);
        let worker = |_| (Writer { place: vec![0; k], row: Vec::new() }, Vec::new());
        let workers = (0..parallel::n_threads().min(parts.len())).map(worker).collect();
        let found = parallel::share(workers, parts, |(writer, done), (clusters, room)| {
            let entries = memory::room("the links of clusters", room)?;
            let mut chunk = Chunk { first: clusters.start, ends: Vec::new(), entries };
            let mut nearest_of = Vec::with_capacity(clusters.len());
            let summary = rules.summary;
            with_constant!(summary, {
                for new in clusters {
                    let start = chunk.entries.len();
                    writer.write(summary, (self, graph, &to), new, &mut chunk.entries);
                    chunk.ends.push(chunk.entries.len());
                    let about = |other: u32| (sizes[other as usize], other);
                    nearest_of.push(nearest_by(summary, &chunk.entries[start..], sizes[new], about, rules));
                }
            });
            chunk.entries.shrink_to_fit();
            done.push((chunk, nearest_of));
            rules.monitor.advance(0)
        })?;
        let mut all: Vec<(Chunk, Vec<_>)> = found.into_iter().flat_map(|(_, done)| done).collect();
        all.sort_unstable_by_key(|(chunk, _)| chunk.first);
        let (chunks, nearest): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let nearest = nearest.into_iter().flatten().collect();
        let names = self.left.iter().map(|&old| graph.names[old as usize]).collect();
        Ok((Graph { names, sizes, chunks }, nearest))
    }

    fn parts(&self, graph: &Graph) -> Vec<(Range<usize>, usize)> {
        const EACH: usize = 8;
        let aim = (graph.n_entries() / (EACH * parallel::n_threads())).max(1 << 16);
        let mut parts = Vec::new();
        let (mut start, mut room) = (0, 0);
        for (new, (&i, &j)) in self.left.iter().zip(&self.taken).enumerate() {
            room += graph.row(i as usize).len();
            room += if j == NO_CLUSTER { 0 } else { graph.row(j as usize).len() };
            if room >= aim || new + 1 == self.left.len() {
                parts.push((start..new + 1, room));
                (start, room) = (new + 1, 0);
            }
        }
        parts
    }
}

struct Writer {
    /// For each cluster after the round: its index in `row`, if the cluster is in `row`. The index may be outdated, so
    /// check the index before use.
    place: Vec<u32>,
    row: Vec<Sum>,
}

/// The edges before the round that become one edge between two clusters after the round. `links` is their number.
#[derive(Clone, Copy)]
struct Sum {
    cluster: u32,
    count: u32,
    links: u32,
    values: [f64; 2],
}

impl Writer {
    #[inline(always)]
    fn write(
        &mut self,
        summary: Summary,
        (pairs, graph, to): (&Pairs, &Graph, &[u32]),
        new: usize,
        out: &mut Vec<Entry>,
    ) {
        self.row.clear();
        let (first, second) = (pairs.left[new], pairs.taken[new]);
        let parts = if second == NO_CLUSTER { &[first][..] } else { &[first, second][..] };
        for (part, &old) in parts.iter().enumerate() {
            for entry in graph.row(old as usize) {
                let code = to[entry.cluster as usize];
                // A merged cluster has two parts, the first and the second old cluster. Sum the edges first-first and
                // second-second apart from first-second and second-first. Each sum then has at most two terms, so it
                // is rounded in the same way in the rows of both clusters.
                let (cluster, across) = (code >> 1, part ^ (code & 1) as usize);
                if cluster as usize == new {
                    continue;
                }
                let at = self.place[cluster as usize] as usize;
                if let Some(sum) = self.row.get_mut(at).filter(|sum| sum.cluster == cluster) {
                    sum.count += entry.count;
                    sum.links += 1;
                    sum.values[across] = summary.fold(sum.values[across], entry.value);
                } else {
                    self.place[cluster as usize] = self.row.len() as u32;
                    let mut values = [if summary.mean { 0.0 } else { f64::INFINITY }; 2];
                    values[across] = entry.value;
                    self.row.push(Sum { cluster, count: entry.count, links: 1, values });
                }
            }
        }
        for &Sum { cluster, count, links, values: [x, y] } in &self.row {
            if summary.is_least_of_all() {
                let other = if pairs.taken[cluster as usize] == NO_CLUSTER { 1 } else { 2 };
                if (links as usize) < parts.len() * other {
                    continue;
                }
            }
            out.push(Entry { cluster, count, value: summary.fold(x, y) });
        }
    }
}
