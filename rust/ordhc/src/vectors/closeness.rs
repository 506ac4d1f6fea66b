//! Measures of the closeness of two vectors.

/// A measure of the distance or similarity of two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measure {
    /// The Euclidean distance.
    Euclidean,
    /// The squared Euclidean distance.
    SquaredEuclidean,
    /// The sum of absolute differences.
    Manhattan,
    /// The dot product, which is a similarity.
    Dot,
}

named!(Measure, "measure", {
    "euclidean": Self::Euclidean => Self::Euclidean,
    "sqeuclidean": Self::SquaredEuclidean => Self::SquaredEuclidean,
    "manhattan": Self::Manhattan => Self::Manhattan,
    "dot": Self::Dot => Self::Dot,
});

impl Measure {
    /// Returns true if smaller values mean closer vectors.
    pub fn is_dissimilarity(self) -> bool {
        self != Self::Dot
    }
}

/// A measure as a type, so that loops are compiled for each measure. The similarity is computed from a sum over
/// coordinates.
pub(super) trait Closeness: Sync {
    /// If all coordinates are multiplied by c, the similarity is multiplied by c^DEGREE.
    const DEGREE: i32;
    /// True if the similarity is the negated measure.
    const DISSIMILARITY: bool = true;

    /// Returns `sum` plus the summand of one coordinate, for example (x - y)^2. The result is symmetric in `x` and `y`.
    fn add(sum: f64, x: f64, y: f64) -> f64;

    fn similarity(sum: f64) -> f64;
}

pub(super) struct Euclidean;
pub(super) struct SquaredEuclidean;
pub(super) struct Manhattan;
pub(super) struct Dot;

impl Closeness for Euclidean {
    const DEGREE: i32 = 1;

    #[inline(always)]
    fn add(sum: f64, x: f64, y: f64) -> f64 {
        SquaredEuclidean::add(sum, x, y)
    }

    #[inline(always)]
    fn similarity(sum: f64) -> f64 {
        -sum.sqrt()
    }
}

impl Closeness for SquaredEuclidean {
    const DEGREE: i32 = 2;

    #[inline(always)]
    fn add(sum: f64, x: f64, y: f64) -> f64 {
        sum + (x - y) * (x - y)
    }

    #[inline(always)]
    fn similarity(sum: f64) -> f64 {
        -sum
    }
}

impl Closeness for Manhattan {
    const DEGREE: i32 = 1;

    #[inline(always)]
    fn add(sum: f64, x: f64, y: f64) -> f64 {
        sum + (x - y).abs()
    }

    #[inline(always)]
    fn similarity(sum: f64) -> f64 {
        -sum
    }
}

impl Closeness for Dot {
    const DEGREE: i32 = 2;
    const DISSIMILARITY: bool = false;

    #[inline(always)]
    fn add(sum: f64, x: f64, y: f64) -> f64 {
        sum + x * y
    }

    #[inline(always)]
    fn similarity(sum: f64) -> f64 {
        sum
    }
}
