//! Agglomeration of sparse similarities: few similarities are known, or few are not zero. The input is a sparse graph:
//! its nodes are leaves, and its edges are the stored pairs of leaves. After merges, the nodes are clusters.
//!
//! * `pairs`: the checked input;
//! * `links`: the edges of the graph. An edge has the stored similarity of two clusters, which merges change;
//! * `rounds`: merges all reciprocal nearest pairs at once, and writes a new, smaller graph;
//! * `chain`: continues with a nearest-neighbour chain when rounds would merge few pairs. The edges are stored in
//!   `rows`, which apply merges when they are next read; or in lists, between which edges are moved one by one; or in a
//!   `table`, if many pairs of clusters have an edge. `hub` is an index for clusters with many edges;
//! * `zeros`: merges clusters whose similarity is zero. Pairs of leaves that aren't stored count as zero;
//! * `job`: runs these steps in order. Single linkage is Kruskal's algorithm, in `tied_clusters` of the room above.

mod chain;
mod graph;
mod job;
mod links;
mod pairs;
mod rounds;
mod rows;
mod table;
mod zeros;

pub use job::Missing;
pub(crate) use job::agglomerate_sparse;
pub(crate) use pairs::Pair;
pub use pairs::SparsePairs;
