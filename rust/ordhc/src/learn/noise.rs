//! Assumptions about wrong answers.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// The assumption about wrong answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Assume {
    /// No assumption: wrong answers may be chosen by an adversary who knows everything.
    #[default]
    Adversarial,
    /// All wrong answers to a question are equally likely. A weaker condition is enough: no wrong answer has more than
    /// half of the total probability of wrong answers.
    Uniform,
}

named!(Assume, "assume", {
    "adversarial": Self::Adversarial => Self::Adversarial,
    "uniform": Self::Uniform => Self::Uniform,
});

/// For each leaf: the largest allowed probability that the search for its place in the tree ends at a wrong place (the
/// failure probability of the leaf).
///
/// The failure probabilities of the n leaves at the start are `delta` / n each. Those of the leaves that are added
/// later add up to at most another `delta`. The number of later leaves is unknown, so the k-th later leaf has `delta` /
/// (k (k + 1)).
#[derive(Debug, Clone)]
pub(crate) struct Risk {
    delta: f64,
    each: f64,
    n_added: u64,
    own: HashMap<u32, f64>,
}

impl Risk {
    pub(crate) fn new(delta: f64, n: usize) -> Self {
        Self { delta, each: delta / n.max(1) as f64, n_added: 0, own: HashMap::new() }
    }

    pub(crate) fn each(&self) -> f64 {
        self.each
    }

    pub(crate) fn of(&self, leaf: u32) -> f64 {
        self.own.get(&leaf).copied().unwrap_or(self.each)
    }

    pub(crate) fn set(&mut self, leaf: u32, risk: f64) {
        self.own.insert(leaf, risk);
    }

    pub(crate) fn add(&mut self, leaf: u32) {
        self.n_added += 1;
        let k = self.n_added as f64;
        self.set(leaf, self.delta / (k * (k + 1.0)));
    }
}

/// Whether a question that is asked again gets an independent answer, or the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Noise {
    /// Each answer is right or wrong independently of all other answers.
    #[default]
    Independent,
    /// The same question gets the same answer, as from a language model or a data set.
    Persistent,
}

named!(Noise, "noise", {
    "independent": Self::Independent => Self::Independent,
    "persistent": Self::Persistent => Self::Persistent,
});

/// The number of leaves whose places in the tree are searched in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Schedule {
    /// The number of leaves whose places are searched in parallel is the setting `parallel`.
    #[default]
    Questions,
    /// The number of leaves whose places are searched in parallel is an eighth of the number of leaves in the tree, but
    /// at least `parallel`. Takes few rounds.
    Balanced,
    /// The number of leaves whose places are searched in parallel is the number of leaves in the tree, but at least
    /// `parallel`. Takes the fewest rounds, but more questions than the other schedules.
    Rounds,
}

named!(Schedule, "schedule", {
    "questions": Self::Questions => Self::Questions,
    "balanced": Self::Balanced => Self::Balanced,
    "rounds": Self::Rounds => Self::Rounds,
});

pub(crate) fn check(p: f64, delta: f64) -> Result<()> {
    if !(p > 0.5 && p <= 1.0) {
        return Err(Error::out_of_range("p", p, "(1/2, 1]"));
    }
    if !(delta > 0.0 && delta < 1.0) {
        return Err(Error::out_of_range("delta", delta, "(0, 1)"));
    }
    Ok(())
}

/// Returns a threshold for the count of a place in the tree: the number of answers for the place minus the number
/// against the place. The count of a wrong place reaches the threshold with a probability of at most `failure`. Each
/// answer is wrong with a probability of at most 1 - p, given all earlier answers.
pub(crate) fn needed(p: f64, failure: f64) -> f64 {
    (failure.ln() / ((1.0 - p) / p).ln()).ceil().max(1.0)
}

/// Returns the probability that at least `k` of `n` independent answers are right.
pub(crate) fn tail(n: u64, k: u64, p: f64) -> f64 {
    if k == 0 || p >= 1.0 {
        return f64::from(k <= n);
    }
    if p <= 0.0 {
        return 0.0;
    }
    let mut choose = 0.0;
    let mut sum = 0.0;
    for i in 0..=n {
        if i >= k {
            sum += (choose + i as f64 * p.ln() + (n - i) as f64 * (1.0 - p).ln()).exp();
        }
        choose += ((n - i) as f64).ln() - (i as f64 + 1.0).ln();
    }
    sum.min(1.0)
}

