use proptest::prelude::*;

use super::*;
use crate::kind::Kind;
use crate::monitor::Monitor;
use crate::similarity::condensed_len;

fn message(values: &[f64], layout: Layout) -> String {
    Matrix::new(Values::F64(values), layout, Kind::Similarity).unwrap_err().to_string()
}

#[test]
fn bad_matrices_are_explained() {
    let nan = f64::NAN;
    assert!(message(&[0.0, nan, nan, 0.0], Layout::Square).starts_with("the value at [0, 1] is NaN"));
    assert!(message(&[0.0, 1.0, f64::INFINITY, 0.0], Layout::Square).contains("at [1, 0] is inf"));
    assert!(message(&[1.0, 2.0, 3.0, 4.0, nan, 6.0], Layout::Condensed).contains("position 4 (pair [1, 3])"));
    assert!(message(&[0.0; 3], Layout::Square).contains("not a square matrix"));
    assert!(message(&[0.0; 5], Layout::Condensed).contains("n(n-1)/2"));
    assert!(message(&[], Layout::Square).contains("n_leaves = 0"));
    assert!(message(&[1e308; 9], Layout::Square).contains("overflow"));
}

#[test]
fn the_diagonal_may_be_anything() {
    assert!(Matrix::new(Values::F64(&[f64::NAN, 1.0, 1.0, f64::INFINITY]), Layout::Square, Kind::Similarity).is_ok());
}

#[test]
fn layouts_and_types_agree() {
    for n in [1usize, 2, 3, 70, 150] {
        let pair = |i: usize, j: usize| ((i.min(j) * 31 + i.max(j) * 17) % 101) as f64;
        let square: Vec<f64> = (0..n * n).map(|at| pair(at / n, at % n)).collect();
        let condensed: Vec<f64> = (0..n).flat_map(|i| (i + 1..n).map(move |j| pair(i, j))).collect();
        let narrow: Vec<i32> = square.iter().map(|&x| x as i32).collect();
        let wide: Vec<i64> = square.iter().map(|&x| x as i64).collect();
        let single: Vec<f32> = square.iter().map(|&x| x as f32).collect();
        for dissimilarity in [false, true] {
            let expected: Vec<f64> = condensed.iter().map(|&x| if dissimilarity { -x * x } else { x }).collect();
            for (values, layout) in [
                (Values::F64(&square), Layout::Square),
                (Values::F64(&condensed), Layout::Condensed),
                (Values::I32(&narrow), Layout::Square),
                (Values::I64(&wide), Layout::Square),
                (Values::F32(&single), Layout::Square),
            ] {
                let matrix = Matrix::new(values, layout, Kind::of(dissimilarity)).unwrap();
                assert!(matrix.facts().whole);
                let mut out = vec![0.0; condensed_len(n)];
                matrix.write_condensed(true, &mut out, &Monitor::new()).unwrap();
                assert_eq!(out, expected);
                let mut out = vec![0.0; n * n];
                matrix.write_square(true, &mut out, &Monitor::new()).unwrap();
                for i in 0..n {
                    assert_eq!(out[i * n + i], f64::NEG_INFINITY);
                    for j in i + 1..n {
                        assert_eq!(out[i * n + j], expected[Triangle::new(n).index(i, j)]);
                        assert_eq!(out[i * n + j], out[j * n + i]);
                    }
                }
            }
        }
    }
}

#[test]
fn rows_are_found_in_both_layouts() {
    let square: Vec<i32> = (0..9).collect();
    let condensed = [1i64, 2, 5];
    let parts = |matrix: &Matrix<'_>, i| {
        matrix.row(i).map(|part| with_values!(part, part => part.iter().map(|x| x.float()).collect::<Vec<f64>>()))
    };
    let facts = scan_condensed(&&condensed[..], 3).unwrap();
    let about = About { layout: Layout::Square, n: 3, dissimilarity: false, facts, unit: 1.0 };
    let square = Matrix { values: Values::I32(&square), about };
    let condensed = Matrix::new(Values::I64(&condensed), Layout::Condensed, Kind::Similarity).unwrap();
    for (i, before, after) in [(0, vec![], vec![1.0, 2.0]), (1, vec![3.0], vec![5.0]), (2, vec![6.0, 7.0], vec![])] {
        assert_eq!(parts(&square, i), [before, after.clone()]);
        assert_eq!(parts(&condensed, i), [vec![], after]);
    }
}

#[test]
fn slight_asymmetry_takes_the_mean() {
    let values = [0.0, 1.0, 1.0 + 1e-12, 0.0];
    let matrix = Matrix::new(Values::F64(&values), Layout::Square, Kind::Similarity).unwrap();
    let mut out = [0.0];
    matrix.write_condensed(false, &mut out, &Monitor::new()).unwrap();
    assert_eq!(out[0], 0.5 * (1.0 + 1e-12) + 0.5);
    assert!(!matrix.facts().whole);
}

proptest! {
    #[test]
    fn facts_are_those_of_all_values(
        values in (2..60usize).prop_flat_map(|n| {
            let number = prop_oneof![50 => (-9..9i32).prop_map(f64::from), 1 => -2.0..2.0f64];
            prop::collection::vec(number, condensed_len(n))
        })
    ) {
        let facts = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap().facts();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert_eq!((facts.low, facts.largest), (low, low.abs().max(high.abs())));
        prop_assert_eq!((facts.positive, facts.negative), (high > 0.0, low < 0.0));
        prop_assert_eq!(facts.whole, values.iter().all(|x| x.fract() == 0.0));
    }
}
