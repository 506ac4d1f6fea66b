//! Flat clusters from a dendrogram.

use super::dendrogram::Dendrogram;
use crate::error::{Error, Result};

impl Dendrogram {
    /// Returns the finest cut into at most `n_clusters` clusters, as one label per leaf. The last merges are undone
    /// first.
    ///
    /// Labels count from 0 in the order of the clusters' smallest leaves. Equal heights are no problem, because the cut
    /// uses the order of the nodes. A binary tree can be cut into any number of clusters. A node with more than two
    /// children is undone as a whole, so there may be fewer clusters.
    ///
    /// # Errors
    /// `n_clusters` is outside `1..=n_leaves`.
    ///
    /// ```
    /// use ordhc::Kind;
    ///
    /// let tree = ordhc::Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], Kind::Dissimilarity)?;
    /// assert_eq!(tree.cut_clusters(2)?, [0, 0, 1]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn cut_clusters(&self, n_clusters: usize) -> Result<Vec<u32>> {
        let (n, tree) = (self.n_leaves(), self.topology());
        if n_clusters == 0 || n_clusters > n {
            return Err(Error::out_of_range("n_clusters", n_clusters, format!("1..={n} (n_leaves = {n})")));
        }
        let (mut kept, mut found) = (tree.n_inner(), 1);
        while kept > 0 && found + tree.children(n + kept - 1).len() - 1 <= n_clusters {
            found += tree.children(n + kept - 1).len() - 1;
            kept -= 1;
        }
        Ok(self.labels(&(0..tree.n_inner()).map(|node| node < kept).collect::<Vec<_>>()))
    }

    /// Returns the cut at `height`, as one label per leaf. A merge is kept if its height is at least as close as
    /// `height` and all merges below are kept.
    ///
    /// For dissimilarities, heights up to `height` are kept. For similarities, heights of at least `height` are kept.
    /// After an inversion, a node may be close enough although a node below is not. Such a node is not kept.
    ///
    /// # Errors
    /// `height` is NaN.
    pub fn cut_height(&self, height: f64) -> Result<Vec<u32>> {
        if height.is_nan() {
            return Err(Error::Argument("height is NaN".into()));
        }
        let (n, tree) = (self.n_leaves(), self.topology());
        let mut kept: Vec<bool> = Vec::with_capacity(tree.n_inner());
        for (node, &at) in (n..).zip(self.heights()) {
            let close = if self.is_dissimilarity() { at <= height } else { at >= height };
            let parts = tree.children(node).iter().all(|&part| (part as usize) < n || kept[part as usize - n]);
            kept.push(close && parts);
        }
        Ok(self.labels(&kept))
    }

    /// Returns the cluster label of each leaf. The clusters are the topmost inner nodes in `kept`. All nodes below a
    /// kept node must be kept.
    fn labels(&self, kept: &[bool]) -> Vec<u32> {
        let (n, tree) = (self.n_leaves(), self.topology());
        const NONE: u32 = u32::MAX;
        // The topmost kept node at or above each node. Computed from the root down.
        let mut top: Vec<u32> = (0..tree.n_nodes() as u32).collect();
        for node in (n..tree.n_nodes()).rev().filter(|&node| kept[node - n]) {
            for &child in tree.children(node) {
                top[child as usize] = top[node];
            }
        }
        let mut numbers = vec![NONE; tree.n_nodes()];
        let mut next = 0;
        (0..n)
            .map(|leaf| {
                let number = &mut numbers[top[leaf] as usize];
                if *number == NONE {
                    *number = next;
                    next += 1;
                }
                *number
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;
    use crate::tree::Topology;

    #[test]
    fn cuts_go_by_merge_order() {
        let tree = Dendrogram::new(vec![[2, 3], [0, 1], [4, 5]], vec![1.0, 1.0, 1.0], Kind::Dissimilarity).unwrap();
        assert_eq!(tree.cut_clusters(1).unwrap(), [0, 0, 0, 0]);
        assert_eq!(tree.cut_clusters(2).unwrap(), [0, 0, 1, 1]);
        assert_eq!(tree.cut_clusters(3).unwrap(), [0, 1, 2, 2]);
        assert_eq!(tree.cut_clusters(4).unwrap(), [0, 1, 2, 3]);
        assert!(tree.cut_clusters(0).is_err());
        assert!(tree.cut_clusters(5).unwrap_err().to_string().contains("1..=4"));
    }

    #[test]
    fn nodes_of_many_children_come_apart_as_a_whole() {
        // The tree ((0,1,2),(3,4),5). The node of 0, 1 and 2 is lower than the node of 3 and 4.
        let shape = Topology::from_parents(6, vec![6, 6, 6, 7, 7, 8, 8, 8, 8]).unwrap();
        let tree = Dendrogram::of_nodes(shape, vec![1.0, 2.0, 3.0], Kind::Dissimilarity).unwrap();
        assert_eq!(tree.cut_clusters(2).unwrap(), [0; 6]);
        assert_eq!(tree.cut_clusters(3).unwrap(), [0, 0, 0, 1, 1, 2]);
        assert_eq!(tree.cut_clusters(5).unwrap(), [0, 0, 0, 1, 2, 3]);
        assert_eq!(tree.cut_clusters(6).unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(tree.cut_height(1.5).unwrap(), [0, 0, 0, 1, 2, 3]);
    }

    #[test]
    fn heights_cut_in_their_own_sense() {
        let up = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity).unwrap();
        assert_eq!(up.cut_height(1.0).unwrap(), [0, 0, 1]);
        assert_eq!(up.cut_height(0.5).unwrap(), [0, 1, 2]);
        let down = Dendrogram::new(vec![[0, 1], [2, 3]], vec![2.0, 1.0], Kind::Similarity).unwrap();
        assert_eq!(down.cut_height(2.0).unwrap(), [0, 0, 1]);
        assert_eq!(down.cut_height(1.0).unwrap(), [0, 0, 0]);
        let inverted = Dendrogram::new(vec![[0, 1], [2, 3]], vec![2.0, 1.0], Kind::Dissimilarity).unwrap();
        assert_eq!(inverted.cut_height(1.5).unwrap(), [0, 1, 2]);
        assert!(inverted.cut_height(f64::NAN).is_err());
    }
}
