//! AddS3 and AddS4: each comparison adds to the similarity of the closer pair, and subtracts from the similarity of the
//! farther pair.

use super::condensed::condensed_len;
use super::triangle::Triangle;
use crate::comparison::{Comparisons, LeafRows};
use crate::error::{Error, Result, check_len};
use crate::monitor::Monitor;
use crate::numbers::Cell;
use crate::parallel;

/// Adds the AddS similarities of comparisons to a condensed vector (the n(n-1)/2 pairs of leaves, as in SciPy). For
/// each comparison, its weight is added to the closer pair in `out`, and subtracted from the farther pair.
///
/// For triplets, this is AddS3: `s_ij = sum_k x(i;j,k) + x(j;i,k)`. For quadruplets, this is AddS4 (Mandal, Perrot &
/// Ghoshdastidar, "A revenue function for comparison-based hierarchical clustering", Theorem 1). `out` contains zeros,
/// or the sums of earlier comparisons. The time is linear in the number of comparisons. The result does not depend on
/// the number of threads.
///
/// # Errors
/// A wrong length of `out`; weights with an integer `T`; more comparisons than `T` can count; [`Error::Interrupted`].
///
/// ```
/// use ordhc::{Triplets, similarity::adds};
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2], [2, 1, 0]], None)?;
/// let mut pairs = vec![0i32; 3]; // (0,1), (0,2), (1,2)
/// adds(&triplets, &mut pairs, None)?;
/// assert_eq!(pairs, [2, -2, 0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn adds<T: Cell, const K: usize>(
    comparisons: &Comparisons<'_, K>,
    out: &mut [T],
    monitor: Option<&Monitor>,
) -> Result<()> {
    watched!(monitor);
    let n = comparisons.n_leaves();
    check_len("values", out.len(), "pairs of leaves", condensed_len(n))?;
    if comparisons.len() as u64 > T::MOST {
        return Err(Error::out_of_range(
            "the number of comparisons",
            comparisons.len(),
            format!("0..={} (with more, a sum could overflow)", T::MOST),
        ));
    }
    let weights: Option<Vec<T>> = match comparisons.weights() {
        None => None,
        Some(weights) => Some(weights.iter().map(|&w| T::from_weight(w)).collect::<Option<_>>().ok_or_else(|| {
            Error::Argument("similarities of weighted comparisons need a floating-point type, not integers".into())
        })?),
    };
    let starts: Vec<usize> = (0..n).map(|i| Triangle::new(n).base(i)).collect();
    monitor.start(comparisons.len() as u64);
    let work = Work { rows: comparisons.rows(), weights: weights.as_deref(), starts: &starts };
    if std::mem::size_of_val(out) > BUCKETED_FROM && comparisons.len() > out.len() / 256 {
        work.bucketed(out, monitor)
    } else if weights.is_some() || comparisons.len() < out.len() {
        work.direct(0..comparisons.len(), out, monitor)
    } else {
        work.private_copies(out, monitor)
    }
}

/// If the condensed vector has more bytes than this limit, it does not fit into a core's cache. The additions are then
/// first sorted into buckets (ranges of the vector).
const BUCKETED_FROM: usize = 16 << 20;
/// Number of comparisons between two progress reports.
const BLOCK: usize = 1 << 16;
/// Number of entries of the condensed vector in a bucket (a range of the vector). A power of two.
pub const BUCKET: usize = 1 << 17;
/// Number of comparisons that are sorted into buckets (ranges of the vector) at a time.
const BATCH: usize = 1 << 23;

struct Work<'a, T, const K: usize> {
    rows: &'a LeafRows<'a, K>,
    weights: Option<&'a [T]>,
    starts: &'a [usize],
}

