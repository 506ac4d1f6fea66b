//! Compares hierarchies from vectors with the naive engine on the matrix of all dot products.

use ordhc::Kind;
use ordhc::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
use ordhc::bindings::LcaSizes;
use ordhc::bindings::leaf_heights;
use ordhc::linkage::Rule;
use ordhc::similarity::condensed_len;
use ordhc::tree::Partition;
use ordhc::vectors::{SparseRows, Vectors, mean_dot_linkage, sparse_gram};
use ordhc::{Dendrogram, Error, Monitor};
use proptest::prelude::*;

fn gram(rows: &[Vec<f64>]) -> Vec<f64> {
    let n = rows.len();
    let dot = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).fold(0.0, |sum, (a, b)| sum + a * b);
    (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| dot(i, j)).collect()
}

fn naive(rows: &[Vec<f64>], initial: Option<&Partition>) -> Dendrogram {
    if rows.len() == 1 {
        return Dendrogram::new(vec![], vec![], Kind::Similarity).unwrap();
    }
    let pairs = gram(rows);
    let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Similarity).unwrap();
    Agglomeration::new(Rule::Average).engine(Engine::Naive).initial(initial).run(&matrix).unwrap()
}

fn ours(rows: &[Vec<f64>], initial: Option<&Partition>) -> Dendrogram {
    let flat = rows.concat();
    let vectors = Vectors::new(&flat, rows.len(), rows[0].len()).unwrap();
    mean_dot_linkage(&vectors, 1.0, initial, None).unwrap()
}

fn assert_close(found: &Dendrogram, expected: &Dendrogram) {
    assert_eq!(found.merges(), expected.merges());
    let largest = expected.heights().iter().fold(0.0f64, |largest, h| largest.max(h.abs()));
    for (a, b) in found.heights().iter().zip(expected.heights()) {
        assert!((a - b).abs() <= 1e-9 * largest, "{a} {b}");
    }
}

fn rows(value: impl Strategy<Value = f64> + Clone + 'static, most: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let row = move |p| prop::collection::vec(value.clone(), p);
    (1..most, 0..5usize).prop_flat_map(move |(n, p)| prop::collection::vec(row(p), n))
}

fn some_partition(n: usize, classes: i64) -> Partition {
    Partition::new(&(0..n as i64).map(|leaf| leaf * leaf % classes).collect::<Vec<_>>()).unwrap()
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn rows(&mut self, n: usize, p: usize, turn: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
        (0..n).map(|_| (0..p).map(|_| turn(self.next())).collect()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whole_numbers_give_the_naive_tree_with_its_ties(rows in rows((-2..3i32).prop_map(f64::from), 30), classes in 1..9i64) {
        let found = ours(&rows, None);
        prop_assert_eq!(&found, &naive(&rows, None));
        let initial = some_partition(rows.len(), classes);
        prop_assert_eq!(&ours(&rows, Some(&initial)), &naive(&rows, Some(&initial)));
    }

    #[test]
    fn fractions_give_the_naive_tree(seed: u64, n in 1..60usize, p in 1..40usize, classes in 1..9i64) {
        let rows = Random(seed).rows(n, p, |x| x - 0.4);
        assert_close(&ours(&rows, None), &naive(&rows, None));
        let initial = some_partition(rows.len(), classes);
        assert_close(&ours(&rows, Some(&initial)), &naive(&rows, Some(&initial)));
    }

    #[test]
    fn size_does_not_matter(rows in rows(-1.0..1.0f64, 20), exponent in -400..400i32) {
        let factor = 2f64.powi(exponent);
        let scaled: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x * factor).collect()).collect();
        let (small, large) = (ours(&rows, None), ours(&scaled, None));
        prop_assert_eq!(small.merges(), large.merges());
        for (a, b) in small.heights().iter().zip(large.heights()) {
            prop_assert!((a * factor * factor - b).abs() <= 1e-300 + 1e-15 * b.abs());
        }
    }

    #[test]
    fn numbering_does_not_matter(seed: u64, order in Just((0..40u32).collect::<Vec<_>>()).prop_shuffle()) {
        let rows = Random(seed).rows(40, 3, |x| x - 0.5);
        let mut moved = rows.clone();
        for (row, &to) in rows.iter().zip(&order) {
            moved[to as usize] = row.clone();
        }
        let (a, b) = (ours(&rows, None).relabel(&order).unwrap(), ours(&moved, None));
        let (a, b) = (LcaSizes::new(a.topology()), LcaSizes::new(b.topology()));
        for i in 0..40 {
            for j in 0..40 {
                prop_assert_eq!(a.size(i, j), b.size(i, j));
            }
        }
    }

    #[test]
    fn sparse_and_dense_agree(rows in rows((-2..3i32).prop_map(f64::from), 30)) {
        let (n, p) = (rows.len(), rows[0].len());
        let (mut indptr, mut indices, mut values) = (vec![0i32], Vec::new(), Vec::new());
        for row in &rows {
            for (k, &x) in row.iter().enumerate().rev().filter(|(_, x)| **x != 0.0) {
                indices.push(k as i32);
                values.push(x as f32);
            }
            indptr.push(indices.len() as i32);
        }
        let sparse = SparseRows::new(&indptr, &indices, &values, n, p).unwrap();
        let (mut double, mut single) = (vec![7.0f64; condensed_len(n)], vec![7.0f32; condensed_len(n)]);
        let diagonal = sparse_gram(&sparse, &mut double, None).unwrap();
        prop_assert_eq!(&diagonal, &sparse_gram(&sparse, &mut single, None).unwrap());
        prop_assert_eq!(&double, &gram(&rows));
        prop_assert!(single.iter().zip(&double).all(|(&a, &b)| f64::from(a) == b));
        prop_assert_eq!(diagonal, Vectors::new(&rows.concat(), n, p).unwrap().squared_norms());
    }
}

