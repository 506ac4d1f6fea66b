//! Diagnostics of Markov chains: agreement between chains, and effective sample size.

/// Measures of how well Markov chains have mixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixing {
    /// The potential scale reduction of half-chains, "split R-hat". A value near 1 means that all halves of all chains
    /// are alike. NaN for fewer than four values per chain.
    pub r_hat: f64,
    /// The number of independent values whose mean would have the same standard error as the mean over the chains.
    pub effective_size: f64,
}

/// Returns split R-hat and effective sample size of a quantity, given its values in Markov chains of equal length
/// (Gelman et al. 2013, "Bayesian Data Analysis", 11.4 and 11.5). Autocorrelations are added in pairs of consecutive
/// lags, until the sum of a pair is not positive. A sum that is larger than the sum before is replaced by the sum
/// before (Geyer's initial monotone sequence).
///
/// ```
/// use ordhc::bindings::mixing;
///
/// let apart = mixing(&[vec![0.0, 0.1, 0.0, 0.1], vec![5.0, 5.1, 5.0, 5.1]]);
/// assert!(apart.r_hat > 10.0);
/// ```
pub fn mixing(chains: &[Vec<f64>]) -> Mixing {
    let half = chains.iter().map(Vec::len).min().unwrap_or(0) / 2;
    if half < 2 {
        return Mixing { r_hat: f64::NAN, effective_size: f64::NAN };
    }
    // If the length of a chain is odd, leave out the middle value.
    let halves: Vec<&[f64]> = chains.iter().flat_map(|chain| [&chain[..half], &chain[chain.len() - half..]]).collect();
    let (m, n) = (halves.len() as f64, half as f64);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = halves.iter().map(|values| mean(values)).collect();
    let whole = mean(&means);
    let between = n * means.iter().map(|mean| (mean - whole).powi(2)).sum::<f64>() / (m - 1.0);
    let covariance = |lag: usize| {
        let of = |(values, mean): (&&[f64], &f64)| {
            (lag..half).map(|at| (values[at] - mean) * (values[at - lag] - mean)).sum::<f64>() / n
        };
        halves.iter().zip(&means).map(of).sum::<f64>() / m
    };
    let within = covariance(0) * n / (n - 1.0);
    let variance = (n - 1.0) / n * within + between / n;
    if variance <= 0.0 {
        // All values are equal.
        return Mixing { r_hat: 1.0, effective_size: m * n };
    }
    let correlation = |lag: usize| 1.0 - (within - covariance(lag) * n / (n - 1.0)) / variance;
    let (mut sum, mut last) = (-1.0, f64::INFINITY);
    for lag in (0..half.saturating_sub(1)).step_by(2) {
        let pair = (if lag == 0 { 1.0 } else { correlation(lag) } + correlation(lag + 1)).min(last);
        if pair <= 0.0 {
            break;
        }
        sum += 2.0 * pair;
        last = pair;
    }
    let r_hat = if within > 0.0 { (variance / within).sqrt() } else { f64::INFINITY };
    // Alternating values can have a larger effective size than independent values. Limit this effect.
    let least = 1.0 / (m * n).log10();
    Mixing { r_hat, effective_size: m * n / sum.max(least) }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    fn chains(correlation: f64, apart: f64) -> Vec<Vec<f64>> {
        let chain = |at: u64| {
            let mut random = Random::new(3, at);
            let (mut value, noise) = (0.0, (1.0 - correlation * correlation).sqrt());
            let mut next = || {
                value = correlation * value + noise * random.normal();
                value + apart * at as f64
            };
            (0..5000).map(|_| next()).collect()
        };
        (0..4).map(chain).collect()
    }

    #[test]
    fn independent_values_count_fully_and_correlated_ones_less() {
        let found = mixing(&chains(0.0, 0.0));
        assert!((found.r_hat - 1.0).abs() < 0.01 && (found.effective_size / 20_000.0 - 1.0).abs() < 0.15, "{found:?}");
        let found = mixing(&chains(0.9, 0.0));
        // The expected effective size is the number of all values times (1 - 0.9) / (1 + 0.9).
        assert!((found.effective_size / 1052.0 - 1.0).abs() < 0.25, "{found:?}");
        assert!(mixing(&chains(0.5, 1.0)).r_hat > 1.3);
    }

    #[test]
    fn few_and_constant_values() {
        assert!(mixing(&[vec![1.0; 3]]).r_hat.is_nan());
        assert!(mixing(&[]).effective_size.is_nan());
        assert_eq!(mixing(&[vec![1.0; 10]]), Mixing { r_hat: 1.0, effective_size: 10.0 });
    }
}
