//! Kendall's tau between two dendrograms, leaf by leaf.

use std::ops::Range;

use super::count::{same_leaves, two};
use super::path::{Paths, Rows, for_places};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::sorting::order_by;
use crate::tree::Dendrogram;

/// Kendall's tau-b of each leaf in two dendrograms. Each leaf ranks the other leaves by closeness in both dendrograms,
/// and tau-b compares the two rankings.
#[derive(Debug, Clone, PartialEq)]
pub struct KendallTau {
    /// The mean over the leaves whose tau-b is defined, or NaN if there are none.
    pub mean: f64,
    /// The standard error of the mean, as `scipy.stats.sem`. For n leaves with a defined tau-b, this is the sample
    /// standard deviation divided by the square root of n. NaN if n < 2.
    pub standard_error: f64,
    /// The number of leaves whose tau-b is undefined, because all leaves are tied in one of the two rankings.
    pub undefined: usize,
    /// The tau-b of each leaf, or NaN if undefined.
    pub values: Vec<f64>,
}

/// Whether and where a leaf is in the ranking of all leaves by their closeness to this leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Itself {
    /// Each leaf is left out of the ranking of leaves by closeness to it.
    LeftOut,
    /// In both trees, each leaf is first in the ranking of leaves by closeness to it.
    First,
    /// In the tree, each leaf is first in the ranking of leaves by closeness to it. In the truth, the leaf is first
    /// too, but tied with the leaves that it joins at the closest height of all merges. If there are no such leaves,
    /// the leaf is first alone.
    InFinestClass,
}

named!(Itself, "itself", {
    "left-out": Self::LeftOut => Self::LeftOut,
    "first": Self::First => Self::First,
    "in-finest-class": Self::InFinestClass => Self::InFinestClass,
});

/// Returns the mean Kendall tau-b of two dendrograms over the same leaves (Gray et al. 2024, section 4.1).
///
/// In both trees, every leaf ranks the other leaves by the height at which they merge with it. [`Itself`] says whether
/// and where a leaf ranks itself. The closest leaf is first, for similarities and for dissimilarities. Equal heights
/// are ties. Heights are used as they are, even if a cluster merges at a smaller distance than its parts (an
/// inversion).
///
/// The time is usually O(n^2), and O(n^2 log n) for caterpillar trees. The memory is O(n).
///
/// # Errors
/// Trees with different numbers of leaves; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::{Dendrogram, Kind, metric::{Itself, kendall_tau}};
///
/// let truth = Dendrogram::new(vec![[0, 1], [2, 3], [4, 5]], vec![1.0, 1.0, 2.0], Kind::Dissimilarity)?;
/// let tree = Dendrogram::new(vec![[0, 1], [2, 4], [3, 5]], vec![0.9, 0.5, 0.1], Kind::Similarity)?;
/// let tau = kendall_tau(&truth, &tree, Itself::LeftOut, None)?;
/// // In the truth, leaf 0 ranks leaf 1 before leaves 2 and 3, which are tied. The tree ranks leaf 2 before leaf 3.
/// assert_eq!(tau.values[0], 2.0 / 6f64.sqrt());
/// assert_eq!(tau.undefined, 1);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn kendall_tau(
    truth: &Dendrogram,
    tree: &Dendrogram,
    itself: Itself,
    monitor: Option<&Monitor>,
) -> Result<KendallTau> {
    watched!(monitor);
    same_leaves(["the truth has", "the tree has"], [truth.n_leaves(), tree.n_leaves()])?;
    let n = tree.n_leaves();
    monitor.start(n as u64);
    let (inner, outer) = (Ranking::new(truth), Ranking::new(tree));
    let depths = inner.paths.depths();
    // The inner tree is the truth, and the outer tree is `tree`. Each row has, for one leaf, the depths of its LCAs
    // with all leaves in the truth. The leaves of a row are in the left-to-right order of `tree`.
    let columns: Vec<u32> = inner.paths.order().iter().map(|&leaf| outer.paths.places()[leaf as usize]).collect();
    let state = || (Rows::new(&inner.paths, &depths, &columns), Scratch::default());
    let step = |(rows, scratch): &mut (Rows<'_, u32>, Scratch), place: usize| {
        let row = rows.at(place);
        scratch.pairs(&inner, &outer, inner.paths.order()[place] as usize, row).tau_b(n - 1, itself)
    };
    let by_place = for_places(n, state, step, monitor)?;
    Ok(KendallTau::of(inner.paths.places().iter().map(|&place| by_place[place as usize]).collect()))
}