#[test]
fn many_clusters_give_the_naive_tree() {
    let mut random = Random(3);
    for (n, p) in [(300, 34), (400, 2), (257, 70)] {
        let fractions = random.rows(n, p, |x| x - 0.5);
        assert_close(&ours(&fractions, None), &naive(&fractions, None));
        let positive = random.rows(n, p, |x| x);
        assert_close(&ours(&positive, None), &naive(&positive, None));
        let whole = random.rows(n, p, |x| (x * 4.0).floor() - 1.0);
        assert_eq!(ours(&whole, None), naive(&whole, None));
        let initial = some_partition(n, 97);
        assert_eq!(ours(&whole, Some(&initial)), naive(&whole, Some(&initial)));
    }
}

#[test]
fn quarters_and_groups_of_two_are_exact() {
    // Four groups of equal vectors whose coordinates are multiples of 1/4, so means have few binary digits.
    let rows: Vec<Vec<f64>> =
        (0..32).map(|i| (0..6).map(|k| f64::from((i % 4 * 3 + k) % 7) * 0.25).collect()).collect();
    assert_eq!(ours(&rows, None), naive(&rows, None));
}

#[test]
fn equal_vectors_merge_in_the_order_of_their_names() {
    for x in [0.0, 0.1, -0.7, 3.0] {
        for p in [0, 1, 3] {
            let tree = ours(&vec![vec![x; p]; 9], None);
            assert_eq!(tree.newick().to_string(), "(8,(7,(6,(5,(4,(3,(2,(0,1))))))));");
        }
    }
    assert_eq!(ours(&vec![vec![0.1; 3]; 700], None).merges()[698], [699, 1397]);
}

#[test]
fn caterpillars_and_progressions() {
    let n = 400;
    let progression = |ratio: f64| (0..n).map(|i| vec![ratio.powi(i), 0.5 * ratio.powi(i)]).collect::<Vec<_>>();
    for ratio in [0.5, 0.9, 0.99, 1.1, 1.5] {
        assert_close(&ours(&progression(ratio), None), &naive(&progression(ratio), None));
    }
    // Every leaf is nearest to the one before.
    let steps: Vec<Vec<f64>> = (0..60).map(|i| (0..60).map(|k| if k <= i { 1.0 } else { 0.0 }).collect()).collect();
    assert_eq!(ours(&steps, None), naive(&steps, None));
    let falling: Vec<Vec<f64>> = steps.iter().rev().cloned().collect();
    assert_eq!(ours(&falling, None), naive(&falling, None));
}

#[test]
fn one_two_and_three_leaves() {
    assert_eq!(ours(&[vec![2.0]], None).n_leaves(), 1);
    assert_eq!(ours(&[vec![2.0], vec![-3.0]], None).heights(), [-6.0]);
    let three = [vec![1.0], vec![-1.0], vec![2.0]];
    assert_eq!(ours(&three, None).heights(), [2.0, -1.5]);
    let initial = Partition::new(&[0, 0, 1]).unwrap();
    assert_eq!(ours(&three, Some(&initial)).heights(), [0.0, 0.0]);
    let all = Partition::new(&[5, 5, 5]).unwrap();
    assert_eq!(ours(&three, Some(&all)), naive(&three, Some(&all)));
}

#[test]
fn single_precision_and_scale() {
    let rows = Random(5).rows(50, 4, |x| f64::from(x as f32));
    let single: Vec<f32> = rows.concat().iter().map(|&x| x as f32).collect();
    let tree = |scale| mean_dot_linkage(&Vectors::new(&single, 50, 4).unwrap(), scale, None, None);
    assert_eq!(tree(1.0).unwrap(), ours(&rows, None));
    let halves: Vec<f64> = ours(&rows, None).heights().iter().map(|h| h * 0.5).collect();
    assert_eq!(tree(0.5).unwrap().heights(), halves);
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(tree(scale).unwrap_err().to_string().contains("scale"));
    }
}

