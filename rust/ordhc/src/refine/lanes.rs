//! Finds the best edges for several subtrees at once, with one subtree in each SIMD lane.

use super::cost::Real;
use super::shape::Shape;

/// Subtrees are scored in groups. The scores of all groups are kept if they need at most this number of bytes.
/// Otherwise, only the scores of the last group are kept.
const KEPT: usize = 1 << 20;

/// For each node, the sum of similarities between its two children, and the sums with each subtree that may move. The
/// best edge for each subtree is computed from these sums.
pub(super) struct Places<V, const LANES: usize> {
    n: usize,
    joins: Vec<Join<V>>,
    /// The inner nodes, parents before children. Node `n + k` is stored as `k`.
    order: Vec<u32>,
    places: Vec<u32>,
    /// A counter that grows by 1 with every change of the tree.
    tree: u64,
    /// Two nodes after a move: the move changed only these two nodes and the nodes above them. `None` if other nodes
    /// may have changed.
    changed: Option<[usize; 2]>,
    since: Vec<u64>,
    groups: Vec<Group<LANES>>,
    lanes: Vec<Lanes<V, LANES>>,
}

#[derive(Clone)]
struct Group<const LANES: usize> {
    subtrees: [usize; LANES],
    put: [u64; LANES],
    tree: u64,
}

#[derive(Debug, Clone, Copy)]
struct Join<V> {
    children: [u32; 2],
    sizes: [V; 2],
    /// The sum of similarities between the leaves of the two children.
    cross: V,
    /// 0 if subtrees may be put on the edge above the node, and minus infinity otherwise.
    floor: V,
}

/// For one node: a sum of similarities and a score for each subtree of a group.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Lanes<V, const LANES: usize> {
    /// For each subtree of the group: the sum of similarities between the leaves of the subtree and the leaves at or
    /// below the node. Leaves of the subtree itself are left out.
    with: [V; LANES],
    /// For each subtree: the largest score of the edge above the node and all edges below the node, minus the score of
    /// the edge above the node.
    more: [V; LANES],
}

impl<V: Real, const LANES: usize> Places<V, LANES> {
    /// If `same_groups` is true, the same subtrees must be scored together in every call of `look`. The scores of all
    /// groups are then kept if they need at most [`KEPT`] bytes.
    pub(super) fn new(n: usize, movable: &[bool], same_groups: bool) -> Self {
        let floor = |movable: bool| if movable { V::ZERO } else { V::of(f64::NEG_INFINITY) };
        let nothing = Join { children: [0; 2], sizes: [V::ZERO; 2], cross: V::ZERO, floor: V::ZERO };
        let joins = movable[n..].iter().map(|&movable| Join { floor: floor(movable), ..nothing }).collect();
        let lanes = movable.iter().map(|&movable| Lanes { with: [V::ZERO; LANES], more: [floor(movable); LANES] });
        let lanes: Vec<_> = lanes.collect();
        let all = movable.len().div_ceil(LANES);
        let groups = if same_groups && all * size_of_val(&lanes[..]) <= KEPT { all } else { 1 };
        let lanes = lanes.repeat(groups);
        let groups = vec![Group { subtrees: [usize::MAX; LANES], put: [0; LANES], tree: 0 }; groups];
        Self {
            n,
            joins,
            order: vec![0; n],
            places: vec![0; n - 1],
            tree: 0,
            changed: None,
            since: vec![0; n - 1],
            groups,
            lanes,
        }
    }

    /// Lists the inner nodes from the root down, level by level, so that consecutive nodes do not depend on each other.
    pub(super) fn list(&mut self, root: usize) {
        self.tree += 1;
        self.changed = None;
        let n = self.n;
        if root < n {
            return;
        }
        self.order[0] = (root - n) as u32;
        let mut next = 1;
        for at in 0..n - 1 {
            self.places[self.order[at] as usize] = at as u32;
            // Avoid a branch for leaves: a leaf is written too, but overwritten by the next child.
            for child in self.joins[self.order[at] as usize].children {
                self.order[next] = child.wrapping_sub(n as u32);
                next += usize::from(child >= n as u32);
            }
        }
    }

