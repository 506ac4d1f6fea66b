//! The decision tree that chooses the questions of a search, and is updated while leaves are inserted.

use super::growing_tree::{GrowingTree, NONE};
use super::order::Order;
use super::place::{Outcome, Place};
use super::region::{PivotRule, Region};

/// A state of a search for the position of a new leaf (a node of the decision tree): the next question, or the final
/// position. A question is about two children of a node, the *pivot*.
#[derive(Debug, Clone, Copy)]
struct State {
    /// The previous state, or [`NONE`] for the first state. [`STALE`] for a replaced state, which only searches that
    /// were already running can reach.
    up: u32,
    node: u32,
    /// The leaf that represents the first child in the question. In a final state, [`ABOVE`] or [`UNDER`]: where the
    /// new leaf belongs relative to `node`.
    first: u32,
    second: u32,
    /// The next state for each [`Outcome`], or [`NONE`] if the outcome contradicts earlier answers.
    next: [u32; 4],
    /// An upper bound of the number of positions at which a search in this state can end. Positions under nodes with
    /// two children are not counted. Each leaf that is inserted at a counted position adds 2.
    size: u32,
    /// The value of `size` when the question of this state was chosen. The question is chosen again after `size` has
    /// grown by half.
    built: u32,
}

const STALE: u32 = u32::MAX - 1;
const MARKED: u32 = u32::MAX - 2;
const ABOVE: u32 = u32::MAX;
const UNDER: u32 = u32::MAX - 1;

/// A growing tree, with a decision tree (the *pivot tree*) by which the position of a new leaf is searched. Each
/// question of the pivot tree is about two children of a node of the growing tree, the *pivot*.
///
/// The leaves of the pivot tree are the positions for a new leaf. When a leaf is inserted at a position, this position
/// becomes a question about a new pivot. So running searches stay valid when leaves are inserted elsewhere. If two
/// searches end at the same position, the second search continues with this question.
///
/// A subtree of the pivot tree that has grown by half is rebuilt in O(m log m) for m positions. The new pivots are
/// those whose outcomes have the largest entropy. The amortized time for each leaf is O(log^2 n). Running searches
/// within such a subtree use the old states, which end at the same positions as the new states.
///
/// If a pivot has more than two children, questions are about pairs of its children, the largest children first. So a
/// search takes O((d / log d) log n) questions in a tree of degree d.
#[derive(Debug, Clone, Default)]
pub(crate) struct PivotTree {
    tree: GrowingTree,
    start: u32,
    states: Vec<State>,
    above: Vec<u32>,
    under: Vec<u32>,
    free: Vec<u32>,
    stale: Vec<u32>,
    scratch: Scratch,
}

#[derive(Debug, Clone, Default)]
struct Scratch {
    region: Region,
    places: Vec<Place>,
    stack: Vec<u32>,
    open: Vec<(u32, u32)>,
    children: Vec<u32>,
    old: Vec<u32>,
}

impl PivotTree {
    pub(crate) fn new(leaf: u32) -> Self {
        let mut new = Self::default();
        let root = new.tree.leaf(leaf);
        new.start = new.place(Place::Above(root), NONE);
        new
    }

    pub(crate) fn of(order: &Order) -> Self {
        let mut new = Self::new(order.leaf(0));
        for (place, leaf) in order.known() {
            let state = match place {
                Place::Above(node) => new.above[node as usize],
                Place::Under(node) => new.under[node as usize],
            };
            new.insert(state, leaf);
        }
        new.rebuild(new.start, false);
        new
    }

    pub(crate) fn start(&self) -> u32 {
        self.start
    }

    pub(crate) fn tree(&self) -> &GrowingTree {
        &self.tree
    }

    pub(crate) fn question(&self, state: u32) -> Option<[u32; 2]> {
        let state = &self.states[state as usize];
        (state.first != ABOVE && state.first != UNDER).then_some([state.first, state.second])
    }

    /// Returns the next state. An outcome that contradicts earlier answers counts as [`Outcome::Neither`].
    pub(crate) fn step(&self, state: u32, outcome: Outcome) -> u32 {
        let next = &self.states[state as usize].next;
        match next[outcome as usize] {
            NONE => next[Outcome::Neither as usize],
            next => next,
        }
    }

    pub(crate) fn place_of(&self, state: u32) -> Place {
        let state = &self.states[state as usize];
        if state.first == UNDER { Place::Under(state.node) } else { Place::Above(state.node) }
    }

