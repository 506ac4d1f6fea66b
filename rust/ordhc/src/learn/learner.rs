//! What every learner can do.

use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Topology};

/// A question: which of three leaves is the odd one out? Or of four leaves `(i, j, k, l)`: are `i` and `j`
/// more similar than `k` and `l`?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<const K: usize = 3> {
    /// Its number, by which it is answered; questions are numbered from 0 as they are asked.
    pub id: u64,
    /// Three different leaves. The answer is the place of the odd one out (0, 1 or 2; the other two are
    /// closer to each other than to it), or -1 if no two are closer.
    ///
    /// Or two different pairs of different leaves. The answer is 1 if the first pair is more similar, -1 if
    /// it is less similar, 0 if they are equally similar or nobody can say.
    pub leaves: [u32; K],
}

/// An answer, how likely it is right, and who told it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// As [`Question::leaves`] has it.
    pub answer: i8,
    /// Whoever told it is right with at least this probability, from 1/2 to 1, whatever was answered before; it is
    /// known before the answer is. None for what the learner's settings say.
    pub p: Option<f64>,
    /// Whoever told it, by any number; none for nobody in particular.
    pub who: Option<u32>,
}

impl Told {
    /// An answer that is right as often as the learner's settings say.
    pub fn new(answer: i8) -> Self {
        Self { answer, p: None, who: None }
    }
}

impl From<i8> for Told {
    fn from(answer: i8) -> Self {
        Self::new(answer)
    }
}

/// A place where a leaf may belong, and how likely that is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LikelyPlace {
    /// The posterior probability of the place.
    pub probability: f64,
    /// The leaves of a cluster, without the leaf itself.
    pub leaves: Vec<u32>,
    /// Whether the leaf is one more child of this cluster; otherwise the leaf and the cluster are the two children of a
    /// new node.
    pub is_under: bool,
}

/// How far asking has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// How many questions were asked.
    pub asked: u64,
    /// How many questions were answered.
    pub answered: u64,
    /// How many times questions were asked while none was open: with enough people answering side by side, this is what
    /// takes time.
    pub rounds: u64,
}

/// Learns a tree by asking, with questions of `K` leaves. It is told answers.
///
/// Everything depends on the settings, the seed and the answers only. Answers take effect when no
/// question is open any more or when more questions are asked for, in the order of their ids: so the order
/// in which they are told between two calls of [`ask`](Self::ask) changes nothing.
///
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
    /// At most `limit` new questions that may be answered now, in any order. None: wait for answers to open
    /// questions, or all is [`done`](Self::done).
    ///
    /// # Errors
    /// Not enough memory for the questions; answers that the method can make no tree of. Answers so far are kept.
    fn ask(&mut self, limit: usize) -> Result<Vec<Question<K>>>;

    /// As [`ask`](Self::ask), in sight of a monitor where choosing questions takes long.
    ///
    /// # Errors
    /// Those of [`ask`](Self::ask); [`Error::Interrupted`](crate::Error::Interrupted), after which questions may be asked as
    /// before.
    fn ask_watched(&mut self, limit: usize, _monitor: Option<&Monitor>) -> Result<Vec<Question<K>>> {
        self.ask(limit)
    }

    /// The questions that were asked and are not answered, by id.
    fn open(&self) -> Vec<Question<K>>;

    /// The answer to an open question: 0, 1, 2, or -1; of four leaves 1, -1 or 0.
    ///
    /// # Errors
    /// An id that was never asked or is answered already, or another answer; nothing changes then.
    fn tell(&mut self, id: u64, answer: i8) -> Result<()> {
        self.tell_with(id, Told::new(answer))
    }

    /// As [`tell`](Self::tell), with how likely the answer is right: [`Method::Robust`](super::Method::Robust) weighs
    /// answers by it; and with who told it: [`Method::Uncertain`](super::Method::Uncertain) learns how often each person
    /// is right. To others all are the same.
    ///
    /// # Errors
    /// Those of [`tell`](Self::tell); a probability outside \[1/2, 1\].
    fn tell_with(&mut self, id: u64, told: Told) -> Result<()>;

    /// The best tree so far over all leaves; those without a place yet are joined last, at the root.
    /// Heights are dissimilarities: the number of levels below, or what the method says.
    ///
    /// # Errors
    /// Not enough memory.
    fn tree(&self) -> Result<Dendrogram>;

    /// As [`tree`](Self::tree), in sight of a monitor where it takes long.
    ///
    /// # Errors
    /// Those of [`tree`](Self::tree); [`Error::Interrupted`](crate::Error::Interrupted).
    fn tree_watched(&self, _monitor: Option<&Monitor>) -> Result<Dendrogram> {
        self.tree()
    }

    /// Of a learner that revises a tree: by merge of a tree the share of answers that agree with it, of those that bear
    /// on it; NaN where it rests on the prior alone.
    fn support(&self, _tree: &Topology) -> Option<Vec<f64>> {
        None
    }

    /// The places where a leaf may belong with a probability of 0.001 or more, the likeliest first; while the leaf is
    /// searched, and after that if the learner began with a tree. None for other leaves and other learners than
    /// [`Method::Robust`](super::Method::Robust).
    fn places(&self, _leaf: u32) -> Option<Vec<LikelyPlace>> {
        None
    }

    /// Whether there is nothing left to ask.
    fn done(&self) -> bool;

    /// The number of leaves.
    fn n_leaves(&self) -> usize;

    /// How many leaves have their place in the tree so far.
    fn placed(&self) -> usize;

    /// How far asking has come.
    fn counts(&self) -> Counts;

    /// How many questions were asked.
    fn n_asked(&self) -> u64 {
        self.counts().asked
    }

    /// How many questions were answered.
    fn n_answered(&self) -> u64 {
        self.counts().answered
    }

    /// How many [rounds](Counts::rounds) there were.
    fn n_rounds(&self) -> u64 {
        self.counts().rounds
    }

    /// About how many answers are still needed.
    fn remaining_estimate(&self) -> f64;

    /// From now on so many leaves are searched side by side, where the method does that; at least one. What is under
    /// way goes on.
    fn set_parallel(&mut self, _parallel: usize) {}

    /// How many questions in a row are the same one; who asks for a multiple of it gets all of each.
    fn times(&self) -> u64 {
        1
    }

    /// The learner as one that takes any question and answer, if it is one.
    fn flexible(&mut self) -> Option<&mut dyn Flexible<K>> {
        None
    }

    /// Another learner that knows the same.
    fn boxed_clone(&self) -> Box<dyn Learner<K>>;
}

/// A learner to which all answers are of use, whoever has chosen the questions.
pub trait Flexible<const K: usize = 3> {
    /// Questions are wanted: what is drawn from the answers may be drawn anew. Nothing else depends on when this is
    /// called.
    fn note(&mut self);

    /// Questions that may be asked now: so many new ones, as far as it is of use, after those that are to be asked again.
    /// This changes nothing.
    ///
    /// # Errors
    /// Not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
    fn suggest(&mut self, count: usize, monitor: Option<&Monitor>) -> Result<Vec<[u32; K]>>;

    /// A question is asked, suggested or not; its number.
    ///
    /// # Errors
    /// Not enough memory.
    fn adopt(&mut self, leaves: [u32; K]) -> Result<u64>;

    /// An answer to a question that was not asked, or one more answer.
    fn add(&mut self, leaves: [u32; K], told: Told);
}
