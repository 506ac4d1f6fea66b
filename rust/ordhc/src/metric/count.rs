//! Checks of numbers of leaves, and numbers of pairs and triples.

use crate::error::{Error, Result};

/// Returns an error unless two inputs have the same number of leaves. `what` are the words before the numbers in the
/// message, such as "the tree has".
pub(crate) fn same_leaves(what: [&str; 2], n: [usize; 2]) -> Result<()> {
    if n[0] == n[1] {
        return Ok(());
    }
    Err(Error::Argument(format!("{} {} leaves, {} {}", what[0], n[0], what[1], n[1])))
}

pub(super) fn same_leaves_of_trees(a: usize, b: usize) -> Result<()> {
    same_leaves(["the first tree has", "the second tree has"], [a, b])
}

pub(super) fn two(x: u64) -> u64 {
    x * x.saturating_sub(1) / 2
}

pub(super) fn three(x: u64) -> u64 {
    (u128::from(x) * u128::from(x.saturating_sub(1)) * u128::from(x.saturating_sub(2)) / 6) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials() {
        for x in 0..20u64 {
            assert_eq!(two(x), (0..x).sum::<u64>());
            assert_eq!(three(x), (0..x).map(two).sum::<u64>());
        }
        assert_eq!(three(1 << 21), 1_537_226_473_786_572_800);
    }
}
