//! Centroid and median linkage: the nearest pair, over means of pairs.
//!
//! The similarity of clusters i and k is t w_i w_k - g_i - g_k: t is a sum over the pairs between them, w a share, g
//! the mean inside of a cluster. All of these are sums of input values, which do not cancel, so that errors don't
//! grow from merge to merge; sums of whole numbers are exact.

mod known;
mod rows;

use known::Known;
use rows::{NONE, Rows, top_two};

use fearless_simd::prelude::*;
use fearless_simd::{f64x8, u32x8};

use super::few_square::LANES;
use super::matrix::Matrix;
use super::store::Store;
use super::tolerance::{CELL, key};
use super::{parallel_parts, rounding};
use crate::error::Result;
use crate::linkage::Rule;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::RawMerge;

/// Whose means: those of all pairs, or of the two halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    Centroid,
    Median,
}

impl Means {
    /// Those that a rule's similarities of clusters are made of, if they are.
    pub(super) fn of(rule: &Rule) -> Option<Self> {
        match rule {
            Rule::Centroid => Some(Self::Centroid),
            Rule::Median => Some(Self::Median),
            _ => None,
        }
    }
}

/// The merges, in the order in which they are made. Doubts go to the monitor.
pub(super) fn merges(matrix: &Matrix<'_>, means: Means, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    let n = matrix.n_leaves();
    monitor.start((n * n / 2) as u64);
    let mut search = Search::new(matrix, means, monitor)?;
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    while search.rows.n_alive > 1 {
        let (i, j, similarity) = search.nearest_pair()?;
        merges.push(RawMerge { i: search.rows.names[i] as usize, j: search.rows.names[j] as usize, similarity });
        search.merge(i, j)?;
        monitor.advance(search.rows.n_alive as u64)?;
    }
    Ok(merges)
}

/// What is known of the nearest of each row among the later ones.
struct Search<'a> {
    rows: Rows<'a>,
    /// By position: the largest similarity, or a bound of it if `near` is [`NONE`].
    best: Vec<f64>,
    near: Vec<u32>,
    /// A bound of the similarities of all others.
    second: Vec<f64>,
    /// A new similarity below this changes nothing.
    limit: Vec<f64>,
    /// The key of the nearest; NaN where it isn't known.
    keys: Vec<f64>,
    /// Errors are at most this share of a similarity and of what clusters have inside.
    relative: f64,
    /// At least what any cluster has inside.
    inside: f64,
    known: Known<'a>,
    /// Positions that may be the nearest pair's.
    above: Vec<usize>,
    told: Vec<(u32, f64)>,
    monitor: &'a Monitor,
}

impl<'a> Search<'a> {
    fn new(matrix: &'a Matrix<'a>, means: Means, monitor: &'a Monitor) -> Result<Self> {
        let (n, facts) = (matrix.n_leaves(), matrix.facts());
        let squared = matrix.is_dissimilarity();
        let largest = if squared { facts.largest * facts.largest } else { facts.largest };
        let half = n as f64 / 2.0;
        let whole = means == Means::Centroid && facts.whole && largest * half * half < (1u64 << 53) as f64;
        let mut values = Store::zeros(n * n)?;
        matrix.write_square(true, &mut values, monitor)?;
        let mixed = !squared && facts.positive && facts.negative;
        let mut search = Self {
            rows: Rows::new(values, n, means),
            best: vec![f64::NEG_INFINITY; n],
            near: vec![NONE; n],
            second: vec![f64::NEG_INFINITY; n],
            limit: vec![f64::NEG_INFINITY; n],
            keys: vec![f64::NAN; n],
            relative: 4.0 * if whole { 2.0 * f64::EPSILON } else { rounding(n) },
            inside: if mixed { facts.largest } else { 0.0 },
            known: Known::new(matrix, means, whole, monitor),
            above: Vec::new(),
            told: Vec::new(),
            monitor,
        };
        search.look_at_all()?;
        Ok(search)
    }

