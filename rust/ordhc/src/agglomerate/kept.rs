//! Deletes the columns of absorbed clusters (merged into others) from rows of a similarity matrix.

use fearless_simd::prelude::*;
use fearless_simd::{f64x8, mask64x8};

const LANES: usize = 8;
const BITS: usize = u64::BITS as usize;

/// The indices of the clusters that are kept, one bit for each cluster.
pub(super) struct Kept {
    /// The bits of all clusters, followed by one extra word, so that [`Kept::word`] can read past the last bit.
    words: Vec<u64>,
}

impl Kept {
    pub(super) fn of(slots: impl Iterator<Item = usize>, k: usize) -> Self {
        let mut words = vec![0; k / BITS + 2];
        slots.for_each(|slot| words[slot / BITS] |= 1 << (slot % BITS));
        Self { words }
    }

    /// Returns one bit for each of the 64 clusters from index `slot` on: 1 if the cluster is kept.
    #[inline(always)]
    fn word(&self, slot: usize) -> u64 {
        let (at, shift) = (slot / BITS, slot % BITS);
        // Shift twice, because a shift by 64 is not allowed.
        self.words[at] >> shift | self.words[at + 1] << 1 << (BITS - 1 - shift)
    }

    /// Writes the kept values of `row` to `out`, without gaps. The first value of `row` belongs to the cluster with
    /// index `first`.
    #[inline(always)]
    pub(super) fn copy<S: Simd>(&self, simd: S, first: usize, row: &[f64], out: &mut [f64]) {
        let (mut rest, mut slot) = (out, first);
        for values in row.chunks(BITS) {
            let mut bits = self.word(slot);
            slot += BITS;
            let (chunks, few) = values.as_chunks::<LANES>();
            for chunk in chunks {
                let n = (bits as u8).count_ones() as usize;
                let packed = packed(simd, chunk, bits as u8);
                match rest.first_chunk_mut::<LANES>() {
                    // Write the whole SIMD vector. The next write overwrites the values after the first `n`.
                    Some(to) => *to = packed,
                    None => rest[..n].copy_from_slice(&packed[..n]),
                }
                rest = &mut rest[n..];
                bits >>= LANES;
            }
            for (lane, &x) in few.iter().enumerate() {
                if bits >> lane & 1 == 1 {
                    rest[0] = x;
                    rest = &mut rest[1..];
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn pack<S: Simd>(&self, simd: S, row: &mut [f64]) {
        let (mut slot, mut to) = (0, 0);
        while let Some(&chunk) = row[slot..].first_chunk::<LANES>() {
            let bits = self.word(slot) as u8;
            // This overwrites only values that were already read.
            row[to..to + LANES].copy_from_slice(&packed(simd, &chunk, bits));
            to += bits.count_ones() as usize;
            slot += LANES;
        }
        let bits = self.word(slot);
        for lane in 0..row.len() - slot {
            if bits >> lane & 1 == 1 {
                row[to] = row[slot + lane];
                to += 1;
            }
        }
    }
}

/// Returns an array that begins with the values whose bit in `bits` is set. The rest of the array is arbitrary.
#[inline(always)]
fn packed<S: Simd>(simd: S, values: &[f64; LANES], bits: u8) -> [f64; LANES] {
    let kept = mask64x8::from_bitmask(simd, bits.into());
    f64x8::load_array_ref(simd, values).compress(kept).into()
}

/// Reads a row from start to end, to load it into the cache, if many merges must be applied to the row. Otherwise, its
/// cache lines would be loaded one by one, in the order of the merges.
pub(super) fn stream(row: &[f64], n_missed: usize) {
    const MANY: usize = 16;
    const LINE: usize = 64;
    if n_missed >= MANY {
        let lines = row.iter().step_by(LINE / size_of::<f64>());
        std::hint::black_box(lines.fold(0.0, |sum, x| sum + x));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(keep: &[bool], first: usize) {
        let row: Vec<f64> = (0..keep.len()).map(|slot| slot as f64).collect();
        let left = |from: usize| (from..keep.len()).filter(|&slot| keep[slot]);
        let kept = Kept::of(left(0), keep.len());
        let values = |from: usize| left(from).map(|slot| row[slot]).collect::<Vec<f64>>();
        let mut found = vec![-1.0; left(first).count()];
        widest!(simd => kept.copy(simd, first, &row[first..], &mut found));
        assert_eq!(found, values(first));
        let mut packed = row.clone();
        widest!(simd => kept.pack(simd, &mut packed));
        assert_eq!(packed[..left(0).count()], values(0));
    }

    proptest! {
        #[test]
        fn what_is_left_comes_in_order(keep in proptest::collection::vec(any::<bool>(), 0..300), first in 0..300usize) {
            let first = first.min(keep.len());
            check(&keep, first);
        }
    }
}
