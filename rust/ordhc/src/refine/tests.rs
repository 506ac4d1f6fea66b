use std::collections::BTreeSet;

use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::canonical::canonical_order;
use super::*;
use crate::agglomerate::{Agglomeration, Layout, Values};
use crate::generate::{TreeShape, random_tree};
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::metric::{dasgupta_cost, satisfied};
use crate::similarity::{Triangle, condensed_len};
use crate::testkit::all_trees;

pub(super) fn tree(n: usize, seed: u64) -> Dendrogram {
    let shapes = [TreeShape::Uniform, TreeShape::Yule, TreeShape::Caterpillar];
    random_tree(shapes[seed as usize % 3], n, seed).unwrap()
}

pub(super) fn pairs(n: usize, largest: i32, seed: u64) -> Vec<i32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..condensed_len(n)).map(|_| rng.random_range(-largest..=largest)).collect()
}

pub(super) fn matrix(n: usize, pairs: &[i32], dissimilarity: bool) -> Matrix<'_> {
    let one = &[0i32];
    if n == 1 {
        return Matrix::new(Values::I32(one), Layout::Square, Kind::of(dissimilarity)).unwrap();
    }
    Matrix::new(Values::I32(pairs), Layout::Condensed, Kind::of(dissimilarity)).unwrap()
}

pub(super) fn answers(n: usize, m: usize, weighted: bool, seed: u64) -> Triplets<'static> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut leaves: Vec<i32> = (0..n as i32).collect();
    let rows: Vec<[i32; 3]> = (0..m)
        .map(|_| {
            leaves.shuffle(&mut rng);
            [leaves[0], leaves[1], leaves[2]]
        })
        .collect();
    let weights: Vec<f64> = (0..m).map(|_| f64::from(rng.random_range(0..4))).collect();
    let triplets = Triplets::new(rows, Some(n)).unwrap();
    if weighted { triplets.with_weights(weights).unwrap() } else { triplets }
}

pub(super) fn shape_of(tree: &Dendrogram) -> Shape {
    Shape::of(tree.merges().to_vec())
}

