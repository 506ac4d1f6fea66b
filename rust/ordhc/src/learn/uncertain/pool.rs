//! The questions that may be asked.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::learn::session_learner::key;
use crate::sorting::order_by_key;

/// The number of random questions from which the best one is chosen.
const CANDIDATES: usize = 200;
/// The number of random questions of a given list from which the best one is chosen. A larger number would be worse:
/// trees sampled from the posterior often disagree most on questions that no tree explains. Recorded answers to such
/// questions give little information.
const OF_A_LIST: usize = 10;

#[derive(Debug, Clone)]
pub(super) enum Pool<const K: usize> {
    All,
    /// All questions about two pairs that share a leaf, which comes first in both pairs.
    Anchored,
    /// The questions of a list that were not asked, each as often as the list contains it. Sorted by `key` (the
    /// question with its leaves in a canonical order).
    Some(Vec<[u32; K]>),
}

impl<const K: usize> Pool<K> {
    pub(super) fn of(mut rows: Vec<[u32; K]>) -> Self {
        order_by_key(&mut rows, |leaves| (key(leaves), leaves));
        Self::Some(rows)
    }

    pub(super) fn candidates(&self, leaves: &[u32], random: &mut ChaCha8Rng) -> Vec<[u32; K]> {
        let n = leaves.len() as u32;
        let named = |question: [u32; K]| question.map(|at| leaves[at as usize]);
        match self {
            Self::All => (0..CANDIDATES).map(|_| named(any(n, random))).collect(),
            Self::Anchored => (0..CANDIDATES).map(|_| named(anchored(n, random))).collect(),
            Self::Some(rows) if rows.len() <= OF_A_LIST => rows.clone(),
            Self::Some(rows) => (0..OF_A_LIST).map(|_| rows[random.random_range(0..rows.len())]).collect(),
        }
    }

    pub(super) fn take(&mut self, leaves: [u32; K]) {
        let Self::Some(rows) = self else { return };
        if let Ok(at) = rows.binary_search_by_key(&key(leaves), |&row| key(row)) {
            rows.remove(at);
        }
    }

    pub(super) fn is_anchored(&self) -> bool {
        matches!(self, Self::Anchored)
    }

    pub(super) fn is_endless(&self) -> bool {
        !matches!(self, Self::Some(_))
    }
}

/// Returns three different random leaves (`K` = 3), or two different random pairs of leaves (`K` = 4).
fn any<const K: usize>(n: u32, random: &mut ChaCha8Rng) -> [u32; K] {
    loop {
        let leaves = [(); K].map(|()| random.random_range(0..n));
        let is_question = if K == 4 {
            let one = key(leaves);
            one[0] != one[1] && one[2] != one[3] && one[..2] != one[2..]
        } else {
            (1..K).all(|at| !leaves[..at].contains(&leaves[at]))
        };
        if is_question {
            return leaves;
        }
    }
}

fn anchored<const K: usize>(n: u32, random: &mut ChaCha8Rng) -> [u32; K] {
    let [a, b, c]: [u32; 3] = any(n, random);
    std::array::from_fn(|at| [a, b, a, c][at])
}
