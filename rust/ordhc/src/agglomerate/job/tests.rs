//! Compares all engines with the naive engine.

use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::*;
use crate::agglomerate::{Agglomeration, Layout, Values};
use crate::error::Error;
use crate::kind::Kind;
use crate::linkage::LanceWilliams;
use crate::monitor::Monitor;
use crate::similarity::{Triangle, condensed_len};
use crate::testkit::{below, fractions};

fn rules() -> Vec<Rule> {
    let formulas = |alpha, beta| LanceWilliams::new(alpha, beta, "0", &[("b", -0.25)]).unwrap();
    let mut rules: Vec<Rule> = Rule::NAMES.iter().map(|name| name.parse::<Rule>().unwrap()).collect();
    rules.push(Rule::Coefficients(formulas("(1 - b) / 2", "b")));
    rules.push(Rule::Coefficients(formulas("n_i / (n_i + n_j)", "0").reducible(true)));
    let single = LanceWilliams::new("0.5", "0", "-0.5", &[]).unwrap();
    rules.push(Rule::Coefficients(single.reducible(true)));
    rules
}

struct Case<'a> {
    values: &'a [f64],
    dissimilarity: bool,
    initial: Option<&'a Partition>,
}

/// The values of [`Task::at_once`] and [`Task::few`].
type Sizes = [usize; 2];

fn tree(input: &Case<'_>, rule: &Rule, engine: Engine, [at_once, few]: Sizes) -> Dendrogram {
    let Case { values, dissimilarity, initial } = *input;
    let matrix = Matrix::new(Values::F64(values), Layout::Condensed, Kind::of(dissimilarity)).unwrap();
    let monitor = Monitor::new();
    let task = Task::checked(&matrix, rule, engine, initial, &monitor).unwrap();
    Task { at_once, few, ..task }.dispatch(Input::Given(&matrix)).unwrap()
}

fn tree_in_place(input: &Case<'_>, rule: &Rule, engine: Engine, layout: Layout) -> Dendrogram {
    let mut values = input.values.to_vec();
    if layout == Layout::Square {
        let n = Triangle::of_pairs(values.len()).unwrap().n_leaves();
        let mut square = vec![0.0; n * n];
        crate::bindings::square_f64(&values, &mut square).unwrap();
        values = square;
    }
    let by = Agglomeration::new(rule.clone()).engine(engine).initial(input.initial);
    by.run_in_place(&mut values, layout, Kind::of(input.dissimilarity)).unwrap()
}

fn assert_engines_agree(values: &[f64], dissimilarity: bool, exactly: bool) {
    let n = Triangle::of_pairs(values.len()).unwrap().n_leaves();
    let labels: Vec<i64> = (0..n as i64).map(|leaf| leaf * leaf % (1 + n as i64 / 2)).collect();
    let initial = Partition::new(&labels).unwrap();
    assert_engines_agree_on(&Case { values, dissimilarity, initial: None }, exactly);
    assert_engines_agree_on(&Case { values, dissimilarity, initial: Some(&initial) }, exactly);
}

fn assert_engines_agree_on(input: &Case<'_>, exactly: bool) {
    let largest = input.values.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    for rule in rules() {
        let expected = tree(input, &rule, Engine::Naive, [0; 2]);
        if let Some(initial) = input.initial {
            let cut = expected.cut_clusters(initial.n_clusters()).unwrap();
            assert_eq!(cut, initial.cluster_of(), "{rule:?}");
        }
        const ALL: usize = usize::MAX;
        let mut all = vec![(Engine::NearestPair, [0; 2]), (Engine::NearestPair, [0, ALL]), (Engine::Auto, [ALL; 2])];
        if rule.is_reducible() {
            all.extend([[0, 0], [0, 9], [ALL, 0], [ALL, 9]].map(|sizes| (Engine::Chain, sizes)));
        }
        let mut trees: Vec<(Engine, String, Dendrogram)> = Vec::new();
        for (engine, sizes) in all {
            let found = tree(input, &rule, engine, sizes);
            trees.push((engine, format!("{sizes:?}"), found));
        }
        for engine in [Engine::Auto, Engine::NearestPair] {
            for layout in [Layout::Condensed, Layout::Square] {
                let found = tree_in_place(input, &rule, engine, layout);
                trees.push((engine, format!("{layout:?} in place"), found));
            }
        }
        for (engine, how, found) in trees {
            assert_eq!(found.merges(), expected.merges(), "{rule:?} {engine:?} {how}");
            for (a, b) in found.heights().iter().zip(expected.heights()) {
                let scale = if exactly { 1.0 + b.abs() } else { largest };
                // Square roots of values that cancel are exact to half the digits only.
                let near = (a - b).abs() <= 1e-9 * scale || (a * a - b * b).abs() <= 1e-12 * scale * scale;
                assert!(near, "{rule:?} {engine:?}: {a} {b}");
            }
        }
    }
}

