//! Single linkage of vectors, by a minimum spanning tree (for dot products, a maximum spanning tree). For distances
//! with few coordinates, the spanning tree is built with a k-d tree. Otherwise it grows leaf by leaf, and the
//! similarity of every pair is computed once (Prim 1957).

use std::ops::Range;
use std::sync::{Barrier, Mutex};

use super::boruvka;
use super::closeness::{Closeness, Dot, Euclidean, Manhattan, Measure, SquaredEuclidean};
use super::dense_rows::Vectors;
use super::kd_tree::Tree;
use super::mean_dot::Unit;
use super::tiles::{LANES, Tiles};
use super::{check_scale, with_heights};
use crate::agglomerate::{Finder, Space, merges_along};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::{Dendrogram, RawMerge};

/// Returns the single linkage of vectors, without a matrix of pairs.
///
/// Heights are values of the [`Measure`], times `scale`. The time is O(n^2 p), and about O(n log n) for distances with
/// few coordinates. The memory is O(n p), for a double-precision copy of the vectors. Clusters are named by their
/// smallest leaves. Among ties, the lexicographically smallest pair of names merges first.
///
/// # Errors
/// A `scale` that isn't positive and finite; heights that overflow; not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::vectors::{Measure, Vectors, single_linkage};
///
/// let vectors = Vectors::new(&[0.0, 0.0, 3.0, 4.0, 0.0, 1.0], 3, 2)?;
/// let tree = single_linkage(&vectors, Measure::Manhattan, 1.0, None)?;
/// assert_eq!(tree.newick().to_string(), "(1,(0,2));");
/// assert_eq!(tree.heights(), [1.0, 6.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn single_linkage(
    vectors: &Vectors<'_>,
    measure: Measure,
    scale: f64,
    monitor: Option<&Monitor>,
) -> Result<Dendrogram> {
    watched!(monitor);
    check_scale(scale)?;
    monitor.start((vectors.n_leaves() * vectors.n_leaves() / 2) as u64);
    let parts = parallel::ranges(vectors.n_leaves(), GRAIN / vectors.n_coordinates().max(1) + 1).len();
    let grown = Grown { vectors, unit: Unit::below_one(vectors.largest()), parts, monitor };
    let (merges, degree) = match measure {
        Measure::Euclidean => (grown.merges::<Euclidean>()?, Euclidean::DEGREE),
        Measure::SquaredEuclidean => (grown.merges::<SquaredEuclidean>()?, SquaredEuclidean::DEGREE),
        Measure::Manhattan => (grown.merges::<Manhattan>()?, Manhattan::DEGREE),
        Measure::Dot => (grown.merges::<Dot>()?, Dot::DEGREE),
    };
    let tree = Dendrogram::in_order(vectors.n_leaves(), merges)?;
    let sign = if measure.is_dissimilarity() { -1.0 } else { 1.0 };
    let height = |x| sign * grown.unit.grow(x, degree) * scale;
    with_heights(tree, measure.is_dissimilarity(), height)
}

const TIED_LEAF: usize = 8;
/// The smallest number of points for which a k-d tree is faster than comparing all pairs of points.
const TREE_FROM: usize = 32;
const GRAIN: usize = 1 << 18;
/// Each thread stores some of the leaves that are not in the spanning tree yet. If more than 1 / `PACK` of its stored
/// leaves have joined the tree, the thread deletes these leaves from its list.
const PACK: usize = 4;

struct Grown<'a> {
    vectors: &'a Vectors<'a>,
    unit: Unit,
    parts: usize,
    monitor: &'a Monitor,
}

