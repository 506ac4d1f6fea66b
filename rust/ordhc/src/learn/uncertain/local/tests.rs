use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::error::Error;
use crate::generate::{TreeOracle, TreeShape, random_tree};
use crate::learn::learner::{Flexible, Learner};
use crate::learn::session_learner::key;
use crate::learn::uncertain::{MOST_ANSWERS, MOST_LEAVES, Pool, Uncertain};

fn parents(shape: &Shape) -> HashMap<u32, u32> {
    let mut found = HashMap::new();
    let mut open = vec![shape.root];
    while let Some(node) = open.pop() {
        if node != NONE && !shape.is_leaf(node) {
            for child in shape.children(node) {
                found.insert(child, node);
                open.push(child);
            }
        }
    }
    found
}

fn leaves(shape: &Shape, node: u32) -> Vec<u32> {
    if shape.is_leaf(node) {
        vec![node]
    } else {
        shape.children(node).into_iter().flat_map(|c| leaves(shape, c)).collect()
    }
}

fn joint_size(shape: &Shape, a: u32, b: u32) -> usize {
    let all = parents(shape).into_values().map(|node| leaves(shape, node));
    all.filter(|cluster| cluster.contains(&a) && cluster.contains(&b)).map(|cluster| cluster.len()).min().unwrap_or(1)
}

fn grown(n: usize, draws: &[u32]) -> Shape {
    let mut shape = Shape::new(n);
    for (leaf, draw) in (0..n as u32).zip(draws) {
        let nodes: Vec<u32> = (0..shape.n_nodes() as u32).filter(|&node| shape.has(node)).collect();
        let beside = if nodes.is_empty() { NONE } else { nodes[*draw as usize % nodes.len()] };
        shape.put(leaf, Place { beside, is_first: draw % 3 == 0 });
    }
    shape
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sizes_and_joins_are_those_of_a_walk(n in 1usize..12, draws in prop::collection::vec(any::<u32>(), 40)) {
        let mut shape = grown(n, &draws);
        for draw in &draws[n..] {
            let nodes: Vec<u32> = (0..shape.n_nodes() as u32).filter(|&node| shape.has(node)).collect();
            let top = nodes[*draw as usize % nodes.len()];
            let before = shape.clone();
            if let Some(place) = shape.cut(top) {
                shape.put(top, place);
                prop_assert_eq!(&shape, &before);
                shape.cut(top);
                let left = leaves(&shape, shape.root);
                prop_assert_eq!(left.len() as u32, shape.n_placed());
                let beside = left[(draw / 7) as usize % left.len()];
                shape.put(top, Place { beside, is_first: draw % 2 == 0 });
            } else {
                prop_assert_eq!(top, shape.root);
            }
            let up = parents(&shape);
            for node in (0..shape.n_nodes() as u32).filter(|&node| shape.has(node)) {
                prop_assert_eq!(shape.size(node) as usize, leaves(&shape, node).len());
                prop_assert_eq!(up.get(&node).copied().unwrap_or(NONE), shape.parent(node));
            }
            for a in 0..n as u32 {
                for b in 0..a {
                    prop_assert_eq!(shape.size(shape.join(a, b)) as usize, joint_size(&shape, a, b));
                }
            }
        }
    }

    /// Checks the score of each possible place of a leaf in the tree. Up to a constant, the score must be the
    /// log-likelihood of the answers in the tree with the leaf at this place.
    #[test]
    fn scores_are_those_of_whole_trees(
        n in 4usize..9,
        draws in prop::collection::vec(any::<u32>(), 9),
        told in prop::collection::vec((any::<[u32; 4]>(), 0i8..3), 1..12),
    ) {
        let odd: Vec<Answer<3>> = told.iter().filter_map(|(leaves, answer)| {
            let [a, b, c, _] = leaves.map(|leaf| leaf % n as u32);
            (a != b && b != c && a != c).then_some(([a, b, c], *answer, None))
        }).collect();
        check_scores(n, &draws, &odd)?;
        let pairs: Vec<Answer<4>> = told.iter().filter_map(|(leaves, answer)| {
            let [a, b, c, d] = leaves.map(|leaf| leaf % n as u32);
            let fine = a != b && c != d && [a.min(b), a.max(b)] != [c.min(d), c.max(d)];
            fine.then_some(([a, b, c, d], answer - 1, None))
        }).collect();
        check_scores(n, &draws, &pairs)?;
    }
}

