//! Learners: which questions to ask, and the tree that the answers make.
//!
//! ```
//! use ordhc::generate::{TreeOracle, TreeShape, random_tree};
//! use ordhc::learn::{Limits, Method, learn_with};
//!
//! let truth = random_tree(TreeShape::Uniform, 50, 1)?;
//! let mut oracle = TreeOracle::new(truth.topology());
//! let mut learner = Method::Insertion { parallel: 1 }.learner(50, 0)?;
//! learn_with(&mut *learner, |questions| oracle.answers(questions), Limits::default(), None)?;
//! assert_eq!(ordhc::metric::robinson_foulds(truth.topology(), learner.tree()?.topology())?.distance(), 0);
//! assert!(learner.n_answered() < 300);
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! A learner is a state machine: `ask` gives questions that may be answered now, `tell` takes answers, `tree` is the best
//! tree so far. It does no input or output and calls nobody, so a person, a simulation, many workers and a
//! restart after a crash all run the same code. The `Ledger` has what learners share: numbers of questions, open questions,
//! rounds, answers in the order of their numbers. A `Strategy` has what differs: the next question, and what follows
//! from an answer. [`repeated`] asks every question of any learner several times.
//!
//! * Insertion searches the pivot tree of the growing tree (see `search`), one leaf after the other, or several at once.
//! * The schedules `rounds` and `balanced` (`buckets`) search the same tree with many leaves at a time: a sample first,
//!   then the others, in buckets by the place where they arrived.
//! * `robust` and `noisy_search` expect wrong answers: a likely place is attempted, that is, fresh questions must confirm
//!   it. What attempts may go wrong with adds up to delta.
//! * `revise` begins with a tree. Each subtree has a posterior over its places while all others stay; questions
//!   go where the expected loss in triplets falls most, and subtrees that answers want elsewhere move.
//! * `uncertain` takes any question and any answer. It draws trees from the posterior only when somebody looks at its
//!   questions, so a desk replays events without drawing any.
//! * `quadruplets` has learners that compare two pairs. Single linkage (Prim's algorithm) and complete linkage (a chain)
//!   find the nearest by tournaments whose matches are kept as long as they still hold.

mod asking;
mod buckets;
pub(crate) mod desk;
mod exact;
mod inserting;
mod insertion;
pub(crate) mod learner;
mod ledger;
mod majority;
mod method;
mod noise;
mod noisy_search;
mod quadruplets;
mod quick;
pub(crate) mod repeated;
mod revise;
mod robust;
mod robust_paper;
mod run;
pub(crate) mod uncertain;
mod vertex_query;
mod weights;
mod work;

pub use learner::{Counts, Learner, LikelyPlace, Question, Told};
pub use method::Method;
pub use noise::{Assume, Noise, Schedule, estimate_p};
pub use quadruplets::{Landmarks, QuadrupletMethod, References};
pub use run::{Limits, learn_with};
