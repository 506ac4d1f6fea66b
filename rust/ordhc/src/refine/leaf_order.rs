//! Optimal leaf ordering: swaps children so that neighbouring leaves are close to each other.

use std::ops::Range;

use super::cost::symmetric;
use crate::agglomerate::Matrix;
use crate::error::Result;
use crate::memory::{Buffer, room};
use crate::metric::same_leaves;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::Topology;

/// Returns the order of leaves with the smallest sum of distances between neighbours, among all orders in which the
/// tree can be drawn without crossings.
///
/// The algorithm is that of Bar-Joseph, Gifford & Jaakkola, "Fast optimal leaf ordering for hierarchical clustering"
/// (2001). For each cluster, the best order for each pair of first and last leaf is computed by a matrix product. This
/// product has minima instead of sums, and sums instead of products. The algorithm takes O(n^3) steps for a balanced
/// tree, O(n^2) for a caterpillar, and the memory of two matrices.
///
/// If several orders are equally good, one of them is returned. The first of the two clusters that the last merge joins
/// stays on the left. A node with more than two children is treated as the merges of [`Topology::merges`], so not all
/// orders of its children are tried.
///
/// # Errors
/// A matrix with a different number of leaves; not enough memory; [`Error::Interrupted`](crate::Error::Interrupted).
///
/// ```
/// use ordhc::agglomerate::{Layout, Matrix, Values};
/// use ordhc::refine::optimal_leaf_order;
/// use ordhc::{Dendrogram, Kind};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3], [4, 5]], vec![1.0, 1.0, 2.0], Kind::Dissimilarity)?;
/// // Leaf 0 is closer to leaf 3 than to leaf 2.
/// let far = Matrix::new(Values::I32(&[1, 5, 2, 5, 5, 1]), Layout::Condensed, Kind::Dissimilarity)?;
/// assert_eq!(optimal_leaf_order(tree.topology(), &far, None)?, [1, 0, 3, 2]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn optimal_leaf_order(tree: &Topology, matrix: &Matrix<'_>, monitor: Option<&Monitor>) -> Result<Vec<u32>> {
    watched!(monitor);
    same_leaves(["the tree has", "the matrix has"], [tree.n_leaves(), matrix.n_leaves()])?;
    let leaves = tree.leaf_order();
    if leaves.len() < 3 {
        return Ok(leaves);
    }
    let spans = Spans::of(tree, &leaves);
    let far = farness(matrix, &spans.place)?;
    let work: u64 = spans.halves.iter().map(|halves| spans.steps(halves)).sum();
    monitor.start(work);
    let mut best = Buffer::zeros("the best orders", leaves.len() * leaves.len())?;
    for halves in &spans.halves {
        spans.join(halves, &far, &mut best, monitor)?;
    }
    Ok(spans.trace(&far, &best).into_iter().map(|place| leaves[place]).collect())
}

/// Returns the matrix of distances in which leaf i has the row and the column `place[i]`. Similarities are negated, so
/// that larger is always farther.
fn farness(matrix: &Matrix<'_>, place: &[u32]) -> Result<Buffer> {
    let n = place.len();
    let mut far = Buffer::zeros("the matrix in the order of leaves", n * n)?;
    let sign = if matrix.is_dissimilarity() { 1.0 } else { -1.0 };
    symmetric(matrix, |i, j, share| far[place[i] as usize * n + place[j] as usize] += sign * share);
    Ok(far)
}

/// A cluster that was merged from two clusters, as ranges of positions in an order of the leaves. The ranges of the two
/// clusters are `start..middle` and `middle..end`.
#[derive(Debug, Clone, Copy)]
struct Halves {
    start: usize,
    middle: usize,
    end: usize,
    /// For each of the two merged clusters: the index of its merge, or `None` for a leaf.
    parts: [Option<usize>; 2],
}

struct Spans {
    n: usize,
    place: Vec<u32>,
    halves: Vec<Halves>,
}

