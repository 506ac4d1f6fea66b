//! Rules behind a pointer, so that the code that chooses and runs engines is compiled only once for all rules.

use super::chain::Chain;
use super::condensed_rows::CondensedRows;
use super::doubts::Doubts;
use super::matrix::Matrix;
use super::nearest::{Linkage, Nearest};
use super::precise_matrix::{PreciseUpdate, with_precise};
use super::rounds::Pairs;
use super::square::{Similarities, Square};
use super::store::Store;
use super::tolerance::Tolerance;
use super::triangle_rows::Given;
use crate::error::Result;
use crate::linkage::{Between, Merging, Update};
use crate::monitor::Monitor;
use crate::tree::RawMerge;

/// An [`Update`] of any type. Engines are made for the type, and are then called once per cluster or round.
pub(super) trait AnyUpdate: Sync {
    /// Returns [`Update::EXACT`].
    fn is_exact(&self) -> bool;

    /// Returns [`Update::BETWEEN`].
    fn between(&self) -> Option<Between>;

    /// Returns [`Update::commutes`].
    fn pairs_commute(&self) -> bool;

    /// Returns the similarity of a cluster of `size` leaves to another leaf, and the value for the cluster and one more
    /// leaf, if `value` is the value for the cluster and all leaves have similarity `leaf` to each other.
    fn grown(&self, size: f64, value: f64, leaf: f64) -> (f64, f64);

    /// Calls `work` with the parts of the rule that [`PreciseMatrix`](super::precise_matrix::PreciseMatrix) needs.
    fn precisely(&self, work: &mut dyn FnMut(PreciseUpdate<'_>) -> Result<()>) -> Result<()>;

    fn square<'r>(
        &'r self,
        clusters: &'r mut Similarities<'_>,
        n_and_few: (usize, usize),
        tolerance: Tolerance,
    ) -> Box<dyn SquareLinkage + 'r>;

    fn square_of_leaves<'r>(
        &'r self,
        few: usize,
        matrix: &Matrix<'_>,
        squared: bool,
        room: &'r mut [f64],
        doubts: &Doubts<'_>,
    ) -> Result<Box<dyn SquareLinkage + 'r>>;

    fn triangle<'r>(&'r self, values: Store<'r>, n: usize, tolerance: Tolerance) -> Box<dyn TriangleLinkage<'r> + 'r>;
}

/// A square matrix, see [`Square`].
pub(super) trait SquareLinkage: Linkage {
    /// Merges all clusters by a nearest-neighbour chain.
    fn finish(&mut self, chain: &mut Chain, doubts: &mut Doubts<'_>) -> Result<()>;
}

/// A condensed matrix in which reciprocal pairs merge in rounds, see [`CondensedRows`].
pub(super) trait TriangleLinkage<'a>: Linkage {
    fn first_rounds(
        &mut self,
        given: &Given<'_>,
        first: (&[Nearest], &Pairs),
        merges: &mut Vec<RawMerge>,
        doubts: &mut Doubts<'_>,
    ) -> Result<()>;

    fn rounds(&mut self, merges: &mut Vec<RawMerge>, doubts: &mut Doubts<'_>) -> Result<()>;

    fn square_fits(&self) -> usize;

    fn into_square(self: Box<Self>, active: &[usize], monitor: &Monitor) -> Result<Similarities<'a>>;
}

impl<U: Update> AnyUpdate for U {
    fn is_exact(&self) -> bool {
        U::EXACT
    }

    fn between(&self) -> Option<Between> {
        U::BETWEEN
    }

    fn pairs_commute(&self) -> bool {
        self.commutes()
    }

    fn grown(&self, size: f64, value: f64, leaf: f64) -> (f64, f64) {
        let near = if U::SUMS { value / size } else { value };
        let merge = self.merge(Merging { n_i: size, n_j: 1.0, x_ij: value });
        (near, self.fold(&merge, value, leaf, 1.0))
    }

    fn precisely(&self, work: &mut dyn FnMut(PreciseUpdate<'_>) -> Result<()>) -> Result<()> {
        with_precise(self, work)
    }

    fn square<'r>(
        &'r self,
        clusters: &'r mut Similarities<'_>,
        n_and_few: (usize, usize),
        tolerance: Tolerance,
    ) -> Box<dyn SquareLinkage + 'r> {
        Box::new(Square::of(self, clusters, n_and_few, tolerance))
    }

    fn square_of_leaves<'r>(
        &'r self,
        few: usize,
        matrix: &Matrix<'_>,
        squared: bool,
        room: &'r mut [f64],
        doubts: &Doubts<'_>,
    ) -> Result<Box<dyn SquareLinkage + 'r>> {
        Ok(Box::new(Square::of_leaves((self, few), matrix, squared, room, doubts)?))
    }

    fn triangle<'r>(&'r self, values: Store<'r>, n: usize, tolerance: Tolerance) -> Box<dyn TriangleLinkage<'r> + 'r> {
        Box::new(CondensedRows::from_similarities(self, values, n, tolerance))
    }
}

impl<U: Update> SquareLinkage for Square<'_, U> {
    fn finish(&mut self, chain: &mut Chain, doubts: &mut Doubts<'_>) -> Result<()> {
        if U::MAY_COMMUTE { Square::finish(self, chain, doubts) } else { chain.run(self, 1, doubts) }
    }
}

impl<'a, U: Update> TriangleLinkage<'a> for CondensedRows<'a, U> {
    fn first_rounds(
        &mut self,
        given: &Given<'_>,
        first: (&[Nearest], &Pairs),
        merges: &mut Vec<RawMerge>,
        doubts: &mut Doubts<'_>,
    ) -> Result<()> {
        debug_assert!(U::MAY_COMMUTE);
        if U::MAY_COMMUTE { self.first_rounds(given, first, merges, doubts) } else { Ok(()) }
    }

    fn rounds(&mut self, merges: &mut Vec<RawMerge>, doubts: &mut Doubts<'_>) -> Result<()> {
        debug_assert!(U::MAY_COMMUTE);
        if U::MAY_COMMUTE { self.rounds(None, merges, doubts) } else { Ok(()) }
    }

    fn square_fits(&self) -> usize {
        self.square_fits()
    }

    fn into_square(self: Box<Self>, active: &[usize], monitor: &Monitor) -> Result<Similarities<'a>> {
        CondensedRows::into_square(*self, active, monitor)
    }
}
