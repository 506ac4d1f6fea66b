//! Learners: which questions to ask, and the tree that the answers make.

mod asking;
mod buckets;
mod desk;
mod exact;
mod inserting;
mod insertion;
mod learner;
mod ledger;
mod majority;
mod method;
mod noise;
mod noisy_search;
mod quadruplets;
mod quick;
mod repeated;
mod revise;
mod robust;
mod robust_paper;
mod run;
mod uncertain;
mod vertex_query;
mod weights;
mod work;

pub use desk::{Desk, Event};
pub use learner::{Counts, Flexible, Learner, Question, Told};
pub use method::Method;
pub use noise::{Assume, Noise, Reliability, Schedule, estimate_p};
pub use quadruplets::{Landmarks, QuadrupletMethod, References};
pub use repeated::repeated;
pub use run::{Limits, learn_with};
pub use uncertain::{uncertain_among, uncertain_of_pairs};
