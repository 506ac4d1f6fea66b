//! Single linkage: finds the edges that join clusters, and the order of the merges.

use super::matrix::Matrix;
use super::spanning_tree::{SQUARE, all_largest, grown, most_similar};
use super::tied_clusters::{Clusters, Space};
use super::tolerance::Tolerance;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::RawMerge;

/// From this number of leaves on, single linkage first looks for a spanning tree whose edges all have the largest
/// similarity. For fewer leaves, a spanning tree is grown at once.
const PASS_FROM: usize = 1000;
const PASSES: usize = 8;

/// Returns the merges of single linkage, in order. Above 1,024 leaves, the memory besides the matrix is O(n). For fewer
/// leaves, the input is copied to a square matrix.
///
/// Large matrices are read in passes. Each pass keeps the few largest similarities between different clusters (Kruskal
/// 1956, with a filter), including all ties, so that the order of ties is known. If there are too many ties, Prim's
/// algorithm reads every pair once instead. This is slower, because columns are read with a stride.
pub(crate) fn merges(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    let n = matrix.n_leaves();
    monitor.start((n * n) as u64);
    if n >= PASS_FROM {
        if let Some(edges) = all_largest(matrix, monitor)? {
            return merges_along(n, edges, &|a, b| matrix.similarity(a, b), None, monitor);
        }
        if n > SQUARE
            && let Some(merges) = in_passes(matrix, monitor)?
        {
            return Ok(RawMerge::sort(n, merges, Tolerance::EXACT));
        }
    }
    merges_along(n, grown(matrix, monitor)?, &|a, b| matrix.similarity(a, b), None, monitor)
}

/// Returns the merges, in order, given the edges of a maximum spanning tree and the similarity of any two leaves.
///
/// If edges are tied, all pairs of tied clusters may have to be compared. For leaves that are points, `space` finds the
/// tied pairs faster.
pub(crate) fn merges_along<'a>(
    n: usize,
    mut edges: Vec<RawMerge>,
    similarity: &'a dyn Fn(u32, u32) -> f64,
    space: Option<Space<'a>>,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let mut merges = Vec::with_capacity(edges.len());
    edges.sort_unstable_by(RawMerge::by_similarity);
    if edges.windows(2).all(|pair| pair[0].similarity != pair[1].similarity) {
        Clusters::without_lookup(n).join_all(edges, &mut merges, monitor)?;
        return Ok(merges);
    }
    Clusters::along_tree(n, similarity, space).join_all(edges, &mut merges, monitor)?;
    Ok(RawMerge::sort(n, merges, Tolerance::EXACT))
}

/// Returns the merges. Each merge comes after the merges that made its two clusters. Returns `None` if too many pairs
/// are tied, or if several clusters are left after `PASSES` passes.
fn in_passes(matrix: &Matrix<'_>, monitor: &Monitor) -> Result<Option<Vec<RawMerge>>> {
    let n = matrix.n_leaves();
    let mut clusters = Clusters::without_lookup(n);
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    for _ in 0..PASSES {
        let Some(pairs) = most_similar(matrix, &clusters.names(), monitor)? else { return Ok(None) };
        clusters.join_all(pairs, &mut merges, monitor)?;
        if merges.len() + 1 == n {
            return Ok(Some(merges));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::spanning_tree::grown_in_place;
    use crate::agglomerate::{Agglomeration, Engine, Layout, Values};
    use crate::kind::Kind;
    use crate::linkage::Rule;
    use crate::testkit::below;
    use crate::tree::Dendrogram;

    proptest! {
        #[test]
        fn passes_and_trees_merge_as_the_naive_engine(
            n in 2..90usize, kinds in 1..50u64, seed: u64, clusters in 1..7usize, dissimilarity: bool
        ) {
            let mut random = below(seed);
            let mut pair = |i: usize, j: usize| {
                let far = if i % clusters == j % clusters { 0 } else { 1000 };
                (random(kinds) + far) as f64
            };
            let values: Vec<f64> =
                (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| pair(i, j)).collect();
            let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::of(dissimilarity)).unwrap();
            let monitor = Monitor::new();
            let tree = |merges: Vec<RawMerge>| {
                let sign = if dissimilarity { -1.0 } else { 1.0 };
                Dendrogram::in_order(n, merges).unwrap().map_heights(dissimilarity, |x| sign * x)
            };
            let naive = Agglomeration::new(Rule::Single).engine(Engine::Naive).run(&matrix).unwrap();
            let similarity = |a, b| matrix.similarity(a, b);
            let in_place = Some(grown_in_place(&matrix, &monitor).unwrap());
            let trees = [Some(grown(&matrix, &monitor).unwrap()), in_place, all_largest(&matrix, &monitor).unwrap()];
            for edges in trees.into_iter().flatten() {
                prop_assert_eq!(&tree(merges_along(n, edges, &similarity, None, &monitor).unwrap()), &naive);
            }
            if let Some(merges) = in_passes(&matrix, &monitor).unwrap() {
                prop_assert_eq!(&tree(RawMerge::sort(n, merges, Tolerance::EXACT)), &naive);
            }
        }
    }
}
