//! Similarities of clusters with known means, and upper bounds of similarities for means in a bounding box of a k-d
//! tree.
//!
//! A bound is computed with the same operations in the same order as the similarity, from coordinates that are at least
//! as near as those of any mean in the box. Rounding is monotone, so no similarity is above its bound.

use super::closeness::{Closeness, SquaredEuclidean};
use super::clusters::dot;
use super::kd_tree::sum_to_box;
use super::rough_tiles::Limits;
use crate::agglomerate::Tolerance;

/// The largest number of coordinates for which means are stored in a k-d tree.
pub(super) const MOST: usize = 12;
/// An upper bound of the relative error of a product of two coordinates, if a coordinate is a rounded mean.
const SLACK: f64 = 1e-14;

#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster<'a> {
    pub(super) row: &'a [f64],
    pub(super) about: About,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    /// The number of leaves, or 0 for a removed cluster.
    pub(super) size: f64,
    /// The mean squared distance of the cluster's vectors to their mean.
    pub(super) spread: f64,
}

impl About {
    pub(super) const LEAF: Self = Self { size: 1.0, spread: 0.0 };
    pub(super) const GONE: Self = Self { size: 0.0, spread: 0.0 };

    pub(super) fn is_gone(self) -> bool {
        self.size == 0.0
    }

    /// Returns the properties of the merged cluster, and the weight of the second cluster in its mean. `squared` is the
    /// squared distance of the two means.
    pub(super) fn together(self, other: Self, squared: f64) -> (Self, f64) {
        let size = self.size + other.size;
        let share = other.size / size;
        let kept = 1.0 - share;
        let spread = kept * self.spread + share * other.spread + kept * share * squared;
        (Self { size, spread }, share)
    }
}

/// A reducible similarity of clusters: a merged cluster is never more similar to a third cluster than the more similar
/// of the two clusters that were merged.
pub(super) trait Criterion: Copy {
    fn tolerance(self) -> Tolerance;

    fn similarity(self, a: Cluster<'_>, b: Cluster<'_>) -> f64;

    /// Returns the rank of a cluster: its size, its spread, or 1 / size, depending on the criterion.
    /// [`Criterion::bound`] needs a lower bound of the ranks in a node of the k-d tree.
    fn rank(self, about: About) -> f64;

    /// Returns an upper bound of the similarity of `a` with every cluster whose rank is at least `least`, and whose
    /// mean is between `low` and `high`.
    fn bound(self, a: Cluster<'_>, low: &[f64], high: &[f64], least: f64) -> f64;

    /// Returns a coordinate of a cluster's mean, given the coordinate `x` of its stored row (the sum or mean of its
    /// vectors).
    fn mean(self, x: f64, _size: f64) -> f64 {
        x
    }

    /// Returns a coordinate of the merged cluster's stored row (the sum or mean of its vectors). `x` and `y` are the
    /// coordinates of the two clusters that merge, and `share` is the weight of the second cluster.
    fn together(self, x: f64, y: f64, share: f64) -> f64 {
        // This formula gives exactly x if both numbers are x.
        x + (y - x) * share
    }
}

/// A similarity that decreases with the squared distance of two means.
pub(super) trait OfSquares: Copy + Sync {
    fn tolerance(self) -> Tolerance;

    fn of_square(self, squared: f64, a: About, b: About) -> f64;

    /// Returns the property of a cluster on which the similarity depends: the size or the spread. A larger property
    /// never makes clusters more similar.
    fn rank(self, about: About) -> f64;

    /// Returns the summand of a cluster in the formula of [`Limits`]: 1 / size, or the negated spread.
    fn term(self, about: About) -> f32;

    /// Returns the limits that the squared distance of two means must not exceed if the similarity of the two clusters
    /// is at least `floor`.
    fn limits(self, floor: f64) -> Limits;
}

pub(super) fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (&x, &y)| SquaredEuclidean::add(sum, x, y))
}

