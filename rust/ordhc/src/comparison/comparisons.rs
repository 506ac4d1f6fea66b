//! Comparisons of pairs of leaves, as rows of leaf ids.

use std::borrow::Cow;

use super::leaf_rows::LeafRows;
use crate::error::{Error, Result, check_len};
use crate::parallel;

/// A multiset of comparisons: rows of `K` leaf ids, optionally with weights.
///
/// [`Triplets`] and [`Quadruplets`] are names for comparisons of 3 and of 4 leaves. A repeated row counts each time,
/// with its weight. Each method handles contradictory rows in its own way.
///
/// Ids of type `u8`, `u16` or `i32` are kept as they are. Ids of type `u32`, `i64` or `usize` are converted. See
/// [`LeafRows`].
#[derive(Debug, Clone, PartialEq)]
pub struct Comparisons<'a, const K: usize> {
    rows: LeafRows<'a, K>,
    weights: Option<Cow<'a, [f64]>>,
    n_leaves: usize,
}

/// Rows `(anchor, near, far)`: the anchor is more similar to near than to far.
///
/// ```
/// use ordhc::Triplets;
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?;
/// assert_eq!((triplets.len(), triplets.n_leaves()), (2, 3));
///
/// let error = Triplets::new(vec![[0, 1, 2]], Some(2)).unwrap_err();
/// assert_eq!(error.to_string(), "row 0: leaf 2 is outside 0..=1 (n_leaves = 2)");
/// # Ok::<(), ordhc::Error>(())
/// ```
pub type Triplets<'a> = Comparisons<'a, 3>;

/// Rows `(i, j, k, l)`: i and j are more similar than k and l.
pub type Quadruplets<'a> = Comparisons<'a, 4>;

impl<'a, const K: usize> Comparisons<'a, K> {
    /// Checks rows of leaf ids and returns them as comparisons. Without `n_leaves`, the number of leaves is the largest
    /// id plus one.
    ///
    /// # Errors
    /// An id below 0 or at least `n_leaves`; a leaf compared with itself; a pair compared with itself; no leaves at
    /// all; more than 2^31 - 1 leaves.
    ///
    /// ```
    /// use ordhc::Triplets;
    ///
    /// let ids: Vec<[usize; 3]> = vec![[0, 1, 2], [1, 0, 2]];
    /// assert_eq!(Triplets::new(ids, None)?, Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn new(rows: impl TryInto<LeafRows<'a, K>, Error = Error>, n_leaves: Option<usize>) -> Result<Self> {
        const { assert!(K == 3 || K == 4, "triplets or quadruplets") }
        Self::checked(rows.try_into()?, n_leaves)
    }

    fn checked(rows: LeafRows<'a, K>, n_leaves: Option<usize>) -> Result<Self> {
        let inferred = || {
            let mut largest = -1;
            rows.each(0..rows.len(), |_, row| largest = row.iter().fold(largest, |largest, &id| id.max(largest)));
            (i64::from(largest) + 1) as usize
        };
        let n_leaves = n_leaves.unwrap_or_else(inferred);
        if n_leaves == 0 && rows.is_empty() {
            return Err(Error::Argument("there are no comparisons: give the number of leaves (n_leaves)".into()));
        }
        if n_leaves > i32::MAX as usize {
            return Err(Error::out_of_range("n_leaves", n_leaves, format!("1..={}", i32::MAX)));
        }
        let parts = parallel::ranges(rows.len(), 1 << 18);
        let bad = parallel::map(parts, |part| rows.first_bad(part, n_leaves));
        match bad.into_iter().flatten().next() {
            Some(row) => Err(explain(row, &rows.row(row).map(i64::from), n_leaves)),
            None => Ok(Self { rows, weights: None, n_leaves }),
        }
    }

    /// Sets the weight of each row.
    ///
    /// # Errors
    /// A number of weights that differs from the number of rows; a weight that is negative or not finite.
    pub fn with_weights(mut self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let weights = weights.into();
        check_len("weights", weights.len(), "comparisons", self.rows.len())?;
        if let Some(at) = weights.iter().position(|&w| !(w.is_finite() && w >= 0.0)) {
            let reason = format!("weight is {}; weights must be finite and not negative", weights[at]);
            return Err(Error::Row { row: at, leaves: Vec::new(), reason });
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// Returns the rows.
    pub fn rows(&self) -> &LeafRows<'a, K> {
        &self.rows
    }

    /// Returns the rows, without their weights.
    pub fn into_rows(self) -> LeafRows<'a, K> {
        self.rows
    }

    /// Returns the weights, or `None` if the comparisons have no weights.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns the number of comparisons, including repeats.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if there are no comparisons.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of leaves, including leaves without a comparison.
    pub fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// Returns the two pairs of leaves that a row compares: the closer pair, and the farther pair.
    #[inline(always)]
    pub(crate) fn pairs(row: &[i32; K]) -> ([usize; 2], [usize; 2]) {
        let id = |at: usize| row[at] as usize;
        if K == 3 { ([id(0), id(1)], [id(0), id(2)]) } else { ([id(0), id(1)], [id(2), id(K - 1)]) }
    }
}

