//! The linkages 3-AL and 4-AL, which merge the pair of clusters with the largest preference.

use super::dense::Dense;
use super::slots::{Slots, pack_pairs, totals};
use super::sparse::{Sparse, Value};
use crate::comparison::Comparisons;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::similarity::condensed_len;
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};

/// Returns the dendrogram of 3-AL for triplets, or 4-AL for quadruplets: average linkage of preferences between
/// clusters (Ghoshdastidar, Perrot & von Luxburg 2019).
///
/// Let x(ij;kl) be the weight of answers that i and j are closer than k and l, less the weight of opposite answers. The
/// preference of a pair {p, q} of clusters over {r, s} is the mean of x(ij;kl) over their leaves i, j, k, l. 4-AL
/// merges the pair with the largest mean preference over all ordered pairs (r, s) of different clusters. 3-AL merges
/// the pair with the largest mean of "p is closer to q than to r" and "q is closer to p than to r" over all other
/// clusters r. See equations 4 to 7 of the paper; equations 5 and 7 define the heights. When two clusters are left,
/// 3-AL has nothing to compare, and the height is 0.
///
/// `initial` are the clusters to start from. In the tree, the leaves of each initial cluster merge one by one. All
/// these merges have the height of the most similar later merge.
///
/// Preferences are ties if they differ from the largest preference by at most 1e-12 times the largest absolute
/// preference so far. Clusters are named by their smallest leaves. Among ties, the lexicographically smallest pair of
/// names merges first. The dendrogram has the merges in the order of merging, so heights may rise towards the root.
///
/// Every merge changes the preferences of all pairs. So the time is O(K^2) per merge for K clusters, plus about
/// O(m log n) for m answers.
///
/// # Errors
/// Initial clusters for a different number of leaves; weights whose sums are not finite; not enough memory;
/// [`Error::Interrupted`].
///
/// ```
/// use ordhc::{Triplets, preference::preference_linkage};
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2], [2, 1, 0]], None)?;
/// let tree = preference_linkage(&triplets, None, None)?;
/// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
/// assert_eq!(tree.heights(), [1.0, 0.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn preference_linkage<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    initial: Option<&Partition>,
    monitor: Option<&Monitor>,
) -> Result<Dendrogram> {
    watched!(monitor);
    let n = comparisons.n_leaves();
    let singletons;
    let partition = match initial {
        Some(partition) => {
            partition.check(n)?;
            partition
        }
        None => {
            singletons = Partition::singletons(n);
            &singletons
        }
    };
    let after = merges(comparisons, partition, SMALL, monitor)?;
    Dendrogram::in_order(n, with_initial(partition.merges(), after))
}

/// Answers are stored in a table ([`Dense`]) instead of lists ([`Sparse`]) if the table has at most this number of
/// cells.
const SMALL: usize = 4096;

/// Two preferences are tied if they differ by at most this share of the largest absolute preference so far.
const TIE: f64 = 1e-12;

/// The answers of people, by the clusters that they compare.
pub(super) trait Answers {
    /// Merges cluster `b` into `a`, and changes how much the answers favour each pair of clusters (`gains`).
    fn merge(&mut self, slots: &Slots, a: usize, b: usize, gains: &mut [f64]);

    /// Returns the answers for renumbered clusters: `renumbering` has the new indices of the clusters `before`.
    fn packed(self: Box<Self>, before: &Slots, after: &Slots, renumbering: &[usize]) -> Result<Box<dyn Answers>>;
}

fn merges<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    partition: &Partition,
    small: usize,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let k = partition.n_clusters();
    if k > u16::MAX as usize {
        return Err(Error::out_of_range("the number of clusters", k, format!("1..={} (for this linkage)", u16::MAX)));
    }
    // Each pair of clusters needs 40 bytes for sums and factors, and each cluster needs 128 bytes.
    memory::check("the preferences of pairs", 40 * condensed_len(k) as u64 + 128 * k as u64)?;
    monitor.start((k * k / 2 + k * k / 4) as u64);
    let slots = Slots::new(partition.clusters().iter().map(|leaves| leaves.len() as f64).collect());
    let slot_of = partition.cluster_of();
    let mut gains = memory::filled("the preferences of pairs", 0.0, condensed_len(k))?;
    let answers: Box<dyn Answers> = if comparisons.weights().is_some() {
        stored::<f64, K>(comparisons, &slots, (slot_of, small), &mut gains, monitor)?
    } else if let Some(table) = narrow(comparisons, &slots, (slot_of, small), &mut gains, monitor)? {
        table
    } else {
        stored::<i8, K>(comparisons, &slots, (slot_of, small), &mut gains, monitor)?
    };
    monitor.advance((k * k / 4) as u64)?;
    let names = partition.clusters().iter().map(|leaves| leaves[0]).collect();
    let similarity = |largest: f64, clusters: f64| match K {
        3 if clusters == 2.0 => 0.0,
        3 => largest / (2.0 * (clusters - 2.0)),
        _ => largest / (clusters * (clusters - 1.0) / 2.0),
    };
    merge_all(answers, (slots, names, gains), similarity, monitor)
}

