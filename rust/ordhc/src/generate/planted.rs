//! The planted hierarchical model.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::similarity::nth_pair;

/// The planted hierarchical model of Ghoshdastidar, Perrot & von Luxburg, "Foundations of comparison-based hierarchical
/// clustering" (2019), section 4.1.
///
/// The hierarchy is a complete binary tree with `levels` levels over 2^levels pure clusters, which are not divided
/// further. Similarities are normally distributed with standard deviation `sigma`. Their mean is `mu` within a pure
/// cluster, and `mu - (levels - l) delta` for leaves whose clusters separate at level l (level 0 is the root).
///
/// The default is the paper's model with 30 leaves in each of 8 clusters, without wrong answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlantedModel {
    /// L: the number of levels of the planted tree, from 0 to 20.
    pub levels: u32,
    /// N0: the number of leaves in a pure cluster.
    pub leaves_per_cluster: usize,
    /// The mean similarity within a pure cluster.
    pub mu: f64,
    /// The difference between the mean similarities of two consecutive levels.
    pub delta: f64,
    /// The standard deviation of similarities.
    pub sigma: f64,
    /// The probability that an answer is flipped.
    pub flip: f64,
    /// True if the ids of leaves are in random order. False if the ids of each pure cluster are consecutive.
    pub permute: bool,
    /// The seed. The same seed gives the same data.
    pub seed: u64,
}

/// Comparisons drawn from a [`PlantedModel`].
#[derive(Debug, Clone, PartialEq)]
pub struct Planted<const K: usize> {
    /// The comparisons (answers). Their questions are distinct, and drawn uniformly from all questions.
    pub rows: Vec<[i32; K]>,
    /// For each leaf, the id of its cluster at each level from 1 to `levels`.
    pub labels: Vec<Vec<u32>>,
}

impl Default for PlantedModel {
    fn default() -> Self {
        Self { levels: 3, leaves_per_cluster: 30, mu: 0.8, delta: 0.1, sigma: 0.1, flip: 0.0, permute: true, seed: 0 }
    }
}

impl PlantedModel {
    /// Returns the number of leaves, 2^levels times `leaves_per_cluster`.
    pub fn n_leaves(&self) -> usize {
        self.leaves_per_cluster.saturating_mul(1usize.checked_shl(self.levels).unwrap_or(usize::MAX))
    }

