//! A minimum spanning tree of points of few coordinates: every component looks for its nearest other one in a k-d
//! tree, until there is one (Borůvka 1926; Bentley 1975).

use super::closeness::Closeness;
use super::kd_tree::{Node, Tree, sum_to_box};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

/// Points of up to so many coordinates are worth a tree.
pub(super) const FEW: usize = 12;
/// Points for a thread.
const GRAIN: usize = 1 << 11;
/// No component, or no point.
const NONE: u32 = u32::MAX;

/// The edges, in any order. `points` are rows of `p` coordinates.
pub(super) fn edges<C: Closeness>(points: &[f64], p: usize, monitor: &Monitor) -> Result<Vec<RawMerge>> {
    let n = points.len() / p;
    let tree = Tree::new(points, p);
    let mut components = UnionFind::new(n);
    let mut edges = Vec::with_capacity(n.saturating_sub(1));
    let mut nearest = vec![Nearest { sum: 0.0, place: NONE }; n];
    while edges.len() + 1 < n {
        let names = components.names();
        let of: Vec<u32> = tree.leaves.iter().map(|&leaf| names[leaf as usize]).collect();
        let within = tree.components(&of);
        for (component, best) in tree.nearest_of_components::<C>(&of, &within, &mut nearest, monitor)? {
            let (a, b) = (tree.leaves[best.from as usize], tree.leaves[best.to as usize]);
            debug_assert_eq!(names[a as usize], component);
            if components.join(a, b) {
                let similarity = C::similarity(best.sum);
                edges.push(RawMerge { i: a.min(b) as usize, j: a.max(b) as usize, similarity });
            }
        }
    }
    Ok(edges)
}

/// What is known of the nearest point of another component: where it stands, and a bound of how near it is.
#[derive(Debug, Clone, Copy)]
struct Nearest {
    sum: f64,
    place: u32,
}

/// The nearest point of another component to one component.
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

impl Tree {
    /// By node: the component of all of its points, if it is one.
    fn components(&self, of: &[u32]) -> Vec<u32> {
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
        within
    }

    /// The nearest other point of every component.
    fn nearest_of_components<C: Closeness>(
        &self,
        of: &[u32],
        within: &[u32],
        nearest: &mut [Nearest],
        monitor: &Monitor,
    ) -> Result<Vec<(u32, Best)>> {
        let n = of.len();
        let ranges = parallel::ranges(n, GRAIN);
        let ends: Vec<usize> = ranges.iter().map(|range| range.end).collect();
        let parts = ranges.into_iter().zip(parallel::split_at_ends(nearest, &ends));
        let found = parallel::map(parts.collect(), |(places, nearest)| {
            let mut best = vec![Best::NONE; n];
            let places = || places.clone().zip(0..);
            // First those whose nearest is in another component still.
            for (from, at) in places() {
                let Nearest { sum, place } = nearest[at];
                if place != NONE && of[place as usize] != of[from] {
                    best[of[from] as usize].offer(Best { sum, from: from as u32, to: place });
                }
            }
            let mut stack = Vec::new();
            for (from, at) in places() {
                let Nearest { sum, place } = nearest[at];
                let component = of[from];
                let limit = best[component as usize].sum;
                if sum >= limit || place != NONE && of[place as usize] != component {
                    continue;
                }
                nearest[at] = self.nearest_of::<C>(from, of, within, limit, &mut stack);
                let Nearest { sum, place } = nearest[at];
                if place != NONE {
                    best[component as usize].offer(Best { sum, from: from as u32, to: place });
                }
                if at % 1024 == 0 {
                    monitor.advance(0)?;
                }
            }
            Ok(best)
        });
        let found: Vec<Vec<Best>> = found.into_iter().collect::<Result<_>>()?;
        let joined = found.into_iter().reduce(|mut all, other| {
            all.iter_mut().zip(other).for_each(|(best, other)| best.offer(other));
            all
        });
        let joined = (0..).zip(joined.unwrap_or_default());
        Ok(joined.filter(|(_, best)| best.from != NONE).collect())
    }

    /// The nearest point of another component, if it is nearer than `limit`; else that is the bound.
    fn nearest_of<C: Closeness>(
        &self,
        from: usize,
        of: &[u32],
        within: &[u32],
        limit: f64,
        stack: &mut Vec<(f64, u32)>,
    ) -> Nearest {
        let (point, component) = (self.point(from), of[from]);
        let mut nearest = Nearest { sum: limit, place: NONE };
        stack.clear();
        stack.push((0.0, 0));
        while let Some((bound, node)) = stack.pop() {
            if bound >= nearest.sum {
                continue;
            }
            let Node { places, second } = &self.nodes[node as usize];
            if *second > 0 {
                let far = |node: u32| match within[node as usize] == component {
                    true => f64::INFINITY,
                    false => {
                        let (low, high) = self.bounds(node);
                        sum_to_box::<C>(point, low, high)
                    },
                };
                let children = [(far(node + 1), node + 1), (far(*second), *second)];
                let nearer_last = if children[0].0 < children[1].0 { [children[1], children[0]] } else { children };
                stack.extend(nearer_last.into_iter().filter(|child| child.0 < nearest.sum));
                continue;
            }
            for place in places.clone() {
                if of[place as usize] != component {
                    let pairs = point.iter().zip(self.point(place as usize));
                    let sum = pairs.fold(0.0, |sum, (&x, &y)| C::add(sum, x, y));
                    if sum < nearest.sum {
                        nearest = Nearest { sum, place };
                    }
                }
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::closeness::{Manhattan, SquaredEuclidean};
    use super::*;

    /// Prim's algorithm on all pairs.
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
