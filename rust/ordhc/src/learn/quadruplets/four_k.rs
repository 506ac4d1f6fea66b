//! Average linkage of similarities that are estimated from comparisons with reference pairs.

use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::comparison::Compared;
use super::{Landmarks, Pair, References, pair};
use crate::agglomerate::{Agglomeration, Layout, Matrix, Values};
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::learn::Told;
use crate::learn::asking::Strategy;
use crate::linkage::Rule;
use crate::memory;
use crate::similarity::{condensed_len, nth_pair};
use crate::tree::Dendrogram;

/// Active 4K-AL (Ghoshdastidar, Perrot & von Luxburg 2019, equations 1 and 2). Some leaves are
/// *landmarks*. Each pair of a leaf and a landmark is compared with the same random *reference
/// pairs*. The similarity of `i` and `j` is the sum over landmarks `r` and reference pairs `(a, b)`
/// of `sign(w_ir - w_ab) sign(w_jr - w_ab)`. `w_ij` is the unknown true similarity of `i` and `j`.
///
/// No question depends on earlier answers. The questions about one reference pair are consecutive. So if asking stops
/// early, most leaves have about the same number of answers.
#[derive(Debug, Clone)]
pub(super) struct FourK {
    n: usize,
    /// In ascending order.
    landmarks: Vec<u32>,
    /// For each leaf: its index in `landmarks`, or [`NONE`] if the leaf is not a landmark.
    which: Vec<u32>,
    references: Vec<Pair>,
    /// For each leaf: a bit for each question whether (leaf, landmark) or a reference pair is more similar. The bit is
    /// 1 if the answer is one of these two pairs. The bit is 0 without an answer, and for the answer 0 (equal or
    /// unknown).
    said: Vec<u64>,
    /// Bits in the order of `said`. A bit is 1 if (leaf, landmark) is more similar than the reference pair.
    more: Vec<u64>,
    width: usize,
    is_heard: Vec<bool>,
    cursor: Cell,
    total: u64,
    n_taken: u64,
}

/// A question: is the pair of `leaf` and `landmark` more similar than the pair `reference`? `reference` and
/// `landmark` are indices in `references` and `landmarks`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    reference: u32,
    landmark: u32,
    leaf: u32,
}

const NONE: u32 = u32::MAX;

impl FourK {
    /// `n` must be at least 1.
    pub(super) fn new(
        n: usize,
        landmarks: Option<Landmarks>,
        references: Option<References>,
        seed: u64,
    ) -> Result<Self> {
        let landmarks = draw_landmarks(n, landmarks, seed)?;
        let mut which = vec![NONE; n];
        (0..).zip(&landmarks).for_each(|(at, &leaf)| which[leaf as usize] = at);
        // A pair of two landmarks counts once, because it is asked about once.
        let pairs = landmarks.len() as u64 * (n as u64 - 1) - condensed_len(landmarks.len()) as u64;
        let references = draw_references(n, references, pairs, seed)?;
        let width = (references.len() * landmarks.len()).div_ceil(64);
        memory::check("the answers", 16 * (n as u64).saturating_mul(width as u64))?;
        let is_landmark = |&leaf: &u32| which[leaf as usize] != NONE;
        let same = references.iter().filter(|pair| pair.iter().any(is_landmark)).count();
        let total = (references.len() as u64) * pairs - same as u64;
        Ok(Self {
            n,
            landmarks,
            which,
            references,
            said: vec![0; n * width],
            more: vec![0; n * width],
            width,
            is_heard: vec![false; n],
            cursor: Cell::default(),
            total,
            n_taken: 0,
        })
    }

    fn step(&mut self) {
        let Cell { reference, landmark, leaf } = &mut self.cursor;
        *leaf += 1;
        if *leaf as usize == self.n {
            *leaf = 0;
            *landmark += 1;
            if *landmark as usize == self.landmarks.len() {
                *landmark = 0;
                *reference += 1;
            }
        }
    }

    fn set(&mut self, leaf: u32, reference: u32, landmark: u32, sign: i8) {
        self.is_heard[leaf as usize] = true;
        let bit = reference as usize * self.landmarks.len() + landmark as usize;
        let at = leaf as usize * self.width + bit / 64;
        self.said[at] |= u64::from(sign != 0) << (bit % 64);
        self.more[at] |= u64::from(sign > 0) << (bit % 64);
    }

