//! Insertion of leaves into a tree if some answers may be wrong, as Emamjomeh-Zadeh & Kempe propose.

use super::inserting::{Inserting, Progress};
use super::learner::Told;
use super::noise::{Risk, needed, repeats};
use super::noisy_search::{Attempt, Check};
use super::vertex_query::VertexQuery;
use super::weights::{TreeWalk, Weights};
use super::work::Work;
use crate::error::Error;
use crate::search::{GrowingTree, Order, Outcome, Place};

/// `InsertionClustering` with the noisy `FindSibling` (Emamjomeh-Zadeh & Kempe, section 5). The search for the place of
/// a leaf in the tree has two stages: multiplicative weights of the nodes, then a walk on the nodes that the first
/// stage marks. Both stages ask queries about nodes of the tree. A query takes several questions ([`VertexQuery`]).
///
/// The algorithm supports binary trees only. Two tests verify the final place of the leaf as in
/// [`Robust`](super::robust::Robust). So a tree of higher degree gives an error instead of a wrong tree. The two stages
/// and the two tests may each use a quarter of the failure probability of a leaf, delta / (n - 2).
#[derive(Debug, Clone)]
pub(crate) struct RobustPaper {
    progress: Progress,
    tree: GrowingTree,
    p: f64,
    risk: Risk,
    k_p: u64,
    stage: Stage,
    query: VertexQuery,
    node: u32,
    failure: Option<Error>,
}

#[derive(Debug, Clone)]
enum Stage {
    Weights(Weights),
    Walk(TreeWalk),
    Verify(Attempt),
}

impl RobustPaper {
    pub(crate) fn new(order: Order, p: f64, delta: f64) -> Self {
        let risk = Risk::new(delta, order.len() - order.n_begun());
        Self::with_risk(order, p, risk)
    }

    fn with_risk(order: Order, p: f64, risk: Risk) -> Self {
        let mut tree = order.tree();
        let begun = order.n_begun();
        if order.n_known() < begun {
            tree.insert(Place::Above(tree.root()), order.leaf(1));
        }
        let delta = risk.each() / 4.0;
        let k_p = repeats(p, 1.0 - p.sqrt());
        let work = Work::with_cost(order.len(), begun, -60.0 * k_p as f64 * delta.ln() / (2.0 * p - 1.0).powi(2));
        let mut new = Self {
            stage: Stage::Weights(Weights::new(&tree, p, delta)),
            query: VertexQuery::new(&tree, tree.root(), k_p),
            node: tree.root(),
            tree,
            p,
            risk,
            k_p,
            failure: None,
            progress: Progress::new(order, begun, work),
        };
        new.begin();
        new
    }

    fn delta(&self) -> f64 {
        self.risk.of(self.progress.next_leaf()) / 4.0
    }

    fn begin(&mut self) {
        if !self.progress.is_done() {
            self.stage = Stage::Weights(Weights::new(&self.tree, self.p, self.delta()));
            self.proceed();
        }
    }

    fn proceed(&mut self) {
        let delta = self.delta();
        loop {
            let Self { tree, stage, p, .. } = self;
            let next = match stage {
                Stage::Weights(weights) => match weights.next(tree) {
                    Some(node) => Some(node),
                    None => {
                        let marked = std::mem::take(&mut weights.marked);
                        let marked = if marked.is_empty() { vec![tree.root()] } else { marked };
                        *stage = Stage::Walk(TreeWalk::new(tree, &marked, *p, delta));
                        continue;
                    }
                },
                Stage::Walk(walk) => walk.next(),
                Stage::Verify(_) => return,
            };
            if let Some(node) = next {
                self.node = node;
                self.query = VertexQuery::new(tree, node, self.k_p);
                return;
            }
            let Stage::Walk(walk) = stage else { return };
            let mut attempt = Attempt::new(tree, Place::Above(walk.at), 0);
            attempt.threshold = needed(self.p, delta);
            *stage = Stage::Verify(attempt);
        }
    }

    fn insert(&mut self, place: Place) {
        self.tree.insert(place, self.progress.next_leaf());
        self.progress.place_next();
        self.begin();
    }
}

impl Inserting for RobustPaper {
    type Purpose = Option<Check>;

    fn next(&mut self) -> Option<([u32; 3], Option<Check>)> {
        if self.progress.is_done() || self.failure.is_some() {
            return None;
        }
        let ([first, second], check) = match &mut self.stage {
            Stage::Verify(attempt) => {
                let (_, children, check) = attempt.next()?;
                (children.map(|child| self.tree.representative(child)), Some(check))
            }
            _ => (self.query.next(&self.tree)?, None),
        };
        Some(([first, second, self.progress.next_leaf()], check))
    }

    fn failure(&self) -> Option<Error> {
        self.failure.clone()
    }

    fn take(&mut self, check: Option<Check>, Told { answer, .. }: Told) {
        self.progress.answered();
        if let Stage::Verify(attempt) = &mut self.stage {
            if let Some(check) = check {
                attempt.count(check, Outcome::of_answer(answer), 1.0);
            }
            let place = attempt.place;
            if attempt.is_passed() {
                self.insert(place);
            } else if attempt.is_refuted() {
                self.failure = Some(Error::Argument(format!(
                    "leaf {} has no place: robust-paper builds binary trees only, and these answers come from another \
                     one, or are right less often than p = {}; robust learns trees of any degree",
                    self.progress.next_leaf(),
                    self.p
                )));
            }
            return;
        }
        let Some(answer) = self.query.take(&self.tree, Outcome::of_answer(answer)) else { return };
        match &mut self.stage {
            Stage::Weights(weights) => weights.take(&self.tree, self.node, answer),
            Stage::Walk(walk) => walk.take(&self.tree, answer),
            Stage::Verify(_) => return,
        }
        self.proceed();
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn restarted(&self, order: Order) -> Self {
        Self::with_risk(order, self.p, self.risk.clone())
    }
    fn note_added(&mut self, leaf: u32) {
        self.risk.add(leaf);
    }

    fn resume(&mut self, was_done: bool) {
        if was_done {
            self.begin();
        }
    }

    fn grown(&self) -> &GrowingTree {
        &self.tree
    }
}