pub(super) fn as_they_are(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

pub(super) fn cost_of(tree: &Dendrogram, matrix: &Matrix<'_>) -> f64 {
    dasgupta_cost(tree.topology(), matrix, None).unwrap().to_f64()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn trees_get_better(n in 1..40usize, seed: u64, restarts in 0..3u32, average: bool, dissimilarity: bool) {
        let start = tree(n, seed);
        let pairs = pairs(n, 100, seed);
        let matrix = matrix(n, &pairs, dissimilarity);
        let search = Search { restarts, seed, ..Search::default() };
        let heights = if average { Heights::Average } else { Heights::Sizes };
        let better = refine(start.topology(), &matrix, heights, &search, None).unwrap();
        let sign = if dissimilarity { -1.0 } else { 1.0 };
        prop_assert_eq!(sign * (cost_of(&start, &matrix) - cost_of(&better.tree, &matrix)), better.gain);
        prop_assert!(better.gain >= 0.0 && better.is_local_optimum && better.tree.is_monotone());
        prop_assert_eq!(better.tree.is_dissimilarity(), dissimilarity);
        let once = Search { restarts: 0, ..Search::default() };
        let again = refine(better.tree.topology(), &matrix, heights, &once, None).unwrap();
        prop_assert_eq!((again.moves, &again.tree), (0, &better.tree));
        let short = Search { max_moves: Some(1), ..search };
        let little = refine(start.topology(), &matrix, heights, &short, None).unwrap();
        prop_assert!(little.moves <= 1 && little.gain <= better.gain.max(little.gain));
    }

    #[test]
    fn satisfied_triplets_get_more(n in 3..20usize, seed: u64, m in 0..200usize, weighted: bool) {
        let start = tree(n, seed);
        let answers = answers(n, m, weighted, seed);
        let better = refine_satisfied(start.topology(), start.kind(), &answers, &Search::default(), None).unwrap();
        let share = |tree: &Dendrogram| satisfied(&tree.clone().into(), &answers, None).unwrap().agreed;
        prop_assert_eq!(share(&better.tree) - share(&start), better.gain);
        prop_assert!(better.gain >= 0.0 && better.is_local_optimum && better.tree.is_monotone());
    }

    #[test]
    fn clusters_that_are_kept(n in 2..25usize, seed: u64) {
        let start = tree(n, seed);
        let pairs = pairs(n, 100, seed);
        let labels = start.cut_clusters(1 + seed as usize % n).unwrap();
        let labels: Vec<i64> = labels.iter().map(|&label| i64::from(label)).collect();
        let kept = Partition::new(&labels).unwrap();
        let search = Search { kept: Some(kept.clone()), ..Search::default() };
        let better = refine(start.topology(), &matrix(n, &pairs, false), Heights::Sizes, &search, None).unwrap();
        let (before, after) = (shape_of(&start), shape_of(&better.tree));
        for cluster in kept.clusters() {
            let tops = [&before, &after].map(|shape| shape.smallest_holding(cluster));
            prop_assert_eq!(after.size(tops[1]), cluster.len());
            let sets = |shape: &Shape, top: usize| {
                let mut sets: Vec<Vec<usize>> = shape.below(top).map(|node| {
                    let mut leaves: Vec<usize> = shape.leaves(node).collect();
                    leaves.sort_unstable();
                    leaves
                }).collect();
                sets.sort_unstable();
                sets
            };
            prop_assert_eq!(sets(&before, tops[0]), sets(&after, tops[1]));
        }
        let kept = Partition::singletons(n + 1);
        let search = Search { kept: Some(kept), ..Search::default() };
        prop_assert!(refine(start.topology(), &matrix(n, &pairs, false), Heights::Sizes, &search, None).is_err());
    }

    #[test]
    fn numbers_of_leaves_do_not_matter(n in 2..25usize, seed: u64, heights: bool, whole: bool) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Integer values test ties: many of them are equal.
        let draw = |_| if whole { f64::from(rng.random_range(-9..9)) } else { rng.random_range(-1.0..1.0) };
        let values: Vec<f64> = (0..condensed_len(n)).map(draw).collect();
        let at = |i: usize, j: usize| if i == j { 0.0 } else { values[Triangle::new(n).index(i, j)] };
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.shuffle(&mut rng);
        let square = |of: &dyn Fn(usize) -> usize| -> Vec<f64> {
            (0..n * n).map(|cell| at(of(cell / n), of(cell % n))).collect()
        };
        let [plain, shuffled] = [square(&|i| i), square(&|i| order[i] as usize)];
        let [plain, shuffled] = [&plain, &shuffled].map(|values| Matrix::new(Values::F64(values), Layout::Square, Kind::Similarity).unwrap());
        let start = tree(n, seed);
        let number = numbers(&order);
        let moved = start.relabel(&number).unwrap();
        // If leaves are interchangeable, their order depends on their numbers. Skip cases with such leaves.
        let place = |order: Vec<u32>| numbers(&order);
        let (places, others) = (place(order_of_matrix(&plain, start.topology())), place(order_of_matrix(&shuffled, moved.topology())));
        prop_assume!((0..n).all(|leaf| places[leaf] == others[number[leaf] as usize]));
        let heights = if heights { Heights::Average } else { Heights::Sizes };
        let search = Search { restarts: 2, seed, ..Search::default() };
        let plain = refine(start.topology(), &plain, heights, &search, None).unwrap();
        let shuffled = refine(moved.topology(), &shuffled, heights, &search, None).unwrap();
        prop_assert_eq!(plain.tree, shuffled.tree.relabel(&order).unwrap());
        prop_assert_eq!(plain.gain, shuffled.gain);
    }

    #[test]
    fn neither_numbers_nor_rows_matter_for_satisfied_triplets(n in 3..20usize, seed: u64, m in 0..120usize, weighted: bool) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let start = tree(n, seed);
        let plain = answers(n, m, weighted, seed);
        let mut number: Vec<u32> = (0..n as u32).collect();
        number.shuffle(&mut rng);
        let mut of_row: Vec<usize> = (0..m).collect();
        of_row.shuffle(&mut rng);
        let rows: Vec<[i32; 3]> = of_row.iter().map(|&at| plain.rows().row(at).map(|leaf| number[leaf as usize] as i32)).collect();
        let mut shuffled = Triplets::new(rows, Some(n)).unwrap();
        if let Some(weights) = plain.weights() {
            shuffled = shuffled.with_weights(of_row.iter().map(|&at| weights[at] / 3.0).collect::<Vec<f64>>()).unwrap();
        }
        let thirds = plain.weights().map(|weights| weights.iter().map(|weight| weight / 3.0).collect::<Vec<f64>>());
        let plain = match thirds {
            Some(weights) => plain.clone().with_weights(weights).unwrap(),
            None => plain,
        };
        let moved = start.relabel(&number).unwrap();
        let (places, others) = (numbers(&order_with_tree(&plain, start.topology())), numbers(&order_with_tree(&shuffled, moved.topology())));
        prop_assume!((0..n).all(|leaf| places[leaf] == others[number[leaf] as usize]));
        let search = Search { restarts: 2, seed, ..Search::default() };
        let plain = refine_satisfied(start.topology(), start.kind(), &plain, &search, None).unwrap();
        let shuffled = refine_satisfied(moved.topology(), moved.kind(), &shuffled, &search, None).unwrap();
        prop_assert_eq!(plain.tree.relabel(&number).unwrap(), shuffled.tree);
    }

    #[test]
    fn orders_of_repeats_are_those_of_weights(n in 3..12usize, seed: u64, m in 0..40usize) {
        let once = answers(n, m, true, seed);
        let times = |at: usize| once.weights().map_or(1, |weights| weights[at] as usize);
        let repeated: Vec<[i32; 3]> =
            once.rows().iter().enumerate().flat_map(|(at, row)| vec![row; times(at)]).collect();
        prop_assert_eq!(canonical_order(&once), canonical_order(&Triplets::new(repeated, Some(n)).unwrap()));
    }

    #[test]
    fn average_linkage_is_best_among_exchanges_of_neighbours(n in 3..14usize, seed: u64) {
        let pairs = pairs(n, 1000, seed);
        let matrix = matrix(n, &pairs, false);
        let start = Agglomeration::new(Rule::Average).run(&matrix).unwrap();
        let shape = shape_of(&start);
        let all = vec![true; shape.n_nodes()];
        let mut objective = Cost::<f64, ROUNDED>::new(&matrix, &shape, &as_they_are(n), &all).unwrap();
        let best = objective.total(&shape);
        for subtree in 0..shape.n_nodes() {
            // Move the subtree to the edge above its aunt, the sibling of its parent.
            let above = shape.parent(subtree).and_then(|parent| shape.sibling(parent));
            if let Some(aunt) = above {
                let mut exchanged = shape.clone();
                exchanged.regraft(subtree, aunt);
                objective.prepare(&exchanged);
                prop_assert!(objective.total(&exchanged) <= best, "{} with {aunt}", subtree);
            }
        }
    }

    #[test]
    fn the_same_tree_is_one_with_the_same_clusters(n in 1..6usize, seed: u64, moves in 0..6usize) {
        let clusters = |shape: &Shape| {
            let leaves = |node: usize| shape.leaves(node).collect::<BTreeSet<usize>>();
            (0..shape.n_nodes()).map(leaves).collect::<BTreeSet<_>>()
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let start = shape_of(&tree(n, seed));
        let mut shape = start.clone();
        for _ in 0..moves {
            let [subtree, target] = [(); 2].map(|()| rng.random_range(0..shape.n_nodes()));
            shape.regraft(subtree, target);
            prop_assert_eq!(shape.is_tree_of(&start), clusters(&shape) == clusters(&start));
        }
    }
}

