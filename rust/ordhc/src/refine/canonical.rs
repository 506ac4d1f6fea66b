//! An order of leaves that depends only on the data, so that results do not depend on how leaves are numbered.
//!
//! The key of a leaf is a hash of all data about the leaf, including the keys of other leaves (colour refinement).
//! Hashes are added as integers modulo a prime, so the order of addition does not matter. The integers modulo a prime
//! are a field, so the sums of all leaves can be divided by their total. This removes common factors: repeating all
//! answers or scaling all weights changes no key. Values of a matrix are used relative to their range.

use crate::agglomerate::{Matrix, Values, with_values};
use crate::comparison::Comparisons;
use crate::numbers::Number;
use crate::sorting::order_by_key;
use crate::tree::Topology;

/// Returns the leaves in an order that is the same for every numbering of the leaves and every order of the rows.
///
/// Leaves that the comparisons do not distinguish are in the order of their numbers. An integer weight is equivalent to
/// that number of repeats. Repeating all comparisons equally often, or multiplying all weights by a number, does not
/// change the order.
///
/// ```
/// use ordhc::Triplets;
/// use ordhc::bindings::canonical_order;
///
/// let order = canonical_order(&Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?);
/// let renumbered = canonical_order(&Triplets::new(vec![[1, 2, 0], [2, 1, 0]], None)?);
/// // Leaf 2, the odd one out, has id 0 after renumbering.
/// let place = |order: &[u32], leaf| order.iter().position(|&other| other == leaf);
/// assert_eq!(place(&order, 2), place(&renumbered, 0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn canonical_order<const K: usize>(comparisons: &Comparisons<'_, K>) -> Vec<u32> {
    let unit = unit_of(comparisons);
    order(comparisons.n_leaves(), &|keys, sums| add_to_sums(comparisons, unit, keys, sums), None)
}

/// Adds a hash of the comparisons about each leaf to the sum of the leaf in `sums`. `keys` has an integer for each
/// leaf; leaves that are not distinguished yet have equal integers. Together with [`next_keys`], this computes the
/// [`canonical_order`] of comparisons that are read in several chunks.
///
/// Weights are divided by `unit`, which is 1 if all weights of all chunks are integers, and otherwise the largest
/// weight of all chunks. Sums are integers modulo 2^61 - 1.
///
/// ```
/// use ordhc::Triplets;
/// use ordhc::bindings::{add_to_sums, canonical_order, next_keys};
///
/// let parts = [[0, 1, 2], [1, 0, 2]].map(|row| Triplets::new(vec![row], Some(3)).unwrap());
/// let mut keys = vec![0; 3];
/// let mut sums = vec![0; 3];
/// parts.iter().for_each(|part| add_to_sums(part, 1.0, &keys, &mut sums));
/// // `next_keys` returns `None` if the new keys would not distinguish more leaves.
/// while let Some(next) = next_keys(&keys, &sums) {
///     keys = next;
///     sums.fill(0);
///     parts.iter().for_each(|part| add_to_sums(part, 1.0, &keys, &mut sums));
/// }
/// let mut order: Vec<u32> = (0..3).collect();
/// order.sort_by_key(|&leaf| keys[leaf as usize]);
/// assert_eq!(order, canonical_order(&Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?));
/// # Ok::<(), ordhc::Error>(())
/// ```
///
/// # Panics
/// If the number of keys or sums differs from the number of leaves.
pub fn add_to_sums<const K: usize>(comparisons: &Comparisons<'_, K>, unit: f64, keys: &[u64], sums: &mut [u64]) {
    let Some(&first) = keys.first() else { return };
    let rows = comparisons.rows();
    let mixed: Vec<u64> = keys.iter().map(|&key| mix(key)).collect();
    // The hash of a pair of different leaves does not depend on their order.
    let pair = |[i, j]: [usize; 2]| mixed[i].wrapping_add(mixed[j]);
    let whole = |near, far| join(pair(near), pair(far));
    let said = |whole: u64, role: u64, other: usize| field::element(join(join(whole, role), keys[other]));
    let mut add = |leaf: usize, sum: u64| sums[leaf] = field::sum(sums[leaf], sum);
    if let Some(weights) = comparisons.weights() {
        rows.each(0..comparisons.len(), |at, row| {
            let (near, far) = Comparisons::<K>::pairs(row);
            let whole = whole(near, far);
            let times = if unit == 1.0 { field::of_float(weights[at]) } else { field::of_rounded(weights[at] / unit) };
            each_role::<K>(near, far, |leaf, role, other| add(leaf, field::product(said(whole, role, other), times)));
        });
    } else if keys.iter().all(|&key| key == first) {
        // While the keys of all leaves are equal, all comparisons have the same hash.
        let said: [u64; 4] = std::array::from_fn(|role| said(whole([0, 0], [0, 0]), role as u64, 0));
        rows.each(0..comparisons.len(), |_, row| {
            let (near, far) = Comparisons::<K>::pairs(row);
            each_role::<K>(near, far, |leaf, role, _| add(leaf, said[role as usize]));
        });
    } else {
        rows.each(0..comparisons.len(), |_, row| {
            let (near, far) = Comparisons::<K>::pairs(row);
            let whole = whole(near, far);
            each_role::<K>(near, far, |leaf, role, other| add(leaf, said(whole, role, other)));
        });
    }
}

