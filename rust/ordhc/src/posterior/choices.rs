//! Answers that choose among several pairs of leaves.
//!
//! Every answer with more than one comparison ranks pairs of leaves by closeness. Pairs of equal rank form a block (see
//! [`luce`](super::luce)). The kinds of answers are:
//!
//! * odd one out of three leaves: the pair without the odd leaf, then the two pairs with the odd leaf;
//! * most central of three leaves: the two pairs with this leaf, then the third pair;
//! * ranking by closeness to a reference leaf: its pairs with the ranked leaves one by one, then its pairs with the
//!   unranked leaves together;
//! * several leaves chosen as closest to a reference leaf: the pairs of the chosen leaves together, then those of the
//!   leaves that were not chosen;
//! * closest leaf and farthest leaf from a reference leaf: the pair of the closest leaf, all pairs between, the pair of
//!   the farthest leaf.

use super::lists::Lists;
use super::luce::n_orders;
use crate::error::Result;
use crate::sorting::{order_by, order_by_key};

/// An answer that ranks pairs of leaves by closeness. The pairs are consecutive in the list of all pairs, starting at
/// index `first`. Pairs of equal rank form a block, and `blocks` has the sizes of the blocks.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    first: usize,
    blocks: Vec<u32>,
    leaves: Vec<u32>,
    weight: f64,
    person: u32,
    /// The probability of this answer if the answer is random.
    by_chance: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Choices {
    choices: Vec<Choice>,
    pairs: Vec<[u32; 2]>,
    by_leaf: Lists<u32>,
    leaf_weights: Vec<f64>,
}

/// The pairs of leaves of an answer, closest first, and the size of each block of pairs with equal rank.
pub(super) type Order = (Vec<[u32; 2]>, Vec<u32>);

/// An answer of several comparisons: its pairs of leaves in order of closeness ([`Order`]), its weight, and the id of
/// its person.
pub(super) type Given = (Order, f64, u32);

