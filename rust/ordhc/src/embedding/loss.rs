//! The loss of triplets at given points, and its gradient.
//!
//! A model gives each pair of leaves a score that decreases with the squared distance. The loss of a triplet is a
//! function of the difference of two scores, so all models share one loop. Triplets are grouped by their first leaf,
//! the anchor. Exponentials of scores (kernel values) are computed once for each pair of the anchor and another leaf of
//! its triplets. So a triplet takes two lookups and a division. The derivatives are added up for each pair, and
//! multiplied by the coordinates only once. Logarithms are computed only for products of many factors. If a kernel
//! value could underflow or overflow, scores are used instead. For the threads, the anchors are divided into ranges
//! that depend only on the data. The losses of these ranges are added in a fixed order, so the result does not depend
//! on the number of threads.

use std::ops::Range;

use super::model::Model;
use super::prepared::{Anchor, Prepared};
use super::{dimension, squared_distance};
use crate::comparison::Triplets;
use crate::error::{Error, Result};
use crate::parallel;
use crate::similarity::{Triangle, condensed_len};

/// The loss is computed from exponentials of scores if all of them are in this range. Otherwise, it is computed from
/// the scores, which is slower but works for any distances.
const TAME: Range<f64> = 1e-18..1e18;
/// The loss of several triplets is the logarithm of a product of factors 1 + `K_far` / `K_near`, where K is the
/// exponential of the score of a pair. The logarithm is taken when the product exceeds this value. A factor is at most
/// about 1e36, so the product cannot overflow.
const LARGE: f64 = 1e250;

/// The loss of weighted triplets under a [`Model`]: the sum over all triplets of weight times loss.
///
/// ```
/// use ordhc::{Triplets, embedding::{EmbeddingLoss, Model}};
///
/// let loss = EmbeddingLoss::new(&Triplets::new(vec![[0, 1, 2]], None)?, Model::Ste)?;
/// let mut gradient = [0.0; 3];
/// let value = loss.evaluate(&[0.0, 1.0, 1.0], &mut gradient)?;
/// assert!((value - 2f64.ln()).abs() < 1e-15);
/// assert_eq!(gradient, [0.0, 1.0, -1.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug)]
pub struct EmbeddingLoss {
    model: Model,
    n_leaves: usize,
    triplets: Prepared,
    blocks: Vec<Range<usize>>,
    total_weight: f64,
}

#[derive(Default)]
struct Scratch {
    squared: Vec<f64>,
    /// The exponentials of the scores of pairs, or the scores themselves.
    kernel: Vec<f64>,
    /// The derivatives of the loss with respect to the scores of pairs.
    pull: Vec<f64>,
}

impl EmbeddingLoss {
    /// Returns the loss of `triplets` under `model`. Groups the triplets by their first leaf.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(triplets: &Triplets<'_>, model: Model) -> Result<Self> {
        let total_weight = triplets.weights().map_or(triplets.len() as f64, |weights| weights.iter().sum());
        let n_leaves = triplets.n_leaves();
        let triplets = Prepared::new(triplets)?;
        let blocks = triplets.blocks();
        Ok(Self { model, n_leaves, triplets, blocks, total_weight })
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// Returns the sum of the weights of all triplets.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// Returns the loss at `points`, an (n, d) array. Writes to `gradient` the derivative of the loss with respect to
    /// each coordinate.
    ///
    /// # Errors
    /// Points with a wrong shape; points that are not finite; a loss that is not finite, because points are too far
    /// apart.
    pub fn evaluate(&self, points: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let d = dimension(points, self.n_leaves)?;
        assert_eq!(gradient.len(), points.len(), "a derivative for each coordinate");
        let parts = self.by_block(|block| {
            let mut part = vec![0.0; points.len()];
            let loss = self.visit(block, points, d, |i, j, pull| {
                for at in 0..d {
                    let change = 2.0 * pull * (points[i * d + at] - points[j * d + at]);
                    part[i * d + at] += change;
                    part[j * d + at] -= change;
                }
            });
            (loss, part)
        });
        gradient.fill(0.0);
        let mut loss = 0.0;
        for (value, part) in parts {
            loss += value;
            gradient.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
        }
        finite(loss)
    }

