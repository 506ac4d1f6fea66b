//! The similarities of all clusters as a square matrix. A merge writes only the merged cluster's row.
//!
//! How the other rows are updated depends on their length:
//!
//! * short rows are updated at each merge;
//! * rows of up to [`FEW`] clusters are updated when they are next read. They copy the values of merged clusters from
//!   the rows of these clusters, because the matrix is in a core's cache;
//! * longer rows are also updated when they are next read. They compute the values of merged clusters again from their
//!   own values, which are read sequentially.

use fearless_simd::Simd;

use super::chain::Chain;
use super::doubts::Doubts;
use super::grid::Grid;
use super::kept::stream;
use super::matrix::Matrix;
use super::nearest::{Linkage, Nearest};
use super::read::{padded, stride, write_padded};
use super::search::not_finite;
use super::store::Store;
use super::tolerance::Tolerance;
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::memory::Buffer;
use crate::monitor::Monitor;

/// The largest number of clusters for which a square matrix of similarities fits into a core's cache.
pub(super) const FEW: usize = 1500;

/// Square matrices with at most this number of rows keep the rows and columns of removed clusters.
const PACK_FROM: usize = 64;

/// Clusters in ascending order of their smallest leaves (`names`), and memory that begins with the square matrix of
/// their similarities. Rows start at multiples of the [`stride`]. The similarity of a cluster with itself is minus
/// infinity.
pub(super) struct Similarities<'a> {
    pub(super) values: Store<'a>,
    pub(super) names: Vec<usize>,
    pub(super) sizes: Vec<f64>,
}

impl Similarities<'_> {
    pub(super) fn of(matrix: &Matrix<'_>, squared: bool, monitor: &Monitor) -> Result<Self> {
        let n = matrix.n_leaves();
        Ok(Self {
            values: Store::Own(written(matrix, squared, monitor)?),
            names: (0..n).collect(),
            sizes: vec![1.0; n],
        })
    }
}

pub(super) fn written(matrix: &Matrix<'_>, squared: bool, monitor: &Monitor) -> Result<Buffer> {
    let stride = stride(matrix.n_leaves());
    let mut values = Buffer::zeros("the working matrix", stride * stride)?;
    if matrix.n_leaves() <= FEW {
        write_padded(matrix, squared, &mut values, stride, monitor)?;
    } else {
        matrix.write_square(squared, &mut values, monitor)?;
    }
    Ok(values)
}

struct Logged<M> {
    i: usize,
    j: usize,
    merge: M,
}

/// The linkage of clusters whose similarities are in a [`Grid`].
pub(super) struct Square<'a, U: Update> {
    update: &'a U,
    grid: Grid<'a>,
    /// With more than `few` clusters: the merges so far. Other rows later compute values for the merged clusters.
    log: Vec<Logged<U::Merge>>,
}

/// Returns memory for [`Square::of_leaves`].
pub(super) fn room(n: usize) -> Vec<f64> {
    vec![0.0; stride(n) * padded(n)]
}

