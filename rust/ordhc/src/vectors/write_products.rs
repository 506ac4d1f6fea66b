//! Products of matrices as pairs, condensed.

use std::ops::Range;

use super::dense_rows::Coordinates;
use crate::error::{Error, Result};
use crate::numbers::{Cell, Held};
use crate::parallel;

/// What products of pairs of leaves are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct ProductSums {
    /// How many are below zero.
    pub n_negative: u64,
    /// The sum of their sizes.
    pub sum_negative: f64,
    /// The sum of the sizes of all.
    pub sum: f64,
    /// The least one below zero, or zero.
    pub least: f64,
}

/// Writes the products of some rows with all rows after each, condensed, given `own`, their products with each other (a
/// square), and `rest`, those with the rows after them. Both are multiplied with `scale`, in their own precision.
///
/// Nothing comes back if a product is not finite.
///
/// # Errors
/// Other lengths, or an integer `T`.
///
/// ```
/// use ordhc::vectors::write_products;
///
/// // Of three rows the products of the first two, with each other and with the third.
/// let mut pairs = [0.0; 3];
/// let sums = write_products((&[1.0, 2.0, 2.0, 5.0]).into(), (&[-1.0, 4.0]).into(), 10.0, &mut pairs)?;
/// assert_eq!(pairs, [20.0, -10.0, 40.0]);
/// assert_eq!(sums.map(|sums| (sums.n_negative, sums.sum)), Some((1, 70.0)));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn write_products<T: Cell>(
    own: Coordinates<'_>,
    rest: Coordinates<'_>,
    scale: f64,
    out: &mut [T],
) -> Result<Option<ProductSums>> {
    match (own, rest) {
        (Coordinates::F64(own), Coordinates::F64(rest)) => Products::new(own, rest)?.write(scale, out),
        (Coordinates::F32(own), Coordinates::F32(rest)) => Products::new(own, rest)?.write(scale as f32, out),
        _ => Err(Error::Argument("products of one precision are needed".into())),
    }
}

/// So many products for each thread.
const GRAIN: usize = 1 << 18;
const LANES: usize = 8;

struct Products<'a, V> {
    own: &'a [V],
    rest: &'a [V],
    n_rows: usize,
    n_rest: usize,
}

impl<'a, V: Held + std::ops::Mul<Output = V>> Products<'a, V> {
    fn new(own: &'a [V], rest: &'a [V]) -> Result<Self> {
        let n_rows = own.len().isqrt();
        let n_rest = rest.len() / n_rows.max(1);
        if n_rows * n_rows != own.len() || n_rest * n_rows != rest.len() {
            return Err(Error::Argument(format!(
                "{} and {} products are none of the same rows with each other and with others",
                own.len(),
                rest.len()
            )));
        }
        Ok(Self { own, rest, n_rows, n_rest })
    }

    /// How many pairs are written for the rows before one.
    fn before(&self, row: usize) -> usize {
        row * (self.n_rows + self.n_rest).saturating_sub(1) - row * row.saturating_sub(1) / 2
    }

    fn write<T: Cell>(&self, scale: V, out: &mut [T]) -> Result<Option<ProductSums>> {
        let expected = self.n_rows * self.n_rest + self.n_rows * self.n_rows.saturating_sub(1) / 2;
        if out.len() != expected {
            return Err(Error::Length { what: "values", found: out.len(), of: "pairs of leaves", expected });
        }
        if T::from_weight(0.5).is_none() {
            return Err(Error::Argument("dot products need a floating-point similarity".into()));
        }
        let parts = parallel::ranges(self.n_rows, (GRAIN / (self.n_rows + self.n_rest).max(1)).max(1));
        let ends: Vec<usize> = parts.iter().map(|part| self.before(part.end)).collect();
        let work = parts.into_iter().zip(parallel::split_at_ends(out, &ends)).collect();
        let found = parallel::map(work, |(part, out)| self.write_rows(part, scale, out));
        // Row by row, whatever the threads.
        let mut sums = ProductSums::default();
        for row in found.into_iter().flatten() {
            let Some(row) = row else { return Ok(None) };
            sums.n_negative += row.n_negative;
            sums.sum_negative += row.sum_negative;
            sums.sum += row.sum;
            sums.least = sums.least.min(row.least);
        }
        Ok(Some(sums))
    }

    fn write_rows<T: Cell>(&self, rows: Range<usize>, scale: V, out: &mut [T]) -> Vec<Option<ProductSums>> {
        let mut out = out;
        rows.map(|row| {
            let own = &self.own[row * self.n_rows..(row + 1) * self.n_rows];
            let mut sums = ProductSums::default();
            let mut all_finite = (own[row] * scale).float().is_finite();
            for values in [&own[row + 1..], &self.rest[row * self.n_rest..(row + 1) * self.n_rest]] {
                let (here, others) = std::mem::take(&mut out).split_at_mut(values.len());
                all_finite &= write_row(values, scale, here, &mut sums);
                out = others;
            }
            all_finite.then_some(sums)
        })
        .collect()
    }
}

