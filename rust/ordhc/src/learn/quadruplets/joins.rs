//! Dendrograms from joins (merges) of clusters.

use crate::error::Result;
use crate::kind::Kind;
use crate::tree::Dendrogram;
use crate::union_find::UnionFind;

/// Returns the dendrogram of the given merges (joins) of clusters of `n` leaves. A join has one
/// leaf of each of its two clusters, and a height. Heights are dissimilarities and must not
/// decrease. The clusters that remain are merged last, at 1 plus the largest height.
pub(super) fn dendrogram_of_joins(n: usize, joins: impl IntoIterator<Item = ([u32; 2], f64)>) -> Result<Dendrogram> {
    let mut forest = Forest { leaves: UnionFind::new(n), labels: (0..n as u32).collect() };
    let (mut merges, mut heights) = (Vec::new(), Vec::new());
    for ([a, b], height) in joins {
        if let Some(merge) = forest.join(a, b, (n + merges.len()) as u32) {
            merges.push(merge);
            heights.push(height);
        }
    }
    let top = heights.last().map_or(1.0, |last| last + 1.0);
    for leaf in 1..n as u32 {
        if let Some(merge) = forest.join(0, leaf, (n + merges.len()) as u32) {
            merges.push(merge);
            heights.push(top);
        }
    }
    Dendrogram::new(merges, heights, Kind::Dissimilarity)
}

struct Forest {
    leaves: UnionFind,
    /// For each cluster: its id in the dendrogram. The index is the representative leaf of the cluster in `leaves`.
    labels: Vec<u32>,
}

impl Forest {
    fn join(&mut self, a: u32, b: u32, label: u32) -> Option<[u32; 2]> {
        let (a, b) = (self.leaves.find(a), self.leaves.find(b));
        if a == b {
            return None;
        }
        let merge = [self.labels[a as usize], self.labels[b as usize]];
        self.leaves.attach(b, a);
        self.labels[a as usize] = label;
        Some(merge)
    }
}
