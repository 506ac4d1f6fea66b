//! Upper bounds of dot products in single precision, sixteen at a time.
//!
//! A bound is itself a dot product: of the rounded means, and of one more coordinate that makes up for
//! all rounding by Cauchy-Schwarz.

use super::clusters::Clusters;
use crate::error::Result;
use crate::memory;

pub(super) const LANES: usize = 16;
/// Queries that go through the tiles together.
pub(super) const QUERIES: usize = 2;

/// The means of clusters in tiles of [`LANES`], coordinate by coordinate.
pub(super) struct Tiles {
    values: Vec<f32>,
    /// Coordinates of a mean.
    p: usize,
}

impl Tiles {
    pub(super) fn new(clusters: &Clusters) -> Result<Self> {
        let p = clusters.n_coordinates();
        let len = clusters.len().div_ceil(LANES) * LANES * (p + 1);
        memory::check("the rounded means of clusters", 4 * len as u64)?;
        let mut tiles = Self { values: vec![0.0; len], p };
        (0..clusters.len()).for_each(|at| tiles.set(clusters, at));
        (clusters.len()..clusters.len().next_multiple_of(LANES)).for_each(|at| tiles.remove(at));
        Ok(tiles)
    }

    pub(super) fn len(&self) -> usize {
        self.values.len() / self.tile_len()
    }

    /// Numbers of a tile.
    pub(super) fn tile_len(&self) -> usize {
        LANES * (self.p + 1)
    }

    pub(super) fn tile(&self, tile: usize) -> &[f32] {
        &self.values[tile * self.tile_len()..(tile + 1) * self.tile_len()]
    }

    fn lane(&self, at: usize) -> usize {
        at / LANES * self.tile_len() + at % LANES
    }

    /// Takes over the mean of a cluster.
    pub(super) fn set(&mut self, clusters: &Clusters, at: usize) {
        let (first, weight) = (self.lane(at), clusters.weight(at));
        let mut squares = 0.0;
        for (k, &x) in clusters.row(at).iter().enumerate() {
            let x = x * weight;
            squares += x * x;
            self.values[first + k * LANES] = x as f32;
        }
        self.values[first + self.p * LANES] = (squares.sqrt() * (1.0 + 1e-6)) as f32 + f32::MIN_POSITIVE;
    }

    /// A cluster that is gone has bounds of minus infinity.
    pub(super) fn remove(&mut self, at: usize) {
        let first = self.lane(at);
        for k in 0..self.p {
            self.values[first + k * LANES] = 0.0;
        }
        self.values[first + self.p * LANES] = f32::NEG_INFINITY;
    }

    /// Writes a query, `QUERIES` apart. A query's bounds are too small by at most [`Tiles::slack`].
    pub(super) fn write_query(&self, at: usize, out: &mut [f32]) {
        let first = self.lane(at);
        for k in 0..self.p {
            out[k * QUERIES] = self.values[first + k * LANES];
        }
        // Two roundings of coordinates, one of each product, and at most p + 1 of sums.
        let rounding = (self.p + 16) as f32 * f32::EPSILON;
        out[self.p * QUERIES] = (self.values[first + self.p * LANES] * rounding).max(f32::MIN_POSITIVE);
    }

    /// What numbers too small for single precision may have lost.
    pub(super) fn slack(&self) -> f64 {
        (self.p + 16) as f64 * 4.0 * f64::from(f32::from_bits(1))
    }
}

/// The bounds of some queries with all clusters of a tile.
#[inline(always)]
pub(super) fn bounds(tile: &[f32], queries: &[f32]) -> [[f32; LANES]; QUERIES] {
    let mut sums = [[0.0; LANES]; QUERIES];
    for (x, q) in tile.as_chunks::<LANES>().0.iter().zip(queries.as_chunks::<QUERIES>().0) {
        for query in 0..QUERIES {
            for lane in 0..LANES {
                sums[query][lane] += q[query] * x[lane];
            }
        }
    }
    sums
}