fn condensed(value: impl Strategy<Value = f64> + Clone + 'static, most: usize) -> impl Strategy<Value = Vec<f64>> {
    (2..most).prop_flat_map(move |n| prop::collection::vec(value.clone(), condensed_len(n)))
}

/// Leaves of the same kind have the same similarities to all other leaves, so many values are tied.
fn duplicated() -> impl Strategy<Value = Vec<f64>> {
    let kinds = condensed((1..9i32).prop_map(|x| f64::from(x) / 7.0), 9);
    let of_a_kind = prop::sample::select(vec![0.1, 1.3]);
    (kinds, prop::collection::vec(0..8usize, 2..60), of_a_kind).prop_map(|(kinds, copies, of_a_kind)| {
        let triangle = Triangle::of_pairs(kinds.len()).unwrap();
        let of: Vec<usize> = copies.iter().map(|copy| copy % triangle.n_leaves()).collect();
        let pair = |a: usize, b: usize| if a == b { of_a_kind } else { kinds[triangle.index(a, b)] };
        let pairs = (0..condensed_len(of.len())).map(|at| Triangle::new(of.len()).pair(at));
        pairs.map(|(i, j)| pair(of[i], of[j])).collect()
    })
}

/// Defines tests that compare all engines, each on that many random matrices. The heights of similarities that cancel
/// are not exact.
macro_rules! engines_agree {
    ($cases:literal: $($name:ident($values:expr, $exactly:literal);)*) => {
        proptest! {
            #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases($cases) })]
            $(
                #[test]
                fn $name(values in $values, dissimilarity: bool) {
                    let may_square = $exactly && values.iter().all(|&x| x >= 0.0);
                    assert_engines_agree(&values, dissimilarity && may_square, $exactly);
                }
            )*
        }
    };
}

engines_agree! { 150:
    engines_agree_without_ties(condensed(0.0..1.0f64, 40), true);
    engines_agree_on_what_is_all_the_same(
        (2..14usize, prop_oneof![0.0..9.0f64, Just(0.0), Just(3.0)]).prop_map(|(n, x)| vec![x; condensed_len(n)]), true);
    engines_agree_with_ties(condensed((0..4i32).prop_map(f64::from), 12), true);
    engines_agree_with_inexact_ties(condensed((-3..4i32).prop_map(|x| f64::from(x) * 0.1), 14), true);
    engines_agree_on_tenths(condensed((0..4i32).prop_map(|x| f64::from(x) * 0.1), 60), true);
    engines_agree_on_nearly_equal_values(
        condensed((0..5i32).prop_map(|x| 1.0 + f64::from(x) * 0.5f64.powi(36)), 12), true);
    engines_agree_beside_outliers(
        condensed(prop::sample::select(vec![1e15, -1e15, 1.5, 2.0, 5.0, -0.1, 0.3]), 10), false);
    engines_agree_on_values_of_any_size(
        condensed((1..5u32, -320..280i32).prop_map(|(x, size)| f64::from(x) * 10f64.powi(size)), 10), false);
    engines_agree_on_duplicated_rows(duplicated(), true);
}

engines_agree! { 60:
    engines_agree_halfway_between_two_keys(condensed(halfway(0), 60), true);
    engines_agree_beside_what_is_halfway(condensed(halfway(3), 20), true);
    engines_agree_on_fractions(condensed(fraction(), 60), true);
    engines_agree_on_mirrored_fractions(condensed(fraction().prop_map(|x| 4.0 - x), 60), true);
    engines_agree_on_shares_of_sets(
        (prop::collection::vec(1..1u16 << 10, 2..60), any::<bool>()).prop_map(|(sets, mirrored)| {
            jaccard(&sets.iter().map(|&set| vec![u64::from(set)]).collect::<Vec<_>>(), mirrored)
        }), true);
}

