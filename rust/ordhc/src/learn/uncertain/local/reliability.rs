//! Estimates of how often answers are right.

/// The number of classes of questions for each doubling of the size ratio. A question compares pairs of leaves. Its
/// size ratio is the ratio of the sizes of the smallest clusters that contain these pairs. A question with a large
/// ratio is easy, so more of its answers are right.
const PER_DOUBLING: f64 = 4.0;
const CLASSES: usize = 48;
/// The number of levels of reliability of a person, in equal steps from 0 (random answers) to 1 (as reliable as people
/// on average).
const LEVELS: usize = 8;
/// The weight of the prior for the share of right answers to a class of questions (see
/// `PER_DOUBLING`), as a number of answers.
const PRIOR_OF_CLASS: f64 = 50.0;
/// The weight of the prior for the reliability of a person, as a number of answers.
const PRIOR_OF_PERSON: f64 = 10.0;
/// The weight of an answer in the estimate for a person halves with this number of later answers of
/// the person. The same applies to the estimate for a class of questions (see `PER_DOUBLING`).
const HALF_LIFE: f64 = 20_000.0;
/// The estimated share of right answers beyond chance is at least `LEAST` and at most `MOST`. This share is 0 for
/// random answers, and 1 if all answers are right.
const LEAST: f64 = 0.25;
const MOST: f64 = 0.97;

/// Estimates how often answers agree with the tree, for each person and each class of questions (see `PER_DOUBLING`).
/// Stores the log-probabilities of answers.
#[derive(Debug, Clone)]
pub(super) struct Reliability {
    chance: f64,
    /// For each class of questions: the weighted number of answers that agree with the tree, and of
    /// all answers.
    classes: Vec<[f64; 2]>,
    /// For each person: a sum over the answers, and its expected value for a usual person. An
    /// answer that agrees with the tree adds 1 to the sum. Other answers lower the sum, so that
    /// random answers add 0 on average.
    people: Vec<[f64; 2]>,
    all: [f64; 2],
    /// For each level of a person and each class of questions: the logarithms of the probabilities
    /// of the right answer and of one wrong answer.
    logs: Vec<[f64; 2]>,
    n_observed: usize,
}

impl Reliability {
    pub(super) fn new(width: usize) -> Self {
        let chance = if width == 4 { 1.0 / 2.0 } else { 1.0 / 3.0 };
        let mut new = Self {
            chance,
            classes: vec![[0.0; 2]; CLASSES],
            people: Vec::new(),
            all: [0.0; 2],
            logs: vec![[0.0; 2]; LEVELS * CLASSES],
            n_observed: 0,
        };
        new.fill();
        new
    }

    /// Returns the share of right answers beyond chance: 0 for random answers, 1 if all answers are right.
    fn excess(&self, class: usize) -> f64 {
        // The prior is Luce's choice rule, mixed with a tenth of random answers. In this rule, the
        // log odds of the right answer against one wrong answer rise by 1.2 when the ratio of the
        // sizes of the two compared clusters doubles.
        let power = (1.2 * (class as f64 + 0.5) / PER_DOUBLING).exp();
        let others = 1.0 / self.chance - 1.0;
        let prior = 0.9 * power / (power + others) + 0.1 * self.chance;
        let [right, all] = self.classes[class];
        let share = (right + PRIOR_OF_CLASS * prior) / (all + PRIOR_OF_CLASS);
        ((share - self.chance) / (1.0 - self.chance)).clamp(LEAST, MOST)
    }

    fn fill(&mut self) {
        let others = 1.0 / self.chance - 1.0;
        for class in 0..CLASSES {
            let excess = self.excess(class);
            for level in 0..LEVELS {
                let own = (excess * level as f64 / (LEVELS - 1) as f64).max(0.01);
                let right = self.chance + (1.0 - self.chance) * own;
                self.logs[level * CLASSES + class] = [right.ln(), ((1.0 - right) / others).ln()];
            }
        }
    }

    #[inline]
    fn class(difference: f64) -> usize {
        ((difference * PER_DOUBLING) as usize).min(CLASSES - 1)
    }

    pub(super) fn level(&self, person: u32) -> usize {
        let [right, expected] = self.people.get(person as usize).copied().unwrap_or_default();
        // Compare the person with all people. If all people often disagree with the tree, the tree is wrong, not the
        // people.
        let usual = ((self.all[0] + PRIOR_OF_PERSON) / (self.all[1] + PRIOR_OF_PERSON)).max(LEAST);
        let share = ((right / usual + PRIOR_OF_PERSON) / (expected + PRIOR_OF_PERSON)).clamp(0.0, 1.0);
        (share * (LEVELS - 1) as f64).round() as usize
    }

    /// Returns the logarithms of the probabilities of the right answer and of one wrong answer, for a person of this
    /// level. `difference` is the base-2 logarithm of the ratio of the sizes of the two compared clusters.
    #[inline]
    pub(super) fn logs(&self, level: usize, difference: f64) -> [f64; 2] {
        self.logs[level * CLASSES + Self::class(difference)]
    }

    pub(super) fn even(&self) -> f64 {
        self.chance.ln()
    }

    pub(super) fn probabilities(&self, difference: f64) -> [f64; 2] {
        self.logs(LEVELS - 1, difference).map(f64::exp)
    }

    pub(super) fn observe(&mut self, person: u32, difference: f64, is_right: bool) {
        let class = Self::class(difference);
        let excess = self.excess(class);
        let beyond = (f64::from(u8::from(is_right)) - self.chance) / (1.0 - self.chance);
        if self.people.len() <= person as usize {
            self.people.resize(person as usize + 1, [0.0; 2]);
        }
        let keep = 0.5f64.powf(1.0 / HALF_LIFE);
        let counts = &mut self.classes[class];
        *counts = [counts[0] * keep + f64::from(u8::from(is_right)), counts[1] * keep + 1.0];
        for counts in [&mut self.people[person as usize], &mut self.all] {
            *counts = [counts[0] * keep + beyond, counts[1] * keep + excess];
        }
        self.n_observed += 1;
        if self.n_observed.is_multiple_of(64) {
            self.fill();
        }
    }
}

/// Returns true unless the answer is "neither" or "unknown".
pub(super) fn says<const K: usize>(answer: i8) -> bool {
    answer != if K == 4 { 0 } else { -1 }
}
