//! The region of a tree in which a new leaf may still belong: a connected set of nodes.

use super::growing_tree::{GrowingTree, NONE};
use super::place::Place;
use crate::sorting::order_by_key;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PivotRule {
    /// Choose the pivot whose outcomes have the largest entropy. All positions for the new leaf count as equally
    /// likely.
    Entropy,
    /// Choose the pivot whose worst outcome leaves the fewest positions for the new leaf (Emamjomeh-Zadeh & Kempe,
    /// Algorithm 4).
    Halving,
}

/// A node of the region. `up` (the parent), `first` (the first child) and `next` (the next sibling) are indices in
/// [`Region::spots`], where nodes are in preorder.
#[derive(Debug, Clone, Copy)]
struct Spot {
    node: u32,
    up: u32,
    first: u32,
    next: u32,
    /// The number of positions at and below the node that are still possible for the new leaf. The position as one more
    /// child of a node is not counted if the node has only two children.
    size: u32,
    degree: u32,
}

/// The positions that are still possible for a new leaf, in a connected subgraph of a [`GrowingTree`]. Each answer
/// about a node (the pivot) leaves only a smaller connected part of the region.
///
/// A part of the region is identified by the index of its topmost node. At the topmost node of the region, earlier
/// answers may exclude the position above the node and some of the children. Then the new leaf is below this node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Region {
    spots: Vec<Spot>,
    /// True if the new leaf is known to be below the topmost node of the region.
    is_inside: bool,
    /// For each node of the tree: its index in `above`, or an outdated index if `above` does not have the node.
    marks: Vec<u32>,
    above: Vec<u32>,
    stack: Vec<(u32, u32)>,
    log: Vec<f64>,
}

/// A node is not considered as a pivot (a node to ask about) if less than 1 / `SMALLEST_SHARE` of the possible
/// positions for the new leaf are at or below the node. The entropy of the outcomes would be below 0.75 bits.
const SMALLEST_SHARE: u32 = 8;

const TABLE: usize = 1 << 12;

impl Region {
    pub(crate) fn whole(&mut self, tree: &GrowingTree) {
        self.is_inside = false;
        self.fill(tree, tree.root(), |_, _| true);
    }

    /// Fills the region with `places`, the positions that are still possible for a new leaf. The positions must be
    /// connected in the tree. Returns the number of positions, without positions under nodes with two children.
    pub(crate) fn load(&mut self, tree: &GrowingTree, places: &[Place]) -> u32 {
        let mut above = std::mem::take(&mut self.above);
        above.clear();
        above.extend(places.iter().filter_map(|place| match *place {
            Place::Above(node) => Some(node),
            Place::Under(_) => None,
        }));
        if self.marks.len() < tree.len() {
            self.marks.resize(tree.len().next_power_of_two(), 0);
        }
        for (at, &node) in above.iter().enumerate() {
            self.marks[node as usize] = at as u32;
        }
        self.above = above;
        let rest = places.iter().find_map(|place| match *place {
            Place::Under(node) if !self.has(node) => Some(node),
            _ => None,
        });
        self.is_inside = rest.is_some();
        let is_top = |&node: &u32| tree.parent(node) == NONE || !self.has(tree.parent(node));
        let top = rest.or_else(|| self.above.iter().copied().find(is_top)).unwrap_or(NONE);
        if top == NONE {
            self.spots.clear();
            return 0;
        }
        self.fill(tree, top, |region, node| region.has(node));
        self.size(0)
    }

    fn has(&self, node: u32) -> bool {
        self.above.get(self.marks[node as usize] as usize) == Some(&node)
    }

    fn fill(&mut self, tree: &GrowingTree, top: u32, has: impl Fn(&Self, u32) -> bool) {
        self.spots.clear();
        let mut stack = std::mem::take(&mut self.stack);
        stack.push((top, NONE));
        while let Some((node, up)) = stack.pop() {
            let at = self.spots.len() as u32;
            let mut next = NONE;
            if up != NONE {
                let above = &mut self.spots[up as usize];
                next = std::mem::replace(&mut above.first, at);
                above.degree += 1;
            }
            self.spots.push(Spot { node, up, first: NONE, next, size: 1, degree: 0 });
            stack.extend(tree.children(node).filter(|&child| has(self, child)).map(|child| (child, at)));
        }
        self.stack = stack;
        for at in (0..self.spots.len()).rev() {
            let spot = &mut self.spots[at];
            // `size` starts at 1, for the position beside the node. Add 1 for the position under the node, if the node
            // has more than two children. Exception: if the new leaf is known to be below the topmost node, the
            // position beside the topmost node is impossible, and the 1 counts the position under the topmost node.
            spot.size += u32::from(spot.degree > 2 && !(at == 0 && self.is_inside));
            let (size, up) = (spot.size, spot.up);
            if up != NONE {
                self.spots[up as usize].size += size;
            }
        }
    }

    pub(crate) fn node(&self, at: u32) -> u32 {
        self.spots[at as usize].node
    }

    pub(crate) fn size(&self, top: u32) -> u32 {
        self.spots[top as usize].size
    }

