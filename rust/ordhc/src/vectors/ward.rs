//! Ward's linkage of vectors: centroids and sizes tell how much the variance would grow.

use std::ops::Range;

use super::centroid_tree::{CentroidTree, FEW, TREE_FROM};
use super::closeness::{Closeness, SquaredEuclidean};
use super::dense_rows::Vectors;
use super::mean_dot::Unit;
use super::rough_tiles::{Query, RoughTiles};
use super::tiles::{LANES, Tiles};
use crate::agglomerate::{Chain, Linkage, NOBODY, Nearest, Tolerance, rounding};
use crate::error::{Error, Position, Result};
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::{Dendrogram, RawMerge};

/// Ward's linkage of Euclidean distances without a matrix of pairs.
///
/// MeanClusters of sizes a and b whose centroids have distance d merge at the height sqrt(2 a b / (a + b)) d, which
/// is that of [`Rule::Ward`](crate::linkage::Rule::Ward) and of SciPy. Time is O(n^2 p), by a
/// nearest-neighbour chain, for few coordinates mostly O(n log n), by a k-d tree of centroids; memory O(n p): copies of
/// the vectors in double and single precision. Ties, up to rounding, take the
/// pair with the lexicographically smallest (smallest leaf, smallest leaf).
///
/// # Errors
/// Heights that overflow; not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::vectors::{Vectors, ward_linkage};
///
/// let vectors = Vectors::new(&[0.0, 2.0, 9.0], 3, 1)?;
/// let tree = ward_linkage(&vectors, None)?;
/// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
/// assert_eq!(tree.heights(), [2.0, (256.0f64 / 3.0).sqrt()]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn ward_linkage(vectors: &Vectors<'_>, monitor: Option<&Monitor>) -> Result<Dendrogram> {
    watched!(monitor);
    ward_from(vectors, TREE_FROM, monitor)
}

/// Ward's linkage, with a tree of centroids from so many of them on.
fn ward_from(vectors: &Vectors<'_>, tree_from: usize, monitor: &Monitor) -> Result<Dendrogram> {
    let (n, p) = (vectors.n_leaves(), vectors.n_coordinates());
    let unit = Unit::below_one(vectors.largest());
    let row = |leaf: usize| vectors.row(leaf).map(|x| unit.shrink(x));
    let tolerance = Tolerance::rounded(4.0 * rounding(n + p), 0.0);
    monitor.start((n * n / 2) as u64);
    let mut chain = Chain::unlisted(n);
    if n >= tree_from && (1..=FEW).contains(&p) {
        let points: Vec<f64> = (0..n).flat_map(row).collect();
        chain.run(&mut CentroidTree::new(&points, p, tolerance), 1, monitor)?;
    } else {
        let mut tiles = Tiles::new(n, p)?;
        let mut rough = RoughTiles::new(n, p)?;
        for leaf in 0..n {
            tiles.set(leaf, row(leaf));
            rough.set(leaf, row(leaf), 1.0);
        }
        chain.run(&mut Centroids::new(tiles, rough, n, tolerance), 1, monitor)?;
    }
    let merges = RawMerge::sort(n, chain.into_merges(), tolerance, monitor);
    let mut tree = Dendrogram::in_order(n, merges)?;
    tree.make_monotone();
    let height = |x: f64| unit.grow((-x).sqrt(), 1);
    if let Some(k) = tree.heights().iter().position(|&x| !height(x).is_finite()) {
        let limit = "the vectors are too large: rescale";
        let value = height(tree.heights()[k]);
        return Err(Error::BadValue { what: "the height", place: Position::Merge(k), value, limit });
    }
    Ok(tree.map_heights(true, height))
}

/// A thread should have this many coordinates to look at.
const GRAIN: usize = 1 << 18;