    /// Returns the loss at `points`, an (n, d) array. Writes to `pairs` the derivative of the loss with respect to the
    /// squared distance of each pair, in the condensed layout.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn evaluate_pairs(&self, points: &[f64], pairs: &mut [f64]) -> Result<f64> {
        let (n, d) = (self.n_leaves, dimension(points, self.n_leaves)?);
        assert_eq!(pairs.len(), condensed_len(n), "a derivative for each pair");
        let parts = self.by_block(|block| {
            let mut part = Vec::new();
            let loss = self.visit(block, points, d, |i, j, pull| part.push((Triangle::new(n).index(i, j), pull)));
            (loss, part)
        });
        pairs.fill(0.0);
        let mut loss = 0.0;
        for (value, part) in parts {
            loss += value;
            part.into_iter().for_each(|(at, value)| pairs[at] += value);
        }
        finite(loss)
    }

    fn by_block<R: Send>(&self, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        let parts = parallel::ranges(self.blocks.len(), 1);
        let one = |part: Range<usize>| self.blocks[part].iter().cloned().map(&work).collect::<Vec<R>>();
        parallel::map(parts, one).into_iter().flatten().collect()
    }

    /// Returns the loss of the triplets with these `anchors` (first leaves). For each pair of an anchor and another
    /// leaf of its triplets, calls `add` with the derivative of the loss by the squared distance of the pair.
    fn visit(&self, anchors: Range<usize>, points: &[f64], d: usize, mut add: impl FnMut(usize, usize, f64)) -> f64 {
        let at = |leaf: usize| &points[leaf * d..(leaf + 1) * d];
        let mut scratch = Scratch::default();
        let mut loss = 0.0;
        for anchor in &self.triplets.anchors[anchors] {
            let others = &self.triplets.others[anchor.others.clone()];
            let own = at(anchor.leaf);
            scratch.squared.clear();
            scratch.squared.extend(others.iter().map(|&other| squared_distance(own, at(other as usize))));
            scratch.pull.clear();
            scratch.pull.resize(others.len(), 0.0);
            scratch.kernel.clear();
            if self.model.chooses() {
                scratch.kernel.extend(scratch.squared.iter().map(|&squared| self.model.kernel(squared)));
            }
            if self.model.chooses() && scratch.kernel.iter().all(|kernel| TAME.contains(kernel)) {
                loss += self.by_kernels(anchor, &scratch.kernel, &mut scratch.pull);
            } else {
                scratch.kernel.clear();
                scratch.kernel.extend(scratch.squared.iter().map(|&squared| self.model.score(squared)));
                loss += self.by_scores(anchor, &scratch.kernel, &mut scratch.pull);
            }
            for ((&other, &squared), &pull) in others.iter().zip(&scratch.squared).zip(&scratch.pull) {
                add(anchor.leaf, other as usize, pull * self.model.slope(squared));
            }
        }
        loss
    }

    /// Returns the loss of all triplets with the first leaf `anchor`: the sum of `log(1 + K_far / K_near)`, where K is
    /// the exponential of the score of a pair.
    fn by_kernels(&self, anchor: &Anchor, kernel: &[f64], pull: &mut [f64]) -> f64 {
        let mut fars = &self.triplets.fars[anchor.fars.clone()];
        let (mut loss, mut product, mut weight) = (0.0, 1.0f64, 1.0);
        for run in &self.triplets.runs[anchor.runs.clone()] {
            if run.weight != weight {
                loss += weight * product.ln();
                (product, weight) = (1.0, run.weight);
            }
            let over_near = 1.0 / kernel[run.near as usize];
            let (these, rest) = fars.split_at(run.len as usize);
            fars = rest;
            let mut wrong = 0.0;
            for &far in these {
                let ratio = kernel[far as usize] * over_near;
                let factor = 1.0 + ratio;
                let share = ratio / factor;
                wrong += share;
                pull[far as usize] += weight * share;
                product *= factor;
                if product > LARGE {
                    loss += weight * product.ln();
                    product = 1.0;
                }
            }
            pull[run.near as usize] -= weight * wrong;
        }
        loss + weight * product.ln()
    }

    fn by_scores(&self, anchor: &Anchor, score: &[f64], pull: &mut [f64]) -> f64 {
        let mut fars = &self.triplets.fars[anchor.fars.clone()];
        let mut loss = 0.0;
        for run in &self.triplets.runs[anchor.runs.clone()] {
            let near = run.near as usize;
            let (these, rest) = fars.split_at(run.len as usize);
            fars = rest;
            for &far in these {
                let (value, derivative) = self.model.loss(score[far as usize] - score[near]);
                loss += run.weight * value;
                pull[far as usize] += run.weight * derivative;
                pull[near] -= run.weight * derivative;
            }
        }
        loss
    }
}

fn finite(loss: f64) -> Result<f64> {
    if loss.is_finite() {
        return Ok(loss);
    }
    Err(Error::Argument(format!("the loss is {loss}: points are too far apart")))
}

#[cfg(test)]
mod tests;
