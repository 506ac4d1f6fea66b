//! Upper bounds of dot products of cluster means, computed in single precision, sixteen at a time.
//!
//! A bound is the dot product of the rounded means, plus the product of one more coordinate. By the Cauchy-Schwarz
//! inequality, this coordinate covers all rounding errors. Coordinates are in descending order of their mean squares. A
//! cheaper bound often suffices: the first few coordinates (the head), and the norm of the other coordinates.

use super::clusters::MeanClusters;
use crate::error::Result;
use crate::memory;
use crate::sorting::order_by;

pub(super) const LANES: usize = 16;
/// A tile (group of clusters) is compared with this number of queries at a time. A query is a cluster whose nearest
/// cluster is searched.
pub(super) const QUERIES: usize = 2;
const EXTRA: usize = 2;

/// The means of clusters in tiles (groups) of [`LANES`] clusters. The coordinates with the largest mean squares over
/// all clusters come first, and are called the *head*. The values of each cluster are: the norm, the head, the norm of
/// the other coordinates, and these coordinates.
pub(super) struct Tiles {
    values: Vec<f32>,
    order: Vec<u32>,
    head: usize,
}

impl Tiles {
    pub(super) fn new(clusters: &MeanClusters) -> Result<Self> {
        let (k, p) = (clusters.len(), clusters.n_coordinates());
        let len = k.div_ceil(LANES) * LANES * (p + EXTRA);
        memory::check("the rounded means of clusters", 4 * len as u64)?;
        let squares = mean_squares(clusters);
        let mut order: Vec<u32> = (0..p as u32).collect();
        order_by(&mut order, &|a, b| squares[b as usize].total_cmp(&squares[a as usize]));
        let sorted: Vec<f64> = order.iter().map(|&at| squares[at as usize]).collect();
        let mut tiles = Self { values: vec![0.0; len], order, head: best_head(&sorted, k) };
        (0..k).for_each(|at| tiles.set(clusters, at));
        (k..k.next_multiple_of(LANES)).for_each(|at| tiles.remove(at));
        Ok(tiles)
    }

    pub(super) fn len(&self) -> usize {
        self.values.len() / self.tile_len()
    }

    pub(super) fn height(&self) -> usize {
        self.order.len() + EXTRA
    }

    pub(super) fn tile_len(&self) -> usize {
        LANES * self.height()
    }

    fn lane(&self, at: usize) -> usize {
        at / LANES * self.tile_len() + at % LANES
    }

    pub(super) fn set(&mut self, clusters: &MeanClusters, at: usize) {
        let (first, weight, row) = (self.lane(at), clusters.weight(at), clusters.row(at));
        let (mut squares, mut tail) = (0.0, 0.0);
        for (k, &from) in self.order.iter().enumerate() {
            let x = row[from as usize] * weight;
            let behind = k >= self.head;
            *if behind { &mut tail } else { &mut squares } += x * x;
            self.values[first + (1 + usize::from(behind) + k) * LANES] = x as f32;
        }
        let rounded_up = |squares: f64| (squares.sqrt() * (1.0 + 1e-6)) as f32 + f32::MIN_POSITIVE;
        self.values[first] = rounded_up(squares + tail);
        self.values[first + (1 + self.head) * LANES] = rounded_up(tail);
    }

    /// Makes the bounds of a cluster minus infinity, so that searches skip the cluster.
    pub(super) fn remove(&mut self, at: usize) {
        let first = self.lane(at);
        for k in 0..self.height() {
            self.values[first + k * LANES] = 0.0;
        }
        self.values[first] = f32::NEG_INFINITY;
    }

    /// Writes the values of the cluster `at` to every `QUERIES`-th element of `out`.
    pub(super) fn write_query(&self, at: usize, out: &mut [f32]) {
        let first = self.lane(at);
        for k in 0..self.height() {
            out[k * QUERIES] = self.values[first + k * LANES];
        }
        // Each product has three roundings: of its two coordinates, and of the product itself. Adding up the products
        // adds at most `height` roundings. So `height + 16` roundings are enough.
        let rounding = (self.height() + 16) as f32 * f32::EPSILON;
        out[0] = (self.values[first] * rounding).max(f32::MIN_POSITIVE);
    }

