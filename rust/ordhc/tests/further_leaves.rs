//! Learners that place further leaves in a given tree.

use ordhc::generate::{TreeOracle, TreeShape, Wrong, random_tree};
use ordhc::learn::{Assume, Learner, Method, Noise, Schedule};
use ordhc::metric::robinson_foulds;
use ordhc::tree::Topology;
use proptest::prelude::*;

/// Asks until the learner is done. Returns the tree and the number of questions.
fn learned(mut learner: Box<dyn Learner>, oracle: &mut TreeOracle, batch: usize) -> (Topology, u64) {
    while !learner.done() {
        let questions = learner.ask(batch).unwrap();
        assert!(!questions.is_empty());
        for question in questions {
            learner.tell(question.id, oracle.answer(question.leaves)).unwrap();
        }
    }
    (learner.tree().unwrap().topology().clone(), learner.n_answered())
}

/// Returns true if two trees have the same clusters.
fn is_same(one: &Topology, other: &Topology) -> bool {
    let counts = robinson_foulds(one, other).unwrap();
    counts.only_a + counts.only_b == 0
}

fn methods() -> Vec<Method> {
    let robust = |schedule| Method::Robust {
        p: 1.0,
        delta: 0.05,
        assume: Assume::Adversarial,
        noise: Noise::Independent,
        parallel: 1,
        schedule,
    };
    vec![
        Method::Insertion { parallel: 1 },
        Method::Insertion { parallel: 5 },
        Method::Exact,
        Method::Balanced,
        Method::Rounds,
        robust(Schedule::Rounds),
        Method::Majority { p: 0.99, delta: 0.05 },
        Method::robust(0.99, 0.05),
    ]
}

proptest! {
    #[test]
    fn the_true_tree_is_found(
        n in 1usize..40, kept in 1usize..40, shape in 0usize..3, seed in 0u64..500, batch in 1usize..9
    ) {
        let shape = [TreeShape::Uniform, TreeShape::Yule, TreeShape::Caterpillar][shape];
        let truth = random_tree(shape, n, seed).unwrap();
        let kept = kept.min(n);
        // Start with every third leaf, so that the known leaves are not the first ones.
        let mut leaves: Vec<u32> = (0..n as u32).collect();
        leaves.sort_by_key(|leaf| (leaf % 3, *leaf));
        leaves.truncate(kept);
        leaves.sort_unstable();
        let (start, _) = truth.topology().restricted(&leaves).unwrap();
        for method in methods() {
            let learner = method.learner_after(&start, &leaves, n, seed).unwrap();
            prop_assert!(learner.placed() >= kept);
            let mut oracle = TreeOracle::new(truth.topology());
            let (tree, _) = learned(learner, &mut oracle, batch);
            prop_assert!(is_same(&tree, truth.topology()), "{:?}", method);
        }
    }

    #[test]
    fn one_leaf_takes_as_few_questions_as_the_paper_says(n in 3usize..200, leaf in 0usize..200, seed in 0u64..500) {
        let truth = random_tree(TreeShape::Uniform, n, seed).unwrap();
        let leaf = (leaf % n) as u32;
        let leaves: Vec<u32> = (0..n as u32).filter(|&other| other != leaf).collect();
        let (start, _) = truth.topology().restricted(&leaves).unwrap();
        let learner = Method::Exact.learner_after(&start, &leaves, n, 0).unwrap();
        let (tree, asked) = learned(learner, &mut TreeOracle::new(truth.topology()), 1);
        prop_assert!(is_same(&tree, truth.topology()));
        prop_assert!(asked <= u64::from((2 * n as u64 - 3).ilog2()), "{} questions for {} leaves", asked, n);
    }
}

#[test]
fn places_are_known_with_their_probabilities() {
    let truth = random_tree(TreeShape::Yule, 50, 3).unwrap();
    let leaves: Vec<u32> = (0..49).collect();
    let (start, _) = truth.topology().restricted(&leaves).unwrap();
    let mut right = 0;
    for seed in 0..40 {
        let mut oracle = TreeOracle::new(truth.topology()).with_noise(0.8, Wrong::Random, seed).unwrap();
        let mut learner = Method::robust(0.8, 0.05).learner_after(&start, &leaves, 50, seed).unwrap();
        let first = learner.places(49).unwrap();
        assert!(first.iter().map(|place| place.probability).sum::<f64>() < 1.0 + 1e-9);
        while !learner.done() {
            for question in learner.ask(1).unwrap() {
                learner.tell(question.id, oracle.answer(question.leaves)).unwrap();
            }
        }
        right += u32::from(is_same(learner.tree().unwrap().topology(), truth.topology()));
        let places = learner.places(49).unwrap();
        assert!(places[0].probability > 0.5 && places.windows(2).all(|two| two[0].probability >= two[1].probability));
        let tree = learner.tree().unwrap();
        let parent = tree.topology().parent(49);
        let beside: Vec<u32> = (0..49)
            .filter(|&leaf| {
                let mut at = leaf as usize;
                while at != tree.topology().root() && at != parent {
                    at = tree.topology().parent(at);
                }
                at == parent
            })
            .collect();
        assert_eq!(places[0].leaves, beside);
        assert!(learner.places(3).is_none());
    }
    assert!(right >= 35, "{right} of 40");
}

#[test]
fn what_cannot_be_is_refused() {
    let start = Topology::from_merges(vec![[0, 1], [2, 3]]).unwrap();
    let wrong =
        |method: Method, leaves: &[u32], n| method.learner_after(&start, leaves, n, 0).err().unwrap().to_string();
    assert!(wrong(Method::Quick, &[0, 1, 2], 5).contains("quick takes no start"));
    assert!(wrong(Method::Exact, &[0, 1], 5).contains("leaves"));
    assert!(wrong(Method::Exact, &[0, 1, 1], 5).contains("leaf 1 of the tree occurs twice"));
    assert!(wrong(Method::Exact, &[0, 1, 5], 5).contains("leaf 5"));
}
