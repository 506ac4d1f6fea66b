//! The best places of several subtrees at once, one in each lane.

use super::climb::GROUP;
use super::cost::Real;
use super::shape::Shape;

/// What is between the nodes of a tree, and what subtrees have to do with every node.
pub(super) struct Places<V> {
    n: usize,
    /// By inner node, from the first.
    joins: Vec<Join<V>>,
    /// Inner nodes, from the first, parents before children; with room for what is no node.
    order: Vec<u32>,
    /// By node.
    lanes: Vec<Lanes<V>>,
    /// The subtrees that were looked at last, in this tree.
    subtrees: Option<[usize; GROUP]>,
}

/// An inner node.
#[derive(Debug, Clone, Copy)]
struct Join<V> {
    children: [u32; 2],
    sizes: [V; 2],
    /// The sum of similarities between the two children.
    cross: V,
    /// Nothing, or minus infinity where no subtree may be put above.
    floor: V,
}

/// Of several subtrees, for one node.
#[derive(Debug, Clone, Copy)]
struct Lanes<V> {
    /// The sum of similarities with the subtree, without its own.
    with: [V; GROUP],
    /// By how much it is worth more to be at the best place in the node, or above it, than above it.
    more: [V; GROUP],
}

impl<V: Real> Places<V> {
    pub(super) fn new(n: usize, movable: &[bool]) -> Self {
        let floor = |movable: bool| if movable { V::ZERO } else { V::of(f64::NEG_INFINITY) };
        let nothing = Join { children: [0; 2], sizes: [V::ZERO; 2], cross: V::ZERO, floor: V::ZERO };
        let joins = movable[n..].iter().map(|&movable| Join { floor: floor(movable), ..nothing }).collect();
        let lanes = movable.iter().map(|&movable| Lanes { with: [V::ZERO; GROUP], more: [floor(movable); GROUP] });
        Self { n, joins, order: vec![0; n], lanes: lanes.collect(), subtrees: None }
    }

    /// Takes note of the order of nodes: from the root down, level by level, so that what comes one after the other does
    /// not wait for each other.
    pub(super) fn list(&mut self, root: usize) {
        self.subtrees = None;
        let n = self.n;
        if root < n {
            return;
        }
        self.order[0] = (root - n) as u32;
        let mut next = 1;
        for at in 0..n - 1 {
            // Without a branch on what is a leaf, whose place is taken by what comes next.
            for child in self.joins[self.order[at] as usize].children {
                self.order[next] = child.wrapping_sub(n as u32);
                next += usize::from(child >= n as u32);
            }
        }
    }

    /// Takes note of the children of an inner node.
    pub(super) fn join(&mut self, shape: &Shape, node: usize) {
        let children = shape.children(node);
        let join = &mut self.joins[node - self.n];
        join.children = children.map(|child| child as u32);
        join.sizes = children.map(|child| V::of(shape.size(child) as f64));
    }

    /// The sum of similarities between the two children of an inner node.
    pub(super) fn cross(&mut self, node: usize) -> &mut V {
        &mut self.joins[node - self.n].cross
    }

    pub(super) fn sum_between(&self, node: usize) -> f64 {
        self.joins[node - self.n].cross.float()
    }

    /// In which lane a subtree was looked at, in this tree.
    pub(super) fn lane_of(&self, subtree: usize) -> Option<usize> {
        self.subtrees?.iter().position(|&other| other == subtree)
    }

    /// The sum of similarities of a node with the subtree of a lane, without its own.
    pub(super) fn with(&self, node: usize, lane: usize) -> V {
        self.lanes[node].with[lane]
    }

    /// Looks at all places of subtrees, given their similarities with all leaves. A subtree of x leaves, put above v,
    /// costs (|v| + x) times its similarity with v; every node b above has x leaves more, for which its two parts pay
    /// x times their similarity, and pays |b| + x for the similarity of the subtree with the part that v isn't in.
    /// So from a node down to a child the cost rises by x times the similarity of the two children, and falls by
    /// the size of the other child times the similarity of the subtree with this one.
    pub(super) fn look(&mut self, shape: &Shape, subtrees: [usize; GROUP], rows: [&[V]; GROUP]) {
        // Four leaves at a time, so that a block is turned around in registers.
        let [(first, first_rest), (second, second_rest), (third, third_rest), (fourth, fourth_rest)] =
            rows.map(|row| row.as_chunks::<4>());
        let (leaves, rest) = self.lanes[..self.n].as_chunks_mut::<4>();
        for ((((leaves, a), b), c), d) in leaves.iter_mut().zip(first).zip(second).zip(third).zip(fourth) {
            for at in 0..4 {
                leaves[at].with = [a[at], b[at], c[at], d[at]];
            }
        }
        let rows = first_rest.iter().zip(second_rest).zip(third_rest.iter().zip(fourth_rest));
        for (leaf, ((&a, &b), (&c, &d))) in rest.iter_mut().zip(rows) {
            leaf.with = [a, b, c, d];
        }
        for (lane, &subtree) in subtrees.iter().enumerate() {
            shape.leaves(subtree).for_each(|leaf| self.lanes[leaf].with[lane] = V::ZERO);
        }
        let x = subtrees.map(|subtree| V::of(shape.size(subtree) as f64));
        let (n, lanes) = (self.n, &mut self.lanes[..]);
        for &inner in self.order[..n - 1].iter().rev() {
            let join = self.joins[inner as usize];
            let [a, b] = join.children.map(|child| lanes[child as usize]);
            let mut all = a;
            for lane in 0..GROUP {
                all.with[lane] = a.with[lane] + b.with[lane];
                all.more[lane] = larger(join.floor, join.best_below(&a, &b, lane, x[lane]));
            }
            lanes[n + inner as usize] = all;
        }
        self.subtrees = Some(subtrees);
    }

