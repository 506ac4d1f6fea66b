//! Finds the columns of a table from its first row.

use super::delimited::{Cell, listed, shown, text_error};
use super::table::{Columns, TableOptions};
use crate::error::Result;

/// Words that occur in headers. If a first row has two of these words but no supported set of column names, the row is
/// an error.
const HEADER_WORDS: &str = "anchor near far head winner loser positive negative reference target probe odd \
    central closer further near_a near_b far_a far_b odd_one_out";

fn is_header_word(cell: &str) -> bool {
    HEADER_WORDS.split(' ').any(|word| word == cell)
}

/// If the names of all selected columns have this ending, their cells are names of leaves, even cells that look like
/// ids.
const LITERAL: &str = "_name";

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) leaves: Vec<usize>,
    pub(super) weight: Option<usize>,
    pub(super) labels: Vec<Option<usize>>,
    pub(super) width: usize,
    pub(super) has_header: bool,
    /// True if the first row may be an unknown header, although it is read as leaves. This is an error unless a word of
    /// the first row occurs again in a later row.
    pub(super) doubtful: bool,
    pub(super) literal: bool,
}

pub(super) fn plan(line: usize, first: &[Cell<'_>], options: &TableOptions) -> Result<Plan> {
    let header = Header::of(line, first);
    let width = first.len();
    let named = |leaves: Vec<usize>, literal: bool| {
        Ok(Plan {
            weight: header.weight(options, &leaves)?,
            labels: header.labels(options, &leaves)?,
            leaves,
            width,
            has_header: true,
            doubtful: false,
            literal,
        })
    };
    let bare = |leaves: Vec<usize>, doubtful: bool| {
        let labels = vec![None; options.labels.len()];
        Ok(Plan { leaves, weight: None, labels, width, has_header: false, doubtful, literal: false })
    };
    match &options.columns {
        Columns::Named(names) => {
            let mut leaves = Vec::with_capacity(names.len());
            for name in names {
                leaves.push(header.find(name)?.ok_or_else(|| header.missing(name))?);
            }
            let literal = names.iter().all(|name| name.to_lowercase().ends_with(LITERAL));
            named(leaves, literal)
        }
        Columns::Positions(positions) => {
            if let Some(at) = positions.iter().find(|&&at| at >= width) {
                let message = format!("there is no column {at}; the row has {width}, counted from 0");
                return Err(text_error(line, message));
            }
            let numeric = positions.iter().all(|&at| looks_whole(first[at].trimmed()));
            if !options.header.unwrap_or(!numeric) {
                return bare(positions.clone(), false);
            }
            header.check_order(positions, &options.known)?;
            named(positions.clone(), false)
        }
        Columns::Known => {
            if options.header != Some(false) {
                for literal in [false, true] {
                    for names in &options.known {
                        if let Some(leaves) = header.all(names, literal)? {
                            return named(leaves, literal);
                        }
                    }
                }
            }
            let k = options.known.first().map_or(3, Vec::len);
            let leaves: Vec<usize> = (0..k).collect();
            let words = header.cells.iter().filter(|cell| is_header_word(cell)).count();
            if options.header.is_none() && words > 1 {
                return Err(header.unknown(options, "looks like a header of other columns"));
            }
            if options.header == Some(true) && width >= k {
                header.check_order(&leaves, &options.known)?;
                return named(leaves, false);
            }
            if width != k {
                return Err(header.unknown(options, &format!("has {width} columns instead of {k}")));
            }
            let numeric = leaves.iter().all(|&at| looks_whole(first[at].trimmed()));
            bare(leaves, !numeric && options.header.is_none())
        }
        Columns::All => {
            let numeric = first.iter().all(|cell| looks_whole(cell.trimmed()));
            let known = is_header_word(&header.cells[0]);
            if !options.header.unwrap_or(known && !numeric) {
                return bare((0..width).collect(), !numeric && options.header.is_none());
            }
            let weight = header.weight(options, &[])?;
            let labels = header.labels(options, &[])?;
            let leaves = (0..width).filter(|at| Some(*at) != weight && !labels.contains(&Some(*at))).collect();
            Ok(Plan { leaves, weight, labels, width, has_header: true, doubtful: false, literal: false })
        }
    }
}

struct Header<'a, 'b> {
    line: usize,
    first: &'a [Cell<'b>],
    cells: Vec<String>,
}

