//! Clusters of vectors, and the similarity of any two clusters.

use crate::agglomerate::Tolerance;
use crate::error::Result;
use crate::linkage::Rule;
use crate::memory::{Buffer, filled};
use crate::vectors::Measure;
use crate::vectors::clusters::{dot, sum_of};
use crate::vectors::criteria::{About, MeanSquare, OfSquares, Variance};

/// The largest number of leaves that represent a cluster, for similarities that need pairs of leaves.
pub(super) const SAMPLE: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Variance,
    MeanSquare,
    MeanDot,
    /// The similarity of the most similar pair of leaves.
    Most,
    /// The similarity of the least similar pair of leaves.
    Least,
    /// The negated mean distance over all pairs of leaves.
    Mean,
}

impl Form {
    pub(super) fn of(rule: &Rule, measure: Measure) -> Option<Self> {
        Some(match (rule, measure) {
            (_, Measure::Manhattan) => return None,
            (Rule::Ward, Measure::Euclidean) => Self::Variance,
            (Rule::Average | Rule::Weighted, Measure::Euclidean) => Self::Mean,
            (Rule::Average | Rule::Weighted, Measure::SquaredEuclidean) => Self::MeanSquare,
            (Rule::Average | Rule::Weighted, Measure::Dot) => Self::MeanDot,
            (Rule::Single, _) => Self::Most,
            (Rule::Complete, _) => Self::Least,
            _ => return None,
        })
    }

    pub(super) fn is_of_pairs(self) -> bool {
        matches!(self, Self::Most | Self::Least | Self::Mean)
    }
}

/// The index of a cluster is its smallest leaf.
pub(super) struct Clusters {
    pub(super) form: Form,
    measure: Measure,
    /// True if the two clusters of a merge have equal weight (weighted linkage).
    pub(super) halves: bool,
    p: usize,
    /// The vectors of all leaves. Empty unless pairs of leaves are compared.
    rows: Buffer,
    means: Buffer,
    about: Vec<About>,
    /// The leaves that represent each cluster: all leaves, or a sample of [`SAMPLE`] leaves.
    samples: Vec<[u32; SAMPLE]>,
    weights: Vec<[f32; SAMPLE]>,
}

impl Clusters {
    pub(super) fn new<R: Iterator<Item = f64>>(
        (form, measure): (Form, Measure),
        halves: bool,
        [n, p]: [usize; 2],
        row: impl Fn(usize) -> R,
    ) -> Result<Self> {
        let mut means = Buffer::zeros("the means of clusters", n * p)?;
        for (leaf, mean) in means.chunks_exact_mut(p.max(1)).enumerate() {
            mean.iter_mut().zip(row(leaf)).for_each(|(to, x)| *to = x);
        }
        let of_pairs = form.is_of_pairs();
        let mut rows = Buffer::zeros("the vectors", if of_pairs { n * p } else { 0 })?;
        if of_pairs {
            rows.copy_from_slice(&means);
        }
        let mut samples = filled("the samples of clusters", [0; SAMPLE], if of_pairs { n } else { 0 })?;
        samples.iter_mut().zip(0..).for_each(|(sample, leaf)| sample[0] = leaf);
        let weights = filled("the samples of clusters", [1.0; SAMPLE], if of_pairs && halves { n } else { 0 })?;
        let about = filled("clusters", About::LEAF, n)?;
        Ok(Self { form, measure, halves, p, rows, means, about, samples, weights })
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.about.len()
    }

    pub(super) fn n_coordinates(&self) -> usize {
        self.p
    }

    pub(super) fn is_similarity(&self) -> bool {
        self.measure == Measure::Dot
    }

    pub(super) fn size(&self, at: usize) -> f64 {
        self.about[at].size
    }

    pub(super) fn mean(&self, at: usize) -> &[f64] {
        &self.means[at * self.p..(at + 1) * self.p]
    }

    #[inline(always)]
    pub(super) fn row(&self, leaf: usize) -> &[f64] {
        &self.rows[leaf * self.p..(leaf + 1) * self.p]
    }

    #[inline(always)]
    fn sample(&self, at: usize) -> &[u32] {
        &self.samples[at][..(self.about[at].size as usize).min(SAMPLE)]
    }

    #[inline(always)]
    fn weight(&self, at: usize, of_sample: usize) -> f64 {
        if self.weights.is_empty() { 1.0 } else { f64::from(self.weights[at][of_sample]) }
    }

    pub(super) fn similarities(&self, a: usize, others: impl Iterator<Item = usize>, out: &mut [f64]) {
        wide!(for (out, b) in out.iter_mut().zip(others) {
            // Order the two clusters, because rounding could make their similarity depend on the order.
            *out = self.between(a.min(b), a.max(b));
        });
    }

    pub(super) fn similarity(&self, a: usize, b: usize) -> f64 {
        let mut out = [0.0];
        self.similarities(a, std::iter::once(b), &mut out);
        out[0]
    }

