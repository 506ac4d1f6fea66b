//! When two similarities count as equal.

use std::cmp::Ordering;

/// Similarities that are rounded to the same number count as equal, so that ties are decided by the leaves.
///
/// The numbers are those of 36 significant bits, about 2e-11 apart (relative): as this is rounding each by itself,
/// equal is transitive. Short numbers are such numbers, or nearly so; what computing does to them changes
/// nothing. Where it might, because a similarity stands halfway between two numbers as far as its error tells, a
/// comparison is in doubt, and the similarities are computed with more digits.
///
/// ```
/// use ordhc::agglomerate::Tolerance;
///
/// let grid = Tolerance::GRID;
/// assert_eq!(grid.key(0.1 + 0.2), grid.key(0.3));
/// assert!(grid.key(1.0 + 1e-10) > grid.key(1.0));
/// assert!(Tolerance::EXACT.key(0.1 + 0.2) > Tolerance::EXACT.key(0.3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    exact: bool,
    /// Similarities are off by at most this share of them, and this.
    relative: f64,
    absolute: f64,
    /// The same share where both clusters are leaves: their similarities are as they were given, or squares of these.
    of_leaves: f64,
    /// Whether what is the same number is equal, whatever it may be off by.
    given: bool,
}

/// Bits of a float that a key doesn't have.
const DROPPED: u32 = 17;
/// Below this the grid would be coarser.
const SMALL: f64 = f64::MIN_POSITIVE * (1u64 << DROPPED) as f64;
/// More than the distance of two keys, relative.
pub(crate) const CELL: f64 = 1.0 / (1u64 << 34) as f64;

/// What means of similarities of `n` leaves may be off by, relative: every merge rounds once or twice, which adds up
/// like a random walk.
pub(crate) fn rounding(n: usize) -> f64 {
    (2.0 + (n as f64).sqrt() / 4.0) * f64::EPSILON
}

impl Tolerance {
    /// Only equal numbers are equal.
    pub const EXACT: Self = Self { exact: true, ..Self::GRID };

    /// Numbers of the same key are equal.
    pub const GRID: Self = Self { exact: false, relative: 0.0, absolute: 0.0, of_leaves: f64::INFINITY, given: false };

    /// Numbers of the same key are equal, and numbers may be off by a share of them, and by `absolute`.
    pub(crate) fn rounded(relative: f64, absolute: f64) -> Self {
        Self { relative, absolute, ..Self::GRID }
    }

    /// The same, where similarities of leaves are those that were given, or their squares.
    pub(crate) fn with_leaves(self, squared: bool) -> Self {
        Self { of_leaves: if squared { f64::EPSILON } else { 0.0 }, ..self }
    }

    /// For the similarities of leaves with each other. Leaves that are as similar are so for certain: no two numbers
    /// that have the same square after rounding are farther apart than rounding takes them.
    pub(crate) fn of_leaves(self) -> Self {
        match self.exact || self.has_no_errors() || self.of_leaves > self.relative {
            true => self,
            false => Self { given: true, ..self },
        }
    }

    /// What is compared instead of a similarity.
    #[inline(always)]
    pub fn key(self, x: f64) -> f64 {
        if self.exact { x } else { key(x) }
    }

    /// Everything that may count as equal to `best` or as larger is at least this large.
    #[inline(always)]
    pub(crate) fn floor(self, best: f64) -> f64 {
        if self.exact || best == f64::NEG_INFINITY {
            best
        } else {
            best - (2.0 * CELL * best.abs() + 3.0 * self.error(best) + f64::MIN_POSITIVE * CELL)
        }
    }

    /// The similarity itself, if one that equals it certainly counts as equal to it; else NaN, which equals nothing.
    pub(crate) fn certain(self, x: f64) -> f64 {
        if self.compare(x, x).1 { f64::NAN } else { x }
    }

    /// What may be zero is at most this large.
    pub(crate) fn zero(self) -> f64 {
        self.absolute
    }

    #[inline(always)]
    fn error(self, x: f64) -> f64 {
        self.relative * x.abs() + self.absolute
    }

    /// As [`of_leaves`](Self::of_leaves) where all are leaves.
    #[inline(always)]
    pub(crate) fn among(self, leaves: bool) -> Self {
        if leaves { self.of_leaves() } else { self }
    }

    /// The least and the largest key that a similarity may have, as far as its error tells.
    pub(crate) fn ends(self, x: f64) -> [f64; 2] {
        if self.exact { [x; 2] } else { [key(x - self.error(x)), key(x + self.error(x))] }
    }

    /// Whether two similarities differ by more than their errors.
    pub(crate) fn are_apart(self, a: f64, b: f64) -> bool {
        (a - b).abs() > self.error(a) + self.error(b)
    }

    fn has_no_errors(self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0
    }

    /// How two similarities compare, and whether that is in doubt: because of rounding, or because they are so near
    /// to each other, but not equal, that only the order of the naive engine will do.
    pub(crate) fn compare(self, a: f64, b: f64) -> (Ordering, bool) {
        let (order, doubtful) = self.compare_keys(a, b);
        if doubtful || self.exact || self.has_no_errors() || !a.is_finite() || !b.is_finite() {
            return (order, doubtful);
        }
        let near = a.abs().max(b.abs()) * CELL + self.error(a) + self.error(b);
        // What is nearly but not quite equal may keep reciprocal pairs from commuting.
        (order, self.are_apart(a, b) && (a - b).abs() <= near)
    }

