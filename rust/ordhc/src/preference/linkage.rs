//! The search of 3-AL and 4-AL: merge the pair of clusters that is preferred most.

use super::dense::Dense;
use super::sparse::Sparse;
use crate::comparison::Comparisons;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::similarity::{condensed_len, row_start};
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};

/// 3-AL of triplets, 4-AL of quadruplets: average linkage from preferences between clusters.
///
/// With x the net weight of answers, the preference of a pair {p, q} of clusters over {r, s} is the
/// mean of x(ij;kl) over their leaves i, j, k, l. 4-AL merges the pair whose mean preference over all
/// ordered pairs (r, s) of different clusters is largest; 3-AL the one with the largest mean of "p is
/// closer to q than to r" and "q is closer to p than to r" over all other clusters r (equations 4-7;
/// 5 and 7 are the heights). When two clusters are left 3-AL has nothing to compare: height 0.
///
/// `initial` are clusters to start from, merged within leaf by leaf at the height of the closest
/// merge after. Values within 1e-12 of the largest one (relative to the largest so far) are ties, of
/// which the pair with the lexicographically smallest (smallest leaf, smallest leaf) is merged.
/// Merges stand in the order of merging; heights may rise towards the root.
///
/// Every merge changes the preferences of all pairs. Answers are kept by the cluster (3-AL) or pair of
/// clusters (4-AL) that is the less similar one in them, as lists or, where these would be longer, as a
/// table; a merge goes through those of the merged clusters only. Time O(K^2) a merge for K clusters
/// and about O(m log n) for the answers, with m of them.
///
/// # Errors
/// Initial clusters of another number of leaves; weights whose sums are not finite; not enough memory;
/// [`Error::Interrupted`].
///
/// ```
/// use ordhc::{Monitor, Triplets, preference::preference_linkage};
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2], [2, 1, 0]], None)?;
/// let tree = preference_linkage(&triplets, None, &Monitor::new())?;
/// assert_eq!(tree.to_newick_topology(), "(2,(0,1));");
/// assert_eq!(tree.heights(), [1.0, 0.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn preference_linkage<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<Dendrogram> {
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
    let after = if comparisons.weights().is_some() {
        merges::<f64, K>(comparisons, partition, SMALL, monitor)?
    } else {
        merges::<i32, K>(comparisons, partition, SMALL, monitor)?
    };
    Dendrogram::in_order(n, with_initial(partition.merges(), after))
}

/// A table of so many cells is always fine.
const SMALL: usize = 4096;

/// Preferences that differ by less than this share of the largest one so far are ties.
const TIE: f64 = 1e-12;

/// A number that answers are counted in.
pub(super) trait Value: Copy + Default + Send + Sync + PartialEq + std::ops::AddAssign {
    /// In lists, where every answer has an entry of its own.
    type Entry: Copy + Default + Send + Sync;
    /// Whether values are counts, which can begin as narrow ones.
    const COUNTS: bool = false;
    fn of(weight: f64) -> Self;
    fn entry(self) -> Self::Entry;
    fn from_entry(entry: Self::Entry) -> Self;
    fn negate(self) -> Self;
    fn float(self) -> f64;
    fn from_count(count: i16) -> Self;
}

/// Narrow counts, for tables that are large at first.
impl Value for i16 {
    type Entry = i8;
    fn of(_: f64) -> Self {
        1
    }
    fn entry(self) -> i8 {
        self as i8
    }
    fn from_entry(entry: i8) -> Self {
        Self::from(entry)
    }
    fn negate(self) -> Self {
        -self
    }
    #[inline(always)]
    fn float(self) -> f64 {
        f64::from(self)
    }
    fn from_count(count: i16) -> Self {
        count
    }
}

impl Value for i32 {
    type Entry = i8;
    const COUNTS: bool = true;
    fn from_count(count: i16) -> Self {
        Self::from(count)
    }
    fn of(_: f64) -> Self {
        1
    }
    fn entry(self) -> i8 {
        self as i8
    }
    fn from_entry(entry: i8) -> Self {
        Self::from(entry)
    }
    fn negate(self) -> Self {
        -self
    }
    #[inline(always)]
    fn float(self) -> f64 {
        f64::from(self)
    }
}

