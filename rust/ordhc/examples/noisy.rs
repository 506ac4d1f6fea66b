//! How many questions and rounds learners take when answers are wrong, and how often the tree is:
//! `cargo run --release --example noisy -- n p runs [learner]`.

use std::time::Instant;

use ordhc::Monitor;
use ordhc::generate::{TreeOracle, TreeShape, Wrong, random_tree};
use ordhc::learn::{Assume, Limits, Method, Noise, Schedule, learn_with};
use ordhc::metric::robinson_foulds;
use ordhc::tree::Topology;

fn main() -> ordhc::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let n: usize = arguments[0].parse().unwrap();
    let p: f64 = arguments[1].parse().unwrap();
    let runs: u64 = arguments[2].parse().unwrap();
    let only = arguments.get(3).map_or("", String::as_str);
    let delta = 0.05;
    let with =
        |assume, parallel, schedule| Method::Robust { p, delta, assume, noise: Noise::Independent, parallel, schedule };
    let methods = [
        ("robust", with(Assume::Adversarial, 1, Schedule::Questions), 1),
        ("robust, together", with(Assume::Adversarial, 1, Schedule::Questions), usize::MAX),
        ("robust, parallel 20", with(Assume::Adversarial, 20, Schedule::Questions), usize::MAX),
        ("robust, balanced", with(Assume::Adversarial, 1, Schedule::Balanced), usize::MAX),
        ("robust, rounds", with(Assume::Adversarial, 1, Schedule::Rounds), usize::MAX),
        ("uniform", with(Assume::Uniform, 1, Schedule::Questions), 1),
        ("robust-paper", Method::RobustPaper { p, delta }, usize::MAX),
        ("majority", Method::Majority { p, delta }, usize::MAX),
    ];
    println!("| learner | wrong answers | questions / n | rounds | wrong trees | seconds |");
    println!("|---|---|---|---|---|---|");
    for (name, method, batch) in methods.into_iter().filter(|method| method.0.starts_with(only)) {
        for wrong in [Wrong::Random, Wrong::Adversarial] {
            let (mut questions, mut rounds, mut failures) = (0, 0, 0);
            let mut seconds = 0.0;
            for seed in 0..runs {
                let tree = random_tree(TreeShape::Uniform, n, seed)?;
                let mut oracle = TreeOracle::new(&tree).with_noise(p, wrong, 1000 + seed)?;
                let start = Instant::now();
                let mut learner = method.learner(n, seed)?;
                learn_with(
                    &mut *learner,
                    |batch| oracle.answers(batch),
                    Limits { batch, budget: None },
                    &Monitor::new(),
                )?;
                seconds += start.elapsed().as_secs_f64();
                questions += learner.n_answered();
                rounds += learner.n_rounds();
                let found = Topology::of(&learner.tree()?, true);
                failures += u32::from(robinson_foulds(&Topology::of(&tree, true), &found)?.distance() > 0);
            }
            println!(
                "| {name} | {wrong:?} | {:.1} | {} | {failures} of {runs} | {:.3} |",
                questions as f64 / (runs as f64 * n as f64),
                rounds / runs,
                seconds / runs as f64
            );
        }
    }
    Ok(())
}
