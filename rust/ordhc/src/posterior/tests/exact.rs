//! Posteriors of four and five leaves, computed by sums over all trees.

use std::collections::BTreeMap;

use super::super::random::Random;
use super::super::samples::sample_answers;
use super::super::{Belonging, Sampling};
use super::kinds::{KINDS, Kind, Reply, rows_of};
use super::{Clusters, answers_of, kept_clusters, people_only, start};
use crate::comparison::{Comparisons, Quadruplets, Triplets};

/// Returns all trees with `n` leaves, binary or not. Each tree is the list of its clusters.
pub(in super::super) fn all_of_any_degree(n: usize) -> Vec<Clusters> {
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

pub(super) fn prior(n: usize) -> Vec<(Clusters, f64)> {
    let trees = all_of_any_degree(n);
    let mut found: Vec<(Clusters, f64)> = trees.into_iter().map(|tree| (tree, 0.0)).collect();
    let balances = [-0.5, -0.2, -0.08, 0.0, 0.3, 0.6, 1.0, 1.5, 2.2, 3.0f64];
    for balance in balances {
        for log_node in -5..=7 {
            let of = |set: &u32| f64::from(log_node).exp() * f64::from(set.count_ones() - 1).powf(-balance);
            let weights: Vec<f64> = found.iter().map(|(tree, _)| tree.iter().map(of).product()).collect();
            let sum: f64 = weights.iter().sum();
            found.iter_mut().zip(weights).for_each(|((_, share), weight)| *share += weight / sum / 130.0);
        }
    }
    found
}

pub(super) fn above(tree: &Clusters, set: u32) -> Option<u32> {
    tree.iter().copied().filter(|&other| other != set && other & set == set).min_by_key(|set| set.count_ones())
}

pub(super) fn join(tree: &Clusters, pair: [usize; 2]) -> u32 {
    let pair = pair.iter().fold(0, |set, leaf| set | 1 << leaf);
    tree.iter().copied().filter(|set| set & pair == pair).min_by_key(|set| set.count_ones()).unwrap()
}

fn factorial(n: i32) -> f64 {
    (1..=n).map(f64::from).product()
}

/// Returns the density of increments (height differences along edges). They are gamma deviates with one of five equally
/// likely shapes. Their mean has the inverse gamma distribution with shape 2 and scale 2.
fn density(increments: &[f64]) -> f64 {
    let (count, sum) = (increments.len() as i32, increments.iter().sum::<f64>());
    let of = |k: i32| {
        let each: f64 =
            increments.iter().map(|x| x.powi(k - 1) * f64::from(k.pow(k as u32)) / factorial(k - 1)).product();
        each * 4.0 * factorial(1 + k * count) / (2.0 + f64::from(k) * sum).powi(2 + k * count)
    };
    [1, 2, 3, 4, 6].map(of).iter().sum::<f64>() / 5.0
}

/// Returns the possible noise levels of two people, with their prior probabilities. If people are unknown, both have
/// the same level.
fn noises(are_people: bool) -> Vec<([f64; 2], f64)> {
    if !are_people {
        // Quantiles of the prior of the noise, Beta(1, 4) cut at 0.45.
        let most = 1.0 - 0.55f64.powi(4);
        let at = |step: usize| 1.0 - (1.0 - most * (step as f64 + 0.5) / 16.0).powf(0.25);
        return (0..16).map(|step| ([at(step); 2], 1.0 / 16.0)).collect();
    }
    let levels = [0.002, 0.01, 0.025, 0.05, 0.08, 0.12, 0.16, 0.21, 0.27, 0.34, 0.42, 0.5];
    // All distributions of levels are equally likely. So two people have the same level twice as often as two given
    // different ones.
    let pairs = levels.into_iter().flat_map(|one| levels.into_iter().map(move |other| [one, other]));
    pairs.map(|pair| (pair, if pair[0] == pair[1] { 2.0 } else { 1.0 } / 156.0)).collect()
}

/// An answer: its probability without noise, its probability if answers are random, its weight, and the index of its
/// person.
type Worth = (f64, f64, f64, usize);

/// Returns the probability of each tree, and the mean noise of each person. Heights are integrated on a grid, and the
/// mean increment exactly. `worths` returns the answers, given the heights of pairs.
fn exact(
    n: usize,
    are_people: bool,
    steps: usize,
    worths: impl Fn(&dyn Fn(usize, usize) -> f64) -> Vec<Worth>,
) -> (BTreeMap<Clusters, f64>, [f64; 2]) {
    let whole = (1u32 << n) - 1;
    // Map u from (0, 1) to an increment in (0, infinity). The second number is the derivative of the increment by u.
    let grid = (0..steps).map(|at| (at as f64 + 0.5) / steps as f64);
    let increments: Vec<(f64, f64)> = grid.map(|u| (u / (1.0 - u), (1.0 - u).powi(-2))).collect();
    let noises = noises(are_people);
    let mut found = BTreeMap::new();
    let (mut noise_sums, mut sum) = ([0.0; 2], 0.0);
    for (tree, prior) in prior(n) {
        let inner: Clusters = tree.iter().copied().filter(|&set| set != whole).collect();
        let joins: Vec<u32> = (0..n * n).map(|at| join(&tree, [at / n, at % n])).collect();
        let mut total = 0.0;
        for cell in 0..steps.pow(inner.len() as u32) {
            let chosen: Vec<(f64, f64)> =
                (0..inner.len()).map(|which| increments[cell / steps.pow(which as u32) % steps]).collect();
            let rises: Vec<f64> = chosen.iter().map(|&(rise, _)| rise).collect();
            let height = |a: usize, b: usize| {
                let path = std::iter::successors(Some(joins[a * n + b]), |&set| above(&tree, set));
                path.filter_map(|set| inner.iter().position(|&other| other == set))
                    .map(|which| rises[which])
                    .sum::<f64>()
            };
            let stretch: f64 = chosen.iter().map(|&(_, stretch)| stretch / steps as f64).product();
            let here = prior * density(&rises) * stretch;
            let clear = worths(&height);
            for &(noise, share) in &noises {
                let of = |&(p, by_chance, weight, who): &Worth| {
                    (2.0 * noise[who] * by_chance + (1.0 - 2.0 * noise[who]) * p).powf(weight)
                };
                let here = here * share * clear.iter().map(of).product::<f64>();
                total += here;
                (0..2).for_each(|who| noise_sums[who] += noise[who] * here);
            }
        }
        sum += total;
        found.insert(tree, total);
    }
    found.values_mut().for_each(|weight| *weight /= sum);
    (found, noise_sums.map(|noise| noise / sum))
}

fn shares<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    belonging: &Belonging<'_>,
    sweeps: usize,
) -> (BTreeMap<Clusters, f64>, [f64; 2]) {
    let sampling =
        Sampling { chains: 4, sweeps, burn_in: 100, kept: 4 * (sweeps - 100), seed: 3, ..Sampling::default() };
    let start = start(comparisons.n_leaves());
    let samples = sample_answers(comparisons, belonging, &start, &sampling, None).unwrap();
    assert_eq!(samples.len(), sampling.kept);
    let mut found = BTreeMap::new();
    for at in 0..samples.len() {
        *found.entry(kept_clusters(&samples.tree(at).unwrap())).or_insert(0.0) += 1.0 / samples.len() as f64;
    }
    let noise = samples.states().iter().flatten().map(|state| state.noise).sum::<f64>() / (4 * sweeps) as f64;
    if belonging.people.is_none() {
        assert!(samples.noise_by_person().is_empty());
        return (found, [noise; 2]);
    }
    let by_person = [samples.noise_by_person()[0], samples.noise_by_person()[1]];
    assert!((noise - (by_person[0] + by_person[1]) / 2.0).abs() < 0.01);
    (found, by_person)
}

