//! Nearest pairs with a cache of every cluster's nearest.

use super::{Linkage, nearest_of};
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
    let n = linkage.n_leaves();
    let mut active: Vec<usize> = (0..n).collect();
    monitor.start((n * n) as u64);
    let mut cache: Vec<Cached> = Vec::with_capacity(n);
    for i in 0..n {
        let nearest = linkage.nearest(i, &active)?;
        cache.push(Cached { cluster: nearest.cluster, similarity: nearest.similarity, stale: false });
        monitor.advance((n / 2) as u64)?;
    }
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    let mut values = vec![0.0; n];
    while active.len() > 1 {
        let (i, j, similarity) = largest(linkage, &active, &mut cache, monitor)?;
        linkage.merge(i, j, &active)?;
        merges.push(RawMerge { i, j, similarity });
        active.remove(active.partition_point(|&k| k < j));
        let at = active.partition_point(|&k| k < i);
        let others: Vec<usize> = active[..at].iter().chain(&active[at + 1..]).copied().collect();
        let values = &mut values[..others.len()];
        linkage.similarities(i, &others, values)?;
        for (&k, &similarity) in others.iter().zip(&*values) {
            let cached = &mut cache[k];
            let fresh = Cached { cluster: i, similarity, stale: false };
            if similarity > cached.similarity {
                *cached = fresh;
            } else if !cached.stale {
                if cached.cluster == i || cached.cluster == j {
                    // The old nearest is gone. An equally near cluster i has the smallest name left.
                    *cached = if similarity == cached.similarity { fresh } else { Cached { stale: true, ..*cached } };
                } else if similarity == cached.similarity && i < cached.cluster {
                    *cached = fresh;
                }
            }
        }
        let nearest = nearest_of(&others, values);
        cache[i] = Cached { cluster: nearest.cluster, similarity: nearest.similarity, stale: false };
        monitor.advance(active.len() as u64)?;
    }
    Ok(merges)
}

/// The most similar pair, refreshing bounds that could hide it.
fn largest(
    linkage: &mut impl Linkage,
    active: &[usize],
    cache: &mut [Cached],
    monitor: &Monitor,
) -> Result<(usize, usize, f64)> {
    loop {
        let best = active.iter().fold(f64::NEG_INFINITY, |best, &k| best.max(cache[k].similarity));
        let mut pair = (usize::MAX, usize::MAX);
        let mut stale = None;
        for &k in active {
            let cached = cache[k];
            if cached.similarity == best {
                if cached.stale {
                    stale = Some(k);
                    break;
                }
                pair = pair.min((k.min(cached.cluster), k.max(cached.cluster)));
            }
        }
        match stale {
            None => return Ok((pair.0, pair.1, best)),
            Some(k) => {
                let nearest = linkage.nearest(k, active)?;
                cache[k] = Cached { cluster: nearest.cluster, similarity: nearest.similarity, stale: false };
                monitor.advance(0)?;
            }
        }
    }
}
