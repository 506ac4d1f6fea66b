//! Posteriors of four leaves, added up over all trees.

use std::collections::BTreeMap;

use super::super::answers::Answers;
use super::super::chain::Chain;
use super::super::height_tree::HeightTree;
use super::super::link::probability;
use super::super::prior::NodeCosts;
use super::super::random::Random;
use super::super::{Asked, Sampling, sample};
use super::{Clusters, clusters, kept_clusters, start};
use crate::comparison::{Comparisons, Quadruplets, Triplets};
use crate::monitor::Monitor;

/// All trees of any degree: each leaf goes under or beside every node of every tree of those before it.
fn all_of_any_degree(n: usize) -> Vec<Clusters> {
    let mut trees = vec![vec![0b11]];
    for leaf in 2..n {
        let bit = 1u32 << leaf;
        let with = |tree: &Clusters, at: u32, beside: bool| {
            let holds = |cluster: u32| cluster & at == at && !(beside && cluster == at);
            let mut next: Clusters = tree.iter().map(|&set| if holds(set) { set | bit } else { set }).collect();
            next.extend(beside.then_some(at | bit));
            next.sort_unstable();
            next
        };
        let mut next = Vec::new();
        for tree in &trees {
            next.extend(tree.iter().map(|&cluster| with(tree, cluster, false)));
            next.extend(tree.iter().map(|&cluster| with(tree, cluster, true)));
            next.extend((0..leaf).map(|other| with(tree, 1 << other, true)));
        }
        trees = next;
    }
    trees
}

/// The probability of each tree of four leaves, and the mean noise: heights and noise are integrated on a grid, the mean
/// increment exactly.
fn exact<const K: usize>(comparisons: &Comparisons<'_, K>) -> (BTreeMap<Clusters, f64>, f64) {
    const STEPS: usize = 60;
    let trees = all_of_any_degree(4);
    let counts = [1, 2, 3].map(|k| trees.iter().filter(|tree| tree.len() == k).count() as f64);
    assert_eq!(counts, [1.0, 10.0, 15.0]);
    let grid = |steps: usize| (0..steps).map(move |at| (at as f64 + 0.5) / steps as f64);
    // An increment from 0 to infinity, and by how much the grid is stretched there.
    let increments: Vec<(f64, f64)> = grid(STEPS).map(|u| (u / (1.0 - u), (1.0 - u).powi(-2))).collect();
    // Beta(1, 10), up to 0.45.
    let most = 1.0 - 0.55f64.powi(10);
    let noises: Vec<f64> = grid(16).map(|u| 1.0 - (1.0f64 - most * u).powf(0.1)).collect();
    let mut found = BTreeMap::new();
    let (mut noise_sum, mut sum) = (0.0, 0.0);
    for tree in &trees {
        let above = |set: u32| {
            tree.iter().copied().filter(|&other| other != set && other & set == set).min_by_key(|set| set.count_ones())
        };
        let inner: Clusters = tree.iter().copied().filter(|&set| set != 0b1111).collect();
        let join = |pair: [usize; 2]| {
            let pair = pair.iter().fold(0, |set, leaf| set | 1 << leaf);
            tree.iter().copied().filter(|set| set & pair == pair).min_by_key(|set| set.count_ones()).unwrap()
        };
        let pairs: Vec<([u32; 2], f64)> = (0..comparisons.len())
            .map(|at| {
                let (near, far) = Comparisons::<K>::pairs(&comparisons.rows().row(at));
                ([join(near), join(far)], comparisons.weights().map_or(1.0, |weights| weights[at]))
            })
            .collect();
        let mut weight = 0.0;
        for cell in 0..STEPS.pow(inner.len() as u32) {
            let at = |which: usize| increments[cell / STEPS.pow(which as u32) % STEPS];
            let height = |set: u32| {
                let mut height = 0.0;
                let mut next = Some(set);
                while let Some(set) = next {
                    height += inner.iter().position(|&other| other == set).map_or(0.0, |which| at(which).0);
                    next = above(set);
                }
                height
            };
            let (mut total, mut stretch) = (0.0, 1.0);
            (0..inner.len()).for_each(|which| {
                total += at(which).0;
                stretch *= at(which).1;
            });
            // Exponential increments whose mean has the inverse gamma distribution of shape 3 and scale 2.
            let c = inner.len() as i32;
            let rising: f64 = (0..c).map(|which| f64::from(3 + which)).product();
            let density = rising * 8.0 / (2.0 + total).powi(3 + c) * stretch / (STEPS as f64).powi(c);
            let differences: Vec<(f64, f64)> =
                pairs.iter().map(|&([near, far], weight)| (height(near) - height(far), weight)).collect();
            for &noise in &noises {
                let of = |&(difference, weight): &(f64, f64)| probability(difference, noise).powf(weight);
                let here = density * differences.iter().map(of).product::<f64>() / counts[inner.len()];
                weight += here;
                noise_sum += noise * here;
            }
        }
        sum += weight;
        found.insert(tree.clone(), weight);
    }
    found.values_mut().for_each(|weight| *weight /= sum);
    (found, noise_sum / sum)
}

