//! The guarantees of learners when some answers are wrong and nodes have any number of children.

use ordhc::Dendrogram;
use ordhc::generate::{TreeOracle, TreeShape, Wrong, random_tree};
use ordhc::learn::{Assume, Limits, Method, Noise, Schedule, learn_with};

#[path = "support/noisy.rs"]
mod noisy;

use noisy::{is_same, learned, methods};

#[test]
fn small_trees_of_any_degree_are_found_by_right_answers() {
    for shape in [TreeShape::Star, TreeShape::Joined(3), TreeShape::Degree(3), TreeShape::Degree(6)] {
        for (n, seed) in (1..9).flat_map(|n| (0..8).map(move |seed| (n, seed))) {
            let tree = random_tree(shape, n, seed).unwrap();
            for (method, batch) in methods(0.9).into_iter().flat_map(|method| [(method, 1), (method, usize::MAX)]) {
                let learner = learned(method, &mut TreeOracle::new(tree.topology()), seed, batch);
                assert!(is_same(&learner.tree().unwrap(), &tree), "{method:?}: {}", tree.newick());
            }
        }
    }
}

/// Returns a bound of the number of `runs` that fail with a probability of `delta` each. The bound is exceeded in one
/// case of a thousand.
fn most(runs: u32, delta: f64) -> u32 {
    let (mut term, mut sum, mut k) = ((1.0 - delta).powi(runs as i32), 0.0, 0);
    loop {
        sum += term;
        if sum > 0.999 {
            return k;
        }
        term *= f64::from(runs - k) / f64::from(k + 1) * delta / (1.0 - delta);
        k += 1;
    }
}

#[test]
fn trees_of_any_degree_are_wrong_as_rarely_as_promised() {
    let (n, runs, delta) = (16, 40, 0.2);
    let shapes = [TreeShape::Joined(3), TreeShape::Degree(5), TreeShape::Star, TreeShape::Uniform];
    for (p, wrong) in [
        (0.8, Wrong::Random),
        (0.8, Wrong::Adversarial),
        (0.8, Wrong::Neither),
        (0.65, Wrong::Neither),
        (0.65, Wrong::Adversarial),
        (0.65, Wrong::Any),
    ] {
        let schedules =
            [(1, Schedule::Questions, 1), (6, Schedule::Questions, usize::MAX), (1, Schedule::Rounds, usize::MAX)];
        let robust = schedules.map(|(parallel, schedule, batch)| {
            let (assume, noise) = (Assume::Adversarial, Noise::Independent);
            (Method::Robust { p, delta, assume, noise, parallel, schedule }, batch)
        });
        for (method, batch) in robust.into_iter().chain([(Method::Majority { p, delta }, usize::MAX)]) {
            for shape in shapes {
                let failures = (0..runs).filter(|&seed| {
                    let tree = random_tree(shape, n, u64::from(seed)).unwrap();
                    let mut oracle =
                        TreeOracle::new(tree.topology()).with_noise(p, wrong, 5 + u64::from(seed)).unwrap();
                    !is_same(&learned(method, &mut oracle, u64::from(seed), batch).tree().unwrap(), &tree)
                });
                let failures = failures.count() as u32;
                let most = most(runs, delta);
                assert!(failures <= most, "{method:?}, {shape:?}, {wrong:?}: {failures} of {runs}, {most} at most");
            }
        }
    }
}

#[test]
fn without_a_promise_few_trees_of_any_degree_are_wrong() {
    for shape in [TreeShape::Joined(3), TreeShape::Degree(4), TreeShape::Star] {
        let method = methods(0.8)[4];
        let failures = (0..30).filter(|&seed| {
            let tree = random_tree(shape, 15, seed).unwrap();
            let mut oracle = TreeOracle::new(tree.topology()).with_noise(0.8, Wrong::Any, seed).unwrap();
            !is_same(&learned(method, &mut oracle, seed, usize::MAX).tree().unwrap(), &tree)
        });
        let failures = failures.count();
        assert!(failures <= 6, "{method:?}, {shape:?}: {failures} of 30");
    }
}

#[test]
fn any_degree_takes_few_questions() {
    let n = 100;
    for (shape, most) in [(TreeShape::Joined(3), 28.0), (TreeShape::Degree(5), 32.0), (TreeShape::Star, 400.0)] {
        let tree = random_tree(shape, n, 4).unwrap();
        let mut oracle = TreeOracle::new(tree.topology()).with_noise(0.8, Wrong::Random, 5).unwrap();
        let learner = learned(Method::robust(0.8, 0.05), &mut oracle, 6, 1);
        let each = learner.n_asked() as f64 / n as f64;
        assert!(each < most, "{shape:?}: {each}");
    }
}

#[test]
fn the_paper_learns_binary_trees_or_none() {
    for shape in [TreeShape::Star, TreeShape::Joined(3), TreeShape::Degree(4)] {
        for seed in 0..6 {
            let tree = random_tree(shape, 9, seed).unwrap();
            let mut oracle = TreeOracle::new(tree.topology()).with_noise(0.9, Wrong::Random, seed).unwrap();
            let mut learner = Method::RobustPaper { p: 0.9, delta: 0.05 }.learner(9, seed).unwrap();
            let batch = if seed % 2 == 0 { 1 } else { usize::MAX };
            let limits = Limits { batch, budget: None };
            let error = learn_with(&mut *learner, |questions| oracle.answers(questions), limits, None);
            if is_binary(&tree) {
                assert!(error.is_ok());
                continue;
            }
            let text = error.unwrap_err().to_string();
            assert!(text.contains("builds binary trees only"), "{shape:?}: {text}");
            assert_eq!(learner.ask(1).unwrap_err().to_string(), text);
            assert!(!learner.done() && learner.tree().unwrap().n_leaves() == 9);
        }
    }
}

fn is_binary(tree: &Dendrogram) -> bool {
    tree.topology().clone().n_nodes() == 2 * tree.n_leaves() - 1
}
