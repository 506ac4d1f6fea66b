//! When two similarities count as equal.

/// Similarities that differ by rounding only count as equal, so that ties are decided by the leaves.
///
/// ```
/// use ordhc::agglomerate::Tolerance;
///
/// let sums = Tolerance::relative(1e-13, 0.0);
/// assert!(0.1 + 0.2 >= sums.floor(0.3) && 0.3 >= sums.floor(0.1 + 0.2));
/// assert_eq!(Tolerance::EXACT.floor(0.3), 0.3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    relative: f64,
    scale: f64,
}

impl Tolerance {
    /// Only equal numbers are equal.
    pub const EXACT: Self = Self { relative: 0.0, scale: 0.0 };

    /// Differences up to `relative` times the larger number, or times `scale` if that is larger.
    pub fn relative(relative: f64, scale: f64) -> Self {
        Self { relative, scale }
    }

    /// The smallest number that counts as equal to `best`, the largest of some.
    #[inline(always)]
    pub fn floor(self, best: f64) -> f64 {
        if self.relative == 0.0 || best == f64::NEG_INFINITY { best } else { best - self.width(best) }
    }

    /// The largest number that counts as equal to `value`, the smallest of some.
    #[inline(always)]
    pub fn ceiling(self, value: f64) -> f64 {
        if self.relative == 0.0 || value == f64::NEG_INFINITY { value } else { value + self.width(value) }
    }

    #[inline(always)]
    fn width(self, value: f64) -> f64 {
        self.relative * value.abs().max(self.scale)
    }
}
