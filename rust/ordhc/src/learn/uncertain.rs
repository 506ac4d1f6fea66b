//! Questions whose answers are expected to teach most.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::learner::{Flexible, Learner, Question, Told};
use super::ledger::Ledger;
use crate::agglomerate::{Agglomeration, Layout, Matrix, Values};
use crate::comparison::Triplets;
use crate::error::Result;
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::memory::Buffer;
use crate::posterior::{Asked, Samples, Sampling, sample};
use crate::refine::{Heights, Search, refine};
use crate::similarity::{adds, condensed_len};
use crate::tree::{Child, Dendrogram, dendrogram_of_nodes};

type Leaves = [u32; 3];
type Answer = (Leaves, i8);

/// Questions that are drawn, of which the best one is asked.
const CANDIDATES: usize = 200;
/// Trees are drawn anew once there is an answer more for so many leaves.
const LEAVES_AN_ANSWER: usize = 2;
/// Fewer answers than this are not worth new trees.
const LEAST: usize = 8;
/// Questions for each leaf, if nobody says how many.
const A_LEAF: u64 = 20;

/// Asks what is least certain over trees drawn from the posterior.
///
/// Everything follows from the answers and from what was asked, in order: trees are drawn from the answers that were
/// there when questions were wanted and enough of them were new, and each question from a stream of
/// random numbers by its number. So nothing needs to be drawn to follow what happened before.
pub(super) struct Uncertain {
    n: usize,
    seed: u64,
    questions: u64,
    repeat: u64,
    ledger: Ledger<Leaves>,
    answers: Vec<Answer>,
    seen: Vec<bool>,
    asked: Vec<Leaves>,
    /// Questions that others shall answer, too, and how often.
    again: VecDeque<(Leaves, u64)>,
    /// How many answers and questions there were when trees were last to be drawn.
    mark: [usize; 2],
    drawn: Option<(usize, Arc<Samples>)>,
    tree: Mutex<Option<(usize, Arc<Dendrogram>)>>,
}

impl Clone for Uncertain {
    fn clone(&self) -> Self {
        Self {
            ledger: self.ledger.clone(),
            answers: self.answers.clone(),
            seen: self.seen.clone(),
            asked: self.asked.clone(),
            again: self.again.clone(),
            drawn: self.drawn.clone(),
            tree: Mutex::new(self.known_tree()),
            ..*self
        }
    }
}

impl Uncertain {
    pub(super) fn new(n: usize, seed: u64, questions: Option<u64>, repeat: u64) -> Self {
        Self {
            n,
            seed,
            questions: questions.unwrap_or((A_LEAF * n as u64).saturating_mul(repeat)),
            repeat,
            ledger: Ledger::default(),
            answers: Vec::new(),
            seen: vec![false; n],
            asked: Vec::new(),
            again: VecDeque::new(),
            mark: [0; 2],
            drawn: None,
            tree: Mutex::new(None),
        }
    }

    fn known_tree(&self) -> Option<(usize, Arc<Dendrogram>)> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The trees by which questions are chosen now; none before there are answers.
    fn draw(&mut self) -> Result<Option<Arc<Samples>>> {
        let count = self.mark[0];
        if count == 0 {
            return Ok(None);
        }
        if self.drawn.as_ref().is_none_or(|drawn| drawn.0 != count) {
            let sampling = Sampling { chains: 2, sweeps: 40, burn_in: 20, kept: 40, ..self.sampling() };
            let samples = draw(self.n, &self.answers[..count], &sampling)?;
            self.drawn = Some((count, Arc::new(samples)));
        }
        Ok(self.drawn.as_ref().map(|drawn| Arc::clone(&drawn.1)))
    }

    fn sampling(&self) -> Sampling {
        Sampling { chains: 4, kept: 200, seed: self.seed, asked: Asked::OddOneOut, ..Sampling::default() }
    }

