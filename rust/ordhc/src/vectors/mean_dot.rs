//! Average linkage of dot products. The mean dot product of two clusters is the dot product of their means.

use super::centroid_tree::{CentroidTree, TREE_FROM};
use super::clusters::MeanClusters;
use super::criteria::{About, MeanDot};
use super::dense_rows::Vectors;
use super::{check_scale, rounds};
use crate::agglomerate::{Chain, Tolerance};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};

/// Returns the average linkage of dot products, without a matrix of pairs.
///
/// The similarity of two clusters is the average dot product of their vectors, which is the dot product of their means
/// (J. Gray et al., "Hierarchical clustering with dot products recovers hidden tree structure"). Heights are these
/// averages times `scale`. A scale of 1 / p gives averages over the p coordinates. Merges are ordered by height.
///
/// `initial` are the clusters to start from. Within each initial cluster, the most similar pair merges first. All these
/// merges come before the other merges, and their heights are at least the height of the closest other merge.
///
/// The time is O(n^2 p). For few coordinates, a k-d tree of means usually takes O(n log n). The memory is O(n p), for a
/// double-precision and a single-precision copy of the vectors.
///
/// Clusters are named by their smallest leaves. Among ties, the lexicographically smallest pair of names merges first.
/// Similarities are tied if their rounded values ([`Tolerance::key`]) are equal. Their rounding errors differ from
/// those of a matrix of dot products, so ties can differ. For integers whose sums are exact, the tree equals the tree
/// of [`Agglomeration`](crate::agglomerate::Agglomeration), including all ties.
///
/// # Errors
/// Initial clusters for a different number of leaves; a `scale` that isn't positive and finite; heights that overflow;
/// not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::vectors::{Vectors, mean_dot_linkage};
///
/// let vectors = Vectors::new(&[3.0, 0.0, 2.0, 0.0, 0.0, 4.0, 1.0, 2.0], 4, 2)?;
/// let tree = mean_dot_linkage(&vectors, 1.0, None, None)?;
/// assert_eq!(tree.newick().to_string(), "((2,3),(0,1));");
/// assert_eq!(tree.heights(), [8.0, 6.0, 1.25]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn mean_dot_linkage(
    vectors: &Vectors<'_>,
    scale: f64,
    initial: Option<&Partition>,
    monitor: Option<&Monitor>,
) -> Result<Dendrogram> {
    watched!(monitor);
    mean_dot_from(vectors, scale, initial, tree_pays_from(vectors.n_coordinates()), monitor)
}

fn mean_dot_from(
    vectors: &Vectors<'_>,
    scale: f64,
    initial: Option<&Partition>,
    tree_from: usize,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    let n = vectors.n_leaves();
    initial.map_or(Ok(()), |initial| initial.check(n))?;
    check_scale(scale)?;
    let unit = Unit::below_one(vectors.largest());
    let (p, sums) = (vectors.n_coordinates(), vectors.sums_are_exact());
    let in_tree = |k: usize| k >= tree_from && (1..=FEW).contains(&p);
    let work = |k: usize| if in_tree(k) { (k * k / 2) as u64 } else { rounds::work(k) };
    let merge_all = |clusters: MeanClusters| {
        if in_tree(clusters.len()) {
            merge_in_tree(&clusters, sums, monitor)
        } else {
            rounds::merge_all(clusters, monitor)
        }
    };
    let load = |leaves: &mut dyn ExactSizeIterator<Item = usize>| {
        let mut clusters = MeanClusters::new(leaves.len(), p, sums)?;
        for (at, leaf) in leaves.enumerate() {
            clusters.set(at, leaf as u32, 1.0, vectors.row(leaf).map(|x| unit.shrink(x)));
        }
        Ok(clusters)
    };
    let tolerance = if sums { Tolerance::EXACT } else { Tolerance::GRID };
    let sort = |merges| RawMerge::sort(n, merges, tolerance);
    let mut merges = match initial.filter(|initial| initial.n_clusters() < n) {
        None => {
            monitor.start(work(n));
            sort(merge_all(load(&mut (0..n))?)?.0)
        }
        Some(initial) => {
            let k = initial.n_clusters();
            monitor.start(initial.clusters().iter().map(|leaves| work(leaves.len())).sum::<u64>() + work(k));
            let mut start = MeanClusters::new(k, p, sums)?;
            let mut within = Vec::with_capacity(n - k);
            for (at, leaves) in initial.clusters().iter().enumerate() {
                let (merges, whole) = merge_all(load(&mut leaves.iter().copied())?)?;
                within.extend(merges);
                start.set(at, leaves[0] as u32, leaves.len() as f64, whole.row(0).iter().copied());
            }
            let after = merge_all(start)?.0;
            with_initial(sort(within), sort(after))
        }
    };
    for merge in &mut merges {
        merge.similarity = unit.grow(merge.similarity, 2) * scale + 0.0;
    }
    let mut tree = Dendrogram::in_order(n, merges)?;
    tree.make_monotone();
    Ok(tree)
}

/// The largest number of coordinates for which a k-d tree of means can be faster than comparing all pairs of means.
const FEW: usize = 10;

fn tree_pays_from(p: usize) -> usize {
    const ALWAYS: usize = 4;
    if p <= ALWAYS { TREE_FROM } else { 10_000 << (p - ALWAYS).min(16) }
}