    /// Draws `n_comparisons` distinct triplets (`K` = 3) or quadruplets (`K` = 4).
    ///
    /// # Errors
    /// Parameters outside their ranges; more comparisons than exist.
    ///
    /// ```
    /// use ordhc::generate::PlantedModel;
    ///
    /// let model = PlantedModel { levels: 2, leaves_per_cluster: 3, ..PlantedModel::default() };
    /// let planted = model.draw::<3>(100, None)?;
    /// assert_eq!((planted.rows.len(), planted.labels.len()), (100, 12));
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn draw<const K: usize>(&self, n_comparisons: usize, monitor: Option<&Monitor>) -> Result<Planted<K>> {
        watched!(monitor);
        // The progress counts two steps for each comparison: drawing the question, and answering the question.
        monitor.start(2 * n_comparisons as u64);
        self.check()?;
        let n = self.n_leaves();
        let all = n_questions::<K>(n);
        if n_comparisons as u128 > all {
            return Err(Error::Argument(format!(
                "cannot draw {n_comparisons} distinct comparisons of {n} leaves: there are only {all}"
            )));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let (blocks, similarities) = self.similarities(&mut rng)?;
        let mut rows = Vec::with_capacity(n_comparisons);
        for question in distinct(n_comparisons, all, &mut rng, monitor)? {
            let mut row: [i32; K] = ask(question, n);
            let id = |at: usize| row[at] as usize;
            let (near, far) = if K == 3 { ((0, 1), (0, 2)) } else { ((0, 1), (2, K - 1)) };
            let agrees = similarities[id(near.0) * n + id(near.1)] >= similarities[id(far.0) * n + id(far.1)];
            if agrees == rng.random_bool(self.flip) {
                if K == 3 {
                    row.swap(1, 2);
                } else {
                    row.swap(0, 2);
                    row.swap(1, K - 1);
                }
            }
            rows.push(row);
            monitor.advance(1)?;
        }
        Ok(Planted { rows, labels: self.labels(&blocks) })
    }

    fn similarities(&self, rng: &mut ChaCha8Rng) -> Result<(Vec<u32>, memory::Buffer<f64>)> {
        let n = self.n_leaves();
        let mut blocks: Vec<u32> = (0..n as u32).map(|leaf| leaf / self.leaves_per_cluster as u32).collect();
        if self.permute {
            blocks.shuffle(rng);
        }
        let mut similarities = memory::Buffer::zeros("the planted similarities", n * n)?;
        for i in 0..n {
            for j in i + 1..n {
                let apart = u32::BITS - (blocks[i] ^ blocks[j]).leading_zeros();
                let value = self.mu - f64::from(apart) * self.delta + self.sigma * normal(rng);
                similarities[i * n + j] = value;
                similarities[j * n + i] = value;
            }
        }
        Ok((blocks, similarities))
    }

    fn labels(&self, blocks: &[u32]) -> Vec<Vec<u32>> {
        blocks.iter().map(|block| (1..=self.levels).map(|level| block >> (self.levels - level)).collect()).collect()
    }

    fn check(&self) -> Result<()> {
        if self.levels > 20 || self.leaves_per_cluster == 0 || self.n_leaves() > 100_000 {
            return Err(Error::Argument(format!(
                "levels = {} (at most 20) and leaves_per_cluster = {} (at least 1) give {} leaves; at most 100000",
                self.levels,
                self.leaves_per_cluster,
                self.n_leaves()
            )));
        }
        for (name, value) in [("mu", self.mu), ("delta", self.delta), ("sigma", self.sigma)] {
            if !value.is_finite() || (name == "sigma" && value < 0.0) {
                let range = if name == "sigma" { "the finite numbers of at least 0" } else { "the finite numbers" };
                return Err(Error::out_of_range(name, value, range));
            }
        }
        if !(0.0..=1.0).contains(&self.flip) {
            return Err(Error::out_of_range("flip", self.flip, "0..=1"));
        }
        Ok(())
    }
}

/// Returns two results. The first result is the (n, n) matrix of similarities that [`PlantedModel::draw`] compares,
/// with 0 on the diagonal. The second result has, for each leaf, the id of its cluster at each level.
///
/// # Errors
/// Parameters of the model outside their ranges, or too many leaves.
pub fn planted_similarities(model: &PlantedModel) -> Result<(Vec<f64>, Vec<Vec<u32>>)> {
    model.check()?;
    let (blocks, similarities) = model.similarities(&mut ChaCha8Rng::seed_from_u64(model.seed))?;
    Ok((similarities.to_vec(), model.labels(&blocks)))
}

/// Draws a standard normal number by the Box-Muller transform.
fn normal(rng: &mut impl Rng) -> f64 {
    let radius: f64 = 1.0 - rng.random::<f64>();
    let angle: f64 = rng.random::<f64>() * std::f64::consts::TAU;
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

fn n_questions<const K: usize>(n: usize) -> u128 {
    let n = n as u128;
    let pairs = n * n.saturating_sub(1) / 2;
    if K == 3 { n * n.saturating_sub(1) * n.saturating_sub(2) / 2 } else { pairs * pairs.saturating_sub(1) / 2 }
}

fn ask<const K: usize>(question: u128, n: usize) -> [i32; K] {
    let mut row = [0; K];
    if K == 3 {
        let per_anchor = ((n - 1) * (n - 2) / 2) as u128;
        let anchor = (question / per_anchor) as usize;
        let [a, b] = nth_pair(question % per_anchor);
        let skip = |leaf: usize| leaf + usize::from(leaf >= anchor);
        row[..3].copy_from_slice(&[anchor, skip(a), skip(b)].map(|leaf| leaf as i32));
    } else {
        let [[i, j], [k, l]] = nth_pair(question).map(|pair| nth_pair(pair as u128));
        row.copy_from_slice(&[i, j, k, l].map(|leaf| leaf as i32)[..K]);
    }
    row
}

fn distinct(m: usize, all: u128, rng: &mut impl Rng, monitor: &Monitor) -> Result<Vec<u128>> {
    if (m as u128) * 2 > all {
        let mut numbers: Vec<u128> = (0..all).collect();
        numbers.shuffle(rng);
        numbers.truncate(m);
        return Ok(numbers);
    }
    let mut seen = HashSet::with_capacity(m);
    let mut numbers = Vec::with_capacity(m);
    while numbers.len() < m {
        let number = rng.random_range(0..all);
        if seen.insert(number) {
            numbers.push(number);
            monitor.advance(1)?;
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: PlantedModel = PlantedModel {
        levels: 2,
        leaves_per_cluster: 2,
        mu: 0.8,
        delta: 0.1,
        sigma: 0.0,
        flip: 0.0,
        permute: false,
        seed: 3,
    };

    #[test]
    fn all_questions_are_different_and_valid() {
        for n in [3usize, 4, 7] {
            let all: Vec<[i32; 3]> = (0..n_questions::<3>(n)).map(|q| ask(q, n)).collect();
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
            assert!(crate::Triplets::new(all, Some(n)).is_ok());
            let all: Vec<[i32; 4]> = (0..n_questions::<4>(n)).map(|q| ask(q, n)).collect();
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
            assert!(crate::Quadruplets::new(all, Some(n)).is_ok());
        }
    }

    #[test]
    fn answers_follow_the_plan() {
        let planted = MODEL.draw::<3>(n_questions::<3>(8) as usize, None).unwrap();
        let depth = |i: i32, j: i32| {
            let (a, b) = (&planted.labels[i as usize], &planted.labels[j as usize]);
            a.iter().zip(b).take_while(|(a, b)| a == b).count()
        };
        assert!(planted.rows.iter().all(|&[i, j, k]| depth(i, j) >= depth(i, k)));
        assert_eq!(planted.labels[7], [1, 3]);
        let flipped = PlantedModel { flip: 1.0, ..MODEL }.draw::<3>(100, None).unwrap();
        assert!(flipped.rows.iter().all(|&[i, j, k]| depth(i, j) <= depth(i, k)));
    }

    #[test]
    fn seeds_decide_and_limits_hold() {
        let model = PlantedModel { sigma: 0.1, permute: true, ..MODEL };
        assert_eq!(model.draw::<4>(50, None).unwrap(), model.draw::<4>(50, None).unwrap());
        assert_ne!(model.draw::<4>(50, None).unwrap(), PlantedModel { seed: 4, ..model }.draw::<4>(50, None).unwrap());
        assert!(model.draw::<3>(1000, None).unwrap_err().to_string().contains("only 168"));
        assert!(PlantedModel { flip: 1.5, ..MODEL }.draw::<3>(1, None).is_err());
        assert!(PlantedModel { levels: 40, ..MODEL }.draw::<3>(1, None).is_err());
        assert!(PlantedModel { sigma: f64::NAN, ..MODEL }.draw::<3>(1, None).is_err());
    }
}
