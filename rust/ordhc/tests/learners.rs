//! Learners find the tree from which answers come, for any shape and any order of answers.

use std::collections::BTreeSet;

use ordhc::Dendrogram;
use ordhc::generate::{TreeOracle, TreeShape, random_tree};
use ordhc::learn::{Learner, Limits, Method, Question, learn_with};
use proptest::prelude::*;

const METHODS: [Method; 7] = [
    Method::Quick,
    Method::Insertion { parallel: 1 },
    Method::Insertion { parallel: 3 },
    Method::Insertion { parallel: 50 },
    Method::Exact,
    Method::Rounds,
    Method::Balanced,
];

/// Returns the clusters of a tree, with ties joined.
fn clusters(tree: &Dendrogram) -> BTreeSet<Vec<u32>> {
    let topology = tree.topology().clone();
    let mut members: Vec<Vec<u32>> = (0..topology.n_leaves() as u32).map(|leaf| vec![leaf]).collect();
    for node in topology.n_leaves()..topology.n_nodes() {
        let mut all: Vec<u32> =
            topology.children(node).iter().flat_map(|&child| members[child as usize].clone()).collect();
        all.sort_unstable();
        members.push(all);
    }
    members.into_iter().collect()
}

/// Returns all trees over n leaves whose nodes have at least two children, or exactly two.
fn all_trees(n: u32, binary: bool) -> Vec<Dendrogram> {
    #[derive(Clone)]
    enum Node {
        Leaf(u32),
        Inner(Vec<Node>),
    }
    fn with(node: &Node, leaf: u32, binary: bool) -> Vec<Node> {
        let mut all = vec![Node::Inner(vec![node.clone(), Node::Leaf(leaf)])];
        if let Node::Inner(children) = node {
            if !binary {
                all.push(Node::Inner([children.clone(), vec![Node::Leaf(leaf)]].concat()));
            }
            for at in 0..children.len() {
                all.extend(with(&children[at], leaf, binary).into_iter().map(|child| {
                    let mut children = children.clone();
                    children[at] = child;
                    Node::Inner(children)
                }));
            }
        }
        all
    }
    fn newick(node: &Node) -> String {
        match node {
            Node::Leaf(leaf) => leaf.to_string(),
            Node::Inner(children) => format!("({})", children.iter().map(newick).collect::<Vec<_>>().join(",")),
        }
    }
    let mut trees = vec![Node::Leaf(0)];
    for leaf in 1..n {
        trees = trees.iter().flat_map(|tree| with(tree, leaf, binary)).collect();
    }
    let read = |tree: &Node| {
        let (tree, names) = Dendrogram::from_newick(&format!("{};", newick(tree))).unwrap();
        let leaves: Vec<u32> = names.iter().map(|name| name.parse().unwrap()).collect();
        tree.relabel(&leaves).unwrap()
    };
    trees.iter().map(read).collect()
}

/// Runs a learner with a truthful oracle, and returns the learner.
fn learned(method: Method, tree: &Dendrogram, seed: u64, batch: usize) -> Box<dyn Learner> {
    let mut oracle = TreeOracle::new(tree.topology());
    let mut learner = method.learner(tree.n_leaves(), seed).unwrap();
    let limits = Limits { batch, budget: None };
    learn_with(&mut *learner, |questions| oracle.answers(questions), limits, None).unwrap();
    assert!(learner.done() && learner.placed() == tree.n_leaves() && learner.remaining_estimate() == 0.0);
    assert!(learner.ask(5).unwrap().is_empty() && learner.open().is_empty());
    learner
}

fn shape(which: usize) -> TreeShape {
    let shapes = [TreeShape::Uniform, TreeShape::Yule, TreeShape::Balanced, TreeShape::Caterpillar];
    let wide = [TreeShape::Degree(3), TreeShape::Degree(6), TreeShape::Degree(30), TreeShape::Star];
    [shapes, wide].concat()[which]
}

#[test]
fn every_small_tree_is_found() {
    for (n, binary, count) in
        [(1, true, 1), (2, true, 1), (3, false, 4), (4, false, 26), (5, false, 236), (6, true, 945)]
    {
        let trees = all_trees(n, binary);
        assert_eq!(trees.len(), count);
        for (at, tree) in trees.iter().enumerate() {
            let expected = clusters(tree);
            for method in METHODS {
                for (seed, batch) in [(0, 1), (1, usize::MAX), (2, 2), (3, usize::MAX)] {
                    let learner = learned(method, tree, seed + 4 * at as u64, batch);
                    let found = learner.tree().unwrap();
                    assert_eq!(clusters(&found), expected, "{method:?}: {}", tree.newick());
                    assert!(found.is_monotone());
                    assert!(n > 3 || learner.n_asked() == u64::from(n == 3), "{method:?}");
                }
            }
        }
    }
}

