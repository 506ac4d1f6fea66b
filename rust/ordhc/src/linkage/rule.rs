//! The seven Lance-Williams linkages, and the trait through which engines update similarities.

use super::LanceWilliams;
use crate::precise::Precise;

/// A linkage that computes the similarities of a merged cluster from the similarities of the two clusters that merge
/// (Lance & Williams 1967).
///
/// ```
/// use ordhc::linkage::Rule;
///
/// assert_eq!("average".parse::<Rule>()?, Rule::Average);
/// assert!("avg".parse::<Rule>().is_err());
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// The similarity of the most similar pair of members.
    Single,
    /// The similarity of the least similar pair of members.
    Complete,
    /// The mean similarity over all pairs of members (UPGMA).
    Average,
    /// The mean of two similarities: those of the two clusters that merge, to another cluster (WPGMA).
    Weighted,
    /// The minimum increase of variance. Dissimilarities are squared first.
    Ward,
    /// The distance of centroids (UPGMC). Dissimilarities are squared first.
    Centroid,
    /// The distance of midpoints (WPGMC). Dissimilarities are squared first.
    Median,
    /// Lance-Williams coefficients given as formulas.
    Coefficients(LanceWilliams),
}

named!(Rule, "linkage", {
    "single": Self::Single => Self::Single,
    "complete": Self::Complete => Self::Complete,
    "average": Self::Average => Self::Average,
    "weighted": Self::Weighted => Self::Weighted,
    "ward": Self::Ward => Self::Ward,
    "centroid": Self::Centroid => Self::Centroid,
    "median": Self::Median => Self::Median,
} Self::Coefficients(_) => "coefficients");

impl Rule {
    /// Returns true if the linkage uses squared dissimilarities. Heights are then square roots.
    pub fn is_squared(&self) -> bool {
        match self {
            Rule::Ward | Rule::Centroid | Rule::Median => true,
            Rule::Coefficients(coefficients) => coefficients.is_squared(),
            _ => false,
        }
    }

    /// Returns true if reciprocal nearest pairs may be merged in any order.
    ///
    /// This requires two properties. First, the merged cluster is never closer to a third cluster than the closer of
    /// the two clusters that merge, so heights are monotone. Second, the similarity of two clusters does not depend on
    /// the order of the merges within them. Flexible-beta linkage, for example, lacks the second property.
    pub fn is_reducible(&self) -> bool {
        match self {
            Rule::Centroid | Rule::Median => false,
            Rule::Coefficients(coefficients) => coefficients.is_reducible(),
            _ => true,
        }
    }
}

/// The rule by which a merge changes similarities to other clusters. All values are similarities: larger is closer.
/// Dissimilarities are negated first.
pub(crate) trait Update: Sync {
    /// The numbers of a merge that [`Update::fold`] needs, computed once for all third clusters.
    type Merge: Copy + Send + Sync;

    /// The kind of the values that the rule stores. Code that needs only this type is compiled once for all rules that
    /// store the same kind.
    type Stored: Stored;

    /// See [`Stored::SUMS`].
    const SUMS: bool = Self::Stored::SUMS;

    /// True if [`Update::fold`] may return NaN or infinity for finite arguments.
    const MAY_FAIL: bool = false;

    /// True if [`Update::fold`] does not round, so that equal similarities stay equal.
    const EXACT: bool = false;

    /// How to compute the similarity of two clusters from the similarities of all pairs of their members. `None` if
    /// similarities are only updated merge by merge.
    const BETWEEN: Option<Between> = None;

    /// True if [`Update::commutes`] can return true. Engines that merge reciprocal pairs are compiled only for these
    /// rules.
    const MAY_COMMUTE: bool = Self::BETWEEN.is_some();

    fn merge(&self, merging: Merging) -> Self::Merge;

    /// Returns the similarity of the merged cluster to a third cluster k of size `n_k`. `x_i` and `x_j` are the
    /// similarities of clusters i and j to k. If [`Update::SUMS`] is true, all three numbers are sums over pairs of
    /// members.
    fn fold(&self, merge: &Self::Merge, x_i: f64, x_j: f64, n_k: f64) -> f64;

