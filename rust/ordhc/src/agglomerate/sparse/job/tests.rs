//! Compares sparse similarities with the naive engine on the full matrix, and with a naive agglomeration that uses only
//! the stored pairs.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::pairs::Pair;
use super::*;
use crate::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
use crate::kind::Kind;
use crate::testkit::below;

const RULES: [Rule; 3] = [Rule::Single, Rule::Complete, Rule::Average];
/// Values of [`Rules::share`], [`Rules::patience`] and [`Rules::filled`]. They lead to rounds, to a nearest-neighbour
/// chain, or to both.
const WAYS: [[usize; 3]; 8] = [
    [usize::MAX, 0, 0],
    [0, usize::MAX, 0],
    [0, 0, 0],
    [0, usize::MAX, usize::MAX],
    [0, 1, 0],
    [0, usize::MAX, 1],
    [SHARE, PATIENCE, FILLED],
    [64, 1, 8],
];

fn sparse(n: usize, values: &[((usize, usize), f64)], dissimilarity: bool) -> SparsePairs {
    let sign = if dissimilarity { -1.0 } else { 1.0 };
    let mut pairs: Vec<Pair> =
        values.iter().map(|&((i, j), x)| Pair { i: i as u32, j: j as u32, similarity: sign * x }).collect();
    pairs.sort_by_key(|pair| (pair.i, pair.j));
    pairs.dedup_by_key(|pair| (pair.i, pair.j));
    SparsePairs::ascending(n, pairs, dissimilarity).unwrap()
}

fn full(pairs: &SparsePairs, rule: &Rule, initial: Option<&Partition>) -> Dendrogram {
    let n = pairs.n_leaves();
    let mut square = vec![0.0; n * n];
    for Link { a, b, value, .. } in pairs.links() {
        square[a as usize * n + b as usize] = value;
        square[b as usize * n + a as usize] = value;
    }
    let matrix = Matrix::new(Values::F64(&square), Layout::Square, Kind::Similarity).unwrap();
    Agglomeration::new(rule.clone()).engine(Engine::Naive).initial(initial).run(&matrix).unwrap()
}

struct Known<'a> {
    rule: &'a Rule,
    tolerance: Tolerance,
    pairs: HashMap<(u32, u32), f64>,
    clusters: Vec<Vec<u32>>,
}

impl Known<'_> {
    fn about(&self, a: usize, b: usize) -> Option<(f64, f64)> {
        let mut known = Vec::new();
        for &i in &self.clusters[a] {
            known.extend(self.clusters[b].iter().filter_map(|&j| self.pairs.get(&(i.min(j), i.max(j)))));
        }
        let share = known.len() as f64 / (self.clusters[a].len() * self.clusters[b].len()) as f64;
        let similarity = match self.rule {
            Rule::Single => known.iter().copied().copied().reduce(f64::max),
            Rule::Complete => known.iter().copied().copied().reduce(f64::min),
            _ => Some(known.iter().copied().sum::<f64>() / known.len() as f64),
        };
        let share = if *self.rule == Rule::Single { 0.0 } else { share };
        similarity.filter(|_| !known.is_empty()).map(|similarity| (similarity, share))
    }

    fn merges(&mut self, among: impl Fn(u32) -> bool) -> Vec<(RawMerge, f64)> {
        let mut merges = Vec::new();
        loop {
            let k = self.clusters.len();
            let wanted = |&(a, b): &(usize, usize)| a < b && among(self.clusters[a][0]) && among(self.clusters[b][0]);
            let all: Vec<((usize, usize), (f64, f64))> = (0..k)
                .flat_map(|a| (0..k).map(move |b| (a, b)))
                .filter(wanted)
                .filter_map(|(a, b)| Some(((a, b), self.about(a, b)?)))
                .collect();
            let largest = all.iter().map(|pair| pair.1.0).fold(f64::NEG_INFINITY, f64::max);
            let key = |x| self.tolerance.key(x);
            let tied = || all.iter().filter(|pair| key(pair.1.0) == key(largest));
            let share = tied().map(|pair| pair.1.1).fold(0.0, f64::max);
            let Some(&((a, b), (similarity, _))) = tied().find(|pair| pair.1.1 == share) else { return merges };
            let [i, j] = [a, b].map(|at| self.clusters[at][0] as usize);
            merges.push((RawMerge { i, j, similarity }, share));
            let more = self.clusters.remove(b);
            self.clusters[a].extend(more);
            self.clusters[a].sort_unstable();
        }
    }
}

