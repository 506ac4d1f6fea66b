//! An oracle that answers questions from a known tree.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::learn::Question;
use crate::tree::{LcaSizes, Topology};

/// The distribution of wrong answers to the question which of three leaves is the odd one out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// A wrong answer names a random leaf among those of the three leaves that are not the odd one out.
    Random,
    /// A wrong answer names the leaf with the smallest id among those of the three leaves that are not the odd one out.
    /// Wrong answers to the same question are therefore equal.
    Adversarial,
    /// The possible answers are the three leaves and "none" (-1). A wrong answer is one of the three answers that are
    /// not right, with equal probability.
    Any,
    /// A wrong answer is "none" (-1), which means that no leaf is the odd one out. If "none" is right, a wrong answer
    /// is the leaf with the smallest id.
    Neither,
}

named!(Wrong, "wrong", {
    "random": Self::Random => Self::Random,
    "adversarial": Self::Adversarial => Self::Adversarial,
    "any": Self::Any => Self::Any,
    "neither": Self::Neither => Self::Neither,
});

/// An oracle that knows a tree, and says which of three leaves is the odd one out: the leaf that joins the other two
/// last. The answer is -1 if the three leaves join at one node. Setup takes O(n log n), and each question O(1).
///
/// ```
/// use ordhc::{Dendrogram, Kind};
/// use ordhc::generate::TreeOracle;
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 4], [3, 5]], vec![1.0, 2.0, 2.0], Kind::Dissimilarity)?.join_ties();
/// let oracle = TreeOracle::new(tree.topology());
/// assert_eq!((oracle.truth([0, 3, 1]), oracle.truth([1, 2, 3])), (1, -1));
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TreeOracle {
    tree: LcaSizes,
    noise: Option<Noise>,
}

#[derive(Debug, Clone)]
struct Noise {
    p: f64,
    wrong: Wrong,
    random: ChaCha8Rng,
}

impl TreeOracle {
    /// Returns an oracle that is always right.
    pub fn new(tree: &Topology) -> Self {
        Self { tree: LcaSizes::new(tree), noise: None }
    }

