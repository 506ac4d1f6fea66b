//! Lists of edges (rows) that apply merges when they are next read.

use super::chain::Linked;
use super::graph::{Chunk, Graph, Near, Rules, nearest};
use super::links::Entry;
use crate::union_find::UnionFind;

/// Lists of edges (rows). A merge only appends the shorter of two rows to the longer row. A search for the nearest
/// cluster reads the whole row, so the total number of edges read is limited. Rows cannot be used for the minimum of
/// all pairs, because a merged cluster then loses an edge that only one of its two parts has.
pub(super) struct Rows<'m> {
    /// The edges of each cluster. The neighbours in these edges may have been merged, so several edges may lead to the
    /// same cluster.
    entries: Vec<Vec<Entry>>,
    names: Vec<u32>,
    sizes: Vec<f64>,
    clusters: UnionFind,
    n_alive: usize,
    n_entries: usize,
    patience: usize,
    place: Vec<u32>,
    rules: Rules<'m>,
}

impl<'m> Rows<'m> {
    pub(super) fn new(graph: Graph, rules: Rules<'m>) -> Self {
        entered!(sparse_rows);
        let (k, n_entries) = (graph.len(), graph.n_entries());
        let Graph { names, sizes, chunks } = graph;
        let mut entries = Vec::with_capacity(k);
        for chunk in chunks {
            let mut start = 0;
            for &end in &chunk.ends {
                entries.push(chunk.entries[start..end].to_vec());
                start = end;
            }
        }
        Self {
            entries,
            names,
            sizes,
            clusters: UnionFind::new(k),
            n_alive: k,
            n_entries,
            patience: n_entries.saturating_mul(rules.patience),
            place: vec![0; k],
            rules,
        }
    }

    pub(super) fn is_patient(&self) -> bool {
        self.patience > 0
    }

    /// Removes and returns a cluster's row of edges, with one edge for each neighbour.
    fn row(&mut self, cluster: usize) -> Vec<Entry> {
        let mut row = std::mem::take(&mut self.entries[cluster]);
        self.n_entries -= row.len();
        let mut kept = 0;
        for from in 0..row.len() {
            let other = self.clusters.find(row[from].cluster);
            if other as usize == cluster {
                continue;
            }
            let at = self.place[other as usize] as usize;
            if at < kept && row[at].cluster == other {
                row[at].count += row[from].count;
                row[at].value = self.rules.summary.fold(row[at].value, row[from].value);
            } else {
                self.place[other as usize] = kept as u32;
                row[kept] = Entry { cluster: other, ..row[from] };
                kept += 1;
            }
        }
        row.truncate(kept);
        self.n_entries += row.len();
        row
    }

    pub(super) fn into_graph(mut self) -> Graph {
        let mut alive: Vec<usize> = (0..self.clusters.len()).filter(|&k| self.clusters.is_name(k as u32)).collect();
        alive.sort_unstable_by_key(|&cluster| self.names[cluster]);
        let mut number = vec![0; self.clusters.len()];
        alive.iter().enumerate().for_each(|(new, &old)| number[old] = new as u32);
        let mut chunks = Vec::with_capacity(alive.len());
        for (first, &old) in alive.iter().enumerate() {
            let mut entries = self.row(old);
            entries.iter_mut().for_each(|entry| entry.cluster = number[entry.cluster as usize]);
            chunks.push(Chunk { first, ends: vec![entries.len()], entries });
        }
        let names = alive.iter().map(|&old| self.names[old]).collect();
        let sizes = alive.iter().map(|&old| self.sizes[old]).collect();
        Graph { names, sizes, chunks }
    }
}

impl Linked for Rows<'_> {
    fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    fn name(&self, cluster: usize) -> Option<u32> {
        self.clusters.is_name(cluster as u32).then(|| self.names[cluster])
    }

    fn should_continue(&self) -> bool {
        self.is_patient() && !self.rules.fills_table(self.n_alive, self.n_entries)
    }

    fn nearest(&mut self, cluster: usize) -> Option<Near> {
        self.patience = self.patience.saturating_sub(self.entries[cluster].len());
        self.entries[cluster] = self.row(cluster);
        let about = |k: u32| (self.sizes[k as usize], self.names[k as usize]);
        nearest(&self.entries[cluster], self.sizes[cluster], about, self.rules)
    }

    fn merge(&mut self, a: usize, b: usize) -> usize {
        let (small, large) = if self.entries[a].len() < self.entries[b].len() { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.entries[small]);
        self.entries[large].extend(moved);
        self.clusters.attach(small as u32, large as u32);
        self.sizes[large] += self.sizes[small];
        self.names[large] = self.names[large].min(self.names[small]);
        self.n_alive -= 1;
        large
    }
}
