//! Trees of some of the leaves.

use super::Dendrogram;
use crate::error::{Error, Result};
use crate::kind::Kind;

impl Dendrogram {
    /// The tree over `n` leaves of which this one has `leaves`: its leaf `i` is `leaves[i]`. All others
    /// are merged last, one by one, at the height of the last merge (0 if there is none).
    ///
    /// # Errors
    /// `leaves` that aren't ascending and below `n`, or aren't as many as the tree's.
    ///
    /// ```
    /// use ordhc::{Dendrogram, Kind};
    ///
    /// let tree = Dendrogram::new(vec![[0, 1]], vec![2.0], Kind::Similarity)?;
    /// let whole = tree.with_rest(&[1, 3], 4)?;
    /// assert_eq!(whole.newick().to_string(), "(2,(0,(1,3)));");
    /// assert_eq!(whole.heights(), [2.0, 2.0, 2.0]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn with_rest(&self, leaves: &[u32], n: usize) -> Result<Self> {
        let few = self.n_leaves();
        let ascending = leaves.windows(2).all(|pair| pair[0] < pair[1]);
        if leaves.len() != few || !ascending || leaves.last().is_none_or(|&last| last as usize >= n) {
            return Err(Error::Argument(format!("{few} ascending leaves below {n} are needed")));
        }
        let label = |label: u32| match (label as usize).checked_sub(few) {
            None => leaves[label as usize],
            Some(merge) => (n + merge) as u32,
        };
        let mut merges: Vec<[u32; 2]> = self.merges().iter().map(|pair| pair.map(label)).collect();
        let mut heights = self.heights().to_vec();
        let mut kept = leaves.iter().peekable();
        for leaf in 0..n as u32 {
            if kept.next_if(|&&next| next == leaf).is_none() {
                let whole = if merges.is_empty() { leaves[0] } else { (n + merges.len() - 1) as u32 };
                merges.push([leaf, whole]);
                heights.push(heights.last().copied().unwrap_or(0.0));
            }
        }
        Self::new(merges, heights, Kind::of(self.is_dissimilarity()))
    }
}
