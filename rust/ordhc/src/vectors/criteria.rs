//! How clusters are compared of which the means are known, and bounds of that for means in a box.
//!
//! A bound is computed in the order in which the similarity is, of coordinates that are all as near or nearer: as
//! rounding keeps the order of numbers, no similarity is above its bound.

use super::closeness::{Closeness, SquaredEuclidean};
use super::clusters::dot;
use super::kd_tree::sum_to_box;
use super::rough_tiles::Limits;
use crate::agglomerate::Tolerance;

/// Boxes have at most so many coordinates.
pub(super) const MOST: usize = 12;
/// What rounding of means may change in the product of two, relative to the sum of what is added.
const SLACK: f64 = 1e-14;

/// What a cluster is compared by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster<'a> {
    /// The mean, or what [`Criterion::mean`] makes the mean of.
    pub(super) row: &'a [f64],
    pub(super) about: About,
}

/// What there is of a cluster beside its mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    /// Zero where a cluster is gone.
    pub(super) size: f64,
    /// The mean squared distance of a vector to the mean.
    pub(super) spread: f64,
}

impl About {
    pub(super) const LEAF: Self = Self { size: 1.0, spread: 0.0 };
    pub(super) const GONE: Self = Self { size: 0.0, spread: 0.0 };

    pub(super) fn is_gone(self) -> bool {
        self.size == 0.0
    }

    /// Of two clusters together, whose means have this squared distance; with the share of the second.
    pub(super) fn together(self, other: Self, squared: f64) -> (Self, f64) {
        let size = self.size + other.size;
        let share = other.size / size;
        let kept = 1.0 - share;
        let spread = kept * self.spread + share * other.spread + kept * share * squared;
        (Self { size, spread }, share)
    }
}

/// A similarity of clusters, with which nothing comes nearer by merging.
pub(super) trait Criterion: Copy {
    /// When two similarities count as equal.
    fn tolerance(self) -> Tolerance;

    fn similarity(self, a: Cluster<'_>, b: Cluster<'_>) -> f64;

    /// What clusters have the least of in a node.
    fn rank(self, about: About) -> f64;

    /// At least the similarity with every cluster of this rank or more whose mean is within bounds.
    fn bound(self, a: Cluster<'_>, low: &[f64], high: &[f64], least: f64) -> f64;

    /// A coordinate of the mean.
    fn mean(self, x: f64, _size: f64) -> f64 {
        x
    }

    /// A coordinate of two clusters together, of which the second has a `share`.
    fn together(self, x: f64, y: f64, share: f64) -> f64 {
        // In this form the mean of equal numbers is that number.
        x + (y - x) * share
    }
}

/// A similarity that follows from the squared distance of two means; the farther, the less.
pub(super) trait OfSquares: Copy + Sync {
    fn tolerance(self) -> Tolerance;

    /// The same for both sides.
    fn of_square(self, squared: f64, a: About, b: About) -> f64;

    /// What of `about` makes clusters less similar.
    fn rank(self, about: About) -> f64;

    /// What a cluster is known by where coordinates are rounded, see [`Limits`].
    fn term(self, about: About) -> f32;

    /// Similarities of at least `floor` have squared distances within these limits.
    fn limits(self, floor: f64) -> Limits;
}

/// The squared distance of two means.
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

/// How much the variance grows, negated: Ward's linkage.
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

    /// The weight is 2 / (1 / a + 1 / b) for sizes a and b.
    fn limits(self, floor: f64) -> Limits {
        Limits { factor: -0.5 * floor, constant: 0.0 }
    }
}

/// The mean squared distance of two clusters, negated: that of their means, and what they are spread themselves.
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

/// The mean dot product of two clusters, which is that of their means. Rows may be sums of vectors, where these are
/// exact.
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

    /// One where there are only leaves.
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
        // Of leaves, which are whole numbers, nothing is rounded but the quotient, as that of sums.
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
