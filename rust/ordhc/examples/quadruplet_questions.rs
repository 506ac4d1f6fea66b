//! Measures the questions, rounds and computing time of learners that compare pairs:
//! `cargo run --release --example quadruplet_questions [n ...]`.

use std::time::Instant;

use ordhc::generate::QuadrupletOracle;
use ordhc::learn::{Limits, QuadrupletMethod, learn_with};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns similarities of pairs: independent ones, or those of points with this number of dimensions.
fn similarities(n: usize, dimensions: Option<usize>, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let points: Vec<Vec<f64>> =
        (0..n).map(|_| (0..dimensions.unwrap_or(0)).map(|_| random.random()).collect()).collect();
    let mut pairs = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let squares = points[i].iter().zip(&points[j]).map(|(a, b)| (a - b).powi(2));
            pairs.push(if dimensions.is_some() { -squares.sum::<f64>() } else { random.random() });
        }
    }
    pairs
}

fn main() -> ordhc::Result<()> {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![100, 300, 1000] } else { given };
    println!("| similarities | n | learner | questions | / n^2 | / (n^2 log2 n) | rounds | seconds |");
    println!("|---|---|---|---|---|---|---|---|");
    for n in sizes {
        for (data, dimensions) in [("independent", None), ("on a line", Some(1)), ("in 3 dimensions", Some(3))] {
            for name in QuadrupletMethod::NAMES {
                let mut oracle = QuadrupletOracle::new(similarities(n, dimensions, 1))?;
                let start = Instant::now();
                let mut learner = name.parse::<QuadrupletMethod>()?.learner(n, 1)?;
                learn_with(&mut *learner, |batch| oracle.answers(batch), Limits::default(), None)?;
                let tree = learner.tree()?;
                assert_eq!(tree.n_leaves(), n);
                let seconds = start.elapsed().as_secs_f64();
                let (asked, rounds) = (learner.n_answered(), learner.n_rounds());
                let square = (n * n) as f64;
                let (share, log_share) = (asked as f64 / square, asked as f64 / square / (n as f64).log2());
                println!("| {data} | {n} | {name} | {asked} | {share:.3} | {log_share:.4} | {rounds} | {seconds:.2} |");
            }
        }
    }
    Ok(())
}
