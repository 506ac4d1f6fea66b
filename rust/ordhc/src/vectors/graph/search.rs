//! Approximate nearest neighbours.
//!
//! Random projection trees put close points into groups, and all points of a group are compared. Then the neighbours of
//! each point are compared with each other, until few lists of neighbours change (Dong, Moses & Li 2011, "Efficient
//! k-nearest neighbor graph construction for generic similarity measures"). If there are few points, all pairs are
//! compared instead.
//!
//! The list of a point keeps the nearest points with which it was compared. Ties are ordered by the points' ids. So the
//! result depends neither on the order of comparisons nor on the number of threads.

use super::mixed;
use crate::error::Result;
use crate::memory::{Buffer, check};
use crate::monitor::Monitor;
use crate::parallel;

const LANES: usize = 16;
const ALL_PAIRS: usize = 2048;
const BLOCK: usize = 64;
const TREES: u64 = 6;
/// The largest number of points in a leaf of a random projection tree. All points of such a leaf are compared.
const LEAF: usize = 80;
/// Maximum number of a point's neighbours, and of its reverse neighbours, that are compared with each other. Point A is
/// a reverse neighbour of point B if B is a neighbour of A.
const JOINED: usize = 24;
const ITERATIONS: u64 = 6;
/// The search ends when an iteration changes less than this share of the neighbours.
const SETTLED: f64 = 0.002;
const BATCH: usize = 1 << 14;
/// The bit of an id in a list of neighbours that marks a neighbour as new: not yet compared with the other neighbours.
const NEW: u32 = 1 << 31;
pub(super) const NONE: u32 = u32::MAX;

pub(super) struct Points {
    n: usize,
    p: usize,
    values: Buffer<f32>,
}

impl Points {
    pub(super) fn new<'r>(n: usize, p: usize, row: impl Fn(usize) -> &'r [f64]) -> Result<Self> {
        let mut mean = vec![0.0; p];
        for i in 0..n {
            let share = 1.0 / (i + 1) as f64;
            mean.iter_mut().zip(row(i)).for_each(|(mean, x)| *mean += (x - *mean) * share);
        }
        let deviations = |i: usize| row(i).iter().zip(&mean).map(|(x, mean)| x - mean);
        let largest = (0..n).flat_map(deviations).fold(f64::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
        let padded = p.next_multiple_of(LANES);
        let mut values = Buffer::zeros("the vectors in single precision", n * padded)?;
        for (i, to) in values.chunks_exact_mut(padded.max(1)).enumerate() {
            to.iter_mut().zip(deviations(i)).for_each(|(to, x)| *to = (x / largest) as f32);
        }
        Ok(Self { n, p: padded, values })
    }

    #[inline(always)]
    fn row(&self, i: u32) -> &[f32] {
        &self.values[i as usize * self.p..][..self.p]
    }
}

#[inline(always)]
fn squared(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |x, y| (x - y) * (x - y))
}

#[inline(always)]
fn product(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |x, y| x * y)
}

/// The order of additions is fixed, so the rounding is always the same.
#[inline(always)]
fn sum_of(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane], b[lane]);
        }
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
        half /= 2;
    }
    sums[0]
}

#[derive(Clone, Copy)]
struct Offer {
    to: u32,
    id: u32,
    distance: f32,
}

struct Lists<'a> {
    points: &'a Points,
    k: usize,
    ids: Vec<u32>,
    distances: Vec<f32>,
}

/// Returns the approximate `k` nearest neighbours of each point as n rows, with the nearest first. Rows may end with
/// [`NONE`]. Advances the monitor by `steps`.
pub(super) fn nearest(points: &Points, k: usize, monitor: &Monitor, steps: u64) -> Result<Vec<u32>> {
    let n = points.n;
    let k = k.min(n.saturating_sub(1));
    // With shorter lists, the descent ends at neighbours that are not the nearest.
    const SHORTEST: usize = 12;
    let wanted = k.max(SHORTEST).min(n.saturating_sub(1));
    // Memory for the lists of neighbours, their copies, and the candidates for these lists.
    check("nearest neighbours", 32 * (n * wanted) as u64)?;
    let (ids, distances) = (vec![NONE; n * wanted], vec![f32::INFINITY; n * wanted]);
    let mut lists = Lists { points, k: wanted, ids, distances };
    if n <= ALL_PAIRS {
        lists.all_pairs(monitor)?;
        monitor.advance(steps)?;
    } else {
        entered!(vectors_graph_descent);
        let step = steps / (TREES + ITERATIONS);
        lists.trees(monitor, step)?;
        let mut done = TREES;
        while done < TREES + ITERATIONS {
            let changes = lists.descend(done, monitor)?;
            done += 1;
            monitor.advance(step)?;
            if (changes as f64) < SETTLED * lists.ids.len() as f64 {
                break;
            }
        }
        monitor.advance(steps - done * step)?;
    }
    let row = |row: &[u32]| row[..k].iter().map(|&id| if id == NONE { NONE } else { id & !NEW }).collect::<Vec<_>>();
    Ok(if k == 0 { Vec::new() } else { lists.ids.chunks_exact(wanted).flat_map(row).collect() })
}

