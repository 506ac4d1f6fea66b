//! Any matrix with any linkage.

use ordhc::agglomerate::{Agglomeration, Engine, Layout, Matrix, Values};
use ordhc::linkage::{LanceWilliams, Rule};
use ordhc::similarity::condensed_len;
use ordhc::tree::Partition;
use ordhc::{Dendrogram, Kind, Monitor};

use crate::bytes::Bytes;

const LEAVES: usize = 14;

/// Agglomerates any matrix with any linkage, without a panic. All heights must be finite.
///
/// The naive and the nearest-pair algorithm must make the same merges, unless a warning says that rounding errors may
/// change the tree. Formulas with large coefficients are an exception: their terms can be large and cancel, which
/// amplifies rounding errors. Trees of reducible linkages must be monotone.
pub fn agglomerate(data: &[u8]) {
    let mut bytes = Bytes(data);
    let n = 1 + bytes.below(LEAVES);
    let kind = if bytes.byte() % 2 == 1 { Kind::Dissimilarity } else { Kind::Similarity };
    let square = bytes.byte() % 2 == 1;
    let Some((rule, is_tame)) = rule(&mut bytes) else { return };
    let labels: Vec<i64> = match bytes.byte() % 4 {
        0 => (0..n).map(|_| bytes.below(n) as i64).collect(),
        _ => (0..n as i64).collect(),
    };
    let Ok(initial) = Partition::new(&labels) else { return };
    let pairs: Vec<f64> = (0..condensed_len(n)).map(|_| bytes.float()).collect();
    let values = if square { in_square(&pairs, n) } else { pairs };
    let layout = if square { Layout::Square } else { Layout::Condensed };
    let Ok(matrix) = Matrix::new(Values::F64(&values), layout, kind) else { return };
    let monitor = Monitor::new();
    let run = |engine| Agglomeration::new(rule.clone()).engine(engine).initial(&initial).monitor(&monitor).run(&matrix);
    let [naive, nearest, auto] = [Engine::Naive, Engine::NearestPair, Engine::Auto].map(run);
    for tree in [&naive, &nearest, &auto].into_iter().flatten() {
        assert_eq!(tree.n_leaves(), n);
        assert!(tree.heights().iter().all(|height| height.is_finite()), "heights are finite: {:?}", tree.heights());
    }
    let bits = |tree: &Dendrogram| {
        (tree.merges().to_vec(), tree.heights().iter().map(|height| height.to_bits()).collect::<Vec<_>>())
    };
    match (&naive, &nearest) {
        (Ok(naive), Ok(nearest)) if is_tame && !has_grown(naive, &values) && monitor.warning().is_none() => {
            assert_eq!(naive.merges(), nearest.merges(), "{rule:?}");
            assert_near(naive.heights(), nearest.heights(), &values, &rule);
        }
        (Ok(_), Ok(_)) => {}
        (Err(_), Err(_)) => {}
        // Near overflow, the sums of one algorithm can overflow although the sums of the other algorithm do not.
        (Ok(tree), Err(_)) | (Err(_), Ok(tree))
            if !is_tame || tree.heights().iter().any(|height| height.abs() > 1e290) => {}
        _ => panic!("{rule:?}: naive {naive:?}, nearest pair {nearest:?}"),
    }
    if let (Ok(tree), true) = (&auto, rule.is_reducible() && !matches!(rule, Rule::Coefficients(_))) {
        assert!(tree.is_monotone(), "{rule:?}: {:?}", tree.heights());
    }
    let mut own = values.clone();
    let overwritten = Agglomeration::new(rule.clone()).initial(&initial).run_in_place(&mut own, layout, kind);
    assert_eq!(auto.map(|tree| bits(&tree)), overwritten.map(|tree| bits(&tree)), "{rule:?}, in place");
}

fn has_grown(tree: &Dendrogram, values: &[f64]) -> bool {
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    largest(tree.heights()) > 8.0 * largest(values)
}

/// Panics unless the heights or their squares are equal up to rounding errors, relative to the largest height or matrix
/// value. The squares suffice because some linkages compute with squared heights.
fn assert_near(naive: &[f64], nearest: &[f64], values: &[f64], rule: &Rule) {
    let scale = naive.iter().chain(values).fold(0.0f64, |largest, value| largest.max(value.abs()));
    for (a, b) in naive.iter().zip(nearest) {
        let (a, b) = (a / scale, b / scale);
        assert!(
            scale == 0.0 || (a - b).abs() <= 1e-9 || (a * a - b * b).abs() <= 1e-9,
            "{naive:?}\n{nearest:?}\n{rule:?}"
        );
    }
}

fn in_square(pairs: &[f64], n: usize) -> Vec<f64> {
    let mut square = vec![0.0; n * n];
    let mut pairs = pairs.iter();
    for i in 0..n {
        for j in i + 1..n {
            let value = pairs.next().copied().unwrap_or(0.0);
            (square[i * n + j], square[j * n + i]) = (value, value);
        }
    }
    square
}

/// Returns the linkage that `bytes` encode, or `None` for an invalid formula. The flag is true if heights are rarely
/// much larger than the values of the matrix.
fn rule(bytes: &mut Bytes<'_>) -> Option<(Rule, bool)> {
    if bytes.byte().is_multiple_of(2) {
        return Some((Rule::NAMES[bytes.below(Rule::NAMES.len())].parse().ok()?, true));
    }
    let means = ["0.5", "n_i / (n_i + n_j)"];
    let small = ["-0.25", "0.5"];
    let terms =
        ["n_i", "n_j", "n_k", "b", "1", "0.5", "n_i / (n_i + n_j)", "2", "-0.25", "(n_i + n_k) / (n_i + n_j + n_k)"];
    let mut formula = || {
        let mut text = terms[bytes.below(terms.len())].to_string();
        for _ in 0..bytes.below(3) {
            let sign = ["+", "-", "*", "/"][bytes.below(4)];
            text = format!("({text}) {sign} {}", terms[bytes.below(terms.len())]);
        }
        text
    };
    let formulas = [formula(), formula(), formula()];
    let [alpha, beta, gamma] = formulas.each_ref();
    let is_tame = means.contains(&alpha.as_str()) && small.contains(&beta.as_str()) && small.contains(&gamma.as_str());
    let parameter = bytes.float();
    let rule = LanceWilliams::new(alpha, beta, gamma, &[("b", parameter)]).ok()?;
    let stated = bytes.byte();
    Some((Rule::Coefficients(rule.reducible(stated.is_multiple_of(4)).squared(stated % 8 > 5)), is_tame))
}
