use proptest::prelude::*;

use super::*;
use crate::learn::Method;

fn oracle(leaves: [u32; 3]) -> i8 {
    let same = |a: usize, b: usize| leaves[a] / 2 == leaves[b] / 2;
    if same(1, 2) {
        0
    } else if same(0, 2) {
        1
    } else if same(0, 1) {
        2
    } else {
        -1
    }
}

fn by(at: usize, leaves: [u32; 3]) -> Told {
    Told { who: (at % 3).checked_sub(1).map(|who| who as u32), ..Told::new(oracle(leaves)) }
}

fn new_session(kind: usize, repeat: u64) -> SessionLearner {
    if kind == 5 {
        return SessionLearner::new(
            Method::Uncertain { questions: Some(80), repeat }.learner(8, 1).unwrap(),
            None,
            None,
        );
    }
    let method = [
        Method::Insertion { parallel: 1 },
        Method::Insertion { parallel: 3 },
        Method::Quick,
        Method::Rounds,
        Method::Balanced,
    ][kind];
    SessionLearner::new(crate::bindings::repeated(method.learner(8, 1).unwrap(), repeat).unwrap(), None, None)
}

fn told(kind: usize, repeat: u64, events: &[Event]) -> SessionLearner {
    let mut session = new_session(kind, repeat);
    for &event in events {
        session.apply(event).unwrap();
    }
    session
}

/// Hands out up to `count` questions, and returns them with their numbers.
fn hand_out(session: &mut SessionLearner, count: u64, number: &mut u64) -> Vec<(u64, [u32; 3])> {
    session.apply(Event::Wanted(count)).unwrap();
    let questions = (*number + 1..).zip(session.waiting(count, None).unwrap());
    let questions: Vec<(u64, [u32; 3])> = questions.collect();
    for &(new, leaves) in &questions {
        session.apply(Event::Handed(new, leaves)).unwrap();
        *number = new;
    }
    questions
}

/// Answers all questions until the learner is done.
fn finish(session: &mut SessionLearner, mut number: u64, truth: fn([u32; 3]) -> i8) {
    for _ in 0..200_000 {
        if session.done() {
            return;
        }
        hand_out(session, 5, &mut number);
        let open = session.open(99, &[]);
        assert!(!open.is_empty() || session.done());
        for (number, leaves) in open {
            session.apply(Event::Answered(number, leaves, truth(leaves).into())).unwrap();
        }
    }
    assert!(session.done());
}

type State = (Vec<(u64, [u32; 3])>, Vec<[u32; 3]>, String, bool);

fn state(session: &mut SessionLearner) -> State {
    let tree = session.learner().tree().unwrap().newick().to_string();
    (session.open(99, &[]), session.waiting(99, None).unwrap(), tree, session.done())
}

proptest! {
    #[test]
    fn whatever_happens_it_goes_on(kind in 0usize..5, triple: bool, acts in acts(40)) {
        goes_on(kind, triple, acts)?;
    }
}

proptest! {
    // Few cases and acts, because each act samples many trees.
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn whatever_happens_it_goes_on_with_any_answer(triple: bool, acts in acts(16)) {
        goes_on(5, triple, acts)?;
    }
}

fn acts(most: usize) -> impl Strategy<Value = Vec<(u8, usize)>> {
    prop::collection::vec((0u8..6, 0usize..8), 1..most)
}

/// Applies random events to a [`SessionLearner`], and checks that a replay of the events gives the same state. At the
/// end, all questions must be answered.
fn goes_on(kind: usize, triple: bool, acts: Vec<(u8, usize)>) -> std::result::Result<(), TestCaseError> {
    let repeat = if triple { 3 } else { 1 };
    let mut events: Vec<Event> = Vec::new();
    let mut one = new_session(kind, repeat);
    let mut number = 0;
    for (act, at) in acts {
        let before = events.len();
        match act {
            0 | 1 => {
                events.push(Event::Wanted(1 + at as u64));
                let handed = hand_out(&mut one, 1 + at as u64, &mut number);
                events.extend(handed.into_iter().map(|(number, leaves)| Event::Handed(number, leaves)));
                continue;
            }
            2 => {
                let handed = events.iter().filter_map(|event| match event {
                    Event::Handed(number, leaves) => Some((*number, *leaves)),
                    _ => None,
                });
                if let Some((number, [a, b, c])) = handed.skip(at).last() {
                    events.push(Event::Answered(number, [c, a, b], by(at, [c, a, b])));
                }
            }
            3 => {
                let leaves = [at as u32, (at as u32 + 1) % 8, (at as u32 + 3) % 8];
                events.push(Event::Given(leaves, by(at, leaves)));
                events.push(Event::Use);
            }
            4 => events.push(Event::Parallel(1 + at as u64)),
            _ => {
                let is_answer = |event: &Event| matches!(event, Event::Answered(..));
                if let Some(at) = events.iter().rposition(is_answer) {
                    let undone = events.remove(at);
                    let Event::Answered(number, ..) = undone else { unreachable!() };
                    one = told(kind, repeat, &events);
                    let again =
                        events.iter().any(|event| matches!(event, Event::Answered(other, ..) if *other == number));
                    // A person who still has the question may answer it again.
                    prop_assert_eq!(one.held(number).is_some(), !again);
                    let is_open = one.open(99, &[]).iter().any(|open| open.0 == number);
                    prop_assert_eq!(one.is_asked(number), is_open);
                    continue;
                }
            }
        }
        for &event in &events[before..] {
            one.apply(event).unwrap();
        }
        prop_assert_eq!(state(&mut one), state(&mut told(kind, repeat, &events)));
        prop_assert_eq!(state(&mut one), state(&mut one.clone()));
    }
    finish(&mut one, number, oracle);
    let want = told(0, 1, &[]);
    prop_assert_eq!(want.learner().n_leaves(), 8);
    let tree = one.learner().tree().unwrap().newick().to_string();
    for pair in ["(0,1)", "(2,3)", "(4,5)", "(6,7)"] {
        prop_assert!(tree.contains(pair), "{}", tree);
    }
    Ok(())
}

