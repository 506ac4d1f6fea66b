//! Comparisons stored one by one. Comparisons of the same two nodes cannot be added up, because they depend on the
//! lengths of different leaves.

use super::answers::{Answer, Answers};
use super::height_tree::{HeightTree, Spans};
use super::lengths::Lengths;
use super::link::Link;
use super::lists::Lists;
use super::reliability::Noises;
use crate::error::Result;
use crate::memory;

/// A comparison that depends on the height of a node or on the length of a leaf. `at` is the index
/// of the comparison. `sign` is 1 if a larger height or length makes the nearer pair closer,
/// relative to the farther pair, and -1 otherwise.
#[derive(Debug, Clone, Copy, Default)]
struct Term {
    at: u32,
    sign: f32,
}

/// For each comparison: the closeness of the nearer pair minus that of the farther pair, from heights and lengths.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    differences: Vec<f64>,
    weights: Vec<f64>,
    people: Vec<u32>,
    joins: Vec<[u32; 2]>,
    by_node: Lists<Term>,
    by_leaf: Lists<Term>,
    node_weights: Vec<f64>,
    leaf_weights: Vec<f64>,
}

impl Terms {
    pub(super) fn new(n_leaves: usize, n_nodes: usize, answers: &Answers) -> Result<Self> {
        const WHAT: &str = "answers by node";
        let all = answers.all();
        let mut by_leaf = Lists::new(WHAT, n_leaves, 4 * all.len())?;
        // If a leaf is in both pairs, its length cancels.
        by_leaf.fill(|add| {
            for (answer, at) in all.iter().zip(0..) {
                let [near, far] = [answer.near, answer.far];
                near.iter().filter(|leaf| !far.contains(leaf)).for_each(|&leaf| add(leaf, Term { at, sign: -1.0 }));
                far.iter().filter(|leaf| !near.contains(leaf)).for_each(|&leaf| add(leaf, Term { at, sign: 1.0 }));
            }
        });
        let mut new = Self {
            differences: memory::filled(WHAT, 0.0, all.len())?,
            weights: all.iter().map(|answer| answer.weight).collect(),
            people: all.iter().map(|answer| answer.person).collect(),
            joins: memory::room(WHAT, all.len())?,
            by_node: Lists::new(WHAT, n_nodes, 2 * all.len())?,
            by_leaf,
            node_weights: memory::filled(WHAT, 0.0, n_nodes)?,
            leaf_weights: memory::filled(WHAT, 0.0, n_leaves)?,
        };
        for leaf in 0..n_leaves as u32 {
            new.leaf_weights[leaf as usize] =
                new.by_leaf.of(leaf).iter().map(|term| new.weights[term.at as usize]).sum();
        }
        Ok(new)
    }

    pub(super) fn follow(&mut self, tree: &HeightTree, spans: &Spans, answers: &Answers, lengths: &Lengths) {
        self.joins.clear();
        let all = answers.all();
        self.joins.extend(all.iter().map(|answer| [answer.near, answer.far].map(|[a, b]| spans.join(tree, a, b))));
        let joins = &self.joins;
        self.by_node.fill(|add| {
            for (&[near, far], at) in joins.iter().zip(0..) {
                if near != far {
                    add(near, Term { at, sign: 1.0 });
                    add(far, Term { at, sign: -1.0 });
                }
            }
        });
        for node in 0..self.node_weights.len() {
            let terms = self.by_node.of(node as u32).iter();
            self.node_weights[node] = terms.map(|term| self.weights[term.at as usize]).sum();
        }
        for ((difference, &[near, far]), answer) in self.differences.iter_mut().zip(&self.joins).zip(all) {
            *difference = tree.height(near) - tree.height(far) + lengths.offset(answer);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.differences.len()
    }

    pub(super) fn weight(&self, node: u32) -> f64 {
        self.node_weights[node as usize]
    }

    pub(super) fn leaf_weight(&self, leaf: u32) -> f64 {
        self.leaf_weights[leaf as usize]
    }

    fn gain_of(&self, terms: &[Term], noises: &Noises, change: f64) -> f64 {
        let of = |link: &Link, term: &Term| {
            let difference = self.differences[term.at as usize];
            let moved = difference + f64::from(term.sign) * change;
            self.weights[term.at as usize] * (link.log(moved) - link.log(difference))
        };
        match noises.shared() {
            Some(link) => terms.iter().map(|term| of(link, term)).sum(),
            None => {
                let link = |term: &Term| noises.of(self.people[term.at as usize]);
                terms.iter().map(|term| of(link(term), term)).sum()
            }
        }
    }

    pub(super) fn gain(&self, noises: &Noises, node: u32, change: f64) -> f64 {
        self.gain_of(self.by_node.of(node), noises, change)
    }

    pub(super) fn gain_of_length(&self, noises: &Noises, leaf: u32, change: f64) -> f64 {
        self.gain_of(self.by_leaf.of(leaf), noises, change)
    }

    pub(super) fn accept(&mut self, node: u32, change: f64) {
        let Self { by_node, differences, .. } = self;
        by_node.of(node).iter().for_each(|term| differences[term.at as usize] += f64::from(term.sign) * change);
    }

    pub(super) fn accept_length(&mut self, leaf: u32, change: f64) {
        let Self { by_leaf, differences, .. } = self;
        by_leaf.of(leaf).iter().for_each(|term| differences[term.at as usize] += f64::from(term.sign) * change);
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.differences.iter_mut().for_each(|difference| *difference *= factor);
    }

    /// Returns the log-likelihood after multiplying all lengths by 1 + `more`. `log` returns the log-likelihood of a
    /// comparison, given its person and the difference in closeness of its pairs.
    pub(super) fn log_likelihood_with(
        &self,
        answers: &Answers,
        lengths: &Lengths,
        more: f64,
        log: impl Fn(u32, f64) -> f64,
    ) -> f64 {
        let each = self.differences.iter().zip(answers.all());
        let of = |(difference, answer): (&f64, &Answer)| {
            answer.weight * log(answer.person, difference + more * lengths.offset(answer))
        };
        each.map(of).sum()
    }

    /// Updates the stored differences in closeness after all lengths are multiplied by 1 + `more`. `lengths` has the
    /// old lengths.
    pub(super) fn stretch(&mut self, answers: &Answers, lengths: &Lengths, more: f64) {
        for (difference, answer) in self.differences.iter_mut().zip(answers.all()) {
            *difference += more * lengths.offset(answer);
        }
    }

    pub(super) fn log_likelihood(&self, factor: f64, log: impl Fn(u32, f64) -> f64) -> f64 {
        let each = self.differences.iter().zip(&self.weights).zip(&self.people);
        each.map(|((difference, weight), &person)| weight * log(person, factor * difference)).sum()
    }
}