#[test]
fn small_trees_reach_the_optimum() {
    for n in 1..=7usize {
        let trees = all_trees(n);
        assert_eq!(trees.len(), (1..n).map(|k| 2 * k - 1).product::<usize>());
        let (mut searches, mut optimal) = (0, 0);
        for seed in 0..if n == 7 { 1 } else { 6 } {
            let pairs = pairs(n, 1000, seed);
            let matrix = matrix(n, &pairs, false);
            let best = trees.iter().map(|tree| cost_of(tree, &matrix)).fold(f64::INFINITY, f64::min);
            let mut reached = f64::INFINITY;
            for start in &trees {
                let found = refine(start.topology(), &matrix, Heights::Sizes, &Search::default(), None).unwrap();
                let cost = cost_of(&found.tree, &matrix);
                assert!(cost >= best);
                reached = reached.min(cost);
                searches += 1;
                optimal += usize::from(cost == best);
            }
            assert_eq!(reached, best);
        }
        assert!(2 * optimal > searches, "{n} leaves: only {optimal} of {searches} searches end at an optimum");
    }
}

#[test]
fn restarts_never_lose() {
    let pairs = pairs(60, 1000, 3);
    let matrix = matrix(60, &pairs, false);
    let start = tree(60, 4);
    let gain = |restarts| {
        let search = Search { restarts, seed: 1, ..Search::default() };
        refine(start.topology(), &matrix, Heights::Sizes, &search, None).unwrap().gain
    };
    let gains = [gain(0), gain(5), gain(40)];
    assert!(gains[0] <= gains[1] && gains[1] <= gains[2] && gains[0] < gains[2], "{gains:?}");
}