    /// New questions.
    fn fresh(&mut self, count: usize) -> Result<Vec<Leaves>> {
        let trees = self.draw()?;
        let recent = &self.asked[self.mark[1]..];
        let mut known: HashSet<Leaves> = recent.iter().copied().map(sorted).collect();
        let mut uses = vec![0usize; self.n];
        recent.iter().flatten().for_each(|&leaf| uses[leaf as usize] += 1);
        let mut found = Vec::new();
        for at in 0..count {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(2 + (self.asked.len() + at) as u64);
            // Answers to several questions about a leaf teach less than what they teach one by one.
            let most = 2 + 6 * (recent.len() + at) / self.n;
            let mut best: Option<(f64, Leaves)> = None;
            let mut instead = None;
            for _ in 0..CANDIDATES {
                let leaves = drawn(self.n, &mut random);
                instead = instead.or(Some(leaves));
                if known.contains(&sorted(leaves)) || leaves.iter().any(|&leaf| uses[leaf as usize] >= most) {
                    continue;
                }
                let worth = match &trees {
                    Some(trees) => trees.information(leaves),
                    // Leaves of which nothing was asked first.
                    None => -(leaves.iter().map(|&leaf| uses[leaf as usize]).sum::<usize>() as f64),
                };
                if best.is_none_or(|(other, _)| worth > other) {
                    best = Some((worth, leaves));
                }
            }
            let Some(leaves) = best.map(|best| best.1).or(instead) else { break };
            known.insert(sorted(leaves));
            leaves.iter().for_each(|&leaf| uses[leaf as usize] += 1);
            found.push(leaves);
        }
        Ok(found)
    }
}

/// Three different leaves.
fn drawn(n: usize, random: &mut ChaCha8Rng) -> Leaves {
    loop {
        let leaves = [(); 3].map(|()| random.random_range(0..n as u32));
        let [a, b, c] = leaves;
        if a != b && b != c && a != c {
            return leaves;
        }
    }
}

fn sorted(mut leaves: Leaves) -> Leaves {
    leaves.sort_unstable();
    leaves
}

/// Trees drawn from the posterior of some answers, in whatever order these came.
fn draw(n: usize, answers: &[Answer], sampling: &Sampling) -> Result<Samples> {
    let mut answers = answers.to_vec();
    answers.sort_unstable();
    let (mut rows, mut weights) = (Vec::new(), Vec::new());
    for (leaves, answer) in answers {
        let [a, b, c] = leaves.map(|leaf| leaf as i32);
        let mut add = |row, weight| {
            rows.push(row);
            weights.push(weight);
        };
        match usize::try_from(answer).ok().and_then(|odd| leaves.get(odd).map(|_| odd)) {
            Some(odd) => {
                let [x, y] = [[b, c], [a, c], [a, b]][odd];
                let odd = [a, b, c][odd];
                add([x, y, odd], 1.0);
                add([y, x, odd], 1.0);
            }
            // A third of each answer.
            None => {
                for [anchor, x, y] in [[a, b, c], [b, a, c], [c, a, b]] {
                    add([anchor, x, y], 1.0 / 3.0);
                    add([anchor, y, x], 1.0 / 3.0);
                }
            }
        }
    }
    let triplets = Triplets::new(rows, Some(n))?.with_weights(weights)?;
    let mut pairs = Buffer::zeros("the similarities", condensed_len(n))?;
    adds(&triplets, &mut pairs[..], None)?;
    let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Similarity)?;
    let start = Agglomeration::new(Rule::Average).run(&matrix)?;
    let search = Search::default();
    let start = refine(&start, &matrix, Heights::Average, &search, None)?.tree;
    sample(&triplets, &start, sampling, None)
}

impl Flexible<3> for Uncertain {
    fn note(&mut self) {
        if self.answers.len() >= self.mark[0] + (self.n / LEAVES_AN_ANSWER).max(LEAST) {
            self.mark = [self.answers.len(), self.asked.len()];
        }
    }

    fn suggest(&mut self, count: usize) -> Result<Vec<Leaves>> {
        if self.n < 3 {
            return Ok(Vec::new());
        }
        let left = usize::try_from(self.questions.saturating_sub(self.ledger.n_asked())).unwrap_or(usize::MAX);
        let mut found: Vec<Leaves> = self.again.iter().map(|&(leaves, _)| leaves).take(left).collect();
        found.extend(self.fresh(count.min(left - found.len()).min(self.n))?);
        Ok(found)
    }

    fn adopt(&mut self, leaves: Leaves) -> Result<u64> {
        let found = self.ledger.ask(1, || Some((leaves, leaves)))?;
        self.asked.push(leaves);
        match self.again.iter().position(|&(other, _)| sorted(other) == sorted(leaves)) {
            Some(at) => {
                self.again[at].1 -= 1;
                if self.again[at].1 == 0 {
                    self.again.remove(at);
                }
            }
            None if self.repeat > 1 => self.again.push_back((leaves, self.repeat - 1)),
            None => {}
        }
        Ok(found[0].id)
    }