/// Returns a table of 16-bit counts, if a table pays and no sum can overflow before the clusters are renumbered.
fn narrow<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    slots: &Slots,
    (slot_of, small): (&[u32], usize),
    gains: &mut [f64],
    monitor: &Monitor,
) -> Result<Option<Box<dyn Answers>>> {
    let most = most_narrow::<K>(slots.len());
    if most < 1.0 || !Dense::<i16, K>::pays(slots.len(), 2 * comparisons.len(), small) {
        return Ok(None);
    }
    let table = Dense::<i16, K>::new(comparisons, slots, (slot_of, most), gains, monitor)?;
    Ok(table.map(|table| {
        entered!(preference_narrow);
        Box::new(table) as Box<dyn Answers>
    }))
}

/// Returns the answers as a table if that pays, and as lists otherwise.
fn stored<V: Value, const K: usize>(
    comparisons: &Comparisons<'_, K>,
    slots: &Slots,
    (slot_of, small): (&[u32], usize),
    gains: &mut [f64],
    monitor: &Monitor,
) -> Result<Box<dyn Answers>> {
    if Dense::<V::Sum, K>::pays(slots.len(), 2 * comparisons.len(), small) {
        let table = Dense::<V::Sum, K>::new(comparisons, slots, (slot_of, f64::INFINITY), gains, monitor)?;
        return Ok(Box::new(table.expect("no number is larger than infinity")));
    }
    Ok(Box::new(Sparse::<V, K>::new(comparisons, slots, (slot_of, small), gains, monitor)?))
}

/// Merges the preferred pair of clusters until one is left. `similarity` computes the height of a merge from the sum of
/// its preferences and the number of clusters.
fn merge_all(
    mut answers: Box<dyn Answers>,
    (mut slots, mut names, mut gains): (Slots, Vec<usize>, Vec<f64>),
    similarity: fn(f64, f64) -> f64,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let k = slots.len();
    let mut merges = Vec::with_capacity(k.saturating_sub(1));
    let mut size = 0.0;
    while slots.active.len() > 1 {
        let clusters = slots.active.len() as f64;
        let totals = totals(&slots, &gains);
        let (a, b, largest) = preferred(&slots, &totals, &mut size);
        // Ties must have equal heights, but the sign and size of a rounding error are random. So round small values to
        // 0.
        let largest = if largest.abs() <= TIE * size { 0.0 } else { largest };
        if !size.is_finite() {
            let (a, b) = (names[a], names[b]);
            return Err(Error::Leaves {
                before: "the weights of answers about the clusters of leaves ".into(),
                leaves: vec![vec![a], vec![b]],
                after: format!(" add up to more than {:e}: divide all weights by the largest one", f64::MAX),
            });
        }
        merges.push(RawMerge { i: names[a], j: names[b], similarity: similarity(largest, clusters) });
        answers.merge(&slots, a, b, &mut gains);
        slots.now.iter_mut().filter(|slot| **slot == b).for_each(|slot| *slot = a);
        slots.sizes[a] += slots.sizes[b];
        slots.active.retain(|&slot| slot != b);
        let left = slots.active.len();
        if left > 2 && 4 * left < 3 * slots.len() {
            let renumbering = slots.renumbering();
            let packed = Slots::new(slots.active.iter().map(|&slot| slots.sizes[slot]).collect());
            gains = pack_pairs(&slots, &packed, &renumbering, &gains, |gain| gain);
            answers = answers.packed(&slots, &packed, &renumbering)?;
            names = slots.active.iter().map(|&slot| names[slot]).collect();
            slots = packed;
        }
        monitor.advance(left as u64)?;
    }
    Ok(merges)
}

/// Returns the pair of clusters with the largest preference, and this preference. The preference of a pair is its sum
/// in `totals`, divided by the number of pairs of leaves between the two clusters. Among ties, returns the first pair.
///
/// Updates `size`, the largest absolute preference so far, which bounds rounding errors. Sets `size` to infinity if a
/// preference is not finite.
fn preferred(slots: &Slots, totals: &[f64], size: &mut f64) -> (usize, usize, f64) {
    let inverse: Vec<f64> = slots.sizes.iter().map(|size| 1.0 / size).collect();
    let value = |start: usize, p: usize, q: usize| totals[start.wrapping_add(q)] * inverse[p] * inverse[q];
    let mut largest = f64::NEG_INFINITY;
    for (at, &p) in slots.active.iter().enumerate() {
        let start = slots.starts[p];
        for &q in &slots.active[at + 1..] {
            let value = value(start, p, q);
            if !value.is_finite() {
                *size = f64::INFINITY;
                return (p, q, value);
            }
            largest = largest.max(value);
            *size = size.max(value.abs());
        }
    }
    let bar = largest - TIE * *size;
    let first = |(at, &p): (usize, &usize)| {
        let mut others = slots.active[at + 1..].iter();
        others.find(|&&q| value(slots.starts[p], p, q) >= bar).map(|&q| (p, q))
    };
    let (p, q) = slots.active.iter().enumerate().find_map(first).expect("the largest is there");
    (p, q, value(slots.starts[p], p, q))
}

/// Returns the largest count that a new table with 16-bit cells may contain, so that no sum overflows before the
/// clusters are renumbered. `slots` is the number of clusters after renumbering.
fn most_narrow<const K: usize>(slots: usize) -> f64 {
    // Clusters are renumbered when about a quarter of them have merged. In the worst case, all these clusters merge
    // into the clusters of one column of the table. A column belongs to one cluster (triplets) or to two clusters
    // (quadruplets).
    let merged = if slots <= 16 { slots } else { slots / 4 + 1 };
    let largest = if K == 3 { merged + 1 } else { (merged + 2) * (merged + 2) / 4 + 1 };
    (i16::MAX as usize / largest) as f64
}

#[cfg(test)]
mod tests;