#[test]
fn what_does_not_fit() {
    let start = Dendrogram::new(vec![[0, 1], [2, 3]], vec![2.0, 1.0], Kind::Similarity).unwrap();
    let pairs = [1, 2, 3, 4, 5, 6];
    let error = |kept: Option<&[i64]>, n: usize| {
        let search = Search { kept: kept.map(|labels| Partition::new(labels).unwrap()), ..Search::default() };
        let matrix = matrix(n, &pairs[..condensed_len(n)], false);
        refine(start.topology(), &matrix, Heights::Sizes, &search, None).unwrap_err().to_string()
    };
    assert_eq!(error(None, 4), "the tree has 3 leaves, the matrix has 4");
    assert_eq!(
        error(Some(&[0, 1, 0]), 3),
        "leaves 0 and 2 must stay in one cluster of 2, but the tree's cluster with these leaves has 3 leaves"
    );
    let stopped = Monitor::new();
    stopped.cancel();
    let found =
        refine(start.topology(), &matrix(3, &[1, 5, 2], false), Heights::Sizes, &Search::default(), Some(&stopped));
    assert_eq!(found.unwrap_err(), Error::Interrupted);
}

#[test]
fn leaves_are_told_apart() {
    // Leaves 0 and 1 are interchangeable, so they keep the order of their numbers.
    let order = canonical_order(&Triplets::new(vec![[0, 1, 2], [1, 0, 2], [3, 2, 0], [3, 2, 1]], None).unwrap());
    let mut apart = order.clone();
    apart.sort_unstable();
    assert_eq!(apart, [0, 1, 2, 3]);
    let place = |leaf| order.iter().position(|&other| other == leaf).unwrap();
    assert_eq!(place(1), place(0) + 1);
    // The two pairs of a quadruplet share no anchor, and the leaves of each pair are interchangeable.
    let order = canonical_order(&crate::Quadruplets::new(vec![[3, 1, 0, 2]], None).unwrap());
    assert!(order == [1, 3, 0, 2] || order == [0, 2, 1, 3], "{order:?}");
    let tree = tree(6, 1);
    assert_eq!(order_of_matrix(&matrix(6, &[0; 15], false), tree.topology()).len(), 6);
}

#[test]
fn progress_is_told_while_the_tree_climbs() {
    let pairs = pairs(250, 1000, 3);
    let matrix = matrix(250, &pairs, false);
    let monitor = Monitor::new();
    let search = Search { restarts: 3, ..Search::default() };
    let shares = std::thread::scope(|scope| {
        let work =
            scope.spawn(|| refine(tree(250, 4).topology(), &matrix, Heights::Sizes, &search, Some(&monitor)).unwrap());
        let mut shares = vec![];
        while !work.is_finished() {
            let share = monitor.fraction();
            if shares.last() != Some(&share) {
                shares.push(share);
            }
        }
        shares
    });
    assert_eq!(monitor.fraction(), 1.0);
    assert!(shares.is_sorted());
    let between = shares.iter().filter(|&&share| 0.0 < share && share < 1.0).count();
    assert!(between > 0, "{shares:?}");
}

#[test]
fn annealing_finds_what_climbing_does_not() {
    let better = (0..10).filter(|&seed| {
        let answers = answers(40, 1000, false, seed);
        let start = tree(40, seed);
        let gain = |restarts| {
            let search = Search { restarts, ..Search::default() };
            refine_satisfied(start.topology(), start.kind(), &answers, &search, None).unwrap().gain
        };
        gain(1) > gain(0)
    });
    assert!(better.count() >= 8);
}
