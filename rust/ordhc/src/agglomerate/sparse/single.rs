//! Single linkage: clusters merge along the edges of the sparse graph, in descending order of similarity (Kruskal
//! 1956).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::links::Link;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::sorting::sort_by;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

pub(super) struct Forest {
    pub(super) leaves: UnionFind,
}

impl Forest {
    pub(super) fn new(n: usize) -> Self {
        Self { leaves: UnionFind::new(n) }
    }

    /// Merges the clusters that are connected by edges (`links`) with similarities above `bar`, in descending order of
    /// similarity. Among ties, the lexicographically first pair of clusters merges first.
    pub(super) fn join(
        &mut self,
        mut links: Vec<Link>,
        bar: f64,
        merges: &mut Vec<RawMerge>,
        monitor: &Monitor,
    ) -> Result<()> {
        entered!(sparse_single);
        links.retain(|link| link.value > bar);
        sort_by(&mut links, |x, y| y.value.total_cmp(&x.value).then((x.a, x.b).cmp(&(y.a, y.b))), monitor)?;
        let before = merges.len();
        // `==` is needed here, because 0 and -0 are equal by `==`, but not by `total_cmp`.
        for level in links.chunk_by(|x, y| x.value == y.value) {
            let mut edges: Vec<[u32; 2]> = Vec::new();
            for link in level {
                let (a, b) = (self.leaves.find(link.a), self.leaves.find(link.b));
                if a != b {
                    edges.extend([[a, b], [b, a]]);
                }
            }
            match edges[..] {
                [] => {}
                [[a, b], _] => self.record(a.min(b), a.max(b), level[0].value, merges),
                _ => self.grow(edges, level[0].value, merges),
            }
            if (merges.len() - before).is_multiple_of(1024) {
                monitor.advance(0)?;
            }
        }
        monitor.advance((merges.len() - before) as u64)
    }

    fn record(&mut self, i: u32, j: u32, similarity: f64, merges: &mut Vec<RawMerge>) {
        self.leaves.attach(j, i);
        merges.push(RawMerge { i: i as usize, j: j as usize, similarity });
    }

    /// Merges clusters that are connected by edges of the same similarity. In each connected group, the first cluster
    /// repeatedly absorbs the first cluster to which it has an edge.
    fn grow(&mut self, mut edges: Vec<[u32; 2]>, similarity: f64, merges: &mut Vec<RawMerge>) {
        edges.sort_unstable();
        edges.dedup();
        for at in 0..edges.len() {
            let first = edges[at][0];
            // Groups are in the order of their first clusters. A cluster that has merged belongs to an earlier group.
            if (at > 0 && edges[at - 1][0] == first) || !self.leaves.is_name(first) {
                continue;
            }
            let mut near = BinaryHeap::new();
            let mut new = first;
            loop {
                let start = edges.partition_point(|edge| edge[0] < new);
                let own = edges[start..].iter().take_while(|edge| edge[0] == new);
                near.extend(own.map(|edge| Reverse(edge[1])));
                let next = std::iter::from_fn(|| near.pop()).find(|&Reverse(k)| k != first && self.leaves.is_name(k));
                let Some(Reverse(next)) = next else { break };
                self.record(first, next, similarity, merges);
                new = next;
            }
        }
    }
}