impl Value for f64 {
    type Entry = f64;
    fn from_count(count: i16) -> Self {
        Self::from(count)
    }
    fn of(weight: f64) -> Self {
        weight
    }
    fn entry(self) -> f64 {
        self
    }
    fn from_entry(entry: f64) -> Self {
        entry
    }
    fn negate(self) -> Self {
        -self
    }
    #[inline(always)]
    fn float(self) -> f64 {
        self
    }
}

/// One side of an answer: the pair {p, q} is preferred to (or with negative value, not preferred to)
/// what the column stands for: a cluster r of 3-AL, a pair {r, s} of 4-AL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<V> {
    pub(super) column: usize,
    pub(super) pair: [usize; 2],
    pub(super) value: V,
}

/// The slots: clusters as of the last packing, in the order of their smallest leaves.
pub(super) struct Slots {
    /// By slot: the slot of the cluster it belongs to now.
    pub(super) now: Vec<usize>,
    /// By slot of a cluster: its number of leaves.
    pub(super) sizes: Vec<f64>,
    /// The slots that are clusters now.
    pub(super) active: Vec<usize>,
    /// Where the pairs of a slot with later ones begin.
    pub(super) starts: Vec<usize>,
}

impl Slots {
    fn new(sizes: Vec<f64>) -> Self {
        let k = sizes.len();
        Self {
            now: (0..k).collect(),
            active: (0..k).collect(),
            starts: (0..k).map(|slot| row_start(k, slot)).collect(),
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

    /// By slot: the cluster's position among the active ones, which becomes its slot.
    fn renumbering(&self) -> Vec<usize> {
        let mut position = vec![0; self.len()];
        for (at, &slot) in self.active.iter().enumerate() {
            position[slot] = at;
        }
        self.now.iter().map(|&slot| position[slot]).collect()
    }
}

/// The number of columns of K slots.
pub(super) fn n_columns<const K: usize>(slots: usize) -> usize {
    if K == 3 { slots } else { condensed_len(slots) }
}

/// The columns that a merge of clusters `a` and `b` touches, with what their values counted for before
/// and how they count after: [(column, before, after)], merged in twos.
pub(super) struct Touched {
    pub(super) into: usize,
    pub(super) from: usize,
    pub(super) before: [f64; 2],
    pub(super) after: f64,
}

/// The pairs of columns that become one when `a` and `b` merge.
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

/// What a column's values count for: one over the number of leaves, or of pairs of leaves.
pub(super) fn factor<const K: usize>(slots: &Slots) -> Vec<f64> {
    let sizes = &slots.sizes;
    if K == 3 {
        return sizes.iter().map(|size| 1.0 / size).collect();
    }
    let k = slots.len();
    (0..k).flat_map(|r| (r + 1..k).map(move |s| 1.0 / (sizes[r] * sizes[s]))).collect()
}

/// All sides of all answers, by slots; those within a cluster count for nothing and are left out.
pub(super) fn each_side<V: Value, const K: usize>(
    comparisons: &Comparisons<'_, K>,
    slots: &Slots,
    slot_of: &[u32],
    columns: &std::ops::Range<usize>,
    monitor: &Monitor,
    mut work: impl FnMut(Side<V>),
) -> Result<()> {
    comparisons.rows().each_watched(monitor, |at, row| {
        let weight = comparisons.weights().map_or(1.0, |weights| weights[at]);
        let slot = |at: usize| slot_of[row[at] as usize] as usize;
        let value = V::of(weight);
        let sides = if K == 3 {
            let [i, k, l] = [slot(0), slot(1), slot(2)];
            if i == k || i == l || k == l {
                return;
            }
            [(l, [i, k], value), (k, [i, l], value.negate())]
        } else {
            let [i, j, k, l] = [slot(0), slot(1), slot(2), slot(K - 1)];
            if i == j || k == l {
                return;
            }
            [(slots.pair(k, l), [i, j], value), (slots.pair(i, j), [k, l], value.negate())]
        };
        for (column, pair, value) in sides {
            if columns.contains(&column) {
                work(Side { column, pair, value });
            }
        }
    })
}

enum Answers<V: Value, const K: usize> {
    Sparse(Sparse<V, K>),
    Dense(Dense<V, K>),
    Narrow(Dense<i16, K>),
}

/// Merges of clusters named by their smallest leaves, in the order of merging.
fn merges<V: Value, const K: usize>(
    comparisons: &Comparisons<'_, K>,
    partition: &Partition,
    small: usize,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let k = partition.n_clusters();
    if k > u16::MAX as usize {
        return Err(Error::Argument(format!("{k} clusters are above {}, the most for this linkage", u16::MAX)));
    }
    // Sums, those of clusters, the packed ones and factors; and what there is by cluster.
    memory::check("the preferences of pairs", 40 * condensed_len(k) as u64 + 128 * k as u64)?;
    monitor.start((k * k / 2 + k * k / 4) as u64);
    let mut names: Vec<usize> = partition.clusters().iter().map(|leaves| leaves[0]).collect();
    let mut slots = Slots::new(partition.clusters().iter().map(|leaves| leaves.len() as f64).collect());
    let slot_of = partition.cluster_of();
    let mut gains = memory::filled("the preferences of pairs", 0.0, condensed_len(k))?;
    let mut answers = if Dense::<V, K>::pays(k, 2 * comparisons.len(), small) {
        let narrow = match most_narrow::<K>(k) {
            Some(most) if V::COUNTS => {
                let fits = |count: i16| count.unsigned_abs() <= most;
                Dense::<i16, K>::new(comparisons, &slots, slot_of, fits, &mut gains, monitor)?
            }
            _ => None,
        };
        match narrow {
            Some(table) => Answers::Narrow(table),
            None => match Dense::<V, K>::new(comparisons, &slots, slot_of, |_| true, &mut gains, monitor)? {
                Some(table) => Answers::Dense(table),
                None => unreachable!("wide values always fit"),
            },
        }
    } else {
        Answers::Sparse(Sparse::<V, K>::new(comparisons, &slots, slot_of, &mut gains, monitor)?)
    };
    monitor.advance((k * k / 4) as u64)?;
    let mut merges = Vec::with_capacity(k.saturating_sub(1));
    let mut size = 0.0;
    while slots.active.len() > 1 {
        let clusters = slots.active.len() as f64;
        let totals = totals(&slots, &gains);
        let (a, b, largest) = preferred(&slots, &totals, &mut size);
        if !size.is_finite() {
            let (a, b) = (names[a], names[b]);
            return Err(Error::Argument(format!(
                "the weights of answers about the clusters of leaves {a} and {b} add up to more than {:e}: divide all \
                 weights by the largest one",
                f64::MAX
            )));
        }
        let similarity = match K {
            3 if slots.active.len() == 2 => 0.0,
            3 => largest / (2.0 * (clusters - 2.0)),
            _ => largest / (clusters * (clusters - 1.0) / 2.0),
        };
        merges.push(RawMerge { i: names[a], j: names[b], similarity });
        match &mut answers {
            Answers::Sparse(answers) => answers.merge(&slots, a, b, &mut gains),
            Answers::Dense(answers) => answers.merge(&slots, a, b, &mut gains),
            Answers::Narrow(answers) => answers.merge(&slots, a, b, &mut gains),
        }
        slots.now.iter_mut().filter(|slot| **slot == b).for_each(|slot| *slot = a);
        slots.sizes[a] += slots.sizes[b];
        slots.active.retain(|&slot| slot != b);
        let left = slots.active.len();
        if left > 2 && 4 * left < 3 * slots.len() {
            let renumbering = slots.renumbering();
            let packed = Slots::new(slots.active.iter().map(|&slot| slots.sizes[slot]).collect());
            gains = pack_pairs(&slots, &packed, &renumbering, &gains, |gain| gain);
            match &mut answers {
                Answers::Dense(answers) => answers.pack(&slots, &packed, &renumbering),
                Answers::Narrow(table) => {
                    answers = Answers::Dense(table.widened(&slots, &packed, &renumbering)?);
                }
                Answers::Sparse(sparse) => {
                    sparse.pack(&slots, &packed, &renumbering);
                    if Dense::<V, K>::pays(left, sparse.n_entries(), small) {
                        answers = Answers::Dense(sparse.to_dense(&packed)?);
                    }
                }
            }
            names = slots.active.iter().map(|&slot| names[slot]).collect();
            slots = packed;
        }
        monitor.advance(left as u64)?;
    }
    Ok(merges)
}

/// The largest narrow count of one answer that cannot overflow before the slots are packed, if there
/// is one: until then a quarter of the slots is merged away, into the two clusters of a column at worst.
fn most_narrow<const K: usize>(slots: usize) -> Option<u16> {
    let merged = if slots <= 16 { slots } else { slots / 4 + 1 };
    let largest = if K == 3 { merged + 1 } else { (merged + 2) * (merged + 2) / 4 + 1 };
    Some(i16::MAX as usize / largest).filter(|&most| most > 0).map(|most| most as u16)
}

/// Sums the values of pairs of slots into pairs of clusters, by the clusters' slots.
fn totals(slots: &Slots, gains: &[f64]) -> Vec<f64> {
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

/// The same into pairs of the slots after packing.
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

/// The pair with the largest total per pair of leaves, the first one among ties, and its value.
///
/// `size` is the largest absolute value seen so far, what rounding is relative to; infinite where a value
/// is not finite.
fn preferred(slots: &Slots, totals: &[f64], size: &mut f64) -> (usize, usize, f64) {
    let inverse: Vec<f64> = slots.sizes.iter().map(|size| 1.0 / size).collect();
    let value = |p: usize, q: usize| totals[slots.pair(p, q)] * inverse[p] * inverse[q];
    let pairs = || {
        let of = |(at, &p): (usize, &usize)| slots.active[at + 1..].iter().map(move |&q| (p, q));
        slots.active.iter().enumerate().flat_map(of)
    };
    let mut largest = f64::NEG_INFINITY;
    for (p, q) in pairs() {
        let value = value(p, q);
        if !value.is_finite() {
            *size = f64::INFINITY;
            return (p, q, value);
        }
        largest = largest.max(value);
        *size = size.max(value.abs());
    }
    let (p, q) = pairs().find(|&(p, q)| value(p, q) >= largest - TIE * *size).expect("the largest is there");
    (p, q, value(p, q))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Equations 4-7, read aloud.
    fn naive<const K: usize>(comparisons: &Comparisons<'_, K>, partition: &Partition) -> Vec<RawMerge> {
        let mut clusters = partition.clusters().to_vec();
        let mut merges = Vec::new();
        let weight = |at: usize| comparisons.weights().map_or(1.0, |weights| weights[at]);
        while clusters.len() > 1 {
            let k = clusters.len();
            let holds = |cluster: &Vec<usize>, leaf: i32| cluster.contains(&(leaf as usize));
            let between = |p: &Vec<usize>, q: &Vec<usize>, a: i32, b: i32| {
                holds(p, a) && holds(q, b) || holds(p, b) && holds(q, a)
            };
            let value = |p: usize, q: usize| {
                let (p, q) = (&clusters[p], &clusters[q]);
                let mut sum = 0.0;
                for (r_at, r) in clusters.iter().enumerate() {
                    if K == 3 && (r == p || r == q) {
                        continue;
                    }
                    let others: Vec<&Vec<usize>> = if K == 3 { vec![r] } else { clusters[r_at + 1..].iter().collect() };
                    for s in others {
                        for (at, row) in comparisons.rows().iter().enumerate() {
                            let (near, far) = if K == 3 {
                                let side = |p, q, a: i32, b: i32| holds(p, row[0]) && holds(q, a) && holds(r, b);
                                let near = side(p, q, row[1], row[2]) || side(q, p, row[1], row[2]);
                                (near, side(p, q, row[2], row[1]) || side(q, p, row[2], row[1]))
                            } else {
                                let [i, j, k, l] = [row[0], row[1], row[2], row[K - 1]];
                                let near = between(p, q, i, j) && between(r, s, k, l);
                                (near, between(p, q, k, l) && between(r, s, i, j))
                            };
                            let sign = f64::from(i8::from(near)) - f64::from(i8::from(far));
                            let of_r = if K == 3 { r.len() } else { r.len() * s.len() };
                            sum += sign * weight(at) / of_r as f64;
                        }
                    }
                }
                sum / (p.len() * q.len()) as f64
            };
            let mut best = (0, 1, f64::NEG_INFINITY);
            for p in 0..k {
                for q in p + 1..k {
                    let value = value(p, q);
                    if value > best.2 + 1e-9 {
                        best = (p, q, value);
                    }
                }
            }
            let (p, q, sum) = best;
            let scale = match K {
                3 if k == 2 => 0.0,
                3 => 1.0 / (2 * (k - 2)) as f64,
                _ => 2.0 / (k * (k - 1)) as f64,
            };
            merges.push(RawMerge { i: clusters[p][0], j: clusters[q][0], similarity: sum * scale });
            let gone = clusters.remove(q);
            clusters[p].extend(gone);
            clusters[p].sort_unstable();
        }
        merges
    }

    fn check<const K: usize>(rows: &[[i32; K]], labels: &[i64], weighted: bool) {
        let weights: Vec<f64> = (0..rows.len()).map(|at| (at % 5) as f64 * 0.5).collect();
        let mut comparisons = Comparisons::new(rows, Some(labels.len())).unwrap();
        if weighted {
            comparisons = comparisons.with_weights(weights).unwrap();
        }
        let partition = Partition::new(labels).unwrap();
        let expected = naive(&comparisons, &partition);
        for small in [0, SMALL] {
            let monitor = Monitor::new();
            let found = if weighted {
                merges::<f64, K>(&comparisons, &partition, small, &monitor).unwrap()
            } else {
                merges::<i32, K>(&comparisons, &partition, small, &monitor).unwrap()
            };
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!((found.i, found.j), (expected.i, expected.j), "small = {small}");
                assert!((found.similarity - expected.similarity).abs() < 1e-9, "{found:?} {expected:?}");
            }
        }
    }

    fn rows<const K: usize>(n: i32) -> impl Strategy<Value = Vec<[i32; K]>> {
        let row = proptest::array::uniform::<_, K>(0..n);
        let fine = |row: &[i32; K]| Comparisons::<K>::new(vec![*row], None).is_ok();
        proptest::collection::vec(row.prop_filter("valid", fine), 1..60)
    }

    #[test]
    fn weights_whose_sums_overflow_are_refused() {
        let found = |small: usize, weights: &[f64]| {
            let rows = vec![[0, 1, 2]; weights.len()];
            let three = Comparisons::<3>::new(rows, None).unwrap().with_weights(weights).unwrap();
            let rows = vec![[0, 1, 2, 3]; weights.len()];
            let four = Comparisons::<4>::new(rows, None).unwrap().with_weights(weights).unwrap();
            let monitor = Monitor::new();
            [
                merges::<f64, 3>(&three, &Partition::singletons(3), small, &monitor),
                merges::<f64, 4>(&four, &Partition::singletons(4), small, &monitor),
            ]
        };
        for small in [0, SMALL] {
            for result in found(small, &[1e308, 1e308]) {
                assert!(result.unwrap_err().to_string().contains("add up to more than"));
            }
            for result in found(small, &[f64::MAX]) {
                assert!(result.unwrap().iter().all(|merge| merge.similarity.is_finite()));
            }
        }
    }

    #[test]
    fn counts_too_large_for_narrow_tables() {
        let rows = [vec![[0, 1, 2, 3]; 3000], vec![[2, 3, 1, 4]; 40_000], vec![[1, 4, 0, 1]; 2]].concat();
        check::<4>(&rows, &[0, 1, 2, 3, 4], false);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 200, ..ProptestConfig::default() })]

        #[test]
        fn three_al_is_its_definition(rows in rows::<3>(9), labels in proptest::collection::vec(0i64..30, 9), w: bool) {
            check::<3>(&rows, &labels, w);
        }

        #[test]
        fn four_al_is_its_definition(rows in rows::<4>(8), labels in proptest::collection::vec(0i64..30, 8), w: bool) {
            check::<4>(&rows, &labels, w);
        }
    }
}
