//! One tree that stands for many.

use super::dot;
use super::samples::Samples;
use crate::agglomerate::{Agglomeration, Layout, Matrix, Values};
use crate::error::Result;
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::memory::{self, Buffer};
use crate::metric::triplet_distance;
use crate::monitor::Monitor;
use crate::parallel;
use crate::refine::{Heights, Search, refine};
use crate::similarity::{Triangle, condensed_len};
use crate::tree::{Dendrogram, Ties, Topology};

/// With more leaves than this there are no correlations and no moves, which take O(n^3).
const MOVED: usize = 3_000;
/// So many of the trees say how many triplets of a summary are wrong.
const JUDGES: usize = 25;
/// Correlations find clusters better, where they don't make this many times as many triplets wrong.
const MARGIN: f64 = 1.1;

impl Samples {
    /// One tree for all: average linkage of the correlations of rows of mean heights, or of mean heights themselves
    /// where by the other trees a tenth fewer triplets are wrong, then moves of subtrees. Above 3,000 leaves average
    /// linkage of mean heights alone.
    ///
    /// # Errors
    /// No samples of three leaves and more; not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn summary(&self, monitor: Option<&Monitor>) -> Result<Dendrogram> {
        let n = self.n_leaves();
        let mut pairs = Buffer::zeros("the similarities", condensed_len(n))?;
        self.similarity(&mut pairs, monitor)?;
        if n > MOVED {
            return Agglomeration::new(Rule::Average).monitor(monitor).run_in_place(
                &mut pairs,
                Layout::Condensed,
                Kind::Similarity,
            );
        }
        let by_height = moved(&pairs, monitor)?;
        let by_correlation = moved(&correlations(n, &pairs)?, monitor)?;
        let most = self.len().min(JUDGES);
        let (mut wrong, mut best) = (0, 0);
        for judge in 0..most {
            let (tree, _) = self.tree(judge * (self.len() - 1) / (most - 1).max(1))?;
            let tree = Topology::try_of(&tree, Ties::Joined)?;
            for (sum, other) in [(&mut wrong, &by_correlation), (&mut best, &by_height)] {
                let counts = triplet_distance(&tree, &Topology::try_of(other, Ties::Joined)?, monitor)?;
                *sum += 2 * counts.different + counts.only_a;
            }
        }
        Ok(if wrong as f64 <= MARGIN * best as f64 { by_correlation } else { by_height })
    }
}

/// Average linkage, then moves of subtrees.
fn moved(pairs: &[f64], monitor: Option<&Monitor>) -> Result<Dendrogram> {
    let matrix = Matrix::new(Values::F64(pairs), Layout::Condensed, Kind::Similarity)?;
    let tree = Agglomeration::new(Rule::Average).monitor(monitor).run(&matrix)?;
    let search = Search { restarts: 3, ..Search::default() };
    Ok(refine(&tree, &matrix, Heights::Average, &search, monitor)?.tree)
}

/// Correlations of rows: leaves are alike that are close to the same leaves. Each leaf is as close to itself as to its
/// closest other one.
fn correlations(n: usize, pairs: &[f64]) -> Result<Buffer> {
    const WHAT: &str = "correlations";
    let triangle = Triangle::new(n);
    let mut square = memory::filled(WHAT, f64::NEG_INFINITY, n * n)?;
    for i in 0..n {
        for (j, &value) in (i + 1..n).zip(&pairs[triangle.row(i)]) {
            square[i * n + j] = value;
            square[j * n + i] = value;
        }
    }
    for (i, row) in square.chunks_exact_mut(n).enumerate() {
        row[i] = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = row.iter().sum::<f64>() / n as f64;
        row.iter_mut().for_each(|value| *value -= mean);
        let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|value| *value /= length);
        }
    }
    let mut found = Buffer::zeros(WHAT, condensed_len(n))?;
    let shares = triangle.shares();
    let ends: Vec<usize> = shares.iter().map(|rows| triangle.before(rows.end)).collect();
    let work: Vec<_> = shares.into_iter().zip(parallel::split_at_ends(&mut found, &ends)).collect();
    parallel::map(work, |(rows, mut cells)| {
        for i in rows {
            let (row, rest) = std::mem::take(&mut cells).split_at_mut(n - 1 - i);
            for (j, cell) in (i + 1..n).zip(row) {
                *cell = dot(&square[i * n..(i + 1) * n], &square[j * n..(j + 1) * n]);
            }
            cells = rest;
        }
    });
    Ok(found)
}
