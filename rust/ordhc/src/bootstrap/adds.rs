//! Trees of resampled answers, computed from AddS similarities.

use std::ops::Range;

use super::draw::Draws;
use super::tally::{Tally, add_rest, judged};
use crate::comparison::Comparisons;
use crate::error::{Result, check_len};
use crate::linkage::Rule;
use crate::metric::{Judge, Satisfied, same_leaves};
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::Dendrogram;

/// The tree and the scores of one bootstrap resample of the answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Resample {
    /// The tree of the resampled answers.
    pub tree: Dendrogram,
    /// The revenue (a score, see [`revenue`](crate::metric::revenue())) of the original tree for the resampled answers.
    pub revenue: f64,
    /// The share of the resampled answers that agree with the original tree.
    pub satisfied: f64,
    /// The share of the answers outside of this resample that agree with the tree of the resample. NaN if the resample
    /// has all answers.
    pub held_out: f64,
}

/// Returns a tree and scores for each bootstrap resample of the answers. `tree` is the original tree of all answers.
///
/// The tree of a resample is made with the linkage `rule` from AddS similarities. The AddS similarity of a pair of
/// leaves is the total weight of the answers in which the pair is nearer, minus the total weight of the answers in
/// which the pair is farther.
///
/// Leaves without answers in a resample are merged last. Resamples are computed by several threads. Each resample
/// depends only on the seed and its index, so any range of resamples can be computed separately.
///
/// If an answer consists of several rows of `comparisons`, `shares` has a factor for the weight of each row in
/// [`Resample::satisfied`] and [`Resample::held_out`].
///
/// # Errors
/// `draws` or `shares` of another length than `comparisons`; a tree with another number of leaves; the errors of
/// agglomeration; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::bindings::{Draws, adds};
/// use ordhc::bootstrap::support;
/// use ordhc::{Triplets, adds_average_linkage, linkage::Rule};
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2], [0, 1, 2], [1, 0, 2]], None)?;
/// let tree = adds_average_linkage(&triplets)?;
/// let draws = Draws::new(triplets.len(), None, 0)?;
/// let resamples = adds(&triplets, None, &Rule::Average, &tree, &draws, 0..10, None)?;
/// let trees: Vec<_> = resamples.into_iter().map(|resample| resample.tree).collect();
/// let trees: Vec<_> = trees.iter().map(|tree| tree.topology()).collect();
/// assert_eq!(support(tree.topology(), &trees)?, [1.0, 1.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn adds<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    shares: Option<&[f64]>,
    rule: &Rule,
    tree: &Dendrogram,
    draws: &Draws,
    resamples: Range<u64>,
    monitor: Option<&Monitor>,
) -> Result<Vec<Resample>> {
    watched!(monitor);
    check_len("drawn answers", draws.len(), "answers", comparisons.len())?;
    check_len("shares", shares.map(<[f64]>::len), "answers", comparisons.len())?;
    same_leaves(["the tree has", "the comparisons have"], [tree.n_leaves(), comparisons.n_leaves()])?;
    let first = judged(comparisons, tree);
    monitor.start(resamples.end.saturating_sub(resamples.start));
    let resample = |index: u64| {
        let child = monitor.child();
        child.check()?;
        let times = draws.times(index);
        let mut tally = Tally::new(comparisons.n_leaves())?;
        tally.add(comparisons, shares, |at| times[at], &first, &child)?;
        let (revenue, satisfied) = (tally.revenue, tally.satisfied.share());
        let tree = tally.tree(rule, &child)?;
        let mut held_out = Satisfied::default();
        add_rest(&mut held_out, comparisons, shares, |at| times[at], &Judge::of(&tree));
        monitor.advance(1)?;
        Ok(Resample { revenue, satisfied, held_out: held_out.share(), tree })
    };
    parallel::map_in_turn(resamples.collect(), resample).into_iter().collect()
}
