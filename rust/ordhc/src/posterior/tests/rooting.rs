//! Compares moves of the root with trees that are built one by one.

use proptest::prelude::*;

use super::super::answers::{Answers, Belonging};
use super::super::height_tree::{HeightTree, Place};
use super::super::lengths::Lengths;
use super::super::prior::Shapes;
use super::super::random::Random;
use super::super::reliability::Noises;
use super::super::rooting::{Rooting, move_root};
use super::{answers_of, assert_valid, chain_with, clusters, height};
use crate::monitor::Monitor;

/// Returns the length of the path between each two leaves, minus the length of the path between the first two leaves.
fn paths(tree: &HeightTree, lengths: &Lengths) -> Vec<f64> {
    let n = tree.n_leaves() as u32;
    let path = |a: u32, b: u32| lengths.of(a) + lengths.of(b) - height(tree, [a, b]);
    (0..n).flat_map(|a| (a + 1..n).map(move |b| path(a, b) - path(0, 1))).collect()
}

/// Returns the height of an inner child of `root`, and the length of the edge between the two children of `root`. The
/// length is infinite if one child is a leaf. `root` must have height 0.
fn edge_of(tree: &HeightTree, root: u32) -> (f64, f64) {
    let children: Vec<u32> = tree.children(root).collect();
    let rises: Vec<f64> =
        children.iter().filter(|&&child| !tree.is_leaf(child)).map(|&child| tree.height(child)).collect();
    let length = if rises.len() == 2 { rises[0] + rises[1] } else { f64::INFINITY };
    (rises[0], length)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 50, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn weights_of_roots_are_true(n in 3..10usize, m in 0..60usize, seed: u64) {
        let comparisons = answers_of::<3>(n, m, seed);
        let (answers, shapes) = (Answers::new(&comparisons, &Belonging::default()).unwrap(), Shapes::new(n).unwrap());
        let mut chain = chain_with(Lengths::new(n), &answers, &shapes, Noises::new(None).unwrap(), n, Random::new(seed, 1));
        for _ in 0..1 + seed % 4 {
            chain.sweep(&Monitor::new()).unwrap();
        }
        let (mut order, mut sizes) = (Vec::new(), vec![0; 2 * n - 1]);
        chain.tree.nodes_under(chain.tree.root(), &mut order);
        for &node in &order {
            let mut under = Vec::new();
            chain.tree.nodes_under(node, &mut under);
            sizes[node as usize] = under.iter().filter(|&&node| chain.tree.is_leaf(node)).count() as u32;
        }
        let cost = |size: u32| 0.7 * f64::from(size - 1).ln() - 0.4;
        let mut random = Random::new(seed, 2);
        let rooting = Rooting {
            tree: &chain.tree,
            order: &order,
            sizes: &sizes,
            lengths: &chain.lengths,
            increments: &chain.increments,
        };
        let (mut places, mut weights) = rooting.places(cost, &mut random);
        if let Some((place, gain)) = rooting.another_point(&mut random) {
            places.push(place);
            weights.push(weights[0] + gain);
        }
        let before = paths(&chain.tree, &chain.lengths);
        let mut worth = Vec::new();
        let mut trees = Vec::new();
        for (&place, weight) in places.iter().zip(weights) {
            let (mut tree, mut lengths) = (chain.tree.clone(), chain.lengths.clone());
            move_root(&mut tree, &order, &mut lengths, place);
            assert_valid(&tree);
            prop_assert!(paths(&tree, &lengths).iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-9));
            let mean = |lengths: &Lengths| lengths.values().iter().sum::<f64>();
            prop_assert!((mean(&lengths) - mean(&chain.lengths)).abs() < 1e-9);
            let sets = clusters(&tree);
            let mut prior: f64 = -sets.iter().map(|set| cost(set.count_ones())).sum::<f64>();
            prior += tree.increments().map(|rise| chain.increments.log(rise)).sum::<f64>();
            prior += lengths.values().iter().map(|&length| lengths.log_density(length)).sum::<f64>();
            if tree.degree(tree.root()) == 2 {
                prop_assert!(matches!(place, Place::Beside(..)));
                let (point, length) = edge_of(&tree, tree.root());
                prior += if length.is_finite() { length.ln() } else { -chain.increments.log(point) };
            }
            worth.push(prior - weight);
            trees.push(sets);
        }
        prop_assert!(worth.iter().all(|here| (here - worth[0]).abs() < 1e-6 * (1.0 + worth[0].abs())), "{worth:?}");
        // Each place of the root gives another topology, except the other point on the edge of the current root.
        let other = usize::from(chain.tree.degree(chain.tree.root()) == 2);
        trees.truncate(places.len() - other);
        trees.sort();
        trees.dedup();
        prop_assert_eq!(trees.len(), places.len() - other);
    }
}