/// Returns a new key for each leaf: a hash of the leaf's present key and of its sum of hashes (see [`add_to_sums`]).
/// Returns `None` if the new keys would not distinguish more leaves. Multiplying all sums by the same factor gives the
/// same keys.
pub fn next_keys(keys: &[u64], sums: &[u64]) -> Option<Vec<u64>> {
    let different = count(keys);
    if different == keys.len() {
        return None;
    }
    let total = sums.iter().fold(0, |all, &sum| field::sum(all, sum));
    let scale = field::inverse(total);
    let next: Vec<u64> = keys.iter().zip(sums).map(|(&key, &sum)| join(key, field::product(sum, scale))).collect();
    (count(&next) > different).then_some(next)
}

pub(super) fn order_with_tree<const K: usize>(comparisons: &Comparisons<'_, K>, tree: &Topology) -> Vec<u32> {
    let unit = unit_of(comparisons);
    order(tree.n_leaves(), &|keys, sums| add_to_sums(comparisons, unit, keys, sums), Some(tree))
}

/// Returns the leaves of a matrix in an order that is the same for every numbering of the leaves. Leaves with the same
/// values are ordered by their position in `tree`. Adding a number to all values, or multiplying all values by a
/// positive number, does not change the order.
pub(super) fn order_of_matrix(matrix: &Matrix<'_>, tree: &Topology) -> Vec<u32> {
    let range = Range::of(matrix);
    let about = |keys: &[u64], sums: &mut [u64]| wide!(about_values(matrix, range, keys, sums));
    order(matrix.n_leaves(), &about, Some(tree))
}

/// Half of the smallest value of a matrix (`smallest`), and half of the difference between the largest and the smallest
/// value (`width`). Halves are used because they cannot overflow.
#[derive(Clone, Copy)]
struct Range {
    smallest: f64,
    width: f64,
}

impl Range {
    fn of(matrix: &Matrix<'_>) -> Self {
        let [smallest, largest] = extremes(matrix).map(|value| 0.5 * value);
        let width = largest - smallest;
        Self { smallest, width: if width > 0.0 { width } else { 1.0 } }
    }

    /// Divides the range from the smallest to the largest value of the matrix into 2^24 equal steps, and returns the
    /// index of the step nearest to `value`. Scaling the matrix does not change this index, because rounding errors are
    /// far smaller than a step.
    #[inline(always)]
    fn step(self, value: f64) -> u64 {
        const STEPS: f64 = (1u64 << 24) as f64;
        (((0.5 * value - self.smallest) / self.width) * STEPS).round_ties_even() as u64
    }
}

