//! The loop that gets questions from a learner, and passes the answers of an oracle back.

use super::learner::{Learner, Question};
use crate::error::{Error, Result, check_len, check_positive};
use crate::monitor::Monitor;

/// The limits on the number of questions of [`learn_with`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of questions in each call of the oracle.
    pub batch: usize,
    /// The maximum number of questions in all. If `None`, questions are asked until the learner is done.
    pub budget: Option<u64>,
}

impl Default for Limits {
    /// Returns limits without a maximum number of questions, in all or in each call of the oracle.
    fn default() -> Self {
        Self { batch: usize::MAX, budget: None }
    }
}

/// Passes the questions of a learner to an oracle until the learner is done or the budget is spent. Afterwards the
/// learner has all answers, and [`Learner::tree`] returns the tree.
///
/// # Errors
/// The errors of the oracle; a number of answers that differs from the number of questions; an invalid answer;
/// [`Error::Interrupted`]; `batch` = 0. The learner keeps the answers before the error. Questions that are still open
/// are asked first when `learn_with` is called again.
///
/// ```
/// use ordhc::learn::{Limits, Method, learn_with};
///
/// // The oracle knows a caterpillar.
/// let odd = |leaves: [u32; 3]| (0..3).max_by_key(|&at| leaves[at]).map_or(-1, |at| at as i8);
/// let oracle = |questions: &[ordhc::learn::Question]| Ok(questions.iter().map(|question| odd(question.leaves)).collect());
/// let mut learner = Method::Rounds.learner(5, 0)?;
/// learn_with(&mut *learner, oracle, Limits::default(), None)?;
/// assert_eq!(learner.tree()?.newick().to_string(), "(4,(3,(2,(0,1))));");
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn learn_with<const K: usize>(
    learner: &mut dyn Learner<K>,
    mut oracle: impl FnMut(&[Question<K>]) -> Result<Vec<i8>>,
    limits: Limits,
    monitor: Option<&Monitor>,
) -> Result<()> {
    watched!(monitor);
    check_positive("batch", limits.batch as u64)?;
    monitor.start(learner.n_leaves() as u64);
    let mut placed = 0;
    let mut is_first = true;
    let mut left = limits.budget.unwrap_or(u64::MAX);
    while !learner.done() && left > 0 {
        let room = limits.batch.min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut questions = if is_first { learner.open() } else { Vec::new() };
        is_first = false;
        questions.truncate(room);
        if questions.is_empty() {
            questions = learner.ask(room)?;
        }
        if questions.is_empty() {
            return Err(Error::Argument(
                "the learner asks no new question before all open questions are answered".to_string(),
            ));
        }
        let answers = oracle(&questions)?;
        check_len("answers", answers.len(), "questions", questions.len())?;
        for (question, answer) in questions.iter().zip(answers) {
            learner.tell(question.id, answer)?;
        }
        left -= questions.len() as u64;
        monitor.advance((learner.placed() - placed) as u64)?;
        placed = learner.placed();
    }
    Ok(())
}