fn assert_posterior_is_exact<const K: usize>(comparisons: &Comparisons<'_, K>, people: Option<&[u32]>, steps: usize) {
    let n = comparisons.n_leaves();
    let worths = |height: &dyn Fn(usize, usize) -> f64| {
        let of = |at: usize| {
            let ([i, j], [k, l]) = Comparisons::<K>::pairs(&comparisons.rows().row(at));
            let weight = comparisons.weights().map_or(1.0, |weights| weights[at]);
            (1.0 / (1.0 + (height(k, l) - height(i, j)).exp()), 0.5, weight, people.map_or(0, |who| who[at] as usize))
        };
        (0..comparisons.len()).map(of).collect()
    };
    let expected = exact(n, people.is_some(), steps, worths);
    assert_agree(expected, shares(comparisons, &people_only(people), sweeps(n)));
}

/// Returns a number of sweeps for which the sampling error is below what [`assert_agree`] allows: there are 26 trees of
/// four leaves, and 236 of five.
fn sweeps(n: usize) -> usize {
    if n == 4 { 5_000 } else { 10_000 }
}

type Found = (BTreeMap<Clusters, f64>, [f64; 2]);

fn assert_agree((expected, noises): Found, (found, mean_noises): Found) {
    for (tree, share) in &expected {
        let found = found.get(tree).copied().unwrap_or(0.0);
        assert!((found - share).abs() < 0.015, "{tree:?}: {found} {share}");
    }
    // The sum of the absolute differences over all trees must be small, too.
    let apart: f64 = expected.iter().map(|(tree, share)| (found.get(tree).unwrap_or(&0.0) - share).abs()).sum();
    assert!(apart < 0.07, "{apart}");
    for (found, noise) in mean_noises.into_iter().zip(noises) {
        assert!((found - noise).abs() < 0.008, "{found} {noise}");
    }
}