    /// Updates the list of inner nodes after a move of a subtree. `node` is the parent of the subtree. A parent moves
    /// together with its subtree, and `left` is the node that was above `node` before the move.
    pub(super) fn relist(&mut self, shape: &Shape, node: usize, left: usize) {
        let n = self.n;
        let place = |places: &[u32], node: usize| places[node - n] as usize;
        let inner_children = shape.children(node).into_iter().filter(|&child| child >= n);
        let first = inner_children.map(|child| place(&self.places, child)).min().unwrap_or(n - 1);
        if shape.parent(node).is_some_and(|above| place(&self.places, above) >= first) {
            return self.list(shape.root());
        }
        self.tree += 1;
        self.changed = Some([left, node]);
        let from = place(&self.places, node);
        let changed = if from < first { from..first } else { first..from + 1 };
        let order = &mut self.order[changed.clone()];
        if from < first {
            order.rotate_left(1);
        } else {
            order.rotate_right(1);
        }
        for (&mut inner, at) in order.iter_mut().zip(changed) {
            self.places[inner as usize] = at as u32;
        }
    }

    pub(super) fn join(&mut self, shape: &Shape, node: usize) {
        let children = shape.children(node);
        let join = &mut self.joins[node - self.n];
        join.children = children.map(|child| child as u32);
        join.sizes = children.map(|child| V::of(shape.size(child) as f64));
    }

    pub(super) fn cross(&mut self, node: usize) -> &mut V {
        &mut self.joins[node - self.n].cross
    }

    pub(super) fn sum_between(&self, node: usize) -> f64 {
        self.joins[node - self.n].cross.float()
    }

    pub(super) fn changes(&mut self, node: usize) {
        self.since[node - self.n] = self.tree + 1;
    }

    /// Returns the index of the group in which a subtree was scored, and the position of the subtree in this group.
    /// Returns `None` if the subtree was not scored in the current tree.
    pub(super) fn lane_of(&self, subtree: usize) -> Option<[usize; 2]> {
        let looked_at = |group: &&Group<LANES>| group.tree == self.tree;
        self.groups.iter().enumerate().filter(|(_, group)| looked_at(group)).find_map(|(at, group)| {
            let lane = group.subtrees.iter().position(|&other| other == subtree)?;
            Some([at, lane])
        })
    }

    pub(super) fn with(&self, node: usize, [group, lane]: [usize; 2]) -> V {
        self.lanes_of(group)[node].with[lane]
    }

    fn lanes_of(&self, group: usize) -> &[Lanes<V, LANES>] {
        let n_nodes = 2 * self.n - 1;
        &self.lanes[group * n_nodes..][..n_nodes]
    }

    pub(super) fn group_of(&self, at: usize) -> usize {
        at % self.groups.len()
    }

    /// Scores all edges on which the subtrees of a group can be put. `rows` has the similarities of each subtree with
    /// all leaves.
    pub(super) fn look(&mut self, shape: &Shape, group: usize, subtrees: [usize; LANES], rows: [&[V]; LANES]) {
        let (n, n_nodes) = (self.n, 2 * self.n - 1);
        let lanes = &mut self.lanes[group * n_nodes..][..n_nodes];
        let group = &mut self.groups[group];
        if group.tree == self.tree && group.subtrees == subtrees {
            return;
        }
        let is_new = group.subtrees != subtrees;
        if is_new {
            rows.as_chunks::<4>().0.iter().enumerate().for_each(|(at, rows)| put_four(&mut lanes[..n], 4 * at, rows));
        }
        let mut changed = self.changed.filter(|_| group.tree + 1 == self.tree);
        for lane in 0..LANES {
            let subtree = subtrees[lane];
            // The similarities in `with` are outdated if the leaves of the subtree changed after they were stored.
            let is_other = subtree >= n && self.since[subtree - n] > group.put[lane];
            if is_other && !is_new {
                lanes.iter_mut().zip(rows[lane]).for_each(|(leaf, &with)| leaf.with[lane] = with);
            }
            if is_other || is_new {
                shape.leaves(subtree).for_each(|leaf| lanes[leaf].with[lane] = V::ZERO);
                group.put[lane] = self.tree;
                changed = None;
            }
        }
        (group.subtrees, group.tree) = (subtrees, self.tree);
        let (joins, order) = (&self.joins[..], &self.order[..n - 1]);
        wide!({
            let x = subtrees.map(|subtree| V::of(shape.size(subtree) as f64));
            match changed {
                Some(ends) => {
                    // Recompute each of the two changed nodes, and all nodes above it. In the first iteration, values
                    // of the second node are still old, so common ancestors get wrong values. The second iteration
                    // computes these ancestors again.
                    for mut node in ends {
                        sum_up(joins, lanes, node - n, &x);
                        while let Some(above) = shape.parent(node) {
                            sum_up(joins, lanes, above - n, &x);
                            node = above;
                        }
                    }
                }
                None => {
                    for &inner in order.iter().rev() {
                        sum_up(joins, lanes, inner as usize, &x);
                    }
                }
            }
        });
    }