impl Lists<'_> {
    fn all_pairs(&mut self, monitor: &Monitor) -> Result<()> {
        let n = self.points.n;
        let blocks = n.div_ceil(BLOCK);
        let of = |block: usize| (block * BLOCK) as u32..((block + 1) * BLOCK).min(n) as u32;
        let pairs: Vec<(usize, usize)> = (0..blocks).flat_map(|i| (i..blocks).map(move |j| (i, j))).collect();
        self.join(pairs.len(), monitor, |at, new, old| {
            let (i, j) = pairs[at];
            new.extend(of(i));
            if i != j {
                old.extend(of(j));
            }
            i == j
        })?;
        Ok(())
    }

    fn trees(&mut self, monitor: &Monitor, step: u64) -> Result<()> {
        let points = self.points;
        let grow = |tree| Tree::grow(points, tree, monitor);
        for trees in (0..TREES).collect::<Vec<_>>().chunks(parallel::n_threads()) {
            let grown: Result<Vec<Tree>> = parallel::map(trees.to_vec(), grow).into_iter().collect();
            for tree in grown? {
                self.join(tree.ends.len(), monitor, |leaf, new, _| {
                    let start = if leaf == 0 { 0 } else { tree.ends[leaf - 1] };
                    new.extend(&tree.order[start..tree.ends[leaf]]);
                    true
                })?;
                monitor.advance(step)?;
            }
        }
        Ok(())
    }

    fn descend(&mut self, seed: u64, monitor: &Monitor) -> Result<usize> {
        let (n, k) = (self.points.n, self.k);
        let before = self.ids.clone();
        self.ids.iter_mut().filter(|id| **id != NONE).for_each(|id| *id &= !NEW);
        // Reverse the lists: `reverse[ends[i]..ends[i + 1]]` are the points that have point i as a neighbour.
        let mut ends = vec![0usize; n + 1];
        before.iter().filter(|&&id| id != NONE).for_each(|&id| ends[(id & !NEW) as usize + 1] += 1);
        (0..n).for_each(|i| ends[i + 1] += ends[i]);
        let mut reverse = vec![0u32; ends[n]];
        let mut next = ends.clone();
        for (at, &id) in before.iter().enumerate().filter(|&(_, &id)| id != NONE) {
            let to = &mut next[(id & !NEW) as usize];
            reverse[*to] = (at / k) as u32 | (id & NEW);
            *to += 1;
        }
        self.join(n, monitor, |i, new, old| {
            let others = &reverse[ends[i]..ends[i + 1]];
            let start = mixed(i as u64 ^ seed << 40) as usize;
            let count = others.len().min(JOINED);
            let sampled = (0..count).map(|t| others[(start % others.len() + t * others.len() / count) % others.len()]);
            for id in before[i * k..][..k.min(JOINED)].iter().copied().filter(|&id| id != NONE).chain(sampled) {
                (if id & NEW == 0 { &mut *old } else { &mut *new }).push(id & !NEW);
            }
            for ids in [&mut *new, &mut *old] {
                ids.sort_unstable();
                ids.dedup();
            }
            old.retain(|id| new.binary_search(id).is_err());
            true
        })
    }

    /// Compares points within groups, and updates the lists of neighbours. `group(i, new, old)` adds the points of
    /// group i to the lists `new` and `old`. Each point of `new` is compared with each point of `old`. If `group`
    /// returns true, the points of `new` are also compared with each other. Returns the number of changes in the lists
    /// of neighbours.
    fn join(
        &mut self,
        n_groups: usize,
        monitor: &Monitor,
        group: impl Fn(usize, &mut Vec<u32>, &mut Vec<u32>) -> bool + Sync,
    ) -> Result<usize> {
        let mut changes = 0;
        let per_part = self.points.n.div_ceil(parallel::n_threads());
        for start in (0..n_groups).step_by(BATCH) {
            let batch = start..(start + BATCH).min(n_groups);
            let lists = &*self;
            let offers = parallel::map(parallel::ranges(batch.len(), 16), |part| {
                let mut compared = Compared::new(lists.points.n.div_ceil(per_part), per_part);
                for at in part {
                    let [mut new, mut old] = [Vec::new(), Vec::new()];
                    let among = group(batch.start + at, &mut new, &mut old);
                    compared.compare(lists, &new, &old, among);
                    if at % 256 == 0 {
                        monitor.check()?;
                    }
                }
                Ok(compared.offers)
            });
            let offers: Vec<Vec<Vec<Offer>>> = offers.into_iter().collect::<Result<_>>()?;
            let k = self.k;
            let ids = self.ids.chunks_mut(per_part * k);
            let parts = ids.zip(self.distances.chunks_mut(per_part * k)).enumerate().collect();
            let found = parallel::map(parts, |(part, (ids, distances)): (usize, (&mut [u32], &mut [f32]))| {
                let mut changes = 0;
                for offer in offers.iter().flat_map(|of_thread| &of_thread[part]) {
                    let at = (offer.to as usize - part * per_part) * k;
                    let list = (&mut ids[at..at + k], &mut distances[at..at + k]);
                    changes += usize::from(insert(list.0, list.1, offer.id, offer.distance));
                }
                changes
            });
            changes += found.into_iter().sum::<usize>();
            monitor.check()?;
        }
        Ok(changes)
    }
}

