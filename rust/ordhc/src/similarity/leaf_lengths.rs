//! Lengths of leaves: a leaf is long if it is more often the far leaf of an answer than the near leaf.

use super::near_far::{NearFarCounts, Term};
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;

/// Returns the length of each leaf, in log odds, with mean 0. An untypical leaf, which is far from all others, has a
/// large length.
///
/// The model is a logistic regression (Bradley & Terry 1952): the answer that a pair a is nearer than a pair b has the
/// probability sigma(l(b) - l(a)). The length l of a pair is the sum of the lengths of its two leaves; a leaf in both
/// pairs cancels. Lengths have a normal prior around 0. The variance of the prior is estimated by empirical Bayes
/// (MacKay 1992), starting from 1. A weight is a number of answers.
///
/// All lengths are 0 if leaves differ no more than by chance. Let d be how often a leaf is near minus how often it is
/// far. Leaves differ more than by chance if the sum of d^2 over the leaves exceeds its expectation for random answers
/// by three standard deviations.
///
/// The regression takes a few hundred passes. The time of a pass is linear in the number of comparisons. For triplets,
/// it is linear in the number of different pairs of a near and a far leaf. The result does not depend on the number of
/// threads. [`NearFarCounts`] takes comparisons block by block.
///
/// # Errors
/// Not enough memory for the counts; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::{Triplets, similarity::leaf_lengths};
///
/// // Leaf 2 is always far.
/// let rows: Vec<[i32; 3]> = (0..40).map(|k| if k % 2 == 0 { [0, 1, 2] } else { [1, 0, 2] }).collect();
/// let lengths = leaf_lengths(&Triplets::new(rows, None)?, None)?;
/// assert!(lengths[2] > 1. && lengths[0] < 0.);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn leaf_lengths<const K: usize>(comparisons: &Comparisons<'_, K>, monitor: Option<&Monitor>) -> Result<Vec<f64>> {
    let mut counts = NearFarCounts::new(comparisons.n_leaves(), comparisons.len());
    counts.add(comparisons, monitor)?;
    counts.lengths(1., monitor)
}

/// Returns the lengths of `n` leaves. A term has the total weight of the comparisons with the same near and far leaves.
/// The terms are sorted and distinct.
pub(super) fn lengths_of(n: usize, terms: Vec<Term>, monitor: &Monitor) -> Result<Vec<f64>> {
    entered!(leaf_lengths);
    let work = Work { n, terms, monitor };
    if !work.differ() {
        return Ok(vec![0.; n]);
    }
    let mut lengths = vec![0.; n];
    let mut variance = 1.;
    for _ in 0..UPDATES {
        let information = work.fit(&mut lengths, variance)?;
        let squares: f64 = lengths.iter().map(|l| l * l).sum();
        // The effective number of parameters: the number of lengths that the data rather than the prior determine.
        let determined: f64 = information.iter().map(|h| h / (h + 1. / variance)).sum();
        let next = (squares / determined).min(MOST_VARIANCE);
        if next.is_nan() || next <= LEAST_VARIANCE {
            return Ok(vec![0.; n]);
        }
        let change = (next / variance).ln().abs();
        variance = next;
        if change < SETTLED {
            break;
        }
    }
    work.fit(&mut lengths, variance)?;
    Ok(lengths)
}

const UPDATES: usize = 40;
const SETTLED: f64 = 1e-2;
const LEAST_VARIANCE: f64 = 1e-4;
/// The maximum prior variance of the lengths. It is a standard deviation of 5 in log odds, because answers cannot
/// distinguish larger odds.
const MOST_VARIANCE: f64 = 25.;
const BEYOND_CHANCE: f64 = 3.;
const FOUND: f64 = 1e-8;
const STEPS: usize = 50;
const REMAINDER: f64 = 1e-10;
const CONJUGATE_STEPS: usize = 300;
/// Maximum number of partial sums of a sum over terms (combinations of near and far leaves). This number does not
/// depend on the number of threads.
const PARTS: usize = 16;
const PART: usize = 1 << 14;

struct Work<'a> {
    n: usize,
    terms: Vec<Term>,
    monitor: &'a Monitor,
}

