//! A k-d tree: points with few coordinates in nested boxes (Bentley 1975).
//!
//! Distances to boxes are summed in the order of coordinates, as distances of points are. So rounding never makes a
//! point nearer than its box.

use std::ops::Range;

use super::closeness::Closeness;

pub(super) struct Tree {
    pub(super) p: usize,
    /// The coordinates of the points, in the order of the tree.
    pub(super) points: Vec<f64>,
    /// The leaf ids of the points, in the order of the tree.
    pub(super) leaves: Vec<u32>,
    pub(super) nodes: Vec<Node>,
    /// For each node: the smallest value of each coordinate, followed by the largest value of each coordinate.
    pub(super) boxes: Vec<f64>,
}

pub(super) struct Node {
    pub(super) places: Range<u32>,
    /// The index of the second child, or 0 if the node has no children. The first child comes directly after the node.
    pub(super) second: u32,
}

impl Tree {
    pub(super) fn new(points: &[f64], p: usize, most: usize) -> Self {
        let n = points.len() / p;
        let mut tree =
            Self { p, points: Vec::new(), leaves: (0..n as u32).collect(), nodes: Vec::new(), boxes: Vec::new() };
        let mut leaves = std::mem::take(&mut tree.leaves);
        tree.split(points, &mut leaves, 0, most);
        tree.points = leaves.iter().flat_map(|&leaf| &points[leaf as usize * p..][..p]).copied().collect();
        tree.leaves = leaves;
        tree
    }

    fn split(&mut self, points: &[f64], leaves: &mut [u32], start: u32, most: usize) {
        let p = self.p;
        let (own, len) = (self.nodes.len(), leaves.len());
        self.nodes.push(Node { places: start..start + len as u32, second: 0 });
        let at = self.boxes.len();
        self.boxes.resize(at + p, f64::INFINITY);
        self.boxes.resize(at + 2 * p, f64::NEG_INFINITY);
        let (low, high) = self.boxes[at..].split_at_mut(p);
        for &leaf in &*leaves {
            for (d, &x) in points[leaf as usize * p..][..p].iter().enumerate() {
                low[d] = low[d].min(x);
                high[d] = high[d].max(x);
            }
        }
        if len <= most {
            return;
        }
        let width = |d: usize| high[d] - low[d];
        let widest = (0..p).fold(0, |best, d| if width(d) > width(best) { d } else { best });
        let middle = len / 2;
        let coordinate = |leaf: u32| points[leaf as usize * p + widest];
        leaves.select_nth_unstable_by(middle, |&a, &b| coordinate(a).total_cmp(&coordinate(b)).then(a.cmp(&b)));
        let (before, after) = leaves.split_at_mut(middle);
        self.split(points, before, start, most);
        self.nodes[own].second = self.nodes.len() as u32;
        self.split(points, after, start + middle as u32, most);
    }

    pub(super) fn point(&self, place: usize) -> &[f64] {
        &self.points[place * self.p..(place + 1) * self.p]
    }

    pub(super) fn bounds(&self, node: u32) -> (&[f64], &[f64]) {
        self.boxes[2 * self.p * node as usize..][..2 * self.p].split_at(self.p)
    }
}

/// Returns the distance (squared if Euclidean) from a point to the nearest point of a box. `low` and `high` are the
/// corners of the box.
pub(super) fn sum_to_box<C: Closeness>(point: &[f64], low: &[f64], high: &[f64]) -> f64 {
    let sides = point.iter().zip(low).zip(high);
    sides.fold(0.0, |sum, ((&x, &low), &high)| C::add(sum, (low - x).max(x - high).max(0.0), 0.0))
}

fn sum_across_box<C: Closeness>(point: &[f64], low: &[f64], high: &[f64]) -> f64 {
    let sides = point.iter().zip(low).zip(high);
    sides.fold(0.0, |sum, ((&x, &low), &high)| C::add(sum, (high - x).max(x - low), 0.0))
}

impl Tree {
    /// Adds to `out` all leaves whose similarity with a point is exactly `similarity`.
    pub(super) fn at_similarity<C: Closeness>(&self, point: &[f64], similarity: f64, out: &mut Vec<u32>) {
        entered!(vectors_ties_in_tree);
        let mut stack = vec![0u32];
        while let Some(node) = stack.pop() {
            let (low, high) = self.bounds(node);
            let nearest = C::similarity(sum_to_box::<C>(point, low, high));
            let farthest = C::similarity(sum_across_box::<C>(point, low, high));
            if nearest < similarity || farthest > similarity {
                continue;
            }
            let Node { places, second } = &self.nodes[node as usize];
            if *second > 0 {
                stack.extend([*second, node + 1]);
                continue;
            }
            for place in places.clone() {
                let pairs = point.iter().zip(self.point(place as usize));
                if C::similarity(pairs.fold(0.0, |sum, (&x, &y)| C::add(sum, x, y))) == similarity {
                    out.push(self.leaves[place as usize]);
                }
            }
        }
    }
}
