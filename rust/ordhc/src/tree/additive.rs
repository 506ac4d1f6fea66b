//! Trees whose edges have lengths.

use super::dendrogram::{Dendrogram, order_by};
use super::topology::Topology;
use crate::error::{Error, Result, check_len};
use crate::kind::Kind;

/// The largest difference between the leaves' distances from the root in an ultrametric tree, relative to the largest
/// distance.
const TOLERANCE: f64 = 1e-4;

/// A tree whose edges have lengths: an additive tree (Sattath & Tversky 1977), or a phylogeny.
///
/// The distance of two leaves is the length of the path between them.
///
/// ```
/// use ordhc::tree::{AdditiveTree, Topology};
///
/// let shape = Topology::from_parents(3, vec![3, 3, 4, 4, 4])?;
/// let tree = AdditiveTree::new(shape, vec![1.0, 2.0, 3.0, 0.5, f64::NAN])?;
/// assert_eq!(tree.depths()?, [1.5, 2.5, 3.0, 0.5, 0.0]);
/// assert_eq!(tree.diameters()?.heights(), [3.0, 5.5]);
/// assert!(tree.ultrametric().is_err());
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AdditiveTree {
    topology: Topology,
    lengths: Vec<f64>,
}

impl PartialEq for AdditiveTree {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
        self.topology == other.topology && self.lengths.iter().zip(&other.lengths).all(same)
    }
}

impl AdditiveTree {
    /// Returns the tree with these nodes and edge lengths. The length of an edge may be NaN if it is unknown. The
    /// length above the root is usually unknown.
    ///
    /// # Errors
    /// A number of lengths that differs from the number of nodes; an infinite length.
    pub fn new(topology: Topology, lengths: Vec<f64>) -> Result<Self> {
        check_len("lengths", lengths.len(), "nodes", topology.n_nodes())?;
        if let Some(node) = lengths.iter().position(|length| length.is_infinite()) {
            return Err(Error::Argument(format!(
                "the length above node {node} is {}, but must be finite",
                lengths[node]
            )));
        }
        Ok(Self { topology, lengths })
    }

    /// Returns the shape of the tree.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the length of the edge above each node, NaN if unknown.
    pub fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// Returns the distance of each node from the root.
    ///
    /// # Errors
    /// An unknown length below the root.
    pub fn depths(&self) -> Result<Vec<f64>> {
        let root = self.topology.root();
        if let Some(node) = self.lengths[..root].iter().position(|length| length.is_nan()) {
            return Err(Error::Argument(format!("the edge above node {node} has no length, so depths are unknown")));
        }
        let mut depths = vec![0.0; self.lengths.len()];
        for node in (self.topology.n_leaves()..=root).rev() {
            for &child in self.topology.children(node) {
                depths[child as usize] = depths[node] + self.lengths[child as usize];
            }
        }
        Ok(depths)
    }

    /// Returns the tree in which the height of each node is the length of the longest path between two leaves below it.
    /// A cut at height x gives clusters in which leaves are at most x apart. Nodes are ordered by these heights. In an
    /// ultrametric tree, the height of a node is the distance of the leaves that join there.
    ///
    /// # Errors
    /// The errors of [`depths`](Self::depths).
    pub fn diameters(&self) -> Result<Dendrogram> {
        Ok(self.by_diameter()?.0)
    }

    /// Does the same as [`diameters`](Self::diameters). Also returns, for each node of the result, its index in this
    /// tree.
    ///
    /// # Errors
    /// The errors of [`depths`](Self::depths).
    pub fn by_diameter(&self) -> Result<(Dendrogram, Vec<u32>)> {
        self.depths()?;
        let n = self.topology.n_leaves();
        let mut ways = vec![0.0f64; self.topology.n_nodes()];
        let mut diameters: Vec<f64> = Vec::with_capacity(self.topology.n_inner());
        for node in n..self.topology.n_nodes() {
            let [mut longest, mut second] = [f64::NEG_INFINITY; 2];
            let mut largest = f64::NEG_INFINITY;
            for &child in self.topology.children(node) {
                let way = ways[child as usize] + self.lengths[child as usize];
                (longest, second) = if way > longest { (way, longest) } else { (longest, second.max(way)) };
                largest = (child as usize).checked_sub(n).map_or(largest, |at| largest.max(diameters[at]));
            }
            ways[node] = longest;
            diameters.push(largest.max(longest + second));
        }
        Dendrogram::sorted(self.topology.clone(), diameters, Kind::Dissimilarity)
    }

