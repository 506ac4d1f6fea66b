//! Finds the larger of two similarities if rounding errors could change the result (a doubt). The few similarities in
//! doubt are computed again from the leaves of their clusters, with about 32 digits instead of 16.

use std::collections::HashMap;

use super::matrix::Matrix;
use super::nearest::{Linkage, Nearest};
use super::precise_matrix::{NOTHING, VAGUE, key_of};
use super::tolerance::{Tolerance, key};
use crate::error::Result;
use crate::linkage::Between;
use crate::monitor::Monitor;
use crate::precise::Precise;
use crate::similarity::condensed_len;
use crate::tree::{Found, RawMerge};

/// Computes similarities of clusters from the similarities of their leaves, if rounding errors could change which of
/// two clusters is nearer (a doubt).
///
/// A node is a leaf or a merge. Leaves are numbered first, then merges in the order in which they were made. All nodes
/// are kept, so that merges can still be compared at the end. No memory is allocated before the first doubt.
pub(crate) struct Doubts<'a> {
    source: Option<Source<'a>>,
    tolerance: Tolerance,
    monitor: &'a Monitor,
    parts: Vec<[u32; 2]>,
    node_of: Vec<u32>,
    sizes: Vec<f64>,
    /// Cached sums of similarities over all pairs of leaves between two nodes. When the first table is full, it
    /// replaces the second table.
    between: [HashMap<[u32; 2], Precise>; 2],
    inside: HashMap<u32, Precise>,
    /// A limit for rounding errors. A similarity counts as zero if its absolute value is at most its rounding error,
    /// and the rounding error is below this limit. `None` until the limit is computed.
    zero: Option<f64>,
    /// The number of similarities of leaves that may still be summed. At 0, rounding errors are no longer corrected.
    patience: usize,
    /// True if rounding errors may have changed the tree.
    open: bool,
}

#[derive(Clone, Copy)]
struct Source<'a> {
    matrix: &'a Matrix<'a>,
    squared: bool,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Mean,
    /// A weighted mean of the similarities between the clusters. At each merge, the two merged clusters have equal
    /// weights.
    Halves,
    Ward,
    /// The mean similarity between the clusters, minus half the mean similarity within each cluster. Within a cluster,
    /// the similarity of a leaf with itself counts as 0.
    Centroid,
    /// Like `Centroid`, but in all means the two clusters of each merge have equal weights.
    Median,
}

impl Form {
    pub(super) fn of(between: Option<Between>) -> Option<Self> {
        match between? {
            Between::Mean => Some(Self::Mean),
            Between::Halves => Some(Self::Halves),
            Between::Ward => Some(Self::Ward),
            // Values are exact, so there are no rounding errors to correct.
            Between::Sum | Between::Least => None,
        }
    }

    fn is_halves(self) -> bool {
        matches!(self, Self::Halves | Self::Median)
    }
}

const KEPT: usize = 16;
/// The maximum number of similarities of leaves that are summed to correct rounding errors, divided by the number of
/// pairs of leaves. Summing more would take longer than computing all merges again with about 32 digits.
const PATIENCE: usize = 16;
/// Up to this number of almost equally near clusters, the order in which reciprocal pairs merge cannot change the tree.
/// If there are three, two of them can merge first, and the rounded mean of their similarities can equal the largest
/// similarity.
const COMMUTING: usize = 2;