/// Does the same as [`kendall_tau`], with an (n, n) matrix as the truth. Row i ranks all leaves by their closeness to
/// leaf i.
///
/// The matrix need not be symmetric. With [`Itself::InFinestClass`], the value on the diagonal gives leaf i its rank in
/// row i. The time is O(n^2 log n).
///
/// # Errors
/// A matrix and a tree with different numbers of leaves; [`Error::Interrupted`](crate::Error::Interrupted).
pub fn kendall_tau_of_rows(
    matrix: &[f64],
    is_dissimilarity: bool,
    tree: &Dendrogram,
    itself: Itself,
    monitor: Option<&Monitor>,
) -> Result<KendallTau> {
    watched!(monitor);
    let n = tree.n_leaves();
    same_leaves(["the rows of the matrix have", "the tree has"], [matrix.len() / n, n])?;
    monitor.start(n as u64);
    let outer = Ranking::new(tree);
    let step = |scratch: &mut Scratch, leaf: usize| {
        let row = &matrix[leaf * n..(leaf + 1) * n];
        scratch.pairs_of_row(row, is_dissimilarity, &outer, leaf).tau_b(n - 1, itself)
    };
    Ok(KendallTau::of(for_places(n, Scratch::default, step, monitor)?))
}

impl KendallTau {
    fn of(values: Vec<f64>) -> Self {
        let defined = || values.iter().copied().filter(|tau| !tau.is_nan());
        let count = defined().count() as f64;
        let mean = defined().sum::<f64>() / count;
        let squares: f64 = defined().map(|tau| (tau - mean) * (tau - mean)).sum();
        let standard_error = if count < 2.0 { f64::NAN } else { (squares / (count - 1.0) / count).sqrt() };
        let undefined = values.len() - count as usize;
        Self { mean, standard_error, undefined, values }
    }
}

/// Counts for the tau-b of one leaf. `score` is the number of concordant pairs of other leaves minus the number of
/// discordant pairs. `ties` has the numbers of pairs that are tied in the truth and in the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pairs {
    score: i64,
    ties: [u64; 2],
    tied: u64,
    before: u64,
}

impl Pairs {
    fn tau_b(self, others: usize, itself: Itself) -> f64 {
        let others = others as u64;
        // If a leaf is in its own ranking, it forms a pair with each other leaf. `own` is the number of these pairs,
        // `tied` is the number tied in the truth, and `before` is the number of discordant pairs.
        let (own, tied, before) = match itself {
            Itself::LeftOut => (0, 0, 0),
            Itself::First => (others, 0, 0),
            Itself::InFinestClass => (others, self.tied, self.before),
        };
        let all = two(others) + own;
        let [x, y] = [all - self.ties[0] - tied, all - self.ties[1]];
        if x == 0 || y == 0 {
            return f64::NAN;
        }
        let score = self.score + (own - tied) as i64 - 2 * before as i64;
        // Multiply before taking the square root: then equal rankings give exactly 1.
        (score as f64 / (x as f64 * y as f64).sqrt()).clamp(-1.0, 1.0)
    }
}

struct Ranking {
    paths: Paths,
    /// The rank of each merge by height: 0 for the closest height. Equal heights have equal ranks.
    ranks: Vec<u32>,
}

impl Ranking {
    fn new(tree: &Dendrogram) -> Self {
        let heights = tree.merge_heights();
        let mut order: Vec<u32> = (0..heights.len() as u32).collect();
        let height = |merge: u32| heights[merge as usize];
        order_by(&mut order, &|a, b| {
            let upwards = height(a).total_cmp(&height(b));
            if tree.is_dissimilarity() { upwards } else { upwards.reverse() }
        });
        let mut ranks = vec![0; heights.len()];
        for pair in order.windows(2) {
            let step = u32::from(height(pair[0]) != height(pair[1]));
            ranks[pair[1] as usize] = ranks[pair[0] as usize] + step;
        }
        Self { paths: Paths::new(tree.topology()), ranks }
    }
}

#[derive(Debug, Default)]
struct Scratch {
    /// For each merge on the path from the current leaf to the root of the true tree: the rank of the merge's height,
    /// and the number of leaves that join.
    steps: Vec<(u32, u32)>,
    ranks: Vec<u32>,
    class_of_depth: Vec<u32>,
    class_sizes: Vec<u64>,
    /// For each merge on the path from the current leaf to the root of the compared tree: the rank of the merge's
    /// height, and the positions (from left to right) of the leaves that join. Sorted by rank.
    joining: Vec<(u32, Range<usize>)>,
    seen: Seen,
    /// The other leaves, the closest to the current leaf first. Only used if the truth is a matrix.
    order: Vec<u32>,
    classes: Vec<u32>,
}