/// Writes products, and adds them up; whether all are finite.
fn write_row<V: Held + std::ops::Mul<Output = V>, T: Cell>(
    values: &[V],
    scale: V,
    out: &mut [T],
    sums: &mut ProductSums,
) -> bool {
    let mut sizes = [0.0; LANES];
    let mut below = [0.0; LANES];
    let mut count = [0.0; LANES];
    let mut least = [0.0; LANES];
    // Not a number where one isn't finite.
    let mut zeros = [0.0; LANES];
    for (values, out) in values.chunks(LANES).zip(out.chunks_mut(LANES)) {
        let mut some = [0.0; LANES];
        for (x, &value) in some.iter_mut().zip(values) {
            *x = (value * scale).float();
        }
        for (out, &x) in out.iter_mut().zip(&some) {
            *out = T::from_weight(x).unwrap_or_default();
        }
        for (lane, &x) in some.iter().enumerate() {
            sizes[lane] += x.abs();
            below[lane] += if x < 0.0 { -x } else { 0.0 };
            count[lane] += if x < 0.0 { 1.0 } else { 0.0 };
            least[lane] = if x < least[lane] { x } else { least[lane] };
            zeros[lane] += x * 0.0;
        }
    }
    sums.sum += sizes.iter().sum::<f64>();
    sums.sum_negative += below.iter().sum::<f64>();
    sums.n_negative += count.iter().sum::<f64>() as u64;
    sums.least = least.iter().copied().fold(sums.least, f64::min);
    zeros.iter().sum::<f64>() == 0.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testkit::below;

    proptest! {
        #[test]
        fn pairs_are_those_of_the_matrix(n in 1..60usize, n_rows in 1..60usize, seed: u64, bad: bool) {
            let n_rows = n_rows.min(n);
            let mut random = below(seed);
            let mut value = || random(2001) as f64 - 900.0;
            let mut matrix: Vec<f64> = (0..n * n).map(|_| value()).collect();
            if bad {
                matrix[(seed % (n_rows * n) as u64) as usize] = f64::NAN;
            }
            let rows = |from: usize, to: usize| -> Vec<f64> {
                (0..n_rows).flat_map(|row| matrix[row * n + from..row * n + to].to_vec()).collect()
            };
            let (own, rest) = (rows(0, n_rows), rows(n_rows, n));
            let expected: Vec<f64> =
                (0..n_rows).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| 0.5 * matrix[i * n + j]).collect();
            let mut out = vec![0.0; expected.len()];
            let sums = write_products((&own).into(), (&rest).into(), 0.5, &mut out).unwrap();
            let looked_at: Vec<f64> = (0..n_rows).flat_map(|i| matrix[i * n + i..(i + 1) * n].to_vec()).collect();
            prop_assert_eq!(sums.is_some(), looked_at.iter().all(|x| x.is_finite()));
            if let Some(sums) = sums {
                prop_assert_eq!(&out, &expected);
                let negative: Vec<f64> = expected.iter().copied().filter(|&x| x < 0.0).collect();
                prop_assert_eq!(sums.n_negative, negative.len() as u64);
                prop_assert_eq!(sums.sum_negative, -negative.iter().sum::<f64>() + 0.0);
                prop_assert_eq!(sums.sum, expected.iter().map(|x| x.abs()).sum::<f64>());
                prop_assert_eq!(sums.least, negative.iter().copied().fold(0.0, f64::min));
                let narrow = |values: &[f64]| -> Vec<f32> { values.iter().map(|&x| x as f32).collect() };
                let mut out = vec![0f32; expected.len()];
                let other = write_products((&narrow(&own)).into(), (&narrow(&rest)).into(), 0.5, &mut out).unwrap();
                prop_assert_eq!((other, out), (Some(sums), narrow(&expected)));
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let error = |own: &[f64], rest: &[f64], len: usize| {
            write_products(own.into(), rest.into(), 1.0, &mut vec![0.0; len]).unwrap_err().to_string()
        };
        assert!(error(&[1.0; 3], &[], 0).starts_with("3 and 0 products are none"));
        assert!(error(&[1.0; 4], &[1.0; 3], 3).starts_with("4 and 3 products are none"));
        assert_eq!(error(&[1.0; 4], &[1.0; 2], 2), "2 values for 3 pairs of leaves");
        let whole = write_products((&[1.0; 4]).into(), (&[1.0; 2]).into(), 1.0, &mut [0i32; 3]);
        assert_eq!(whole.unwrap_err().to_string(), "dot products need a floating-point similarity");
    }
}