    pub(crate) fn insert(&mut self, state: u32, leaf: u32) {
        let place = self.place_of(state);
        let [parent, new] = self.tree.insert(place, leaf);
        let (first, second, size) = match place {
            Place::Above(node) => (node, new, 3),
            Place::Under(_) => (new, self.tree.next(new), 2),
        };
        let mut next = [NONE; 4];
        next[Outcome::First as usize] = self.place(Place::Above(first), state);
        if let Place::Above(_) = place {
            next[Outcome::Second as usize] = self.place(Place::Above(second), state);
            next[Outcome::Outside as usize] = self.place(Place::Above(parent), state);
        }
        next[Outcome::Neither as usize] = self.place(Place::Under(parent), state);
        let up = self.states[state as usize].up;
        let [first, second] = [first, second].map(|node| self.tree.representative(node));
        self.states[state as usize] = State { up, node: parent, first, second, next, size, built: size };
    }

    /// Rebuilds the largest subtree of the decision tree that contains `state` and has grown by half since it was
    /// built.
    ///
    /// If other searches are running (`busy`), their states may be in this subtree. So the old states are kept until
    /// [`sweep`](Self::sweep) frees them.
    pub(crate) fn balance(&mut self, state: u32, busy: bool) {
        let mut grown = NONE;
        let mut at = self.states[state as usize].up;
        while at != NONE {
            let state = &mut self.states[at as usize];
            state.size += 2;
            if state.size > state.built + state.built / 2 {
                grown = at;
            }
            at = state.up;
        }
        if grown != NONE {
            self.rebuild(grown, busy);
        }
    }