    /// Returns the same tree with heights, if all leaves are equally far from the root (up to a relative difference of
    /// 1e-4). The height at which two leaves join is the length of the path between them. Nodes keep their indices.
    ///
    /// # Errors
    /// Leaves that are not equally far from the root; the errors of [`depths`](Self::depths).
    pub fn ultrametric(&self) -> Result<Dendrogram> {
        let (n, depths) = (self.topology.n_leaves(), self.depths()?);
        let nearest = (0..n).min_by(|&a, &b| depths[a].total_cmp(&depths[b])).unwrap_or(0);
        let farthest = (0..n).max_by(|&a, &b| depths[a].total_cmp(&depths[b])).unwrap_or(0);
        let largest = depths.iter().fold(0.0f64, |largest, depth| largest.max(depth.abs()));
        let differ = depths[farthest] - depths[nearest];
        // If the sum of lengths overflows, the difference is NaN.
        if differ.is_nan() || differ > TOLERANCE * largest {
            return Err(Error::Argument(format!(
                "the tree has lengths but no heights: leaf {nearest} is {} from the root, leaf {farthest} {}",
                depths[nearest], depths[farthest]
            )));
        }
        let mut ways = vec![0.0f64; self.topology.n_nodes()];
        for node in n..self.topology.n_nodes() {
            let way = |&child: &u32| ways[child as usize] + self.lengths[child as usize];
            ways[node] = self.topology.children(node).iter().map(way).fold(f64::NEG_INFINITY, f64::max);
        }
        let heights = ways[n..].iter().map(|way| 2.0 * way).collect();
        Dendrogram::of_nodes(self.topology.clone(), heights, Kind::Dissimilarity)
    }

    /// Returns the same tree over renamed leaves: leaf `i` becomes `leaves[i]`.
    ///
    /// # Errors
    /// `leaves` is not a permutation.
    pub fn relabel(&self, leaves: &[u32]) -> Result<Self> {
        let topology = self.topology.relabel(leaves)?;
        let mut lengths = self.lengths.clone();
        leaves.iter().zip(&self.lengths).for_each(|(&leaf, &length)| lengths[leaf as usize] = length);
        Ok(Self { topology, lengths })
    }

    /// Orders the nodes by the longest path between two leaves below them, or by their number of leaves if a length is
    /// unknown. Also returns the former index of each node.
    pub(super) fn in_order(self) -> (Self, Vec<u32>) {
        let n = self.topology.n_leaves();
        let order = match self.by_diameter() {
            Ok((_, order)) => order,
            Err(_) => (0..n as u32).chain(order_by(&self.topology, |_| 0.0)).collect(),
        };
        let lengths = order.iter().map(|&node| self.lengths[node as usize]).collect();
        (Self { topology: self.topology.reordered(&order[n..]), lengths }, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(lengths: [f64; 5]) -> AdditiveTree {
        let shape = Topology::from_parents(3, vec![3, 3, 4, 4, 4]).unwrap();
        AdditiveTree::new(shape, lengths.to_vec()).unwrap()
    }

    #[test]
    fn heights_of_an_ultrametric_tree_are_paths() {
        let heights = tree([1.0, 1.0, 3.0, 2.0, f64::NAN]).ultrametric().unwrap();
        assert_eq!((heights.heights(), heights.kind()), (&[2.0, 6.0][..], Kind::Dissimilarity));
        assert_eq!(heights.edge_lengths()[..4], [1.0, 1.0, 3.0, 2.0]);
        let message = tree([1.0, 2.0, 3.0, 2.0, f64::NAN]).ultrametric().unwrap_err().to_string();
        assert!(message.contains("leaf 0 is 3 from the root, leaf 1 4"), "{message}");
    }

    #[test]
    fn unknown_and_negative_lengths() {
        let message = tree([1.0, f64::NAN, 3.0, 2.0, 0.0]).depths().unwrap_err().to_string();
        assert!(message.contains("the edge above node 1 has no length"), "{message}");
        assert_eq!(tree([5.0, 5.0, 1.0, -4.0, 0.0]).diameters().unwrap().heights(), [10.0, 10.0]);
        let shape = Topology::from_parents(2, vec![2, 2, 2]).unwrap();
        assert!(AdditiveTree::new(shape.clone(), vec![1.0, f64::INFINITY, 0.0]).is_err());
        assert!(AdditiveTree::new(shape, vec![1.0]).is_err());
    }
}
