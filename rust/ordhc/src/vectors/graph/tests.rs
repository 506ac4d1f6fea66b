use proptest::prelude::*;

use super::*;
use crate::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
use crate::kind::Kind;

const ALL: [(Rule, Measure); 12] = [
    (Rule::Ward, Measure::Euclidean),
    (Rule::Average, Measure::Euclidean),
    (Rule::Weighted, Measure::Euclidean),
    (Rule::Complete, Measure::Euclidean),
    (Rule::Single, Measure::Euclidean),
    (Rule::Average, Measure::SquaredEuclidean),
    (Rule::Weighted, Measure::SquaredEuclidean),
    (Rule::Single, Measure::SquaredEuclidean),
    (Rule::Average, Measure::Dot),
    (Rule::Weighted, Measure::Dot),
    (Rule::Complete, Measure::Dot),
    (Rule::Single, Measure::Dot),
];

fn pair(values: &[f64], p: usize, measure: Measure, i: usize, j: usize) -> f64 {
    let pairs = (0..p).map(|k| (values[i * p + k], values[j * p + k]));
    match measure {
        Measure::Dot => pairs.map(|(x, y)| x * y).sum(),
        Measure::SquaredEuclidean => pairs.map(|(x, y)| (x - y).powi(2)).sum(),
        _ => pairs.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt(),
    }
}

fn twin(values: &[f64], n: usize, p: usize, rule: &Rule, measure: Measure, initial: Option<&Partition>) -> Dendrogram {
    let square: Vec<f64> = (0..n * n).map(|at| pair(values, p, measure, at / n, at % n)).collect();
    let kind = if measure == Measure::Dot { Kind::Similarity } else { Kind::Dissimilarity };
    let matrix = Matrix::new(Values::F64(&square), Layout::Square, kind).unwrap();
    Agglomeration::new(rule.clone()).engine(Engine::Naive).initial(initial).run(&matrix).unwrap()
}

fn unit_rows(values: &mut [f64], p: usize) {
    for row in values.chunks_exact_mut(p) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= if length > 0.0 { length } else { 1.0 });
    }
}

fn random(n: usize, p: usize, seed: u64) -> Vec<f64> {
    (0..(n * p) as u64).map(|at| mixed(at ^ seed << 32) as f64 / u64::MAX as f64).collect()
}

fn check(tree: &Dendrogram, expected: &Dendrogram, merges_too: bool) {
    if merges_too {
        assert_eq!(tree.merges(), expected.merges());
    }
    let largest = expected.heights().iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    for (a, b) in tree.heights().iter().zip(expected.heights()) {
        assert!((a - b).abs() <= 1e-7 * largest, "{a} {b}");
    }
}

