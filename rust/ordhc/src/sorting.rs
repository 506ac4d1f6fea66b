//! In-place sorting that a monitor can cancel, and sorting that is compiled only once for each type of values.

use std::cmp::Ordering;

use crate::error::Result;
use crate::monitor::Monitor;

/// The largest number of values that one call of the standard library's sort receives. Larger slices are first split at
/// their median. A call takes a few milliseconds, and cancellation is checked before each call.
const SMALL: usize = 1 << 17;

/// [`order_by`] sorts at most this number of values by insertion.
const FEW: usize = 16;

/// Sorts `values` by the function `compare`, called through a pointer. The sort is stable.
///
/// The standard library's sort is compiled for each type and each closure, into 6 KB of code. This function sorts
/// indices instead, so that this code exists only once. Use this function where sorting is a small part of the
/// computation.
pub(crate) fn order_by<T: Copy>(values: &mut [T], compare: &dyn Fn(T, T) -> Ordering) {
    if values.len() <= FEW {
        for end in 1..values.len() {
            for at in (1..=end).rev() {
                if compare(values[at - 1], values[at]).is_le() {
                    break;
                }
                values.swap(at - 1, at);
            }
        }
        return;
    }
    let order = order_of(values.len(), &|a, b| compare(values[a], values[b]));
    let sorted: Vec<T> = order.into_iter().map(|at| values[at]).collect();
    values.copy_from_slice(&sorted);
}

/// Returns the indices `0..n` in the order given by `compare`.
pub(crate) fn order_of(n: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

pub(crate) fn order_by_key<T: Copy, U: Ord>(values: &mut [T], key: impl Fn(T) -> U) {
    order_by(values, &|a, b| key(a).cmp(&key(b)));
}

/// Returns the number that has index `n` in descending order. Reorders `values`.
pub(crate) fn nth_largest(values: &mut [f64], n: usize) -> f64 {
    *values.select_nth_unstable_by(n, |a, b| b.total_cmp(a)).1
}

/// Sorts `values` in the order of their type (`Ord`). The sort is not stable.
pub(crate) fn sort<T: Ord>(values: &mut [T], monitor: &Monitor) -> Result<()> {
    by_parts(values, T::cmp, SMALL, monitor)
}

pub(crate) fn sort_by_key<T, U: Ord>(values: &mut [T], key: impl Fn(&T) -> U + Copy, monitor: &Monitor) -> Result<()> {
    by_parts(values, move |a, b| key(a).cmp(&key(b)), SMALL, monitor)
}

/// Sorts `values` by the function `compare`. The sort is not stable.
pub(crate) fn sort_by<T>(
    values: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Copy,
    monitor: &Monitor,
) -> Result<()> {
    by_parts(values, compare, SMALL, monitor)
}

fn by_parts<T>(
    values: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Copy,
    small: usize,
    monitor: &Monitor,
) -> Result<()> {
    let mut open = vec![values];
    while let Some(part) = open.pop() {
        monitor.check()?;
        if part.len() <= small {
            part.sort_unstable_by(compare);
        } else {
            let (low, _, high) = part.select_nth_unstable_by(part.len() / 2, compare);
            open.extend([low, high]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Error;

    proptest! {
        #[test]
        fn ordered_as_by_the_standard_library(values in prop::collection::vec((0..9u8, 0..99u8), 0..60)) {
            let (mut found, mut expected) = (values.clone(), values);
            order_by_key(&mut found, |value| value.0);
            expected.sort_by_key(|value| value.0);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn sorted_as_by_the_standard_library(values in prop::collection::vec(0..50u8, 0..200), small in 1..20usize) {
            let (mut found, mut expected) = (values.clone(), values);
            by_parts(&mut found, u8::cmp, small, &Monitor::new()).unwrap();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn interrupted() {
        let monitor = Monitor::new();
        monitor.cancel();
        assert_eq!(sort_by_key(&mut [2, 1], |&x| x, &monitor), Err(Error::Interrupted));
    }
}