impl<'a, 'b> Header<'a, 'b> {
    fn of(line: usize, first: &'a [Cell<'b>]) -> Self {
        let cells = first.iter().map(|cell| String::from_utf8_lossy(cell.trimmed()).to_lowercase()).collect();
        Self { line, first, cells }
    }

    /// Returns the index of the column with this name, ignoring case, or `None`. Among several matching columns,
    /// returns the only column whose name also has the same case, or else an error.
    fn find(&self, name: &str) -> Result<Option<usize>> {
        let exact = |at: &usize| self.first[*at].trimmed() == name.as_bytes();
        let lower = name.to_lowercase();
        let mut places: Vec<usize> = (0..self.cells.len()).filter(|&at| self.cells[at] == lower).collect();
        if places.len() > 1 && places.iter().filter(|at| exact(at)).count() == 1 {
            places.retain(exact);
        }
        if let [first, second, ..] = places[..] {
            let message = format!(
                "there are two columns `{}`, the {} and the {}; rename one of them",
                shown(name.as_bytes()),
                ordinal(first + 1),
                ordinal(second + 1)
            );
            return Err(text_error(self.line, message));
        }
        Ok(places.first().copied())
    }

    fn all(&self, names: &[String], literal: bool) -> Result<Option<Vec<usize>>> {
        let mut places = Vec::with_capacity(names.len());
        let mut twice = Ok(());
        for name in names {
            match self.find(&if literal { format!("{name}{LITERAL}") } else { name.clone() }) {
                Ok(Some(at)) => places.push(at),
                Ok(None) => return Ok(None),
                Err(error) => twice = Err(error),
            }
        }
        twice.map(|()| Some(places))
    }

    fn weight(&self, options: &TableOptions, leaves: &[usize]) -> Result<Option<usize>> {
        let mut found: Option<usize> = None;
        for name in &options.weight_columns {
            let Some(at) = self.find(name)?.filter(|at| !leaves.contains(at)) else { continue };
            if let Some(other) = found {
                let [one, two] = [other, at].map(|at| shown(self.first[at].trimmed()));
                let message = format!("both `{one}` and `{two}` may be the weights; say which");
                return Err(text_error(self.line, message));
            }
            found = Some(at);
        }
        Ok(found)
    }

    fn labels(&self, options: &TableOptions, leaves: &[usize]) -> Result<Vec<Option<usize>>> {
        let mut labels = Vec::with_capacity(options.labels.len());
        for names in &options.labels {
            let mut found = None;
            for name in names {
                if found.is_none() {
                    found = self.find(name)?.filter(|at| !leaves.contains(at));
                }
            }
            labels.push(found);
        }
        Ok(labels)
    }

    fn check_order(&self, leaves: &[usize], known: &[Vec<String>]) -> Result<()> {
        for names in known {
            for (role, &at) in leaves.iter().enumerate() {
                let Some(other) = names.iter().position(|name| *name == self.cells[at]) else { continue };
                if other != role && !known.iter().any(|names| names.get(role) == Some(&self.cells[at])) {
                    let message = format!(
                        "column {at} is named `{}`, but used as `{}`; select columns by name, or correct their order",
                        self.cells[at], names[role]
                    );
                    return Err(text_error(self.line, message));
                }
            }
        }
        Ok(())
    }

    fn listed(&self) -> String {
        listed(self.first.iter().map(|cell| cell.trimmed()))
    }

    fn missing(&self, name: &str) -> crate::Error {
        let message = format!("there is no column `{}`; the header has {}", shown(name.as_bytes()), self.listed());
        text_error(self.line, message)
    }

    fn unknown(&self, options: &TableOptions, what: &str) -> crate::Error {
        let known = options.known.iter().take(4).map(|names| names.join(",")).collect::<Vec<_>>().join(" or ");
        let row = self.listed();
        let hint = if self.cells[0].starts_with('#') && options.comment.is_none() {
            " (lines with `#` are comments only if you set the comment character)"
        } else if options.known.first().is_some_and(|names| names.len() == 3) && self.cells.len() == 4 {
            " (rows i,j,k,l are quadruplets)"
        } else if self.cells.len() == 1 {
            " (is the delimiter right?)"
        } else {
            ""
        };
        let message = format!("the first row ({row}) {what}{hint}; give a header with {known}, or name the columns");
        text_error(self.line, message)
    }
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

pub(super) fn looks_whole(cell: &[u8]) -> bool {
    let digits = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
        || (cell.contains(&b'.') && std::str::from_utf8(cell).is_ok_and(|text| text.parse::<f64>().is_ok()))
}