/// Merges all clusters, with a k-d tree of means. Returns the merges, each after the merges that made its two clusters,
/// and the cluster that is left.
fn merge_in_tree(clusters: &MeanClusters, sums: bool, monitor: &Monitor) -> Result<(Vec<RawMerge>, MeanClusters)> {
    entered!(vectors_dot_tree);
    let (k, p) = (clusters.len(), clusters.n_coordinates());
    let rows: Vec<f64> = (0..k).flat_map(|at| clusters.row(at)).copied().collect();
    let about = clusters.sizes.iter().map(|&size| About { size, ..About::LEAF }).collect();
    let mut tree = CentroidTree::new(rows, p, about, MeanDot { sums });
    let name = |at: usize| clusters.names[at] as usize;
    let named = |merge: RawMerge| RawMerge { i: name(merge.i), j: name(merge.j), ..merge };
    let merges = Chain::merges_of(&mut tree, monitor)?.into_iter().map(named).collect();
    let whole = tree.cluster(0);
    let mut last = MeanClusters::new(1, p, sums)?;
    last.set(0, clusters.names[0], whole.about.size, whole.row.iter().copied());
    Ok((merges, last))
}

/// A power of two. Coordinates divided by this number have absolute values below 1, so that no computation overflows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    exponent: i32,
}

impl Unit {
    pub(super) fn below_one(largest: f64) -> Self {
        let exponent = if largest > 0.0 { largest.log2().floor() as i32 + 1 } else { 0 };
        Self { exponent }
    }

    pub(super) fn shrink(self, x: f64) -> f64 {
        times_power(x, -self.exponent)
    }

    /// Converts the value `x`, which was computed from scaled coordinates, to the original coordinates. `degree` is 1
    /// for distances, and 2 for squared distances and dot products.
    pub(super) fn grow(self, x: f64, degree: i32) -> f64 {
        times_power(x, degree * self.exponent)
    }
}

fn times_power(x: f64, exponent: i32) -> f64 {
    let first = exponent / 2;
    let second = first / 2;
    x * 2f64.powi(second) * 2f64.powi(first - second) * 2f64.powi(exponent - first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
    use crate::kind::Kind;
    use crate::linkage::Rule;

    fn check(values: &[f64], n: usize, p: usize, initial: Option<&Partition>) {
        let pair = |i: usize, j: usize| (0..p).map(|k| values[i * p + k] * values[j * p + k]).sum::<f64>();
        let square: Vec<f64> = (0..n * n).map(|at| pair(at / n, at % n)).collect();
        let largest = square.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let matrix = Matrix::new(Values::F64(&square), Layout::Square, Kind::Similarity).unwrap();
        let expected = Agglomeration::new(Rule::Average).engine(Engine::Naive).initial(initial).run(&matrix).unwrap();
        for tree_from in [0, usize::MAX] {
            let vectors = Vectors::new(values, n, p).unwrap();
            let tree = mean_dot_from(&vectors, 1.0, initial, tree_from, &Monitor::new()).unwrap();
            assert_eq!(tree.merges(), expected.merges(), "{tree_from}");
            for (a, b) in tree.heights().iter().zip(expected.heights()) {
                assert!((a - b).abs() <= 1e-9 * largest, "{a} {b}");
            }
        }
    }

    proptest! {
        #[test]
        fn as_from_a_matrix(
            (n, p, values) in (1..70usize, prop_oneof![1..4usize, 4..13usize]).prop_flat_map(|(n, p)| {
                (Just(n), Just(p), prop::collection::vec(-3.0..3.0f64, n * p))
            }),
            shift in prop::sample::select(vec![0.0, 2.0, 4.0]),
            steps in prop::sample::select(vec![0.0, 0.3, 1.0, 4.0]),
            classes in prop::option::of(1..9i64),
        ) {
            // Sums of integers are exact, so similarities that should be equal are equal, and the test has ties.
            let value = |x: &f64| if steps > 0.0 { (x * steps).round() + shift } else { x + shift };
            let values: Vec<f64> = values.iter().map(value).collect();
            let initial = classes.map(|classes| {
                Partition::new(&(0..n as i64).map(|leaf| leaf * leaf % classes).collect::<Vec<_>>()).unwrap()
            });
            check(&values, n, p, initial.as_ref());
        }
    }

    #[test]
    fn many_vectors_of_few_kinds() {
        for (n, p, kinds) in [(300, 2, 9), (257, 3, 2), (400, 1, 50), (300, 8, 5), (300, 10, 40)] {
            let value = |at: usize| ((at % p + 1) * 7 * ((at / p) % kinds) % 11) as f64 - 3.0;
            check(&(0..n * p).map(value).collect::<Vec<_>>(), n, p, None);
        }
        for value in [0.0, 0.1, -2.0] {
            let vectors = [value; 900];
            let vectors = Vectors::new(&vectors, 300, 3).unwrap();
            let one_by_one: Vec<[u32; 2]> = (1..300).map(|k| if k == 1 { [0, 1] } else { [k, 298 + k] }).collect();
            for tree_from in [0, usize::MAX] {
                let tree = mean_dot_from(&vectors, 1.0, None, tree_from, &Monitor::new()).unwrap();
                assert_eq!(tree.merges(), one_by_one, "{value} {tree_from}");
            }
        }
    }
}
