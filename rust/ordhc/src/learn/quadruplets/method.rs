//! The learners by name.

use super::complete::Complete;
use super::four_k::FourK;
use super::once::Once;
use super::single::Single;
use crate::error::{Error, Result};
use crate::learn::Learner;
use crate::learn::asking::Asking;

/// How to learn a tree from questions of four leaves `(i, j, k, l)`: are `i` and `j` more similar (1) or
/// less similar (-1) than `k` and `l`?
///
/// Source: Ghoshdastidar, Perrot & von Luxburg, "Foundations of comparison-based hierarchical clustering"
/// (2019). For single and complete linkage 0 (equally similar, or nobody can say) counts as: the
/// lexicographically smaller pair is more similar, which is the first one of every question. Their heights
/// are dissimilarities: the number of the merge, 1 to n - 1, and before the merges are sorted the
/// number of levels that are known to be below. Neither asks the same question twice. From answers that contradict each other they find some tree.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum QuadrupletMethod {
    /// Single linkage by Prim's algorithm: 0.53 n^2 questions for n = 1,000 leaves whose similarities are
    /// independent, up to n^2 where leaves lie on a line, never more than n^2 + n log2 n; about
    /// n (log2 n + 2) rounds. Answers from
    /// similarities without ties give exactly single linkage of these, merges in the same order.
    Single,
    /// Complete linkage by a nearest-neighbour chain: 1.1 to 1.5 n^2 questions and, if the answers don't
    /// contradict each other, never more than 2.5 n^2 + n log2 n; about 3 n log2 n rounds. Answers from
    /// similarities without ties give exactly complete linkage of these, merges in the same order.
    Complete,
    /// Active 4K-AL: average linkage of how leaves agree in comparisons of their pairs with landmarks to
    /// reference pairs. All questions are known from the start: one round. The answer 0 counts as neither,
    /// as does a pair compared with itself, which is not asked. Heights are similarities. Leaves that
    /// nothing was answered about yet are merged last.
    FourK {
        /// Which leaves are landmarks; none: each with probability ln n / n.
        landmarks: Option<Landmarks>,
        /// How many reference pairs there are; none: as many as n^2 questions allow.
        references: Option<References>,
    },
}

named!(QuadrupletMethod, "learner", {
    "single": Self::Single => Self::Single,
    "complete": Self::Complete => Self::Complete,
    "4k-active": Self::FourK { .. } => Self::FourK { landmarks: None, references: None },
});

/// Which leaves are landmarks.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Landmarks {
    /// So many.
    Count(usize),
    /// Each with this probability, at least two.
    Probability(f64),
}

/// How many reference pairs there are; they are drawn without repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum References {
    /// So many.
    Count(usize),
    /// As many as this number of questions allows, at least one.
    Budget(u64),
}

impl QuadrupletMethod {
    /// A learner of a tree over `n` leaves; the seed draws landmarks and reference pairs.
    ///
    /// # Errors
    /// No leaves, or more than 2^30; more landmarks or reference pairs than there can be, or none, or a
    /// probability outside 0..=1; not enough memory.
    ///
    /// ```
    /// use ordhc::generate::QuadrupletOracle;
    /// use ordhc::learn::{Learner, Limits, QuadrupletMethod, learn_with};
    ///
    /// // Pairs (0,1), (0,2), (0,3), (1,2), (1,3), (2,3).
    /// let mut oracle = QuadrupletOracle::new(vec![0.9, 0.3, 0.1, 0.4, 0.2, 0.8])?;
    /// let mut learner = QuadrupletMethod::Single.learner(4, 0)?;
    /// learn_with(&mut *learner, |batch| oracle.answers(batch), Limits::default(), None)?;
    /// assert_eq!(learner.tree()?.merges().as_ref(), [[0, 1], [2, 3], [4, 5]]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn learner(self, n: usize, seed: u64) -> Result<Box<dyn Learner<4>>> {
        const MOST: usize = 1 << 30;
        if n == 0 || n > MOST {
            return Err(Error::out_of_range("n_leaves", n, format!("1..={MOST}")));
        }
        Ok(match self {
            Self::Single => Box::new(Asking::new(Once::new(Single::new(n)))),
            Self::Complete => Box::new(Asking::new(Once::new(Complete::new(n)?))),
            Self::FourK { landmarks, references } => Box::new(Asking::new(FourK::new(n, landmarks, references, seed)?)),
        })
    }
}
