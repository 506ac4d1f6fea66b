//! Clusters with few coordinates in a k-d tree of their means, which is updated when clusters merge.

use super::criteria::{About, Cluster, Criterion, MOST, squared};
use super::kd_tree::Tree;
use crate::agglomerate::{Linkage, NO_CLUSTER, Nearest, Tolerance};
use crate::error::Result;

/// The smallest number of clusters for which a k-d tree is faster than comparing all pairs of clusters.
pub(super) const TREE_FROM: usize = 256;
const LEAF: usize = 12;
const NONE: u32 = u32::MAX;

/// The clusters and the k-d tree of their means. Clusters are in the order of the tree. A merged cluster is stored at
/// the index of the cluster that had more leaves.
pub(super) struct CentroidTree<C> {
    criterion: C,
    /// The k-d tree of the clusters' means. If `criterion` uses sums, `tree.points` has the sums of each cluster's
    /// vectors instead.
    tree: Tree,
    about: Vec<About>,
    names: Vec<u32>,
    node_of: Vec<u32>,
    places: Vec<u32>,
    nodes: Vec<Known>,
    n_alive: usize,
    stack: Vec<(f64, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    parent: u32,
    /// The smallest [`Criterion::rank`] of the clusters below the node. Infinite if no cluster is left.
    least: f64,
    first: u32,
}

struct Parts {
    rows: Vec<f64>,
    about: Vec<About>,
    names: Vec<u32>,
}

impl<C: Criterion> CentroidTree<C> {
    pub(super) fn new(rows: Vec<f64>, p: usize, about: Vec<About>, criterion: C) -> Self {
        entered!(vectors_centroid_tree);
        let n = about.len();
        let mut this = Self {
            criterion,
            tree: Tree::new(&[], p, LEAF),
            about: Vec::new(),
            names: Vec::new(),
            node_of: Vec::new(),
            places: vec![NONE; n],
            nodes: Vec::new(),
            n_alive: n,
            stack: Vec::new(),
        };
        this.build(&Parts { rows, about, names: (0..n as u32).collect() });
        this
    }

    pub(super) fn cluster(&self, name: usize) -> Cluster<'_> {
        self.at(self.places[name] as usize)
    }

    fn at(&self, place: usize) -> Cluster<'_> {
        Cluster { row: self.tree.point(place), about: self.about[place] }
    }

    fn build(&mut self, parts: &Parts) {
        let (p, criterion) = (self.tree.p, self.criterion);
        let row = |at: usize| &parts.rows[at * p..][..p];
        let mean = |at: usize| row(at).iter().map(move |&x| criterion.mean(x, parts.about[at].size));
        let n = parts.about.len();
        self.tree = Tree::new(&(0..n).flat_map(mean).collect::<Vec<_>>(), p, LEAF);
        let order = || self.tree.leaves.iter().map(|&at| at as usize);
        let rows: Vec<f64> = order().flat_map(row).copied().collect();
        self.about = order().map(|at| parts.about[at]).collect();
        self.names = order().map(|at| parts.names[at]).collect();
        self.tree.points = rows;
        for (place, &name) in (0..).zip(&self.names) {
            self.places[name as usize] = place;
        }
        self.nodes = vec![Known { parent: NONE, least: f64::INFINITY, first: NONE }; self.tree.nodes.len()];
        self.node_of = vec![0; n];
        for at in 0..self.nodes.len() {
            let node = &self.tree.nodes[at];
            if node.second > 0 {
                self.nodes[at + 1].parent = at as u32;
                self.nodes[node.second as usize].parent = at as u32;
            } else {
                self.node_of[node.places.start as usize..node.places.end as usize].fill(at as u32);
            }
        }
        (0..self.nodes.len() as u32).rev().for_each(|node| self.recompute(node));
    }

    fn pack(&mut self) {
        let alive: Vec<usize> = (0..self.about.len()).filter(|&at| !self.about[at].is_gone()).collect();
        self.build(&Parts {
            rows: alive.iter().flat_map(|&at| self.tree.point(at)).copied().collect(),
            about: alive.iter().map(|&at| self.about[at]).collect(),
            names: alive.iter().map(|&at| self.names[at]).collect(),
        });
    }

    fn recompute(&mut self, at: u32) {
        let (p, own) = (self.tree.p, at as usize);
        let second = self.tree.nodes[own].second;
        let (mut least, mut first) = (f64::INFINITY, NONE);
        let (mut low, mut high) = ([f64::INFINITY; MOST], [f64::NEG_INFINITY; MOST]);
        if second > 0 {
            for child in [at + 1, second] {
                let known = self.nodes[child as usize];
                least = least.min(known.least);
                first = first.min(known.first);
                let bounds = self.tree.bounds(child);
                for d in 0..p {
                    low[d] = low[d].min(bounds.0[d]);
                    high[d] = high[d].max(bounds.1[d]);
                }
            }
        } else {
            let places = self.tree.nodes[own].places.clone();
            for place in (places.start as usize..places.end as usize).filter(|&place| !self.about[place].is_gone()) {
                let cluster = self.at(place);
                least = least.min(self.criterion.rank(cluster.about));
                first = first.min(self.names[place]);
                for (d, &x) in cluster.row.iter().enumerate() {
                    let x = self.criterion.mean(x, cluster.about.size);
                    low[d] = low[d].min(x);
                    high[d] = high[d].max(x);
                }
            }
        }
        let own_box = &mut self.tree.boxes[2 * p * own..][..2 * p];
        own_box[..p].copy_from_slice(&low[..p]);
        own_box[p..].copy_from_slice(&high[..p]);
        self.nodes[own] = Known { least, first, ..self.nodes[own] };
    }

    fn update_above(&mut self, place: usize) {
        let mut node = self.node_of[place];
        while node != NONE {
            self.recompute(node);
            node = self.nodes[node as usize].parent;
        }
    }

    fn bound(&self, cluster: Cluster<'_>, node: u32) -> f64 {
        let least = self.nodes[node as usize].least;
        if least == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        let (low, high) = self.tree.bounds(node);
        self.criterion.bound(cluster, low, high, least)
    }
}

