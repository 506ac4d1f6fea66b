//! Distances that are given as similarities: a matrix says itself what it holds.
//!
//! Leaves that are alike have like rows. If small numbers join leaves of like rows, a matrix holds dissimilarities; if
//! large numbers do, similarities.

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::few_square::{LANES, mirror, padded};
use super::matrix::{Layout, Values, with_values};
use crate::numbers::{Number, in_order};
use crate::similarity::{Triangle, condensed_len};

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
    entered!(direction);
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
    /// Rows are padded with zeros.
    values: Vec<f64>,
    stride: usize,
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
        let stride = padded(size);
        let mut sample = vec![0.0; stride * stride];
        let (mut least, mut largest, mut finite) = (f64::INFINITY, f64::NEG_INFINITY, true);
        for (a, (row, &leaf)) in sample.chunks_exact_mut(stride).zip(&some).enumerate() {
            let later = &some[a + 1..];
            match layout {
                Layout::Condensed => {
                    // Places are counted from that of the leaf with itself, which has none.
                    let start = Triangle::new(n).before(leaf);
                    for (x, other) in row[a + 1..].iter_mut().zip(later) {
                        *x = values[start + (other - leaf - 1)].float();
                    }
                }
                Layout::Square => {
                    for (x, &other) in row[a + 1..].iter_mut().zip(later) {
                        *x = values[leaf * n + other].float();
                        if *x != values[other * n + leaf].float() {
                            return None;
                        }
                    }
                }
            }
            for &x in &row[a + 1..size] {
                finite &= x.is_finite();
                least = if x < least { x } else { least };
                largest = if x > largest { x } else { largest };
            }
        }
        if !finite || least < 0.0 {
            return None;
        }
        let hollow = layout == Layout::Square && least > 0.0;
        if largest > 0.0 {
            wide!(sample.iter_mut().for_each(|x| *x /= largest));
        }
        wide!(simd => mirror(simd, &mut sample, stride, stride));
        Some(Self { n: size, values: sample, stride, hollow, least, largest })
    }

    /// Whether all pairs have the same number.
    fn is_even(&self) -> bool {
        self.least == self.largest
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.stride..][..self.n]
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
        let pairs = condensed_len(self.n);
        let (mut unlike, mut numbers) = (Vec::with_capacity(pairs), Vec::with_capacity(pairs));
        wide!(simd => self.add_unlikeness(simd, &mut unlike, &mut numbers));
        (numbers.len() >= 3).then_some((unlike, numbers))
    }

    #[inline(always)]
    fn add_unlikeness<S: Simd>(&self, simd: S, unlike: &mut Vec<f64>, numbers: &mut Vec<f64>) {
        let rows = || self.values.chunks_exact(self.stride).take(self.n).map(|row| row.as_chunks::<LANES>().0);
        let chunks = self.stride / LANES;
        let zero = f64x8::splat(simd, 0.0);
        // Of a symmetric matrix rows have the sums of columns.
        let (mut sums, mut squares) = (vec![[0.0; LANES]; chunks], vec![[0.0; LANES]; chunks]);
        for row in rows() {
            for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(row) {
                let x = f64x8::load_array_ref(simd, x);
                (f64x8::load_array_ref(simd, sum) + x).store_array(sum);
                (f64x8::load_array_ref(simd, square) + x * x).store_array(square);
            }
        }
        let share = f64x8::splat(simd, 1.0 / (self.n - 2) as f64);
        let mut found = vec![[[0.0; LANES]; ROWS]; chunks];
        for first in (0..self.n).step_by(ROWS) {
            for chunk in first / LANES..chunks {
                let mut dots = [zero; ROWS];
                for (line, other) in self.values.chunks_exact(self.stride).zip(rows()) {
                    let other = f64x8::load_array_ref(simd, &other[chunk]);
                    for (dot, &x) in dots.iter_mut().zip(&line[first..first + ROWS]) {
                        *dot += f64x8::splat(simd, x) * other;
                    }
                }
                let (sums_j, squares_j) =
                    (f64x8::load_array_ref(simd, &sums[chunk]), f64x8::load_array_ref(simd, &squares[chunk]));
                for (at, (&dot, found)) in dots.iter().zip(&mut found[chunk]).enumerate() {
                    let i = first + at;
                    let x = f64x8::from_slice(simd, &self.values[i * self.stride + chunk * LANES..][..LANES]);
                    let sum_i = f64x8::splat(simd, sums[i / LANES][i % LANES]);
                    let square_i = f64x8::splat(simd, squares[i / LANES][i % LANES]);
                    let (others_i, others_j) = (sum_i - x, sums_j - x);
                    let square = x * x;
                    let spread = (square_i - square - others_i * others_i * share)
                        * (squares_j - square - others_j * others_j * share);
                    let covariance = dot - others_i * others_j * share;
                    let told = spread.simd_gt(f64x8::splat(simd, 1e-18));
                    told.select(-covariance / spread.sqrt(), f64x8::splat(simd, f64::NAN)).store_array(found);
                }
            }
            for i in first..(first + ROWS).min(self.n) {
                for (j, &x) in (i + 1..).zip(&self.row(i)[i + 1..]) {
                    let unlikeness = found[j / LANES][i - first][j % LANES];
                    if !unlikeness.is_nan() {
                        unlike.push(unlikeness);
                        numbers.push(x);
                    }
                }
            }
        }
    }
}

