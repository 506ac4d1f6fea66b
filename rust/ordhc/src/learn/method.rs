//! The learners by name.

use std::collections::HashSet;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::asking::Asking;
use super::buckets::Buckets;
use super::exact::Exact;
use super::insertion::Insertion;
use super::learner::Learner;
use super::majority::Majority;
use super::noise::{Assume, Noise, Schedule, check};
use super::noisy_search::Settings;
use super::quick::Quick;
use super::revise::{Revise, Settings as Revising};
use super::robust::Robust;
use super::robust_paper::RobustPaper;
use super::uncertain::Uncertain;
use crate::error::{Error, Result, check_n_leaves, check_positive};
use crate::memory;
use crate::search::Order;
use crate::tree::Topology;

/// How to learn a tree.
///
/// From answers without errors, the first five find exactly the tree that the answers come from, whatever its
/// shape and degree; from answers that contradict each other they find some tree. The others are for answers
/// of which some are wrong. Source: Emamjomeh-Zadeh & Kempe, "Adaptive
/// hierarchical clustering using ordinal queries" (2018).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// QuickClustering: O(n log n) questions expected, one level of the division at a time; merging goes
    /// step by step, so there are many rounds.
    Quick,
    /// InsertionClustering with pivots of the largest entropy: the fewest questions. Computes
    /// O(log^2 n) a leaf.
    Insertion {
        /// How many leaves are searched side by side: as many times fewer rounds, nearly.
        parallel: usize,
    },
    /// InsertionClustering with the paper's pivots: never more than log2(2i - 3) questions for the i-th
    /// leaf of a binary tree, nor n log2 n in all. Where nodes have d children, O(d / log d) times as much: n^2 / 4
    /// for a star. Computes O(n) a leaf.
    Exact,
    /// Sample and buckets with samples of one leaf: the fewest rounds.
    Rounds,
    /// Sample and buckets with samples of an eighth: few rounds, and few questions more than insertion.
    Balanced,
    /// For answers that are right with a probability of at least `p` only: posterior search with fresh
    /// verification, one leaf after the other, of trees of any degree.
    ///
    /// If each answer is right with a probability of at least `p` whatever was answered before, then the tree
    /// is wrong with a probability of at most `delta`; nothing is assumed about wrong answers, nor about the
    /// tree. Proof and measurements: docs/decisions/0004-noisy-search.md.
    /// A leaf whose answers contradict each other without end goes to its likeliest place.
    ///
    /// `p` = 1 is [`Insertion`](Self::Insertion), or what the schedule is called: [`Balanced`](Self::Balanced),
    /// [`Rounds`](Self::Rounds).
    Robust {
        /// How likely an answer is right, more than 1/2: at p = 1/2 an adversary can make two trees look
        /// the same. See [`estimate_p`](super::estimate_p).
        p: f64,
        /// How likely the tree may be wrong.
        delta: f64,
        /// [`Assume::Uniform`] stops on the posterior alone: two thirds of the questions, but nothing is
        /// promised then. Where no wrong answer is likelier than (1 - `p`) / 2, trees are wrong about as
        /// rarely as `delta` says; where there are preferred lies, much more often.
        assume: Assume,
        /// [`Noise::Persistent`] never asks the same question again; other leaves from the same parts stand
        /// in for the first ones. It stops on the posterior, or when all is asked that says anything; what
        /// three leaves alone can tell is as right as one answer, so no probability is promised.
        noise: Noise,
        /// How many leaves are searched side by side: as many times fewer rounds, nearly.
        parallel: usize,
        /// More leaves side by side as the tree grows.
        schedule: Schedule,
    },
    /// For answers that are right with a probability of at least `p` only: the paper's own algorithm
    /// (Theorem 5.1), a reference. Takes hundreds to thousands of questions a leaf, and O(n) time for each.
    ///
    /// The promise is that of [`Robust`](Self::Robust) for binary trees. Other trees are an error of
    /// [`Learner::ask`], as soon as a leaf has no place in a binary tree. Where the paper leaves gaps this is
    /// what docs/decisions/0004-noisy-search.md says. `p` = 1 is [`Insertion`](Self::Insertion).
    RobustPaper {
        /// How likely an answer is right, more than 1/2.
        p: f64,
        /// How likely the tree may be wrong.
        delta: f64,
    },
    /// Revises a tree that is there already, see [`Method::from_prior`]: asks where its subtrees may be elsewhere and
    /// that matters most, and moves those that answers want elsewhere. For answers of which some are wrong, and a
    /// tree of which most is right; a few questions a leaf mend most of the rest. Never asks the same three leaves
    /// twice; ends only when no question is worth asking, so give it a budget. No probability is promised.
    ///
    /// Where the first answers agree with the tree no more than by chance, it is left aside for
    /// [`Robust`](Self::Robust).
    Revise {
        /// How likely an answer is right, more than 1/2.
        p: f64,
        /// Of [`Robust`](Self::Robust), as all that follows.
        delta: f64,
        /// What happens when a question is asked again.
        noise: Noise,
        /// How many questions are chosen side by side, at least.
        parallel: usize,
        /// A twentieth, a tenth or a quarter of the number of leaves is chosen side by side.
        schedule: Schedule,
    },
    /// For answers that are right with a probability of at least `p` only: [`Exact`](Self::Exact) with
    /// every question asked up to k times, where k is such that all majorities are right with a probability
    /// of at least 1 - `delta`. A baseline. The promise is that of [`Robust`](Self::Robust), for trees of any
    /// degree.
    Majority {
        /// How likely an answer is right, more than 1/2.
        p: f64,
        /// How likely the tree may be wrong.
        delta: f64,
    },
    /// For answers whose errors are more frequent the closer leaves are, as people's: asks what is expected to teach
    /// most about the tree, by trees drawn from the [posterior](crate::posterior) given all answers so far. Nothing is
    /// promised. Takes any answer into account, whoever has chosen the question.
    Uncertain {
        /// How many questions to ask; 20 for each leaf, times `repeat`, if there is nothing said.
        questions: Option<u64>,
        /// How often each is asked, of different people if possible.
        repeat: u64,
    },
}

