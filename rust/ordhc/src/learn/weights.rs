//! Multiplicative weights of nodes, and a walk on a tree: the two stages of the search for a node by Emamjomeh-Zadeh &
//! Kempe.

use std::cmp::Reverse;

use crate::search::{GrowingTree, NONE};
use crate::sorting::order_by_key;

/// The first stage of the search (Emamjomeh-Zadeh, Kempe & Singhal, "Deterministic and probabilistic binary search in
/// graphs", STOC 2016, Algorithm 2). This stage *marks* a few nodes. After `steps` steps, the node that is searched
/// for is marked with a probability of at least 1 - delta.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    p: f64,
    steps: u64,
    weights: Vec<f64>,
    pub(crate) marked: Vec<u32>,
    /// All nodes, parents first.
    order: Vec<u32>,
    /// For each node: the sum of the weights at and below the node.
    below: Vec<f64>,
}

impl Weights {
    pub(crate) fn new(tree: &GrowingTree, p: f64, delta: f64) -> Self {
        let order = tree.nodes();
        let s = order.len() as f64;
        let capacity = 1.0 + p * p.log2() + (1.0 - p) * (1.0 - p).log2();
        let lambda = capacity / (2.0 * (p / (1.0 - p)).log2());
        let steps = (-delta.ln() / (2.0 * lambda * lambda)).max(2.0 * s.log2() / capacity).floor() as u64 + 1;
        let mut weights = vec![0.0; tree.len()];
        order.iter().for_each(|&node| weights[node as usize] = 1.0 / s);
        Self { p, steps, weights, marked: Vec::new(), order, below: vec![0.0; tree.len()] }
    }

    pub(crate) fn next(&mut self, tree: &GrowingTree) -> Option<u32> {
        while self.steps > 0 {
            self.steps -= 1;
            for &node in self.order.iter().rev() {
                let below: f64 = tree.children(node).map(|child| self.below[child as usize]).sum();
                self.below[node as usize] = self.weights[node as usize] + below;
            }
            let root = self.order[0];
            let total = self.below[root as usize];
            if total <= 0.0 {
                return None;
            }
            if total < 1e-100 {
                self.weights.iter_mut().for_each(|weight| *weight /= total);
                self.steps += 1;
                continue;
            }
            // Go down to the median: the lowest node with more than half of the total weight at and below it. If the
            // median itself has at least half of the total weight, set its weight to 0 and add the node to `marked`.
            // Then continue the search without this node.
            let mut median = root;
            while let Some(next) = tree.children(median).find(|&child| 2.0 * self.below[child as usize] > total) {
                median = next;
            }
            if 2.0 * self.weights[median as usize] < total {
                return Some(median);
            }
            self.weights[median as usize] = 0.0;
            self.marked.push(median);
        }
        None
    }

    /// Updates the weights by the answer to a query about `node`. `answer` is the node itself, or its neighbour on the
    /// path to the node that is searched for.
    pub(crate) fn take(&mut self, tree: &GrowingTree, node: u32, answer: u32) {
        // The nodes that agree with the answer are `node`, all nodes at or below a child, or all nodes outside of the
        // subtree of `node`.
        let top = if answer == tree.parent(node) { node } else { answer };
        let (inside, outside) =
            if top == node && answer != node { (1.0 - self.p, self.p) } else { (self.p, 1.0 - self.p) };
        self.order.iter().for_each(|&node| self.weights[node as usize] *= outside / self.p);
        let mut stack = vec![top];
        while let Some(at) = stack.pop() {
            self.weights[at as usize] *= inside / outside;
            if answer != node {
                stack.extend(tree.children(at));
            }
        }
    }
}

/// The second stage (Emamjomeh-Zadeh & Kempe, Algorithm 6, after Feige, Raghavan, Peleg & Upfal): a walk on the tree
/// that confirms one node. The walk visits only its *stops*: the nodes marked by the first stage and their lowest
/// common ancestors.
#[derive(Debug, Clone)]
pub(crate) struct TreeWalk {
    steps: u64,
    pub(crate) at: u32,
    count: u64,
    is_stop: Vec<bool>,
    /// For each node: the topmost stop (node that the walk may visit) at or below the node.
    down: Vec<u32>,
}

impl TreeWalk {
    pub(crate) fn new(tree: &GrowingTree, marked: &[u32], p: f64, delta: f64) -> Self {
        let mut is_stop = vec![false; tree.len()];
        marked.iter().for_each(|&node| is_stop[node as usize] = true);
        let mut down = vec![NONE; tree.len()];
        // `height[node]` is the length of the longest path down from the topmost stop (node that the walk may visit) at
        // or below `node`. `diameter` is the length of the longest path between two stops. The length of a path is its
        // number of steps from one stop to the next.
        let mut height = vec![0u64; tree.len()];
        let mut diameter = 0;
        for &node in tree.nodes().iter().rev() {
            let parts: Vec<u32> = tree.children(node).filter(|&child| down[child as usize] != NONE).collect();
            let mut ways: Vec<u64> = parts.iter().map(|&child| height[child as usize] + 1).collect();
            order_by_key(&mut ways, Reverse);
            if is_stop[node as usize] || ways.len() > 1 {
                is_stop[node as usize] = true;
                down[node as usize] = node;
                height[node as usize] = ways.first().copied().unwrap_or(0);
                diameter = diameter.max(ways.iter().take(2).sum());
            } else if let Some(&child) = parts.first() {
                down[node as usize] = down[child as usize];
                height[node as usize] = height[child as usize];
            }
        }
        let edge = 2.0 * p - 1.0;
        let steps = (2.0 * (diameter as f64 + 1.0) / edge).max(-8.0 * delta.ln() / (edge * edge)).ceil() as u64;
        Self { steps, at: down[tree.root() as usize], count: 0, is_stop, down }
    }

    pub(crate) fn next(&mut self) -> Option<u32> {
        self.steps = self.steps.checked_sub(1)?;
        Some(self.at)
    }

    /// Updates the walk by the answer to a query about the current node. `answer` is as in [`Weights::take`]. The
    /// answer counts against the current node even if no stop (node that the walk may visit) is in the direction of the
    /// answer.
    pub(crate) fn take(&mut self, tree: &GrowingTree, answer: u32) {
        if answer == self.at {
            self.count += 1;
        } else if self.count > 0 {
            self.count -= 1;
        } else if answer == tree.parent(self.at) {
            let mut above = tree.up_from(self.at).skip(1);
            self.at = above.find(|&node| self.is_stop[node as usize]).unwrap_or(self.at);
        } else if self.down[answer as usize] != NONE {
            self.at = self.down[answer as usize];
        }
    }
}
