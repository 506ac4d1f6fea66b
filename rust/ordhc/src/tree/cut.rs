//! Flat clusters from a dendrogram.

use super::dendrogram::Dendrogram;
use crate::error::{Error, Result};

impl Dendrogram {
    /// Undoes the last `n_clusters - 1` merges, in merge order, and labels each leaf's cluster.
    ///
    /// Labels count from 0 in the order of the clusters' smallest leaves. Equal heights are no
    /// problem: the cut goes by the order of merges.
    ///
    /// # Errors
    /// `n_clusters` outside `1..=n_leaves`.
    ///
    /// ```
    /// use ordhc::Kind;
    ///
    /// let tree = ordhc::Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], Kind::Dissimilarity)?;
    /// assert_eq!(tree.cut_clusters(2)?, [0, 0, 1]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn cut_clusters(&self, n_clusters: usize) -> Result<Vec<u32>> {
        let n = self.n_leaves();
        if n_clusters == 0 || n_clusters > n {
            return Err(Error::out_of_range("n_clusters", n_clusters, format!("1..={n} (n_leaves = {n})")));
        }
        let kept = n - n_clusters;
        Ok(self.labels((0..n - 1).map(|merge| merge < kept)))
    }

    /// Keeps the merges that are at least as close as `height`, with everything below them.
    ///
    /// With dissimilarities those of height up to `height`, with similarities those from `height`
    /// up. Under an inversion a merge is kept only if all merges within it are.
    ///
    /// # Errors
    /// A `height` that is NaN.
    pub fn cut_height(&self, height: f64) -> Result<Vec<u32>> {
        if height.is_nan() {
            return Err(Error::Argument("height is NaN".into()));
        }
        let n = self.n_leaves();
        let mut kept: Vec<bool> = Vec::with_capacity(n);
        for (pair, &at) in self.merges().iter().zip(self.heights()) {
            let close = if self.is_dissimilarity() { at <= height } else { at >= height };
            let parts = pair.iter().all(|&part| (part as usize) < n || kept[part as usize - n]);
            kept.push(close && parts);
        }
        Ok(self.labels(kept.into_iter()))
    }

    fn labels(&self, kept: impl Iterator<Item = bool>) -> Vec<u32> {
        let n = self.n_leaves();
        let kept: Vec<bool> = kept.collect();
        const NONE: u32 = u32::MAX;
        // The topmost kept cluster around each cluster, from the root down.
        let mut top: Vec<u32> = (0..(2 * n - 1) as u32).collect();
        for merge in (0..n - 1).rev() {
            if kept[merge] {
                for part in self.merges()[merge] {
                    top[part as usize] = top[n + merge];
                }
            }
        }
        let mut numbers = vec![NONE; 2 * n - 1];
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
