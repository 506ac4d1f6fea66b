//! Merges the most similar pair, with a cache of every cluster's nearest neighbour.

use super::engine::tree_of;
use super::nearest::{Linkage, NO_CLUSTER, Nearest, nearest_among, nearest_of};
use super::tolerance::Tolerance;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Found, RawMerge};

/// Returns the dendrogram of a linkage. Merges the most similar pair until one cluster is left, in the same order as
/// the naive engine.
///
/// The nearest neighbour of every cluster is cached. If a merge removes a nearest neighbour, the old similarity stays
/// in the cache as an upper bound. A new nearest neighbour is searched only when this bound is the largest of all
/// clusters.
///
/// # Errors
/// The errors of the linkage; [`crate::Error::Interrupted`].
pub fn nearest_pair(linkage: &mut impl Linkage, monitor: Option<&Monitor>) -> Result<Dendrogram> {
    tree_of(linkage, merges_among, monitor)
}

#[derive(Debug, Clone, Copy)]
struct Cached {
    cluster: usize,
    /// The similarity to `cluster`, or an upper bound if `stale`.
    similarity: f64,
    /// Similarities below this value are certainly smaller than `similarity`.
    floor: f64,
    stale: bool,
    doubtful: bool,
}

impl Cached {
    fn new(nearest: Nearest, tolerance: Tolerance) -> Self {
        let Nearest { cluster, similarity, doubtful } = nearest;
        Self { cluster, similarity, floor: tolerance.floor(similarity), stale: false, doubtful }
    }

    fn update(&mut self, (i, j): (usize, usize), similarity: f64, tolerance: Tolerance) {
        if similarity < self.floor {
            self.stale |= self.cluster == i || self.cluster == j;
        } else {
            self.update_near((i, j), similarity, tolerance);
        }
    }

    #[cold]
    fn update_near(&mut self, (i, j): (usize, usize), similarity: f64, tolerance: Tolerance) {
        let gone = self.cluster == i || self.cluster == j;
        let fresh = Self::new(Nearest::new(i, similarity), tolerance);
        let (order, doubtful) = tolerance.compare(similarity, self.similarity);
        if self.stale {
            if similarity > self.similarity {
                *self = Self { stale: order.is_eq() || doubtful, ..fresh };
            }
            return;
        }
        // If cluster `i` or `j` was the nearest cluster, the merged cluster `i` is the new nearest if it is at least as
        // near. This holds in a tie too, because the first of equally near clusters counts. The old nearest was the
        // first, and `i` is the old nearest or precedes it.
        let first = if gone { order.is_ge() } else { order.is_gt() || (order.is_eq() && i < self.cluster) };
        if first {
            *self = fresh;
        } else if gone {
            self.stale = true;
        }
        self.doubtful |= doubtful;
    }
}

pub(super) fn merges_among(
    linkage: &mut (dyn Linkage + '_),
    mut members: Vec<usize>,
    active: &mut Vec<usize>,
    monitor: &Monitor,
) -> Result<Found> {
    entered!(nearest_pair);
    let all = members.len() == active.len();
    let mut cache = vec![Cached { stale: true, ..Cached::new(NO_CLUSTER, Tolerance::EXACT) }; linkage.n_leaves()];
    if all {
        monitor.start((members.len() * members.len()) as u64);
    }
    for &i in &members {
        cache[i] = nearest(linkage, i, &members, all)?;
        monitor.advance((members.len() / 2) as u64)?;
    }
    let mut found = Found::certain(Vec::with_capacity(members.len().saturating_sub(1)));
    let mut values = vec![0.0; members.len()];
    let tolerance = linkage.tolerance();
    while members.len() > 1 {
        let Some((merge, doubtful)) = largest(linkage, &members, all, &mut cache, monitor)? else { break };
        let RawMerge { i, j, .. } = merge;
        linkage.merge(i, j, active)?;
        found.merges.push(merge);
        found.doubtful |= doubtful;
        for clusters in [&mut *active, &mut members] {
            clusters.remove(clusters.partition_point(|&k| k < j));
        }
        let at = members.partition_point(|&k| k < i);
        let others: Vec<usize> = members[..at].iter().chain(&members[at + 1..]).copied().collect();
        let values = &mut values[..others.len()];
        linkage.similarities(i, &others, values)?;
        for (&k, &similarity) in others.iter().zip(&*values) {
            cache[k].update((i, j), similarity, tolerance);
        }
        cache[i] = Cached::new(nearest_of(&others, values, tolerance), tolerance);
        monitor.advance(members.len() as u64)?;
    }
    Ok(found)
}

fn nearest(linkage: &mut dyn Linkage, i: usize, members: &[usize], all: bool) -> Result<Cached> {
    let nearest = if all { linkage.nearest(i, members)? } else { nearest_among(linkage, i, members)? };
    Ok(Cached::new(nearest, linkage.tolerance()))
}

/// Returns the most similar pair, and true if rounding errors could decide which pair this is. Returns `None` if no
/// similarity is finite.
fn largest(
    linkage: &mut dyn Linkage,
    active: &[usize],
    all: bool,
    cache: &mut [Cached],
    monitor: &Monitor,
) -> Result<Option<(RawMerge, bool)>> {
    loop {
        let best = active.iter().fold(f64::NEG_INFINITY, |best, &k| best.max(cache[k].similarity));
        if best == f64::NEG_INFINITY {
            return Ok(None);
        }
        let tolerance = linkage.tolerance();
        let floor = tolerance.floor(best);
        let (mut pair, mut similarity) = ((usize::MAX, usize::MAX), f64::NEG_INFINITY);
        let (mut stale, mut doubtful) = (None, false);
        for &k in active {
            let cached = cache[k];
            if cached.similarity >= floor {
                if cached.stale {
                    stale = Some(k);
                    break;
                }
                let this = (k.min(cached.cluster), k.max(cached.cluster));
                let (order, doubt) = tolerance.compare(cached.similarity, similarity);
                doubtful |= cached.doubtful || doubt && this != pair;
                if order.is_gt() || (order.is_eq() && this < pair) {
                    (pair, similarity) = (this, cached.similarity);
                }
            }
        }
        match stale {
            None => {
                return Ok(Some((RawMerge { i: pair.0, j: pair.1, similarity }, doubtful)));
            }
            Some(k) => {
                cache[k] = nearest(linkage, k, active, all)?;
                monitor.advance(0)?;
            }
        }
    }
}
