//! Squares of few leaves, whose rows have room for whole vectors.

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::matrix::Matrix;
use crate::error::Result;
use crate::monitor::Monitor;

/// Columns that are looked at together.
pub(super) const LANES: usize = 8;

/// A number of columns, and what is empty after them.
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// From one row to the next: of many rows an odd number of cache lines, so that values of a column don't compete for
/// the same places.
pub(super) fn stride(n: usize) -> usize {
    const MANY: usize = 64;
    if n < MANY { padded(n) } else { padded(n) | LANES }
}

/// Writes a matrix as similarities, with minus infinity on the diagonal, to a square whose rows are a stride apart.
/// There are as many rows as columns, with empty ones.
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
        mirror(simd, out, padded(n), stride);
    });
    monitor.advance(0)
}

/// Copies the upper triangle of `n` rows, a multiple of the lanes, to the lower one, in tiles.
#[inline(always)]
fn mirror<S: Simd>(simd: S, values: &mut [f64], n: usize, stride: usize) {
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
            for (row, column) in rows.chunks_exact_mut(stride).zip(transposed(tile)) {
                column.store_slice(&mut row[i..i + LANES]);
            }
        }
    }
}

/// The columns of a tile.
#[inline(always)]
fn transposed<S: Simd>(mut rows: [f64x8<S>; LANES]) -> [f64x8<S>; LANES] {
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
    use crate::agglomerate::{Layout, Values};
    use crate::kind::Kind;
    use crate::similarity::condensed_len;

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
