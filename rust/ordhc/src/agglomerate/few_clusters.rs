//! The largest similarities between few clusters, in one pass over the matrix of leaves.

use std::sync::Mutex;

use fearless_simd::f64x8;
use fearless_simd::prelude::*;

use super::few_square::LANES;
use super::matrix::Matrix;
use super::rounds::{next, threads};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::Triangle;

/// As many parts of the rows as threads take in turns.
const PARTS: usize = 64;

/// The largest similarity of a pair of leaves of every two clusters, condensed. `of` says by leaf which of `k`
/// clusters it is in.
pub(super) fn largest_between(matrix: &Matrix<'_>, of: &[usize], k: usize, monitor: &Monitor) -> Result<Vec<f64>> {
    entered!(few_clusters);
    let n = matrix.n_leaves();
    // Leaves of a cluster one after the other: they share what has to be exceeded.
    let mut leaves: Vec<usize> = (0..n).collect();
    leaves.sort_by_key(|&leaf| of[leaf]);
    let queue = Mutex::new(leaves.chunks(n.div_ceil(PARTS).max(1)).collect::<Vec<_>>().into_iter());
    let found = parallel::map(threads(n), |_| {
        let mut search = Search { of, k, largest: vec![f64::NEG_INFINITY; k * k], bars: vec![0.0; n], bars_of: k };
        let mut scratch = vec![0.0; n];
        while let Some(leaves) = next(&queue) {
            search.bars_of = k;
            for &i in leaves {
                search.add(i, matrix.row_after(i, &mut scratch));
            }
            monitor.advance(0)?;
        }
        Ok(search.largest)
    });
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let larger = |x: f64, y: f64| if y > x { y } else { x };
    let mut condensed = vec![f64::NEG_INFINITY; Triangle::new(k).n_pairs()];
    for largest in &found {
        let mut at = condensed.iter_mut();
        for a in 0..k {
            for b in a + 1..k {
                if let Some(x) = at.next() {
                    *x = larger(*x, larger(largest[a * k + b], largest[b * k + a]));
                }
            }
        }
    }
    Ok(condensed)
}

struct Search<'a> {
    of: &'a [usize],
    k: usize,
    /// (k, k), by the cluster of the earlier leaf and that of the later one.
    largest: Vec<f64>,
    /// By leaf: at most what its cluster has with the one whose rows pass by.
    bars: Vec<f64>,
    bars_of: usize,
}

impl Search<'_> {
    /// Looks at the similarities of leaf `i` with those after it. Of a cluster leaves come ascending.
    fn add(&mut self, i: usize, row: (&[f64], f64)) {
        wide!(simd => self.add_row(simd, i, row));
    }

    #[inline(always)]
    fn add_row<S: Simd>(&mut self, simd: S, i: usize, (row, sign): (&[f64], f64)) {
        let Self { of, k, largest, bars, bars_of } = self;
        let largest = &mut largest[of[i] * *k..][..*k];
        let (of_later, bars) = (&of[i + 1..], &mut bars[i + 1..]);
        if *bars_of != of[i] {
            *bars_of = of[i];
            for (bar, &other) in bars.iter_mut().zip(of_later) {
                *bar = if other == of[i] { f64::INFINITY } else { largest[other] };
            }
        }
        let mut exceed = |x: f64, bar: &mut f64, other: usize| {
            let best = &mut largest[other];
            *best = if x > *best { x } else { *best };
            *bar = *best;
        };
        let (chunks, rest) = row.as_chunks::<LANES>();
        let (bar_chunks, bar_rest) = bars.as_chunks_mut::<LANES>();
        let (of_chunks, of_rest) = of_later.as_chunks::<LANES>();
        let signs = f64x8::splat(simd, sign);
        for ((values, bars), others) in chunks.iter().zip(bar_chunks).zip(of_chunks) {
            let similarities = signs * f64x8::load_array_ref(simd, values);
            let mut lanes = similarities.simd_gt(f64x8::load_array_ref(simd, bars)).to_bitmask();
            while lanes != 0 {
                let at = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                exceed(sign * values[at], &mut bars[at], others[at]);
            }
        }
        for ((&x, bar), &other) in rest.iter().zip(bar_rest).zip(of_rest) {
            if sign * x > *bar {
                exceed(sign * x, bar, other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::{Layout, Values};
    use crate::kind::Kind;
    use crate::testkit::below;

    proptest! {
        #[test]
        fn the_largest_of_all_pairs_is_found(n in 2..90usize, k in 1..9usize, kinds in 1..50u64, seed: u64, dissimilarity: bool) {
            let mut random = below(seed);
            let k = k.min(n);
            let mut of: Vec<usize> = (0..n).map(|leaf| if leaf < k { leaf } else { random(k as u64) as usize }).collect();
            of.reverse();
            let values: Vec<f64> = (0..n * (n - 1) / 2).map(|_| random(kinds) as f64 - 9.0).collect();
            let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::of(dissimilarity)).unwrap();
            let mut expected = vec![f64::NEG_INFINITY; k * (k - 1) / 2];
            for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).filter(|&(i, j)| of[i] != of[j]) {
                let at = Triangle::new(k).index(of[i].min(of[j]), of[i].max(of[j]));
                expected[at] = expected[at].max(matrix.similarity(i as u32, j as u32));
            }
            prop_assert_eq!(largest_between(&matrix, &of, k, &Monitor::new()).unwrap(), expected);
        }
    }
}
