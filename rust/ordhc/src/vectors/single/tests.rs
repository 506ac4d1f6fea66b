//! Compares linkages of vectors with the matrix of their pairs.

use proptest::prelude::*;

use super::*;
use crate::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
use crate::kind::Kind;
use crate::linkage::Rule;

const MEASURES: [Measure; 4] = [Measure::Euclidean, Measure::SquaredEuclidean, Measure::Manhattan, Measure::Dot];

fn pair(measure: Measure, x: &[f64], y: &[f64]) -> f64 {
    let pairs = || x.iter().zip(y);
    match measure {
        Measure::Euclidean => pairs().map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt(),
        Measure::SquaredEuclidean => pairs().map(|(x, y)| (x - y) * (x - y)).sum(),
        Measure::Manhattan => pairs().map(|(x, y)| (x - y).abs()).sum(),
        Measure::Dot => pairs().map(|(x, y)| x * y).sum(),
    }
}

fn check(values: &[f64], n: usize, p: usize) {
    let vectors = Vectors::new(values, n, p).unwrap();
    for measure in MEASURES {
        let row = |i: usize| &values[i * p..(i + 1) * p];
        let square: Vec<f64> = (0..n * n).map(|at| pair(measure, row(at / n), row(at % n))).collect();
        let matrix = Matrix::new(Values::F64(&square), Layout::Square, Kind::of(measure.is_dissimilarity())).unwrap();
        let expected = Agglomeration::new(Rule::Single).engine(Engine::Naive).run(&matrix).unwrap();
        let monitor = Monitor::new();
        assert_eq!(single_linkage(&vectors, measure, 1.0, Some(&monitor)).unwrap(), expected, "{measure:?}");
        for parts in [2, 3, 7] {
            let grown = Grown { vectors: &vectors, unit: Unit::below_one(vectors.largest()), parts, monitor: &monitor };
            let merges = match measure {
                Measure::Euclidean => grown.merges::<Euclidean>(),
                Measure::SquaredEuclidean => grown.merges::<SquaredEuclidean>(),
                Measure::Manhattan => grown.merges::<Manhattan>(),
                Measure::Dot => grown.merges::<Dot>(),
            };
            let tree = Dendrogram::in_order(n, merges.unwrap()).unwrap();
            assert_eq!(tree.merges(), expected.merges(), "{measure:?} {parts}");
        }
    }
}

proptest! {
    #[test]
    fn as_from_a_matrix((n, p, values) in (1..40usize, 0..5usize).prop_flat_map(|(n, p)| {
        (Just(n), Just(p), prop::collection::vec((-3..4i32).prop_map(f64::from), n * p))
    }), factor in prop::sample::select(vec![1.0, 0.37])) {
        let values: Vec<f64> = values.iter().map(|x| x * factor).collect();
        check(&values, n, p);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn ties_in_a_tree_as_in_a_matrix((n, p, values) in (32..130usize, 1..5usize).prop_flat_map(|(n, p)| {
        (Just(n), Just(p), prop::collection::vec(-1.0..1.0f64, n * p))
    }), steps in prop::sample::select(vec![0.6, 1.0, 3.0, 9.0, 40.0]), factor in prop::sample::select(vec![1.0, 0.37])) {
        let values: Vec<f64> = values.iter().map(|x| (x * steps).round() * factor).collect();
        check(&values, n, p);
    }
}

#[test]
fn what_is_equal_only_by_underflow_is_not_the_same() {
    let tiny = [0.0, 1e-170, 2e-170, 3e-162, 1e-161];
    // The largest number is between 1/2 and 1, so coordinates are not scaled, and squares of the tiny numbers
    // underflow.
    let values: Vec<f64> = (0..80).map(|at| tiny[at * 7 % 5] + 0.3 * f64::from(at as u32 % 3)).collect();
    let spread: Vec<f64> =
        values.iter().enumerate().map(|(at, x)| if at % 4 == 0 { tiny[at % 5] } else { *x }).collect();
    check(&values, 40, 2);
    check(&spread, 40, 2);
    check(&spread, 80, 1);
}

#[test]
fn what_does_not_work_is_said() {
    let vectors = Vectors::new(&[1e200, -1e200], 2, 1).unwrap();
    let monitor = Monitor::new();
    let error = single_linkage(&vectors, Measure::SquaredEuclidean, 1.0, Some(&monitor)).unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
    assert_eq!(single_linkage(&vectors, Measure::Euclidean, 1.0, Some(&monitor)).unwrap().heights(), [2e200]);
    assert!(single_linkage(&vectors, Measure::Dot, f64::NAN, Some(&monitor)).is_err());
    assert!("cosine".parse::<Measure>().is_err());
    monitor.cancel();
    let stopped = single_linkage(&vectors, Measure::Euclidean, 1.0, Some(&monitor));
    assert_eq!(stopped, Err(Error::Interrupted));
}
