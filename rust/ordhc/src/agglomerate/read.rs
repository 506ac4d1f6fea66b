//! Reads a matrix as similarities: rows, columns, or the whole matrix. If a matrix may be overwritten, its memory
//! becomes the working matrix.

use std::ops::Range;

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::matrix::{About, BLOCK, Layout, Matrix, Values, with_values};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::numbers::Number;
use crate::parallel;
use crate::similarity::{Triangle, condensed_len};

impl Matrix<'_> {
    pub(crate) fn write_condensed(&self, squared: bool, out: &mut [f64], monitor: &Monitor) -> Result<()> {
        let n = self.about.n;
        debug_assert_eq!(out.len(), condensed_len(n));
        let parts = Triangle::new(n).shares();
        let parts = parallel::with_parts(parts, out, |end| Triangle::new(n).before(end));
        parallel::try_map(parts, |(rows, mut out)| {
            for i in rows {
                let (row, rest) = out.split_at_mut(n - i - 1);
                self.write_row_after(i, squared, row);
                out = rest;
                monitor.advance(0)?;
            }
            Ok(())
        })
    }

    /// Writes the similarities of a leaf with the leaves `others`, which are ascending.
    pub(crate) fn gather(&self, leaf: usize, others: &[u32], out: &mut [f64]) {
        let n = self.about.n;
        let sign = if self.about.dissimilarity { -1.0 } else { 1.0 };
        with_values!(self.values, slice => match self.about.layout {
            Layout::Condensed => {
                let (before, after) = others.split_at(others.partition_point(|&other| (other as usize) < leaf));
                let (out_before, out_after) = out.split_at_mut(before.len());
                for (value, &other) in out_before.iter_mut().zip(before) {
                    *value = sign * slice[Triangle::new(n).index(other as usize, leaf)].float();
                }
                let row = &slice[Triangle::new(n).before(leaf)..];
                for (value, &other) in out_after.iter_mut().zip(after) {
                    // The similarity of a leaf with itself is not used, so this index need not be right.
                    let at = (other as usize).saturating_sub(leaf + 1);
                    *value = sign * row.get(at).map_or(0.0, |x| x.float());
                }
            }
            Layout::Square => {
                for (value, &other) in out.iter_mut().zip(others) {
                    *value = sign * self.value(slice, leaf, other as usize);
                }
            }
        });
    }

    #[inline]
    pub(crate) fn similarity(&self, a: u32, b: u32) -> f64 {
        let sign = if self.about.dissimilarity { -1.0 } else { 1.0 };
        with_values!(self.values, slice => sign * self.value(slice, a as usize, b as usize))
    }

    /// Returns the value of the pair of leaves `i` and `j`, read from row `i` if the layout has both.
    #[inline(always)]
    fn value<T: Number>(&self, slice: &[T], i: usize, j: usize) -> f64 {
        let About { layout, n, facts, .. } = self.about;
        match layout {
            Layout::Condensed => slice[Triangle::new(n).index(i, j)].float(),
            Layout::Square if facts.symmetric => slice[i * n + j].float(),
            Layout::Square => 0.5 * slice[i * n + j].float() + 0.5 * slice[j * n + i].float(),
        }
    }

    pub(crate) fn write_column_before(&self, j: usize, others: Range<usize>, squared: bool, out: &mut [f64]) {
        let turn = self.about.turn(squared);
        wide!(with_values!(self.values, slice => for (value, i) in out.iter_mut().zip(others) {
            *value = turn(self.value(slice, j, i));
        }));
    }

    /// Writes the full (n, n) matrix as similarities (larger is closer). The diagonal becomes minus infinity.
    pub(crate) fn write_square(&self, squared: bool, out: &mut [f64], monitor: &Monitor) -> Result<()> {
        let (n, stride) = (self.about.n, out.len().isqrt());
        let parts = Triangle::new(n).shares();
        let parts = parallel::with_parts(parts, out, |end| end * stride);
        parallel::try_map::<_, _, ()>(parts, |(rows, out)| {
            for (i, row) in rows.zip(out.chunks_exact_mut(stride)) {
                row[i] = f64::NEG_INFINITY;
                self.write_row_after(i, squared, &mut row[i + 1..n]);
                if i % BLOCK == 0 {
                    monitor.advance(0)?;
                }
            }
            Ok(())
        })?;
        mirror(out, stride, monitor)
    }

    /// Returns row `i` from column `i + 1` on, and the factor that converts its values into similarities. If the input
    /// type allows, the row is a slice of the input. Otherwise, the row is written to `scratch`.
    pub(crate) fn row_after<'r>(&'r self, i: usize, scratch: &'r mut [f64]) -> (&'r [f64], f64) {
        let n = self.about.n;
        let there = match (self.values, self.about.layout) {
            (Values::F64(values), Layout::Condensed) => Some(&values[Triangle::new(n).before(i)..][..n - i - 1]),
            (Values::F64(values), Layout::Square) if self.about.facts.symmetric => {
                Some(&values[i * n + i + 1..(i + 1) * n])
            }
            _ => None,
        };
        match there {
            Some(row) => (row, if self.about.dissimilarity { -1.0 } else { 1.0 }),
            None => {
                let row = &mut scratch[..n - i - 1];
                self.write_row_after(i, false, row);
                (row, 1.0)
            }
        }
    }

    pub(crate) fn write_row_after(&self, i: usize, squared: bool, out: &mut [f64]) {
        let n = self.about.n;
        let turn = self.about.turn(squared);
        wide!(with_values!(self.values, slice => match self.about.layout {
            Layout::Condensed => {
                let start = Triangle::new(n).before(i);
                for (to, from) in out.iter_mut().zip(&slice[start..]) {
                    *to = turn(from.float());
                }
            }
            Layout::Square => {
                let row = &slice[i * n + i + 1..(i + 1) * n];
                for (to, from) in out.iter_mut().zip(row) {
                    *to = turn(from.float());
                }
                if !self.about.facts.symmetric {
                    for (to, j) in out.iter_mut().zip(i + 1..n) {
                        *to = turn(self.value(slice, i, j));
                    }
                }
            }
        }));
    }
}

