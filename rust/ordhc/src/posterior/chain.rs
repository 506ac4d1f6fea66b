//! A Markov chain over trees with heights.

use super::answers::Answers;
use super::choice_heights::ChoiceHeights;
use super::height_tree::{HeightTree, NONE, Place, Spans};
use super::increments::{self, Increments};
use super::lengths::{Lengths, may_be};
use super::link::{Link, log_without_table};
use super::pairs::Pairs;
use super::places::{Rest, Scores};
use super::prior::{self, MOST_NOISE, Shape, Shapes};
use super::random::Random;
use super::reliability::Noises;
use super::rooting::{Rooting, move_root};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;

const HEIGHT_STEPS: usize = 5;
const LENGTH_STEPS: usize = 2;
/// Each sweep makes one Metropolis step for each of these numbers. The step multiplies the lengths of all leaves by a
/// random factor, whose logarithm has this standard deviation.
const SPREADS: [f64; 2] = [0.1, 1.0];
const ROOT_STEPS: usize = 4;
const NOISE_STEPS: usize = 3;
/// If `Pairs::len` exceeds this number, a table of log-likelihoods is made for each proposed noise. Otherwise, it is
/// faster to compute the log-likelihoods directly.
const FEW: usize = 500;

#[derive(Debug, Clone)]
pub(super) struct ChainState {
    tree: HeightTree,
    increments: Increments,
    shape: Shape,
    noises: Noises,
    lengths: Lengths,
    random: Random,
}

impl ChainState {
    pub(super) fn new(shapes: &Shapes, noises: Noises, lengths: Lengths, tree: HeightTree, random: Random) -> Self {
        Self { tree, increments: Increments::new(), shape: shapes.first(), noises, lengths, random }
    }

    /// Copies the state of another chain, except its random number generator.
    pub(super) fn move_to(&mut self, other: Self) {
        let random = std::mem::replace(self, other).random;
        self.random = random;
    }
}

/// A running Markov chain. All steps leave the posterior invariant. The buffers are reused from step to step.
pub(super) struct Chain<'a> {
    answers: &'a Answers,
    shapes: &'a Shapes,
    random: Random,
    pub(super) tree: HeightTree,
    pub(super) increments: Increments,
    shape: Shape,
    pub(super) noises: Noises,
    pub(super) lengths: Lengths,
    pub(super) log_likelihood: f64,
    spans: Spans,
    pairs: Pairs,
    choices: ChoiceHeights,
    scores: Scores,
    inside: Vec<bool>,
    order: Vec<u32>,
    moving: Vec<u32>,
    leaves: Vec<u32>,
    turn: Vec<u32>,
    weights: Vec<f64>,
    /// For each node: its number of leaves, without the leaves of the subtree that was cut off.
    sizes: Vec<u32>,
    costs: Vec<f64>,
}