impl<'a, U: Update> Square<'a, U> {
    pub(super) fn of_leaves(
        (update, few): (&'a U, usize),
        matrix: &Matrix<'_>,
        squared: bool,
        values: &'a mut [f64],
        doubts: &Doubts<'_>,
    ) -> Result<Self> {
        let n = matrix.n_leaves();
        write_padded(matrix, squared, values, stride(n), doubts.monitor())?;
        let names: Vec<u32> = (0..n as u32).collect();
        let grid = Grid::new((few, U::SUMS), values, names.clone(), names, &|_| 1.0, doubts.tolerance());
        Ok(Self { update, grid, log: Vec::new() })
    }

    pub(super) fn of(
        update: &'a U,
        clusters: &'a mut Similarities<'_>,
        (n, few): (usize, usize),
        tolerance: Tolerance,
    ) -> Self {
        entered!(square);
        let Similarities { values, names, sizes } = clusters;
        let mut positions = vec![u32::MAX; n];
        names.iter().zip(0..).for_each(|(&name, at)| positions[name] = at);
        let names = names.iter().map(|&name| name as u32).collect();
        let grid = Grid::new((few, U::SUMS), values, names, positions, &|at| sizes[at], tolerance);
        Self { update, grid, log: Vec::new() }
    }

    /// Merges all clusters. The whole chain uses wide vectors: with a call for each row, 100 leaves would take 1.1 times
    /// as long.
    pub(super) fn finish(&mut self, chain: &mut Chain, doubts: &mut Doubts<'_>) -> Result<()> {
        widest!(simd => chain.run_on(&mut InLanes { rows: self, simd }, 1, doubts), else chain.run(self, 1, doubts))
    }

    #[inline(always)]
    fn bring_up_to_date(&mut self, at: usize) {
        if self.grid.is_large() {
            return self.replay(at);
        }
        self.grid.copy_merged(at);
    }

    #[inline(never)]
    fn replay(&mut self, at: usize) {
        let Self { update, log, grid } = self;
        let row = &mut grid.values[at * grid.stride..][..grid.n_used];
        replay(*update, row, &log[grid.seen[at] as usize..], at, grid.sizes[at]);
        grid.seen[at] = log.len() as u32;
    }

    #[inline(always)]
    fn at(&mut self, i: usize) -> usize {
        let at = self.grid.positions[i] as usize;
        self.bring_up_to_date(at);
        at
    }

    #[inline(always)]
    fn fold(&mut self, i: usize, j: usize) -> Result<()> {
        let (at_i, at_j) = (self.at(i), self.at(j));
        let Self { update, grid, .. } = self;
        let (n_i, n_j) = (grid.sizes[at_i], grid.sizes[at_j]);
        let n = padded(grid.n_used);
        let (head, tail) = grid.values.split_at_mut(at_j * grid.stride);
        let (row_i, row_j) = (&mut head[at_i * grid.stride..][..n], &tail[..n]);
        let merge = update.merge(Merging { n_i, n_j, x_ij: row_i[at_j] });
        // Set the values of removed clusters to a constant, so that they cannot grow until they overflow.
        for (((x_i, &x_j), &n_k), &gone) in row_i.iter_mut().zip(row_j).zip(&grid.sizes[..n]).zip(&grid.gone[..n]) {
            let x = update.fold(&merge, *x_i, x_j, n_k);
            *x_i = if gone == 0.0 { x } else { gone };
        }
        (row_i[at_i], row_i[at_j]) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        grid.gone[at_j] = f64::NEG_INFINITY;
        if U::MAY_FAIL {
            let is_other = |at: usize| at != at_i && grid.gone[at] == 0.0;
            if let Some(at) = (0..grid.n_used).find(|&at| is_other(at) && !row_i[at].is_finite()) {
                return Err(not_finite(row_i[at], i, grid.names[at] as usize));
            }
        }
        grid.sizes[at_i] = n_i + n_j;
        if U::SUMS {
            grid.shares[at_i] = 1.0 / (n_i + n_j);
        }
        grid.n_alive -= 1;
        let is_half_gone = if grid.is_large() {
            self.log.push(Logged { i: at_i, j: at_j, merge });
            grid.seen[at_i] = self.log.len() as u32;
            3 * grid.n_alive < 2 * grid.n_used || grid.n_alive <= grid.few
        } else {
            grid.note_merged(at_i);
            grid.n_used > PACK_FROM && 2 * grid.n_alive <= grid.n_used
        };
        if is_half_gone {
            self.pack();
        }
        Ok(())
    }

    fn pack(&mut self) {
        let (update, log) = (self.update, &self.log);
        let replay = |row: &mut [f64], seen: usize, at: usize, n_k: f64| replay(update, row, &log[seen..], at, n_k);
        self.grid.pack(!log.is_empty(), &replay);
        self.log.clear();
    }
}

/// Applies `missed`, merges of other clusters, to row `own`. Merges of the row's own cluster were applied before.
fn replay<U: Update>(update: &U, row: &mut [f64], missed: &[Logged<U::Merge>], own: usize, n_k: f64) {
    stream(row, missed.len());
    widest!(for Logged { i, j, merge } in missed {
        if *i != own {
            row[*i] = update.fold(merge, row[*i], row[*j], n_k);
            row[*j] = f64::NEG_INFINITY;
        }
    })
}

impl<U: Update> Linkage for Square<'_, U> {
    fn n_leaves(&self) -> usize {
        self.grid.positions.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.grid.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        let at = self.at(i);
        self.grid.similarities::<U::Stored>(at, others, out);
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        widest!(self.fold(i, j))
    }

    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let at = self.at(i);
        Ok(self.grid.nearest::<U::Stored>(at))
    }
}

struct InLanes<'r, 'a, U: Update, S> {
    rows: &'r mut Square<'a, U>,
    simd: S,
}

impl<U: Update, S: Simd> Linkage for InLanes<'_, '_, U, S> {
    fn n_leaves(&self) -> usize {
        self.rows.grid.positions.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.rows.grid.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        self.rows.similarities(i, others, out)
    }

    #[inline(always)]
    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        self.rows.fold(i, j)
    }

    #[inline(always)]
    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let at = self.rows.at(i);
        Ok(self.rows.grid.search::<S, U::Stored>(self.simd, at))
    }
}
