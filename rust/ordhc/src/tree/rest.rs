//! Extends a tree of some leaves to all leaves.

use super::{Dendrogram, Topology};
use crate::error::{Error, Result};

impl Dendrogram {
    /// Returns the tree over `n` leaves in which leaf `i` of this tree becomes leaf `leaves[i]`. All other leaves are
    /// merged last, one by one, at the height of the last merge (0 if there is none).
    ///
    /// # Errors
    /// `leaves` that aren't in ascending order or not below `n`; a length of `leaves` that differs from this tree's
    /// number of leaves.
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
            return Err(Error::Argument(format!("leaves must be {few} ascending numbers below {n}")));
        }
        let (tree, n_rest) = (self.topology(), n - few);
        // Leaves and inner nodes keep their order. Each added leaf needs one more node.
        let label = |node: usize| node.checked_sub(few).map_or(leaves[node.min(few - 1)] as usize, |at| n + at);
        let mut parents = vec![0; n + tree.n_inner() + n_rest];
        for node in few..tree.n_nodes() {
            tree.children(node).iter().for_each(|&child| parents[label(child as usize)] = label(node) as u32);
        }
        let mut heights = self.heights().to_vec();
        let mut whole = label(tree.root());
        let mut kept = leaves.iter().peekable();
        for leaf in 0..n {
            if kept.next_if(|&&next| next as usize == leaf).is_none() {
                let node = n + heights.len();
                (parents[leaf], parents[whole]) = (node as u32, node as u32);
                whole = node;
                heights.push(heights.last().copied().unwrap_or(0.0));
            }
        }
        Self::of_nodes(Topology::from_parents(n, parents)?, heights, self.kind())
    }
}
