//! The builder: what is agglomerated by which rule, engine and initial clusters.

use super::engine::{Among, Engine, staged};
use super::matrix::{Layout, Matrix, Values};
use super::row_update::{RowMerge, RowUpdate};
use super::sparse::{Missing, SparsePairs, agglomerate_sparse};
use super::task::{Input, Task};
use super::{naive, nearest_pair};
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::linkage::Rule;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, with_initial};

/// Merges the most similar pair of clusters until one is left.
///
/// Ties take the pair with the lexicographically smallest (smallest leaf, smallest leaf). Heights are the
/// similarity (or dissimilarity) at the merge. Merges stand in order of height, for linkages that can invert
/// (centroid, median) in the order of merging.
///
/// On similarities the rules that square dissimilarities (ward, centroid, median) take the similarity s as a negative
/// squared dissimilarity -d^2, and heights stay in units of s. A constant added to all similarities changes nothing
/// for ward; for centroid and median it matters.
///
/// ```
/// use ordhc::agglomerate::{Agglomeration, Layout, Matrix, Values};
/// use ordhc::{Kind, linkage::Rule, tree::Partition};
///
/// let pairs = [9.0, 1.0, 2.0]; // (0,1), (0,2), (1,2)
/// let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Similarity)?;
/// let tree = Agglomeration::new(Rule::Average).run(&matrix)?;
/// assert_eq!(tree.heights(), [9.0, 1.5]);
///
/// let initial = Partition::new(&[0, 1, 1])?;
/// let tree = Agglomeration::new(Rule::Average).initial(&initial).run(&matrix)?;
/// assert_eq!(tree.newick().to_string(), "(0,(1,2));");
/// assert_eq!(tree.heights(), [5.0, 5.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Agglomeration<'a, L = Rule> {
    linkage: L,
    engine: Engine,
    initial: Option<&'a Partition>,
    monitor: Option<&'a Monitor>,
}

/// A linkage given as a row update; see [`Agglomeration::by_rows`].
#[derive(Debug, Clone, Copy)]
pub struct ByRows<F>(F);

impl<'a, L> Agglomeration<'a, L> {
    fn of(linkage: L) -> Self {
        Self { linkage, engine: Engine::Auto, initial: None, monitor: None }
    }

    /// Which engine, for tests: the tree does not depend on it.
    #[doc(hidden)]
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// The clusters to begin with: they merge first, each the most similar pair within it as long as there is one, one
    /// cluster after the other.
    ///
    /// The merges within come first, at least as high (as similarities) as the closest one after.
    #[must_use]
    pub fn initial(mut self, initial: impl Into<Option<&'a Partition>>) -> Self {
        self.initial = initial.into();
        self
    }

    /// Who watches the work.
    #[must_use]
    pub fn monitor(mut self, monitor: impl Into<Option<&'a Monitor>>) -> Self {
        self.monitor = monitor.into();
        self
    }
}

