//! The engines that find the nearest pair.

use super::nearest::Linkage;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Found, Partition, RawMerge};

/// The engine that finds the nearest pair. Only tests choose an engine. The tree does not depend on the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The fastest engine for the linkage and the input.
    #[default]
    Auto,
    /// The nearest-neighbour chain, for reducible linkages only.
    Chain,
    /// A cache of the nearest cluster of every cluster.
    NearestPair,
    /// All pairs are compared before every merge.
    Naive,
}

named!(Engine, "engine", {
    "auto": Self::Auto => Self::Auto,
    "chain": Self::Chain => Self::Chain,
    "nearest-pair": Self::NearestPair => Self::NearestPair,
    "naive": Self::Naive => Self::Naive,
});

pub(super) type Among = fn(&mut (dyn Linkage + '_), Vec<usize>, &mut Vec<usize>, &Monitor) -> Result<Found>;

/// Merges within the initial clusters first, then merges the remaining clusters with the same engine. Returns both
/// lists of merges, and true if rounding errors may have changed the tree.
pub(super) fn staged(
    linkage: &mut dyn Linkage,
    initial: Option<&Partition>,
    monotone: bool,
    among: Among,
    monitor: &Monitor,
) -> Result<([Vec<RawMerge>; 2], bool)> {
    let mut active: Vec<usize> = (0..linkage.n_leaves()).collect();
    let mut within = Found::default();
    for cluster in initial.map_or(&[][..], Partition::clusters) {
        within.append(among(linkage, cluster.clone(), &mut active, monitor)?);
    }
    if monotone {
        let sorted = RawMerge::sort_ranked(linkage.n_leaves(), within.merges, &[], linkage.tolerance());
        within = Found { doubtful: within.doubtful | sorted.doubtful, ..sorted };
    }
    let after = among(linkage, active.clone(), &mut active, monitor)?;
    Ok(([within.merges, after.merges], within.doubtful | after.doubtful))
}

/// Returns the dendrogram that `among` makes of all clusters.
pub(super) fn tree_of(linkage: &mut dyn Linkage, among: Among, monitor: Option<&Monitor>) -> Result<Dendrogram> {
    watched!(monitor);
    let n = linkage.n_leaves();
    let mut active: Vec<usize> = (0..n).collect();
    let merges = among(linkage, active.clone(), &mut active, monitor)?.merges;
    if active.len() > 1 {
        return Err(Error::Argument(
            "the linkage returns no finite similarity for any pair; return a finite number for every pair".into(),
        ));
    }
    Dendrogram::in_order(n, merges)
}
