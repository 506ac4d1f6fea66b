//! The checked input: the stored pairs of leaves.

use super::links::Link;
use crate::error::{Error, Position, Result, check_len, check_n_leaves};
use crate::kind::Kind;
use crate::memory;
use crate::monitor::Monitor;
use crate::sorting::sort_by_key;

/// Similarities (or dissimilarities) of some pairs of leaves.
///
/// ```
/// use ordhc::Kind;
/// use ordhc::agglomerate::SparsePairs;
///
/// // The pairs (0, 1) and (1, 2), in the upper triangle of the matrix.
/// let pairs = SparsePairs::from_csr(&[0, 1, 2, 2], &[1, 2], &[5.0, 3.0], Kind::Similarity, None)?;
/// assert_eq!((pairs.n_leaves(), pairs.len()), (3, 2));
/// let error = SparsePairs::from_csr(&[0, 1, 2], &[1, 0], &[5.0, 4.0], Kind::Similarity, None).unwrap_err();
/// assert_eq!(error.to_string(), "the matrix is not symmetric: [1, 0] is 4 but [0, 1] is 5 (relative difference at most 0e0)");
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparsePairs {
    n: usize,
    /// The pairs, ordered by their leaves. Dissimilarities are negated.
    pairs: Vec<Pair>,
    dissimilarity: bool,
    facts: Facts,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) i: u32,
    pub(crate) j: u32,
    pub(crate) similarity: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Facts {
    /// The largest absolute similarity.
    pub(super) largest: f64,
    /// True if some similarities are positive and some are negative.
    pub(super) mixed: bool,
    /// True if every sum of similarities is computed without rounding.
    pub(super) exact: bool,
}

impl SparsePairs {
    /// Returns the pairs of an (n, n) matrix in compressed sparse rows (CSR). There are n + 1 row pointers, and columns
    /// ascend within each row. A pair may be in the upper or the lower triangle of the matrix, or in both. The diagonal
    /// is ignored.
    ///
    /// # Errors
    /// Arrays whose lengths don't fit together; row pointers or columns that don't ascend; columns outside the matrix;
    /// NaN or infinity; two different values of a pair; [`Error::Interrupted`]. Errors about columns and values report
    /// the row and the column.
    pub fn from_csr<I: Copy + TryInto<usize>>(
        indptr: &[I],
        indices: &[I],
        values: &[f64],
        kind: Kind,
        monitor: Option<&Monitor>,
    ) -> Result<Self> {
        watched!(monitor);
        let dissimilarity = kind.is_dissimilarity();
        let n = indptr.len().saturating_sub(1);
        check_n_leaves(n)?;
        check_len("columns", indices.len(), "values", values.len())?;
        let number = |x: I| x.try_into().unwrap_or(usize::MAX);
        // The memory for each row: `starts`, `seen`, and the data that the agglomeration needs later.
        memory::check("the rows of leaves", 64 * n as u64)?;
        let starts: Vec<usize> = indptr.iter().map(|&x| number(x)).collect();
        if starts[0] != 0 || starts.windows(2).any(|pair| pair[0] > pair[1]) || starts[n] != values.len() {
            return Err(Error::Argument(format!("row pointers must ascend from 0 to {}", values.len())));
        }
        const WHAT: &str = "the pairs of leaves";
        let above = |row: usize| {
            let columns = &indices[starts[row]..starts[row + 1]];
            columns.iter().filter(|&&column| number(column) > row).count()
        };
        let sign = if dissimilarity { -1.0 } else { 1.0 };
        let mut upper = memory::room(WHAT, (0..n).map(above).sum())?;
        let mut lower = Vec::new();
        // For each row: the index of the first value that has not been compared with the lower triangle.
        let mut seen = starts.clone();
        let mut next_check = 0;
        for row in 0..n {
            if starts[row] >= next_check {
                monitor.check()?;
                next_check = starts[row] + BLOCK;
            }
            let mut before = None;
            for at in starts[row]..starts[row + 1] {
                let (column, value) = (number(indices[at]), values[at]);
                if column >= n || before.is_some_and(|before| before >= column) {
                    let reason = format!("columns must ascend and be below {n}, and {column} does not");
                    return Err(Error::Row { row, leaves: vec![row as i64, column as i64], reason });
                }
                before = Some(column);
                if column != row && !value.is_finite() {
                    let what = if dissimilarity { "the dissimilarity" } else { "the similarity" };
                    let place = Position::Pair(row, column);
                    return Err(Error::BadValue { what, place, value, limit: "values must be finite" });
                }
                if column > row {
                    upper.push(Pair { i: row as u32, j: column as u32, similarity: sign * value });
                } else if column < row {
                    while seen[column] < starts[column + 1] && number(indices[seen[column]]) < row {
                        seen[column] += 1;
                    }
                    let other = seen[column];
                    if other == starts[column + 1] || number(indices[other]) != row {
                        let pair = Pair { i: column as u32, j: row as u32, similarity: sign * value };
                        memory::push(WHAT, &mut lower, pair)?;
                    } else if values[other] != value {
                        let other = values[other];
                        return Err(Error::Asymmetric { i: row, j: column, value, other, tolerance: 0.0 });
                    }
                }
            }
        }
        if !lower.is_empty() {
            upper = memory::collected(WHAT, upper.len() + lower.len(), upper.into_iter().chain(lower))?;
            sort_ascending(&mut upper, monitor)?;
        }
        Self::ascending(n, upper, dissimilarity)
    }

