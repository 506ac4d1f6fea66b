//! Learners: which questions to ask, and the tree that the answers make.

mod asking;
mod buckets;
mod exact;
mod insertion;
mod learner;
mod ledger;
mod method;
mod quadruplets;
mod quick;
mod run;
mod work;

pub use learner::{Learner, Question};
pub use method::Method;
pub use quadruplets::{Landmarks, QuadrupletMethod, References};
pub use run::{Limits, learn_with};
