//! Partitions of the leaves, from which an agglomeration can start.

use super::raw::RawMerge;
use crate::error::{Result, check_len, check_n_leaves};

/// A partition of the leaves into clusters. Clusters are numbered in the order of their smallest leaves.
///
/// ```
/// use ordhc::tree::Partition;
///
/// let partition = Partition::new(&[7, 5, 7, 5, 5])?;
/// assert_eq!((partition.n_leaves(), partition.n_clusters()), (5, 2));
/// assert_eq!(partition.clusters(), [vec![0, 2], vec![1, 3, 4]]);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    cluster_of: Vec<u32>,
    clusters: Vec<Vec<usize>>,
}

impl Partition {
    /// Returns the partition in which leaves with the same label are in the same cluster.
    ///
    /// # Errors
    /// No leaves.
    pub fn new(labels: &[i64]) -> Result<Self> {
        check_n_leaves(labels.len())?;
        let mut number = std::collections::HashMap::new();
        let mut clusters: Vec<Vec<usize>> = Vec::new();
        let mut cluster_of = Vec::with_capacity(labels.len());
        for (leaf, label) in labels.iter().enumerate() {
            let cluster = *number.entry(label).or_insert(clusters.len());
            if cluster == clusters.len() {
                clusters.push(Vec::new());
            }
            clusters[cluster].push(leaf);
            cluster_of.push(cluster as u32);
        }
        Ok(Self { cluster_of, clusters })
    }

    /// Returns the partition in which each leaf is its own cluster.
    pub fn singletons(n_leaves: usize) -> Self {
        Self { cluster_of: (0..n_leaves as u32).collect(), clusters: (0..n_leaves).map(|leaf| vec![leaf]).collect() }
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.cluster_of.len()
    }

    /// Returns the number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Returns the leaves of each cluster in ascending order. Clusters are ordered by their smallest leaves.
    pub fn clusters(&self) -> &[Vec<usize>] {
        &self.clusters
    }

    /// Returns the cluster of each leaf.
    pub fn cluster_of(&self) -> &[u32] {
        &self.cluster_of
    }

    pub(crate) fn check(&self, n_leaves: usize) -> Result<()> {
        check_len("labels of initial clusters", self.n_leaves(), "leaves", n_leaves)
    }

    pub(crate) fn merges(&self) -> Vec<RawMerge> {
        let within = |leaves: &Vec<usize>| {
            let i = leaves[0];
            leaves[1..].iter().map(move |&j| RawMerge { i, j, similarity: f64::NEG_INFINITY }).collect::<Vec<_>>()
        };
        self.clusters.iter().flat_map(within).collect()
    }
}

/// Returns the merges `within`, which build the caller's initial clusters, followed by the merges `after`, which join
/// these clusters. Raises the similarities of `within` to at least the highest similarity of `after`.
pub(crate) fn with_initial(mut within: Vec<RawMerge>, after: Vec<RawMerge>) -> Vec<RawMerge> {
    let closest = after.iter().map(|merge| merge.similarity).reduce(f64::max);
    for merge in &mut within {
        let lowest = closest.unwrap_or(if merge.similarity.is_finite() { merge.similarity } else { 0.0 });
        merge.similarity = merge.similarity.max(lowest);
    }
    within.extend(after);
    within
}
