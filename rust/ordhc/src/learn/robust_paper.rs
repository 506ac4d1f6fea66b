//! The paper's insertion when some answers are wrong.

use super::asking::Strategy;
use super::noise::repeats;
use super::vertex_query::VertexQuery;
use super::weights::{TreeWalk, Weights};
use super::work::Work;
use crate::search::{GrowingTree, Outcome, Place, Sketch};

/// InsertionClustering with the noisy FindSibling (Emamjomeh-Zadeh & Kempe, section 5): multiplicative
/// weights, then a walk on the nodes that are left, both by simulated vertex queries.
#[derive(Debug, Clone)]
pub(crate) struct RobustPaper {
    order: Vec<u32>,
    placed: usize,
    tree: GrowingTree,
    root: u32,
    p: f64,
    /// How likely each of the two stages of an insertion may go wrong.
    delta: f64,
    k_p: u64,
    stage: Stage,
    query: VertexQuery,
    node: u32,
    steps: u64,
    work: Work,
}

#[derive(Debug, Clone)]
enum Stage {
    Weights(Weights),
    Walk(TreeWalk),
}

impl RobustPaper {
    /// Leaves are inserted in this order; there are at least three, and p < 1.
    pub(crate) fn new(order: Vec<u32>, p: f64, delta: f64) -> Self {
        let mut tree = GrowingTree::default();
        let leaves = [tree.leaf(order[0]), tree.leaf(order[1])];
        let root = tree.pair(leaves[0], leaves[1]);
        let delta = delta / (order.len() - 2) as f64 / 2.0;
        let k_p = repeats(p, 1.0 - p.sqrt());
        let mut new = Self {
            stage: Stage::Weights(Weights::new(&tree, root, p, delta)),
            query: VertexQuery::new(&tree, root, k_p),
            node: root,
            placed: 2,
            tree,
            root,
            p,
            delta,
            k_p,
            steps: 0,
            work: Work::with_cost(order.len(), -60.0 * k_p as f64 * delta.ln() / (2.0 * p - 1.0).powi(2)),
            order,
        };
        new.proceed();
        new
    }

    /// Goes on to the next query about a vertex, the next stage, the next leaf.
    fn proceed(&mut self) {
        while self.placed < self.order.len() {
            let Self { tree, stage, p, delta, .. } = self;
            let next = match stage {
                Stage::Weights(weights) => match weights.next(tree) {
                    Some(node) => Some(node),
                    None => {
                        let marked = std::mem::take(weights.marked());
                        let marked = if marked.is_empty() { vec![self.root] } else { marked };
                        *stage = Stage::Walk(TreeWalk::new(tree, self.root, &marked, *p, *delta));
                        continue;
                    }
                },
                Stage::Walk(walk) => walk.next(),
            };
            if let Some(node) = next {
                self.node = node;
                self.query = VertexQuery::new(tree, node, self.k_p);
                return;
            }
            let Stage::Walk(walk) = stage else { return };
            let place = walk.at();
            let leaf = tree.leaf(self.order[self.placed]);
            let parent = tree.put(Place::Above(place), leaf);
            if place == self.root {
                self.root = parent;
            }
            self.placed += 1;
            self.steps = 0;
            self.work.placed(self.placed);
            self.stage = Stage::Weights(Weights::new(&self.tree, self.root, self.p, self.delta));
        }
    }
}

impl Strategy for RobustPaper {
    type Purpose = ();

    fn next(&mut self) -> Option<([u32; 3], ())> {
        if self.done() {
            return None;
        }
        let [first, second] = self.query.next(&self.tree)?;
        Some(([first, second, self.order[self.placed]], ()))
    }

    fn take(&mut self, (): (), answer: i8) {
        self.steps += 1;
        let Some(answer) = self.query.take(&self.tree, Outcome::of_answer(answer)) else { return };
        match &mut self.stage {
            Stage::Weights(weights) => weights.take(&self.tree, self.node, answer),
            Stage::Walk(walk) => walk.take(&self.tree, answer),
        }
        self.proceed();
    }

    fn sketch(&self) -> Sketch {
        Sketch::of(&self.tree, self.root, self.n_leaves())
    }

    fn n_leaves(&self) -> usize {
        self.order.len()
    }

    fn placed(&self) -> usize {
        self.placed
    }

    fn remaining(&self, n_answered: u64) -> f64 {
        self.work.remaining(n_answered, self.steps)
    }
}
