//! Kernels that compare leaves by their answers: MulK3 and MulK4.
//!
//! Both are products X X^T of a sparse matrix X, which has a row for each leaf and a column for each *context*. Each
//! answer adds +1 or -1 to entries of X. A context is a question about a leaf, and two leaves are similar if they have
//! the same answers to many questions. In MulK3, the context is a pair {k, l} (is k or l closer?), and the row is that
//! of the anchor. In MulK4, the context is a pair {k, l} and a leaf r. The row is then that of the other leaf i of the
//! pair {i, r} that was compared with {k, l}.

use super::condensed::condensed_len;
use super::contexts::{Said, sum_products};
use super::dense_kernel;
use super::triangle::Triangle;
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::monitor::Monitor;

/// A kernel: the values of all pairs of leaves in SciPy's condensed order, and of each leaf with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// The n(n-1)/2 values of pairs.
    pub pairs: Vec<f64>,
    /// The n values of the diagonal.
    pub diagonal: Vec<f64>,
}

/// The denominator in the values of [`mulk3`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Normalization {
    /// No denominator: values are sums over pairs.
    Raw,
    /// The denominator is the square root of `c_i c_j`. For an anchor i, `c_i` is the number of different pairs {k, l}
    /// in answers "i is closer to k than to l".
    ByAnswers,
}

/// Returns MulK3, Kendall's kernel of triplets: `K_ij = sum_{k<l} x(i;k,l) x(j;k,l) / sqrt(c_i c_j)`.
///
/// `x(i;k,l)` is the weight of "i is closer to k than to l" minus the weight of the opposite. `c_i` is the number of
/// distinct pairs that were answered for anchor i. The value is 0 if `c_i = 0`. [`Normalization::Raw`] omits the
/// denominator. See Kleindessner & von Luxburg 2017, and Ghoshdastidar, Perrot & von Luxburg 2019, equation 8.
///
/// # Errors
/// Not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::{Triplets, similarity::{Normalization, mulk3}};
///
/// let triplets = Triplets::new(vec![[0, 2, 3], [1, 2, 3], [0, 1, 3]], None)?;
/// let kernel = mulk3(&triplets, Normalization::Raw, None)?;
/// assert_eq!((kernel.pairs[0], kernel.diagonal[0]), (1.0, 2.0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn mulk3(triplets: &Comparisons<'_, 3>, normalization: Normalization, monitor: Option<&Monitor>) -> Result<Kernel> {
    watched!(monitor);
    let n = triplets.n_leaves();
    let found = match dense_kernel::mulk3(triplets, monitor)? {
        Some(found) => found,
        None => {
            let say = |row: &[i32; 3]| {
                let [_, k, l] = row.map(|id| id as usize);
                [Said {
                    context: Triangle::new(n).index(k, l) as u64,
                    item: row[0] as u32,
                    sign: if k < l { 1 } else { -1 },
                }]
            };
            sum_products(triplets, condensed_len(n) as u64, say, monitor)?
        }
    };
    let Found { mut kernel, answered } = found;
    if normalization == Normalization::ByAnswers {
        let scale = |count: u64| if count == 0 { 0.0 } else { 1.0 / (count as f64).sqrt() };
        let scales: Vec<f64> = answered.iter().map(|&count| scale(count)).collect();
        let mut at = 0;
        for i in 0..n {
            for j in i + 1..n {
                kernel.pairs[at] *= scales[i] * scales[j];
                at += 1;
            }
            kernel.diagonal[i] = if answered[i] == 0 { 0.0 } else { kernel.diagonal[i] / answered[i] as f64 };
        }
    }
    Ok(kernel)
}

