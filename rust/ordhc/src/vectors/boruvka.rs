//! A minimum spanning tree of points with few coordinates. For every component (connected set of points), the nearest
//! other component is searched in a k-d tree, until one component is left (Borůvka 1926; Bentley 1975).

use std::ops::Range;

use super::closeness::Closeness;
use super::kd_tree::{Node, Tree};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

/// The largest number of coordinates for which a k-d tree is faster than comparing all pairs.
pub(super) const FEW: usize = 12;
const LEAF: usize = 24;
const GRAIN: usize = 1 << 11;
const STEPS: usize = 1 << 10;
const NONE: u32 = u32::MAX;

pub(super) fn edges<C: Closeness>(points: &[f64], p: usize, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    entered!(vectors_boruvka);
    match p {
        0..=2 => edges_by::<C, 2>(points, p, monitor),
        3 => edges_by::<C, 3>(points, p, monitor),
        4 => edges_by::<C, 4>(points, p, monitor),
        5 | 6 => edges_by::<C, 6>(points, p, monitor),
        7 | 8 => edges_by::<C, 8>(points, p, monitor),
        9 | 10 => edges_by::<C, 10>(points, p, monitor),
        _ => edges_by::<C, FEW>(points, p, monitor),
    }
}

fn edges_by<C: Closeness, const P: usize>(points: &[f64], p: usize, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    let boxes = Boxes::<P>::new(points, p);
    let search: Search<'_> = &|from, components, limit, stack| boxes.nearest_of::<C>(from, components, limit, stack);
    boxes.shape.edges(search, C::similarity, monitor)
}

/// A function that returns the nearest point outside the component of a given point. A component is a set of points
/// that edges of the spanning tree already connect.
///
/// The arguments are the index of the given point in the order of the k-d tree, the components, an exclusive upper
/// limit of the distance, and working memory. Only this function is compiled for each measure and number of
/// coordinates.
type Search<'a> = &'a (dyn Fn(usize, &Components, f64, &mut Vec<(f64, u32)>) -> Nearest + Sync);

/// A k-d tree of points with at most `P` coordinates, in the order of the tree. Points with fewer coordinates are
/// padded with zeros. `P` is a constant, so that the compiler can unroll loops over coordinates.
struct Boxes<const P: usize> {
    shape: Shape,
    points: Vec<[f64; P]>,
    /// For each node of the k-d tree: the smallest and the largest value of each coordinate.
    bounds: Vec<[[f64; P]; 2]>,
    /// The number of coordinates of the points, without added zeros.
    p: usize,
}

struct Shape {
    /// The leaf id of each point, in the order of the k-d tree.
    leaves: Vec<u32>,
    nodes: Vec<Node>,
    parents: Vec<u32>,
    /// For each point, in the order of the k-d tree: the lowest node that contains the point.
    node_of: Vec<u32>,
}

/// The result of a search for the nearest point in another component. `place` is the index of this point in the order
/// of the k-d tree, and `sum` is its distance (squared if Euclidean). If `place` is `NONE`, `sum` is a lower bound of
/// the distance.
#[derive(Debug, Clone, Copy)]
struct Nearest {
    sum: f64,
    place: u32,
}

/// The shortest known edge from one of the [`Components`] to another. `from` and `to` are indices of points in the
/// order of the k-d tree.
#[derive(Debug, Clone, Copy)]
struct Best {
    sum: f64,
    from: u32,
    to: u32,
}

impl Best {
    const NONE: Self = Self { sum: f64::INFINITY, from: NONE, to: NONE };

    fn offer(&mut self, other: Self) {
        if (other.sum, other.from, other.to) < (self.sum, self.from, self.to) {
            *self = other;
        }
    }
}

/// The components: sets of points that edges already connect. `of` is the component of each point, in the order of the
/// k-d tree. `within` is the component of each node of the k-d tree whose points are all in one component.
struct Components {
    count: usize,
    of: Vec<u32>,
    within: Vec<u32>,
}

impl<const P: usize> Boxes<P> {
    fn new(points: &[f64], p: usize) -> Self {
        let tree = Tree::new(points, p, LEAF);
        let padded = |row: &[f64]| std::array::from_fn(|d| row.get(d).copied().unwrap_or(0.0));
        let places = 0..tree.leaves.len();
        let nodes = 0..tree.nodes.len() as u32;
        let bounds = |node| {
            let (low, high) = tree.bounds(node);
            [padded(low), padded(high)]
        };
        let (mut parents, mut node_of) = (vec![NONE; tree.nodes.len()], vec![NONE; tree.leaves.len()]);
        for (node, at) in tree.nodes.iter().zip(0u32..) {
            if node.second > 0 {
                parents[at as usize + 1] = at;
                parents[node.second as usize] = at;
            } else {
                node_of[node.places.start as usize..node.places.end as usize].fill(at);
            }
        }
        Self {
            points: places.map(|place| padded(tree.point(place))).collect(),
            bounds: nodes.map(bounds).collect(),
            shape: Shape { leaves: tree.leaves, nodes: tree.nodes, parents, node_of },
            p,
        }
    }

