//! The builder of an agglomeration, with its rule, engine and initial clusters.

use super::constraints::Constraints;
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

/// An agglomeration, which merges the most similar pair of clusters until one cluster is left.
///
/// Clusters are named by their smallest leaves. Among ties, the lexicographically smallest pair of names merges first.
/// The height of a merge is its similarity (or dissimilarity). Merges are ordered by height, except for linkages with
/// inversions (centroid, median), which keep the order of merging.
///
/// The rules that square dissimilarities (ward, centroid, median) treat a similarity s as a negative squared
/// dissimilarity -d^2. Heights are in units of s. Adding a constant to all similarities does not change the tree of
/// ward, but can change the trees of centroid and median.
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
    constraints: Option<&'a Constraints>,
    monitor: Option<&'a Monitor>,
}

/// A linkage given as a function that computes similarities of merged clusters, see [`Agglomeration::by_rows`].
#[derive(Debug, Clone, Copy)]
pub struct ByRows<F>(F);

impl<'a, L> Agglomeration<'a, L> {
    fn of(linkage: L) -> Self {
        Self { linkage, engine: Engine::Auto, initial: None, constraints: None, monitor: None }
    }

    /// Sets the engine, for tests. The tree does not depend on the engine.
    #[doc(hidden)]
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Sets the initial clusters. The merges within initial clusters come first, one initial cluster after the other.
    /// Within an initial cluster, the most similar pair merges first.
    ///
    /// If a later merge is more similar, the merges within initial clusters get the height of the most similar later
    /// merge.
    #[must_use]
    pub fn initial(mut self, initial: impl Into<Option<&'a Partition>>) -> Self {
        self.initial = initial.into();
        self
    }

    /// Sets the monitor that receives progress and can cancel the work.
    #[must_use]
    pub fn monitor(mut self, monitor: impl Into<Option<&'a Monitor>>) -> Self {
        self.monitor = monitor.into();
        self
    }
}

impl<'a> Agglomeration<'a> {
    /// Returns an agglomeration by a linkage rule, such as [`Rule::Average`].
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        Self::of(rule)
    }

    /// Sets the sizes of leaves and the pairs of leaves to keep in different clusters. The agglomeration then computes
    /// with about 32 digits instead of 16, in O(n^2) time.
    #[must_use]
    pub fn constraints(mut self, constraints: impl Into<Option<&'a Constraints>>) -> Self {
        self.constraints = constraints.into();
        self
    }

    fn task<'b>(&'b self, matrix: &Matrix<'_>, monitor: &'b Monitor) -> Result<Task<'b>> {
        let task = Task::checked(matrix, &self.linkage, self.engine, self.initial, monitor)?;
        task.constrained(self.constraints)
    }

    /// Returns the dendrogram of a matrix.
    ///
    /// # Errors
    /// Dissimilarities that cannot be squared; initial clusters for a different number of leaves; not enough memory;
    /// [`Error::Interrupted`].
    pub fn run(&self, matrix: &Matrix<'_>) -> Result<Dendrogram> {
        watched!(monitor = self.monitor);
        self.task(matrix, monitor)?.dispatch(Input::Given(matrix))
    }

    /// Returns the dendrogram of a matrix, and overwrites the values of the matrix, which are undefined afterwards.
    ///
    /// For large inputs and reducible linkages, only O(n) memory beside the matrix is needed. But the agglomeration
    /// works on a copy if rounding errors could decide which clusters merge. This is possible for linkages that compute
    /// rounded similarities, such as average linkage. A copy is then made for fewer than 1,500 leaves, and for repeated
    /// values.
    ///
    /// # Errors
    /// The errors of [`Matrix::new`] and [`run`](Self::run).
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
        self.task(&matrix, monitor)?.dispatch(Input::Mutable(values))
    }

    /// Returns the dendrogram of sparse similarities by single, complete or average linkage. Also returns the number of
    /// clusters that are left when no two clusters have a stored pair of leaves between them.
    ///
    /// With [`Missing::Zero`], the dendrogram is the same as that of [`run`](Self::run) on the full matrix, up to
    /// rounding of heights, and the number of clusters is 1.
    ///
    /// With [`Missing::Ignore`], the similarity of two clusters is the mean, minimum or maximum of the stored
    /// similarities between their leaves. For average and complete linkage, ties are broken by the larger share of
    /// stored pairs among all pairs of leaves between the clusters, then by the smallest leaves. When no stored pair is
    /// left between clusters, the remaining clusters merge one by one, in the order of their smallest leaves. These
    /// merges have the height of the merge before them, or 0 if there was none.
    ///
    /// # Errors
    /// A linkage other than single, complete and average; constraints; dissimilarities with [`Missing::Zero`]; initial
    /// clusters for a different number of leaves; not enough memory; [`Error::Interrupted`].
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
        if self.constraints.is_some() {
            return Err(Error::Argument("sparse similarities take no constraints".into()));
        }
        watched!(monitor = self.monitor);
        agglomerate_sparse(pairs, &self.linkage, missing, self.initial, monitor)
    }
}

impl<F: FnMut(RowMerge<'_>, &mut [f64]) -> Result<()>> Agglomeration<'_, ByRows<F>> {
    /// Returns an agglomeration by a row update, a function that computes similarities. For each merge, `update` is
    /// called once, and writes the similarities of the merged cluster to the other clusters.
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

    /// Returns the dendrogram of a matrix.
    ///
    /// # Errors
    /// The errors of `update`; a row of similarities with NaN or infinity; initial clusters for a different number of
    /// leaves; not enough memory; [`Error::Interrupted`].
    pub fn run(self, matrix: &Matrix<'_>) -> Result<Dendrogram> {
        watched!(monitor = self.monitor);
        let initial = self.initial;
        initial.map_or(Ok(()), |initial| initial.check(matrix.n_leaves()))?;
        let mut rows = RowUpdate::new(matrix, self.linkage.0, monitor)?;
        let among: Among = match self.engine {
            Engine::Auto | Engine::NearestPair => nearest_pair::merges_among,
            Engine::Naive => naive::merges_among,
            Engine::Chain => {
                return Err(Error::Argument(
                    "the engine `chain` cannot run a linkage of `by_rows`; use the engine `nearest-pair`".into(),
                ));
            }
        };
        let ([within, after], _) = staged(&mut rows, initial, false, among, monitor)?;
        let merges = with_initial(within, after);
        let tree = Dendrogram::in_order(matrix.n_leaves(), merges)?;
        Ok(if matrix.is_dissimilarity() { tree.map_heights(true, |x| -x) } else { tree })
    }
}
