//! Settles comparisons that rounding leaves open: the few similarities in doubt are computed from the leaves of their
//! clusters, in twice the precision.

use std::collections::HashMap;

use super::Nearest;
use super::matrix::Matrix;
use super::precise_matrix::{NOTHING, VAGUE, key_of};
use super::tolerance::{Tolerance, key};
use crate::error::Result;
use crate::linkage::Between;
use crate::monitor::Monitor;
use crate::precise::Precise;
use crate::tree::RawMerge;

/// Computes similarities of clusters from those of their leaves.
///
/// A cluster is a node: leaves come first, then merges in the order in which they were made. Nodes stay, so that merges
/// can be compared after all of them were made. Nothing is allocated before the first doubt.
pub(crate) struct Judge<'a> {
    source: Option<Source<'a>>,
    tolerance: Tolerance,
    monitor: &'a Monitor,
    /// By merge: the nodes of its two parts.
    parts: Vec<[u32; 2]>,
    /// By cluster: its node, after the merges that were seen.
    node_of: Vec<u32>,
    /// By node: the number of leaves.
    sizes: Vec<f64>,
    /// Sums over the pairs of leaves between two nodes, the recent ones and those before them.
    between: [HashMap<[u32; 2], Precise>; 2],
    /// Sums over the pairs of leaves inside of a node.
    inside: HashMap<u32, Precise>,
    /// What cancels to nothing but an error below this is zero.
    zero: Option<f64>,
}

/// What similarities are computed from.
#[derive(Clone, Copy)]
struct Source<'a> {
    matrix: &'a Matrix<'a>,
    /// Whether dissimilarities are squared.
    squared: bool,
    form: Between,
}

/// So many sums for each leaf are kept.
const KEPT: usize = 16;
/// Three clusters that are near to another, but not equally near, may merge in an order that only the naive engine
/// finds.
const FEW: usize = 2;

impl<'a> Judge<'a> {
    /// Has the leaves of `matrix` to look at, if the linkage's similarities are told by them.
    pub(super) fn new(
        form: Option<Between>,
        matrix: Option<&'a Matrix<'a>>,
        squared: bool,
        tolerance: Tolerance,
        monitor: &'a Monitor,
    ) -> Self {
        let squared = |matrix: &Matrix<'_>| squared && matrix.is_dissimilarity();
        let source = matrix.zip(form).map(|(matrix, form)| Source { matrix, squared: squared(matrix), form });
        Self {
            source,
            tolerance,
            monitor,
            parts: Vec::new(),
            node_of: Vec::new(),
            sizes: Vec::new(),
            between: Default::default(),
            inside: HashMap::new(),
            zero: None,
        }
    }

    /// Has nothing to look at: all doubts go to the monitor.
    pub(crate) fn without_leaves(monitor: &'a Monitor) -> Self {
        Self::new(None, None, false, Tolerance::GRID, monitor)
    }