/// Returns the ranking of pairs of leaves that the comparisons (nearer pair, farther pair) of an answer imply. Pairs of
/// equal rank form a block. In each pair, the smaller leaf must be first. Repeated comparisons count once.
///
/// Returns `None` unless each pair is compared with all pairs of the other blocks, and with no pair of its own block.
pub(super) fn order_of(rows: &[[[u32; 2]; 2]]) -> Option<Order> {
    let mut pairs: Vec<[u32; 2]> = rows.iter().flatten().copied().collect();
    pairs.sort_unstable();
    pairs.dedup();
    let number = |pair: &[u32; 2]| pairs.binary_search(pair).unwrap_or(0);
    let mut numbers: Vec<[usize; 2]> = rows.iter().map(|row| [number(&row[0]), number(&row[1])]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut losses = vec![0; pairs.len()];
    numbers.iter().for_each(|&[_, far]| losses[far] += 1);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order_by_key(&mut order, |pair| losses[pair]);
    let (mut blocks, mut before, mut compared) = (Vec::new(), 0, 0);
    for block in order.chunk_by(|&one, &other| losses[one] == losses[other]) {
        if losses[block[0]] != before {
            return None;
        }
        compared += block.len() * before;
        before += block.len();
        blocks.push(block.len() as u32);
    }
    let is_whole = compared == numbers.len() && numbers.iter().all(|&[near, far]| losses[near] < losses[far]);
    is_whole.then(|| (order.into_iter().map(|pair| pairs[pair]).collect(), blocks))
}

impl Choices {
    /// Stores the answers sorted by their contents, so that results do not depend on their original order.
    pub(super) fn new(n_leaves: usize, mut given: Vec<Given>) -> Result<Self> {
        const WHAT: &str = "answers by leaf";
        let mut sorted: Vec<usize> = (0..given.len()).collect();
        order_by(&mut sorted, &|one, other| {
            let ((order, weight, person), (other, their_weight, their_person)) = (&given[one], &given[other]);
            order.cmp(other).then(person.cmp(their_person)).then(weight.total_cmp(their_weight))
        });
        let (mut choices, mut all_pairs) = (Vec::new(), Vec::new());
        for at in sorted {
            let ((pairs, blocks), weight, person) = std::mem::take(&mut given[at]);
            let mut leaves: Vec<u32> = pairs.iter().flatten().copied().collect();
            leaves.sort_unstable();
            leaves.dedup();
            let by_chance = 1.0 / n_orders(&blocks);
            choices.push(Choice { first: all_pairs.len(), blocks, leaves, weight, person, by_chance });
            all_pairs.extend(pairs);
        }
        let mut by_leaf: Lists<u32> =
            Lists::new(WHAT, n_leaves, choices.iter().map(|choice| choice.leaves.len()).sum())?;
        by_leaf.fill(|add| {
            for (choice, at) in choices.iter().zip(0..) {
                choice.leaves.iter().for_each(|&leaf| add(leaf, at));
            }
        });
        let weight = |leaf: u32| by_leaf.of(leaf).iter().map(|&choice| choices[choice as usize].weight).sum();
        let leaf_weights = (0..n_leaves as u32).map(weight).collect();
        Ok(Self { choices, pairs: all_pairs, by_leaf, leaf_weights })
    }

    pub(super) fn len(&self) -> usize {
        self.choices.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }

    pub(super) fn of(&self, leaf: u32) -> &[u32] {
        self.by_leaf.of(leaf)
    }

    pub(super) fn all_pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    pub(super) fn range(&self, choice: usize) -> std::ops::Range<usize> {
        let first = self.choices[choice].first;
        first..self.choices.get(choice + 1).map_or(self.pairs.len(), |next| next.first)
    }

    pub(super) fn pairs(&self, choice: usize) -> &[[u32; 2]] {
        &self.pairs[self.range(choice)]
    }

    pub(super) fn blocks(&self, choice: usize) -> &[u32] {
        &self.choices[choice].blocks
    }

    pub(super) fn leaves(&self, choice: usize) -> &[u32] {
        &self.choices[choice].leaves
    }

    pub(super) fn weight(&self, choice: usize) -> f64 {
        self.choices[choice].weight
    }

    pub(super) fn leaf_weight(&self, leaf: u32) -> f64 {
        self.leaf_weights[leaf as usize]
    }

    pub(super) fn person(&self, choice: usize) -> u32 {
        self.choices[choice].person
    }

    /// Returns the log probability of an answer. `clear` is its probability without noise. `noise` is half of the share
    /// of random answers.
    #[inline]
    pub(super) fn log(&self, choice: usize, clear: f64, noise: f64) -> f64 {
        (2.0 * noise * self.choices[choice].by_chance + (1.0 - 2.0 * noise) * clear).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[[u32; 3]]) -> Option<Order> {
        let sorted = |a: u32, b: u32| [a.min(b), a.max(b)];
        let rows: Vec<_> = rows.iter().map(|&[a, b, c]| [sorted(a, b), sorted(a, c)]).collect();
        order_of(&rows)
    }

    #[test]
    fn kinds_are_told_by_their_comparisons() {
        let odd = of(&[[4, 2, 9], [2, 4, 9]]).unwrap();
        assert_eq!(odd, (vec![[2, 4], [2, 9], [4, 9]], vec![1, 2]));
        let central = of(&[[4, 2, 9], [9, 2, 4]]).unwrap();
        assert_eq!(central, (vec![[2, 4], [2, 9], [4, 9]], vec![2, 1]));
        let ranked = of(&[[0, 3, 1], [0, 3, 2], [0, 1, 2]]).unwrap();
        assert_eq!(ranked, (vec![[0, 3], [0, 1], [0, 2]], vec![1, 1, 1]));
        let chosen = of(&[[0, 1, 3], [0, 1, 4], [0, 2, 3], [0, 2, 4]]).unwrap();
        assert_eq!(chosen, (vec![[0, 1], [0, 2], [0, 3], [0, 4]], vec![2, 2]));
        let extremes = of(&[[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 2, 4], [0, 3, 4]]).unwrap();
        assert_eq!(extremes.1, [1, 2, 1]);
        assert_eq!(of(&[[0, 1, 2], [0, 1, 2]]), Some((vec![[0, 1], [0, 2]], vec![1, 1])));
    }

    #[test]
    fn what_is_no_order_is_nothing() {
        // A missing comparison, comparisons of unrelated pairs, a contradiction, and a cycle.
        assert_eq!(of(&[[0, 1, 3], [0, 1, 4], [0, 2, 3]]), None);
        assert_eq!(of(&[[0, 1, 2], [3, 4, 5]]), None);
        assert_eq!(of(&[[0, 1, 2], [0, 2, 1]]), None);
        assert_eq!(of(&[[0, 1, 2], [0, 2, 3], [0, 3, 1]]), None);
    }
}