    /// Returns the point in another component that is nearest to the point with index `from` in the order of the k-d
    /// tree. Returns `limit` without a point if no such point is nearer than `limit`.
    ///
    /// The search starts at the lowest node that contains the point at `from`. Then it continues with the sibling of
    /// this node and of each ancestor, and only visits nodes that may have a nearer point.
    fn nearest_of<C: Closeness>(
        &self,
        from: usize,
        components: &Components,
        limit: f64,
        stack: &mut Vec<(f64, u32)>,
    ) -> Nearest {
        let query = (&self.points[from], components.of[from]);
        let mut nearest = Nearest { sum: limit, place: NONE };
        let mut at = self.shape.node_of[from];
        stack.push((self.far::<C>(query, at, components), at));
        loop {
            nearest = self.descend::<C>(query, components, stack, nearest);
            let above = self.shape.parents[at as usize];
            if above == NONE || self.is_inside::<C>(query.0, at, nearest.sum) {
                return nearest;
            }
            let second = self.shape.nodes[above as usize].second;
            let other = if at == second { above + 1 } else { second };
            stack.push((self.far::<C>(query, other, components), other));
            at = above;
        }
    }

    #[inline(always)]
    fn descend<C: Closeness>(
        &self,
        query: (&[f64; P], u32),
        components: &Components,
        stack: &mut Vec<(f64, u32)>,
        mut nearest: Nearest,
    ) -> Nearest {
        let (point, own) = query;
        while let Some((bound, node)) = stack.pop() {
            if bound >= nearest.sum {
                continue;
            }
            let Node { places, second } = &self.shape.nodes[node as usize];
            if *second > 0 {
                let [a, b] = [node + 1, *second].map(|node| (self.far::<C>(query, node, components), node));
                let [nearer, farther] = if a.0 < b.0 { [a, b] } else { [b, a] };
                if farther.0 < nearest.sum {
                    stack.push(farther);
                }
                if nearer.0 < nearest.sum {
                    stack.push(nearer);
                }
                continue;
            }
            let places = places.start as usize..places.end as usize;
            let points = self.points[places.clone()].iter().zip(&components.of[places.clone()]);
            for ((other, &component), place) in points.zip(places.start as u32..) {
                let sum = (0..P).fold(0.0, |sum, d| C::add(sum, point[d], other[d]));
                if sum < nearest.sum && component != own {
                    nearest = Nearest { sum, place };
                }
            }
        }
        nearest
    }

    #[inline(always)]
    fn far<C: Closeness>(&self, (point, own): (&[f64; P], u32), node: u32, components: &Components) -> f64 {
        match components.within[node as usize] == own {
            true => f64::INFINITY,
            false => self.sum_to_box::<C>(point, node),
        }
    }

    /// Returns true if all points outside of `node` have at least the distance `limit` (squared if Euclidean) from
    /// `point`. The point must be in `node`.
    #[inline(always)]
    fn is_inside<C: Closeness>(&self, point: &[f64; P], node: u32, limit: f64) -> bool {
        let [low, high] = &self.bounds[node as usize];
        let side = |d: usize| C::add(0.0, point[d], low[d]) >= limit && C::add(0.0, high[d], point[d]) >= limit;
        (0..self.p).all(side)
    }

    #[inline(always)]
    fn sum_to_box<C: Closeness>(&self, point: &[f64; P], node: u32) -> f64 {
        let [low, high] = &self.bounds[node as usize];
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        (0..P).fold(0.0, |sum, d| C::add(sum, larger(larger(low[d] - point[d], point[d] - high[d]), 0.0), 0.0))
    }
}

impl Shape {
    fn edges(&self, search: Search<'_>, similarity: fn(f64) -> f64, monitor: &Monitor) -> Result<Vec<RawMerge>> {
        let n = self.leaves.len();
        let mut sets = UnionFind::new(n);
        let mut edges = Vec::with_capacity(n.saturating_sub(1));
        let mut nearest = vec![Nearest { sum: 0.0, place: NONE }; n];
        while edges.len() + 1 < n {
            let components = self.components(&sets);
            for best in self.nearest_of_components(search, &components, &mut nearest, monitor)? {
                if sets.join(best.from, best.to) {
                    let [a, b] = [best.from, best.to].map(|place| self.leaves[place as usize] as usize);
                    edges.push(RawMerge { i: a.min(b), j: a.max(b), similarity: similarity(best.sum) });
                }
            }
        }
        Ok(edges)
    }

    fn components(&self, sets: &UnionFind) -> Components {
        let (mut of, mut count) = (sets.names(), 0);
        // Number the sets from 0. One pass suffices, because every set is named by its smallest member.
        for at in 0..of.len() {
            of[at] = if of[at] as usize == at {
                count += 1;
                count as u32 - 1
            } else {
                of[of[at] as usize]
            };
        }
        let mut within = vec![NONE; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            within[at] = if node.second > 0 {
                let [a, b] = [within[at + 1], within[node.second as usize]];
                if a == b { a } else { NONE }
            } else {
                let of = &of[node.places.start as usize..node.places.end as usize];
                if of.iter().all(|&component| component == of[0]) { of[0] } else { NONE }
            };
        }
        Components { count, of, within }
    }

