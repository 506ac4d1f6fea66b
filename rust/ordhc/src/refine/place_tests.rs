//! Compares the moves that the search finds with the best of all moves, tried one by one.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::tests::{answers, as_they_are, cost_of, matrix, pairs, shape_of, tree};
use super::*;
use crate::agglomerate::{Layout, Values};
use crate::kind::Kind;
use crate::metric::satisfied;
use crate::similarity::condensed_len;

/// Checks that the search moves each subtree to the best edge, which is found by trying all moves.
fn assert_places_are_best(
    objective: &mut impl Objective,
    naive: &mut impl Objective,
    shape: &mut Shape,
    movable: &[bool],
    seed: u64,
) {
    let mut worth = |shape: &Shape| {
        naive.prepare(shape);
        naive.total(shape)
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let may_move: Vec<usize> = (0..shape.n_nodes()).filter(|&node| movable[node]).collect();
    for _ in 0..4 {
        let here = worth(shape);
        assert_eq!(objective.total(shape), here);
        let best: Vec<Option<usize>> = (0..shape.n_nodes())
            .map(|subtree| {
                let (mut best, mut place) = (here, None);
                for target in (0..shape.n_nodes()).map(|place| shape.node_at(place)).filter(|&node| movable[node]) {
                    let mut moved = shape.clone();
                    if moved.regraft(subtree, target) {
                        assert_eq!(moved, moved.numbered());
                        let worth = worth(&moved);
                        if worth > best {
                            (best, place) = (worth, Some(target));
                        }
                    }
                }
                place
            })
            .collect();
        // `better` scores several subtrees of a list together. Test two lists: all movable subtrees in order, and
        // random subtrees, some of them more than once.
        let turn: Vec<usize> = (0..may_move.len()).map(|_| may_move[rng.random_range(0..may_move.len())]).collect();
        for turn in [&may_move, &turn] {
            for from in 0..turn.len() {
                let looked = objective.better(shape, turn, from);
                let targets: Vec<_> = (from..).take(looked.subtrees).map(|at| best[turn[at % turn.len()]]).collect();
                assert!(looked.subtrees > 0 && targets[..looked.subtrees - 1].iter().all(Option::is_none));
                assert_eq!(looked.target, targets[looked.subtrees - 1]);
            }
        }
        for _ in 0..rng.random_range(1..5) {
            let [subtree, target] = [(); 2].map(|()| may_move[rng.random_range(0..may_move.len())]);
            objective.make(shape, subtree, target);
        }
    }
}

fn some_movable(start: &Dendrogram, shape: &Shape, seed: u64) -> Vec<bool> {
    let n = start.n_leaves();
    let labels = start.cut_clusters(if seed.is_multiple_of(3) { 1 + seed as usize % n } else { n }).unwrap();
    let labels: Vec<i64> = labels.iter().map(|&label| i64::from(label)).collect();
    movable(shape, &as_they_are(n), Some(&Partition::new(&labels).unwrap())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn places_are_those_of_the_least_cost(n in 1..12usize, seed: u64, largest in prop::sample::select(vec![0, 1, 3, 1000])) {
        let start = tree(n, seed);
        let shape = shape_of(&start);
        let pairs = pairs(n, largest, seed);
        let matrix = matrix(n, &pairs, seed % 2 == 0);
        let movable = some_movable(&start, &shape, seed);
        prop_assert_eq!(Exactness::of(&matrix), Exactness::Single);
        let mut naive = Cost::<f64, ROUNDED>::new(&matrix, &shape, &as_they_are(n), &movable).unwrap();
        let sign = if seed % 2 == 0 { -1.0 } else { 1.0 };
        prop_assert_eq!(-naive.total(&shape), sign * cost_of(&start, &matrix));
        let mut single = Cost::<f32, SINGLE>::new(&matrix, &shape, &as_they_are(n), &movable).unwrap();
        assert_places_are_best(&mut single, &mut naive, &mut shape.clone(), &movable, seed);
        let mut double = Cost::<f64, DOUBLE>::new(&matrix, &shape, &as_they_are(n), &movable).unwrap();
        assert_places_are_best(&mut double, &mut naive, &mut shape.clone(), &movable, seed);
    }

    #[test]
    fn places_are_those_of_the_most_satisfied(n in 3..12usize, seed: u64, m in 0..60usize, weighted: bool) {
        let start = tree(n, seed);
        let mut shape = shape_of(&start);
        let answers = answers(n, m, weighted, seed);
        let movable = some_movable(&start, &shape, seed);
        let [mut objective, mut naive] =
            [(); 2].map(|()| SatisfiedTriplets::new(&answers, &shape, &as_they_are(n), &movable).unwrap());
        prop_assert_eq!(objective.total(&shape), satisfied(&start.clone().into(), &answers, None).unwrap().agreed);
        assert_places_are_best(&mut objective, &mut naive, &mut shape, &movable, seed);
    }

    #[test]
    fn rounding_moves_nothing(n in 3..40usize, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let values: Vec<f64> = (0..condensed_len(n)).map(|_| rng.random_range(-1.0..1.0)).collect();
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
        let search = Search { restarts: 1, seed, ..Search::default() };
        let start = tree(n, seed);
        let better = refine(start.topology(), &matrix, Heights::Sizes, &search, None).unwrap();
        let gain = cost_of(&start, &matrix) - cost_of(&better.tree, &matrix);
        prop_assert!((gain - better.gain).abs() < 1e-9 && better.is_local_optimum);
        // Adding a constant to all similarities must not make another tree better than this tree.
        let more: Vec<f64> = values.iter().map(|value| value + 1e6).collect();
        let more = Matrix::new(Values::F64(&more), Layout::Condensed, Kind::Similarity).unwrap();
        let again = refine(better.tree.topology(), &more, Heights::Sizes, &Search::default(), None).unwrap();
        prop_assert!(again.gain < 1e-3);
    }
}
