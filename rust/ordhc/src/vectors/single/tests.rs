//! Vectors beside the matrix of their pairs.

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
