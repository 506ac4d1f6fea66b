//! Groups (tiles) of sixteen vectors, stored coordinate by coordinate.

use crate::error::Result;
use crate::memory::Buffer;

pub(super) const LANES: usize = 16;
/// After each block of this number of coordinates, the sums over coordinates of a tile (group of vectors) can stop
/// early, if all its vectors are already too far.
const BLOCK: usize = 16;

pub(super) struct Tiles {
    p: usize,
    len: usize,
    values: Buffer,
}

impl Tiles {
    pub(super) fn new(len: usize, p: usize) -> Result<Self> {
        Ok(Self { p, len, values: Buffer::zeros("the vectors", len.next_multiple_of(LANES) * p)? })
    }

    pub(super) fn n_tiles(&self) -> usize {
        self.len.div_ceil(LANES)
    }

    fn first(&self, at: usize) -> usize {
        at / LANES * LANES * self.p + at % LANES
    }

    pub(super) fn set(&mut self, at: usize, row: impl Iterator<Item = f64>) {
        let first = self.first(at);
        row.enumerate().for_each(|(k, x)| self.values[first + k * LANES] = x);
    }

    pub(super) fn row(&self, at: usize) -> impl Iterator<Item = f64> {
        let first = self.first(at);
        (0..self.p).map(move |k| self.values[first + k * LANES])
    }

    /// Keeps only the vectors at the indices `kept`, which must be in ascending order.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        for (to, &from) in kept.iter().enumerate() {
            let (from, to) = (self.first(from), self.first(to));
            (0..self.p).for_each(|k| self.values[to + k * LANES] = self.values[from + k * LANES]);
        }
        self.len = kept.len();
        self.values.truncate(self.len.next_multiple_of(LANES) * self.p);
    }

    /// Returns one sum over coordinates for each vector of a tile (group of [`LANES`] vectors). `add(sum, q, x)` adds
    /// one coordinate to a sum: q is the coordinate of `query`, and x is the coordinate of the vector. The order of
    /// additions is fixed. Stops and returns `None` if `enough(sums)` is true after a block of coordinates.
    #[inline(always)]
    pub(super) fn sums(
        &self,
        tile: usize,
        query: &[f64],
        add: impl Fn(f64, f64, f64) -> f64,
        enough: impl Fn(&[f64; LANES]) -> bool,
    ) -> Option<[f64; LANES]> {
        let len = LANES * self.p;
        let rows = self.values[tile * len..(tile + 1) * len].as_chunks::<LANES>().0;
        let mut sums = [0.0; LANES];
        for (rows, query) in rows.chunks(BLOCK).zip(query.chunks(BLOCK)) {
            for (row, &q) in rows.iter().zip(query) {
                for lane in 0..LANES {
                    sums[lane] = add(sums[lane], q, row[lane]);
                }
            }
            if enough(&sums) {
                return None;
            }
        }
        Some(sums)
    }
}