/// Returns the answer of a binary tree in which the bits of a leaf's id are its path from the
/// root. The method robust-paper finds binary trees only.
fn of_bits(leaves: [u32; 3]) -> i8 {
    let [a, b, c] = leaves;
    let bits = [b ^ c, a ^ c, a ^ b].map(u32::leading_zeros);
    (0..3).max_by_key(|&at| bits[at]).unwrap() as i8
}

fn changing(kind: usize, n: usize) -> Box<dyn Learner> {
    let (assume, schedule) = (crate::learn::Assume::Adversarial, crate::learn::Schedule::Questions);
    let noisy = |noise, parallel| Method::Robust { p: 0.9, delta: 0.05, assume, noise, parallel, schedule };
    let method = [
        Method::Insertion { parallel: 1 },
        Method::Insertion { parallel: 4 },
        Method::Exact,
        Method::Rounds,
        Method::Balanced,
        noisy(crate::learn::Noise::Independent, 1),
        noisy(crate::learn::Noise::Independent, 3),
        noisy(crate::learn::Noise::Persistent, 2),
        Method::Majority { p: 0.9, delta: 0.05 },
        Method::RobustPaper { p: 0.95, delta: 0.2 },
        Method::Insertion { parallel: 2 },
    ][kind];
    let learner = method.learner(n, 3).unwrap();
    if kind == 10 { crate::bindings::repeated(learner, 3).unwrap() } else { learner }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn leaves_come_and_go(kind in 0usize..11, n in 1usize..7, acts in prop::collection::vec((0u8..8, 0usize..8), 0..40)) {
        let truth_of = if kind == 9 { of_bits } else { oracle };
        let new = || SessionLearner::new(changing(kind, n), None, None);
        let (mut session, mut events, mut number) = (new(), Vec::new(), 0);
        let mut leaves: Vec<u32> = (0..n as u32).collect();
        let mut total = n as u32;
        let mut held: Vec<(u64, [u32; 3])> = Vec::new();
        let mut step = |session: &mut SessionLearner, event: Event| {
            events.push(event);
            session.apply(event).unwrap();
        };
        for (act, at) in acts {
            match act {
                0 if total < 12 => {
                    leaves.push(total);
                    total += 1;
                    step(&mut session, Event::Added);
                }
                1 if leaves.len() > 1 => {
                    let leaf = leaves.remove(at % leaves.len());
                    step(&mut session, Event::Retired(leaf));
                }
                2..=4 => {
                    step(&mut session, Event::Wanted(1 + at as u64));
                    for leaves in session.waiting(1 + at as u64, None).unwrap() {
                        number += 1;
                        held.push((number, leaves));
                        step(&mut session, Event::Handed(number, leaves));
                    }
                }
                _ if !held.is_empty() => {
                    // Some of these questions may be withdrawn by now.
                    let (number, leaves) = held.remove(at % held.len());
                    step(&mut session, Event::Answered(number, leaves, truth_of(leaves).into()));
                }
                _ => {}
            }
            for (_, asked) in session.open(usize::MAX, &[]) {
                prop_assert!(asked.iter().all(|leaf| leaves.contains(leaf)));
            }
            prop_assert!(session.learner().placed() <= leaves.len());
            prop_assert_eq!(session.learner().n_leaves(), total as usize);
            let is_done = session.learner().placed() == leaves.len();
            prop_assert_eq!(session.done(), is_done);
            prop_assert_eq!(session.remaining_estimate() == 0.0, is_done);
        }
        let mut again = new();
        events.iter().for_each(|&event| again.apply(event).unwrap());
        prop_assert_eq!(state(&mut session), state(&mut again));
        finish(&mut session, number, truth_of);
        let tree = session.learner().tree().unwrap();
        let mut truth = crate::generate::TreeOracle::new(tree.topology());
        for (i, &a) in leaves.iter().enumerate() {
            for (j, &b) in leaves.iter().enumerate().skip(i + 1) {
                for &c in &leaves[j + 1..] {
                    prop_assert_eq!(truth.answer([a, b, c]), truth_of([a, b, c]), "{}", tree.newick());
                }
            }
        }
    }
}

