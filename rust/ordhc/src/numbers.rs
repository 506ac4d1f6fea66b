//! The number types of matrices and counts.

pub(crate) trait Number: Copy + Sync + PartialEq {
    fn float(self) -> f64;

    /// Returns the values if they are `f64`, and `None` otherwise.
    fn as_floats(_: &[Self]) -> Option<&[f64]> {
        None
    }
}

macro_rules! number {
    ($($type:ty)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn float(self) -> f64 {
                self as f64
            }
        }
    )*};
}

number!(f32 i64 i32 i16 usize);

impl Number for f64 {
    #[inline(always)]
    fn float(self) -> f64 {
        self
    }

    fn as_floats(values: &[Self]) -> Option<&[f64]> {
        Some(values)
    }
}

pub(crate) trait Held: Number + PartialOrd + Send + bytemuck::Pod {
    const ZERO: Self;

    fn of(x: f64) -> Self;
}

macro_rules! held {
    ($($type:ty)*) => {$(
        impl Held for $type {
            const ZERO: Self = 0.0;

            #[inline(always)]
            fn of(x: f64) -> Self {
                x as Self
            }
        }
    )*};
}

held!(f64 f32);

/// A number type in which similarities are accumulated.
pub trait Cell: Copy + Default + Send + Sync + PartialEq + std::ops::AddAssign + std::ops::SubAssign {
    /// The number 1: the weight of an unweighted comparison.
    const ONE: Self;
    /// The largest number of unweighted comparisons that can be counted without overflow or rounding.
    const MOST: u64;
    /// Converts a weight. Returns `None` for integer types, which do not support weights.
    fn from_weight(weight: f64) -> Option<Self>;
    /// Returns the value as a float. The conversion is exact if [`adds`](crate::similarity::adds)
    /// computed the value from unweighted comparisons.
    fn to_f64(self) -> f64;
}

macro_rules! cell {
    ($type:ty, $most:expr, $weight:expr) => {
        impl Cell for $type {
            const ONE: Self = 1 as Self;
            const MOST: u64 = $most;
            #[inline]
            fn from_weight(weight: f64) -> Option<Self> {
                let convert: fn(f64) -> Option<Self> = $weight;
                convert(weight)
            }
            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    };
}

cell!(i32, i32::MAX as u64, |_| None);
cell!(i64, i64::MAX as u64, |_| None);
cell!(f64, 1 << 53, Some);
cell!(f32, 1 << 24, |weight| Some(weight as f32));

/// Returns an integer that sorts as the float `x` does by `f64::total_cmp`.
#[inline(always)]
pub(crate) fn in_order(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn floats_stay_in_order(a: f64, b: f64) {
            for (a, b) in [(a, b), (a, -a), (0.0, -0.0), (a, f64::NEG_INFINITY)] {
                prop_assert_eq!(in_order(a).cmp(&in_order(b)), a.total_cmp(&b));
            }
        }
    }
}
