//! The guarantees of learners when some answers are wrong.

use std::collections::{HashMap, HashSet};

use ordhc::generate::{TreeOracle, TreeShape, Wrong, random_tree};
use ordhc::learn::{Assume, Limits, Method, Noise, Question, Schedule, learn_with};
use ordhc::metric::robinson_foulds;
use proptest::prelude::*;

#[path = "support/noisy.rs"]
mod noisy;
#[path = "support/trees.rs"]
mod trees;

use noisy::{is_same, learned, methods, robust};
use trees::all_trees;

#[test]
fn every_small_tree_is_found_by_right_answers() {
    for n in 1..=5 {
        for (at, tree) in all_trees(n).iter().enumerate() {
            for p in [1.0, 0.9] {
                let mut all = methods(p).to_vec();
                if n < 5 || at % 20 == 0 {
                    all.push(Method::RobustPaper { p, delta: 0.05 });
                }
                for method in all {
                    for batch in [1, usize::MAX] {
                        let learner = learned(method, &mut TreeOracle::new(tree.topology()), at as u64, batch);
                        assert!(is_same(&learner.tree().unwrap(), tree), "{method:?}: {}", tree.newick());
                    }
                }
            }
        }
    }
}

#[test]
fn trees_are_wrong_as_rarely_as_promised() {
    let (n, runs, delta) = (25, 100, 0.3);
    for (p, wrong) in [(0.8, Wrong::Random), (0.8, Wrong::Adversarial), (0.65, Wrong::Adversarial)] {
        for which in 0..5 {
            let with = |parallel, schedule| {
                let (assume, noise) = (Assume::Adversarial, Noise::Independent);
                Method::Robust { p, delta, assume, noise, parallel, schedule }
            };
            let uniform = Method::Robust {
                p,
                delta,
                assume: Assume::Uniform,
                noise: Noise::Independent,
                parallel: 1,
                schedule: Schedule::Questions,
            };
            let (method, batch) = [
                (with(1, Schedule::Questions), 1),
                (with(5, Schedule::Questions), usize::MAX),
                (with(1, Schedule::Rounds), usize::MAX),
                (Method::Majority { p, delta }, usize::MAX),
                (uniform, 1),
            ][which];
            if which == 4 && wrong == Wrong::Adversarial {
                continue;
            }
            let failures = (0..runs).filter(|&seed| {
                let shape = [TreeShape::Uniform, TreeShape::Caterpillar][usize::from(seed % 4 == 3 && which < 4)];
                let tree = random_tree(shape, n, seed).unwrap();
                let mut oracle = TreeOracle::new(tree.topology()).with_noise(p, wrong, 99 + seed).unwrap();
                !is_same(&learned(method, &mut oracle, seed, batch).tree().unwrap(), &tree)
            });
            let failures = failures.count() as f64;
            assert!(failures <= delta * runs as f64, "{method:?}, {wrong:?}: {failures} of {runs}");
        }
    }
}

#[test]
fn the_paper_keeps_its_promise() {
    let (n, runs, delta) = (8, 12, 0.3);
    for (p, wrong) in [(0.9, Wrong::Random), (0.8, Wrong::Adversarial)] {
        let failures = (0..runs).filter(|&seed| {
            let tree = random_tree(TreeShape::Uniform, n, seed).unwrap();
            let mut oracle = TreeOracle::new(tree.topology()).with_noise(p, wrong, 7 + seed).unwrap();
            let learner = learned(Method::RobustPaper { p, delta }, &mut oracle, seed, usize::MAX);
            assert!(learner.n_rounds() < learner.n_asked());
            !is_same(&learner.tree().unwrap(), &tree)
        });
        let failures = failures.count() as f64;
        assert!(failures <= delta * runs as f64, "{p}, {wrong:?}: {failures} of {runs}");
    }
}

