//! The adjusted Rand index of labels and of levels of hierarchies.

use std::collections::HashMap;

use super::count::{same_leaves_of_trees, two};
use crate::error::{Error, Result, check_len};
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::Dendrogram;

/// Returns the adjusted Rand index of two labellings (Hubert & Arabie 1985): 1 for equal clusters, about 0 for
/// unrelated clusters.
///
/// Pairs of leaves are counted exactly. As in scikit-learn, the index is 1 if both labellings give the same clusters,
/// also if there are fewer than 2 leaves.
///
/// # Errors
/// Labellings of different lengths.
///
/// ```
/// assert_eq!(ordhc::metric::ari(&[0u32, 0, 1, 1], &[7i64, 7, -2, -2])?, 1.0);
/// assert_eq!(ordhc::metric::ari(&[0u32, 0, 1, 1], &[0u32, 1, 0, 1])?, -0.5);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn ari<A: Into<i64> + Copy, B: Into<i64> + Copy>(a: &[A], b: &[B]) -> Result<f64> {
    check_len("labels", b.len(), "leaves with labels of the other kind", a.len())?;
    Ok(of_clusters(&Labels::new(a)?, &Labels::new(b)?))
}

/// The adjusted Rand index of each level of a hierarchy, and the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelScores {
    /// The mean over levels.
    pub mean: f64,
    /// The adjusted Rand index of each level (a partition of the leaves into clusters), in the given order.
    pub levels: Vec<f64>,
}

/// Returns the average adjusted Rand index (AARI) of a tree. `levels` are the true clusterings: each level has one
/// label for each leaf. Each level is compared with the tree cut into the same number of clusters.
///
/// Cuts undo the last merges, see [`Dendrogram::cut_clusters`]. The time is linear in leaves times levels. The result
/// does not depend on the number of threads.
///
/// # Errors
/// No levels; a level whose number of labels differs from the number of leaves; [`Error::Interrupted`].
///
/// ```
/// use ordhc::{Dendrogram, Kind, metric::aari};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3], [4, 5]], vec![1.0, 1.0, 2.0], Kind::Dissimilarity)?;
/// let scores = aari(&tree, &[vec![0u32, 0, 1, 1], vec![0, 1, 2, 2]], None)?;
/// assert_eq!(scores.levels[0], 1.0);
/// assert_eq!(scores.mean, (1.0 + scores.levels[1]) / 2.0);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn aari<L, V>(tree: &Dendrogram, levels: &[V], monitor: Option<&Monitor>) -> Result<LevelScores>
where
    L: Into<i64> + Copy,
    V: AsRef<[L]> + Sync,
{
    watched!(monitor);
    let n = tree.n_leaves();
    for (level, labels) in levels.iter().enumerate() {
        let len = labels.as_ref().len();
        if len != n {
            return Err(Error::Argument(format!("level {level} has {len} labels, the tree has {n} leaves")));
        }
    }
    mean(levels.len(), monitor, |level| {
        let truth = Labels::new(levels[level].as_ref())?;
        Ok(of_clusters(&truth, &Labels::of_cut(tree, truth.sizes.len())?))
    })
}

/// Returns the adjusted Rand index of two trees for each number of clusters in `n_clusters`, and the mean. Both trees
/// are cut into the same number of clusters.
///
/// # Errors
/// Trees with different numbers of leaves; an empty `n_clusters`; a number of clusters that is 0 or above the number of
/// leaves; [`Error::Interrupted`].
///
/// ```
/// use ordhc::bindings::aari_of_trees;
/// use ordhc::{Dendrogram, Kind};
///
/// let a = Dendrogram::new(vec![[0, 1], [2, 3], [4, 5]], vec![1.0, 2.0, 3.0], Kind::Dissimilarity)?;
/// let b = Dendrogram::new(vec![[0, 1], [2, 4], [3, 5]], vec![1.0, 2.0, 3.0], Kind::Dissimilarity)?;
/// let scores = aari_of_trees(&a, &b, &[3, 2], None)?;
/// assert_eq!(scores.levels, [1.0, 0.0]);
/// assert_eq!(scores.mean, 0.5);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn aari_of_trees(
    a: &Dendrogram,
    b: &Dendrogram,
    n_clusters: &[usize],
    monitor: Option<&Monitor>,
) -> Result<LevelScores> {
    watched!(monitor);
    same_leaves_of_trees(a.n_leaves(), b.n_leaves())?;
    mean(n_clusters.len(), monitor, |level| {
        let k = n_clusters[level];
        Ok(of_clusters(&Labels::of_cut(a, k)?, &Labels::of_cut(b, k)?))
    })
}

