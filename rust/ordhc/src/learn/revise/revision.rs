//! A tree that is being revised, with the evidence about its subtrees.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::evidence::{Evidence, Votes};
use super::lengths::Lengths;
use super::places::{Finding, Places, Trust};
use crate::error::Result;
use crate::parallel;
use crate::refine::Shape;
use crate::sorting::order_by;
use crate::tree::{Child, Dendrogram, Topology, dendrogram_of_nodes};

#[derive(Debug, Clone)]
pub(super) struct Revision {
    pub(super) shape: Shape,
    pub(super) evidence: Evidence,
    trust: Trust,
    lengths: Lengths,
    /// For each inner node of the binary tree: true if the node and its parent were made from one
    /// node that has more than two children in the given tree.
    loose: Vec<bool>,
}

const PASSES: usize = 4;
const MOVES: usize = 10;

fn loose_nodes(tree: &Topology) -> Vec<bool> {
    let n_merges = |node| tree.children(node).len() - 1;
    let nodes = tree.n_leaves()..tree.n_nodes();
    nodes.flat_map(|node| (1..=n_merges(node)).map(move |at| at < n_merges(node))).collect()
}

impl Revision {
    pub(super) fn new(prior: &Topology, trust: Trust) -> Self {
        Self {
            shape: Shape::of(prior.merges().into_owned()),
            evidence: Evidence::new(prior.n_leaves()),
            trust,
            lengths: Lengths::new(prior.n_leaves(), trust.evidence()),
            loose: loose_nodes(prior),
        }
    }

    fn is_loose(&self, node: usize) -> bool {
        node.checked_sub(self.shape.n_leaves()).is_some_and(|inner| self.loose[inner])
    }

    fn find(&self, places: &mut Places, subtree: usize) -> Finding {
        let tilts = self.evidence.tilts(&self.shape, subtree);
        places.weigh(&self.shape, subtree, tilts, self.trust, |node| self.is_loose(node))
    }

    fn each<R: Send>(&self, nodes: &[usize], work: impl Fn(&mut Places, usize, Finding) -> R + Sync) -> Vec<R> {
        const GRAIN: usize = 1 << 16;
        let ranges = parallel::ranges(nodes.len(), GRAIN.div_ceil(self.shape.n_nodes()));
        let found = parallel::map(ranges, |range| {
            let mut places = Places::default();
            let each = nodes[range].iter().map(|&node| {
                let finding = self.find(&mut places, node);
                work(&mut places, node, finding)
            });
            each.collect::<Vec<R>>()
        });
        found.into_iter().flatten().collect()
    }

    /// Moves subtrees whose answers favour another place.
    pub(super) fn settle(&mut self) {
        let mut places = Places::default();
        // Skip subtrees without new answers, because their posterior has not changed.
        let mut nodes = self.evidence.touched(&self.shape);
        for _ in 0..PASSES {
            self.lengths.learn(&self.evidence, &self.shape);
            self.evidence.read(&self.shape, &self.lengths);
            let found = self.each(&nodes, |_, node, finding| (node, finding));
            let mut moving: Vec<_> = found.into_iter().filter(|(_, finding)| finding.moves).collect();
            // Ignore differences due to rounding.
            let clear = |finding: &Finding| (finding.evidence * 1e6).round();
            order_by(&mut moving, &|(a, one), (b, other)| {
                let sizes = self.shape.size(a).cmp(&self.shape.size(b));
                clear(&other).total_cmp(&clear(&one)).then(sizes).then(a.cmp(&b))
            });
            let mut moved = 0;
            for (node, before) in moving.into_iter().take(MOVES) {
                if moved > 0 {
                    self.evidence.read(&self.shape, &self.lengths);
                }
                let now = self.find(&mut places, node);
                if !now.moves || now.evidence < before.evidence - 1.0 {
                    continue;
                }
                let Some(parent) = self.shape.parent(node) else { continue };
                if self.shape.regraft(node, now.best) {
                    self.loose[parent - self.shape.n_leaves()] = false;
                    moved += 1;
                }
            }
            if moved == 0 {
                return;
            }
            nodes = (0..self.shape.n_nodes()).collect();
        }
        self.evidence.read(&self.shape, &self.lengths);
    }