fn extremes(matrix: &Matrix<'_>) -> [f64; 2] {
    const LANES: usize = 16;
    let least = |a: f64, b: f64| if a < b { a } else { b };
    let most = |a: f64, b: f64| if a > b { a } else { b };
    let (mut smallest, mut largest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    for row in (0..matrix.n_leaves()).flat_map(|i| matrix.row(i)) {
        with_values!(row, row => {
            let (chunks, rest) = row.as_chunks::<LANES>();
            for chunk in chunks {
                smallest = std::array::from_fn(|at| least(chunk[at].float(), smallest[at]));
                largest = std::array::from_fn(|at| most(chunk[at].float(), largest[at]));
            }
            smallest[0] = rest.iter().fold(smallest[0], |all, value| least(value.float(), all));
            largest[0] = rest.iter().fold(largest[0], |all, value| most(value.float(), all));
        });
    }
    [smallest.into_iter().fold(f64::INFINITY, least), largest.into_iter().fold(f64::NEG_INFINITY, most)]
}

#[inline(always)]
fn about_values(matrix: &Matrix<'_>, range: Range, keys: &[u64], sums: &mut [u64]) {
    for i in 0..matrix.n_leaves() {
        let [before, after] = matrix.row(i);
        let mut own = about_row(after, range, keys[i], &keys[i + 1..], &mut sums[i + 1..]);
        if !matrix.is_symmetric() {
            own = field::sum(own, about_row(before, range, keys[i], &keys[..i], &mut sums[..i]));
        }
        sums[i] = field::sum(sums[i], own);
    }
}

#[inline(always)]
fn about_row(row: Values<'_>, range: Range, key: u64, keys: &[u64], sums: &mut [u64]) -> u64 {
    let mut own = 0_u64;
    with_values!(row, row => for ((value, &other), sum) in row.iter().zip(keys).zip(sums) {
        let step = range.step(value.float());
        own = field::sum(own, field::element(join(step, other)));
        *sum = field::sum(*sum, field::element(join(step, key)));
    });
    own
}

/// Returns the merges of the tree, with leaf i renumbered as `number[i]`. Merges are ordered by the number of leaves of
/// the new cluster, then by its smallest leaf.
pub(super) fn renumbered(tree: &Topology, number: &[u32]) -> Vec<[u32; 2]> {
    let n = tree.n_leaves();
    let mut smallest = number.to_vec();
    for &[a, b] in tree.merges().iter() {
        smallest.push(smallest[a as usize].min(smallest[b as usize]));
    }
    let tree = tree.binary();
    let (sizes, pairs) = (tree.sizes(), tree.merges());
    let mut merges: Vec<usize> = (0..pairs.len()).collect();
    order_by_key(&mut merges, |merge| (sizes[merge], smallest[n + merge]));
    let mut label = number.to_vec();
    label.resize(2 * n - 1, 0);
    for (at, &merge) in merges.iter().enumerate() {
        label[n + merge] = (n + at) as u32;
    }
    let parts = |&merge: &usize| {
        let [a, b] = pairs[merge];
        let (first, second) = if smallest[a as usize] < smallest[b as usize] { (a, b) } else { (b, a) };
        [label[first as usize], label[second as usize]]
    };
    merges.iter().map(parts).collect()
}

pub(super) fn numbers(order: &[u32]) -> Vec<u32> {
    let mut numbers = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&leaf, number)| numbers[leaf as usize] = number);
    numbers
}

