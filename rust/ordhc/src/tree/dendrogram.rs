//! Trees whose nodes have heights.

use std::borrow::Cow;

use super::raw::RawMerge;
use super::topology::Topology;
use crate::error::{Error, Position, Result, check_len};
use crate::kind::Kind;
use crate::sorting;

/// A tree whose nodes have heights, such as the result of agglomeration.
///
/// The nodes are those of the [`Topology`], in the order in which they were merged. The height of a node is the
/// similarity or dissimilarity of the merge, see [`kind`](Dendrogram::kind). An agglomeration gives a binary tree, even
/// if heights are equal. [`join_ties`](Dendrogram::join_ties) turns equal heights into nodes with more children.
///
/// ```
/// use ordhc::{Dendrogram, Kind};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], Kind::Dissimilarity)?;
/// assert_eq!(tree.n_leaves(), 3);
/// assert_eq!(tree.sizes(), [2, 3]);
/// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dendrogram {
    topology: Topology,
    heights: Vec<f64>,
    leaf_heights: Option<Vec<f64>>,
    kind: Kind,
}

impl Dendrogram {
    /// Returns the tree of these merges. Every cluster must be merged exactly once, after the merge that made it, and
    /// the last merge must be the root.
    ///
    /// # Errors
    /// A merge that is not possible; a height that is not finite.
    pub fn new(merges: Vec<[u32; 2]>, heights: Vec<f64>, kind: Kind) -> Result<Self> {
        check_len("heights", heights.len(), "merges", merges.len())?;
        Self::of_nodes(Topology::from_merges(merges)?, heights, kind)
    }

