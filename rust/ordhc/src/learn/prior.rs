//! What a tree that is there already says.

use crate::tree::{Dendrogram, LcaSizes};

/// Answers questions as a tree has them.
///
/// Merges right above each other at the same height are one node of more than two children, of which three answer
/// "none" (-1).
#[derive(Debug, Clone)]
pub(crate) struct Prior {
    lca: LcaSizes,
    /// By merge: the last merge of its node.
    node: Vec<u32>,
}

impl Prior {
    pub(crate) fn new(tree: &Dendrogram) -> Self {
        let mut node: Vec<u32> = (0..tree.merges().len() as u32).collect();
        for (part, whole) in loose(tree).into_iter().enumerate().rev() {
            if let Some(whole) = whole {
                node[part] = node[whole as usize];
            }
        }
        Self { lca: LcaSizes::new(tree), node }
    }

    /// The place of the odd one out of three different leaves, or -1.
    pub(crate) fn answer(&self, leaves: [u32; 3]) -> i8 {
        let [a, b, c] = leaves.map(|leaf| leaf as usize);
        let nodes = [(b, c), (a, c), (a, b)].map(|(i, j)| self.node[self.lca.merge(i, j)]);
        // The lowest one, below the two others, which are the same.
        match (0..3).min_by_key(|&at| nodes[at]) {
            Some(at) if nodes.iter().filter(|&&node| node == nodes[at]).count() == 1 => at as i8,
            _ => -1,
        }
    }
}

/// By merge: the merge above, if it stands at the same height and so is part of the same node.
pub(crate) fn loose(tree: &Dendrogram) -> Vec<Option<u32>> {
    let n = tree.n_leaves();
    let mut above = vec![None; tree.merges().len()];
    for (at, pair) in tree.merges().iter().enumerate() {
        for part in pair.iter().filter_map(|&part| (part as usize).checked_sub(n)) {
            if tree.heights()[part] == tree.heights()[at] {
                above[part] = Some(at as u32);
            }
        }
    }
    above
}
