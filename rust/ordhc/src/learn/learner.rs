//! The interface of all learners.

use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Topology};

/// A question about three leaves (which one is the odd one out?), or about four leaves `(i, j, k, l)` (are `i` and `j`
/// more similar than `k` and `l`?).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<const K: usize = 3> {
    /// The id of the question. The answer is passed with this id. Ids count from 0 in the order of asking.
    pub id: u64,
    /// For `K = 3`: three different leaves. The answer is the index (0, 1 or 2) in `leaves` of the odd one out. This
    /// leaf is farther from the other two leaves than these are from each other. The answer is -1 if no two leaves are
    /// closer to each other than to the third leaf.
    ///
    /// For `K = 4`: two different pairs of different leaves. The answer is 1 if the first pair is more similar, -1 if
    /// the first pair is less similar, and 0 if both pairs are equally similar or the answer is unknown.
    pub leaves: [u32; K],
}

/// An answer, the probability that the answer is right, and the id of the person who gave the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// The answer, coded as described at [`Question::leaves`].
    pub answer: i8,
    /// A lower bound on the probability that the answer is right, from 1/2 to 1. The bound must hold whatever the
    /// earlier answers were, and must be chosen before the answer is given. `None` uses the probability in the
    /// learner's settings.
    pub p: Option<f64>,
    /// The id of the person who answered, chosen by the caller. `None` if the person is unknown.
    pub who: Option<u32>,
}

impl Told {
    /// Returns an answer without a person. The answer is right with the probability in the learner's settings.
    pub fn new(answer: i8) -> Self {
        Self { answer, p: None, who: None }
    }
}

impl From<i8> for Told {
    fn from(answer: i8) -> Self {
        Self::new(answer)
    }
}

/// A place in the tree where a leaf may belong, and the probability of the place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LikelyPlace {
    /// The posterior probability that the leaf belongs at this place in the tree.
    pub probability: f64,
    /// The leaves of a cluster in the tree. The leaf to be placed may belong beside or in this cluster, see `is_under`,
    /// and is not in this list.
    pub leaves: Vec<u32>,
    /// True if the leaf that may belong at this place becomes one more child of the cluster. Otherwise, the leaf and
    /// the cluster become the two children of a new node.
    pub is_under: bool,
}

/// The numbers of questions, answers and rounds so far. A round begins when questions are asked while no question is
/// open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// The number of questions asked.
    pub asked: u64,
    /// The number of questions answered.
    pub answered: u64,
    /// The number of times that questions were asked while no question was open. If enough people answer in parallel,
    /// the number of rounds determines the total time.
    pub rounds: u64,
}

/// A learner that builds a tree from the answers to its questions about `K` leaves.
///
/// Results depend only on the settings, the seed and the answers. Answers take effect when no question is open any
/// more, or when more questions are requested. They take effect in the order of their ids. So the order of the calls of
/// [`tell`](Self::tell) between two calls of [`ask`](Self::ask) changes nothing.
/// ```
/// use ordhc::learn::{Learner, Method};
///
/// // The oracle knows the tree ((0,1),(2,3)).
/// let oracle = |leaves: [u32; 3]| {
///     let sides = leaves.map(|leaf| leaf / 2);
///     (0..3).find(|&at| sides.iter().filter(|&&side| side == sides[at]).count() == 1).map_or(-1, |at| at as i8)
/// };
/// let mut learner = Method::Insertion { parallel: 1 }.learner(4, 0)?;
/// while !learner.done() {
///     for question in learner.ask(10)? {
///         learner.tell(question.id, oracle(question.leaves))?;
///     }
/// }
/// assert_eq!(learner.tree()?.newick().to_string(), "((0,1),(2,3));");
/// # Ok::<(), ordhc::Error>(())
/// ```
pub trait Learner<const K: usize = 3>: Send {
    /// Returns at most `limit` new questions that may be answered now, in any order. If the list is empty and the
    /// learner is not [`done`](Self::done), the learner needs answers to open questions first.
    ///
    /// # Errors
    /// Not enough memory for the questions; answers from which the method cannot build a tree. The learner keeps the
    /// answers so far.
    fn ask(&mut self, limit: usize) -> Result<Vec<Question<K>>>;

    /// Does the same as [`ask`](Self::ask), and reports its progress to a monitor.
    ///
    /// # Errors
    /// The errors of [`ask`](Self::ask); [`Error::Interrupted`](crate::Error::Interrupted), after which questions may
    /// be asked as before.
    fn ask_watched(&mut self, limit: usize, _monitor: Option<&Monitor>) -> Result<Vec<Question<K>>> {
        self.ask(limit)
    }

    /// Returns the questions that were asked and are not answered yet, ordered by id.
    fn open(&self) -> Vec<Question<K>>;

    /// Takes the answer to an open question.
    ///
    /// For three leaves, the answer is the index (0, 1 or 2) of the odd one out, or -1 if there is none. For four
    /// leaves, the answer is 1 if the first pair is more similar, -1 if the second pair is more similar, and 0 if the
    /// pairs are equally similar or the answer is unknown.
    ///
    /// # Errors
    /// An id that was never asked or is answered already; an answer other than these values. After an error, the
    /// learner has not changed.
    fn tell(&mut self, id: u64, answer: i8) -> Result<()> {
        self.tell_with(id, Told::new(answer))
    }

    /// Takes the answer to an open question, with the probability that the answer is right and the person who gave the
    /// answer. [`Method::Robust`](super::Method::Robust) weighs answers by the probability.
    /// [`Method::Uncertain`](super::Method::Uncertain) learns how often each person is right. Other methods ignore
    /// both.
    ///
    /// # Errors
    /// The errors of [`tell`](Self::tell); a probability outside \[1/2, 1\].
    fn tell_with(&mut self, id: u64, told: Told) -> Result<()>;