impl<'a> Chain<'a> {
    pub(super) fn at(answers: &'a Answers, shapes: &'a Shapes, state: ChainState) -> Result<Self> {
        const WHAT: &str = "a chain of trees";
        let ChainState { tree, increments, shape, noises, lengths, random } = state;
        let n_nodes = tree.n_nodes();
        Ok(Self {
            answers,
            shapes,
            shape,
            sizes: memory::filled(WHAT, 0, n_nodes)?,
            costs: memory::filled(WHAT, 0.0, n_nodes)?,
            random,
            increments,
            log_likelihood: f64::NAN,
            spans: Spans::new(n_nodes),
            pairs: Pairs::new(&tree, answers, &noises, &lengths)?,
            choices: ChoiceHeights::new(n_nodes, answers.choices())?,
            noises,
            lengths,
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

    pub(super) fn into_state(self) -> ChainState {
        let Self { tree, increments, shape, noises, lengths, random, .. } = self;
        ChainState { tree, increments, shape, noises, lengths, random }
    }

    pub(super) fn sweep(&mut self, monitor: &Monitor) -> Result<()> {
        let n = self.tree.n_leaves();
        let mut turn = std::mem::take(&mut self.turn);
        self.random.shuffle(&mut turn);
        for &leaf in &turn {
            monitor.advance(1)?;
            self.move_subtree(leaf);
            // Move large subtrees less often, so that subtrees of every size take about the same total time. The
            // probability of moving a subtree does not depend on where it is in the tree, so the posterior stays
            // invariant.
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
        self.list_nodes();
        if self.lengths.are_learnt() {
            for _ in 0..ROOT_STEPS {
                self.change_root();
            }
        }
        self.spans.follow(&self.tree, &self.order);
        self.change_shape();
        self.choices.follow(&self.tree, &self.spans, self.answers.choices(), &self.lengths);
        if self.noises.shared().is_none() {
            let (clear, random) = (self.choices.clear(), &mut self.random);
            self.noises.draw(&self.tree, &self.spans, &self.lengths, self.answers, clear, random);
        }
        self.pairs.follow(&self.tree, &self.spans, self.answers, &self.noises, &self.lengths);
        for _ in 0..HEIGHT_STEPS {
            self.change_heights();
            monitor.advance(0)?;
        }
        self.tree.put_root_at_zero();
        self.choices.refresh(&self.tree, self.answers.choices(), &self.lengths);
        self.increments.learn(self.tree.increments(), &mut self.random);
        if self.lengths.are_learnt() {
            self.change_lengths();
        }
        self.log_likelihood = self.scaled_log_likelihood(1.0);
        for _ in 0..NOISE_STEPS {
            self.change_noise_and_scale(0.0, 0.1);
            if self.noises.shared().is_some() {
                self.change_noise_and_scale(0.3, 0.0);
                // Change noise and scale together, because random answers and similar heights explain the answers
                // almost equally well.
                self.change_noise_and_scale(0.2, 0.3);
            }
        }
        Ok(())
    }

    /// Cuts a subtree off, and inserts it at a place drawn from the posterior (Gibbs sampling). The subtree becomes a
    /// child of an inner node, or a child of a new node on an edge. The height of a new node is drawn at random. So the
    /// weight of a place with a new node is divided by the density of the drawn height.
    pub(super) fn move_subtree(&mut self, top: u32) {
        let Some(here) = self.tree.cut(top) else { return };
        self.score_places(top, here);
        self.weigh_places(top);
        let drawn = self.random.place(&mut self.weights);
        let node = self.order[drawn / 2];
        let place =
            if drawn.is_multiple_of(2) { Place::Under(node) } else { Place::Beside(node, self.scores.of(node).new) };
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
            let (lowest, height) = around(tree, node);
            let new = self.increments.new_height(lowest, height.min(most), &mut self.random);
            self.scores.set_new(node, new);
        }
        if let Place::Beside(node, height) = here {
            self.scores.set_new(node, height);
        }
        let rest =
            Rest { tree, spans: &self.spans, inside: &self.inside, noises: &self.noises, lengths: &self.lengths };
        self.scores.fill(&rest, self.answers, &self.leaves, [&self.order, &self.moving]);
        self.leaves.iter().for_each(|&leaf| self.inside[leaf as usize] = false);
    }

    /// Writes to `weights` the log weights of two places for each node. The subtree `top` can
    /// become a child of the node, or a child of a new node on the edge above the node.
    fn weigh_places(&mut self, top: u32) {
        self.count_leaves();
        let more = self.leaves.len() as u32;
        let tree = &self.tree;
        let most = if tree.is_leaf(top) { f64::INFINITY } else { tree.height(top) };
        self.weights.clear();
        for &node in &self.order {
            let (at, spot) = (node as usize, self.scores.of(node));
            let (parent, size) = (tree.parent(node), self.sizes[at]);
            let above = if parent == NONE { 0.0 } else { self.costs[parent as usize] };
            let new = above + self.shapes.cost(self.shape, size + more);
            if !tree.is_leaf(node) {
                self.costs[at] = above + self.shapes.growth(self.shape, size, more);
            }
            let (lowest, height) = around(tree, node);
            let under = if height >= most {
                f64::NEG_INFINITY
            } else if most == f64::INFINITY {
                spot.under - self.costs[at]
            } else {
                spot.under + self.increments.log(most - height) - self.costs[at]
            };
            let beside = self.increments.log_beside(lowest, height, most, spot.new);
            self.weights.push(under);
            self.weights.push(spot.beside + beside - new);
        }
    }

    pub(super) fn list_nodes(&mut self) {
        self.tree.nodes_under(self.tree.root(), &mut self.order);
        self.count_leaves();
    }

    /// Moves the root along the edge between its two children, if the root has only two children. Then moves the root
    /// to a place drawn from its posterior. The paths between leaves keep their lengths, so the likelihood of the
    /// answers does not change.
    pub(super) fn change_root(&mut self) {
        entered!(posterior_root);
        let Self { tree, order, sizes, lengths, increments, random, .. } = self;
        let rooting = Rooting { tree, order, sizes, lengths, increments };
        if let Some((place, gain)) = rooting.another_point(random)
            && random.exponential() > -gain
        {
            move_root(tree, order, lengths, place);
        }
        let rooting = Rooting { tree, order, sizes, lengths, increments };
        let (places, mut weights) = rooting.places(|size| self.shapes.cost(self.shape, size), random);
        let drawn = random.place(&mut weights);
        // `places[0]` is the current root.
        if drawn > 0 {
            move_root(tree, order, lengths, places[drawn]);
            self.list_nodes();
        }
    }

    fn count_leaves(&mut self) {
        let tree = &self.tree;
        self.order.iter().for_each(|&node| self.sizes[node as usize] = u32::from(tree.is_leaf(node)));
        for &node in self.order[1..].iter().rev() {
            self.sizes[tree.parent(node) as usize] += self.sizes[node as usize];
        }
    }

    pub(super) fn change_shape(&mut self) {
        let inner = self.order.iter().filter(|&&node| !self.tree.is_leaf(node));
        self.shape = self.shapes.draw(inner.map(|&node| self.sizes[node as usize]), &mut self.random);
    }

    fn change_heights(&mut self) {
        for at in 0..self.order.len() {
            if !self.tree.is_leaf(self.order[at]) {
                self.change_height(self.order[at]);
            }
        }
    }

    pub(super) fn change_height(&mut self, node: u32) {
        let choices = self.answers.choices();
        let weight = self.pairs.weight(node) + self.choices.weight(choices, node);
        let spread = 2.0 * self.increments.mean() / (1.0 + 0.15 * weight).sqrt();
        let old = self.tree.height(node);
        let new = old + spread * self.random.normal();
        let parent = self.tree.parent(node);
        let mut gain = 0.0;
        if parent != NONE {
            let below = self.tree.height(parent);
            if new <= below {
                return;
            }
            gain += self.increments.log(new - below) - self.increments.log(old - below);
        }
        for child in self.tree.children(node).filter(|&child| !self.tree.is_leaf(child)) {
            let above = self.tree.height(child);
            if new >= above {
                return;
            }
            gain += self.increments.log(above - new) - self.increments.log(above - old);
        }
        gain += self.pairs.gain(&self.tree, &self.noises, node, new);
        gain += self.choices.gain(choices, &self.noises, node, new);
        if self.random.exponential() > -gain {
            self.pairs.accept(&self.tree, node, new);
            self.tree.set_height(node, new);
            self.choices.accept(node);
        }
    }

    fn change_lengths(&mut self) {
        for _ in 0..LENGTH_STEPS {
            (0..self.tree.n_leaves() as u32).for_each(|leaf| self.change_length(leaf));
        }
        self.choices.refresh(&self.tree, self.answers.choices(), &self.lengths);
        self.log_likelihood = self.scaled_log_likelihood(1.0);
        for spread in SPREADS {
            self.scale_lengths(spread);
        }
        // Adding a constant to all lengths does not change the likelihood, because the constant cancels between the
        // pairs of an answer. So draw the mean of the lengths from its prior.
        self.lengths.shift(&mut self.random);
        self.lengths.learn(&mut self.random);
        self.choices.refresh(&self.tree, self.answers.choices(), &self.lengths);
    }

    /// Multiplies all lengths and their prior standard deviation by a factor, as a Metropolis step. Without this step,
    /// a chain hardly leaves small lengths, because small lengths keep the deviation small, and a small deviation keeps
    /// the lengths small.
    pub(super) fn scale_lengths(&mut self, spread: f64) {
        let scale = (spread * self.random.normal()).exp();
        if !self.lengths.may_scale(scale) {
            return;
        }
        let mut lengths = self.lengths.clone();
        lengths.scale(scale);
        let Pairs::Each(terms) = &self.pairs else { return };
        let log = |person: u32, difference: f64| self.noises.of(person).log(difference);
        let noise = |person: u32| self.noises.of(person).noise();
        let mut choices = self.choices.clone();
        choices.refresh(&self.tree, self.answers.choices(), &lengths);
        let new = terms.log_likelihood_with(self.answers, &self.lengths, scale - 1.0, log)
            + choices.log_likelihood(&self.tree, self.answers.choices(), &lengths, 1.0, noise);
        let prior = self.lengths.log_scaled(scale);
        if self.random.exponential() > self.log_likelihood - new - prior {
            let Pairs::Each(terms) = &mut self.pairs else { return };
            terms.stretch(self.answers, &self.lengths, scale - 1.0);
            (self.lengths, self.choices, self.log_likelihood) = (lengths, choices, new);
        }
    }

    pub(super) fn change_length(&mut self, leaf: u32) {
        let Pairs::Each(terms) = &mut self.pairs else { return };
        let choices = self.answers.choices();
        let weight = terms.leaf_weight(leaf) + choices.leaf_weight(leaf);
        let spread = 2.4 / (self.lengths.deviation().powi(-2) + 0.15 * weight).sqrt();
        let change = spread * self.random.normal();
        let old = self.lengths.of(leaf);
        if !may_be(old + change) {
            return;
        }
        let gain = self.lengths.log_density(old + change) - self.lengths.log_density(old)
            + terms.gain_of_length(&self.noises, leaf, change)
            + self.choices.gain_of_length(choices, &self.noises, leaf, change);
        if self.random.exponential() > -gain {
            self.lengths.set(leaf, old + change);
            terms.accept_length(leaf, change);
            self.choices.accept_length(choices, leaf, change);
        }
    }

    fn scaled_log_likelihood(&self, factor: f64) -> f64 {
        let log = |level: u8, difference: f64| self.noises.link(level).log(difference);
        let noise = |person: u32| self.noises.of(person).noise();
        self.pairs.log_likelihood(&self.tree, &self.noises, factor, log) + self.scaled_log_of_choices(factor, noise)
    }

    fn scaled_log_of_choices(&self, factor: f64, noise: impl Fn(u32) -> f64) -> f64 {
        self.choices.log_likelihood(&self.tree, self.answers.choices(), &self.lengths, factor, noise)
    }

    /// Multiplies the noise by exp(x `of_noise`). Multiplies all heights, lengths and the parameters of their priors by
    /// exp(x `of_scale`). This is one Metropolis step, in which x is a random normal deviate.
    pub(super) fn change_noise_and_scale(&mut self, of_noise: f64, of_scale: f64) {
        let step = self.random.normal();
        let (log_noise, log_scale) = (of_noise * step, of_scale * step);
        let (old, mean) = (self.noises.mean(), self.increments.mean());
        let (noise, scale) = (old * log_noise.exp(), log_scale.exp());
        if noise >= MOST_NOISE || !self.lengths.may_scale(scale) {
            return;
        }
        // For few answers, making a table of log-likelihoods takes more time than the table saves.
        let other = (of_noise > 0.0 && self.pairs.len() > FEW).then(|| Link::new(noise));
        let new = if of_noise > 0.0 {
            let of_sums = match &other {
                Some(link) => self.pairs.log_likelihood(&self.tree, &self.noises, scale, |_, x| link.log(x)),
                None => {
                    let log = |_: u8, difference: f64| log_without_table(noise, difference);
                    self.pairs.log_likelihood(&self.tree, &self.noises, scale, log)
                }
            };
            of_sums + self.scaled_log_of_choices(scale, |_| noise)
        } else {
            self.scaled_log_likelihood(scale)
        };
        // Heights and lengths are scaled together with the mean and the deviation of their priors. So their prior
        // densities and the Jacobian of the scaling cancel.
        let prior = prior::log_noise(noise) - prior::log_noise(old) + increments::log_mean(scale * mean)
            - increments::log_mean(mean)
            + self.lengths.log_scaled(scale)
            + log_noise
            + log_scale;
        if self.random.exponential() > self.log_likelihood - new - prior {
            self.tree.scale_heights(scale);
            self.lengths.scale(scale);
            self.pairs.scale(scale);
            self.increments.set_mean(scale * mean);
            if of_noise > 0.0 {
                self.noises.set_shared(other.unwrap_or_else(|| Link::new(noise)));
            }
            if of_scale > 0.0 {
                self.choices.refresh(&self.tree, self.answers.choices(), &self.lengths);
            }
            self.log_likelihood = new;
        }
    }
}

/// Returns the range of possible heights of a new node on the edge above `node`. The range begins at minus infinity if
/// `node` is the root, and ends at infinity if `node` is a leaf.
fn around(tree: &HeightTree, node: u32) -> (f64, f64) {
    let parent = tree.parent(node);
    let lowest = if parent == NONE { f64::NEG_INFINITY } else { tree.height(parent) };
    (lowest, if tree.is_leaf(node) { f64::INFINITY } else { tree.height(node) })
}