impl<T: OfSquares> Criterion for T {
    fn tolerance(self) -> Tolerance {
        OfSquares::tolerance(self)
    }

    fn similarity(self, a: Cluster<'_>, b: Cluster<'_>) -> f64 {
        self.of_square(squared(a.row, b.row), a.about, b.about)
    }

    fn rank(self, about: About) -> f64 {
        OfSquares::rank(self, about)
    }

    fn bound(self, a: Cluster<'_>, low: &[f64], high: &[f64], least: f64) -> f64 {
        let nearest = About { size: least, spread: least };
        self.of_square(sum_to_box::<SquaredEuclidean>(a.row, low, high), a.about, nearest)
    }
}

/// The similarity of Ward's linkage: the negated increase of the variance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variance(pub(super) Tolerance);

impl OfSquares for Variance {
    fn tolerance(self) -> Tolerance {
        self.0
    }

    #[inline(always)]
    fn of_square(self, squared: f64, a: About, b: About) -> f64 {
        -(squared * (2.0 * a.size * b.size / (a.size + b.size)))
    }

    fn rank(self, about: About) -> f64 {
        about.size
    }

    fn term(self, about: About) -> f32 {
        (1.0 / about.size) as f32
    }

    /// The similarity is -2 / (1 / a + 1 / b) times the squared distance, for sizes a and b.
    fn limits(self, floor: f64) -> Limits {
        Limits { factor: -0.5 * floor, constant: 0.0 }
    }
}

/// The negated mean squared distance of two clusters: the squared distance of their means, plus the spread of each
/// cluster.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeanSquare(pub(super) Tolerance);

impl OfSquares for MeanSquare {
    fn tolerance(self) -> Tolerance {
        self.0
    }

    #[inline(always)]
    fn of_square(self, squared: f64, a: About, b: About) -> f64 {
        -(squared + (a.spread + b.spread))
    }

    fn rank(self, about: About) -> f64 {
        about.spread
    }

    fn term(self, about: About) -> f32 {
        -about.spread as f32
    }

    fn limits(self, floor: f64) -> Limits {
        Limits { factor: 1.0, constant: -floor }
    }
}

/// The mean dot product of two clusters, which is the dot product of their means. The stored rows of clusters may be
/// sums of vectors instead of means, if sums are exact.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeanDot {
    pub(super) sums: bool,
}

impl Criterion for MeanDot {
    fn tolerance(self) -> Tolerance {
        if self.sums { Tolerance::EXACT } else { Tolerance::GRID }
    }

    fn similarity(self, a: Cluster<'_>, b: Cluster<'_>) -> f64 {
        let product = dot(a.row, b.row);
        if self.sums { product / (a.about.size * b.about.size) } else { product }
    }

    /// The rank is 1 divided by the size, so a node whose smallest rank is 1 has only single leaves.
    fn rank(self, about: About) -> f64 {
        1.0 / about.size
    }

    fn bound(self, a: Cluster<'_>, low: &[f64], high: &[f64], least: f64) -> f64 {
        let mut corner = [0.0; MOST];
        for (((to, &x), &low), &high) in corner.iter_mut().zip(a.row).zip(low).zip(high) {
            *to = if x > 0.0 { high } else { low };
        }
        let corner = &corner[..a.row.len()];
        let product = dot(a.row, corner);
        if !self.sums {
            return product;
        }
        // Rows are sums only if coordinates are integers. If all clusters in the box are single leaves (`least` is 1),
        // `product` is exact. The division is then rounded as in `similarity`. Otherwise, the means in the box are
        // rounded, and the bound must cover this error.
        let added = || a.row.iter().zip(corner).fold(0.0, |sum, (x, y)| sum + (x * y).abs());
        (if least == 1.0 { product } else { product + added() * SLACK }) / a.about.size
    }

    fn mean(self, x: f64, size: f64) -> f64 {
        if self.sums { x / size } else { x }
    }

    fn together(self, x: f64, y: f64, share: f64) -> f64 {
        if self.sums { x + y } else { x + (y - x) * share }
    }
}
