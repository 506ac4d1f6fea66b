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

/// The dendrogram of nodes, children before parents and the root last, and for each merge the node that
/// it completes.
///
/// Nodes of more than two children become merges of equal height. Heights are dissimilarities: the
/// number of levels below.
pub(crate) fn dendrogram_of_nodes(n: usize, nodes: &[Vec<Child>]) -> Result<(Dendrogram, Vec<Option<usize>>)> {
    let mut levels = vec![0usize; nodes.len()];
    let mut smallest = vec![0usize; nodes.len()];
    let mut merges: Vec<(usize, usize, usize, Option<usize>)> = Vec::with_capacity(n.saturating_sub(1));
    for (node, children) in nodes.iter().enumerate() {
        let of = |child: &Child| match *child {
            Child::Leaf(leaf) => (leaf as usize, 0),
            Child::Node(node) => (smallest[node], levels[node]),
        };
        let mut parts: Vec<(usize, usize)> = children.iter().map(of).collect();
        parts.sort_unstable();
        let level = 1 + parts.iter().map(|part| part.1).max().unwrap_or(0);
        if let Some((&(i, _), others)) = parts.split_first() {
            let last = others.len().wrapping_sub(1);
            let merge = |(at, &(j, _)): (usize, &(usize, usize))| (level, i, j, (at == last).then_some(node));
            merges.extend(others.iter().enumerate().map(merge));
            (levels[node], smallest[node]) = (level, i);
        }
    }
    merges.sort_unstable_by_key(|&(level, i, j, _)| (level, i, j));
    let raw = merges.iter().map(|&(level, i, j, _)| RawMerge { i, j, similarity: -(level as f64) }).collect();
    let tree = Dendrogram::in_order(n, raw)?.map_heights(true, |x| -x);
    Ok((tree, merges.into_iter().map(|merge| merge.3).collect()))
}
