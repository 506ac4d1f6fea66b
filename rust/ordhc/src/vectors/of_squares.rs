//! Linkages of squared distances of means.

use super::centroid_tiles::CentroidTiles;
use super::centroid_tree::CentroidTree;
use super::criteria::{About, OfSquares};
use super::dense_rows::Vectors;
use super::mean_dot::Unit;
use crate::agglomerate::{Tolerance, rounding};
use crate::error::{Error, Position, Result};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, RawMerge};

/// Means of up to so many coordinates are worth a tree.
const FEW: usize = 8;

/// The tree of a criterion, with a tree of means from so many vectors on, and a merge's height from what the
/// criterion makes of coordinates in this unit.
pub(super) fn linkage<C: OfSquares>(
    vectors: &Vectors<'_>,
    criterion: impl FnOnce(Tolerance) -> C,
    tree_from: usize,
    height: impl Fn(Unit, f64) -> f64,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    let (n, p) = (vectors.n_leaves(), vectors.n_coordinates());
    let unit = Unit::below_one(vectors.largest());
    let row = |leaf: usize| vectors.row(leaf).map(move |x| unit.shrink(x));
    let tolerance = Tolerance::rounded(4.0 * rounding(n + p), 0.0);
    let criterion = criterion(tolerance);
    monitor.start((n * n / 2) as u64);
    let merges = if n >= tree_from && (1..=FEW).contains(&p) {
        let points: Vec<f64> = (0..n).flat_map(row).collect();
        CentroidTree::new(points, p, vec![About::LEAF; n], criterion).merge_all(monitor)?
    } else {
        CentroidTiles::new(n, p, row, criterion)?.merge_all(monitor)?
    };
    let mut tree = Dendrogram::in_order(n, RawMerge::sort(n, merges, tolerance))?;
    tree.make_monotone();
    let height = |x: f64| height(unit, x);
    if let Some(k) = tree.heights().iter().position(|&x| !height(x).is_finite()) {
        let limit = "the vectors are too large: rescale";
        let value = height(tree.heights()[k]);
        return Err(Error::BadValue { what: "the height", place: Position::Merge(k), value, limit });
    }
    Ok(tree.map_heights(true, height))
}