fn check_scores<const K: usize>(
    n: usize,
    draws: &[u32],
    answers: &[Answer<K>],
) -> std::result::Result<(), TestCaseError> {
    let mut local = Local::<K>::new(n, 1);
    local.shape = grown(n, draws);
    local.take(answers);
    let leaf = draws[0] % n as u32;
    local.shape.cut(leaf);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    local.score(answers, leaf, &mut random);
    let spots = local.places.spots.clone();
    // For the node of each listed place: the log-likelihood of all answers if the leaf is beside this node.
    let value = |node: u32| {
        let mut shape = local.shape.clone();
        shape.put(leaf, Place::beside(node));
        let size = |a: u32, b: u32| joint_size(&shape, a, b);
        let log = |size: usize| (size as f64).log2();
        answers
            .iter()
            .filter(|(leaves, answer, _)| leaves.contains(&leaf) && says::<K>(*answer))
            .map(|(leaves, answer, _)| {
                let mut without = local.shape.clone();
                without.put(leaf, Place::beside(node));
                without.remove(leaf);
                let fixed = |a: u32, b: u32| joint_size(&without, a, b);
                if K == 3 {
                    let [a, b, c] = [0, 1, 2].map(|at| leaves[at]);
                    let [x, a, b] = if a == leaf {
                        [a, b, c]
                    } else if b == leaf {
                        [b, a, c]
                    } else {
                        [c, a, b]
                    };
                    let odd = leaves[*answer as usize];
                    let joint = [size(x, a), size(x, b)];
                    let (expected, difference) = if joint[0] == joint[1] {
                        (x, log(joint[0]) - log(fixed(a, b)))
                    } else if joint[0] < joint[1] {
                        (b, log(fixed(a, b) + 1) - log(joint[0]))
                    } else {
                        (a, log(fixed(a, b) + 1) - log(joint[1]))
                    };
                    local.reliability.logs(7, difference.max(0.0))[usize::from(expected != odd)]
                } else {
                    let [a, b, c, d] = [0, 1, 2, 3].map(|at| leaves[at]);
                    let [has_first, has_second] = [[a, b], [c, d]].map(|pair| pair.contains(&leaf));
                    let of = |a: u32, b: u32, has: bool| if has { size(a, b) } else { fixed(a, b) };
                    let [first, second] = [of(a, b, has_first), of(c, d, has_second)];
                    if first == second {
                        local.reliability.even()
                    } else {
                        let is_right = (first < second) == (*answer > 0);
                        local.reliability.logs(7, (log(first) - log(second)).abs())[usize::from(!is_right)]
                    }
                }
            })
            .sum::<f64>()
    };
    let mut values = Vec::new();
    let mut nodes = Vec::new();
    for spot in &spots {
        let within = if spot.is_part { leaves(&local.shape, spot.node) } else { vec![spot.node] };
        for node in within {
            nodes.push(node);
            values.push(value(node) - spot.score);
        }
    }
    // All leaves are listed once. The scores of places differ from the log-likelihoods of the answers by a constant.
    let mut listed: Vec<u32> = nodes.into_iter().filter(|&node| local.shape.is_leaf(node)).collect();
    listed.sort_unstable();
    prop_assert_eq!(listed, (0..n as u32).filter(|&other| other != leaf).collect::<Vec<_>>());
    for value in &values {
        prop_assert!((value - values[0]).abs() < 1e-9, "{:?} {:?}", spots, values);
    }
    Ok(())
}