#[test]
fn the_exact_rule_keeps_its_bound() {
    for n in [3, 10, 200, 1000] {
        for which in 0..4 {
            let tree = random_tree(shape(which), n, 11).unwrap();
            let mut oracle = TreeOracle::new(tree.topology());
            let mut learner = Method::Exact.learner(n, 5).unwrap();
            let (mut placed, mut asked) = (2, 0);
            while let [question] = learner.ask(9).unwrap()[..] {
                learner.tell(question.id, oracle.answer(question.leaves)).unwrap();
                asked += 1;
                if learner.placed() > placed {
                    placed = learner.placed();
                    assert!(f64::from(asked) <= (2.0 * placed as f64 - 3.0).log2() + 1e-9, "leaf {placed}: {asked}");
                    asked = 0;
                }
            }
            assert_eq!(placed, n);
            assert!((learner.n_asked() as f64) < n as f64 * (n as f64).log2());
        }
    }
}

#[test]
fn few_questions_and_few_rounds() {
    let n = 1000;
    let bound = n as f64 * (n as f64).log2();
    for which in 0..4 {
        let tree = random_tree(shape(which), n, 3).unwrap();
        let run = |method| {
            let learner = learned(method, &tree, 1, usize::MAX);
            (learner.n_asked() as f64 / bound, learner.n_rounds())
        };
        let (share, rounds) = run(Method::Insertion { parallel: 1 });
        assert!(share < 0.95 && rounds > 1000, "{which}: {share} in {rounds}");
        let (share, rounds) = run(Method::Insertion { parallel: 20 });
        assert!(share < 1.0 && rounds < 900, "{which}: {share} in {rounds}");
        let (share, rounds) = run(Method::Rounds);
        assert!(share < 1.5 && rounds < 50, "{which}: {share} in {rounds}");
        let (share, rounds) = run(Method::Balanced);
        assert!(share < 1.1 && rounds < 70, "{which}: {share} in {rounds}");
        let (share, _) = run(Method::Quick);
        assert!(share < 2.5, "{which}: {share}");
    }
}

#[test]
fn wide_trees_cost_what_they_must() {
    let n = 400;
    let star = random_tree(TreeShape::Star, n, 1).unwrap();
    for method in METHODS {
        let asked = learned(method, &star, 2, usize::MAX).n_asked() as f64;
        // Every pair of leaves must be in a question, and a question has three pairs.
        assert!(asked < 0.4 * (n * n) as f64, "{method:?}: {asked}");
        assert!(asked >= (n * (n - 1)) as f64 / 6.0);
    }
    let tree = random_tree(TreeShape::Degree(8), n, 1).unwrap();
    for method in METHODS {
        let asked = learned(method, &tree, 2, usize::MAX).n_asked() as f64;
        // The bound is d / log2 d times n log2 n.
        assert!(asked < 8.0 / 3.0 * n as f64 * (n as f64).log2(), "{method:?}: {asked}");
    }
}

#[test]
fn settings_and_answers_are_checked() {
    let message = |result: ordhc::Result<Box<dyn Learner>>| result.err().unwrap().to_string();
    assert!(message(Method::Quick.learner(0, 1)).contains("n_leaves = 0"));
    assert!(message(Method::Insertion { parallel: 0 }.learner(5, 1)).contains("parallel = 0"));
    assert!("slow".parse::<Method>().unwrap_err().to_string().contains("quick, insertion, exact"));
    let prior = random_tree(TreeShape::Yule, 5, 1).unwrap();
    for name in Method::NAMES {
        let method = name.parse::<Method>().unwrap();
        let begun = if *name == "revise" { method.from_prior(prior.topology(), 20.0, 1) } else { method.learner(5, 1) };
        let mut learner = begun.unwrap();
        let question = learner.ask(1).unwrap()[0];
        assert_eq!(learner.open(), [question]);
        assert!(learner.tell(question.id + 7, 0).unwrap_err().to_string().contains("was never asked"));
        assert!(learner.tell(question.id, 5).unwrap_err().to_string().contains("the answer 5"));
        learner.tell(question.id, 2).unwrap();
        assert!(learner.tell(question.id, 2).unwrap_err().to_string().contains("answered already"));
    }
}

