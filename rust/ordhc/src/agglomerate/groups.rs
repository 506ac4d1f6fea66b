//! Agglomerates well-separated groups of leaves separately, as long as leaves outside of a group cannot affect the
//! result.
//!
//! A merged cluster is never closer to a third cluster than the closer of its two parts was. So the largest similarity
//! between a cluster's leaves and leaves outside of its group is a bound: no cluster outside of the group is closer to
//! this cluster. If two clusters of a group are each other's nearest in the group, and nearer than this bound, they are
//! reciprocal among all clusters.

use super::any_update::AnyUpdate;
use super::between::{Clusters, least_share};
use super::chain::Chain;
use super::doubts::{Doubts, Form};
use super::matrix::{About, Layout, Matrix};
use super::nearest::{Linkage, NO_CLUSTER, Nearest};
use super::rounds::Pairs;
use super::separated;
use super::square::{Similarities, room};
use super::store::Store;
use super::task::Task;
use super::threads::{parts, threads};
use super::tolerance::Tolerance;
use super::triangle_rows::{Given, TriangleRows};
use crate::error::Result;
use crate::linkage::Between;
use crate::monitor::Monitor;
use crate::parallel;
use crate::similarity::condensed_len;
use crate::tree::{Found, RawMerge};

/// The largest number of leaves in a group. The leaves of a group merge first with each other. Their square similarity
/// matrix fits into a core's cache.
const MOST: usize = 2048;
/// Reciprocal pairs of leaves merge first only if at most n / `LITTLE` clusters are then left, for n leaves. With more
/// clusters left, this would be slower.
const LITTLE: usize = 2;