    /// The first look at all rows; where others are about as near as the nearest another one follows.
    fn look_at_all(&mut self) -> Result<()> {
        let n = self.best.len();
        let rows = &self.rows;
        let parts = parallel_parts((0..n).collect(), n * n / 2);
        let found = parallel::map(parts, |part| {
            let look = |i: usize| {
                self.monitor.advance(0)?;
                Ok(top_two(&rows.forward(i)))
            };
            part.into_iter().map(look).collect::<Result<Vec<_>>>()
        });
        let found: Vec<Vec<_>> = found.into_iter().collect::<Result<_>>()?;
        for (i, (place, top, second)) in found.into_iter().flatten().enumerate() {
            if second < top - self.reach(top) {
                self.set(i, i + 1 + place, top, second);
            } else {
                self.forget(i, top);
            }
        }
        Ok(())
    }

    /// Similarities that are farther apart than this have different keys, in the order of the similarities.
    fn reach(&self, similarity: f64) -> f64 {
        2.0 * CELL * similarity.abs() + 3.0 * self.error(similarity) + f64::MIN_POSITIVE * CELL
    }

    fn error(&self, similarity: f64) -> f64 {
        self.relative * (similarity.abs() + 4.0 * self.inside)
    }

    fn set(&mut self, i: usize, near: usize, best: f64, second: f64) {
        (self.near[i], self.best[i], self.second[i], self.keys[i]) = (near as u32, best, second, f64::NAN);
        self.limit[i] = second.min(best - self.reach(best));
    }

    /// Keeps a bound only.
    fn forget(&mut self, i: usize, bound: f64) {
        (self.near[i], self.best[i], self.limit[i]) = (NONE, bound, bound);
    }

    /// Finds the nearest of a row: the first of those with the largest key.
    fn look(&mut self, i: usize) -> Result<()> {
        self.rows.bring_up_to_date(i);
        let (place, top, second) = top_two(&self.rows.forward(i));
        if top == f64::NEG_INFINITY {
            self.forget(i, top);
            return Ok(());
        }
        let floor = top - self.reach(top);
        if second < floor {
            self.set(i, i + 1 + place, top, second);
            return Ok(());
        }
        // No key is larger, and the first that is as large is the nearest.
        let highest = key(top + self.error(top));
        let (mut near, mut best) = (NONE as usize, f64::NEG_INFINITY);
        for k in i + 1..self.rows.stride {
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
        let similarity = self.rows.similarity(i, near);
        self.set(i, near, similarity, if similarity == top { second } else { top });
        self.keys[i] = best;
        Ok(())
    }

    /// The key of the similarity of the clusters at two positions, the first of which is up to date.
    fn key(&mut self, i: usize, k: usize) -> Result<f64> {
        let similarity = self.rows.similarity(i, k);
        if self.rows.sizes[i] == 1.0 && self.rows.sizes[k] == 1.0 {
            return Ok(key(similarity));
        }
        let error = self.error(similarity);
        let [low, high] = [similarity - error, similarity + error].map(key);
        if low == high { Ok(low) } else { self.known.key(&self.rows, i, k) }
    }

    /// The positions of the pair with the largest key, of these the first.
    fn nearest_pair(&mut self) -> Result<(usize, usize, f64)> {
        let mut above = std::mem::take(&mut self.above);
        loop {
            above.clear();
            wide!(simd => {
                let top = largest(simd, &self.best);
                at_least(simd, &self.best, top - self.reach(top), &mut above);
            });
            let mut all_known = true;
            for &i in &above {
                if self.near[i] == NONE {
                    self.look(i)?;
                    all_known = false;
                }
            }
            if !all_known {
                self.monitor.advance(0)?;
                continue;
            }
            let mut first = above[0];
            if above.len() > 1 {
                for &i in &above {
                    if self.keys[i].is_nan() {
                        self.rows.bring_up_to_date(i);
                        self.keys[i] = self.key(i, self.near[i] as usize)?;
                    }
                    if self.keys[i] > self.keys[first] {
                        first = i;
                    }
                }
            }
            let similarity = if self.keys[first] == 0.0 { 0.0 } else { self.best[first] };
            self.above = above;
            return Ok((first, self.near[first] as usize, similarity));
        }
    }

    fn merge(&mut self, i: usize, j: usize) -> Result<()> {
        self.known.merge(self.rows.names[i], self.rows.names[j])?;
        self.rows.merge(i, j);
        self.inside = self.inside.max(self.rows.inner[i].abs());
        (self.best[j], self.near[j], self.limit[j]) = (f64::NEG_INFINITY, NONE, f64::INFINITY);
        self.tell_rows_before(i, j);
        for k in i + 1..j {
            if self.near[k] == j as u32 {
                self.forget(k, self.second[k]);
            }
        }
        self.look(i)?;
        if let Some(kept) = self.rows.pack() {
            self.keep(&kept);
        }
        Ok(())
    }

    /// Rows before `i` have the new cluster among their later ones.
    fn tell_rows_before(&mut self, i: usize, j: usize) {
        let mut told = std::mem::take(&mut self.told);
        told.clear();
        wide!(simd => self.add_told(simd, i, j, &mut told));
        for &(k, s) in &told {
            self.tell(k as usize, s, i, j);
        }
        self.told = told;
    }

    /// Of the rows before `i` those that the new cluster may change something for, with the similarity.
    #[inline(always)]
    fn add_told<S: Simd>(&self, simd: S, i: usize, j: usize, told: &mut Vec<(u32, f64)>) {
        let [near_i, near_j] = [u32x8::splat(simd, i as u32), u32x8::splat(simd, j as u32)];
        let mut values = [0.0; LANES];
        let mut start = 0;
        while start + LANES <= i {
            self.rows.similarities(i, start, &mut values);
            let limits = f64x8::from_slice(simd, &self.limit[start..start + LANES]);
            let near = u32x8::from_slice(simd, &self.near[start..start + LANES]);
            let mut lanes = f64x8::load_array(simd, values).simd_ge(limits).to_bitmask()
                | (near.simd_eq(near_i) | near.simd_eq(near_j)).to_bitmask();
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                told.push(((start + lane) as u32, values[lane]));
                lanes &= lanes - 1;
            }
            start += LANES;
        }
        for k in start..i {
            let s = self.rows.similarity(i, k);
            if s >= self.limit[k] || self.near[k] == i as u32 || self.near[k] == j as u32 {
                told.push((k as u32, s));
            }
        }
    }

