//! The likelihood of comparisons of two pairs of leaves, as a function of the heights of nodes.

use super::answers::Answers;
use super::height_tree::{HeightTree, Spans};
use super::lengths::Lengths;
use super::node_sums::NodeSums;
use super::reliability::Noises;
use super::terms::Terms;
use crate::error::Result;

/// Comparisons of two pairs of leaves. If leaves have no lengths, the weights of comparisons that
/// depend on the heights of the same two nodes are added up (`Sums`). If leaves have lengths, the
/// closeness of the nearer pair minus that of the farther pair is stored for each comparison
/// (`Each`).
#[derive(Debug, Clone)]
pub(super) enum Pairs {
    Sums(NodeSums),
    Each(Terms),
}

impl Pairs {
    pub(super) fn new(tree: &HeightTree, answers: &Answers, noises: &Noises, lengths: &Lengths) -> Result<Self> {
        if lengths.are_learnt() {
            return Terms::new(tree.n_leaves(), tree.n_nodes(), answers).map(Self::Each);
        }
        NodeSums::new(tree.n_nodes(), answers.all().len(), noises.n_levels()).map(Self::Sums)
    }

    pub(super) fn follow(
        &mut self,
        tree: &HeightTree,
        spans: &Spans,
        answers: &Answers,
        noises: &Noises,
        lengths: &Lengths,
    ) {
        match self {
            Self::Sums(node_sums) => node_sums.follow(tree, spans, answers, noises),
            Self::Each(terms) => terms.follow(tree, spans, answers, lengths),
        }
    }

    /// Returns the number of stored comparisons or sums. Each sum counts twice, because it is stored at both of its
    /// nodes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Sums(node_sums) => node_sums.len(),
            Self::Each(terms) => terms.len(),
        }
    }

    pub(super) fn weight(&self, node: u32) -> f64 {
        match self {
            Self::Sums(node_sums) => node_sums.weight(node),
            Self::Each(terms) => terms.weight(node),
        }
    }

    pub(super) fn gain(&self, tree: &HeightTree, noises: &Noises, node: u32, height: f64) -> f64 {
        match self {
            Self::Sums(node_sums) => node_sums.gain(tree, noises, node, height),
            Self::Each(terms) => terms.gain(noises, node, height - tree.height(node)),
        }
    }

    /// Updates the stored differences in closeness for the new height of a node. The tree must still have the old
    /// height.
    pub(super) fn accept(&mut self, tree: &HeightTree, node: u32, height: f64) {
        if let Self::Each(terms) = self {
            terms.accept(node, height - tree.height(node));
        }
    }

    pub(super) fn scale(&mut self, factor: f64) {
        if let Self::Each(terms) = self {
            terms.scale(factor);
        }
    }

    pub(super) fn log_likelihood(
        &self,
        tree: &HeightTree,
        noises: &Noises,
        factor: f64,
        log: impl Fn(u8, f64) -> f64,
    ) -> f64 {
        match self {
            Self::Sums(node_sums) => node_sums.log_likelihood(tree, factor, log),
            Self::Each(terms) => {
                terms.log_likelihood(factor, |person, difference| log(noises.level(person), difference))
            }
        }
    }
}