named!(Method, "learner", {
    "quick": Self::Quick => Self::Quick,
    "insertion": Self::Insertion { .. } => Self::Insertion { parallel: 1 },
    "exact": Self::Exact => Self::Exact,
    "rounds": Self::Rounds => Self::Rounds,
    "balanced": Self::Balanced => Self::Balanced,
    "robust": Self::Robust { .. } => Self::robust(1.0, 0.05),
    "robust-paper": Self::RobustPaper { .. } => Self::RobustPaper { p: 1.0, delta: 0.05 },
    "revise": Self::Revise { .. } => Self::Revise {
        p: 1.0, delta: 0.05, noise: Noise::Independent, parallel: 1, schedule: Schedule::Questions,
    },
    "majority": Self::Majority { .. } => Self::Majority { p: 1.0, delta: 0.05 },
    "uncertain": Self::Uncertain { .. } => Self::Uncertain { questions: None, repeat: 1 },
});

impl Method {
    /// [`Robust`](Self::Robust) with the strongest promise: wrong answers may be anything, one leaf at a time.
    pub fn robust(p: f64, delta: f64) -> Self {
        let (assume, noise, schedule) = (Assume::Adversarial, Noise::Independent, Schedule::Questions);
        Self::Robust { p, delta, assume, noise, parallel: 1, schedule }
    }

