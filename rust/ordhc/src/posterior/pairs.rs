//! Comparisons of two pairs as functions of the heights of nodes.

use super::answers::Answers;
use super::bouts::Bouts;
use super::height_tree::{HeightTree, Spans};
use super::lengths::Lengths;
use super::reliability::Noises;
use super::terms::Terms;
use crate::error::Result;

/// Without lengths comparisons about the same two nodes are one; with lengths each has a difference of its own.
#[derive(Debug, Clone)]
pub(super) enum Pairs {
    Sums(Bouts),
    Each(Terms),
}

impl Pairs {
    pub(super) fn new(tree: &HeightTree, answers: &Answers, noises: &Noises, lengths: &Lengths) -> Result<Self> {
        if lengths.are_learnt() {
            return Terms::new(tree.n_leaves(), tree.n_nodes(), answers).map(Self::Each);
        }
        Bouts::new(tree.n_nodes(), answers.all().len(), noises.n_levels()).map(Self::Sums)
    }

    /// Follows the topology of a tree.
    pub(super) fn follow(
        &mut self,
        tree: &HeightTree,
        spans: &Spans,
        answers: &Answers,
        noises: &Noises,
        lengths: &Lengths,
    ) {
        match self {
            Self::Sums(bouts) => bouts.follow(tree, spans, answers, noises),
            Self::Each(terms) => terms.follow(tree, spans, answers, lengths),
        }
    }

    /// How many sums of answers there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Sums(bouts) => bouts.len(),
            Self::Each(terms) => terms.len(),
        }
    }

    /// How much the comparisons say of a node.
    pub(super) fn weight(&self, node: u32) -> f64 {
        match self {
            Self::Sums(bouts) => bouts.weight(node),
            Self::Each(terms) => terms.weight(node),
        }
    }

    /// By how much the log-likelihood rises when a node comes to stand at another height.
    pub(super) fn gain(&self, tree: &HeightTree, noises: &Noises, node: u32, height: f64) -> f64 {
        match self {
            Self::Sums(bouts) => bouts.gain(tree, noises, node, height),
            Self::Each(terms) => terms.gain(noises, node, height - tree.height(node)),
        }
    }

    /// A node, which still stands where it stood, is about to rise.
    pub(super) fn accept(&mut self, tree: &HeightTree, node: u32, height: f64) {
        if let Self::Each(terms) = self {
            terms.accept(node, height - tree.height(node));
        }
    }

    /// Heights and lengths have become `factor` times as large.
    pub(super) fn scale(&mut self, factor: f64) {
        if let Self::Each(terms) = self {
            terms.scale(factor);
        }
    }

    /// The log-likelihood, of heights and lengths that are `factor` times as large; `log` is that of an answer, by the
    /// level of the noise and the difference.
    pub(super) fn log_likelihood(
        &self,
        tree: &HeightTree,
        noises: &Noises,
        factor: f64,
        log: impl Fn(u8, f64) -> f64,
    ) -> f64 {
        match self {
            Self::Sums(bouts) => bouts.log_likelihood(tree, factor, log),
            Self::Each(terms) => {
                terms.log_likelihood(factor, |person, difference| log(noises.level(person), difference))
            }
        }
    }
}