/// Inserts a neighbour into a list. Returns false if all neighbours in the list are nearer, or if the list already has
/// this neighbour.
fn insert(ids: &mut [u32], distances: &mut [f32], id: u32, distance: f32) -> bool {
    let k = ids.len();
    let is_before = |at: usize| (distance, id) < (distances[at], if ids[at] == NONE { NONE } else { ids[at] & !NEW });
    if !is_before(k - 1) {
        return false;
    }
    let mut to = k - 1;
    while to > 0 && is_before(to - 1) {
        to -= 1;
    }
    if to > 0 && ids[to - 1] != NONE && ids[to - 1] & !NEW == id {
        return false;
    }
    ids.copy_within(to..k - 1, to + 1);
    distances.copy_within(to..k - 1, to + 1);
    (ids[to], distances[to]) = (id | NEW, distance);
    true
}

/// The candidates (possible neighbours) that one thread found. The lists of neighbours are divided into chunks, and
/// `offers[i]` has the candidates for the lists in chunk i.
struct Compared {
    per_part: usize,
    offers: Vec<Vec<Offer>>,
    /// A copy of the points of a group, so that they are adjacent in memory and stay in the cache.
    rows: Vec<f32>,
    distances: Vec<f32>,
}

impl Compared {
    fn new(parts: usize, per_part: usize) -> Self {
        Self { per_part, offers: vec![Vec::new(); parts], rows: Vec::new(), distances: Vec::new() }
    }

    fn compare(&mut self, lists: &Lists<'_>, new: &[u32], old: &[u32], among: bool) {
        let (p, k) = (lists.points.p, lists.k);
        let all: Vec<u32> = new.iter().chain(old).copied().collect();
        self.rows.clear();
        all.iter().for_each(|&id| self.rows.extend_from_slice(lists.points.row(id)));
        let worst: Vec<f32> = all.iter().map(|&id| lists.distances[(id as usize + 1) * k - 1]).collect();
        for (a, &id) in new.iter().enumerate() {
            let from = if among { a + 1 } else { new.len() };
            self.distances.resize(all.len(), 0.0);
            let (rows, distances) = (&self.rows, &mut self.distances);
            wide!({
                let own = &rows[a * p..(a + 1) * p];
                for b in from..all.len() {
                    distances[b] = squared(own, &rows[b * p..(b + 1) * p]);
                }
            });
            for b in from..all.len() {
                let distance = self.distances[b];
                for (to, other, worst) in [(id, all[b], worst[a]), (all[b], id, worst[b])] {
                    if distance <= worst && distance < f32::INFINITY {
                        self.offers[to as usize / self.per_part].push(Offer { to, id: other, distance });
                    }
                }
            }
        }
    }
}

/// A random projection tree: the points in the order of the tree's leaves, and the end of each leaf in this order.
struct Tree {
    order: Vec<u32>,
    ends: Vec<usize>,
}

impl Tree {
    fn grow(points: &Points, seed: u64, monitor: &Monitor) -> Result<Self> {
        let mut order: Vec<u32> = (0..points.n as u32).collect();
        let mut ends = Vec::new();
        let mut open = vec![(0, points.n, mixed(seed + 1))];
        let (mut sides, mut scratch) = (Vec::new(), Vec::new());
        while let Some((start, end, seed)) = open.pop() {
            if end - start <= LEAF {
                ends.push(end);
                continue;
            }
            monitor.check()?;
            let part = &mut order[start..end];
            let one = mixed(seed ^ 1) as usize % part.len();
            let other = (one + 1 + mixed(seed ^ 2) as usize % (part.len() - 1)) % part.len();
            let (a, b) = (points.row(part[one]), points.row(part[other]));
            let normal: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let middle: Vec<f32> = a.iter().zip(b).map(|(a, b)| (a + b) / 2.0).collect();
            sides.clear();
            sides.resize(part.len(), 0.0);
            wide!({
                let offset = product(&normal, &middle);
                for (side, &id) in sides.iter_mut().zip(&*part) {
                    *side = product(&normal, points.row(id)) - offset;
                }
            });
            let mut low = 0;
            scratch.clear();
            for (at, &side) in sides.iter().enumerate() {
                if side < 0.0 {
                    part[low] = part[at];
                    low += 1;
                } else {
                    scratch.push(part[at]);
                }
            }
            part[low..].copy_from_slice(&scratch);
            // If the plane has nearly all points on one side, split in the middle instead.
            let middle = if low.min(part.len() - low) * 32 < part.len() { part.len() / 2 } else { low };
            open.push((start + middle, end, mixed(seed ^ 3)));
            open.push((start, start + middle, mixed(seed ^ 4)));
        }
        Ok(Self { order, ends })
    }
}
