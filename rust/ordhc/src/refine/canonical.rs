//! An order of leaves that comes from the data, so that searches don't depend on how leaves are numbered.
//!
//! A leaf's key sums up what the data say about it, with the keys of the other leaves (colour refinement).
//! Sums are of whole numbers that wrap around, so that their order doesn't matter.

use crate::agglomerate::{Matrix, Values, with_values};
use crate::comparison::Comparisons;
use crate::numbers::Number;
use crate::tree::Dendrogram;

/// The leaves in an order that is the same for every numbering of them and every order of the rows.
///
/// Leaves that the comparisons can't tell apart stand in the order of their numbers. Repeats and whole weights are
/// the same.
///
/// ```
/// use ordhc::Triplets;
/// use ordhc::refine::canonical_order;
///
/// let order = canonical_order(&Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?);
/// let renumbered = canonical_order(&Triplets::new(vec![[1, 2, 0], [2, 1, 0]], None)?);
/// // Leaf 2, the odd one out, is leaf 0 then.
/// let place = |order: &[u32], leaf| order.iter().position(|&other| other == leaf);
/// assert_eq!(place(&order, 2), place(&renumbered, 0));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn canonical_order<const K: usize>(comparisons: &Comparisons<'_, K>) -> Vec<u32> {
    order(comparisons.n_leaves(), |keys, sums| about_comparisons(comparisons, keys, sums), None)
}

/// What comparisons say about each leaf, added to `sums`, given the keys of all leaves: [`canonical_order`] of
/// comparisons that come in parts, with [`next_keys`].
///
/// ```
/// use ordhc::Triplets;
/// use ordhc::refine::{add_to_sums, canonical_order, next_keys};
///
/// let parts = [[0, 1, 2], [1, 0, 2]].map(|row| Triplets::new(vec![row], Some(3)).unwrap());
/// let mut keys = vec![0; 3];
/// let mut sums = vec![0; 3];
/// parts.iter().for_each(|part| add_to_sums(part, &keys, &mut sums));
/// // None when no more leaves were told apart.
/// while let Some(next) = next_keys(&keys, &sums) {
///     keys = next;
///     sums.fill(0);
///     parts.iter().for_each(|part| add_to_sums(part, &keys, &mut sums));
/// }
/// let mut order: Vec<u32> = (0..3).collect();
/// order.sort_by_key(|&leaf| keys[leaf as usize]);
/// assert_eq!(order, canonical_order(&Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?));
/// # Ok::<(), ordhc::Error>(())
/// ```
///
/// # Panics
/// If there isn't a key and a sum for each leaf.
pub fn add_to_sums<const K: usize>(comparisons: &Comparisons<'_, K>, keys: &[u64], sums: &mut [u64]) {
    about_comparisons(comparisons, keys, sums);
}

/// The keys with what comparisons say, if that tells more leaves apart.
pub fn next_keys(keys: &[u64], sums: &[u64]) -> Option<Vec<u64>> {
    let different = count(keys);
    if different == keys.len() {
        return None;
    }
    let next: Vec<u64> = keys.iter().zip(sums).map(|(&key, &sum)| join(key, sum)).collect();
    (count(&next) > different).then_some(next)
}

/// As [`canonical_order`]; the tree tells apart what the comparisons don't.
pub(super) fn order_with_tree<const K: usize>(comparisons: &Comparisons<'_, K>, tree: &Dendrogram) -> Vec<u32> {
    order(tree.n_leaves(), |keys, sums| about_comparisons(comparisons, keys, sums), Some(tree))
}

/// As [`order_with_tree`]. Adding a number to all values changes nothing.
pub(super) fn order_of_matrix(matrix: &Matrix<'_>, tree: &Dendrogram) -> Vec<u32> {
    let smallest = wide!(smallest(matrix));
    let about = |keys: &[u64], sums: &mut [u64]| wide!(about_values(matrix, smallest, keys, sums));
    order(matrix.n_leaves(), about, Some(tree))
}

#[inline(always)]
fn smallest(matrix: &Matrix<'_>) -> f64 {
    const LANES: usize = 16;
    let least = |a: f64, b: f64| if a < b { a } else { b };
    let mut smallest = [f64::INFINITY; LANES];
    for row in (0..matrix.n_leaves()).flat_map(|i| matrix.row(i)) {
        with_values!(row, row => {
            let (chunks, rest) = row.as_chunks::<LANES>();
            for chunk in chunks {
                smallest = std::array::from_fn(|at| least(chunk[at].float(), smallest[at]));
            }
            smallest[0] = rest.iter().fold(smallest[0], |all, value| least(value.float(), all));
        });
    }
    smallest.into_iter().fold(f64::INFINITY, least)
}

#[inline(always)]
fn about_values(matrix: &Matrix<'_>, smallest: f64, keys: &[u64], sums: &mut [u64]) {
    for i in 0..matrix.n_leaves() {
        let [before, after] = matrix.row(i);
        let mut own = about_row(after, smallest, keys[i], &keys[i + 1..], &mut sums[i + 1..]);
        if !matrix.is_symmetric() {
            own = own.wrapping_add(about_row(before, smallest, keys[i], &keys[..i], &mut sums[..i]));
        }
        sums[i] = sums[i].wrapping_add(own);
    }
}

