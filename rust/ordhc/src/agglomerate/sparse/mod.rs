//! Agglomeration of similarities of which few are known, or few are not zero.
//!
//! * `pairs`: the checked input;
//! * `links`: the known similarity of two clusters, and its change by a merge;
//! * `rounds`: merges all reciprocal nearest pairs at once, from one graph to the next, smaller one;
//! * `chain`: continues when rounds would merge few pairs. The chain uses `rows`, which are updated when they are next
//!   read; or links that are moved one by one, including those of hubs; or a `table`, if most clusters are linked;
//! * `zeros`: merges of pairs that aren't stored and are zero;
//! * `single`: single linkage, by Kruskal's algorithm;
//! * `job`: runs these steps in order.

mod chain;
mod graph;
mod job;
mod links;
mod pairs;
mod rounds;
mod rows;
mod single;
mod table;
mod zeros;

pub use job::Missing;
pub(crate) use job::agglomerate_sparse;
pub(crate) use pairs::Pair;
pub use pairs::SparsePairs;
