//! The condensed layout: the upper triangle of a symmetric matrix, row by row, without the diagonal.

use super::triangle::Triangle;
use crate::error::{Result, check_len};
use crate::numbers::Cell;
use crate::parallel;

/// Returns the number of pairs of `n` leaves, which is the length of a condensed vector.
pub fn condensed_len(n: usize) -> usize {
    Triangle::new(n).n_pairs()
}

/// Writes the symmetric (n, n) matrix of a condensed vector to `out`, with zeros on the diagonal.
///
/// # Errors
/// Lengths of `condensed` and `out` that do not match.
pub(crate) fn square_from_condensed<T: Cell, U>(
    condensed: &[T],
    out: &mut [U],
    convert: impl Fn(T) -> U + Sync,
) -> Result<()>
where
    U: Copy + Default + Send,
{
    let n = if condensed.is_empty() && out.len() <= 1 {
        out.len()
    } else {
        Triangle::of_pairs(condensed.len())?.n_leaves()
    };
    check_len("values", out.len(), "cells of a square matrix", n * n)?;
    const BLOCK: usize = 32;
    let starts: Vec<usize> = (0..n).map(|i| Triangle::new(n).base(i)).collect();
    let parts = parallel::ranges(n, 256);
    parallel::map(parallel::with_parts(parts, out, |end| end * n), |(rows, out)| {
        let first = rows.start;
        for i in rows {
            let row = &mut out[(i - first) * n..][..n];
            row[i] = U::default();
            let start = starts[i];
            for (j, value) in row.iter_mut().enumerate().skip(i + 1) {
                *value = convert(condensed[start.wrapping_add(j)]);
            }
        }
        // Write the lower triangle of the matrix in square blocks. The cache lines of `condensed` that a block needs
        // then stay in the cache while the block is written row by row.
        let n_rows = out.len() / n.max(1);
        for block in (0..n_rows).step_by(BLOCK) {
            let block_end = (block + BLOCK).min(n_rows);
            for column in (0..first + block_end).step_by(BLOCK) {
                for i in first + block..first + block_end {
                    let end = (column + BLOCK).min(i);
                    for j in column..end {
                        out[(i - first) * n + j] = convert(condensed[starts[j].wrapping_add(i)]);
                    }
                }
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_symmetric() {
        for n in [0usize, 1, 2, 3, 40, 700] {
            let condensed: Vec<i32> = (0..condensed_len(n) as i32).map(|x| x + 1).collect();
            let mut square = vec![-1.0; n * n];
            square_from_condensed(&condensed, &mut square, f64::from).unwrap();
            for i in 0..n {
                assert_eq!(square[i * n + i], 0.0);
                for j in i + 1..n {
                    assert_eq!(square[i * n + j], f64::from(condensed[Triangle::new(n).index(i, j)]));
                    assert_eq!(square[j * n + i], square[i * n + j]);
                }
            }
        }
        assert!(square_from_condensed(&[1i32; 3], &mut [0.0; 4], f64::from).is_err());
    }
}
