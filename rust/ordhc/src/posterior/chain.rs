//! A Markov chain over trees with heights.

use super::answers::Answers;
use super::bouts::Bouts;
use super::height_tree::{HeightTree, NONE, Place, Spans};
use super::link::{Asked, Link};
use super::places::{Rest, Scores};
use super::prior::{self, MOST_NOISE, NodeCosts};
use super::random::Random;
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;

/// How often each height is changed in a sweep.
const HEIGHT_STEPS: usize = 5;
/// How often the noise and the scale of heights are.
const NOISE_STEPS: usize = 3;

/// A tree, how far apart its nodes are on average, and the noise, with what is needed to change them by steps that
/// leave the posterior as it is.
pub(super) struct Chain<'a> {
    answers: &'a Answers,
    costs: &'a NodeCosts,
    random: Random,
    pub(super) tree: HeightTree,
    pub(super) mean_increment: f64,
    pub(super) link: Link,
    pub(super) log_likelihood: f64,
    spans: Spans,
    bouts: Bouts,
    scores: Scores,
    inside: Vec<bool>,
    order: Vec<u32>,
    moving: Vec<u32>,
    leaves: Vec<u32>,
    turn: Vec<u32>,
    weights: Vec<f64>,
}

impl<'a> Chain<'a> {
    pub(super) fn new(
        answers: &'a Answers,
        costs: &'a NodeCosts,
        asked: Asked,
        tree: HeightTree,
        random: Random,
    ) -> Result<Self> {
        const WHAT: &str = "a chain of trees";
        const NOISE: f64 = 0.01;
        let n_nodes = tree.n_nodes();
        Ok(Self {
            answers,
            costs,
            random,
            mean_increment: 1.0,
            link: Link::new(asked, NOISE),
            log_likelihood: f64::NAN,
            spans: Spans::new(n_nodes),
            bouts: Bouts::new(n_nodes, answers.all().len())?,
            scores: Scores::new(n_nodes),
            inside: memory::filled(WHAT, false, tree.n_leaves())?,
            order: memory::room(WHAT, n_nodes)?,
            moving: memory::room(WHAT, n_nodes)?,
            leaves: memory::room(WHAT, tree.n_leaves())?,
            turn: (0..tree.n_leaves() as u32).collect(),
            weights: memory::room(WHAT, 2 * n_nodes)?,
            tree,
        })
    }

    /// Every leaf once, inner nodes by chance, heights, and the rest.
    pub(super) fn sweep(&mut self, monitor: &Monitor) -> Result<()> {
        let n = self.tree.n_leaves();
        let mut turn = std::mem::take(&mut self.turn);
        self.random.shuffle(&mut turn);
        for &leaf in &turn {
            monitor.advance(1)?;
            self.move_subtree(leaf);
            // Large subtrees less often, so that all sizes take about the same time; whether one is moved depends on
            // nothing that the move changes.
            let inner = (n + self.random.below(n - 1)) as u32;
            if self.tree.is_there(inner) && inner != self.tree.root() {
                self.tree.nodes_under(inner, &mut self.moving);
                let size = self.moving.iter().filter(|&&node| self.tree.is_leaf(node)).count();
                if self.random.below(size) == 0 {
                    self.move_subtree(inner);
                }
            }
        }
        self.turn = turn;
        self.tree.nodes_under(self.tree.root(), &mut self.order);
        self.spans.follow(&self.tree, &self.order);
        self.bouts.follow(&self.tree, &self.spans, self.answers);
        for _ in 0..HEIGHT_STEPS {
            self.change_heights();
            monitor.advance(0)?;
        }
        self.tree.put_root_at_zero();
        self.change_mean_increment();
        self.log_likelihood = self.bouts.log_likelihood(&self.tree, &self.link, 1.0);
        for _ in 0..NOISE_STEPS {
            self.change_noise_and_scale(0.3, 0.0);
            self.change_noise_and_scale(0.0, 0.1);
            // Answers at random and heights close to each other explain much the same.
            self.change_noise_and_scale(0.2, 0.3);
        }
        Ok(())
    }

    /// Cuts a subtree off, and puts it at any place by its posterior probability (Gibbs sampling). Places under nodes
    /// are what they are; of the places beside a node one of some height stands for all, drawn from
    /// the prior, with the weight of all.
    pub(super) fn move_subtree(&mut self, top: u32) {
        let Some(here) = self.tree.cut(top) else { return };
        self.score_places(top, here);
        self.weigh_places(top);
        let drawn = self.random.place(&mut self.weights);
        let node = self.order[drawn / 2];
        let place = if drawn.is_multiple_of(2) {
            Place::Under(node)
        } else {
            Place::Beside(node, self.scores.heights[node as usize])
        };
        self.tree.put(top, place);
    }

    fn score_places(&mut self, top: u32, here: Place) {
        let tree = &self.tree;
        tree.nodes_under(tree.root(), &mut self.order);
        tree.nodes_under(top, &mut self.moving);
        self.spans.follow(tree, &self.order);
        self.spans.follow(tree, &self.moving);
        self.leaves.clear();
        self.leaves.extend(self.moving.iter().filter(|&&node| tree.is_leaf(node)));
        self.leaves.iter().for_each(|&leaf| self.inside[leaf as usize] = true);
        let most = if tree.is_leaf(top) { f64::INFINITY } else { tree.height(top) };
        for &node in &self.order {
            let height = new_height(tree, node, most, self.mean_increment, &mut self.random);
            self.scores.heights[node as usize] = height;
        }
        if let Place::Beside(node, height) = here {
            self.scores.heights[node as usize] = height;
        }
        let rest = Rest { tree, spans: &self.spans, inside: &self.inside, link: &self.link };
        self.scores.fill(&rest, self.answers, &self.leaves, &self.order);
        self.leaves.iter().for_each(|&leaf| self.inside[leaf as usize] = false);
    }

