//! The comparison of two pairs, and its answer.

use super::Pair;

#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    /// 1 if the first pair is more similar, -1 if the second one is, 0 if neither.
    pub(super) sign: i8,
    /// True if the first pair counts as more similar. If neither pair is more similar, the
    /// lexicographically smaller pair counts as more similar.
    pub(super) is_first: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Compared<P> {
    purpose: P,
    is_swapped: bool,
}

impl<P> Compared<P> {
    pub(super) fn question([first, second]: [Pair; 2], purpose: P) -> ([u32; 4], Self) {
        let is_swapped = second < first;
        let ([i, j], [k, l]) = if is_swapped { (second, first) } else { (first, second) };
        ([i, j, k, l], Self { purpose, is_swapped })
    }

    pub(super) fn answered(self, answer: i8) -> (P, Verdict) {
        let sign = if self.is_swapped { -answer } else { answer };
        let is_first = if sign == 0 { !self.is_swapped } else { sign > 0 };
        (self.purpose, Verdict { sign, is_first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_about_the_pairs_as_they_were_given() {
        for (pairs, is_swapped) in [([[0, 3], [1, 2]], false), ([[1, 2], [0, 3]], true)] {
            for answer in [-1, 0, 1] {
                let (leaves, compared) = Compared::question(pairs, 'p');
                assert_eq!(leaves, [0, 3, 1, 2]);
                let (purpose, verdict) = compared.answered(answer);
                let first_of_question = answer >= 0;
                assert_eq!((purpose, verdict.is_first), ('p', first_of_question != is_swapped));
                assert_eq!(verdict.sign, if is_swapped { -answer } else { answer });
            }
        }
    }
}