fn mean(n_levels: usize, monitor: &Monitor, score: impl Fn(usize) -> Result<f64> + Sync) -> Result<LevelScores> {
    if n_levels == 0 {
        return Err(Error::Argument("there are no levels to average over".into()));
    }
    monitor.start(n_levels as u64);
    let parts = parallel::map(parallel::ranges(n_levels, 1), |levels| {
        let one = |level| {
            monitor.advance(1)?;
            score(level)
        };
        levels.map(one).collect::<Result<Vec<f64>>>()
    });
    let levels = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
    Ok(LevelScores { mean: levels.iter().sum::<f64>() / levels.len() as f64, levels })
}

#[derive(Debug)]
pub(super) struct Labels {
    pub(super) of: Vec<u32>,
    pub(super) sizes: Vec<u32>,
}

impl Labels {
    pub(super) fn new<L: Into<i64> + Copy>(labels: &[L]) -> Result<Self> {
        if labels.len() > i32::MAX as usize {
            return Err(Error::out_of_range("the number of labels", labels.len(), format!("0..={}", i32::MAX)));
        }
        let label = |at: usize| -> i64 { labels[at].into() };
        let bounds =
            (0..labels.len()).map(label).fold((i64::MAX, i64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        let width = i128::from(bounds.1) - i128::from(bounds.0) + 1;
        if width <= 4 * labels.len() as i128 {
            let mut numbers = vec![u32::MAX; width.max(0) as usize];
            return Ok(Self::number(labels.len(), |at, next| {
                let number = &mut numbers[(label(at) - bounds.0) as usize];
                *number = next.min(*number);
                *number
            }));
        }
        let mut numbers = HashMap::new();
        Ok(Self::number(labels.len(), |at, next| *numbers.entry(label(at)).or_insert(next)))
    }

    fn of_cut(tree: &Dendrogram, n_clusters: usize) -> Result<Self> {
        let of = tree.cut_clusters(n_clusters)?;
        let mut sizes = vec![0; n_clusters];
        of.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
        Ok(Self { of, sizes })
    }

    /// Numbers the labels of `n` leaves from 0. For each leaf, the callback gets the leaf and the smallest unused
    /// number. It returns the number of the leaf's label, which is the unused number for a new label.
    fn number(n: usize, mut number: impl FnMut(usize, u32) -> u32) -> Self {
        let (mut of, mut sizes) = (Vec::with_capacity(n), Vec::new());
        for at in 0..n {
            let cluster = number(at, sizes.len() as u32);
            if cluster as usize == sizes.len() {
                sizes.push(0);
            }
            sizes[cluster as usize] += 1;
            of.push(cluster);
        }
        Self { of, sizes }
    }

    pub(super) fn pairs(&self) -> u64 {
        self.sizes.iter().map(|&size| two(size.into())).sum()
    }
}

fn of_clusters(a: &Labels, b: &Labels) -> f64 {
    let (in_a, in_b, all) = (a.pairs(), b.pairs(), two(a.of.len() as u64));
    let both = pairs_in_both(a, b);
    let (only_a, only_b) = (in_a - both, in_b - both);
    if only_a == 0 && only_b == 0 {
        return 1.0;
    }
    // Every product is below 2^122.
    let times = |x: u64, y: u64| i128::from(x) * i128::from(y);
    let agreement = 2 * (times(both, all - in_a - only_b) - times(only_a, only_b));
    agreement as f64 / (times(in_a, all - in_b) + times(in_b, all - in_a)) as f64
}

fn pairs_in_both(a: &Labels, b: &Labels) -> u64 {
    // Sort the leaves by their cluster in `a` (counting sort). `other` has their clusters in `b`.
    let mut next = Vec::with_capacity(a.sizes.len());
    let mut end = 0;
    for &size in &a.sizes {
        next.push(end);
        end += size;
    }
    let mut other = vec![0; a.of.len()];
    for (&cluster, &in_b) in a.of.iter().zip(&b.of) {
        let place = &mut next[cluster as usize];
        other[*place as usize] = in_b;
        *place += 1;
    }
    let mut counts = vec![0u32; b.sizes.len()];
    let mut rest = &other[..];
    let mut sum = 0;
    for &size in &a.sizes {
        let (leaves, others) = rest.split_at(size as usize);
        for &cluster in leaves {
            sum += u64::from(counts[cluster as usize]);
            counts[cluster as usize] += 1;
        }
        leaves.iter().for_each(|&cluster| counts[cluster as usize] = 0);
        rest = others;
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metric::samples::{SHAPES, large, two_dendrograms};

    fn naive(a: &[i64], b: &[i64]) -> f64 {
        let mut counts = [[0i128; 2]; 2];
        for i in 0..a.len() {
            (0..i).for_each(|j| counts[usize::from(a[i] == a[j])][usize::from(b[i] == b[j])] += 1);
        }
        let [[apart, only_b], [only_a, both]] = counts;
        if only_a == 0 && only_b == 0 {
            return 1.0;
        }
        let chance = (both + only_a) * (only_a + apart) + (both + only_b) * (only_b + apart);
        (2 * (both * apart - only_a * only_b)) as f64 / chance as f64
    }

    fn signed(labels: Vec<u32>) -> Vec<i64> {
        labels.into_iter().map(i64::from).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 200, ..ProptestConfig::default() })]
        #[test]
        fn all_pairs_agree(labels in prop::collection::vec((-2i64..3, 0i64..4), 0..12), far: bool) {
            let (a, mut b): (Vec<i64>, Vec<i64>) = labels.into_iter().unzip();
            b.iter_mut().filter(|_| far).for_each(|label| *label = (*label - 2) * (i64::MAX / 2));
            prop_assert_eq!(ari(&a, &b).unwrap(), naive(&a, &b));
            prop_assert_eq!(ari(&a, &a).unwrap(), 1.0);
        }

        #[test]
        fn levels_are_cuts((a, b) in two_dendrograms(12)) {
            let all: Vec<usize> = (1..=a.n_leaves()).collect();
            let cut = |tree: &Dendrogram, k: usize| signed(tree.cut_clusters(k).unwrap());
            let expected: Vec<f64> = all.iter().map(|&k| naive(&cut(&a, k), &cut(&b, k))).collect();
            let scores = aari_of_trees(&a, &b, &all, None).unwrap();
            prop_assert_eq!(&scores.levels, &expected);
            let levels: Vec<Vec<i64>> = all.iter().map(|&k| cut(&b, k)).collect();
            prop_assert_eq!(aari(&a, &levels, None).unwrap(), scores);
        }
    }

