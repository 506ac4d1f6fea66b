//! Improves trees by moving subtrees, as long as an objective improves.
//!
//! ```
//! use ordhc::refine::{Search, refine_satisfied};
//! use ordhc::{Dendrogram, Kind, Triplets};
//!
//! let (start, _) = Dendrogram::from_newick("((0,2),(1,3));")?;
//! let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 3], [2, 3, 0], [3, 2, 1]], None)?;
//! let better = refine_satisfied(start.topology(), Kind::Similarity, &triplets, &Search::default(), None)?;
//! assert_eq!(better.tree.newick().to_string(), "((0,1),(2,3));");
//! assert!(better.gain > 0.0 && better.is_local_optimum);
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! Average linkage gives a local optimum of revenues and of Dasgupta's cost under exchanges of neighbouring subtrees.
//! The smallest move that can improve such an optimum is subtree prune and regraft (SPR): a subtree is cut off and
//! attached to any other edge. All edges to which a subtree can move are scored together. This takes O(n) time for
//! objectives that are sums over pairs of leaves.
//!
//! At a local optimum, the tree is perturbed by random moves or annealed, and improved again. The best tree is kept.
//! The search uses an order of the leaves that depends only on the data, so the result does not depend on how leaves
//! are numbered.
//!
//! * [`refine`]: for a matrix of similarities, Dasgupta's cost. For AddS similarities, this is the revenue of
//!   comparisons.
//! * [`refine_satisfied`]: the number of triplets with which the tree agrees.
//!
//! [`optimal_leaf_order`] does not change the tree, but swaps children so that neighbouring leaves are close.

pub(crate) mod canonical;
mod climb;
mod cost;
mod lanes;
mod leaf_order;
mod satisfied;
mod shape;

use crate::agglomerate::{Matrix, Tolerance};
use crate::comparison::Triplets;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::metric::same_leaves;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, RawMerge, Topology};
use canonical::{numbers, order_of_matrix, order_with_tree, renumbered};
use climb::{Objective, climb};
use cost::{Cost, DOUBLE, Exactness, ROUNDED, Real, SINGLE};
pub use leaf_order::optimal_leaf_order;
use satisfied::SatisfiedTriplets;
pub(crate) use shape::Shape;

/// Limits and settings of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Search {
    /// The maximum number of moves. `None` means no limit: the search ends when no move improves the tree.
    pub max_moves: Option<u64>,
    /// The number of restarts from the best tree. In each restart, [`refine_satisfied`] anneals the tree. [`refine`]
    /// twice perturbs the tree by random moves and improves it again.
    pub restarts: u32,
    /// The seed of the random moves.
    pub seed: u64,
    /// Clusters that must not change.
    pub kept: Option<Partition>,
}

/// The heights of a refined tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Heights {
    /// The height of a merge of dissimilarities is the number of leaves in the merged cluster. The height of a merge of
    /// similarities is the number of leaves outside of the merged cluster.
    #[default]
    Sizes,
    /// The mean of the matrix over the pairs of leaves that the merge joins. If this mean is closer than the height of
    /// a child of the merge, the merge gets the height of the child.
    Average,
}

/// The result of a refinement.
#[derive(Debug, Clone, PartialEq)]
pub struct Refined {
    /// The improved tree.
    pub tree: Dendrogram,
    /// The improvement of the objective over the initial tree, never negative.
    pub gain: f64,
    /// The number of moves, including random moves.
    pub moves: u64,
    /// True if no single move improves the tree.
    pub is_local_optimum: bool,
}

