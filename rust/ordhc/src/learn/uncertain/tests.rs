use std::time::Duration;

use rand::RngExt;

use super::*;
use crate::error::Error;
use crate::generate::TreeOracle;

fn level(a: u32, b: u32) -> u32 {
    32 - (a ^ b).leading_zeros()
}

fn odd(leaves: [u32; 3]) -> i8 {
    let [a, b, c] = leaves;
    let far = [level(b, c), level(a, c), level(a, b)];
    (0..3).find(|&at| far[at] < far[(at + 1) % 3] && far[at] < far[(at + 2) % 3]).map_or(-1, |at| at as i8)
}

fn learner(n: usize, questions: u64, repeat: u64) -> Uncertain {
    Uncertain::new(n, 3, Some(questions), repeat)
}

fn run(learner: &mut Uncertain, batch: usize, flip: bool) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    while !learner.done() {
        for question in learner.ask(batch).unwrap() {
            let wrong = flip && random.random_range(0..5) == 0;
            let answer = if wrong { random.random_range(0..3) } else { odd(question.leaves) };
            learner.tell(question.id, answer).unwrap();
        }
    }
}

#[test]
fn a_tree_is_learnt_although_answers_are_wrong() {
    let mut one = learner(16, 320, 1);
    run(&mut one, 8, true);
    let tree = one.tree().unwrap();
    assert_eq!((one.n_answered(), one.placed(), one.remaining_estimate()), (320, 16, 0.0));
    let text = tree.newick().to_string();
    let found = (0..8).filter(|pair| text.contains(&format!("({},{})", 2 * pair, 2 * pair + 1))).count();
    assert!(found >= 7, "{text}");
}

fn one_of_three_knows(learner: &mut Uncertain, count: usize, who: [Option<u32>; 3]) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..count {
        let leaves = loop {
            let leaves = [(); 3].map(|()| random.random_range(0..16));
            if (1..3).all(|at| !leaves[..at].contains(&leaves[at])) && odd(leaves) >= 0 {
                break leaves;
            }
        };
        let answers = [odd(leaves), random.random_range(0..3), random.random_range(0..3)];
        for (answer, who) in answers.into_iter().zip(who) {
            learner.add(leaves, Told { who, ..Told::new(answer) });
        }
    }
}

#[test]
fn who_answers_by_chance_is_learnt() {
    let [mut known, mut unknown] = [learner(16, 1000, 1), learner(16, 1000, 1)];
    one_of_three_knows(&mut known, 200, [Some(1), Some(2), Some(3)]);
    one_of_three_knows(&mut unknown, 200, [None; 3]);
    let [known, unknown] = [known, unknown].map(|learner| agree(odd, &learner.tree().unwrap()));
    assert!(known > 0.97 && known > unknown + 0.02, "{known} {unknown}");
}

#[test]
fn numbers_of_people_and_the_order_of_answers_do_not_matter() {
    let [mut one, mut other] = [learner(16, 1000, 1), learner(16, 1000, 1)];
    one_of_three_knows(&mut one, 40, [Some(1), None, Some(3)]);
    one_of_three_knows(&mut other, 40, [Some(90), Some(2), Some(7)]);
    other.answers.reverse();
    assert_eq!(one.tree().unwrap(), other.tree().unwrap());
    [&mut one, &mut other].into_iter().for_each(Flexible::note);
    assert_eq!(one.suggest(9, None).unwrap(), other.suggest(9, None).unwrap());
    // If there is only one person, it doesn't matter who the person is.
    let [mut named, mut nobody] = [learner(16, 1000, 1), learner(16, 1000, 1)];
    one_of_three_knows(&mut named, 40, [Some(4); 3]);
    one_of_three_knows(&mut nobody, 40, [None; 3]);
    assert_eq!(named.tree().unwrap(), nobody.tree().unwrap());
}

#[test]
fn questions_are_about_what_is_not_known() {
    let mut one = learner(16, 320, 1);
    run(&mut one, 8, false);
    let trees =
        draw(16, &one.answers, &Sampling { chains: 2, sweeps: 40, burn_in: 20, ..one.sampling() }, None).unwrap();
    // Leaves 0 and 1 are neighbours, and leaf 9 is far from both. After all answers, the learner is almost certain that
    // leaf 9 is the odd one out, so this question would give almost no information.
    assert!(trees.information([0, 1, 9]) < 0.05);
    let few =
        draw(16, &one.answers[..16], &Sampling { chains: 2, sweeps: 40, burn_in: 20, ..one.sampling() }, None).unwrap();
    assert!(few.information([0, 1, 9]) > trees.information([0, 1, 9]));
}

