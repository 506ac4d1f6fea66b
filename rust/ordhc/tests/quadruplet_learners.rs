//! Learners that compare pairs find the linkages of the similarities, for any order of answers.

use ordhc::Dendrogram;
use ordhc::Kind;
use ordhc::agglomerate::{Agglomeration, Layout, Matrix, Values};
use ordhc::generate::QuadrupletOracle;
use ordhc::learn::{Learner, Limits, QuadrupletMethod, Question, learn_with};
use ordhc::linkage::Rule;
use ordhc::similarity::condensed_len;
use proptest::prelude::*;

const USUAL: QuadrupletMethod = QuadrupletMethod::FourK { landmarks: None, references: None };
const METHODS: [QuadrupletMethod; 3] = [QuadrupletMethod::Single, QuadrupletMethod::Complete, USUAL];

fn lcg(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below.max(1)
    }
}

/// Returns similarities without ties: a random order of the pairs, points on a line or in the plane, or a chain of
/// leaves.
fn similarities(n: usize, kind: usize, seed: u64) -> Vec<f64> {
    let mut random = lcg(seed);
    let points: Vec<[f64; 2]> = (0..n).map(|_| [random(1 << 20) as f64, random(1 << 20) as f64]).collect();
    let mut values = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let between = |at: usize| (points[i][at] - points[j][at]).powi(2);
            values.push(match kind {
                0 => random(1 << 30) as f64,
                1 => -between(0),
                2 => -between(0) - between(1),
                _ => -((j * j - i * i) as f64),
            });
        }
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    let mut ranks = vec![0.0; values.len()];
    order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank as f64);
    ranks
}

fn linked(similarities: &[f64], rule: &Rule) -> Dendrogram {
    if similarities.is_empty() {
        return Dendrogram::new(Vec::new(), Vec::new(), Kind::Similarity).unwrap();
    }
    let matrix = Matrix::new(Values::F64(similarities), Layout::Condensed, Kind::Similarity).unwrap();
    Agglomeration::new(rule.clone()).run(&matrix).unwrap()
}

/// Runs a learner to the end, in batches.
fn learned(method: QuadrupletMethod, similarities: &[f64], seed: u64, batch: usize) -> Box<dyn Learner<4>> {
    let mut oracle = QuadrupletOracle::new(similarities.to_vec()).unwrap();
    let mut learner = method.learner(oracle.n_leaves(), seed).unwrap();
    let limits = Limits { batch, budget: None };
    learn_with(&mut *learner, |questions| oracle.answers(questions), limits, None).unwrap();
    assert!(learner.done() && learner.placed() == learner.n_leaves() && learner.remaining_estimate() == 0.0);
    assert!(learner.ask(5).unwrap().is_empty() && learner.open().is_empty());
    learner
}

fn check_count(method: QuadrupletMethod, learner: &dyn Learner<4>) {
    let (n, asked) = (learner.n_leaves() as f64, learner.n_asked() as f64);
    match method {
        QuadrupletMethod::Single => assert!(asked <= (n - 1.0) * (n - 2.0) + n * n.log2(), "{n}: {asked}"),
        QuadrupletMethod::Complete => assert!(asked <= 2.5 * n * n + n * n.log2(), "{n}: {asked}"),
        _ => assert!(asked <= n * n, "{n}: {asked}"),
    }
}

#[test]
fn few_questions_and_rounds() {
    let n = 300;
    let square = (n * n) as f64;
    for kind in 0..4 {
        let similarities = similarities(n, kind, 5);
        let single = learned(QuadrupletMethod::Single, &similarities, 0, usize::MAX);
        let share = single.n_asked() as f64 / square;
        let most = if kind % 2 == 0 { 0.75 } else { 1.1 };
        assert!(share < most && single.n_rounds() < 14 * n as u64, "{kind}: {share} in {}", single.n_rounds());
        let complete = learned(QuadrupletMethod::Complete, &similarities, 0, usize::MAX);
        let share = complete.n_asked() as f64 / square;
        assert!(share < 1.7 && complete.n_rounds() < 30 * n as u64, "{kind}: {share} in {}", complete.n_rounds());
        let kernel = learned(USUAL, &similarities, 0, usize::MAX);
        assert!(kernel.n_rounds() == 1 && kernel.n_asked() as f64 <= square && kernel.n_asked() as f64 > 0.9 * square);
    }
}

#[test]
fn estimates_are_about_right() {
    let n = 200;
    for (method, at) in METHODS.into_iter().flat_map(|method| [0.01, 0.3, 0.6, 0.9].map(|at| (method, at))) {
        let similarities = similarities(n, 2, 3);
        let total = learned(method, &similarities, 1, 50).n_asked() as f64;
        let mut oracle = QuadrupletOracle::new(similarities).unwrap();
        let mut learner = method.learner(n, 1).unwrap();
        let limits = Limits { batch: 50, budget: Some((at * total) as u64) };
        learn_with(&mut *learner, |batch| oracle.answers(batch), limits, None).unwrap();
        let left = total - learner.n_answered() as f64;
        let estimate = learner.remaining_estimate();
        assert!((estimate - left).abs() < 0.15 * total, "{method:?} at {at}: {estimate} of {left}");
    }
}