proptest! {
    #[test]
    fn all_neighbors_give_the_tree_of_all_pairs(
        (n, p, values) in (1..50usize, 1..20usize).prop_flat_map(|(n, p)| {
            (Just(n), Just(p), prop::collection::vec(-3.0..3.0f64, n * p))
        }),
        tied: bool,
    ) {
        for (rule, measure) in ALL {
            let mut values: Vec<f64> = values.iter().map(|x| if tied { x.round() } else { *x }).collect();
            if measure == Measure::Dot {
                unit_rows(&mut values, p);
            }
            let vectors = Vectors::new(&values, n, p).unwrap();
            let tree = graph_linkage(&vectors, &rule, measure, Neighbors::Search(n), n, None, None).unwrap();
            // Ties can be broken differently. Then only heights of single linkage must be the same. For dot products,
            // rounding decides ties, so heights can differ too.
            if !tied {
                check(&tree, &twin(&values, n, p, &rule, measure, None), true);
            } else if rule == Rule::Single && measure != Measure::Dot {
                check(&tree, &twin(&values, n, p, &rule, measure, None), false);
            } else {
                prop_assert_eq!(tree.n_leaves(), n);
            }
        }
    }

    /// Each height is the dissimilarity of the two merged clusters, or the height of an earlier merge within these
    /// clusters if that is larger. Except in single linkage, the height of two clusters does not depend on the edges of
    /// the graph.
    #[test]
    fn heights_are_those_of_the_clusters(
        (n, k, seed) in (2..60usize, 1..6usize, 0..1000u64), until in 1..20usize, tied: bool,
    ) {
        let p = 3;
        for (rule, measure) in ALL {
            let mut values = random(n, p, seed);
            values.iter_mut().for_each(|x| *x = if tied { (*x * 3.0).round() } else { *x * 3.0 } + 0.5);
            if measure == Measure::Dot {
                unit_rows(&mut values, p);
            }
            let vectors = Vectors::new(&values, n, p).unwrap();
            let tree = graph_linkage(&vectors, &rule, measure, Neighbors::Search(k), until, None, None).unwrap();
            prop_assert_eq!(tree.n_leaves(), n);
            let mut leaves: Vec<Vec<(usize, f64)>> = (0..n).map(|leaf| vec![(leaf, 1.0)]).collect();
            let mut before = vec![f64::NEG_INFINITY; n];
            for (&[i, j], &height) in tree.merges().iter().zip(tree.heights()) {
                let [a, b] = [&leaves[i as usize], &leaves[j as usize]];
                let sign = if measure == Measure::Dot { -1.0 } else { 1.0 };
                let own = sign * between(&values, p, &rule, measure, a, b);
                let expected = own.max(before[i as usize]).max(before[j as usize]);
                let is_sampled = a.len().max(b.len()) > clusters::SAMPLE;
                let is_near = (sign * height - expected).abs() <= 1e-6;
                // Single linkage compares only leaves with an edge of the graph. A nearer pair of leaves may have no
                // edge, so heights can be larger than expected.
                let is_single = rule == Rule::Single && sign * height >= expected - 1e-6;
                prop_assert!(is_near || is_sampled || is_single, "{} {} {} {}", rule, measure, height, expected);
                before.push(sign * height);
                let whole = a.iter().chain(b).map(|&(leaf, weight)| (leaf, weight / 2.0)).collect();
                leaves.push(whole);
            }
        }
    }

    #[test]
    fn initial_clusters_come_first(seed in 0..100u64, classes in 1..8u64, until in 1..9usize) {
        let (n, p) = (40, 3);
        let values = random(n, p, seed);
        let labels: Vec<i64> = (0..n as u64).map(|leaf| (mixed(leaf ^ seed << 9) % classes) as i64).collect();
        let initial = Partition::new(&labels).unwrap();
        let vectors = Vectors::new(&values, n, p).unwrap();
        for (rule, measure) in ALL.into_iter().filter(|(_, measure)| *measure != Measure::Dot) {
            let of = |until| {
                graph_linkage(&vectors, &rule, measure, Neighbors::Search(5), until, Some(&initial), None).unwrap()
            };
            check(&of(n), &twin(&values, n, p, &rule, measure, Some(&initial)), false);
            let tree = of(until);
            let mut of_node: Vec<Option<u32>> = initial.cluster_of().iter().map(|&cluster| Some(cluster)).collect();
            for &[i, j] in tree.merges().iter() {
                let parts = [of_node[i as usize], of_node[j as usize]];
                let whole = if parts[0] == parts[1] { parts[0] } else { None };
                prop_assert!(whole.is_some() || of_node.len() >= 2 * n - initial.n_clusters());
                of_node.push(whole);
            }
        }
    }

    #[test]
    fn the_search_finds_the_nearest(seed in 0..20u64, k in 1..30usize) {
        let (n, p) = (300, 5);
        let values = random(n, p, seed);
        let points = search::Points::new(n, p, |i| &values[i * p..(i + 1) * p]).unwrap();
        let found = search::nearest(&points, k, &Monitor::new(), 0).unwrap();
        for (i, found) in found.chunks_exact(k).enumerate() {
            let mut all: Vec<f64> = (0..n).filter(|&j| j != i).map(|j| pair(&values, p, Measure::Euclidean, i, j)).collect();
            all.sort_unstable_by(f64::total_cmp);
            for (&j, expected) in found.iter().zip(all) {
                prop_assert!((pair(&values, p, Measure::Euclidean, i, j as usize) - expected).abs() < 1e-5);
            }
        }
    }
}

fn between(values: &[f64], p: usize, rule: &Rule, measure: Measure, a: &[(usize, f64)], b: &[(usize, f64)]) -> f64 {
    let is_weighted = *rule == Rule::Weighted;
    let pairs = || a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y)));
    let weight = |x: f64, y: f64| if is_weighted { x * y } else { 1.0 };
    let sign = if measure == Measure::Dot { -1.0 } else { 1.0 };
    let value = |i: usize, j: usize| pair(values, p, measure, i, j);
    match rule {
        Rule::Single => sign * pairs().map(|(x, y)| sign * value(x.0, y.0)).fold(f64::INFINITY, f64::min),
        Rule::Complete => sign * pairs().map(|(x, y)| sign * value(x.0, y.0)).fold(f64::NEG_INFINITY, f64::max),
        Rule::Ward => {
            let mean = |leaves: &[(usize, f64)], k: usize| {
                leaves.iter().map(|&(leaf, _)| values[leaf * p + k]).sum::<f64>() / leaves.len() as f64
            };
            let (m, n) = (a.len() as f64, b.len() as f64);
            let square: f64 = (0..p).map(|k| (mean(a, k) - mean(b, k)).powi(2)).sum();
            (2.0 * m * n / (m + n) * square).sqrt()
        }
        _ => {
            let total: f64 = pairs().map(|(x, y)| weight(x.1, y.1)).sum();
            pairs().map(|(x, y)| weight(x.1, y.1) * value(x.0, y.0)).sum::<f64>() / total
        }
    }
}

