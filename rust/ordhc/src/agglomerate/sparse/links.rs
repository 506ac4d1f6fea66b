//! What is known of two clusters, and how merging changes it.

/// What is known of clusters `a < b`, named by their smallest leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    pub(super) a: u32,
    pub(super) b: u32,
    /// The number of pairs of their leaves that are stored.
    pub(super) count: u32,
    /// The sum of these, or the least or largest one.
    pub(super) value: f64,
}

/// A link as one of its clusters sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub(super) cluster: u32,
    pub(super) count: u32,
    pub(super) value: f64,
}

/// How similar two clusters are: the mean or the least of their pairs, all of them (those that aren't stored
/// are zero) or those that are known.
///
/// Reciprocal nearest pairs commute: merging never brings a cluster closer to a third than both parts were,
/// and as close as the closer part only if both parts were. For the latter pairs that are equally similar
/// stand, where not all is known, in the order of the share that is: it falls when only one part has a link.
pub(super) trait Kind: Sync {
    /// Means, else the least.
    const MEAN: bool;
    /// Pairs that aren't stored count as zero. (The least of all is kept for clusters with all pairs stored.)
    const ALL: bool;

    /// The similarity of clusters of these sizes.
    #[inline(always)]
    fn similarity(entry: &Entry, n_i: f64, n_k: f64) -> f64 {
        match (Self::MEAN, Self::ALL) {
            (false, _) => entry.value,
            (true, true) => entry.value / (n_i * n_k),
            (true, false) => entry.value / f64::from(entry.count),
        }
    }

    /// The share of pairs that are known; where all count, the same for all.
    #[inline(always)]
    fn share(entry: &Entry, n_i: f64, n_k: f64) -> f64 {
        if Self::ALL { 0.0 } else { f64::from(entry.count) / (n_i * n_k) }
    }

    /// The value of two links to the same cluster.
    #[inline(always)]
    fn fold(x: f64, y: f64) -> f64 {
        if Self::MEAN { x + y } else { x.min(y) }
    }
}

pub(super) struct MeanOfAll;
pub(super) struct MeanOfKnown;
pub(super) struct LeastOfAll;
pub(super) struct LeastOfKnown;

impl Kind for MeanOfAll {
    const MEAN: bool = true;
    const ALL: bool = true;
}

impl Kind for MeanOfKnown {
    const MEAN: bool = true;
    const ALL: bool = false;
}

impl Kind for LeastOfAll {
    const MEAN: bool = false;
    const ALL: bool = true;
}

impl Kind for LeastOfKnown {
    const MEAN: bool = false;
    const ALL: bool = false;
}

/// Links between the clusters that leaves are `of`, each pair of clusters once, ascending.
pub(super) fn contracted(
    links: impl Iterator<Item = Link>,
    of: impl Fn(u32) -> u32,
    fold: impl Fn(f64, f64) -> f64,
) -> Vec<Link> {
    let between = |link: Link| {
        let (a, b) = (of(link.a), of(link.b));
        (a != b).then_some(Link { a: a.min(b), b: a.max(b), ..link })
    };
    let mut links: Vec<Link> = links.filter_map(between).collect();
    // Stable, so that sums are always taken in the same order.
    links.sort_by_key(|link| (link.a, link.b));
    links.dedup_by(|next, kept| {
        let same = (next.a, next.b) == (kept.a, kept.b);
        if same {
            kept.value = fold(kept.value, next.value);
            kept.count += next.count;
        }
        same
    });
    links
}
