//! Triplets, sorted in the order in which the embedding loss reads them.

use std::ops::Range;

use crate::comparison::Triplets;
use crate::error::Result;
use crate::memory;
use crate::sorting::order_by;

/// Triplets (anchor, near leaf, far leaf) grouped by anchor, with anchors in ascending order. The weights of repeated
/// triplets are added. In `others`, each anchor has an ascending list of the near and far leaves of its triplets. So
/// the embedding loss computes one score for each pair of the anchor and a leaf in the list.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) anchors: Vec<Anchor>,
    pub(super) others: Vec<u32>,
    /// Groups of triplets with the same anchor (first leaf), weight and near leaf. The groups are sorted by these
    /// three.
    pub(super) runs: Vec<Run>,
    /// The far leaf of each triplet (anchor, near leaf, far leaf): its index in the anchor's list in `others`. The
    /// triplets are in the order of the groups in `runs`.
    pub(super) fars: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Anchor {
    pub(super) leaf: usize,
    pub(super) others: Range<usize>,
    pub(super) runs: Range<usize>,
    pub(super) fars: Range<usize>,
}

/// A group of triplets with the same anchor, weight and near leaf. `near` is an index into the anchor's list in
/// [`Prepared::others`].
#[derive(Debug)]
pub(super) struct Run {
    pub(super) weight: f64,
    pub(super) near: u32,
    pub(super) len: u32,
}

impl Prepared {
    pub(super) fn new(triplets: &Triplets<'_>) -> Result<Self> {
        let (n, m) = (triplets.n_leaves(), triplets.len());
        memory::check("the triplets in order", (m as u64).saturating_mul(40))?;
        let weight = |at: usize| triplets.weights().map_or(1.0, |weights| weights[at]);
        let mut ends = vec![0; n + 1];
        triplets.rows().each(0..m, |_, row| ends[row[0] as usize + 1] += 1);
        for leaf in 0..n {
            ends[leaf + 1] += ends[leaf];
        }
        let mut next = ends.clone();
        let mut sorted = vec![(0.0, 0, 0); m];
        triplets.rows().each(0..m, |at, row| {
            let place = &mut next[row[0] as usize];
            sorted[*place] = (weight(at), row[1] as u32, row[2] as u32);
            *place += 1;
        });
        let mut prepared = Self { anchors: Vec::new(), others: Vec::new(), runs: Vec::new(), fars: Vec::new() };
        let mut number = vec![u32::MAX; n];
        for leaf in 0..n {
            prepared.add(leaf, &mut sorted[ends[leaf]..ends[leaf + 1]], &mut number);
        }
        Ok(prepared)
    }

    /// Adds triplets (weight, near leaf, far leaf) with the first leaf `leaf`. All elements of the buffer `number` are
    /// `u32::MAX` before and after the call.
    fn add(&mut self, leaf: usize, answers: &mut [(f64, u32, u32)], number: &mut [u32]) {
        order_by(answers, &|a, b| (a.1, a.2).cmp(&(b.1, b.2)).then(a.0.total_cmp(&b.0)));
        let mut distinct: Vec<(f64, u32, u32)> = Vec::with_capacity(answers.len());
        for &(weight, near, far) in answers.iter().filter(|answer| answer.0 > 0.0) {
            match distinct.last_mut() {
                Some(last) if (last.1, last.2) == (near, far) => last.0 += weight,
                _ => distinct.push((weight, near, far)),
            }
        }
        if distinct.is_empty() {
            return;
        }
        order_by(&mut distinct, &|a, b| a.0.total_cmp(&b.0));
        let starts = (self.others.len(), self.runs.len(), self.fars.len());
        for leaf in distinct.iter().flat_map(|&(_, near, far)| [near, far]) {
            if std::mem::replace(&mut number[leaf as usize], 0) == u32::MAX {
                self.others.push(leaf);
            }
        }
        self.others[starts.0..].sort_unstable();
        for (at, &other) in self.others[starts.0..].iter().enumerate() {
            number[other as usize] = at as u32;
        }
        for (weight, near, far) in distinct {
            let near = number[near as usize];
            match self.runs[starts.1..].last_mut() {
                Some(run) if run.near == near && run.weight == weight => run.len += 1,
                _ => self.runs.push(Run { weight, near, len: 1 }),
            }
            self.fars.push(number[far as usize]);
        }
        for &other in &self.others[starts.0..] {
            number[other as usize] = u32::MAX;
        }
        self.anchors.push(Anchor {
            leaf,
            others: starts.0..self.others.len(),
            runs: starts.1..self.runs.len(),
            fars: starts.2..self.fars.len(),
        });
    }