/// Lowers Dasgupta's cost of a tree for similarities, or raises it for dissimilarities, by moving subtrees.
///
/// For AddS3 similarities this raises the revenue of triplets, and for AddS4 similarities the revenue of quadruplets
/// (Mandal, Perrot & Ghoshdastidar, "A revenue function for comparison-based hierarchical clustering", theorem 1).
/// Adding a constant to all similarities does not change the result. Scoring all edges to which a subtree can
/// move takes O(n) time. The search needs the memory of two matrices.
///
/// # Errors
/// A tree or clusters with a different number of leaves than the matrix; clusters to keep that the tree does not have;
/// not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::agglomerate::{Layout, Matrix, Values};
/// use ordhc::refine::{Heights, Search, refine};
/// use ordhc::{Kind, tree::Topology};
///
/// let start = Topology::from_merges(vec![[0, 2], [1, 3], [4, 5]])?;
/// let similarities = Matrix::new(Values::I32(&[5, 1, 0, 1, 0, 4]), Layout::Condensed, Kind::Similarity)?;
/// let better = refine(&start, &similarities, Heights::Average, &Search::default(), None)?;
/// assert_eq!(better.tree.newick().to_string(), "((0,1),(2,3));");
/// assert_eq!((better.tree.heights(), better.gain), (&[5.0, 4.0, 0.5][..], 16.0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn refine(
    start: &Topology,
    matrix: &Matrix<'_>,
    heights: Heights,
    search: &Search,
    monitor: Option<&Monitor>,
) -> Result<Refined> {
    watched!(monitor);
    same_leaves(["the tree has", "the matrix has"], [start.n_leaves(), matrix.n_leaves()])?;
    let leaves = order_of_matrix(matrix, start);
    let number = numbers(&leaves);
    let shape = Shape::of(renumbered(start, &number));
    let movable = movable(&shape, &number, search.kept.as_ref())?;
    match Exactness::of(matrix) {
        Exactness::Single => refine_in::<f32, SINGLE>(shape, matrix, &leaves, &movable, heights, search, monitor),
        Exactness::Double => refine_in::<f64, DOUBLE>(shape, matrix, &leaves, &movable, heights, search, monitor),
        Exactness::Rounded => refine_in::<f64, ROUNDED>(shape, matrix, &leaves, &movable, heights, search, monitor),
    }
}

fn refine_in<V: Real, const LANES: usize>(
    shape: Shape,
    matrix: &Matrix<'_>,
    leaves: &[u32],
    movable: &[bool],
    heights: Heights,
    search: &Search,
    monitor: &Monitor,
) -> Result<Refined> {
    let mut objective = Cost::<V, LANES>::new(matrix, &shape, &numbers(leaves), movable)?;
    let found = best_tree(shape, movable, &mut objective, search, monitor)?;
    let height = |shape: &Shape, node: usize| match heights {
        Heights::Sizes => size_height(shape, node, matrix.is_dissimilarity()),
        Heights::Average => objective.mean(shape, node),
    };
    found.refined(leaves, &height, matrix.is_dissimilarity())
}

/// Raises the number (or weight) of triplets with which a tree agrees, by moving subtrees.
///
/// If `kind` is similarity, the height of a merge is the number of leaves outside of the merged cluster. If `kind` is
/// dissimilarity, the height is the number of leaves in this cluster. The time for one subtree is proportional to the
/// number of triplets about its leaves.
///
/// # Errors
/// The errors of [`refine`].
///
/// ```
/// use ordhc::refine::{Search, refine_satisfied};
/// use ordhc::{Kind, Triplets, tree::Topology};
///
/// let start = Topology::from_merges(vec![[0, 2], [3, 1]])?;
/// let answers = Triplets::new(vec![[0, 1, 2], [1, 0, 2], [0, 2, 1]], None)?;
/// let better = refine_satisfied(&start, Kind::Similarity, &answers, &Search::default(), None)?;
/// assert_eq!((better.tree.newick().to_string().as_str(), better.gain), ("(2,(0,1));", 1.0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn refine_satisfied(
    start: &Topology,
    kind: Kind,
    triplets: &Triplets<'_>,
    search: &Search,
    monitor: Option<&Monitor>,
) -> Result<Refined> {
    watched!(monitor);
    same_leaves(["the tree has", "the comparisons have"], [start.n_leaves(), triplets.n_leaves()])?;
    let leaves = order_with_tree(triplets, start);
    let number = numbers(&leaves);
    let shape = Shape::of(renumbered(start, &number));
    let movable = movable(&shape, &number, search.kept.as_ref())?;
    let mut objective = SatisfiedTriplets::new(triplets, &shape, &number, &movable)?;
    let dissimilarity = kind.is_dissimilarity();
    let found = best_tree(shape, &movable, &mut objective, search, monitor)?;
    found.refined(&leaves, &|shape, node| size_height(shape, node, dissimilarity), dissimilarity)
}