    pub(crate) fn rebuild(&mut self, state: u32, busy: bool) {
        if self.question(state).is_none() {
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.places.clear();
        scratch.old.clear();
        scratch.stack.push(state);
        while let Some(at) = scratch.stack.pop() {
            if self.question(at).is_none() {
                scratch.places.push(self.place_of(at));
                continue;
            }
            if at != state {
                scratch.old.push(at);
            }
            scratch.stack.extend(self.states[at as usize].next.iter().filter(|&&next| next != NONE));
        }
        let state = if busy { self.succeed(state, &mut scratch.old) } else { state };
        if busy {
            scratch.old.iter().for_each(|&old| self.states[old as usize].up = STALE);
            self.stale.append(&mut scratch.old);
        } else {
            self.free.append(&mut scratch.old);
        }
        let size = scratch.region.load(&self.tree, &scratch.places);
        if size > 1 {
            scratch.open.push((0, state));
        }
        while let Some((top, state)) = scratch.open.pop() {
            self.fill(top, state, &mut scratch);
        }
        self.scratch = scratch;
    }

    fn succeed(&mut self, old: u32, stale: &mut Vec<u32>) -> u32 {
        let new = self.new_state();
        let up = self.states[old as usize].up;
        self.states[new as usize].up = up;
        if up == NONE {
            self.start = new;
        } else {
            let next = &mut self.states[up as usize].next;
            next.iter_mut().filter(|next| **next == old).for_each(|next| *next = new);
        }
        stale.push(old);
        new
    }

    fn fill(&mut self, top: u32, state: u32, scratch: &mut Scratch) {
        let Scratch { region, open, children, .. } = scratch;
        let pivot = region.pivot(top, PivotRule::Entropy);
        let (node, size) = (region.node(pivot), region.size(top));
        region.children(pivot, children);
        let mut state = state;
        let mut next = [NONE; 4];
        if !region.is_inside(pivot) {
            region.cut(pivot, top);
            next[Outcome::Outside as usize] = self.part(region, top, state, open);
        }
        let outside = if next[Outcome::Outside as usize] == NONE { 0 } else { region.size(top) };
        let mut left = size;
        let mut pairs = children.chunks(2).peekable();
        while let Some(pair) = pairs.next() {
            next[Outcome::First as usize] = self.part(region, pair[0], state, open);
            let first = region.node(pair[0]);
            let second = match pair.get(1) {
                Some(&second) => {
                    next[Outcome::Second as usize] = self.part(region, second, state, open);
                    region.node(second)
                }
                // A question needs two children. If the number of children is odd, ask about the last child together
                // with a child that has been ruled out.
                None => self.tree.children(node).find(|&child| child != first).unwrap_or(first),
            };
            let neither = match pairs.peek() {
                Some(_) => self.new_state(),
                None => self.under[node as usize],
            };
            self.states[neither as usize].up = state;
            next[Outcome::Neither as usize] = neither;
            let up = self.states[state as usize].up;
            let [first, second] = [first, second].map(|node| self.tree.representative(node));
            self.states[state as usize] = State { up, node, first, second, next, size: left, built: left };
            let asked: u32 = pair.iter().map(|&child| region.size(child)).sum();
            left = left.saturating_sub(asked + if next[Outcome::Outside as usize] == NONE { 0 } else { outside });
            (state, next) = (neither, [NONE; 4]);
        }
    }

    /// Returns a state for a new leaf that belongs at or below the node with the index `top` in `region`. If only one
    /// position is possible, this is its final state. Otherwise, it is a new state without a question, which is added
    /// to `open`.
    fn part(&mut self, region: &Region, top: u32, up: u32, open: &mut Vec<(u32, u32)>) -> u32 {
        let state = if region.size(top) == 1 {
            self.above[region.node(top) as usize]
        } else {
            let state = self.new_state();
            open.push((top, state));
            state
        };
        self.states[state as usize].up = up;
        state
    }

    fn place(&mut self, place: Place, up: u32) -> u32 {
        let state = self.new_state();
        let (node, kind) = match place {
            Place::Above(node) => (node, ABOVE),
            Place::Under(node) => (node, UNDER),
        };
        let nodes = self.tree.len();
        let places = if kind == ABOVE { &mut self.above } else { &mut self.under };
        places.resize(nodes, NONE);
        places[node as usize] = state;
        self.states[state as usize] = State { up, node, first: kind, second: kind, next: [NONE; 4], size: 1, built: 1 };
        state
    }

    fn new_state(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let none = State { up: NONE, node: NONE, first: ABOVE, second: ABOVE, next: [NONE; 4], size: 0, built: 0 };
            self.states.push(none);
            self.states.len() as u32 - 1
        })
    }

    pub(crate) fn is_littered(&self) -> bool {
        self.stale.len() > 1000 + self.tree.len()
    }

    /// Frees the replaced states that no running search can reach. `searches` are the states of all running searches.
    pub(crate) fn sweep(&mut self, searches: impl Iterator<Item = u32>) {
        let mut stack: Vec<u32> = searches.collect();
        while let Some(at) = stack.pop() {
            let state = &mut self.states[at as usize];
            if state.up == STALE {
                state.up = MARKED;
                stack.extend(state.next.iter().filter(|&&next| next != NONE));
            }
        }
        let mut stale = std::mem::take(&mut self.stale);
        stale.retain(|&at| {
            let state = &mut self.states[at as usize];
            let keep = state.up == MARKED;
            if keep {
                state.up = STALE;
            } else {
                self.free.push(at);
            }
            keep
        });
        self.stale = stale;
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn ends(tree: &PivotTree, state: u32) -> (Vec<Place>, usize) {
        let (mut places, mut longest) = (Vec::new(), 0);
        let mut stack = vec![(state, 0)];
        while let Some((state, steps)) = stack.pop() {
            if tree.question(state).is_none() {
                places.push(tree.place_of(state));
                longest = longest.max(steps);
                continue;
            }
            let next = tree.states[state as usize].next;
            assert_ne!(next[Outcome::Neither as usize], NONE);
            stack.extend(next.into_iter().filter(|&next| next != NONE).map(|next| (next, steps + 1)));
        }
        places.sort_by_key(|place| match *place {
            Place::Above(node) => (node, 0),
            Place::Under(node) => (node, 1),
        });
        (places, longest)
    }

    fn any_place(tree: &PivotTree, from: u32, random: &mut impl Rng) -> u32 {
        let outcomes = [Outcome::First, Outcome::Second, Outcome::Outside, Outcome::Neither];
        let mut state = from;
        while tree.question(state).is_some() {
            // Mostly avoid "neither", so that only some nodes have many children.
            let last = if random.random_bool(0.1) { 4 } else { 3 };
            state = tree.step(state, outcomes[random.random_range(0..last)]);
        }
        state
    }

    #[test]
    fn every_place_is_reached_once_whatever_grows() {
        for seed in 0..20 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut tree = PivotTree::new(0);
            let mut searches = [tree.start(); 5];
            for leaf in 1..300 {
                // If `busy`, several searches run at the same time. Each search continues from the state that it has
                // reached. The decision tree may have replaced this state meanwhile.
                let busy = seed.is_multiple_of(2);
                let at = random.random_range(0..searches.len());
                let from = if busy { searches[at] } else { tree.start() };
                let state = any_place(&tree, from, &mut random);
                tree.insert(state, leaf);
                tree.balance(state, busy);
                searches[at] = tree.start();
                let other = random.random_range(0..searches.len());
                if tree.question(searches[other]).is_some() {
                    searches[other] = tree.step(searches[other], Outcome::First);
                }
                if leaf.is_multiple_of(50) {
                    tree.sweep(searches.iter().copied());
                }
                let nodes = 0..tree.tree().len() as u32;
                let expected: Vec<Place> = nodes
                    .flat_map(|node| {
                        let under = (tree.tree().first(node) != NONE).then_some(Place::Under(node));
                        std::iter::once(Place::Above(node)).chain(under)
                    })
                    .collect();
                let (places, longest) = ends(&tree, tree.start());
                assert_eq!(places, expected);
                let wide = |node| tree.tree().children(node).count();
                let degree = (0..tree.tree().len() as u32).map(wide).max().unwrap_or(2);
                let bound = (degree as f64 + 1.0) * (2.0 + 2.0 * f64::from(leaf).log2());
                assert!((longest as f64) < bound, "{longest} questions for {leaf} leaves");
            }
            assert!(tree.states.len() < 40 * 300);
        }
    }
}