#[test]
fn packing_and_handing_over_keep_the_tree() {
    let mut random = fractions(7);
    let values: Vec<f64> = (0..condensed_len(230)).map(|_| random()).collect();
    type Kind = fn(f64) -> f64;
    let kinds: [(Kind, bool); 6] = [
        (|x| x, true),
        (|x| (x * 50.0).floor(), false),
        (|x| (x * 2.0).floor(), false),
        (|x| (x * 9.0).floor() * 0.1, false),
        (|x| 1.0 + (x * 4.0).floor() * 0.25 + 0.5f64.powi(36), false),
        (|x| 1.0 + (x * 4.0).floor() * 0.25 + 0.5f64.powi(36), true),
    ];
    for (kind, dissimilarity) in kinds {
        assert_engines_agree(&values.iter().map(|&x| kind(x)).collect::<Vec<_>>(), dissimilarity, true);
    }
    for constant in [0.1, 1.0, -0.7] {
        assert_engines_agree(&vec![constant; condensed_len(60)], false, true);
    }
}

fn found(update: &dyn AnyUpdate, rule: &Rule, values: &[f64], at_once: usize) -> Found {
    let matrix = Matrix::new(Values::F64(values), Layout::Condensed, Kind::Similarity).unwrap();
    let monitor = Monitor::new();
    let task = Task::checked(&matrix, rule, Engine::Auto, None, &monitor).unwrap();
    let task = Task { few: 0, at_once, ..task };
    let (input, tolerance) = (Input::Given(&matrix), task.tolerance(update, &matrix).unwrap());
    let strategy = choose(&task, update, &input, Some(tolerance));
    task.quickly(update, input, tolerance, strategy).unwrap()
}

fn all_doubts(values: &[f64], at_once: usize) -> Vec<bool> {
    let all = [
        found(&crate::linkage::Average, &Rule::Average, values, at_once),
        found(&crate::linkage::Weighted, &Rule::Weighted, values, at_once),
        found(&crate::linkage::Ward, &Rule::Ward, values, at_once),
    ];
    all.into_iter().map(|found| found.doubtful).collect()
}

#[test]
fn merges_that_are_nearly_as_high_are_in_order() {
    // The pairs of leaves 0, 1 and 2, 3 do not affect each other.
    let values = [0.9, 0.1, 0.1, 0.1, 0.1, 0.9 + 3e-11];
    assert_eq!(all_doubts(&values, 0), [false; 3]);
    let Found { merges, .. } = found(&crate::linkage::Average, &Rule::Average, &values, 0);
    assert_eq!([merges[0].i, merges[1].i], [2, 0]);
}

#[test]
fn leaves_that_are_as_similar_are_so_for_certain() {
    // Halfway between two keys (rounded similarities).
    let half = 1.0 + 0.5f64.powi(36);
    assert_eq!(all_doubts(&[half, half, 0.25, 0.25, 0.25, 0.25], 0), [false; 3]);
    assert_eq!(all_doubts(&[half, 0.25, 0.25, 0.25, 0.25, half], 0), [false; 3]);
    // The similarity of cluster {0, 1} is a rounded mean. Its exact value is computed from the leaves.
    assert_eq!(all_doubts(&[2.0, half, half, half, half, half], 0), [false; 3]);
}

fn halfway(ulps: i64) -> impl Strategy<Value = f64> + Clone {
    let half = move |(x, ulps): (i32, i64)| {
        let x = 1.0 + f64::from(x) * 0.125 + 0.5f64.powi(36);
        f64::from_bits(x.to_bits().wrapping_add_signed(ulps))
    };
    (0..7i32, -ulps..=ulps).prop_map(half)
}

