//! Columns of a triangle, many at a time: one value of a cache line is not worth the line.

use super::rounds::Triangle;

/// The values of some slots with slots before them, collected row by row.
#[derive(Default)]
pub(super) struct Columns {
    /// Ascending slots.
    slots: Vec<u32>,
    /// By place in `slots`: the first slot whose value is wanted, and where it stands.
    firsts: Vec<(usize, usize)>,
    values: Vec<f64>,
    picked: Vec<f64>,
}

impl Columns {
    /// Reads, for every `(first, slot)`, the values of `slot` with `first..slot`. Slots are distinct.
    pub(super) fn read(&mut self, triangle: &impl Triangle, wanted: impl Iterator<Item = (usize, usize)>) {
        let mut wanted: Vec<(usize, usize)> = wanted.collect();
        wanted.sort_unstable_by_key(|&(_, slot)| slot);
        self.slots = wanted.iter().map(|&(_, slot)| slot as u32).collect();
        let mut end = 0;
        let place = |&(first, slot): &(usize, usize)| {
            end += slot - first;
            (first, end - (slot - first))
        };
        self.firsts = wanted.iter().map(place).collect();
        if self.values.len() < end {
            self.values.resize(end, 0.0);
        }
        self.picked.resize(wanted.len(), 0.0);
        let from = self.firsts.iter().map(|&(first, _)| first).min().unwrap_or(0);
        let to = wanted.last().map_or(0, |&(_, slot)| slot);
        for row in from..to {
            let after = self.slots.partition_point(|&slot| slot as usize <= row);
            let picked = &mut self.picked[after..];
            triangle.pick(row, &self.slots[after..], picked);
            for (&x, &(first, start)) in picked.iter().zip(&self.firsts[after..]) {
                if first <= row {
                    self.values[start + row - first] = x;
                }
            }
        }
    }

    /// The values of a slot that was read.
    pub(super) fn of(&self, slot: usize) -> &[f64] {
        let at = self.slots.partition_point(|&other| (other as usize) < slot);
        let (first, start) = self.firsts[at];
        &self.values[start..start + slot - first]
    }
}
