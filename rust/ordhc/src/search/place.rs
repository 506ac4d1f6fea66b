//! The positions in a tree at which a new leaf can be inserted, and the outcomes of questions.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Beside the node: on the edge above the node, where a new parent of both is made.
    Above(u32),
    /// Under the node, as one more child.
    Under(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The new leaf belongs below or beside the first child.
    First,
    Second,
    /// The new leaf belongs outside the subtree of the pivot, or beside the pivot.
    Outside,
    /// The new leaf belongs below the pivot, but not near the first or the second child: it is one more child of the
    /// pivot, or belongs below or beside a third child.
    Neither,
}

impl Outcome {
    /// Returns the outcome of an answer. The question's leaves are the representatives of the first and the second
    /// child, and the new leaf, in this order. The answer is the index of the odd one out, or -1 for none.
    pub(crate) fn of_answer(answer: i8) -> Self {
        match answer {
            0 => Self::Second,
            1 => Self::First,
            2 => Self::Outside,
            _ => Self::Neither,
        }
    }
}
