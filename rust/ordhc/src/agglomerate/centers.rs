//! Centroid and median linkage. Similarities of clusters are computed from sums over pairs of leaves. The nearest pair
//! of clusters merges first.
//!
//! The similarity of clusters i and k is `t w_i w_k - g_i - g_k`. For centroid linkage, t is the sum of the
//! similarities between the leaves of both clusters, and w is one over the size of a cluster. For median linkage, t is
//! a weighted mean of these similarities, and w is 1. g is half the mean similarity within a cluster (0 for a leaf with
//! itself). t and g are sums of input values without cancellation. So errors don't grow from merge to merge, and sums
//! of integers are exact.

mod rows;

pub(super) use rows::Means;
use rows::{NONE, Rows, largest};

use fearless_simd::prelude::*;
use fearless_simd::{f64x8, u32x8};

use super::doubts::{Doubts, Form};
use super::matrix::Matrix;
use super::read::{LANES, stride};
use super::square::{FEW, written};
use super::threads::split;
use super::tolerance::{CELL, Tolerance, key, rounding};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::parallel;
use crate::precise::Precise;
use crate::tree::{Found, RawMerge};

pub(super) fn merges(matrix: &Matrix<'_>, means: Means, monitor: &Monitor) -> Result<Found> {
    entered!(centers);
    let n = matrix.n_leaves();
    monitor.start((n * n / 2) as u64);
    let mut search = Search::new(matrix, means, monitor)?;
    search.search_all()?;
    wide!(simd => search.merge_all(simd))?;
    Ok(search.doubts.found(search.merges))
}

/// The search for the nearest pair of clusters, which have the order of their rows in the similarity matrix. For each
/// cluster, `near` is the row of the nearest later cluster, or [`NONE`] if this row is unknown.
struct Search<'a> {
    rows: Rows,
    /// For each cluster: its largest similarity with a later cluster, or an upper bound if `near` is [`NONE`].
    best: Vec<f64>,
    near: Vec<u32>,
    /// For each cluster: an upper bound of its similarities with all later clusters except the nearest one.
    second: Vec<f64>,
    /// For each cluster: a new similarity to a later cluster can be ignored if it is below this limit.
    limit: Vec<f64>,
    /// For each cluster: the key (rounded value) of its similarity to the nearest later cluster, or NaN if unknown.
    keys: Vec<f64>,
    /// The rounding error of a similarity `s` is at most `relative * (|s| + 4 * inside)`.
    relative: f64,
    /// An upper bound of all absolute values that [`Rows::inner`] has had. If the input has positive and negative
    /// values, also at least the largest absolute input value.
    inside: f64,
    doubts: Doubts<'a>,
    whole: bool,
    merges: Vec<RawMerge>,
    updates: Vec<(usize, f64)>,
    monitor: &'a Monitor,
}

impl<'a> Search<'a> {
    fn new(matrix: &'a Matrix<'a>, means: Means, monitor: &'a Monitor) -> Result<Self> {
        let (n, facts) = (matrix.n_leaves(), matrix.facts());
        let squared = matrix.is_dissimilarity();
        let largest = if squared { facts.largest * facts.largest } else { facts.largest };
        let half = n as f64 / 2.0;
        let whole = means == Means::Centroid && facts.whole && largest * half * half < (1u64 << 53) as f64;
        let form = if means == Means::Centroid { Form::Centroid } else { Form::Median };
        let (values, stride) = (written(matrix, true, monitor)?, stride(n));
        let mixed = !squared && facts.positive && facts.negative;
        Ok(Self {
            rows: Rows::new(values, n, means),
            best: vec![f64::NEG_INFINITY; stride],
            near: vec![NONE; stride],
            second: vec![f64::NEG_INFINITY; n],
            limit: vec![f64::INFINITY; stride],
            keys: vec![f64::NAN; n],
            relative: 4.0 * if whole { 2.0 * f64::EPSILON } else { rounding(n) },
            inside: if mixed { facts.largest } else { 0.0 },
            doubts: Doubts::new(Some(form), Some(matrix), true, Tolerance::GRID, monitor),
            whole,
            merges: Vec::with_capacity(n.saturating_sub(1)),
            updates: Vec::with_capacity(2 * LANES),
            monitor,
        })
    }

