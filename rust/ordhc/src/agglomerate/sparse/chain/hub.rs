//! An index of the edges of a cluster with many edges (a hub), to find its nearest neighbour without reading all edges.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Bound;

use super::super::graph::{Best, Near, Rules};
use super::super::links::{Entry, Summary};

/// An index of the edges of one cluster, in descending order of similarity.
///
/// The similarities are computed as if this cluster had size 1, because the size of this cluster does not change the
/// order of its edges. The stored rank of an edge is an upper bound: it is not updated if the size or name of the
/// neighbour changes, and such changes only lower the rank.
pub(super) struct Hub {
    places: HashMap<u32, (u32, Rank), BuildHasherDefault<Mix>>,
    order: BTreeSet<(Rank, u32)>,
}

/// The rank of an edge: larger similarities first, then larger shares of stored pairs of leaves, then smaller names of
/// clusters.
type Rank = (Reverse<u64>, Reverse<u64>, u32);

impl Hub {
    pub(super) fn new(entries: &[Entry], about: impl Fn(u32) -> (f64, u32), summary: Summary) -> Self {
        entered!(sparse_hub);
        let rank = |entry: &Entry| rank_of(summary, entry, about(entry.cluster));
        let places = entries.iter().enumerate().map(|(at, entry)| (entry.cluster, (at as u32, rank(entry)))).collect();
        let order = entries.iter().map(|entry| (rank(entry), entry.cluster)).collect();
        Self { places, order }
    }

    pub(super) fn place(&self, k: u32) -> Option<usize> {
        self.places.get(&k).map(|&(at, _)| at as usize)
    }

    pub(super) fn remove(&mut self, k: u32, at: usize, moved: Option<&Entry>) {
        if let Some((_, rank)) = self.places.remove(&k) {
            self.order.remove(&(rank, k));
        }
        if let Some(place) = moved.and_then(|moved| self.places.get_mut(&moved.cluster)) {
            place.0 = at as u32;
        }
    }

    pub(super) fn set(&mut self, entry: &Entry, at: usize, about: (f64, u32), summary: Summary) {
        let rank = rank_of(summary, entry, about);
        if let Some((_, old)) = self.places.insert(entry.cluster, (at as u32, rank)) {
            self.order.remove(&(old, entry.cluster));
        }
        self.order.insert((rank, entry.cluster));
    }

    pub(super) fn nearest(
        &mut self,
        entries: &[Entry],
        n_i: f64,
        about: impl Fn(u32) -> (f64, u32),
        rules: Rules<'_>,
    ) -> Option<Near> {
        let Rules { summary, bar, tolerance, .. } = rules;
        let mut best = Best::none();
        let mut floor = f64::NEG_INFINITY;
        let mut from = Bound::Unbounded;
        // Visit only the first of the edges with equal similarity. Stop when similarities are certainly smaller than
        // the largest similarity.
        while let Some(&(rank, k)) = self.order.range((from, Bound::Unbounded)).next() {
            let at = self.places.get(&k)?.0 as usize;
            let (n_k, name) = about(k);
            if rank_of(summary, &entries[at], (n_k, name)) != rank {
                self.set(&entries[at], at, (n_k, name), summary);
                continue;
            }
            let similarity = summary.similarity(&entries[at], n_i, n_k);
            if similarity <= bar || similarity < floor {
                break;
            }
            let share = summary.share(&entries[at], n_i, n_k);
            if best.near.is_none() {
                floor = tolerance.floor(similarity);
            }
            best.offer(Near { cluster: k, similarity }, share, name, rules);
            from = Bound::Excluded(((rank.0, Reverse(0), u32::MAX), u32::MAX));
        }
        best.near
    }
}

fn rank_of(summary: Summary, entry: &Entry, (n_k, name): (f64, u32)) -> Rank {
    let share = summary.share(entry, 1.0, n_k);
    (Reverse(ordered(summary.similarity(entry, 1.0, n_k))), Reverse(ordered(share)), name)
}

fn ordered(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// A hash of one integer (Fibonacci hashing). A keyed hash is not needed, because no attacker chooses the indices of
/// clusters.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, x: u32) {
        self.0 = (self.0 ^ u64::from(x)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