impl<T: Cell, const K: usize> Work<'_, T, K> {
    #[inline(always)]
    fn cell(&self, pair: [usize; 2]) -> usize {
        let (low, high) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        self.starts[low].wrapping_add(high)
    }

    /// Adds comparison by comparison, in the order of the rows.
    fn direct(&self, range: std::ops::Range<usize>, out: &mut [T], monitor: &Monitor) -> Result<()> {
        entered!(adds_direct);
        for start in range.clone().step_by(BLOCK) {
            let block = start..(start + BLOCK).min(range.end);
            match self.weights {
                None => {
                    self.rows.each(block.clone(), |_, row| {
                        let (near, far) = Comparisons::pairs(row);
                        out[self.cell(near)] += T::ONE;
                        out[self.cell(far)] -= T::ONE;
                    });
                }
                Some(weights) => {
                    self.rows.each_weighted(block.clone(), weights, |row, weight| {
                        let (near, far) = Comparisons::pairs(row);
                        out[self.cell(near)] += weight;
                        out[self.cell(far)] -= weight;
                    });
                }
            }
            monitor.advance(block.len() as u64)?;
        }
        Ok(())
    }

    /// Counts the comparisons in a separate copy of `out` for each thread, then adds the copies to `out`. Counts are
    /// exact, so the order of additions does not matter.
    fn private_copies(&self, out: &mut [T], monitor: &Monitor) -> Result<()> {
        entered!(adds_private_copies);
        let parts = parallel::ranges(self.rows.len(), 1 << 16);
        let copies = parallel::map(parts, |part| {
            let mut copy = vec![T::default(); out.len()];
            self.direct(part, &mut copy, monitor).map(|()| copy)
        });
        for copy in copies {
            for (cell, more) in out.iter_mut().zip(copy?) {
                *cell += more;
            }
        }
        Ok(())
    }

    /// Sorts the additions by bucket (a range of `out`), then makes them bucket by bucket. So random access stays
    /// within a cache. The sort is stable, so each entry of `out` receives its additions in the order of the rows.
    fn bucketed(&self, out: &mut [T], monitor: &Monitor) -> Result<()> {
        entered!(adds_bucketed);
        for start in (0..self.rows.len()).step_by(BATCH) {
            let batch = (self.rows.len() - start).min(BATCH);
            let parts = parallel::ranges(batch, 1 << 14);
            let sorted = parallel::map(parts, |part| {
                self.sort(start + part.start..start + part.end, out.len().div_ceil(BUCKET))
            });
            add_buckets(&sorted.iter().map(Additions::view).collect::<Vec<_>>(), out);
            monitor.advance(batch as u64)?;
        }
        Ok(())
    }

    fn sort(&self, range: std::ops::Range<usize>, n_buckets: usize) -> Additions<T> {
        let mut ends = vec![0usize; n_buckets + 1];
        self.rows.each(range.clone(), |_, row| {
            let (near, far) = Comparisons::pairs(row);
            ends[self.cell(near) / BUCKET + 1] += 1;
            ends[self.cell(far) / BUCKET + 1] += 1;
        });
        for bucket in 0..n_buckets {
            ends[bucket + 1] += ends[bucket];
        }
        let starts = ends.clone();
        let mut codes = vec![0u32; 2 * range.len()];
        let mut weights = vec![T::default(); if self.weights.is_some() { codes.len() } else { 0 }];
        self.rows.each(range, |at, row| {
            let (near, far) = Comparisons::pairs(row);
            for (pair, minus) in [(near, 0), (far, 1)] {
                let cell = self.cell(pair);
                let place = &mut ends[cell / BUCKET];
                codes[*place] = ((cell % BUCKET) as u32) << 1 | minus;
                if let Some(all) = self.weights {
                    weights[*place] = all[at];
                }
                *place += 1;
            }
        });
        Additions { starts, codes, weights }
    }
}

/// Additions to a condensed vector, sorted by bucket (a range of [`BUCKET`] entries of the vector).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Additions<T> {
    /// The index in `codes` of the first addition of each bucket, and the length of `codes`.
    pub starts: Vec<usize>,
    /// Twice the index of an entry within its bucket, plus 1 if the weight is subtracted instead of added.
    pub codes: Vec<u32>,
    /// The weight of each addition. Without weights, it is empty, and all weights are 1.
    pub weights: Vec<T>,
}