#[test]
fn extreme_values() {
    // The product overflows, although the tree alone would not.
    let huge = [1e200, 1e200, -1e200];
    let error = mean_dot_linkage(&Vectors::new(&huge, 3, 1).unwrap(), 1.0, None, None).unwrap_err();
    assert!(error.to_string().starts_with("the height at merge 0 is inf"), "{error}");
    let scaled = mean_dot_linkage(&Vectors::new(&huge, 3, 1).unwrap(), 1e-200, None, None);
    assert!(scaled.is_err() || scaled.unwrap().newick().to_string() == "(2,(0,1));");
    for tiny in [1e-200, 5e-324, 1e-310] {
        let values = [tiny, -tiny, tiny];
        let tree = mean_dot_linkage(&Vectors::new(&values, 3, 1).unwrap(), 1.0, None, None).unwrap();
        assert_eq!(tree.newick().to_string(), "(1,(0,2));");
    }
    let largest = [f64::MAX, f64::MIN, 1.0];
    let tree = mean_dot_linkage(&Vectors::new(&largest, 3, 1).unwrap(), 1.0, None, None);
    assert!(matches!(tree, Err(Error::BadValue { .. })));
}

#[test]
fn any_number_of_threads_gives_the_same() {
    const CHILD: &str = "ORDHC_TEST_CHILD";
    if std::env::var(CHILD).is_ok() {
        let (n, p) = (2000, 20);
        let flat = Random(9).rows(n, p, |x| x - 0.4).concat();
        let tree = mean_dot_linkage(&Vectors::new(&flat, n, p).unwrap(), 1.0, None, None).unwrap();
        let indptr: Vec<i64> = (0..=n).map(|i| (i * p) as i64).collect();
        let indices: Vec<i64> = (0..n * p).map(|at| (at % p) as i64).collect();
        let mut pairs = vec![0.0f64; condensed_len(n)];
        let sparse = SparseRows::new(&indptr, &indices, &flat, n, p).unwrap();
        let diagonal = sparse_gram(&sparse, &mut pairs, None).unwrap();
        let mut sum = 0u64;
        let all = tree.heights().iter().chain(&pairs).chain(&diagonal).map(|x| x.to_bits());
        for bits in all.chain(tree.merges().iter().flatten().map(|&part| u64::from(part))) {
            sum = sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(bits);
        }
        println!("sum={sum};");
        return;
    }
    let run = |threads: &str| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["any_number_of_threads_gives_the_same", "--exact", "--nocapture"])
            .envs([(CHILD, "1"), ("ORDHC_NUM_THREADS", threads)])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let from = text.find("sum=").unwrap();
        text[from..].split(';').next().unwrap().to_owned()
    };
    let sums = ["1", "2", "3", "7"].map(run);
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
}

#[test]
fn wrong_partitions_and_interruption() {
    let rows = Random(6).rows(100, 4, |x| x);
    let flat = rows.concat();
    let vectors = Vectors::new(&flat, 100, 4).unwrap();
    let initial = Partition::singletons(99);
    let wrong = mean_dot_linkage(&vectors, 1.0, Some(&initial), None);
    assert!(wrong.unwrap_err().to_string().contains("for 100 leaves"));
    let monitor = Monitor::new();
    assert!(mean_dot_linkage(&vectors, 1.0, None, Some(&monitor)).is_ok());
    assert_eq!(monitor.fraction(), 1.0);
    monitor.cancel();
    assert_eq!(mean_dot_linkage(&vectors, 1.0, None, Some(&monitor)), Err(Error::Interrupted));
    let sparse = SparseRows::new(&[0i64, 1, 2], &[0, 0], &[1.0, 2.0], 2, 1).unwrap();
    assert_eq!(sparse_gram(&sparse, &mut [0.0f64], Some(&monitor)), Err(Error::Interrupted));
}

#[test]
fn sparse_overflow_is_an_error() {
    let sparse = SparseRows::new(&[0, 1, 2], &[0, 0], &[1e200, 1e200], 2, 1).unwrap();
    let message = sparse_gram(&sparse, &mut [0.0f64], None).unwrap_err().to_string();
    assert!(message.starts_with("the dot product at [0, 1] is inf"), "{message}");
    let sparse = SparseRows::new(&[0, 1, 2], &[0, 0], &[1e20, 1e20], 2, 1).unwrap();
    assert!(sparse_gram(&sparse, &mut [0.0f32], None).is_err());
    assert!(sparse_gram(&sparse, &mut [0.0f64], None).is_ok());
    assert!(sparse_gram(&sparse, &mut [0i32], None).is_err());
    assert!(sparse_gram(&sparse, &mut [0.0f64; 2], None).is_err());
}

#[test]
fn leaves_stand_at_least_as_high_as_their_merges() {
    let rows = Random(8).rows(60, 5, |x| x - 0.3);
    let tree = ours(&rows, None);
    let own = Vectors::new(&rows.concat(), 60, 5).unwrap().squared_norms();
    let heights = leaf_heights(&tree, &own).unwrap();
    for (pair, &height) in tree.merges().iter().zip(tree.heights()) {
        for &leaf in pair.iter().filter(|&&part| part < 60) {
            assert_eq!(heights[leaf as usize], own[leaf as usize].max(height));
        }
    }
}
