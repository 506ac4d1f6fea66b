//! Hierarchies from vectors. The similarity of two leaves is the dot product or the distance of their vectors.
//!
//! ```
//! use ordhc::vectors::{Measure, Vectors, single_linkage, ward_linkage};
//!
//! // Four points of the plane.
//! let values = [0.0, 0.0, 0.0, 1.0, 6.0, 0.0, 6.0, 2.0];
//! let points = Vectors::new(&values, 4, 2)?;
//! assert_eq!(ward_linkage(&points, None)?.newick().to_string(), "((0,1),(2,3));");
//! assert_eq!(single_linkage(&points, Measure::Euclidean, 1.0, None)?.heights(), [1.0, 2.0, 6.0]);
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! * [`mean_dot_linkage`]: average linkage of dot products, without a matrix of pairs;
//! * [`mean_square_linkage`]: average linkage of squared Euclidean distances, without a matrix;
//! * [`single_linkage`]: single linkage of distances or dot products, and [`ward_linkage`], without a matrix;
//! * [`graph_linkage`]: linkages along a graph of nearest neighbours, for up to millions of vectors;
//! * [`distances`]: the distances of all pairs of vectors;
//! * [`sparse_gram`]: the dot products of all pairs of sparse rows;
//! * [`leaf_heights`]: the heights of the leaves.
//!
//! The average dot product of two clusters is the dot product of their means, so no matrix is needed (J. Gray et al.,
//! "Hierarchical clustering with dot products recovers hidden tree structure"). Points with few coordinates are stored
//! in a k-d tree of means. With more coordinates, average linkage of dot products works as follows:
//!
//! * Reciprocal pairs of clusters (each is nearest to the other) merge in rounds. Each round searches for the nearest
//!   neighbours of new clusters, and of clusters that are themselves the nearest neighbour of a cluster.
//! * Bounds in single precision, for sixteen clusters at a time, exclude most pairs. The similarities of the other
//!   pairs are computed in double precision. So nearest clusters, ties and trees do not depend on how the search is
//!   divided.
//! * After too many searches, a single nearest-neighbour chain continues. This limits the time to O(n^2 p) for p
//!   coordinates.

mod boruvka;
mod bounds;
mod centroid_tiles;
mod centroid_tree;
mod closeness;
mod clusters;
mod criteria;
mod dense_rows;
pub(crate) mod distances;
mod graph;
mod kd_tree;
pub(crate) mod leaf_heights;
mod mean_dot;
mod of_squares;
mod rough_tiles;
mod rounds;
mod search;
mod single;
mod sparse_gram;
mod sparse_rows;
mod tiles;

use crate::error::{Error, Position, Result};
use crate::tree::Dendrogram;

pub use closeness::Measure;
pub use dense_rows::{Coordinates, Vectors};
pub use graph::{Neighbors, graph_linkage};
pub use mean_dot::mean_dot_linkage;
pub use of_squares::{mean_square_linkage, ward_linkage};
pub use single::single_linkage;
pub use sparse_gram::sparse_gram;
pub use sparse_rows::SparseRows;

fn check_scale(scale: f64) -> Result<()> {
    if scale > 0.0 && scale.is_finite() {
        return Ok(());
    }
    Err(Error::out_of_range("scale", scale, "the positive, finite numbers"))
}

fn with_heights(tree: Dendrogram, is_dissimilarity: bool, height: impl Fn(f64) -> f64) -> Result<Dendrogram> {
    match tree.heights().iter().map(|&x| height(x)).enumerate().find(|(_, height)| !height.is_finite()) {
        Some((merge, value)) => {
            let (place, limit) = (Position::Merge(merge), "the vectors are too large: rescale them");
            Err(Error::BadValue { what: "the height", place, value, limit })
        }
        None => Ok(tree.map_heights(is_dissimilarity, height)),
    }
}
