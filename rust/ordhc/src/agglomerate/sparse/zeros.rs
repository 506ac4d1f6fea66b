//! Merges clusters whose similarity is zero. Pairs of leaves that aren't stored count as zero. These merges come after
//! all merges with positive similarity, and before all merges with negative similarity.

use super::links::Link;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

/// For each cluster, the clusters to which it has an edge with negative similarity. Each cluster has a name, and its
/// index is the number of smaller names.
struct Below {
    starts: Vec<usize>,
    others: Vec<(u32, u32)>,
}

impl Below {
    fn new(names: &[u32], links: &[Link]) -> Self {
        let number = |name: u32| names.partition_point(|&other| other < name);
        let mut starts = vec![0; names.len() + 1];
        let ends: Vec<[usize; 2]> = links.iter().map(|link| [number(link.a), number(link.b)]).collect();
        ends.iter().flatten().for_each(|&end| starts[end + 1] += 1);
        (0..names.len()).for_each(|at| starts[at + 1] += starts[at]);
        let mut next = starts.clone();
        let mut others = vec![(0, 0); 2 * links.len()];
        for (&[a, b], link) in ends.iter().zip(links) {
            for (from, to) in [(a, b), (b, a)] {
                others[next[from]] = (to as u32, link.count);
                next[from] += 1;
            }
        }
        Self { starts, others }
    }

    fn of(&self, at: usize) -> &[(u32, u32)] {
        &self.others[self.starts[at]..self.starts[at + 1]]
    }
}

/// Merges, within each of `groups`, the pairs of clusters without an edge in `links`, the edges with negative
/// similarity. `names` are ascending. A group is an ascending list of indices in `names`.
///
/// The first cluster repeatedly absorbs the first cluster to which it has no edge, until it has edges to all other
/// clusters of its group. The next cluster then does the same. A merged cluster has the edges of both merged clusters.
pub(super) fn merge_unlinked(names: &[u32], links: &[Link], groups: Vec<Vec<u32>>, merges: &mut Vec<RawMerge>) {
    entered!(sparse_zeros);
    let below = Below::new(names, links);
    let mut whole = UnionFind::new(names.len());
    // For each cluster: the last absorbing cluster `i` to which it has an edge.
    let mut linked = vec![u32::MAX; names.len()];
    for mut open in groups {
        while let Some((&i, rest)) = open.split_first() {
            let link = |k: u32, whole: &mut UnionFind, linked: &mut [u32]| {
                for &(other, _) in below.of(k as usize) {
                    linked[whole.find(other) as usize] = i;
                }
            };
            link(i, &mut whole, &mut linked);
            let mut left = Vec::new();
            for &j in rest {
                if linked[j as usize] == i {
                    left.push(j);
                } else {
                    whole.attach(j, i);
                    merges.push(zero(names, i, j));
                    link(j, &mut whole, &mut linked);
                }
            }
            open = left;
        }
    }
}

/// Does the same as [`merge_unlinked`] for single linkage: two clusters stay apart only if all pairs of leaves between
/// them have negative similarity.
pub(super) fn merge_somewhere_unlinked(
    (names, sizes): (&[u32], &[f64]),
    links: &[Link],
    groups: Vec<Vec<u32>>,
    merges: &mut Vec<RawMerge>,
) {
    entered!(sparse_some_zeros);
    use std::cmp::Reverse;
    let below = Below::new(names, links);
    // For each cluster: the last step (`stamp`) in which all pairs of its leaves with leaves of the newly absorbed
    // cluster had negative similarity.
    let mut apart = vec![0; names.len()];
    let mut stamp = 0;
    for mut open in groups {
        while let Some((&i, rest)) = open.split_first() {
            let mut near = std::collections::BinaryHeap::new();
            let mut far = rest.to_vec();
            let mut new = i;
            loop {
                stamp += 1;
                for &(other, count) in below.of(new as usize) {
                    if f64::from(count) == sizes[new as usize] * sizes[other as usize] {
                        apart[other as usize] = stamp;
                    }
                }
                far.retain(|&k| {
                    let stays = apart[k as usize] == stamp;
                    if !stays {
                        near.push(Reverse(k));
                    }
                    stays
                });
                let Some(Reverse(j)) = near.pop() else { break };
                merges.push(zero(names, i, j));
                new = j;
            }
            open = far;
        }
    }
}

fn zero(names: &[u32], i: u32, j: u32) -> RawMerge {
    RawMerge { i: names[i as usize] as usize, j: names[j as usize] as usize, similarity: 0.0 }
}