    /// A learner of a tree over `n` leaves, which are taken in an order drawn with the seed.
    ///
    /// # Errors
    /// No leaves, or more than 2^31 - 1; `parallel` = 0; `p` not in (1/2, 1]; `delta` not in (0, 1); not
    /// enough memory for so many leaves.
    ///
    /// ```
    /// use ordhc::learn::{Learner, Method};
    ///
    /// let mut learner = Method::Balanced.learner(100, 7)?;
    /// assert!(learner.ask(1)?.len() == 1 && !learner.done());
    /// assert_eq!(learner.tree()?.n_leaves(), 100);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn learner(self, n: usize, seed: u64) -> Result<Box<dyn Learner>> {
        self.with_start(None, n, seed)
    }

    /// A learner of the places of further leaves in a tree that is right: leaf `k` of `start` is `leaves[k]`, all others of
    /// `0..n` are asked about. With one further leaf this is FindSibling (Emamjomeh-Zadeh & Kempe 2018): by
    /// [`Exact`](Self::Exact) Algorithm 4, at most log2(2n - 3) questions in a binary tree, by
    /// [`RobustPaper`](Self::RobustPaper) Algorithms 5 and 6. `delta` is for the further leaves alone.
    ///
    /// # Errors
    /// As [`learner`](Self::learner); a method that does not insert leaf after leaf; a leaf from `n` on, or twice.
    ///
    /// ```
    /// use ordhc::generate::TreeOracle;
    /// use ordhc::learn::{Learner, Method};
    /// use ordhc::tree::Topology;
    ///
    /// let known = Topology::from_merges(vec![[0, 1], [2, 3], [4, 5]])?;
    /// // Leaf 4 is beside leaf 2.
    /// let mut truth = TreeOracle::new(&Topology::from_merges(vec![[0, 1], [2, 4], [3, 6], [5, 7]])?);
    /// let mut learner = Method::Exact.learner_after(&known, &[0, 1, 2, 3], 5, 0)?;
    /// while !learner.done() {
    ///     for question in learner.ask(1)? {
    ///         learner.tell(question.id, truth.answer(question.leaves))?;
    ///     }
    /// }
    /// assert_eq!(learner.tree()?.newick().to_string(), "((0,1),((2,4),3));");
    /// assert!(learner.n_answered() <= 2);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn learner_after(self, start: &Topology, leaves: &[u32], n: usize, seed: u64) -> Result<Box<dyn Learner>> {
        if leaves.len() != start.n_leaves() {
            let (found, expected) = (leaves.len(), start.n_leaves());
            return Err(Error::Length { what: "leaves", found, of: "the leaves of the tree", expected });
        }
        check_n_leaves(n)?;
        let mut known = vec![false; n];
        for &leaf in leaves {
            match known.get_mut(leaf as usize) {
                Some(known) if !*known => *known = true,
                _ => return Err(Error::Argument(format!("leaf {leaf} of the tree is there twice, or not below {n}"))),
            }
        }
        self.with_start(Some((start, leaves)), n, seed)
    }

    fn with_start(self, start: Option<(&Topology, &[u32])>, n: usize, seed: u64) -> Result<Box<dyn Learner>> {
        check_n_leaves(n)?;
        // What the tree, its search and the questions of one round take at the end, nearly. Asked for at once, so
        // that too many leaves are an error and not the end of the process.
        const BYTES: usize = 160;
        memory::reserve("a learner of so many leaves", &mut Vec::<u8>::new(), n.saturating_mul(BYTES))?;
        let order = || -> Result<Order> {
            let mut order = Vec::new();
            memory::reserve("a learner of so many leaves", &mut order, n)?;
            order.extend(0..n as u32);
            // A stream of its own: trees drawn with the same seed are in another order.
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(1);
            order.shuffle(&mut random);
            let Some((tree, leaves)) = start else { return Ok(Order::new(order)) };
            let known: HashSet<u32> = leaves.iter().copied().collect();
            Ok(Order::after(tree, leaves, order.into_iter().filter(|leaf| !known.contains(leaf))))
        };
        Ok(match self {
            Self::Quick | Self::Uncertain { .. } | Self::Revise { .. } if start.is_some() => {
                let name = self.to_string();
                return Err(Error::Argument(format!(
                    "{name} takes no start, a tree of fewer leaves; insertion, robust, robust-paper and majority do"
                )));
            }
            Self::Quick => Box::new(Asking::new(Quick::new(n, seed))),
            Self::Insertion { parallel } => {
                check_positive("parallel", parallel as u64)?;
                Box::new(Asking::new(Insertion::new(order()?, parallel)))
            }
            Self::Exact => Box::new(Asking::new(Exact::new(order()?))),
            Self::Robust { p, delta, assume, noise, parallel, schedule } => {
                check(p, delta)?;
                check_positive("parallel", parallel as u64)?;
                if p == 1.0 || n < 3 {
                    let certain = match schedule {
                        Schedule::Questions => Self::Insertion { parallel },
                        Schedule::Balanced => Self::Balanced,
                        Schedule::Rounds => Self::Rounds,
                    };
                    return certain.with_start(start, n, seed);
                }
                let settings = Settings { p, delta, assume, noise, parallel, schedule };
                Box::new(Asking::new(Robust::new(order()?, settings, seed)))
            }
            Self::Revise { .. } => {
                return Err(Error::Argument(
                    "the learner 'revise' needs a prior, the tree that it revises".to_string(),
                ));
            }
            Self::RobustPaper { p, delta } => {
                check(p, delta)?;
                if p == 1.0 || n < 3 {
                    return Self::Insertion { parallel: 1 }.with_start(start, n, seed);
                }
                Box::new(Asking::new(RobustPaper::new(order()?, p, delta)))
            }
            Self::Majority { p, delta } => {
                check(p, delta)?;
                let order = order()?;
                // What truthful answers about a binary tree lead to.
                let first = (order.n_known() as u64 + 1).max(3);
                let planned = (first..=n as u64).map(|i| u64::from((2 * i - 3).ilog2())).sum();
                Box::new(Asking::new(Majority::new(Exact::new(order), planned, p, delta)))
            }
            Self::Uncertain { questions, repeat } => {
                check_positive("repeat", repeat)?;
                Box::new(Uncertain::new(n, seed, questions, repeat))
            }
            Self::Rounds => Box::new(Asking::new(Buckets::new(order()?, None))),
            Self::Balanced => Box::new(Asking::new(Buckets::new(order()?, Some(8)))),
        })
    }

    /// A learner that begins with a tree, from embeddings or an earlier study.
    ///
    /// `strength` says how much likelier the place that a subtree has in it is than all other places together in a
    /// cluster twice as large.
    ///
    /// # Errors
    /// A method that doesn't take a prior; as [`learner`](Self::learner); a `strength` that isn't positive and finite.
    pub fn from_prior(self, prior: &Topology, strength: f64, seed: u64) -> Result<Box<dyn Learner>> {
        let n = prior.n_leaves();
        if !(strength > 0.0 && strength.is_finite()) {
            return Err(Error::out_of_range("prior_strength", strength, "(0, inf)"));
        }
        match self {
            Self::Revise { p, delta, noise, parallel, schedule } => {
                let assume = Assume::Adversarial;
                let anew = Self::Robust { p, delta, assume, noise, parallel, schedule }.learner(n, seed)?;
                let settings = Revising { p, strength, parallel, schedule };
                Ok(Box::new(Asking::new(Revise::new(prior, settings, seed, anew))))
            }
            _ => Err(Error::Argument(format!("the learner {self:?} takes no prior"))),
        }
    }
}