#[test]
fn the_search_among_many_finds_most() {
    let (n, p, k) = (5000, 8, 10);
    let values = random(n, p, 7);
    let points = search::Points::new(n, p, |i| &values[i * p..(i + 1) * p]).unwrap();
    let found = search::nearest(&points, k, &Monitor::new(), 0).unwrap();
    let mut hits = 0;
    for i in (0..n).step_by(50) {
        let mut all: Vec<(f64, u32)> =
            (0..n).filter(|&j| j != i).map(|j| (pair(&values, p, Measure::Euclidean, i, j), j as u32)).collect();
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        hits += all[..k].iter().filter(|(_, j)| found[i * k..(i + 1) * k].contains(j)).count();
    }
    assert!(hits >= 95 * k, "{hits} of {}", 100 * k);
}

#[test]
fn results_do_not_depend_on_threads() {
    let (n, p) = (3000, 4);
    let values = random(n, p, 1);
    let vectors = Vectors::new(&values, n, p).unwrap();
    for (rule, measure) in ALL.into_iter().filter(|(_, measure)| *measure != Measure::Dot) {
        let of = || graph_linkage(&vectors, &rule, measure, Neighbors::Search(8), 300, None, None).unwrap();
        let before = crate::limit_threads(Some(1));
        let one = of();
        crate::limit_threads(before);
        assert_eq!(of(), one);
    }
}

#[test]
fn odd_inputs() {
    // Neighbours of more than 2,048 vectors are searched by descent.
    // Equal vectors, fewer vectors than neighbours, no coordinates, a line of slowly growing gaps, groups far apart.
    let line: Vec<f64> = (0..2200).map(|x| f64::from(x) * (1.0 + f64::from(x) * 1e-6)).collect();
    let apart: Vec<f64> = (0..2100).map(|x| f64::from(x % 3) * 1e9 + f64::from(x) * 1e-3).collect();
    let equal = vec![0.1; 2100];
    let two: Vec<f64> = (0..2100).map(|x| f64::from(x % 2)).collect();
    for (input, (values, n, p)) in [
        (&line, 2200, 1),
        (&apart, 2100, 1),
        (&equal, 2100, 1),
        (&two, 2100, 1),
        (&equal, 700, 3),
        (&Vec::new(), 5, 0),
        (&vec![1.0], 1, 1),
        (&vec![1.0, 2.0], 2, 1),
    ]
    .into_iter()
    .enumerate()
    {
        let vectors = Vectors::new(values, n, p).unwrap();
        for (at, (rule, measure)) in ALL.into_iter().enumerate() {
            // Each rule gets both values, in turn.
            let until = [1, 50][(input + at) % 2];
            let tree = graph_linkage(&vectors, &rule, measure, Neighbors::Search(4), until, None, None).unwrap();
            assert_eq!((tree.n_leaves(), tree.merges().len()), (n, n - 1));
        }
    }
    let vectors = Vectors::new(&two, 2100, 1).unwrap();
    let tree = graph_linkage(&vectors, &Rule::Ward, Measure::Euclidean, Neighbors::Search(4), 1, None, None).unwrap();
    assert_eq!((tree.heights()[2097], tree.heights()[2098] > 0.0), (0.0, true));
}

#[test]
fn given_neighbors_are_used_and_mistakes_are_named() {
    let values: Vec<f64> = (0..40).map(|x| f64::from(x * x)).collect();
    let vectors = Vectors::new(&values, 40, 1).unwrap();
    let given: Vec<i64> = (0..40).flat_map(|x| [x - 1, if x < 39 { x + 1 } else { -7 }]).collect();
    let of = |rule: &Rule, measure, neighbors| graph_linkage(&vectors, rule, measure, neighbors, 2, None, None);
    let tree = of(&Rule::Single, Measure::Euclidean, Neighbors::Given(&given)).unwrap();
    let heights: Vec<f64> = (0..39).map(|x| f64::from(2 * x + 1)).collect();
    assert_eq!(tree.heights(), heights);
    let message = |rule: Rule, measure, neighbors| of(&rule, measure, neighbors).unwrap_err().to_string();
    assert!(message(Rule::Ward, Measure::Dot, Neighbors::Search(3)).contains("cannot use a graph"));
    assert!(message(Rule::Single, Measure::Manhattan, Neighbors::Search(3)).contains("cannot use a graph"));
    assert!(message(Rule::Single, Measure::Euclidean, Neighbors::Search(0)).contains("neighbours = 0"));
    assert!(message(Rule::Single, Measure::Euclidean, Neighbors::Given(&[0; 41])).contains("41"));
    let mut wrong = vec![0; 80];
    wrong[7] = 40;
    let error = message(Rule::Single, Measure::Euclidean, Neighbors::Given(&wrong));
    assert!(error.contains("[3, 1] is 40"), "{error}");
    let monitor = Monitor::new();
    monitor.cancel();
    let stopped =
        graph_linkage(&vectors, &Rule::Ward, Measure::Euclidean, Neighbors::Search(3), 2, None, Some(&monitor));
    assert_eq!(stopped, Err(Error::Interrupted));
}