    fn add(&mut self, leaves: Leaves, answer: i8) {
        leaves.iter().for_each(|&leaf| self.seen[leaf as usize] = true);
        self.answers.push((leaves, answer));
    }
}

impl Learner for Uncertain {
    fn ask(&mut self, limit: usize) -> Result<Vec<Question>> {
        self.note();
        let mut asked = Vec::new();
        for leaves in self.suggest(limit)?.into_iter().take(limit) {
            asked.push(Question { id: self.adopt(leaves)?, leaves });
        }
        Ok(asked)
    }

    fn open(&self) -> Vec<Question> {
        self.ledger.open()
    }

    fn tell_with(&mut self, id: u64, told: Told) -> Result<()> {
        self.ledger.tell(id, told)?;
        let mut told = self.ledger.take();
        for (_, leaves, one) in told.drain(..) {
            self.add(leaves, one.answer);
        }
        self.ledger.give_back(told);
        Ok(())
    }

    fn tree(&self) -> Result<Dendrogram> {
        let count = self.answers.len();
        if let Some((_, tree)) = self.known_tree().filter(|known| known.0 == count) {
            return Ok((*tree).clone());
        }
        let tree = best_tree(self.n, &self.answers, &self.seen, &self.sampling())?;
        *self.tree.lock().unwrap_or_else(PoisonError::into_inner) = Some((count, Arc::new(tree.clone())));
        Ok(tree)
    }

    fn done(&self) -> bool {
        self.n < 3 || self.ledger.n_answered() >= self.questions
    }

    fn n_leaves(&self) -> usize {
        self.n
    }

    fn placed(&self) -> usize {
        if self.n < 3 { self.n } else { self.seen.iter().filter(|&&seen| seen).count() }
    }

    fn n_asked(&self) -> u64 {
        self.ledger.n_asked()
    }

    fn n_answered(&self) -> u64 {
        self.ledger.n_answered()
    }

    fn n_rounds(&self) -> u64 {
        self.ledger.n_rounds()
    }

    fn remaining_estimate(&self) -> f64 {
        if self.n < 3 { 0.0 } else { self.questions.saturating_sub(self.ledger.n_answered()) as f64 }
    }

    fn flexible(&mut self) -> Option<&mut dyn Flexible<3>> {
        Some(self)
    }

    fn boxed_clone(&self) -> Box<dyn Learner> {
        Box::new(self.clone())
    }
}

/// One tree for all that are likely; leaves without answers are joined last.
fn best_tree(n: usize, answers: &[Answer], seen: &[bool], sampling: &Sampling) -> Result<Dendrogram> {
    let here: Vec<u32> = (0..n as u32).filter(|&leaf| seen[leaf as usize]).collect();
    if here.len() < 3 {
        let all = vec![(0..n as u32).map(Child::Leaf).collect()];
        return dendrogram_of_nodes(n, if n > 1 { &all } else { &[] });
    }
    let mut number = vec![0u32; n];
    here.iter().zip(0..).for_each(|(&leaf, new)| number[leaf as usize] = new);
    let moved = |&(leaves, answer): &Answer| (leaves.map(|leaf| number[leaf as usize]), answer);
    let renumbered: Vec<Answer> = answers.iter().map(moved).collect();
    let tree = draw(here.len(), &renumbered, sampling)?.summary(None)?;
    let first = here.len();
    let old = |part: u32| here.get(part as usize).copied().unwrap_or((n + part as usize - first) as u32);
    let mut merges: Vec<[u32; 2]> = tree.merges().iter().map(|pair| pair.map(old)).collect();
    let top = tree.heights().iter().copied().fold(f64::NEG_INFINITY, f64::max) + 1.0;
    let mut heights: Vec<f64> = tree.heights().iter().map(|height| top - height).collect();
    let last = heights.iter().copied().fold(0.0, f64::max);
    for leaf in (0..n as u32).filter(|&leaf| !seen[leaf as usize]) {
        merges.push([(n + merges.len() - 1) as u32, leaf]);
        heights.push(last);
    }
    Dendrogram::new(merges, heights, Kind::Dissimilarity)
}

#[cfg(test)]
mod tests;