impl Scratch {
    /// Compares the rankings of `leaf` in the true tree `inner` and in the tree `outer`. `row[k]` is the depth, in
    /// `inner`, of the lowest common ancestor of `leaf` and the k-th leaf of `outer` (from left to right).
    fn pairs(&mut self, inner: &Ranking, outer: &Ranking, leaf: usize, row: &[u32]) -> Pairs {
        let inner_ties = self.classify(inner, leaf);
        let class_of_depth = std::mem::take(&mut self.class_of_depth);
        let (score, outer_ties) = self.count(outer, leaf, |place| class_of_depth[row[place] as usize]);
        self.class_of_depth = class_of_depth;
        let tied = if self.ranks.first() == Some(&0) { self.class_sizes[0] } else { 0 };
        Pairs { score, ties: [inner_ties, outer_ties], tied, before: 0 }
    }

    fn pairs_of_row(&mut self, row: &[f64], is_dissimilarity: bool, outer: &Ranking, leaf: usize) -> Pairs {
        let closeness = |other: u32| if is_dissimilarity { -row[other as usize] } else { row[other as usize] };
        self.order.clear();
        self.order.extend((0..row.len() as u32).filter(|&other| other as usize != leaf));
        order_by(&mut self.order, &|a, b| closeness(b).total_cmp(&closeness(a)));
        self.class_sizes.clear();
        self.classes.clear();
        self.classes.resize(row.len(), 0);
        for class in self.order.chunk_by(|&a, &b| row[a as usize] == row[b as usize]) {
            for &other in class {
                self.classes[outer.paths.places()[other as usize] as usize] = self.class_sizes.len() as u32;
            }
            self.class_sizes.push(class.len() as u64);
        }
        let own = closeness(leaf as u32);
        let tied = self.order.iter().filter(|&&other| closeness(other) == own).count() as u64;
        let before = self.order.iter().filter(|&&other| closeness(other) > own).count() as u64;
        let ties = self.class_sizes.iter().copied().map(two).sum();
        let classes = std::mem::take(&mut self.classes);
        let (score, outer_ties) = self.count(outer, leaf, |place| classes[place]);
        self.classes = classes;
        Pairs { score, ties: [ties, outer_ties], tied, before }
    }

    /// Compares the true ranking of `leaf` with its ranking in the tree `outer`. Returns the number of concordant minus
    /// discordant pairs, and the number of pairs that are tied in `outer`. `class(k)` returns the true rank of the k-th
    /// leaf of `outer` (from left to right).
    fn count(&mut self, outer: &Ranking, leaf: usize, class: impl Fn(usize) -> u32) -> (i64, u64) {
        self.walk(outer, leaf);
        self.seen.clear(self.class_sizes.len());
        let (mut score, mut outer_ties) = (0, 0);
        for group in self.joining.chunk_by(|a, b| a.0 == b.0) {
            let size: usize = group.iter().map(|(_, joining)| joining.len()).sum();
            let classes = group.iter().flat_map(|(_, joining)| joining.clone()).map(|place| class(place) as usize);
            score += self.seen.add(size, classes);
            outer_ties += two(size as u64);
        }
        (score, outer_ties)
    }

    /// Sets `joining` to the leaves that join `leaf` at each merge, in the order of the ranks of merges.
    fn walk(&mut self, outer: &Ranking, leaf: usize) {
        self.joining.clear();
        self.joining.extend(outer.paths.walk(leaf).map(|(merge, joining)| (outer.ranks[merge], joining)));
        if !self.joining.is_sorted_by_key(|step| step.0) {
            self.joining.sort_by_key(|step| step.0);
        }
    }

