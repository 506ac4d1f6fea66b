//! The two pairs of clusters that an answer compares, and the number types of counts.

use std::ops::{AddAssign, Neg};

use super::slots::Slots;
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::numbers::Number;

/// A number type for counts or total weights of answers.
pub(super) trait Value: Number + Default + Send + AddAssign + Neg<Output = Self> + From<i16> {
    type Entry: Copy + Default + Send + Sync + Into<Self>;
    /// True if a table can first store the values as 16-bit counts.
    const COUNTS: bool = false;
    fn of(weight: f64) -> Self;
    fn entry(self) -> Self::Entry;
}

/// 16-bit counts, for tables that need half of the memory of tables with 32-bit counts.
impl Value for i16 {
    type Entry = i8;
    fn of(_: f64) -> Self {
        1
    }
    fn entry(self) -> i8 {
        self as i8
    }
}

impl Value for i32 {
    type Entry = i8;
    const COUNTS: bool = true;
    fn of(_: f64) -> Self {
        1
    }
    fn entry(self) -> i8 {
        self as i8
    }
}

impl Value for f64 {
    type Entry = f64;
    fn of(weight: f64) -> Self {
        weight
    }
    fn entry(self) -> f64 {
        self
    }
}

/// One of the two pairs of clusters that an answer compares. `value` is positive for the closer pair, and negative for
/// the farther pair. `column` is the index of what the pair is compared with: the third cluster of a triplet, or the
/// other pair of a quadruplet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<V> {
    pub(super) column: usize,
    pub(super) pair: [usize; 2],
    pub(super) value: V,
}

/// Calls `work` with both [`Side`]s of each answer: its closer and its farther pair of clusters. Skips a [`Side`] if
/// its `column` is not in `columns`. Skips answers that do not compare different clusters.
pub(super) fn each_side<V: Value, const K: usize>(
    comparisons: &Comparisons<'_, K>,
    slots: &Slots,
    slot_of: &[u32],
    columns: &std::ops::Range<usize>,
    monitor: &Monitor,
    mut work: impl FnMut(Side<V>),
) -> Result<()> {
    comparisons.rows().each_watched(monitor, |at, row| {
        let weight = comparisons.weights().map_or(1.0, |weights| weights[at]);
        let slot = |at: usize| slot_of[row[at] as usize] as usize;
        let value = V::of(weight);
        let sides = if K == 3 {
            let [i, k, l] = [slot(0), slot(1), slot(2)];
            if i == k || i == l || k == l {
                return;
            }
            [(l, [i, k], value), (k, [i, l], -value)]
        } else {
            let [i, j, k, l] = [slot(0), slot(1), slot(2), slot(K - 1)];
            if i == j || k == l {
                return;
            }
            [(slots.pair(k, l), [i, j], value), (slots.pair(i, j), [k, l], -value)]
        };
        for (column, pair, value) in sides {
            if columns.contains(&column) {
                work(Side { column, pair, value });
            }
        }
    })
}
