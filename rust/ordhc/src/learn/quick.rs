//! `QuickClustering`: divides the leaves into subsets (parts), and merges the trees of the subsets.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::asking::Strategy;
use super::learner::Told;
use super::slots;
use crate::error::Result;
use crate::search::{GrowingTree, NONE, Outcome, Place, Sketch, Walk};
use crate::tree::Dendrogram;

/// `QuickClustering` (Emamjomeh-Zadeh & Kempe, Algorithms 1 and 2).
///
/// A set of leaves is divided into parts 0 to 3 by two random leaves, the pivots a and b. The leaves of part 0 are
/// nearer to a, and those of part 1 are nearer to b. For the leaves of part 2, a and b are nearer to each other than to
/// the leaf. For the leaves of part 3 (only in trees of higher degree), no two of the three leaves are closer to each
/// other than to the third. If more than 15/16 of the leaves are in one of the parts 0 to 2, the pivots are chosen
/// again.
///
/// The trees of the parts 0, 1 and 3 are joined. The joined tree is inserted into the tree of part 2, by a search from
/// the root of that tree down. Part 3 is divided together with a *stand-in*, an artificial leaf that represents a, so
/// that the tree of part 3 has the right root. Then the tree of part 0 replaces the stand-in. If part 3 is divided
/// again at the same node, both divisions share one stand-in. The parent of the stand-in is the lowest common ancestor
/// of a and b.
#[derive(Debug, Clone)]
pub(crate) struct Quick {
    n: usize,
    forest: GrowingTree,
    root: u32,
    tasks: Vec<Division>,
    free: Vec<u32>,
    ready: VecDeque<u32>,
    /// The leaves `n + k` are artificial (stand-ins). Leaf `n + k` represents the leaf `stands_for[k]`, and its node is
    /// `stand_ins[k]`.
    stands_for: Vec<u32>,
    stand_ins: Vec<u32>,
    placed: usize,
    left: f64,
}

/// A set of leaves that is divided into parts, whose trees are then merged.
#[derive(Debug, Clone, Default)]
struct Division {
    leaves: Vec<u32>,
    /// For each of the `leaves`: the part (0 to 3) into which the leaf is put.
    sides: Vec<u8>,
    pivots: [u32; 2],
    attempt: u32,
    seed: u64,
    cursor: u32,
    /// The number of missing answers while the leaves are divided into parts. Later, the number of parts whose trees
    /// are missing.
    waiting: u32,
    /// For each of the four parts: its index in `tasks`, or [`NONE`].
    parts: [u32; 4],
    trees: [u32; 4],
    merge: Option<Walk>,
    /// The index in `stand_ins` of the artificial leaf (stand-in) in part 3. [`NONE`] if part 3 has no stand-in, or has
    /// the stand-in of an earlier division.
    stand_in: u32,
    /// The index in `tasks` of the larger set of which this set is a part, or [`NONE`] for the set of all leaves.
    parent: u32,
    part: u8,
}

/// The maximum number of times that random pivots are chosen for a division of leaves. The last pivots are used in any
/// case. In a binary tree, a pair of pivots is accepted with a probability of at least 3/128 (Lemma 3.1), and of about
/// 1/2 in most trees. Without the limit, contradictory answers could reject pivots forever.
const ATTEMPTS: u32 = 64;

const MERGE: u32 = u32::MAX;

impl Quick {
    /// `n` must be at least 1.
    pub(crate) fn new(n: usize, seed: u64) -> Self {
        let mut new = Self {
            n,
            forest: GrowingTree::default(),
            root: NONE,
            tasks: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            stands_for: Vec::new(),
            stand_ins: Vec::new(),
            placed: 0,
            left: 0.0,
        };
        let whole = Division { leaves: (0..n as u32).collect(), seed, parent: NONE, ..Division::default() };
        if let Some(root) = new.open(whole).1 {
            new.root = root;
        }
        new
    }

    fn real(&self, leaf: u32) -> u32 {
        let mut leaf = leaf;
        while let Some(stands_for) = (leaf as usize).checked_sub(self.n) {
            leaf = self.stands_for[stands_for];
        }
        leaf
    }