#[test]
fn questions_that_are_suggested_are_those_that_are_asked() {
    let (mut one, mut other) = (learner(9, 100, 1), learner(9, 100, 1));
    for round in 0..6 {
        one.note();
        let suggested = one.suggest(6, None).unwrap();
        assert_eq!(suggested, one.suggest(6, None).unwrap());
        let asked = other.ask(6).unwrap();
        assert_eq!(suggested, asked.iter().map(|question| question.leaves).collect::<Vec<_>>());
        for (leaves, question) in suggested.iter().zip(&asked) {
            let id = one.adopt(*leaves).unwrap();
            assert_eq!(id, question.id);
            let answer = if round % 2 == 0 { odd(*leaves) } else { -1 };
            one.tell(id, answer).unwrap();
            other.tell(id, answer).unwrap();
        }
        assert_eq!(one.tree().unwrap(), other.tree().unwrap());
    }
}

#[test]
fn batches_have_no_question_twice_and_spare_leaves() {
    let mut one = learner(30, 1000, 1);
    run_some(&mut one, 90);
    one.note();
    let asked = one.suggest(15, None).unwrap();
    let different: HashSet<[u32; 3]> = asked.iter().copied().map(key).collect();
    assert_eq!(different.len(), 15);
    let most = (0..30).map(|leaf| asked.iter().flatten().filter(|&&other| other == leaf).count()).max();
    // The limit for each leaf grows with the number of questions since trees were last sampled from the posterior: 10
    // asked questions and the 15 suggested questions.
    assert!(most <= Some(2 + 6 * (10 + 15) / 30), "{most:?}");
}

fn run_some(learner: &mut Uncertain, count: u64) {
    while learner.n_answered() < count {
        for question in learner.ask(10).unwrap() {
            learner.tell(question.id, odd(question.leaves)).unwrap();
        }
    }
}

#[test]
fn repeats_come_again_first() {
    let mut one = learner(9, 100, 3);
    let first = one.ask(2).unwrap();
    let next = one.ask(4).unwrap();
    assert_eq!([next[0].leaves, next[1].leaves], [first[0].leaves, first[1].leaves]);
    assert!(next[2..].iter().all(|new| key(new.leaves) != key(first[0].leaves)));
    let last = one.ask(2).unwrap();
    assert_eq!([last[0].leaves, last[1].leaves], [first[0].leaves, first[1].leaves]);
    assert_ne!(key(one.ask(1).unwrap()[0].leaves), key(first[0].leaves));
}

#[test]
fn few_leaves_and_no_answers() {
    for n in 1..3 {
        let mut one = learner(n, 10, 1);
        assert!(one.done() && one.ask(3).unwrap().is_empty() && one.tree().unwrap().n_leaves() == n);
    }
    let mut one = learner(5, 10, 1);
    assert_eq!(one.tree().unwrap().topology().children(5), [0, 1, 2, 3, 4]);
    one.add([4, 1, 2], 0.into());
    let tree = one.tree().unwrap();
    assert_eq!(tree.merges().as_ref(), [[1, 2], [4, 5], [0, 6], [3, 7]]);
    assert_eq!(tree.heights()[1], tree.heights()[3]);
    assert_eq!((one.placed(), one.n_answered()), (3, 0));
    let mut three = learner(3, 2, 1);
    let asked = three.ask(9).unwrap();
    assert_eq!(asked.len(), 2);
    asked.iter().for_each(|question| three.tell(question.id, odd(question.leaves)).unwrap());
    assert!(three.done());
}

#[test]
fn pairs_are_asked_about_of_a_list() {
    let n = 16u32;
    let all = (0..n).flat_map(|a| (0..n).flat_map(move |b| (b + 1..n).map(move |c| [a, b, a, c])));
    let all: Vec<[u32; 4]> = all.filter(|&[a, b, _, c]| a != b && a != c).collect();
    let rows: Vec<[u32; 4]> = all.into_iter().step_by(3).collect();
    let mut one = uncertain_among_pairs(16, rows.clone(), Some(300), 1, 3).unwrap();
    let mut asked = HashSet::new();
    while !one.done() {
        for question in one.ask(10).unwrap() {
            let [a, b, _, c] = question.leaves;
            assert!(rows.contains(&question.leaves) && asked.insert(question.leaves), "{question:?}");
            let answer = level(a, c).cmp(&level(a, b)) as i8;
            one.tell(question.id, answer).unwrap();
        }
    }
    assert_eq!(one.n_answered(), 300);
    assert!(agree(odd, &one.tree().unwrap()) >= 0.95);
}