impl<'a> Doubts<'a> {
    /// Without `matrix` or `form`, rounding errors are not corrected.
    pub(super) fn new(
        form: Option<Form>,
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
            patience: matrix.map_or(0, |matrix| PATIENCE.saturating_mul(condensed_len(matrix.n_leaves()))),
            open: false,
        }
    }

    pub(crate) fn left_open(monitor: &'a Monitor) -> Self {
        Self::new(None, None, false, Tolerance::GRID, monitor)
    }

    pub(super) fn leave_open(&mut self) {
        self.open = true;
    }

    pub(super) fn found(&self, merges: Vec<RawMerge>) -> Found {
        Found { merges, doubtful: self.open }
    }

    pub(crate) fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    pub(crate) fn monitor(&self) -> &'a Monitor {
        self.monitor
    }

    /// Returns the first of the clusters `others` whose similarity to cluster `i` has the largest key (rounded value).
    /// `others` are ascending, and `nearest` is the result from rounded similarities.
    pub(crate) fn nearest(
        &mut self,
        nearest: Nearest,
        merges: &[RawMerge],
        i: usize,
        others: &[usize],
        similarities: &[f64],
    ) -> Result<Nearest> {
        let Some(source) = self.source else {
            self.open = true;
            return Ok(nearest);
        };
        let tolerance = self.tolerance;
        let top = similarities.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        let floor = tolerance.floor(top);
        let near = || others.iter().zip(similarities).filter(|&(_, &s)| s >= floor).map(|(&k, &s)| (k, s));
        let highest = near().fold(f64::NEG_INFINITY, |highest, (_, s)| highest.max(tolerance.ends(s)[1]));
        let are_few = near().count() <= COMMUTING;
        let mut commute = are_few || !near().any(|(_, s)| tolerance.are_apart(s, top));
        let mut best: Option<(f64, Nearest)> = None;
        for (k, s) in near() {
            let key = self.key(merges, i, k, s)?;
            let is_first = best.is_none_or(|(highest, _)| key > highest);
            commute &= are_few || best.is_none_or(|(highest, _)| key == highest);
            if is_first {
                best = Some((key, Nearest::new(k, s)));
            }
            // No key (rounded similarity) is larger than `highest`, so the first cluster with this key is the nearest.
            if key == highest {
                break;
            }
        }
        // With Ward's linkage, a merged cluster can be slightly closer to cluster `i` than both clusters were before
        // their merge, if these were not exactly equally close.
        if commute && !are_few && source.form == Form::Ward {
            let open = near().filter(|&(_, s)| tolerance.ends(s)[0] < tolerance.ends(s)[1]);
            self.bring_up_to_date(merges);
            commute = self.are_equal(source, i, open.map(|(k, _)| k))?;
        }
        if !commute {
            self.open = true;
        }
        Ok(best.map_or(nearest, |(_, nearest)| nearest))
    }

    /// Returns [`Self::nearest`] of cluster `i` among all clusters that are left after `merges`.
    #[cold]
    pub(super) fn settled(
        &mut self,
        linkage: &mut (impl Linkage + ?Sized),
        i: usize,
        nearest: Nearest,
        merges: &[RawMerge],
    ) -> Result<Nearest> {
        let mut gone = vec![false; linkage.n_leaves()];
        merges.iter().for_each(|merge| gone[merge.j] = true);
        let others: Vec<usize> = (0..gone.len()).filter(|&k| k != i && !gone[k]).collect();
        let mut values = vec![0.0; others.len()];
        linkage.similarities(i, &others, &mut values)?;
        self.nearest(nearest, merges, i, &others, &values)
    }

    fn are_equal(&mut self, source: Source<'_>, i: usize, others: impl Iterator<Item = usize>) -> Result<bool> {
        let mut first: Option<Precise> = None;
        for k in others {
            let x = self.similarity(source, self.node_of[i], self.node_of[k])?;
            let difference = *first.get_or_insert(x) - x;
            if difference.float().abs() > difference.error() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if cluster `j` is as near to cluster `i` as `nearest`, the nearest cluster of `i`. `found` and
    /// `best` are the rounded similarities of `j` and `nearest` to `i`.
    pub(super) fn are_tied(
        &mut self,
        merges: &[RawMerge],
        i: usize,
        (j, found): (usize, f64),
        (nearest, best): (usize, f64),
    ) -> Result<bool> {
        let are_tied = self.key(merges, i, j, found)? >= self.key(merges, i, nearest, best)?;
        if self.source.is_none() || !are_tied || self.tolerance.are_apart(found, best) {
            self.open = true;
        }
        Ok(are_tied)
    }

    /// Returns the key (rounded value) of the similarity of merge `at`. `merges` contain all merges before `at`, and
    /// possibly later merges.
    pub(crate) fn key_of_merge(&mut self, merges: &[RawMerge], at: usize) -> Result<f64> {
        let Some(source) = self.source else {
            self.open = true;
            return Ok(self.tolerance.key(merges[at].similarity));
        };
        self.bring_up_to_date(merges);
        let [a, b] = self.parts[at];
        self.key_of_nodes(source, a, b)
    }

    fn key(&mut self, merges: &[RawMerge], i: usize, k: usize, rounded: f64) -> Result<f64> {
        let [low, high] = self.tolerance.ends(rounded);
        if low == high { Ok(low) } else { self.computed_key(merges, i, k, rounded) }
    }

    pub(super) fn computed_key(&mut self, merges: &[RawMerge], i: usize, k: usize, rounded: f64) -> Result<f64> {
        let Some(source) = self.source else { return Ok(key(rounded)) };
        self.bring_up_to_date(merges);
        self.key_of_nodes(source, self.node_of[i], self.node_of[k])
    }

    fn key_of_nodes(&mut self, source: Source<'_>, a: u32, b: u32) -> Result<f64> {
        let similarity = self.similarity(source, a, b)?;
        Ok(self.certain_key(similarity))
    }

    pub(super) fn key_of_number(&mut self, similarity: Precise) -> Result<f64> {
        let similarity = self.or_zero(similarity)?;
        Ok(self.certain_key(similarity))
    }

    fn certain_key(&mut self, similarity: Precise) -> f64 {
        let (key, certain) = key_of(similarity);
        if !certain && similarity.error() > VAGUE * similarity.float().abs() {
            self.open = true;
        }
        key
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
        entered!(doubts);
        let sum = self.between(source, a, b)?;
        let [n_a, n_b] = [a, b].map(|node| Precise::from(self.sizes[node as usize]));
        let of_leaves = n_a.float() * n_b.float() == 1.0;
        let [inside_a, inside_b] = match source.form {
            Form::Mean if !of_leaves => return Ok(self.or_zero(sum)? / (n_a * n_b)),
            Form::Halves if !of_leaves => return self.or_zero(sum),
            Form::Ward | Form::Centroid | Form::Median if !of_leaves => {
                [self.inside(source, a)?, self.inside(source, b)?]
            }
            _ => return Ok(sum),
        };
        let similarity = match source.form {
            Form::Centroid => sum / (n_a * n_b) - inside_a / (n_a * n_a) - inside_b / (n_b * n_b),
            Form::Median => sum - inside_a - inside_b,
            _ => {
                let difference = n_a * n_b * sum - n_b * n_b * inside_a - n_a * n_a * inside_b;
                Precise::from(2.0) * difference / (n_a * n_b * (n_a + n_b))
            }
        };
        self.or_zero(similarity)
    }

    /// Returns the sum of the similarities of all pairs of leaves between two nodes. For [`Form::Halves`] and
    /// [`Form::Median`], returns the weighted mean.
    fn between(&mut self, source: Source<'_>, a: u32, b: u32) -> Result<Precise> {
        if let Some(known) = self.known(source, a, b) {
            return Ok(known);
        }
        let (a, b) = (a.max(b), a.min(b));
        let [p, q] = self.parts[a as usize - source.matrix.n_leaves()];
        let sum = match (self.known(source, p, b), self.known(source, q, b)) {
            (Some(x), Some(y)) if source.form.is_halves() => (x + y) * Precise::from(0.5),
            (Some(x), Some(y)) => x + y,
            _ => self.sum(source, a, b)?,
        };
        if self.patience == 0 {
            self.source = None;
            self.open = true;
        }
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

    fn sum(&mut self, source: Source<'_>, a: u32, b: u32) -> Result<Precise> {
        let [of_a, of_b] = [self.leaves(source, a), self.leaves(source, b)];
        self.patience = self.patience.saturating_sub(of_a.len() * of_b.len());
        let mut sum = Precise::from(0.0);
        for &(i, share_i) in &of_a {
            self.monitor.advance(0)?;
            for &(k, share_k) in &of_b {
                let x = source.pair(i, k);
                let is_halves = source.form.is_halves();
                sum = sum + if is_halves { x * Precise::from(share_i) * Precise::from(share_k) } else { x };
            }
        }
        Ok(sum)
    }

    /// Returns the leaves of a node, each with the weight 2^-depth, where depth is its number of merges within the
    /// node.
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
                    let is_median = source.form == Form::Median;
                    self.inside.insert(node, if is_median { sum * Precise::from(0.25) } else { sum });
                }
                unknown => stack.extend([p, q].into_iter().zip(unknown).filter(|(_, x)| x.is_none()).map(|(k, _)| k)),
            }
        }
        Ok(self.inside.get(&node).copied().unwrap_or(Precise::from(0.0)))
    }

    /// Returns zero if a value is not larger than its rounding error, and the rounding error is far below all input
    /// values. Otherwise, returns the value.
    fn or_zero(&mut self, x: Precise) -> Result<Precise> {
        let nothing = x.error() > 0.0 && x.float().abs() <= x.error() && x.error() < self.zero()?;
        Ok(if nothing { Precise::from(0.0) } else { x })
    }

    fn zero(&mut self) -> Result<f64> {
        let (None, Some(source)) = (self.zero, self.source) else { return Ok(self.zero.unwrap_or(0.0)) };
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

#[cfg(test)]
mod tests {
    use super::super::{Agglomeration, Engine, Layout, Values};
    use super::*;
    use crate::kind::Kind;
    use crate::linkage::Rule;
    use crate::testkit::fractions;

    const FORMS: [(Rule, Form); 5] = [
        (Rule::Average, Form::Mean),
        (Rule::Weighted, Form::Halves),
        (Rule::Ward, Form::Ward),
        (Rule::Centroid, Form::Centroid),
        (Rule::Median, Form::Median),
    ];

    fn naive(matrix: &Matrix<'_>, rule: &Rule) -> Vec<RawMerge> {
        let tree = Agglomeration::new(rule.clone()).engine(Engine::Naive).run(matrix).unwrap();
        let n = tree.n_leaves();
        let mut smallest: Vec<usize> = (0..n).collect();
        let heights = tree.heights().iter().map(|&x| match (matrix.is_dissimilarity(), rule.is_squared()) {
            (false, _) => x,
            (true, false) => -x,
            (true, true) => -x * x.abs(),
        });
        let merges = tree.merges();
        let raw = merges.iter().zip(heights).map(|(pair, similarity)| {
            let [a, b] = pair.map(|node| smallest[node as usize]);
            smallest.push(a.min(b));
            RawMerge { i: a.min(b), j: a.max(b), similarity }
        });
        raw.collect()
    }

    #[test]
    fn leaves_tell_what_the_naive_engine_computes() {
        let mut random = fractions(5);
        for n in [2, 3, 17, 60] {
            let values: Vec<f64> = (0..condensed_len(n)).map(|_| 0.1 + random()).collect();
            for (dissimilarity, (rule, form)) in [false, true].into_iter().flat_map(|x| FORMS.map(|form| (x, form))) {
                let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::of(dissimilarity)).unwrap();
                let merges = naive(&matrix, &rule);
                let monitor = Monitor::new();
                // The error is so large that no key (rounded similarity) is certain.
                let tolerance = Tolerance::rounded(1e-6, 0.0);
                let mut doubts = Doubts::new(Some(form), Some(&matrix), rule.is_squared(), tolerance, &monitor);
                // Start with the last merge, so that no sums over the clusters that it merges are cached.
                for at in (0..merges.len()).rev() {
                    let (key, x) = (doubts.key_of_merge(&merges, at).unwrap(), merges[at].similarity);
                    assert!((key - x).abs() <= 4e-11 * x.abs(), "{rule:?} of {n}: {key} {x}");
                    let [low, high] = Tolerance::rounded(1e-14, 1e-14).ends(x);
                    assert!(low <= key && key <= high, "{rule:?} of {n}: {key} {x}");
                }
                assert!(!std::mem::take(&mut doubts.open));
            }
        }
    }

    #[test]
    fn too_much_work_leaves_doubts_open() {
        let mut random = fractions(6);
        let values: Vec<f64> = (0..condensed_len(40)).map(|_| 0.1 + random()).collect();
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
        let merges = naive(&matrix, &Rule::Average);
        let (monitor, last) = (Monitor::new(), merges.len() - 1);
        let tolerance = Tolerance::rounded(1e-6, 0.0);
        let mut doubts = Doubts::new(Some(Form::Mean), Some(&matrix), false, tolerance, &monitor);
        let key = doubts.key_of_merge(&merges, last).unwrap();
        assert!(!std::mem::take(&mut doubts.open));
        doubts = Doubts::new(Some(Form::Mean), Some(&matrix), false, tolerance, &monitor);
        doubts.patience = 10;
        assert_eq!(doubts.key_of_merge(&merges, last).unwrap(), key);
        assert!(std::mem::take(&mut doubts.open));
        doubts.key_of_merge(&merges, 0).unwrap();
        assert!(std::mem::take(&mut doubts.open));
    }

    #[test]
    fn the_first_of_the_largest_keys_is_the_nearest() {
        // The similarities of cluster {0, 1} with leaves 3 and 4 are halfway between two keys (rounded values). The
        // similarity with leaf 2 is slightly lower.
        let half = 1.0 + 0.5f64.powi(36);
        let less = half - f64::EPSILON;
        let values = [9.0, less, half, half, half, half, half, 0.5, 0.5, 0.5];
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
        let merges = [RawMerge { i: 0, j: 1, similarity: 9.0 }];
        for (form, monitor) in [(Some(Form::Mean), Monitor::new()), (Some(Form::Halves), Monitor::new())] {
            let tolerance = Tolerance::rounded(1e-14, 0.0);
            let mut doubts = Doubts::new(form, Some(&matrix), false, tolerance, &monitor);
            // Rounding has made leaf 2 equally near.
            let found = Nearest { doubtful: true, ..Nearest::new(2, half) };
            let nearest = doubts.nearest(found, &merges, 0, &[2, 3], &[half, half]).unwrap();
            assert_eq!(nearest, Nearest::new(3, half));
            assert!(doubts.are_tied(&merges, 0, (4, half), (3, half)).unwrap());
            assert!(!std::mem::take(&mut doubts.open));
            assert!(!doubts.are_tied(&merges, 0, (2, half), (3, half)).unwrap());
            assert!(std::mem::take(&mut doubts.open));
            // Three clusters are almost, but not exactly, equally near. The tree could depend on which two merge first,
            // so `open` is set.
            doubts.nearest(found, &merges, 0, &[2, 3, 4], &[half; 3]).unwrap();
            assert!(std::mem::take(&mut doubts.open));
        }
        let monitor = Monitor::new();
        let found = Nearest { doubtful: true, ..Nearest::new(2, half) };
        let mut doubts = Doubts::left_open(&monitor);
        assert_eq!(doubts.nearest(found, &merges, 0, &[2, 3], &[half; 2]).unwrap(), found);
        assert!(std::mem::take(&mut doubts.open));
    }
}
