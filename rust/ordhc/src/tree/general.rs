//! Trees of any kind: with heights, with lengths, or with their shape only.

use std::borrow::Cow;

use super::dendrogram::order_by;
use super::{AdditiveTree, Dendrogram, Topology};
use crate::error::{Error, Result};

/// A tree with heights, with edge lengths, or with its shape only.
///
/// ```
/// use ordhc::tree::{NewickTree, Tree, Underscores};
///
/// let read = |text| NewickTree::read(text, Underscores::Blanks, None).map(|read| read.tree);
/// assert!(matches!(read("((a,b),c);")?, Tree::Shape(_)));
/// assert!(matches!(read("((a:1,b:2):1,c:3);")?, Tree::Lengths(_)));
/// assert!(read("((a,b),c);")?.dendrogram().is_err());
/// assert_eq!(read("((a:1,b:1):1,c:2);")?.dendrogram()?.heights(), [2.0, 4.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// A tree without heights or lengths, such as a taxonomy.
    Shape(Topology),
    /// A tree with heights, such as an agglomeration.
    Heights(Dendrogram),
    /// A tree with edge lengths, such as a phylogeny.
    Lengths(AdditiveTree),
}

impl From<Dendrogram> for Tree {
    fn from(tree: Dendrogram) -> Self {
        Self::Heights(tree)
    }
}

impl Tree {
    /// Returns the shape of the tree.
    pub fn topology(&self) -> &Topology {
        match self {
            Self::Shape(topology) => topology,
            Self::Heights(tree) => tree.topology(),
            Self::Lengths(tree) => tree.topology(),
        }
    }