fn agree(truth: impl Fn([u32; 3]) -> i8, tree: &Dendrogram) -> f64 {
    let n = tree.n_leaves() as u32;
    let mut oracle = TreeOracle::new(tree.topology());
    let all = (0..n).flat_map(|a| (0..a).flat_map(move |b| (0..b).map(move |c| [a, b, c])));
    let told: Vec<[u32; 3]> = all.filter(|&leaves| truth(leaves) >= 0).collect();
    told.iter().filter(|&&leaves| oracle.answer(leaves) == truth(leaves)).count() as f64 / told.len() as f64
}

#[test]
fn all_pairs_are_asked_about_or_those_that_share_a_leaf() {
    for anchored in [false, true] {
        let mut one = uncertain_of_pairs(16, anchored, Some(400), 1, 3).unwrap();
        while !one.done() {
            for question in one.ask(10).unwrap() {
                let [a, b, c, d] = question.leaves;
                assert!(a != b && c != d && (!anchored || (a == c && b != d)), "{question:?}");
                one.tell(question.id, level(c, d).cmp(&level(a, b)) as i8).unwrap();
            }
        }
        assert_eq!(one.n_answered(), 400);
        let right = agree(odd, &one.tree().unwrap());
        assert!(right >= 0.95, "{anchored} {right}");
    }
    assert!(uncertain_of_pairs(0, true, None, 1, 0).is_err());
    assert!(uncertain_of_pairs(5, true, None, 0, 0).is_err());
    for n in [1, 2] {
        let mut none = uncertain_of_pairs(n, true, None, 1, 0).unwrap();
        assert!(none.done() && none.ask(3).unwrap().is_empty());
    }
}

#[test]
fn lists_are_asked_as_far_as_they_go() {
    let rows = vec![[0, 1, 2], [2, 1, 0], [3, 1, 2]];
    let mut one = uncertain_among(5, rows.clone(), None, 2, 0).unwrap();
    let mut asked: Vec<[u32; 3]> = Vec::new();
    while !one.done() {
        let questions = one.ask(9).unwrap();
        assert!(!questions.is_empty());
        for question in questions {
            asked.push(key(question.leaves));
            one.tell(question.id, 0).unwrap();
        }
    }
    asked.sort_unstable();
    assert_eq!(asked, [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 2, 3], [1, 2, 3]]);
    assert!(one.ask(3).unwrap().is_empty());
    for (wrong, repeat) in [([0, 1, 5], 1), ([0, 1, 1], 1), ([0, 1, u32::MAX], 1), ([0, 1, 2], 0)] {
        assert!(uncertain_among(5, vec![wrong], None, repeat, 0).is_err(), "{wrong:?}");
    }
    assert!(uncertain_among_pairs(5, vec![[0, 1, 1, 0]], None, 1, 0).is_err());
    assert!(uncertain_among(5, Vec::new(), None, 1, 0).unwrap().done());
}

#[test]
fn drawing_stops_and_can_be_tried_again() {
    let (mut one, mut other) = (learner(30, 1000, 1), learner(30, 1000, 1));
    for learner in [&mut one, &mut other] {
        run_some(learner, 90);
        (0..30).for_each(|leaf| learner.add([leaf, (leaf + 1) % 30, (leaf + 2) % 30], 0.into()));
    }
    let impatient = Monitor::watched(Duration::ZERO, |_| false);
    assert_eq!(one.tree_watched(Some(&impatient)), Err(Error::Interrupted));
    let impatient = Monitor::watched(Duration::ZERO, |_| false);
    assert_eq!(one.ask_watched(5, Some(&impatient)), Err(Error::Interrupted));
    assert_eq!(one.counts(), other.counts());
    assert_eq!(one.ask(5).unwrap(), other.ask(5).unwrap());
}

#[test]
fn trees_are_drawn_a_few_times_in_all() {
    let mut one = learner(8, 10_000, 1);
    let mut draws = 0;
    for _ in 0..4000 {
        one.add([0, 1, 2], 2.into());
        let before = one.mark;
        one.note();
        draws += usize::from(one.mark != before);
    }
    // Up to 128 answers, new trees are sampled after every 8 answers. Then new trees are sampled whenever the number of
    // answers has grown by a sixteenth.
    assert!((60..90).contains(&draws), "{draws}");
}