fn known(pairs: &SparsePairs, rule: &Rule, tolerance: Tolerance, initial: Option<&Partition>) -> (Dendrogram, usize) {
    let n = pairs.n_leaves();
    let map = pairs.links().map(|link| ((link.a, link.b), link.value)).collect();
    let clusters = (0..n as u32).map(|leaf| vec![leaf]).collect();
    let mut state = Known { rule, tolerance, pairs: map, clusters };
    let mut within = Vec::new();
    for leaves in initial.map_or(&[][..], Partition::clusters) {
        let own = state.merges(|leaf| leaves.contains(&(leaf as usize)));
        let lowest = own.last().map_or(f64::NEG_INFINITY, |merge| merge.0.similarity);
        within.extend(own);
        let (some, rest): (Vec<Vec<u32>>, _) =
            state.clusters.iter().cloned().partition(|members| leaves.contains(&(members[0] as usize)));
        let join = |other: &Vec<u32>| (RawMerge { i: leaves[0], j: other[0] as usize, similarity: lowest }, 0.0);
        within.extend(some[1..].iter().map(join));
        state.clusters = rest;
        state.clusters.push(leaves.iter().map(|&leaf| leaf as u32).collect());
        state.clusters.sort_unstable();
    }
    // The merges of each initial cluster are in order, but must be combined with the merges of the other initial
    // clusters.
    let mut after: Vec<RawMerge> = state.merges(|_| true).into_iter().map(|(merge, _)| merge).collect();
    let (within, shares): (Vec<RawMerge>, Vec<f64>) = within.into_iter().unzip();
    let ranks: Vec<u64> = match rule {
        Rule::Single => Vec::new(),
        _ => shares.iter().map(|share| !share.to_bits()).collect(),
    };
    let lowest = after.last().map_or(0.0, |merge| merge.similarity);
    let join = |other: &Vec<u32>| RawMerge { i: 0, j: other[0] as usize, similarity: lowest };
    after.extend(state.clusters[1..].iter().map(join));
    let merges = match initial {
        Some(_) => with_initial(RawMerge::sort_ranked(n, within, &ranks, tolerance).merges, after),
        None => after,
    };
    let mut tree = Dendrogram::in_order(n, merges).unwrap();
    tree.make_monotone();
    let sign = if pairs.is_dissimilarity() { -1.0 } else { 1.0 };
    (tree.map_heights(pairs.is_dissimilarity(), |x| sign * x), state.clusters.len())
}

fn check(n: usize, values: &[((usize, usize), f64)], labels: &[i64]) {
    let monitor = Monitor::new();
    let initial = Partition::new(labels).unwrap();
    for rule in &RULES {
        for initial in [None, Some(&initial)] {
            for (missing, dissimilarity) in [(Missing::Zero, false), (Missing::Ignore, false), (Missing::Ignore, true)]
            {
                let pairs = sparse(n, values, dissimilarity);
                let doubtful = AtomicBool::new(false);
                let job = || SparseJob::checked(&pairs, rule, missing, initial, (&monitor, &doubtful)).unwrap();
                let (expected, n_trees) = match missing {
                    Missing::Zero => (full(&pairs, rule, initial), 1),
                    Missing::Ignore => known(&pairs, rule, job().rules.tolerance, initial),
                };
                for way in WAYS {
                    let (tree, trees) = job().with(way).run(initial).unwrap();
                    let kind = format!("dissimilarities: {dissimilarity}, initial clusters: {initial:?}");
                    let what = format!("rule {rule:?}, missing {missing:?}, way {way:?}, {kind}");
                    assert_eq!(tree.merges(), expected.merges(), "{what}");
                    assert_eq!((trees, tree.is_dissimilarity()), (n_trees, dissimilarity), "{what}");
                    for (a, b) in tree.heights().iter().zip(expected.heights()) {
                        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{what}: {a} {b}");
                    }
                }
            }
        }
    }
}

