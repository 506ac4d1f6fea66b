//! Clusters with many coordinates, for linkages that depend on squared distances of means. Sixteen means are compared
//! at a time. A bound in single precision excludes most clusters as too far.

use std::ops::Range;

use super::closeness::{Closeness, SquaredEuclidean};
use super::criteria::{About, OfSquares, squared};
use super::rough_tiles::{Query, RoughTiles};
use super::tiles::{LANES, Tiles};
use crate::agglomerate::{Linkage, NO_CLUSTER, Nearest, Tolerance};
use crate::error::Result;
use crate::parallel;

const GRAIN: usize = 1 << 20;

/// The clusters and their means, ordered by the smallest leaf of each cluster.
pub(super) struct CentroidTiles<C> {
    criterion: C,
    tiles: Tiles,
    rough: RoughTiles,
    names: Vec<u32>,
    /// The size and spread of each cluster. Removed clusters, and elements after the last cluster, are [`About::GONE`].
    about: Vec<About>,
    n_alive: usize,
    places: Vec<u32>,
}

impl<C: OfSquares> CentroidTiles<C> {
    pub(super) fn new<R: Iterator<Item = f64>>(
        n: usize,
        p: usize,
        row: impl Fn(usize) -> R,
        criterion: C,
    ) -> Result<Self> {
        entered!(vectors_centroid_tiles);
        let mut tiles = Tiles::new(n, p)?;
        let mut rough = RoughTiles::new(n, p)?;
        for leaf in 0..n {
            tiles.set(leaf, row(leaf));
            rough.set(leaf, row(leaf), criterion.term(About::LEAF));
        }
        let mut about = vec![About::LEAF; n];
        about.resize(n.next_multiple_of(LANES), About::GONE);
        Ok(Self {
            criterion,
            tiles,
            rough,
            names: (0..n as u32).collect(),
            about,
            n_alive: n,
            places: (0..n as u32).collect(),
        })
    }

    fn place(&self, cluster: usize) -> usize {
        self.places[cluster] as usize
    }

    /// Returns the similarities of the cluster at index `own` with the clusters of a tile (a group of [`LANES`]
    /// clusters). Returns `None` if all similarities are below `floor`.
    #[inline(always)]
    fn similarities_in(&self, tile: usize, query: &[f64], own: usize, floor: f64) -> Option<[f64; LANES]> {
        let others = &self.about.as_chunks::<LANES>().0[tile];
        let there: [bool; LANES] = std::array::from_fn(|lane| !others[lane].is_gone() && tile * LANES + lane != own);
        let value = |lane: usize, sum: f64| match there[lane] {
            true => self.criterion.of_square(sum, self.about[own], others[lane]),
            false => f64::NEG_INFINITY,
        };
        let too_far =
            |sums: &[f64; LANES]| !(0..LANES).fold(false, |near, lane| near | (value(lane, sums[lane]) >= floor));
        let sums = self.tiles.sums(tile, query, SquaredEuclidean::add, too_far)?;
        Some(std::array::from_fn(|lane| value(lane, sums[lane])))
    }

    fn nearest_in(&self, tiles: Range<usize>, query: &[f64], rough: &Query, own: usize) -> Nearest {
        let tolerance = self.criterion.tolerance();
        let mut near = NO_CLUSTER;
        let mut floor = f64::NEG_INFINITY;
        let mut limits = self.criterion.limits(floor);
        wide!(for tile in tiles {
            if self.rough.all_beyond(tile, rough, limits) {
                continue;
            }
            let Some(values) = self.similarities_in(tile, query, own, floor) else { continue };
            for (lane, &similarity) in values.iter().enumerate() {
                if similarity >= floor && similarity > f64::NEG_INFINITY {
                    let cluster = self.names[tile * LANES + lane] as usize;
                    if near.offer(Nearest { cluster, similarity, doubtful: false }, tolerance) {
                        floor = tolerance.floor(similarity);
                        limits = self.criterion.limits(floor);
                    }
                }
            }
        });
        near
    }

    fn pack(&mut self) {
        if 3 * self.n_alive >= 2 * self.names.len() {
            return;
        }
        let kept: Vec<usize> = (0..self.names.len()).filter(|&at| !self.about[at].is_gone()).collect();
        self.tiles.keep(&kept);
        self.rough.keep(&kept);
        self.names = kept.iter().map(|&at| self.names[at]).collect();
        self.about = kept.iter().map(|&at| self.about[at]).collect();
        self.about.resize(kept.len().next_multiple_of(LANES), About::GONE);
        self.names.iter().enumerate().for_each(|(at, &name)| self.places[name as usize] = at as u32);
    }
}

impl<C: OfSquares> Linkage for CentroidTiles<C> {
    fn n_leaves(&self) -> usize {
        self.places.len()
    }

    fn tolerance(&self) -> Tolerance {
        self.criterion.tolerance()
    }

    fn similarities(&mut self, i: usize, others: &[usize], out: &mut [f64]) -> Result<()> {
        let own = self.place(i);
        let query: Vec<f64> = self.tiles.row(own).collect();
        for (value, &k) in out.iter_mut().zip(others) {
            let at = self.place(k);
            let values = self.similarities_in(at / LANES, &query, own, f64::NEG_INFINITY);
            *value = values.map_or(f64::NEG_INFINITY, |values| values[at % LANES]);
        }
        Ok(())
    }

    fn merge(&mut self, i: usize, j: usize, _: &[usize]) -> Result<()> {
        let (i, j) = (self.place(i), self.place(j));
        let [x, y] = [i, j].map(|at| self.tiles.row(at).collect::<Vec<f64>>());
        let (about, share) = self.about[i].together(self.about[j], squared(&x, &y));
        let mean: Vec<f64> = x.into_iter().zip(y).map(|(x, y)| x + (y - x) * share).collect();
        (self.about[i], self.about[j]) = (about, About::GONE);
        self.tiles.set(i, mean.iter().copied());
        self.rough.set(i, mean.into_iter(), self.criterion.term(about));
        self.rough.remove(j);
        self.n_alive -= 1;
        self.pack();
        Ok(())
    }

    fn nearest(&mut self, i: usize, _: &[usize]) -> Result<Nearest> {
        let own = self.place(i);
        let query: Vec<f64> = self.tiles.row(own).collect();
        let parts = parallel::ranges(self.tiles.n_tiles(), GRAIN / (LANES * query.len().max(1)) + 1);
        let rough = self.rough.query(own);
        let found = parallel::map(parts, |tiles| self.nearest_in(tiles, &query, &rough, own));
        let tolerance = self.tolerance();
        Ok(found.into_iter().fold(NO_CLUSTER, |mut best, near| {
            best.offer(near, tolerance);
            best
        }))
    }
}
