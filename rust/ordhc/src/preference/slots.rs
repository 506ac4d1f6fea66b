//! Indices of clusters (called slots) in the stored answers, and indices of pairs of clusters and of columns.

use crate::similarity::{Triangle, condensed_len};

/// Indices of clusters, called slots. When two clusters merge, the new cluster keeps the indices of both. From time to
/// time, the existing clusters are renumbered (packed), in the order of their smallest leaves. Each cluster then has
/// one index.
pub(super) struct Slots {
    /// For each slot (index of a cluster at the last renumbering): the slot in `active` of the cluster that now
    /// contains this cluster.
    pub(super) now: Vec<usize>,
    /// For each slot (index of a cluster) in `active`: the number of leaves of the cluster.
    pub(super) sizes: Vec<f64>,
    /// The existing clusters, in ascending order. A merged cluster has several slots (indices), and is listed once, by
    /// one of them.
    pub(super) active: Vec<usize>,
    /// For each slot a (index of a cluster): the index of the pair (a, b) in the condensed matrix, minus b. Arithmetic
    /// wraps around.
    pub(super) starts: Vec<usize>,
}

impl Slots {
    pub(super) fn new(sizes: Vec<f64>) -> Self {
        let k = sizes.len();
        Self {
            now: (0..k).collect(),
            active: (0..k).collect(),
            starts: (0..k).map(|slot| Triangle::new(k).base(slot)).collect(),
            sizes,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.now.len()
    }

    #[inline(always)]
    pub(super) fn pair(&self, a: usize, b: usize) -> usize {
        self.starts[a.min(b)].wrapping_add(a.max(b))
    }

    /// Returns, for each slot (old index of a cluster), the index of the same cluster after renumbering.
    pub(super) fn renumbering(&self) -> Vec<usize> {
        let mut position = vec![0; self.len()];
        for (at, &slot) in self.active.iter().enumerate() {
            position[slot] = at;
        }
        self.now.iter().map(|&slot| position[slot]).collect()
    }
}

/// Returns, for each pair of existing clusters, how much the answers favour merging the pair. `gains` has these numbers
/// for the clusters at the last renumbering. The numbers of all pairs that are now one pair are added.
pub(super) fn totals(slots: &Slots, gains: &[f64]) -> Vec<f64> {
    if slots.active.len() == slots.len() {
        return gains.to_vec();
    }
    let mut sums = vec![0.0; gains.len()];
    let mut at = 0;
    for p in 0..slots.len() {
        let a = slots.now[p];
        for &b in &slots.now[p + 1..] {
            if a != b {
                sums[slots.pair(a, b)] += gains[at];
            }
            at += 1;
        }
    }
    sums
}

/// Returns, for each pair of clusters after renumbering, the sum of the `values` of all old pairs of indices that
/// belong to this pair of clusters.
pub(super) fn pack_pairs<S: Copy, T>(
    before: &Slots,
    after: &Slots,
    renumbering: &[usize],
    values: &[S],
    convert: impl Fn(S) -> T,
) -> Vec<T>
where
    T: Copy + Default + std::ops::AddAssign,
{
    let mut sums = vec![T::default(); condensed_len(after.len())];
    let mut at = 0;
    for p in 0..before.len() {
        let a = renumbering[p];
        for &b in &renumbering[p + 1..] {
            if a != b {
                sums[after.pair(a, b)] += convert(values[at]);
            }
            at += 1;
        }
    }
    sums
}

pub(super) fn n_columns<const K: usize>(slots: usize) -> usize {
    if K == 3 { slots } else { condensed_len(slots) }
}

/// Two columns of answers that become one when two clusters merge. A column belongs to a cluster (triplets) or to a
/// pair of clusters (quadruplets). To sum preferences, values in the columns are multiplied by the factors `before`
/// until the merge, and by the factor `after` from the merge on.
pub(super) struct Touched {
    pub(super) into: usize,
    pub(super) from: usize,
    pub(super) before: [f64; 2],
    pub(super) after: f64,
}

pub(super) fn touched<const K: usize>(slots: &Slots, a: usize, b: usize) -> Vec<Touched> {
    let [n_a, n_b] = [slots.sizes[a], slots.sizes[b]];
    if K == 3 {
        return vec![Touched { into: a, from: b, before: [1.0 / n_a, 1.0 / n_b], after: 1.0 / (n_a + n_b) }];
    }
    let of = |&s: &usize| {
        let n_s = slots.sizes[s];
        Touched {
            into: slots.pair(a, s),
            from: slots.pair(b, s),
            before: [1.0 / (n_a * n_s), 1.0 / (n_b * n_s)],
            after: 1.0 / ((n_a + n_b) * n_s),
        }
    };
    slots.active.iter().filter(|&&s| s != a && s != b).map(of).collect()
}

/// Returns, for each column of answers, the factor by which its values are multiplied before they are added up for a
/// pair of clusters. The factor is 1 divided by the number of leaves of the column's cluster, or by the number of pairs
/// of leaves between its two clusters.
pub(super) fn factor<const K: usize>(slots: &Slots) -> Vec<f64> {
    let sizes = &slots.sizes;
    if K == 3 {
        return sizes.iter().map(|size| 1.0 / size).collect();
    }
    let k = slots.len();
    (0..k).flat_map(|r| (r + 1..k).map(move |s| 1.0 / (sizes[r] * sizes[s]))).collect()
}
