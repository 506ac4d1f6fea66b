use proptest::prelude::*;

use super::*;
use crate::similarity::Triangle;

const MODELS: [Model; 7] = [
    Model::Ste,
    Model::TSte { alpha: 1.0 },
    Model::TSte { alpha: 2.0 },
    Model::TSte { alpha: 2.5 },
    Model::Ckl { mu: 0.05 },
    Model::Gnmds,
    Model::Soe { margin: 0.8 },
];

fn naive(model: Model, rows: &[[i32; 3]], weights: &[f64], points: &[f64], d: usize) -> f64 {
    let squared = |i: i32, j: i32| -> f64 {
        (0..d).map(|at| (points[i as usize * d + at] - points[j as usize * d + at]).powi(2)).sum()
    };
    let one = |&[i, j, k]: &[i32; 3]| {
        let (near, far) = (squared(i, j), squared(i, k));
        match model {
            Model::Ste => -((-near).exp() / ((-near).exp() + (-far).exp())).ln(),
            Model::TSte { alpha } => {
                let kernel = |x: f64| (1.0 + x / alpha).powf(-(alpha + 1.0) / 2.0);
                -(kernel(near) / (kernel(near) + kernel(far))).ln()
            }
            Model::Ckl { mu } => -((far + mu) / (near + far + 2.0 * mu)).ln(),
            Model::Gnmds => (near + 1.0 - far).max(0.0),
            Model::Soe { margin } => (near.sqrt() + margin - far.sqrt()).max(0.0).powi(2),
        }
    };
    rows.iter().zip(weights).map(|(row, weight)| weight * one(row)).sum()
}

type Case = (usize, Vec<[i32; 3]>, Vec<f64>, Vec<f64>);

fn cases(d: usize) -> impl Strategy<Value = Case> {
    (3usize..9).prop_flat_map(move |n| {
        let leaf = 0..n as i32;
        let row = (leaf.clone(), leaf.clone(), leaf)
            .prop_filter_map("distinct leaves", |(i, j, k)| (i != j && i != k && j != k).then_some([i, j, k]));
        let weight = prop_oneof![Just(0.0), Just(1.0), Just(2.0), 0.1f64..3.0];
        proptest::collection::vec((row, weight), 0..40).prop_flat_map(move |answers| {
            let (rows, weights): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
            (Just(n), Just(rows), Just(weights), proptest::collection::vec(-1.5f64..1.5, n * d))
        })
    })
}

fn prepared(n: usize, rows: &[[i32; 3]], weights: &[f64], model: Model) -> EmbeddingLoss {
    let triplets = Triplets::new(rows, Some(n)).unwrap().with_weights(weights).unwrap();
    EmbeddingLoss::new(&triplets, model).unwrap()
}

fn check((n, rows, weights, points): Case, d: usize) -> std::result::Result<(), TestCaseError> {
    for model in MODELS {
        let loss = prepared(n, &rows, &weights, model);
        let mut gradient = vec![0.0; n * d];
        let value = loss.evaluate(&points, &mut gradient).unwrap();
        let expected = naive(model, &rows, &weights, &points, d);
        prop_assert!((value - expected).abs() <= 1e-10 * (1.0 + expected), "{model:?}: {value} {expected}");
        let mut pairs = vec![0.0; condensed_len(n)];
        prop_assert_eq!(loss.evaluate_pairs(&points, &mut pairs).unwrap(), value);
        let mut from_pairs = vec![0.0; n * d];
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                let pull = pairs[Triangle::new(n).index(i, j)];
                for at in 0..d {
                    from_pairs[i * d + at] += 2.0 * pull * (points[i * d + at] - points[j * d + at]);
                }
            }
        }
        for at in 0..n * d {
            prop_assert!((gradient[at] - from_pairs[at]).abs() <= 1e-9 * (1.0 + gradient[at].abs()));
            // A hinge has no derivative at its kink. So skip points where two step sizes give different slopes.
            let difference = |step: f64| {
                let moved = |by: f64| {
                    let mut points = points.clone();
                    points[at] += by;
                    naive(model, &rows, &weights, &points, d)
                };
                (moved(step) - moved(-step)) / (2.0 * step)
            };
            let (fine, coarse) = (difference(1e-6), difference(1e-4));
            let smooth = (fine - coarse).abs() <= 1e-4 * (1.0 + fine.abs());
            if smooth {
                prop_assert!(
                    (gradient[at] - fine).abs() <= 1e-3 * (1.0 + fine.abs()),
                    "{model:?} [{at}]: {} {fine}",
                    gradient[at]
                );
            } else {
                prop_assert!(!model.chooses(), "{model:?} [{at}]: {fine} {coarse}");
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn is_the_papers_loss_and_its_gradient_on_a_line(case in cases(1)) {
        check(case, 1)?;
    }

    #[test]
    fn is_the_papers_loss_and_its_gradient_in_three_dimensions(case in cases(3)) {
        check(case, 3)?;
    }
}

fn many() -> (Vec<[i32; 3]>, Vec<f64>) {
    let n = 60;
    let mut rows = Vec::new();
    let mut state = 1u64;
    while rows.len() < 300_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let [i, j, k] = [20, 33, 46].map(|shift| ((state >> shift) % n) as i32);
        if i != j && i != k && j != k {
            rows.push([i, j, k]);
        }
    }
    (rows, (0..n * 2).map(|at| (at as f64 * 1.7).sin()).collect())
}

