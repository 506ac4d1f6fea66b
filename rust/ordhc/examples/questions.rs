//! Measures the questions, rounds and computing time of learners:
//! `cargo run --release --example questions [largest n]`.

use std::time::Instant;

use ordhc::generate::{TreeOracle, TreeShape, random_tree};
use ordhc::learn::{Limits, Method, learn_with};

fn main() -> ordhc::Result<()> {
    let largest: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let shapes = [
        ("uniform", TreeShape::Uniform),
        ("yule", TreeShape::Yule),
        ("balanced", TreeShape::Balanced),
        ("caterpillar", TreeShape::Caterpillar),
        ("degree 5", TreeShape::Degree(5)),
    ];
    let methods = [
        ("quick", Method::Quick),
        ("insertion", Method::Insertion { parallel: 1 }),
        ("parallel 10", Method::Insertion { parallel: 10 }),
        ("parallel 100", Method::Insertion { parallel: 100 }),
        ("exact", Method::Exact),
        ("rounds", Method::Rounds),
        ("balanced", Method::Balanced),
    ];
    println!("| tree | n | learner | questions / (n log2 n) | rounds | seconds |");
    println!("|---|---|---|---|---|---|");
    for n in [100, 1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|&n| n <= largest) {
        for (shape_name, shape) in shapes {
            let tree = random_tree(shape, n, 1)?;
            let mut oracle = TreeOracle::new(tree.topology());
            for (name, method) in methods {
                let slow = match method {
                    Method::Exact => n > 10_000,
                    Method::Insertion { parallel } => n > 100_000 && parallel > 1,
                    Method::Quick => n > 100_000 && shape != TreeShape::Balanced,
                    _ => false,
                };
                if slow {
                    continue;
                }
                let runs = (10_000 / n).clamp(1, 20) as u64;
                let start = Instant::now();
                let (mut questions, mut rounds) = (0, 0);
                for seed in 0..runs {
                    let mut learner = method.learner(n, seed)?;
                    learn_with(&mut *learner, |batch| oracle.answers(batch), Limits::default(), None)?;
                    questions += learner.n_answered();
                    rounds += learner.n_rounds();
                }
                let seconds = start.elapsed().as_secs_f64() / runs as f64;
                let share = questions as f64 / runs as f64 / (n as f64 * (n as f64).log2());
                println!("| {shape_name} | {n} | {name} | {share:.3} | {} | {seconds:.3} |", rounds / runs);
            }
        }
    }
    Ok(())
}
