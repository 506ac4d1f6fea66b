//! The naive engine, which compares all pairs before every merge. Tests compare the other engines with it.

use super::engine::tree_of;
use super::nearest::Linkage;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Found, RawMerge};

/// Returns the dendrogram of a linkage. Merges the most similar pair until one cluster is left, in O(n^3).
///
/// # Errors
/// The errors of the linkage; [`crate::Error::Interrupted`].
pub fn naive(linkage: &mut impl Linkage, monitor: Option<&Monitor>) -> Result<Dendrogram> {
    tree_of(linkage, merges_among, monitor)
}

/// Merges the most similar pair of the clusters `members`, until no two of these have a finite similarity. `members`
/// are some or all of the clusters `active`.
pub(super) fn merges_among(
    linkage: &mut (dyn Linkage + '_),
    mut members: Vec<usize>,
    active: &mut Vec<usize>,
    monitor: &Monitor,
) -> Result<Found> {
    entered!(naive);
    let mut merges = Vec::with_capacity(members.len().saturating_sub(1));
    if members.len() == active.len() {
        monitor.start(members.len().saturating_sub(1) as u64);
    }
    let mut values = vec![0.0; members.len()];
    while members.len() > 1 {
        let mut largest = Vec::with_capacity(members.len());
        for (at, &i) in members.iter().enumerate() {
            linkage.similarities(i, &members[at + 1..], &mut values[at + 1..members.len()])?;
            largest
                .push(values[at + 1..members.len()].iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a }));
        }
        let tolerance = linkage.tolerance();
        let best = largest.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if best == f64::NEG_INFINITY {
            break;
        }
        let tied = |&x: &f64| tolerance.key(x) == tolerance.key(best);
        let at = largest.iter().position(tied).expect("the largest is one of them");
        let (later, values) = (&members[at + 1..], &mut values[at + 1..members.len()]);
        linkage.similarities(members[at], later, values)?;
        let Some(first) = values.iter().position(tied) else {
            return Err(Error::Argument(
                "the linkage returns two different similarities of the same clusters; return equal numbers".into(),
            ));
        };
        let best = RawMerge { i: members[at], j: later[first], similarity: values[first] };
        linkage.merge(best.i, best.j, active)?;
        merges.push(best);
        active.retain(|&k| k != best.j);
        members.retain(|&k| k != best.j);
        monitor.advance(1)?;
    }
    Ok(Found::certain(merges))
}