struct Simulated {
    oracle: TreeOracle,
    truth: Dendrogram,
    p: f64,
    random: ChaCha8Rng,
}

impl Simulated {
    fn new(n: usize, shape: TreeShape, p: f64) -> Self {
        let truth = random_tree(shape, n, 1).unwrap();
        Self { oracle: TreeOracle::new(truth.topology()), truth, p, random: ChaCha8Rng::seed_from_u64(2) }
    }

    fn answer(&mut self, leaves: [u32; 3]) -> i8 {
        let right = self.oracle.answer(leaves);
        if self.random.random::<f64>() < self.p { right } else { (right + 1 + self.random.random_range(0..2i8)) % 3 }
    }

    fn right(&self, tree: &Dendrogram) -> f64 {
        let found = crate::metric::triplet_distance(tree.topology(), self.truth.topology(), None).unwrap();
        let n = self.truth.n_leaves() as f64;
        1.0 - found.distance() as f64 / (n * (n - 1.0) * (n - 2.0) / 6.0)
    }
}

fn learner<const K: usize>(n: usize) -> Uncertain<K> {
    Uncertain::new(n, 3, Some(1 << 40), 1)
}

fn import(learner: &mut Uncertain, count: usize, simulated: &mut Simulated) {
    let n = learner.n_leaves() as u32;
    for _ in 0..count {
        let leaves = loop {
            let leaves = [(); 3].map(|()| simulated.random.random_range(0..n));
            if leaves[0] != leaves[1] && leaves[1] != leaves[2] && leaves[0] != leaves[2] {
                break leaves;
            }
        };
        learner.add(leaves, simulated.answer(leaves).into());
    }
}

#[test]
fn events_give_the_same_questions_when_they_are_replayed() {
    let mut simulated = Simulated::new(MOST_LEAVES + 1, TreeShape::Yule, 0.9);
    let (mut one, mut other) = (learner(MOST_LEAVES + 1), learner(MOST_LEAVES + 1));
    let mut open = VecDeque::new();
    for round in 0..400 {
        [&mut one, &mut other].into_iter().for_each(Flexible::note);
        for leaves in one.suggest(1 + round % 3, None).unwrap() {
            let id = one.adopt(leaves).unwrap();
            assert_eq!(other.adopt(leaves).unwrap(), id);
            open.push_back((id, leaves));
        }
        let mut copy = one.clone();
        while open.len() > 5 {
            let (id, leaves) = open.pop_front().unwrap();
            let answer = simulated.answer(leaves);
            for learner in [&mut one, &mut other, &mut copy] {
                learner.tell(id, answer).unwrap();
            }
        }
        if round == 200 {
            one = copy;
        }
    }
    let impatient = Monitor::watched(Duration::ZERO, |_| false);
    [&mut one, &mut other].into_iter().for_each(Flexible::note);
    assert_eq!(other.suggest(9, Some(&impatient)), Err(Error::Interrupted));
    let questions = one.suggest(9, None).unwrap();
    assert_eq!(questions, other.suggest(9, None).unwrap());
    assert_eq!(questions, one.suggest(9, None).unwrap());
    assert_eq!(one.tree().unwrap(), other.tree().unwrap());
    let different: std::collections::HashSet<[u32; 3]> = questions.iter().copied().map(key).collect();
    assert_eq!(different.len(), 9);
    let impatient = Monitor::watched(Duration::ZERO, |_| false);
    other.tell(open[0].0, 1).unwrap();
    assert_eq!(other.tree_watched(Some(&impatient)), Err(Error::Interrupted));
}

