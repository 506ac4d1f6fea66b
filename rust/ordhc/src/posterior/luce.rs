//! The probability of choices among several options (Luce 1959, "Individual choice behavior").
//!
//! Each option has the weight exp(utility). An answer ranks the options. Options of equal rank form a block. The blocks
//! are chosen one after the other, best first, from the remaining options:
//!
//! * A single option is chosen with a probability in proportion to its weight.
//! * The probability of a block of several options is the sum over all orders in which its options can be chosen.
//! * If the last block is a single option, this option is the worst. The worst option is chosen in proportion to 1 /
//!   weight. For example, the most central of three leaves is the leaf for which the pair of the other two is the
//!   worst.

/// Up to this number of chosen options, their probability is computed as a sum over subsets. For more options, it is
/// computed as an integral.
const SUMMED: usize = 6;

/// Returns the probability of an answer that ranks options. Options of equal rank form a block. `weights` has the
/// weight of each option, with the best block first. `blocks` has the number of options in each block.
pub(super) fn probability(weights: &[f64], blocks: &[u32]) -> f64 {
    let mut product = 1.0;
    let mut left = weights;
    for &size in &blocks[..blocks.len() - 1] {
        let (chosen, others) = left.split_at(size as usize);
        product *= match (chosen, others) {
            ([one], _) => one / left.iter().sum::<f64>(),
            (_, [worst]) => 1.0 / (worst * left.iter().map(|weight| 1.0 / weight).sum::<f64>()),
            _ => all_before(chosen, others.iter().sum()),
        };
        left = others;
    }
    product
}

/// Returns the number of different rankings of options with `blocks[k]` options at rank k.
pub(super) fn n_orders(blocks: &[u32]) -> f64 {
    let mut left = blocks.iter().sum::<u32>();
    let mut count = 1.0;
    for &size in blocks {
        (0..size).for_each(|at| count *= f64::from(left - at) / f64::from(at + 1));
        left -= size;
    }
    count
}

/// Returns the probability that the chosen options, with the weights `chosen`, all come before the options that are not
/// chosen. `rest` is the total weight of the options that are not chosen.
fn all_before(chosen: &[f64], rest: f64) -> f64 {
    if let [a, b] = *chosen {
        return a * b / (a + b + rest) * (1.0 / (a + rest) + 1.0 / (b + rest));
    }
    if chosen.len() > SUMMED {
        return all_before_by_times(chosen, rest);
    }
    // For each subset of the chosen options, as a bit mask: the probability that the subset comes before the options
    // that are not chosen.
    let mut found = [1.0; 1 << SUMMED];
    for set in 1..1usize << chosen.len() {
        let (mut sum, mut weight) = (0.0, rest);
        for (at, own) in chosen.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1) {
            weight += own;
            sum += own * found[set ^ 1 << at];
        }
        found[set] = sum / weight;
    }
    found[(1 << chosen.len()) - 1]
}

/// Returns the same probability as [`all_before`], by an integral. Each option arrives after an exponentially
/// distributed time whose rate is the option's weight. Let t be the time when the first of the options that are not
/// chosen arrives. The integral is over s = ln(t `rest`), because the trapezoidal rule then converges fast.
fn all_before_by_times(chosen: &[f64], rest: f64) -> f64 {
    const STEP: f64 = 0.25;
    let density = |s: f64| {
        let time = s.exp();
        chosen.iter().map(|weight| -(-weight / rest * time).exp_m1()).product::<f64>() * (s - time).exp()
    };
    (-120..=20).map(|at| density(f64::from(at) * STEP)).sum::<f64>() * STEP
}

#[cfg(test)]
mod tests {
    use super::super::tests::kinds::permutations;
    use super::*;

    fn orders(count: usize) -> Vec<Vec<usize>> {
        permutations(&(0..count).collect::<Vec<_>>())
    }

    fn by_orders(weights: &[f64], chosen: usize) -> f64 {
        let of = |order: Vec<usize>| {
            let mut left: f64 = weights.iter().sum();
            let mut product = 1.0;
            for option in order {
                product *= weights[option] / left;
                left -= weights[option];
            }
            product
        };
        let first = |order: &Vec<usize>| order[..chosen].iter().all(|&option| option < chosen);
        orders(weights.len()).into_iter().filter(first).map(of).sum()
    }

    #[test]
    fn sets_are_sums_over_orders() {
        let weights = [0.3, 2.0, 1.1, 0.05, 7.0, 0.6, 1.0, 0.9];
        for count in 3..=8 {
            for chosen in 1..count - 1 {
                let blocks = [chosen as u32, (count - chosen) as u32];
                let (found, expected) = (probability(&weights[..count], &blocks), by_orders(&weights[..count], chosen));
                assert!((found / expected - 1.0).abs() < 1e-9, "{count} {chosen} {found} {expected}");
            }
            let chosen = count - 2;
            let rest: f64 = weights[chosen..count].iter().sum();
            let (found, expected) =
                (all_before_by_times(&weights[..chosen], rest), by_orders(&weights[..count], chosen));
            assert!((found / expected - 1.0).abs() < 1e-6, "{count} {found} {expected}");
        }
    }

    #[test]
    fn all_answers_to_a_question_have_a_probability_of_one_together() {
        for blocks in [&[1, 1][..], &[1, 2], &[2, 1], &[1, 1, 1, 1], &[2, 3], &[1, 3, 1], &[2, 1, 2], &[4, 1]] {
            let count = blocks.iter().sum::<u32>() as usize;
            let mut seen = std::collections::BTreeMap::new();
            for order in orders(count) {
                let mut key = Vec::new();
                let mut at = 0;
                for &size in blocks {
                    let mut block = order[at..at + size as usize].to_vec();
                    block.sort_unstable();
                    key.push(block);
                    at += size as usize;
                }
                let weights: Vec<f64> = key.concat().iter().map(|&option| (0.7 * option as f64 - 1.0).exp()).collect();
                seen.insert(key, probability(&weights, blocks));
            }
            assert_eq!(seen.len() as f64, n_orders(blocks).round());
            let sum: f64 = seen.values().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{blocks:?} {sum}");
        }
    }
}