    /// Returns the tree with these nodes and heights. The nodes keep their order.
    ///
    /// # Errors
    /// A number of heights that differs from the number of inner nodes; a height that is not finite.
    ///
    /// ```
    /// use ordhc::{Dendrogram, Kind, tree::Topology};
    ///
    /// let star = Topology::from_parents(3, vec![3, 3, 3, 3])?;
    /// assert_eq!(Dendrogram::of_nodes(star, vec![1.0], Kind::Dissimilarity)?.newick().to_string(), "(0,1,2);");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn of_nodes(topology: Topology, heights: Vec<f64>, kind: Kind) -> Result<Self> {
        check_len("heights", heights.len(), "inner nodes", topology.n_inner())?;
        if let Some(k) = heights.iter().position(|h| !h.is_finite()) {
            let limit = "heights must be finite";
            return Err(Error::BadValue { what: "the height", place: Position::Merge(k), value: heights[k], limit });
        }
        Ok(Self { topology, heights, leaf_heights: None, kind })
    }

    /// Does the same as [`of_nodes`](Self::of_nodes), with the nodes ordered by height. Nodes of equal height
    /// are ordered by their number of leaves, then by their smallest leaf. So the result does not depend on how nodes
    /// were numbered.
    ///
    /// Returns the tree, and the former index of each node.
    ///
    /// # Errors
    /// The errors of [`of_nodes`](Self::of_nodes).
    pub fn sorted(topology: Topology, heights: Vec<f64>, kind: Kind) -> Result<(Self, Vec<u32>)> {
        Ok(Self::of_nodes(topology, heights, kind)?.in_order_of_heights())
    }

    pub(super) fn in_order_of_heights(self) -> (Self, Vec<u32>) {
        let n = self.n_leaves();
        let rises = self.is_dissimilarity();
        let order = order_by(&self.topology, |at| if rises { self.heights[at] } else { -self.heights[at] });
        let heights = order.iter().map(|&node| self.heights[node as usize - n]).collect();
        let sorted = Self { topology: self.topology.reordered(&order), heights, ..self };
        (sorted, (0..n as u32).chain(order).collect())
    }

    /// Returns the tree of the merges `raw`, in which a cluster is given by its smallest leaf. Each cluster must be
    /// merged after the merge that made it.
    pub(crate) fn in_order(n: usize, raw: Vec<RawMerge>) -> Result<Self> {
        let mut label: Vec<u32> = (0..n as u32).collect();
        let mut merges = Vec::with_capacity(raw.len());
        for (k, merge) in raw.iter().enumerate() {
            merges.push([label[merge.i], label[merge.j]]);
            label[merge.i] = (n + k) as u32;
        }
        if merges.len() + 1 != n {
            return Err(Error::Argument(format!("{} merges do not join {n} leaves", merges.len())));
        }
        Self::new(merges, raw.iter().map(|merge| merge.similarity).collect(), Kind::Similarity)
    }

    /// Corrects rounding errors: lowers each similarity to at most the similarity of the previous merge.
    pub(crate) fn make_monotone(&mut self) {
        for k in 1..self.heights.len() {
            self.heights[k] = self.heights[k].min(self.heights[k - 1]);
        }
    }

    pub(crate) fn map_heights(mut self, dissimilarity: bool, map: impl Fn(f64) -> f64) -> Self {
        // Add 0 because negation turns 0 into -0.
        self.heights.iter_mut().for_each(|height| *height = map(*height) + 0.0);
        self.kind = Kind::of(dissimilarity);
        self
    }

    /// Returns the same tree with a height for each leaf. For similarities such as dot products, this is the similarity
    /// of the leaf and itself.
    ///
    /// # Errors
    /// A number of heights that differs from the number of leaves; a height that is not finite.
    pub fn with_leaf_heights(mut self, heights: Option<Vec<f64>>) -> Result<Self> {
        if let Some(heights) = &heights {
            check_len("leaf heights", heights.len(), "leaves", self.n_leaves())?;
            if let Some(leaf) = heights.iter().position(|h| !h.is_finite()) {
                return Err(Error::Argument(format!(
                    "leaf {leaf} has the height {}: heights must be finite",
                    heights[leaf]
                )));
            }
        }
        self.leaf_heights = heights;
        Ok(self)
    }

    /// Returns the shape of the tree.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the shape of the tree, without the heights.
    pub fn into_topology(self) -> Topology {
        self.topology
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.topology.n_leaves()
    }

    /// Returns the indices of the two clusters of each merge, the smaller index first. A node with k children becomes
    /// k - 1 merges ([`Topology::merges`]).
    pub fn merges(&self) -> Cow<'_, [[u32; 2]]> {
        self.topology.merges()
    }

    /// Returns the height of each inner node.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// Returns the height of each of the [`merges`](Self::merges).
    pub fn merge_heights(&self) -> Cow<'_, [f64]> {
        self.topology.by_merge(&self.heights)
    }

    /// Returns the heights of the leaves, or `None` if leaves have no heights of their own. Leaves without heights are
    /// at 0 in a tree of dissimilarities, and at the largest height of any node in a tree of similarities.
    pub fn leaf_heights(&self) -> Option<&[f64]> {
        self.leaf_heights.as_deref()
    }

    /// Returns the heights of all nodes, leaves first.
    pub fn all_heights(&self) -> Vec<f64> {
        let base = if self.is_dissimilarity() || self.heights.is_empty() {
            0.0
        } else {
            self.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        };
        let mut all = self.leaf_heights.clone().unwrap_or_else(|| vec![base; self.n_leaves()]);
        all.extend(&self.heights);
        all
    }

    /// Returns the length of the edge above each node, NaN for the root. The length is half the difference between the
    /// heights of the two ends of the edge. So in a tree of dissimilarities, the path between two leaves is as long as
    /// the height at which they join.
    pub fn edge_lengths(&self) -> Vec<f64> {
        let heights = self.all_heights();
        let sign = if self.is_dissimilarity() { 0.5 } else { -0.5 };
        let mut lengths = vec![f64::NAN; heights.len()];
        for node in self.n_leaves()..heights.len() {
            for &child in self.topology.children(node) {
                lengths[child as usize] = sign * (heights[node] - heights[child as usize]) + 0.0;
            }
        }
        lengths
    }

    /// Returns the number of leaves below each inner node.
    pub fn sizes(&self) -> &[u32] {
        self.topology.sizes()
    }

    /// Returns the kind of the heights: dissimilarities, which grow towards the root, or similarities.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn is_dissimilarity(&self) -> bool {
        self.kind.is_dissimilarity()
    }

    /// Returns true if there are no inversions: no merge is closer than a merge below it.
    pub fn is_monotone(&self) -> bool {
        self.edges().all(|(part, at)| {
            if self.is_dissimilarity() {
                self.heights[part] <= self.heights[at]
            } else {
                self.heights[part] >= self.heights[at]
            }
        })
    }

    /// Returns the leaves from left to right. The children of each node are in ascending order of their indices.
    pub fn leaf_order(&self) -> Vec<u32> {
        self.topology.leaf_order()
    }

    /// Returns the same tree over renamed leaves: leaf `i` becomes `leaves[i]`.
    ///
    /// # Errors
    /// `leaves` is not a permutation.
    pub fn relabel(&self, leaves: &[u32]) -> Result<Self> {
        let topology = self.topology.relabel(leaves)?;
        let leaf_heights = self.leaf_heights.as_ref().map(|before| {
            let mut after = vec![0.0; before.len()];
            leaves.iter().zip(before).for_each(|(&leaf, &height)| after[leaf as usize] = height);
            after
        });
        Ok(Self { topology, heights: self.heights.clone(), leaf_heights, kind: self.kind })
    }

    /// Returns the same tree in which each node is joined with its child nodes of the same height.
    ///
    /// ```
    /// use ordhc::{Dendrogram, Kind};
    ///
    /// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 1.0], Kind::Dissimilarity)?;
    /// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
    /// assert_eq!(tree.join_ties().newick().to_string(), "(0,1,2);");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    #[must_use]
    pub fn join_ties(&self) -> Self {
        let n = self.n_leaves();
        let mut ties = vec![false; self.heights.len()];
        for (part, at) in self.edges() {
            ties[part] = self.heights[part] == self.heights[at];
        }
        let (topology, kept) = self.topology.without(|node| ties[node - n]);
        let heights = kept[n..].iter().map(|&node| self.heights[node as usize - n]).collect();
        Self { topology, heights, leaf_heights: self.leaf_heights.clone(), kind: self.kind }
    }

    /// Returns the index of each inner node except the root, with the index of its parent. Index 0 is the first inner
    /// node.
    fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let n = self.n_leaves();
        (n..self.topology.n_nodes()).flat_map(move |node| {
            let inner = move |&child: &u32| Some(((child as usize).checked_sub(n)?, node - n));
            self.topology.children(node).iter().filter_map(inner)
        })
    }
}