#[derive(Clone)]
struct Block<'a> {
    values: &'a [f64],
    stride: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl<'a> Block<'a> {
    fn row(&self, row: usize) -> &'a [f64] {
        &self.values[(self.rows.start + row) * self.stride..][self.columns.clone()]
    }
}

impl Spans {
    fn of(tree: &Topology, leaves: &[u32]) -> Self {
        let n = leaves.len();
        let place = Topology::places(leaves);
        let mut halves: Vec<Halves> = Vec::with_capacity(n - 1);
        let span = |halves: &[Halves], cluster: u32| match (cluster as usize).checked_sub(n) {
            None => (place[cluster as usize] as usize..place[cluster as usize] as usize + 1, None),
            Some(merge) => (halves[merge].start..halves[merge].end, Some(merge)),
        };
        for &[a, b] in tree.merges().iter() {
            let mut parts = [span(&halves, a), span(&halves, b)];
            // `a < b`, but cluster `b` can be left of `a`: a node with many children first merges its first children
            // into a cluster with a large number. The next child is right of them and can have a smaller number.
            parts.sort_by_key(|(span, _)| span.start);
            let [(first, a), (second, b)] = parts;
            halves.push(Halves { start: first.start, middle: first.end, end: second.end, parts: [a, b] });
        }
        Self { n, place, halves }
    }

    /// Returns the possible positions of the first and the last leaf of a cluster, as pairs of ranges. Each of the two
    /// merged clusters can contain the first leaf, so there are two pairs. A single leaf (if `part` is `None`) has one
    /// pair of equal ranges.
    fn ends(&self, part: Option<usize>, span: Range<usize>) -> Vec<[Range<usize>; 2]> {
        let Some(merge) = part else { return vec![[span.clone(), span]] };
        let Halves { start, middle, end, .. } = self.halves[merge];
        vec![[start..middle, middle..end], [middle..end, start..middle]]
    }

    fn steps(&self, halves: &Halves) -> u64 {
        let &Halves { start, middle, end, parts } = halves;
        let (left, right) = ((middle - start) as u64, (end - middle) as u64);
        let pairs = |part, span: Range<usize>| -> u64 {
            self.ends(part, span).iter().map(|[one, other]| (one.len() * other.len()) as u64).sum()
        };
        pairs(parts[0], start..middle) * right + pairs(parts[1], middle..end) * left
    }

    /// Computes the smallest sum of distances between neighbours in a cluster, for each possible first and last leaf.
    /// One of these leaves is in the first of the two merged clusters, and the other is in the second.
    fn join(&self, halves: &Halves, far: &[f64], best: &mut [f64], monitor: &Monitor) -> Result<()> {
        let n = self.n;
        let &Halves { start, middle, end, parts } = halves;
        let (left, right) = (start..middle, middle..end);
        // `through[i][j]`: the smallest length of a path that starts at leaf i, visits all other leaves of the left
        // part, and then ends at leaf j of the right part. The length is the sum of distances between neighbours.
        let mut through = room("the best orders", left.len() * right.len())?;
        for [one, other] in self.ends(parts[0], left.clone()) {
            let within = Block { values: best, stride: n, rows: one, columns: other.clone() };
            let across = Block { values: far, stride: n, rows: other, columns: right.clone() };
            through.append(&mut least_sums(&within, &across, monitor)?);
        }
        for [one, other] in self.ends(parts[1], right.clone()) {
            let columns = other.start - middle..other.end - middle;
            let across = Block { values: &through, stride: right.len(), rows: 0..left.len(), columns };
            let within = Block { values: best, stride: n, rows: other, columns: one.clone() };
            let sums = least_sums(&across, &within, monitor)?;
            for (i, sums) in left.clone().zip(sums.chunks_exact(one.len())) {
                best[i * n..][one.clone()].copy_from_slice(sums);
            }
        }
        for i in left {
            for j in right.clone() {
                best[j * n + i] = best[i * n + j];
            }
        }
        Ok(())
    }

