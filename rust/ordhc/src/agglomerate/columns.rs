//! Columns of a condensed matrix, copied in one pass over the rows. Reading a single column would load a cache line for
//! each value.

use std::ops::Range;

use super::threads::{parts, threads};
use super::triangle_rows::TriangleRows;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::sorting::order_by_key;

/// Columns are copied only from condensed matrices with at least this number of rows. A smaller matrix fits into a
/// core's cache.
const MANY: usize = 1500;
/// The number of rows that are read together. Their values in one column are mostly written to the same cache line.
const SIDE: usize = 8;

/// Copies of columns of a condensed matrix. For each given pair of cluster indices `i < j`, the copy has the
/// similarities of cluster `j` to all clusters between `i` and `j`.
pub(super) struct Columns<'r> {
    values: &'r [f64],
    /// For each range of rows: the range, and the index in `values` at which the values of each column start.
    parts: Vec<(Range<usize>, Vec<usize>)>,
    /// For each cluster: the index of its copied column, or [`NONE`].
    places: Vec<u32>,
    firsts: Vec<usize>,
}

const NONE: u32 = u32::MAX;

struct Cursor {
    i: usize,
    j: usize,
    to: usize,
}

impl<'r> Columns<'r> {
    /// For each given pair of cluster indices `i < j`, copies the values of column `j` between rows `i` and `j` into
    /// the buffer `room`. Every `j` is in at most one pair. Returns `None` if copying does not save time, or if `room`
    /// is too small.
    pub(super) fn of(
        triangle: &dyn TriangleRows,
        pairs: &mut dyn Iterator<Item = (usize, usize)>,
        room: &'r mut [f64],
        monitor: &Monitor,
    ) -> Result<Option<Self>> {
        let k = triangle.len();
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let len: usize = pairs.iter().map(|&(i, j)| j - i - 1).sum();
        if k < MANY || len > room.len() {
            return Ok(None);
        }
        Self::gathered(triangle, pairs, &mut room[..len], parts(k), monitor).map(Some)
    }

    fn gathered(
        triangle: &dyn TriangleRows,
        mut pairs: Vec<(usize, usize)>,
        values: &'r mut [f64],
        parts: Vec<Range<usize>>,
        monitor: &Monitor,
    ) -> Result<Self> {
        entered!(columns);
        let k = triangle.len();
        order_by_key(&mut pairs, |(_, j)| j);
        let mut places = vec![NONE; k];
        pairs.iter().zip(0..).for_each(|(&(_, j), place)| places[j] = place);
        let (mut starts, mut ends, mut end) = (Vec::new(), Vec::new(), 0);
        for rows in parts {
            let mut place = |&(i, j): &(usize, usize)| {
                let start = end;
                end += rows.end.min(j).saturating_sub(rows.start.max(i + 1));
                start
            };
            starts.push((rows.clone(), pairs.iter().map(&mut place).collect::<Vec<_>>()));
            ends.push(end);
        }
        let slices = parallel::split_at_ends(values, &ends);
        let scratches = vec![vec![0.0; SIDE * k]; threads(k)];
        parallel::share(scratches, starts.iter().zip(slices), |scratch, ((rows, starts), out)| {
            let start = starts.first().copied().unwrap_or(0);
            let cursors = pairs.iter().zip(starts).map(|(&(i, j), &at)| Cursor { i, j, to: at - start });
            let inside = |cursor: &Cursor| cursor.i + 1 < rows.end && cursor.j > rows.start;
            let mut cursors: Vec<Cursor> = cursors.filter(inside).collect();
            for first in rows.clone().step_by(SIDE) {
                let later = cursors.partition_point(|cursor| cursor.j <= first);
                let last = (first + SIDE).min(rows.end) - 1;
                let scratches = scratch.chunks_exact_mut(k);
                let mut lines = [&[][..]; SIDE];
                for ((line, row), scratch) in lines.iter_mut().zip(first..=last).zip(scratches) {
                    *line = triangle.row(row, scratch);
                }
                take(&lines, first..last + 1, &mut cursors[later..], out);
            }
            monitor.advance(0)
        })?;
        let firsts = pairs.into_iter().map(|(i, _)| i).collect();
        Ok(Self { values, parts: starts, places, firsts })
    }

