//! Better trees: subtrees are cut off and put elsewhere as long as that improves an objective.
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
//! Average linkage is a local optimum of revenues and of Dasgupta's cost under exchanges of neighbouring
//! subtrees; the smallest move that helps is subtree prune and regraft (SPR). A subtree that is cut off
//! can be put on any other edge, and all of these places are scored together, in O(n) for objectives
//! that are sums over pairs of leaves.
//!
//! Where the tree is at a local optimum, it is shaken or annealed, and the best one kept. The search takes place in an
//! order of the leaves that comes from the data, so that trees don't depend on how leaves are numbered.
//!
//! * [`refine`]: for a matrix of similarities, Dasgupta's cost; with AddS similarities that is the revenue
//!   of comparisons.
//! * [`refine_satisfied`]: the number of triplets that the tree agrees with.
//!
//! [`optimal_leaf_order`] leaves the tree as it is, and turns subtrees around so that neighbouring leaves are close.

mod anneal;
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

/// How long and how far to search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Search {
    /// The most moves that are made; as many as help, if there is no limit.
    pub max_moves: Option<u64>,
    /// How often the best tree is annealed (for satisfied triplets) or shaken, twice, by random moves (for
    /// Dasgupta's cost), and improved again.
    pub restarts: u32,
    /// For the random moves.
    pub seed: u64,
    /// Clusters that stay as they are.
    pub kept: Option<Partition>,
}

/// What the heights of a refined tree are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Heights {
    /// Leaves under the merge, as a dissimilarity; leaves outside of it, as a similarity.
    #[default]
    Sizes,
    /// The mean over pairs of leaves that the merge joins, or that of its closest part if that is farther.
    Average,
}

/// A tree that was improved.
#[derive(Debug, Clone, PartialEq)]
pub struct Refined {
    /// The tree.
    pub tree: Dendrogram,
    /// By how much the objective is better than that of the tree it started from; never negative.
    pub gain: f64,
    /// The moves that were made, shaking included.
    pub moves: u64,
    /// Whether no single move improves the tree.
    pub is_local_optimum: bool,
}

/// Lowers Dasgupta's cost of a tree under similarities (raises it under dissimilarities), by moving subtrees.
///
/// With AddS3 similarities this raises the revenue of triplets, with AddS4 that of quadruplets (Mandal,
/// Perrot & Ghoshdastidar, "A revenue function for comparison-based hierarchical clustering", theorem 1).
/// A constant added to all similarities changes nothing. O(n) time for all places of one subtree, memory
/// for two matrices.
///
/// # Errors
/// A tree or clusters of another number of leaves; clusters to keep that the tree does not have; not
/// enough memory; [`Error::Interrupted`].
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
    found.refined(leaves, height, matrix.is_dissimilarity())
}

/// Raises the number (the weight) of triplets that a tree agrees with, by moving subtrees.
///
/// Heights are numbers of leaves outside of each merge as similarities, less the numbers of leaves within it as
/// dissimilarities, as `kind` says. A subtree takes time in proportion to the triplets
/// of its leaves.
///
/// # Errors
/// As [`refine`].
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
    found.refined(&leaves, |shape, node| size_height(shape, node, dissimilarity), dissimilarity)
}

/// As a similarity.
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
    objective: &mut impl Objective,
    search: &Search,
    monitor: &Monitor,
) -> Result<Found> {
    let mut shape = start.clone();
    let before = objective.total(&shape);
    let (moves, is_local_optimum) = climb(&mut shape, objective, movable, search, monitor)?;
    let gain = objective.total(&shape) - before;
    if gain < 0.0 {
        // Only where gains are below rounding.
        objective.prepare(&start);
        return Ok(Found { shape: start, gain: 0.0, moves: 0, is_local_optimum });
    }
    Ok(Found { shape, gain, moves, is_local_optimum })
}

/// Which nodes may be cut off, and which edges above nodes may be put on.
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
                after: format!(" are to stay in one cluster of {size}, but the tree joins them in one of {found}"),
            });
        }
        shape.below(top).for_each(|node| movable[node] = false);
    }
    Ok(movable)
}

impl Found {
    /// With the leaf at each place of an order as its number.
    fn refined(self, leaves: &[u32], height: impl Fn(&Shape, usize) -> f64, dissimilarity: bool) -> Result<Refined> {
        let n = self.shape.n_leaves();
        let mut smallest: Vec<usize> = (0..self.shape.n_nodes()).collect();
        let mut merges = Vec::with_capacity(n - 1);
        for node in self.shape.inner_in_order() {
            let [a, b] = self.shape.children(node).map(|child| smallest[child]);
            smallest[node] = a.min(b);
            merges.push(RawMerge { i: a.min(b), j: a.max(b), similarity: height(&self.shape, node) });
        }
        // A whole is no closer than its parts.
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