/// Additions to a part of a condensed vector, sorted by bucket (a range of entries of the vector). The arrays are
/// borrowed, for example from [`Additions`]. The part consists of consecutive buckets.
#[derive(Debug, Clone, Copy)]
pub struct AdditionsView<'a, T> {
    /// The start of each bucket, and the end of the last bucket. `codes` begins at the start of the first bucket, so
    /// bucket k begins at `codes[starts[k] - starts[0]]`.
    pub starts: &'a [usize],
    /// The codes of these buckets, see [`Additions::codes`].
    pub codes: &'a [u32],
    /// The weights of these buckets, see [`Additions::weights`].
    pub weights: &'a [T],
}

impl<T> Additions<T> {
    /// Returns all buckets.
    pub fn view(&self) -> AdditionsView<'_, T> {
        AdditionsView { starts: &self.starts, codes: &self.codes, weights: &self.weights }
    }
}

impl<T: Cell> AdditionsView<'_, T> {
    fn check(&self, len: usize) -> Result<()> {
        let n_buckets = len.div_ceil(BUCKET);
        check_len("starts", self.starts.len(), "buckets and an end", n_buckets + 1)?;
        if !self.starts.is_sorted() {
            return Err(Error::Argument("the starts of the buckets must be in ascending order".into()));
        }
        check_len("codes", self.codes.len(), "additions", self.starts[n_buckets] - self.starts[0])?;
        if !self.weights.is_empty() {
            check_len("weights", self.weights.len(), "additions", self.codes.len())?;
        }
        for bucket in 0..n_buckets {
            let cells = BUCKET.min(len - bucket * BUCKET);
            if let Some(code) = self.codes[self.range(bucket)].iter().find(|&&code| (code >> 1) as usize >= cells) {
                return Err(Error::out_of_range(
                    "the entry of an addition",
                    (code >> 1) as usize,
                    format!("0..{cells}"),
                ));
            }
        }
        Ok(())
    }

    fn range(&self, bucket: usize) -> std::ops::Range<usize> {
        self.starts[bucket] - self.starts[0]..self.starts[bucket + 1] - self.starts[0]
    }

    fn add(&self, bucket: usize, cells: &mut [T]) {
        let range = self.range(bucket);
        let mut add = |code: u32, weight: T| {
            let cell = &mut cells[(code >> 1) as usize];
            if code & 1 == 0 {
                *cell += weight;
            } else {
                *cell -= weight;
            }
        };
        if self.weights.is_empty() {
            for &code in &self.codes[range] {
                add(code, T::ONE);
            }
        } else {
            for (&code, &weight) in self.codes[range.clone()].iter().zip(&self.weights[range]) {
                add(code, weight);
            }
        }
    }
}

/// Returns the additions that [`adds`] makes for comparisons, sorted by bucket. Within a bucket they are in the order
/// of the rows.
///
/// # Errors
/// [`Error::Interrupted`].
///
/// ```
/// use ordhc::bindings::{add_sorted, sorted_additions};
/// use ordhc::Triplets;
///
/// let rows = [vec![[0, 1, 2], [1, 0, 2]], vec![[2, 1, 0]]];
/// let sorted = rows.map(|rows| sorted_additions(&Triplets::new(rows, Some(3)).unwrap(), None).unwrap());
/// let mut pairs = vec![0f64; 3]; // (0,1), (0,2), (1,2)
/// add_sorted(&[sorted[0].view(), sorted[1].view()], &mut pairs)?;
/// assert_eq!(pairs, [2.0, -2.0, 0.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn sorted_additions<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    monitor: Option<&Monitor>,
) -> Result<Additions<f64>> {
    entered!(adds_sorted);
    watched!(monitor);
    let n = comparisons.n_leaves();
    let starts: Vec<usize> = (0..n).map(|i| Triangle::new(n).base(i)).collect();
    let work = Work { rows: comparisons.rows(), weights: comparisons.weights(), starts: &starts };
    let sorted = work.sort(0..comparisons.len(), condensed_len(n).div_ceil(BUCKET));
    monitor.advance(comparisons.len() as u64)?;
    Ok(sorted)
}

