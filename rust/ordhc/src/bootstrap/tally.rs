//! AddS similarities and scores of bootstrap resamples. The answers can be added in several calls.

use crate::agglomerate::{Agglomeration, Layout, Matrix, Values};
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::memory;
use crate::metric::{Judge, Satisfied, same_leaves};
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::{Triangle, condensed_len};
use crate::tree::Dendrogram;

pub(super) struct Tally {
    pairs: Vec<f64>,
    mentioned: Vec<bool>,
    pub(super) revenue: f64,
    pub(super) satisfied: Satisfied,
    starts: Vec<usize>,
}

impl Tally {
    pub(super) fn new(n: usize) -> Result<Self> {
        Ok(Self {
            pairs: memory::filled("the similarities of a resample", 0.0, condensed_len(n))?,
            mentioned: vec![false; n],
            revenue: 0.0,
            satisfied: Satisfied::default(),
            starts: (0..n).map(|i| Triangle::new(n).base(i)).collect(),
        })
    }

    /// Adds answers to the sums of this resample. `times` returns how often the resample contains an answer. `first` is
    /// what [`judged`] returns for the original tree.
    pub(super) fn add<const K: usize>(
        &mut self,
        comparisons: &Comparisons<'_, K>,
        shares: Option<&[f64]>,
        times: impl Fn(usize) -> u32,
        first: &[(i64, i8)],
        monitor: &Monitor,
    ) -> Result<()> {
        let Self { pairs, mentioned, revenue, satisfied, starts } = self;
        let cell = |[a, b]: [usize; 2]| starts[a.min(b)].wrapping_add(a.max(b));
        comparisons.rows().each_watched(monitor, |at, row| {
            let weight = weight(comparisons, at) * f64::from(times(at));
            if weight > 0.0 {
                let (near, far) = Comparisons::<K>::pairs(row);
                pairs[cell(near)] += weight;
                pairs[cell(far)] -= weight;
                row.iter().for_each(|&leaf| mentioned[leaf as usize] = true);
                let (gain, verdict) = first[at];
                *revenue += weight * gain as f64;
                satisfied.add(verdict, weight * shares.map_or(1.0, |shares| shares[at]));
            }
        })
    }

    pub(super) fn tree(self, rule: &Rule, monitor: &Monitor) -> Result<Dendrogram> {
        let Self { mut pairs, mentioned, starts, .. } = self;
        let n = mentioned.len();
        let mut leaves: Vec<u32> = (0..n as u32).filter(|&leaf| mentioned[leaf as usize]).collect();
        if leaves.is_empty() {
            leaves.push(0);
        }
        if leaves.len() == 1 {
            return Dendrogram::new(Vec::new(), Vec::new(), Kind::Similarity)?.with_rest(&leaves, n);
        }
        if leaves.len() < n {
            let mut to = 0;
            for (at, &i) in leaves.iter().enumerate() {
                for &j in &leaves[at + 1..] {
                    pairs[to] = pairs[starts[i as usize].wrapping_add(j as usize)];
                    to += 1;
                }
            }
            pairs.truncate(to);
        }
        let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Similarity)?;
        Agglomeration::new(rule.clone()).monitor(monitor).run(&matrix)?.with_rest(&leaves, n)
    }
}

/// Returns the gain and the verdict of a tree for each answer. The gain is the answer's part of the revenue, at weight
/// 1. The verdict is 1 if the tree agrees with the answer, -1 if it disagrees, and otherwise 0.
pub(super) fn judged<const K: usize>(comparisons: &Comparisons<'_, K>, tree: &Dendrogram) -> Vec<(i64, i8)> {
    let judge = Judge::of(tree);
    let mut all = Vec::with_capacity(comparisons.len());
    comparisons.rows().each(0..comparisons.len(), |_, row| all.push((judge.gain(row), judge.verdict(row))));
    all
}

fn weight<const K: usize>(comparisons: &Comparisons<'_, K>, at: usize) -> f64 {
    comparisons.weights().map_or(1.0, |weights| weights[at])
}

pub(super) fn add_rest<const K: usize>(
    sum: &mut Satisfied,
    comparisons: &Comparisons<'_, K>,
    shares: Option<&[f64]>,
    times: impl Fn(usize) -> u32,
    judge: &Judge,
) {
    comparisons.rows().each(0..comparisons.len(), |at, row| {
        if times(at) == 0 {
            sum.add(judge.verdict(row), weight(comparisons, at) * shares.map_or(1.0, |shares| shares[at]));
        }
    });
}

