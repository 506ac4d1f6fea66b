//! The paths from leaves to the root, and the leaves that join at each merge of a path.

use std::ops::Range;

use crate::error::Result;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::Topology;

/// The paths from all leaves of a tree to its root.
///
/// Leaves have positions from left to right, so that the leaves of a cluster are an interval of positions. A node with
/// more than two children is split into several merges ([`Topology::merges`]).
#[derive(Debug)]
pub(super) struct Paths {
    order: Vec<u32>,
    places: Vec<u32>,
    /// For each cluster (a leaf or a merge): the next larger cluster that contains it. For the root, the root itself.
    above: Vec<u32>,
    spans: Vec<[u32; 2]>,
}

impl Paths {
    pub(super) fn new(tree: &Topology) -> Self {
        let (order, merges) = (tree.leaf_order(), tree.merges());
        let places = Topology::places(&order);
        let mut spans: Vec<[u32; 2]> = places.iter().map(|&place| [place, place + 1]).collect();
        for pair in merges.iter() {
            let [a, b] = pair.map(|part| spans[part as usize]);
            spans.push([a[0].min(b[0]), a[1].max(b[1])]);
        }
        let mut above: Vec<u32> = vec![(spans.len() - 1) as u32; spans.len()];
        for (merge, pair) in merges.iter().enumerate() {
            pair.iter().for_each(|&part| above[part as usize] = (order.len() + merge) as u32);
        }
        Self { order, places, above, spans }
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.order.len()
    }

    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the position of each leaf from left to right.
    pub(super) fn places(&self) -> &[u32] {
        &self.places
    }

    pub(super) fn depths(&self) -> Vec<u32> {
        let n = self.n_leaves();
        let mut depths = vec![0; n - 1];
        for merge in (0..n.saturating_sub(2)).rev() {
            depths[merge] = depths[self.above[n + merge] as usize - n] + 1;
        }
        depths
    }

    /// Returns the merges on the path from `leaf` to the root. Each merge comes with the positions (from left to right
    /// in the tree) of the leaves that join the cluster of `leaf`.
    pub(super) fn walk(&self, leaf: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let (n, mut cluster) = (self.n_leaves(), leaf);
        std::iter::from_fn(move || {
            let above = self.above[cluster] as usize;
            if above == cluster {
                return None;
            }
            let ([start, end], [first, last]) = (self.spans[cluster], self.spans[above]);
            cluster = above;
            let joining = if start == first { end..last } else { first..start };
            Some((above - n, joining.start as usize..joining.end as usize))
        })
    }
}

/// Computes rows of an (n, n) matrix from one value for each merge of a tree. Entry (i, j) is the value of the merge
/// that joins leaves i and j.
#[derive(Debug)]
pub(super) struct Rows<'a, T> {
    paths: &'a Paths,
    values: &'a [T],
    /// For each leaf, from left to right in the tree: the index of its entry in each row.
    columns: &'a [u32],
    row: Vec<T>,
    last: Option<usize>,
}

impl<'a, T: Copy + Default> Rows<'a, T> {
    pub(super) fn new(paths: &'a Paths, values: &'a [T], columns: &'a [u32]) -> Self {
        Self { paths, values, columns, row: vec![T::default(); paths.n_leaves()], last: None }
    }

    /// Returns the matrix row of the leaf at position `place`, from left to right in the tree. The leaf's own entry is
    /// arbitrary.
    ///
    /// If the last call was for position `place - 1`, entries that are the same in both rows are not computed again.
    pub(super) fn at(&mut self, place: usize) -> &[T] {
        let known = self.last.filter(|last| last + 1 == place);
        for (merge, joining) in self.paths.walk(self.paths.order[place] as usize) {
            let value = self.values[merge];
            let done = known.is_some_and(|last| joining.contains(&last));
            self.columns[joining].iter().for_each(|&column| self.row[column as usize] = value);
            if done {
                break;
            }
        }
        self.last = Some(place);
        &self.row
    }
}

/// Calls `step` for every position `0..n` of a leaf (from left to right in a tree), and returns the results in order.
/// Each thread has a separate state, and processes chunks of consecutive positions.
pub(super) fn for_places<S, R: Send>(
    n: usize,
    state: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, usize) -> R + Sync,
    monitor: &Monitor,
) -> Result<Vec<R>> {
    const RUN: usize = 64;
    let n_runs = n.div_ceil(RUN);
    let n_threads = parallel::ranges(n_runs, 2).len();
    let done = parallel::map((0..n_threads).collect(), |thread| {
        let mut state = state();
        let mut runs = Vec::new();
        for run in (thread..n_runs).step_by(n_threads) {
            let places = run * RUN..((run + 1) * RUN).min(n);
            monitor.advance(places.len() as u64)?;
            runs.push(places.map(|place| step(&mut state, place)).collect::<Vec<R>>());
        }
        Ok(runs.into_iter())
    });
    let mut threads = done.into_iter().collect::<Result<Vec<_>>>()?;
    Ok((0..n_runs).filter_map(|run| threads[run % n_threads].next()).flatten().collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Error;
    use crate::metric::samples::{naive_heights, two_dendrograms};

    proptest! {
        #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(100) })]

        #[test]
        fn rows_are_what_stands_at_the_lca((tree, _) in two_dendrograms(20), skip in 1..3usize) {
            let paths = Paths::new(tree.topology());
            let mut rows = Rows::new(&paths, tree.heights(), paths.order());
            for place in (0..tree.n_leaves()).step_by(skip) {
                let leaf = paths.order()[place] as usize;
                let expected = naive_heights(&tree, leaf);
                let row = rows.at(place);
                prop_assert!((0..tree.n_leaves()).all(|j| j == leaf || row[j] == expected[j]));
            }
        }

        #[test]
        fn ways_end_at_the_root((tree, _) in two_dendrograms(20)) {
            let paths = Paths::new(tree.topology());
            let depths = paths.depths();
            for leaf in 0..tree.n_leaves() {
                let way: Vec<u32> = paths.walk(leaf).map(|(merge, _)| depths[merge]).collect();
                prop_assert_eq!(way, (0..paths.walk(leaf).count() as u32).rev().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn places_come_in_order() {
        for n in [0, 1, 63, 64, 65, 1000] {
            let found = for_places(n, || 0, |_, place| place, &Monitor::new()).unwrap();
            assert_eq!(found, (0..n).collect::<Vec<_>>());
        }
        let monitor = Monitor::new();
        monitor.cancel();
        assert_eq!(for_places(1, || 0, |_, place| place, &monitor), Err(Error::Interrupted));
    }
}
