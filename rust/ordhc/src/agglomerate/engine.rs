//! From a matrix and a linkage to the dendrogram: which engine does it.

use super::job::{Input, Job};
use super::matrix::{Layout, Matrix, Values};
use super::row_update::{RowMerge, RowUpdate};
use super::{Linkage, naive, nearest_pair};
use crate::error::{Error, Result};
use crate::linkage::Rule;
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, Partition, RawMerge, with_initial};

/// How the nearest pair is found. The tree does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// The chain for reducible linkages, nearest pairs for the others.
    #[default]
    Auto,
    /// The nearest-neighbour chain; reducible linkages only.
    Chain,
    /// Cached nearest pairs.
    NearestPair,
    /// All pairs before every merge.
    Naive,
}

impl Engine {
    /// The engine of this name: `auto`, `chain`, `nearest-pair` or `naive`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn from_name(name: &str) -> Result<Self> {
        Ok(match name {
            "auto" => Engine::Auto,
            "chain" => Engine::Chain,
            "nearest-pair" => Engine::NearestPair,
            "naive" => Engine::Naive,
            _ => {
                let known = "auto, chain, nearest-pair, naive";
                return Err(Error::Argument(format!("unknown engine `{name}`; there are {known}")));
            }
        })
    }
}

/// Merges the most similar pair of clusters until one is left.
///
/// Ties take the pair with the lexicographically smallest (smallest leaf, smallest leaf). Heights
/// are the similarity (or dissimilarity) at the merge. Merges stand in order of height, for linkages
/// that can invert (centroid, median) in the order of merging.
///
/// On similarities the rules that square dissimilarities (ward, centroid, median) take the
/// similarity s as a negative squared dissimilarity -d^2, and heights stay in units of s. A constant
/// added to all similarities changes nothing for ward; for centroid and median it matters.
///
/// # Errors
/// A chain for a linkage that isn't reducible; dissimilarities that cannot be squared; not enough
/// memory; [`Error::Interrupted`].
///
/// ```
/// use ordhc::agglomerate::{Engine, Layout, Matrix, Values, agglomerate};
/// use ordhc::{Monitor, linkage::Rule};
///
/// let pairs = [9.0, 1.0, 2.0]; // (0,1), (0,2), (1,2)
/// let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, false)?;
/// let tree = agglomerate(&matrix, &Rule::Average, Engine::Auto, &Monitor::new())?;
/// assert_eq!(tree.heights(), [9.0, 1.5]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn agglomerate(matrix: &Matrix<'_>, rule: &Rule, engine: Engine, monitor: &Monitor) -> Result<Dendrogram> {
    agglomerate_from(matrix, rule, engine, None, monitor)
}

/// The same from initial clusters: as long as there are pairs within them, the most similar one of
/// these is merged.
///
/// The merges within come first, at least as high (as similarities) as the closest one after.
///
/// # Errors
/// As [`agglomerate`]; initial clusters of another number of leaves.
///
/// ```
/// use ordhc::agglomerate::{Engine, Layout, Matrix, Values, agglomerate_from};
/// use ordhc::{Monitor, linkage::Rule, tree::Partition};
///
/// let pairs = [9.0, 1.0, 2.0]; // (0,1), (0,2), (1,2)
/// let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, false)?;
/// let initial = Partition::new(&[0, 1, 1])?;
/// let tree = agglomerate_from(&matrix, &Rule::Average, Engine::Auto, Some(&initial), &Monitor::new())?;
/// assert_eq!(tree.to_newick_topology(), "(0,(1,2));");
/// assert_eq!(tree.heights(), [5.0, 5.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn agglomerate_from(
    matrix: &Matrix<'_>,
    rule: &Rule,
    engine: Engine,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    Job::checked(matrix, rule, engine, initial, monitor)?.dispatch(Input::Given(matrix))
}

/// [`agglomerate_from`] within the memory of the matrix, whose values are undefined afterwards: beside it
/// O(n) memory is needed, but for the naive engine.
///
/// # Errors
/// As [`Matrix::new`] and [`agglomerate_from`].
///
/// ```
/// use ordhc::agglomerate::{Engine, Layout, agglomerate_in_place};
/// use ordhc::{Monitor, linkage::Rule};
///
/// let mut pairs = [9.0, 1.0, 2.0]; // (0,1), (0,2), (1,2)
/// let matrix = (&mut pairs[..], Layout::Condensed, false);
/// let tree = agglomerate_in_place(matrix, &Rule::Average, Engine::Auto, None, &Monitor::new())?;
/// assert_eq!(tree.heights(), [9.0, 1.5]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn agglomerate_in_place(
    (values, layout, dissimilarity): (&mut [f64], Layout, bool),
    rule: &Rule,
    engine: Engine,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    let matrix = Matrix::new(Values::F64(values), layout, dissimilarity)?;
    let job = Job::checked(&matrix, rule, engine, initial, monitor)?;
    job.dispatch(Input::Lent(values))
}

/// [`agglomerate_from`] for a linkage given as a row update, which `update` writes once per merge.
///
/// # Errors
/// What `update` reports; a row that is not finite; as [`agglomerate`].
pub fn agglomerate_with_rows(
    matrix: &Matrix<'_>,
    mut update: impl FnMut(RowMerge<'_>, &mut [f64]) -> Result<()>,
    engine: Engine,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    with_rows(matrix, &mut update, engine, initial, monitor)
}

fn with_rows(
    matrix: &Matrix<'_>,
    update: &mut dyn FnMut(RowMerge<'_>, &mut [f64]) -> Result<()>,
    engine: Engine,
    initial: Option<&Partition>,
    monitor: &Monitor,
) -> Result<Dendrogram> {
    initial.map_or(Ok(()), |initial| initial.check(matrix.n_leaves()))?;
    let mut rows = RowUpdate::new(matrix, update, monitor)?;
    let [within, after] = match engine {
        Engine::Auto | Engine::NearestPair => staged(&mut rows, initial, false, nearest_pair::merges_among, monitor)?,
        Engine::Naive => staged(&mut rows, initial, false, naive::merges_among, monitor)?,
        Engine::Chain => {
            return Err(Error::Argument("the chain engine takes no row updates; use `nearest-pair`".into()));
        }
    };
    let merges = if initial.is_some() { with_initial(within, after) } else { after };
    let tree = Dendrogram::in_order(matrix.n_leaves(), merges)?;
    Ok(if matrix.is_dissimilarity() { tree.map_heights(true, |x| -x) } else { tree })
}

/// An engine: merges some or all of the active clusters until they are one. Engines exist once for all linkages, whose
/// methods each go through a row or more.
type Among = fn(&mut dyn Linkage, Vec<usize>, &mut Vec<usize>, &Monitor) -> Result<Vec<RawMerge>>;

/// The merges within initial clusters, and those after them, both by the same engine.
pub(super) fn staged(
    linkage: &mut dyn Linkage,
    initial: Option<&Partition>,
    monotone: bool,
    among: Among,
    monitor: &Monitor,
) -> Result<[Vec<RawMerge>; 2]> {
    let mut active: Vec<usize> = (0..linkage.n_leaves()).collect();
    let mut within = Vec::new();
    for cluster in initial.map_or(&[][..], Partition::clusters) {
        within.extend(among(linkage, cluster.clone(), &mut active, monitor)?);
    }
    if monotone {
        within = RawMerge::sort(linkage.n_leaves(), within, linkage.tolerance(), monitor);
    }
    let after = among(linkage, active.clone(), &mut active, monitor)?;
    Ok([within, after])
}