/// Makes additions that are sorted by bucket. All parts have the same buckets, and `out` is the range of the condensed
/// vector that consists of these buckets. Each entry of `out` receives its additions in the order of the parts.
///
/// # Errors
/// A part does not have the buckets of `out`, or adds to an entry outside of `out`.
pub fn add_sorted<T: Cell>(parts: &[AdditionsView<'_, T>], out: &mut [T]) -> Result<()> {
    parts.iter().try_for_each(|part| part.check(out.len()))?;
    add_buckets(parts, out);
    Ok(())
}

fn add_buckets<T: Cell>(parts: &[AdditionsView<'_, T>], out: &mut [T]) {
    let len = out.len();
    let groups = parallel::ranges(len.div_ceil(BUCKET), 1);
    parallel::map(parallel::with_parts(groups, out, |end| len.min(end * BUCKET)), |(group, cells)| {
        for (bucket, cells) in group.zip(cells.chunks_mut(BUCKET)) {
            for part in parts {
                part.add(bucket, cells);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::comparison::{Quadruplets, Triplets};

    fn naive<const K: usize>(comparisons: &Comparisons<'_, K>) -> Vec<f64> {
        let n = comparisons.n_leaves();
        let mut sums: HashMap<(usize, usize), f64> = HashMap::new();
        for (at, row) in comparisons.rows().iter().enumerate() {
            let weight = comparisons.weights().map_or(1.0, |w| w[at]);
            let (near, far) = Comparisons::<K>::pairs(&row);
            for (pair, sign) in [(near, 1.0), (far, -1.0)] {
                *sums.entry((pair[0].min(pair[1]), pair[0].max(pair[1]))).or_default() += sign * weight;
            }
        }
        (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .map(|pair| sums.get(&pair).copied().unwrap_or(0.0))
            .collect()
    }

    fn triplet_rows() -> impl Strategy<Value = Vec<[i32; 3]>> {
        let row = (0i32..9, 0i32..9, 0i32..9)
            .prop_filter_map("distinct", |(i, j, k)| (i != j && i != k && j != k).then_some([i, j, k]));
        prop::collection::vec(row, 0..60)
    }

    proptest! {
        #[test]
        fn every_path_equals_the_formula(rows in triplet_rows(), weighted: bool) {
            let mut triplets = Triplets::new(rows.clone(), Some(9)).unwrap();
            if weighted {
                let weights: Vec<f64> = (0..rows.len()).map(|k| k as f64 * 0.3).collect();
                triplets = triplets.with_weights(weights).unwrap();
            }
            let expected = naive(&triplets);
            let monitor = Monitor::new();
            let mut out = vec![0f64; 36];
            adds(&triplets, &mut out, Some(&monitor)).unwrap();
            prop_assert_eq!(&out, &expected);

            let starts: Vec<usize> = (0..9).map(|i| Triangle::new(9).base(i)).collect();
            let work = Work { rows: triplets.rows(), weights: triplets.weights(), starts: &starts };
            let mut out = vec![0f64; 36];
            work.bucketed(&mut out, &monitor).unwrap();
            prop_assert_eq!(&out, &expected);

            let halves = [0..rows.len() / 2, rows.len() / 2..rows.len()].map(|range| {
                let half = Triplets::new(rows[range.clone()].to_vec(), Some(9)).unwrap();
                let weights = triplets.weights().map(|all| all[range].to_vec());
                sorted_additions(&if let Some(own) = weights { half.with_weights(own).unwrap() } else { half }, None).unwrap()
            });
            let mut out = vec![0f64; 36];
            add_sorted(&[halves[0].view(), halves[1].view()], &mut out).unwrap();
            prop_assert_eq!(&out, &expected);
            if !weighted {
                let mut out = vec![0f64; 36];
                work.private_copies(&mut out, &monitor).unwrap();
                prop_assert_eq!(&out, &expected);
                let mut out = vec![0i32; 36];
                adds(&triplets, &mut out, Some(&monitor)).unwrap();
                prop_assert_eq!(out.into_iter().map(f64::from).collect::<Vec<_>>(), expected);
            }
        }

        #[test]
        fn triplets_are_quadruplets(rows in triplet_rows()) {
            let quadruplets: Vec<[i32; 4]> = rows.iter().map(|&[i, j, k]| [i, j, i, k]).collect();
            let monitor = Monitor::new();
            let (mut three, mut four) = (vec![0i64; 36], vec![0i64; 36]);
            adds(&Triplets::new(rows, Some(9)).unwrap(), &mut three, Some(&monitor)).unwrap();
            adds(&Quadruplets::new(quadruplets, Some(9)).unwrap(), &mut four, Some(&monitor)).unwrap();
            prop_assert_eq!(three, four);
        }
    }

    #[test]
    fn many_buckets_and_threads() {
        let n = 3000; // 4.5 million cells: 35 buckets, 36 MB of f64
        let row = |k: usize| {
            let (i, j, l) = (k * 7919 % n, (k * 104_729 + 1) % n, (k * 1_299_709 + 2) % n);
            (i != j && i != l && j != l).then_some([i as i32, j as i32, l as i32])
        };
        let rows: Vec<[i32; 3]> = (0..200_000).filter_map(row).collect();
        let weights: Vec<f64> = (0..rows.len()).map(|k| 0.1 * (k % 17) as f64).collect();
        let triplets = Triplets::new(rows, Some(n)).unwrap().with_weights(weights).unwrap();
        let mut out = vec![0f64; condensed_len(n)];
        adds(&triplets, &mut out, None).unwrap();
        assert_eq!(out, naive(&triplets));

        // Two ranges of buckets, as two processes add them.
        let sorted = sorted_additions(&triplets, None).unwrap();
        let mut parts = vec![0f64; condensed_len(n)];
        let (low, high) = parts.split_at_mut(9 * BUCKET);
        for (buckets, out) in [(0..10, low), (9..sorted.starts.len(), high)] {
            let starts = &sorted.starts[buckets];
            let own = starts[0]..starts[starts.len() - 1];
            let part = AdditionsView { starts, codes: &sorted.codes[own.clone()], weights: &sorted.weights[own] };
            add_sorted(&[part], out).unwrap();
        }
        assert_eq!(parts, out);
    }

    #[test]
    fn damaged_additions_are_errors() {
        let wrong = |starts: &[usize], codes: &[u32], weights: &[f64]| {
            add_sorted(&[AdditionsView { starts, codes, weights }], &mut [0f64; 3]).is_err()
        };
        assert!(!wrong(&[7, 9], &[4, 1], &[]));
        assert!(wrong(&[7, 9], &[6, 1], &[]), "entry 3 of 3");
        assert!(wrong(&[7, 9], &[4], &[]) && wrong(&[9, 7], &[4, 1], &[]) && wrong(&[0, 1, 2], &[4, 1], &[]));
        assert!(wrong(&[0, 2], &[4, 1], &[1.0]));
    }

    #[test]
    fn limits_are_errors() {
        let triplets = Triplets::new(vec![[0, 1, 2]], None).unwrap();
        assert!(adds(&triplets, &mut [0i32; 2], None).is_err());
        let weighted = triplets.clone().with_weights(vec![0.5]).unwrap();
        assert!(adds(&weighted, &mut [0i32; 3], None).is_err());
        let monitor = Monitor::new();
        monitor.cancel();
        assert_eq!(adds(&triplets, &mut [0i32; 3], Some(&monitor)), Err(Error::Interrupted));
    }
}
