//! Functions and types that only the Python bindings use.
//!
//! They are not part of the public API: they can change in any version.

pub use crate::agglomerate::naive::naive;
pub use crate::bootstrap::adds::{Resample, adds};
pub use crate::bootstrap::draw::Draws;
pub use crate::bootstrap::tally::{Tallies, add_held_out};
#[cfg(feature = "csv")]
pub use crate::comparison::delimited::{Cell, Delimiter, Rows, first_row, last_row, sniff};
pub use crate::comparison::index::{index_parts, questions};
#[cfg(feature = "csv")]
pub use crate::comparison::table::{Columns, Labels, Table, TableOptions, parse_table};
pub use crate::embedding::expected::expected_adds3;
pub use crate::generate::planted::planted_similarities;
pub use crate::learn::learner::Flexible;
pub use crate::learn::repeated::repeated;
pub use crate::learn::session_learner::{Event, SessionLearner};
pub use crate::learn::uncertain::{uncertain_among, uncertain_of_pairs};
pub use crate::metric::ari::{LevelScores, aari_of_trees};
pub use crate::metric::ceiling::{NoiseCeiling, noise_ceiling};
pub use crate::metric::cophenetic::cophenetic_correlation_of_trees;
pub use crate::metric::dasgupta::{DasguptaScore, dasgupta_checked};
pub use crate::metric::kendall::kendall_tau_of_rows;
pub use crate::metric::robinson_foulds::ClusterCounts;
pub use crate::metric::satisfied::verdicts;
pub use crate::metric::triplet_distance::TripletCounts;
pub use crate::parallel::n_threads;
pub use crate::posterior::answers::Belonging;
pub use crate::posterior::diagnostics::{Mixing, mixing};
pub use crate::posterior::samples::sample_answers;
pub use crate::preference::complete::pairs_beaten;
pub use crate::refine::canonical::{add_to_sums, canonical_order, next_keys};
pub use crate::similarity::adds::{Additions, AdditionsView, BUCKET, add_sorted, sorted_additions};
pub use crate::similarity::condensed::square_from_condensed;
pub use crate::similarity::near_far::{NearFarCounts, weights_less_lengths};
pub use crate::similarity::runs::{Run, RunOptions, merge_runs, sorted_run};
pub use crate::tree::lca::LcaSizes;
pub use crate::vectors::distances::distances;
pub use crate::vectors::leaf_heights::leaf_heights;
