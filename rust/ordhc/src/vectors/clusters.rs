//! Clusters of vectors. Each cluster is stored as the mean of its vectors, or as the sum of its vectors if sums are
//! exact.

use crate::agglomerate::Tolerance;
use crate::error::Result;
use crate::memory::Buffer;

/// The clusters, ordered by the smallest leaf of each cluster.
pub(super) struct MeanClusters {
    pub(super) names: Vec<u32>,
    pub(super) sizes: Vec<f64>,
    /// True if `rows` has the sums of the vectors of each cluster instead of their means.
    sums: bool,
    p: usize,
    rows: Buffer,
}

impl MeanClusters {
    pub(super) fn new(k: usize, p: usize, sums: bool) -> Result<Self> {
        let rows = Buffer::zeros("the means of clusters", k * p)?;
        Ok(Self { names: vec![0; k], sizes: vec![0.0; k], sums, p, rows })
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn tolerance(&self) -> Tolerance {
        if self.sums { Tolerance::EXACT } else { Tolerance::GRID }
    }

    pub(super) fn n_coordinates(&self) -> usize {
        self.p
    }

    pub(super) fn set(&mut self, at: usize, name: u32, size: f64, row: impl Iterator<Item = f64>) {
        self.names[at] = name;
        self.sizes[at] = size;
        self.rows[at * self.p..(at + 1) * self.p].iter_mut().zip(row).for_each(|(to, x)| *to = x);
    }

    pub(super) fn row(&self, at: usize) -> &[f64] {
        &self.rows[at * self.p..(at + 1) * self.p]
    }

    /// Returns the factor that turns the stored row of a cluster (the sum or mean of its vectors) into the mean.
    pub(super) fn weight(&self, at: usize) -> f64 {
        if self.sums { 1.0 / self.sizes[at] } else { 1.0 }
    }

    #[inline]
    pub(super) fn value(&self, a: usize, b: usize) -> f64 {
        let product = dot(self.row(a), self.row(b));
        if self.sums { product / (self.sizes[a] * self.sizes[b]) } else { product }
    }

    /// Merges cluster `j` into cluster `i < j`.
    pub(super) fn merge(&mut self, i: usize, j: usize) {
        let p = self.p;
        let (head, tail) = self.rows.split_at_mut(j * p);
        let pairs = head[i * p..(i + 1) * p].iter_mut().zip(&tail[..p]);
        let share = self.sizes[j] / (self.sizes[i] + self.sizes[j]);
        if self.sums {
            pairs.for_each(|(x, y)| *x += y);
        } else {
            // This formula gives exactly x if both numbers are x.
            pairs.for_each(|(x, y)| *x += (y - *x) * share);
        }
        self.sizes[i] += self.sizes[j];
    }

    /// Keeps only the clusters at the indices `kept`, which must be in ascending order.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        let p = self.p;
        for (to, &from) in kept.iter().enumerate() {
            self.names[to] = self.names[from];
            self.sizes[to] = self.sizes[from];
            self.rows.copy_within(from * p..(from + 1) * p, to * p);
        }
        self.names.truncate(kept.len());
        self.sizes.truncate(kept.len());
        self.rows.truncate(kept.len() * p);
    }
}

#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum_of(a, b, |x, y| x * y)
}

/// The order of additions is fixed, so the rounding is always the same.
#[inline(always)]
pub(super) fn sum_of(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let (a, rest_a) = a.as_chunks::<LANES>();
    let (b, rest_b) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane], b[lane]);
        }
    }
    let rest = rest_a.iter().zip(rest_b).fold(0.0, |sum, (&x, &y)| sum + term(x, y));
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)) + rest
}
