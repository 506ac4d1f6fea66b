//! The expected AddS3 similarities under a model of answers.

use super::model::Model;
use super::{dimension, squared_distance};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::condensed_len;

const STEP: usize = 8;

/// Returns the expected AddS3 similarities if a model answers all triplets. The similarity `s_ij` is the sum over k of
/// `(2 P_ijk - 1) + (2 P_jik - 1)`, where `P_ijk` is the probability that i is nearer to j than to k.
///
/// `points` is an (n, d) array. The result is in condensed layout. The computation takes O(n^3) time.
///
/// # Errors
/// Points that are not finite; a model without probabilities; [`Error::Interrupted`].
///
/// ```
/// use ordhc::bindings::expected_adds3;
/// use ordhc::embedding::Model;
///
/// let s = expected_adds3(&[0.0, 1.0, 100.0], 3, Model::Ste, None)?;
/// assert_eq!(s, [2.0, -2.0, 0.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn expected_adds3(points: &[f64], n_leaves: usize, model: Model, monitor: Option<&Monitor>) -> Result<Vec<f64>> {
    watched!(monitor);
    let (n, d) = (n_leaves, dimension(points, n_leaves)?);
    if !model.chooses() {
        return Err(Error::Argument(format!("{model:?} gives no probabilities; STE, t-STE and CKL do")));
    }
    crate::memory::check("the similarities", (n as u64).saturating_mul(n as u64).saturating_mul(8))?;
    let at = |leaf: usize| &points[leaf * d..(leaf + 1) * d];
    monitor.start(n as u64);
    let row_of = |anchor: usize| {
        let squared = |other: usize| squared_distance(at(anchor), at(other));
        let scores: Vec<f64> = (0..n).filter(|&j| j != anchor).map(|j| model.score(squared(j))).collect();
        leads(&scores)
    };
    let parts = parallel::map(parallel::ranges(n, 64), |anchors| -> Result<Vec<f64>> {
        let mut rows = Vec::with_capacity(anchors.len() * (n - 1));
        for anchor in anchors {
            rows.extend(row_of(anchor));
            if anchor % STEP == 0 {
                monitor.advance(STEP as u64)?;
            }
        }
        Ok(rows)
    });
    // Each row of the matrix has all elements except that on the diagonal.
    let rows = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let mut pairs = Vec::with_capacity(condensed_len(n));
    for i in 0..n {
        for j in i + 1..n {
            pairs.push(rows[i * (n - 1) + j - 1] + rows[j * (n - 1) + i]);
        }
    }
    if let Some(bad) = pairs.iter().find(|value| !value.is_finite()) {
        return Err(Error::Argument(format!("an expected similarity is {bad}: points are too far apart")));
    }
    Ok(pairs)
}

/// Returns, for each leaf, its expected number of wins minus losses in comparisons with all other leaves. `scores` are
/// the scores of the leaves for the same anchor.
fn leads(scores: &[f64]) -> Vec<f64> {
    let mut leads = vec![0.0; scores.len()];
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let kernel: Vec<f64> = scores.iter().map(|score| (score - best).exp()).collect();
    // Ratios of kernel values close to 0 are inaccurate. If there are such kernel values, compute with scores instead.
    let tame = kernel.iter().all(|&kernel| kernel > 1e-150);
    for j in 0..scores.len() {
        let (own, later) = leads[j..].split_first_mut().expect("j is one of them");
        *own += if tame {
            duel(kernel[j], &kernel[j + 1..], later, |near, far| (near - far) / (near + far))
        } else {
            duel(scores[j], &scores[j + 1..], later, |near, far| ((near - far) / 2.0).tanh())
        };
    }
    leads
}

/// Returns the sum of the margins of one leaf against the leaves in `others`. A margin is the probability of a win
/// minus the probability of a loss. Each margin is also subtracted from `leads`, at the position of the other leaf.
#[inline]
fn duel(own: f64, others: &[f64], leads: &mut [f64], margin: impl Fn(f64, f64) -> f64) -> f64 {
    // Use several independent sums, so that divisions can overlap.
    let mut sums = [0.0; 4];
    let ((heads, tail), (lead_heads, lead_tail)) = (others.as_chunks::<4>(), leads.as_chunks_mut::<4>());
    for (others, leads) in heads.iter().zip(lead_heads) {
        for lane in 0..4 {
            let won = margin(own, others[lane]);
            sums[lane] += won;
            leads[lane] -= won;
        }
    }
    let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (&other, lead) in tail.iter().zip(lead_tail) {
        let won = margin(own, other);
        sum += won;
        *lead -= won;
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::similarity::Triangle;

    fn naive(points: &[f64], n: usize, d: usize, model: Model) -> Vec<f64> {
        let squared = |i: usize, j: usize| squared_distance(&points[i * d..(i + 1) * d], &points[j * d..(j + 1) * d]);
        let p = |i: usize, j: usize, k: usize| {
            1.0 / (1.0 + (model.score(squared(i, k)) - model.score(squared(i, j))).exp())
        };
        let mut pairs = vec![0.0; condensed_len(n)];
        for i in 0..n {
            for j in i + 1..n {
                for k in (0..n).filter(|&k| k != i && k != j) {
                    pairs[Triangle::new(n).index(i, j)] += (2.0 * p(i, j, k) - 1.0) + (2.0 * p(j, i, k) - 1.0);
                }
            }
        }
        pairs
    }

    proptest! {
        #[test]
        fn is_the_sum_over_triplets(
            points in (1usize..15).prop_flat_map(|n| proptest::collection::vec(-2.0f64..2.0, 2 * n)),
            spread in prop_oneof![Just(1.0), Just(0.0), Just(30.0)],
        ) {
            let n = points.len() / 2;
            let points: Vec<f64> = points.iter().map(|x| x * spread).collect();
            for model in [Model::Ste, Model::TSte { alpha: 1.0 }, Model::Ckl { mu: 0.1 }] {
                let found = expected_adds3(&points, n, model, None).unwrap();
                for (a, b) in found.iter().zip(naive(&points, n, 2, model)) {
                    prop_assert!((a - b).abs() < 1e-10, "{model:?}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn threads_do_not_matter() {
        let (n, d) = (300, 2);
        let points: Vec<f64> = (0..n * d).map(|at| (at as f64 * 2.3).sin()).collect();
        let model = Model::TSte { alpha: 1.0 };
        let found = expected_adds3(&points, n, model, None).unwrap();
        for (a, b) in found.iter().zip(naive(&points, n, d, model)) {
            assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn hinges_and_bad_points_are_refused() {
        let monitor = Monitor::new();
        let text = |points: &[f64], n, model| expected_adds3(points, n, model, Some(&monitor)).unwrap_err().to_string();
        assert!(text(&[0.0, 1.0], 2, Model::Gnmds).contains("no probabilities"));
        assert!(text(&[0.0, f64::INFINITY], 2, Model::Ste).contains("[1, 0] is inf"));
        assert!(text(&[0.0, 1e300, -1e300], 3, Model::Ste).contains("too far apart"));
        monitor.cancel();
        let stopped = expected_adds3(&[0.0, 1.0], 2, Model::Ste, Some(&monitor));
        assert_eq!(stopped, Err(Error::Interrupted));
    }
}