/// Rows that are multiplied with others together.
const ROWS: usize = 4;

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    wide!(simd => correlation_of(simd, a, b))
}

#[inline(always)]
fn correlation_of<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let (a, rest_a) = a.as_chunks::<LANES>();
    let (b, rest_b) = b.as_chunks::<LANES>();
    let n = (a.len() * LANES + rest_a.len()) as f64;
    let zero = f64x8::splat(simd, 0.0);
    let (mut sum_a, mut sum_b) = (zero, zero);
    for (a, b) in a.iter().zip(b) {
        (sum_a, sum_b) = (sum_a + f64x8::load_array_ref(simd, a), sum_b + f64x8::load_array_ref(simd, b));
    }
    let mean_a = (total(sum_a) + rest_a.iter().sum::<f64>()) / n;
    let mean_b = (total(sum_b) + rest_b.iter().sum::<f64>()) / n;
    let (mut both, mut of_a, mut of_b) = (zero, zero, zero);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (
            f64x8::load_array_ref(simd, a) - f64x8::splat(simd, mean_a),
            f64x8::load_array_ref(simd, b) - f64x8::splat(simd, mean_b),
        );
        (both, of_a, of_b) = (both + a * b, of_a + a * a, of_b + b * b);
    }
    let (mut both, mut of_a, mut of_b) = (total(both), total(of_a), total(of_b));
    for (a, b) in rest_a.iter().zip(rest_b) {
        let (a, b) = (a - mean_a, b - mean_b);
        (both, of_a, of_b) = (both + a * b, of_a + a * a, of_b + b * b);
    }
    let spread = of_a * of_b;
    if spread > 0.0 { both / spread.sqrt() } else { 0.0 }
}

/// The sum of lanes, in the same order on all processors.
#[inline(always)]
fn total<S: Simd>(lanes: f64x8<S>) -> f64 {
    lanes.to_array().iter().sum()
}

/// Ranks, those of equal values the same.
fn ranks(values: &[f64]) -> Vec<f64> {
    // Numbers in the order of the values, with their places.
    let mut order: Vec<(i64, u32)> = values.iter().zip(0..).map(|(x, at)| (in_order(x + 0.0), at)).collect();
    order.sort_unstable_by_key(|&(x, _)| x);
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|a, b| a.0 == b.0) {
        let rank = before as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&(_, at)| ranks[at as usize] = rank);
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::fractions;

    #[test]
    fn rows_are_unlike_as_far_as_they_do_not_correlate_over_the_other_leaves() {
        let mut random = fractions(5);
        for n in [3, 4, 7, 8, 21, 40] {
            let values: Vec<f64> = (0..condensed_len(n)).map(|_| random()).collect();
            let sample = Sample::of(&values, Layout::Condensed, n, n).unwrap();
            let (unlike, numbers) = sample.unlikeness().unwrap_or_default();
            let mut at = 0;
            for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
                let others: Vec<usize> = (0..n).filter(|&k| k != i && k != j).collect();
                let [a, b] = [i, j].map(|i| others.iter().map(|&k| sample.row(i)[k]).collect::<Vec<_>>());
                let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
                let (mean_a, mean_b) = (mean(&a), mean(&b));
                let sum = |of: &dyn Fn(usize) -> f64| (0..a.len()).map(of).sum::<f64>();
                let spread = sum(&|k| (a[k] - mean_a).powi(2)) * sum(&|k| (b[k] - mean_b).powi(2));
                if n > 3 && spread > 1e-12 {
                    let expected = sum(&|k| (a[k] - mean_a) * (b[k] - mean_b)) / spread.sqrt();
                    assert!((unlike[at] + expected).abs() < 1e-7, "{i}, {j} of {n}");
                    assert_eq!(numbers[at], sample.row(i)[j]);
                    at += 1;
                }
            }
        }
    }

    #[test]
    fn equal_values_have_the_same_rank() {
        assert_eq!(ranks(&[3.0, -1.0, 3.0, 0.0, -0.0, 7.0]), [3.5, 0.0, 3.5, 1.5, 1.5, 5.0]);
    }
}