/// Returns the smallest odd number of answers whose majority is right with a probability of at least 1 - `wrong`.
pub(crate) fn repeats(p: f64, wrong: f64) -> u64 {
    // Sum the probabilities of wrong majorities. The difference 1 minus the sum for right majorities would round small
    // probabilities to 0.
    let mut most = 1;
    while tail(most, most.div_ceil(2), 1.0 - p) > wrong {
        most = 2 * most + 1;
    }
    let (mut low, mut high) = (0, most / 2);
    while low < high {
        let middle = (low + high) / 2;
        if tail(2 * middle + 1, middle + 1, 1.0 - p) > wrong { low = middle + 1 } else { high = middle }
    }
    2 * high + 1
}

/// Estimates how often answers are right, from questions that were asked several times. The right answers need not be
/// known. Returns the share of answers that agree with the most frequent answer to the same question, and a lower bound
/// on the true probability.
///
/// Assumes that answers are independent and right with the same probability. Then the bound is below this probability
/// with a probability of at least 1 - `delta`, whatever the wrong answers are. This is the Clopper-Pearson bound at
/// `delta` / 4^k for k questions, by a union bound over the possible right answers. The bound is tight if a few
/// questions are asked often. Use the bound, not the estimate, as `p` of a learner. The learner's tree is then wrong
/// with a probability of at most the sum of this `delta` and the learner's `delta`.
///
/// # Errors
/// No answers; an answer other than 0, 1, 2, -1; `delta` outside (0, 1).
///
/// ```
/// use ordhc::learn::estimate_p;
///
/// let answers = [[0, 0, 2, 0, 0, 0, 0, 0, 0, 0].repeat(4), [1, 1, 1, 1, 1, 1, 1, 0, 1, 1].repeat(4)];
/// let (p, lower) = estimate_p(&answers, 0.05)?;
/// assert_eq!(p, 0.9);
/// assert!(lower > 0.76 && lower < 0.8);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn estimate_p<A: AsRef<[i8]>>(answers: &[A], delta: f64) -> Result<(f64, f64)> {
    check(1.0, delta)?;
    let (mut right, mut all, mut questions) = (0, 0, 0);
    for (at, answers) in answers.iter().map(AsRef::as_ref).enumerate() {
        let mut counts = [0; 4];
        for &answer in answers {
            let Some(count) = counts.get_mut((i16::from(answer) + 1) as usize) else {
                return Err(Error::Question {
                    id: at as u64,
                    reason: format!("the answer {answer} is not 0, 1, 2 or -1"),
                });
            };
            *count += 1;
        }
        right += counts.iter().max().copied().unwrap_or(0);
        all += answers.len() as u64;
        questions += i32::from(!answers.is_empty());
    }
    if all == 0 {
        return Err(Error::Argument("p cannot be estimated without answers".to_string()));
    }
    let delta = delta / 4f64.powi(questions);
    let (mut low, mut high) = (0.0, right as f64 / all as f64);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if tail(all, right, middle) <= delta { low = middle } else { high = middle }
    }
    Ok((right as f64 / all as f64, low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_and_repeats_are_those_of_tables() {
        assert!((tail(3, 2, 0.8) - 0.896).abs() < 1e-12);
        assert!((tail(10, 0, 0.3), tail(4, 4, 1.0), tail(4, 1, 0.0)) == (1.0, 1.0, 0.0));
        // Lemma 5.3: most of k_p answers are right with a probability of at least sqrt(p).
        let k_p = [0.9, 0.8, 0.7].map(|p: f64| repeats(p, 1.0 - p.sqrt()));
        assert_eq!(k_p, [3, 3, 5]);
        for (p, wrong) in [(0.9, 1e-6), (0.6, 1e-3), (1.0, 1e-9), (0.51, 0.4)] {
            let k = repeats(p, wrong);
            assert!(tail(k, k.div_ceil(2), 1.0 - p) <= wrong);
            assert!(k == 1 || tail(k - 2, (k - 2).div_ceil(2), 1.0 - p) > wrong);
        }
    }

    #[test]
    fn bounds_are_below() {
        let bound = |answers: &[&[i8]]| estimate_p(answers, 0.05).unwrap().1;
        assert!(bound(&[&[2; 60]]) > 0.92 && bound(&[&[2; 60]]) < 0.95);
        assert!(bound(&[&[0, 1, 2, 0, 1, 2]]) < 0.2);
        assert!(estimate_p::<&[i8]>(&[&[]], 0.05).unwrap_err().to_string().contains("without answers"));
        assert!(estimate_p(&[[7]], 0.05).unwrap_err().to_string().contains("the answer 7"));
        assert!(estimate_p(&[[1]], 1.0).unwrap_err().to_string().contains("delta = 1"));
    }
}
