//! Simulation-based calibration (Talts et al. 2018): draw a truth from the prior, and answers given the truth. Then the
//! rank of the truth among draws from the posterior is uniform.

use super::super::answers::{Answers, Belonging};
use super::super::lengths::Lengths;
use super::super::prior::Shapes;
use super::super::random::Random;
use super::super::reliability::Noises;
use super::exact::{above, join, prior};
use super::kinds::{KINDS, Kind, Reply, rows_of};
use super::{chain_with, height};
use crate::comparison::Triplets;
use crate::monitor::Monitor;

const N: usize = 5;
const ANSWERS: usize = 14;
const TRUTHS: usize = 320;
const DRAWS: usize = 15;
const SWEEPS: usize = 8;
const NUMBERS: usize = 8;
/// A chi-square value with 15 degrees of freedom is larger than this with a probability of 1 in 100,000.
const MOST: f64 = 48.0;

#[test]
fn ranks_of_truths_are_uniform() {
    assert_ranks_are_uniform(&[Kind::Closer], false);
}

#[test]
fn ranks_are_uniform_for_all_kinds() {
    assert_ranks_are_uniform(&KINDS[1..], false);
}

#[test]
fn ranks_are_uniform_with_lengths() {
    assert_ranks_are_uniform(&[Kind::Closer], true);
    assert_ranks_are_uniform(&KINDS, true);
}

fn assert_ranks_are_uniform(kinds: &[Kind], with_lengths: bool) {
    let trees = prior(N);
    let shapes = Shapes::new(N).unwrap();
    let mut random = Random::new(11, 0);
    let mut counts = vec![[0.0; DRAWS + 1]; NUMBERS];
    for truth in 0..TRUTHS {
        let mut left = random.uniform();
        let share = |(_, share): &&(_, f64)| {
            left -= share;
            left <= 0.0
        };
        let (tree, _) = trees.iter().find(share).unwrap_or(&trees[0]);
        let mean = 2.0 / (random.exponential() + random.exponential());
        let regularity = [1, 2, 3, 4, 6][random.below(5)];
        let rises: Vec<f64> = tree
            .iter()
            .map(|_| (0..regularity).map(|_| random.exponential()).sum::<f64>() * mean / f64::from(regularity))
            .collect();
        // The root is the largest bit mask, so it is the last cluster. The height of the root is 0.
        let of = |set: u32| {
            let path = std::iter::successors(Some(set), |&set| above(tree, set));
            path.filter_map(|set| tree[..tree.len() - 1].iter().position(|&other| other == set))
                .map(|at| rises[at])
                .sum::<f64>()
        };
        let pair = |a: usize, b: usize| of(join(tree, [a, b]));
        let noise = 1.0 - (1.0 - (1.0 - 0.55f64.powi(4)) * random.uniform()).powf(0.25);
        // The variance of lengths has the inverse gamma distribution with shape 1 and scale 0.01.
        let deviation = (0.01 / random.exponential()).sqrt();
        let lengths: Vec<f64> = (0..N).map(|_| if with_lengths { deviation * random.normal() } else { 0.0 }).collect();
        let closeness = |a: usize, b: usize| pair(a, b) - lengths[a] - lengths[b];
        let mut log_likelihood = 0.0;
        let replies: Vec<Reply> = (0..ANSWERS)
            .map(|at| {
                let reply = Reply::drawn(kinds[at % kinds.len()], N, &closeness, noise, &mut random);
                log_likelihood += reply.probability(&closeness, noise).ln();
                reply
            })
            .collect();
        let (rows, numbers) = rows_of(&replies);
        let truths = [
            noise,
            mean,
            log_likelihood,
            (tree.len() - 1) as f64,
            pair(0, 1) - pair(0, 2),
            pair(2, 3) - pair(3, 4),
            if with_lengths { deviation } else { 0.0 },
            lengths[0] - lengths[1],
        ];
        let belonging = Belonging { answers: Some(&numbers), people: None };
        let answers = Answers::new(&Triplets::new(rows, Some(N)).unwrap(), &belonging).unwrap();
        let noises = Noises::new(None).unwrap();
        let begun = Random::new(12, truth as u64);
        let lengths = Lengths::new(if with_lengths { N } else { 0 });
        let mut chain = chain_with(lengths, &answers, &shapes, noises, N, begun);
        let mut ranks = [0; NUMBERS];
        (0..25).for_each(|_| chain.sweep(&Monitor::new()).unwrap());
        for _ in 0..DRAWS {
            (0..SWEEPS).for_each(|_| chain.sweep(&Monitor::new()).unwrap());
            let pair = |a: u32, b: u32| height(&chain.tree, [a, b]);
            let drawn = [
                chain.noises.mean(),
                chain.increments.mean(),
                chain.log_likelihood,
                (chain.tree.n_inner() - 1) as f64,
                pair(0, 1) - pair(0, 2),
                pair(2, 3) - pair(3, 4),
                chain.lengths.spread(),
                if with_lengths { chain.lengths.of(0) - chain.lengths.of(1) } else { 0.0 },
            ];
            for (rank, (drawn, truth)) in ranks.iter_mut().zip(drawn.into_iter().zip(truths)) {
                // The truth and the drawn tree often have equal numbers of nodes, or equal differences of heights.
                // These ties are broken at random below.
                *rank += usize::from(drawn < truth - 1e-9) * 1000 + usize::from((drawn - truth).abs() <= 1e-9);
            }
        }
        for (count, rank) in counts.iter_mut().zip(ranks) {
            count[rank / 1000 + random.below(rank % 1000 + 1)] += 1.0;
        }
    }
    assert_uniform(&counts);
}

fn assert_uniform(counts: &[[f64; DRAWS + 1]]) {
    let expected = TRUTHS as f64 / (DRAWS + 1) as f64;
    for (what, count) in counts.iter().enumerate() {
        let chi: f64 = count.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(chi < MOST, "number {what}: {chi} {count:?}");
    }
}
