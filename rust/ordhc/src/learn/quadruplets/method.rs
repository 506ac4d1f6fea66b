//! The methods of learners that compare two pairs.

use super::complete::Complete;
use super::four_k::FourK;
use super::once::Once;
use super::single::Single;
use crate::error::{Error, Result};
use crate::learn::Learner;
use crate::learn::asking::Asking;

/// The method that a learner uses to build a tree from questions about four leaves `(i, j, k, l)`: are `i` and `j` more
/// similar (1) or less similar (-1) than `k` and `l`?
///
/// Source: Ghoshdastidar, Perrot & von Luxburg, "Foundations of comparison-based hierarchical clustering" (2019).
///
/// Single and complete linkage treat the answer 0 (equally similar, or unknown) as 1: the first
/// pair counts as more similar. The first pair of every question is the lexicographically smaller
/// one. At the end, the heights of the n - 1 merges are 1, 2, ..., n - 1, as dissimilarities.
/// Before the final sort of the merges, the height of a merge is 1 plus the largest height of the
/// merges that are lower according to the answers. Neither method asks the same question twice. From answers
/// that contradict each other, both methods still build a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum QuadrupletMethod {
    /// Single linkage by Prim's algorithm, in about n (log2 n + 2) rounds. The method takes 0.53 n^2 questions for n =
    /// 1,000 leaves with independent similarities, up to n^2 for points on a line, and never more than n^2 + n log2 n.
    /// Answers from similarities without ties give exactly the single linkage of these similarities, with the merges in
    /// the same order.
    Single,
    /// Complete linkage by a nearest-neighbour chain, in about 3 n log2 n rounds. The method takes 1.1 to 1.5 n^2
    /// questions, and never more than 2.5 n^2 + n log2 n if the answers don't contradict each other. Answers from
    /// similarities without ties give exactly the complete linkage of these similarities, with the merges in the same
    /// order.
    Complete,
    /// Active 4K-AL: average linkage. Some leaves are *landmarks*. Each pair of a leaf and a
    /// landmark is compared with the same random *reference pairs* of leaves. Two leaves are
    /// similar if their comparisons have the same answers. No question depends on earlier answers,
    /// so there is one round. The answer 0 counts for neither pair. A pair is not compared with
    /// itself; this comparison counts as 0. Heights are similarities. Leaves without answers are
    /// merged last.
    FourK {
        /// The choice of landmarks: leaves whose pairs with all other leaves are compared. `None`
        /// makes each leaf a landmark with probability ln n / n.
        landmarks: Option<Landmarks>,
        /// The number of reference pairs, with which each pair of a leaf and a landmark is
        /// compared. `None` uses the largest number for which at most n^2 questions are needed.
        references: Option<References>,
    },
}

named!(QuadrupletMethod, "learner", {
    "single": Self::Single => Self::Single,
    "complete": Self::Complete => Self::Complete,
    "4k-active": Self::FourK { .. } => Self::FourK { landmarks: None, references: None },
});

/// The choice of landmarks: leaves whose pairs with all other leaves are compared with reference
/// pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Landmarks {
    /// This number of random landmarks.
    Count(usize),
    /// Each leaf is a landmark with this probability. At least two leaves are landmarks.
    Probability(f64),
}

/// The number of reference pairs: random pairs of leaves, with which each pair of a leaf and a
/// landmark is compared. No pair is drawn twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum References {
    /// This number of random reference pairs.
    Count(usize),
    /// The maximum number of questions. The learner draws as many reference pairs (random pairs of
    /// leaves) as this number allows, but at least one pair.
    Budget(u64),
}

impl QuadrupletMethod {
    /// Returns a learner of a tree over `n` leaves. The seed determines the random landmarks and
    /// reference pairs.
    ///
    /// # Errors
    /// `n` outside `1..=2^30`; a number of landmarks or reference pairs that is 0 or too large; a probability outside
    /// 0..=1; not enough memory.
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