/// Returns MulK4: `K_ij` is the sum over r other than i, j and over pairs {k, l} of `x(ir;kl) x(jr;kl)`.
///
/// `x(ir;kl)` is the weight of "i and r are closer than k and l" minus the weight of the opposite. The kernel 4K of
/// Ghoshdastidar, Perrot & von Luxburg 2019 (equation 3) is MulK4 plus twice AddS4. The reason is that 4K includes r =
/// i and r = j, and takes a leaf as infinitely similar to itself.
///
/// # Errors
/// Not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::{Quadruplets, similarity::mulk4};
///
/// // {0, 4} and {1, 4} are both closer than {2, 3}: leaves 0 and 1 agree once.
/// let quadruplets = Quadruplets::new(vec![[0, 4, 2, 3], [1, 4, 3, 2]], None)?;
/// assert_eq!(mulk4(&quadruplets, None)?.pairs[0], 1.0);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn mulk4(quadruplets: &Comparisons<'_, 4>, monitor: Option<&Monitor>) -> Result<Kernel> {
    watched!(monitor);
    let n = quadruplets.n_leaves();
    let pair = |a: usize, b: usize| Triangle::new(n).index(a, b) as u64;
    let say = |row: &[i32; 4]| {
        let [i, j, k, l] = row.map(|id| id as usize);
        let (near, far) = (pair(i, j) * n as u64, pair(k, l) * n as u64);
        [(far, j, i, 1), (far, i, j, 1), (near, l, k, -1), (near, k, l, -1)].map(|(pair, r, item, sign)| Said {
            context: pair + r as u64,
            item: item as u32,
            sign,
        })
    };
    let n_contexts = (condensed_len(n) as u64).saturating_mul(n as u64);
    Ok(sum_products(quadruplets, n_contexts, say, monitor)?.kernel)
}

/// An unnormalized kernel, and for each leaf the number of contexts (in MulK3: pairs {k, l}) with an answer about the
/// leaf.
pub(super) struct Found {
    pub(super) kernel: Kernel,
    pub(super) answered: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(rows: &[[i32; 3]], weights: Option<&[f64]>, n: usize) -> (Kernel, Vec<u64>) {
        let mut x = vec![vec![0.0; n * n]; n];
        let mut seen = vec![vec![false; n * n]; n];
        for (at, &[i, k, l]) in rows.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[at]);
            let (low, high) = (k.min(l) as usize, k.max(l) as usize);
            x[i as usize][low * n + high] += if k < l { weight } else { -weight };
            seen[i as usize][low * n + high] |= weight > 0.0;
        }
        let dot = |i: usize, j: usize| (0..n * n).map(|at| x[i][at] * x[j][at]).sum::<f64>();
        let mut pairs = Vec::new();
        for i in 0..n {
            pairs.extend((i + 1..n).map(|j| dot(i, j)));
        }
        let diagonal = (0..n).map(|i| dot(i, i)).collect();
        let answered = seen.iter().map(|seen| seen.iter().filter(|&&yes| yes).count() as u64).collect();
        (Kernel { pairs, diagonal }, answered)
    }

    fn triplets(n: i32) -> impl Strategy<Value = Vec<[i32; 3]>> {
        let row = (0..n, 0..n, 0..n).prop_filter("distinct", |&(a, b, c)| a != b && a != c && b != c);
        proptest::collection::vec(row.prop_map(|(a, b, c)| [a, b, c]), 1..80)
    }

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]

        #[test]
        fn mulk3_is_its_definition(rows in triplets(6), weighted: bool, repeats in 1usize..3) {
            let rows: Vec<[i32; 3]> = (0..repeats).flat_map(|_| rows.clone()).collect();
            let weights: Vec<f64> = (0..rows.len()).map(|at| (at % 4) as f64 / 2.0).collect();
            let weights = weighted.then_some(weights.as_slice());
            let (raw, answered) = naive(&rows, weights, 6);
            let mut data = Comparisons::<3>::new(rows.as_slice(), Some(6)).unwrap();
            if let Some(weights) = weights {
                data = data.with_weights(weights).unwrap();
            }
            let found = mulk3(&data, Normalization::Raw, None).unwrap();
            prop_assert!(close(&found.pairs, &raw.pairs) && close(&found.diagonal, &raw.diagonal));
            let normal = mulk3(&data, Normalization::ByAnswers, None).unwrap();
            for i in 0..6 {
                for j in i + 1..6 {
                    let at = Triangle::new(6).index(i, j);
                    let c = (answered[i] * answered[j]) as f64;
                    let expected = if c == 0.0 { 0.0 } else { raw.pairs[at] / c.sqrt() };
                    prop_assert!((normal.pairs[at] - expected).abs() < 1e-9);
                }
            }
        }

        #[test]
        fn dense_and_sparse_agree(rows in triplets(5), repeats in 1usize..140) {
            let rows: Vec<[i32; 3]> = (0..repeats).flat_map(|_| rows.clone()).collect();
            let data = Comparisons::<3>::new(rows.as_slice(), Some(5)).unwrap();
            let (raw, answered) = naive(&rows, None, 5);
            if let Some(found) = dense_kernel::of_counts(&data, &Monitor::new()).unwrap() {
                prop_assert_eq!(&found.kernel, &raw);
                prop_assert_eq!(found.answered, answered);
            }
        }
    }
}