    /// Returns the subtrees about which a question is expected to correct more than `least`
    /// triplets, with this expected number. The largest number comes first.
    pub(super) fn doubts(&self, least: f64) -> Vec<(f64, usize)> {
        let nodes: Vec<usize> = (0..self.shape.n_nodes()).collect();
        let mut found = self.each(&nodes, |places, node, _| {
            let value = places.ask(&self.shape, node, self.trust).map_or(0.0, |(_, value)| value);
            // Each answer "no two leaves are closer" makes further questions about this subtree
            // less useful.
            let none = self.evidence.none(&self.shape, node) as f64;
            (value * self.shape.size(node) as f64 / ((1.0 + none) * (1.0 + none)), node)
        });
        found.retain(|&(value, _)| value > least);
        order_by(&mut found, &|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found
    }

    /// Returns the best question about the place of a subtree, among the questions for which `may` returns true.
    /// `taken` has the number of open questions about each leaf. Leaves with open questions are not used.
    pub(super) fn question(
        &self,
        subtree: usize,
        places: &mut Places,
        taken: &[u32],
        may: impl Fn([u32; 3]) -> bool,
        random: &mut ChaCha8Rng,
    ) -> Option<[u32; 3]> {
        self.find(places, subtree);
        let (mut pivot, _) = places.ask(&self.shape, subtree, self.trust)?;
        // A question compares the two children of its pivot. If all questions about one pivot were
        // asked, try other pivots.
        const TRIES: usize = 16;
        const DRAWS: usize = 8;
        for _ in 0..TRIES {
            let [first, second] = self.shape.children(self.shape.node_at(pivot));
            for _ in 0..DRAWS {
                let parts = [(first, true), (second, true), (subtree, false)];
                let leaves = parts.map(|(node, is_rest)| {
                    let avoided = is_rest.then_some(subtree);
                    self.draw(node, avoided, taken, random)
                });
                let [Some(first), Some(second), Some(third)] = leaves else { break };
                if may([first, second, third]) {
                    return Some([first, second, third]);
                }
            }
            pivot = places.next_best(pivot)?;
        }
        None
    }

    /// Draws a leaf below `node`, but not below `avoided`, from the leaves that are not `taken` and have the fewest
    /// answers.
    fn draw(&self, node: usize, avoided: Option<usize>, taken: &[u32], random: &mut ChaCha8Rng) -> Option<u32> {
        let Self { shape, evidence, .. } = self;
        let span = avoided.map(|node| shape.span(node));
        let (mut best, mut count) = (Vec::new(), usize::MAX);
        for leaf in shape.leaves(node) {
            let is_avoided = span.as_ref().is_some_and(|span| span.contains(&shape.place(leaf)));
            if taken[leaf] > 0 || is_avoided || evidence.count(leaf) > count {
                continue;
            }
            if evidence.count(leaf) < count {
                best.clear();
                count = evidence.count(leaf);
            }
            best.push(leaf as u32);
        }
        (!best.is_empty()).then(|| best[random.random_range(0..best.len())])
    }

    /// Returns the tree without the inner nodes that answers contradict. An inner node other than the root is removed
    /// if the answers "no two leaves are closer" outnumber the answers that agree with the node.
    ///
    /// [`new`](Self::new) splits each node with more than two children into binary nodes. A node that was added in this
    /// way is also removed if no answer agrees with it.
    pub(super) fn tree(&self) -> Result<Dendrogram> {
        let n = self.shape.n_leaves();
        if n == 1 {
            return dendrogram_of_nodes(1, &[]);
        }
        let votes = self.evidence.votes(&self.shape);
        let mut nodes: Vec<Vec<Child>> = Vec::new();
        let mut open: Vec<Vec<Child>> = vec![Vec::new(); self.shape.n_nodes()];
        for node in self.shape.inner_in_order() {
            let mut children = Vec::new();
            for child in self.shape.children(node) {
                match self.shape.is_leaf(child) {
                    true => children.push(Child::Leaf(child as u32)),
                    false => children.append(&mut open[child]),
                }
            }
            let Votes { agree, none, .. } = votes[node];
            let is_left_out = (self.is_loose(node) && agree == 0) || none > agree;
            if is_left_out && self.shape.parent(node).is_some() {
                open[node] = children;
            } else {
                nodes.push(children);
                open[node] = vec![Child::Node(nodes.len() - 1)];
            }
        }
        dendrogram_of_nodes(n, &nodes)
    }
}
