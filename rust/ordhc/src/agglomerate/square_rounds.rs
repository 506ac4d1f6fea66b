//! Rounds on square rows: many reciprocal nearest pairs are merged at once, and a row is looked at again
//! only when its nearest has gone and it matters.

use super::log::{Logged, replay};
use super::rows::{SquareRows, fold_row, nearest, not_finite, rows_mut};
use super::{Doubts, Linkage, NOBODY, Nearest};
use crate::error::Result;
use crate::linkage::{Merging, Update};
use crate::parallel;
use crate::tree::RawMerge;

/// After this many looks per row a chain goes on, which needs at most three more.
const PATIENCE: usize = 8;
/// Threads pay from this many values on.
const GRAIN: usize = 1 << 17;

/// What is known of a position's nearest (by position, not by cluster).
#[derive(Debug, Clone, Copy)]
enum Known {
    Yes(Nearest),
    /// A new cluster is looked at soon, an old one only if it is the nearest of another.
    No {
        new: bool,
    },
}

impl<U: Update> SquareRows<'_, U> {
    /// Merges reciprocal nearest pairs, round by round, until so many clusters are left or it does not pay.
    pub(crate) fn rounds(&mut self, until: usize, merges: &mut Vec<RawMerge>, doubts: &mut Doubts<'_>) -> Result<()> {
        entered!(square_rounds);
        let monitor = doubts.monitor();
        let mut known: Vec<Known> = std::mem::take(&mut self.nearest).into_iter().map(Known::Yes).collect();
        let mut given = known.len();
        known.resize(self.width(), Known::No { new: true });
        let mut patience = PATIENCE * self.n_alive;
        while self.n_alive > until.max(1) {
            let looked: Vec<usize> = if given > 0 {
                (0..std::mem::take(&mut given)).collect()
            } else {
                let wanted = wanted(&known, &self.alive);
                if wanted.is_empty() || patience < wanted.len() {
                    return Ok(());
                }
                patience -= wanted.len();
                for (&at, mut nearest) in wanted.iter().zip(self.look_up(&wanted)) {
                    if nearest.doubtful {
                        nearest = self.settled(at, nearest, merges, doubts)?;
                    }
                    known[at] = Known::Yes(nearest);
                }
                wanted
            };
            monitor.advance(0)?;
            let pairs = reciprocal(&known, &looked);
            if pairs.is_empty() {
                continue;
            }
            let mut gone = vec![false; self.width()];
            for &(i, j, similarity) in &pairs {
                (gone[i], gone[j]) = (true, true);
                merges.push(RawMerge { i: self.clusters[i], j: self.clusters[j], similarity });
                monitor.advance(self.n_alive as u64)?;
            }
            self.merge_pairs(&pairs)?;
            for (at, known) in known.iter_mut().enumerate() {
                match known {
                    _ if gone[at] => *known = Known::No { new: true },
                    Known::Yes(nearest) if gone[nearest.cluster] => *known = Known::No { new: false },
                    _ => {}
                }
            }
            if self.wants_packing() {
                let kept = self.pack();
                let mut place = vec![usize::MAX; gone.len()];
                kept.iter().enumerate().for_each(|(to, &from)| place[from] = to);
                known = kept.iter().map(|&at| known[at]).collect();
                for known in &mut known {
                    if let Known::Yes(nearest) = known {
                        nearest.cluster = place[nearest.cluster];
                    }
                }
            }
        }
        Ok(())
    }

    /// Brings rows up to date and finds their nearest.
    fn look_up(&mut self, wanted: &[usize]) -> Vec<Nearest> {
        let width = self.width();
        let Self { update, stride, lines, sizes, log, tolerance, .. } = self;
        let (update, log, sizes, tolerance) = (*update, &*log, &*sizes, *tolerance);
        let mut places = wanted.iter().peekable();
        let rows = rows_mut(&mut self.values, *stride, lines, width).zip(&mut self.seen).enumerate();
        let rows: Vec<_> = rows.filter(|(at, _)| places.next_if_eq(&at).is_some()).collect();
        let parts = parts(rows, wanted.len() * width);
        let found = parallel::map(parts, |rows| {
            let look = |(at, (row, seen)): (usize, (&mut [f64], &mut usize))| {
                replay(update, row, &log[*seen..], at, sizes[at]);
                *seen = log.len();
                nearest::<U>(row, sizes, sizes[at], tolerance, f64::NEG_INFINITY).unwrap_or(NOBODY)
            };
            rows.into_iter().map(look).collect::<Vec<Nearest>>()
        });
        found.into_iter().flatten().collect()
    }

    #[cold]
    fn settled(
        &mut self,
        at: usize,
        nearest: Nearest,
        merges: &[RawMerge],
        doubts: &mut Doubts<'_>,
    ) -> Result<Nearest> {
        let i = self.clusters[at];
        let alive = (0..self.width()).filter(|&other| other != at && self.alive[other]);
        let others: Vec<usize> = alive.map(|other| self.clusters[other]).collect();
        let mut values = vec![0.0; others.len()];
        self.similarities(i, &others, &mut values)?;
        let nearest = Nearest { cluster: self.clusters[nearest.cluster], ..nearest };
        let found = doubts.nearest(nearest, merges, i, &others, &values)?;
        Ok(Nearest { cluster: self.positions[found.cluster], ..found })
    }

    /// Merges disjoint pairs of positions. Every row but the own two learns of a merge from the log.
    fn merge_pairs(&mut self, pairs: &[(usize, usize, f64)]) -> Result<()> {
        let width = self.width();
        let Self { update, stride, lines, sizes, log, clusters, .. } = self;
        let (update, clusters) = (*update, &*clusters);
        let before = log.len();
        let rows = rows_mut(&mut self.values, *stride, lines, width);
        let mut rows: Vec<_> = rows.zip(&mut self.seen).map(Some).collect();
        let work: Vec<_> =
            pairs.iter().filter_map(|&(i, j, _)| Some((i, j, rows[i].take()?, rows[j].take()?))).collect();
        let parts = parts(work, pairs.len() * width);
        let (old_sizes, old_log) = (&*sizes, &*log);
        let merged = parallel::map(parts, |pairs| {
            let merge_rows = |(i, j, (row_i, seen_i), (row_j, seen_j)): (usize, usize, Row<'_>, Row<'_>)| {
                replay(update, row_i, &old_log[*seen_i..], i, old_sizes[i]);
                replay(update, row_j, &old_log[*seen_j..], j, old_sizes[j]);
                (*seen_i, *seen_j) = (before, before);
                let merging = Merging { n_i: old_sizes[i], n_j: old_sizes[j], x_ij: row_i[j] };
                let merge = update.merge(merging);
                let fail = |x, at: usize| not_finite(x, clusters[i], clusters[at]);
                fold_row(update, &merge, row_i, row_j, old_sizes, j, &fail)?;
                Ok(Logged { i, j, merge })
            };
            pairs.into_iter().map(merge_rows).collect::<Result<Vec<_>>>()
        });
        for part in merged {
            log.extend(part?);
        }
        for &(i, j, _) in pairs {
            sizes[i] += sizes[j];
            self.alive[j] = false;
        }
        self.n_alive -= pairs.len();
        Ok(())
    }
}