fn fraction() -> impl Strategy<Value = f64> + Clone {
    let denominators = prop::sample::select(vec![3.0, 7.0, 10.0, 198.0, 199.0]);
    (0..12i32, denominators).prop_map(|(a, b): (i32, f64)| f64::from(a) / b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn halfway_means_are_in_no_doubt(values in condensed(halfway(0), 60)) {
        // Two mean similarities of clusters are either equal, or differ by much more than rounding errors. If the first
        // computation leaves a doubt, the means are computed again from the leaves with more digits. So no doubt
        // remains.
        prop_assert!(!all_doubts(&values, 0)[0]);
    }
}

fn jaccard(sets: &[Vec<u64>], mirrored: bool) -> Vec<f64> {
    let count = |a: &[u64], b: &[u64], of: fn(u64, u64) -> u64| -> f64 {
        a.iter().zip(b).map(|(&a, &b)| f64::from(of(a, b).count_ones())).sum()
    };
    let share = |(a, b): (&[u64], &[u64])| count(a, b, |a, b| a & b) / count(a, b, |a, b| a | b);
    let pairs = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| (&*sets[i], &*sets[j])));
    pairs.map(share).map(|x| if mirrored { 1.0 - x } else { x }).collect()
}

#[test]
fn ordinary_similarities_are_in_no_doubt() {
    let mut random = below(11);
    let n_pairs = condensed_len(1600);
    let uniform: Vec<f64> = (0..n_pairs).map(|_| random(1 << 53) as f64 / (1u64 << 53) as f64).collect();
    let counts: Vec<f64> = (0..n_pairs).map(|_| random(50) as f64).collect();
    // Some clusters of these sets have equal similarities that are halfway between two keys (rounded similarities).
    // Rounding errors could make the keys differ. The engine computes these similarities again from the leaves, and
    // finds equal keys, so no doubt remains.
    let sets: Vec<Vec<u64>> = (0..1600).map(|_| (0..7).map(|_| random(1 << 30)).collect()).collect();
    for values in [uniform, counts, jaccard(&sets, false), jaccard(&sets, true)] {
        assert_eq!(all_doubts(&values, AT_ONCE), [false; 3]);
    }
}

#[test]
fn single_leaves_and_constants() {
    for rule in rules() {
        let matrix = Matrix::new(Values::F64(&[3.0]), Layout::Square, Kind::Similarity).unwrap();
        let lone = Agglomeration::new(rule.clone()).run(&matrix).unwrap();
        assert_eq!((lone.n_leaves(), lone.merges().len()), (1, 0));
        let constant = vec![0.1; condensed_len(9)];
        let matrix = Matrix::new(Values::F64(&constant), Layout::Condensed, Kind::Dissimilarity).unwrap();
        let tree = Agglomeration::new(rule.clone()).run(&matrix).unwrap();
        if rule.is_reducible() && rule != Rule::Ward && !matches!(rule, Rule::Coefficients(_)) {
            assert_eq!(tree.newick().to_string(), "(8,(7,(6,(5,(4,(3,(2,(0,1))))))));", "{rule:?}");
        }
    }
}

#[test]
fn nonsense_formulas_are_errors() {
    let values = [1.0, 2.0, 3.0];
    let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
    let rule = Rule::Coefficients(LanceWilliams::new("1 / (n_i - n_j)", "0", "0", &[]).unwrap());
    for engine in [Engine::Auto, Engine::NearestPair, Engine::Naive] {
        let error = Agglomeration::new(rule.clone()).engine(engine).run(&matrix).unwrap_err();
        assert!(error.to_string().contains("the linkage gives"), "{error}");
    }
    let centroid = Agglomeration::new(Rule::Centroid).engine(Engine::Chain).run(&matrix);
    assert!(centroid.unwrap_err().to_string().contains("reducible"));
}

proptest! {
    #[test]
    fn what_is_left_of_a_square_ends_in_a_smaller_one(
        n in 2..90usize, kinds in 2..2000u64, step in prop::sample::select(vec![1.0, 0.1]), few in 0..90usize,
        seed: u64, dissimilarity: bool,
    ) {
        let mut random = below(seed);
        let values: Vec<f64> = (0..condensed_len(n)).map(|_| step * (1 + random(kinds)) as f64).collect();
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::of(dissimilarity)).unwrap();
        let monitor = Monitor::new();
        for rule in rules().into_iter().filter(Rule::is_reducible) {
            let task = Task::checked(&matrix, &rule, Engine::Chain, None, &monitor).unwrap();
            let found = Task { few, ..task }.dispatch(Input::Given(&matrix)).unwrap();
            let naive = Agglomeration::new(rule.clone()).engine(Engine::Naive).run(&matrix).unwrap();
            prop_assert_eq!(found.merges(), naive.merges(), "{:?}", rule);
            for (a, b) in found.heights().iter().zip(naive.heights()) {
                prop_assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{:?}: {} {}", rule, a, b);
            }
        }
    }
}

