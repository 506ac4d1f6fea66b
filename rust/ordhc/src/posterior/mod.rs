//! Which trees are how likely: trees drawn from a posterior, by a Markov chain.
//!
//! ```
//! use ordhc::posterior::{Sampling, sample};
//! use ordhc::{Triplets, adds_average_linkage};
//!
//! let triplets = Triplets::new([[0, 1, 2], [1, 0, 2], [0, 1, 3], [1, 0, 3]].repeat(5), None)?;
//! let start = adds_average_linkage(&triplets)?;
//! let sampling = Sampling { chains: 2, sweeps: 200, burn_in: 100, kept: 50, ..Sampling::default() };
//! let samples = sample(&triplets, &start, &sampling, None)?;
//! // How likely somebody says that 0 is closer to 1 than to 2.
//! assert!(samples.predict(&Triplets::new(vec![[0, 1, 2]], Some(4))?)?[0] > 0.6);
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! The model: a rooted tree of any degree, the inner nodes of which have heights that grow from the root down. An answer
//! "the pair p is closer than the pair q" is given with probability e + (1 - 2 e) / (1 + exp(h(q) - h(p))), where h is
//! the height of a pair's lowest common ancestor: leaves that part far apart are told apart more surely, and a share of
//! the answers is given by a coin. Answers among more than two pairs, such as odd ones out, most central ones and
//! rankings, are choices by exp(h) (Luce 1959). How many inner nodes there are and how balanced the tree is are learnt
//! (see `prior`). Heights rise by gamma distributed steps, whose mean and shape are learnt, as the noise e is.
//!
//! A chain moves one subtree after the other (each leaf, and inner nodes): it is cut off and put back by its
//! posterior probability at any place, as a child of any node or beside any node (Gibbs sampling over all places
//! at once, in time in proportion to its answers times the depth). Between these moves heights, their mean increment
//! and the noise change by Metropolis steps.
//!
//! [`sample`] runs chains and keeps [`Samples`]: their mean height is a similarity in which noise is averaged out, their
//! predictions are probabilities of answers, and the share of them that has a cluster is its support.

pub(crate) mod answers;
mod bouts;
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
mod luce;
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
pub(crate) use samples::sample_from;
pub use samples::{Samples, Sampling, State, sample};
pub(crate) use satisfying::satisfying;

/// The dot product: eight sums side by side, in an order that depends on nothing.
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
