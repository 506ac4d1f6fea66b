//! Triplets or quadruplets, and other types of input that are known only at run time.
//!
//! The compiler makes a copy of a generic function in each crate that calls the function. The functions of this file
//! are not generic, so only this crate contains these copies.
#![allow(clippy::missing_errors_doc, reason = "the errors are those of the functions that are called")]

use std::ops::Range;

use super::{
    Additions, AdditionsView, Belonging, Draws, LevelScores, NearFarCounts, NoiseCeiling, Resample, Run, RunOptions,
    Tallies, add_sorted,
};
use crate::agglomerate::SparsePairs;
use crate::bootstrap::{adds as resamples, tally::add_held_out};
use crate::comparison::index::{index_parts, questions};
use crate::comparison::{Comparisons, Index, Quadruplets, Triplets};
use crate::error::Result;
use crate::generate::{Planted, PlantedModel};
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::metric::{self, Revenue, Satisfied};
use crate::monitor::Monitor;
use crate::numbers::Cell;
use crate::posterior::{Samples, Sampling};
use crate::similarity::condensed::square_from_condensed;
use crate::tree::{Dendrogram, Partition, Topology, Tree};
use crate::vectors::{SparseRows, sparse_gram};
use crate::{posterior, preference, similarity};

/// Rows of leaf ids, one after the other.
#[derive(Debug, Clone, Copy)]
pub enum Ids<'a> {
    /// At most 256 leaves.
    U8(&'a [u8]),
    /// At most 65,536 leaves.
    U16(&'a [u16]),
    /// Any number of leaves.
    I32(&'a [i32]),
    /// Any number of leaves. The ids are converted to `i32`.
    I64(&'a [i64]),
}

impl<'a> Ids<'a> {
    /// Returns checked comparisons of three leaves.
    pub fn triplets(self, n_leaves: Option<usize>) -> Result<Triplets<'a>> {
        self.comparisons(n_leaves)
    }

    /// Returns checked comparisons of four leaves.
    pub fn quadruplets(self, n_leaves: Option<usize>) -> Result<Quadruplets<'a>> {
        self.comparisons(n_leaves)
    }

    fn comparisons<const K: usize>(self, n_leaves: Option<usize>) -> Result<Comparisons<'a, K>> {
        match self {
            Self::U8(ids) => Comparisons::new(ids.as_chunks().0, n_leaves),
            Self::U16(ids) => Comparisons::new(ids.as_chunks().0, n_leaves),
            Self::I32(ids) => Comparisons::new(ids.as_chunks().0, n_leaves),
            Self::I64(ids) => Comparisons::new(ids.as_chunks().0, n_leaves),
        }
    }
}

/// Triplets or quadruplets.
#[derive(Debug)]
pub enum AnyComparisons<'a> {
    /// Comparisons of three leaves.
    Three(Triplets<'a>),
    /// Comparisons of four leaves.
    Four(Quadruplets<'a>),
}

/// Defines methods that call a function with the comparisons.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $comparisons:ident => $value:expr;)*) => {
        impl AnyComparisons<'_> {$(
            $(#[$doc])*
            pub fn $name(&self, $($argument: $type),*) -> $result {
                match self {
                    Self::Three($comparisons) => $value,
                    Self::Four($comparisons) => $value,
                }
            }
        )*}
    };
}

type Watched<'a> = Option<&'a Monitor>;

