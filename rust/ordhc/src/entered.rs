//! Records which mechanisms (algorithms and code paths) of the crate this process has run.
//!
//! `benches/digests` checks that a change of the code does not change results. The check covers a mechanism only if the
//! mechanism has run, so the crate records this. Add each new mechanism to the list below, and call `entered!` where
//! the mechanism begins.
//!
//! Without the feature `counters`, `entered!` compiles to nothing. The Python bindings enable the feature. So the
//! digests (summaries of results) are computed with the code that users run.

/// Records that an algorithm or code path of the crate runs. Each use costs a load, and the first use also a store, so
/// don't use `entered!` in inner loops.
macro_rules! entered {
    ($mechanism:ident) => {
        #[cfg(feature = "counters")]
        $crate::entered::Mechanism::$mechanism.enter();
    };
}

#[cfg(feature = "counters")]
pub(crate) use recorded::Mechanism;
#[cfg(feature = "counters")]
pub use recorded::mechanisms;

#[cfg(feature = "counters")]
mod recorded {
    use std::sync::atomic::{AtomicBool, Ordering};

    macro_rules! mechanisms {
        ($($mechanism:ident)*) => {
            #[allow(non_camel_case_types)]
            #[derive(Clone, Copy)]
            pub(crate) enum Mechanism {
                $($mechanism),*
            }

            const NAMES: &[&str] = &[$(stringify!($mechanism)),*];
        };
    }

    mechanisms! {
        // agglomerate: a matrix.
        equal small square square_packed chain
        triangle_of_input triangle_round_of_input triangle_rounds triangle_packed triangle_chain triangle_to_square
        columns ties groups first_pairs in_place in_place_kept initial_clusters
        naive nearest_pair row_update doubts precise_matrix centers centers_keys
        all_largest passes grown_in_square grown_in_place tied_clusters tied_in_space
        // agglomerate: sparse similarities.
        sparse_single sparse_rounds sparse_lists sparse_hub sparse_rows sparse_table sparse_zeros sparse_some_zeros
        sparse_in_full
        // similarity
        adds_direct adds_private_copies adds_bucketed adds_sorted adds_sparse adds_runs adds_runs_merged
        mulk_contexts mulk_dense mulk_dense_signs leaf_lengths less_leaf_lengths
        // preference
        preference_pairs preference_sparse preference_sparse_to_dense preference_dense preference_narrow
        preference_widened
        // vectors
        vectors_prim vectors_boruvka vectors_ties_in_tree vectors_rounds vectors_search vectors_packed vectors_chain
        vectors_dot_tree vectors_centroid_tree vectors_centroid_tiles vectors_distances vectors_sparse_gram
        vectors_leaf_heights
        vectors_graph_descent vectors_graph_rounds vectors_graph_last
        // posterior
        posterior_satisfying posterior_chains posterior_root posterior_lengths posterior_people posterior_choices
    }

    static ENTERED: [AtomicBool; NAMES.len()] = [const { AtomicBool::new(false) }; NAMES.len()];

    impl Mechanism {
        #[inline(always)]
        pub(crate) fn enter(self) {
            let entered = &ENTERED[self as usize];
            if !entered.load(Ordering::Relaxed) {
                entered.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Returns the name of each code path that `entered!` marks, and true if this process has run it.
    pub fn mechanisms() -> Vec<(&'static str, bool)> {
        NAMES.iter().zip(&ENTERED).map(|(&name, entered)| (name, entered.load(Ordering::Relaxed))).collect()
    }
}
