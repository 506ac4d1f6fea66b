//! Rows of leaf ids, in the type of the input.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;

use super::comparisons::is_valid;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;

/// Rows of `K` leaf ids. The types `u8` and `u16` save memory if there are few leaves and many rows.
///
/// Vectors and slices of rows convert into this type. Ids of type `u8`, `u16` and `i32` are kept as they are. Ids of
/// type `u32`, `i64` and `usize` become `i32`; an id above 2^31 - 1 or below -2^31 is an error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LeafRows<'a, const K: usize> {
    /// At most 256 leaves.
    U8(Cow<'a, [[u8; K]]>),
    /// At most 65,536 leaves.
    U16(Cow<'a, [[u16; K]]>),
    /// Any number of leaves.
    I32(Cow<'a, [[i32; K]]>),
}

macro_rules! made_from {
    ($($id:ty: [$($outlives:tt)*] $from_vec:expr, $from_slice:expr;)*) => {$(
        impl<const K: usize> TryFrom<Vec<[$id; K]>> for LeafRows<'_, K> {
            type Error = Error;

            fn try_from(rows: Vec<[$id; K]>) -> Result<Self> {
                $from_vec(rows)
            }
        }

        impl<'a, 'b, const K: usize> TryFrom<&'b [[$id; K]]> for LeafRows<'a, K> where $($outlives)* {
            type Error = Error;

            fn try_from(rows: &'b [[$id; K]]) -> Result<Self> {
                $from_slice(rows)
            }
        }
    )*};
}

made_from! {
    u8: ['b: 'a] |rows| Ok(Self::U8(Cow::Owned(rows))), |rows| Ok(Self::U8(Cow::Borrowed(rows)));
    u16: ['b: 'a] |rows| Ok(Self::U16(Cow::Owned(rows))), |rows| Ok(Self::U16(Cow::Borrowed(rows)));
    i32: ['b: 'a] |rows| Ok(Self::I32(Cow::Owned(rows))), |rows| Ok(Self::I32(Cow::Borrowed(rows)));
    u32: [] |rows: Vec<_>| narrowed(&rows), narrowed;
    i64: [] |rows: Vec<_>| narrowed(&rows), narrowed;
    usize: [] |rows: Vec<_>| narrowed(&rows), narrowed;
}

/// Checks only that the ids fit into 32 bits, because [`Comparisons`](super::Comparisons) does all other checks.
fn narrowed<I, const K: usize>(rows: &[[I; K]]) -> Result<LeafRows<'static, K>>
where
    I: Copy + Display + TryInto<i32> + TryInto<i64>,
{
    let mut narrow = memory::room("the rows of leaf ids", rows.len())?;
    for (row, ids) in rows.iter().enumerate() {
        let mut found = [0; K];
        for (found, &id) in found.iter_mut().zip(ids) {
            *found = id.try_into().map_err(|_| {
                let reason = format!("leaf {id} is outside 0..={}", i32::MAX - 1);
                Error::Row { row, leaves: vec![id.try_into().unwrap_or(i64::MAX)], reason }
            })?;
        }
        narrow.push(found);
    }
    Ok(LeafRows::I32(Cow::Owned(narrow)))
}

/// The number of rows that are converted to `i32` at a time. The converted rows fit into the first-level cache.
const WIDENED: usize = 1 << 10;
const WATCHED: usize = 1 << 16;

impl<const K: usize> LeafRows<'_, K> {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(rows) => rows.len(),
            Self::U16(rows) => rows.len(),
            Self::I32(rows) => rows.len(),
        }
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the row with the index `at`.
    ///
    /// # Panics
    /// If `at` is not below the number of rows.
    #[inline]
    pub fn row(&self, at: usize) -> [i32; K] {
        match self {
            Self::U8(rows) => rows[at].map(i32::from),
            Self::U16(rows) => rows[at].map(i32::from),
            Self::I32(rows) => rows[at],
        }
    }

    /// Returns all rows in order.
    pub fn iter(&self) -> impl Iterator<Item = [i32; K]> + '_ {
        (0..self.len()).map(|at| self.row(at))
    }

    #[inline]
    pub(crate) fn each(&self, range: Range<usize>, mut work: impl FnMut(usize, &[i32; K])) {
        self.each_block(range, |start, rows| {
            for (at, row) in rows.iter().enumerate() {
                work(start + at, row);
            }
        });
    }

    #[inline]
    pub(crate) fn each_weighted<W: Copy>(
        &self,
        range: Range<usize>,
        weights: &[W],
        mut work: impl FnMut(&[i32; K], W),
    ) {
        self.each_block(range, |start, rows| {
            for (row, &weight) in rows.iter().zip(&weights[start..start + rows.len()]) {
                work(row, weight);
            }
        });
    }

    #[inline]
    fn each_block(&self, range: Range<usize>, mut work: impl FnMut(usize, &[[i32; K]])) {
        let mut wide = [[0; K]; WIDENED];
        let step = if matches!(self, Self::I32(_)) { range.len().max(1) } else { WIDENED };
        for start in range.clone().step_by(step) {
            let block = start..(start + step).min(range.end);
            let rows: &[[i32; K]] = match self {
                Self::U8(rows) => widened(&rows[block], &mut wide),
                Self::U16(rows) => widened(&rows[block], &mut wide),
                Self::I32(rows) => &rows[block],
            };
            work(start, rows);
        }
    }

    #[inline]
    pub(crate) fn each_watched(&self, monitor: &Monitor, mut work: impl FnMut(usize, &[i32; K])) -> Result<()> {
        for start in (0..self.len()).step_by(WATCHED) {
            self.each(start..(start + WATCHED).min(self.len()), &mut work);
            monitor.advance(0)?;
        }
        Ok(())
    }

    pub(super) fn first_bad(&self, range: Range<usize>, n_leaves: usize) -> Option<usize> {
        let start = range.start;
        let at = match self {
            Self::U8(rows) => first_bad(&rows[range], n_leaves),
            Self::U16(rows) => first_bad(&rows[range], n_leaves),
            Self::I32(rows) => first_bad(&rows[range], n_leaves),
        };
        at.map(|at| start + at)
    }
}