    /// Makes each answer right with probability `p`, independently.
    ///
    /// # Errors
    /// `p` outside 0..=1.
    pub fn with_noise(mut self, p: f64, wrong: Wrong, seed: u64) -> Result<Self> {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::out_of_range("p", p, "0..=1"));
        }
        self.noise = Some(Noise { p, wrong, random: ChaCha8Rng::seed_from_u64(seed) });
        Ok(self)
    }

    /// Returns the number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.tree.n_leaves()
    }

    /// Returns the right answer: the index (0, 1 or 2) of the odd one out in `leaves`, or -1 for none. The three leaves
    /// must differ.
    pub fn truth(&self, leaves: [u32; 3]) -> i8 {
        self.tree.odd_one_out(leaves)
    }

    /// Returns the answer to one question, which may be wrong if there is noise.
    pub fn answer(&mut self, leaves: [u32; 3]) -> i8 {
        let truth = self.truth(leaves);
        let Some(noise) = &mut self.noise else { return truth };
        if noise.random.random_bool(noise.p) {
            return truth;
        }
        let least = if noise.wrong == Wrong::Any { -1 } else { 0 };
        let others = (least..3i8).filter(|&at| at != truth);
        match noise.wrong {
            Wrong::Neither if truth >= 0 => -1,
            Wrong::Adversarial | Wrong::Neither => others.min_by_key(|&at| leaves[at as usize]).unwrap_or(truth),
            Wrong::Random | Wrong::Any => {
                let which = noise.random.random_range(0..others.clone().count());
                others.clone().nth(which).unwrap_or(truth)
            }
        }
    }

    /// Returns the answers to questions.
    ///
    /// # Errors
    /// A question about a leaf that the tree doesn't have, or with a leaf twice.
    pub fn answers(&mut self, questions: &[Question]) -> Result<Vec<i8>> {
        let n = self.n_leaves() as u32;
        let fine = |&[a, b, c]: &[u32; 3]| a < n && b < n && c < n && a != b && a != c && b != c;
        if let Some(bad) = questions.iter().find(|question| !fine(&question.leaves)) {
            let Question { id, leaves } = bad;
            return Err(Error::Question {
                id: *id,
                reason: format!("{leaves:?} are not three different leaves below {n}"),
            });
        }
        Ok(questions.iter().map(|question| self.answer(question.leaves)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{TreeShape, random_tree};

    #[test]
    fn answers_are_those_of_the_tree() {
        for shape in [TreeShape::Uniform, TreeShape::Degree(4), TreeShape::Star, TreeShape::Caterpillar] {
            let tree = random_tree(shape, 12, 5).unwrap();
            let (oracle, topology) = (TreeOracle::new(tree.topology()), tree.join_ties().into_topology());
            let above = |leaf: u32| {
                let up = |&node: &usize| (node != topology.root()).then(|| topology.parent(node));
                std::iter::successors(Some(leaf as usize), up).collect::<Vec<_>>()
            };
            let lca = |a: u32, b: u32| *above(a).iter().find(|node| above(b).contains(node)).unwrap();
            for (a, b, c) in (0..12).flat_map(|a| (0..a).flat_map(move |b| (0..b).map(move |c| (a, b, c)))) {
                let expected = match [lca(b, c), lca(a, c), lca(a, b)] {
                    [x, y, z] if x == y && y == z => -1,
                    [_, y, z] if y == z => 0,
                    [x, _, z] if x == z => 1,
                    _ => 2,
                };
                assert_eq!(oracle.truth([a, b, c]), expected);
            }
        }
    }

    #[test]
    fn noise_is_as_much_as_asked_for() {
        let tree = random_tree(TreeShape::Yule, 9, 2).unwrap();
        for wrong in [Wrong::Random, Wrong::Adversarial] {
            let mut oracle = TreeOracle::new(tree.topology()).with_noise(0.7, wrong, 1).unwrap();
            let (truth, mut counts) = (oracle.truth([4, 7, 1]), [0; 3]);
            (0..10_000).for_each(|_| counts[oracle.answer([4, 7, 1]) as usize] += 1);
            assert!((counts[truth as usize] - 7000i32).abs() < 200, "{counts:?}");
            assert_eq!(counts.contains(&0), wrong == Wrong::Adversarial);
        }
        for (wrong, none) in [(Wrong::Any, 1000), (Wrong::Neither, 3000), (Wrong::Random, 0)] {
            let mut oracle = TreeOracle::new(tree.topology()).with_noise(0.7, wrong, 1).unwrap();
            let count = (0..10_000).filter(|_| oracle.answer([4, 7, 1]) == -1).count();
            assert!(count.abs_diff(none) < 150, "{wrong:?}: {count}");
        }
        let star = random_tree(TreeShape::Star, 9, 2).unwrap();
        for (wrong, least) in [(Wrong::Any, 1000), (Wrong::Neither, 3000), (Wrong::Adversarial, 3000)] {
            let mut oracle = TreeOracle::new(star.topology()).with_noise(0.7, wrong, 1).unwrap();
            let count = (0..10_000).filter(|_| oracle.answer([4, 7, 1]) == 2).count();
            assert!(count.abs_diff(least) < 150, "{wrong:?}: {count}");
        }
        assert!(TreeOracle::new(tree.topology()).with_noise(1.5, Wrong::Random, 1).is_err());
        let question = |leaves| Question { id: 3, leaves };
        let mut oracle = TreeOracle::new(tree.topology());
        assert!(oracle.answers(&[question([0, 1, 9])]).unwrap_err().to_string().contains("question 3: [0, 1, 9]"));
        assert!(oracle.answers(&[question([0, 1, 1])]).is_err());
    }
}