    /// Returns the gain of moving a subtree to its best edge, and the node below this edge. Returns `None` if no move
    /// gains anything. If several nodes are equally good, returns the node with the smallest `Shape::place`.
    pub(super) fn best(&self, shape: &Shape, subtree: usize, [group, lane]: [usize; 2]) -> Option<(f64, usize)> {
        let lanes = self.lanes_of(group);
        let (parent, sibling) = (shape.parent(subtree)?, shape.sibling(subtree)?);
        let x = V::of(shape.size(subtree) as f64);
        // First pass: compute the score at the current edge (`here`) and at the best edge (`most`).
        let (mut here, mut most) = (V::ZERO, lanes[sibling].more[lane]);
        self.go_up(shape, lanes, parent, lane, x, |step| {
            here = here + step.down;
            most = larger(step.floor, larger(most + step.down, step.across));
        });
        if most <= here {
            return None;
        }
        // Second pass: find the node above which the best edge is (`Top::Above`), or a subtree in which it is
        // (`Top::In`).
        let mut top = Top::In(sibling);
        let (gain, mut most) = ((most - here).float(), lanes[sibling].more[lane]);
        self.go_up(shape, lanes, parent, lane, x, |step| {
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
            Top::In(node) => self.descend(lanes, node, lane, x),
        };
        Some((gain, target))
    }

    /// Calls `visit` for each step from a node to its parent, from the node `from` up to the root. The moved subtree
    /// must be below `from`. `lane` is the position of this subtree in its group, and `x` is its number of leaves.
    #[inline(always)]
    fn go_up(
        &self,
        shape: &Shape,
        lanes: &[Lanes<V, LANES>],
        from: usize,
        lane: usize,
        x: V,
        mut visit: impl FnMut(Step<V>),
    ) {
        let mut child = from;
        while let Some(node) = shape.parent(child) {
            let join = &self.joins[node - self.n];
            let is_second = join.children[1] as usize == child;
            let [side, across] = if is_second { [1, 0] } else { [0, 1] };
            let other = join.children[across] as usize;
            let Lanes { with, more } = &lanes[other];
            // The sum `cross` and the size of the child include the subtree, so subtract the subtree from both.
            let fall = x * (join.cross - with[lane]);
            visit(Step {
                node,
                other,
                is_second,
                down: join.sizes[across] * lanes[child].with[lane] - fall,
                across: (join.sizes[side] - x) * with[lane] - fall + more[lane],
                floor: join.floor,
            });
            child = node;
        }
    }

    /// Returns the node below the best edge, among the edge above `node` and the edges below it. The moved subtree must
    /// not be below `node`. If several nodes are equally good, returns the node with the smallest `Shape::place`.
    fn descend(&self, lanes: &[Lanes<V, LANES>], mut node: usize, lane: usize, x: V) -> usize {
        while node >= self.n {
            let join = &self.joins[node - self.n];
            let [a, b] = join.children.map(|child| &lanes[child as usize]);
            if join.floor > join.best_below(a, b, lane, x) {
                return node;
            }
            let is_second = join.worth_second(b, lane) > join.worth_first(a, lane);
            node = join.children[usize::from(is_second)] as usize;
        }
        node
    }
}

/// A step from a child up to its parent `node`. The moved subtree is below this child. `down` is the score of the edge
/// above this child. `across` is the largest score of the edge above the other child and all edges below the other
/// child. The score of the edge above `node` is subtracted from both scores.
struct Step<V> {
    node: usize,
    other: usize,
    is_second: bool,
    down: V,
    across: V,
    floor: V,
}

#[inline(always)]
fn sum_up<V: Real, const LANES: usize>(joins: &[Join<V>], lanes: &mut [Lanes<V, LANES>], inner: usize, x: &[V; LANES]) {
    let join = &joins[inner];
    let [a, b] = join.children.map(|child| child as usize);
    if let Ok([a, b, both]) = lanes.get_disjoint_mut([a, b, joins.len() + 1 + inner]) {
        join.sum(a, b, x, both);
    }
}

/// Stores the similarities of each leaf with four subtrees in [`Lanes::with`], at `lane..lane + 4`. Four leaves are
/// stored at a time, so that 4 × 4 similarities are transposed in registers.
fn put_four<V: Real, const LANES: usize>(leaves: &mut [Lanes<V, LANES>], lane: usize, rows: &[&[V]; 4]) {
    let [(first, first_rest), (second, second_rest), (third, third_rest), (fourth, fourth_rest)] =
        rows.map(|row| row.as_chunks::<4>());
    let (leaves, rest) = leaves.as_chunks_mut::<4>();
    for ((((leaves, a), b), c), d) in leaves.iter_mut().zip(first).zip(second).zip(third).zip(fourth) {
        for at in 0..4 {
            leaves[at].with[lane..lane + 4].copy_from_slice(&[a[at], b[at], c[at], d[at]]);
        }
    }
    let rows = first_rest.iter().zip(second_rest).zip(third_rest.iter().zip(fourth_rest));
    for (leaf, ((&a, &b), (&c, &d))) in rest.iter_mut().zip(rows) {
        leaf.with[lane..lane + 4].copy_from_slice(&[a, b, c, d]);
    }
}

enum Top {
    In(usize),
    Above(usize),
}

impl<V: Real> Join<V> {
    #[inline(always)]
    fn sum<const LANES: usize>(
        &self,
        first: &Lanes<V, LANES>,
        second: &Lanes<V, LANES>,
        x: &[V; LANES],
        both: &mut Lanes<V, LANES>,
    ) {
        for lane in 0..LANES {
            both.with[lane] = first.with[lane] + second.with[lane];
            both.more[lane] = larger(self.floor, self.best_below(first, second, lane, x[lane]));
        }
    }

