//! Distances that are given as similarities: a matrix says itself what it holds.
//!
//! Leaves that are alike have like rows. If small numbers join leaves of like rows, a matrix holds dissimilarities; if
//! large numbers do, similarities.

use super::matrix::{Layout, Values, with_values};
use crate::numbers::Number;
use crate::similarity::Triangle;

/// So many leaves are looked at.
const SAMPLED: usize = 100;
/// The least number of leaves of which rows say something.
const FEW: usize = 6;
/// So many leaves are looked at first, and numbers whose correlation with the unlikeness of rows is below the second
/// are no distances: among all leaves that are looked at it would hardly reach what is needed.
const FIRST_LOOKS: [(usize, f64); 2] = [(24, 0.04), (48, 0.04)];

/// Whether numbers look like distances, so that it is worth asking whether they are meant as similarities.
///
/// Nothing is below 0, the diagonal is 0 if there is one, and small numbers join leaves with like rows. Where
/// the triangle inequality holds less of that is needed, and least if 0 stands on the diagonal only. At most a hundred
/// leaves are looked at. What is no matrix does not look like distances.
///
/// ```
/// use ordhc::agglomerate::{Layout, Values, looks_like_distances};
///
/// let points = [0.0, 1.0, 3.0, 10.0, 12.0, 13.0, 30.0f64];
/// let pairs = (0..7).flat_map(|i| (i + 1..7).map(move |j| (i, j)));
/// let distances: Vec<f64> = pairs.map(|(i, j)| points[j] - points[i]).collect();
/// assert!(looks_like_distances(Values::F64(&distances), Layout::Condensed));
/// let similarities: Vec<f64> = distances.iter().map(|x| 30.0 - x).collect();
/// assert!(!looks_like_distances(Values::F64(&similarities), Layout::Condensed));
/// ```
pub fn looks_like_distances(values: Values<'_>, layout: Layout) -> bool {
    with_values!(values, values => looks(values, layout))
}

fn looks<T: Number>(values: &[T], layout: Layout) -> bool {
    let n = match layout {
        Layout::Condensed => match Triangle::of_pairs(values.len()) {
            Ok(triangle) => triangle.n_leaves(),
            Err(_) => return false,
        },
        Layout::Square => values.len().isqrt(),
    };
    if n < 3 || layout == Layout::Square && n * n != values.len() {
        return false;
    }
    // What similarities mostly are is told by a few numbers.
    let first = if layout == Layout::Square { n * n.min(SAMPLED) } else { values.len().min(SAMPLED) };
    if values[..first].iter().any(|x| x.float() < 0.0) {
        return false;
    }
    if layout == Layout::Square && (0..n).any(|i| values[i * n + i].float() != 0.0) {
        return false;
    }
    let full = n.min(SAMPLED);
    for (size, enough) in FIRST_LOOKS.into_iter().filter(|&(size, _)| size < full) {
        let Some(sample) = Sample::of(values, layout, n, size) else { return false };
        if !sample.is_even()
            && sample.unlikeness().is_some_and(|(unlike, numbers)| correlation(&unlike, &numbers) < enough)
        {
            return false;
        }
    }
    Sample::of(values, layout, n, full).is_some_and(|sample| sample.holds_distances())
}

/// The matrix of some leaves: between 0 and 1, with 0 on the diagonal.
struct Sample {
    n: usize,
    values: Vec<f64>,
    /// Whether there is a diagonal, on which alone 0 stands.
    hollow: bool,
    /// The least and the largest number of a pair.
    least: f64,
    largest: f64,
}

