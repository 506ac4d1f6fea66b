//! Stores the answers as a table: what pairs of clusters are compared with (columns) by pairs of clusters.

use std::ops::AddAssign;

use super::linkage::Answers;
use super::sides::each_side;
use super::slots::{Slots, Touched, factor, n_columns, pack_pairs, touched};
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::numbers::Number;
use crate::parallel;
use crate::similarity::condensed_len;

/// A number type for counts or total weights of answers.
pub(super) trait Counted: Number + Default + Send + AddAssign + 'static {
    fn of(value: f64) -> Self;
}

macro_rules! counted {
    ($($type:ty)*) => {$(
        impl Counted for $type {
            fn of(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}

counted!(i16 i32 f64);

/// A number type whose sums do not overflow. Sums of 16-bit counts can.
pub(super) trait Wide: Counted {}

impl Wide for i32 {}
impl Wide for f64 {}

/// The answers as a table, with an entry for each pair of clusters and each column. A column is what answers compare
/// the pair with: a third cluster (triplets) or another pair of clusters (quadruplets). The entry is the total weight
/// of answers that the pair is closer, less the total weight of the opposite answers. Clusters that merged after the
/// last renumbering of the clusters (see [`Slots`]) still have separate entries.
pub(super) struct Dense<C: Counted, const K: usize> {
    values: Vec<C>,
    n_pairs: usize,
}

impl<C: Counted, const K: usize> Dense<C, K> {
    fn cells(slots: usize) -> usize {
        n_columns::<K>(slots).saturating_mul(condensed_len(slots))
    }

    /// Returns true if a table has at most `small` cells, or at most two cells for each of the `n_entries` entries that
    /// lists would have.
    pub(super) fn pays(slots: usize, n_entries: usize, small: usize) -> bool {
        Self::cells(slots) <= small.max(2 * n_entries)
    }

    pub(super) fn zeros(slots: usize) -> Result<Self> {
        let cells = Self::cells(slots);
        let values = memory::filled("the table of answers", C::default(), cells)?;
        Ok(Self { values, n_pairs: condensed_len(slots) })
    }

    /// Returns the answers as a table. `gains` has a number for each pair of clusters: how much the answers favour
    /// merging this pair. The pair's entries in the table are added to this number, each multiplied by [`factor`].
    ///
    /// Returns `None` if an entry of the table is larger than `most`, because sums of such entries could overflow.
    pub(super) fn new(
        comparisons: &Comparisons<'_, K>,
        slots: &Slots,
        (slot_of, most): (&[u32], f64),
        gains: &mut [f64],
        monitor: &Monitor,
    ) -> Result<Option<Self>> {
        entered!(preference_dense);
        let mut table = Self::zeros(slots.len())?;
        let n_pairs = table.n_pairs;
        let parts = parallel::ranges(n_columns::<K>(slots.len()), 1);
        let ends: Vec<usize> = parts.iter().map(|part| part.end * n_pairs).collect();
        let slices = parallel::split_at_ends(&mut table.values, &ends);
        let all_fit = parallel::map(parts.into_iter().zip(slices).collect(), |(part, out)| {
            let mut fine = true;
            each_side::<K>(comparisons, slots, slot_of, &part, monitor, |side| {
                let [p, q] = side.pair;
                let value = &mut out[(side.column - part.start) * n_pairs + slots.pair(p, q)];
                if value.float().abs() <= most {
                    *value += C::of(side.value);
                }
                fine &= value.float().abs() <= most || most.is_infinite();
            })?;
            Ok(fine)
        });
        for fine in all_fit {
            if !fine? {
                return Ok(None);
            }
        }
        let factors = factor::<K>(slots);
        table.by_pairs(gains, |pairs, gains, values| {
            for (column, factor) in factors.iter().enumerate() {
                let column = &values[column * n_pairs..][pairs.clone()];
                gains.iter_mut().zip(column).for_each(|(gain, value)| *gain += value.float() * factor);
            }
        });
        Ok(Some(table))
    }

    pub(super) fn add(&mut self, column: usize, pair: usize, value: C) {
        self.values[column * self.n_pairs + pair] += value;
    }

    /// Calls `work` with ranges of pairs of clusters and their values in `gains`, on several threads. One thread
    /// computes the whole sum of a pair, so that the order of addition is fixed.
    fn by_pairs(&self, gains: &mut [f64], work: impl Fn(std::ops::Range<usize>, &mut [f64], &[C]) + Sync) {
        let parts = parallel::ranges(self.n_pairs, 1 << 12);
        let ends: Vec<usize> = parts.iter().map(|part| part.end).collect();
        let slices = parallel::split_at_ends(gains, &ends);
        parallel::map(parts.into_iter().zip(slices).collect(), |(pairs, gains)| work(pairs, gains, &self.values));
    }

    /// Removes the triplets whose leaves belong to only two clusters after the merge of `a` and `b`.
    fn drop_within(&mut self, slots: &Slots, a: usize, b: usize, gains: &mut [f64]) {
        for (own, other) in [(a, b), (b, a)] {
            let factor = 1.0 / slots.sizes[own];
            let column = &mut self.values[own * self.n_pairs..][..self.n_pairs];
            for p in (0..slots.len()).filter(|&p| slots.now[p] == other) {
                for q in (0..slots.len()).filter(|&q| slots.now[q] != other) {
                    let pair = slots.pair(p, q);
                    gains[pair] -= column[pair].float() * factor;
                    column[pair] = C::default();
                }
            }
        }
    }

    /// Returns the columns of existing clusters (triplets), or of pairs of existing clusters (quadruplets).
    fn columns(slots: &Slots) -> Vec<usize> {
        let active = &slots.active;
        if K == 3 {
            return active.clone();
        }
        let of = |r: usize| active[r + 1..].iter().map(move |&s| slots.pair(active[r], s));
        (0..active.len()).flat_map(of).collect()
    }

    fn merge_columns(&mut self, slots: &Slots, a: usize, b: usize, gains: &mut [f64]) {
        let touched = touched::<K>(slots, a, b);
        if K == 3 {
            self.drop_within(slots, a, b, gains);
        }
        let gone = (K == 4).then(|| (slots.pair(a, b), 1.0 / (slots.sizes[a] * slots.sizes[b])));
        let n_pairs = self.n_pairs;
        self.by_pairs(gains, |pairs, gains, values| {
            let column = |at: usize| &values[at * n_pairs..][pairs.clone()];
            for &Touched { into, from, before, after } in &touched {
                let [x, y] = before.map(|before| after - before);
                for ((gain, into), from) in gains.iter_mut().zip(column(into)).zip(column(from)) {
                    *gain += into.float() * x + from.float() * y;
                }
            }
            if let Some((gone, before)) = gone {
                gains.iter_mut().zip(column(gone)).for_each(|(gain, value)| *gain -= value.float() * before);
            }
        });
        for Touched { into, from, .. } in touched {
            let (low, high) = (into.min(from), into.max(from));
            let (head, tail) = self.values.split_at_mut(high * n_pairs);
            let (low, high) = (&mut head[low * n_pairs..][..n_pairs], &mut tail[..n_pairs]);
            let (into, from) = if into < from { (low, &*high) } else { (high, &*low) };
            into.iter_mut().zip(from).for_each(|(into, &from)| *into += from);
        }
    }

    fn pack(&mut self, before: &Slots, after: &Slots, renumbering: &[usize]) {
        let n_pairs = condensed_len(after.len());
        let columns = Self::columns(before);
        // The new index of a column is never larger than the old one, so values are read before they are overwritten.
        for (new, &old) in columns.iter().enumerate() {
            let column = &self.values[old * self.n_pairs..][..self.n_pairs];
            let packed = pack_pairs(before, after, renumbering, column, |value| value);
            self.values[new * n_pairs..(new + 1) * n_pairs].copy_from_slice(&packed);
        }
        self.values.truncate(columns.len() * n_pairs);
        self.n_pairs = n_pairs;
    }
}

impl<const K: usize> Dense<i16, K> {
    /// Renumbers the clusters as [`Self::pack`] does, but returns a new table of larger numbers.
    fn widened(&self, before: &Slots, after: &Slots, renumbering: &[usize]) -> Result<Dense<i32, K>> {
        entered!(preference_widened);
        let mut wide = Dense::zeros(after.len())?;
        for (new, old) in Self::columns(before).into_iter().enumerate() {
            let column = &self.values[old * self.n_pairs..][..self.n_pairs];
            let packed = pack_pairs(before, after, renumbering, column, i32::from);
            wide.values[new * wide.n_pairs..][..wide.n_pairs].copy_from_slice(&packed);
        }
        Ok(wide)
    }
}

impl<C: Wide, const K: usize> Answers for Dense<C, K> {
    fn merge(&mut self, slots: &Slots, a: usize, b: usize, gains: &mut [f64]) {
        self.merge_columns(slots, a, b, gains);
    }

    fn packed(mut self: Box<Self>, before: &Slots, after: &Slots, renumbering: &[usize]) -> Result<Box<dyn Answers>> {
        self.pack(before, after, renumbering);
        Ok(self)
    }
}

impl<const K: usize> Answers for Dense<i16, K> {
    fn merge(&mut self, slots: &Slots, a: usize, b: usize, gains: &mut [f64]) {
        self.merge_columns(slots, a, b, gains);
    }

    fn packed(self: Box<Self>, before: &Slots, after: &Slots, renumbering: &[usize]) -> Result<Box<dyn Answers>> {
        Ok(Box::new(self.widened(before, after, renumbering)?))
    }
}
