//! How the nearest pair is found.

use super::Linkage;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::{Partition, RawMerge};

/// How the nearest pair is found, which tests choose. The tree does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// What is fastest for the linkage and the input.
    #[default]
    Auto,
    /// The nearest-neighbour chain; reducible linkages only.
    Chain,
    /// Cached nearest pairs.
    NearestPair,
    /// All pairs before every merge.
    Naive,
}

named!(Engine, "engine", {
    "auto": Self::Auto => Self::Auto,
    "chain": Self::Chain => Self::Chain,
    "nearest-pair": Self::NearestPair => Self::NearestPair,
    "naive": Self::Naive => Self::Naive,
});

/// An engine: merges some clusters (the second argument) of all active ones (the third).
type Among = fn(&mut dyn Linkage, Vec<usize>, &mut Vec<usize>, &Monitor) -> Result<Vec<RawMerge>>;

/// The merges within initial clusters, and those after them, both by the same engine.
pub(super) fn staged(
    linkage: &mut dyn Linkage,
    initial: Option<&Partition>,
    monotone: bool,
    among: Among,
    monitor: &Monitor,
) -> Result<[Vec<RawMerge>; 2]> {
    let mut active: Vec<usize> = (0..linkage.n_leaves()).collect();
    let mut within = Vec::new();
    for cluster in initial.map_or(&[][..], Partition::clusters) {
        within.extend(among(linkage, cluster.clone(), &mut active, monitor)?);
    }
    if monotone {
        within = RawMerge::sort(linkage.n_leaves(), within, linkage.tolerance(), monitor);
    }
    let after = among(linkage, active.clone(), &mut active, monitor)?;
    Ok([within, after])
}
