//! Dendrograms from nodes with any number of children.

use super::{Dendrogram, Topology};
use crate::error::Result;
use crate::kind::Kind;
use crate::sorting::order_by_key;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Child {
    Leaf(u32),
    Node(usize),
}

/// Returns the dendrogram with the given nodes. Children must come before parents, and the root last. The height of a
/// node is the number of levels below it.
pub(crate) fn dendrogram_of_nodes(n: usize, nodes: &[Vec<Child>]) -> Result<Dendrogram> {
    if n == 1 {
        return Ok(Dendrogram::of_levels(Topology::from_parents(1, vec![0])?));
    }
    let mut parents = vec![0; n + nodes.len()];
    for (node, children) in nodes.iter().enumerate() {
        for child in children {
            let label = match *child {
                Child::Leaf(leaf) => leaf as usize,
                Child::Node(node) => n + node,
            };
            parents[label] = (n + node) as u32;
        }
    }
    Ok(Dendrogram::of_levels(Topology::from_parents(n, parents)?))
}

impl Dendrogram {
    /// Returns the tree in which the height of each node is the number of levels below it, as a dissimilarity. Nodes
    /// are ordered by height; nodes of the same height are ordered by their smallest leaves.
    #[must_use]
    pub fn of_levels(topology: Topology) -> Self {
        let n = topology.n_leaves();
        let mut levels: Vec<u32> = Vec::with_capacity(topology.n_inner());
        for node in n..topology.n_nodes() {
            let below = topology.children(node).iter().filter_map(|&child| (child as usize).checked_sub(n));
            levels.push(1 + below.map(|at| levels[at]).max().unwrap_or(0));
        }
        let smallest = topology.smallest_leaves();
        let mut order: Vec<u32> = (n as u32..topology.n_nodes() as u32).collect();
        order_by_key(&mut order, |node| (levels[node as usize - n], smallest[node as usize - n]));
        let heights = order.iter().map(|&node| f64::from(levels[node as usize - n])).collect();
        let topology = topology.reordered(&order);
        Self::of_nodes(topology, heights, Kind::Dissimilarity).expect("levels are finite, one for each node")
    }
}
