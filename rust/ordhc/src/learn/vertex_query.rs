//! A query about a node of a tree, answered by several questions about leaves.

use crate::search::{GrowingTree, NONE, Outcome};

/// `SimulateVertexQuery` (Emamjomeh-Zadeh & Kempe, Algorithm 5): is this node the sibling of a new leaf? If not,
/// towards which neighbour of the node is the sibling? The result is right with probability p if each answer is right
/// with probability p (Lemma 5.3).
///
/// A query about a leaf or the root takes one question. For another node, k questions are asked about the node. If most
/// answers are "outside" (the leaf does not belong below the node), k more questions are asked about the parent of the
/// node. k is chosen so that the majority of k answers is right with a probability of at least sqrt(p).
#[derive(Debug, Clone)]
pub(crate) struct VertexQuery {
    node: u32,
    pivot: u32,
    k: u64,
    asked: u64,
    votes: [u64; 4],
}

impl VertexQuery {
    /// `k_p` is the number of questions about a node that is neither a leaf nor the root.
    pub(crate) fn new(tree: &GrowingTree, node: u32, k_p: u64) -> Self {
        let parent = tree.parent(node);
        let is_leaf = tree.first(node) == NONE;
        let k = if is_leaf || parent == NONE { 1 } else { k_p };
        Self { node, pivot: if is_leaf { parent } else { node }, k, asked: 0, votes: [0; 4] }
    }

    /// Returns one leaf below each of the two children of the node to ask about, or `None` until the open questions are
    /// answered.
    pub(crate) fn next(&mut self, tree: &GrowingTree) -> Option<[u32; 2]> {
        if self.asked == self.k {
            return None;
        }
        self.asked += 1;
        let first = tree.first(self.pivot);
        Some([first, tree.next(first)].map(|child| tree.representative(child)))
    }

    /// Takes an answer. After the last answer, returns the result of the query: the node itself if it is the sibling of
    /// the new leaf, and otherwise the neighbour of the node towards the sibling.
    pub(crate) fn take(&mut self, tree: &GrowingTree, outcome: Outcome) -> Option<u32> {
        self.votes[outcome as usize] += 1;
        if self.votes.iter().sum::<u64>() < self.k {
            return None;
        }
        let most = |outcome: Outcome| 2 * self.votes[outcome as usize] > self.k;
        let first = tree.first(self.pivot);
        let children = [first, tree.next(first)];
        let parent = tree.parent(self.node);
        let sides = [Outcome::First, Outcome::Second].into_iter().zip(children);
        let child = sides.filter(|&(side, _)| most(side)).map(|(_, child)| child).next();
        if self.pivot != self.node {
            // These questions were about the parent: does the new leaf belong at or below the node, among the children
            // of the parent?
            return Some(if child == Some(self.node) { self.node } else { parent });
        }
        if let Some(child) = child {
            return Some(child);
        }
        if parent == NONE {
            return Some(if most(Outcome::Outside) { self.node } else { first });
        }
        if !most(Outcome::Outside) {
            return Some(parent);
        }
        (self.pivot, self.asked, self.votes) = (parent, 0, [0; 4]);
        None
    }
}