    pub(super) fn blocks(&self) -> Vec<Range<usize>> {
        /// The computing time for a pair of leaves, in units of the time for a triplet.
        const PAIR: usize = 4;
        const GRAIN: usize = 1 << 15;
        const MOST: usize = 16;
        let work = |anchor: &Anchor| anchor.fars.len() + PAIR * anchor.others.len();
        let all: usize = self.anchors.iter().map(work).sum();
        let n_blocks = (all / GRAIN).clamp(1, MOST);
        let mut blocks = Vec::with_capacity(n_blocks);
        let (mut start, mut done) = (0, 0);
        for (at, anchor) in self.anchors.iter().enumerate() {
            done += work(anchor);
            if done * n_blocks >= all * (blocks.len() + 1) {
                blocks.push(start..at + 1);
                start = at + 1;
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(prepared: &Prepared) -> Vec<(usize, u32, u32, f64)> {
        let mut found = Vec::new();
        for anchor in &prepared.anchors {
            let others = &prepared.others[anchor.others.clone()];
            let mut fars = prepared.fars[anchor.fars.clone()].iter();
            for run in &prepared.runs[anchor.runs.clone()] {
                for &far in fars.by_ref().take(run.len as usize) {
                    found.push((anchor.leaf, others[run.near as usize], others[far as usize], run.weight));
                }
            }
        }
        found
    }

    #[test]
    fn equal_triplets_are_added_up_and_weightless_ones_left_out() {
        let rows = vec![[3, 0, 1], [0, 1, 2], [3, 0, 1], [3, 1, 0], [3, 0, 2], [2, 1, 0]];
        let plain = Triplets::new(rows.clone(), None).unwrap();
        let expected = vec![(0, 1, 2, 1.0), (2, 1, 0, 1.0), (3, 0, 2, 1.0), (3, 1, 0, 1.0), (3, 0, 1, 2.0)];
        assert_eq!(read(&Prepared::new(&plain).unwrap()), expected);
        let weighted = Triplets::new(rows, None).unwrap().with_weights(vec![0.5, 0.0, 1.0, 2.0, 1.5, 0.0]).unwrap();
        let prepared = Prepared::new(&weighted).unwrap();
        assert_eq!(read(&prepared), vec![(3, 0, 1, 1.5), (3, 0, 2, 1.5), (3, 1, 0, 2.0)]);
        assert_eq!(prepared.runs.len(), 2);
    }

    #[test]
    fn blocks_cover_the_anchors() {
        let none = Triplets::new(Vec::<[i32; 3]>::new(), Some(3)).unwrap();
        assert!(Prepared::new(&none).unwrap().blocks().is_empty());
        let mut rows = Vec::new();
        for anchor in 0..200 {
            let answers = 0..(anchor % 10) * 60;
            rows.extend(answers.map(|at| [anchor, (anchor + 1 + at % 7) % 200, (anchor + 10 + at % 67) % 200]));
        }
        let many = Prepared::new(&Triplets::new(rows, None).unwrap()).unwrap();
        let blocks = many.blocks();
        assert!(blocks.len() > 1, "{blocks:?}");
        let all: Vec<usize> = blocks.into_iter().flatten().collect();
        assert_eq!(all, (0..many.anchors.len()).collect::<Vec<_>>());
    }
}
