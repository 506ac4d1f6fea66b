//! Calls the methods `ask` and `tell` of learners in any order.

use ordhc::learn::{Assume, Learner, Method, Noise, QuadrupletMethod, Schedule};

use crate::bytes::Bytes;

/// The largest number of leaves of a tested learner. More leaves take more time, but test no additional code.
const LEAVES: usize = 24;
const STEPS: usize = 400;

fn triplet_method(bytes: &mut Bytes<'_>) -> Method {
    let parallel = 1 + bytes.below(5);
    let p = [1.0, 0.99, 0.8, 0.6][bytes.below(4)];
    let delta = [0.05, 0.5, 0.999][bytes.below(3)];
    match bytes.below(9) {
        0 => Method::Quick,
        1 => Method::Insertion { parallel },
        2 => Method::Exact,
        3 => Method::Rounds,
        4 => Method::Balanced,
        5 => Method::RobustPaper { p, delta },
        6 => Method::Majority { p, delta },
        choice => Method::Robust {
            p,
            delta,
            assume: if bytes.below(2) == 0 { Assume::Adversarial } else { Assume::Uniform },
            noise: if choice == 7 { Noise::Independent } else { Noise::Persistent },
            parallel,
            schedule: [Schedule::Questions, Schedule::Balanced, Schedule::Rounds][bytes.below(3)],
        },
    }
}

/// Decodes calls from `data`, and makes these calls on a learner. A call is `ask` (with the maximum number of
/// questions) or `tell` (with the id of a question, and an answer). Calls may be invalid, as in a damaged log file.
pub fn replay(data: &[u8]) {
    let mut bytes = Bytes(data);
    let four = bytes.byte() % 4 == 3;
    let n = 1 + bytes.below(LEAVES);
    let seed = u64::from(bytes.byte());
    if four {
        let method = quadruplet_method(&mut bytes);
        if let Ok(mut learner) = method.learner(n, seed) {
            replay_into(&mut *learner, bytes);
        }
    } else if let Ok(mut learner) = triplet_method(&mut bytes).learner(n, seed) {
        replay_into(&mut *learner, bytes);
    }
}

fn quadruplet_method(bytes: &mut Bytes<'_>) -> QuadrupletMethod {
    match bytes.below(3) {
        0 => QuadrupletMethod::Single,
        1 => QuadrupletMethod::Complete,
        _ => QuadrupletMethod::FourK { landmarks: None, references: None },
    }
}

fn replay_into<const K: usize>(learner: &mut dyn Learner<K>, mut bytes: Bytes<'_>) {
    for _ in 0..STEPS {
        if bytes.is_empty() {
            break;
        }
        match bytes.byte() {
            0 => _ = learner.ask(usize::MAX).expect("there is memory"),
            few @ 1..=60 => _ = learner.ask(usize::from(few) % 8).expect("there is memory"),
            other => {
                // Most ids are near the ids of asked questions. Answers from -3 to 4 include invalid answers.
                let id = if other == 255 { u64::MAX } else { bytes.below(300) as u64 };
                let answer = (bytes.byte() % 8) as i8 - 3;
                let (before, open) = (learner.n_answered(), learner.open().iter().any(|question| question.id == id));
                let told = learner.tell(id, answer);
                assert!(open || told.is_err(), "question {id} is not open");
                let more = learner.n_answered() - before;
                assert_eq!(told.is_ok(), more > 0, "an answer that is taken counts, another one does not");
            }
        }
    }
    check(learner);
}

fn check<const K: usize>(learner: &dyn Learner<K>) {
    let n = learner.n_leaves();
    assert_eq!(learner.tree().expect("there is always a tree").n_leaves(), n);
    assert!(learner.placed() <= n && learner.n_answered() <= learner.n_asked());
    assert!(!learner.remaining_estimate().is_nan(), "the estimate is a number");
    assert_eq!(learner.open().len() as u64, learner.n_asked() - learner.n_answered(), "asked is open or answered");
}

/// Gives two equal learners the same answers. After each call of `ask`, the two learners receive the answers in
/// different orders. Both learners must ask the same questions and make the same tree.
pub fn orders(data: &[u8]) {
    let mut bytes = Bytes(data);
    let n = 1 + bytes.below(LEAVES);
    let seed = u64::from(bytes.byte());
    if bytes.byte() % 4 == 3 {
        let method = quadruplet_method(&mut bytes);
        if let (Ok(mut a), Ok(mut b)) = (method.learner(n, seed), method.learner(n, seed)) {
            side_by_side(&mut *a, &mut *b, bytes, [-1, 0, 1]);
        }
    } else {
        let method = triplet_method(&mut bytes);
        if let (Ok(mut a), Ok(mut b)) = (method.learner(n, seed), method.learner(n, seed)) {
            side_by_side(&mut *a, &mut *b, bytes, [0, 1, 2]);
        }
    }
}

fn side_by_side<const K: usize>(
    a: &mut dyn Learner<K>,
    b: &mut dyn Learner<K>,
    mut bytes: Bytes<'_>,
    answers: [i8; 3],
) {
    for _ in 0..STEPS {
        let limit = 1 + bytes.below(7);
        let asked = a.ask(limit);
        assert_eq!(asked, b.ask(limit), "both ask the same");
        // `asked` is an error if the method cannot build a tree from the answers.
        let Ok(asked) = asked else { break };
        assert!(asked.len() <= limit, "no more than wanted");
        assert!(asked.iter().flat_map(|question| question.leaves).all(|leaf| (leaf as usize) < a.n_leaves()));
        let open = a.open();
        if open.is_empty() {
            assert!(a.done(), "nothing is open and nothing is asked, but the learner is not done");
            break;
        }
        // Answer at least one question, so that the learner makes progress.
        let share = 1 + bytes.below(4);
        let told: Vec<_> = open.iter().step_by(share).map(|question| (question.id, answers[bytes.below(3)])).collect();
        for &(id, answer) in &told {
            a.tell(id, answer).expect("the question is open");
        }
        let turn = bytes.below(told.len());
        for &(id, answer) in told[turn..].iter().chain(&told[..turn]).rev() {
            b.tell(id, answer).expect("the question is open");
        }
        assert_eq!((a.n_asked(), a.n_answered(), a.placed()), (b.n_asked(), b.n_answered(), b.placed()));
    }
    check(a);
    assert_eq!(a.tree().expect("a tree"), b.tree().expect("a tree"), "both have the same tree");
}
