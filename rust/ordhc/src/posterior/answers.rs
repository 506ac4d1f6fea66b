//! The answers as comparisons of two pairs of leaves, with an index by leaf.

use super::choices::{Choices, Order, order_of};
use super::lists::Lists;
use crate::comparison::Comparisons;
use crate::error::{Result, check_len};
use crate::memory;
use crate::sorting::order_by_key;

/// The answer to which each comparison belongs, and the person who gave it.
///
/// Comparisons with the same id in `answers` are one answer: an odd one out (two triplets), a most central leaf, a
/// ranking, several chosen leaves, or the closest and the farthest leaf. The kind of an answer is inferred from its
/// comparisons. Ids of answers and of people start at 0. If `answers` is `None`, each comparison is a separate answer.
/// If `people` is `None`, the people are unknown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Belonging<'a> {
    /// For each comparison: the id of the answer to which it belongs.
    pub answers: Option<&'a [u32]>,
    /// For each comparison: the id of the person who gave it.
    pub people: Option<&'a [u32]>,
}

impl Belonging<'_> {
    fn check(&self, expected: usize) -> Result<()> {
        for (what, values) in [("answers", self.answers), ("people", self.people)] {
            check_len(what, values.map(<[u32]>::len), "comparisons", expected)?;
        }
        Ok(())
    }

    pub(super) fn n_people(&self) -> Option<usize> {
        self.people.map(|people| people.iter().map(|&person| person as usize + 1).max().unwrap_or(1))
    }
}

/// A comparison: its closer and its farther pair of leaves, and its weight. In a triplet, both pairs begin with the
/// anchor (the first leaf of the triplet).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Answer {
    pub(super) near: [u32; 2],
    pub(super) far: [u32; 2],
    pub(super) weight: f64,
    /// The id of the person who gave the answer, or 0 if people are unknown.
    pub(super) person: u32,
}

/// All answers with positive weight: comparisons of two pairs, and choices among several pairs. `by_leaf` has a copy of
/// each comparison for each of its leaves, sorted by leaf.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    all: Vec<Answer>,
    by_leaf: Lists<Answer>,
    choices: Choices,
    n_unknown: usize,
}

impl Answers {
    pub(super) fn new<const K: usize>(comparisons: &Comparisons<'_, K>, belonging: &Belonging<'_>) -> Result<Self> {
        const WHAT: &str = "answers by leaf";
        belonging.check(comparisons.len())?;
        let mut all = memory::room(WHAT, comparisons.len())?;
        let mut numbers = memory::room(WHAT, belonging.answers.map_or(0, <[u32]>::len))?;
        comparisons.rows().each(0..comparisons.len(), |at, row| {
            let weight = comparisons.weights().map_or(1.0, |weights| weights[at]);
            if weight > 0.0 {
                let (near, far) = Comparisons::<K>::pairs(row);
                let [near, far] = [near, far].map(|pair| pair.map(|leaf| leaf as u32));
                all.push(Answer { near, far, weight, person: belonging.people.map_or(0, |people| people[at]) });
                numbers.extend(belonging.answers.map(|answers| answers[at]));
            }
        });
        let (mut given, mut n_unknown) = (Vec::new(), 0);
        if belonging.answers.is_some() {
            (given, n_unknown) = take_choices(&mut all, &numbers);
        }
        let n_items = all.iter().map(|answer: &Answer| answer.leaves().count()).sum();
        let mut by_leaf = Lists::new(WHAT, comparisons.n_leaves(), n_items)?;
        by_leaf.fill(|add| all.iter().for_each(|answer| answer.leaves().for_each(|leaf| add(leaf, *answer))));
        Ok(Self { all, by_leaf, choices: Choices::new(comparisons.n_leaves(), given)?, n_unknown })
    }

    /// Returns all single comparisons. Answers that consist of several comparisons are in [`choices`](Self::choices)
    /// instead, unless their kind is unknown.
    pub(super) fn all(&self) -> &[Answer] {
        &self.all
    }

    pub(super) fn of(&self, leaf: u32) -> &[Answer] {
        self.by_leaf.of(leaf)
    }

    pub(super) fn choices(&self) -> &Choices {
        &self.choices
    }

    pub(super) fn n_unknown(&self) -> usize {
        self.n_unknown
    }
}

/// Removes from `all` the answers that consist of several comparisons and are of a known kind, and returns them. Also
/// returns the number of answers of unknown kind. `numbers` has the id of the answer of each comparison. The
/// comparisons of an answer of unknown kind stay in `all`, with their weights divided by their number.
fn take_choices(all: &mut Vec<Answer>, numbers: &[u32]) -> (Vec<super::choices::Given>, usize) {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order_by_key(&mut order, |at| numbers[at]);
    let (mut given, mut n_unknown, mut is_taken) = (Vec::new(), 0, vec![false; all.len()]);
    for rows in order.chunk_by(|&one, &other| numbers[one] == numbers[other]).filter(|rows| rows.len() > 1) {
        let sorted = |[i, j]: [u32; 2]| [i.min(j), i.max(j)];
        let pairs: Vec<_> = rows.iter().map(|&at| [all[at].near, all[at].far].map(sorted)).collect();
        let count = rows.len() as f64;
        let person = all[rows[0]].person;
        let is_one_person = rows.iter().all(|&at| all[at].person == person);
        let weight = rows.iter().map(|&at| all[at].weight).sum::<f64>() / count;
        match order_of(&pairs).filter(|_| is_one_person) {
            // The answer is a single comparison that was given several times.
            Some((pairs, _)) if pairs.len() == 2 => {
                all[rows[0]].weight = weight;
                rows[1..].iter().for_each(|&at| is_taken[at] = true);
            }
            Some(order) => {
                given.push((order, weight, person));
                rows.iter().for_each(|&at| is_taken[at] = true);
            }
            None => {
                rows.iter().for_each(|&at| all[at].weight /= count);
                n_unknown += 1;
            }
        }
    }
    let mut at = 0;
    all.retain(|_| {
        at += 1;
        !is_taken[at - 1]
    });
    (given, n_unknown)
}

/// Returns the answers that consist of several comparisons and are of a known kind (such as a ranking). For each
/// answer, returns its pairs in order of closeness, and the indices of its comparisons.
pub(super) fn orders_of<const K: usize>(comparisons: &Comparisons<'_, K>, answers: &[u32]) -> Vec<(Order, Vec<usize>)> {
    let mut rows: Vec<usize> = (0..comparisons.len()).collect();
    order_by_key(&mut rows, |at| answers[at]);
    let sorted = |[i, j]: [usize; 2]| [i.min(j) as u32, i.max(j) as u32];
    let pairs = |&at: &usize| {
        let (near, far) = Comparisons::<K>::pairs(&comparisons.rows().row(at));
        [near, far].map(sorted)
    };
    let several = rows.chunk_by(|&one, &other| answers[one] == answers[other]).filter(|rows| rows.len() > 1);
    several.filter_map(|rows| Some((order_of(&rows.iter().map(pairs).collect::<Vec<_>>())?, rows.to_vec()))).collect()
}

impl Answer {
    /// Returns each leaf of the answer once.
    pub(super) fn leaves(&self) -> impl Iterator<Item = u32> + use<> {
        let Self { near: [i, j], far: [k, l], .. } = *self;
        let new = move |&leaf: &u32| leaf != i && leaf != j;
        [i, j].into_iter().chain([k, l].into_iter().filter(new))
    }
}
