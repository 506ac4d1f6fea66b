//! The positions for a new leaf, and the outcomes of questions.

/// A position for a new leaf, relative to a node of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Beside the node, below a new parent of both.
    Above(u32),
    /// Below the node, as one more child.
    Under(u32),
}

/// The outcome of a question about a new leaf and two children of a node (the pivot): where the new leaf belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Below the first child, or beside this child.
    First,
    Second,
    /// Outside the pivot, or beside the pivot.
    Outside,
    /// Below the pivot, but beside neither child and not below them.
    Neither,
}

impl Outcome {
    /// Returns the outcome of a question whose leaves are the representatives of the first and the second child and the
    /// new leaf, in this order. The answer is the position of the odd one out, or -1 if no two of the three leaves are
    /// closer than the others.
    pub(crate) fn of_answer(answer: i8) -> Self {
        match answer {
            0 => Self::Second,
            1 => Self::First,
            2 => Self::Outside,
            _ => Self::Neither,
        }
    }
}
