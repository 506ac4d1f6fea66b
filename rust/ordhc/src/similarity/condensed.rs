//! The condensed layout: the upper triangle of a symmetric matrix, row by row, without the diagonal.

use super::adds::Cell;
use crate::error::{Error, Result};
use crate::parallel;

/// The number of pairs of `n` leaves.
pub fn condensed_len(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

/// Where the pair `i < j` of `n` leaves stands in a condensed vector, as SciPy orders it.
///
/// ```
/// use ordhc::similarity::pair_index;
///
/// assert_eq!(pair_index(4, 0, 1), 0);
/// assert_eq!(pair_index(4, 2, 3), 5);
/// ```
pub fn pair_index(n: usize, i: usize, j: usize) -> usize {
    debug_assert!(i < j && j < n);
    i * (2 * n - i - 1) / 2 + (j - i - 1)
}

/// The start of row `i`, shifted so that the pair `i < j` stands at `row_start + j`.
pub(crate) fn row_start(n: usize, i: usize) -> usize {
    (i * (2 * n - i - 1) / 2).wrapping_sub(i + 1)
}

/// The number of leaves of a condensed vector of this length.
pub(crate) fn leaves_of_condensed(len: usize) -> Result<usize> {
    let n = ((1.0 + (1.0 + 8.0 * len as f64).sqrt()) / 2.0).round() as usize;
    if condensed_len(n) == len {
        return Ok(n);
    }
    Err(Error::Argument(format!(
        "a condensed vector has n(n-1)/2 values; {len} is no such number (n = {} would have {}, n = {n} {})",
        n.saturating_sub(1),
        condensed_len(n.saturating_sub(1)),
        condensed_len(n)
    )))
}

/// Rows of the upper triangle, split so that every thread has about the same number of pairs.
pub(crate) fn triangle_ranges(n: usize) -> Vec<std::ops::Range<usize>> {
    let parts = parallel::ranges(condensed_len(n), 1 << 16).len();
    let mut ends: Vec<usize> = (1..parts)
        .map(|p| {
            let share = 1.0 - p as f64 / parts as f64;
            (n as f64 * (1.0 - share.sqrt())) as usize
        })
        .collect();
    ends.push(n);
    let mut start = 0;
    ends.into_iter().map(|end| std::mem::replace(&mut start, end)..end).collect()
}

/// Writes the symmetric (n, n) matrix of a condensed vector, with zeros on the diagonal.
///
/// # Errors
/// Lengths that do not fit together.
pub fn square_from_condensed<T: Cell, U>(condensed: &[T], out: &mut [U], convert: impl Fn(T) -> U + Sync) -> Result<()>
where
    U: Copy + Default + Send,
{
    let n = if condensed.is_empty() && out.len() <= 1 { out.len() } else { leaves_of_condensed(condensed.len())? };
    if out.len() != n * n {
        return Err(Error::Length {
            what: "values",
            found: out.len(),
            of: "cells of a square matrix",
            expected: n * n,
        });
    }
    const BLOCK: usize = 32;
    let starts: Vec<usize> = (0..n).map(|i| row_start(n, i)).collect();
    let parts = parallel::ranges(n, 256);
    let ends: Vec<usize> = parts.iter().map(|part| part.end * n).collect();
    let slices = parallel::split_at_ends(out, &ends);
    parallel::map(parts.into_iter().zip(slices).collect(), |(rows, out)| {
        let first = rows.start;
        for i in rows {
            let row = &mut out[(i - first) * n..][..n];
            row[i] = U::default();
            let start = row_start(n, i);
            for (j, value) in row.iter_mut().enumerate().skip(i + 1) {
                *value = convert(condensed[start.wrapping_add(j)]);
            }
        }
        // The lower triangle, tile by tile: a tile's lines of `condensed` stay in the cache while the
        // rows of `out` are written from left to right.
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
    fn positions_count_up() {
        for n in 2..9 {
            let mut expected = 0;
            for i in 0..n {
                for j in i + 1..n {
                    assert_eq!(pair_index(n, i, j), expected);
                    assert_eq!(row_start(n, i).wrapping_add(j), expected);
                    expected += 1;
                }
            }
            assert_eq!(condensed_len(n), expected);
            assert_eq!(leaves_of_condensed(expected).unwrap(), n);
        }
        assert!(leaves_of_condensed(5).is_err());
    }

    #[test]
    fn squares_are_symmetric() {
        for n in [0usize, 1, 2, 3, 40, 700] {
            let condensed: Vec<i32> = (0..condensed_len(n) as i32).map(|x| x + 1).collect();
            let mut square = vec![-1.0; n * n];
            square_from_condensed(&condensed, &mut square, f64::from).unwrap();
            for i in 0..n {
                assert_eq!(square[i * n + i], 0.0);
                for j in i + 1..n {
                    assert_eq!(square[i * n + j], f64::from(condensed[pair_index(n, i, j)]));
                    assert_eq!(square[j * n + i], square[i * n + j]);
                }
            }
        }
        assert!(square_from_condensed(&[1i32; 3], &mut [0.0; 4], f64::from).is_err());
    }

    #[test]
    fn triangle_ranges_cover_all_rows() {
        for n in [0, 1, 5, 2000] {
            let rows: Vec<usize> = triangle_ranges(n).into_iter().flatten().collect();
            assert_eq!(rows, (0..n).collect::<Vec<_>>());
        }
    }
}