#[test]
fn blocks_do_not_change_the_sums() {
    let (rows, points) = many();
    let triplets = Triplets::new(rows.as_slice(), None).unwrap();
    for model in MODELS {
        let mut loss = EmbeddingLoss::new(&triplets, model).unwrap();
        assert!(loss.blocks.len() > 2);
        let mut gradient = vec![0.0; points.len()];
        let value = loss.evaluate(&points, &mut gradient).unwrap();
        let expected = naive(model, &rows, &vec![1.0; rows.len()], &points, 2);
        assert!((value / expected - 1.0).abs() < 1e-10, "{model:?}");
        loss.blocks = std::iter::once(0..loss.triplets.anchors.len()).collect();
        let mut alone = vec![0.0; points.len()];
        loss.evaluate(&points, &mut alone).unwrap();
        for (a, b) in gradient.iter().zip(&alone) {
            assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{model:?}");
        }
    }
}

#[test]
fn kernels_and_scores_agree() {
    let (rows, points) = many();
    let triplets = Triplets::new(&rows[..5000], None).unwrap();
    for model in MODELS.into_iter().filter(Model::chooses) {
        let loss = EmbeddingLoss::new(&triplets, model).unwrap();
        for anchor in &loss.triplets.anchors {
            let others = &loss.triplets.others[anchor.others.clone()];
            let at = |leaf: usize| &points[2 * leaf..2 * leaf + 2];
            let squared = |&other: &u32| squared_distance(at(anchor.leaf), at(other as usize));
            let kernel: Vec<f64> = others.iter().map(squared).map(|x| model.kernel(x)).collect();
            let score: Vec<f64> = others.iter().map(squared).map(|x| model.score(x)).collect();
            let (mut fast, mut slow) = (vec![0.0; others.len()], vec![0.0; others.len()]);
            let (a, b) = (loss.by_kernels(anchor, &kernel, &mut fast), loss.by_scores(anchor, &score, &mut slow));
            assert!((a - b).abs() < 1e-9 * b, "{model:?}");
            assert!(fast.iter().zip(&slow).all(|(a, b)| (a - b).abs() < 1e-9), "{model:?}");
        }
    }
}

#[test]
fn far_points_do_not_underflow() {
    let loss = prepared(3, &[[0, 1, 2]], &[1.0], Model::Ste);
    let mut gradient = [0.0; 3];
    // The exponentials of both STE scores, -31^2 and -30^2, underflow to 0. The loss is about 31^2 - 30^2.
    assert_eq!(loss.evaluate(&[0.0, 31.0, 30.0], &mut gradient), Ok(61.0));
    assert_eq!(gradient, [-2.0, 62.0, -60.0]);
}

#[test]
fn what_is_not_finite_is_named() {
    let loss = prepared(3, &[[0, 1, 2]], &[1.0], Model::Gnmds);
    let text = |points: &[f64]| loss.evaluate(points, &mut vec![0.0; points.len()]).unwrap_err().to_string();
    assert_eq!(text(&[0.0, f64::NAN, 1.0]), "point at [1, 0] is NaN: points must be finite");
    assert_eq!(text(&[0.0, 1e200, 1.0]), "the loss is inf: points are too far apart");
    assert_eq!(text(&[0.0; 4]), "4 coordinates for 3 leaves: each leaf needs d coordinates");
    assert_eq!(text(&[]), "0 coordinates for 3 leaves: each leaf needs d coordinates");
}

#[test]
fn no_triplets_have_no_loss() {
    for n in [1, 2, 3] {
        let loss = prepared(n, &[], &[], Model::TSte { alpha: 1.0 });
        let mut gradient = vec![1.0; n];
        assert_eq!(loss.evaluate(&vec![2.0; n], &mut gradient), Ok(0.0));
        assert_eq!(gradient, vec![0.0; n]);
    }
}

#[test]
fn coinciding_points_are_fine() {
    for model in MODELS {
        let loss = prepared(3, &[[0, 1, 2], [1, 2, 0]], &[1.0, 1.0], model);
        let mut gradient = [1.0; 6];
        assert!(loss.evaluate(&[0.5; 6], &mut gradient).unwrap() > 0.0);
        assert_eq!(gradient, [0.0; 6], "{model:?}");
    }
}