    /// Returns the leaves in the order with the smallest sum of distances between neighbours. Each leaf is given by its
    /// position in the initial order.
    fn trace(&self, far: &[f64], best: &[f64]) -> Vec<usize> {
        let n = self.n;
        let root = self.n - 2;
        let Halves { middle, .. } = self.halves[root];
        let ends = least(0..middle, middle..n, |i, j| best[i * n + j]);
        let mut order = Vec::with_capacity(n);
        let mut open = vec![(Some(root), ends)];
        while let Some((part, [first, last])) = open.pop() {
            let Some(merge) = part else {
                order.push(first);
                continue;
            };
            let Halves { start, middle, end, mut parts } = self.halves[merge];
            let mut spans = [start..middle, middle..end];
            if first >= middle {
                spans.reverse();
                parts.reverse();
            }
            let others = |part, span: &Range<usize>, leaf| {
                let ends = self.ends(part, span.clone());
                ends.into_iter().find(|[one, _]| one.contains(&leaf)).map_or(0..0, |[_, other]| other)
            };
            let [left, right] = [others(parts[0], &spans[0], first), others(parts[1], &spans[1], last)];
            let [k, m] = least(left, right, |k, m| (best[first * n + k] + far[k * n + m]) + best[m * n + last]);
            open.push((parts[1], [m, last]));
            open.push((parts[0], [first, k]));
        }
        order
    }
}

fn least(one: Range<usize>, other: Range<usize>, value: impl Fn(usize, usize) -> f64) -> [usize; 2] {
    let (mut pair, mut least) = ([one.start, other.start], f64::INFINITY);
    for i in one {
        for j in other.clone() {
            let value = value(i, j);
            if value < least {
                (pair, least) = ([i, j], value);
            }
        }
    }
    pair
}

const COLUMNS: usize = 8;
const ROWS: usize = 2;

const MANY: usize = 1 << 18;

/// Returns the matrix product of two submatrices, with minima instead of sums and sums instead of products. The result
/// is stored row by row.
fn least_sums(a: &Block<'_>, b: &Block<'_>, monitor: &Monitor) -> Result<Vec<f64>> {
    let (inner, width) = (a.columns.len(), b.columns.len());
    let bands = parallel::ranges(a.rows.len(), MANY / (inner * width) + 1);
    let work = |band: Range<usize>| {
        let mut sums = room("the best orders", band.len() * width)?;
        sums.resize(band.len() * width, f64::INFINITY);
        let mut panel = vec![[f64::INFINITY; COLUMNS]; inner];
        for first in (0..width).step_by(COLUMNS) {
            let columns = first..(first + COLUMNS).min(width);
            for (k, panel) in panel.iter_mut().enumerate() {
                panel[..columns.len()].copy_from_slice(&b.row(k)[columns.clone()]);
            }
            for (at, sums) in band.clone().step_by(ROWS).zip(sums.chunks_mut(ROWS * width)) {
                // If the number of rows is odd, the last row is used twice.
                let second = (at + 1).min(band.end - 1);
                let least = least_of_two([a.row(at), a.row(second)], &panel);
                for (sums, least) in sums.chunks_mut(width).zip(least) {
                    sums[columns.clone()].copy_from_slice(&least[..columns.len()]);
                }
            }
            monitor.advance((band.len() * columns.len() * inner) as u64)?;
        }
        Ok(sums)
    };
    let parts = parallel::map(bands, work).into_iter().collect::<Result<Vec<_>>>()?;
    Ok(parts.concat())
}