fn input(value: impl Strategy<Value = f64> + Clone + 'static) -> impl Strategy<Value = Input> {
    (1..13usize).prop_flat_map(move |n| {
        let pair = (0..n, 0..n).prop_filter_map("a pair", |(i, j)| (i < j).then_some((i, j)));
        let most = if n > 1 { n * n } else { 0 };
        let values = if n > 1 {
            prop::collection::vec((pair, value.clone()), 0..=most).boxed()
        } else {
            Just(Vec::new()).boxed()
        };
        (Just(n), values, prop::collection::vec(0..5i64, n))
    })
}

type Input = (usize, Vec<((usize, usize), f64)>, Vec<i64>);

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn tied_whole_numbers((n, values, labels) in input((-2..3i32).prop_map(f64::from))) {
        check(n, &values, &labels);
    }

    #[test]
    fn positive_tenths((n, values, labels) in input((0..4i32).prop_map(|x| f64::from(x) * 0.1))) {
        check(n, &values, &labels);
    }

    #[test]
    fn any_sign((n, values, labels) in input(-5.0..5.0f64)) {
        check(n, &values, &labels);
    }

    #[test]
    fn equal_values((n, values, labels) in input(Just(0.1))) {
        check(n, &values, &labels);
    }
}

#[test]
fn larger_graphs() {
    let mut random = below(3);
    let n = 120;
    for (kinds, hubs) in [(3, 0), (1_000_000, 0), (5, 3), (1_000_000, 3)] {
        let mut values = Vec::new();
        for i in 0..n {
            for _ in 0..4 {
                let j = random(n as u64) as usize;
                values.extend((i != j).then(|| ((i.min(j), i.max(j)), 1.0 + random(kinds) as f64)));
            }
            values.extend((0..hubs).filter(|&hub| hub < i).map(|hub| ((hub, i), 1.0 + random(kinds) as f64)));
        }
        let labels: Vec<i64> = (0..n as i64).map(|leaf| leaf * leaf % 70).collect();
        check(n, &values, &labels);
        for value in &mut values {
            value.1 -= kinds as f64 / 2.0;
        }
        check(n, &values, &labels);
    }
}

#[test]
fn no_pairs_and_single_leaves() {
    check(1, &[], &[0]);
    check(4, &[], &[0, 1, 0, 1]);
    check(2, &[((0, 1), -0.0)], &[0, 0]);
}

#[test]
fn what_does_not_work_is_said() {
    let monitor = Monitor::new();
    let pairs = sparse(3, &[((0, 1), 1.0)], true);
    let message = |rule, missing, initial| {
        crate::agglomerate::sparse::agglomerate_sparse(&pairs, rule, missing, initial, &monitor)
            .unwrap_err()
            .to_string()
    };
    assert!(message(&Rule::Single, Missing::Zero, None).contains("identical"));
    assert!(message(&Rule::Ward, Missing::Ignore, None).contains("single, complete and average"));
    let other = Partition::singletons(4);
    assert!(
        message(&Rule::Single, Missing::Ignore, Some(&other)).contains("4 labels of initial clusters for 3 leaves")
    );
    assert!("nan".parse::<Missing>().unwrap_err().to_string().contains("zero, ignore"));
    monitor.cancel();
    for rule in &RULES {
        let stopped = crate::agglomerate::sparse::agglomerate_sparse(&pairs, rule, Missing::Ignore, None, &monitor);
        assert_eq!(stopped, Err(Error::Interrupted));
    }
}