#[test]
fn few_questions_and_few_rounds() {
    let n = 300;
    for (p, most) in [(0.9, 18.0), (0.8, 32.0), (0.7, 66.0)] {
        let tree = random_tree(TreeShape::Uniform, n, 4).unwrap();
        let run = |method, wrong, batch| {
            let mut oracle = TreeOracle::new(tree.topology()).with_noise(p, wrong, 5).unwrap();
            let learner = learned(method, &mut oracle, 6, batch);
            (learner.n_asked() as f64 / n as f64, learner.n_rounds())
        };
        let (each, _) = run(Method::robust(p, 0.05), Wrong::Random, 1);
        assert!(each < most, "{p}: {each}");
        let (each, _) = run(Method::robust(p, 0.05), Wrong::Adversarial, 1);
        assert!(each < 1.1 * most, "{p}: {each}");
        let (each, rounds) = run(methods(p)[3], Wrong::Random, usize::MAX);
        assert!(each < 1.25 * most && rounds < 300, "{p}: {each} in {rounds}");
        let (uniform, _) = run(methods(p)[4], Wrong::Random, 1);
        assert!(uniform < 0.85 * most, "{p}: {uniform}");
        let (majority, _) = run(methods(p)[7], Wrong::Random, usize::MAX);
        assert!(majority > 2.0 * most, "{p}: {majority}");
    }
}

#[test]
fn persistent_answers_are_never_asked_again() {
    let n = 80;
    let (mut distance, runs) = (0, 10);
    for seed in 0..runs {
        let tree = random_tree(TreeShape::Uniform, n, seed).unwrap();
        let mut oracle = TreeOracle::new(tree.topology()).with_noise(0.9, Wrong::Random, seed).unwrap();
        let method = robust(0.9, Assume::Adversarial, Noise::Persistent, 1 + 4 * seed as usize, Schedule::Questions);
        let mut learner = method.learner(n, seed).unwrap();
        let mut seen = HashSet::new();
        let ask = |questions: &[Question]| {
            for question in questions {
                let mut leaves = question.leaves;
                leaves.sort_unstable();
                assert!(seen.insert(leaves), "{leaves:?} twice");
            }
            oracle.answers(questions)
        };
        learn_with(&mut *learner, ask, Limits::default(), None).unwrap();
        assert!(learner.n_asked() < 20 * n as u64);
        let found = learner.tree().unwrap().into_topology();
        distance += robinson_foulds(&tree.join_ties().into_topology(), &found).unwrap().distance();
    }
    // If only three leaves are informative, one answer in ten is wrong.
    assert!(distance < runs * 2 * n as u64 / 5, "{distance}");
}

#[test]
fn settings_are_checked() {
    let message = |method: Method| method.learner(5, 1).err().unwrap().to_string();
    for (p, delta, expected) in [
        (0.5, 0.1, "p = 0.5 is outside (1/2, 1]"),
        (1.1, 0.1, "p = 1.1"),
        (f64::NAN, 0.1, "p = NaN"),
        (0.9, 0.0, "delta = 0 is outside"),
        (0.9, 1.0, "delta = 1"),
    ] {
        for method in [Method::robust(p, delta), Method::RobustPaper { p, delta }, Method::Majority { p, delta }] {
            assert!(message(method).contains(expected), "{}", message(method));
        }
    }
    let none = robust(0.9, Assume::Uniform, Noise::Independent, 0, Schedule::Rounds);
    assert!(message(none).contains("parallel = 0"));
    // Bounds that are hard to reach only make the learner slow.
    for p in [0.501, 0.999_999_999] {
        assert_eq!(Method::robust(p, 1e-9).learner(50, 1).unwrap().ask(3).unwrap().len(), 1);
        assert!(Method::Majority { p, delta: 1e-6 }.learner(50, 1).is_ok());
        assert_eq!(Method::RobustPaper { p, delta: 1e-6 }.learner(5, 1).unwrap().ask(1).unwrap().len(), 1);
    }
}

