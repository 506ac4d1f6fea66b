//! Where a new leaf may belong, and what a question says about it.

/// A place in a tree for a new leaf, named by a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Beside the node, under a new parent of both.
    Above(u32),
    /// Under the node, as one more child of it.
    Under(u32),
}

/// What an answer says about the place of a new leaf, asked with two children of a pivot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Under the first child, or right above it.
    First,
    /// Under the second child, or right above it.
    Second,
    /// Outside the pivot, or right above it.
    Outside,
    /// Under the pivot, but with neither child.
    Neither,
}

impl Outcome {
    /// Of a question whose leaves are the two representatives and the new leaf, in this order; the
    /// answer says which one is the odd one out, -1 for none.
    pub(crate) fn of_answer(answer: i8) -> Self {
        match answer {
            0 => Self::Second,
            1 => Self::First,
            2 => Self::Outside,
            _ => Self::Neither,
        }
    }
}
