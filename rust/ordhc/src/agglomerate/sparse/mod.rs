//! Agglomeration of similarities of which few are known, or few are not zero.
//!
//! * `pairs`: the input, checked;
//! * `links`: what is known of two clusters, and how merging changes it;
//! * `rounds`: all reciprocal nearest pairs at once, from one graph to the next, smaller one;
//! * `chain`: where rounds would merge few: on `rows`, which learn of merges when they are looked at, on links that
//!   are moved one by one, hubs included, or on a `table`, where most clusters are linked;
//! * `zeros`: merges of pairs that aren't stored and are zero;
//! * `single`: single linkage, by Kruskal's algorithm;
//! * `job`: the order of these.

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
