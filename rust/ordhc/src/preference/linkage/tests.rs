//! Compares 3-AL and 4-AL with their definition.

use proptest::prelude::*;

use super::*;

/// Implements equations 4 to 7 of Ghoshdastidar, Perrot & von Luxburg 2019 literally.
fn naive<const K: usize>(comparisons: &Comparisons<'_, K>, partition: &Partition) -> Vec<RawMerge> {
    let mut clusters = partition.clusters().to_vec();
    let mut merges = Vec::new();
    let weight = |at: usize| comparisons.weights().map_or(1.0, |weights| weights[at]);
    while clusters.len() > 1 {
        let k = clusters.len();
        let holds = |cluster: &Vec<usize>, leaf: i32| cluster.contains(&(leaf as usize));
        let between =
            |p: &Vec<usize>, q: &Vec<usize>, a: i32, b: i32| holds(p, a) && holds(q, b) || holds(p, b) && holds(q, a);
        let value = |p: usize, q: usize| {
            let (p, q) = (&clusters[p], &clusters[q]);
            let mut sum = 0.0;
            for (r_at, r) in clusters.iter().enumerate() {
                if K == 3 && (r == p || r == q) {
                    continue;
                }
                let others: Vec<&Vec<usize>> = if K == 3 { vec![r] } else { clusters[r_at + 1..].iter().collect() };
                for s in others {
                    for (at, row) in comparisons.rows().iter().enumerate() {
                        let (near, far) = if K == 3 {
                            let side = |p, q, a: i32, b: i32| holds(p, row[0]) && holds(q, a) && holds(r, b);
                            let near = side(p, q, row[1], row[2]) || side(q, p, row[1], row[2]);
                            (near, side(p, q, row[2], row[1]) || side(q, p, row[2], row[1]))
                        } else {
                            let [i, j, k, l] = [row[0], row[1], row[2], row[K - 1]];
                            let near = between(p, q, i, j) && between(r, s, k, l);
                            (near, between(p, q, k, l) && between(r, s, i, j))
                        };
                        let sign = f64::from(i8::from(near)) - f64::from(i8::from(far));
                        let of_r = if K == 3 { r.len() } else { r.len() * s.len() };
                        sum += sign * weight(at) / of_r as f64;
                    }
                }
            }
            sum / (p.len() * q.len()) as f64
        };
        let mut best = (0, 1, f64::NEG_INFINITY);
        for p in 0..k {
            for q in p + 1..k {
                let value = value(p, q);
                if value > best.2 + 1e-9 {
                    best = (p, q, value);
                }
            }
        }
        let (p, q, sum) = best;
        let scale = match K {
            3 if k == 2 => 0.0,
            3 => 1.0 / (2 * (k - 2)) as f64,
            _ => 2.0 / (k * (k - 1)) as f64,
        };
        merges.push(RawMerge { i: clusters[p][0], j: clusters[q][0], similarity: sum * scale });
        let gone = clusters.remove(q);
        clusters[p].extend(gone);
        clusters[p].sort_unstable();
    }
    merges
}

fn check<const K: usize>(rows: &[[i32; K]], labels: &[i64], weighted: bool) {
    let weights: Vec<f64> = (0..rows.len()).map(|at| (at % 5) as f64 * 0.5).collect();
    let mut comparisons = Comparisons::new(rows, Some(labels.len())).unwrap();
    if weighted {
        comparisons = comparisons.with_weights(weights).unwrap();
    }
    let partition = Partition::new(labels).unwrap();
    let expected = naive(&comparisons, &partition);
    for small in [0, SMALL] {
        let found = merges(&comparisons, &partition, small, &Monitor::new()).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!((found.i, found.j), (expected.i, expected.j), "small = {small}");
            assert!((found.similarity - expected.similarity).abs() < 1e-9, "{found:?} {expected:?}");
        }
    }
}

fn rows<const K: usize>(n: i32) -> impl Strategy<Value = Vec<[i32; K]>> {
    let row = proptest::array::uniform::<_, K>(0..n);
    let fine = |row: &[i32; K]| Comparisons::<K>::new(vec![*row], None).is_ok();
    proptest::collection::vec(row.prop_filter("valid", fine), 1..60)
}

#[test]
fn weights_whose_sums_overflow_are_refused() {
    let found = |small: usize, weights: &[f64]| {
        let rows = vec![[0, 1, 2]; weights.len()];
        let three = Comparisons::<3>::new(rows, None).unwrap().with_weights(weights).unwrap();
        let rows = vec![[0, 1, 2, 3]; weights.len()];
        let four = Comparisons::<4>::new(rows, None).unwrap().with_weights(weights).unwrap();
        let monitor = Monitor::new();
        [
            merges(&three, &Partition::singletons(3), small, &monitor),
            merges(&four, &Partition::singletons(4), small, &monitor),
        ]
    };
    for small in [0, SMALL] {
        for result in found(small, &[1e308, 1e308]) {
            assert!(result.unwrap_err().to_string().contains("add up to more than"));
        }
        for result in found(small, &[f64::MAX]) {
            assert!(result.unwrap().iter().all(|merge| merge.similarity.is_finite()));
        }
    }
}

#[test]
fn counts_too_large_for_narrow_tables() {
    let rows = [vec![[0, 1, 2, 3]; 3000], vec![[2, 3, 1, 4]; 40_000], vec![[1, 4, 0, 1]; 2]].concat();
    check::<4>(&rows, &[0, 1, 2, 3, 4], false);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn three_al_is_its_definition(rows in rows::<3>(9), labels in proptest::collection::vec(0i64..30, 9), w: bool) {
        check::<3>(&rows, &labels, w);
    }

    #[test]
    fn four_al_is_its_definition(rows in rows::<4>(8), labels in proptest::collection::vec(0i64..30, 8), w: bool) {
        check::<4>(&rows, &labels, w);
    }
}