    /// Starts to divide the leaves of `task`, and returns its index in `tasks`. Returns their tree instead if there are
    /// only one or two leaves.
    fn open(&mut self, task: Division) -> (u32, Option<u32>) {
        if task.leaves.len() <= 2 {
            let nodes: Vec<u32> = task.leaves.iter().map(|&leaf| self.leaf(leaf)).collect();
            let tree = if let [a, b] = nodes[..] { self.forest.pair(a, b) } else { nodes[0] };
            return (NONE, Some(tree));
        }
        self.left += bits(task.leaves.len());
        let number = slots::put(&mut self.tasks, &mut self.free, task);
        self.divide(number);
        (number, None)
    }

    fn leaf(&mut self, leaf: u32) -> u32 {
        let node = self.forest.leaf(leaf);
        match (leaf as usize).checked_sub(self.n) {
            Some(stand_in) => self.stand_ins[stand_in] = node,
            None => self.placed += 1,
        }
        node
    }

    fn divide(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let mut random = ChaCha8Rng::seed_from_u64(task.seed);
        random.set_stream(2 + u64::from(task.attempt));
        let n = task.leaves.len() as u32;
        let a = random.random_range(0..n);
        let b = random.random_range(0..n - 1);
        task.pivots = [a, b + u32::from(b >= a)];
        task.sides.clear();
        task.sides.resize(n as usize, 0);
        task.sides[task.pivots[1] as usize] = 1;
        (task.cursor, task.waiting) = (0, n - 2);
        self.ready.push_back(number);
    }

    fn divided(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        let n = task.leaves.len();
        let mut counts = [0; 4];
        task.sides.iter().for_each(|&side| counts[side as usize] += 1);
        let largest = counts[..3].iter().max().map_or(0, |&largest| largest);
        task.attempt += 1;
        if 16 * largest > 15 * n && task.attempt < ATTEMPTS {
            return self.divide(number);
        }
        self.left -= bits(n);
        let mut parts: [Vec<u32>; 4] = counts.map(Vec::with_capacity);
        let leaves = std::mem::take(&mut task.leaves);
        let pivot = leaves[task.pivots[0] as usize];
        for (&leaf, side) in leaves.iter().zip(std::mem::take(&mut task.sides)) {
            parts[side as usize].push(leaf);
        }
        let mut random = ChaCha8Rng::seed_from_u64(task.seed);
        random.set_stream(1);
        task.parts = [NONE; 4];
        task.trees = [NONE; 4];
        task.waiting = 1;
        let first_stand_in = self.n as u32;
        task.stand_in = NONE;
        if !parts[3].is_empty() && parts[3].iter().all(|&leaf| leaf < first_stand_in) {
            task.stand_in = self.stands_for.len() as u32;
            parts[3].push(first_stand_in + task.stand_in);
            self.stands_for.push(pivot);
            self.stand_ins.push(NONE);
        }
        for (part, leaves) in (0u8..).zip(parts) {
            let seed = random.random();
            if leaves.is_empty() {
                continue;
            }
            let (task, tree) = self.open(Division { leaves, seed, parent: number, part, ..Division::default() });
            let this = &mut self.tasks[number as usize];
            this.parts[part as usize] = task;
            match tree {
                Some(tree) => this.trees[part as usize] = tree,
                None => this.waiting += 1,
            }
        }
        self.arrive(number);
    }

    fn arrive(&mut self, number: u32) {
        let mut number = number;
        loop {
            let task = &mut self.tasks[number as usize];
            task.waiting -= 1;
            if task.waiting > 0 {
                return;
            }
            let [a, b, rest, more] = task.trees;
            let joined = match (more, task.stand_in) {
                (NONE, _) => self.forest.pair(a, b),
                // Part 3 of the leaves has only an artificial leaf, which represents the first pivot of an earlier
                // division at the same node.
                (leaf, NONE) if self.forest.first(leaf) == NONE => {
                    let root = self.forest.pair(a, b);
                    self.forest.put(Place::Under(root), leaf)
                }
                (root, NONE) => {
                    self.forest.put(Place::Under(root), a);
                    self.forest.put(Place::Under(root), b)
                }
                (root, stand_in) => {
                    self.forest.replace(self.stand_ins[stand_in as usize], a);
                    self.forest.put(Place::Under(root), b)
                }
            };
            let task = &mut self.tasks[number as usize];
            task.trees = [joined, NONE, rest, NONE];
            task.parts = [NONE; 4];
            if rest != NONE {
                task.merge = Some(Walk::new(&self.forest, rest));
                if self.walk(number) {
                    return;
                }
            }
            match self.close(number) {
                Some(parent) => number = parent,
                None => return,
            }
        }
    }