impl Agglomeration<'_> {
    /// Agglomeration by a rule.
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        Self::of(rule)
    }

    /// The dendrogram of a matrix.
    ///
    /// # Errors
    /// Dissimilarities that cannot be squared; initial clusters of another number of leaves; not enough memory;
    /// [`Error::Interrupted`].
    pub fn run(&self, matrix: &Matrix<'_>) -> Result<Dendrogram> {
        watched!(monitor = self.monitor);
        Task::checked(matrix, &self.linkage, self.engine, self.initial, monitor)?.dispatch(Input::Given(matrix))
    }

    /// The same within the memory of the matrix, whose values are undefined afterwards.
    ///
    /// For large inputs and reducible linkages O(n) more memory is needed. A copy is made where ties may have to be
    /// decided from the input once more: by linkages that round, below 1,500 leaves or where values repeat.
    ///
    /// # Errors
    /// As [`Matrix::new`] and [`run`](Self::run).
    ///
    /// ```
    /// use ordhc::agglomerate::{Agglomeration, Layout};
    /// use ordhc::{Kind, linkage::Rule};
    ///
    /// let mut pairs = [9.0, 1.0, 2.0]; // (0,1), (0,2), (1,2)
    /// let tree = Agglomeration::new(Rule::Average).run_in_place(&mut pairs, Layout::Condensed, Kind::Similarity)?;
    /// assert_eq!(tree.heights(), [9.0, 1.5]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn run_in_place(&self, values: &mut [f64], layout: Layout, kind: Kind) -> Result<Dendrogram> {
        watched!(monitor = self.monitor);
        let matrix = Matrix::new(Values::F64(values), layout, kind)?;
        Task::checked(&matrix, &self.linkage, self.engine, self.initial, monitor)?.dispatch(Input::Lent(values))
    }

    /// The dendrogram of sparse similarities by single, complete or average linkage, and how many trees it makes
    /// before the last step. There is one engine, which is chosen by itself.
    ///
    /// With [`Missing::Zero`] the result is that of [`run`](Self::run) on the full matrix, heights up to rounding, and
    /// there is one tree. With [`Missing::Ignore`] the similarity of two clusters is the mean, the least or the
    /// largest of their pairs that are known. Of equally similar pairs, for average and complete linkage, that of
    /// which the larger share is known merges first, then that of the smallest leaves. Clusters without a known pair
    /// merge when no others are left: one after the other in the order of their smallest leaves, at the height of the
    /// last merge (0 if there was none).
    ///
    /// # Errors
    /// Another linkage; dissimilarities with [`Missing::Zero`]; initial clusters of another number of leaves; not
    /// enough memory; [`Error::Interrupted`].
    ///
    /// ```
    /// use ordhc::agglomerate::{Agglomeration, Missing, SparsePairs};
    /// use ordhc::{Kind, linkage::Rule};
    ///
    /// let pairs = SparsePairs::from_csr(&[0, 1, 2, 2, 2], &[1, 2], &[5.0, 3.0], Kind::Similarity, None)?;
    /// let average = Agglomeration::new(Rule::Average);
    /// assert_eq!(average.run_sparse(&pairs, Missing::Zero)?.0.heights(), [5.0, 1.5, 0.0]);
    /// let (tree, n_trees) = average.run_sparse(&pairs, Missing::Ignore)?;
    /// assert_eq!((tree.heights(), n_trees), (&[5.0, 3.0, 3.0][..], 2));
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn run_sparse(&self, pairs: &SparsePairs, missing: Missing) -> Result<(Dendrogram, usize)> {
        watched!(monitor = self.monitor);
        agglomerate_sparse(pairs, &self.linkage, missing, self.initial, monitor)
    }
}

impl<F: FnMut(RowMerge<'_>, &mut [f64]) -> Result<()>> Agglomeration<'_, ByRows<F>> {
    /// Agglomeration by a row update, which `update` writes once per merge.
    ///
    /// ```
    /// use ordhc::agglomerate::{Agglomeration, Layout, Matrix, RowMerge, Values};
    /// use ordhc::Kind;
    ///
    /// // The larger of the two clusters' similarities: single linkage.
    /// let single = |merge: RowMerge<'_>, row: &mut [f64]| {
    ///     let both = merge.row_i.iter().zip(merge.row_j);
    ///     row.iter_mut().zip(both).for_each(|(value, (a, b))| *value = a.max(*b));
    ///     Ok(())
    /// };
    /// let matrix = Matrix::new(Values::F64(&[9.0, 1.0, 2.0]), Layout::Condensed, Kind::Similarity)?;
    /// assert_eq!(Agglomeration::by_rows(single).run(&matrix)?.heights(), [9.0, 2.0]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    #[must_use]
    pub fn by_rows(update: F) -> Self {
        Self::of(ByRows(update))
    }

    /// The dendrogram of a matrix.
    ///
    /// # Errors
    /// What `update` reports; a row that is not finite; initial clusters of another number of leaves; not enough
    /// memory; [`Error::Interrupted`].
    pub fn run(self, matrix: &Matrix<'_>) -> Result<Dendrogram> {
        watched!(monitor = self.monitor);
        let initial = self.initial;
        initial.map_or(Ok(()), |initial| initial.check(matrix.n_leaves()))?;
        let mut rows = RowUpdate::new(matrix, self.linkage.0, monitor)?;
        let among: Among = match self.engine {
            Engine::Auto | Engine::NearestPair => nearest_pair::merges_among,
            Engine::Naive => naive::merges_among,
            Engine::Chain => {
                return Err(Error::Argument("the chain engine takes no row updates; use `nearest-pair`".into()));
            }
        };
        let ([within, after], _) = staged(&mut rows, initial, false, among, monitor)?;
        let merges = with_initial(within, after);
        let tree = Dendrogram::in_order(matrix.n_leaves(), merges)?;
        Ok(if matrix.is_dissimilarity() { tree.map_heights(true, |x| -x) } else { tree })
    }
}
