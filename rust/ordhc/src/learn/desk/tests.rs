use proptest::prelude::*;

use super::*;
use crate::learn::Method;

/// Returns the answer of the tree ((0,1),(2,3),...).
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

/// Returns an answer of a person, or of an unknown person.
fn by(at: usize, leaves: [u32; 3]) -> Told {
    Told { who: (at % 3).checked_sub(1).map(|who| who as u32), ..Told::new(oracle(leaves)) }
}

fn desk(kind: usize, repeat: u64) -> Desk {
    if kind == 5 {
        return Desk::new(Method::Uncertain { questions: None, repeat }.learner(8, 1).unwrap(), None, None);
    }
    let method = [
        Method::Insertion { parallel: 1 },
        Method::Insertion { parallel: 3 },
        Method::Quick,
        Method::Rounds,
        Method::Balanced,
    ][kind];
    Desk::new(crate::bindings::repeated(method.learner(8, 1).unwrap(), repeat).unwrap(), None, None)
}

fn told(kind: usize, repeat: u64, events: &[Event]) -> Desk {
    let mut desk = desk(kind, repeat);
    for &event in events {
        desk.apply(event).unwrap();
    }
    desk
}

type State = (Vec<(u64, [u32; 3])>, Vec<[u32; 3]>, String, bool);

fn state(desk: &mut Desk) -> State {
    let tree = desk.learner().tree().unwrap().newick().to_string();
    (desk.open(99, &[]), desk.waiting(99, None).unwrap(), tree, desk.done())
}

proptest! {
    #[test]
    fn whatever_happens_it_goes_on(kind in 0usize..5, triple: bool, acts in acts()) {
        goes_on(kind, triple, acts)?;
    }
}

proptest! {
    // Few cases, because trees are drawn often.
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn whatever_happens_it_goes_on_with_any_answer(triple: bool, acts in acts()) {
        goes_on(5, triple, acts)?;
    }
}

fn acts() -> impl Strategy<Value = Vec<(u8, usize)>> {
    prop::collection::vec((0u8..6, 0usize..8), 1..40)
}

/// People ask, answer (also questions that aren't open), import, and take answers back, in any order. A desk that
/// replays all events has the same state as the original one. At the end all questions are answered.
fn goes_on(kind: usize, triple: bool, acts: Vec<(u8, usize)>) -> std::result::Result<(), TestCaseError> {
    let repeat = if triple { 3 } else { 1 };
    let mut events: Vec<Event> = Vec::new();
    let mut one = desk(kind, repeat);
    let mut number = 0;
    for (act, at) in acts {
        let before = events.len();
        match act {
            0 | 1 => {
                events.push(Event::Wanted(1 + at as u64));
                one.apply(events[before]).unwrap();
                for leaves in one.waiting(1 + at as u64, None).unwrap() {
                    number += 1;
                    events.push(Event::Handed(number, leaves));
                    one.apply(Event::Handed(number, leaves)).unwrap();
                }
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
    while !one.done() {
        one.apply(Event::Wanted(1)).unwrap();
        for leaves in one.waiting(1, None).unwrap() {
            number += 1;
            one.apply(Event::Handed(number, leaves)).unwrap();
        }
        let open = one.open(99, &[]);
        prop_assert!(!open.is_empty() || one.done());
        for (number, leaves) in open {
            one.apply(Event::Answered(number, leaves, oracle(leaves).into())).unwrap();
        }
    }
    let want = told(0, 1, &[]);
    prop_assert_eq!(want.learner().n_leaves(), 8);
    let tree = one.learner().tree().unwrap().newick().to_string();
    for pair in ["(0,1)", "(2,3)", "(4,5)", "(6,7)"] {
        prop_assert!(tree.contains(pair), "{}", tree);
    }
    Ok(())
}

/// Questions that the learner did not ask count towards the budget.
#[test]
fn the_budget_is_shared() {
    let mut desk = Desk::new(Method::Insertion { parallel: 1 }.learner(8, 1).unwrap(), None, Some(3));
    desk.apply(Event::Spent).unwrap();
    desk.apply(Event::Spent).unwrap();
    assert_eq!((desk.left(), desk.done()), (1, false));
    desk.apply(Event::Wanted(5)).unwrap();
    let leaves = desk.waiting(5, None).unwrap()[0];
    desk.apply(Event::Handed(1, leaves)).unwrap();
    assert!(desk.asks([leaves[2], leaves[0], leaves[1]]) && !desk.asks([5, 6, 7]));
    assert_eq!((desk.left(), desk.done()), (0, false));
    desk.apply(Event::Answered(1, leaves, oracle(leaves).into())).unwrap();
    assert!(desk.done());
}

/// More searches start when more are wanted. No search is cancelled when fewer are wanted.
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