#[inline(always)]
pub(super) fn is_valid<I: Copy + PartialEq + Into<i32>, const K: usize>(row: &[I; K], n_leaves: usize) -> bool {
    // As `usize`, negative ids are larger than any number of leaves.
    let inside = row.iter().all(|&id| (id.into() as usize) < n_leaves);
    let distinct = if K == 3 {
        (row[0] != row[1]) & (row[0] != row[2]) & (row[1] != row[2])
    } else {
        let [i, j, k, l] = [row[0], row[1], row[2], row[K - 1]];
        (i != j) & (k != l) & !((i == k) & (j == l)) & !((i == l) & (j == k))
    };
    inside & distinct
}

fn explain<const K: usize>(row: usize, ids: &[i64; K], n_leaves: usize) -> Error {
    if let Some(&leaf) = ids.iter().find(|&&id| id < 0 || id >= n_leaves as i64) {
        let reason = format!("leaf {leaf} is outside 0..={} (n_leaves = {n_leaves})", n_leaves as i64 - 1);
        return Error::Row { row, leaves: vec![leaf], reason };
    }
    let reason = if K == 3 {
        let leaf = if ids[0] == ids[1] || ids[0] == ids[2] { ids[0] } else { ids[1] };
        format!("leaf {leaf} occurs twice in the triplet {ids:?}; its three leaves must differ")
    } else if ids[0] == ids[1] || ids[2] == ids[K - 1] {
        let leaf = if ids[0] == ids[1] { ids[0] } else { ids[2] };
        format!("leaf {leaf} is paired with itself in the quadruplet {ids:?}; each pair needs two leaves")
    } else {
        format!("the quadruplet {ids:?} compares a pair with itself")
    };
    Error::Row { row, leaves: ids.to_vec(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_rows_are_named() {
        let text = |rows: Vec<[i32; 3]>, n| Triplets::new(rows, n).unwrap_err().to_string();
        assert_eq!(text(vec![[0, 1, 2], [0, -1, 2]], None), "row 1: leaf -1 is outside 0..=2 (n_leaves = 3)");
        assert!(text(vec![[0, 0, 2]], None).contains("leaf 0 occurs twice"));
        assert!(text(vec![[0, 2, 2]], None).contains("leaf 2 occurs twice"));
        assert!(text(vec![], None).contains("no comparisons"));
        let text = |rows: Vec<[i32; 4]>| Quadruplets::new(rows, None).unwrap_err().to_string();
        assert!(text(vec![[0, 1, 1, 0]]).contains("compares a pair with itself"));
        assert!(text(vec![[0, 1, 3, 3]]).contains("leaf 3 is paired with itself"));
        assert!(Quadruplets::new(vec![[0, 1, 0, 2]], None).is_ok());
    }

    #[test]
    fn weights_are_checked() {
        let triplets = || Triplets::new(vec![[0, 1, 2]], None).unwrap();
        assert!(triplets().with_weights(vec![]).is_err());
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(triplets().with_weights(vec![bad]).unwrap_err().to_string().contains("row 0"));
        }
        assert_eq!(triplets().with_weights(vec![0.5]).unwrap().weights(), Some(&[0.5][..]));
    }
}