    fn tell(&mut self, k: usize, similarity: f64, i: usize, j: usize) {
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

    /// Follows the rows, of which some positions are kept.
    fn keep(&mut self, kept: &[usize]) {
        let mut place = vec![NONE; self.best.len()];
        kept.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
        for values in [&mut self.best, &mut self.second, &mut self.limit, &mut self.keys] {
            *values = kept.iter().map(|&at| values[at]).collect();
        }
        self.near =
            kept.iter().map(|&at| self.near[at]).map(|near| place.get(near as usize).map_or(NONE, |&at| at)).collect();
    }
}

/// The largest value.
#[inline(always)]
fn largest<S: Simd>(simd: S, values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f64x8::splat(simd, f64::NEG_INFINITY); 2];
    for (at, chunk) in chunks.iter().enumerate() {
        lanes[at % 2] = f64x8::load_array_ref(simd, chunk).max(lanes[at % 2]);
    }
    rest.iter().fold(lanes[0].max(lanes[1]).reduce_max(), |a, &b| if b > a { b } else { a })
}

/// The places of values that are at least `floor`.
#[inline(always)]
fn at_least<S: Simd>(simd: S, values: &[f64], floor: f64, found: &mut Vec<usize>) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let least = f64x8::splat(simd, floor);
    for (chunk, values) in chunks.iter().enumerate() {
        let mut lanes = f64x8::load_array_ref(simd, values).simd_ge(least).to_bitmask();
        while lanes != 0 {
            found.push(chunk * LANES + lanes.trailing_zeros() as usize);
            lanes &= lanes - 1;
        }
    }
    let after = values.len() - rest.len();
    found.extend((after..).zip(rest).filter(|&(_, &x)| x >= floor).map(|(at, _)| at));
}
