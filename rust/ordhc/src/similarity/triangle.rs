//! Indices of pairs of leaves in a condensed matrix (the vector of the n(n-1)/2 pairs, as in SciPy).

use std::ops::Range;

use crate::error::{Error, Result};
use crate::parallel;

/// The upper triangle of a symmetric (n, n) matrix without the diagonal, row by row, in SciPy's condensed order.
///
/// ```
/// use ordhc::similarity::Triangle;
///
/// let triangle = Triangle::new(4);
/// assert_eq!(triangle.n_pairs(), 6);
/// assert_eq!((triangle.index(0, 1), triangle.index(3, 2)), (0, 5));
/// assert_eq!((triangle.pair(5), triangle.row(1)), ((2, 3), 3..5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangle {
    n: usize,
}

impl Triangle {
    /// Returns the layout of the condensed matrix of `n` leaves.
    pub const fn new(n: usize) -> Self {
        Self { n }
    }

    /// Returns the layout of the condensed matrix with `n_pairs` pairs. For 0 pairs, this is the layout for one leaf.
    ///
    /// # Errors
    /// `n_pairs` is not n (n - 1) / 2 for any n.
    pub fn of_pairs(n_pairs: usize) -> Result<Self> {
        let n = ((1.0 + (1.0 + 8.0 * n_pairs as f64).sqrt()) / 2.0).round() as usize;
        let of = |n: usize| Self::new(n).n_pairs();
        if of(n) == n_pairs {
            return Ok(Self { n });
        }
        let below = n.saturating_sub(1);
        Err(Error::Argument(format!(
            "a condensed vector has n(n-1)/2 values; {n_pairs} is no such number (n = {below} would have {}, n = {n} {})",
            of(below),
            of(n)
        )))
    }

    /// Returns the number of leaves.
    pub const fn n_leaves(self) -> usize {
        self.n
    }

    /// Returns the number of pairs, which is the length of a condensed vector.
    pub const fn n_pairs(self) -> usize {
        self.n * self.n.saturating_sub(1) / 2
    }

    /// Returns the index of a pair of different leaves in the condensed order.
    #[inline]
    pub fn index(self, i: usize, j: usize) -> usize {
        let (i, j) = (i.min(j), i.max(j));
        debug_assert!(i < j && j < self.n);
        self.before(i) + (j - i - 1)
    }

    /// Returns the pair `i < j` at an index of the condensed order.
    pub fn pair(self, at: usize) -> (usize, usize) {
        debug_assert!(at < self.n_pairs());
        let (mut i, mut end) = (0, self.n);
        while end - i > 1 {
            let middle = i.midpoint(end);
            if self.before(middle) <= at { i = middle } else { end = middle }
        }
        (i, at - self.before(i) + i + 1)
    }

    /// Returns the number of pairs in the rows before row `i`.
    #[inline]
    pub const fn before(self, i: usize) -> usize {
        // If there are no leaves, `2 * self.n - (i + 1)` is negative. The product is 0, because `i` is 0.
        i * (2 * self.n).wrapping_sub(i + 1) / 2
    }

    /// Returns the largest `i`, at least `from`, with at most `end` pairs in the rows before row `i`. Returns `from` if
    /// no `i` qualifies.
    pub(crate) fn last_before(self, from: usize, end: usize) -> usize {
        let (mut low, mut high) = (from, self.n);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if self.before(middle) <= end { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// Returns the indices, in the condensed order, of the pairs of leaf `i` with later leaves.
    #[inline]
    pub const fn row(self, i: usize) -> Range<usize> {
        self.before(i)..self.before(i + 1)
    }

    /// Returns an offset for row `i`: the index of the pair `i < j` is `base(i).wrapping_add(j)`.
    #[inline]
    pub(crate) const fn base(self, i: usize) -> usize {
        self.before(i).wrapping_sub(i + 1)
    }

    /// Splits the rows into ranges with about the same number of pairs, one range for each thread.
    pub(crate) fn shares(self) -> Vec<Range<usize>> {
        let parts = parallel::ranges(self.n_pairs(), 1 << 16).len();
        let end = |part: usize| (self.n as f64 * (1.0 - (1.0 - part as f64 / parts as f64).sqrt())) as usize;
        let ends = (1..parts).map(end).chain([self.n]);
        let mut start = 0;
        ends.map(|end| std::mem::replace(&mut start, end)..end).collect()
    }
}

/// Returns the pair `i < j` with the index `number` in the order (0, 1), (0, 2), (1, 2), (0, 3), ..., where pairs are
/// sorted by `j`, then by `i`.
pub(crate) fn nth_pair(number: u128) -> [usize; 2] {
    let mut j = ((1.0 + (1.0 + 8.0 * number as f64).sqrt()) / 2.0) as u128;
    while j * (j - 1) / 2 > number {
        j -= 1;
    }
    while (j + 1) * j / 2 <= number {
        j += 1;
    }
    [(number - j * (j - 1) / 2) as usize, j as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_numbered() {
        let pairs = (1..60).flat_map(|j| (0..j).map(move |i| [i, j]));
        assert!((0..).zip(pairs).all(|(number, pair)| nth_pair(number) == pair));
    }

    #[test]
    fn positions_count_up() {
        for n in 0..9 {
            let triangle = Triangle::new(n);
            let mut expected = 0;
            for i in 0..n {
                assert_eq!(triangle.before(i), expected);
                assert_eq!(triangle.row(i), expected..expected + n - i - 1);
                for j in i + 1..n {
                    assert_eq!(triangle.index(i, j), expected);
                    assert_eq!(triangle.index(j, i), expected);
                    assert_eq!(triangle.pair(expected), (i, j));
                    assert_eq!(triangle.base(i).wrapping_add(j), expected);
                    expected += 1;
                }
            }
            assert_eq!((triangle.n_pairs(), triangle.before(n)), (expected, expected));
            assert_eq!(Triangle::of_pairs(expected).unwrap().n_leaves(), n.max(1));
        }
        assert!(Triangle::of_pairs(5).unwrap_err().to_string().contains("n = 3 would have 3, n = 4 6"));
    }

    #[test]
    fn shares_cover_all_rows() {
        for n in [0, 1, 5, 2000] {
            let rows: Vec<usize> = Triangle::new(n).shares().into_iter().flatten().collect();
            assert_eq!(rows, (0..n).collect::<Vec<_>>());
        }
    }
}