#[test]
fn budgets_failures_and_estimates() {
    let n = 60;
    let tree = random_tree(TreeShape::Yule, n, 1).unwrap();
    for method in methods(0.8) {
        let mut oracle = TreeOracle::new(tree.topology()).with_noise(0.8, Wrong::Random, 2).unwrap();
        let mut learner = method.learner(n, 3).unwrap();
        let mut calls = 0;
        let mut unreliable = |questions: &[Question]| {
            calls += 1;
            if calls % 3 == 0 { Err(ordhc::Error::Interrupted) } else { oracle.answers(questions) }
        };
        let mut estimates = Vec::new();
        while !learner.done() {
            let limits = Limits { batch: 7, budget: Some(40) };
            let before = learner.n_answered();
            estimates.push((before as f64, learner.remaining_estimate()));
            if learn_with(&mut *learner, &mut unreliable, limits, None).is_ok() && !learner.done() {
                assert_eq!(learner.n_answered(), before + 40);
            }
        }
        let total = learner.n_answered() as f64;
        assert_eq!(learner.n_asked(), learner.n_answered());
        for (answered, left) in estimates {
            assert!(
                (answered + left) / total > 0.5 && (answered + left) / total < 2.0,
                "{method:?}: {answered} + {left} of {total}"
            );
        }
    }
}

fn lcg(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below.max(1)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn contradictions_come_to_an_end(n in 1usize..14, kind in 0usize..6, seed in 0u64..1000) {
        let paper = Method::RobustPaper { p: 0.9, delta: 0.2 };
        for method in methods(0.9).into_iter().chain((n < 6).then_some(paper)) {
            let (mut draw, mut learner) = (lcg(seed), method.learner(n, seed).unwrap());
            let mut open: Vec<Question> = Vec::new();
            while !learner.done() {
                let asked = learner.ask(1 + draw(2 * n));
                if matches!(method, Method::RobustPaper { .. }) && asked.is_err() {
                    break;
                }
                open.extend(asked.unwrap());
                prop_assert!(!open.is_empty() && open.len() as u64 == learner.n_asked() - learner.n_answered());
                for _ in 0..1 + draw(open.len()) {
                    let question = open.swap_remove(draw(open.len()));
                    let answer = if kind < 4 { kind as i8 - 1 } else { draw(kind - 1) as i8 - i8::from(kind == 5) };
                    learner.tell(question.id, answer).unwrap();
                }
                prop_assert!(learner.remaining_estimate() >= 0.0 && learner.n_asked() < 50_000 * n as u64);
            }
            let tree = learner.tree().unwrap();
            prop_assert!(!learner.done() || learner.open().is_empty() && learner.placed() == n);
            prop_assert_eq!(tree.n_leaves(), n);
        }
    }

    #[test]
    fn the_order_of_telling_does_not_matter(n in 3usize..50, seed in 0u64..1000, limit in 1usize..40, p in 0.6..0.99) {
        let tree = random_tree(TreeShape::Uniform, n, seed).unwrap();
        let paper = Method::RobustPaper { p: 0.9, delta: 0.2 };
        let tree = if seed % 3 == 0 { random_tree(TreeShape::Degree(4), n, seed).unwrap() } else { tree };
        for method in methods(p).into_iter().chain((n < 6 && seed % 3 > 0).then_some(paper)) {
            let mut learners = [method.learner(n, seed).unwrap(), method.learner(n, seed).unwrap()];
            let mut random = lcg(seed);
            let mut oracle = TreeOracle::new(tree.topology()).with_noise(p, Wrong::Random, seed).unwrap();
            let mut pending: Vec<Question> = Vec::new();
            for _ in 0..300 {
                let asked = learners[0].ask(limit);
                prop_assert_eq!(&asked, &learners[1].ask(limit));
                // Answers are right less often than the paper's learner assumes.
                let Ok(asked) = asked else { break };
                pending.extend(&asked);
                if pending.is_empty() {
                    break;
                }
                let answered = 1 + random(pending.len());
                let batch: Vec<Question> = pending.drain(..answered).collect();
                let answers: HashMap<u64, i8> = batch.iter().map(|question| (question.id, oracle.answer(question.leaves))).collect();
                for question in &batch {
                    learners[0].tell(question.id, answers[&question.id]).unwrap();
                }
                let mut shuffled = batch.clone();
                for at in (1..shuffled.len()).rev() {
                    shuffled.swap(at, random(at + 1));
                }
                for question in &shuffled {
                    learners[1].tell(question.id, answers[&question.id]).unwrap();
                    learners[1].remaining_estimate();
                }
                prop_assert_eq!(learners[0].placed(), learners[1].placed());
            }
            prop_assert_eq!(learners[0].tree().unwrap(), learners[1].tree().unwrap());
            prop_assert_eq!(learners[0].done(), learners[1].done());
        }
    }
}