#[test]
fn settings_and_answers_are_checked() {
    let message = |result: ordhc::Result<Box<dyn Learner<4>>>| result.err().unwrap().to_string();
    assert!(message(QuadrupletMethod::Single.learner(0, 1)).contains("n_leaves = 0"));
    assert!("slow".parse::<QuadrupletMethod>().unwrap_err().to_string().contains("single, complete, 4k-active"));
    for name in QuadrupletMethod::NAMES {
        let mut learner = name.parse::<QuadrupletMethod>().unwrap().learner(5, 1).unwrap();
        let question = learner.ask(1).unwrap()[0];
        assert_eq!(learner.open(), [question]);
        assert!(learner.tell(question.id, 2).unwrap_err().to_string().contains("the answer 2 is not 1, -1 or 0"));
        learner.tell(question.id, -1).unwrap();
        assert!(learner.tell(question.id, 1).unwrap_err().to_string().contains("answered already"));
    }
}

#[test]
fn equal_pairs_stand_in_lexicographic_order() {
    let n = 9;
    let order: Vec<f64> = (0..condensed_len(n)).map(|at| -(at as f64)).collect();
    let equal = vec![1.0; order.len()];
    for (method, rule) in [(QuadrupletMethod::Single, Rule::Single), (QuadrupletMethod::Complete, Rule::Complete)] {
        let found = learned(method, &equal, 0, 3).tree().unwrap();
        assert_eq!(found.merges(), linked(&order, &rule).merges());
        assert_eq!(found.heights(), (1..n as u32).map(f64::from).collect::<Vec<_>>());
    }
}

/// Runs a learner on arbitrary answers, some of them late, and checks the learner after each step.
fn check_run(
    method: QuadrupletMethod,
    n: usize,
    mut answer: impl FnMut(&Question<4>) -> i8,
    mut draw: impl FnMut(usize) -> usize,
) -> Dendrogram {
    let mut learner = method.learner(n, 7).unwrap();
    let mut open: Vec<Question<4>> = Vec::new();
    let (mut steps, mut placed) = (0, 0);
    while !learner.done() {
        open.extend(learner.ask(1 + draw(2 * n)).unwrap());
        assert!(!open.is_empty() && open.len() as u64 == learner.n_asked() - learner.n_answered());
        for _ in 0..1 + draw(open.len()) {
            let question = open.swap_remove(draw(open.len()));
            let [i, j, k, l] = question.leaves;
            assert!(i < j && k < l && [i, j] < [k, l]);
            learner.tell(question.id, answer(&question)).unwrap();
        }
        steps += 1;
        if steps % 7 == 0 || n < 12 {
            let tree = learner.tree().unwrap();
            assert!(tree.n_leaves() == n && tree.is_monotone());
            let (now, left) = (learner.placed(), learner.remaining_estimate());
            assert!((placed..=n).contains(&now) && left >= 0.0, "{method:?}: {placed}, {now} of {n}, {left} left");
            placed = learner.placed();
        }
        assert!(learner.n_asked() < 10 * (n * n) as u64 + 10, "{method:?} asked {}", learner.n_asked());
    }
    assert!(learner.open().is_empty() && learner.placed() == n);
    learner.tree().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn single_and_complete_linkage_are_found(n in 1usize..=40, kind in 0usize..4, seed in any::<u64>()) {
        let similarities = similarities(n, kind, seed);
        for (method, rule) in [(QuadrupletMethod::Single, Rule::Single), (QuadrupletMethod::Complete, Rule::Complete)] {
            let expected = linked(&similarities, &rule);
            for batch in [1, 5, usize::MAX] {
                let learner = learned(method, &similarities, 0, batch);
                check_count(method, &*learner);
                let found = learner.tree().unwrap();
                prop_assert_eq!(found.merges(), expected.merges());
            }
            let oracle = QuadrupletOracle::new(similarities.clone()).unwrap();
            if n > 1 {
                let found = check_run(method, n, |question| oracle.truth(question.leaves), lcg(seed));
                prop_assert_eq!(found.merges(), expected.merges());
            }
        }
    }

    #[test]
    fn contradictions_come_to_an_end(n in 1usize..40, kind in 0usize..5, seed in 0u64..1000) {
        for method in METHODS {
            let mut random = lcg(seed ^ 99);
            let answer = |_: &Question<4>| match kind {
                4 => 2 * random(2) as i8 - 1,
                3 => random(3) as i8 - 1,
                kind => kind as i8 - 1,
            };
            check_run(method, n, answer, lcg(seed));
        }
    }

    #[test]
    fn the_order_of_telling_does_not_matter(n in 3usize..40, seed in 0u64..1000, limit in 1usize..60, lies in any::<bool>()) {
        let oracle = QuadrupletOracle::new(similarities(n, 2, seed)).unwrap();
        for method in METHODS {
            let mut learners = [method.learner(n, seed).unwrap(), method.learner(n, seed).unwrap()];
            let mut random = lcg(seed);
            let mut pending: [Vec<Question<4>>; 2] = Default::default();
            let answer = |question: &Question<4>| {
                if lies && question.id.is_multiple_of(5) { (question.id % 3) as i8 - 1 } else { oracle.truth(question.leaves) }
            };
            while !learners[0].done() {
                let asked = learners[0].ask(limit).unwrap();
                prop_assert_eq!(&asked, &learners[1].ask(limit).unwrap());
                pending.iter_mut().for_each(|pending| pending.extend(&asked));
                let answered = 1 + random(pending[0].len());
                let batch: Vec<Question<4>> = pending[0].drain(..answered).collect();
                pending[1].drain(..answered);
                for question in &batch {
                    learners[0].tell(question.id, answer(question)).unwrap();
                }
                let mut shuffled = batch.clone();
                for at in (1..shuffled.len()).rev() {
                    shuffled.swap(at, random(at + 1));
                }
                for question in &shuffled {
                    learners[1].tell(question.id, answer(question)).unwrap();
                }
                prop_assert_eq!(learners[0].placed(), learners[1].placed());
            }
            prop_assert_eq!(learners[0].tree().unwrap(), learners[1].tree().unwrap());
        }
    }
}
