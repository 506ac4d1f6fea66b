//! Merges the last clusters, by the similarities of all pairs of these clusters.
//!
//! For linkages that need pairs of leaves, all leaves of both clusters are compared if there are not too many.
//! Otherwise, evenly chosen leaves are compared.

use std::ops::Range;

use super::clusters::{Clusters, Form, Over};
use super::rounds::Link;
use crate::agglomerate::linkage_of_clusters;
use crate::error::Result;
use crate::linkage::Rule;
use crate::memory::Buffer;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::RawMerge;
use crate::union_find::UnionFind;

/// The largest number of leaves that are compared, for all clusters together. If the clusters have more leaves, each
/// large cluster is represented by some of its leaves.
const LEAVES: usize = 1 << 16;
/// Two groups of this number of clusters are compared at a time, so that both stay in the cache.
const TILE: usize = 16;

/// Returns the merges that join the clusters `names` into one cluster. Each name is the smallest leaf of a cluster, and
/// names are in ascending order. `before` are the merges that made these clusters. `links` has the edges of the graph
/// of neighbours: for each cluster, near clusters and their similarities.
pub(super) fn merges(
    clusters: &Clusters,
    names: &[u32],
    rule: &Rule,
    (before, links): (&[RawMerge], &[Vec<Link>]),
    monitor: &Monitor,
    steps: u64,
) -> Result<Vec<RawMerge>> {
    entered!(vectors_graph_last);
    let sizes = names.iter().map(|&name| clusters.size(name as usize)).collect();
    let members = if clusters.form.is_of_pairs() { Some(Members::of(clusters, names, before)?) } else { None };
    let write = |values: &mut [f64], stride: usize| {
        write_above(clusters, names, members.as_ref(), values, stride, (monitor, steps))?;
        if clusters.form == Form::Most {
            // The nearest leaves of two clusters may not be among the chosen leaves. So use the similarity stored for
            // an edge between the clusters, if it is larger.
            for (at, link) in links.iter().enumerate().flat_map(|(at, links)| links.iter().map(move |link| (at, link)))
            {
                let value = &mut values[at.min(link.to as usize) * stride + at.max(link.to as usize)];
                *value = value.max(link.similarity);
            }
        }
        mirror(values, names.len(), stride);
        monitor.check()
    };
    let merges = linkage_of_clusters(rule, sizes, write, monitor)?;
    let name = |at: usize| names[at] as usize;
    Ok(merges.into_iter().map(|merge| RawMerge { i: name(merge.i), j: name(merge.j), ..merge }).collect())
}

/// Writes the similarities of each cluster with all later clusters to a square matrix, above its diagonal. Row `i` of
/// the matrix begins at `values[i * stride]`.
fn write_above(
    clusters: &Clusters,
    names: &[u32],
    members: Option<&Members>,
    values: &mut [f64],
    stride: usize,
    (monitor, steps): (&Monitor, u64),
) -> Result<()> {
    let n = names.len();
    let tiles = n.div_ceil(TILE);
    let rows = values.chunks_mut(TILE * stride).take(tiles).enumerate();
    parallel::share(parallel::ranges(tiles, 1), rows, |_, (tile, rows)| {
        let own = tile * TILE..n.min((tile + 1) * TILE);
        match members {
            Some(members) => members.write_above(clusters, own, rows, stride),
            None => own.zip(rows.chunks_mut(stride)).for_each(|(at, row)| {
                let after = names[at + 1..].iter().map(|&name| name as usize);
                clusters.similarities(names[at] as usize, after, &mut row[at + 1..n]);
            }),
        }
        monitor.advance(steps / tiles as u64)
    })
    .map(drop)
}

fn mirror(values: &mut [f64], n: usize, stride: usize) {
    // Copy one square block of the matrix at a time, so that the cache lines of the source and of the target block stay
    // in the cache.
    const BLOCK: usize = 64;
    for row in (0..n).step_by(BLOCK) {
        for column in (0..=row).step_by(BLOCK) {
            for i in row..n.min(row + BLOCK) {
                for j in column..i.min(column + BLOCK) {
                    values[i * stride + j] = values[j * stride + i];
                }
            }
        }
    }
    (0..n).for_each(|at| values[at * stride + at] = f64::NEG_INFINITY);
}

/// The leaves that are compared, in the order of their clusters: all leaves, or evenly chosen leaves of large clusters.
struct Members {
    p: usize,
    /// For each cluster: the index of its first leaf in `rows`. The last element is the number of leaves in `rows`.
    starts: Vec<usize>,
    weights: Vec<f64>,
    rows: Buffer,
}