impl About {
    pub(crate) fn is_square(&self) -> bool {
        self.layout == Layout::Square
    }

    #[inline(always)]
    fn turn(&self, squared: bool) -> impl Fn(f64) -> f64 {
        let (square, sign) = (self.dissimilarity && squared, if self.dissimilarity { -1.0 } else { 1.0 });
        let unit = self.unit;
        move |x| if square { -(x * unit) * (x * unit) } else { sign * x }
    }

    pub(super) fn only_similarity(&self, squared: bool) -> Option<f64> {
        self.facts.all_equal().then(|| self.turn(squared)(self.facts.largest))
    }

    /// Converts the input matrix in `values` into a condensed matrix of similarities, at the beginning of the same
    /// memory.
    pub(crate) fn condense(&self, values: &mut [f64], squared: bool, monitor: &Monitor) -> Result<()> {
        let (n, turn) = (self.n, self.turn(squared));
        if !self.is_square() {
            if self.dissimilarity {
                values.iter_mut().for_each(|x| *x = turn(*x));
            }
            return Ok(());
        }
        let mut to = 0;
        for i in 0..n {
            monitor.advance(0)?;
            for j in i + 1..n {
                // This overwrites the value of an earlier pair or of this pair, which is not needed any more.
                values[to] = turn(self.pair(values, i, j));
                to += 1;
            }
        }
        debug_assert_eq!(to, condensed_len(n));
        Ok(())
    }

    fn pair(&self, values: &[f64], i: usize, j: usize) -> f64 {
        let above = values[i * self.n + j];
        if self.facts.symmetric { above } else { 0.5 * above + 0.5 * values[j * self.n + i] }
    }
}

