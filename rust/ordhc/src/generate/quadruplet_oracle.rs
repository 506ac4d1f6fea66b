//! An oracle that answers questions from known similarities.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Position, Result};
use crate::learn::Question;
use crate::similarity::Triangle;

/// An oracle that compares two pairs of leaves by their known similarities. The answer is 1 if the first pair is more
/// similar, -1 if the second pair is more similar, and 0 if both are equally similar.
///
/// ```
/// use ordhc::generate::QuadrupletOracle;
///
/// // Similarities of the pairs (0,1), (0,2), (1,2).
/// let oracle = QuadrupletOracle::new(vec![0.9, 0.3, 0.3])?;
/// assert_eq!([oracle.truth([0, 1, 2, 1]), oracle.truth([2, 0, 0, 1]), oracle.truth([0, 2, 1, 2])], [1, -1, 0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct QuadrupletOracle {
    n: usize,
    similarities: Vec<f64>,
    noise: Option<(f64, ChaCha8Rng)>,
}

impl QuadrupletOracle {
    /// Returns an oracle that is always right, from a condensed matrix of similarities.
    ///
    /// # Errors
    /// A number of similarities that is not n (n - 1) / 2 for any n; a similarity that is NaN.
    pub fn new(similarities: Vec<f64>) -> Result<Self> {
        let n = Triangle::of_pairs(similarities.len())?.n_leaves();
        if let Some(at) = similarities.iter().position(|similarity| similarity.is_nan()) {
            let (i, j) = Triangle::new(n).pair(at);
            let (place, value) = (Position::Condensed { at, i, j }, similarities[at]);
            return Err(Error::BadValue { what: "the similarity", place, value, limit: "it must be a number" });
        }
        Ok(Self { n, similarities, noise: None })
    }

    /// Makes each answer right with probability `p`, independently. A wrong answer is the opposite answer. If the right
    /// answer is 0, a wrong answer is 1 or -1.
    ///
    /// # Errors
    /// `p` outside 0..=1.
    pub fn with_noise(mut self, p: f64, seed: u64) -> Result<Self> {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::out_of_range("p", p, "0..=1"));
        }
        self.noise = Some((p, ChaCha8Rng::seed_from_u64(seed)));
        Ok(self)
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n
    }

    /// Returns the right answer about the pairs (i, j) and (k, l). The leaves of a pair must differ.
    pub fn truth(&self, [i, j, k, l]: [u32; 4]) -> i8 {
        let similarity = |a: u32, b: u32| self.similarities[Triangle::new(self.n).index(a as usize, b as usize)];
        let (first, second) = (similarity(i, j), similarity(k, l));
        i8::from(first > second) - i8::from(first < second)
    }

    /// Returns the answer to one question, which may be wrong if there is noise.
    pub fn answer(&mut self, leaves: [u32; 4]) -> i8 {
        let truth = self.truth(leaves);
        let Some((p, random)) = &mut self.noise else { return truth };
        match truth {
            _ if random.random_bool(*p) => truth,
            0 => [-1, 1][usize::from(random.random_bool(0.5))],
            truth => -truth,
        }
    }

    /// Returns the answers to questions.
    ///
    /// # Errors
    /// A question about a leaf that doesn't exist, or about a pair of equal leaves.
    pub fn answers(&mut self, questions: &[Question<4>]) -> Result<Vec<i8>> {
        let n = self.n as u32;
        let fine = |&[i, j, k, l]: &[u32; 4]| i.max(j).max(k).max(l) < n && i != j && k != l;
        if let Some(bad) = questions.iter().find(|question| !fine(&question.leaves)) {
            let Question { id, leaves } = bad;
            return Err(Error::Question {
                id: *id,
                reason: format!("{leaves:?} are not two pairs of leaves below {n}"),
            });
        }
        Ok(questions.iter().map(|question| self.answer(question.leaves)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_as_much_as_asked_for() {
        let mut oracle = QuadrupletOracle::new(vec![0.5, 0.2, 0.2]).unwrap().with_noise(0.7, 1).unwrap();
        let mut wrong = |leaves, answer| (0..10_000).filter(|_| oracle.answer(leaves) == answer).count();
        assert!(wrong([0, 1, 0, 2], -1).abs_diff(3000) < 200);
        assert!(wrong([0, 2, 1, 2], 1).abs_diff(1500) < 150 && wrong([0, 2, 1, 2], 0).abs_diff(7000) < 200);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(QuadrupletOracle::new(vec![0.5, 0.2]).is_err());
        assert!(QuadrupletOracle::new(vec![f64::NAN]).unwrap_err().to_string().contains("position 0 (pair [0, 1])"));
        let mut oracle = QuadrupletOracle::new(vec![0.5, 0.2, 0.1]).unwrap();
        assert!(oracle.clone().with_noise(1.5, 0).is_err());
        let mut of = |leaves| oracle.answers(&[Question { id: 3, leaves }]);
        assert!(of([0, 1, 0, 3]).unwrap_err().to_string().contains("question 3: [0, 1, 0, 3]"));
        assert!(of([0, 1, 2, 2]).is_err());
        assert_eq!(of([0, 1, 2, 0]).unwrap(), [1]);
    }
}