    /// Returns the best tree so far over all leaves. Leaves without a place in the tree yet are joined last, at the
    /// root. Heights are dissimilarities: the number of levels below each node, unless the method says otherwise.
    ///
    /// # Errors
    /// Not enough memory.
    fn tree(&self) -> Result<Dendrogram>;

    /// Does the same as [`tree`](Self::tree), and reports its progress to a monitor.
    ///
    /// # Errors
    /// The errors of [`tree`](Self::tree); [`Error::Interrupted`](crate::Error::Interrupted).
    fn tree_watched(&self, _monitor: Option<&Monitor>) -> Result<Dendrogram> {
        self.tree()
    }

    /// Returns, for each merge of `tree`, the share of the relevant answers that agree with the
    /// merge. An answer is relevant if two of its leaves, but not the third, are below the merge.
    /// The share is NaN if no answer is relevant and only the prior supports the merge. Returns
    /// `None` unless the learner revises a tree ([`Method::Revise`](super::Method::Revise)).
    fn support(&self, _tree: &Topology) -> Option<Vec<f64>> {
        None
    }

    /// Returns the places in the tree where a leaf may belong with a probability of at least 0.001, the likeliest
    /// first. The places are available while the learner searches for the place of the leaf. If the learner started
    /// from a tree, or if leaves were added, the places stay available after the search. Returns `None` for other
    /// leaves, and for learners other than [`Method::Robust`](super::Method::Robust).
    fn places(&self, _leaf: u32) -> Option<Vec<LikelyPlace>> {
        None
    }

    /// Returns true if no question is left to ask.
    fn done(&self) -> bool;

    /// Returns the number of leaves.
    fn n_leaves(&self) -> usize;

    /// Returns the number of leaves that are in the tree so far.
    fn placed(&self) -> usize;

    /// Returns the numbers of questions, answers and [rounds](Counts::rounds) so far.
    fn counts(&self) -> Counts;

    /// Returns the number of questions asked.
    fn n_asked(&self) -> u64 {
        self.counts().asked
    }

    /// Returns the number of questions answered.
    fn n_answered(&self) -> u64 {
        self.counts().answered
    }

    /// Returns the number of [rounds](Counts::rounds).
    fn n_rounds(&self) -> u64 {
        self.counts().rounds
    }

    /// Returns an estimate of the number of answers that are still needed.
    fn remaining_estimate(&self) -> f64;

    /// Sets the number of leaves (at least 1) whose places in the tree are searched in parallel, if the method supports
    /// parallel searches. Searches that have begun continue.
    fn set_parallel(&mut self, _parallel: usize) {}

    /// Adds a leaf with the id [`n_leaves`](Self::n_leaves). The learner asks where in the tree the new leaf belongs.
    /// The searches for the places of other leaves continue.
    ///
    /// # Errors
    /// The method needs all leaves at the start.
    fn add_leaf(&mut self) -> Result<()> {
        Err(fixed())
    }

    /// Removes a leaf from the tree, and asks no more questions about this leaf. The other leaves keep their ids. The
    /// removed leaf counts as a leaf without a place in the tree.
    ///
    /// A learner that inserts one leaf after the other then withdraws all open questions, and restarts the searches for
    /// [unplaced](Self::unplaced) leaves. To continue these searches, pass the earlier answers again when the learner
    /// asks the same questions.
    ///
    /// # Errors
    /// The method needs all leaves until the end; not enough memory.
    fn retire(&mut self, _leaf: u32) -> Result<()> {
        Err(fixed())
    }

    /// Returns the leaves without a place in the tree, if the learner restarts the searches for their places after
    /// [`retire`](Self::retire). Returns `None` for other learners.
    fn unplaced(&self) -> Option<Vec<u32>> {
        None
    }

    /// Returns how many times in a row each question is asked. To get all repetitions of each question, call
    /// [`ask`](Self::ask) with a multiple of this number.
    fn times(&self) -> u64 {
        1
    }

    /// Returns the learner as `Flexible` if it accepts any question and answer, and `None` otherwise.
    fn flexible(&mut self) -> Option<&mut dyn Flexible<K>> {
        None
    }

    /// Returns a copy of the learner with the same answers.
    fn boxed_clone(&self) -> Box<dyn Learner<K>>;
}

#[doc(hidden)]
impl<const K: usize> Clone for Box<dyn Learner<K>> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

pub(crate) fn fixed() -> Error {
    Error::Argument("this method cannot add or remove leaves: it needs all leaves at the start".to_string())
}

/// A learner that can use any answer, even to questions that it did not choose.
pub trait Flexible<const K: usize = 3> {
    /// Announces a request for questions. If enough answers are new, the learner will sample new trees from the
    /// posterior before it chooses questions. Nothing else depends on when this method is called.
    fn note(&mut self);

    /// Returns questions that may be asked now: first the questions that must be repeated, then up to `count` useful
    /// new questions. The learner does not record the questions.
    ///
    /// # Errors
    /// Not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
    fn suggest(&mut self, count: usize, monitor: Option<&Monitor>) -> Result<Vec<[u32; K]>>;

    /// Records that a question is asked, and returns its id. The learner need not have suggested the question.
    ///
    /// # Errors
    /// Not enough memory.
    fn adopt(&mut self, leaves: [u32; K]) -> Result<u64>;

    /// Adds an answer to a question, even if the question was not asked, or was answered before.
    fn add(&mut self, leaves: [u32; K], told: Told);
}
