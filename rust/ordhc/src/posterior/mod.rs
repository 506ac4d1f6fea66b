//! The posterior over trees given noisy comparisons, sampled by Markov chains.
//!
//! ```
//! use ordhc::posterior::{Sampling, sample};
//! use ordhc::{Triplets, adds_average_linkage};
//!
//! let triplets = Triplets::new([[0, 1, 2], [1, 0, 2], [0, 1, 3], [1, 0, 3]].repeat(5), None)?;
//! let start = adds_average_linkage(&triplets)?;
//! let sampling = Sampling { chains: 2, sweeps: 200, burn_in: 100, kept: 50, ..Sampling::default() };
//! let samples = sample(&triplets, &start, &sampling, None)?;
//! // The probability of the answer that 0 is closer to 1 than to 2.
//! assert!(samples.predict(&Triplets::new(vec![[0, 1, 2]], Some(4))?)?[0] > 0.6);
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! The model is a rooted tree of any degree, whose inner nodes have heights that grow from the root down. Let h(p) be
//! the height of the lowest common ancestor of a pair p of leaves. The answer "p is closer than q" is given with
//! probability e + (1 - 2 e) / (1 + exp(h(q) - h(p))). So answers are more reliable if the two heights are very
//! different, and a share 2 e of the answers is random. Answers that choose among more than two pairs (odd ones out,
//! most central leaves, rankings) follow Luce's choice rule (1959): a pair p is chosen in proportion to exp(h(p)). The
//! number of inner nodes and the balance of the tree are estimated (see `prior`). The height differences between nodes
//! and their parents have a gamma distribution. Its mean and shape and the noise e are estimated, too.
//!
//! A Markov chain moves one subtree after the other: each leaf, and the subtrees of some inner nodes. A subtree is cut
//! off, and inserted again as a child of any inner node, or on the edge above any node. This choice is drawn from its
//! posterior (Gibbs sampling over all choices at once). The time is proportional to the number of answers about the
//! subtree, times the depth of the tree. Between these moves, Metropolis steps change heights, their mean increment and
//! the noise.
//!
//! [`sample`] runs Markov chains and returns [`Samples`]: trees drawn from the posterior. The mean height of a pair of
//! leaves over these trees is a similarity in which noise is averaged out. The trees also predict probabilities of
//! answers. The support of a cluster is the share of the sampled trees that have the cluster.

pub(crate) mod answers;
mod chain;
mod choice_heights;
mod choice_places;
mod choices;
pub(crate) mod diagnostics;
mod height_tree;
mod increments;
mod information;
mod lengths;
mod link;
mod lists;
mod luce;
mod node_sums;
mod pairs;
mod places;
mod prior;
mod random;
mod reliability;
mod rooting;
mod runs;
mod sampled;
pub(crate) mod samples;
mod satisfying;
mod summary;
mod terms;

pub(crate) use answers::Belonging;
pub(crate) use information::expected_information;
pub(crate) use samples::sample_from;
pub use samples::{Samples, Sampling, State, sample};
pub(crate) use satisfying::satisfying;

/// Returns the dot product. Eight partial sums are added in a fixed order, so that the result is the same on every
/// machine.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a_parts, b_parts) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a_parts.remainder().iter().zip(b_parts.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_parts.zip(b_parts) {
        (0..8).for_each(|at| sums[at] += x[at] * y[at]);
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests;
