//! The two pairs of clusters that an answer compares.

use super::slots::Slots;
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::monitor::Monitor;

/// One of the two pairs of clusters that an answer compares. `value` is positive for the closer pair, and negative for
/// the farther pair. `column` is the index of what the pair is compared with: the third cluster of a triplet, or the
/// other pair of a quadruplet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub(super) column: usize,
    pub(super) pair: [usize; 2],
    pub(super) value: f64,
}

/// Calls `work` with both [`Side`]s of each answer: its closer and its farther pair of clusters. Skips a [`Side`] if
/// its `column` is not in `columns`. Skips answers that do not compare different clusters.
pub(super) fn each_side<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    slots: &Slots,
    slot_of: &[u32],
    columns: &std::ops::Range<usize>,
    monitor: &Monitor,
    mut work: impl FnMut(Side),
) -> Result<()> {
    comparisons.rows().each_watched(monitor, |at, row| {
        let slot = |at: usize| slot_of[row[at] as usize] as usize;
        let value = comparisons.weights().map_or(1.0, |weights| weights[at]);
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
