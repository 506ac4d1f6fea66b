//! Dendrograms from joins of clusters.

use crate::error::Result;
use crate::kind::Kind;
use crate::tree::Dendrogram;
use crate::union_find::UnionFind;

/// Returns the tree of joins. Each join is given by one leaf of either cluster and its height. Heights are
/// dissimilarities and must not decrease. Clusters that are not joined are joined last, one level above.
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
    /// For the representative leaf of each set of `leaves`: the label of its cluster.
    labels: Vec<u32>,
}

impl Forest {
    /// Joins the clusters of two leaves, and returns their labels. Returns `None` if the leaves are in the same
    /// cluster.
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