    /// Divides the other leaves into classes that are equally close to `leaf` in the tree `inner`, the closest class
    /// first. Returns the number of pairs of leaves in the same class.
    fn classify(&mut self, inner: &Ranking, leaf: usize) -> u64 {
        self.steps.clear();
        self.steps.extend(inner.paths.walk(leaf).map(|(merge, joining)| (inner.ranks[merge], joining.len() as u32)));
        self.ranks.clear();
        self.ranks.extend(self.steps.iter().map(|step| step.0));
        let in_order = self.ranks.is_sorted();
        if !in_order {
            self.ranks.sort_unstable();
        }
        self.ranks.dedup();
        self.class_sizes.clear();
        self.class_sizes.resize(self.ranks.len(), 0);
        self.class_of_depth.clear();
        let mut class = 0;
        for &(rank, size) in &self.steps {
            if !in_order {
                class = self.ranks.partition_point(|&smaller| smaller < rank);
            } else if self.ranks[class] != rank {
                class += 1;
            }
            self.class_sizes[class] += u64::from(size);
            self.class_of_depth.push(class as u32);
        }
        self.class_of_depth.reverse();
        self.class_sizes.iter().copied().map(two).sum()
    }
}

/// The number of leaves seen so far in each class of leaves with equal true ranks. A Fenwick tree gives sums over
/// ranges of classes.
#[derive(Debug, Default)]
struct Seen {
    total: i64,
    counts: Vec<u32>,
    tree: Vec<u32>,
    new: Vec<u32>,
    before: Vec<u32>,
}

impl Seen {
    fn clear(&mut self, n_classes: usize) {
        self.total = 0;
        self.counts.clear();
        self.counts.resize(n_classes, 0);
        for sums in [&mut self.tree, &mut self.new, &mut self.before] {
            sums.clear();
            sums.resize(n_classes + 1, 0);
        }
    }

    /// Adds leaves with the given classes (true ranks), and returns a score. Each pair of a new leaf and an earlier
    /// leaf counts 1 if the new leaf has the higher class, and -1 if it has the lower class.
    fn add(&mut self, size: usize, classes: impl Iterator<Item = usize> + Clone) -> i64 {
        let n_classes = self.counts.len();
        let few = size * (n_classes.ilog2() as usize + 1) < 2 * n_classes;
        let score = if few { self.add_few(classes) } else { self.add_many(classes) };
        self.total += size as i64;
        score
    }

    fn add_few(&mut self, classes: impl Iterator<Item = usize> + Clone) -> i64 {
        let mut score = 0;
        for class in classes.clone() {
            let mut up_to = 0;
            let mut k = class + 1;
            while k > 0 {
                up_to += self.tree[k];
                k &= k - 1;
            }
            score += 2 * i64::from(up_to) - i64::from(self.counts[class]) - self.total;
        }
        for class in classes {
            self.counts[class] += 1;
            let mut k = class + 1;
            while k < self.tree.len() {
                self.tree[k] += 1;
                k += k & k.wrapping_neg();
            }
        }
        score
    }

