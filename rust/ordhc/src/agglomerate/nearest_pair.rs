//! Nearest pairs with a cache of every cluster's nearest.

use super::{Linkage, nearest_among, nearest_of};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, RawMerge};

/// Merges the most similar pair until one cluster is left, in exactly the order of the naive engine.
///
/// Every cluster remembers its nearest one. After a merge a cluster whose nearest is gone keeps the
/// old similarity as a bound, and looks again only when that bound is the largest there is.
///
/// # Errors
/// What the linkage reports; [`crate::Error::Interrupted`].
pub fn nearest_pair(linkage: &mut impl Linkage, monitor: &Monitor) -> Result<Dendrogram> {
    let n = linkage.n_leaves();
    Dendrogram::in_order(n, merges(linkage, monitor)?)
}

#[derive(Debug, Clone, Copy)]
struct Cached {
    cluster: usize,
    /// The similarity of `cluster`, or only a bound if `stale`.
    similarity: f64,
    stale: bool,
}

pub(crate) fn merges(linkage: &mut impl Linkage, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    let mut active: Vec<usize> = (0..linkage.n_leaves()).collect();
    let members = active.clone();
    merges_among(linkage, members, &mut active, monitor)
}

/// Merges the clusters `members`, some or all of the active ones, until they are one.
pub(crate) fn merges_among(
    linkage: &mut impl Linkage,
    mut members: Vec<usize>,
    active: &mut Vec<usize>,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let all = members.len() == active.len();
    let mut cache =
        vec![Cached { cluster: usize::MAX, similarity: f64::NEG_INFINITY, stale: true }; linkage.n_leaves()];
    if all {
        monitor.start((members.len() * members.len()) as u64);
    }
    for &i in &members {
        cache[i] = nearest(linkage, i, &members, all)?;
        monitor.advance((members.len() / 2) as u64)?;
    }
    let mut merges = Vec::with_capacity(members.len().saturating_sub(1));
    let mut values = vec![0.0; members.len()];
    let tolerance = linkage.tolerance();
    while members.len() > 1 {
        let (i, j, similarity) = largest(linkage, &members, all, &mut cache, monitor)?;
        linkage.merge(i, j, active)?;
        merges.push(RawMerge { i, j, similarity });
        for clusters in [&mut *active, &mut members] {
            clusters.remove(clusters.partition_point(|&k| k < j));
        }
        let at = members.partition_point(|&k| k < i);
        let others: Vec<usize> = members[..at].iter().chain(&members[at + 1..]).copied().collect();
        let values = &mut values[..others.len()];
        linkage.similarities(i, &others, values)?;
        for (&k, &similarity) in others.iter().zip(&*values) {
            let cached = &mut cache[k];
            let fresh = Cached { cluster: i, similarity, stale: false };
            if similarity > tolerance.ceiling(cached.similarity) {
                *cached = fresh;
            } else if !cached.stale {
                let equal = similarity >= tolerance.floor(cached.similarity);
                if cached.cluster == i || cached.cluster == j {
                    // The old nearest is gone. An equally near cluster i has the smallest name left.
                    *cached = if equal { fresh } else { Cached { stale: true, ..*cached } };
                } else if equal && i < cached.cluster {
                    *cached = fresh;
                }
            } else {
                cached.similarity = cached.similarity.max(similarity);
            }
        }
        let nearest = nearest_of(&others, values, tolerance);
        cache[i] = Cached { cluster: nearest.cluster, similarity: nearest.similarity, stale: false };
        monitor.advance(members.len() as u64)?;
    }
    Ok(merges)
}

fn nearest(linkage: &mut impl Linkage, i: usize, members: &[usize], all: bool) -> Result<Cached> {
    let nearest = if all { linkage.nearest(i, members)? } else { nearest_among(linkage, i, members)? };
    Ok(Cached { cluster: nearest.cluster, similarity: nearest.similarity, stale: false })
}

/// The most similar pair, refreshing bounds that could hide it.
fn largest(
    linkage: &mut impl Linkage,
    active: &[usize],
    all: bool,
    cache: &mut [Cached],
    monitor: &Monitor,
) -> Result<(usize, usize, f64)> {
    loop {
        let best = active.iter().fold(f64::NEG_INFINITY, |best, &k| best.max(cache[k].similarity));
        let floor = linkage.tolerance().floor(best);
        let (mut pair, mut similarity) = ((usize::MAX, usize::MAX), best);
        let mut stale = None;
        for &k in active {
            let cached = cache[k];
            if cached.similarity >= floor {
                if cached.stale {
                    stale = Some(k);
                    break;
                }
                let this = (k.min(cached.cluster), k.max(cached.cluster));
                if this < pair {
                    (pair, similarity) = (this, cached.similarity);
                }
            }
        }
        match stale {
            None => return Ok((pair.0, pair.1, similarity)),
            Some(k) => {
                cache[k] = nearest(linkage, k, active, all)?;
                monitor.advance(0)?;
            }
        }
    }
}
