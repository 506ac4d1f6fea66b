//! Groups of leaves, each agglomerated by itself for as long as nothing outside of it can matter.
//!
//! Nothing outside is nearer to a cluster than the nearest leaf outside is to one of its leaves: merging brings
//! nothing closer. So two clusters that are each other's nearest in their group, and nearer than that, are each
//! other's nearest of all.

use std::sync::Mutex;

use super::between::Clusters;
use super::doubts::Form;
use super::job::Job;
use super::matrix::{About, Layout, Matrix};
use super::rounds::{Pairs, next, parts, threads};
use super::rows::SquareRows;
use super::small::{self, SmallRows};
use super::triangle_rows::{Given, TriangleRows};
use super::{Doubts, Nearest, Tolerance, apart};
use crate::error::Result;
use crate::linkage::{Between, Update};
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::condensed_len;
use crate::tree::RawMerge;

/// What is left to merge, and the merges that were made.
type Rest<'b, U> = (SquareRows<'b, U>, Vec<RawMerge>);

impl Job<'_> {
    /// What merges within groups leave, where there are groups that are apart.
    pub(super) fn grouped<'b, U: Update>(
        &self,
        update: &'b U,
        matrix: &Matrix<'_>,
        tolerance: Tolerance,
    ) -> Result<Option<Rest<'b, U>>> {
        if U::BETWEEN.is_none() {
            return Ok(None);
        }
        match apart::groups(matrix, small::MOST, self.monitor)? {
            Some(of) => self.after_groups(update, matrix, tolerance, &of),
            None => Ok(None),
        }
    }

    /// The same for given groups. Nothing, if a square of what is left takes more memory than the pairs of leaves, or
    /// if rounding errors are not those that the tolerance is for.
    fn after_groups<'b, U: Update>(
        &self,
        update: &'b U,
        matrix: &Matrix<'_>,
        tolerance: Tolerance,
        of: &[u32],
    ) -> Result<Option<Rest<'b, U>>> {
        entered!(groups);
        if U::BETWEEN.is_none() {
            return Ok(None);
        }
        let merges = merges_within(update, matrix, of, self.rule.is_squared(), tolerance, self.monitor)?;
        self.after_merges(update, matrix, tolerance, merges)
    }

    /// What the first pairs leave, where that is little.
    pub(super) fn after_pairs<'b, U: Update>(
        &self,
        update: &'b U,
        matrix: &Matrix<'_>,
        tolerance: Tolerance,
        (nearest, pairs): (&[Nearest], &Pairs),
    ) -> Result<Option<Rest<'b, U>>> {
        if U::BETWEEN.is_none() || LITTLE * pairs.n_left() > self.about.n {
            return Ok(None);
        }
        entered!(first_pairs);
        let merges = pairs.iter().map(|(i, j)| RawMerge { i, j, similarity: nearest[i].similarity });
        self.after_merges(update, matrix, tolerance, merges.collect())
    }

    fn after_merges<'b, U: Update>(
        &self,
        update: &'b U,
        matrix: &Matrix<'_>,
        tolerance: Tolerance,
        merges: Vec<RawMerge>,
    ) -> Result<Option<Rest<'b, U>>> {
        let (squared, n, monitor) = (self.rule.is_squared(), self.about.n, self.monitor);
        let Some(between) = U::BETWEEN else { return Ok(None) };
        let left = n - merges.len();
        if left * left > condensed_len(n) {
            return Ok(None);
        }
        let facts = self.about.facts;
        let largest = if squared { facts.largest * facts.largest } else { facts.largest };
        let whole = (facts.whole && self.about.unit == 1.0).then_some(largest);
        // Ward's linkage takes the similarities within clusters from those between them, which are about as large. Less the
        // largest, they are mirrored dissimilarities; that changes the linkage's similarities by as much.
        let cancels = between == Between::Ward && !self.about.dissimilarity && whole.is_none() && facts.positive;
        let clusters = Clusters::after(n, &merges, whole, if cancels { facts.largest } else { 0.0 });
        let Some(values) = clusters.similarities(matrix, squared, between, monitor)? else { return Ok(None) };
        monitor.advance(((n * n - left * left) / 2) as u64)?;
        let Clusters { names, sizes, .. } = clusters;
        Ok(Some((SquareRows::from_parts(update, values, sizes, names, n, tolerance), merges)))
    }
}

