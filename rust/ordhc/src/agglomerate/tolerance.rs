//! The tolerance within which two similarities count as equal.

use std::cmp::Ordering;

/// A tolerance: similarities count as equal if their keys are equal. A key is a rounded similarity.
///
/// Keys have 36 significant bits. The relative difference of two neighbouring keys is about 2e-11. Each similarity is
/// rounded by itself, so equality is transitive. A number with few binary digits equals its key, and small rounding
/// errors of computations do not change the key. Errors matter only if a similarity is nearly halfway between two keys.
/// It is then in doubt which similarity is larger, so the similarities are computed with more digits.
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
    /// The error of a similarity is at most `relative` times the similarity, plus `absolute`.
    relative: f64,
    absolute: f64,
    /// The relative error of similarities of two leaves, which are input values or squares of input values.
    of_leaves: f64,
    /// True if all similarities are input values or squares of input values. Identical floats then mean equal
    /// similarities. Otherwise, rounding errors can make the floats of different similarities identical.
    given: bool,
}

/// The number of low bits of a float that are rounded away in a key (rounded similarity).
const DROPPED: u32 = 17;
/// Numbers below this value are not rounded, because keys of subnormal numbers would have fewer than 36 significant
/// bits.
const SMALL: f64 = f64::MIN_POSITIVE * (1u64 << DROPPED) as f64;
/// An upper bound of the relative difference of two neighbouring keys (numbers of 36 significant bits).
pub(crate) const CELL: f64 = 1.0 / (1u64 << 34) as f64;

/// Returns the relative error of mean similarities after merging `n` leaves. Every merge rounds once or twice, and the
/// errors add up like a random walk.
pub(crate) fn rounding(n: usize) -> f64 {
    (2.0 + (n as f64).sqrt() / 4.0) * f64::EPSILON
}

impl Tolerance {
    /// The tolerance by which only equal numbers count as equal.
    pub const EXACT: Self = Self { exact: true, ..Self::GRID };

    /// The tolerance by which numbers with the same key (rounded number) count as equal. Errors of similarities are
    /// taken as zero.
    pub const GRID: Self = Self { exact: false, relative: 0.0, absolute: 0.0, of_leaves: f64::INFINITY, given: false };

    pub(crate) fn rounded(relative: f64, absolute: f64) -> Self {
        Self { relative, absolute, ..Self::GRID }
    }

    pub(crate) fn with_leaves(self, squared: bool) -> Self {
        Self { of_leaves: if squared { f64::EPSILON } else { 0.0 }, ..self }
    }

    /// Returns the tolerance for similarities of two leaves. If two similarities of leaves are identical floats, they
    /// are equal, because they are input values without rounding errors. Squares are treated alike, because numbers
    /// whose squares round to the same float differ by no more than rounding.
    pub(crate) fn of_leaves(self) -> Self {
        match self.exact || self.has_no_errors() || self.of_leaves > self.relative {
            true => self,
            false => Self { given: true, ..self },
        }
    }

    /// Returns the key of a similarity: the rounded similarity that is compared instead.
    #[inline(always)]
    pub fn key(self, x: f64) -> f64 {
        if self.exact { x } else { key(x) }
    }

    /// Returns a limit. Every similarity below this limit certainly counts as smaller than `best`.
    #[inline(always)]
    pub(crate) fn floor(self, best: f64) -> f64 {
        if self.exact || best == f64::NEG_INFINITY {
            best
        } else {
            best - (2.0 * CELL * best.abs() + 3.0 * self.error(best) + f64::MIN_POSITIVE * CELL)
        }
    }

    /// Returns `x` if any two similarities that were computed as `x` are certainly tied. Returns NaN, which equals no
    /// similarity, if rounding errors may hide that they are not tied.
    pub(crate) fn certain(self, x: f64) -> f64 {
        if self.compare(x, x).1 { f64::NAN } else { x }
    }

    /// Returns the largest computed value whose exact value may be zero.
    pub(crate) fn zero(self) -> f64 {
        self.absolute
    }

    #[inline(always)]
    fn error(self, x: f64) -> f64 {
        self.relative * x.abs() + self.absolute
    }

    #[inline(always)]
    pub(crate) fn among(self, leaves: bool) -> Self {
        if leaves { self.of_leaves() } else { self }
    }

    /// Returns the smallest and the largest key (rounded similarity) that the similarity `x` may have, given its error.
    pub(crate) fn ends(self, x: f64) -> [f64; 2] {
        if self.exact { [x; 2] } else { [key(x - self.error(x)), key(x + self.error(x))] }
    }

    pub(crate) fn are_apart(self, a: f64, b: f64) -> bool {
        (a - b).abs() > self.error(a) + self.error(b)
    }

    fn has_no_errors(self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0
    }

    /// Compares two similarities. Also returns true if the result is in doubt: rounding errors could change the result,
    /// or the similarities are nearly but not exactly equal.
    pub(crate) fn compare(self, a: f64, b: f64) -> (Ordering, bool) {
        let (order, doubtful) = self.compare_keys(a, b);
        if doubtful || self.exact || self.has_no_errors() || !a.is_finite() || !b.is_finite() {
            return (order, doubtful);
        }
        let near = a.abs().max(b.abs()) * CELL + self.error(a) + self.error(b);
        // If similarities are nearly but not exactly equal, the order in which reciprocal pairs merge can change the
        // tree.
        let unequal = self.are_apart(a, b) || self.given && order.is_ne();
        (order, unequal && (a - b).abs() <= near)
    }

    /// Compares the keys (rounded values) of two similarities. Also returns true if rounding errors could change the
    /// result. For sorting merges that are already computed.
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

/// Returns the float with 36 significant bits nearest to `x`.
#[inline(always)]
pub(crate) fn key(x: f64) -> f64 {
    const HALF: u64 = 1 << (DROPPED - 1);
    if x.abs() < SMALL { x } else { f64::from_bits((x.to_bits() + HALF) & !(2 * HALF - 1)) }
}

/// Returns `hi + lo`, rounded to 36 significant bits like [`key`]. `hi` is the float nearest to the sum.
pub(crate) fn key_of_sum((hi, lo): (f64, f64)) -> f64 {
    const HALF: u64 = 1 << (DROPPED - 1);
    let halfway = hi.abs() >= SMALL && hi.to_bits() & (2 * HALF - 1) == HALF;
    // If `hi` is halfway between two keys, `lo` decides. `key` rounds such a number away from zero.
    if halfway && lo * hi.signum() < 0.0 { f64::from_bits(hi.to_bits() - HALF) } else { key(hi) }
}

/// Returns true if two ranges of keys (rounded numbers) overlap, unless both consist of the same single key.
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
        assert_eq!(given.compare(half, half - f64::EPSILON), (Ordering::Greater, true));
        assert_eq!(given.compare_keys(half, half - f64::EPSILON), (Ordering::Greater, false));
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
