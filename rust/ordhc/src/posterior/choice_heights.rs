//! The likelihood of choices among several pairs, as a function of the heights of nodes.

use super::choices::Choices;
use super::height_tree::{HeightTree, Spans};
use super::lengths::{Lengths, power};
use super::lists::Lists;
use super::luce;
use super::reliability::Noises;
use crate::error::Result;
use crate::memory;

/// For answers of several comparisons (choices): the nodes on which each answer depends in the current topology, and
/// the probability that the answer would have without noise.
#[derive(Debug, Clone)]
pub(super) struct ChoiceHeights {
    /// The lowest common ancestor of each pair of leaves in the answers.
    nodes: Vec<u32>,
    /// For each pair of leaves in the answers: exp of minus the sum of the lengths of the two leaves.
    factors: Vec<f64>,
    powers: Vec<f64>,
    clear: Vec<f64>,
    by_node: Lists<u32>,
    /// The answers that depend on the last proposed height or length, with their probabilities if the proposal is
    /// accepted.
    tried: Vec<(u32, f64)>,
    tried_power: f64,
    weights: Vec<f64>,
}

impl ChoiceHeights {
    pub(super) fn new(n_nodes: usize, choices: &Choices) -> Result<Self> {
        const WHAT: &str = "answers by node";
        let n_pairs = choices.all_pairs().len();
        Ok(Self {
            nodes: memory::room(WHAT, n_pairs)?,
            factors: memory::room(WHAT, n_pairs)?,
            powers: memory::filled(WHAT, 1.0, n_nodes)?,
            clear: memory::filled(WHAT, 1.0, choices.len())?,
            by_node: Lists::new(WHAT, n_nodes, n_pairs)?,
            tried: Vec::new(),
            tried_power: 1.0,
            weights: Vec::new(),
        })
    }

    pub(super) fn follow(&mut self, tree: &HeightTree, spans: &Spans, choices: &Choices, lengths: &Lengths) {
        let Self { nodes, by_node, .. } = self;
        nodes.clear();
        nodes.extend(choices.all_pairs().iter().map(|&[a, b]| spans.join(tree, a, b)));
        by_node.fill(|add| {
            for choice in 0..choices.len() {
                let theirs = &nodes[choices.range(choice)];
                let distinct = (0..theirs.len()).filter(|&at| !theirs[..at].contains(&theirs[at]));
                distinct.for_each(|at| add(theirs[at], choice as u32));
            }
        });
        self.refresh(tree, choices, lengths);
    }

    /// Recomputes the probabilities of the answers after heights or lengths change. The topology must be unchanged.
    pub(super) fn refresh(&mut self, tree: &HeightTree, choices: &Choices, lengths: &Lengths) {
        if choices.is_empty() {
            return;
        }
        self.factors.clear();
        self.factors.extend(choices.all_pairs().iter().map(|&pair| lengths.factor(pair)));
        for node in tree.n_leaves()..tree.n_nodes() {
            self.powers[node] = power(tree.height(node as u32));
        }
        for choice in 0..choices.len() {
            self.clear[choice] = self.probability(choices, choice);
        }
    }

    fn probability(&mut self, choices: &Choices, choice: usize) -> f64 {
        let range = choices.range(choice);
        self.weights.clear();
        let theirs = self.nodes[range.clone()].iter().zip(&self.factors[range]);
        self.weights.extend(theirs.map(|(&node, factor)| factor * self.powers[node as usize]));
        luce::probability(&self.weights, choices.blocks(choice))
    }

    pub(super) fn weight(&self, choices: &Choices, node: u32) -> f64 {
        self.by_node.of(node).iter().map(|&choice| choices.weight(choice as usize)).sum()
    }

    pub(super) fn gain(&mut self, choices: &Choices, noises: &Noises, node: u32, height: f64) -> f64 {
        self.tried_power = power(height);
        let old = std::mem::replace(&mut self.powers[node as usize], self.tried_power);
        self.tried.clear();
        let mut gain = 0.0;
        for at in 0..self.by_node.of(node).len() {
            let choice = self.by_node.of(node)[at] as usize;
            let clear = self.probability(choices, choice);
            gain += choice_gain(choices, noises, choice, [self.clear[choice], clear]);
            self.tried.push((choice as u32, clear));
        }
        self.powers[node as usize] = old;
        gain
    }

    pub(super) fn accept(&mut self, node: u32) {
        self.powers[node as usize] = self.tried_power;
        self.tried.drain(..).for_each(|(choice, clear)| self.clear[choice as usize] = clear);
    }

    pub(super) fn gain_of_length(&mut self, choices: &Choices, noises: &Noises, leaf: u32, change: f64) -> f64 {
        self.tried.clear();
        let factor = power(-change);
        let mut gain = 0.0;
        for &choice in choices.of(leaf) {
            let choice = choice as usize;
            let range = choices.range(choice);
            self.weights.clear();
            for at in range {
                let pair = choices.all_pairs()[at];
                let more = if pair.contains(&leaf) { factor } else { 1.0 };
                self.weights.push(more * self.factors[at] * self.powers[self.nodes[at] as usize]);
            }
            let clear = luce::probability(&self.weights, choices.blocks(choice));
            gain += choice_gain(choices, noises, choice, [self.clear[choice], clear]);
            self.tried.push((choice as u32, clear));
        }
        gain
    }

    pub(super) fn accept_length(&mut self, choices: &Choices, leaf: u32, change: f64) {
        let factor = power(-change);
        for &choice in choices.of(leaf) {
            for at in choices.range(choice as usize).filter(|&at| choices.all_pairs()[at].contains(&leaf)) {
                self.factors[at] *= factor;
            }
        }
        self.tried.drain(..).for_each(|(choice, clear)| self.clear[choice as usize] = clear);
    }

    pub(super) fn clear(&self) -> &[f64] {
        &self.clear
    }

    pub(super) fn log_likelihood(
        &self,
        tree: &HeightTree,
        choices: &Choices,
        lengths: &Lengths,
        factor: f64,
        noise: impl Fn(u32) -> f64,
    ) -> f64 {
        let mut weights = Vec::new();
        let of = |choice: usize| {
            let clear = if factor == 1.0 {
                self.clear[choice]
            } else {
                let range = choices.range(choice);
                weights.clear();
                weights.extend(
                    choices
                        .pairs(choice)
                        .iter()
                        .zip(&self.nodes[range])
                        .map(|(&pair, &node)| power(factor * (tree.height(node) + lengths.closeness(pair)))),
                );
                luce::probability(&weights, choices.blocks(choice))
            };
            choices.weight(choice) * choices.log(choice, clear, noise(choices.person(choice)))
        };
        (0..choices.len()).map(of).sum()
    }
}

fn choice_gain(choices: &Choices, noises: &Noises, choice: usize, [old, new]: [f64; 2]) -> f64 {
    let noise = noises.of(choices.person(choice)).noise();
    choices.weight(choice) * (choices.log(choice, new, noise) - choices.log(choice, old, noise))
}
