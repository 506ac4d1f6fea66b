//! Dot products of all pairs of sparse rows, by an inverted index: for each column, the rows with a value in this
//! column.

use std::ops::Range;

use super::sparse_rows::SparseRows;
use crate::error::{Error, Position, Result, check_len};
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::{Cell, Triangle, condensed_len};

/// Writes the dot product of every pair of sparse rows into `out`, a condensed matrix of `f64` or `f32`. Returns the
/// dot product of each row with itself.
///
/// Sums are computed in double precision, in the order of the values of the pair's first row. The time is proportional
/// to the number of products of nonzero values in the same column, plus the number of pairs. The memory besides `out`
/// is linear in the number of values. The result does not depend on the number of threads.
///
/// # Errors
/// A wrong length of `out`, or an integer type; a dot product that overflows, with its position; not enough memory;
/// [`Error::Interrupted`].
///
/// ```
/// use ordhc::vectors::{SparseRows, sparse_gram};
///
/// // (1, 0, 0), (3, 0, 4), (0, 0, 2)
/// let rows = SparseRows::new(&[0, 1, 3, 4], &[0, 0, 2, 2], &[1.0, 3.0, 4.0, 2.0], 3, 3)?;
/// let mut pairs = [0.0; 3]; // (0,1), (0,2), (1,2)
/// let diagonal = sparse_gram(&rows, &mut pairs, None)?;
/// assert_eq!((pairs, diagonal), ([3.0, 0.0, 8.0], vec![1.0, 25.0, 4.0]));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn sparse_gram<I, V, T>(rows: &SparseRows<'_, I, V>, out: &mut [T], monitor: Option<&Monitor>) -> Result<Vec<f64>>
where
    I: Copy + Sync + Into<i64>,
    V: Copy + Sync + Send + Into<f64>,
    T: Cell,
{
    entered!(vectors_sparse_gram);
    watched!(monitor);
    let n = rows.n_leaves();
    check_len("values", out.len(), "pairs of leaves", condensed_len(n))?;
    if T::from_weight(0.5).is_none() {
        return Err(Error::Argument("`out` has an integer type, but dot products need f32 or f64".into()));
    }
    let lists = Lists::new(rows)?;
    let costs = lists.costs(rows);
    monitor.start(costs.iter().sum());
    let parts = even_parts(&costs);
    let work = parallel::with_parts(parts, out, |end| Triangle::new(n).before(end));
    parallel::try_map::<_, _, ()>(work, |(part, out)| lists.multiply(rows, part, &costs, out, monitor))?;
    let diagonal: Vec<f64> = (0..n).map(|i| rows.row(i).map(|(_, x)| x.into() * x.into()).sum()).collect();
    match diagonal.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(overflow(i, i, diagonal[i])),
        None => Ok(diagonal),
    }
}

fn overflow(i: usize, j: usize, value: f64) -> Error {
    let limit = "it overflows; rescale the rows";
    Error::BadValue { what: "the dot product", place: Position::Pair(i, j), value, limit }
}

/// For each column: the rows with a value in this column, in ascending order, and their values.
struct Lists<V> {
    starts: Vec<usize>,
    entries: Vec<(u32, V)>,
}

impl<V: Copy + Sync + Send + Into<f64>> Lists<V> {
    fn new<I: Copy + Sync + Into<i64>>(rows: &SparseRows<'_, I, V>) -> Result<Self> {
        let entry = size_of::<(u32, V)>() as u64;
        memory::check("the lists of columns", entry * rows.n_values() as u64 + 24 * rows.n_coordinates() as u64)?;
        let mut starts = vec![0; rows.n_coordinates() + 1];
        let all = || (0..rows.n_leaves()).flat_map(|i| rows.row(i).map(move |(column, x)| (column, (i as u32, x))));
        all().for_each(|(column, _)| starts[column + 1] += 1);
        for column in 1..starts.len() {
            starts[column] += starts[column - 1];
        }
        let mut entries: Vec<(u32, V)> = all().map(|(_, entry)| entry).collect();
        let mut next = starts.clone();
        for (column, entry) in all() {
            entries[next[column]] = entry;
            next[column] += 1;
        }
        Ok(Self { starts, entries })
    }

    fn costs<I: Copy + Sync + Into<i64>>(&self, rows: &SparseRows<'_, I, V>) -> Vec<u64> {
        let n = rows.n_leaves();
        let mut left: Vec<u64> = self.starts.windows(2).map(|list| (list[1] - list[0]) as u64).collect();
        let cost = |i: usize| {
            let products = rows.row(i).map(|(column, _)| {
                left[column] -= 1;
                left[column]
            });
            products.sum::<u64>() + (n - i) as u64
        };
        (0..n).map(cost).collect()
    }

    fn multiply<I: Copy + Sync + Into<i64>, T: Cell>(
        &self,
        rows: &SparseRows<'_, I, V>,
        part: Range<usize>,
        costs: &[u64],
        mut out: &mut [T],
        monitor: &Monitor,
    ) -> Result<()> {
        let n = rows.n_leaves();
        let first_from = |list: &[usize]| {
            let entries = &self.entries[list[0]..list[1]];
            list[0] + entries.partition_point(|entry| (entry.0 as usize) < part.start)
        };
        let mut next: Vec<usize> = self.starts.windows(2).map(first_from).collect();
        let mut sums = vec![0.0; n];
        for i in part {
            for (column, x) in rows.row(i) {
                // Skip the next element of the column's list: it is row i itself.
                next[column] += 1;
                let x: f64 = x.into();
                for &(j, y) in &self.entries[next[column]..self.starts[column + 1]] {
                    sums[j as usize] += x * y.into();
                }
            }
            let (row, rest) = out.split_at_mut(n - i - 1);
            out = rest;
            let mut poison = 0.0;
            for (to, sum) in row.iter_mut().zip(&mut sums[i + 1..]) {
                *to = T::from_weight(*sum).unwrap_or_default();
                // A finite value times 0 is 0. Any other value times 0 is NaN, which stays in the sum.
                poison += to.to_f64() * 0.0;
                *sum = 0.0;
            }
            if poison != 0.0 {
                let bad = row.iter().position(|x| !x.to_f64().is_finite()).expect("a value that isn't finite");
                return Err(overflow(i, i + 1 + bad, row[bad].to_f64()));
            }
            monitor.advance(costs[i])?;
        }
        Ok(())
    }
}

fn even_parts(costs: &[u64]) -> Vec<Range<usize>> {
    let total: u64 = costs.iter().sum();
    let parts = parallel::ranges(total as usize, 1 << 18).len() as u64;
    let mut ranges = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (i, cost) in costs.iter().enumerate() {
        sum += cost;
        if sum * parts > total * (ranges.len() as u64 + 1) {
            ranges.push(start..i + 1);
            start = i + 1;
        }
    }
    ranges.push(start..costs.len());
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_rows() {
        for costs in [vec![], vec![1], vec![1 << 20; 9], vec![1 << 30, 1, 1, 1 << 30]] {
            let rows: Vec<usize> = even_parts(&costs).into_iter().flatten().collect();
            assert_eq!(rows, (0..costs.len()).collect::<Vec<_>>());
        }
    }
}