/// Pairs that leave one of so many leaves leave little.
const LITTLE: usize = 2;

/// The merges within groups that come before all between them, parts before wholes. `of` says by leaf which group it
/// is in.
fn merges_within<U: Update>(
    update: &U,
    matrix: &Matrix<'_>,
    of: &[u32],
    squared: bool,
    tolerance: Tolerance,
    monitor: &Monitor,
) -> Result<Vec<RawMerge>> {
    let outside = nearest_outside(matrix, of, squared, monitor)?;
    let mut groups = vec![Vec::new(); of.iter().max().map_or(0, |&last| last as usize + 1)];
    of.iter().zip(0..).for_each(|(&group, leaf)| groups[group as usize].push(leaf));
    groups.retain(|leaves: &Vec<u32>| leaves.len() > 1);
    let merges = parallel::map_in_turn(groups, |leaves: Vec<u32>| {
        let values = within(matrix, &leaves);
        let about = About { n: leaves.len(), layout: Layout::Condensed, ..matrix.about() };
        let (mut room, matrix) = (small::room(leaves.len()), Matrix::again(&values, about));
        let mut doubts = Doubts::new(Form::of(U::BETWEEN), Some(&matrix), squared, tolerance, monitor);
        let rows = SmallRows::new(update, &matrix, squared, &mut room, tolerance, monitor)?;
        let bounds = leaves.iter().map(|&leaf| outside[leaf as usize]).collect();
        let mut merges = merges_above(rows, bounds, &mut doubts)?;
        for merge in &mut merges {
            (merge.i, merge.j) = (leaves[merge.i] as usize, leaves[merge.j] as usize);
        }
        Ok(merges)
    });
    Ok(merges.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// The values between some leaves, condensed.
#[inline(never)]
fn within(matrix: &Matrix<'_>, leaves: &[u32]) -> Vec<f64> {
    let mut values = vec![0.0; condensed_len(leaves.len())];
    let mut rest = &mut values[..];
    for (at, &leaf) in leaves.iter().enumerate() {
        let row = rest.split_off_mut(..leaves.len() - at - 1).unwrap_or_default();
        matrix.gather(leaf as usize, &leaves[at + 1..], row);
        if matrix.is_dissimilarity() {
            row.iter_mut().for_each(|x| *x = -*x);
        }
    }
    values
}

/// By leaf the largest similarity with a leaf of another group.
fn nearest_outside(matrix: &Matrix<'_>, of: &[u32], squared: bool, monitor: &Monitor) -> Result<Vec<f64>> {
    const LANES: usize = 16;
    let n = of.len();
    // As floats, which are compared together with the values.
    let of: Vec<f64> = of.iter().map(|&group| f64::from(group)).collect();
    let triangle = Given { matrix, squared };
    let queue = Mutex::new(parts(n).into_iter());
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let found = parallel::map(threads(n), |_| {
        let (mut scratch, mut nearest) = (vec![0.0; n], vec![f64::NEG_INFINITY; n]);
        while let Some(rows) = next(&queue) {
            for i in rows {
                let (own, row) = (of[i], triangle.row(i, &mut scratch));
                let mut lanes = [f64::NEG_INFINITY; LANES];
                let later = row.chunks(LANES).zip(of[i + 1..].chunks(LANES)).zip(nearest[i + 1..].chunks_mut(LANES));
                wide!(for ((values, groups), nearest) in later {
                    for (((lane, &x), &group), nearest) in lanes.iter_mut().zip(values).zip(groups).zip(nearest) {
                        let x = if group == own { f64::NEG_INFINITY } else { x };
                        *lane = larger(*lane, x);
                        *nearest = larger(*nearest, x);
                    }
                });
                nearest[i] = lanes.into_iter().fold(nearest[i], larger);
            }
            monitor.advance(0)?;
        }
        Ok(nearest)
    });
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let both = |mut all: Vec<f64>, other: Vec<f64>| {
        all.iter_mut().zip(other).for_each(|(x, y)| *x = larger(*x, y));
        all
    };
    Ok(found.into_iter().reduce(both).unwrap_or_default())
}

/// The merges of a chain, but for those that are not certainly above the bounds of their clusters, which stay apart, and
/// those that have to wait for them.
fn merges_above<U: Update>(
    mut rows: SmallRows<'_, U>,
    mut bounds: Vec<f64>,
    doubts: &mut Doubts<'_>,
) -> Result<Vec<RawMerge>> {
    let (tolerance, monitor) = (doubts.tolerance(), doubts.monitor());
    let mut merges = Vec::new();
    let mut waits = vec![false; bounds.len()];
    let mut stack: Vec<usize> = Vec::new();
    let mut first = 0;
    loop {
        let Some(&top) = stack.last() else {
            first += waits[first..].iter().take_while(|&&waits| waits).count();
            if first == waits.len() {
                return Ok(merges);
            }
            stack.push(first);
            continue;
        };
        let mut nearest = rows.nearest(top);
        let is_near = tolerance.floor(nearest.similarity) > bounds[top];
        if nearest.doubtful && is_near {
            nearest = settled(&mut rows, top, nearest, &merges, doubts)?;
        }
        let k = nearest.cluster;
        if k >= waits.len() || waits[k] || !is_near {
            // Who is nearest to one that waits can but wait.
            stack.drain(..).for_each(|cluster| waits[cluster] = true);
            continue;
        }
        match stack.len().checked_sub(2).map(|at| stack[at]) {
            Some(before) if before == k => {
                stack.truncate(stack.len() - 2);
                let (i, j) = (top.min(k), top.max(k));
                rows.merge(i, j);
                merges.push(RawMerge { i, j, similarity: nearest.similarity });
                bounds[i] = bounds[i].max(bounds[j]);
                waits[j] = true;
                monitor.advance(0)?;
            }
            // A circle is a doubt about rounding.
            _ if stack.contains(&k) => {
                monitor.doubt();
                stack.drain(..).for_each(|cluster| waits[cluster] = true);
            }
            _ => stack.push(k),
        }
    }
}

#[cold]
fn settled<U: Update>(
    rows: &mut SmallRows<'_, U>,
    i: usize,
    nearest: Nearest,
    merges: &[RawMerge],
    doubts: &mut Doubts<'_>,
) -> Result<Nearest> {
    let mut gone = vec![false; rows.n_leaves()];
    merges.iter().for_each(|merge| gone[merge.j] = true);
    let others: Vec<usize> = (0..gone.len()).filter(|&k| k != i && !gone[k]).collect();
    let mut values = vec![0.0; others.len()];
    rows.similarities(i, &others, &mut values);
    doubts.nearest(nearest, merges, i, &others, &values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agglomerate::{Agglomeration, Engine, Values};
    use crate::kind::Kind;
    use crate::linkage::{Average, AverageOfWhole, Complete, Rule, Ward, Weighted};
    use crate::testkit::below;
    use crate::tree::Dendrogram;

    /// The merges in order, where nothing is in doubt.
    fn merges<U: Update>(update: &U, rule: &Rule, matrix: &Matrix<'_>, of: &[u32]) -> Option<Vec<RawMerge>> {
        let monitor = Monitor::new();
        let job = Job::checked(matrix, rule, Engine::Auto, None, &monitor).unwrap();
        let tolerance = job.tolerance::<U>(matrix).unwrap()?;
        let (rows, merges) = job.after_groups(update, matrix, tolerance, of).unwrap()?;
        let doubts = &mut job.doubts::<U>(Some(matrix), tolerance);
        let merges = job.square_chain(rows, merges, doubts).unwrap();
        let merges =
            RawMerge::sort_settled(of.len(), merges, tolerance, |merges, at| doubts.key_of_merge(merges, at)).unwrap();
        (!monitor.take_doubt()).then_some(merges)
    }

    proptest! {
        #[test]
        fn groups_merge_as_the_naive_engine(
            n in 2..40usize, kinds in 1..2000u64, step in prop::sample::select(vec![1.0, 0.1]), clusters in 1..7u64,
            far in 0..3u64, strays in 0..4u64, seed: u64, dissimilarity: bool,
        ) {
            let mut random = below(seed);
            let of: Vec<u32> = (0..n).map(|_| random(clusters) as u32).collect();
            // Most leaves are in a cluster of their group.
            let by: Vec<u32> = of.iter().map(|&g| if random(8) < strays { random(clusters) as u32 } else { g }).collect();
            let mut value = |i: usize, j: usize| {
                let apart = if by[i] == by[j] { 0 } else { far * kinds / 2 };
                let x = random(kinds) + apart;
                step * if dissimilarity { x as f64 } else { (4 * kinds - x) as f64 }
            };
            let values: Vec<f64> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| value(i, j)).collect();
            let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::of(dissimilarity)).unwrap();
            for rule in [Rule::Average, Rule::Complete, Rule::Weighted, Rule::Ward] {
                let found = match rule {
                    Rule::Average if step == 1.0 => merges(&AverageOfWhole, &rule, &matrix, &of),
                    Rule::Average => merges(&Average, &rule, &matrix, &of),
                    Rule::Complete => merges(&Complete, &rule, &matrix, &of),
                    Rule::Weighted => merges(&Weighted, &rule, &matrix, &of),
                    _ => merges(&Ward, &rule, &matrix, &of),
                };
                let Some(found) = found else { continue };
                let heights: Vec<f64> = found.iter().map(|merge| merge.similarity).collect();
                let naive = Agglomeration::new(rule.clone()).engine(Engine::Naive).run(&matrix).unwrap();
                let tree = Dendrogram::in_order(n, found).unwrap();
                prop_assert_eq!(tree.merges(), naive.merges(), "{:?}", rule);
                for (&x, &height) in heights.iter().zip(naive.heights()) {
                    let x = if !dissimilarity { x } else if rule == Rule::Ward { (-x).sqrt() } else { -x };
                    prop_assert!((x - height).abs() <= 1e-9 * (1.0 + height.abs()), "{:?}: {} {}", rule, x, height);
                }
            }
        }
    }

    #[test]
    fn groups_that_are_apart_become_clusters() {
        let mut random = below(7);
        let of: Vec<u32> = (0..300).map(|_| random(12) as u32).collect();
        let pairs = (0..300).flat_map(|i| (i + 1..300).map(move |j| (i, j)));
        let values: Vec<f64> =
            pairs.map(|(i, j)| random(1000) as f64 + if of[i] == of[j] { 2000.0 } else { 0.0 }).collect();
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
        let monitor = Monitor::new();
        let found = apart::groups(&matrix, 300, &monitor).unwrap().unwrap();
        for (i, j) in (0..300).flat_map(|i| (0..300).map(move |j| (i, j))).filter(|&(i, j)| of[i] == of[j]) {
            assert_eq!(found[i], found[j]);
        }
        assert_eq!(apart::groups(&matrix, 20, &monitor).unwrap(), None);
        let merges = merges_within(&Average, &matrix, &found, false, Tolerance::EXACT, &monitor).unwrap();
        assert_eq!(merges.len(), 300 - 12);
        let values: Vec<f64> = (0..condensed_len(300)).map(|_| random(1000) as f64).collect();
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
        assert_eq!(apart::groups(&matrix, 300, &monitor).unwrap(), None);
    }
}
