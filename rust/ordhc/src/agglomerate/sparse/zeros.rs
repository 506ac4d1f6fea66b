//! Merges clusters whose similarity is zero. Pairs of leaves that aren't stored count as zero. These merges come after
//! all merges with positive similarity, and before all merges with negative similarity.

use super::graph::Graph;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

/// Merges, within each of `groups`, the pairs of clusters without an edge in the graph of `below`, which has the edges
/// with negative similarity. A group is an ascending list of clusters.
///
/// The first cluster repeatedly absorbs the first cluster to which it has no edge, until it has edges to all other
/// clusters of its group. The next cluster then does the same. A merged cluster has the edges of both merged clusters.
pub(super) fn merge_unlinked(below: &Graph, groups: Vec<Vec<u32>>, merges: &mut Vec<RawMerge>) {
    entered!(sparse_zeros);
    let mut whole = UnionFind::new(below.len());
    // For each cluster: the last absorbing cluster `i` to which it has an edge.
    let mut linked = vec![u32::MAX; below.len()];
    for mut open in groups {
        while let Some((&i, rest)) = open.split_first() {
            let link = |k: u32, whole: &mut UnionFind, linked: &mut [u32]| {
                for entry in below.row(k as usize) {
                    linked[whole.find(entry.cluster) as usize] = i;
                }
            };
            link(i, &mut whole, &mut linked);
            let mut left = Vec::new();
            for &j in rest {
                if linked[j as usize] == i {
                    left.push(j);
                } else {
                    whole.attach(j, i);
                    merges.push(zero(below, i, j));
                    link(j, &mut whole, &mut linked);
                }
            }
            open = left;
        }
    }
}

/// Does the same as [`merge_unlinked`] for single linkage: two clusters stay apart only if all pairs of leaves between
/// them have negative similarity.
pub(super) fn merge_somewhere_unlinked(below: &Graph, groups: Vec<Vec<u32>>, merges: &mut Vec<RawMerge>) {
    entered!(sparse_some_zeros);
    use std::cmp::Reverse;
    let sizes = &below.sizes;
    // For each cluster: the last step (`stamp`) in which all pairs of its leaves with leaves of the newly absorbed
    // cluster had negative similarity.
    let mut apart = vec![0; below.len()];
    let mut stamp = 0;
    for mut open in groups {
        while let Some((&i, rest)) = open.split_first() {
            let mut near = std::collections::BinaryHeap::new();
            let mut far = rest.to_vec();
            let mut new = i;
            loop {
                stamp += 1;
                for entry in below.row(new as usize) {
                    let other = entry.cluster as usize;
                    if f64::from(entry.count) == sizes[new as usize] * sizes[other] {
                        apart[other] = stamp;
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
                merges.push(zero(below, i, j));
                new = j;
            }
            open = far;
        }
    }
}

fn zero(Graph { names, .. }: &Graph, i: u32, j: u32) -> RawMerge {
    RawMerge { i: names[i as usize] as usize, j: names[j as usize] as usize, similarity: 0.0 }
}
