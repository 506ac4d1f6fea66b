//! The engines on uniform random input: `cargo bench --package ordhc-bench`.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ordhc::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
use ordhc::linkage::Rule;
use ordhc::similarity::{adds, condensed_len};
use ordhc::vectors::{Vectors, mean_dot_linkage};
use ordhc::{Kind, Triplets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn engines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("average linkage");
    group.sample_size(10);
    for n in [200, 1000, 3000] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let pairs: Vec<f64> = (0..condensed_len(n)).map(|_| rng.random()).collect();
        let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Dissimilarity).unwrap();
        for (name, engine) in [("chain", Engine::Chain), ("nearest pair", Engine::NearestPair)] {
            group.bench_function(BenchmarkId::new(name, n), |bencher| {
                bencher.iter(|| Agglomeration::new(Rule::Average).engine(engine).run(&matrix).unwrap());
            });
        }
    }
    group.finish();
}

fn counting(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("AddS3 of a million triplets");
    group.sample_size(10);
    for n in [100, 1000, 5000] {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut row = || loop {
            let row: [i32; 3] = std::array::from_fn(|_| rng.random_range(0..n));
            if row[0] != row[1] && row[0] != row[2] && row[1] != row[2] {
                return row;
            }
        };
        let rows: Vec<[i32; 3]> = (0..1_000_000).map(|_| row()).collect();
        let triplets = Triplets::new(rows, Some(n as usize)).unwrap();
        group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
            bencher.iter(|| {
                let mut out = vec![0i32; condensed_len(n as usize)];
                adds(&triplets, &mut out, None).unwrap();
                out
            });
        });
    }
    group.finish();
}

fn vectors(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("average linkage of dot products");
    group.sample_size(10);
    let p = 34;
    for n in [1000, 5000] {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let values: Vec<f32> = (0..n * p).map(|_| rng.random::<f32>() - 0.5).collect();
        let vectors = Vectors::new(&values, n, p).unwrap();
        group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
            bencher.iter(|| mean_dot_linkage(&vectors, 1.0 / p as f64, None, None).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, engines, counting, vectors);
criterion_main!(benches);
