//! Python bindings of `ordhc`: arrays in, arrays out. This file only registers functions and classes.

#![allow(missing_docs, reason = "the Python side is documented in `_ordhc.pyi`")]

mod arrays;
mod bootstrap;
mod callbacks;
mod comparison;
mod embedding;
mod entered;
mod error;
mod generate;
mod learn;
mod linkage;
mod metric;
mod posterior;
mod preference;
mod refine;
mod session_learner;
mod similarity;
mod sparse;
mod streams;
mod table;
mod tree;
mod vectors;

#[pyo3::pymodule(gil_used = false)]
mod _ordhc {
    #[pymodule_export]
    use crate::arrays::check_memory;
    #[pymodule_export]
    use crate::bootstrap::{Tallies, add_rest, bootstrap_adds, draw_times, support};
    #[pymodule_export]
    use crate::comparison::{answered, check_quadruplets, check_triplets, index_rows, questions};
    #[pymodule_export]
    use crate::embedding::{EmbeddingLoss, expected_adds3};
    #[pymodule_export]
    use crate::entered::mechanisms;
    #[pymodule_export]
    use crate::error::{InputError, OrdhcWarning, panic};
    #[pymodule_export]
    use crate::generate::{planted, planted_similarities};
    #[pymodule_export]
    use crate::learn::{Learner, TreeOracle, estimate_p, random_tree};
    #[pymodule_export]
    use crate::linkage::{Linkage, agglomerate, agglomerate_constrained, agglomerate_few};
    #[pymodule_export]
    use crate::metric::{
        aari, aari_of_trees, ari, best_revenue, cluster_counts, cophenetic, cophenetic_of_trees, dasgupta,
        dendrogram_purity, kendall_tau, kendall_tau_of_rows, merge_distortion, noise_ceiling, revenue, satisfied,
        triplet_counts, verdicts,
    };
    #[pymodule_export]
    use crate::posterior::{Samples, mixing, sample};
    #[pymodule_export]
    use crate::preference::{build, pairs_beaten, preference_linkage};
    #[pymodule_export]
    use crate::refine::{canonical_order, optimal_leaf_order, refine_satisfied, refine_similarity};
    #[pymodule_export]
    use crate::session_learner::SessionLearner;
    #[pymodule_export]
    use crate::similarity::{NearFarCounts, adds, mulk3, mulk4, square, weights_less_lengths};
    #[pymodule_export]
    use crate::sparse::{adds_csr, adds_linkage, agglomerate_sparse};
    #[pymodule_export]
    use crate::streams::{
        add_sorted, adds_into, canonical_keys, canonical_sums, limit_threads, merged_runs, n_threads, pair_run,
        sorted_additions,
    };
    #[pymodule_export]
    use crate::table::{code_table, end_of_first_row, parse_table, split_table, start_of_last_row};
    #[pymodule_export]
    use crate::tree::Tree;
    #[pymodule_export]
    use crate::vectors::{
        leaf_heights, mean_dot_linkage, neighbor_linkage, sparse_gram, vector_distances, vector_linkage,
    };

    /// The number of pairs of leaves in each bucket of the result of `sorted_additions`.
    #[pymodule_export]
    const PAIRS_PER_BUCKET: usize = ordhc::bindings::BUCKET;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::arrays::prepare(module.py())?;
        crate::error::register(module)
    }
}
