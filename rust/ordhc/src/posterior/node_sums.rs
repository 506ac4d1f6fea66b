//! Sums of the weights of answers that compare pairs with the same two lowest common ancestors.

use super::answers::Answers;
use super::height_tree::{HeightTree, Spans};
use super::lists::Lists;
use super::reliability::Noises;
use crate::error::Result;
use crate::memory;

/// The total weight of the answers that say that a node is higher (if `above`) or lower than the node `other`. The
/// nodes are the lowest common ancestors of the two pairs of an answer.
#[derive(Debug, Clone, Copy, Default)]
struct NodeSum {
    other: u32,
    above: bool,
    level: u8,
    weight: f64,
}

/// An answer says which of two pairs of leaves is closer, so it compares the heights of the two lowest common ancestors
/// of these pairs. For each pair of nodes, this type has the total weight of the answers that compare these two nodes
/// (see [`NodeSum`]). For a given topology, the likelihood of the heights depends only on these sums.
#[derive(Debug, Clone)]
pub(super) struct NodeSums {
    starts: Vec<usize>,
    merged: Vec<NodeSum>,
    /// For each noise level: the weight of the answers about two pairs with the same lowest common ancestor.
    even: Vec<f64>,
    joins: Vec<[u32; 2]>,
    by_node: Lists<NodeSum>,
    /// A buffer. All elements are 0 between uses.
    sums: Vec<f64>,
    touched: Vec<u32>,
}

impl NodeSums {
    pub(super) fn new(n_nodes: usize, n_answers: usize, n_levels: usize) -> Result<Self> {
        const WHAT: &str = "answers by node";
        Ok(Self {
            starts: memory::filled(WHAT, 0, n_nodes + 1)?,
            merged: memory::room(WHAT, 2 * n_answers)?,
            even: vec![0.0; n_levels],
            joins: memory::room(WHAT, n_answers)?,
            by_node: Lists::new(WHAT, n_nodes, 2 * n_answers)?,
            sums: memory::filled(WHAT, 0.0, 2 * n_nodes * n_levels)?,
            touched: Vec::new(),
        })
    }

    pub(super) fn follow(&mut self, tree: &HeightTree, spans: &Spans, answers: &Answers, noises: &Noises) {
        let n_nodes = self.starts.len() - 1;
        let n_cells = 2 * self.even.len();
        self.joins.clear();
        self.even.fill(0.0);
        for answer in answers.all() {
            let joins = [answer.near, answer.far].map(|[a, b]| spans.join(tree, a, b));
            if joins[0] == joins[1] {
                self.even[noises.level(answer.person) as usize] += answer.weight;
            }
            self.joins.push(joins);
        }
        let joins = &self.joins;
        self.by_node.fill(|add| {
            for (answer, &[near, far]) in answers.all().iter().zip(joins).filter(|(_, [near, far])| near != far) {
                let (level, weight) = (noises.level(answer.person), answer.weight);
                add(near, NodeSum { other: far, above: true, level, weight });
                add(far, NodeSum { other: near, above: false, level, weight });
            }
        });
        self.merged.clear();
        for node in 0..n_nodes {
            self.starts[node] = self.merged.len();
            for entry in self.by_node.of(node as u32) {
                let at = entry.other as usize * n_cells + 2 * entry.level as usize + usize::from(entry.above);
                if self.sums[at] == 0.0 {
                    self.touched.push(at as u32);
                }
                self.sums[at] += entry.weight;
            }
            for at in self.touched.drain(..) {
                let weight = std::mem::take(&mut self.sums[at as usize]);
                let (other, level) = (at / n_cells as u32, (at as usize % n_cells / 2) as u8);
                self.merged.push(NodeSum { other, above: at % 2 == 1, level, weight });
            }
        }
        self.starts[n_nodes] = self.merged.len();
    }

    fn of(&self, node: u32) -> &[NodeSum] {
        &self.merged[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    pub(super) fn weight(&self, node: u32) -> f64 {
        self.of(node).iter().map(|entry| entry.weight).sum()
    }

    pub(super) fn gain(&self, tree: &HeightTree, noises: &Noises, node: u32, height: f64) -> f64 {
        let old = tree.height(node);
        let gain = |entry: &NodeSum| {
            let other = tree.height(entry.other);
            let sign = if entry.above { 1.0 } else { -1.0 };
            let link = noises.link(entry.level);
            entry.weight * (link.log(sign * (height - other)) - link.log(sign * (old - other)))
        };
        self.of(node).iter().map(gain).sum()
    }

    pub(super) fn len(&self) -> usize {
        self.merged.len()
    }

    /// Returns the log-likelihood after multiplying heights by `factor`. `log` returns the log-likelihood of an answer,
    /// given its noise level and the difference of the heights of its two pairs.
    pub(super) fn log_likelihood(&self, tree: &HeightTree, factor: f64, log: impl Fn(u8, f64) -> f64) -> f64 {
        let mut sum: f64 = self.even.iter().zip(0..).map(|(even, level)| even * log(level, 0.0)).sum();
        for node in tree.n_leaves() as u32..tree.n_nodes() as u32 {
            for entry in self.of(node).iter().filter(|entry| entry.above) {
                sum += entry.weight * log(entry.level, factor * (tree.height(node) - tree.height(entry.other)));
            }
        }
        sum
    }
}
