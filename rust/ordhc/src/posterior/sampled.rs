//! The trees that are kept as samples.

use super::choices::Order;
use super::height_tree::{HeightTree, NONE};
use super::lengths::{Lengths, power};
use super::link::probability;
use super::luce::{self, n_orders};
use super::reliability::Noises;
use crate::comparison::Comparisons;
use crate::error::Result;
use crate::kind::Kind;
use crate::tree::{Dendrogram, Topology};

/// One tree, sampled by a Markov chain. `parents`, `heights` and `sizes` (numbers of leaves) are lists over the inner
/// nodes, with parents before children. The index of an inner node in these lists is its id.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sampled {
    n: usize,
    parents: Vec<u32>,
    heights: Vec<f64>,
    sizes: Vec<u32>,
    leaf_parents: Vec<u32>,
    /// The length of each leaf, with mean 0. Empty for trees without lengths.
    lengths: Vec<f64>,
    /// The mean noise over all people. This mean suffices, because probabilities of answers are linear in the noise.
    noise: f64,
}

impl Sampled {
    pub(super) fn of(tree: &HeightTree, noises: &Noises, lengths: &Lengths) -> Self {
        let n = tree.n_leaves();
        let mean = lengths.values().iter().sum::<f64>() / n as f64;
        let mut order = Vec::with_capacity(tree.n_nodes());
        tree.nodes_under(tree.root(), &mut order);
        let inner = order.len() - n;
        let mut numbers = vec![NONE; tree.n_nodes()];
        let mut new = Self {
            n,
            parents: Vec::with_capacity(inner),
            heights: Vec::with_capacity(inner),
            sizes: vec![0; inner],
            leaf_parents: vec![NONE; n],
            lengths: lengths.values().iter().map(|length| length - mean).collect(),
            noise: noises.mean(),
        };
        for node in order {
            let above = tree.parent(node);
            let above = if above == NONE { NONE } else { numbers[above as usize] };
            if tree.is_leaf(node) {
                new.leaf_parents[node as usize] = above;
                new.sizes[above as usize] += 1;
            } else {
                numbers[node as usize] = new.parents.len() as u32;
                new.parents.push(above);
                new.heights.push(tree.height(node));
            }
        }
        for node in (1..inner).rev() {
            new.sizes[new.parents[node] as usize] += new.sizes[node];
        }
        new
    }

    pub(super) fn n_inner(&self) -> usize {
        self.parents.len()
    }

    fn join(&self, leaves: [usize; 2]) -> usize {
        self.join_of_sizes(leaves).0
    }

    /// Returns the lowest common ancestor of two different leaves. Also returns the sizes of the two children
    /// of the ancestor that contain the leaves.
    fn join_of_sizes(&self, leaves: [usize; 2]) -> (usize, [u32; 2]) {
        let [mut a, mut b] = leaves.map(|leaf| self.leaf_parents[leaf] as usize);
        let mut sizes = [1; 2];
        while a != b {
            // Parents have smaller ids than their children, so move up from the node with the larger id.
            if a > b {
                sizes[0] = self.sizes[a];
                a = self.parents[a] as usize;
            } else {
                sizes[1] = self.sizes[b];
                b = self.parents[b] as usize;
            }
        }
        (a, sizes)
    }

    /// Returns the height of the nearer pair minus the height of the farther pair, and ignores leaf
    /// lengths. The result is 0 if both pairs have the same lowest common ancestor.
    fn difference<const K: usize>(&self, row: &[i32; K]) -> f64 {
        let (near, far) = Comparisons::<K>::pairs(row);
        self.heights[self.join(near)] - self.heights[self.join(far)]
    }

    pub(super) fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    fn length(&self, leaf: usize) -> f64 {
        self.lengths.get(leaf).copied().unwrap_or(0.0)
    }

    fn closeness(&self, pair: [usize; 2]) -> f64 {
        self.heights[self.join(pair)] - self.length(pair[0]) - self.length(pair[1])
    }

    pub(super) fn answer<const K: usize>(&self, row: &[i32; K]) -> f64 {
        if self.lengths.is_empty() {
            return probability(self.difference(row), self.noise);
        }
        let (near, far) = Comparisons::<K>::pairs(row);
        probability(self.closeness(near) - self.closeness(far), self.noise)
    }

    pub(super) fn choice(&self, (pairs, blocks): &Order) -> f64 {
        let closeness = |pair: &[u32; 2]| self.closeness(pair.map(|leaf| leaf as usize));
        let most = pairs.iter().map(closeness).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = pairs.iter().map(|pair| power(closeness(pair) - most)).collect();
        2.0 * self.noise / n_orders(blocks) + (1.0 - 2.0 * self.noise) * luce::probability(&weights, blocks)
    }

    pub(super) fn odd_one_out(&self, [a, b, c]: [u32; 3]) -> [f64; 3] {
        let closeness = |i: u32, j: u32| self.closeness([i as usize, j as usize]);
        let heights = [closeness(b, c), closeness(a, c), closeness(a, b)];
        let most = heights.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let weights = heights.map(|height| (height - most).exp());
        let sum: f64 = weights.iter().sum();
        weights.map(|weight| 2.0 * self.noise / 3.0 + (1.0 - 2.0 * self.noise) * weight / sum)
    }

    /// Returns 1 if the tree agrees with the comparison, 0 if it disagrees, and one half if neither pair is closer.
    pub(super) fn verdict<const K: usize>(&self, row: &[i32; K]) -> f64 {
        let difference = self.difference(row);
        if difference > 0.0 {
            1.0
        } else if difference < 0.0 {
            0.0
        } else {
            0.5
        }
    }

    /// Adds to `row`, for each leaf j after leaf `i`, the height of the lowest common ancestor of
    /// `i` and j.
    pub(super) fn add_heights(&self, i: usize, row: &mut [f64]) {
        for (j, sum) in (i + 1..self.n).zip(row) {
            *sum += self.heights[self.join([i, j])];
        }
    }

    /// Adds to `row`, for each leaf j after leaf `i`, the AddS3 similarity of `i` and j: the number of triplets of the
    /// tree in which the pair is nearer, minus the number in which it is farther.
    ///
    /// Each leaf that is not below the lowest common ancestor of `i` and j adds 2. Each other leaf below the same child
    /// of this ancestor as `i` or j subtracts 1.
    pub(super) fn add_outside(&self, i: usize, row: &mut [f64]) {
        for (j, sum) in (i + 1..self.n).zip(row) {
            let (join, sizes) = self.join_of_sizes([i, j]);
            let outside = self.n as u32 - self.sizes[join];
            *sum += f64::from(2 * outside) - f64::from(sizes[0] + sizes[1] - 2);
        }
    }

    pub(super) fn dendrogram(&self) -> Result<Dendrogram> {
        let inner = self.n_inner();
        // In `self`, parents have smaller ids than their children. In a `Topology`, parents have larger ids than their
        // children.
        let label = |node: u32| (self.n + inner - 1) as u32 - node;
        let above = |&parent: &u32| label(if parent == NONE { 0 } else { parent });
        let parents = self.leaf_parents.iter().chain(self.parents.iter().rev()).map(above).collect();
        let heights = self.heights.iter().rev().map(|height| height + 0.0).collect();
        Ok(Dendrogram::sorted(Topology::from_parents(self.n, parents)?, heights, Kind::Similarity)?.0)
    }
}