/// Returns the inner nodes, ordered by the largest `key` at and below each node, so that children come before parents.
/// `key` gets the index of an inner node. Ties are broken by the number of leaves, then by the smallest leaf.
pub(super) fn order_by(topology: &Topology, key: impl Fn(usize) -> f64) -> Vec<u32> {
    let n = topology.n_leaves();
    let mut keys: Vec<f64> = Vec::with_capacity(topology.n_inner());
    for node in n..topology.n_nodes() {
        let below = topology.children(node).iter().filter_map(|&child| (child as usize).checked_sub(n));
        // Add 0 so that -0 and 0 are equal in the total order.
        keys.push(below.map(|at| keys[at]).fold(key(node - n), f64::max) + 0.0);
    }
    let smallest = topology.smallest_leaves();
    let mut order: Vec<u32> = (n as u32..topology.n_nodes() as u32).collect();
    sorting::order_by(&mut order, &|a, b| {
        let of = |node: u32| (topology.size(node as usize), smallest[node as usize - n]);
        keys[a as usize - n].total_cmp(&keys[b as usize - n]).then_with(|| of(a).cmp(&of(b)))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_must_fit() {
        assert!(Dendrogram::new(vec![[0, 1]], vec![f64::NAN], Kind::Dissimilarity).is_err());
        assert!(Dendrogram::new(vec![[0, 1]], vec![], Kind::Dissimilarity).is_err());
        let tree = Dendrogram::new(vec![[0, 1]], vec![1.0], Kind::Similarity).unwrap();
        assert!(tree.clone().with_leaf_heights(Some(vec![1.0])).unwrap_err().to_string().contains("1 leaf heights"));
        assert!(tree.with_leaf_heights(Some(vec![1.0, f64::INFINITY])).unwrap_err().to_string().contains("leaf 1"));
    }

    #[test]
    fn one_leaf_is_a_tree() {
        let tree = Dendrogram::new(vec![], vec![], Kind::Similarity).unwrap();
        assert_eq!((tree.n_leaves(), tree.leaf_order(), tree.all_heights()), (1, vec![0], vec![0.0]));
        assert_eq!(tree.newick().to_string(), "0;");
    }

    #[test]
    fn renaming_and_order() {
        let tree = Dendrogram::new(vec![[1, 2], [0, 3]], vec![1.0, 2.0], Kind::Dissimilarity).unwrap();
        let tree = tree.with_leaf_heights(Some(vec![0.0, 0.1, 0.2])).unwrap();
        let renamed = tree.relabel(&[2, 0, 1]).unwrap();
        assert_eq!(renamed.merges().as_ref(), [[0, 1], [2, 3]]);
        assert_eq!((renamed.leaf_order(), renamed.leaf_heights()), (vec![2, 0, 1], Some(&[0.1, 0.2, 0.0][..])));
        assert!(tree.relabel(&[0, 0, 1]).is_err());
        assert!(tree.relabel(&[0, 1]).is_err());
    }

    #[test]
    fn inversions_are_seen() {
        assert!(!Dendrogram::new(vec![[1, 2], [0, 3]], vec![2.0, 1.0], Kind::Dissimilarity).unwrap().is_monotone());
        assert!(Dendrogram::new(vec![[1, 2], [0, 3]], vec![2.0, 1.0], Kind::Similarity).unwrap().is_monotone());
    }

    #[test]
    fn ties_join_and_come_apart() {
        let tree = Dendrogram::new(vec![[2, 3], [0, 4], [1, 5], [7, 6]], vec![1.0, 2.0, 1.0, 2.0], Kind::Dissimilarity)
            .unwrap();
        let joined = tree.join_ties();
        assert_eq!((joined.topology().n_nodes(), joined.sizes()), (7, &[3, 5][..]));
        assert_eq!((joined.topology().children(5), joined.topology().children(6)), (&[1, 2, 3][..], &[0, 4, 5][..]));
        assert_eq!(joined.merge_heights().as_ref(), [1.0, 1.0, 2.0, 2.0]);
    }

    #[test]
    fn nodes_go_in_the_order_of_heights() {
        let topology = Topology::from_parents(6, vec![6, 6, 7, 7, 8, 9, 8, 9, 10, 10, 10]).unwrap();
        let (tree, old) = Dendrogram::sorted(topology, vec![3.0, 1.0, 3.0, 2.0, 3.0], Kind::Dissimilarity).unwrap();
        assert_eq!(old[6..], [7, 9, 6, 8, 10]);
        assert_eq!(tree.heights(), [1.0, 2.0, 3.0, 3.0, 3.0]);
    }

    #[test]
    fn paths_are_as_long_as_heights() {
        let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 3.0], Kind::Dissimilarity).unwrap();
        assert_eq!(tree.edge_lengths()[..4], [0.5, 0.5, 1.5, 1.0]);
        let tree = Dendrogram::new(vec![[0, 1]], vec![3.0], Kind::Similarity).unwrap();
        assert_eq!(tree.edge_lengths()[..2], [0.0, 0.0]);
        assert_eq!(tree.with_leaf_heights(Some(vec![5.0, 4.0])).unwrap().edge_lengths()[..2], [1.0, 0.5]);
    }
}
