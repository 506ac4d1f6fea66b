//! The choice of questions about leaves whose places in the tree are uncertain.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::reliability::Reliability;
use super::shape::{NONE, Shape};
use super::{Answer, Local};
use crate::posterior::expected_information;
use crate::sorting::order_by;

/// Candidate questions are made for at most this number of leaves in the tree, and for at most two new leaves.
const LEAVES: usize = 8;
/// If all leaves are in the tree: the number of random leaves from which those with the most uncertain places are
/// chosen.
const FROM: usize = 32;
/// The place of a leaf in the tree is uncertain if the entropy of its distribution is above `UNCERTAIN` nats. Some
/// places stay uncertain after any number of answers, for example a place among many siblings. So a leaf gets no more
/// questions after `FIRST` answers, and `A_DOUBLING` more for each doubling of the number of leaves in the tree.
const UNCERTAIN: f64 = 1.0;
const FIRST: f64 = 2.0;
const A_DOUBLING: f64 = 1.3;
/// No new leaf is asked about if the number of leaves with uncertain places is at least this number plus the number of
/// open questions.
const FEW: usize = 3;
/// The number of likely places in the tree that are sampled for a leaf, to estimate how informative questions are.
const DRAWN: usize = 24;
/// The number of candidate questions that are made for each leaf.
const QUESTIONS: usize = 16;
/// The last leaf of a question is sampled from larger and larger clusters, until it is not already in the question. At
/// most this number of clusters is tried.
const TRIES: usize = 8;

/// Likely places of a leaf that was cut off the tree: `beside` has the nodes beside which the leaf may belong.
struct Likely {
    leaf: u32,
    beside: Vec<u32>,
}

impl<const K: usize> Local<K> {
    /// Returns candidate questions about leaves of `among` whose places in the tree are uncertain, each with its
    /// expected information. If `is_anchored`, the questions compare two pairs that share a leaf, which comes first in
    /// both pairs.
    pub(in super::super) fn candidates(
        &mut self,
        answers: &[Answer<K>],
        among: &[u32],
        n_open: usize,
        is_anchored: bool,
        random: &mut ChaCha8Rng,
    ) -> Vec<(f64, [u32; K])> {
        if self.shape.n_placed() < 2 {
            return Vec::new();
        }
        let chosen = self.uncertain(among, n_open, random);
        let mut found = Vec::new();
        for leaf in chosen {
            let before = self.shape.cut(leaf);
            let likely = self.likely(answers, leaf, random);
            for _ in 0..QUESTIONS {
                if let Some(leaves) = question(&self.shape, &likely, is_anchored, random) {
                    found.push((self.information(&likely, leaves), leaves));
                }
            }
            if let Some(before) = before {
                self.shape.put(leaf, before);
            }
        }
        found
    }

    fn uncertain(&self, among: &[u32], n_open: usize, random: &mut ChaCha8Rng) -> Vec<u32> {
        let (placed, new): (Vec<u32>, Vec<u32>) = among.iter().partition(|&&leaf| self.shape.has(leaf));
        let many = (FIRST + A_DOUBLING * (placed.len() as f64).log2()) as usize;
        let is_open = |leaf: u32| self.entropies[leaf as usize] > UNCERTAIN && self.of_leaf[leaf as usize].len() < many;
        let mut open: Vec<u32> = placed.iter().copied().filter(|&leaf| is_open(leaf)).collect();
        let mut some = |from: &mut Vec<u32>, most: usize| -> Vec<u32> {
            let count = from.len().min(most);
            (0..count).map(|_| from.swap_remove(random.random_range(0..from.len()))).collect()
        };
        if !new.is_empty() {
            let is_full = open.len() >= FEW + n_open;
            let mut chosen = some(&mut open, LEAVES);
            if !is_full {
                chosen.extend(some(&mut { new }, 2));
            }
            return chosen;
        }
        // All leaves are in the tree. Sample `FROM` leaves. Half of the result are those with the most uncertain
        // places, and the rest are random leaves of the sample.
        let mut all = some(&mut { placed }, FROM);
        order_by(&mut all, &|one, other| self.entropies[other as usize].total_cmp(&self.entropies[one as usize]));
        let mut others = all.split_off(all.len().min(LEAVES / 2));
        all.extend(some(&mut others, LEAVES / 2));
        all
    }

