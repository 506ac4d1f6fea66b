//! Trees to test scores with.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::tree::{Dendrogram, Topology};

/// Merges by picks among the clusters that are left; heights from few values, inversions included.
fn from_picks(picks: &[(usize, usize, i32)]) -> Dendrogram {
    let n = picks.len() + 1;
    let mut there: Vec<u32> = (0..n as u32).collect();
    let mut merges = Vec::with_capacity(picks.len());
    for (k, &(a, b, _)) in picks.iter().enumerate() {
        let a = there.swap_remove(a.min(there.len() - 1));
        let b = there.swap_remove(b % there.len());
        merges.push([a, b]);
        there.push((n + k) as u32);
    }
    Dendrogram::new(merges, picks.iter().map(|pick| f64::from(pick.2)).collect(), true).unwrap()
}

/// Dendrograms over `n` leaves: the last cluster merges on (`usize::MAX`) or any two do.
fn dendrogram(n: usize) -> impl Strategy<Value = Dendrogram> {
    let first = prop_oneof![Just(usize::MAX), 0..n];
    let shape = prop_oneof![Just(false), Just(true)];
    let picks = prop::collection::vec((first, 0usize..1000, 0..3i32), n - 1);
    (shape, picks).prop_map(|(caterpillar, mut picks)| {
        picks.iter_mut().filter(|_| caterpillar).for_each(|pick| pick.0 = usize::MAX);
        from_picks(&picks)
    })
}

/// Two dendrograms over the same 1 to 12 leaves.
pub(super) fn two_dendrograms() -> impl Strategy<Value = (Dendrogram, Dendrogram)> {
    (1usize..13).prop_flat_map(|n| (dendrogram(n), dendrogram(n)))
}

/// Two trees over the same 1 to 12 leaves, binary or not.
pub(super) fn two_trees() -> impl Strategy<Value = (Topology, Topology)> {
    let joins = (any::<bool>(), any::<bool>());
    (two_dendrograms(), joins).prop_map(|((a, b), joins)| (Topology::of(&a, joins.0), Topology::of(&b, joins.1)))
}

/// What a large tree looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Caterpillar,
    Balanced,
    /// Any two clusters merge.
    Random,
    /// A caterpillar of stars.
    Stars,
}

pub(super) const SHAPES: [Shape; 4] = [Shape::Caterpillar, Shape::Balanced, Shape::Random, Shape::Stars];

/// A dendrogram over `n` shuffled leaves; heights tie now and then.
pub(super) fn large(shape: Shape, n: usize, seed: u64) -> Dendrogram {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut there: std::collections::VecDeque<u32> = (0..n as u32).collect();
    for at in (1..n).rev() {
        there.swap(at, rng.random_range(0..=at));
    }
    let mut merges = Vec::with_capacity(n - 1);
    let mut heights = Vec::with_capacity(n - 1);
    for k in 0..n - 1 {
        let len = there.len();
        match shape {
            Shape::Balanced => {}
            Shape::Random => {
                there.swap(0, rng.random_range(0..len));
                there.swap(1, rng.random_range(1..len));
            }
            Shape::Caterpillar | Shape::Stars => there.rotate_right(usize::from(k > 0)),
        }
        let pair = [there.pop_front().unwrap(), there.pop_front().unwrap()];
        merges.push(pair);
        there.push_back((n + k) as u32);
        heights.push(match shape {
            Shape::Stars => (k / 300) as f64,
            _ => f64::from(rng.random_range(0..8)),
        });
    }
    Dendrogram::new(merges, heights, true).unwrap()
}