#[test]
fn an_oracle_that_fails_can_be_called_again() {
    let tree = random_tree(TreeShape::Yule, 60, 1).unwrap();
    for method in METHODS {
        let mut oracle = TreeOracle::new(tree.topology());
        let mut learner = method.learner(60, 3).unwrap();
        let mut calls = 0;
        let mut unreliable = |questions: &[Question]| {
            calls += 1;
            if calls % 3 == 0 { Err(ordhc::Error::Interrupted) } else { oracle.answers(questions) }
        };
        while !learner.done() {
            let limits = Limits { batch: 7, budget: Some(40) };
            let before = learner.n_answered();
            if learn_with(&mut *learner, &mut unreliable, limits, None).is_ok() && !learner.done() {
                assert_eq!(learner.n_answered(), before + 40);
            }
        }
        assert_eq!(clusters(&learner.tree().unwrap()), clusters(&tree));
        assert_eq!(learner.n_asked(), learner.n_answered());
    }
}

/// Runs a learner on arbitrary answers, some of them late, and checks the learner after each step.
fn check_run(
    method: Method,
    n: usize,
    seed: u64,
    mut answer: impl FnMut(&Question) -> i8,
    mut draw: impl FnMut(usize) -> usize,
) -> Dendrogram {
    let mut learner = method.learner(n, seed).unwrap();
    let mut open: Vec<Question> = Vec::new();
    let mut steps = 0;
    let bound = 64 * (n * n) as u64 + 10;
    while !learner.done() {
        open.extend(learner.ask(1 + draw(2 * n)).unwrap());
        assert!(!open.is_empty() && open.len() as u64 == learner.n_asked() - learner.n_answered());
        for _ in 0..1 + draw(open.len()) {
            let question = open.swap_remove(draw(open.len()));
            learner.tell(question.id, answer(&question)).unwrap();
        }
        steps += 1;
        if steps % 7 == 0 || n < 12 {
            let tree = learner.tree().unwrap();
            assert!(tree.n_leaves() == n && tree.is_monotone());
            assert!(learner.placed() <= n && learner.remaining_estimate() >= 0.0);
        }
        assert!(learner.n_asked() < bound, "{method:?} asked {}", learner.n_asked());
    }
    assert!(learner.open().is_empty() && learner.placed() == n);
    learner.tree().unwrap()
}

fn lcg(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below.max(1)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_trees_are_found(n in 1usize..200, which in 0usize..8, seed in 0u64..1000, method in 0usize..7) {
        let n = if shape(which) == TreeShape::Star { n.min(60) } else { n };
        let tree = random_tree(shape(which), n, seed).unwrap();
        let oracle = TreeOracle::new(tree.topology());
        let found = check_run(METHODS[method], n, seed, |question| oracle.truth(question.leaves), lcg(seed));
        prop_assert!(clusters(&found) == clusters(&tree));
    }

    #[test]
    fn contradictions_come_to_an_end(n in 1usize..40, kind in 0usize..6, seed in 0u64..1000) {
        for method in METHODS {
            let mut random = lcg(seed ^ 99);
            let answer = |_: &Question| if kind < 4 { kind as i8 - 1 } else { random(if kind == 4 { 3 } else { 4 }) as i8 - i8::from(kind == 5) };
            check_run(method, n, seed, answer, lcg(seed));
        }
    }

    #[test]
    fn the_order_of_telling_does_not_matter(n in 3usize..80, which in 0usize..8, seed in 0u64..1000, limit in 1usize..40, lies in any::<bool>()) {
        let tree = random_tree(shape(which), n, seed).unwrap();
        for method in METHODS {
            let mut learners = [method.learner(n, seed).unwrap(), method.learner(n, seed).unwrap()];
            let mut random = lcg(seed);
            let mut pending: [Vec<Question>; 2] = Default::default();
            let oracle = TreeOracle::new(tree.topology());
            let answer = |question: &Question| {
                if lies && question.id.is_multiple_of(5) { (question.id % 4) as i8 - 1 } else { oracle.truth(question.leaves) }
            };
            let mut rounds = 0;
            while !learners[0].done() && rounds < 400 {
                rounds += 1;
                let asked = learners[0].ask(limit).unwrap();
                prop_assert_eq!(&asked, &learners[1].ask(limit).unwrap());
                pending.iter_mut().for_each(|pending| pending.extend(&asked));
                // The same questions are answered in another order, and the tree is computed in between.
                let answered = 1 + random(pending[0].len());
                let batch: Vec<Question> = pending[0].drain(..answered).collect();
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
                    if n < 20 {
                        learners[1].tree().unwrap();
                    }
                }
                prop_assert_eq!(learners[0].placed(), learners[1].placed());
            }
            prop_assert_eq!(learners[0].tree().unwrap(), learners[1].tree().unwrap());
            prop_assert_eq!(learners[0].done(), learners[1].done());
        }
    }
}
