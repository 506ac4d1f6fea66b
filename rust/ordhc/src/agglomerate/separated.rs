//! Finds groups of leaves that are far apart: most leaves have their nearest leaves in their own group.

use super::matrix::Matrix;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::sorting::nth_largest;

const GROUPS: std::ops::RangeInclusive<usize> = 8..=64;
/// The number of test leaves. A number of groups is good if many test leaves have their nearest leaves in their own
/// group.
const TESTED: usize = 16;
/// A test leaf passes if this number of its nearest leaves, and all ties with the last of these, are in its own group.
const NEAREST: usize = 8;
const LEAST: usize = TESTED / 2;
/// The search for the best number of groups stops when the number of passing test leaves (see [`NEAREST`]) is more than
/// `LESS` below its maximum so far.
const LESS: usize = 3;

/// Returns the group of each leaf. Returns `None` if too few test leaves have their nearest leaves in their own group,
/// or if any group has more than `most` leaves.
///
/// The groups have centres: each centre is the leaf that is farthest from the centres before (Gonzalez 1985). A group
/// consists of the leaves that are nearest to its centre.
pub(super) fn groups(matrix: &Matrix<'_>, most: usize, monitor: &Monitor) -> Result<Option<Vec<u32>>> {
    let n = matrix.n_leaves();
    if n < *GROUPS.end() {
        return Ok(None);
    }
    let all: Vec<u32> = (0..n as u32).collect();
    let row_of = |leaf: usize| {
        let mut row = vec![0.0; n];
        matrix.gather(leaf, &all, &mut row);
        row[leaf] = f64::INFINITY;
        row
    };
    let (mut near, mut group) = (vec![f64::NEG_INFINITY; n], vec![0; n]);
    let mut sizes = vec![0; *GROUPS.end()];
    sizes[0] = n;
    let mut tested: Vec<(usize, Vec<u32>)> = Vec::new();
    let (mut best, mut found) = (LEAST, None);
    for g in 0..*GROUPS.end() {
        let farthest = (0..n).min_by(|&a, &b| near[a].total_cmp(&near[b])).unwrap_or(0);
        for ((near, group), x) in near.iter_mut().zip(&mut group).zip(row_of(farthest)) {
            if x > *near {
                sizes[*group as usize] -= 1;
                sizes[g] += 1;
                (*near, *group) = (x, g as u32);
            }
        }
        monitor.advance(0)?;
        if g + 1 < *GROUPS.start() {
            continue;
        }
        if tested.is_empty() {
            let leaves = (0..TESTED).map(|k| n * k / TESTED).collect();
            tested = parallel::map_in_turn(leaves, |leaf| (leaf, nearest(row_of(leaf))));
        }
        let apart = |(leaf, near): &&(usize, Vec<u32>)| near.iter().all(|&k| group[k as usize] == group[*leaf]);
        let n_apart = tested.iter().filter(apart).count();
        if n_apart == 0 || n_apart + LESS < best && found.is_some() {
            break;
        }
        if n_apart >= best && sizes.iter().all(|&size| size <= most) {
            (best, found) = (n_apart, Some(group.clone()));
        }
    }
    Ok(found)
}

/// Returns the leaf itself, its [`NEAREST`] nearest leaves, and all leaves that are tied with the last of these. `row`
/// has the similarities of the leaf to all leaves.
fn nearest(row: Vec<f64>) -> Vec<u32> {
    // The leaf itself is the nearest, so select one more.
    let least = nth_largest(&mut row.clone(), NEAREST);
    (0..).zip(row).filter(|&(_, x)| x >= least).map(|(leaf, _)| leaf).collect()
}
