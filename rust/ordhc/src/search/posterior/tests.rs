use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn entropy(parts: [f64; 4]) -> f64 {
    -parts.iter().map(|part| 0.05 + 0.8 * part).map(|q| q * q.ln()).sum::<f64>()
}

fn is_below(tree: &SizedTree, node: u32, top: u32) -> bool {
    tree.tree().up_from(node).any(|node| node == top)
}

fn children(tree: &SizedTree, node: u32) -> Vec<u32> {
    tree.tree().children(node).collect()
}

fn any_inner(tree: &SizedTree, random: &mut impl Rng) -> u32 {
    loop {
        let node = random.random_range(0..tree.tree().len() as u32);
        if tree.degree(node) > 0 {
            return node;
        }
    }
}

fn any_place(tree: &SizedTree, random: &mut impl Rng, wide: bool) -> Place {
    if tree.tree().len() > 1 && random.random_bool(if wide { 0.8 } else { 0.2 }) {
        let (a, b) = (any_inner(tree, random), any_inner(tree, random));
        return Place::Under(if wide && tree.degree(b) > tree.degree(a) { b } else { a });
    }
    Place::Above(random.random_range(0..tree.tree().len() as u32))
}

struct List(Vec<[f64; 2]>);

impl List {
    fn below(&self, tree: &SizedTree, top: u32) -> f64 {
        let nodes = (0..self.0.len() as u32).filter(|&node| is_below(tree, node, top));
        nodes.map(|node| self.0[node as usize].iter().sum::<f64>()).sum()
    }

    fn value(&self, tree: &SizedTree, node: u32) -> f64 {
        let mut parts: Vec<f64> = children(tree, node).iter().map(|&child| self.below(tree, child)).collect();
        parts.sort_by(|a, b| b.total_cmp(a));
        let outside = 1.0 - self.below(tree, node) + self.0[node as usize][0];
        entropy([parts[0], parts[1], outside, 1.0 - outside - parts[0] - parts[1]])
    }
}

#[test]
fn weights_are_those_of_a_list() {
    for seed in 0..60 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut tree, wide) = (SizedTree::new(0), seed % 3 == 0);
        for leaf in 1..3 + seed as u32 {
            tree.insert(any_place(&tree, &mut random, wide), leaf);
        }
        let under = [0.1, 1.0, 3.0][seed as usize % 3];
        let start = |node: u32| [1.0, if tree.degree(node) > 0 { under } else { 0.0 }];
        let mut list = List((0..tree.tree().len() as u32).map(start).collect());
        let mut posterior = Posterior::default();
        posterior.reset(&tree, under);
        for step in 0..80 {
            if step % 5 == 4 {
                let place = any_place(&tree, &mut random, wide);
                // Calling `weight` gives this position its own stored weight. Otherwise, `insert` could use a weight
                // that many positions share.
                posterior.weight(&tree, place);
                let new = tree.insert(place, 1000 + step);
                let weight = match place {
                    Place::Above(node) => list.0[node as usize][0],
                    Place::Under(node) => list.0[node as usize][1],
                };
                list.0.push([weight, 0.0]);
                if let Place::Above(_) = place {
                    list.0.push([weight, under * weight]);
                }
                let mut path = Vec::new();
                tree.path(new[0], &mut path);
                posterior.insert(&path, place, new);
            } else {
                let pivot = any_inner(&tree, &mut random);
                let mut pair = children(&tree, pivot);
                while pair.len() > 2 {
                    pair.swap_remove(random.random_range(0..pair.len()));
                }
                // Pass a node below the child. So `update` must find the child on the path from the pivot down to this
                // node.
                let first = children(&tree, pair[0]).first().copied().unwrap_or(pair[0]);
                let factors = if step % 7 == 0 { [1e-6, 0.7, 0.2, 1e-5] } else { [0.1, 0.7, 0.2, 0.5] };
                posterior.update(&tree, pivot, [first, pair[1]], factors);
                for (node, weights) in list.0.iter_mut().enumerate() {
                    let node = node as u32;
                    let which = if is_below(&tree, node, pair[0]) {
                        [0, 0]
                    } else if is_below(&tree, node, pair[1]) {
                        [1, 1]
                    } else if node == pivot {
                        [2, 3]
                    } else {
                        [3 - usize::from(!is_below(&tree, node, pivot)); 2]
                    };
                    weights.iter_mut().zip(which).for_each(|(weight, which)| *weight *= factors[which]);
                }
            }
            let total: f64 = list.0.iter().flatten().sum();
            list.0.iter_mut().flatten().for_each(|weight| *weight /= total);
            let inner = || (0..list.0.len() as u32).filter(|&node| tree.degree(node) > 0);
            let value = |node| list.value(&tree, node);
            let best = inner().map(value).fold(0.0, f64::max);
            let (pivot, pair, found) = posterior.pivot(&tree, entropy, |_, _| true).unwrap();
            assert!(
                (found - best).abs() < 1e-9 && (value(pivot) - best).abs() < 1e-9,
                "{seed} {step} {found} {best} {}",
                value(pivot)
            );
            assert!(pair.iter().all(|&child| tree.tree().parent(child) == pivot) && pair[0] != pair[1]);
            let odd = inner().filter(|node| node % 2 == 1).map(value).fold(0.0, f64::max);
            let found = posterior.pivot(&tree, entropy, |node, _| node % 2 == 1);
            assert!((found.map_or(0.0, |found| found.2) - odd).abs() < 1e-9);
            let largest = list.0.iter().flatten().fold(0.0, |a: f64, b| a.max(*b));
            let (place, weight) = posterior.heaviest(&tree);
            assert!((weight - largest).abs() < 1e-12);
            assert!((posterior.weight(&tree, place) - largest).abs() < 1e-12);
            let node = random.random_range(0..list.0.len());
            let expected = list.0[node];
            let found = [Place::Above(node as u32), Place::Under(node as u32)];
            let found = found.map(|place| posterior.weight(&tree, place));
            assert!((found[0] - expected[0]).abs() < 1e-12 && (found[1] - expected[1]).abs() < 1e-12);
        }
    }
}

#[test]
fn nothing_is_ruled_out() {
    let mut tree = SizedTree::new(0);
    let [root, leaf] = tree.insert(Place::Above(0), 1);
    let mut posterior = Posterior::default();
    posterior.reset(&tree, 1.0);
    for factors in [[1.0, 1e-3, 1e-3, 1e-3], [1e-3, 1.0, 1e-3, 1e-3], [1e-3, 1e-3, 1e-3, 1.0]] {
        (0..400).for_each(|_| posterior.update(&tree, root, [leaf, 0], factors));
    }
    assert!(posterior.weight(&tree, Place::Under(root)) > 0.99);
}