    fn similarity(&self, i: u32, j: u32) -> i32 {
        let row = |of: u32| of as usize * self.width..(of as usize + 1) * self.width;
        let said = self.said[row(i)].iter().zip(&self.said[row(j)]).map(|(i, j)| i & j);
        let differ = self.more[row(i)].iter().zip(&self.more[row(j)]).map(|(i, j)| i ^ j);
        said.zip(differ).map(|(said, differ)| said.count_ones() as i32 - 2 * (said & differ).count_ones() as i32).sum()
    }
}

fn draw_landmarks(n: usize, landmarks: Option<Landmarks>, seed: u64) -> Result<Vec<u32>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let usual = Landmarks::Probability((n as f64).ln() / n as f64);
    let mut drawn: Vec<u32> = match landmarks.unwrap_or(usual) {
        Landmarks::Count(count) if count == 0 || count > n => {
            return Err(Error::out_of_range("the number of landmarks", count, format!("1..={n} (n_leaves)")));
        }
        Landmarks::Count(count) => index::sample(&mut random, n, count).into_iter().map(|leaf| leaf as u32).collect(),
        Landmarks::Probability(q) if !(0.0..=1.0).contains(&q) => {
            return Err(Error::out_of_range("q", q, "0..=1"));
        }
        Landmarks::Probability(q) => {
            let mut drawn: Vec<u32> = (0..n as u32).filter(|_| random.random_bool(q)).collect();
            while drawn.len() < n.min(2) {
                let leaf = random.random_range(0..n as u32);
                if !drawn.contains(&leaf) {
                    drawn.push(leaf);
                }
            }
            drawn
        }
    };
    drawn.sort_unstable();
    Ok(drawn)
}