impl Sample {
    /// Nothing if it is no matrix of distances: numbers that are not finite or below 0, or halves that differ.
    fn of<T: Number>(values: &[T], layout: Layout, n: usize, size: usize) -> Option<Self> {
        let leaf = |at: usize| (at as f64 * ((n - 1) as f64 / (size - 1) as f64)) as usize;
        let some: Vec<usize> = (0..size).map(|at| if at + 1 == size { n - 1 } else { leaf(at) }).collect();
        let mut sample = vec![0.0; size * size];
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for a in 0..size {
            for b in a + 1..size {
                let x = match layout {
                    Layout::Condensed => values[Triangle::new(n).index(some[a], some[b])].float(),
                    Layout::Square => {
                        let [x, y] = [some[a] * n + some[b], some[b] * n + some[a]].map(|at| values[at].float());
                        if x != y {
                            return None;
                        }
                        x
                    }
                };
                if !x.is_finite() || x < 0.0 {
                    return None;
                }
                (least, largest) = (least.min(x), largest.max(x));
                (sample[a * size + b], sample[b * size + a]) = (x, x);
            }
        }
        let hollow = layout == Layout::Square && least > 0.0;
        if largest > 0.0 {
            sample.iter_mut().for_each(|x| *x /= largest);
        }
        Some(Self { n: size, values: sample, hollow, least, largest })
    }

    /// Whether all pairs have the same number.
    fn is_even(&self) -> bool {
        self.least == self.largest
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    fn holds_distances(&self) -> bool {
        if self.is_even() {
            return false;
        }
        if self.n == 3 {
            let mut pairs = [self.row(0)[1], self.row(0)[2], self.row(1)[2]];
            pairs.sort_unstable_by(f64::total_cmp);
            let [low, middle, high] = pairs;
            return self.hollow && high <= low + middle && 4.0 * (high - middle) < middle - low;
        }
        let enough = if self.is_metric() {
            if self.hollow && self.n >= FEW { 0.0 } else { 0.3 }
        } else {
            (0.2 + 3.0 / self.n as f64).max(0.3)
        };
        (self.n >= FEW || self.hollow && self.is_metric()) && self.likeness() > enough
    }

    /// Whether the triangle inequality holds, not only because numbers are about the same.
    fn is_metric(&self) -> bool {
        let holds = |i: usize, j: usize| {
            let x = self.row(i)[j];
            self.row(i).iter().zip(self.row(j)).all(|(a, b)| x <= a + b + 1e-9)
        };
        self.least < 0.5 * self.largest && (0..self.n).all(|i| (i + 1..self.n).all(|j| holds(i, j)))
    }

    /// The rank correlation, over pairs of leaves, of numbers with the unlikeness of the two rows; 0 if it isn't known.
    ///
    /// Distances measure near 1, similarities near -1, numbers without a structure near 0.
    fn likeness(&self) -> f64 {
        let Some((mut unlike, numbers)) = self.unlikeness() else { return 0.0 };
        unlike.iter_mut().for_each(|x| *x = (*x * 1e9).round_ties_even());
        correlation(&ranks(&unlike), &ranks(&numbers))
    }

    /// Of every pair of leaves how unlike the rows of the two are, and its number.
    ///
    /// Rows are alike as far as they correlate over the other leaves, so that neither sums of rows nor units matter.
    fn unlikeness(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = self.n;
        let sum_of = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0..n).map(|i| self.row(i).iter().map(|&x| of(x)).sum()).collect()
        };
        let (sums, squares) = (sum_of(&|x| x), sum_of(&|x| x * x));
        let (mut unlike, mut numbers) = (Vec::new(), Vec::new());
        for i in 0..n {
            for j in i + 1..n {
                let x = self.row(i)[j];
                let (others_i, others_j) = (sums[i] - x, sums[j] - x);
                let m = (n - 2) as f64;
                let spread =
                    (squares[i] - x * x - others_i * others_i / m) * (squares[j] - x * x - others_j * others_j / m);
                if spread > 1e-18 {
                    let covariance = dot(self.row(i), self.row(j)) - others_i * others_j / m;
                    unlike.push(-covariance / spread.sqrt());
                    numbers.push(x);
                }
            }
        }
        (numbers.len() >= 3).then_some((unlike, numbers))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        both += a * b;
        of_a += a * a;
        of_b += b * b;
    }
    let spread = of_a * of_b;
    if spread > 0.0 { both / spread.sqrt() } else { 0.0 }
}

/// Ranks, those of equal values the same.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = before as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&at| ranks[at] = rank);
        before += equal.len();
    }
    ranks
}