    /// Writes the similarities of cluster `j` to the earlier clusters `others`. Returns false if they were not copied.
    fn write(&self, j: usize, others: &Range<usize>, mut out: &mut [f64]) -> bool {
        let place = self.places[j];
        if place == NONE || others.start <= self.firsts[place as usize] {
            return false;
        }
        let (place, first) = (place as usize, self.firsts[place as usize] + 1);
        for (rows, starts) in &self.parts {
            let here = others.start.max(rows.start)..others.end.min(rows.end);
            if !here.is_empty() {
                let from = starts[place] + here.start - first.max(rows.start);
                let (head, tail) = out.split_at_mut(here.len());
                head.copy_from_slice(&self.values[from..from + here.len()]);
                out = tail;
            }
        }
        true
    }
}

fn take(lines: &[&[f64]; SIDE], rows: Range<usize>, cursors: &mut [Cursor], out: &mut [f64]) {
    for Cursor { i, j, to } in cursors {
        let inside = rows.start.max(*i + 1)..rows.end.min(*j);
        let values = &mut out[*to..*to + inside.len()];
        *to += inside.len();
        if let (SIDE, Some(values)) = (inside.len(), values.first_chunk_mut::<SIDE>()) {
            // Most columns extend over all rows that are read together, so a loop of constant length handles them.
            for (at, (value, line)) in values.iter_mut().zip(lines).enumerate() {
                *value = line[*j - rows.start - at - 1];
            }
        } else {
            for (value, row) in values.iter_mut().zip(inside) {
                *value = lines[row - rows.start][*j - row - 1];
            }
        }
    }
}

pub(super) struct WithColumns<'a> {
    pub(super) triangle: &'a dyn TriangleRows,
    pub(super) columns: Option<&'a Columns<'a>>,
}

impl TriangleRows for WithColumns<'_> {
    fn len(&self) -> usize {
        self.triangle.len()
    }

    fn row<'s>(&'s self, i: usize, scratch: &'s mut [f64]) -> &'s [f64] {
        self.triangle.row(i, scratch)
    }

    fn column(&self, j: usize, others: Range<usize>, out: &mut [f64]) {
        if !self.columns.is_some_and(|columns| columns.write(j, &others, out)) {
            self.triangle.column(j, others, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::triangle_rows::Condensed;
    use super::*;
    use crate::similarity::condensed_len;

    proptest! {
        #[test]
        fn columns_are_those_of_the_triangle(
            k in 2..40usize, firsts in proptest::collection::vec(0..99usize, 0..12), cuts in proptest::collection::vec(0..40usize, 0..5),
        ) {
            let values: Vec<f64> = (0..condensed_len(k)).map(|at| at as f64).collect();
            let triangle = Condensed { values: &values, k, n_gone: 0 };
            let pairs = firsts.iter().zip((1..k).rev().step_by(3)).map(|(&i, j)| (i % j, j));
            let pairs: Vec<(usize, usize)> = pairs.collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(k)).chain([0, k]).collect();
            cuts.sort_unstable();
            let parts = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
            let mut room = vec![-1.0; pairs.iter().map(|&(i, j)| j - i - 1).sum()];
            let columns = Columns::gathered(&triangle, pairs.clone(), &mut room, parts, &Monitor::new()).unwrap();
            for &(_, j) in &pairs {
                prop_assert!(columns.places[j] != NONE);
            }
            let with = WithColumns { triangle: &triangle, columns: Some(&columns) };
            for j in 1..k {
                for others in (0..j).flat_map(|start| (start..=j).map(move |end| start..end)) {
                    let (mut expected, mut found) = (vec![0.0; others.len()], vec![0.0; others.len()]);
                    triangle.column(j, others.clone(), &mut expected);
                    with.column(j, others, &mut found);
                    prop_assert_eq!(expected, found);
                }
            }
        }
    }
}