/// `pairs` is the number of pairs that are compared with each reference pair.
fn draw_references(n: usize, references: Option<References>, pairs: u64, seed: u64) -> Result<Vec<Pair>> {
    let all = condensed_len(n);
    let count = match references.unwrap_or(References::Budget((n as u64).pow(2))) {
        References::Count(count) if count == 0 || count > all.max(1) => {
            return Err(Error::out_of_range(
                "the number of reference pairs",
                count,
                format!("1..={all} (pairs of leaves)"),
            ));
        }
        References::Count(count) => count.min(all),
        References::Budget(budget) => (budget / pairs.max(1)).max(1).min(all as u64) as usize,
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Use a separate random stream, so that the number of landmarks does not change the references.
    random.set_stream(1);
    let pair = |at: usize| nth_pair(at as u128).map(|leaf| leaf as u32);
    Ok(index::sample(&mut random, all, count).into_iter().map(pair).collect())
}

impl Strategy<4> for FourK {
    type Purpose = Compared<Cell>;

    fn next(&mut self) -> Option<([u32; 4], Compared<Cell>)> {
        loop {
            let cell = self.cursor;
            let reference = *self.references.get(cell.reference as usize)?;
            self.step();
            let landmark = self.landmarks[cell.landmark as usize];
            // A pair of two landmarks is asked about only once: when `cell.leaf` comes after
            // `landmark` in `landmarks`.
            let is_new = cell.leaf != landmark
                && (self.which[cell.leaf as usize] == NONE || self.which[cell.leaf as usize] > cell.landmark);
            let asked = pair(cell.leaf, landmark);
            if is_new && asked != reference {
                return Some(Compared::question([asked, reference], cell));
            }
        }
    }

    fn take(&mut self, compared: Compared<Cell>, Told { answer, .. }: Told) {
        let (Cell { reference, landmark, leaf }, verdict) = compared.answered(answer);
        self.n_taken += 1;
        self.set(leaf, reference, landmark, verdict.sign);
        let which = self.which[leaf as usize];
        if which != NONE {
            self.set(self.landmarks[landmark as usize], reference, which, verdict.sign);
        }
    }

    fn done(&self) -> bool {
        self.n_taken == self.total
    }

    fn tree(&self) -> Result<Dendrogram> {
        let leaves: Vec<u32> = (0..self.n as u32).filter(|&leaf| self.done() || self.is_heard[leaf as usize]).collect();
        if leaves.len() < 2 {
            return Dendrogram::new(Vec::new(), Vec::new(), Kind::Similarity)?.with_rest(&[0], self.n);
        }
        let n_pairs = condensed_len(leaves.len());
        memory::check("the similarities", 4 * n_pairs as u64)?;
        let mut pairs = Vec::with_capacity(n_pairs);
        for (at, &i) in leaves.iter().enumerate() {
            pairs.extend(leaves[at + 1..].iter().map(|&j| self.similarity(i, j)));
        }
        let matrix = Matrix::new(Values::I32(&pairs), Layout::Condensed, Kind::Similarity)?;
        Agglomeration::new(Rule::Average).run(&matrix)?.with_rest(&leaves, self.n)
    }

    fn n_leaves(&self) -> usize {
        self.n
    }

    fn placed(&self) -> usize {
        if self.done() { self.n } else { 1 + ((self.n as u64 - 1) * self.n_taken / self.total) as usize }
    }

    fn remaining(&self, _n_answered: u64) -> f64 {
        (self.total - self.n_taken) as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::learn::asking::Asking;
    use crate::learn::{Learner, Question};
    use crate::similarity::Triangle;

    #[test]
    fn what_is_drawn_is_what_was_asked_for() {
        let of = |n, landmarks, references| FourK::new(n, landmarks, references, 3);
        let usual = of(1000, None, None).unwrap();
        assert!((2..25).contains(&usual.landmarks.len()) && usual.total <= 1_000_000 && usual.total > 900_000);
        let given = of(30, Some(Landmarks::Count(4)), Some(References::Count(435))).unwrap();
        assert_eq!((given.landmarks.len(), given.references.len()), (4, 435));
        let mut different = given.references.clone();
        different.sort_unstable();
        different.dedup();
        assert!(different.len() == 435 && given.landmarks.is_sorted());
        assert_eq!(of(30, Some(Landmarks::Probability(0.0)), None).unwrap().landmarks.len(), 2);
        assert_eq!(of(30, None, Some(References::Budget(1))).unwrap().references.len(), 1);
        let message = |landmarks, references| of(5, landmarks, references).unwrap_err().to_string();
        assert!(message(Some(Landmarks::Count(6)), None).contains("landmarks = 6 is outside 1..=5"));
        assert!(message(Some(Landmarks::Probability(1.5)), None).contains("q = 1.5"));
        assert!(message(None, Some(References::Count(11))).contains("reference pairs = 11 is outside 1..=10"));
    }

    proptest! {
        #[test]
        fn the_kernel_is_its_formula(n in 1usize..=25, s in 1usize..=6, r in 1usize..=70, seed in any::<u64>(), unsaid in 0u64..4) {
            let (s, r) = (s.min(n), r.min(condensed_len(n).max(1)));
            let method = FourK::new(n, Some(Landmarks::Count(s)), Some(References::Count(r)), seed).unwrap();
            let (landmarks, references) = (method.landmarks.clone(), method.references.clone());
            let total = method.total;
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let values: Vec<u32> = (0..condensed_len(n)).map(|_| random.random_range(0..200)).collect();
            let oracle = |[i, j]: Pair, [k, l]: Pair| {
                let value = |a: u32, b: u32| i64::from(values[Triangle::new(n).index(a as usize, b as usize)]);
                (value(i, j) - value(k, l)).signum()
            };
            let says_nothing = |[i, j]: Pair, [k, l]: Pair| unsaid > 0 && (i + j + k + l + i * j * k * l).is_multiple_of(5);
            let mut learner = Asking::new(method);
            let questions = learner.ask(usize::MAX).unwrap();
            prop_assert_eq!(questions.len() as u64, total);
            for &Question { id, leaves: [i, j, k, l] } in &questions {
                let nothing = says_nothing([i, j], [k, l]);
                learner.tell(id, if nothing { 0 } else { oracle([i, j], [k, l]) as i8 }).unwrap();
            }
            prop_assert!(learner.done() && learner.n_rounds() == u64::from(total > 0));
            let sign = |i: u32, r: u32, reference: Pair| {
                let asked = pair(i, r);
                if says_nothing(asked, reference) { 0 } else { oracle(asked, reference) }
            };
            let mut pairs = Vec::new();
            for i in 0..n as u32 {
                for j in i + 1..n as u32 {
                    let others = landmarks.iter().filter(|&&r| r != i && r != j);
                    let terms = others.flat_map(|&r| references.iter().map(move |&pair| (r, pair)));
                    pairs.push(terms.map(|(r, pair)| sign(i, r, pair) * sign(j, r, pair)).sum::<i64>());
                }
            }
            if n > 1 {
                let matrix = Matrix::new(Values::I64(&pairs), Layout::Condensed, Kind::Similarity).unwrap();
                let expected = Agglomeration::new(Rule::Average).run(&matrix).unwrap();
                prop_assert_eq!(learner.tree().unwrap(), expected);
            }
        }
    }
}
