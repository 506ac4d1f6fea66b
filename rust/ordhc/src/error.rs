//! The one error type of the crate.

/// What can go wrong, with the offending value, where it stood, and the limit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A leaf id below 0 or not below the number of leaves.
    #[error("row {row}: leaf {leaf} is outside 0..={last} (n_leaves = {n_leaves})", last = *n_leaves as i64 - 1)]
    LeafOutOfRange {
        /// The row of the comparison, from 0.
        row: usize,
        /// The offending id.
        leaf: i64,
        /// The number of leaves.
        n_leaves: usize,
    },
    /// A comparison that compares a leaf with itself or a pair with itself.
    #[error("row {row}: {message}")]
    Degenerate {
        /// The row of the comparison, from 0.
        row: usize,
        /// What is repeated.
        message: String,
    },
    /// A value that is NaN, infinite or otherwise not allowed, with its place.
    #[error("{what} at {place} is {value}: {limit}")]
    BadValue {
        /// What the value is, for example `similarity`.
        what: &'static str,
        /// Where it stood, for example `[2, 5]`.
        place: String,
        /// The value itself.
        value: f64,
        /// What would be allowed.
        limit: &'static str,
    },
    /// Sizes that do not fit together.
    #[error("{0}")]
    Shape(String),
    /// An argument outside its range, an unknown name, an impossible combination.
    #[error("{0}")]
    Argument(String),
    /// Text (a table, a Newick tree, a formula) that cannot be read.
    #[error("line {line}: {message}")]
    Text {
        /// The line, from 1.
        line: usize,
        /// What is wrong, with the value.
        message: String,
    },
    /// The work needs more memory than can be had.
    #[error("{what} needs {bytes} bytes ({gib:.1} GiB), more than can be allocated", gib = *bytes as f64 / (1u64 << 30) as f64)]
    OutOfMemory {
        /// What was to be allocated.
        what: &'static str,
        /// How many bytes it takes.
        bytes: u64,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;