/// MeanClusters in the order of their smallest leaves.
struct Centroids {
    tiles: Tiles,
    /// The same, rounded.
    rough: RoughTiles,
    /// By place: the smallest leaf, and the size; nothing where a cluster is gone, and behind the last.
    names: Vec<u32>,
    sizes: Vec<f64>,
    n_alive: usize,
    /// By smallest leaf.
    places: Vec<u32>,
    tolerance: Tolerance,
}

/// What the squared distance of two centroids is multiplied with, for clusters of these sizes: more for larger ones.
#[inline(always)]
pub(super) fn weight(n_i: f64, n_k: f64) -> f64 {
    2.0 * n_i * n_k / (n_i + n_k)
}

impl Centroids {
    fn new(tiles: Tiles, rough: RoughTiles, n: usize, tolerance: Tolerance) -> Self {
        let mut sizes = vec![1.0; n];
        sizes.resize(n.next_multiple_of(LANES), GONE);
        Self {
            tiles,
            rough,
            names: (0..n as u32).collect(),
            sizes,
            n_alive: n,
            places: (0..n as u32).collect(),
            tolerance,
        }
    }

    fn place(&self, cluster: usize) -> usize {
        self.places[cluster] as usize
    }

    /// The similarities of a cluster with those of a tile, if one of them may reach `floor`. The squared distances
    /// of centroids are negated, and weighted with twice the harmonic sum of sizes.
    #[inline(always)]
    fn similarities_in(&self, tile: usize, query: &[f64], own: usize, floor: f64) -> Option<[f64; LANES]> {
        let n_i = self.sizes[own];
        let sizes = &self.sizes.as_chunks::<LANES>().0[tile];
        // Infinite where there is no cluster.
        let mut weights: [f64; LANES] =
            std::array::from_fn(|lane| if sizes[lane] == GONE { f64::INFINITY } else { weight(n_i, sizes[lane]) });
        if own / LANES == tile {
            weights[own % LANES] = f64::INFINITY;
        }
        let too_far =
            |sums: &[f64; LANES]| !(0..LANES).fold(false, |near, lane| near | (-(sums[lane] * weights[lane]) >= floor));
        let sums = self.tiles.sums(tile, query, SquaredEuclidean::add, too_far)?;
        let value = |lane: usize| {
            if weights[lane] == f64::INFINITY { f64::NEG_INFINITY } else { -(sums[lane] * weights[lane]) }
        };
        Some(std::array::from_fn(value))
    }

    /// The nearest cluster in some tiles.
    fn nearest_in(&self, tiles: Range<usize>, query: &[f64], rough: &Query, own: usize) -> Nearest {
        let tolerance = self.tolerance;
        let mut near = NOBODY;
        let mut floor = f64::NEG_INFINITY;
        for tile in tiles {
            if self.rough.all_beyond(tile, rough, floor) {
                continue;
            }
            let Some(values) = self.similarities_in(tile, query, own, floor) else { continue };
            for (lane, &similarity) in values.iter().enumerate() {
                if similarity >= floor && similarity > f64::NEG_INFINITY {
                    let cluster = self.names[tile * LANES + lane] as usize;
                    if near.offer(Nearest { cluster, similarity, doubtful: false }, tolerance) {
                        floor = tolerance.floor(similarity);
                    }
                }
            }
        }
        near
    }

    /// Packs clusters when a third has gone.
    fn pack(&mut self) {
        if 3 * self.n_alive >= 2 * self.names.len() {
            return;
        }
        let kept: Vec<usize> = (0..self.names.len()).filter(|&at| self.sizes[at] != GONE).collect();
        self.tiles.keep(&kept);
        self.rough.keep(&kept);
        self.names = kept.iter().map(|&at| self.names[at]).collect();
        self.sizes = kept.iter().map(|&at| self.sizes[at]).collect();
        self.sizes.resize(kept.len().next_multiple_of(LANES), GONE);
        self.names.iter().enumerate().for_each(|(at, &name)| self.places[name as usize] = at as u32);
    }
}