    pub(crate) fn is_inside(&self, top: u32) -> bool {
        top == 0 && self.is_inside
    }

    pub(crate) fn children(&self, at: u32, children: &mut Vec<u32>) {
        children.clear();
        children.extend(self.each_child(at));
        order_by_key(children, |child| (std::cmp::Reverse(self.size(child)), child));
    }

    fn each_child(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |at: u32| (at != NONE).then_some(at);
        std::iter::successors(some(self.spots[at as usize].first), move |&child| some(self.spots[child as usize].next))
    }

    /// Returns the index of the best node to ask about, among `top` and the nodes below `top`. More than one position
    /// must be possible at and below `top`.
    pub(crate) fn pivot(&mut self, top: u32, rule: PivotRule) -> u32 {
        if self.log.is_empty() {
            self.log = (0..TABLE).map(x_log_x).collect();
        }
        let whole = self.size(top);
        let mut best = (f64::INFINITY, top);
        let mut stack = std::mem::take(&mut self.stack);
        stack.push((top, 0));
        while let Some((at, _)) = stack.pop() {
            let spot = self.spots[at as usize];
            if spot.degree == 0 {
                continue;
            }
            let (mut first, mut second) = (0, 0);
            for child in self.each_child(at) {
                let size = self.size(child);
                (first, second) = (first.max(size), second.max(size.min(first)));
                if size > 1 && size.saturating_mul(SMALLEST_SHARE) >= whole {
                    stack.push((child, 0));
                }
            }
            let outside = if self.is_inside(at) { 0 } else { whole - spot.size + 1 };
            let neither = whole - outside - first - second;
            let parts = [first, second, outside, neither];
            let cost = match rule {
                PivotRule::Entropy => {
                    let value = |&part: &u32| self.log.get(part as usize).copied();
                    parts.iter().map(|part| value(part).unwrap_or_else(|| x_log_x(*part as usize))).sum()
                }
                PivotRule::Halving => f64::from(parts.into_iter().max().unwrap_or(0)),
            };
            if cost < best.0 {
                best = (cost, at);
            }
        }
        self.stack = stack;
        best.1
    }

    /// Removes all positions below the node `at`, because the new leaf is known to be outside of this node. Updates the
    /// sizes from `at` up to `top`.
    pub(crate) fn cut(&mut self, at: u32, top: u32) {
        let spot = &mut self.spots[at as usize];
        let gone = spot.size - 1;
        (spot.size, spot.first, spot.degree) = (1, NONE, 0);
        let mut at = at;
        while at != top {
            at = self.spots[at as usize].up;
            self.spots[at as usize].size -= gone;
        }
    }
}

fn x_log_x(x: usize) -> f64 {
    if x == 0 { 0.0 } else { x as f64 * (x as f64).log2() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::random_tree;

    fn outcomes(tree: &GrowingTree, all: &[u32], node: u32) -> Vec<f64> {
        let below = |top: u32| all.iter().filter(|&&at| tree.up_from(at).any(|at| at == top)).count() as f64;
        let mut sizes: Vec<f64> = tree.children(node).map(below).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let wide = all.iter().filter(|&&at| tree.children(at).count() > 2).count() as f64;
        assert_eq!(wide, 0.0);
        vec![sizes[0], sizes[1], all.len() as f64 - sizes[0] - sizes[1]]
    }

    #[test]
    fn pivots_are_the_best_ones() {
        for seed in 0..30 {
            let n = 3 + seed as u32 * 3;
            let tree = random_tree(n, 2, seed);
            let all: Vec<u32> = (0..tree.len() as u32).collect();
            let entropy = |node| {
                let parts = outcomes(&tree, &all, node);
                parts.iter().map(|part| x_log_x(*part as usize)).sum::<f64>()
            };
            let largest = |node| outcomes(&tree, &all, node).into_iter().fold(0.0, f64::max);
            let inner = || all.iter().copied().filter(|&node| tree.first(node) != NONE);
            let best = |cost: &dyn Fn(u32) -> f64| inner().map(cost).fold(f64::INFINITY, f64::min);
            let mut region = Region::default();
            region.whole(&tree);
            let (top, pivot) = (0, region.pivot(0, PivotRule::Entropy));
            assert!((entropy(region.node(pivot)) - best(&entropy)).abs() < 1e-9);
            let pivot = region.pivot(top, PivotRule::Halving);
            assert_eq!(largest(region.node(pivot)), best(&largest));
            assert!(largest(region.node(pivot)) <= (all.len() as f64 / 2.0).ceil());
            // After `cut` removes the positions below the pivot, `size` must equal the size of a new region of the
            // remaining positions.
            region.cut(pivot, top);
            let outside = region.size(top);
            let gone: Vec<u32> = tree.children(region.node(pivot)).collect();
            let below = |node: u32| tree.up_from(node).any(|node| gone.contains(&node));
            let left: Vec<Place> = all.iter().filter(|&&node| !below(node)).map(|&node| Place::Above(node)).collect();
            assert_eq!(outside as usize, left.len());
            assert_eq!(Region::default().load(&tree, &left), outside);
        }
    }
}