    /// Returns the information, in nats, that a question is expected to give about the place of one of its leaves: the
    /// leaf with the fewest answers.
    pub(in super::super) fn worth(&mut self, answers: &[Answer<K>], leaves: [u32; K], random: &mut ChaCha8Rng) -> f64 {
        let least = leaves.into_iter().min_by_key(|&leaf| (self.of_leaf[leaf as usize].len(), leaf));
        let Some(leaf) = least.filter(|_| self.shape.n_placed() > 2) else { return 0.0 };
        let before = self.shape.cut(leaf);
        let likely = self.likely(answers, leaf, random);
        let worth = self.information(&likely, leaves);
        if let Some(before) = before {
            self.shape.put(leaf, before);
        }
        worth
    }

    fn likely(&mut self, answers: &[Answer<K>], leaf: u32, random: &mut ChaCha8Rng) -> Likely {
        self.score(answers, leaf, random);
        let beside = (0..DRAWN).map(|_| self.places.draw(&self.shape, random).beside).collect();
        Likely { leaf, beside }
    }

    fn information(&self, likely: &Likely, leaves: [u32; K]) -> f64 {
        let Self { shape, logs, reliability, .. } = self;
        let mut others = leaves.iter().filter(|&&other| other != likely.leaf);
        if others.any(|&other| !shape.has(other)) {
            return 0.0;
        }
        let at = |&beside: &u32| answers_at(shape, logs, reliability, leaves, likely.leaf, beside);
        expected_information(likely.beside.iter().map(at), likely.beside.len())
    }
}

fn answers_at<const K: usize>(
    shape: &Shape,
    logs: &[f64],
    reliability: &Reliability,
    leaves: [u32; K],
    leaf: u32,
    beside: u32,
) -> [f64; 3] {
    // The lowest common ancestor of the leaf and another leaf is the lowest common ancestor of `beside` and the other
    // leaf. If the other leaf is below `beside`, the ancestor is the leaf's new parent.
    let size = |a: u32, b: u32| {
        let other = if a == leaf { b } else { a };
        if a != leaf && b != leaf { shape.size(shape.join(a, b)) } else { shape.size(shape.join(beside, other)) + 1 }
    };
    if K == 4 {
        let [first, second] = [size(leaves[0], leaves[1]), size(leaves[2], leaves[3])];
        if first == second {
            return [0.5, 0.5, 0.0];
        }
        let [right, wrong] = reliability.probabilities((logs[first as usize] - logs[second as usize]).abs());
        return if first < second { [right, wrong, 0.0] } else { [wrong, right, 0.0] };
    }
    let at = (0..3).find(|&at| leaves[at] == leaf).unwrap_or(0);
    let [a, b] = [leaves[(at + 1) % 3], leaves[(at + 2) % 3]];
    let both = shape.size(shape.join(a, b));
    let [with_a, with_b] = [size(leaf, a), size(leaf, b)];
    // If the leaf joins at or above the node where the two others join, the leaf is the odd one out.
    let (odd, difference) = if with_a == with_b {
        (at, logs[with_a as usize] - logs[both as usize])
    } else if with_a < with_b {
        ((at + 2) % 3, logs[with_b as usize] - logs[with_a as usize])
    } else {
        ((at + 1) % 3, logs[with_a as usize] - logs[with_b as usize])
    };
    let [right, wrong] = reliability.probabilities(difference.max(0.0));
    std::array::from_fn(|at| if at == odd { right } else { wrong })
}

fn question<const K: usize>(
    shape: &Shape,
    likely: &Likely,
    is_anchored: bool,
    random: &mut ChaCha8Rng,
) -> Option<[u32; K]> {
    let x = likely.leaf;
    let [first, second] = [(); 2].map(|()| likely.beside[random.random_range(0..likely.beside.len())]);
    let mut leaf_of = |node: u32| shape.leaf_under(node, random.random_range(0..shape.size(node)));
    let a = leaf_of(first);
    // The same leaf may be near both places. Then take the second leaf from the next larger cluster.
    let clusters = std::iter::successors(Some(second), |&node| Some(shape.parent(node)).filter(|&above| above != NONE));
    let b = clusters.map(&mut leaf_of).take(TRIES).find(|&b| b != a)?;
    if K == 3 {
        let turn = random.random_range(0..3);
        return Some(std::array::from_fn(|at| [x, a, b][(at + turn) % 3]));
    }
    if !is_anchored && random.random::<bool>() {
        let c = shape.leaf_under(shape.root, random.random_range(0..shape.size(shape.root)));
        if c != b {
            return Some(std::array::from_fn(|at| [x, a, b, c][at]));
        }
    }
    Some(std::array::from_fn(|at| [x, a, x, b][at]))
}