    #[inline(always)]
    fn merge_all<S: Simd>(&mut self, simd: S) -> Result<()> {
        while self.rows.n_alive > 1 {
            let (i, j, similarity) = self.nearest_pair(simd)?;
            let [name_i, name_j] = [i, j].map(|at| self.rows.names[at]);
            self.merges.push(RawMerge { i: name_i as usize, j: name_j as usize, similarity });
            self.merge(simd, i, j)?;
            self.monitor.advance(self.rows.n_alive as u64)?;
        }
        Ok(())
    }

    fn search_all(&mut self) -> Result<()> {
        let n = self.rows.n_alive;
        if n <= FEW {
            for i in 0..n {
                let found = self.rows.top_two(i);
                self.keep_first(i, found);
            }
            return self.monitor.advance(0);
        }
        let rows = &self.rows;
        let parts = split((0..n).collect(), n * n / 2);
        let found = parallel::map(parts, |part| {
            let search = |i: usize| {
                self.monitor.advance(0)?;
                Ok(rows.top_two(i))
            };
            part.into_iter().map(search).collect::<Result<Vec<_>>>()
        });
        let found: Vec<Vec<_>> = found.into_iter().collect::<Result<_>>()?;
        found.into_iter().flatten().enumerate().for_each(|(i, found)| self.keep_first(i, found));
        Ok(())
    }

    #[inline(always)]
    fn keep_first(&mut self, i: usize, (near, top, second): (usize, f64, f64)) {
        if second < top - self.reach(top) {
            self.set(i, near, top, second);
        } else {
            self.forget(i, top);
        }
    }

    /// Returns a limit. A similarity that differs from `similarity` by more than this limit certainly has a different
    /// key (rounded value).
    #[inline(always)]
    fn reach(&self, similarity: f64) -> f64 {
        2.0 * CELL * similarity.abs() + 3.0 * self.error(similarity) + f64::MIN_POSITIVE * CELL
    }

    #[inline(always)]
    fn error(&self, similarity: f64) -> f64 {
        self.relative * (similarity.abs() + 4.0 * self.inside)
    }

    #[inline(always)]
    fn set(&mut self, i: usize, near: usize, best: f64, second: f64) {
        (self.near[i], self.best[i], self.second[i], self.keys[i]) = (near as u32, best, second, f64::NAN);
        self.limit[i] = second.min(best - self.reach(best));
    }

    #[inline(always)]
    fn forget(&mut self, i: usize, bound: f64) {
        (self.near[i], self.best[i], self.limit[i]) = (NONE, bound, bound);
    }

    #[inline(never)]
    fn search_row(&mut self, i: usize) -> Result<()> {
        self.rows.bring_up_to_date(i);
        let (near, top, second) = self.rows.top_two(i);
        if top == f64::NEG_INFINITY {
            self.forget(i, top);
        } else if second < top - self.reach(top) {
            self.set(i, near, top, second);
        } else {
            return self.search_keys(i, top, second);
        }
        Ok(())
    }

    #[inline(never)]
    fn search_keys(&mut self, i: usize, top: f64, second: f64) -> Result<()> {
        entered!(centers_keys);
        let floor = top - self.reach(top);
        // No key (rounded similarity) is larger than `highest`, so the first cluster with this key is the nearest.
        let highest = key(top + self.error(top));
        let (mut near, mut best) = (NONE as usize, f64::NEG_INFINITY);
        for k in i + 1..self.rows.names.len() {
            if self.rows.similarity(i, k) >= floor {
                let key = self.key(i, k)?;
                if near == NONE as usize || key > best {
                    (near, best) = (k, key);
                }
                if best == highest {
                    break;
                }
            }
        }
        if near == NONE as usize {
            return Err(Error::changed_meanwhile());
        }
        let similarity = self.rows.similarity(i, near);
        self.set(i, near, similarity, if similarity == top { second } else { top });
        self.keys[i] = best;
        Ok(())
    }