/// Returns the number of leaves outside of a node, or for dissimilarities the negated number of leaves below it. So
/// larger heights always mean more similar leaves.
fn size_height(shape: &Shape, node: usize, dissimilarity: bool) -> f64 {
    let size = shape.size(node) as f64;
    if dissimilarity { -size } else { shape.n_leaves() as f64 - size }
}

struct Found {
    shape: Shape,
    gain: f64,
    moves: u64,
    is_local_optimum: bool,
}

fn best_tree(
    start: Shape,
    movable: &[bool],
    objective: &mut dyn Objective,
    search: &Search,
    monitor: &Monitor,
) -> Result<Found> {
    let mut shape = start.clone();
    let before = objective.total(&shape);
    let (moves, is_local_optimum) = climb(&mut shape, objective, movable, search, monitor)?;
    let gain = objective.total(&shape) - before;
    if gain < 0.0 {
        // The total gain is below the rounding errors, so return the initial tree.
        objective.prepare(&start);
        return Ok(Found { shape: start, gain: 0.0, moves: 0, is_local_optimum });
    }
    Ok(Found { shape, gain, moves, is_local_optimum })
}

/// Returns, for each node, true if the node may be moved and subtrees may be put on the edge above it. The value is
/// false for all nodes inside of clusters that must be kept.
fn movable(shape: &Shape, number: &[u32], kept: Option<&Partition>) -> Result<Vec<bool>> {
    let mut movable = vec![true; shape.n_nodes()];
    let Some(kept) = kept else { return Ok(movable) };
    same_leaves(["the tree has", "the clusters to keep have"], [shape.n_leaves(), kept.n_leaves()])?;
    for cluster in kept.clusters() {
        let numbers: Vec<usize> = cluster.iter().map(|&leaf| number[leaf] as usize).collect();
        let top = shape.smallest_holding(&numbers);
        if shape.size(top) != cluster.len() {
            let (size, found) = (cluster.len(), shape.size(top));
            return Err(Error::Leaves {
                before: "leaves ".into(),
                leaves: vec![vec![cluster[0]], vec![cluster[size - 1]]],
                after: format!(
                    " must stay in one cluster of {size}, but the tree's cluster with these leaves has {found} leaves"
                ),
            });
        }
        shape.below(top).for_each(|node| movable[node] = false);
    }
    Ok(movable)
}

impl Found {
    /// Restores the original ids of leaves: leaf i of the search is leaf `leaves[i]` of the tree.
    fn refined(self, leaves: &[u32], height: &dyn Fn(&Shape, usize) -> f64, dissimilarity: bool) -> Result<Refined> {
        let n = self.shape.n_leaves();
        let mut smallest: Vec<usize> = (0..self.shape.n_nodes()).collect();
        let mut merges = Vec::with_capacity(n - 1);
        for node in self.shape.inner_in_order() {
            let [a, b] = self.shape.children(node).map(|child| smallest[child]);
            smallest[node] = a.min(b);
            merges.push(RawMerge { i: a.min(b), j: a.max(b), similarity: height(&self.shape, node) });
        }
        // Sorting also lowers the similarity of a merge if one of its two merged clusters has a lower similarity.
        let merges = RawMerge::sort(n, merges, Tolerance::EXACT);
        let tree = Dendrogram::in_order(n, merges)?.relabel(leaves)?;
        let tree = tree.map_heights(dissimilarity, |x| if dissimilarity { -x } else { x });
        Ok(Refined { tree, gain: self.gain, moves: self.moves, is_local_optimum: self.is_local_optimum })
    }
}

#[cfg(test)]
mod place_tests;
#[cfg(test)]
mod tests;