    /// How the keys of two similarities compare, and whether rounding puts that in doubt. This is enough to order
    /// merges that are known already.
    pub(crate) fn compare_keys(self, a: f64, b: f64) -> (Ordering, bool) {
        let order = self.key(a).partial_cmp(&self.key(b)).unwrap_or(Ordering::Equal);
        if self.exact || self.has_no_errors() || !a.is_finite() || !b.is_finite() || self.given && a == b {
            return (order, false);
        }
        let error = |x: f64| if self.given { self.of_leaves * x.abs() } else { self.error(x) };
        let cells = |x: f64| [key(x - error(x)), key(x + error(x))];
        (order, overlap(cells(a), cells(b)))
    }
}

/// The float of 36 significant bits nearest to `x`.
#[inline(always)]
pub(crate) fn key(x: f64) -> f64 {
    const HALF: u64 = 1 << (DROPPED - 1);
    if x.abs() < SMALL { x } else { f64::from_bits((x.to_bits() + HALF) & !(2 * HALF - 1)) }
}

/// The key of `hi + lo`, of which `hi` is the nearest float.
pub(crate) fn key_of_sum((hi, lo): (f64, f64)) -> f64 {
    const HALF: u64 = 1 << (DROPPED - 1);
    let halfway = hi.abs() >= SMALL && hi.to_bits() & (2 * HALF - 1) == HALF;
    // Towards zero.
    if halfway && lo * hi.signum() < 0.0 { f64::from_bits(hi.to_bits() - HALF) } else { key(hi) }
}

/// Whether two ranges of keys have one in common, and aren't both that one.
pub(crate) fn overlap([low_a, high_a]: [f64; 2], [low_b, high_b]: [f64; 2]) -> bool {
    let apart = high_a < low_b || high_b < low_a;
    !(apart || low_a == high_a && low_b == high_b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = f64> {
        let any = any::<f64>().prop_filter("finite", |x| x.abs() < 1e307);
        prop_oneof![any, -2.0..2.0f64, (-9..9i32).prop_map(|x| f64::from(x) * 0.1), Just(1.0 + 1e-13)]
    }

    proptest! {
        #[test]
        fn keys_are_near_and_in_order(a in number(), steps in -600..600i64) {
            let b = f64::from_bits(a.to_bits().wrapping_add_signed(steps));
            prop_assume!(b.is_finite());
            for x in [a, b] {
                prop_assert!((key(x) - x).abs() <= CELL / 4.0 * x.abs() + 0.0);
                prop_assert_eq!(key(key(x)), key(x));
                prop_assert_eq!(key(-x), -key(x));
                prop_assert_eq!(key_of_sum((x, 0.0)), key(x));
            }
            prop_assert!(a > b || key(a) <= key(b));
        }

        #[test]
        fn what_may_be_equal_is_above_the_floor(a in number(), b in number(), relative in 0.0..1e-13f64, absolute in 0.0..1e-13f64) {
            for b in [b, a * (1.0 + relative), a - absolute, a * (1.0 - 1e-13)] {
                let tolerance = Tolerance::rounded(relative, absolute);
                let (order, doubtful) = tolerance.compare(b, a);
                if order.is_ge() || doubtful {
                    prop_assert!(b >= tolerance.floor(a), "{} {}", a, b);
                }
                prop_assert_eq!(tolerance.compare(a, b), (order.reverse(), doubtful));
            }
        }
    }

    #[test]
    fn halfway_numbers_are_in_doubt() {
        let half = 1.0 + 0.5f64.powi(36);
        let tolerance = Tolerance::rounded(1e-15, 0.0);
        assert_eq!(tolerance.compare(half, half), (Ordering::Equal, true));
        assert_eq!(tolerance.compare(1.0, 1.0 + 1e-15), (Ordering::Equal, false));
        assert_eq!(tolerance.compare(1.0, 1.0 + 1e-14), (Ordering::Equal, true));
        assert_eq!(tolerance.compare(1.0, 1.0 + 5e-11), (Ordering::Less, true));
        assert_eq!(tolerance.compare(half, 2.0), (Ordering::Less, false));
        assert_eq!(tolerance.compare_keys(half, half), (Ordering::Equal, true));
        assert_eq!(tolerance.compare_keys(1.0, 1.0 + 5e-11), (Ordering::Less, false));
        let given = tolerance.with_leaves(false).of_leaves();
        assert_eq!([given.compare(half, half), given.compare(0.0, 0.0)], [(Ordering::Equal, false); 2]);
        assert_eq!(given.compare(1.0, 1.0 + 5e-11), (Ordering::Less, true));
        assert_eq!(given.compare(half, half + f64::EPSILON), (Ordering::Equal, false));
        assert_eq!(given.compare(half, half - f64::EPSILON), (Ordering::Greater, false));
        let squares = tolerance.with_leaves(true).of_leaves();
        assert_eq!(squares.compare(half, half), (Ordering::Equal, false));
        assert_eq!(squares.compare(half, half + f64::EPSILON), (Ordering::Equal, true));
        assert_eq!([tolerance, Tolerance::EXACT].map(Tolerance::of_leaves), [tolerance, Tolerance::EXACT]);
        assert_eq!([key_of_sum((half, 1e-20)), key_of_sum((half, -1e-20))], [1.0 + 0.5f64.powi(35), 1.0]);
        assert_eq!(key_of_sum((-half, 1e-20)), -1.0);
        assert_eq!(key(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!([key(5e-324), key(1e-320)], [5e-324, 1e-320]);
    }
}