    /// By how much a subtree is worth more at its best place than where it is, if it is, and the node above which that
    /// is: the first in the order of places.
    pub(super) fn best(&self, shape: &Shape, subtree: usize, lane: usize) -> Option<(f64, usize)> {
        let (parent, sibling) = (shape.parent(subtree)?, shape.sibling(subtree)?);
        let x = V::of(shape.size(subtree) as f64);
        // What it is worth beside its sibling, and at the best place.
        let (mut here, mut most) = (V::ZERO, self.lanes[sibling].more[lane]);
        self.go_up(shape, parent, lane, x, |step| {
            here = here + step.down;
            most = larger(step.floor, larger(most + step.down, step.across));
        });
        if most <= here {
            return None;
        }
        // Again, and in which node it is, or above it.
        let mut top = Top::In(sibling);
        let (gain, mut most) = ((most - here).float(), self.lanes[sibling].more[lane]);
        self.go_up(shape, parent, lane, x, |step| {
            most = most + step.down;
            if step.across > most || (step.is_second && step.across == most) {
                (most, top) = (step.across, Top::In(step.other));
            }
            if step.floor > most {
                (most, top) = (step.floor, Top::Above(step.node));
            }
        });
        let target = match top {
            Top::Above(node) => node,
            Top::In(node) => self.descend(node, lane, x),
        };
        Some((gain, target))
    }

    /// The nodes above one that holds the subtree of x leaves in a lane, upwards.
    #[inline(always)]
    fn go_up(&self, shape: &Shape, from: usize, lane: usize, x: V, mut tell: impl FnMut(Step<V>)) {
        let mut child = from;
        while let Some(node) = shape.parent(child) {
            let join = &self.joins[node - self.n];
            let is_second = join.children[1] as usize == child;
            let [side, across] = if is_second { [1, 0] } else { [0, 1] };
            let other = join.children[across] as usize;
            let Lanes { with, more } = &self.lanes[other];
            // Without the subtree: the sum between the two children, and the size of this one.
            let fall = x * (join.cross - with[lane]);
            tell(Step {
                node,
                other,
                is_second,
                down: join.sizes[across] * self.lanes[child].with[lane] - fall,
                across: (join.sizes[side] - x) * with[lane] - fall + more[lane],
                floor: join.floor,
            });
            child = node;
        }
    }

    /// The first best place in a node that doesn't hold the subtree.
    fn descend(&self, mut node: usize, lane: usize, x: V) -> usize {
        while node >= self.n {
            let join = &self.joins[node - self.n];
            let [a, b] = join.children.map(|child| &self.lanes[child as usize]);
            if join.floor > join.best_below(a, b, lane, x) {
                return node;
            }
            let is_second = join.worth_second(b, lane) > join.worth_first(a, lane);
            node = join.children[usize::from(is_second)] as usize;
        }
        node
    }
}

/// From the child of a node that holds a subtree upwards: what it is worth above this child and at the best place in the
/// other one, beside what it is worth above the node.
struct Step<V> {
    node: usize,
    other: usize,
    /// Whether the child that holds it comes second.
    is_second: bool,
    down: V,
    across: V,
    floor: V,
}

enum Top {
    In(usize),
    Above(usize),
}

impl<V: Real> Join<V> {
    #[inline(always)]
    fn worth_first(&self, first: &Lanes<V>, lane: usize) -> V {
        first.more[lane] + self.sizes[1] * first.with[lane]
    }

    #[inline(always)]
    fn worth_second(&self, second: &Lanes<V>, lane: usize) -> V {
        second.more[lane] + self.sizes[0] * second.with[lane]
    }

    /// What the best place in a child is worth more than that above the node.
    #[inline(always)]
    fn best_below(&self, first: &Lanes<V>, second: &Lanes<V>, lane: usize, x: V) -> V {
        larger(self.worth_first(first, lane), self.worth_second(second, lane)) - x * self.cross
    }
}

#[inline(always)]
fn larger<V: Real>(a: V, b: V) -> V {
    if b > a { b } else { a }
}