    #[inline(always)]
    fn worth_first<const LANES: usize>(&self, first: &Lanes<V, LANES>, lane: usize) -> V {
        first.more[lane] + self.sizes[1] * first.with[lane]
    }

    #[inline(always)]
    fn worth_second<const LANES: usize>(&self, second: &Lanes<V, LANES>, lane: usize) -> V {
        second.more[lane] + self.sizes[0] * second.with[lane]
    }

    #[inline(always)]
    fn best_below<const LANES: usize>(
        &self,
        first: &Lanes<V, LANES>,
        second: &Lanes<V, LANES>,
        lane: usize,
        x: V,
    ) -> V {
        // Dasgupta's cost of a node is its number of leaves, times the sum of similarities between its two children.
        // Let b be this node with the children c and d, and T the moved subtree with x leaves. Let S(c, d) be the sum
        // of similarities between the leaves of c and the leaves of d.
        // If T is above b, the cost is |b| S(c, d) + (|b| + x) S(T, b).
        // If T is above c, the cost is (|b| + x) (S(c, d) + S(T, d)) + (|c| + x) S(T, c).
        // So the score increases by |d| S(T, c) - x S(c, d) from the edge above b to the edge above c.
        larger(self.worth_first(first, lane), self.worth_second(second, lane)) - x * self.cross
    }
}

#[inline(always)]
fn larger<V: Real>(a: V, b: V) -> V {
    if b > a { b } else { a }
}