    /// Returns the largest amount by which a dot product can exceed its bound from [`Tiles::bounds`], because of
    /// underflow in single precision.
    pub(super) fn slack(&self) -> f64 {
        (self.height() + 16) as f64 * 4.0 * f64::from(f32::from_bits(1))
    }

    /// Returns upper bounds of the dot products of `queries` with the clusters of a tile (group of clusters). A query
    /// is a cluster whose nearest cluster is searched. Returns `None` if all bounds of each query are below the query's
    /// value in `least`.
    #[inline(always)]
    pub(super) fn bounds(
        &self,
        tile: usize,
        queries: &[f32],
        least: &[f32; QUERIES],
    ) -> Option<[[f32; LANES]; QUERIES]> {
        let tile = self.values[tile * self.tile_len()..(tile + 1) * self.tile_len()].as_chunks::<LANES>().0;
        let queries = &queries.as_chunks::<QUERIES>().0[..tile.len()];
        let head = 1 + self.head;
        let mut sums = [[0.0; LANES]; QUERIES];
        add_products(&mut sums, &tile[..head], &queries[..head]);
        if head + 1 < tile.len() {
            let mut bounds = sums;
            add_products(&mut bounds, &tile[head..=head], &queries[head..=head]);
            if !reach(&bounds, least) {
                return None;
            }
            add_products(&mut sums, &tile[head + 1..], &queries[head + 1..]);
        }
        reach(&sums, least).then_some(sums)
    }
}

#[inline(always)]
fn add_products(sums: &mut [[f32; LANES]; QUERIES], tile: &[[f32; LANES]], queries: &[[f32; QUERIES]]) {
    for (x, q) in tile.iter().zip(queries) {
        for query in 0..QUERIES {
            for lane in 0..LANES {
                sums[query][lane] += q[query] * x[lane];
            }
        }
    }
}

#[inline(always)]
fn reach(sums: &[[f32; LANES]; QUERIES], least: &[f32; QUERIES]) -> bool {
    let mut any = [false; LANES];
    for query in 0..QUERIES {
        for lane in 0..LANES {
            any[lane] |= sums[query][lane] >= least[query];
        }
    }
    any.iter().fold(false, |all, &any| all | any)
}

fn mean_squares(clusters: &MeanClusters) -> Vec<f64> {
    let mut sums = vec![0.0; clusters.n_coordinates()];
    for at in 0..clusters.len() {
        let weight = clusters.weight(at);
        for (sum, &x) in sums.iter_mut().zip(clusters.row(at)) {
            *sum += (x * weight) * (x * weight);
        }
    }
    sums.iter().map(|sum| sum / clusters.len() as f64).collect()
}

/// Returns the best number of coordinates in the head: the coordinates that a search reads first. A search reads the
/// other coordinates only if the bound from the head allows a nearer cluster. `squares` are the mean squares of all
/// coordinates, largest first.
///
/// This number minimizes the expected number of coordinates that a search reads, if dot products are normally
/// distributed. The largest of `k` such products is about sqrt(2 ln k) standard deviations.
fn best_head(squares: &[f64], k: usize) -> usize {
    let p = squares.len();
    let deviation = squares.iter().map(|x| x * x).sum::<f64>().sqrt();
    let largest = (2.0 * (k.max(2) as f64).ln()).sqrt() * deviation;
    let (mut variance, mut rest) = (0.0, squares.iter().sum::<f64>());
    let mut best = (p as f64, p);
    for (at, x) in squares.iter().enumerate() {
        (variance, rest) = (variance + x * x, rest - x);
        let head = at + 1;
        let missing = (largest - rest).max(0.0);
        let reached = (LANES as f64 * QUERIES as f64 * (-0.5 * missing * missing / variance).exp()).min(1.0);
        let cost = head as f64 + 2.0 + reached * (p - head) as f64;
        if cost < best.0 {
            best = (cost, head);
        }
    }
    best.1
}
