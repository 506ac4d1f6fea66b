//! Markov chains and the samples that they draw.

use super::answers::{Answers, Belonging, orders_of};
use super::lengths::Lengths;
use super::prior::Shapes;
use super::reliability::Noises;
use super::runs::run;
use super::sampled::Sampled;
use super::satisfying::satisfying;
use crate::bootstrap;
use crate::comparison::Comparisons;
use crate::error::{Error, Result, check_len, check_positive};
use crate::memory;
use crate::metric::same_leaves;
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::{Triangle, condensed_len};
use crate::tree::{Dendrogram, Topology};

/// The number and length of the Markov chains, and the number of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// The number of Markov chains. Each chain has its own random numbers.
    pub chains: usize,
    /// The number of sweeps of each chain. A sweep moves every leaf once.
    pub sweeps: usize,
    /// The number of sweeps at the beginning of each chain. The trees of these sweeps are discarded.
    pub burn_in: usize,
    /// The number of trees that are kept, over all chains together.
    pub kept: usize,
    /// The seed of the random numbers. The same seed gives the same trees, for any number of threads.
    pub seed: u64,
    /// True if each leaf has a length, so that trees are additive. Otherwise trees are ultrametric.
    pub lengths: bool,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { chains: 4, sweeps: 60, burn_in: 30, kept: 120, seed: 0, lengths: false }
    }
}

impl Sampling {
    fn check(&self) -> Result<()> {
        for (what, value) in [("chains", self.chains), ("sweeps", self.sweeps), ("kept", self.kept)] {
            check_positive(what, value as u64)?;
        }
        if self.burn_in >= self.sweeps {
            return Err(Error::out_of_range("burn_in", self.burn_in, format!("0..{} (sweeps)", self.sweeps)));
        }
        Ok(())
    }

    pub(super) fn keeps(&self, sweep: usize) -> bool {
        let (from, there) = (self.burn_in, self.sweeps - self.burn_in);
        let most = self.kept.div_ceil(self.chains).min(there);
        let count = |sweep: usize| if sweep < from { 0 } else { (sweep + 1 - from) * most / there };
        count(sweep) > if sweep == 0 { 0 } else { count(sweep - 1) }
    }
}

/// The parameters of a Markov chain after a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct State {
    /// The log-likelihood of the answers.
    pub log_likelihood: f64,
    /// Half of the share of random answers, as a mean over people.
    pub noise: f64,
    /// The prior mean of the height difference between a node and its parent.
    pub mean_increment: f64,
    /// The number of inner nodes of the tree.
    pub n_inner: usize,
    /// The standard deviation of the prior of leaf lengths, or 0 for trees without lengths.
    pub length_deviation: f64,
}

/// Trees drawn from the posterior by Markov chains. The trees of a chain are consecutive.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    n: usize,
    trees: Vec<Sampled>,
    states: Vec<Vec<State>>,
    noise_by_person: Vec<f64>,
    n_unknown: usize,
}

/// Draws trees from the posterior given comparisons. Markov chains start at the tree `start`. For triplets, every
/// second chain starts at a tree that satisfies many of the triplets.
///
/// # Errors
/// A `start` with another number of leaves than the comparisons; no chains; no sweeps, or none after the burn-in; no
/// trees to keep; not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::posterior::{Sampling, sample};
/// use ordhc::{Triplets, adds_average_linkage};
///
/// let answers = Triplets::new(vec![[0, 1, 2], [1, 0, 2], [0, 1, 2], [1, 0, 2], [0, 1, 2]], None)?;
/// let start = adds_average_linkage(&answers)?;
/// let samples = sample(&answers, &start, &Sampling::default(), None)?;
/// assert!(samples.predict(&Triplets::new(vec![[0, 1, 2]], None)?)?[0] > 0.5);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn sample<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    start: &Dendrogram,
    sampling: &Sampling,
    monitor: Option<&Monitor>,
) -> Result<Samples> {
    sample_answers(comparisons, &Belonging::default(), start, sampling, monitor)
}

/// Does the same as [`sample`], for known people and for answers that consist of several comparisons. Each person has a
/// separate noise level. The distribution of noise among people is estimated. So the noise estimate of a person with
/// few answers is pulled towards the noise of all people.
///
/// # Errors
/// The errors of [`sample`]; a list in `belonging` whose length differs from the number of comparisons.
///
/// ```
/// use ordhc::bindings::Belonging;
/// use ordhc::bindings::sample_answers;
/// use ordhc::posterior::Sampling;
/// use ordhc::{Triplets, adds_average_linkage};
///
/// // Leaf 2 is the odd one out of three: one answer of two triplets.
/// let answers = Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?;
/// let start = adds_average_linkage(&answers)?;
/// let one = Belonging { answers: Some(&[0, 0]), ..Belonging::default() };
/// let samples = sample_answers(&answers, &one, &start, &Sampling::default(), None)?;
/// assert_eq!(samples.n_unknown(), 0);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn sample_answers<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    belonging: &Belonging<'_>,
    start: &Dendrogram,
    sampling: &Sampling,
    monitor: Option<&Monitor>,
) -> Result<Samples> {
    sampling.check()?;
    same_leaves(["the tree has", "the comparisons have"], [start.n_leaves(), comparisons.n_leaves()])?;
    let mut starts = vec![start.clone()];
    if sampling.chains > 1 {
        starts.extend(satisfying(comparisons, monitor)?);
    }
    sample_from(comparisons, belonging, &starts, sampling, monitor)
}

