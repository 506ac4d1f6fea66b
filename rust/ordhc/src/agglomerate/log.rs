//! Merges that rows learn of when they are read next.

use crate::linkage::Update;
use crate::numbers::Held;

/// A merge of the clusters at two positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logged<M> {
    pub(super) i: usize,
    pub(super) j: usize,
    pub(super) merge: M,
}

/// From so many merges on a row is read as a whole before.
const STREAMED: usize = 16;
/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Replays missed merges on the row at `own`; its own merges it has seen.
pub(super) fn replay<U: Update, V: Held>(update: &U, row: &mut [V], missed: &[Logged<U::Merge>], own: usize, n_k: f64) {
    if missed.len() >= STREAMED {
        // The whole row comes at once, not value by value from where the log says.
        let lines = row.iter().step_by(LINE / size_of::<V>());
        std::hint::black_box(lines.fold(0.0, |sum, x| sum + x.float()));
    }
    wide!(for Logged { i, j, merge } in missed {
        if *i != own {
            row[*i] = V::of(update.fold(merge, row[*i].float(), row[*j].float(), n_k));
            row[*j] = V::of(f64::NEG_INFINITY);
        }
    })
}
