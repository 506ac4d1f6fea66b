//! Restricts a tree to some of its leaves.

use super::{HeavyPaths, RangeMax, Topology};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::sorting::sort;

/// An index that restricts a tree to any k of its leaves in O(k log k).
#[derive(Debug)]
pub(crate) struct Restriction {
    places: Vec<u32>,
    /// The lowest common ancestor (LCA) of each two neighbouring leaves. Parents have larger indices than their
    /// children, so the LCA of any two leaves is the largest stored index between the two leaves.
    ancestors: RangeMax,
}

impl Restriction {
    pub(crate) fn new(tree: &Topology, monitor: &Monitor) -> Result<Self> {
        let n = tree.n_leaves();
        monitor.check()?;
        let paths = HeavyPaths::new(tree);
        monitor.check()?;
        let places = (0..n).map(|leaf| paths.start(leaf) as u32).collect();
        let mut ancestors = vec![0; n - 1];
        for node in n..tree.n_nodes() {
            for child in paths.light(node) {
                ancestors[paths.start(child) - 1] = node as u32;
            }
        }
        monitor.check()?;
        Ok(Self { places, ancestors: RangeMax::new(ancestors) })
    }

    /// Returns the tree over the given leaves, without nodes with one child. Also returns, for each of `leaves`, its
    /// index in the new tree.
    pub(crate) fn to(&self, leaves: &[u32], monitor: &Monitor) -> Result<(Topology, Vec<u32>)> {
        let k = leaves.len();
        let mut order: Vec<(u32, u32)> =
            leaves.iter().enumerate().map(|(at, &leaf)| (self.places[leaf as usize], at as u32)).collect();
        sort(&mut order, monitor)?;
        let mut names = vec![0; k];
        for (name, &(_, at)) in order.iter().enumerate() {
            names[at as usize] = name as u32;
        }
        let mut gaps: Vec<u32> =
            order.windows(2).map(|two| self.ancestors.max(two[0].0 as usize, two[1].0 as usize)).collect();
        let mut nodes = gaps.clone();
        sort(&mut nodes, monitor)?;
        nodes.dedup();
        for (at, gap) in gaps.iter_mut().enumerate() {
            if at % (1 << 16) == 0 {
                monitor.check()?;
            }
            *gap = (k + nodes.partition_point(|node| node < gap)) as u32;
        }
        let parents = parents(k + nodes.len(), &gaps);
        monitor.check()?;
        Ok((Topology::of_parents(k, parents), names))
    }
}

fn parents(n_nodes: usize, gaps: &[u32]) -> Vec<u32> {
    let root = (n_nodes - 1) as u32;
    let mut parent = vec![root; n_nodes];
    // The nodes that may have more leaves further to the right, the lowest node last.
    let mut open: Vec<u32> = Vec::new();
    for (leaf, &gap) in gaps.iter().enumerate() {
        parent[leaf] = open.last().map_or(gap, |&last| last.min(gap));
        while let Some(node) = open.pop_if(|last| *last < gap) {
            parent[node as usize] = open.last().map_or(gap, |&above| above.min(gap));
        }
        if open.last() != Some(&gap) {
            open.push(gap);
        }
    }
    parent[gaps.len()] = open.last().copied().unwrap_or(root);
    for two in open.windows(2) {
        parent[two[1] as usize] = two[0];
    }
    parent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dendrogram;
    use crate::testkit::members;

    fn tree(text: &str) -> Topology {
        let (tree, names) = Dendrogram::from_newick(text).unwrap();
        let leaves: Vec<u32> = names.iter().map(|name| name.parse().unwrap()).collect();
        tree.relabel(&leaves).unwrap().into_topology()
    }

    fn clusters(tree: &Topology, name: impl Fn(u32) -> u32) -> Vec<Vec<u32>> {
        let mut clusters = members(tree);
        for leaves in &mut clusters {
            leaves.iter_mut().for_each(|leaf| *leaf = name(*leaf));
            leaves.sort_unstable();
        }
        clusters.sort();
        clusters
    }

    #[test]
    fn every_subset_of_a_tree() {
        for text in ["((0,(1,6),2),((3,4),5),7);", "(0,1,2,3,4,5,6,7);", "(7,(6,(5,(4,(3,(2,(0,1)))))));"] {
            let tree = tree(text);
            let restriction = Restriction::new(&tree, &Monitor::new()).unwrap();
            let all = clusters(&tree, |leaf| leaf);
            for subset in 1..256u32 {
                let leaves: Vec<u32> = (0..8).map(|leaf| leaf * 3 % 8).filter(|leaf| subset >> leaf & 1 == 1).collect();
                let (restricted, names) = restriction.to(&leaves, &Monitor::new()).unwrap();
                let original = |name| leaves[names.iter().position(|&n| n == name).unwrap()];
                let within = |cluster: &Vec<u32>| -> Vec<u32> {
                    cluster.iter().copied().filter(|leaf| leaves.contains(leaf)).collect()
                };
                let mut expected: Vec<Vec<u32>> = all.iter().map(within).filter(|leaves| !leaves.is_empty()).collect();
                expected.sort();
                expected.dedup();
                assert_eq!(clusters(&restricted, original), expected);
            }
        }
    }
}