methods! {
    /// Returns the number of comparisons.
    len() -> usize = rows => rows.len();
    /// Returns true if there are no comparisons.
    is_empty() -> bool = rows => rows.is_empty();
    /// Returns the weights.
    weights() -> Option<&[f64]> = rows => rows.weights();
    /// Returns, for each leaf, whether a comparison with a positive weight contains the leaf.
    answered() -> Vec<bool> = rows => answered(rows);
    /// Returns the parts of an [`Index`].
    index() -> Result<(Vec<usize>, Vec<u32>)> = rows => Index::new(rows).map(index_parts);
    /// Calls [`adds`](similarity::adds) for sums of type `i32`.
    adds_i32(out: &mut [i32], monitor: Watched<'_>) -> Result<()> = rows => similarity::adds(rows, out, monitor);
    /// Calls [`adds`](similarity::adds) for sums of type `i64`.
    adds_i64(out: &mut [i64], monitor: Watched<'_>) -> Result<()> = rows => similarity::adds(rows, out, monitor);
    /// Calls [`adds`](similarity::adds) for sums of type `f64`.
    adds_f64(out: &mut [f64], monitor: Watched<'_>) -> Result<()> = rows => similarity::adds(rows, out, monitor);
    /// Calls [`sorted_additions`](super::sorted_additions).
    sorted_additions(monitor: Watched<'_>) -> Result<Additions<f64>> =
        rows => similarity::adds::sorted_additions(rows, monitor);
    /// Calls [`sorted_run`](super::sorted_run).
    sorted_run(options: RunOptions, monitor: Watched<'_>) -> Result<Run> =
        rows => super::sorted_run(rows, options, monitor);
    /// Calls [`sparse_adds`](similarity::sparse_adds).
    sparse_adds(monitor: Watched<'_>) -> Result<SparsePairs> = rows => similarity::sparse_adds(rows, monitor);
    /// Calls [`NearFarCounts::add`].
    count(counts: &mut NearFarCounts, monitor: Watched<'_>) -> Result<()> = rows => counts.add(rows, monitor);
    /// Calls [`weights_less_lengths`](super::weights_less_lengths).
    weights_less_lengths(lengths: &[f64]) -> Result<Vec<f64>> = rows => super::weights_less_lengths(rows, lengths);
    /// Calls [`preference_linkage`](preference::preference_linkage).
    preference_linkage(initial: Option<&Partition>, monitor: Watched<'_>) -> Result<Dendrogram> =
        rows => preference::preference_linkage(rows, initial, monitor);
    /// Calls [`canonical_order`](super::canonical_order).
    canonical_order() -> Vec<u32> = rows => super::canonical_order(rows);
    /// Calls [`add_to_sums`](super::add_to_sums).
    add_to_sums(unit: f64, keys: &[u64], sums: &mut [u64]) -> () = rows => super::add_to_sums(rows, unit, keys, sums);
    /// Returns the trees and scores of resamples of the comparisons.
    bootstrap_adds(
        shares: Option<&[f64]>, rule: &Rule, tree: &Dendrogram, draws: &Draws, range: Range<u64>, monitor: Watched<'_>
    ) -> Result<Vec<Resample>> = rows => resamples::adds(rows, shares, rule, tree, draws, range, monitor);
    /// Calls [`Tallies::add`].
    tally(tallies: &mut Tallies, groups: &[u32], first: &Dendrogram, monitor: Watched<'_>) -> Result<()> =
        rows => tallies.add(rows, groups, first, monitor);
    /// Adds the weights of the comparisons that were not drawn to `sums`.
    add_held_out(groups: &[u32], times: &[Vec<u32>], trees: &[Dendrogram], sums: &mut [Satisfied]) -> Result<()> =
        rows => add_held_out(rows, groups, times, trees, sums);
    /// Calls [`revenue`](metric::revenue).
    revenue(tree: &Topology, monitor: Watched<'_>) -> Result<Revenue> = rows => metric::revenue(tree, rows, monitor);
    /// Calls [`best_revenue`](metric::best_revenue).
    best_revenue() -> Result<Revenue> = rows => metric::best_revenue(rows);
    /// Calls [`satisfied`](metric::satisfied).
    satisfied(tree: &Tree, monitor: Watched<'_>) -> Result<Satisfied> = rows => metric::satisfied(tree, rows, monitor);
    /// Calls [`verdicts`](super::verdicts).
    verdicts(tree: &Tree, monitor: Watched<'_>) -> Result<Vec<i8>> = rows => super::verdicts(tree, rows, monitor);
    /// Calls [`noise_ceiling`](super::noise_ceiling).
    noise_ceiling(answers: Option<&[i64]>, monitor: Watched<'_>) -> Result<Option<NoiseCeiling>> =
        rows => super::noise_ceiling(rows, answers, monitor);
    /// Calls [`sample_answers`](super::sample_answers).
    sample(of: &Belonging<'_>, start: &Dendrogram, sampling: &Sampling, monitor: Watched<'_>) -> Result<Samples> =
        rows => posterior::samples::sample_answers(rows, of, start, sampling, monitor);
    /// Calls [`Samples::predict`].
    predicted(samples: &Samples) -> Result<Vec<f64>> = rows => samples.predict(rows);
    /// Calls [`Samples::verdict`].
    verdict_of(samples: &Samples) -> Result<Vec<f64>> = rows => samples.verdict(rows);
    /// Calls [`Samples::predict_answers`].
    predicted_answers(samples: &Samples, answers: &[u32]) -> Result<Vec<f64>> =
        rows => samples.predict_answers(rows, answers);
    /// Returns the number of leaves in a question, the leaves of the distinct questions, and the counts of the two
    /// answers to each question.
    questions() -> (usize, Vec<i32>, Vec<i64>) = rows => flat(&questions(rows));
}

fn flat<const K: usize>(questions: &[([u32; K], [u64; 2])]) -> (usize, Vec<i32>, Vec<i64>) {
    let width = questions.first().map_or(0, |(leaves, _)| leaves.len());
    let leaves = questions.iter().flat_map(|(leaves, _)| leaves.map(|leaf| leaf as i32)).collect();
    let counts = questions.iter().flat_map(|(_, counts)| counts.map(|count| count as i64)).collect();
    (width, leaves, counts)
}

fn answered<const K: usize>(comparisons: &Comparisons<'_, K>) -> Vec<bool> {
    const ROWS: usize = 1 << 10;
    let mut seen = vec![false; comparisons.n_leaves()];
    for start in (0..comparisons.len()).step_by(ROWS) {
        for at in start..(start + ROWS).min(comparisons.len()) {
            if comparisons.weights().is_none_or(|weights| weights[at] > 0.0) {
                comparisons.rows().row(at).iter().for_each(|&leaf| seen[leaf as usize] = true);
            }
        }
        if seen.iter().all(|&seen| seen) {
            break;
        }
    }
    seen
}

/// Defines functions that call a generic function for given types.
macro_rules! concrete {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $value:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name($($argument: $type),*) -> $result {
            $value
        }
    )*};
}

concrete! {
    /// Writes a square matrix of `f64` from counts.
    square_f64_of_i32(condensed: &[i32], out: &mut [f64]) -> Result<()> =
        square_from_condensed(condensed, out, f64::from);
    /// Writes a square matrix of `f64`.
    square_f64(condensed: &[f64], out: &mut [f64]) -> Result<()> = square_from_condensed(condensed, out, |x| x);
    /// Writes a square matrix of `f32` from counts.
    square_f32_of_i32(condensed: &[i32], out: &mut [f32]) -> Result<()> =
        square_from_condensed(condensed, out, |x| x as f32);
    /// Writes a square matrix of `f32`.
    square_f32(condensed: &[f64], out: &mut [f32]) -> Result<()> = square_from_condensed(condensed, out, |x| x as f32);
    /// Writes a square matrix of `i64` from counts in 32 bits.
    square_i64_of_i32(condensed: &[i32], out: &mut [i64]) -> Result<()> =
        square_from_condensed(condensed, out, i64::from);
    /// Writes a square matrix of `i64`.
    square_i64(condensed: &[i64], out: &mut [i64]) -> Result<()> = square_from_condensed(condensed, out, |x| x);
    /// Writes a square matrix of `i32`.
    square_i32(condensed: &[i32], out: &mut [i32]) -> Result<()> = square_from_condensed(condensed, out, |x| x);
    /// Makes sorted additions of `f64`.
    add_sorted_f64(parts: &[AdditionsView<'_, f64>], out: &mut [f64]) -> Result<()> = add_sorted(parts, out);
    /// Makes sorted additions of `i64`.
    add_sorted_i64(parts: &[AdditionsView<'_, i64>], out: &mut [i64]) -> Result<()> = add_sorted(parts, out);
    /// Makes sorted additions of `i32`.
    add_sorted_i32(parts: &[AdditionsView<'_, i32>], out: &mut [i32]) -> Result<()> = add_sorted(parts, out);
    /// Returns the adjusted Rand index.
    ari(a: &[i64], b: &[i64]) -> Result<f64> = metric::ari(a, b);
    /// Returns the average adjusted Rand index.
    aari(tree: &Dendrogram, levels: &[&[i64]], monitor: Watched<'_>) -> Result<LevelScores> =
        metric::aari(tree, levels, monitor);
    /// Returns the dendrogram purity.
    purity(tree: &Topology, labels: &[i64]) -> Result<f64> = metric::purity(tree, labels);
    /// Returns the pairs of a sparse matrix with 32-bit indices.
    pairs_of_csr_i32(indptr: &[i32], indices: &[i32], values: &[f64], kind: Kind, monitor: Watched<'_>)
        -> Result<SparsePairs> = SparsePairs::from_csr(indptr, indices, values, kind, monitor);
    /// Returns the pairs of a sparse matrix with 64-bit indices.
    pairs_of_csr_i64(indptr: &[i64], indices: &[i64], values: &[f64], kind: Kind, monitor: Watched<'_>)
        -> Result<SparsePairs> = SparsePairs::from_csr(indptr, indices, values, kind, monitor);
    /// Writes the dot products of rows of `f64`.
    gram_f64(rows: Csr<'_, f64>, out: &mut [f64], monitor: Watched<'_>) -> Result<Vec<f64>> = rows.gram(out, monitor);
    /// Writes the dot products of rows of `f64` in single precision.
    gram_f32_of_f64(rows: Csr<'_, f64>, out: &mut [f32], monitor: Watched<'_>) -> Result<Vec<f64>> =
        rows.gram(out, monitor);
    /// Writes the dot products of rows of `f32` in double precision.
    gram_f64_of_f32(rows: Csr<'_, f32>, out: &mut [f64], monitor: Watched<'_>) -> Result<Vec<f64>> =
        rows.gram(out, monitor);
    /// Writes the dot products of rows of `f32`.
    gram_f32(rows: Csr<'_, f32>, out: &mut [f32], monitor: Watched<'_>) -> Result<Vec<f64>> = rows.gram(out, monitor);
    /// Draws triplets from a planted model.
    planted_triplets(model: &PlantedModel, n: usize, monitor: Watched<'_>) -> Result<Planted<3>> =
        model.draw(n, monitor);
    /// Draws quadruplets from a planted model.
    planted_quadruplets(model: &PlantedModel, n: usize, monitor: Watched<'_>) -> Result<Planted<4>> =
        model.draw(n, monitor);
}

/// The arrays of a sparse matrix in compressed rows, and its numbers of rows and columns.
#[derive(Debug, Clone, Copy)]
pub struct Csr<'a, V> {
    /// The row pointers.
    pub indptr: &'a [i64],
    /// The columns.
    pub indices: &'a [i64],
    /// The values.
    pub values: &'a [V],
    /// The numbers of rows and columns.
    pub shape: [usize; 2],
}

impl<V: Copy + Sync + Send + Into<f64>> Csr<'_, V> {
    fn gram<T: Cell>(self, out: &mut [T], monitor: Watched<'_>) -> Result<Vec<f64>> {
        let rows = SparseRows::new(self.indptr, self.indices, self.values, self.shape[0], self.shape[1])?;
        sparse_gram(&rows, out, monitor)
    }
}