/// How often each tree is kept, and the mean noise.
fn shares<const K: usize>(comparisons: &Comparisons<'_, K>, sweeps: usize) -> (BTreeMap<Clusters, f64>, f64) {
    let sampling =
        Sampling { chains: 4, sweeps, burn_in: 100, kept: 4 * (sweeps - 100), seed: 3, ..Sampling::default() };
    let samples = sample(comparisons, &start(comparisons.n_leaves()), &sampling, None).unwrap();
    assert_eq!(samples.len(), sampling.kept);
    let mut found = BTreeMap::new();
    for at in 0..samples.len() {
        let (tree, joined) = samples.tree(at).unwrap();
        tree.check_joined(&joined).unwrap();
        *found.entry(kept_clusters(&tree, &joined)).or_insert(0.0) += 1.0 / samples.len() as f64;
    }
    let noise = samples.states().iter().flatten().map(|state| state.noise).sum::<f64>();
    (found, noise / (4 * sweeps) as f64)
}

fn assert_posterior_is_exact<const K: usize>(comparisons: &Comparisons<'_, K>) {
    let (expected, noise) = exact(comparisons);
    let (found, mean_noise) = shares(comparisons, 25_000);
    for (tree, share) in &expected {
        let found = found.get(tree).copied().unwrap_or(0.0);
        assert!((found - share).abs() < 0.012, "{tree:?}: {found} {share}");
    }
    assert!((mean_noise - noise).abs() < 0.004, "{mean_noise} {noise}");
}

#[test]
fn posteriors_of_triplets_are_exact() {
    let rows = vec![[0, 1, 2], [0, 1, 2], [1, 0, 3], [2, 3, 0], [2, 3, 1], [3, 0, 2], [0, 1, 3]];
    assert_posterior_is_exact(&Triplets::new(rows, None).unwrap());
}

#[test]
fn posteriors_of_quadruplets_and_weights_are_exact() {
    let rows = vec![[0, 1, 2, 3], [0, 2, 1, 3], [0, 1, 0, 3], [1, 3, 2, 3]];
    assert_posterior_is_exact(&Quadruplets::new(rows, None).unwrap().with_weights(vec![3.0, 0.5, 2.0, 0.0]).unwrap());
}

#[test]
fn without_answers_there_is_the_prior() {
    let none: Vec<[i32; 3]> = Vec::new();
    let (found, noise) = shares(&Triplets::new(none, Some(5)).unwrap(), 25_000);
    let trees = all_of_any_degree(5);
    assert_eq!(trees.len(), 236);
    for k in 1..5 {
        let of = |tree: &&Clusters| tree.len() == k;
        let count = trees.iter().filter(of).count() as f64;
        let share: f64 = trees.iter().filter(of).filter_map(|tree| found.get(tree)).sum();
        assert!((share - 0.25).abs() < 0.015, "{k}: {share}");
        for tree in trees.iter().filter(of) {
            let found = found.get(tree).copied().unwrap_or(0.0);
            assert!((found - 0.25 / count).abs() < 0.005, "{tree:?} {found} {}", 0.25 / count);
        }
    }
    // The mean of Beta(1, 10), up to 0.45.
    assert!((noise - 0.0899).abs() < 0.003, "{noise}");
}

/// Of a reversible step as many lead from one tree to another as back.
#[test]
fn moves_are_in_detailed_balance() {
    let rows = vec![[0, 1, 2], [1, 0, 3], [2, 3, 0], [3, 2, 1], [0, 1, 3]];
    let (answers, costs) = (Answers::new(&Triplets::new(rows, None).unwrap()).unwrap(), NodeCosts::new(4).unwrap());
    let mut chain = Chain::new(&answers, &costs, Asked::Pairs, HeightTree::of(&start(4)), Random::new(1, 0)).unwrap();
    let mut random = Random::new(2, 0);
    let mut flows: BTreeMap<(Clusters, Clusters), f64> = BTreeMap::new();
    let mut before = clusters(&chain.tree);
    for step in 0..400_000 {
        let node = random.below(chain.tree.n_nodes()) as u32;
        if chain.tree.is_there(node) && node != chain.tree.root() {
            chain.move_subtree(node);
        }
        let after = clusters(&chain.tree);
        *flows.entry((before, after.clone())).or_default() += 1.0;
        before = after;
        if step % 50 == 0 {
            // Other heights; the steps are in balance at any.
            chain.sweep(&Monitor::new()).unwrap();
            before = clusters(&chain.tree);
        }
    }
    let mut compared = 0;
    for ((a, b), &there) in &flows {
        let back = flows.get(&(b.clone(), a.clone())).copied().unwrap_or(0.0);
        if a < b && there + back > 400.0 {
            assert!((there - back).abs() < 5.0 * (there + back).sqrt(), "{a:?} {b:?}: {there} {back}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}