impl Grown<'_> {
    fn merges<C: Closeness>(&self) -> Result<Vec<RawMerge>> {
        let similarity =
            |a: u32, b: u32| C::similarity(self.row(a).zip(self.row(b)).fold(0.0, |sum, (x, y)| C::add(sum, x, y)));
        let (n, p) = (self.vectors.n_leaves(), self.vectors.n_coordinates());
        if !(C::DISSIMILARITY && n >= TREE_FROM && (1..=boruvka::FEW).contains(&p)) {
            return merges_along(n, self.edges(Apart::nearest::<C>)?, &similarity, None, self.monitor);
        }
        let points: Vec<f64> = (0..n as u32).flat_map(|leaf| self.row(leaf)).collect();
        let point = |leaf: u32| &points[leaf as usize * p..][..p];
        let same = |a, b| point(a) == point(b);
        let finder = |leaves: &[u32]| -> Finder<'_> {
            let some: Vec<f64> = leaves.iter().flat_map(|&leaf| point(leaf)).copied().collect();
            let mut tree = Tree::new(&some, p, TIED_LEAF);
            tree.leaves.iter_mut().for_each(|at| *at = leaves[*at as usize]);
            Box::new(move |leaf, similarity, out| tree.at_similarity::<C>(point(leaf), similarity, out))
        };
        let edges = boruvka::edges::<C>(&points, p, self.monitor)?;
        merges_along(n, edges, &similarity, Some(Space { same: &same, finder: &finder }), self.monitor)
    }

    /// Returns the edges of a maximum spanning tree of similarities. In each step, all threads find out which leaf
    /// joins the tree.
    fn edges(&self, nearest: Find) -> Result<Vec<RawMerge>> {
        match self.edges_of_parts(nearest, self.parts)? {
            Some(edges) => Ok(edges),
            None => Ok(self.edges_of_parts(nearest, 1)?.expect("one part needs no other thread")),
        }
    }

    /// Does the same as [`Self::edges`] with `parts` threads. Returns `None` if the system does not provide these
    /// threads.
    fn edges_of_parts(&self, nearest: Find, parts: usize) -> Result<Option<Vec<RawMerge>>> {
        entered!(vectors_prim);
        let n = self.vectors.n_leaves();
        let own: Result<Vec<_>> = (0..parts).map(|p| Apart::new(self, n * p / parts..n * (p + 1) / parts)).collect();
        let barrier = Barrier::new(parts);
        // The nearest leaf that each thread found in a step. There are two copies, because some threads may still read
        // the nearest leaves of the step before.
        let found = [0, 1].map(|_| (0..parts).map(|_| Mutex::new(Edge::NONE)).collect::<Vec<_>>());
        let locked = |slot| Mutex::lock(slot).unwrap_or_else(std::sync::PoisonError::into_inner);
        let edges = parallel::together(own?.into_iter().enumerate().collect(), |(p, mut own)| {
            let mut edges = Vec::new();
            let mut last = 0;
            for step in 1..n {
                own.join(last);
                let query: Vec<f64> = self.row(last).collect();
                let mut best = nearest(&mut own, last, &query);
                // Threads stop together, because all of them read the value that the first thread writes.
                if p == 0 && self.monitor.advance((n - step) as u64).is_err() {
                    best = Edge::STOP;
                }
                *locked(&found[step % 2][p]) = best;
                barrier.wait();
                let all = found[step % 2].iter().map(|slot| *locked(slot));
                let edge =
                    all.fold(Edge::NONE, |best, edge| if edge.similarity > best.similarity { edge } else { best });
                if edge.similarity == f64::INFINITY {
                    return Err(Error::Interrupted);
                }
                last = edge.leaf;
                if p == 0 {
                    let (a, b) = (edge.with as usize, edge.leaf as usize);
                    edges.push(RawMerge { i: a.min(b), j: a.max(b), similarity: edge.similarity });
                }
            }
            Ok(edges)
        });
        let Some(edges) = edges else { return Ok(None) };
        edges.into_iter().collect::<Result<Vec<_>>>().map(|edges| Some(edges.concat()))
    }

    fn row(&self, leaf: u32) -> impl Iterator<Item = f64> {
        self.vectors.row(leaf as usize).map(|x| self.unit.shrink(x))
    }
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    leaf: u32,
    with: u32,
    similarity: f64,
}

impl Edge {
    const NONE: Self = Self { leaf: u32::MAX, with: u32::MAX, similarity: f64::NEG_INFINITY };
    const STOP: Self = Self { similarity: f64::INFINITY, ..Self::NONE };
}

/// The method [`Apart::nearest`] for a measure.
type Find = fn(&mut Apart, u32, &[f64]) -> Edge;

struct Apart {
    tiles: Tiles,
    leaves: Vec<u32>,
    /// For each leaf in `leaves`: the largest similarity with a leaf of the spanning tree. Infinite for leaves that
    /// have joined the spanning tree but are still in `leaves`, so that no similarity is larger.
    best: Vec<f64>,
    /// For each leaf outside the spanning tree: the most similar leaf of the spanning tree. Ordered like `leaves`.
    with: Vec<u32>,
    gone: usize,
}

impl Apart {
    fn new(grown: &Grown<'_>, span: Range<usize>) -> Result<Self> {
        let mut tiles = Tiles::new(span.len(), grown.vectors.n_coordinates())?;
        let leaves: Vec<u32> = span.map(|leaf| leaf as u32).collect();
        leaves.iter().enumerate().for_each(|(at, &leaf)| tiles.set(at, grown.row(leaf)));
        let mut apart = Self { tiles, best: vec![f64::NEG_INFINITY; leaves.len()], with: Vec::new(), leaves, gone: 0 };
        apart.pad();
        Ok(apart)
    }

    fn pad(&mut self) {
        let len = self.leaves.len().next_multiple_of(LANES);
        self.best.resize(len, f64::INFINITY);
        self.with.resize(len, u32::MAX);
    }

    fn join(&mut self, leaf: u32) {
        let Ok(at) = self.leaves.binary_search(&leaf) else { return };
        self.best[at] = f64::INFINITY;
        self.gone += 1;
        if PACK * self.gone > self.leaves.len() {
            let kept: Vec<usize> = (0..self.leaves.len()).filter(|&at| self.best[at] < f64::INFINITY).collect();
            self.tiles.keep(&kept);
            self.leaves = kept.iter().map(|&at| self.leaves[at]).collect();
            self.best = kept.iter().map(|&at| self.best[at]).collect();
            self.with = kept.iter().map(|&at| self.with[at]).collect();
            self.gone = 0;
            self.pad();
        }
    }

    fn nearest<C: Closeness>(&mut self, last: u32, query: &[f64]) -> Edge {
        let mut nearest = Edge::NONE;
        let rows = self.best.as_chunks_mut::<LANES>().0.iter_mut().zip(self.with.as_chunks_mut::<LANES>().0);
        wide!(for (tile, (best, with)) in rows.enumerate() {
            let Some(sums) = self.tiles.sums(tile, query, C::add, |_| false) else { continue };
            let mut largest = f64::NEG_INFINITY;
            for lane in 0..LANES {
                let x = C::similarity(sums[lane]);
                let nearer = x > best[lane];
                best[lane] = if nearer { x } else { best[lane] };
                with[lane] = if nearer { last } else { with[lane] };
                let apart = if best[lane] < f64::INFINITY { best[lane] } else { f64::NEG_INFINITY };
                largest = if apart > largest { apart } else { largest };
            }
            if largest > nearest.similarity
                && let Some(lane) = best.iter().position(|&x| x == largest)
            {
                let leaf = self.leaves[tile * LANES + lane];
                nearest = Edge { leaf, with: with[lane], similarity: largest };
            }
        });
        nearest
    }
}

#[cfg(test)]
mod tests;