impl Work<'_> {
    /// Returns a vector of `cells` sums over all terms. `add` receives the index of a term, the term and the vector,
    /// and adds the term to the vector. The result does not depend on the number of threads.
    fn sums(&self, cells: usize, add: impl Fn(usize, &Term, &mut [f64]) + Sync + Send) -> Result<Vec<f64>> {
        self.monitor.check()?;
        let part = self.terms.len().div_ceil(PARTS).max(PART);
        let parts: Vec<(usize, &[Term])> = self.terms.chunks(part).enumerate().collect();
        let copies = parallel::map(parts, |(number, terms)| {
            let mut out = vec![0.; cells];
            for (at, term) in terms.iter().enumerate() {
                add(number * part + at, term, &mut out);
            }
            out
        });
        let mut total = vec![0.; cells];
        for copy in copies {
            for (cell, more) in total.iter_mut().zip(copy) {
                *cell += more;
            }
        }
        Ok(total)
    }

    fn differ(&self) -> bool {
        let (mut balance, mut number) = (vec![0.; self.n], vec![0.; self.n]);
        for term in &self.terms {
            term.add(&mut balance, term.weight, -term.weight);
            term.add(&mut number, term.weight, term.weight);
        }
        let excess: f64 = balance.iter().zip(&number).map(|(g, v)| g * g - v).sum();
        let deviation = (2. * number.iter().map(|v| v * v).sum::<f64>()).sqrt();
        excess > BEYOND_CHANCE * deviation
    }

    /// Sets `lengths` to the most probable lengths under a prior of this variance, by Newton's method. Returns the
    /// information about each length: the diagonal of the information matrix.
    fn fit(&self, lengths: &mut Vec<f64>, variance: f64) -> Result<Vec<f64>> {
        let n = self.n;
        let mut loss = self.loss(lengths, variance)?;
        for _ in 0..STEPS {
            let at = &*lengths;
            // The gradient, followed by the diagonal of the information matrix.
            let both = self.sums(2 * n, |_, term, out| {
                let miss = missed(term.difference(at));
                let (up, down) = out.split_at_mut(n);
                term.add(up, term.weight * miss, -term.weight * miss);
                let curvature = term.weight * miss * (1. - miss);
                term.add(down, curvature, curvature);
            })?;
            let (gradient, information) = both.split_at(n);
            let gradient: Vec<f64> = gradient.iter().zip(at).map(|(g, l)| g - l / variance).collect();
            let step = self.newton(at, &gradient, information, variance)?;
            let largest = step.iter().fold(0., |most: f64, s| most.max(s.abs()));
            let mut share = 1.;
            while share > 1e-6 {
                let tried: Vec<f64> = at.iter().zip(&step).map(|(l, s)| l + share * s).collect();
                let found = self.loss(&tried, variance)?;
                if found <= loss {
                    (*lengths, loss) = (tried, found);
                    break;
                }
                share /= 2.;
            }
            if largest < FOUND || share <= 1e-6 {
                return Ok(information.to_vec());
            }
        }
        self.sums(n, |_, term, out| {
            let miss = missed(term.difference(lengths));
            let curvature = term.weight * miss * (1. - miss);
            term.add(out, curvature, curvature);
        })
    }

    fn loss(&self, lengths: &[f64], variance: f64) -> Result<f64> {
        let sum = self.sums(1, |_, term, out| {
            let x = term.difference(lengths);
            out[0] += term.weight * ((-x.abs()).exp().ln_1p() - x.min(0.));
        })?;
        Ok(sum[0] + lengths.iter().map(|l| l * l).sum::<f64>() / (2. * variance))
    }

    /// Returns the Newton step, which solves (information + identity / variance) step = gradient, by conjugate
    /// gradients. `diagonal` is the diagonal of the information matrix, for preconditioning.
    fn newton(&self, at: &[f64], gradient: &[f64], diagonal: &[f64], variance: f64) -> Result<Vec<f64>> {
        let n = self.n;
        let curvatures: Vec<f64> = self
            .terms
            .iter()
            .map(|term| {
                let miss = missed(term.difference(at));
                term.weight * miss * (1. - miss)
            })
            .collect();
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let scaled = |x: &[f64]| -> Vec<f64> { x.iter().zip(diagonal).map(|(x, h)| x / (h + 1. / variance)).collect() };
        let mut step = vec![0.; n];
        let mut rest = gradient.to_vec();
        let mut direction = scaled(&rest);
        let mut size = dot(&rest, &direction);
        let enough = REMAINDER * REMAINDER * size;
        for _ in 0..CONJUGATE_STEPS {
            if size <= enough || size == 0. {
                break;
            }
            let mut product = self.sums(n, |number, term, out| {
                let value = curvatures[number] * term.difference(&direction);
                term.add(out, value, -value);
            })?;
            for (p, d) in product.iter_mut().zip(&direction) {
                *p += d / variance;
            }
            let far = size / dot(&direction, &product);
            for i in 0..n {
                step[i] += far * direction[i];
                rest[i] -= far * product[i];
            }
            let next = scaled(&rest);
            let found = dot(&rest, &next);
            for (d, x) in direction.iter_mut().zip(&next) {
                *d = x + found / size * *d;
            }
            size = found;
        }
        Ok(step)
    }
}

/// Returns the probability of the opposite answer, for an answer with log odds `x`.
#[inline]
fn missed(x: f64) -> f64 {
    1. / (1. + x.exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Quadruplets, Triplets};

    fn of(rows: Vec<[i32; 3]>, n: usize) -> Vec<f64> {
        leaf_lengths(&Triplets::new(rows, Some(n)).unwrap(), None).unwrap()
    }

    #[test]
    fn few_leaves_and_contradictions_have_none() {
        assert_eq!(of(vec![], 1), [0.]);
        assert_eq!(of(vec![], 2), [0., 0.]);
        let both = [[0, 1, 2], [0, 2, 1]].repeat(50);
        assert_eq!(of(both, 3), [0., 0., 0.]);
    }

    #[test]
    fn separable_answers_give_finite_lengths_and_leaves_without_answers_none() {
        let lengths = of([[0, 1, 2]].repeat(500), 5);
        assert!(lengths[2] > 2. && lengths[2] < 20.);
        assert!((lengths[1] + lengths[2]).abs() < 1e-6);
        assert_eq!([lengths[0], lengths[3], lengths[4]], [0.; 3]);
    }

    #[test]
    fn quadruplets_with_a_common_leaf_are_triplets() {
        let rows: Vec<[i32; 3]> = (0..300).map(|k| [k % 3, 3, if k % 7 == 0 { 5 } else { 4 }]).collect();
        let wide: Vec<[i32; 4]> = rows.iter().map(|&[a, b, c]| [b, a, a, c]).collect();
        let wide = leaf_lengths(&Quadruplets::new(wide, Some(6)).unwrap(), None).unwrap();
        for (one, other) in of(rows, 6).iter().zip(&wide) {
            assert!((one - other).abs() < 1e-9);
        }
        assert!(wide[3] < 0. && wide[4] > 0.);
    }
}
