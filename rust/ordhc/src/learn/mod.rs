//! Learners: strategies that choose the questions and build a tree from the answers.
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
//! A learner is a state machine. `ask` returns questions that may be answered now, `tell` takes answers, and `tree`
//! returns the best tree so far. A learner does no input or output, and never calls the code that answers. So the same
//! learner serves a person, a simulation, many workers and a restart after a crash.
//!
//! The `Ledger` has the data that all learners share: question ids, open questions, rounds, and answers in the order of
//! question ids. A `Strategy` chooses the next question of one kind of learner, and uses the answers. [`repeated`] asks
//! each question of any learner several times.
//!
//! * `insertion` searches the place of a leaf in the tree with the pivot tree (a decision tree, see `search`). One leaf
//!   is inserted at a time, or several in parallel.
//! * The schedules `rounds` and `balanced` (`buckets`) search the pivot tree for many leaves at a time. They insert a
//!   sample of the leaves first. Then they search the places of all other leaves in parallel, and put leaves whose
//!   searches end at the same place into one bucket.
//! * `robust` and `noisy_search` expect wrong answers. When a place of a leaf in the tree is likely, an attempt
//!   verifies this place with new questions. The failure probabilities of all attempts add up to at most `delta`.
//! * `revise` starts from a given tree. Each subtree has a posterior distribution over its places in the tree, given
//!   that all other subtrees stay in place. The questions are those that reduce the expected number of wrong triplets
//!   most. A subtree is moved if the answers favour another place.
//! * `uncertain` accepts any question and any answer. The learner samples trees from the posterior only when its
//!   questions are requested. So a session learner replays recorded events without sampling trees. With many leaves or
//!   answers, the learner keeps one tree instead, and each answer moves only the leaves of its question.
//! * `quadruplets` has learners that compare two pairs. Single linkage (Prim's algorithm) and complete linkage (a
//!   nearest-neighbour chain) find nearest neighbours by tournaments. The answer to each comparison in a tournament is
//!   kept as long as it is valid.

mod asking;
mod buckets;
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
pub(crate) mod session_learner;
mod slots;
pub(crate) mod uncertain;
mod vertex_query;
mod weights;
mod work;

pub use learner::{Counts, Learner, LikelyPlace, Question, Told};
pub use method::Method;
pub use noise::{Assume, Noise, Schedule, estimate_p};
pub use quadruplets::{Landmarks, QuadrupletMethod, References};
pub use run::{Limits, learn_with};
