//! Agglomeration of sparse similarities: few similarities are known, or few are not zero.
//!
//! * `pairs`: the checked input;
//! * `links`: the known similarity of two clusters, and how merges change this similarity;
//! * `rounds`: merges all reciprocal nearest pairs at once, from one graph to the next, smaller graph;
//! * `chain`: continues when rounds would merge few pairs. The links are stored in `rows`, which apply merges when they
//!   are next read; or in lists, between which links are moved one by one; or in a `table`, if most clusters are
//!   linked. `hub` is an index for clusters with many links;
//! * `zeros`: merges pairs that aren't stored and are zero;
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
