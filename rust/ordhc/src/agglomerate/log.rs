//! Merges that rows learn of when they are read next.

use crate::linkage::Update;

/// A merge of the clusters at two positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logged<M> {
    pub(super) i: usize,
    pub(super) j: usize,
    pub(super) merge: M,
}

/// Brings a row into the cache that has missed some merges, as a whole: its values would come one by one, from where the
/// log says.
pub(super) fn stream(row: &[f64], n_missed: usize) {
    const MANY: usize = 16;
    /// Bytes of a line of the cache.
    const LINE: usize = 64;
    if n_missed >= MANY {
        let lines = row.iter().step_by(LINE / size_of::<f64>());
        std::hint::black_box(lines.fold(0.0, |sum, x| sum + x));
    }
}

/// Replays missed merges on the row at `own`; its own merges it has seen.
pub(super) fn replay<U: Update>(update: &U, row: &mut [f64], missed: &[Logged<U::Merge>], own: usize, n_k: f64) {
    stream(row, missed.len());
    wide!(for Logged { i, j, merge } in missed {
        if *i != own {
            row[*i] = update.fold(merge, row[*i], row[*j], n_k);
            row[*j] = f64::NEG_INFINITY;
        }
    })
}
