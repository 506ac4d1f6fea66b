//! The error type of the crate.

use std::fmt;

use crate::numbers::Number;

/// An error, with the invalid value, its position, and the limit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that is not one of the known names.
    #[error("unknown {kind} `{given}`; there are {}", known.join(", "))]
    UnknownName {
        /// The kind of name, for example `linkage`.
        kind: &'static str,
        /// The name that was given.
        given: String,
        /// All known names.
        known: &'static [&'static str],
    },
    /// A number that is too small, too large or NaN.
    #[error("{what} = {value} is outside {range}")]
    OutOfRange {
        /// The name of the number, for example `n_leaves`.
        what: &'static str,
        /// The number itself.
        value: f64,
        /// The range of valid numbers, for example `1..=5`.
        range: String,
    },
    /// A wrong number of values.
    #[error("{found} {what} for {expected} {of}")]
    Length {
        /// The name of the values, for example `weights`.
        what: &'static str,
        /// The number of values found.
        found: usize,
        /// The items that need one value each, for example `comparisons`.
        of: &'static str,
        /// The number of values expected.
        expected: usize,
    },
    /// An invalid row of comparisons or of a sparse matrix.
    #[error("row {row}: {reason}")]
    Row {
        /// The row, counted from 0.
        row: usize,
        /// The leaf ids in the row, which may be invalid.
        leaves: Vec<i64>,
        /// The problem.
        reason: String,
    },
    /// An invalid line of text (a table, a Newick tree).
    #[error("line {line}: {reason}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// The problem, with the value.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("{path}: {reason}")]
    File {
        /// The path as given.
        path: String,
        /// The message of the operating system.
        reason: String,
    },
    /// Leaves, pairs or triplets that violate a condition. [`Error::named`] returns the message with the leaves' names.
    #[error("{}", self.named(|leaf| leaf.to_string()))]
    Leaves {
        /// The part of the message before the list of leaves.
        before: String,
        /// The leaves, pairs or triplets that violate the condition.
        leaves: Vec<Vec<usize>>,
        /// The part of the message after the list of leaves.
        after: String,
    },
    /// Two values of a matrix that should be equal.
    #[error(
        "the matrix is not symmetric: [{i}, {j}] is {value} but [{j}, {i}] is {other} (relative difference at most {tolerance:e})"
    )]
    Asymmetric {
        /// The first leaf.
        i: usize,
        /// The second leaf.
        j: usize,
        /// The value at (i, j).
        value: f64,
        /// The value at (j, i).
        other: f64,
        /// The largest allowed difference, relative to the larger value.
        tolerance: f64,
    },
    /// A value that is NaN, infinite or otherwise invalid, with its position.
    #[error("{what} at {place} is {value}: {limit}")]
    BadValue {
        /// The name of the value, for example `similarity`.
        what: &'static str,
        /// The position of the value.
        place: Position,
        /// The value itself.
        value: f64,
        /// The allowed values.
        limit: &'static str,
    },
    /// An answer that a learner rejects.
    #[error("question {id}: {reason}")]
    Question {
        /// The id of the question.
        id: u64,
        /// The problem.
        reason: String,
    },
    /// A formula that cannot be parsed.
    #[error("formula `{formula}`: {reason}")]
    Formula {
        /// The formula as given.
        formula: String,
        /// The problem.
        reason: String,
    },
    /// An impossible combination of arguments, or data for which there is no result.
    #[error("{0}")]
    Argument(String),
    /// The computation needs more memory than is available.
    #[error("{what} needs {bytes} bytes ({gib:.1} GiB), more than can be allocated", gib = *bytes as f64 / (1u64 << 30) as f64)]
    OutOfMemory {
        /// The purpose of the memory.
        what: &'static str,
        /// The number of bytes needed.
        bytes: u64,
    },
    /// The caller cancelled the computation.
    #[error("interrupted")]
    Interrupted,
}

/// The position of an invalid value: in a matrix, among the leaves or merges, or among the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Position {
    /// A value that belongs to one leaf.
    Leaf(usize),
    /// A value that belongs to two leaves, or to a leaf and itself.
    Pair(usize, usize),
    /// A value that belongs to two leaves, in a condensed matrix.
    Condensed {
        /// The index of the value in the condensed matrix.
        at: usize,
        /// The first leaf.
        i: usize,
        /// The second leaf.
        j: usize,
    },
    /// A value that belongs to one merge, such as its height.
    Merge(usize),
    /// A coordinate of a leaf's vector.
    Coordinate {
        /// The leaf, which is the row index in the matrix of vectors.
        leaf: usize,
        /// The column index in the matrix of vectors.
        column: usize,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(leaf) => write!(out, "leaf {leaf}"),
            Self::Pair(i, j) => write!(out, "[{i}, {j}]"),
            Self::Condensed { at, i, j } => write!(out, "condensed position {at} (pair [{i}, {j}])"),
            Self::Merge(merge) => write!(out, "merge {merge}"),
            Self::Coordinate { leaf, column } => write!(out, "[{leaf}, {column}]"),
        }
    }
}

