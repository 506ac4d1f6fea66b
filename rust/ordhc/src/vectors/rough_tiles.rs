//! Centroids in single precision, compared sixteen at a time. Single precision suffices to exclude most clusters as too
//! far.

use super::tiles::LANES;
use crate::error::Result;
use crate::memory::Buffer;

/// After each block of this number of coordinates, the search checks whether all clusters of a tile (group of clusters)
/// are already too far.
const BLOCK: usize = 16;
/// An upper bound of the rounding error of a difference x - y in single precision, if x and y are rounded numbers
/// between -1 and 1.
const ROUNDING: f64 = 1.0 / (1u64 << 22) as f64;
/// The square of a sum a + b is at most (1 + SPREAD) a^2 + (1 + 1 / SPREAD) b^2.
const SPREAD: f64 = 1.0 / 512.0;

/// The means of clusters in single precision, with `p` coordinates between -1 and 1. They are stored in tiles (groups)
/// of [`LANES`] clusters.
pub(super) struct RoughTiles {
    p: usize,
    values: Buffer<f32>,
    /// The summand of each cluster in the formula of [`Limits`]: 1 / size, or the negated spread. Minus infinity for
    /// removed clusters, and for unused elements at the end of the last tile.
    terms: Vec<f32>,
}

pub(super) struct Query {
    point: Vec<f32>,
    term: f32,
}

/// An upper limit of the squared distance of two means: `factor` (s + t) + `constant`, where s and t are the
/// `OfSquares::term` of the two clusters. s and t must have the same sign.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) factor: f64,
    pub(super) constant: f64,
}

impl RoughTiles {
    pub(super) fn new(len: usize, p: usize) -> Result<Self> {
        let places = len.next_multiple_of(LANES);
        let values = Buffer::zeros("the rounded vectors", places * p)?;
        Ok(Self { p, values, terms: vec![f32::NEG_INFINITY; places] })
    }

    fn first(&self, at: usize) -> usize {
        at / LANES * LANES * self.p + at % LANES
    }

    pub(super) fn set(&mut self, at: usize, row: impl Iterator<Item = f64>, term: f32) {
        let first = self.first(at);
        row.enumerate().for_each(|(k, x)| self.values[first + k * LANES] = x as f32);
        self.terms[at] = term;
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.terms[at] = f32::NEG_INFINITY;
    }

    pub(super) fn keep(&mut self, kept: &[usize]) {
        for (to, &from) in kept.iter().enumerate() {
            self.terms[to] = self.terms[from];
            let (from, to) = (self.first(from), self.first(to));
            (0..self.p).for_each(|k| self.values[to + k * LANES] = self.values[from + k * LANES]);
        }
        self.terms.truncate(kept.len());
        self.terms.resize(kept.len().next_multiple_of(LANES), f32::NEG_INFINITY);
    }

    pub(super) fn query(&self, at: usize) -> Query {
        let first = self.first(at);
        Query { point: (0..self.p).map(|k| self.values[first + k * LANES]).collect(), term: self.terms[at] }
    }

    /// Returns true only if all clusters of the tile are farther from `query` than `limits` allow. Rounding can make
    /// the result false although all clusters are farther.
    #[inline(always)]
    pub(super) fn all_beyond(&self, tile: usize, query: &Query, limits: Limits) -> bool {
        let p = self.p as f64;
        let sums_rounded = 1.0 + (p + 16.0) * f64::from(f32::EPSILON);
        let factor = (limits.factor * (1.0 + SPREAD) * sums_rounded) as f32;
        let least = ROUNDING * ROUNDING * p * (1.0 + 1.0 / SPREAD) * sums_rounded;
        // Multiply the constant by `rounded`, to cover the rounding of the summands in `terms`. This is enough, because
        // no summand is larger than the constant (unless the constant is zero).
        let rounded = 1.0 + 8.0 * f64::from(f32::EPSILON);
        let constant = (limits.constant * (1.0 + SPREAD) * sums_rounded * rounded + least) as f32;
        let terms = &self.terms.as_chunks::<LANES>().0[tile];
        let mut limits = [0.0; LANES];
        for lane in 0..LANES {
            limits[lane] = (query.term + terms[lane]) * factor + constant;
        }
        let len = LANES * self.p;
        let rows = self.values[tile * len..(tile + 1) * len].as_chunks::<LANES>().0;
        let mut sums = [0.0; LANES];
        for (rows, query) in rows.chunks(BLOCK).zip(query.point.chunks(BLOCK)) {
            for (row, &q) in rows.iter().zip(query) {
                for lane in 0..LANES {
                    let difference = q - row[lane];
                    sums[lane] += difference * difference;
                }
            }
            let mut near = false;
            for lane in 0..LANES {
                near |= sums[lane] <= limits[lane];
            }
            if !near {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    use super::super::criteria::{About, MeanSquare, OfSquares, Variance};
    use crate::agglomerate::Tolerance;

    fn check(criterion: impl OfSquares, rows: &[Vec<f64>], about: &[About], share: f64) {
        let mut tiles = RoughTiles::new(17, rows[0].len()).unwrap();
        for (at, (row, &about)) in rows.iter().zip(about).enumerate() {
            tiles.set(at, row.iter().copied(), criterion.term(about));
        }
        let similarity = |a: usize, b: usize| {
            let squared = rows[a].iter().zip(&rows[b]).map(|(x, y)| (x - y) * (x - y)).sum();
            criterion.of_square(squared, about[a], about[b])
        };
        let largest = (0..16).map(|at| similarity(16, at)).fold(f64::NEG_INFINITY, f64::max);
        let floor = largest * share;
        if tiles.all_beyond(0, &tiles.query(16), criterion.limits(floor)) {
            assert!(largest < floor, "{largest} {floor}");
        }
        (0..16).for_each(|at| tiles.remove(at));
        assert!(tiles.all_beyond(0, &tiles.query(16), criterion.limits(floor - 1.0)));
    }

    proptest! {
        #[test]
        fn what_is_not_beyond_is_never_left_out(
            (p, values) in (1..40usize).prop_flat_map(|p| (Just(p), prop::collection::vec(-1.0..1.0f64, 17 * p))),
            sizes in prop::collection::vec(1..1000u32, 17),
            spread in prop::sample::select(vec![0.0, 1e-12, 1e-3]),
            near in prop::sample::select(vec![0.0, 1e-9, 1e-5, 1e-2, 1.0]),
            share in prop::sample::select(vec![0.0, 0.5, 0.999, 1.0, 1.001, 2.0]),
        ) {
            // All points are close to the first one, at a distance that may be tiny relative to the coordinates.
            let row = |at: usize| (0..p).map(|k| (values[k] + near * values[at * p + k]) / 2.0).collect::<Vec<f64>>();
            let rows: Vec<Vec<f64>> = (0..17).map(row).collect();
            let about: Vec<About> =
                sizes.iter().map(|&size| About { size: f64::from(size), spread: spread * f64::from(size) }).collect();
            check(Variance(Tolerance::GRID), &rows, &about, share);
            check(MeanSquare(Tolerance::GRID), &rows, &about, share);
        }
    }
}