#[test]
fn retiring_loses_few_answers() {
    for kind in [0, 5] {
        let mut session = SessionLearner::new(changing(kind, 9), None, Some(1000));
        let mut retired = false;
        for number in 0..1000 {
            session.apply(Event::Wanted(1)).unwrap();
            let Some(&leaves) = session.waiting(1, None).unwrap().first() else { break };
            session.apply(Event::Handed(number, leaves)).unwrap();
            let left = session.left();
            if !retired && session.learner().placed() == 8 {
                retired = true;
                let gone = (0..8).find(|leaf| !leaves.contains(leaf)).unwrap();
                session.apply(Event::Retired(gone)).unwrap();
                assert_eq!(session.left(), left + 1, "the question is nobody's until it is asked again");
                session.apply(Event::Answered(number, leaves, oracle(leaves).into())).unwrap();
                continue;
            }
            session.apply(Event::Answered(number, leaves, oracle(leaves).into())).unwrap();
        }
        assert!(retired && session.done() && session.learner().placed() == 8);
    }
}

#[test]
fn the_budget_is_shared() {
    let mut session = SessionLearner::new(Method::Insertion { parallel: 1 }.learner(8, 1).unwrap(), None, Some(3));
    session.apply(Event::Spent).unwrap();
    session.apply(Event::Spent).unwrap();
    assert_eq!((session.left(), session.done()), (1, false));
    session.apply(Event::Wanted(5)).unwrap();
    let leaves = session.waiting(5, None).unwrap()[0];
    session.apply(Event::Handed(1, leaves)).unwrap();
    assert!(session.asks([leaves[2], leaves[0], leaves[1]]) && !session.asks([5, 6, 7]));
    assert_eq!((session.left(), session.done()), (0, false));
    session.apply(Event::Answered(1, leaves, oracle(leaves).into())).unwrap();
    assert!(session.done());
}

#[test]
fn searches_follow_what_is_wanted() {
    for method in [Method::Insertion { parallel: 1 }, Method::robust(0.9, 0.05)] {
        let mut learner = method.learner(20, 1).unwrap();
        assert_eq!(learner.ask(100).unwrap().len(), 1);
        learner.set_parallel(7);
        let asked = learner.ask(100).unwrap();
        assert_eq!(asked.len(), 6);
        learner.set_parallel(2);
        for question in learner.open() {
            learner.tell(question.id, oracle(question.leaves)).unwrap();
        }
        let mut n_open = 7;
        while !learner.done() {
            let asked = learner.ask(100).unwrap();
            let leaves: std::collections::HashSet<u32> = asked.iter().map(|question| question.leaves[2]).collect();
            assert!(leaves.len() <= n_open, "{} of {n_open}", leaves.len());
            n_open = if learner.placed() >= 9 { 2 } else { 7 };
            for question in asked {
                learner.tell(question.id, oracle(question.leaves)).unwrap();
            }
        }
    }
}

/// If each question is asked several times, the number of answers does not determine the number of decided
/// majorities. So the learner must count these majorities, to estimate the number of remaining answers.
#[test]
fn majorities_are_counted_when_leaves_come_and_go() {
    let mut session = SessionLearner::new(changing(8, 5), None, None);
    let (mut number, mut held) = (0, Vec::new());
    let acts = [(2, 1), (5, 0), (5, 0), (1, 1), (2, 0), (5, 0), (1, 2), (0, 0), (2, 2), (5, 0), (5, 0), (5, 0)];
    for (act, at) in acts {
        match act {
            0 => session.apply(Event::Added).unwrap(),
            1 => session.apply(Event::Retired(at)).unwrap(),
            2 => held.extend(hand_out(&mut session, 1 + u64::from(at), &mut number)),
            _ if held.is_empty() => {}
            _ => {
                let (number, leaves) = held.remove(0);
                session.apply(Event::Answered(number, leaves, oracle(leaves).into())).unwrap();
            }
        }
        assert!(session.remaining_estimate() < 1e4, "{}", session.remaining_estimate());
    }
}

fn answer_all(learner: &mut dyn Learner, truth: fn([u32; 3]) -> i8) -> u64 {
    let before = learner.n_answered();
    while !learner.done() {
        for question in learner.ask(1).unwrap() {
            learner.tell(question.id, truth(question.leaves)).unwrap();
        }
    }
    learner.n_answered() - before
}

#[test]
fn estimates_start_again_when_a_leaf_is_retired() {
    for kind in 0..11 {
        let truth = if kind == 9 { of_bits } else { oracle };
        let mut learner = changing(kind, 100);
        answer_all(&mut *learner, truth);
        learner.retire(3).unwrap();
        learner.add_leaf().unwrap();
        let expected = learner.remaining_estimate();
        let needed = answer_all(&mut *learner, truth);
        assert!(expected < 4.0 * needed as f64 + 20.0, "method {kind}: {expected} for {needed} answers");
    }
}
