//! One tree that stands for many.

use super::dot;
use super::sampled::Sampled;
use super::samples::Samples;
use crate::agglomerate::{Agglomeration, Layout, Matrix, Values};
use crate::error::Result;
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::memory::{self, Buffer};
use crate::monitor::Monitor;
use crate::parallel;
use crate::refine::{Heights, Search, refine};
use crate::similarity::{Triangle, condensed_len};
use crate::tree::Dendrogram;

/// With more leaves than this there are no correlations and no moves, which take O(n^3).
const MOVED: usize = 3_000;

impl Samples {
    /// One tree for all: average linkage of how many leaves stand outside of a pair, the mean over the trees, then moves of
    /// subtrees. That is AddS3 of all triplets as the trees have them, and moves raise the expected revenue. Merges stand at
    /// correlations of rows of mean heights. Above 3,000 leaves average linkage of mean heights alone.
    ///
    /// # Errors
    /// No samples of three leaves and more; not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn summary(&self, monitor: Option<&Monitor>) -> Result<Dendrogram> {
        let n = self.n_leaves();
        let mut heights = Buffer::zeros("the similarities", condensed_len(n))?;
        self.similarity(&mut heights, monitor)?;
        if n > MOVED {
            return Agglomeration::new(Rule::Average).monitor(monitor).run_in_place(
                &mut heights,
                Layout::Condensed,
                Kind::Similarity,
            );
        }
        let mut outside = Buffer::zeros("the similarities", condensed_len(n))?;
        self.mean_of_pairs(&mut outside, Sampled::add_outside, monitor)?;
        let matrix = Matrix::new(Values::F64(&outside), Layout::Condensed, Kind::Similarity)?;
        let tree = Agglomeration::new(Rule::Average).monitor(monitor).run(&matrix)?;
        let search = Search { restarts: 3, ..Search::default() };
        let tree = refine(&tree, &matrix, Heights::Average, &search, monitor)?.tree;
        // The same tree, at other heights.
        let alike = correlations(n, &heights)?;
        let matrix = Matrix::new(Values::F64(&alike), Layout::Condensed, Kind::Similarity)?;
        let stay = Search { max_moves: Some(0), ..Search::default() };
        Ok(refine(&tree, &matrix, Heights::Average, &stay, monitor)?.tree)
    }
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