    fn add_many(&mut self, classes: impl Iterator<Item = usize>) -> i64 {
        self.new.fill(0);
        classes.for_each(|class| self.new[class + 1] += 1);
        let mut score = 0;
        for k in 1..self.tree.len() {
            self.before[k] = self.before[k & (k - 1)] + self.tree[k];
            let both = i64::from(self.before[k - 1]) + i64::from(self.before[k]);
            score += i64::from(self.new[k]) * (both - self.total);
            self.counts[k - 1] += self.new[k];
        }
        for k in 1..self.tree.len() {
            let above = k + (k & k.wrapping_neg());
            if above < self.tree.len() {
                self.new[above] += self.new[k];
            }
            self.tree[k] += self.new[k];
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metric::samples::{Draw, naive_heights, random_tree, two_dendrograms};

    fn naive(truth: &Dendrogram, tree: &Dendrogram, itself: Itself) -> Vec<f64> {
        let include_self = itself != Itself::LeftOut;
        let closeness = |tree: &Dendrogram, i: usize| -> Vec<f64> {
            let sign = if tree.is_dissimilarity() { -1.0 } else { 1.0 };
            naive_heights(tree, i).iter().map(|h| if h.is_nan() { f64::INFINITY } else { sign * h }).collect()
        };
        let n = tree.n_leaves();
        (0..n)
            .map(|i| {
                let (mut x, y) = (closeness(truth, i), closeness(tree, i));
                if itself == Itself::InFinestClass {
                    let all = (0..n).flat_map(|j| closeness(truth, j)).filter(|x| x.is_finite());
                    let finest = all.fold(f64::NEG_INFINITY, f64::max);
                    x.iter_mut().for_each(|x| *x = x.min(if n > 1 { finest } else { *x }));
                }
                let (mut score, mut all, mut x_ties, mut y_ties) = (0i64, 0i64, 0i64, 0i64);
                for j in (0..n).filter(|&j| include_self || j != i) {
                    for k in (0..j).filter(|&k| include_self || k != i) {
                        let side = |v: &[f64]| i64::from(v[j] > v[k]) - i64::from(v[j] < v[k]);
                        score += side(&x) * side(&y);
                        all += 1;
                        x_ties += i64::from(x[j] == x[k]);
                        y_ties += i64::from(y[j] == y[k]);
                    }
                }
                score as f64 / ((all - x_ties) as f64 * (all - y_ties) as f64).sqrt()
            })
            .map(|tau| if tau.is_finite() { tau.clamp(-1.0, 1.0) } else { f64::NAN })
            .collect()
    }

    fn rows_of(truth: &Dendrogram) -> Vec<f64> {
        let n = truth.n_leaves();
        let sign = if truth.is_dissimilarity() { -1.0 } else { 1.0 };
        let mut rows: Vec<f64> = (0..n).flat_map(|i| naive_heights(truth, i)).map(|height| sign * height).collect();
        let finest = rows.iter().copied().filter(|value| !value.is_nan()).fold(f64::NEG_INFINITY, f64::max);
        (0..n).for_each(|i| rows[i * n + i] = finest);
        rows
    }

    fn assert_same(truth: &Dendrogram, tree: &Dendrogram, itself: Itself) {
        let found = kendall_tau(truth, tree, itself, None).unwrap();
        let expected = naive(truth, tree, itself);
        let bits = |values: &[f64]| values.iter().map(|tau| tau.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found.values), bits(&expected), "{:?} {expected:?}", found.values);
        assert_eq!(found.undefined, expected.iter().filter(|tau| tau.is_nan()).count());
        let mut rows = rows_of(truth);
        assert_eq!(bits(&kendall_tau_of_rows(&rows, false, tree, itself, None).unwrap().values), bits(&expected));
        rows.iter_mut().for_each(|value| *value = -*value);
        assert_eq!(bits(&kendall_tau_of_rows(&rows, true, tree, itself, None).unwrap().values), bits(&expected));
    }

    proptest! {
        #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn as_defined((truth, tree) in two_dendrograms(24)) {
            for itself in [Itself::LeftOut, Itself::First, Itself::InFinestClass] {
                assert_same(&truth, &tree, itself);
            }
        }
    }

    #[test]
    fn many_leaves() {
        for (at, (caterpillar, monotone, heights)) in
            [(false, true, 1 << 30), (true, true, 1 << 30), (false, false, 20), (true, false, 1 << 30)]
                .into_iter()
                .enumerate()
        {
            let draw = Draw { caterpillar, monotone, dissimilarity: true, heights };
            let truth = random_tree(120, draw, at as u64);
            let tree = random_tree(120, Draw { caterpillar: !caterpillar, dissimilarity: false, ..draw }, 9);
            assert_same(&truth, &tree, Itself::First);
            assert_same(&truth, &tree, Itself::InFinestClass);
            assert_same(&truth, &random_tree(120, draw, 10), Itself::LeftOut);
        }
    }

    #[test]
    fn few_leaves() {
        let tree =
            |n: usize| random_tree(n, Draw { caterpillar: true, monotone: true, dissimilarity: true, heights: 1 }, 0);
        let tau = |n, itself| kendall_tau(&tree(n), &tree(n), itself, None).unwrap();
        for (n, itself, undefined) in [
            (1, Itself::First, 1),
            (1, Itself::LeftOut, 1),
            (1, Itself::InFinestClass, 1),
            (2, Itself::LeftOut, 2),
            (2, Itself::InFinestClass, 2),
            (3, Itself::LeftOut, 3),
        ] {
            let tau = tau(n, itself);
            assert!(tau.mean.is_nan() && tau.standard_error.is_nan());
            assert_eq!((tau.undefined, tau.values.len()), (undefined, n));
        }
        for n in [2, 3] {
            assert_eq!((tau(n, Itself::First).mean, tau(n, Itself::First).standard_error), (1.0, 0.0));
        }
        assert!(kendall_tau(&tree(2), &tree(3), Itself::First, None).is_err());
    }

    #[test]
    fn the_standard_error_is_scipys() {
        // scipy.stats.sem([0.5, 1.0, 0.0, 0.25])
        let tau = KendallTau::of(vec![0.5, 1.0, f64::NAN, 0.0, 0.25]);
        assert_eq!((tau.mean, tau.undefined), (0.4375, 1));
        assert!((tau.standard_error - 0.213_478_140_957_491_62).abs() < 1e-15);
    }
}