type Row<'r> = (&'r mut [f64], &'r mut usize);

/// The positions to look at: new ones, and those that are the nearest of others; else all.
fn wanted(known: &[Known], alive: &[bool]) -> Vec<usize> {
    let mut somebodys = vec![false; known.len()];
    for known in known {
        if let Known::Yes(nearest) = known {
            somebodys[nearest.cluster] = true;
        }
    }
    let unknown = |&at: &usize| alive[at] && matches!(known[at], Known::No { .. });
    let wanted = |&at: &usize| somebodys[at] || matches!(known[at], Known::No { new: true });
    let all: Vec<usize> = (0..known.len()).filter(unknown).collect();
    let some: Vec<usize> = all.iter().copied().filter(wanted).collect();
    if some.is_empty() { all } else { some }
}

/// The reciprocal pairs that looking at some positions has made.
fn reciprocal(known: &[Known], looked: &[usize]) -> Vec<(usize, usize, f64)> {
    let nearest = |at: usize| match known[at] {
        Known::Yes(nearest) => Some(nearest),
        Known::No { .. } => None,
    };
    let mut pairs = Vec::new();
    for &a in looked {
        let Some(b) = nearest(a).map(|nearest| nearest.cluster) else { continue };
        if nearest(b).is_some_and(|nearest| nearest.cluster == a) {
            pairs.push((a.min(b), a.max(b)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().filter_map(|(i, j)| Some((i, j, nearest(i)?.similarity))).collect()
}

/// Items for as many threads as pay.
pub(super) fn parts<T>(items: Vec<T>, n_values: usize) -> Vec<Vec<T>> {
    let ranges = parallel::ranges(items.len(), items.len().div_ceil((n_values / GRAIN).max(1)));
    let mut items = items.into_iter();
    ranges.into_iter().map(|range| items.by_ref().take(range.len()).collect()).collect()
}
