//! The naive engine: look at every pair before every merge. The other engines are tested against it.

use super::matrix::Matrix;
use super::{Linkage, Tolerance};
use crate::error::{Error, Result};
use crate::linkage::{Merging, Update};
use crate::memory::Buffer;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, RawMerge};

/// Merges the most similar pair until one cluster is left. O(n^3).
///
/// # Errors
/// What the linkage reports; [`crate::Error::Interrupted`].
pub fn naive(linkage: &mut impl Linkage, monitor: &Monitor) -> Result<Dendrogram> {
    let n = linkage.n_leaves();
    Dendrogram::in_order(n, merges(linkage, monitor)?)
}

pub(crate) fn merges(linkage: &mut impl Linkage, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    let mut active: Vec<usize> = (0..linkage.n_leaves()).collect();
    let members = active.clone();
    merges_among(linkage, members, &mut active, monitor)
}

/// Merges the clusters `members`, some or all of the active ones, until they are one.
pub(crate) fn merges_among(
    linkage: &mut impl Linkage,
    mut members: Vec<usize>,
    active: &mut Vec<usize>,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let mut merges = Vec::with_capacity(members.len().saturating_sub(1));
    if members.len() == active.len() {
        monitor.start(members.len().saturating_sub(1) as u64);
    }
    let mut values = vec![0.0; members.len()];
    while members.len() > 1 {
        let mut largest = Vec::with_capacity(members.len());
        for (at, &i) in members.iter().enumerate() {
            linkage.similarities(i, &members[at + 1..], &mut values[at + 1..members.len()])?;
            largest
                .push(values[at + 1..members.len()].iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a }));
        }
        let tolerance = linkage.tolerance();
        let floor = tolerance.floor(largest.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let first = largest.iter().position(|&x| x >= floor && x > f64::NEG_INFINITY);
        let Some(at) = first else {
            return Err(Error::Argument("the linkage gives no finite similarity for any pair".into()));
        };
        let (later, values) = (&members[at + 1..], &mut values[at + 1..members.len()]);
        linkage.similarities(members[at], later, values)?;
        let first = values.iter().position(|&x| x >= floor).unwrap_or(0);
        let best = RawMerge { i: members[at], j: later[first], similarity: values[first] };
        linkage.merge(best.i, best.j, active)?;
        merges.push(best);
        active.retain(|&k| k != best.j);
        members.retain(|&k| k != best.j);
        monitor.advance(1)?;
    }
    Ok(merges)
}

/// The plainest storage: a full matrix, both halves rewritten at every merge.
pub(crate) struct PlainMatrix<'u, U: Update> {
    update: &'u U,
    values: Buffer,
    sizes: Vec<f64>,
    tolerance: Tolerance,
}

impl<'u, U: Update> PlainMatrix<'u, U> {
    pub(crate) fn new(
        update: &'u U,
        matrix: &Matrix<'_>,
        squared: bool,
        tolerance: Tolerance,
        monitor: &Monitor,
    ) -> Result<Self> {
        let n = matrix.n_leaves();
        let mut values = Buffer::zeros("the working matrix", n * n)?;
        matrix.write_square(squared, &mut values, monitor)?;
        Ok(Self { update, values, sizes: vec![1.0; n], tolerance })
    }
}

impl<U: Update> Linkage for PlainMatrix<'_, U> {
    fn n_leaves(&self) -> usize {
        self.sizes.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        for (value, &k) in out.iter_mut().zip(others) {
            let x = self.values[i * self.sizes.len() + k];
            *value = if U::SUMS { x / (self.sizes[i] * self.sizes[k]) } else { x };
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()> {
        let n = self.sizes.len();
        let merging = Merging { n_i: self.sizes[i], n_j: self.sizes[j], x_ij: self.values[i * n + j] };
        let merge = self.update.merge(merging);
        for &k in active.iter().filter(|&&k| k != i && k != j) {
            let x = self.update.fold(&merge, self.values[i * n + k], self.values[j * n + k], self.sizes[k]);
            if x.is_nan() || x.is_infinite() {
                return Err(Error::Argument(format!("the linkage gives {x} for clusters {i} and {k}")));
            }
            self.values[i * n + k] = x;
            self.values[k * n + i] = x;
        }
        self.sizes[i] += self.sizes[j];
        Ok(())
    }
}