/// Draws trees from the posterior. Markov chain k starts at the tree `starts[k % starts.len()]`.
pub(crate) fn sample_from<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    belonging: &Belonging<'_>,
    starts: &[Dendrogram],
    sampling: &Sampling,
    monitor: Option<&Monitor>,
) -> Result<Samples> {
    watched!(monitor);
    let answers = Answers::new(comparisons, belonging)?;
    sample_given(&answers, comparisons.n_leaves(), belonging.n_people(), starts, sampling, monitor)
}

/// Continues [`sample_from`] after the comparisons are converted to `answers`. This code is compiled only once for
/// comparisons of three and of four leaves.
fn sample_given(
    answers: &Answers,
    n: usize,
    n_people: Option<usize>,
    starts: &[Dendrogram],
    sampling: &Sampling,
    monitor: &Monitor,
) -> Result<Samples> {
    let n_unknown = answers.n_unknown();
    let mut samples = Samples { n, trees: Vec::new(), states: Vec::new(), noise_by_person: Vec::new(), n_unknown };
    if n < 3 {
        // There is only one tree with one or two leaves, so nothing is sampled.
        return Ok(samples);
    }
    let bytes = sampling.kept.saturating_mul(n).saturating_mul(size_of::<u32>() * 3 + size_of::<f64>());
    memory::check("trees that are kept", bytes as u64)?;
    let shapes = Shapes::new(n)?;
    monitor.start((sampling.chains * sampling.sweeps * n) as u64);
    let noises = Noises::new(n_people)?;
    for run in
        run(answers, &shapes, &noises, &Lengths::new(if sampling.lengths { n } else { 0 }), starts, sampling, monitor)?
    {
        samples.trees.extend(run.trees);
        samples.states.push(run.states);
        samples.noise_by_person.resize(run.noise_by_person.len(), 0.0);
        let all = samples.noise_by_person.iter_mut().zip(run.noise_by_person);
        all.for_each(|(sum, noise)| *sum += noise / sampling.chains as f64);
    }
    Ok(samples)
}