#[inline]
fn least_of_two(rows: [&[f64]; ROWS], panel: &[[f64; COLUMNS]]) -> [[f64; COLUMNS]; ROWS] {
    let mut least = [[f64::INFINITY; COLUMNS]; ROWS];
    for ((&x, &y), panel) in rows[0].iter().zip(rows[1]).zip(panel) {
        for column in 0..COLUMNS {
            let (sum, other) = (x + panel[column], y + panel[column]);
            least[0][column] = if sum < least[0][column] { sum } else { least[0][column] };
            least[1][column] = if other < least[1][column] { other } else { least[1][column] };
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agglomerate::{Layout, Values};
    use crate::kind::Kind;
    use crate::testkit::{all_trees, below};
    use crate::tree::Dendrogram;

    fn orders(tree: &Dendrogram) -> Vec<Vec<u32>> {
        let mut found: Vec<Vec<Vec<u32>>> = (0..tree.n_leaves() as u32).map(|leaf| vec![vec![leaf]]).collect();
        for &[a, b] in tree.merges().iter() {
            let mut all = Vec::new();
            for one in &found[a as usize] {
                for other in &found[b as usize] {
                    all.extend([[&one[..], other].concat(), [&other[..], one].concat()]);
                }
            }
            found.push(all);
        }
        found.pop().unwrap_or_default()
    }

    fn length(order: &[u32], far: &[i32], n: usize) -> i32 {
        order.windows(2).map(|pair| far[pair[0] as usize * n + pair[1] as usize]).sum()
    }

    #[test]
    fn nodes_of_many_children_stay_together() {
        for n in 3..=6 {
            for (seed, tree) in all_trees(n).iter().enumerate() {
                let mut random = below(seed as u64);
                let goes: Vec<bool> = (0..tree.topology().n_nodes()).map(|_| random(2) == 0).collect();
                let (tree, _) = tree.topology().without(|node| goes[node]);
                let far: Vec<i32> = (0..n * (n - 1) / 2).map(|_| random(7) as i32).collect();
                let matrix = Matrix::new(Values::I32(&far), Layout::Condensed, Kind::Dissimilarity).unwrap();
                let order = optimal_leaf_order(&tree, &matrix, None).unwrap();
                let mut spans: Vec<[u32; 2]> = Topology::places(&order).iter().map(|&at| [at, at + 1]).collect();
                for node in n..tree.n_nodes() {
                    let children = || tree.children(node).iter().map(|&child| spans[child as usize]);
                    let first = children().map(|span| span[0]).min().unwrap();
                    let last = children().map(|span| span[1]).max().unwrap();
                    assert_eq!(last - first, tree.size(node));
                    spans.push([first, last]);
                }
            }
        }
    }

    #[test]
    fn no_order_of_the_same_tree_is_better() {
        for n in 1..=6 {
            for (seed, tree) in all_trees(n).iter().enumerate() {
                let mut random = below(seed as u64);
                let mut far = vec![0; n * n];
                for i in 0..n {
                    for j in 0..i {
                        let value = random(7) as i32 - 3;
                        (far[i * n + j], far[j * n + i]) = (value, value);
                    }
                }
                let matrix = |kind| Matrix::new(Values::I32(&far), Layout::Square, kind).unwrap();
                let lengths: Vec<i32> = orders(tree).iter().map(|order| length(order, &far, n)).collect();
                let nearest = optimal_leaf_order(tree.topology(), &matrix(Kind::Dissimilarity), None).unwrap();
                let most_alike = optimal_leaf_order(tree.topology(), &matrix(Kind::Similarity), None).unwrap();
                assert!(orders(tree).contains(&nearest) && orders(tree).contains(&most_alike));
                assert_eq!(Some(&length(&nearest, &far, n)), lengths.iter().min());
                assert_eq!(Some(&length(&most_alike, &far, n)), lengths.iter().max());
            }
        }
    }

    #[test]
    fn other_leaves_are_refused_and_work_can_be_stopped() {
        let tree = &all_trees(4)[0];
        let matrix = Matrix::new(Values::I32(&[1, 2, 3]), Layout::Condensed, Kind::Similarity).unwrap();
        let error = optimal_leaf_order(tree.topology(), &matrix, None).unwrap_err();
        assert_eq!(error.to_string(), "the tree has 4 leaves, the matrix has 3");
        let monitor = Monitor::new();
        monitor.cancel();
        let matrix = Matrix::new(Values::I32(&[1, 2, 3, 4, 5, 6]), Layout::Condensed, Kind::Similarity).unwrap();
        assert!(matches!(optimal_leaf_order(tree.topology(), &matrix, Some(&monitor)), Err(crate::Error::Interrupted)));
    }
}