pub(crate) fn mirror(values: &mut [f64], n: usize, monitor: &Monitor) -> Result<()> {
    let half = if parallel::ranges(n * n, 1 << 21).len() > 1 { n / 2 } else { 0 };
    let (top, bottom) = values.split_at_mut(half * n);
    // First write the transposed upper right quarter to the lower left quarter. Then mirror the two square blocks on
    // the diagonal.
    let parts = if half > 0 { parallel::ranges(n - half, BLOCK) } else { Vec::new() };
    let parts = parallel::with_parts(parts, bottom, |end| end * n);
    let top_rows = &*top;
    let quarter = |(rows, out): (Range<usize>, &mut [f64])| transposed(top_rows, half + rows.start, out, 0, n, monitor);
    parallel::try_map::<_, _, ()>(parts, quarter)?;
    let triangle = |(rows, first): (&mut [f64], usize)| mirror_triangle(rows, first, n, monitor);
    let triangles = [(top, 0), (bottom, half)].into_iter().filter(|(rows, _)| !rows.is_empty());
    parallel::try_map(triangles.collect(), triangle)
}

fn mirror_triangle(rows: &mut [f64], first: usize, n: usize, monitor: &Monitor) -> Result<()> {
    let height = rows.len() / n;
    if height <= TILE {
        for i in 0..height {
            for j in 0..i {
                rows[i * n + first + j] = rows[j * n + first + i];
            }
        }
        return Ok(());
    }
    let half = (height / 2).next_multiple_of(TILE);
    let (top, bottom) = rows.split_at_mut(half * n);
    transposed(top, first + half, bottom, first, n, monitor)?;
    mirror_triangle(top, first, n, monitor)?;
    mirror_triangle(bottom, first + half, n, monitor)
}

/// The number of rows and columns of a square block that is transposed in registers.
const TILE: usize = 8;

fn transposed(from: &[f64], column: usize, out: &mut [f64], to: usize, n: usize, monitor: &Monitor) -> Result<()> {
    wide!(transpose(from, column, out, to, n, monitor))
}

#[inline(always)]
fn transpose(from: &[f64], column: usize, out: &mut [f64], to: usize, n: usize, monitor: &Monitor) -> Result<()> {
    let (height, width) = (from.len() / n, out.len() / n);
    for (row, block) in (0..width).step_by(BLOCK).flat_map(|row| (0..height).step_by(BLOCK).map(move |at| (row, at))) {
        monitor.advance(0)?;
        for i in (row..(row + BLOCK).min(width)).step_by(TILE) {
            for j in (block..(block + BLOCK).min(height)).step_by(TILE) {
                let (source, target) = (j * n + column + i, i * n + to + j);
                if i + TILE > width || j + TILE > height {
                    for (a, b) in (i..width.min(i + TILE)).flat_map(|i| (j..height.min(j + TILE)).map(move |j| (i, j)))
                    {
                        out[a * n + to + b] = from[b * n + column + a];
                    }
                    continue;
                }
                let mut tile = [[0.0; TILE]; TILE];
                for (at, line) in tile.iter_mut().enumerate() {
                    line.copy_from_slice(&from[source + at * n..][..TILE]);
                }
                for at in 0..TILE {
                    let line = &mut out[target + at * n..][..TILE];
                    for (value, from) in line.iter_mut().zip(&tile) {
                        *value = from[at];
                    }
                }
            }
        }
    }
    Ok(())
}

pub(super) const LANES: usize = 8;

pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// Returns the number of values from the start of one row to the start of the next. Rows of large matrices have an odd
/// number of cache lines, so that values of a column don't compete for the same cache sets.
pub(super) fn stride(n: usize) -> usize {
    const MANY: usize = 64;
    if n < MANY { padded(n) } else { padded(n) | LANES }
}