    /// Asks the next question of the merge of two trees. Returns false if the merge is done.
    fn walk(&mut self, number: u32) -> bool {
        let task = &mut self.tasks[number as usize];
        let [joined, _, rest, _] = task.trees;
        let Some(place) = task.merge.as_ref().and_then(Walk::end) else {
            self.ready.push_back(number);
            return true;
        };
        let parent = self.forest.put(place, joined);
        task.trees[0] = if place == Place::Above(rest) { parent } else { rest };
        false
    }

    fn close(&mut self, number: u32) -> Option<u32> {
        let Division { trees, parent, part, .. } = std::mem::take(&mut self.tasks[number as usize]);
        self.free.push(number);
        if parent == NONE {
            self.root = trees[0];
            return None;
        }
        self.tasks[parent as usize].trees[part as usize] = trees[0];
        Some(parent)
    }
}

/// Returns the approximate number of questions for building a tree of `k` leaves.
fn bits(k: usize) -> f64 {
    k as f64 * (k as f64).log2()
}

impl Strategy for Quick {
    /// The index in `tasks` of a division, and the index of one of its leaves. The second number is [`MERGE`] if the
    /// question merges the trees of the parts.
    type Purpose = (u32, u32);

    fn next(&mut self) -> Option<([u32; 3], Self::Purpose)> {
        while let Some(&number) = self.ready.front() {
            let task = &mut self.tasks[number as usize];
            if let Some(walk) = &task.merge {
                let [first, second] = walk.question(&self.forest);
                let leaves = [first, second, self.forest.representative(task.trees[0])];
                self.ready.pop_front();
                return Some((leaves.map(|leaf| self.real(leaf)), (number, MERGE)));
            }
            while task.pivots.contains(&task.cursor) {
                task.cursor += 1;
            }
            let at = task.cursor;
            task.cursor += 1;
            match task.leaves.get(at as usize) {
                None => {
                    self.ready.pop_front();
                }
                Some(&leaf) => {
                    let [a, b] = task.pivots.map(|pivot| task.leaves[pivot as usize]);
                    return Some(([a, b, leaf].map(|leaf| self.real(leaf)), (number, at)));
                }
            }
        }
        None
    }

    fn take(&mut self, (number, at): Self::Purpose, Told { answer, .. }: Told) {
        let outcome = Outcome::of_answer(answer);
        let task = &mut self.tasks[number as usize];
        if at == MERGE {
            if let Some(walk) = &mut task.merge {
                walk.step(&self.forest, outcome);
            }
            if !self.walk(number)
                && let Some(parent) = self.close(number)
            {
                self.arrive(parent);
            }
            return;
        }
        task.sides[at as usize] = outcome as u8;
        task.waiting -= 1;
        if task.waiting == 0 {
            self.divided(number);
        }
    }

    fn done(&self) -> bool {
        self.root != NONE
    }

    fn tree(&self) -> Result<Dendrogram> {
        let mut sketch = Sketch::default();
        let n = self.n as u32;
        let mut stack = vec![(0, 0, self.root)];
        while let Some((parent, number, tree)) = stack.pop() {
            if tree != NONE {
                sketch.tree(parent, &self.forest, tree, n);
                continue;
            }
            let task = &self.tasks[number as usize];
            let top = sketch.node(parent);
            if task.leaves.is_empty() {
                // The pivots (the two leaves that divide the set) are nearer to each other than to the leaves of part
                // 2. So until the trees are merged, put part 2 beside a node that joins all other parts.
                let joined = sketch.node(top);
                for part in 0..4 {
                    let (number, tree) = (task.parts[part], task.trees[part]);
                    if number != NONE || tree != NONE {
                        stack.push((if part == 2 { top } else { joined }, number, tree));
                    }
                }
            } else {
                task.leaves.iter().filter(|&&leaf| leaf < n).for_each(|&leaf| sketch.leaf(top, leaf));
            }
        }
        sketch.finish(self.n)
    }

    fn n_leaves(&self) -> usize {
        self.n
    }

    fn placed(&self) -> usize {
        self.placed
    }

    fn remaining(&self, _n_answered: u64) -> f64 {
        self.left
    }
}
