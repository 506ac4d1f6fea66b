//! The posterior over the edges of a tree where a subtree may belong, and the expected benefit of a
//! question about the subtree.

use std::ops::Range;

use crate::refine::Shape;

/// The reliability of answers and of the tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trust {
    /// The probability that an answer agrees with the right place of a subtree. The two other
    /// answers share the remaining probability equally.
    pub(super) right: f64,
    /// How much the current place of a subtree is trusted. [`Places`] describes how `strength` determines the prior.
    pub(super) strength: f64,
    /// The value of `strength` for a subtree whose parent has more than two children in the given tree.
    pub(super) loose: f64,
}

impl Trust {
    pub(super) fn wrong(self) -> f64 {
        0.5 * (1.0 - self.right)
    }

    pub(super) fn evidence(self) -> f64 {
        (self.right / self.wrong()).ln()
    }
}

/// The effect of an answer on the places of a subtree: a range of nodes in the postorder of the
/// [`Shape`], and the change of the log probability of the places beside these nodes.
pub(super) type Tilt = (Range<usize>, f64);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Finding {
    /// The node whose sibling the examined subtree should become. This is the deepest node such that the subtree
    /// belongs at or below the node with a probability of more than 1/2.
    pub(super) best: usize,
    /// True if the subtree must move: the best place is elsewhere, and the current place is unlikely.
    pub(super) moves: bool,
    /// The log Bayes factor of all places together against the current place. A large value means
    /// that answers have made the current place less likely.
    pub(super) evidence: f64,
}

/// A subtree moves only if the probability of its current place is below this value. One answer is not enough for such
/// a low probability.
const UNLIKELY: f64 = 0.05;

/// The posterior over the places of a subtree, reused for one subtree after the other. A place is beside a node of the
/// rest of the tree, so the subtree becomes the sibling of this node.
///
/// Before any answer, the current place has weight 1. The other places in the clusters around it have a total weight of
/// 1 / `strength` for each doubling of the cluster size. So small and large errors are equally likely. An answer about
/// one leaf of the subtree and two other leaves changes the weights of three groups of places: below each of two
/// children of a node, and not below the node.
///
/// The distance of two places is the number of triplets that change if the subtree moves from one place to the other.
/// The best place minimises the expected distance to the right place: it is the median of the posterior. To find the
/// median, go down from the root as long as more than half of the weight is at and below a child.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    weights: Vec<f64>,
    /// For each node, in the postorder of the [`Shape`]: the number of leaves at and below the node,
    /// without the leaves of the subtree that is examined.
    sizes: Vec<f64>,
    /// For each node, in postorder: the probability that the subtree belongs at or below the node.
    masses: Vec<f64>,
    sums: Vec<f64>,
    /// For each node, in postorder: the value of a question that compares the children of the node, see
    /// [`ask`](Self::ask).
    values: Vec<f64>,
    above: Vec<f64>,
}

impl Places {
    /// Computes the posterior over the places of a subtree.
    ///
    /// `is_loose(node)` is true if the node and its parent were made from one node of the given tree with more than two
    /// children.
    pub(super) fn weigh(
        &mut self,
        shape: &Shape,
        subtree: usize,
        tilts: impl Iterator<Item = Tilt>,
        trust: Trust,
        is_loose: impl Fn(usize) -> bool,
    ) -> Finding {
        let m = shape.n_nodes();
        let (Some(parent), Some(sibling)) = (shape.parent(subtree), shape.sibling(subtree)) else {
            return Finding { best: subtree, moves: false, evidence: 0.0 };
        };
        let here = shape.place(sibling);
        let before = self.lay_out(shape, subtree, parent, sibling, trust, is_loose);
        self.sums.clear();
        self.sums.resize(m + 1, 0.0);
        for (range, more) in tilts {
            self.sums[range.start] += more;
            self.sums[range.end] -= more;
        }
        let own: f64 = self.sums[..=here].iter().sum();
        let (mut log, mut total, mut last, mut factor) = (0.0, 0.0, f64::NAN, 1.0);
        for place in 0..m {
            log += self.sums[place];
            if log != last {
                factor = (log - own).clamp(-300.0, 300.0).exp();
                last = log;
            }
            self.weights[place] *= factor;
            total += self.weights[place];
        }
        self.sum(shape, total);
        let best = self.median(shape);
        let place = shape.place(best);
        let moves = place != here && place != shape.place(parent) && self.weights[here] < UNLIKELY;
        Finding { best, moves, evidence: (total / before).ln() }
    }