#[test]
fn leaves_come_and_go_while_the_tree_follows() {
    let n = MOST_LEAVES + 1;
    let mut simulated = Simulated::new(n + 2, TreeShape::Yule, 0.9);
    let (mut one, mut other) = (learner(n), learner(n));
    let mut gone = Vec::new();
    for round in 0..90u32 {
        [&mut one, &mut other].into_iter().for_each(Flexible::note);
        let asked: Vec<(u64, [u32; 3])> = one
            .suggest(20, None)
            .unwrap()
            .into_iter()
            .map(|leaves| {
                let id = one.adopt(leaves).unwrap();
                assert_eq!(other.adopt(leaves).unwrap(), id);
                assert!(!leaves.iter().any(|leaf| gone.contains(leaf)), "{round} {leaves:?}");
                (id, leaves)
            })
            .collect();
        for (id, leaves) in asked {
            let answer = simulated.answer(leaves);
            [&mut one, &mut other].into_iter().for_each(|learner| learner.tell(id, answer).unwrap());
        }
        if round % 20 == 10 {
            let leaf = one.answers[round as usize].0[0];
            gone.push(leaf);
            [&mut one, &mut other].into_iter().for_each(|learner| learner.retire(leaf).unwrap());
        }
        if round == 30 || round == 50 {
            [&mut one, &mut other].into_iter().for_each(|learner| learner.add_leaf().unwrap());
        }
        if round % 20 == 10 {
            assert_eq!(one.tree().unwrap().n_leaves(), one.n_leaves());
        }
    }
    assert!(one.seen[n] && one.seen[n + 1]);
    [&mut one, &mut other].into_iter().for_each(Flexible::note);
    assert_eq!(one.suggest(9, None).unwrap(), other.suggest(9, None).unwrap());
    assert_eq!(one.tree().unwrap(), other.tree().unwrap());
}

#[test]
fn the_tree_of_many_answers_is_right() {
    for n in [16, MOST_LEAVES + 1] {
        let mut simulated = Simulated::new(n, TreeShape::Yule, 0.8);
        let mut one = learner(n);
        import(&mut one, 40 * n.max(MOST_ANSWERS / 39), &mut simulated);
        let right = simulated.right(&one.tree().unwrap());
        assert!(right > 0.95, "{n} {right}");
        // New answers move leaves in the tree, although the tree is not requested.
        for _ in 0..20 {
            let question = one.ask(1).unwrap()[0];
            one.tell(question.id, simulated.answer(question.leaves)).unwrap();
        }
        let progress = Monitor::watched(Duration::ZERO, |done| done < 0.5);
        assert_eq!(one.tree_watched(Some(&progress)), Err(Error::Interrupted));
        assert!(progress.fraction() >= 0.5);
    }
}

#[test]
fn questions_of_all_kinds_are_chosen_with_many_answers() {
    for n in [3, 4, 9] {
        let mut one = learner::<3>(n);
        (0..=MOST_ANSWERS).for_each(|at| one.add([0, 1, 2], ((at % 4) as i8 - 1).into()));
        let asked = one.ask(4).unwrap();
        assert_eq!(asked.len(), 4.min(n));
        assert_eq!(one.tree().unwrap().n_leaves(), n);
        for is_anchored in [false, true] {
            let mut pairs = learner::<4>(n);
            pairs.pool = if is_anchored { Pool::Anchored } else { Pool::All };
            (0..=MOST_ANSWERS).for_each(|at| pairs.add([0, 1, 0, 2], ((at % 3) as i8 - 1).into()));
            for question in pairs.ask(6).unwrap() {
                let [a, b, c, d] = question.leaves;
                assert!(a != b && c != d && [a.min(b), a.max(b)] != [c.min(d), c.max(d)], "{question:?}");
                assert!(!is_anchored || a == c);
            }
            assert_eq!(pairs.tree().unwrap().n_leaves(), n);
        }
        let mut listed = learner::<3>(n);
        listed.pool = Pool::of(vec![[0, 1, 2], [2, 0, 1]]);
        (0..=MOST_ANSWERS).for_each(|_| listed.add([0, 1, 2], (-1).into()));
        // No two open questions are about the same three leaves.
        assert_eq!([(); 2].map(|()| listed.ask(9).unwrap().len()), [1; 2]);
        assert!(listed.ask(9).unwrap().is_empty());
        assert_eq!(listed.tree().unwrap().n_leaves(), n);
    }
}