/// Writes the similarities to a square matrix whose rows start at multiples of `stride`. The diagonal becomes minus
/// infinity. The number of rows is padded like the number of columns.
pub(super) fn write_padded(
    matrix: &Matrix<'_>,
    squared: bool,
    out: &mut [f64],
    stride: usize,
    monitor: &Monitor,
) -> Result<()> {
    let n = matrix.n_leaves();
    wide!(simd => {
        for (i, row) in out.chunks_exact_mut(stride).take(n).enumerate() {
            row[i] = f64::NEG_INFINITY;
            matrix.write_row_after(i, squared, &mut row[i + 1..n]);
        }
        mirror_padded(simd, out, padded(n), stride);
    });
    monitor.advance(0)
}

/// Copies the upper triangle of a square matrix with `n` rows to its lower triangle. `n` is a multiple of [`LANES`].
#[inline(always)]
fn mirror_padded<S: Simd>(simd: S, values: &mut [f64], n: usize, stride: usize) {
    for i in (0..n).step_by(LANES) {
        for a in 1..LANES {
            for b in 0..a {
                values[(i + a) * stride + i + b] = values[(i + b) * stride + i + a];
            }
        }
        let (head, tail) = values.split_at_mut((i + LANES) * stride);
        for (tile, rows) in tail.chunks_exact_mut(LANES * stride).enumerate() {
            let j = i + (tile + 1) * LANES;
            if j == n {
                break;
            }
            let mut tile = [f64x8::splat(simd, 0.0); LANES];
            for (a, line) in tile.iter_mut().enumerate() {
                *line = f64x8::from_slice(simd, &head[(i + a) * stride + j..][..LANES]);
            }
            for (row, column) in rows.chunks_exact_mut(stride).zip(columns(tile)) {
                column.store_slice(&mut row[i..i + LANES]);
            }
        }
    }
}

#[inline(always)]
fn columns<S: Simd>(mut rows: [f64x8<S>; LANES]) -> [f64x8<S>; LANES] {
    for _ in 0..LANES.ilog2() {
        let before = rows;
        for at in 0..LANES / 2 {
            let (a, b) = (before[at], before[at + LANES / 2]);
            (rows[2 * at], rows[2 * at + 1]) = (a.zip_low(b), a.zip_high(b));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn mirroring_copies_the_upper_half() {
        // The last size is large enough for two threads.
        for n in [0, 1, 2, 7, 8, 9, 17, 63, 130, 2100] {
            let mut values: Vec<f64> = (0..n * n).map(|at| at as f64).collect();
            mirror(&mut values, n, &Monitor::new()).unwrap();
            for (at, &value) in values.iter().enumerate() {
                let (i, j) = (at / n, at % n);
                assert_eq!(value, (i.min(j) * n + i.max(j)) as f64, "[{i}, {j}] of {n}");
            }
        }
    }

    #[test]
    fn squares_hold_the_similarities_of_all_pairs() {
        for n in [1, 2, 3, 7, 8, 9, 17, 63, 64, 65, 130] {
            let values: Vec<f64> = (0..condensed_len(n)).map(|at| at as f64).collect();
            let (values, layout) = if n == 1 { (&[5.0][..], Layout::Square) } else { (&values[..], Layout::Condensed) };
            let matrix = Matrix::new(Values::F64(values), layout, Kind::Dissimilarity).unwrap();
            let (stride, n_padded) = (stride(n), padded(n));
            let mut square = vec![0.0; stride * n_padded];
            write_padded(&matrix, true, &mut square, stride, &Monitor::new()).unwrap();
            for (i, row) in square.chunks_exact(stride).take(n).enumerate() {
                for (j, &found) in row[..n].iter().enumerate() {
                    let x = if i == j { f64::INFINITY } else { matrix.similarity(i as u32, j as u32) };
                    let expected = if i == j { -x } else { -(x * x) };
                    assert_eq!(found, expected, "[{i}, {j}] of {n}");
                }
            }
        }
    }
}