    /// Returns the given pairs, which must be ordered by their leaves, distinct and finite.
    pub(crate) fn ascending(n: usize, pairs: Vec<Pair>, dissimilarity: bool) -> Result<Self> {
        check_n_leaves(n)?;
        if pairs.len() > u32::MAX as usize {
            return Err(Error::out_of_range("the number of stored pairs", pairs.len(), format!("0..={}", u32::MAX)));
        }
        let (mut largest, mut sum, mut whole) = (0.0f64, 0.0, true);
        let (mut positive, mut negative) = (false, false);
        for &Pair { similarity: x, .. } in &pairs {
            largest = largest.max(x.abs());
            sum += x.abs();
            whole &= x == x.trunc();
            positive |= x > 0.0;
            negative |= x < 0.0;
        }
        let exact = whole && sum < (1u64 << 53) as f64;
        Ok(Self { n, pairs, dissimilarity, facts: Facts { largest, mixed: positive && negative, exact } })
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n
    }

    /// Returns the number of stored pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns true if no pair is stored.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns whether the values are similarities (larger is closer) or dissimilarities (smaller is closer).
    pub fn kind(&self) -> Kind {
        Kind::of(self.dissimilarity)
    }

    pub(crate) fn is_dissimilarity(&self) -> bool {
        self.dissimilarity
    }

    /// Returns the compressed sparse rows (CSR) of the symmetric matrix, with the upper and the lower triangle: row
    /// pointers, columns and values.
    ///
    /// # Errors
    /// Not enough memory; [`Error::Interrupted`].
    pub fn to_csr(&self, monitor: Option<&Monitor>) -> Result<(Vec<i64>, Vec<i32>, Vec<f64>)> {
        watched!(monitor);
        let sign = if self.dissimilarity { -1.0 } else { 1.0 };
        const WHAT: &str = "the rows of pairs";
        let mut ends = memory::filled(WHAT, 0i64, self.n + 1)?;
        for pair in &self.pairs {
            ends[pair.i as usize + 1] += 1;
            ends[pair.j as usize + 1] += 1;
        }
        for row in 0..self.n {
            ends[row + 1] += ends[row];
        }
        let mut next = memory::collected(WHAT, ends.len(), ends.iter().copied())?;
        let mut columns = memory::filled(WHAT, 0i32, 2 * self.pairs.len())?;
        let mut values = memory::filled(WHAT, 0.0, 2 * self.pairs.len())?;
        for (at, pair) in self.pairs.iter().enumerate() {
            if at % BLOCK == 0 {
                monitor.check()?;
            }
            for (row, column) in [(pair.i, pair.j), (pair.j, pair.i)] {
                let at = &mut next[row as usize];
                (columns[*at as usize], values[*at as usize]) = (column as i32, sign * pair.similarity);
                *at += 1;
            }
        }
        Ok((ends, columns, values))
    }

