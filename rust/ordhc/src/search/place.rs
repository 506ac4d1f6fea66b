//! The places for a new leaf, and the outcomes of questions.

/// A place in a tree for a new leaf, named by a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Beside the node, below a new parent of both.
    Above(u32),
    /// Below the node, as one more child.
    Under(u32),
}

/// The outcome of a question about a new leaf and two children of a pivot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Below the first child, or right above it.
    First,
    /// Below the second child, or right above it.
    Second,
    /// Outside the pivot, or right above it.
    Outside,
    /// Below the pivot, but with neither child.
    Neither,
}

impl Outcome {
    /// Returns the outcome of a question whose leaves are the two representatives and the new leaf, in this order. The
    /// answer is the position of the odd one out, or -1 for none.
    pub(crate) fn of_answer(answer: i8) -> Self {
        match answer {
            0 => Self::Second,
            1 => Self::First,
            2 => Self::Outside,
            _ => Self::Neither,
        }
    }
}