    #[inline(always)]
    fn between(&self, a: usize, b: usize) -> f64 {
        let (mean_a, mean_b) = (self.mean(a), self.mean(b));
        let (about_a, about_b) = (self.about[a], self.about[b]);
        match self.form {
            Form::Variance => Variance(Tolerance::GRID).of_square(squared(mean_a, mean_b), about_a, about_b),
            Form::MeanSquare => MeanSquare(Tolerance::GRID).of_square(squared(mean_a, mean_b), about_a, about_b),
            Form::MeanDot => dot(mean_a, mean_b),
            Form::Most | Form::Least | Form::Mean => self.of_pairs(a, b),
        }
    }

    #[inline(always)]
    fn of_pairs(&self, a: usize, b: usize) -> f64 {
        let mut over = Over::new(self.form);
        let mut squares = 0.0;
        for (s, &i) in self.sample(a).iter().enumerate() {
            for (t, &j) in self.sample(b).iter().enumerate() {
                let sum = self.sum(self.row(i as usize), self.row(j as usize));
                squares += sum;
                over.add(self.of_sum(sum), self.weight(a, s) * self.weight(b, t));
            }
        }
        let found = over.value();
        let most = self.about[a].size.max(self.about[b].size);
        if self.form != Form::Mean || most <= SAMPLE as f64 || self.halves || squares == 0.0 {
            return found;
        }
        // Means and spreads give the mean square over all pairs. Only the ratio of the mean to the root of the mean
        // square is estimated from the sample, because this ratio varies little.
        let all = squared(self.mean(a), self.mean(b)) + (self.about[a].spread + self.about[b].spread);
        found * (all / (squares / over.weight)).sqrt()
    }

    #[inline(always)]
    fn sum(&self, a: &[f64], b: &[f64]) -> f64 {
        if self.measure == Measure::Dot { dot(a, b) } else { squared(a, b) }
    }

    #[inline(always)]
    pub(super) fn of_rows(&self, a: &[f64], b: &[f64]) -> f64 {
        self.of_sum(self.sum(a, b))
    }

    #[inline(always)]
    fn of_sum(&self, sum: f64) -> f64 {
        match self.measure {
            Measure::Dot => sum,
            Measure::Euclidean => -sum.sqrt(),
            _ => -sum,
        }
    }

    /// Merges cluster `j` into cluster `i < j`.
    pub(super) fn merge(&mut self, i: usize, j: usize) {
        let (a, b) = (self.about[i], self.about[j]);
        let size = a.size + b.size;
        let share = if self.halves { 0.5 } else { b.size / size };
        let kept = 1.0 - share;
        let between = squared(self.mean(i), self.mean(j));
        let spread = kept * a.spread + share * b.spread + kept * share * between;
        if !self.samples.is_empty() {
            self.merge_samples(i, j, share);
        }
        self.about[i] = About { size, spread };
        self.about[j] = About::GONE;
        let (head, tail) = self.means.split_at_mut(j * self.p);
        let pairs = head[i * self.p..(i + 1) * self.p].iter_mut().zip(&tail[..self.p]);
        // This formula gives exactly x if both numbers are x.
        pairs.for_each(|(x, y)| *x += (y - *x) * share);
    }

    /// Chooses the leaves that represent a merged cluster, from the leaves that represent its two clusters. If there
    /// are more than [`SAMPLE`] leaves, chooses from each cluster in proportion to its weight.
    fn merge_samples(&mut self, i: usize, j: usize, share: f64) {
        let [a, b] = [self.sample(i).len(), self.sample(j).len()];
        let count = (a + b).min(SAMPLE);
        let of_b = match a + b == count {
            true => b,
            false => ((count as f64 * share).round() as usize).clamp(1, count - 1),
        };
        let (mut leaves, mut weights) = ([0; SAMPLE], [0.0; SAMPLE]);
        let mut to = 0;
        for (part, len, wanted) in [(i, a, count - of_b), (j, b, of_b)] {
            // If a cluster's sample has fewer leaves than wanted, leaves are chosen repeatedly.
            let chosen = |t: usize| t * len / wanted;
            let total: f64 = (0..wanted).map(|t| self.weight(part, chosen(t))).sum();
            for t in 0..wanted {
                leaves[to] = self.samples[part][chosen(t)];
                weights[to] = (self.weight(part, chosen(t)) / total / 2.0) as f32;
                to += 1;
            }
        }
        self.samples[i] = leaves;
        if let Some(of) = self.weights.get_mut(i) {
            *of = weights;
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Over {
    form: Form,
    sum: f64,
    weight: f64,
}

impl Over {
    #[inline(always)]
    pub(super) fn new(form: Form) -> Self {
        let sum = match form {
            Form::Most => f64::NEG_INFINITY,
            Form::Least => f64::INFINITY,
            _ => 0.0,
        };
        Self { form, sum, weight: 0.0 }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, x: f64, weight: f64) {
        match self.form {
            Form::Most => self.sum = self.sum.max(x),
            Form::Least => self.sum = self.sum.min(x),
            _ => self.sum += weight * x,
        }
        self.weight += weight;
    }

    #[inline(always)]
    pub(super) fn value(self) -> f64 {
        match self.form {
            Form::Most | Form::Least => self.sum,
            _ => self.sum / self.weight,
        }
    }
}

#[inline(always)]
fn squared(a: &[f64], b: &[f64]) -> f64 {
    sum_of(a, b, |x, y| (x - y) * (x - y))
}
