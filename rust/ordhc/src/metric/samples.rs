//! Random trees for tests of scores.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::kind::Kind;
use crate::tree::{Dendrogram, LcaSizes, Topology};

#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) caterpillar: bool,
    pub(super) monotone: bool,
    pub(super) dissimilarity: bool,
    pub(super) heights: u32,
}

pub(super) fn random_tree(n: usize, draw: Draw, seed: u64) -> Dendrogram {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut heights: Vec<f64> = (1..n).map(|_| f64::from(rng.random_range(0..draw.heights)) / 8.0 - 1.0).collect();
    if draw.monotone {
        heights.sort_by(f64::total_cmp);
        if !draw.dissimilarity {
            heights.reverse();
        }
    }
    let mut open: Vec<u32> = (0..n as u32).collect();
    let mut merges = Vec::new();
    for merge in 0..n - 1 {
        let a = open.swap_remove(rng.random_range(0..open.len()));
        let at = if draw.caterpillar && merge > 0 && a < n as u32 {
            open.iter().position(|&cluster| cluster >= n as u32).unwrap()
        } else {
            rng.random_range(0..open.len())
        };
        let b = open.swap_remove(at);
        merges.push([a, b]);
        open.push((n + merge) as u32);
    }
    Dendrogram::new(merges, heights, Kind::of(draw.dissimilarity)).unwrap()
}

pub(super) fn draws() -> impl Strategy<Value = Draw> {
    (any::<bool>(), any::<bool>(), any::<bool>(), prop::sample::select(vec![1, 2, 5, 1000])).prop_map(
        |(caterpillar, monotone, dissimilarity, heights)| Draw { caterpillar, monotone, dissimilarity, heights },
    )
}

pub(super) fn two_dendrograms(largest: usize) -> impl Strategy<Value = (Dendrogram, Dendrogram)> {
    (1..=largest, draws(), draws(), any::<u64>())
        .prop_map(|(n, a, b, seed)| (random_tree(n, a, seed), random_tree(n, b, seed ^ 1)))
}

pub(super) fn naive_heights(tree: &Dendrogram, i: usize) -> Vec<f64> {
    let lca = LcaSizes::new(tree.topology());
    let height = |j| if i == j { f64::NAN } else { tree.heights()[lca.node(i, j)] };
    (0..tree.n_leaves()).map(height).collect()
}

pub(super) fn two_trees() -> impl Strategy<Value = (Topology, Topology)> {
    let joins = (any::<bool>(), any::<bool>());
    (two_dendrograms(12), joins).prop_map(|((a, b), joins)| {
        (
            (if joins.0 { a.join_ties() } else { a }).into_topology(),
            (if joins.1 { b.join_ties() } else { b }).into_topology(),
        )
    })
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Caterpillar,
    Balanced,
    Random,
    Stars,
}

pub(super) const SHAPES: [Shape; 4] = [Shape::Caterpillar, Shape::Balanced, Shape::Random, Shape::Stars];

pub(super) fn large(shape: Shape, n: usize, seed: u64) -> Dendrogram {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
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
    Dendrogram::new(merges, heights, Kind::Dissimilarity).unwrap()
}