    /// The logarithms of the weights of all places: under and beside each node.
    fn weigh_places(&mut self, top: u32) {
        let tree = &self.tree;
        let mean = self.mean_increment;
        let cost = self.costs.of_new(tree.n_inner());
        let most = if tree.is_leaf(top) { f64::INFINITY } else { tree.height(top) };
        self.weights.clear();
        for &node in &self.order {
            let at = node as usize;
            let height = if tree.is_leaf(node) { most } else { tree.height(node) };
            let under = if tree.is_leaf(node) || height >= most {
                f64::NEG_INFINITY
            } else if most == f64::INFINITY {
                self.scores.under[at]
            } else {
                self.scores.under[at] - (most - height) / mean
            };
            let beside = prior_beside(tree, node, most, mean, self.scores.heights[at]);
            self.weights.push(under);
            self.weights.push(self.scores.beside[at] + beside - cost);
        }
    }

    /// Metropolis steps for each height.
    fn change_heights(&mut self) {
        for &node in &self.order {
            if self.tree.is_leaf(node) {
                continue;
            }
            let spread = 2.0 * self.mean_increment / (1.0 + 0.15 * self.bouts.weight(node)).sqrt();
            let old = self.tree.height(node);
            let new = old + spread * self.random.normal();
            let parent = self.tree.parent(node);
            if parent != NONE && new <= self.tree.height(parent) {
                continue;
            }
            let mut pull = if parent == NONE { 0.0 } else { -1.0 };
            let mut fits = true;
            for child in self.tree.children(node).filter(|&child| !self.tree.is_leaf(child)) {
                pull += 1.0;
                fits &= new < self.tree.height(child);
            }
            if !fits {
                continue;
            }
            let gain = self.bouts.gain(&self.tree, &self.link, node, new) + pull * (new - old) / self.mean_increment;
            if self.random.exponential() > -gain {
                self.tree.set_height(node, new);
            }
        }
    }

    /// The mean increment is drawn from its distribution, given the heights.
    fn change_mean_increment(&mut self) {
        let (sum, count) = self.tree.increments();
        self.mean_increment = (prior::SCALE + sum) / self.random.gamma(prior::SHAPE + count as f64);
    }

    /// The noise by one factor, all heights and their mean increment by another, a Metropolis step; the factors'
    /// logarithms are normal, of these deviations, and one the multiple of the other.
    fn change_noise_and_scale(&mut self, of_noise: f64, of_scale: f64) {
        let step = self.random.normal();
        let (log_noise, log_scale) = (of_noise * step, of_scale * step);
        let (old, mean) = (self.link.noise(), self.mean_increment);
        let (noise, scale) = (old * log_noise.exp(), log_scale.exp());
        if noise >= MOST_NOISE {
            return;
        }
        let other = (of_noise > 0.0).then(|| Link::new(self.link.asked(), noise));
        let new = self.bouts.log_likelihood(&self.tree, other.as_ref().unwrap_or(&self.link), scale);
        // Increments have the same density in units of their mean.
        let prior = prior::log_noise(noise) - prior::log_noise(old) + prior::log_mean_increment(scale * mean)
            - prior::log_mean_increment(mean)
            + log_noise
            + log_scale;
        if self.random.exponential() > self.log_likelihood - new - prior {
            self.tree.scale_heights(scale);
            self.mean_increment *= scale;
            if let Some(other) = other {
                self.link = other;
            }
            self.log_likelihood = new;
        }
    }
}

/// The height of a new node beside `node`, from its prior or a part of it; below `most`, the height of the subtree.
fn new_height(tree: &HeightTree, node: u32, most: f64, mean: f64, random: &mut Random) -> f64 {
    let parent = tree.parent(node);
    let height = if tree.is_leaf(node) { f64::INFINITY } else { tree.height(node) };
    let highest = height.min(most);
    if parent == NONE {
        // Towards both the node and the subtree, if that has a height.
        let mean = if most == f64::INFINITY { mean } else { mean / 2.0 };
        return highest - mean * random.exponential();
    }
    let lowest = tree.height(parent);
    if highest == f64::INFINITY {
        lowest + mean * random.exponential()
    } else {
        lowest + random.uniform() * (highest - lowest)
    }
}

/// The logarithm of the prior of a place beside a node, of all heights that [`new_height`] could have drawn together,
/// in units of the prior of a place under a node of the same height as the subtree.
fn prior_beside(tree: &HeightTree, node: u32, most: f64, mean: f64, new: f64) -> f64 {
    let parent = tree.parent(node);
    let (is_leaf, moves_leaf) = (tree.is_leaf(node), most == f64::INFINITY);
    let height = tree.height(node);
    if parent == NONE {
        return if moves_leaf { 0.0 } else { -std::f64::consts::LN_2 - (height - most).abs() / mean };
    }
    let lowest = tree.height(parent);
    let highest = if is_leaf { most } else { height.min(most) };
    if highest <= lowest {
        return f64::NEG_INFINITY;
    }
    match (is_leaf, moves_leaf) {
        (true, true) => 0.0,
        (false, true) => ((highest - lowest) / mean).ln(),
        (true, false) => ((highest - lowest) / mean).ln() - (most - lowest) / mean,
        (false, false) => ((highest - lowest) / mean).ln() - (most - new) / mean,
    }
}