impl Members {
    fn of(clusters: &Clusters, names: &[u32], before: &[RawMerge]) -> Result<Self> {
        let (n, p) = (clusters.n_leaves(), clusters.n_coordinates());
        let mut sets = UnionFind::new(n);
        let mut weights = vec![1.0; if clusters.halves { n } else { 0 }];
        before.iter().for_each(|merge| _ = sets.join(merge.i as u32, merge.j as u32));
        if clusters.halves {
            halve(before, &mut weights);
        }
        let mut position = vec![u32::MAX; n];
        names.iter().zip(0..).for_each(|(&name, at)| position[name as usize] = at);
        let mut leaves: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
        for leaf in 0..n as u32 {
            if let Some(leaves) = leaves.get_mut(position[sets.find(leaf) as usize] as usize) {
                leaves.push(leaf);
            }
        }
        let most = most_of_each(&leaves);
        let mut starts = vec![0];
        let mut chosen = Vec::new();
        for leaves in &leaves {
            let count = leaves.len().min(most);
            chosen.extend((0..count).map(|t| leaves[t * leaves.len() / count] as usize));
            starts.push(chosen.len());
        }
        let mut rows = Buffer::zeros("the leaves of the last clusters", chosen.len() * p)?;
        for (to, &leaf) in rows.chunks_exact_mut(p.max(1)).zip(&chosen) {
            to.copy_from_slice(clusters.row(leaf));
        }
        let weights = chosen.iter().map(|&leaf| weights.get(leaf).copied().unwrap_or(1.0)).collect();
        Ok(Self { p, starts, weights, rows })
    }

    #[inline(always)]
    fn row(&self, at: usize) -> &[f64] {
        &self.rows[at * self.p..(at + 1) * self.p]
    }

    fn write_above(&self, clusters: &Clusters, own: Range<usize>, rows: &mut [f64], stride: usize) {
        let n = self.starts.len() - 1;
        for first in (own.start..n).step_by(TILE) {
            for (i, row) in own.clone().zip(rows.chunks_mut(stride)) {
                wide!(for j in first.max(i + 1)..n.min(first + TILE) {
                    row[j] = self.between(clusters, i, j);
                });
            }
        }
    }

    #[inline(always)]
    fn between(&self, clusters: &Clusters, i: usize, j: usize) -> f64 {
        let mut over = Over::new(clusters.form);
        for a in self.starts[i]..self.starts[i + 1] {
            for b in self.starts[j]..self.starts[j + 1] {
                over.add(clusters.of_rows(self.row(a), self.row(b)), self.weights[a] * self.weights[b]);
            }
        }
        over.value()
    }
}

/// Sets the weight of each leaf to 1/2 to the power of the number of merges that contain the leaf: its weight in
/// weighted linkage.
fn halve(merges: &[RawMerge], weights: &mut [f64]) {
    // For each merge, `above` is the next merge of the merged cluster. For each leaf, `above_leaf` is its first merge,
    // and `last` is the last merge so far of the cluster with this smallest leaf.
    let mut last = vec![usize::MAX; weights.len()];
    let mut above = vec![usize::MAX; merges.len()];
    let mut above_leaf = vec![usize::MAX; weights.len()];
    for (at, merge) in merges.iter().enumerate() {
        for part in [merge.i, merge.j] {
            match last[part] {
                usize::MAX => above_leaf[part] = at,
                before => above[before] = at,
            }
        }
        last[merge.i] = at;
    }
    let mut of_merge = vec![1.0; merges.len()];
    for at in (0..merges.len()).rev() {
        of_merge[at] = 0.5 * of_merge.get(above[at]).copied().unwrap_or(1.0);
    }
    for (weight, &above) in weights.iter_mut().zip(&above_leaf) {
        *weight = of_merge.get(above).copied().unwrap_or(1.0);
    }
}

/// Returns the maximum number of leaves to compare for each cluster, so that at most [`LEAVES`] leaves are compared in
/// all. The result is at least 1.
fn most_of_each(leaves: &[Vec<u32>]) -> usize {
    let total = |most: usize| leaves.iter().map(|leaves| leaves.len().min(most)).sum::<usize>();
    let largest = leaves.iter().map(Vec::len).max().unwrap_or(1);
    if total(largest) <= LEAVES {
        return largest;
    }
    (1..largest).rev().find(|&most| most == 1 || total(most) <= LEAVES).unwrap_or(1)
}
