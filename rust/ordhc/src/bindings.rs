//! Functions and types that only the Python bindings use.
//!
//! They are not part of the public API: they can change in any version.

mod fixed_types;

pub use fixed_types::{
    AnyComparisons, Csr, Ids, aari, add_sorted_f64, add_sorted_i32, add_sorted_i64, ari, gram_f32, gram_f32_of_f64,
    gram_f64, gram_f64_of_f32, pairs_of_csr_i32, pairs_of_csr_i64, planted_quadruplets, planted_triplets, purity,
    square_f32, square_f32_of_i32, square_f64, square_f64_of_i32, square_i32, square_i64, square_i64_of_i32,
};

pub use crate::agglomerate::naive::naive;
pub use crate::bootstrap::adds::{Resample, adds};
pub use crate::bootstrap::draw::Draws;
pub use crate::bootstrap::tally::Tallies;
#[cfg(feature = "csv")]
pub use crate::comparison::delimited::{Cell, Delimiter, Rows, first_row, last_row, sniff};
#[cfg(feature = "csv")]
pub use crate::comparison::table::{Columns, Labels, Table, TableOptions, parse_table};
pub use crate::embedding::expected::expected_adds3;
pub use crate::generate::planted::planted_similarities;
pub use crate::learn::learner::Flexible;
pub use crate::learn::repeated::{repeated, repeated_of_four};
pub use crate::learn::session_learner::{Event, SessionLearner};
pub use crate::learn::uncertain::{uncertain_among, uncertain_among_pairs, uncertain_of_pairs};
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
pub use crate::similarity::near_far::{NearFarCounts, weights_less_lengths};
pub use crate::similarity::runs::{Run, RunOptions, merge_runs, sorted_run};
pub use crate::tree::lca::LcaSizes;
pub use crate::vectors::distances::distances;
pub use crate::vectors::leaf_heights::leaf_heights;