/// Bootstrap resamples of groups of answers. The answers can be added in several calls of `add`, so they need not be in
/// memory together. Each resample stores how often it draws each group.
///
/// ```
/// use ordhc::bindings::Tallies;
/// use ordhc::{Dendrogram, Kind, Triplets, linkage::Rule};
///
/// let first = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 0.0], Kind::Similarity)?;
/// // Two resamples of two groups: one draws the first group twice, one draws each group once.
/// let mut tallies = Tallies::new(3, vec![vec![2, 0], vec![1, 1]])?;
/// for (row, group) in [([0, 1, 2], 0), ([0, 2, 1], 1)] {
///     tallies.add(&Triplets::new(vec![row], Some(3))?, &[group], &first, None)?;
/// }
/// assert_eq!(tallies.scores(), [(2.0, 1.0), (0.0, 0.5)]);
/// let trees = tallies.trees(&Rule::Average, None)?;
/// assert_eq!(trees[0].newick().to_string(), "(2,(0,1));");
/// # Ok::<(), ordhc::Error>(())
/// ```
pub struct Tallies {
    times: Vec<Vec<u32>>,
    tallies: Vec<Tally>,
}

impl Tallies {
    /// Returns resamples without answers. `times` has, for each resample, how often it draws each group.
    ///
    /// # Errors
    /// Not enough memory: a resample takes 8 bytes for each pair of leaves.
    pub fn new(n_leaves: usize, times: Vec<Vec<u32>>) -> Result<Self> {
        let tallies = times.iter().map(|_| Tally::new(n_leaves)).collect::<Result<_>>()?;
        Ok(Self { times, tallies })
    }

    /// Adds answers to the resamples. `groups` has the index of the group of each answer. `first` is the original tree
    /// of all answers, for [`scores`](Self::scores).
    ///
    /// # Errors
    /// `first` has another number of leaves than the comparisons; [`Error::Interrupted`](crate::Error::Interrupted).
    ///
    /// # Panics
    /// If `groups` has fewer entries than there are answers, or if an entry is not below the number of groups that the
    /// resamples draw from.
    pub fn add<const K: usize>(
        &mut self,
        comparisons: &Comparisons<'_, K>,
        groups: &[u32],
        first: &Dendrogram,
        monitor: Option<&Monitor>,
    ) -> Result<()> {
        watched!(monitor);
        same_leaves(["the tree has", "the comparisons have"], [first.n_leaves(), comparisons.n_leaves()])?;
        let first = judged(comparisons, first);
        let work: Vec<_> = self.tallies.iter_mut().zip(&self.times).collect();
        parallel::map_in_turn(work, |(tally, times)| {
            tally.add(comparisons, None, |at| times[groups[at] as usize], &first, monitor)
        })
        .into_iter()
        .collect()
    }

    /// Returns two scores of the original tree for each resample: its revenue, and the share of the resampled answers
    /// that agree with the original tree.
    pub fn scores(&self) -> Vec<(f64, f64)> {
        self.tallies.iter().map(|tally| (tally.revenue, tally.satisfied.share())).collect()
    }

    /// Returns the trees of the resamples.
    ///
    /// # Errors
    /// The errors of agglomeration.
    pub fn trees(self, rule: &Rule, monitor: Option<&Monitor>) -> Result<Vec<Dendrogram>> {
        watched!(monitor);
        monitor.start(self.tallies.len() as u64);
        parallel::map_in_turn(self.tallies, |tally| {
            let tree = tally.tree(rule, &monitor.child())?;
            monitor.advance(1).map(|()| tree)
        })
        .into_iter()
        .collect()
    }
}

/// Adds to `sums`, for each resample, the weights of the answers that the resample did not draw. The weights of answers
/// that agree with the tree of the resample and of answers that disagree are added separately.
///
/// # Errors
/// A tree with another number of leaves than the comparisons.
///
/// # Panics
/// As in [`Tallies::add`].
pub(crate) fn add_held_out<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    groups: &[u32],
    times: &[Vec<u32>],
    trees: &[Dendrogram],
    sums: &mut [Satisfied],
) -> Result<()> {
    for tree in trees {
        same_leaves(["a tree has", "the comparisons have"], [tree.n_leaves(), comparisons.n_leaves()])?;
    }
    let work: Vec<_> = sums.iter_mut().zip(trees).zip(times).collect();
    parallel::map_in_turn(work, |((sum, tree), times)| {
        add_rest(sum, comparisons, None, |at| times[groups[at] as usize], &Judge::of(tree));
    });
    Ok(())
}