/// Returns the leaves in an order that depends on their numbers only for leaves that the data do not distinguish.
/// `about(keys, sums)` must add a hash of the data about leaf i to `sums[i]`. `keys` has an integer for each leaf.
/// Leaves that are not distinguished yet have equal integers.
fn order(n: usize, about: &dyn Fn(&[u64], &mut [u64]), tree: Option<&Topology>) -> Vec<u32> {
    let mut first = vec![0; n];
    let all_apart = distinguish(&mut first, about);
    let mut keys = first.clone();
    if let (false, Some(tree)) = (all_apart, tree) {
        keys = keys_in_tree(tree, &first);
        distinguish(&mut keys, about);
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order_by_key(&mut order, |leaf| (first[leaf as usize], keys[leaf as usize], leaf));
    order
}

/// Replaces the key of each leaf by a hash of this key and of the data about the leaf. Repeats this until the number of
/// different keys no longer grows. `about` is as in [`order`]. Returns true if all leaves have different keys.
fn distinguish(keys: &mut Vec<u64>, about: &dyn Fn(&[u64], &mut [u64])) -> bool {
    while count(keys) < keys.len() {
        let mut sums = vec![0; keys.len()];
        about(keys, &mut sums);
        match next_keys(keys, &sums) {
            Some(next) => *keys = next,
            None => return false,
        }
    }
    true
}

fn count(keys: &[u64]) -> usize {
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// Returns a new key for each leaf: a hash of its key in `leaves`, and of the keys of the leaves in each subtree beside
/// the path from the root to the leaf.
fn keys_in_tree(tree: &Topology, leaves: &[u64]) -> Vec<u64> {
    let n = leaves.len();
    let mut under: Vec<u64> = leaves.iter().map(|&key| join(1, key)).collect();
    for &[a, b] in tree.merges().iter() {
        under.push(join(2, under[a as usize].wrapping_add(under[b as usize])));
    }
    let mut above = vec![0; under.len()];
    for (merge, &[a, b]) in tree.merges().iter().enumerate().rev() {
        let path = above[n + merge];
        above[a as usize] = join(path, under[b as usize]);
        above[b as usize] = join(path, under[a as usize]);
    }
    (0..n).map(|leaf| join(leaves[leaf], above[leaf])).collect()
}

/// Returns the number by which weights are divided before they are rounded: 1 if all weights are integers, and
/// otherwise the largest weight.
fn unit_of<const K: usize>(comparisons: &Comparisons<'_, K>) -> f64 {
    let weights = comparisons.weights().unwrap_or_default();
    if weights.iter().all(|weight| weight.fract() == 0.0) { 1.0 } else { weights.iter().copied().fold(0.0, f64::max) }
}

/// Calls `visit(leaf, role, other)` for the leaves of a comparison, where `other` is the other leaf of the pair of
/// `leaf`. The role is 1 in the near pair and 2 in the far pair. In a triplet, the near leaf has role 3, and the leaf
/// that is in both pairs is visited only in the near pair.
#[inline(always)]
fn each_role<const K: usize>(near: [usize; 2], far: [usize; 2], mut visit: impl FnMut(usize, u64, usize)) {
    visit(near[0], 1, near[1]);
    visit(near[1], if K == 3 { 3 } else { 1 }, near[0]);
    if K == 4 {
        visit(far[0], 2, far[1]);
    }
    visit(far[1], 2, far[0]);
}

fn join(a: u64, b: u64) -> u64 {
    mix(a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b))
}

/// Returns a hash of an integer (the finalizer of SplitMix64).
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The integers modulo the prime 2^61 - 1.
mod field {
    const PRIME: u64 = (1 << 61) - 1;

    #[inline(always)]
    pub(super) fn element(hash: u64) -> u64 {
        let folded = (hash & PRIME) + (hash >> 61);
        if folded >= PRIME { folded - PRIME } else { folded }
    }

    #[inline(always)]
    pub(super) fn sum(a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= PRIME { sum - PRIME } else { sum }
    }

    pub(super) fn product(a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        sum((product & u128::from(PRIME)) as u64, (product >> 61) as u64)
    }

    /// Returns the multiplicative inverse of `a` modulo the prime, or 1 for 0, which has no inverse.
    pub(super) fn inverse(a: u64) -> u64 {
        if a == 0 {
            return 1;
        }
        // By Fermat's little theorem, the inverse is a^(PRIME - 2).
        let (mut power, mut square, mut left) = (1, a, PRIME - 2);
        while left > 0 {
            if left & 1 == 1 {
                power = product(power, square);
            }
            square = product(square, square);
            left >>= 1;
        }
        power
    }

    /// Returns the integer modulo the prime that equals a non-negative float. Fractions are possible, because powers of
    /// two have inverses modulo the prime.
    pub(super) fn of_float(value: f64) -> u64 {
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52) as i64 & 0x7ff, bits & ((1 << 52) - 1));
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        // In this field 2^61 equals 1, so exponents can be reduced modulo 61.
        let shift = (exponent.max(1) - 1075).rem_euclid(61) as u32;
        product(mantissa, 1 << shift)
    }

    /// Rounds a float to 24 significant bits, and returns the integer modulo the prime that equals it. So weights that
    /// differ only by rounding errors are equal.
    pub(super) fn of_rounded(value: f64) -> u64 {
        let half = 1u64 << 28;
        of_float(f64::from_bits((value.to_bits() + half) & !(2 * half - 1)))
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn floats_multiply(a in 0..1u64 << 26, b in 1..1u64 << 26, exponent in -300..300i32) {
                let power = 2f64.powi(exponent);
                let both = of_float(a as f64 * b as f64 * power);
                prop_assert_eq!(both, product(of_float(a as f64 * power), of_float(b as f64)));
                prop_assert_eq!(product(of_float(b as f64), inverse(of_float(b as f64))), 1);
                prop_assert_eq!(of_float(a as f64), a);
                prop_assert_eq!(sum(of_float(a as f64), of_float(b as f64)), of_float((a + b) as f64));
                let rounded = of_rounded((a as f64 * 0.1) * 10.0);
                prop_assert_eq!(rounded, of_rounded(a as f64));
            }
        }
    }
}