    fn nearest_of_components(
        &self,
        search: Search<'_>,
        components: &Components,
        nearest: &mut [Nearest],
        monitor: &Monitor,
    ) -> Result<Vec<Best>> {
        let parts = parallel::with_parts(parallel::ranges(nearest.len(), GRAIN), nearest, |end| end);
        let found: Vec<Vec<Best>> =
            parallel::try_map(parts, |(places, nearest)| nearest_from(search, places, components, nearest, monitor))?;
        let joined = found.into_iter().reduce(|mut all, other| {
            all.iter_mut().zip(other).for_each(|(best, other)| best.offer(other));
            all
        });
        Ok(joined.unwrap_or_default().into_iter().filter(|best| best.from != NONE).collect())
    }
}

fn nearest_from(
    search: Search<'_>,
    places: Range<usize>,
    components: &Components,
    nearest: &mut [Nearest],
    monitor: &Monitor,
) -> Result<Vec<Best>> {
    let of = &components.of;
    let mut best = vec![Best::NONE; components.count];
    // Start with the points whose nearest point is still in another component. Then search from the most promising
    // other point of each component: the point with the smallest lower bound of its distance. Few of the remaining
    // points then need a search.
    let mut first = vec![Nearest { sum: f64::INFINITY, place: NONE }; components.count];
    for (from, at) in places.clone().zip(0..) {
        let (Nearest { sum, place }, own) = (nearest[at], of[from] as usize);
        if place != NONE && of[place as usize] as usize != own {
            best[own].offer(Best { sum, from: from as u32, to: place });
        } else if sum < first[own].sum {
            first[own] = Nearest { sum, place: from as u32 };
        }
    }
    let mut stack = Vec::new();
    let mut look = |from: usize, best: &mut Best, nearest: &mut Nearest| {
        *nearest = search(from, components, best.sum, &mut stack);
        if nearest.place != NONE {
            best.offer(Best { sum: nearest.sum, from: from as u32, to: nearest.place });
        }
    };
    for (own, first) in first.into_iter().enumerate() {
        if first.sum < best[own].sum {
            let from = first.place as usize;
            look(from, &mut best[own], &mut nearest[from - places.start]);
        }
    }
    for (from, at) in places.zip(0..) {
        let (Nearest { sum, place }, own) = (nearest[at], of[from] as usize);
        let known = place != NONE && of[place as usize] as usize != own;
        if !known && sum < best[own].sum {
            look(from, &mut best[own], &mut nearest[at]);
        }
        if at % STEPS == 0 {
            monitor.advance(0)?;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::closeness::{Manhattan, SquaredEuclidean};
    use super::*;

    fn sums<C: Closeness>(points: &[f64], p: usize) -> Vec<f64> {
        let n = points.len() / p;
        let pair = |a: usize, b: usize| {
            let pairs = points[a * p..(a + 1) * p].iter().zip(&points[b * p..(b + 1) * p]);
            C::similarity(pairs.fold(0.0, |sum, (&x, &y)| C::add(sum, x, y)))
        };
        let (mut apart, mut best) = (1..n).fold((Vec::new(), Vec::new()), |(mut apart, mut best), leaf| {
            apart.push(leaf);
            best.push(pair(0, leaf));
            (apart, best)
        });
        let mut found = Vec::new();
        while !apart.is_empty() {
            let at = (0..apart.len()).fold(0, |at, other| if best[other] > best[at] { other } else { at });
            found.push(best.swap_remove(at));
            let last = apart.swap_remove(at);
            apart.iter().zip(&mut best).for_each(|(&leaf, best)| *best = best.max(pair(last, leaf)));
        }
        found.sort_unstable_by(f64::total_cmp);
        found
    }

    fn check<C: Closeness>(points: &[f64], p: usize) {
        let mut found: Vec<f64> =
            edges::<C>(points, p, &Monitor::new()).unwrap().iter().map(|edge| edge.similarity).collect();
        found.sort_unstable_by(f64::total_cmp);
        assert_eq!(found, sums::<C>(points, p));
    }

    proptest! {
        #[test]
        fn trees_are_as_short_as_prims(
            (p, points) in (1..6usize, 1..200usize).prop_flat_map(|(p, n)| (Just(p), prop::collection::vec(-1.0..1.0f64, n * p))),
            steps in prop::sample::select(vec![0.0, 2.0, 7.0]),
        ) {
            let points: Vec<f64> = points.iter().map(|&x| if steps > 0.0 { (x * steps).round() * 0.3 } else { x }).collect();
            check::<SquaredEuclidean>(&points, p);
            check::<Manhattan>(&points, p);
        }
    }
}