    /// Returns the key (rounded value) of the similarity of clusters `i` and `k`. All merges must have been applied to
    /// row `i`.
    fn key(&mut self, i: usize, k: usize) -> Result<f64> {
        let rounded = self.rows.similarity(i, k);
        let key = self.certain_key(i, k, rounded);
        if !key.is_nan() {
            return Ok(key);
        }
        let rows = &self.rows;
        if self.whole {
            let [n_i, n_k] = [i, k].map(|at| Precise::from(rows.sizes[at]));
            let [inside_i, inside_k] = [i, k].map(|at| Precise::from(rows.sums[at]));
            let between = Precise::from(rows.sum(i, k));
            let similarity = between / (n_i * n_k) - inside_i / (n_i * n_i) - inside_k / (n_k * n_k);
            return self.doubts.key_of_number(similarity);
        }
        let [i, k] = [i, k].map(|at| rows.names[at] as usize);
        self.doubts.computed_key(&self.merges, i, k, rounded)
    }

    /// Returns the key (rounded value) of a similarity, or NaN if rounding errors could change the key.
    #[inline(always)]
    fn certain_key(&self, i: usize, k: usize, similarity: f64) -> f64 {
        if self.rows.sizes[i] == 1.0 && self.rows.sizes[k] == 1.0 {
            return key(similarity);
        }
        let error = self.error(similarity);
        let [low, high] = [similarity - error, similarity + error].map(key);
        if low == high { low } else { f64::NAN }
    }