fn widened<'a, I: Copy + Into<i32>, const K: usize>(rows: &[[I; K]], wide: &'a mut [[i32; K]]) -> &'a [[i32; K]] {
    let wide = &mut wide[..rows.len()];
    wide.as_flattened_mut().iter_mut().zip(rows.as_flattened()).for_each(|(wide, &id)| *wide = id.into());
    wide
}

#[inline]
fn first_bad<I: Copy + PartialEq + Into<i32>, const K: usize>(rows: &[[I; K]], n_leaves: usize) -> Option<usize> {
    rows.iter().position(|row| !is_valid(row, n_leaves))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_widths_are_the_same() {
        let wide: Vec<[i32; 3]> = (0..3000).map(|at| [at % 251, at % 7, at % 13]).collect();
        let middle: Vec<[u16; 3]> = wide.iter().map(|row| row.map(|id| id as u16)).collect();
        let narrow: Vec<[u8; 3]> = wide.iter().map(|row| row.map(|id| id as u8)).collect();
        let weights: Vec<i32> = (0..3000).collect();
        let all = [narrow.try_into(), middle.try_into(), wide.as_slice().try_into()];
        for rows in all.map(Result::<LeafRows<'_, 3>>::unwrap) {
            assert_eq!((rows.len(), rows.is_empty()), (3000, false));
            assert!(rows.iter().eq(wide.iter().copied()));
            let mut seen = Vec::new();
            rows.each(100..3000, |at, row| seen.push((at, *row)));
            assert!(seen.into_iter().eq((100..3000).map(|at| (at, wide[at]))));
            let mut seen = Vec::new();
            rows.each_weighted(100..3000, &weights, |row, weight| seen.push((weight as usize, *row)));
            assert!(seen.into_iter().eq((100..3000).map(|at| (at, wide[at]))));
            assert_eq!(
                rows.first_bad(2..5, 251),
                (2..5).find(|&at| wide[at][0] == wide[at][1] || wide[at][1] == wide[at][2])
            );
            assert_eq!(rows.first_bad(0..3000, 0), Some(0));
        }
    }

    #[test]
    fn wide_ids_are_narrowed_or_refused() {
        fn narrow<'a, R: TryInto<LeafRows<'a, 3>, Error = Error>>(rows: R) -> Result<LeafRows<'a, 3>> {
            rows.try_into()
        }
        let expected = narrow(vec![[0, 1, i32::MAX]]).unwrap();
        assert_eq!(narrow(vec![[0u32, 1, i32::MAX as u32]]), Ok(expected.clone()));
        assert_eq!(narrow(&[[0i64, 1, i64::from(i32::MAX)]][..]), Ok(expected.clone()));
        assert_eq!(narrow(vec![[0usize, 1, i32::MAX as usize]]), Ok(expected));
        let message = |error: Result<LeafRows<'_, 3>>| error.unwrap_err().to_string();
        assert_eq!(
            message(narrow(vec![[0, 1, 2], [0, u32::MAX, 1]])),
            "row 1: leaf 4294967295 is outside 0..=2147483646"
        );
        let far = i64::MIN;
        assert_eq!(message(narrow(vec![[0, 1, far]])), format!("row 0: leaf {far} is outside 0..=2147483646"));
        assert_eq!(narrow(vec![[0, 1, usize::MAX]]).unwrap_err().leaves(), [[i64::MAX]]);
        // An id that fits into 32 bits can still be invalid: negative, or not below the number of leaves.
        let error = crate::Triplets::new(vec![[0i64, 1, -4]], None).unwrap_err();
        assert_eq!(error.to_string(), "row 0: leaf -4 is outside 0..=1 (n_leaves = 2)");
        assert_eq!(crate::Triplets::new(vec![[0usize, 1, 2]], None).unwrap().n_leaves(), 3);
    }
}