#[test]
fn infinite_similarities_are_errors() {
    for n in [3, 40, 1600] {
        let values: Vec<f64> = (0..condensed_len(n)).map(|at| 1.0 + (at * 7919 % 1009) as f64).collect();
        for (alpha, gamma) in [("1 / 0", "0"), ("-1 / 0", "0"), ("1", "1e308"), ("0 / 0", "0")] {
            for (dissimilarity, reducible) in [(false, false), (false, true), (true, true), (true, false)] {
                let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::of(dissimilarity)).unwrap();
                let rule = LanceWilliams::new(alpha, "0", gamma, &[]).unwrap().reducible(reducible);
                let rule = Rule::Coefficients(rule);
                let engines =
                    if n < 100 { &[Engine::Auto, Engine::NearestPair, Engine::Naive][..] } else { &[Engine::Auto] };
                for &engine in engines {
                    let error = Agglomeration::new(rule.clone()).engine(engine).run(&matrix).unwrap_err();
                    assert!(error.to_string().contains("the linkage gives"), "{n} {alpha} {gamma}: {error}");
                }
            }
        }
    }
}

#[test]
fn what_cancels_is_not_to_be_trusted() {
    // The similarity of leaves 0 to 4 with leaf 5 is the mean of 1e300, 1, 1e-20, -1e300 and -1. The sum needs more
    // than two floats, and the mean equals `near`, the similarity with leaf 6.
    let n = 7;
    let (far, near) = ([1e300, 1.0, 1e-20, -1e300, -1.0, -5.0], 2e-21);
    let pair = |(i, j): (usize, usize)| {
        if j == 6 && i < 5 {
            near
        } else if j > 4 {
            far[i]
        } else {
            9e300
        }
    };
    let values: Vec<f64> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(pair).collect();
    let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
    for (rule, warned) in [(Rule::Complete, false), (Rule::Average, true)] {
        let monitor = Monitor::new();
        Agglomeration::new(rule.clone()).monitor(&monitor).run(&matrix).unwrap();
        assert_eq!(monitor.warning().is_some(), warned, "{rule:?}");
    }
}

#[test]
fn the_smallest_similarities_are_no_zeros() {
    let mut values = [0.0; 6];
    values[4] = 5e-324;
    assert_engines_agree(&values, false, true);
    assert_engines_agree(&values.map(|x| x * 3.0), false, true);
}

#[test]
fn small_and_large_dissimilarities_can_be_squared() {
    let values = [3.0, 4.0, 5.0];
    for rule in [Rule::Ward, Rule::Centroid, Rule::Median] {
        let heights = |unit: f64| {
            let values = values.map(|x| x * unit);
            let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Dissimilarity).unwrap();
            let tree = Agglomeration::new(rule.clone()).run(&matrix).unwrap();
            tree.heights().iter().map(|x| x / unit).collect::<Vec<f64>>()
        };
        let expected = heights(1.0);
        for unit in [1e-300, 1e-200, 1e-155, 1e-100, 1e100, 1e155, 1e250, 1e306] {
            for (a, b) in heights(unit).iter().zip(&expected) {
                assert!((a - b).abs() <= 1e-14 * b, "{rule:?} {unit:e}: {a} {b}");
            }
        }
        let matrix = Matrix::new(Values::F64(&[1e-260, 1.0, 1.0]), Layout::Condensed, Kind::Dissimilarity).unwrap();
        let error = Agglomeration::new(rule.clone()).run(&matrix).unwrap_err();
        assert!(error.to_string().contains("too small beside the largest, 1e0"), "{error}");
    }
}

#[test]
fn work_can_be_stopped() {
    let values: Vec<f64> = (0..condensed_len(50)).map(|at| (at % 7) as f64).collect();
    let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
    let monitor = Monitor::new();
    monitor.cancel();
    for engine in [Engine::Auto, Engine::NearestPair, Engine::Naive] {
        assert_eq!(
            Agglomeration::new(Rule::Average).engine(engine).monitor(&monitor).run(&matrix),
            Err(Error::Interrupted)
        );
    }
}
