//! Rows of leaf ids, as narrow as they come.

use std::borrow::Cow;
use std::ops::Range;

use super::comparisons::is_valid;
use crate::error::Result;
use crate::monitor::Monitor;

/// Rows of `K` leaf ids: `u8` and `u16` save memory where there are few leaves and many rows.
///
/// Made from vectors and slices of rows. Methods read all types as `i32`, so that they exist once.
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
    ($($variant:ident($id:ty)),*) => {$(
        impl<const K: usize> From<Vec<[$id; K]>> for LeafRows<'_, K> {
            fn from(rows: Vec<[$id; K]>) -> Self {
                Self::$variant(Cow::Owned(rows))
            }
        }

        impl<'a, const K: usize> From<&'a [[$id; K]]> for LeafRows<'a, K> {
            fn from(rows: &'a [[$id; K]]) -> Self {
                Self::$variant(Cow::Borrowed(rows))
            }
        }
    )*};
}

made_from!(U8(u8), U16(u16), I32(i32));

/// So many narrow rows are widened at a time: they stay in the first cache.
const WIDENED: usize = 1 << 10;
/// Rows between two looks at the monitor.
const WATCHED: usize = 1 << 16;

impl<const K: usize> LeafRows<'_, K> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(rows) => rows.len(),
            Self::U16(rows) => rows.len(),
            Self::I32(rows) => rows.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row `at`.
    ///
    /// # Panics
    /// If there are no more than `at` rows.
    pub fn row(&self, at: usize) -> [i32; K] {
        match self {
            Self::U8(rows) => rows[at].map(i32::from),
            Self::U16(rows) => rows[at].map(i32::from),
            Self::I32(rows) => rows[at],
        }
    }

    /// All rows, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = [i32; K]> + '_ {
        (0..self.len()).map(|at| self.row(at))
    }

    /// Calls `work` with the rows of a range in order, and where each stands.
    #[inline]
    pub(crate) fn each(&self, range: Range<usize>, mut work: impl FnMut(usize, &[i32; K])) {
        self.each_block(range, |start, rows| {
            for (at, row) in rows.iter().enumerate() {
                work(start + at, row);
            }
        });
    }

    /// Calls `work` with the rows of a range in order, and the weight of each.
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

    /// Calls `work` with the rows of a range block by block, and where each block begins.
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

    /// Calls `work` with all rows in order, and where each stands; looks at the monitor now and then.
    #[inline]
    pub(crate) fn each_watched(&self, monitor: &Monitor, mut work: impl FnMut(usize, &[i32; K])) -> Result<()> {
        for start in (0..self.len()).step_by(WATCHED) {
            self.each(start..(start + WATCHED).min(self.len()), &mut work);
            monitor.advance(0)?;
        }
        Ok(())
    }

    /// Where the first row of a range stands that isn't valid.
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
        for rows in [LeafRows::from(narrow), LeafRows::from(middle), LeafRows::from(wide.as_slice())] {
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
}
