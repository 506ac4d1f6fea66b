//! One tree that summarizes all samples.

use super::dot;
use super::sampled::Sampled;
use super::samples::Samples;
use crate::agglomerate::{Agglomeration, Layout, Matrix, Tolerance, Values};
use crate::error::{Result, check_len};
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::memory::{self, Buffer};
use crate::metric::same_leaves;
use crate::monitor::Monitor;
use crate::parallel;
use crate::refine::{Heights, Search, refine};
use crate::similarity::{Triangle, condensed_len};
use crate::tree::{AdditiveTree, Dendrogram, RawMerge, Topology};

/// Above this number of leaves, a summary is computed without correlations and moves of subtrees, which take O(n^3).
const MOVED: usize = 3_000;
/// Heights are similarities. A merge that is higher than a child by more than `ROUNDED` gets the
/// height of the child minus `BELOW`. Smaller differences are rounding errors of correlations.
const ROUNDED: f64 = 1e-12;
const BELOW: f64 = 1e-6;

impl Samples {
    /// Returns one tree that summarizes the samples.
    ///
    /// The first tree is the average linkage of AddS3 similarities, averaged over the sampled trees. The AddS3
    /// similarity of a pair is the number of triplets in which the pair is nearer, minus the number in which it is
    /// farther. Then moves of subtrees raise the expected [`revenue`](crate::metric::revenue()). The height of a merge
    /// is a mean over the pairs of leaves that the merge joins. The value of a pair (i, j) is the correlation of the
    /// rows i and j of the matrix of mean heights. Above 3,000 leaves, the result is the average linkage of the mean
    /// heights.
    ///
    /// # Errors
    /// No samples, or fewer than three leaves; not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
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
        let tree = refine(tree.topology(), &matrix, Heights::Average, &search, monitor)?.tree;
        at_means(&tree, &correlations(n, &heights)?)
    }

    /// Returns a tree with the topology of `tree` and with edge lengths. The length of the path
    /// between two leaves approximates its mean over the samples, up to a constant.
    ///
    /// The length of an edge between inner nodes is half the difference of their heights. The height of a node is the
    /// mean over the pairs of leaves that the node joins, but at least the height of its parent. The edge of a leaf is
    /// the mean length of the leaf minus half the height of its parent, plus a constant. Answers do not determine the
    /// constant, so the smallest constant without negative edges is used.
    ///
    /// # Errors
    /// No lengths ([`Sampling::lengths`](super::Sampling::lengths)); a tree with another number of leaves; not enough
    /// memory; [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn additive(&self, tree: &Topology, monitor: Option<&Monitor>) -> Result<AdditiveTree> {
        let n = self.n_leaves();
        same_leaves(["the tree has", "the samples have"], [tree.n_leaves(), n])?;
        let mut sums = memory::filled("lengths of leaves", 0.0, n)?;
        for each in self.trees() {
            check_len("lengths", each.lengths().len(), "leaves", n)?;
            sums.iter_mut().zip(each.lengths()).for_each(|(sum, length)| *sum += length / self.len() as f64);
        }
        let mut pairs = Buffer::zeros("the similarities", condensed_len(n))?;
        self.similarity(&mut pairs, monitor)?;
        let mut heights = means_by_node(tree, &pairs)?;
        for node in (n..tree.n_nodes() - 1).rev() {
            heights[node - n] = heights[node - n].max(heights[tree.parent(node) - n]);
        }
        let half = |node: usize| 0.5 * heights[node - n];
        let edges = (0..n).map(|leaf| sums[leaf] - half(tree.parent(leaf)));
        let least = edges.clone().fold(f64::INFINITY, f64::min);
        let inner = (n..tree.n_nodes() - 1).map(|node| half(node) - half(tree.parent(node)));
        let lengths = edges.map(|edge| edge - least).chain(inner).chain([f64::NAN]).collect();
        AdditiveTree::new(tree.clone(), lengths)
    }
}

fn means_by_node(tree: &Topology, pairs: &[f64]) -> Result<Vec<f64>> {
    let (n, triangle) = (tree.n_leaves(), Triangle::new(tree.n_leaves()));
    let mut clusters: Vec<Vec<usize>> = (0..n).map(|leaf| vec![leaf]).collect();
    let mut means = memory::room("heights", tree.n_inner())?;
    for node in n..tree.n_nodes() {
        let mut leaves: Vec<usize> = Vec::new();
        let (mut sum, mut count) = (0.0, 0.0);
        for &child in tree.children(node) {
            let part = std::mem::take(&mut clusters[child as usize]);
            sum += leaves.iter().flat_map(|&i| part.iter().map(move |&j| pairs[triangle.index(i, j)])).sum::<f64>();
            count += (part.len() * leaves.len()) as f64;
            leaves.extend(part);
        }
        means.push(sum / count);
        clusters.push(leaves);
    }
    Ok(means)
}

/// Returns the binary tree `tree` with other heights. The height of each merge is the mean of the values `pairs` (a
/// condensed matrix) over the pairs of leaves that the merge joins. If this mean exceeds the height of a child, the
/// merge gets a height just below the height of the child. Equal heights would not show which merge comes first.
fn at_means(tree: &Dendrogram, pairs: &[f64]) -> Result<Dendrogram> {
    let (n, shape) = (tree.n_leaves(), tree.topology());
    let mut similarities = means_by_node(shape, pairs)?;
    let smallest = shape.smallest_leaves();
    let mut merges = Vec::with_capacity(n - 1);
    for (merge, parts) in tree.merges().iter().enumerate() {
        let above = |&part: &u32| (part as usize).checked_sub(n).map_or(f64::INFINITY, |at| similarities[at]);
        let above = parts.iter().map(above).fold(f64::INFINITY, f64::min);
        let mean = similarities[merge];
        let similarity = if mean > above + ROUNDED { above - BELOW } else { mean.min(above) };
        similarities[merge] = similarity;
        let [i, j] = parts.map(|part| (part as usize).checked_sub(n).map_or(part, |at| smallest[at]) as usize);
        merges.push(RawMerge { i: i.min(j), j: i.max(j), similarity });
    }
    Dendrogram::in_order(n, RawMerge::sort(n, merges, Tolerance::EXACT))
}

/// Returns the correlation of each pair of rows of the similarity matrix: two leaves are similar if they are close to
/// the same leaves. The similarity of a leaf to itself is set to its similarity to the closest other leaf.
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