#[test]
fn posteriors_of_triplets_are_exact() {
    let rows = vec![[0, 1, 2], [0, 1, 2], [1, 0, 3], [2, 3, 0], [2, 3, 1], [3, 0, 2], [0, 1, 3]];
    assert_posterior_is_exact(&Triplets::new(rows, None).unwrap(), None, 24);
}

#[test]
fn posteriors_of_quadruplets_and_weights_are_exact() {
    let rows = vec![[0, 1, 2, 3], [0, 2, 1, 3], [0, 1, 0, 3], [1, 3, 2, 3]];
    let answers = Quadruplets::new(rows, None).unwrap().with_weights(vec![3.0, 0.5, 2.0, 0.0]).unwrap();
    assert_posterior_is_exact(&answers, None, 24);
}

#[test]
fn posteriors_of_five_leaves_are_exact() {
    assert_posterior_is_exact(&answers_of::<3>(5, 12, 1), None, 12);
    assert_posterior_is_exact(&answers_of::<4>(5, 8, 2), None, 12);
}

#[test]
fn posteriors_with_people_are_exact() {
    // One of the people contradicts themselves.
    let rows = vec![[0, 1, 2], [1, 0, 2], [2, 3, 0], [0, 1, 3], [0, 1, 2], [0, 2, 1], [3, 0, 2], [2, 1, 3]];
    let people = [0, 0, 0, 0, 0, 1, 1, 1];
    assert_posterior_is_exact(&Triplets::new(rows, None).unwrap(), Some(&people), 24);
}

fn drawn(n: usize, kind: Kind, count: usize, seed: u64) -> Vec<Reply> {
    let mut random = Random::new(seed, 23);
    let height = |a: usize, b: usize| if a / 2 == b / 2 { 1.5 } else { 0.0 };
    (0..count).map(|_| Reply::drawn(kind, n, &height, 0.05, &mut random)).collect()
}

fn assert_replies_are_exact(n: usize, replies: &[Reply], people: Option<&[usize]>, steps: usize) {
    let (rows, numbers) = rows_of(replies);
    let by_chance: Vec<f64> = replies.iter().map(Reply::by_chance).collect();
    let worths = |height: &dyn Fn(usize, usize) -> f64| {
        let of = |(at, reply): (usize, &Reply)| {
            (reply.clear(height), by_chance[at], 1.0, people.map_or(0, |people| people[at]))
        };
        replies.iter().enumerate().map(of).collect()
    };
    let by_row: Option<Vec<u32>> =
        people.map(|people| numbers.iter().map(|&number| people[number as usize] as u32).collect());
    let belonging = Belonging { answers: Some(&numbers), people: by_row.as_deref() };
    let found = shares(&Triplets::new(rows, Some(n)).unwrap(), &belonging, sweeps(n));
    assert_agree(exact(n, people.is_some(), steps, worths), found);
}

#[test]
fn posteriors_of_each_kind_are_exact() {
    for (kind, seed) in KINDS.into_iter().zip(1..) {
        assert_replies_are_exact(4, &drawn(4, kind, 6, seed), None, 24);
    }
}

#[test]
fn posteriors_of_mixed_kinds_are_exact() {
    let mixed = |n: usize| -> Vec<Reply> { KINDS.into_iter().flat_map(|kind| drawn(n, kind, 1, 9)).collect() };
    assert_replies_are_exact(4, &mixed(4), Some(&[0, 1, 0, 0, 1, 1, 0]), 24);
    assert_replies_are_exact(5, &mixed(5), None, 10);
}

#[test]
fn without_answers_there_is_the_prior() {
    let none: Vec<[i32; 3]> = Vec::new();
    let (found, noise) = shares(&Triplets::new(none, Some(5)).unwrap(), &Belonging::default(), 10_000);
    let trees = prior(5);
    assert_eq!(trees.len(), 236);
    assert!((trees.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-9);
    for (tree, share) in &trees {
        let found = found.get(tree).copied().unwrap_or(0.0);
        assert!((found - share).abs() < 0.01 + 0.05 * share, "{tree:?} {found} {share}");
    }
    // The mean of the prior of the noise, Beta(1, 4) cut at 0.45.
    let mean: f64 = noises(false).iter().map(|(noise, share)| noise[0] * share).sum();
    assert!((noise[0] - mean).abs() < 0.005, "{noise:?} {mean}");
}