const GONE: f64 = 0.0;

impl Linkage for Centroids {
    fn n_leaves(&self) -> usize {
        self.places.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        let own = self.place(i);
        let query: Vec<f64> = self.tiles.row(own).collect();
        for (value, &k) in out.iter_mut().zip(others) {
            let at = self.place(k);
            let values = self.similarities_in(at / LANES, &query, own, f64::NEG_INFINITY);
            *value = values.map_or(f64::NEG_INFINITY, |values| values[at % LANES]);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        let (i, j) = (self.place(i), self.place(j));
        let share = self.sizes[j] / (self.sizes[i] + self.sizes[j]);
        let mean: Vec<f64> = self.tiles.row(i).zip(self.tiles.row(j)).map(|(x, y)| x + (y - x) * share).collect();
        self.sizes[i] += self.sizes[j];
        self.sizes[j] = GONE;
        self.tiles.set(i, mean.iter().copied());
        self.rough.set(i, mean.into_iter(), self.sizes[i]);
        self.rough.remove(j);
        self.n_alive -= 1;
        self.pack();
        Ok(())
    }

    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let own = self.place(i);
        let query: Vec<f64> = self.tiles.row(own).collect();
        let parts = parallel::ranges(self.tiles.n_tiles(), GRAIN / (LANES * query.len().max(1)) + 1);
        let rough = self.rough.query(own);
        let found = parallel::map(parts, |tiles| self.nearest_in(tiles, &query, &rough, own));
        let tolerance = self.tolerance;
        Ok(found.into_iter().fold(NOBODY, |mut best, near| {
            best.offer(near, tolerance);
            best
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
    use crate::kind::Kind;
    use crate::linkage::Rule;

    proptest! {
        #[test]
        fn as_from_a_matrix((n, p, values) in (1..70usize, prop_oneof![1..20usize, 1..4usize]).prop_flat_map(|(n, p)| {
            (Just(n), Just(p), prop::collection::vec(-3.0..3.0f64, n * p))
        }), tied: bool) {
            let values: Vec<f64> = if tied { values.iter().map(|x| x.round()).collect() } else { values };
            let pair = |i: usize, j: usize| -> f64 {
                (0..p).map(|k| (values[i * p + k] - values[j * p + k]).powi(2)).sum::<f64>().sqrt()
            };
            let square: Vec<f64> = (0..n * n).map(|at| pair(at / n, at % n)).collect();
            let matrix = Matrix::new(Values::F64(&square), Layout::Square, Kind::Dissimilarity).unwrap();
            let expected = Agglomeration::new(Rule::Ward).engine(Engine::Naive).run(&matrix).unwrap();
            for tree_from in [0, usize::MAX] {
                let tree = ward_from(&Vectors::new(&values, n, p).unwrap(), tree_from, &Monitor::new()).unwrap();
                prop_assert_eq!(tree.merges(), expected.merges());
                for (a, b) in tree.heights().iter().zip(expected.heights()) {
                    prop_assert!((a - b).abs() <= 1e-7 + 1e-12 * b, "{} {}", a, b);
                }
            }
        }
    }

    #[test]
    fn work_can_be_stopped_and_equal_vectors_merge_in_order() {
        let vectors = Vectors::new(&[0.1; 60], 20, 3).unwrap();
        let one_by_one: Vec<[u32; 2]> = (1..20).map(|k| if k == 1 { [0, 1] } else { [k, 18 + k] }).collect();
        for tree_from in [0, usize::MAX] {
            let tree = ward_from(&vectors, tree_from, &Monitor::new()).unwrap();
            assert_eq!(tree.merges(), one_by_one);
            assert_eq!(tree.heights(), [0.0; 19]);
        }
        let monitor = Monitor::new();
        monitor.cancel();
        assert_eq!(ward_linkage(&vectors, Some(&monitor)), Err(Error::Interrupted));
    }
}
