//! The methods of learners.

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

/// The method that a learner uses to build a tree.
///
/// From answers without errors, the first five methods find exactly the true tree, whatever its shape and degree. From
/// answers that contradict each other, these methods still build a tree. The other methods are for answers that may be
/// wrong.
///
/// Source: Emamjomeh-Zadeh & Kempe, "Adaptive hierarchical clustering using ordinal queries" (2018).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// `QuickClustering`: O(n log n) expected questions. The leaves are divided into smaller and smaller subsets. All
    /// subsets are divided in parallel. Then the trees of the subsets are merged with one question at a time, so there
    /// are many rounds.
    Quick,
    /// `InsertionClustering` with the fewest questions: each question is about the node (pivot)
    /// whose answers have the largest entropy. The computation takes O(log^2 n) per leaf.
    Insertion {
        /// The number of leaves whose places are searched in parallel. The number of rounds falls almost by this
        /// factor.
        parallel: usize,
    },
    /// `InsertionClustering` with the pivots of Emamjomeh-Zadeh & Kempe (a pivot is the node that a question is about).
    /// Takes at most log2(2i - 3) questions for the i-th leaf of a binary tree, and at most n log2 n in all. Trees
    /// whose nodes have d children take O(d / log d) times as many questions. A star (all leaves are children of the
    /// root) takes n^2 / 4 questions. The computation takes O(n) per leaf.
    Exact,
    /// Inserts the leaves in parallel, in the fewest rounds. The tree starts from one leaf. The places of all other
    /// leaves in the tree are searched in parallel. Leaves with the same place are then separated by further searches.
    Rounds,
    /// Inserts the leaves in parallel, in few rounds. An eighth of the leaves is inserted first, by the same method.
    /// Takes only a few more questions than [`Insertion`](Self::Insertion).
    Balanced,
    /// For answers that are right with a probability of at least `p`, and trees of any degree. The learner searches for
    /// the place of one leaf after the other in the tree, by the posterior probabilities of all places. New questions
    /// then verify the likeliest place.
    ///
    /// The tree is wrong with a probability of at most `delta`. The only condition is that each answer is right with a
    /// probability of at least `p`, given all earlier answers. No other assumption is made about wrong answers or about
    /// the tree. The proof and measurements are in docs/decisions/0004-noisy-search.md. If the answers about a leaf
    /// contradict each other too long, the leaf is inserted at its likeliest place.
    ///
    /// If `p` is 1, this is [`Insertion`](Self::Insertion), [`Balanced`](Self::Balanced) or [`Rounds`](Self::Rounds),
    /// depending on `schedule`.
    Robust {
        /// The probability that an answer is right, greater than 1/2. At p = 1/2 an adversary can make two trees
        /// indistinguishable. See [`estimate_p`](super::estimate_p).
        p: f64,
        /// The largest probability that the tree is wrong.
        delta: f64,
        /// [`Assume::Uniform`] accepts a place of a leaf in the tree when the posterior probability of the place is
        /// high enough, without verification. The learner then asks two thirds as many questions as with
        /// [`Assume::Adversarial`], but gives no guarantee. If no wrong answer is likelier than (1 - `p`) / 2, trees
        /// are wrong with a probability of about `delta`. Otherwise, trees are wrong much more often.
        assume: Assume,
        /// [`Noise::Persistent`] never asks the same question again, but asks about other leaves of the same subtrees
        /// instead. The search for a leaf's place ends when the posterior probability of a place is high enough, or
        /// when no informative question is left. There is no guarantee, because the place of a leaf can depend on the
        /// answer to a single question.
        noise: Noise,
        /// The number of leaves whose places are searched in parallel. The number of rounds falls almost by this
        /// factor.
        parallel: usize,
        /// How the number of leaves whose places are searched in parallel grows with the tree: not at all
        /// (`Questions`), as an eighth of the leaves in the tree (`Balanced`), or as all of them (`Rounds`). The number
        /// is at least `parallel`.
        schedule: Schedule,
    },
    /// For answers that are right with a probability of at least `p`: the algorithm of the source (Theorem 5.1), as a
    /// reference. The algorithm takes hundreds to thousands of questions per leaf, and O(n) time for each question.
    ///
    /// For binary trees the guarantee is that of [`Robust`](Self::Robust). For other trees [`Learner::ask`] returns an
    /// error as soon as a leaf does not fit into a binary tree. docs/decisions/0004-noisy-search.md says how gaps in
    /// the paper are filled. With `p` = 1 this is [`Insertion`](Self::Insertion).
    RobustPaper {
        /// The probability that an answer is right, more than 1/2.
        p: f64,
        /// The largest probability that the tree is wrong.
        delta: f64,
    },
    /// Revises a given tree, see [`Method::from_prior`]. For answers that may be wrong, and a tree that is mostly
    /// right. The learner asks about subtrees that may belong elsewhere in the tree, first where an error matters most.
    /// A subtree is moved if the answers favour another place. A few questions per leaf repair most of the errors.
    ///
    /// The learner never asks about the same three leaves twice. The learner ends only when no question is worth
    /// asking, so set a budget. There is no guarantee.
    ///
    /// If the first answers agree with the tree no more than by chance, the learner ignores the tree and uses
    /// [`Robust`](Self::Robust).
    Revise {
        /// The probability that an answer is right, more than 1/2.
        p: f64,
        /// The largest probability that the tree is wrong, if the learner ignores the given tree
        /// and uses [`Robust`](Self::Robust). `noise`, `parallel` and `schedule` are also settings
        /// of [`Robust`](Self::Robust).
        delta: f64,
        /// Whether a question that is asked again gets an independent answer, or the same answer.
        noise: Noise,
        /// The smallest number of questions that are chosen together.
        parallel: usize,
        /// The number of questions that are chosen together is the number of leaves divided by 20
        /// (`Questions`), 10 (`Balanced`) or 4 (`Rounds`), but at least `parallel`.
        schedule: Schedule,
    },
    /// For answers that are right with a probability of at least `p`: [`Exact`](Self::Exact) with every question asked
    /// up to k times, as a baseline. k is chosen so that all majorities are right with a probability of at least 1 -
    /// `delta`. The guarantee is that of [`Robust`](Self::Robust), for trees of any degree.
    Majority {
        /// The probability that an answer is right, more than 1/2.
        p: f64,
        /// The largest probability that the tree is wrong.
        delta: f64,
    },
    /// For answers of people, who err more often if the leaves are close to each other. The learner samples trees from
    /// the [posterior](crate::posterior) given all answers so far. The learner asks the questions that are expected to
    /// be most informative about the tree. Answers to questions that the learner did not ask are also used. There is no
    /// guarantee.
    ///
    /// Above 250 leaves or 8,000 answers, the learner keeps one tree instead. Each answer moves only the leaves of its
    /// question in this tree. So the time for a question hardly depends on the numbers of leaves and of answers.
    Uncertain {
        /// The number of questions to ask. `None` means `20 * repeat` questions for each leaf.
        questions: Option<u64>,
        /// How many times each question is asked, of different people if possible.
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
    /// Returns [`Robust`](Self::Robust) with the strongest guarantee: no assumption is made about wrong answers, and
    /// the place of one leaf in the tree is searched at a time.
    pub fn robust(p: f64, delta: f64) -> Self {
        let (assume, noise, schedule) = (Assume::Adversarial, Noise::Independent, Schedule::Questions);
        Self::Robust { p, delta, assume, noise, parallel: 1, schedule }
    }

    /// Returns a learner of a tree over `n` leaves. The seed determines the order in which leaves are inserted.
    ///
    /// # Errors
    /// `n` outside `1..2^31`; `parallel` = 0; `p` not in (1/2, 1]; `delta` not in (0, 1); not enough memory for `n`
    /// leaves.
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

    /// Returns a learner that inserts further leaves into the tree `start`, which must be right. Leaf `k` of `start` is
    /// `leaves[k]`. The learner asks about all other leaves of `0..n`.
    ///
    /// With one further leaf this is `FindSibling` (Emamjomeh-Zadeh & Kempe 2018). [`Exact`](Self::Exact) is
    /// Algorithm 4, with at most log2(2n - 3) questions in a binary tree. [`RobustPaper`](Self::RobustPaper) is
    /// Algorithms 5 and 6. `delta` covers the further leaves only.
    ///
    /// # Errors
    /// The errors of [`learner`](Self::learner); a method that does not insert one leaf after the other; a leaf of
    /// `leaves` that is `n` or more, or occurs twice.
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
    /// assert_eq!(learner.tree()?.newick().to_string(), "((0,1),(3,(2,4)));");
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
                _ => return Err(Error::Argument(format!("leaf {leaf} of the tree occurs twice, or is not below {n}"))),
            }
        }
        self.with_start(Some((start, leaves)), n, seed)
    }

    fn with_start(self, start: Option<(&Topology, &[u32])>, n: usize, seed: u64) -> Result<Box<dyn Learner>> {
        check_n_leaves(n)?;
        // Reserve roughly the memory for the complete tree, its search and one round of questions at once. So if there
        // are too many leaves, an error is returned and the process is not aborted.
        const BYTES: usize = 160;
        memory::reserve("a learner of all leaves", &mut Vec::<u8>::new(), n.saturating_mul(BYTES))?;
        let order = || -> Result<Order> {
            let mut order = Vec::new();
            memory::reserve("a learner of all leaves", &mut order, n)?;
            order.extend(0..n as u32);
            // Use a separate random stream, so that the order of insertion is independent of a random tree generated
            // with the same seed.
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
                    "{name} takes no start (a tree of fewer leaves); insertion, robust, robust-paper and majority do"
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
                if p == 1.0 {
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
                    "the learner 'revise' needs a prior (the tree to revise); use Method::from_prior".to_string(),
                ));
            }
            Self::RobustPaper { p, delta } => {
                check(p, delta)?;
                if p == 1.0 {
                    return Self::Insertion { parallel: 1 }.with_start(start, n, seed);
                }
                Box::new(Asking::new(RobustPaper::new(order()?, p, delta)))
            }
            Self::Majority { p, delta } => {
                check(p, delta)?;
                let order = order()?;
                // The number of questions for a binary tree if all answers are right.
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

    /// Returns a learner that starts from the tree `prior`, for example a tree from embeddings or from an earlier
    /// study.
    ///
    /// `strength` is how much the learner trusts `prior`. Before any answer, the place of a subtree in `prior` has
    /// weight 1. Other places in the clusters around the subtree have a total weight of 1 / `strength` for each
    /// doubling of the cluster size.
    ///
    /// # Errors
    /// A method that doesn't take a prior; the errors of [`learner`](Self::learner); a `strength` that isn't positive
    /// and finite.
    pub fn from_prior(self, prior: &Topology, strength: f64, seed: u64) -> Result<Box<dyn Learner>> {
        let n = prior.n_leaves();
        if !(strength > 0.0 && strength.is_finite()) {
            return Err(Error::out_of_range("prior_strength", strength, "(0, inf)"));
        }
        match self {
            Self::Revise { p, delta, noise, parallel, schedule } => {
                let assume = Assume::Adversarial;
                let fallback = Self::Robust { p, delta, assume, noise, parallel, schedule }.learner(n, seed)?;
                let settings = Revising { p, strength, parallel, schedule };
                Ok(Box::new(Asking::new(Revise::new(prior, settings, seed, fallback))))
            }
            _ => Err(Error::Argument(format!("the learner {self:?} takes no prior"))),
        }
    }
}