impl<C: Criterion> Linkage for CentroidTree<C> {
    fn n_leaves(&self) -> usize {
        self.places.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.criterion.tolerance()
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        for (value, &k) in out.iter_mut().zip(others) {
            *value = self.criterion.similarity(self.cluster(i), self.cluster(k));
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        let [a, b] = [i, j].map(|cluster| self.places[cluster] as usize);
        let p = self.tree.p;
        let ((one, other), square) = ((self.about[a], self.about[b]), squared(self.tree.point(a), self.tree.point(b)));
        let (about, share) = one.together(other, square);
        let (kept, gone) = if one.size < other.size { (b, a) } else { (a, b) };
        for d in 0..p {
            let (x, y) = (self.tree.points[a * p + d], self.tree.points[b * p + d]);
            self.tree.points[kept * p + d] = self.criterion.together(x, y, share);
        }
        (self.about[kept], self.names[kept], self.places[i]) = (about, i as u32, kept as u32);
        self.about[gone] = About::GONE;
        self.n_alive -= 1;
        if 2 * self.n_alive < self.about.len() {
            self.pack();
        } else {
            self.update_above(kept);
            self.update_above(gone);
        }
        Ok(())
    }

    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let own = self.places[i] as usize;
        let mut stack = std::mem::take(&mut self.stack);
        let (cluster, tolerance) = (self.at(own), self.tolerance());
        let (mut near, mut floor) = (NO_CLUSTER, f64::NEG_INFINITY);
        stack.clear();
        stack.push((f64::INFINITY, 0));
        while let Some((bound, node)) = stack.pop() {
            // Among equally near clusters, the cluster with the smallest leaf counts as the nearest.
            let too_late = || {
                self.nodes[node as usize].first as usize > near.cluster
                    && tolerance.key(bound) <= tolerance.key(near.similarity)
            };
            if bound < floor || too_late() {
                continue;
            }
            let second = self.tree.nodes[node as usize].second;
            if second > 0 {
                let children = [node + 1, second].map(|child| (self.bound(cluster, child), child));
                let before = |a: (f64, u32), b: (f64, u32)| {
                    let first = |child: (f64, u32)| self.nodes[child.1 as usize].first;
                    a.0 > b.0 || (a.0 == b.0 && first(a) < first(b))
                };
                let [a, b] = children;
                let nearer_last = if before(a, b) { [b, a] } else { [a, b] };
                stack.extend(nearer_last.into_iter().filter(|child| child.0 >= floor && child.0 > f64::NEG_INFINITY));
                continue;
            }
            let places = self.tree.nodes[node as usize].places.clone();
            for place in places.start as usize..places.end as usize {
                if place == own || self.about[place].is_gone() {
                    continue;
                }
                let similarity = self.criterion.similarity(cluster, self.at(place));
                let cluster = self.names[place] as usize;
                if similarity >= floor && near.offer(Nearest { cluster, similarity, doubtful: false }, tolerance) {
                    floor = tolerance.floor(similarity);
                }
            }
        }
        self.stack = stack;
        Ok(near)
    }
}
