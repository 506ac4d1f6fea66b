//! Stores the answers as lists, one for each column (what answers compare a pair of clusters with).

use super::dense::{Counted, Dense, Wide};
use super::linkage::Answers;
use super::sides::each_side;
use super::slots::{Slots, Touched, factor, n_columns, touched};
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;

/// The number that a list stores for an answer: its weight, or 1 or -1 for an answer without weight.
pub(super) trait Value: Copy + Default + Send + Sync + Into<f64> + 'static {
    /// The number type of sums of these values in a table.
    type Sum: Wide;
    fn of(weight: f64) -> Self;
}

impl Value for i8 {
    type Sum = i32;
    fn of(weight: f64) -> Self {
        weight as Self
    }
}

impl Value for f64 {
    type Sum = f64;
    fn of(weight: f64) -> Self {
        weight
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry<V> {
    /// The pair of clusters (`p`, `q`) that the answer compares, by their indices before the first renumbering.
    p: u16,
    q: u16,
    value: V,
}

/// The answers as lists, one list for each column. A column is what answers compare a pair of clusters with: a third
/// cluster (triplets) or another pair of clusters (quadruplets). When columns merge, their lists become one linked list
/// of lists, which takes constant time.
pub(super) struct Sparse<V: Value, const K: usize> {
    entries: Vec<Entry<V>>,
    /// For each column before any merge: the end of its list of answers in `entries`.
    ends: Vec<usize>,
    /// For each column before any merge: the next column in the linked list of the columns merged with it, or `NONE`.
    next: Vec<u32>,
    /// For each current column: the first and the last column in the linked list of the columns merged with it.
    chains: Vec<[u32; 2]>,
    /// For each cluster before any merge: the index, at the last renumbering, of the cluster that contained it.
    slot: Vec<u16>,
    /// See [`Dense::pays`].
    small: usize,
}

const NONE: u32 = u32::MAX;

impl<V: Value, const K: usize> Sparse<V, K> {
    /// Returns the answers as lists. `gains` has a number for each pair of clusters: how much the answers favour
    /// merging this pair. The pair's entries in the lists are added to this number, each multiplied by [`factor`].
    pub(super) fn new(
        comparisons: &Comparisons<'_, K>,
        slots: &Slots,
        (slot_of, small): (&[u32], usize),
        gains: &mut [f64],
        monitor: &Monitor,
    ) -> Result<Self> {
        entered!(preference_sparse);
        let n_columns = n_columns::<K>(slots.len());
        let bytes = 2 * comparisons.len() * size_of::<Entry<V>>() + n_columns * 36;
        memory::check("the answers by cluster", bytes as u64)?;
        let mut counts = memory::filled("the numbers of answers by cluster", 0usize, n_columns)?;
        let parts: Vec<_> = parallel::ranges(n_columns, 1).into_iter().filter(|part| !part.is_empty()).collect();
        let column_ends: Vec<usize> = parts.iter().map(|part| part.end).collect();
        let slices = parallel::split_at_ends(&mut counts, &column_ends);
        parallel::map(parts.iter().cloned().zip(slices).collect(), |(part, counts)| {
            each_side::<K>(comparisons, slots, slot_of, &part, monitor, |side| counts[side.column - part.start] += 1)
        })
        .into_iter()
        .collect::<Result<Vec<()>>>()?;
        let mut total = 0;
        let mut ends = counts;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        let mut entries = memory::filled("the answers by cluster", Entry::<V>::default(), total)?;
        let bounds: Vec<usize> = column_ends.iter().map(|&end| ends.get(end).copied().unwrap_or(total)).collect();
        let ends_of = parallel::split_at_ends(&mut ends, &column_ends);
        let entries_of = parallel::split_at_ends(&mut entries, &bounds);
        parallel::map(
            parts.iter().cloned().zip(ends_of.into_iter().zip(entries_of)).collect(),
            |(part, (ends, out))| {
                let first = ends[0];
                each_side::<K>(comparisons, slots, slot_of, &part, monitor, |side| {
                    let [p, q] = side.pair.map(|slot| slot as u16);
                    let place = &mut ends[side.column - part.start];
                    out[*place - first] = Entry { p, q, value: V::of(side.value) };
                    *place += 1;
                })
            },
        )
        .into_iter()
        .collect::<Result<Vec<()>>>()?;
        let mut start = 0;
        for (factor, &end) in factor::<K>(slots).into_iter().zip(&ends) {
            for entry in &entries[start..end] {
                gains[slots.pair(entry.p.into(), entry.q.into())] += entry.value.into() * factor;
            }
            start = end;
        }
        Ok(Self {
            entries,
            ends,
            next: memory::filled("the next clusters", NONE, n_columns)?,
            chains: memory::collected("the clusters", n_columns, (0..n_columns as u32).map(|column| [column; 2]))?,
            slot: (0..slots.len()).map(|slot| slot as u16).collect(),
            small,
        })
    }

    /// Returns the answers of a column as (p, q, value), where p and q are the indices of the two clusters at the last
    /// renumbering.
    fn column(&self, column: usize) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let first = self.chains[column][0];
        std::iter::successors(Some(first), |&at| Some(self.next[at as usize]).filter(|&next| next != NONE))
            .flat_map(|at| {
                let at = at as usize;
                let start = if at == 0 { 0 } else { self.ends[at - 1] };
                &self.entries[start..self.ends[at]]
            })
            .map(|entry| {
                let [p, q] = [entry.p, entry.q].map(|slot| usize::from(self.slot[usize::from(slot)]));
                (p, q, entry.value.into())
            })
    }

    fn to_dense(&self, slots: &Slots) -> Result<Dense<V::Sum, K>> {
        entered!(preference_sparse_to_dense);
        let mut dense = Dense::zeros(slots.len())?;
        for column in 0..n_columns::<K>(slots.len()) {
            for (p, q, value) in self.column(column) {
                if p != q && (K == 4 || (p != column && q != column)) {
                    dense.add(column, slots.pair(p, q), V::Sum::of(value));
                }
            }
        }
        Ok(dense)
    }
}

impl<V: Value, const K: usize> Answers for Sparse<V, K> {
    fn merge(&mut self, slots: &Slots, a: usize, b: usize, gains: &mut [f64]) {
        let mut add = |p: usize, q: usize, gain: f64| {
            if p != q {
                gains[slots.pair(p, q)] += gain;
            }
        };
        for Touched { into, from, before, after } in touched::<K>(slots, a, b) {
            for (column, before, own, other) in [(into, before[0], a, b), (from, before[1], b, a)] {
                for (p, q, value) in self.column(column) {
                    if K == 4 {
                        add(p, q, value * (after - before));
                        continue;
                    }
                    let clusters = [slots.now[p], slots.now[q]];
                    if clusters[0] == clusters[1] || clusters.contains(&own) {
                        continue;
                    }
                    let after = if clusters.contains(&other) { 0.0 } else { after };
                    add(p, q, value * (after - before));
                }
            }
            let last = self.chains[into][1] as usize;
            self.next[last] = self.chains[from][0];
            self.chains[into][1] = self.chains[from][1];
        }
        if K == 4 {
            let before = 1.0 / (slots.sizes[a] * slots.sizes[b]);
            for (p, q, value) in self.column(slots.pair(a, b)) {
                add(p, q, -value * before);
            }
        }
    }

    fn packed(mut self: Box<Self>, before: &Slots, after: &Slots, renumbering: &[usize]) -> Result<Box<dyn Answers>> {
        self.slot.iter_mut().for_each(|slot| *slot = renumbering[usize::from(*slot)] as u16);
        let old = &before.active;
        self.chains = if K == 3 {
            old.iter().map(|&r| self.chains[r]).collect()
        } else {
            let of = |r: usize| (r + 1..old.len()).map(move |s| [r, s]);
            (0..after.len()).flat_map(of).map(|[r, s]| self.chains[before.pair(old[r], old[s])]).collect()
        };
        let pays = Dense::<V::Sum, K>::pays(after.len(), self.entries.len(), self.small);
        Ok(if pays { Box::new(self.to_dense(after)?) } else { self })
    }
}
