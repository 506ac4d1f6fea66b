//! From nodes of any number of children to a dendrogram.

use super::Dendrogram;
use super::raw::RawMerge;
use crate::error::Result;

/// A child of a node: a leaf, or an earlier node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Child {
    Leaf(u32),
    Node(usize),
}

/// The dendrogram of nodes, children before parents and the root last.
///
/// Nodes of more than two children become merges of equal height that are joined. Heights are dissimilarities: the
/// number of levels below.
pub(crate) fn dendrogram_of_nodes(n: usize, nodes: &[Vec<Child>]) -> Result<Dendrogram> {
    let mut levels = vec![0usize; nodes.len()];
    let mut smallest = vec![0usize; nodes.len()];
    let mut merges: Vec<(usize, usize, usize, bool)> = Vec::with_capacity(n.saturating_sub(1));
    for (node, children) in nodes.iter().enumerate() {
        let of = |child: &Child| match *child {
            Child::Leaf(leaf) => (leaf as usize, 0),
            Child::Node(node) => (smallest[node], levels[node]),
        };
        let mut parts: Vec<(usize, usize)> = children.iter().map(of).collect();
        parts.sort_unstable();
        let level = 1 + parts.iter().map(|part| part.1).max().unwrap_or(0);
        if let Some((&(i, _), others)) = parts.split_first() {
            let last = others.len();
            merges.extend(others.iter().enumerate().map(|(at, &(j, _))| (level, i, j, at + 1 < last)));
            (levels[node], smallest[node]) = (level, i);
        }
    }
    merges.sort_unstable();
    let raw = merges.iter().map(|&(level, i, j, _)| RawMerge { i, j, similarity: -(level as f64) }).collect();
    let joined = merges.into_iter().map(|(.., joined)| joined).collect();
    Dendrogram::in_order(n, raw)?.map_heights(true, |x| -x).with_joined(joined)
}