    /// True if [`Update::fold_precisely`] takes and returns sums over pairs of members instead of similarities.
    const PRECISE_SUMS: bool = Self::SUMS;

    fn fold_precisely(&self, merging: &Merging<Precise>, x_i: Precise, x_j: Precise, n_k: f64) -> Precise;

    /// Returns true if reciprocal nearest pairs may be merged in any order, even with ties. The merged cluster is then
    /// never closer to a third cluster than the closer of the two clusters that merge. The merged cluster is as close
    /// as the closer of these only if both are equally close. The default is
    /// true for rules with [`Update::BETWEEN`].
    fn commutes(&self) -> bool {
        Self::MAY_COMMUTE
    }
}

/// The kind of the value that a rule stores for two clusters: a similarity, or a sum of similarities.
pub(crate) trait Stored: Sync {
    /// True if the rule stores the sum of the similarities over all pairs of members, instead of the mean. The
    /// similarity of clusters i and k is then `sum / (n_i n_k)`.
    const SUMS: bool;
}

/// The rule stores similarities.
pub(crate) struct Plain;
/// The rule stores sums.
pub(crate) struct Sums;

impl Stored for Plain {
    const SUMS: bool = false;
}

impl Stored for Sums {
    const SUMS: bool = true;
}

/// How the similarity of two clusters is computed from the similarities of all pairs of their members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    Least,
    Sum,
    Mean,
    Halves,
    Ward,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Merging<N = f64> {
    pub(crate) n_i: f64,
    pub(crate) n_j: f64,
    pub(crate) x_ij: N,
}

pub(crate) struct Single;
pub(crate) struct Complete;
pub(crate) struct Average;
pub(crate) struct AverageOfWhole;
pub(crate) struct Weighted;
pub(crate) struct Ward;
pub(crate) struct Centroid;
pub(crate) struct Median;

impl Update for Single {
    type Stored = Plain;
    type Merge = ();
    const EXACT: bool = true;
    fn merge(&self, _: Merging) {}
    #[inline(always)]
    fn fold(&self, (): &(), x_i: f64, x_j: f64, _: f64) -> f64 {
        if x_i >= x_j { x_i } else { x_j }
    }
    fn fold_precisely(&self, _: &Merging<Precise>, x_i: Precise, x_j: Precise, _: f64) -> Precise {
        x_i.max(x_j)
    }
}

impl Update for Complete {
    type Stored = Plain;
    type Merge = ();
    const BETWEEN: Option<Between> = Some(Between::Least);
    const EXACT: bool = true;
    fn merge(&self, _: Merging) {}
    #[inline(always)]
    fn fold(&self, (): &(), x_i: f64, x_j: f64, _: f64) -> f64 {
        if x_i <= x_j { x_i } else { x_j }
    }
    fn fold_precisely(&self, _: &Merging<Precise>, x_i: Precise, x_j: Precise, _: f64) -> Precise {
        x_i.min(x_j)
    }
}

/// Stores sums of similarities instead of means. Sums of whole numbers are exact, so rounding never makes equal
/// averages different.
impl Update for AverageOfWhole {
    type Stored = Sums;
    type Merge = ();
    const BETWEEN: Option<Between> = Some(Between::Sum);
    const EXACT: bool = true;
    fn merge(&self, _: Merging) {}
    #[inline(always)]
    fn fold(&self, (): &(), x_i: f64, x_j: f64, _: f64) -> f64 {
        x_i + x_j
    }
    fn fold_precisely(&self, _: &Merging<Precise>, x_i: Precise, x_j: Precise, _: f64) -> Precise {
        x_i + x_j
    }
}

/// For the weighted mean of two similarities: the weight of the smaller cluster, which is cluster i if `of_i` is true.
/// A weight near 1 would lose digits by cancellation, so the weight of the larger cluster is not stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    share: f64,
    of_i: bool,
}