/// Adds what the values of a leaf with others say about these, and gives what they say about the leaf.
#[inline(always)]
fn about_row(row: Values<'_>, smallest: f64, key: u64, keys: &[u64], sums: &mut [u64]) -> u64 {
    let mut own = 0_u64;
    with_values!(row, row => for ((value, &other), sum) in row.iter().zip(keys).zip(sums) {
        let value = (value.float() - smallest + 0.0).to_bits();
        own = own.wrapping_add(join(value, other));
        *sum = sum.wrapping_add(join(value, key));
    });
    own
}

/// The tree with the leaf at each place of an order numbered by its place, merges by size and smallest leaf.
pub(super) fn renumbered(tree: &Dendrogram, number: &[u32]) -> Vec<[u32; 2]> {
    let n = tree.n_leaves();
    let mut smallest = number.to_vec();
    for &[a, b] in tree.merges() {
        smallest.push(smallest[a as usize].min(smallest[b as usize]));
    }
    let mut merges: Vec<usize> = (0..tree.merges().len()).collect();
    merges.sort_unstable_by_key(|&merge| (tree.sizes()[merge], smallest[n + merge]));
    let mut label = number.to_vec();
    label.resize(2 * n - 1, 0);
    for (at, &merge) in merges.iter().enumerate() {
        label[n + merge] = (n + at) as u32;
    }
    let parts = |&merge: &usize| {
        let [a, b] = tree.merges()[merge];
        let (first, second) = if smallest[a as usize] < smallest[b as usize] { (a, b) } else { (b, a) };
        [label[first as usize], label[second as usize]]
    };
    merges.iter().map(parts).collect()
}

/// The number of each leaf.
pub(super) fn numbers(order: &[u32]) -> Vec<u32> {
    let mut numbers = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&leaf, number)| numbers[leaf as usize] = number);
    numbers
}

/// `about` adds for every leaf what the data say about it, given all keys.
fn order(n: usize, about: impl Fn(&[u64], &mut [u64]), tree: Option<&Dendrogram>) -> Vec<u32> {
    let mut first = vec![0; n];
    let all_apart = tell_apart(&mut first, &about);
    let mut keys = first.clone();
    if let (false, Some(tree)) = (all_apart, tree) {
        keys = keys_in_tree(tree, &first);
        tell_apart(&mut keys, &about);
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_unstable_by_key(|&leaf| (first[leaf as usize], keys[leaf as usize], leaf));
    order
}

/// Refines keys as long as that tells more leaves apart; whether it is all of them.
fn tell_apart(keys: &mut Vec<u64>, about: impl Fn(&[u64], &mut [u64])) -> bool {
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

/// Every leaf's key with those of the subtrees beside its path from the root.
fn keys_in_tree(tree: &Dendrogram, leaves: &[u64]) -> Vec<u64> {
    let n = leaves.len();
    let mut under: Vec<u64> = leaves.iter().map(|&key| join(1, key)).collect();
    for &[a, b] in tree.merges() {
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

fn about_comparisons<const K: usize>(comparisons: &Comparisons<'_, K>, keys: &[u64], sums: &mut [u64]) {
    let Some(&first) = keys.first() else { return };
    let rows = comparisons.rows();
    let mixed: Vec<u64> = keys.iter().map(|&key| mix(key)).collect();
    // Two pairs of different leaves, or two of a triplet that share the anchor.
    let pair = |[i, j]: [usize; 2]| mixed[i].wrapping_add(mixed[j]);
    let whole = |near, far| join(pair(near), pair(far));
    let said = |whole: u64, role: u64, other: usize| join(join(whole, role), keys[other]);
    let mut add = |leaf: usize, sum: u64| sums[leaf] = sums[leaf].wrapping_add(sum);
    if let Some(weights) = comparisons.weights() {
        rows.each(0..comparisons.len(), |at, row| {
            let (near, far) = Comparisons::<K>::pairs(row);
            let whole = whole(near, far);
            // Parts that are whole add up as repeats do.
            let (times, rest) = (weights[at].trunc() as u64, weights[at].fract());
            tell::<K>(near, far, |leaf, role, other| {
                let said = said(whole, role, other);
                add(leaf, said.wrapping_mul(times));
                if rest != 0.0 {
                    add(leaf, join(said, rest.to_bits()));
                }
            });
        });
    } else if keys.iter().all(|&key| key == first) {
        // All comparisons say the same.
        let said: [u64; 4] = std::array::from_fn(|role| said(whole([0, 0], [0, 0]), role as u64, 0));
        rows.each(0..comparisons.len(), |_, row| {
            let (near, far) = Comparisons::<K>::pairs(row);
            tell::<K>(near, far, |leaf, role, _| add(leaf, said[role as usize]));
        });
    } else {
        rows.each(0..comparisons.len(), |_, row| {
            let (near, far) = Comparisons::<K>::pairs(row);
            let whole = whole(near, far);
            tell::<K>(near, far, |leaf, role, other| add(leaf, said(whole, role, other)));
        });
    }
}

/// The leaves of a comparison, each with its role and the leaf beside it.
#[inline(always)]
fn tell<const K: usize>(near: [usize; 2], far: [usize; 2], mut tell: impl FnMut(usize, u64, usize)) {
    tell(near[0], 1, near[1]);
    tell(near[1], if K == 3 { 3 } else { 1 }, near[0]);
    if K == 4 {
        tell(far[0], 2, far[1]);
    }
    tell(far[1], 2, far[0]);
}

fn join(a: u64, b: u64) -> u64 {
    mix(a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b))
}

/// SplitMix64.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
