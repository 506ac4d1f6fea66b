//! Times average linkage of dot products: `cargo run --release --example vectors -- pca 20000 34`.

use std::time::Instant;

use ordhc::similarity::condensed_len;
use ordhc::vectors::{SparseRows, Vectors, mean_dot_linkage, sparse_gram};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Returns rows of a kind. `pca`: variances decrease like 1/k; `mixture`: 50 Gaussians; `same`: all equal; `fall`: a
/// geometric progression of directions and lengths.
fn rows(kind: &str, n: usize, p: usize) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let centres: Vec<f64> = (0..50 * p).map(|_| 2.0 * normal(&mut rng)).collect();
    let mut all = Vec::with_capacity(n * p);
    for i in 0..n {
        let centre = rng.random_range(0..50usize);
        for k in 0..p {
            let x = match kind {
                "pca" => normal(&mut rng) / (k as f64 + 1.0).sqrt(),
                "mixture" => centres[centre * p + k] + normal(&mut rng),
                "noise" => normal(&mut rng),
                "positive" => rng.random::<f64>(),
                "fall" => 0.999f64.powi(i as i32 + k as i32),
                _ => 0.1 * (k as f64 + 1.0),
            };
            all.push(x as f32);
        }
    }
    all
}

/// Returns sparse rows with about 90 values each. Column frequencies follow Zipf's law.
fn sparse(n: usize, p: usize) -> (Vec<i32>, Vec<i32>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let top = (p as f64).ln();
    for _ in 0..n {
        let mut columns: Vec<i32> = (0..170).map(|_| ((rng.random::<f64>() * top).exp() - 1.0) as i32).collect();
        columns.sort_unstable();
        columns.dedup();
        values.extend(columns.iter().map(|_| rng.random::<f64>()));
        indices.extend(columns);
        indptr.push(indices.len() as i32);
    }
    (indptr, indices, values)
}

fn main() -> ordhc::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = arguments.first().map_or("pca", String::as_str);
    let number = |at: usize, default| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (n, p, repeats) = (number(1, 20_000), number(2, 34), number(3, 1));
    let memory = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
        line.split_whitespace().nth(1).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
    };
    if kind == "sparse" {
        let (indptr, indices, values) = sparse(n, p);
        let before = memory();
        let start = Instant::now();
        let rows = SparseRows::new(&indptr, &indices, &values, n, p)?;
        let mut pairs = vec![0.0f32; condensed_len(n)];
        sparse_gram(&rows, &mut pairs, None)?;
        let (seconds, more) = (start.elapsed().as_secs_f64(), memory() - before);
        println!("n={n} p={p}, {} values: {seconds:.3} s, peak memory {more:.0} MB more", values.len());
        return Ok(());
    }
    let values = rows(kind, n, p);
    let before = memory();
    let vectors = Vectors::new(&values, n, p)?;
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            mean_dot_linkage(&vectors, 1.0 / p as f64, None, None).map(|_| start.elapsed().as_secs_f64())
        })
        .collect::<ordhc::Result<_>>()?;
    times.sort_by(f64::total_cmp);
    println!("{kind} n={n} p={p}: median {:.3} s, peak memory {:.0} MB more", times[repeats / 2], memory() - before);
    Ok(())
}