/// Stores mean similarities. [`Update::fold`] returns exactly x if both similarities are x.
impl Update for Average {
    type Stored = Plain;
    type Merge = Share;
    const BETWEEN: Option<Between> = Some(Between::Mean);
    const PRECISE_SUMS: bool = true;
    fn merge(&self, m: Merging) -> Share {
        let share = m.n_i.min(m.n_j) / (m.n_i + m.n_j);
        Share { share, of_i: m.n_i < m.n_j }
    }
    #[inline(always)]
    fn fold(&self, m: &Share, x_i: f64, x_j: f64, _: f64) -> f64 {
        let (most, less) = if m.of_i { (x_j, x_i) } else { (x_i, x_j) };
        most + (less - most) * m.share
    }
    fn fold_precisely(&self, _: &Merging<Precise>, x_i: Precise, x_j: Precise, _: f64) -> Precise {
        x_i + x_j
    }
}

impl Update for Weighted {
    type Stored = Plain;
    type Merge = ();
    const BETWEEN: Option<Between> = Some(Between::Halves);
    fn merge(&self, _: Merging) {}
    #[inline(always)]
    fn fold(&self, (): &(), x_i: f64, x_j: f64, _: f64) -> f64 {
        0.5 * x_i + 0.5 * x_j
    }
    fn fold_precisely(&self, _: &Merging<Precise>, x_i: Precise, x_j: Precise, _: f64) -> Precise {
        (x_i + x_j) * Precise::from(0.5)
    }
}

impl Update for Ward {
    type Stored = Plain;
    type Merge = Merging;
    const BETWEEN: Option<Between> = Some(Between::Ward);
    fn merge(&self, merging: Merging) -> Merging {
        merging
    }
    #[inline(always)]
    fn fold(&self, m: &Merging, x_i: f64, x_j: f64, n_k: f64) -> f64 {
        ((m.n_i + n_k) * x_i + (m.n_j + n_k) * x_j - n_k * m.x_ij) / (m.n_i + m.n_j + n_k)
    }
    fn fold_precisely(&self, m: &Merging<Precise>, x_i: Precise, x_j: Precise, n_k: f64) -> Precise {
        let [n_i, n_j, n_k] = [m.n_i, m.n_j, n_k].map(Precise::from);
        ((n_i + n_k) * x_i + (n_j + n_k) * x_j - n_k * m.x_ij) / (n_i + n_j + n_k)
    }
}

impl Update for Centroid {
    type Stored = Plain;
    type Merge = [f64; 3];
    fn merge(&self, m: Merging) -> [f64; 3] {
        let n = m.n_i + m.n_j;
        [m.n_i / n, m.n_j / n, m.n_i * m.n_j * m.x_ij / (n * n)]
    }
    #[inline(always)]
    fn fold(&self, &[a, b, c]: &[f64; 3], x_i: f64, x_j: f64, _: f64) -> f64 {
        a * x_i + b * x_j - c
    }
    fn fold_precisely(&self, m: &Merging<Precise>, x_i: Precise, x_j: Precise, _: f64) -> Precise {
        let [n_i, n_j] = [m.n_i, m.n_j].map(Precise::from);
        let n = n_i + n_j;
        (n * (n_i * x_i + n_j * x_j) - n_i * n_j * m.x_ij) / (n * n)
    }
}

impl Update for Median {
    type Stored = Plain;
    type Merge = f64;
    fn merge(&self, merging: Merging) -> f64 {
        0.25 * merging.x_ij
    }
    #[inline(always)]
    fn fold(&self, quarter: &f64, x_i: f64, x_j: f64, _: f64) -> f64 {
        0.5 * x_i + 0.5 * x_j - quarter
    }
    fn fold_precisely(&self, m: &Merging<Precise>, x_i: Precise, x_j: Precise, _: f64) -> Precise {
        (x_i + x_j) * Precise::from(0.5) - m.x_ij * Precise::from(0.25)
    }
}