    pub(super) fn facts(&self) -> Facts {
        self.facts
    }

    pub(super) fn links(&self) -> impl Iterator<Item = Link> + Clone {
        self.pairs.iter().map(|&Pair { i, j, similarity }| Link { a: i, b: j, count: 1, value: similarity })
    }
}

const BLOCK: usize = 1 << 16;

fn sort_ascending(pairs: &mut [Pair], monitor: &Monitor) -> Result<()> {
    sort_by_key(pairs, |pair| (pair.i, pair.j), monitor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_triangle_or_both_are_the_same() {
        let both = SparsePairs::from_csr(
            &[0i64, 3, 5, 6],
            &[0, 1, 2, 0, 1, 0],
            &[9.0, 1.0, -2.0, 1.0, 0.0, -2.0],
            Kind::Similarity,
            None,
        );
        let upper = SparsePairs::from_csr(&[0i32, 2, 2, 2], &[1, 2], &[1.0, -2.0], Kind::Similarity, None);
        let lower = SparsePairs::from_csr(&[0i32, 0, 1, 2], &[0, 0], &[1.0, -2.0], Kind::Similarity, None);
        let mixed = SparsePairs::from_csr(&[0i32, 1, 1, 2], &[2, 0], &[-2.0, -2.0], Kind::Similarity, None).unwrap();
        assert_eq!((&both, &upper), (&upper, &lower));
        assert_eq!(mixed.len(), 1);
        let both = both.unwrap();
        assert!(both.facts.mixed && both.facts.exact && both.facts.largest == 2.0);
        assert_eq!(both.to_csr(None).unwrap(), (vec![0, 2, 3, 4], vec![1, 2, 0, 0], vec![1.0, -2.0, 1.0, -2.0]));
        let far = SparsePairs::from_csr(&[0i32, 2, 2, 2], &[1, 2], &[1.0, -2.0], Kind::Dissimilarity, None).unwrap();
        assert_eq!(far.to_csr(None).unwrap().2, both.to_csr(None).unwrap().2);
    }

    #[test]
    fn what_is_no_matrix_is_named() {
        let message = |indptr: &[i64], indices: &[i64], values: &[f64]| {
            SparsePairs::from_csr(indptr, indices, values, Kind::Similarity, None).unwrap_err().to_string()
        };
        assert!(message(&[0], &[], &[]).contains("n_leaves = 0"));
        assert!(message(&[0, 1], &[0, 1], &[1.0]).contains("2 columns for 1 values"));
        assert!(message(&[0, 2, 1], &[0], &[1.0]).contains("must ascend from 0 to 1"));
        assert!(message(&[0, -1, 1], &[0], &[1.0]).contains("must ascend from 0 to 1"));
        assert!(message(&[0, 1, 1], &[2], &[1.0]).contains("row 0: columns must ascend and be below 2"));
        assert!(message(&[0, 1, 1], &[-1], &[1.0]).contains("row 0: columns must ascend and be below 2"));
        assert!(message(&[0, 2, 2], &[1, 1], &[1.0, 1.0]).contains("and 1 does not"));
        let nan = message(&[0, 1, 1], &[1], &[f64::NAN]);
        assert_eq!(nan, "the similarity at [0, 1] is NaN: values must be finite");
        assert!(SparsePairs::from_csr(&[0, 1], &[0], &[f64::NAN], Kind::Similarity, None).is_ok());
    }
}