    /// Returns the tree with heights: its own heights, or heights computed from edge lengths if all leaves are
    /// equally far from the root ([`AdditiveTree::ultrametric`]).
    ///
    /// # Errors
    /// The tree has no heights.
    pub fn dendrogram(&self) -> Result<Cow<'_, Dendrogram>> {
        match self {
            Self::Shape(_) => Err(Error::Argument("the tree has neither heights nor lengths".into())),
            Self::Heights(tree) => Ok(Cow::Borrowed(tree)),
            Self::Lengths(tree) => tree.ultrametric().map(Cow::Owned),
        }
    }

    /// Returns the length of the edge above each node: the tree's own lengths, or lengths computed from heights
    /// ([`Dendrogram::edge_lengths`]). An unknown length is NaN, such as the length above the root.
    ///
    /// # Errors
    /// The tree has neither heights nor lengths.
    pub fn edge_lengths(&self) -> Result<Cow<'_, [f64]>> {
        match self {
            Self::Shape(_) => Err(Error::Argument("the tree has neither heights nor lengths".into())),
            Self::Heights(tree) => Ok(Cow::Owned(tree.edge_lengths())),
            Self::Lengths(tree) => Ok(Cow::Borrowed(tree.lengths())),
        }
    }

    /// Returns the same tree over renamed leaves: leaf `i` becomes `leaves[i]`.
    ///
    /// # Errors
    /// `leaves` is not a permutation.
    pub fn relabel(&self, leaves: &[u32]) -> Result<Self> {
        Ok(match self {
            Self::Shape(topology) => Self::Shape(topology.relabel(leaves)?),
            Self::Heights(tree) => Self::Heights(tree.relabel(leaves)?),
            Self::Lengths(tree) => Self::Lengths(tree.relabel(leaves)?),
        })
    }

    /// Returns the tree without the inner nodes for which `goes` is true. The children of a removed node become
    /// children of the node above, and the lengths of the two edges are added. The root is always kept.
    ///
    /// Also returns the former index of each node.
    pub fn without(&self, goes: impl Fn(usize) -> bool) -> (Self, Vec<u32>) {
        let (topology, kept) = self.topology().without(goes);
        (self.with_nodes(topology, &kept), kept)
    }

    /// Returns the tree restricted to some leaves, see [`Topology::restricted`]. If a node is removed, the lengths of
    /// its two edges are added.
    ///
    /// Also returns the former index of each node.
    ///
    /// # Errors
    /// The errors of [`Topology::restricted`].
    pub fn restricted(&self, leaves: &[u32]) -> Result<(Self, Vec<u32>)> {
        let (topology, kept) = self.topology().restricted(leaves)?;
        Ok((self.with_nodes(topology, &kept), kept))
    }

    fn with_nodes(&self, topology: Topology, kept: &[u32]) -> Self {
        let n = topology.n_leaves();
        match self {
            Self::Shape(_) => Self::Shape(topology),
            Self::Heights(tree) => {
                let all = tree.all_heights();
                let mut leaf_heights: Vec<f64> = kept.iter().map(|&node| all[node as usize]).collect();
                let heights = leaf_heights.split_off(n);
                let found =
                    Dendrogram::of_nodes(topology, heights, tree.kind()).expect("heights are those of the nodes");
                let is_default = tree.leaf_heights().is_none() && found.all_heights()[..n] == leaf_heights;
                let leaf_heights = if is_default { None } else { Some(leaf_heights) };
                Self::Heights(found.with_leaf_heights(leaf_heights).expect("heights are those of the leaves"))
            }
            Self::Lengths(tree) => {
                let length = |(node, &old): (usize, &u32)| {
                    let top = kept[topology.parent(node)];
                    let mut old = old as usize;
                    if node == topology.root() {
                        return if old == tree.topology().root() { tree.lengths()[old] } else { f64::NAN };
                    }
                    let mut sum = tree.lengths()[old];
                    loop {
                        old = tree.topology().parent(old);
                        if old == top as usize {
                            return sum;
                        }
                        sum += tree.lengths()[old];
                    }
                };
                let lengths = kept.iter().enumerate().map(length).collect();
                Self::Lengths(AdditiveTree::new(topology, lengths).expect("lengths are those of the nodes"))
            }
        }
    }

    /// Returns the same tree with its nodes in the order of their heights. In a tree with edge lengths, nodes are
    /// ordered by the longest path between two leaves below them. Ties are broken by the number of leaves, then by the
    /// smallest leaf. So the result does not depend on how the nodes were numbered.
    ///
    /// Also returns the former index of each node.
    pub fn sorted(self) -> (Self, Vec<u32>) {
        match self {
            Self::Shape(topology) => {
                let order = order_by(&topology, |_| 0.0);
                let leaves = 0..topology.n_leaves() as u32;
                (Self::Shape(topology.reordered(&order)), leaves.chain(order).collect())
            }
            Self::Heights(tree) => {
                let (tree, order) = tree.in_order_of_heights();
                (Self::Heights(tree), order)
            }
            Self::Lengths(tree) => {
                let (tree, order) = tree.in_order();
                (Self::Lengths(tree), order)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn lengths_add_up() {
        let shape = Topology::from_parents(4, vec![4, 4, 5, 6, 5, 6, 6]).unwrap();
        let lengths = vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let tree = Tree::Lengths(AdditiveTree::new(shape.clone(), lengths).unwrap());
        let (fewer, kept) = tree.without(|node| node < 6);
        assert_eq!(
            (kept, fewer.edge_lengths().unwrap().into_owned()),
            (vec![0, 1, 2, 3, 6], vec![49.0, 50.0, 36.0, 8.0, 64.0])
        );
        let (few, kept) = tree.restricted(&[0, 2]).unwrap();
        assert_eq!(kept, [0, 2, 5]);
        let found = few.edge_lengths().unwrap();
        assert!(found[..2] == [17.0, 4.0] && found[2].is_nan());
        let tree = Tree::Heights(Dendrogram::of_nodes(shape, vec![3.0, 2.0, 1.0], Kind::Similarity).unwrap());
        let (few, _) = tree.restricted(&[0, 2]).unwrap();
        let few = few.dendrogram().unwrap();
        assert_eq!((few.heights(), few.leaf_heights()), (&[2.0][..], Some(&[3.0, 3.0][..])));
    }
}