type Rest = (Similarities<'static>, Vec<RawMerge>);

/// Splits the leaves into groups that are far from each other, and merges within each group. Returns the remaining
/// clusters and the merges. Returns `None` if there are no such groups, or if [`after_groups_of`] returns `None`.
pub(super) fn after_groups(
    task: &Task<'_>,
    update: &dyn AnyUpdate,
    matrix: &Matrix<'_>,
    doubts: &mut Doubts<'_>,
) -> Result<Option<Rest>> {
    if update.between().is_none() {
        return Ok(None);
    }
    match separated::groups(matrix, MOST, task.monitor)? {
        Some(of) => after_groups_of(task, update, matrix, &of, doubts),
        None => Ok(None),
    }
}

/// Merges within groups, as long as leaves outside of a group cannot affect the result. `of` is the group of each leaf.
/// Returns the remaining clusters and the merges. Returns `None` if the square similarity matrix of the remaining
/// clusters would need more memory than the condensed matrix of all leaves, or if too many digits would cancel.
pub(super) fn after_groups_of(
    task: &Task<'_>,
    update: &dyn AnyUpdate,
    matrix: &Matrix<'_>,
    of: &[u32],
    doubts: &mut Doubts<'_>,
) -> Result<Option<Rest>> {
    entered!(groups);
    let Some(between) = update.between() else { return Ok(None) };
    let found = merges_within(task, update, matrix, of, doubts.tolerance())?;
    let rest = after_merges(task, between, matrix, found.merges)?;
    if found.doubtful && rest.is_some() {
        doubts.leave_open();
    }
    Ok(rest)
}

/// Merges `pairs`, the reciprocal pairs of leaves. Returns the remaining clusters and the merges. Returns `None` if too
/// many clusters would be left.
pub(super) fn after_pairs(
    task: &Task<'_>,
    between: Option<Between>,
    matrix: &Matrix<'_>,
    (nearest, pairs): (&[Nearest], &Pairs),
) -> Result<Option<Rest>> {
    let Some(between) = between.filter(|_| LITTLE * pairs.n_left() <= task.about.n) else { return Ok(None) };
    entered!(first_pairs);
    let merges = pairs.iter().map(|(i, j)| RawMerge { i, j, similarity: nearest[i].similarity });
    after_merges(task, between, matrix, merges.collect())
}

fn after_merges(task: &Task<'_>, between: Between, matrix: &Matrix<'_>, merges: Vec<RawMerge>) -> Result<Option<Rest>> {
    let (about, squared, monitor) = (task.about, task.rule.is_squared(), task.monitor);
    let (n, facts) = (about.n, about.facts);
    let left = n - merges.len();
    if left * left > condensed_len(n) {
        return Ok(None);
    }
    let largest = if squared { facts.largest * facts.largest } else { facts.largest };
    let whole = (facts.whole && about.unit == 1.0).then_some(largest);
    // Ward's linkage subtracts the similarities within clusters from the similarities between clusters. If all
    // similarities are about equal, digits cancel. So first subtract the largest similarity from all values, which
    // makes them negated dissimilarities. The results get this similarity added again.
    let cancels = between == Between::Ward && !about.dissimilarity && whole.is_none() && facts.positive;
    let shift = if cancels { facts.largest } else { 0.0 };
    let clusters = Clusters::after(n, &merges, whole, (shift, least_share(about.dissimilarity)));
    let Some(values) = clusters.similarities(matrix, squared, between, monitor)? else { return Ok(None) };
    monitor.advance(((n * n - left * left) / 2) as u64)?;
    let Clusters { names, sizes, .. } = clusters;
    Ok(Some((Similarities { values: Store::Own(values), names, sizes }, merges)))
}

/// Returns the merges within groups that no leaf outside of the group can affect. Each merge comes after the merges
/// that made its two clusters. `of` is the group of each leaf.
fn merges_within(
    task: &Task<'_>,
    update: &dyn AnyUpdate,
    matrix: &Matrix<'_>,
    of: &[u32],
    tolerance: Tolerance,
) -> Result<Found> {
    let (squared, monitor) = (task.rule.is_squared(), task.monitor);
    let outside = nearest_outside(matrix, of, squared, monitor)?;
    let mut groups = vec![Vec::new(); of.iter().max().map_or(0, |&last| last as usize + 1)];
    of.iter().zip(0..).for_each(|(&group, leaf)| groups[group as usize].push(leaf));
    groups.retain(|leaves: &Vec<u32>| leaves.len() > 1);
    let found = parallel::map_in_turn(groups, |leaves: Vec<u32>| {
        let values = within(matrix, &leaves);
        let about = About { n: leaves.len(), layout: Layout::Condensed, ..matrix.about };
        let (mut room, matrix) = (room(leaves.len()), Matrix::again(&values, about));
        let mut doubts = Doubts::new(Form::of(update.between()), Some(&matrix), squared, tolerance, monitor);
        let mut rows = update.square_of_leaves(MOST, &matrix, squared, &mut room, &doubts)?;
        let bounds = leaves.iter().map(|&leaf| outside[leaf as usize]).collect();
        let mut chain = Chain::waiting(leaves.len());
        chain.run(&mut Bounded { rows: &mut *rows, bounds }, 1, &mut doubts)?;
        let mut merges = chain.into_merges();
        for merge in &mut merges {
            (merge.i, merge.j) = (leaves[merge.i] as usize, leaves[merge.j] as usize);
        }
        Ok(doubts.found(merges))
    });
    let mut all = Found::default();
    for found in found {
        all.append(found?);
    }
    Ok(all)
}

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

fn nearest_outside(matrix: &Matrix<'_>, of: &[u32], squared: bool, monitor: &Monitor) -> Result<Vec<f64>> {
    const LANES: usize = 16;
    let n = of.len();
    // The indices of groups are floats, so that one SIMD instruction compares as many indices as similarities.
    let of: Vec<f64> = of.iter().map(|&group| f64::from(group)).collect();
    let triangle = Given { matrix, squared };
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let states = vec![(vec![0.0; n], vec![f64::NEG_INFINITY; n]); threads(n)];
    let found = parallel::share(states, parts(n), |(scratch, nearest), rows| {
        for i in rows {
            let (own, row) = (of[i], triangle.row(i, scratch));
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
        monitor.advance(0)
    })?;
    let both = |mut all: Vec<f64>, other: Vec<f64>| {
        all.iter_mut().zip(other).for_each(|(x, y)| *x = larger(*x, y));
        all
    };
    Ok(found.into_iter().map(|(_, nearest)| nearest).reduce(both).unwrap_or_default())
}

/// The clusters of a group, with their `bounds`: the largest similarities to leaves outside of the group. A cluster has
/// no nearest cluster unless their similarity is certainly above its bound.
struct Bounded<'a> {
    rows: &'a mut dyn Linkage,
    bounds: Vec<f64>,
}

impl Linkage for Bounded<'_> {
    fn n_leaves(&self) -> usize {
        self.bounds.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.rows.tolerance()
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        self.rows.similarities(i, others, out)
    }

    fn merge(&mut self, i: usize, j: usize, active: &[usize]) -> Result<()> {
        self.bounds[i] = self.bounds[i].max(self.bounds[j]);
        self.rows.merge(i, j, active)
    }

    fn nearest(&mut self, i: usize, active: &[usize]) -> Result<Nearest> {
        let nearest = self.rows.nearest(i, active)?;
        let is_near = self.tolerance().floor(nearest.similarity) > self.bounds[i];
        Ok(if is_near { nearest } else { NO_CLUSTER })
    }
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

    fn merges(update: &dyn AnyUpdate, rule: &Rule, matrix: &Matrix<'_>, of: &[u32]) -> Option<Vec<RawMerge>> {
        let monitor = Monitor::new();
        let task = Task::checked(matrix, rule, Engine::Auto, None, &monitor).unwrap();
        let mut doubts = task.doubts(update, Some(matrix), task.tolerance(update, matrix)?);
        let (clusters, merges) = after_groups_of(&task, update, matrix, of, &mut doubts).unwrap()?;
        let merges = task.chain_on(update, clusters, Chain::after(of.len(), merges), &mut doubts).unwrap();
        let tolerance = doubts.tolerance();
        let key_of = |merges: &[RawMerge], at| doubts.key_of_merge(merges, at);
        let merges = RawMerge::sort_settled(of.len(), merges, tolerance, &mut { key_of }).unwrap();
        let found = doubts.found(merges);
        (!found.doubtful).then_some(found.merges)
    }

    proptest! {
        #[test]
        fn groups_merge_as_the_naive_engine(
            n in 2..40usize, kinds in 1..2000u64, step in prop::sample::select(vec![1.0, 0.1]), clusters in 1..7u64,
            far in 0..3u64, strays in 0..4u64, seed: u64, dissimilarity: bool,
        ) {
            let mut random = below(seed);
            let of: Vec<u32> = (0..n).map(|_| random(clusters) as u32).collect();
            // `of` are the given groups. The similarities follow other groups, `by`, which differ from `of` for a few
            // leaves (strays).
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
        let found = separated::groups(&matrix, 300, &monitor).unwrap().unwrap();
        for (i, j) in (0..300).flat_map(|i| (0..300).map(move |j| (i, j))).filter(|&(i, j)| of[i] == of[j]) {
            assert_eq!(found[i], found[j]);
        }
        assert_eq!(separated::groups(&matrix, 20, &monitor).unwrap(), None);
        let task = Task::checked(&matrix, &Rule::Average, Engine::Auto, None, &monitor).unwrap();
        let merges = merges_within(&task, &Average, &matrix, &found, Tolerance::EXACT).unwrap().merges;
        assert_eq!(merges.len(), 300 - 12);
        let values: Vec<f64> = (0..condensed_len(300)).map(|_| random(1000) as f64).collect();
        let matrix = Matrix::new(Values::F64(&values), Layout::Condensed, Kind::Similarity).unwrap();
        assert_eq!(separated::groups(&matrix, 300, &monitor).unwrap(), None);
    }
}
