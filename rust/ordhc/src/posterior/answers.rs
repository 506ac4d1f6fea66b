//! Comparisons by leaf.

use crate::comparison::Comparisons;
use crate::error::Result;
use crate::memory;

/// A comparison: its closer and its farther pair, and how much it counts. Those of a triplet begin with the anchor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) near: [u32; 2],
    pub(super) far: [u32; 2],
    pub(super) weight: f64,
    /// Who gave it; 0 if nobody is known.
    pub(super) person: u32,
}

/// All comparisons of positive weight, and those of each leaf side by side.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    all: Vec<Answer>,
    starts: Vec<usize>,
    by_leaf: Vec<Answer>,
}

impl Answers {
    /// `people` says whose each comparison is.
    pub(super) fn new<const K: usize>(comparisons: &Comparisons<'_, K>, people: Option<&[u32]>) -> Result<Self> {
        const WHAT: &str = "answers by leaf";
        let mut all = memory::room(WHAT, comparisons.len())?;
        comparisons.rows().each(0..comparisons.len(), |at, row| {
            let weight = comparisons.weights().map_or(1.0, |weights| weights[at]);
            if weight > 0.0 {
                let (near, far) = Comparisons::<K>::pairs(row);
                let [near, far] = [near, far].map(|pair| pair.map(|leaf| leaf as u32));
                all.push(Answer { near, far, weight, person: people.map_or(0, |people| people[at]) });
            }
        });
        let mut starts = memory::filled(WHAT, 0, comparisons.n_leaves() + 1)?;
        all.iter().for_each(|answer: &Answer| answer.leaves().for_each(|leaf| starts[leaf as usize + 1] += 1));
        for leaf in 0..comparisons.n_leaves() {
            starts[leaf + 1] += starts[leaf];
        }
        let mut next = starts.clone();
        let nothing = Answer { near: [0; 2], far: [0; 2], weight: 0.0, person: 0 };
        let mut by_leaf = memory::filled(WHAT, nothing, starts[comparisons.n_leaves()])?;
        for answer in &all {
            for leaf in answer.leaves() {
                by_leaf[next[leaf as usize]] = *answer;
                next[leaf as usize] += 1;
            }
        }
        Ok(Self { all, starts, by_leaf })
    }

    pub(super) fn all(&self) -> &[Answer] {
        &self.all
    }

    pub(super) fn of(&self, leaf: u32) -> &[Answer] {
        &self.by_leaf[self.starts[leaf as usize]..self.starts[leaf as usize + 1]]
    }
}

impl Answer {
    /// Each leaf once.
    pub(super) fn leaves(&self) -> impl Iterator<Item = u32> + use<> {
        let Self { near: [i, j], far: [k, l], .. } = *self;
        let new = move |&leaf: &u32| leaf != i && leaf != j;
        [i, j].into_iter().chain([k, l].into_iter().filter(new))
    }
}