    #[inline(always)]
    fn nearest_pair<S: Simd>(&mut self, simd: S) -> Result<(usize, usize, f64)> {
        // Each iteration finds the nearest cluster of at least one cluster for which it was unknown. If the loop does
        // not end, the values have changed since they were checked.
        for _ in 0..4 * self.best.len() + 64 {
            let top = largest(simd, &self.best);
            let floor = f64x8::splat(simd, top - self.reach(top));
            // No key (rounded similarity) is larger than `highest`, so the search ends at this key.
            let highest = key(top + self.error(top));
            let (mut first, mut all_known) = (None, true);
            'rows: for chunk in 0..self.best.len() / LANES {
                let best = &self.best.as_chunks::<LANES>().0[chunk];
                let mut lanes = f64x8::load_array_ref(simd, best).simd_ge(floor).to_bitmask();
                while lanes != 0 {
                    let i = chunk * LANES + lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    if self.near[i] == NONE {
                        self.search_row(i)?;
                        all_known = false;
                        if self.near[i] == NONE {
                            continue;
                        }
                    }
                    if self.keys[i].is_nan() {
                        self.keys[i] = self.certain_key(i, self.near[i] as usize, self.best[i]);
                    }
                    first = Some(match first {
                        None => i,
                        Some(first) => self.first_of(first, i)?,
                    });
                    if first.is_some_and(|first| self.keys[first] == highest) {
                        all_known = true;
                        break 'rows;
                    }
                }
            }
            if let (Some(first), true) = (first, all_known) {
                let similarity = if self.keys[first] == 0.0 { 0.0 } else { self.best[first] };
                return Ok((first, self.near[first] as usize, similarity));
            }
            if all_known {
                break;
            }
            self.monitor.advance(0)?;
        }
        Err(Error::changed_meanwhile())
    }

    #[inline(always)]
    fn first_of(&mut self, first: usize, i: usize) -> Result<usize> {
        for i in [first, i] {
            if self.keys[i].is_nan() {
                self.rows.bring_up_to_date(i);
                self.keys[i] = self.key(i, self.near[i] as usize)?;
            }
        }
        Ok(if self.keys[i] > self.keys[first] { i } else { first })
    }

    #[inline(always)]
    fn merge<S: Simd>(&mut self, simd: S, i: usize, j: usize) -> Result<()> {
        self.rows.merge(i, j);
        self.inside = self.inside.max(self.rows.inner[i].abs());
        (self.best[j], self.near[j], self.limit[j]) = (f64::NEG_INFINITY, NONE, f64::INFINITY);
        self.update_rows_before(simd, i, j);
        self.forget_between(simd, i, j);
        self.search_row(i)?;
        if self.rows.is_sparse() {
            let kept = self.rows.pack();
            self.keep(&kept);
        }
        Ok(())
    }

    #[inline(always)]
    fn update_rows_before<S: Simd>(&mut self, simd: S, i: usize, j: usize) {
        let [near_i, near_j] = [u32x8::splat(simd, i as u32), u32x8::splat(simd, j as u32)];
        let mut updates = std::mem::take(&mut self.updates);
        updates.clear();
        let row = self.rows.row(i);
        let (limits, nears) = (self.limit.as_chunks::<LANES>().0, self.near.as_chunks::<LANES>().0);
        for chunk in 0..i.div_ceil(LANES) {
            let similarities = row.similarities(simd, chunk);
            let near = u32x8::load_array_ref(simd, &nears[chunk]);
            let mut lanes = similarities.simd_ge(f64x8::load_array_ref(simd, &limits[chunk])).to_bitmask()
                | (near.simd_eq(near_i) | near.simd_eq(near_j)).to_bitmask();
            if lanes != 0 {
                let mut values = [0.0; LANES];
                similarities.store_array(&mut values);
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    updates.push((chunk * LANES + lane, values[lane]));
                    lanes &= lanes - 1;
                }
            }
        }
        for &(k, s) in updates.iter().take_while(|&&(k, _)| k < i) {
            self.update_row(k, s, i, j);
        }
        self.updates = updates;
    }

    #[inline(always)]
    fn forget_between<S: Simd>(&mut self, simd: S, i: usize, j: usize) {
        let near_j = u32x8::splat(simd, j as u32);
        for chunk in i / LANES..j.div_ceil(LANES) {
            let nears = &self.near.as_chunks::<LANES>().0[chunk];
            let mut lanes = u32x8::load_array_ref(simd, nears).simd_eq(near_j).to_bitmask();
            while lanes != 0 {
                let k = chunk * LANES + lanes.trailing_zeros() as usize;
                // The rows before `i` are updated separately.
                if k > i {
                    self.forget(k, self.second[k]);
                }
                lanes &= lanes - 1;
            }
        }
    }

    #[inline(always)]
    fn update_row(&mut self, k: usize, similarity: f64, i: usize, j: usize) {
        let near = self.near[k];
        if near == NONE {
            if similarity > self.best[k] {
                self.forget(k, similarity);
            }
            return;
        }
        let (best, second) = (self.best[k], self.second[k]);
        let clearly_above = |bound: f64| similarity - self.reach(similarity) > bound;
        if near == i as u32 || near == j as u32 {
            if clearly_above(second) {
                self.set(k, i, similarity, second);
            } else {
                self.forget(k, second.max(similarity));
            }
        } else if similarity < best - self.reach(best) {
            if similarity > second {
                self.second[k] = similarity;
                self.limit[k] = similarity.min(best - self.reach(best));
            }
        } else if clearly_above(best) {
            self.set(k, i, similarity, best);
        } else {
            self.forget(k, best.max(similarity));
        }
    }

    fn keep(&mut self, kept: &[usize]) {
        let mut place = vec![NONE; self.best.len()];
        kept.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
        for (to, &from) in kept.iter().enumerate() {
            for values in [&mut self.best, &mut self.second, &mut self.limit, &mut self.keys] {
                values[to] = values[from];
            }
            self.near[to] = place.get(self.near[from] as usize).copied().unwrap_or(NONE);
        }
        let (n, stride) = (kept.len(), self.rows.stride);
        [&mut self.best, &mut self.limit].into_iter().for_each(|values| values.truncate(stride));
        self.near.truncate(stride);
        self.best[n..].fill(f64::NEG_INFINITY);
        self.limit[n..].fill(f64::INFINITY);
        self.near[n..].fill(NONE);
    }
}
