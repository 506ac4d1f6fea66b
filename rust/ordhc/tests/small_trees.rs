//! Tests on every binary tree with up to 6 leaves, and properties that hold for all input.

use ordhc::Kind;
use ordhc::agglomerate::{Agglomeration, Layout, Matrix, Values};
use ordhc::bindings::LcaSizes;
use ordhc::linkage::Rule;
use ordhc::metric::{Revenue, revenue};
use ordhc::similarity::{Triangle, adds, condensed_len};
use ordhc::{Dendrogram, Triplets};
use proptest::prelude::*;

#[path = "support/trees.rs"]
mod trees;

use trees::all_trees;

fn value(tree: &Dendrogram, triplets: &Triplets<'_>) -> i64 {
    match revenue(tree.topology(), triplets, None).unwrap() {
        Revenue::Whole(value) => value,
        Revenue::Weighted(_) => unreachable!(),
    }
}

/// Returns the triplets with which a tree agrees.
fn answers(tree: &Dendrogram) -> Vec<[i32; 3]> {
    let (n, lca) = (tree.n_leaves(), LcaSizes::new(tree.topology()));
    let triples = (0..n).flat_map(|i| (0..n).flat_map(move |j| (0..n).map(move |k| (i, j, k))));
    triples
        .filter(|&(i, j, k)| i != j && i != k && j != k && lca.size(i, j) < lca.size(i, k))
        .map(|(i, j, k)| [i as i32, j as i32, k as i32])
        .collect()
}

#[test]
fn there_are_as_many_trees_as_there_should_be() {
    for (n, count) in [(1, 1), (2, 1), (3, 3), (4, 15), (5, 105), (6, 945)] {
        assert_eq!(all_trees(n).len(), count);
    }
}

#[test]
fn average_linkage_finds_every_tree_from_its_answers() {
    for n in 2..=6 {
        let trees = all_trees(n);
        for tree in &trees {
            let rows = answers(tree);
            if rows.is_empty() {
                continue;
            }
            let triplets = Triplets::new(rows, Some(n as usize)).unwrap();
            let found = ordhc::adds_average_linkage(&triplets).unwrap();
            let (ours, theirs) = (LcaSizes::new(found.topology()), LcaSizes::new(tree.topology()));
            for i in 0..n as usize {
                for j in 0..n as usize {
                    assert_eq!(ours.size(i, j), theirs.size(i, j), "{}", tree.newick());
                }
            }
        }
    }
}

#[test]
fn only_the_true_tree_has_the_highest_revenue() {
    // Proposition 2 of Mandal, Perrot & Ghoshdastidar.
    for n in 3..=5 {
        let trees = all_trees(n);
        for (at, tree) in trees.iter().enumerate() {
            let triplets = Triplets::new(answers(tree), Some(n as usize)).unwrap();
            let best = value(tree, &triplets);
            let others = trees.iter().enumerate().filter(|&(other, _)| other != at);
            assert!(others.map(|(_, other)| value(other, &triplets)).all(|other| other < best));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn revenue_is_minus_dasguptas_cost(picks in prop::collection::vec((0i32..6, 0i32..6, 0i32..6), 0..40), which in 0usize..945) {
        // Theorem 1 of Mandal, Perrot & Ghoshdastidar, in integers.
        let rows: Vec<[i32; 3]> = picks.into_iter().filter(|(i, j, k)| i != j && i != k && j != k).map(|(i, j, k)| [i, j, k]).collect();
        let triplets = Triplets::new(rows, Some(6)).unwrap();
        let tree = &all_trees(6)[which];
        let mut s = vec![0i64; condensed_len(6)];
        adds(&triplets, &mut s, None).unwrap();
        let lca = LcaSizes::new(tree.topology());
        let cost: i64 = (0..6).flat_map(|i| (i + 1..6).map(move |j| (i, j))).map(|(i, j)| s[Triangle::new(6).index(i, j)] * i64::from(lca.size(i, j))).sum();
        prop_assert_eq!(value(tree, &triplets), -cost);
    }

    #[test]
    fn numbering_does_not_matter(values in prop::collection::vec(0.0..1.0f64, 45), order in Just((0..10u32).collect::<Vec<_>>()).prop_shuffle()) {
        let n = 10;
        let mut moved = vec![0.0; values.len()];
        for i in 0..n {
            for j in i + 1..n {
                let (a, b) = (order[i] as usize, order[j] as usize);
                moved[Triangle::new(n).index(a, b)] = values[Triangle::new(n).index(i, j)];
            }
        }
        for name in Rule::NAMES {
            let rule = name.parse::<Rule>().unwrap();
            let tree = |values: &[f64]| {
                let matrix = Matrix::new(Values::F64(values), Layout::Condensed, Kind::Dissimilarity).unwrap();
                Agglomeration::new(rule.clone()).run(&matrix).unwrap()
            };
            let renamed = tree(&values).relabel(&order).unwrap();
            let direct = tree(&moved);
            let (a, b) = (LcaSizes::new(renamed.topology()), LcaSizes::new(direct.topology()));
            for i in 0..n {
                for j in 0..n {
                    prop_assert_eq!(a.size(i, j), b.size(i, j));
                }
            }
        }
    }
}