impl Samples {
    /// Returns the number of trees that were kept.
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// Returns true if there are no trees, which is the case for fewer than three leaves.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    pub(super) fn trees(&self) -> &[Sampled] {
        &self.trees
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n
    }

    /// Returns the parameters of each Markov chain after each of its sweeps, including burn-in.
    pub fn states(&self) -> &[Vec<State>] {
        &self.states
    }

    /// Returns the mean noise of each person. Empty if people are unknown.
    pub fn noise_by_person(&self) -> &[f64] {
        &self.noise_by_person
    }

    /// Returns the number of answers of several comparisons that form no known kind of answer (such as a ranking or an
    /// odd one out). Together, the comparisons of such an answer have the weight of one comparison.
    pub fn n_unknown(&self) -> usize {
        self.n_unknown
    }

    /// Returns the sampled tree with the index `at`, with heights as similarities.
    ///
    /// # Errors
    /// The heights are not valid. This cannot happen for trees that were drawn.
    ///
    /// # Panics
    /// If `at` is not below the number of trees.
    pub fn tree(&self, at: usize) -> Result<Dendrogram> {
        self.trees[at].dendrogram()
    }

    /// Returns, for each comparison, the probability that a person gives this answer when asked which of the two pairs
    /// is closer. The probability is the mean over the sampled trees, including noise. Without trees, the probability
    /// is one half.
    ///
    /// # Errors
    /// Comparisons of a different number of leaves.
    pub fn predict<const K: usize>(&self, comparisons: &Comparisons<'_, K>) -> Result<Vec<f64>> {
        self.mean(comparisons, Sampled::answer)
    }

    /// Returns, for each comparison, the probability that the true tree agrees with the comparison, if one of its two
    /// pairs is closer in the true tree. The probability is `(a + 0.5) / (a + d + 1)`, if `a` of the sampled trees
    /// agree with the comparison and `d` disagree.
    ///
    /// # Errors
    /// Comparisons of a different number of leaves.
    pub fn verdict<const K: usize>(&self, comparisons: &Comparisons<'_, K>) -> Result<Vec<f64>> {
        let count = self.len() as f64;
        let for_it = self.mean(comparisons, |tree, row| f64::from(tree.verdict(row) > 0.5))?;
        let against = self.mean(comparisons, |tree, row| f64::from(tree.verdict(row) < 0.5))?;
        let share = |(a, b): (&f64, &f64)| (count * a + 0.5) / (count * (a + b) + 1.0);
        Ok(if self.is_empty() { for_it } else { for_it.iter().zip(&against).map(share).collect() })
    }

    /// Returns, for each comparison, the probability of the whole answer to which it belongs. The probability is the
    /// mean over the sampled trees, including noise. If an answer has no known kind, its comparisons are predicted one
    /// by one.
    ///
    /// # Errors
    /// Comparisons of another number of leaves than the trees; `answers` of another length than `comparisons`.
    pub fn predict_answers<const K: usize>(
        &self,
        comparisons: &Comparisons<'_, K>,
        answers: &[u32],
    ) -> Result<Vec<f64>> {
        check_len("answers", answers.len(), "comparisons", comparisons.len())?;
        let mut found = self.predict(comparisons)?;
        for (order, rows) in orders_of(comparisons, answers) {
            let sum: f64 = self.trees.iter().map(|tree| tree.choice(&order)).sum();
            rows.into_iter().for_each(|at| found[at] = sum / self.len().max(1) as f64);
        }
        Ok(found)
    }

    /// Returns the length of each leaf in the sampled tree with the index `at`. A leaf with a larger length is less
    /// similar to all other leaves. The mean length is subtracted, so the mean is 0, and lengths can be negative. Empty
    /// for trees without lengths.
    ///
    /// # Panics
    /// If `at` is not below the number of trees.
    pub fn lengths(&self, at: usize) -> &[f64] {
        self.trees[at].lengths()
    }

    fn mean<const K: usize>(
        &self,
        comparisons: &Comparisons<'_, K>,
        of: impl Fn(&Sampled, &[i32; K]) -> f64 + Sync,
    ) -> Result<Vec<f64>> {
        same_leaves(["the trees have", "the comparisons have"], [self.n, comparisons.n_leaves()])?;
        if self.is_empty() {
            return Ok(vec![0.5; comparisons.len()]);
        }
        let parts = parallel::map(parallel::ranges(comparisons.len(), 1 << 8), |part| {
            let mut means = vec![0.0; part.len()];
            for tree in &self.trees {
                comparisons.rows().each(part.clone(), |at, row| means[at - part.start] += of(tree, row));
            }
            means.iter_mut().for_each(|mean| *mean /= self.len() as f64);
            means
        });
        Ok(parts.concat())
    }

    /// Writes to `pairs`, for each pair of leaves, the mean height of their lowest common ancestor. The heights are
    /// similarities (larger is closer), in the order of a condensed matrix.
    ///
    /// # Errors
    /// `pairs` of another length than n (n - 1) / 2; [`Error::Interrupted`].
    pub fn similarity(&self, pairs: &mut [f64], monitor: Option<&Monitor>) -> Result<()> {
        self.mean_of_pairs(pairs, Sampled::add_heights, monitor)
    }

    /// Writes to `pairs` the mean over the trees of a value of each pair of leaves. `add(tree, i, row)` must add the
    /// values of the pairs (i, i + 1), (i, i + 2) and so on to `row`.
    pub(super) fn mean_of_pairs(
        &self,
        pairs: &mut [f64],
        add: impl Fn(&Sampled, usize, &mut [f64]) + Sync,
        monitor: Option<&Monitor>,
    ) -> Result<()> {
        watched!(monitor);
        check_len("values", pairs.len(), "pairs", condensed_len(self.n))?;
        pairs.fill(0.0);
        if self.is_empty() {
            return Ok(());
        }
        let triangle = Triangle::new(self.n);
        // Divide the rows of the matrix among the threads, with about the same number of pairs for each thread.
        let parts = parallel::ranges(pairs.len(), 1 << 12);
        let mut ends: Vec<usize> = parts.iter().map(|part| triangle.pair(part.end - 1).0 + 1).collect();
        ends.dedup();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let rows: Vec<_> = starts.zip(&ends).map(|(start, &end)| start..end).collect();
        let cell_ends: Vec<usize> = ends.iter().map(|&end| triangle.before(end)).collect();
        monitor.start(self.n as u64);
        let work: Vec<_> = rows.into_iter().zip(parallel::split_at_ends(pairs, &cell_ends)).collect();
        let done = parallel::map(work, |(rows, mut cells)| {
            for i in rows {
                let (row, rest) = std::mem::take(&mut cells).split_at_mut(self.n - 1 - i);
                self.trees.iter().for_each(|tree| add(tree, i, row));
                row.iter_mut().for_each(|sum| *sum /= self.len() as f64);
                cells = rest;
                monitor.advance(1)?;
            }
            Ok(())
        });
        done.into_iter().collect()
    }

    /// Returns, for each inner node of a tree, the share of the sampled trees that have a node with
    /// the same leaves.
    ///
    /// # Errors
    /// No samples; a tree with another number of leaves than the sampled trees.
    pub fn support(&self, tree: &Topology) -> Result<Vec<f64>> {
        let trees: Vec<Dendrogram> = self.trees.iter().map(Sampled::dendrogram).collect::<Result<_>>()?;
        bootstrap::support(tree, &trees.iter().map(Dendrogram::topology).collect::<Vec<_>>())
    }
}
