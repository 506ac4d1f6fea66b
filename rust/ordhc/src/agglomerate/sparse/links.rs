//! The edges of the sparse graph: the stored similarity of two clusters, and how merges change this similarity.

use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::sorting::sort_by_key;

/// An edge between two clusters `a < b`, which are named by their smallest leaves: a summary of the stored pairs of
/// leaves between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) count: u32,
    /// The sum, minimum or maximum of the similarities of the stored pairs.
    pub(super) value: f64,
}

/// An edge in the list of edges of one of its two clusters. `cluster` is the other cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub(super) cluster: u32,
    pub(super) count: u32,
    pub(super) value: f64,
}

/// How the similarity of two clusters follows from their pairs of leaves: the mean or the minimum. Either all pairs
/// count (pairs that aren't stored are zero), or only the stored pairs.
///
/// The order in which reciprocal nearest pairs merge does not change the tree, because of two properties. First, a
/// merged cluster is never closer to a third cluster than the closer of its two parts was. Second, it is as close as
/// the closer part only if both parts were equally close. For the second property, ties are ordered by the share of
/// pairs of leaves that are stored. This share decreases if only one part has an edge to the third cluster.
#[derive(Clone, Copy)]
pub(super) struct Summary {
    pub(super) mean: bool,
    /// True if pairs that aren't stored count as zero. For the minimum, two clusters then have an edge only if all
    /// pairs of leaves between them are stored.
    pub(super) all: bool,
}

/// Runs `$work`, in which `$summary` is a constant, so that loops are compiled for each way to compute similarities,
/// without a branch inside. Functions that `$work` calls must be `#[inline(always)]`.
macro_rules! with_constant {
    ($summary:ident, $work:expr) => {
        with_constant!($summary, $work, [false false] [false true] [true false] [true true])
    };
    ($summary:ident, $work:expr, $([$mean:literal $all:literal])*) => {
        match $summary {
            $(Summary { mean: $mean, all: $all } => {
                let $summary = Summary { mean: $mean, all: $all };
                $work
            })*
        }
    };
}
pub(super) use with_constant;

impl Summary {
    pub(super) fn is_least_of_all(self) -> bool {
        self.all && !self.mean
    }

    #[inline(always)]
    pub(super) fn similarity(self, entry: &Entry, n_i: f64, n_k: f64) -> f64 {
        match (self.mean, self.all) {
            (false, _) => entry.value,
            (true, true) => entry.value / (n_i * n_k),
            (true, false) => entry.value / f64::from(entry.count),
        }
    }

    #[inline(always)]
    pub(super) fn share(self, entry: &Entry, n_i: f64, n_k: f64) -> f64 {
        if self.all { 0.0 } else { f64::from(entry.count) / (n_i * n_k) }
    }

    #[inline(always)]
    pub(super) fn fold(self, x: f64, y: f64) -> f64 {
        if self.mean { x + y } else { x.min(y) }
    }
}

pub(super) fn sort_ascending(links: &mut [Link], monitor: &Monitor) -> Result<()> {
    sort_by_key(links, |link| (link.a, link.b), monitor)
}

/// Returns the edges between clusters, ordered by their two clusters, with one edge for each pair of clusters. `of`
/// has the cluster of each leaf. Memory is allocated for `most` edges at first.
pub(super) fn contracted(
    links: &mut dyn Iterator<Item = Link>,
    most: usize,
    of: &[u32],
    fold: &dyn Fn(f64, f64) -> f64,
    monitor: &Monitor,
) -> Result<Vec<Link>> {
    const WHAT: &str = "the links of clusters";
    const BLOCK: usize = 1 << 16;
    let n = of.len();
    let mut found = memory::room(WHAT, most)?;
    let mut ends = memory::filled(WHAT, 0usize, n + 1)?;
    for (at, link) in links.enumerate() {
        if at % BLOCK == 0 {
            monitor.check()?;
        }
        let (a, b) = (of[link.a as usize], of[link.b as usize]);
        if a != b {
            ends[a.min(b) as usize + 1] += 1;
            memory::push(WHAT, &mut found, Link { a: a.min(b), b: a.max(b), ..link })?;
        }
    }
    for a in 0..n {
        ends[a + 1] += ends[a];
    }
    // The sort is stable, so that the similarities of a pair of clusters are always summed in the same order.
    let mut sorted = memory::filled(WHAT, Link { a: 0, b: 0, count: 0, value: 0.0 }, found.len())?;
    for (at, link) in found.iter().enumerate() {
        if at % BLOCK == 0 {
            monitor.check()?;
        }
        let place = &mut ends[link.a as usize];
        sorted[*place] = *link;
        *place += 1;
    }
    drop(found);
    let (mut start, mut next_check) = (0, 0);
    for &end in &ends[..n] {
        if start >= next_check {
            monitor.check()?;
            next_check = start + BLOCK;
        }
        sorted[start..end].sort_by_key(|link| link.b);
        start = end;
    }
    sorted.dedup_by(|next, kept| {
        let same = (next.a, next.b) == (kept.a, kept.b);
        if same {
            kept.value = fold(kept.value, next.value);
            kept.count += next.count;
        }
        same
    });
    Ok(sorted)
}
