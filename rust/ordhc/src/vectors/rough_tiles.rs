//! Centroids rounded to single precision, sixteen at a time: most clusters are too far, which so many digits tell.

use super::tiles::LANES;
use crate::error::Result;
use crate::memory::Buffer;

/// Coordinates between two looks at whether all are too far already.
const BLOCK: usize = 16;
/// What rounding two coordinates below one, and their difference, may change it by.
const ROUNDING: f64 = 1.0 / (1u64 << 22) as f64;
/// The square of a sum a + b is at most (1 + SPREAD) a^2 + (1 + 1 / SPREAD) b^2.
const SPREAD: f64 = 1.0 / 512.0;

/// Vectors of `p` coordinates below one, and what their clusters' sizes are.
pub(super) struct RoughTiles {
    p: usize,
    values: Buffer<f32>,
    /// One by the size; minus infinity where a cluster is gone, and behind the last.
    inverse: Vec<f32>,
}

/// What a cluster is compared by.
pub(super) struct Query {
    point: Vec<f32>,
    inverse: f32,
}

impl RoughTiles {
    pub(super) fn new(len: usize, p: usize) -> Result<Self> {
        let places = len.next_multiple_of(LANES);
        let values = Buffer::zeros("the rounded vectors", places * p)?;
        Ok(Self { p, values, inverse: vec![f32::NEG_INFINITY; places] })
    }

    fn first(&self, at: usize) -> usize {
        at / LANES * LANES * self.p + at % LANES
    }

    pub(super) fn set(&mut self, at: usize, row: impl Iterator<Item = f64>, size: f64) {
        let first = self.first(at);
        row.enumerate().for_each(|(k, x)| self.values[first + k * LANES] = x as f32);
        self.inverse[at] = (1.0 / size) as f32;
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.inverse[at] = f32::NEG_INFINITY;
    }

    /// Keeps the vectors at `kept`, ascending.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        for (to, &from) in kept.iter().enumerate() {
            self.inverse[to] = self.inverse[from];
            let (from, to) = (self.first(from), self.first(to));
            (0..self.p).for_each(|k| self.values[to + k * LANES] = self.values[from + k * LANES]);
        }
        self.inverse.truncate(kept.len());
        self.inverse.resize(kept.len().next_multiple_of(LANES), f32::NEG_INFINITY);
    }

    pub(super) fn query(&self, at: usize) -> Query {
        let first = self.first(at);
        Query { point: (0..self.p).map(|k| self.values[first + k * LANES]).collect(), inverse: self.inverse[at] }
    }

    /// Whether the weighted squared distances of a tile's clusters are certainly all above `-floor`.
    #[inline(always)]
    pub(super) fn all_beyond(&self, tile: usize, query: &Query, floor: f64) -> bool {
        // The weight is 2 / (1 / a + 1 / b) for sizes a and b.
        let p = self.p as f64;
        let sums_rounded = 1.0 + (p + 16.0) * f64::from(f32::EPSILON);
        let factor = (-0.5 * floor * (1.0 + SPREAD) * sums_rounded) as f32;
        let least = (ROUNDING * ROUNDING * p * (1.0 + 1.0 / SPREAD) * sums_rounded) as f32;
        let inverse = &self.inverse.as_chunks::<LANES>().0[tile];
        let mut limits = [0.0; LANES];
        for lane in 0..LANES {
            limits[lane] = (query.inverse + inverse[lane]) * factor + least;
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

    proptest! {
        #[test]
        fn what_is_not_beyond_is_never_left_out(
            (p, values) in (1..40usize).prop_flat_map(|p| (Just(p), prop::collection::vec(-1.0..1.0f64, 17 * p))),
            sizes in prop::collection::vec(1..1000u32, 17),
            near in prop::sample::select(vec![0.0, 1e-9, 1e-5, 1e-2, 1.0]),
            share in prop::sample::select(vec![0.0, 0.5, 0.999, 1.0, 1.001, 2.0]),
        ) {
            // All within a distance of the first that may be tiny beside the coordinates.
            let row = |at: usize| (0..p).map(|k| (values[k] + near * values[at * p + k]) / 2.0).collect::<Vec<f64>>();
            let mut tiles = RoughTiles::new(17, p).unwrap();
            (0..17).for_each(|at| tiles.set(at, row(at).into_iter(), f64::from(sizes[at])));
            let weighted = |a: usize, b: usize| {
                let (n_a, n_b) = (f64::from(sizes[a]), f64::from(sizes[b]));
                let sum: f64 = row(a).iter().zip(row(b)).map(|(x, y)| (x - y) * (x - y)).sum();
                2.0 * n_a * n_b / (n_a + n_b) * sum
            };
            let least = (0..16).map(|at| weighted(16, at)).fold(f64::INFINITY, f64::min);
            let floor = -least * share;
            if tiles.all_beyond(0, &tiles.query(16), floor) {
                prop_assert!(least > -floor, "{} {}", least, floor);
            }
            (0..16).for_each(|at| tiles.remove(at));
            prop_assert!(tiles.all_beyond(0, &tiles.query(16), floor - 1.0));
        }
    }
}
