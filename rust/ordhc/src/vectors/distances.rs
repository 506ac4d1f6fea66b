//! The distances or similarities of all pairs of vectors.

use super::closeness::{Closeness, Dot, Euclidean, Manhattan, Measure, SquaredEuclidean};
use super::dense_rows::Vectors;
use super::mean_dot::Unit;
use super::tiles::{LANES, Tiles};
use crate::error::{Error, Position, Result, check_len};
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::{Triangle, condensed_len};

/// The number of rows that are compared with a tile (a group of vectors) while the tile is in the cache.
const ROWS: usize = 32;

/// Writes the distance or similarity (`measure`) of each pair of vectors to `out`, a condensed matrix: (0, 1), (0, 2),
/// ..., (1, 2), ...
///
/// Each value is a sum over the coordinates in order. So distances lose no digits by cancellation, and equal vectors
/// have distance 0. The time is O(n^2 p). For hundreds of coordinates, a matrix product is faster.
///
/// # Errors
/// A length of `out` that differs from n (n - 1) / 2; values that overflow; not enough memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::bindings::distances;
/// use ordhc::vectors::{Measure, Vectors};
///
/// let vectors = Vectors::new(&[0.0, 0.0, 3.0, 4.0, 0.0, 1.0], 3, 2)?;
/// let mut out = [0.0; 3];
/// distances(&vectors, Measure::SquaredEuclidean, &mut out, None)?;
/// assert_eq!(out, [25.0, 1.0, 18.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn distances(vectors: &Vectors<'_>, measure: Measure, out: &mut [f64], monitor: Option<&Monitor>) -> Result<()> {
    entered!(vectors_distances);
    watched!(monitor);
    let n = vectors.n_leaves();
    check_len("values", out.len(), "pairs of leaves", condensed_len(n))?;
    match measure {
        Measure::Euclidean => write::<Euclidean>(vectors, out, monitor),
        Measure::SquaredEuclidean => write::<SquaredEuclidean>(vectors, out, monitor),
        Measure::Manhattan => write::<Manhattan>(vectors, out, monitor),
        Measure::Dot => write::<Dot>(vectors, out, monitor),
    }?;
    let parts = parallel::map(parallel::ranges(out.len(), 1 << 18), |part| {
        let start = part.start;
        out[part].iter().position(|x| !x.is_finite()).map(|at| start + at)
    });
    let Some(at) = parts.into_iter().flatten().next() else { return Ok(()) };
    let (i, j) = Triangle::new(n).pair(at);
    let limit = "the vectors are too large: rescale them";
    Err(Error::BadValue { what: "the value", place: Position::Pair(i, j), value: out[at], limit })
}

fn write<C: Closeness>(vectors: &Vectors<'_>, out: &mut [f64], monitor: &Monitor) -> Result<()> {
    let n = vectors.n_leaves();
    let unit = Unit::below_one(vectors.largest());
    let mut tiles = Tiles::new(n, vectors.n_coordinates())?;
    (0..n).for_each(|leaf| tiles.set(leaf, vectors.row(leaf).map(|x| unit.shrink(x))));
    // `C::similarity` negates dissimilarities.
    let sign = if C::DISSIMILARITY { -1.0 } else { 1.0 };
    let factor = unit.grow(sign, C::DEGREE);
    let value = |sum: f64| match C::similarity(sum) {
        x if factor.is_normal() => x * factor,
        x => unit.grow(sign * x, C::DEGREE),
    };
    monitor.start(condensed_len(n) as u64);
    let firsts: Vec<usize> = (0..n).step_by(ROWS).collect();
    let end = |&first: &usize| Triangle::new(n).before((first + ROWS).min(n));
    let ends: Vec<usize> = firsts.iter().map(end).collect();
    let parts: Vec<_> = firsts.into_iter().zip(parallel::split_at_ends(out, &ends)).collect();
    let threads = parallel::ranges(condensed_len(n) * vectors.n_coordinates(), 1 << 20);
    parallel::share(threads, parts, |_, (first, mut out)| {
        let mut rows = Vec::with_capacity(ROWS);
        for i in first..(first + ROWS).min(n) {
            let (row, rest) = out.split_at_mut(n - i - 1);
            rows.push((i, tiles.row(i).collect::<Vec<f64>>(), row));
            out = rest;
        }
        wide!(for tile in first / LANES..tiles.n_tiles() {
            for (i, query, row) in &mut rows {
                let Some(sums) = tiles.sums(tile, query, C::add, |_| false) else { continue };
                let values: [f64; LANES] = sums.map(value);
                let (from, to) = ((*i + 1).max(tile * LANES), n.min((tile + 1) * LANES));
                if from < to {
                    row[from - *i - 1..to - *i - 1].copy_from_slice(&values[from - tile * LANES..to - tile * LANES]);
                }
            }
        });
        monitor.advance(rows.iter().map(|row| row.2.len() as u64).sum())
    })
    .map(drop)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_pair_by_pair((n, p, values) in (1..70usize, 0..20usize).prop_flat_map(|(n, p)| {
            (Just(n), Just(p), prop::collection::vec(-3.0..3.0f64, n * p))
        }), exponent in -900..900i32) {
            let scale = 2f64.powi(exponent / 2);
            let values: Vec<f64> = values.iter().map(|x| x * scale).collect();
            let vectors = Vectors::new(&values, n, p).unwrap();
            for (measure, degree) in [(Measure::Euclidean, 1), (Measure::SquaredEuclidean, 2), (Measure::Manhattan, 1),
                                      (Measure::Dot, 2)] {
                let mut out = vec![f64::NAN; n * (n - 1) / 2];
                distances(&vectors, measure, &mut out, None).unwrap();
                let mut out = out.into_iter();
                for i in 0..n {
                    for j in i + 1..n {
                        let pairs = (0..p).map(|k| (values[i * p + k] / scale, values[j * p + k] / scale));
                        let expected = match measure {
                            Measure::Euclidean => pairs.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt(),
                            Measure::SquaredEuclidean => pairs.map(|(x, y)| (x - y).powi(2)).sum(),
                            Measure::Manhattan => pairs.map(|(x, y)| (x - y).abs()).sum(),
                            Measure::Dot => pairs.map(|(x, y)| x * y).sum(),
                        };
                        let found = out.next().unwrap() / scale.powi(degree);
                        prop_assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{} {}", found, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_is_named() {
        let vectors = Vectors::new(&[1e200, 0.0, -1e200], 3, 1).unwrap();
        let message =
            |out: &mut [f64], measure| distances(&vectors, measure, out, None).map_err(|error| error.to_string());
        assert!(message(&mut [0.0; 2], Measure::Euclidean).unwrap_err().contains("2 values for 3 pairs"));
        assert!(message(&mut [0.0; 3], Measure::Euclidean).is_ok());
        let error = message(&mut [0.0; 3], Measure::SquaredEuclidean).unwrap_err();
        assert!(error.contains("[0, 1] is inf"), "{error}");
        let monitor = Monitor::new();
        monitor.cancel();
        let stopped = distances(&vectors, Measure::Euclidean, &mut [0.0; 3], Some(&monitor));
        assert_eq!(stopped, Err(Error::Interrupted));
    }
}
