//! The learners by name.

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
use super::robust::Robust;
use crate::error::{Error, Result};

/// How to learn a tree from answers without errors.
///
/// Every method finds exactly the tree that the answers come from, whatever its shape and degree; from
/// answers that contradict each other it finds some tree. Source: Emamjomeh-Zadeh & Kempe, "Adaptive
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
    /// leaf of a binary tree, nor n log2 n in all. Computes O(n) a leaf.
    Exact,
    /// Sample and buckets with samples of one leaf: the fewest rounds.
    Rounds,
    /// Sample and buckets with samples of an eighth: few rounds, and few questions more than insertion.
    Balanced,
    /// X
    Robust {
        /// X
        p: f64,
        /// X
        delta: f64,
        /// X
        assume: Assume,
        /// X
        noise: Noise,
        /// X
        parallel: usize,
        /// X
        schedule: Schedule,
    },
    /// X
    Majority {
        /// X
        p: f64,
        /// X
        delta: f64,
    },
}

impl Method {
    /// The names of the methods.
    pub const NAMES: [&'static str; 5] = ["quick", "insertion", "exact", "rounds", "balanced"];

    /// The method of a name, insertion one leaf at a time.
    ///
    /// # Errors
    /// An unknown name.
    pub fn from_name(name: &str) -> Result<Self> {
        Ok(match name {
            "quick" => Self::Quick,
            "insertion" => Self::Insertion { parallel: 1 },
            "exact" => Self::Exact,
            "rounds" => Self::Rounds,
            "balanced" => Self::Balanced,
            _ => {
                let names = Self::NAMES.join(", ");
                return Err(Error::Argument(format!("there is no learner {name:?}; there are {names}")));
            }
        })
    }

    /// A learner of a tree over `n` leaves, which are taken in an order drawn with the seed.
    ///
    /// # Errors
    /// No leaves, or more than 2^31 - 1; `parallel` = 0.
    ///
    /// ```
    /// use ordhc::learn::{Learner, Method};
    ///
    /// let mut learner = Method::Balanced.learner(100, 7)?;
    /// assert!(learner.ask(1).len() == 1 && !learner.done());
    /// assert_eq!(learner.tree()?.n_leaves(), 100);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn learner(self, n: usize, seed: u64) -> Result<Box<dyn Learner>> {
        if n == 0 || n > i32::MAX as usize {
            return Err(Error::Argument(format!("n_leaves = {n} is outside 1..={}", i32::MAX)));
        }
        let order = || {
            let mut order: Vec<u32> = (0..n as u32).collect();
            // A stream of its own: trees drawn with the same seed are in another order.
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(1);
            order.shuffle(&mut random);
            order
        };
        Ok(match self {
            Self::Quick => Box::new(Asking::new(Quick::new(n, seed))),
            Self::Insertion { parallel: 0 } => {
                return Err(Error::Argument("parallel = 0 must be at least 1".to_string()));
            }
            Self::Insertion { parallel } => Box::new(Asking::new(Insertion::new(order(), parallel))),
            Self::Exact => Box::new(Asking::new(Exact::new(order()))),
            Self::Robust { p, delta, assume, noise, parallel, schedule } => {
                check(p, delta)?;
                if parallel == 0 {
                    return Err(Error::Argument("parallel = 0 must be at least 1".to_string()));
                }
                if p == 1.0 {
                    return Self::Insertion { parallel }.learner(n, seed);
                }
                let settings = Settings { p, delta, assume, noise, parallel, schedule };
                Box::new(Asking::new(Robust::new(order(), settings, seed)))
            }
            Self::Majority { p, delta } => {
                check(p, delta)?;
                let questions = (3..=n).map(|i| (2.0 * i as f64 - 3.0).log2().floor()).sum();
                Box::new(Asking::new(Majority::new(Exact::new(order()), questions, p, delta)))
            }
            Self::Rounds => Box::new(Asking::new(Buckets::new(order(), None))),
            Self::Balanced => Box::new(Asking::new(Buckets::new(order(), Some(8)))),
        })
    }
}