impl Error {
    /// Returns the row of the input that caused the error, counted from 0.
    #[must_use]
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Row { row, .. } | Self::BadValue { place: Position::Coordinate { leaf: row, .. }, .. } => Some(*row),
            _ => None,
        }
    }

    /// Returns the line of the text that caused the error, counted from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Line { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// Returns the leaves that caused the error. Each element of the result is a leaf, a pair, a triplet, or the leaves
    /// of an invalid row. The result is empty if the error is not about leaves.
    #[must_use]
    pub fn leaves(&self) -> Vec<Vec<i64>> {
        let of = |leaves: &[usize]| leaves.iter().map(|&leaf| leaf as i64).collect();
        match self {
            Self::Row { leaves, .. } if !leaves.is_empty() => vec![leaves.clone()],
            Self::Leaves { leaves, .. } => leaves.iter().map(|group| of(group)).collect(),
            Self::Asymmetric { i, j, .. } => vec![of(&[*i, *j])],
            Self::BadValue { place: Position::Leaf(leaf) | Position::Coordinate { leaf, .. }, .. } => {
                vec![of(&[*leaf])]
            }
            Self::BadValue { place: Position::Pair(i, j) | Position::Condensed { i, j, .. }, .. } => {
                vec![of(&[*i, *j])]
            }
            _ => Vec::new(),
        }
    }

    /// Returns the message without `row 3:` or `line 3:` at its beginning.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Row { reason, .. } | Self::Line { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }

    /// Returns the message of [`Error::Leaves`] with names of the leaves.
    ///
    /// ```
    /// use ordhc::{Triplets, tree::build};
    ///
    /// let names = ["ant", "bee", "cat"];
    /// let triplets = Triplets::new(vec![[0, 1, 2], [0, 2, 1]], None)?;
    /// let error = build(&triplets, None).unwrap_err();
    /// assert!(error.named(|leaf| names[leaf].to_string()).contains("(ant, bee, cat)"));
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    #[must_use]
    pub fn named(&self, name: impl Fn(usize) -> String) -> String {
        let Self::Leaves { before, leaves, after } = self else { return self.to_string() };
        let shown = |group: &Vec<usize>| match group[..] {
            [leaf] => name(leaf),
            _ => format!("({})", group.iter().map(|&leaf| name(leaf)).collect::<Vec<_>>().join(", ")),
        };
        let shown: Vec<String> = leaves.iter().map(shown).collect();
        let between = if shown.len() == 2 { " and " } else { ", " };
        format!("{before}{}{after}", shown.join(between))
    }

    pub(crate) fn changed_meanwhile() -> Self {
        Self::Argument("the values changed while they were read: another thread writes to them".into())
    }

    pub(crate) fn out_of_range(what: &'static str, value: impl Number, range: impl Into<String>) -> Self {
        Self::OutOfRange { what, value: value.float(), range: range.into() }
    }
}

pub(crate) fn check_n_leaves(n: usize) -> Result<()> {
    let most = i32::MAX as usize;
    if (1..=most).contains(&n) { Ok(()) } else { Err(Error::out_of_range("n_leaves", n, format!("1..={most}"))) }
}

pub(crate) fn check_len(
    what: &'static str,
    found: impl Into<Option<usize>>,
    of: &'static str,
    expected: usize,
) -> Result<()> {
    match found.into() {
        Some(found) if found != expected => Err(Error::Length { what, found, of, expected }),
        _ => Ok(()),
    }
}

pub(crate) fn check_positive(what: &'static str, value: u64) -> Result<()> {
    if value > 0 { Ok(()) } else { Err(Error::out_of_range(what, 0, "1..")) }
}

/// The result type of the crate.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_say_where() {
        let row = Error::Row { row: 3, leaves: vec![0, 1, 1], reason: "leaf 1 occurs twice".into() };
        assert_eq!((row.row(), row.line(), row.leaves()), (Some(3), None, vec![vec![0, 1, 1]]));
        assert_eq!(
            (row.to_string(), row.reason()),
            ("row 3: leaf 1 occurs twice".into(), "leaf 1 occurs twice".into())
        );
        let line = Error::Line { line: 7, reason: "no row".into() };
        assert_eq!((line.row(), line.line(), line.leaves()), (None, Some(7), vec![]));
        let place = Position::Condensed { at: 4, i: 1, j: 3 };
        let value = Error::BadValue { what: "the value", place, value: f64::NAN, limit: "it must be finite" };
        assert_eq!(value.leaves(), [[1, 3]]);
        assert_eq!(value.to_string(), "the value at condensed position 4 (pair [1, 3]) is NaN: it must be finite");
        let place = Position::Coordinate { leaf: 2, column: 0 };
        let value = Error::BadValue { what: "the coordinate", place, value: f64::NAN, limit: "it must be finite" };
        assert_eq!((value.row(), value.leaves()), (Some(2), vec![vec![2]]));
    }

    #[test]
    fn leaves_are_told_by_their_names() {
        let of = |leaves: Vec<Vec<usize>>| Error::Leaves { before: "about ".into(), leaves, after: ".".into() };
        let named = |error: &Error| error.named(|leaf| ["ant", "bee", "cat"][leaf].to_string());
        let pairs = of(vec![vec![0, 1], vec![1, 2]]);
        assert_eq!(pairs.to_string(), "about (0, 1) and (1, 2).");
        assert_eq!(named(&pairs), "about (ant, bee) and (bee, cat).");
        assert_eq!(named(&of(vec![vec![0], vec![2], vec![1]])), "about ant, cat, bee.");
        assert_eq!(named(&Error::Argument("plain".into())), "plain");
    }

    #[test]
    fn numbers_of_leaves_have_a_range() {
        assert!(check_n_leaves(1).is_ok() && check_n_leaves(i32::MAX as usize).is_ok());
        assert_eq!(check_n_leaves(0).unwrap_err().to_string(), "n_leaves = 0 is outside 1..=2147483647");
        assert!(check_n_leaves(1 << 31).is_err());
    }
}
