//! The nearest of every row of a triangle, found while its rows pass by.

use super::rows::{nearest_in_row, similarity};
use super::{NOBODY, Nearest, Tolerance};
use crate::linkage::Update;

/// The nearest slot of every slot, so far. Rows must come in order (some may come to another search).
pub(super) struct RowSearch {
    tolerance: Tolerance,
    /// By slot: what a similarity must exceed to be nearer than the nearest so far, or perhaps as near.
    bar: Vec<f64>,
    /// By slot: what certainly equals the nearest so far, and comes too late.
    equal: Vec<f64>,
    nearest: Vec<Nearest>,
}

const LANES: usize = 16;

impl RowSearch {
    pub(super) fn new(k: usize, tolerance: Tolerance) -> Self {
        Self { tolerance, bar: vec![f64::NEG_INFINITY; k], equal: vec![f64::NAN; k], nearest: vec![NOBODY; k] }
    }

    /// Looks at `row`: the values of slot `i` with the slots after it. `sizes` are those of all slots.
    pub(super) fn add<U: Update>(&mut self, i: usize, row: &[f64], sizes: &[f64]) {
        wide!(self.add_row::<U>(i, row, sizes));
    }

    #[inline(always)]
    fn add_row<U: Update>(&mut self, i: usize, row: &[f64], sizes: &[f64]) {
        let n_i = sizes[i];
        let (all, sizes) = (sizes, &sizes[i + 1..]);
        let tolerance = self.tolerance;
        let exact = tolerance == Tolerance::EXACT;
        let is_leaf = |slot: usize| all.get(slot) == Some(&1.0);
        let offer = |bar: &mut f64, equal: &mut f64, nearest: &mut Nearest, s: f64, n_k: f64| {
            if s > *bar && s != *equal {
                let leaves = n_i * n_k == 1.0;
                if exact {
                    (*bar, *nearest) = (s, Nearest::new(i, s));
                } else if nearest.offer(Nearest::new(i, s), tolerance.among(leaves && is_leaf(nearest.cluster))) {
                    (*bar, *equal) = (tolerance.floor(s), tolerance.certain(s));
                }
            }
        };
        let (rows, row_rest) = row.as_chunks::<LANES>();
        let (counts, count_rest) = sizes.as_chunks::<LANES>();
        let (bars, bar_rest) = self.bar[i + 1..].as_chunks_mut::<LANES>();
        let (equals, equal_rest) = self.equal[i + 1..].as_chunks_mut::<LANES>();
        let (nears, near_rest) = self.nearest[i + 1..].as_chunks_mut::<LANES>();
        let chunks = rows.iter().zip(counts).zip(bars).zip(equals).zip(nears);
        for ((((values, counts), bars), equals), nears) in chunks {
            let mut higher = false;
            for lane in 0..LANES {
                higher |= similarity::<U>(values[lane], n_i, counts[lane]) > bars[lane];
            }
            if !higher {
                continue;
            }
            let mut other = exact;
            for lane in 0..LANES {
                let s = similarity::<U>(values[lane], n_i, counts[lane]);
                other |= (s > bars[lane]) & (s != equals[lane]);
            }
            if other {
                for lane in 0..LANES {
                    let s = similarity::<U>(values[lane], n_i, counts[lane]);
                    offer(&mut bars[lane], &mut equals[lane], &mut nears[lane], s, counts[lane]);
                }
            }
        }
        let rest = row_rest.iter().zip(count_rest).zip(bar_rest).zip(equal_rest).zip(near_rest);
        for ((((&x, &n_k), bar), equal), near) in rest {
            offer(bar, equal, near, similarity::<U>(x, n_i, n_k), n_k);
        }
        // Slots before i have come first, so that they win ties.
        if let Some(nearest) = nearest_in_row::<U>(row, sizes, n_i, tolerance, self.bar[i]) {
            let before = n_i == 1.0 && is_leaf(self.nearest[i].cluster);
            let leaves = before && sizes[nearest.cluster] == 1.0;
            self.nearest[i].offer(Nearest { cluster: i + 1 + nearest.cluster, ..nearest }, tolerance.among(leaves));
            let similarity = self.nearest[i].similarity;
            (self.bar[i], self.equal[i]) = (tolerance.floor(similarity), tolerance.certain(similarity));
        }
    }

    /// What several searches have found, each of them in some of the rows.
    pub(super) fn join(searches: Vec<Self>) -> Vec<Nearest> {
        let joined = searches.into_iter().reduce(|mut all, other| {
            for (nearest, other) in all.nearest.iter_mut().zip(other.nearest) {
                nearest.offer(other, all.tolerance);
            }
            all
        });
        joined.map_or_else(Vec::new, |all| all.nearest)
    }
}