    pub(crate) fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    pub(crate) fn monitor(&self) -> &'a Monitor {
        self.monitor
    }

    /// The nearest of cluster `i` among `others`, ascending, after `merges`: the first with the largest key.
    /// `nearest` is what was found, in doubt.
    pub(crate) fn nearest(
        &mut self,
        nearest: Nearest,
        merges: &[RawMerge],
        i: usize,
        others: &[usize],
        similarities: &[f64],
    ) -> Result<Nearest> {
        if self.source.is_none() {
            self.monitor.doubt();
            return Ok(nearest);
        }
        let tolerance = self.tolerance;
        let top = similarities.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        let floor = tolerance.floor(top);
        let near = || others.iter().zip(similarities).filter(|&(_, &s)| s >= floor).map(|(&k, &s)| (k, s));
        let highest = near().fold(f64::NEG_INFINITY, |highest, (_, s)| highest.max(tolerance.ends(s)[1]));
        let unequal = |s: f64| tolerance.are_apart(s, top);
        let mut commute = near().count() <= FEW || !near().any(|(_, s)| unequal(s));
        let mut best: Option<(f64, Nearest)> = None;
        for (k, s) in near() {
            let key = self.key(merges, i, k, s)?;
            let is_first = best.is_none_or(|(highest, _)| key > highest);
            commute &= near().count() <= FEW || best.is_none_or(|(highest, _)| key == highest);
            if is_first {
                best = Some((key, Nearest::new(k, s)));
            }
            // No key is larger, and the first that is as large is the nearest.
            if key == highest {
                break;
            }
        }
        if !commute {
            self.monitor.doubt();
        }
        Ok(best.map_or(nearest, |(_, nearest)| nearest))
    }

    /// Whether cluster `j` is as near to cluster `i` as cluster `nearest`, or nearer; `found` and `best` are the
    /// similarities, as they are rounded, after `merges`.
    pub(super) fn are_tied(
        &mut self,
        merges: &[RawMerge],
        i: usize,
        (j, found): (usize, f64),
        (nearest, best): (usize, f64),
    ) -> Result<bool> {
        if self.source.is_none() || self.tolerance.are_apart(found, best) {
            self.monitor.doubt();
        }
        Ok(self.key(merges, i, j, found)? >= self.key(merges, i, nearest, best)?)
    }

    /// The key of the similarity at which a merge took place; `merges` are that merge, those before it, and maybe more.
    pub(crate) fn key_of_merge(&mut self, merges: &[RawMerge], at: usize) -> Result<f64> {
        if self.source.is_none() {
            self.monitor.doubt();
            return Ok(self.tolerance.key(merges[at].similarity));
        }
        self.bring_up_to_date(merges);
        let [a, b] = self.parts[at];
        self.key_of_nodes(a, b, merges[at].similarity)
    }

    /// The key of the similarity of two clusters, which is `rounded` to what it is held as.
    fn key(&mut self, merges: &[RawMerge], i: usize, k: usize, rounded: f64) -> Result<f64> {
        let [low, high] = self.tolerance.ends(rounded);
        if low == high || self.source.is_none() {
            return Ok(key(rounded));
        }
        self.bring_up_to_date(merges);
        self.key_of_nodes(self.node_of[i], self.node_of[k], rounded)
    }

    fn key_of_nodes(&mut self, a: u32, b: u32, rounded: f64) -> Result<f64> {
        let Some(source) = self.source else { return Ok(key(rounded)) };
        let similarity = self.similarity(source, a, b)?;
        let (key, certain) = key_of(similarity);
        if !certain && similarity.error() > VAGUE * similarity.float().abs() {
            self.monitor.doubt();
        }
        Ok(key)
    }

    fn bring_up_to_date(&mut self, merges: &[RawMerge]) {
        let Some(Source { matrix, .. }) = self.source else { return };
        let n = matrix.n_leaves();
        if self.node_of.is_empty() {
            self.node_of = (0..n as u32).collect();
            self.sizes = vec![1.0; n];
        }
        for merge in &merges[self.parts.len().min(merges.len())..] {
            let [a, b] = [merge.i, merge.j].map(|k| self.node_of[k]);
            self.node_of[merge.i] = (n + self.parts.len()) as u32;
            self.parts.push([a, b]);
            self.sizes.push(self.sizes[a as usize] + self.sizes[b as usize]);
        }
    }

    fn similarity(&mut self, source: Source<'_>, a: u32, b: u32) -> Result<Precise> {
        let sum = self.between(source, a, b)?;
        let [n_a, n_b] = [a, b].map(|node| Precise::from(self.sizes[node as usize]));
        match source.form {
            Between::Mean if n_a.float() * n_b.float() == 1.0 => Ok(sum),
            Between::Mean => Ok(self.or_zero(source, sum)? / (n_a * n_b)),
            Between::Ward if n_a.float() * n_b.float() == 1.0 => Ok(sum),
            Between::Ward => {
                let [inside_a, inside_b] = [self.inside(source, a)?, self.inside(source, b)?];
                let difference = n_a * n_b * sum - n_b * n_b * inside_a - n_a * n_a * inside_b;
                self.or_zero(source, Precise::from(2.0) * difference / (n_a * n_b * (n_a + n_b)))
            }
            Between::Halves | Between::Sum | Between::Least => self.or_zero(source, sum),
        }
    }

    /// The sum over the pairs of leaves between two nodes; of halves, the mean.
    fn between(&mut self, source: Source<'_>, a: u32, b: u32) -> Result<Precise> {
        if let Some(known) = self.known(source, a, b) {
            return Ok(known);
        }
        let (a, b) = (a.max(b), a.min(b));
        let [p, q] = self.parts[a as usize - source.matrix.n_leaves()];
        let sum = match (self.known(source, p, b), self.known(source, q, b)) {
            (Some(x), Some(y)) if source.form == Between::Halves => (x + y) * Precise::from(0.5),
            (Some(x), Some(y)) => x + y,
            _ => self.sum(source, a, b)?,
        };
        let [recent, before] = &mut self.between;
        if recent.len() >= KEPT * source.matrix.n_leaves() {
            *before = std::mem::take(recent);
        }
        recent.insert([a, b], sum);
        Ok(sum)
    }

    fn known(&self, source: Source<'_>, a: u32, b: u32) -> Option<Precise> {
        let (a, b) = (a.max(b), a.min(b));
        if (a as usize) < source.matrix.n_leaves() {
            return Some(source.pair(a, b));
        }
        self.between.iter().find_map(|sums| sums.get(&[a, b]).copied())
    }

    fn sum(&self, source: Source<'_>, a: u32, b: u32) -> Result<Precise> {
        let [of_a, of_b] = [self.leaves(source, a), self.leaves(source, b)];
        let mut sum = Precise::from(0.0);
        for &(i, share_i) in &of_a {
            self.monitor.advance(0)?;
            for &(k, share_k) in &of_b {
                let x = source.pair(i, k);
                sum = sum
                    + match source.form {
                        Between::Halves => x * Precise::from(share_i) * Precise::from(share_k),
                        _ => x,
                    };
            }
        }
        Ok(sum)
    }

    /// The leaves of a node, and their shares in a mean of halves.
    fn leaves(&self, source: Source<'_>, node: u32) -> Vec<(u32, f64)> {
        let n = source.matrix.n_leaves();
        let mut leaves = Vec::with_capacity(self.sizes[node as usize] as usize);
        let mut stack = vec![(node, 1.0)];
        while let Some((node, share)) = stack.pop() {
            match (node as usize).checked_sub(n) {
                None => leaves.push((node, share)),
                Some(at) => stack.extend(self.parts[at].map(|part| (part, 0.5 * share))),
            }
        }
        leaves
    }

    /// The sum over the pairs of leaves inside of a node.
    fn inside(&mut self, source: Source<'_>, node: u32) -> Result<Precise> {
        let n = source.matrix.n_leaves();
        let mut stack = vec![node];
        while let Some(&node) = stack.last() {
            let known = |node: u32| match (node as usize) < n {
                true => Some(Precise::from(0.0)),
                false => self.inside.get(&node).copied(),
            };
            if known(node).is_some() {
                stack.pop();
                continue;
            }
            let [p, q] = self.parts[node as usize - n];
            match [known(p), known(q)] {
                [Some(x), Some(y)] => {
                    let sum = x + y + self.between(source, p, q)?;
                    self.inside.insert(node, sum);
                }
                unknown => stack.extend([p, q].into_iter().zip(unknown).filter(|(_, x)| x.is_none()).map(|(k, _)| k)),
            }
        }
        Ok(self.inside.get(&node).copied().unwrap_or(Precise::from(0.0)))
    }

    /// What is nothing but an error far below all values is zero.
    fn or_zero(&mut self, source: Source<'_>, x: Precise) -> Result<Precise> {
        let nothing = x.error() > 0.0 && x.float().abs() <= x.error() && x.error() < self.zero(source)?;
        Ok(if nothing { Precise::from(0.0) } else { x })
    }

    fn zero(&mut self, source: Source<'_>) -> Result<f64> {
        if let Some(zero) = self.zero {
            return Ok(zero);
        }
        let n = source.matrix.n_leaves();
        let (mut row, mut least) = (vec![0.0f64; n], f64::INFINITY);
        for i in 0..n {
            let row = &mut row[..n - i - 1];
            source.matrix.write_row_after(i, source.squared, row);
            least = row.iter().fold(least, |least, &x| if x == 0.0 { least } else { least.min(x.abs()) });
            self.monitor.advance(0)?;
        }
        let zero = least * NOTHING;
        self.zero = Some(zero);
        Ok(zero)
    }
}

impl Source<'_> {
    /// The similarity of two leaves.
    fn pair(&self, a: u32, b: u32) -> Precise {
        let x = self.matrix.similarity(a, b);
        if self.squared {
            let x = Precise::from(x * self.matrix.unit);
            -(x * x)
        } else {
            Precise::from(x)
        }
    }
}