    #[test]
    fn trivial_labels() {
        assert_eq!(ari::<u32, u32>(&[], &[]), Ok(1.0));
        assert_eq!(ari(&[3u32], &[9i64]), Ok(1.0));
        assert_eq!(ari(&[0u32, 1, 2], &[5i64, 6, 7]), Ok(1.0));
        assert_eq!(ari(&[0u32; 3], &[5i64; 3]), Ok(1.0));
        assert_eq!(ari(&[0u32; 3], &[5i64, 6, 7]), Ok(0.0));
        assert_eq!(ari(&[0i64, 0, 1, 2], &[0i64, 0, 1, 1]), Ok(4.0 / 7.0));
        assert!(ari(&[0u32], &[0u32, 1]).unwrap_err().to_string().contains("2 labels for 1 leaves"));
    }

    #[test]
    fn impossible_levels_are_named() {
        let tree = large(SHAPES[0], 4, 0);
        let monitor = Monitor::new();
        let message = |levels: &[Vec<u32>]| aari(&tree, levels, Some(&monitor)).unwrap_err().to_string();
        assert!(message(&[vec![0; 4], vec![0; 3]]).contains("level 1 has 3 labels"));
        assert!(message(&[]).contains("no levels"));
        assert!(
            aari_of_trees(&tree, &tree, &[2, 5], Some(&monitor)).unwrap_err().to_string().contains("n_clusters = 5")
        );
        assert!(aari_of_trees(&tree, &large(SHAPES[0], 5, 0), &[2], Some(&monitor)).is_err());
        monitor.cancel();
        assert_eq!(aari_of_trees(&tree, &tree, &[2], Some(&monitor)), Err(Error::Interrupted));
    }

    #[test]
    fn many_leaves() {
        let (a, b) = (large(SHAPES[1], 2000, 1), large(SHAPES[2], 2000, 2));
        let expected = naive(&signed(a.cut_clusters(40).unwrap()), &signed(b.cut_clusters(40).unwrap()));
        assert_eq!(aari_of_trees(&a, &b, &[40], None).unwrap().levels, [expected]);
    }
}
