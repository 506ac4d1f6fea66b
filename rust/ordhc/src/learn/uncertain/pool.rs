//! What may be asked.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::learn::desk::key;
use crate::sorting::order_by_key;

/// Questions that are drawn, of which the best one is asked.
const CANDIDATES: usize = 200;
/// Of a list fewer: what trees disagree about most is often what no tree explains, of which recorded answers say little.
const OF_A_LIST: usize = 10;

/// All questions, or those of a list, each as often as it stands there.
#[derive(Debug, Clone)]
pub(super) enum Pool<const K: usize> {
    All(u32),
    /// Of all those of two pairs the ones whose pairs share a leaf, which comes first in both.
    Anchored(u32),
    /// Those that were not asked, by `key`.
    Some(Vec<[u32; K]>),
}

impl<const K: usize> Pool<K> {
    pub(super) fn of(mut rows: Vec<[u32; K]>) -> Self {
        order_by_key(&mut rows, |leaves| (key(leaves), leaves));
        Self::Some(rows)
    }

    /// Questions by chance; all there are if these are few.
    pub(super) fn candidates(&self, random: &mut ChaCha8Rng) -> Vec<[u32; K]> {
        match self {
            Self::All(n) => (0..CANDIDATES).map(|_| any(*n, random)).collect(),
            Self::Anchored(n) => (0..CANDIDATES).map(|_| anchored(*n, random)).collect(),
            Self::Some(rows) if rows.len() <= OF_A_LIST => rows.clone(),
            Self::Some(rows) => (0..OF_A_LIST).map(|_| rows[random.random_range(0..rows.len())]).collect(),
        }
    }

    /// A question is asked.
    pub(super) fn take(&mut self, leaves: [u32; K]) {
        let Self::Some(rows) = self else { return };
        if let Ok(at) = rows.binary_search_by_key(&key(leaves), |&row| key(row)) {
            rows.remove(at);
        }
    }

    /// Whether the same question may be asked again and again.
    pub(super) fn is_endless(&self) -> bool {
        !matches!(self, Self::Some(_))
    }
}

/// Different leaves, or two different pairs of them.
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

/// Two pairs of three different leaves.
fn anchored<const K: usize>(n: u32, random: &mut ChaCha8Rng) -> [u32; K] {
    let [a, b, c]: [u32; 3] = any(n, random);
    std::array::from_fn(|at| [a, b, a, c][at])
}
