//! A square matrix of the edges of a sparse graph in which many pairs of clusters have an edge. For the
//! nearest-neighbour chain.

use super::chain::Linked;
use super::graph::{Best, Graph, Near, Rules};
use super::links::{Entry, Link, Summary, with_constant};
use crate::error::Result;
use crate::memory::{self, Buffer};

/// A square matrix with the value of each edge, and NaN for pairs of clusters without an edge. `numbers` has the
/// cluster of each row, by its index in the initial graph.
pub(super) struct Table<'m> {
    stride: usize,
    values: Buffer,
    counts: Vec<u32>,
    names: Vec<u32>,
    /// The size of each row's cluster, or 0 for a removed cluster.
    sizes: Vec<f64>,
    numbers: Vec<u32>,
    n_alive: usize,
    /// The row of each cluster, by its index in the initial graph, or [`GONE`].
    places: Vec<u32>,
    rules: Rules<'m>,
}

const LANES: usize = 8;
const PACK_FROM: usize = 64;

impl<'m> Table<'m> {
    pub(super) fn new(graph: Graph, rules: Rules<'m>) -> Result<Self> {
        entered!(sparse_table);
        let k = graph.len();
        let has_counts = !rules.summary.all;
        let mut values = Buffer::zeros("the similarities of clusters", k * k)?;
        memory::check("the counts of known pairs", if has_counts { 4 * (k * k) as u64 } else { 0 })?;
        let mut counts = vec![0; if has_counts { k * k } else { 0 }];
        let Graph { names, sizes, chunks } = graph;
        for chunk in chunks {
            let mut start = 0;
            for (at, &end) in chunk.ends.iter().enumerate() {
                let row = (chunk.first + at) * k;
                values[row..row + k].fill(f64::NAN);
                for &Entry { cluster, count, value } in &chunk.entries[start..end] {
                    values[row + cluster as usize] = value;
                    if has_counts {
                        counts[row + cluster as usize] = count;
                    }
                }
                start = end;
            }
        }
        let numbers: Vec<u32> = (0..k as u32).collect();
        let places = numbers.clone();
        Ok(Self { stride: k, values, counts, names, sizes, numbers, n_alive: k, places, rules })
    }

    #[inline(always)]
    fn fold(summary: Summary, x: f64, y: f64) -> f64 {
        let needs_both = summary.is_least_of_all();
        match (x.is_nan(), y.is_nan()) {
            (false, false) => summary.fold(x, y),
            (true, false) if !needs_both => y,
            (false, true) if !needs_both => x,
            _ => f64::NAN,
        }
    }

    #[inline(always)]
    fn entry(&self, summary: Summary, row: usize, place: usize) -> Entry {
        let count = if summary.all { 0 } else { self.counts[row + place] };
        Entry { cluster: place as u32, count, value: self.values[row + place] }
    }

    fn largest(&self, row: usize, n_i: f64) -> f64 {
        let summary = self.rules.summary;
        with_constant!(summary, self.largest_by(summary, row, n_i))
    }

    #[inline(always)]
    fn largest_by(&self, summary: Summary, row: usize, n_i: f64) -> f64 {
        let similarity = |place: usize| summary.similarity(&self.entry(summary, row, place), n_i, self.sizes[place]);
        let mut largest = [f64::NEG_INFINITY; LANES];
        let whole = self.stride / LANES * LANES;
        for first in (0..whole).step_by(LANES) {
            let similarities: [f64; LANES] = std::array::from_fn(|lane| similarity(first + lane));
            for lane in 0..LANES {
                largest[lane] = if similarities[lane] > largest[lane] { similarities[lane] } else { largest[lane] };
            }
        }
        let rest = (whole..self.stride).map(similarity);
        largest.into_iter().chain(rest).fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a })
    }

    pub(super) fn links(&self) -> Vec<Link> {
        let alive = |place: &usize| self.sizes[*place] > 0.0;
        let mut links = Vec::new();
        for i in (0..self.stride).filter(alive) {
            for j in (i + 1..self.stride).filter(alive) {
                let Entry { count, value, .. } = self.entry(self.rules.summary, i * self.stride, j);
                links.extend((!value.is_nan()).then_some(Link { a: self.names[i], b: self.names[j], count, value }));
            }
        }
        links
    }

    fn pack(&mut self) {
        if self.stride < PACK_FROM || 3 * self.n_alive >= 2 * self.stride {
            return;
        }
        let kept: Vec<usize> = (0..self.stride).filter(|&place| self.sizes[place] > 0.0).collect();
        let k = kept.len();
        for (to, &from) in kept.iter().enumerate() {
            for (column, &old) in kept.iter().enumerate() {
                self.values[to * k + column] = self.values[from * self.stride + old];
                if !self.rules.summary.all {
                    self.counts[to * k + column] = self.counts[from * self.stride + old];
                }
            }
            self.names[to] = self.names[from];
            self.sizes[to] = self.sizes[from];
            self.numbers[to] = self.numbers[from];
            self.places[self.numbers[to] as usize] = to as u32;
        }
        self.values.truncate(k * k);
        self.counts.truncate(k * k);
        self.names.truncate(k);
        self.sizes.truncate(k);
        self.numbers.truncate(k);
        self.stride = k;
    }
}

const GONE: u32 = u32::MAX;

impl Linked for Table<'_> {
    fn n_clusters(&self) -> usize {
        self.places.len()
    }

    fn name(&self, cluster: usize) -> Option<u32> {
        let place = self.places[cluster];
        (place != GONE).then(|| self.names[place as usize])
    }

    fn nearest(&mut self, cluster: usize) -> Option<Near> {
        let place = self.places[cluster] as usize;
        let (row, n_i, summary) = (place * self.stride, self.sizes[place], self.rules.summary);
        let largest = self.largest(row, n_i);
        if largest <= self.rules.bar {
            return None;
        }
        let floor = self.rules.tolerance.floor(largest);
        let mut best = Best::none();
        for (place, &number) in self.numbers.iter().enumerate() {
            let entry = self.entry(summary, row, place);
            let similarity = summary.similarity(&entry, n_i, self.sizes[place]);
            if similarity >= floor && similarity > self.rules.bar {
                let share = summary.share(&entry, n_i, self.sizes[place]);
                best.offer(Near { cluster: number, similarity }, share, self.names[place], self.rules);
            }
        }
        best.near
    }

    fn merge(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.places[a] as usize, self.places[b] as usize);
        let (i, j) = (a.min(b), a.max(b));
        let (row_i, row_j, summary) = (i * self.stride, j * self.stride, self.rules.summary);
        for place in 0..self.stride {
            let folded = Self::fold(summary, self.values[row_i + place], self.values[row_j + place]);
            let value = if place == i || place == j { f64::NAN } else { folded };
            self.values[row_i + place] = value;
            self.values[place * self.stride + i] = value;
            self.values[place * self.stride + j] = f64::NAN;
            if !summary.all {
                let count = self.counts[row_i + place] + self.counts[row_j + place];
                self.counts[row_i + place] = count;
                self.counts[place * self.stride + i] = count;
            }
        }
        self.sizes[i] += std::mem::take(&mut self.sizes[j]);
        self.places[self.numbers[j] as usize] = GONE;
        self.n_alive -= 1;
        let merged = self.numbers[i] as usize;
        self.pack();
        merged
    }
}
