//! Measures the questions and rounds of learners when some answers are wrong, and how often the tree is wrong:
//! `cargo run --release --example noisy -- n p runs [first letters of learners] [trees] [delta]`.
//!
//! Trees are binary (the default), yule, caterpillar, ternary, mixed (nodes with up to five children) or star.

use std::collections::HashMap;
use std::time::Instant;

use ordhc::generate::{TreeOracle, TreeShape, Wrong, random_tree};
use ordhc::learn::{Assume, Limits, Method, Noise, Question, Schedule, learn_with};
use ordhc::metric::robinson_foulds;

fn shape_named(kind: &str) -> ordhc::Result<TreeShape> {
    Ok(match kind {
        "binary" => TreeShape::Uniform,
        "yule" => TreeShape::Yule,
        "caterpillar" => TreeShape::Caterpillar,
        "ternary" => TreeShape::Joined(3),
        "mixed" => TreeShape::Degree(5),
        "star" => TreeShape::Star,
        _ => return Err(ordhc::Error::Argument(format!("unknown trees {kind:?}"))),
    })
}

fn main() -> ordhc::Result<()> {
    let argument = |at, default: &str| std::env::args().nth(at).unwrap_or_else(|| default.to_string());
    let number = |at, default| {
        let text = argument(at, default);
        text.parse::<f64>().map_err(|_| ordhc::Error::Argument(format!("{text} is not a number")))
    };
    let (n, p, runs) = (number(1, "100")? as usize, number(2, "0.8")?, number(3, "20")? as u64);
    let only = argument(4, "");
    let delta = number(6, "0.05")?;
    let kind = argument(5, "binary");
    let shape = shape_named(&kind)?;
    let with = |assume, noise, parallel, schedule| Method::Robust { p, delta, assume, noise, parallel, schedule };
    let robust = |parallel, schedule| with(Assume::Adversarial, Noise::Independent, parallel, schedule);
    // Learners that ask one question at a time ask the fewest questions.
    let methods = [
        ("robust", robust(1, Schedule::Questions), 1),
        ("robust, together", robust(1, Schedule::Questions), usize::MAX),
        ("robust, parallel 20", robust(20, Schedule::Questions), usize::MAX),
        ("robust, balanced", robust(1, Schedule::Balanced), usize::MAX),
        ("robust, rounds", robust(1, Schedule::Rounds), usize::MAX),
        ("uniform", with(Assume::Uniform, Noise::Independent, 1, Schedule::Questions), 1),
        ("persistent", with(Assume::Uniform, Noise::Persistent, 1, Schedule::Questions), 1),
        ("majority", Method::Majority { p, delta }, usize::MAX),
        ("paper", Method::RobustPaper { p, delta }, usize::MAX),
    ];
    println!(
        "| trees | n | p | learner | wrong answers | questions / n | rounds | wrong trees | distance | errors | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, method, batch) in methods.into_iter().filter(|method| method.0.starts_with(&only)) {
        let lies = [
            ("other leaf", Wrong::Random),
            ("lies", Wrong::Adversarial),
            ("none", Wrong::Neither),
            ("any", Wrong::Any),
        ];
        for (lie, wrong) in lies {
            let (mut questions, mut rounds, mut failures, mut errors) = (0, 0, 0, 0);
            let (mut missed, mut seconds) = (0.0, 0.0);
            for seed in 0..runs {
                let tree = random_tree(shape, n, seed)?;
                let mut oracle = TreeOracle::new(tree.topology()).with_noise(p, wrong, 1000 + seed)?;
                let mut told = HashMap::new();
                let is_persistent = name == "persistent";
                let answers = |questions: &[Question]| {
                    let mut answers = oracle.answers(questions)?;
                    for (question, answer) in questions.iter().zip(&mut answers).filter(|_| is_persistent) {
                        let mut key = question.leaves;
                        key.sort_unstable();
                        let odd = *told.entry(key).or_insert(question.leaves.get(*answer as usize).copied());
                        *answer = question.leaves.iter().position(|&leaf| Some(leaf) == odd).map_or(-1, |at| at as i8);
                    }
                    Ok(answers)
                };
                let start = Instant::now();
                let mut learner = method.learner(n, seed)?;
                if learn_with(&mut *learner, answers, Limits { batch, budget: None }, None).is_err() {
                    errors += 1;
                    continue;
                }
                seconds += start.elapsed().as_secs_f64();
                questions += learner.n_answered();
                rounds += learner.n_rounds();
                let counts = robinson_foulds(&tree.join_ties().into_topology(), &learner.tree()?.into_topology())?;
                failures += u64::from(counts.distance() > 0);
                missed += counts.normalized();
            }
            let runs = runs as f64;
            println!(
                "| {kind} | {n} | {p} | {name} | {lie} | {:.1} | {:.0} | {failures} of {runs} | {:.4} | {errors} | {:.3} |",
                questions as f64 / (runs * n as f64),
                rounds as f64 / runs,
                missed / runs,
                seconds / runs
            );
        }
    }
    Ok(())
}
