//! Detailed balance: a reversible step of a Markov chain leads from one state to another as often as back.

use std::collections::BTreeMap;

use super::super::answers::{Answers, Belonging};
use super::super::chain::Chain;
use super::super::lengths::Lengths;
use super::super::prior::Shapes;
use super::super::random::Random;
use super::super::reliability::Noises;
use super::{chain_with, clusters};
use crate::comparison::Triplets;
use crate::monitor::Monitor;

type Step = fn(&mut Chain<'_>, &mut Random);
type State = fn(&Chain<'_>) -> Vec<i64>;

fn assert_balanced(lengths: Lengths, step: Step, state: State, times: usize, fewest: usize) {
    let rows = vec![[0, 1, 2], [1, 0, 3], [2, 3, 0], [3, 2, 1], [0, 1, 3]];
    let (answers, shapes) =
        (Answers::new(&Triplets::new(rows, None).unwrap(), &Belonging::default()).unwrap(), Shapes::new(4).unwrap());
    let noises = Noises::new(None).unwrap();
    let mut chain = chain_with(lengths, &answers, &shapes, noises, 4, Random::new(1, 0));
    let mut random = Random::new(2, 0);
    let mut flows: BTreeMap<(Vec<i64>, Vec<i64>), f64> = BTreeMap::new();
    for at in 0..times {
        if at % 25 == 0 {
            // Change all other parameters as well, because steps must be in balance for any of their values.
            chain.sweep(&Monitor::new()).unwrap();
        }
        let before = state(&chain);
        step(&mut chain, &mut random);
        *flows.entry((before, state(&chain))).or_default() += 1.0;
    }
    let mut compared = 0;
    for ((a, b), &there) in &flows {
        let back = flows.get(&(b.clone(), a.clone())).copied().unwrap_or(0.0);
        if a < b && there + back > 300.0 {
            assert!((there - back).abs() < 5.0 * (there + back).sqrt(), "{a:?} {b:?}: {there} {back}");
            compared += 1;
        }
    }
    assert!(compared >= fewest, "{compared}");
}

fn topology(chain: &Chain<'_>) -> Vec<i64> {
    clusters(&chain.tree).into_iter().map(i64::from).collect()
}

fn bin(value: f64, cells: f64) -> i64 {
    (value * cells).floor() as i64
}

fn heights(chain: &Chain<'_>) -> Vec<i64> {
    let mut state = topology(chain);
    state.push(bin((0.1 + chain.tree.increments().sum::<f64>()).ln(), 1.0));
    state
}

fn noise_and_mean(chain: &Chain<'_>) -> Vec<i64> {
    vec![bin(chain.noises.mean().ln(), 2.0), bin(chain.increments.mean().ln(), 2.0)]
}

#[test]
fn moves_of_leaves_are_balanced() {
    assert_balanced(Lengths::new(0), |chain, random| chain.move_subtree(random.below(4) as u32), topology, 250_000, 20);
    assert_balanced(Lengths::new(0), |chain, random| chain.move_subtree(random.below(4) as u32), heights, 250_000, 40);
}

#[test]
fn moves_of_subtrees_are_balanced() {
    let step: Step = |chain, random| {
        let node = 4 + random.below(chain.tree.n_nodes() - 4) as u32;
        if chain.tree.is_there(node) && node != chain.tree.root() {
            chain.move_subtree(node);
        }
    };
    assert_balanced(Lengths::new(0), step, topology, 250_000, 8);
    assert_balanced(Lengths::new(0), step, heights, 250_000, 8);
}

#[test]
fn steps_of_heights_are_balanced() {
    let step: Step = |chain, random| {
        let node = 4 + random.below(chain.tree.n_nodes() - 4) as u32;
        if chain.tree.is_there(node) {
            chain.change_height(node);
        }
    };
    assert_balanced(Lengths::new(0), step, heights, 250_000, 8);
}

#[test]
fn steps_of_noise_and_scale_are_balanced() {
    assert_balanced(Lengths::new(0), |chain, _| chain.change_noise_and_scale(0.3, 0.0), noise_and_mean, 150_000, 5);
    assert_balanced(Lengths::new(0), |chain, _| chain.change_noise_and_scale(0.0, 0.1), noise_and_mean, 150_000, 5);
    assert_balanced(Lengths::new(0), |chain, _| chain.change_noise_and_scale(0.2, 0.3), noise_and_mean, 150_000, 10);
}

#[test]
fn draws_of_the_mean_increment_are_balanced() {
    let step: Step = |chain, random| {
        let rises: Vec<f64> = chain.tree.increments().collect();
        chain.increments.learn(rises.into_iter(), random);
    };
    assert_balanced(Lengths::new(0), step, |chain| vec![bin(chain.increments.mean().ln(), 2.0)], 250_000, 8);
}

#[test]
fn steps_with_lengths_are_balanced() {
    let lengths = |chain: &Chain<'_>| vec![bin(chain.lengths.of(0), 15.0), bin(chain.lengths.of(1), 15.0)];
    let one: Step = |chain, random| chain.change_length(random.below(4) as u32);
    assert_balanced(Lengths::new(4), one, lengths, 250_000, 4);
    let scale: Step = |chain, _| chain.change_noise_and_scale(0.0, 0.3);
    let spread =
        |chain: &Chain<'_>| vec![bin(chain.lengths.spread().ln(), 2.0), bin(chain.increments.mean().ln(), 2.0)];
    assert_balanced(Lengths::new(4), scale, spread, 150_000, 5);
    let stretch: Step = |chain, _| {
        chain.list_nodes();
        chain.scale_lengths(0.5);
    };
    let deviation = |chain: &Chain<'_>| vec![bin(chain.lengths.spread().ln(), 1.0)];
    assert_balanced(Lengths::new(4), stretch, deviation, 150_000, 3);
    let leaves: Step = |chain, random| chain.move_subtree(random.below(4) as u32);
    assert_balanced(Lengths::new(4), leaves, heights, 250_000, 40);
    assert_balanced(Lengths::new(4), root, topology, 250_000, 10);
    let lengths = |chain: &Chain<'_>| vec![bin(chain.lengths.of(0), 8.0), bin(chain.lengths.of(1), 8.0)];
    assert_balanced(Lengths::new(4), root, lengths, 250_000, 10);
}

fn root(chain: &mut Chain<'_>, _: &mut Random) {
    chain.list_nodes();
    chain.change_root();
}