    /// Sets the prior weights of the places of a subtree, and the sizes of all nodes without this subtree. Returns the
    /// sum of the weights.
    fn lay_out(
        &mut self,
        shape: &Shape,
        subtree: usize,
        parent: usize,
        sibling: usize,
        trust: Trust,
        is_loose: impl Fn(usize) -> bool,
    ) -> f64 {
        let m = shape.n_nodes();
        let own = shape.size(subtree) as f64;
        self.weights.clear();
        self.weights.resize(m, 0.0);
        self.sizes.clear();
        self.sizes.extend((0..m).map(|place| shape.size_at(place) as f64));
        self.sizes[shape.span(subtree)].fill(0.0);
        let mut total = 1.0;
        let span = shape.span(sibling);
        let (first, last) = (*span.start(), *span.end());
        let strength = |loose: bool| if loose { trust.loose } else { trust.strength };
        if last > first {
            let all = (shape.size(sibling) as f64).log2() / strength(is_loose(sibling));
            self.weights[first..last].fill(all / (last - first) as f64);
            total += all;
        }
        self.weights[last] = 1.0;
        self.sizes[shape.place(parent)] -= own;
        let (mut below, mut inner) = (sibling, shape.span(parent));
        let mut from = parent;
        while let Some(node) = shape.parent(from) {
            let span = shape.span(node);
            let place = shape.place(node);
            self.sizes[place] -= own;
            let ratio = self.sizes[place] / self.sizes[shape.place(below)];
            let all = ratio.log2() / strength(is_loose(from));
            let each = all / (2 * (shape.size(node) - shape.size(from))) as f64;
            self.weights[*span.start()..*inner.start()].fill(each);
            self.weights[*inner.end() + 1..=*span.end()].fill(each);
            total += all;
            (from, below, inner) = (node, node, span);
        }
        total
    }

    fn sum(&mut self, shape: &Shape, total: f64) {
        let m = shape.n_nodes();
        let Self { weights, sums, masses, .. } = self;
        sums[0] = 0.0;
        for place in 0..m {
            weights[place] /= total;
            sums[place + 1] = sums[place] + weights[place];
        }
        masses.clear();
        masses.extend((0..m).map(|place| sums[place + 1] - sums[place + 2 - 2 * shape.size_at(place)]));
    }

    fn median(&self, shape: &Shape) -> usize {
        let mut place = shape.n_nodes() - 1;
        while shape.size_at(place) > 1 {
            let Some(next) = shape.children_at(place).into_iter().find(|&child| self.masses[child] > 0.5) else {
                break;
            };
            place = next;
        }
        shape.node_at(place)
    }

    /// Returns the best question about the place of a subtree, and the value of the question. The question is given by
    /// the postorder position of its pivot, the node whose children are compared. The value is the number of triplets
    /// that one answer is expected to correct, divided by the number of leaves of the subtree.
    pub(super) fn ask(&mut self, shape: &Shape, subtree: usize, trust: Trust) -> Option<(usize, f64)> {
        let m = shape.n_nodes();
        let span = shape.span(subtree);
        let parent = shape.place(shape.parent(subtree)?);
        let Self { sizes, masses, sums, values, above, .. } = self;
        values.clear();
        values.resize(m, 0.0);
        above.clear();
        above.resize(m, 0.0);
        // `step` is the number of triplets, for each leaf of the subtree, that change if the subtree moves from beside
        // a child to beside its parent. `mass` is the probability that the subtree belongs at or below the child. A
        // question is worth the expected decrease of the sum of `step * mass * (1 - mass)` over all nodes except the
        // root. `values` has `step * mass^2`. `above` is the sum of `step * ((1 - mass)^2 - mass^2)` over the child and
        // all nodes above except the root.
        for place in (0..m).rev().filter(|&place| shape.size_at(place) > 1) {
            for child in shape.children_at(place) {
                let step = sizes[child] * (sizes[place] - sizes[child]);
                let mass = masses[child];
                values[child] = step * mass * mass;
                above[child] = above[place] + step * (1.0 - 2.0 * mass);
            }
        }
        sums[0] = 0.0;
        for place in 0..m {
            sums[place + 1] = sums[place] + values[place];
        }
        let whole = sums[m];
        let (right, wrong) = (trust.right, trust.wrong());
        let mut best: Option<(usize, f64)> = None;
        for place in 0..m {
            let size = shape.size_at(place);
            values[place] = 0.0;
            if size == 1 || place == parent || span.contains(&place) {
                continue;
            }
            let children = shape.children_at(place);
            let [a, b] = children.map(|child| masses[child]);
            let [of_a, of_b] = children.map(|child| sums[child + 1] - sums[child + 2 - 2 * shape.size_at(child)]);
            let parts = [a, b, (1.0 - a - b).max(0.0)];
            let squares = [of_a, of_b, (whole - of_a - of_b + above[place]).max(0.0)];
            let chances = parts.map(|part| wrong + (right - wrong) * part);
            let misses: f64 = chances.iter().map(|chance| wrong * wrong / chance).sum();
            let value: f64 =
                (0..3).map(|at| (misses + (right * right - wrong * wrong) / chances[at] - 1.0) * squares[at]).sum();
            values[place] = value;
            if value > 0.0 && best.is_none_or(|best| value > best.1) {
                best = Some((place, value));
            }
        }
        best
    }

    pub(super) fn next_best(&mut self, last: usize) -> Option<usize> {
        self.values[last] = 0.0;
        let best = (0..self.values.len()).max_by(|&a, &b| self.values[a].total_cmp(&self.values[b]).then(b.cmp(&a)))?;
        (self.values[best] > 0.0).then_some(best)
    }
}
