//! Comparisons from delimited text.

use std::collections::HashMap;

use super::delimited::{Cell, Delimiter, Rows, checked_utf8, listed, shown, sniff, text_error};
use super::header::{Plan, looks_whole, plan};
use crate::error::{Error, Result};
use crate::memory::{push, room};
use crate::monitor::Monitor;

/// Selects the columns that contain leaves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Columns {
    /// The first set of column names in [`TableOptions::known`] that the header contains. Without a header, all columns
    /// in order.
    #[default]
    Known,
    /// The columns with these names in the header.
    Named(Vec<String>),
    /// The columns with these indices, counted from 0.
    Positions(Vec<usize>),
    /// All columns except the columns of weights and labels.
    All,
}

/// Options of [`parse_table`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableOptions {
    /// The columns that contain leaves.
    pub columns: Columns,
    /// The known sets of names for the columns of leaves. The first set that the header contains is used.
    pub known: Vec<Vec<String>>,
    /// The possible names of the column of weights. This column may be missing.
    pub weight_columns: Vec<String>,
    /// The possible names of each column that is read as text. Any of these columns may be missing.
    pub labels: Vec<Vec<String>>,
    /// The delimiter. `None` detects it, see [`sniff`].
    pub delimiter: Option<Delimiter>,
    /// Lines that begin with this byte are skipped.
    pub comment: Option<u8>,
    /// Whether the first row is a header. `None` detects it.
    pub header: Option<bool>,
    /// True if leaves are given by ids, and false if they are given by names. `None` decides by the first row without
    /// missing leaves. Set this option if `data` is a later section of a longer text.
    pub ids: Option<bool>,
    /// Words that mean a missing leaf. A blank cell always means a missing leaf.
    pub missing: Vec<String>,
    /// True if rows that cannot be read are skipped and listed. Otherwise such a row is an error.
    pub skip_bad: bool,
}

/// A column of text. Each cell is stored as an integer code: the index of its text in `texts`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// The name of the column.
    pub column: String,
    /// For each row: the index of its text in `texts`.
    pub codes: Vec<i32>,
    /// The distinct texts, in order of first appearance.
    pub texts: Vec<String>,
}

/// The rows that [`parse_table`] reads. Each leaf is given by its id, or by the index of its name in `names`.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The leaves, row by row.
    pub ids: Vec<i64>,
    /// The number of leaves in a row.
    pub width: usize,
    /// The names of the leaves, in order of first appearance: `names[id]` is the name of leaf `id`. `None` if the text
    /// has ids instead of names.
    pub names: Option<Vec<String>>,
    /// The weight of each row, or `None` if there is no column of weights.
    pub weights: Option<Vec<f64>>,
    /// The columns of text in [`TableOptions::labels`]. `None` for a column that the text does not have.
    pub labels: Vec<Option<Labels>>,
    /// True if the first row is a header.
    pub has_header: bool,
    /// The line of each row, counted from 1.
    pub lines: Vec<u32>,
    /// The skipped rows in which a leaf is missing: the line, and the text in the cell of the leaf, such as "NA". The
    /// text of a blank cell is empty.
    pub missing: Vec<(u32, String)>,
    /// The skipped rows that cannot be read: the line, and the reason.
    pub bad: Vec<(u32, String)>,
}

/// Reads rows of leaves (ids or names), weights and labels from delimited text.
///
/// Blank lines are skipped. Cells may be quoted. All rows must have as many columns as the first row. If the leaves of
/// the first row without missing leaves are whole numbers, all leaves are ids, and otherwise names. If the columns are
/// found by names that all end in `_name`, all cells are names, and quoted cells keep their outer blanks.
///
/// # Errors
/// Text that isn't UTF-8; a wrong number of columns; an invalid id or weight; an unknown header; each with its line.
/// Not enough memory.
///
/// ```
/// use ordhc::bindings::{TableOptions, parse_table};
///
/// let names = |names: [&str; 3]| names.map(String::from).to_vec();
/// let options = TableOptions {
///     known: vec![names(["anchor", "near", "far"]), names(["head", "winner", "loser"])],
///     missing: vec!["NA".into()],
///     ..TableOptions::default()
/// };
/// let table = parse_table(b"head,winner,loser\n0,2,1\n2,0,NA\n", &options, None)?;
/// assert_eq!(table.ids, [0, 1, 2].map(|at| [0, 2, 1][at]));
/// assert_eq!(table.missing, [(3, "NA".to_string())]);
/// let error = parse_table(b"0,1,2\n0,1\n", &options, None).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: 2 columns instead of 3; the row may be cut short");
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn parse_table(data: &[u8], options: &TableOptions, monitor: Option<&Monitor>) -> Result<Table> {
    watched!(monitor);
    monitor.start(data.len() as u64);
    let data = checked_utf8(data)?;
    let delimiter = options.delimiter.unwrap_or_else(|| sniff(data, options.comment));
    let mut rows = Rows::new(data, delimiter, options.comment);
    let mut cells = Vec::new();
    let Some(first_line) = rows.read(&mut cells)? else {
        return Err(text_error(1, "there are no rows"));
    };
    let plan = plan(first_line, &cells, options)?;
    let header = cells.clone();
    let mut line = first_line;
    if plan.has_header {
        line = rows.read(&mut cells)?.ok_or_else(|| text_error(first_line, "there is a header but no rows"))?;
    }
    let mut reader = Reader::new(data, plan, options, &header)?;
    let mut reported = 0;
    loop {
        if let Err(error) = reader.row(line, &cells) {
            match error {
                Error::Line { line, reason } if options.skip_bad => {
                    push("a table", &mut reader.table.bad, (line as u32, reason))?;
                }
                error => return Err(error),
            }
        }
        if rows.position() - reported > BLOCK {
            monitor.advance((rows.position() - reported) as u64)?;
            reported = rows.position();
        }
        match rows.read(&mut cells)? {
            Some(next) => line = next,
            None => break,
        }
    }
    reader.finish(first_line)
}

const BLOCK: usize = 1 << 18;

struct Reader<'a> {
    plan: Plan,
    options: &'a TableOptions,
    header: &'a [Cell<'a>],
    table: Table,
    /// True if leaves are given by ids, false if by names. `None` before the first row without missing leaves.
    numeric: Option<bool>,
    names: Coder,
    labels: Vec<Option<(Coder, Labels)>>,
    leaves: Vec<i64>,
}

struct Coder {
    codes: HashMap<Vec<u8>, i64>,
    texts: Vec<String>,
    /// For each hash ([`slot`]): the code of the last text with this hash. Reading this cache is faster than reading
    /// `codes`.
    recent: Vec<usize>,
}

const SLOTS: usize = 1 << 12;

fn slot(text: &[u8]) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = text.as_chunks::<8>();
    let rest = rest.iter().fold(text.len() as u64, |sum, &byte| sum << 8 | u64::from(byte));
    let mixed = words
        .iter()
        .fold(rest.wrapping_mul(ODD), |sum, word| (sum.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(ODD));
    (mixed >> 40) as usize % SLOTS
}

impl Coder {
    fn new() -> Self {
        Self { codes: HashMap::new(), texts: Vec::new(), recent: vec![usize::MAX; SLOTS] }
    }

    fn code(&mut self, text: &[u8]) -> Result<i64> {
        let slot = slot(text);
        if let Some(known) = self.texts.get(self.recent[slot])
            && known.as_bytes() == text
        {
            return Ok(self.recent[slot] as i64);
        }
        let code = self.number(text)?;
        self.recent[slot] = code as usize;
        Ok(code)
    }

    fn number(&mut self, text: &[u8]) -> Result<i64> {
        if let Some(&code) = self.codes.get(text) {
            return Ok(code);
        }
        let code = self.texts.len() as i64;
        let mut key = room("names", text.len())?;
        key.extend_from_slice(text);
        let mut copy = room("names", text.len())?;
        copy.extend_from_slice(text);
        let copy = String::from_utf8(copy).map_err(|_| text_error(0, "not UTF-8 text"))?;
        let bytes = self.codes.len() as u64 * 64;
        self.codes.try_reserve(1).map_err(|_| Error::OutOfMemory { what: "names", bytes })?;
        push("a table", &mut self.texts, copy)?;
        self.codes.insert(key, code);
        Ok(code)
    }
}

impl<'a> Reader<'a> {
    fn new(data: &[u8], plan: Plan, options: &'a TableOptions, header: &'a [Cell<'a>]) -> Result<Self> {
        // An upper bound of the number of rows: each row but the last needs a line end, and each column needs at least
        // one byte (a delimiter or the line end).
        let pairs = if data.contains(&b'\r') { data.windows(2).filter(|two| two == b"\r\n").count() } else { 0 };
        let most = data.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() - pairs + 1;
        let most = most.min(data.len() / plan.width.max(1) + 1);
        let width = plan.leaves.len();
        let mut labels = Vec::new();
        for at in &plan.labels {
            labels.push(match at {
                Some(at) => {
                    let column = String::from_utf8_lossy(header[*at].trimmed()).into_owned();
                    let codes = room("labels", most)?;
                    Some((Coder::new(), Labels { column, codes, texts: Vec::new() }))
                }
                None => None,
            });
        }
        let table = Table {
            ids: room("a table of leaves", most.saturating_mul(width))?,
            width,
            names: None,
            weights: plan.weight.map(|_| room("weights", most)).transpose()?,
            labels: Vec::new(),
            has_header: plan.has_header,
            lines: room("the lines of a table", most)?,
            missing: Vec::new(),
            bad: Vec::new(),
        };
        let numeric = if plan.literal { Some(false) } else { options.ids };
        Ok(Self { plan, options, header, table, numeric, names: Coder::new(), labels, leaves: Vec::new() })
    }

    /// Reads one row. A row with an error adds no entry to the table.
    fn row(&mut self, line: usize, cells: &[Cell<'_>]) -> Result<()> {
        if cells.len() != self.plan.width {
            let (found, width) = (cells.len(), self.plan.width);
            return Err(text_error(line, format!("{found} columns instead of {width}; the row may be cut short")));
        }
        for &at in &self.plan.leaves {
            let cell = cells[at].trimmed();
            let literal = self.plan.literal && cells[at].quoted;
            if !literal && (cell.is_empty() || self.options.missing.iter().any(|word| word.as_bytes() == cell)) {
                return push("a table", &mut self.table.missing, (line as u32, shown(cell)));
            }
        }
        let leaves = &self.plan.leaves;
        let numeric = *self.numeric.get_or_insert_with(|| leaves.iter().all(|&at| looks_whole(cells[at].trimmed())));
        let runs_over = |at: &usize| cells[*at].quoted && cells[*at].text.contains(&b'\n');
        if !numeric && !self.plan.literal && leaves.iter().any(runs_over) {
            return Err(text_error(line, "a quoted name runs over the end of the line; a quote may be missing"));
        }
        let weight = self.plan.weight.map(|at| self.weight(line, at, cells)).transpose()?;
        self.leaves.clear();
        for &at in &self.plan.leaves {
            let cell = &cells[at];
            let leaf = if numeric {
                parse_id(cell.trimmed()).ok_or_else(|| text_error(line, not_an_id(cell.trimmed())))?
            } else if self.plan.literal && cell.quoted {
                self.names.code(&cell.text)?
            } else {
                self.names.code(cell.trimmed())?
            };
            self.leaves.push(leaf);
        }
        for (label, at) in self.labels.iter_mut().zip(&self.plan.labels) {
            if let (Some((coder, labels)), Some(at)) = (label, at) {
                let code = i32::try_from(coder.code(&cells[*at].text)?);
                labels.codes.push(code.map_err(|_| text_error(line, "too many different labels"))?);
            }
        }
        if let (Some(weight), Some(weights)) = (weight, &mut self.table.weights) {
            weights.push(weight);
        }
        self.table.ids.extend_from_slice(&self.leaves);
        self.table.lines.push(line as u32);
        Ok(())
    }

    fn weight(&self, line: usize, at: usize, cells: &[Cell<'_>]) -> Result<f64> {
        let cell = cells[at].trimmed();
        let weight = std::str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok());
        if let Some(weight) = weight.filter(|weight| weight.is_finite() && *weight >= 0.0) {
            return Ok(weight);
        }
        let (cell, column) = (shown(cell), shown(self.header[at].trimmed()));
        let hint = if weight.is_none() && cell.contains(',') { " (decimals need a point)" } else { "" };
        let rule = "weights must be finite and not negative";
        Err(text_error(line, format!("`{cell}` in column `{column}` is not a weight; {rule}{hint}")))
    }

    fn finish(mut self, first_line: usize) -> Result<Table> {
        let (table, width, names) = (&mut self.table, self.plan.leaves.len(), self.names.texts);
        let numeric = self.numeric.unwrap_or(false);
        if self.plan.doubtful && !numeric && table.lines.first() == Some(&(first_line as u32)) {
            let first = 0..table.ids[..width].iter().max().map_or(0, |&code| code + 1);
            if !table.ids[width..].iter().any(|code| first.contains(code)) {
                let words = listed(self.header.iter().map(|cell| cell.trimmed()));
                let message = format!(
                    "`{words}` may be a header or leaves: its words occur nowhere else; name the columns or say that there is no header"
                );
                return Err(text_error(first_line, message));
            }
        }
        if !numeric && !self.plan.literal && self.options.ids.is_none() {
            let whole: Vec<bool> = names.iter().map(|name| looks_whole(name.as_bytes())).collect();
            let n_whole = table.ids.iter().filter(|&&code| whole[code as usize]).count();
            if 2 * n_whole > table.ids.len()
                && let Some(at) = table.ids.iter().position(|&code| !whole[code as usize])
            {
                let cell = shown(names[table.ids[at] as usize].as_bytes());
                let message = format!("`{cell}` is not a leaf id, but most cells are; use ids or names in all cells");
                return Err(text_error(table.lines[at / width] as usize, message));
            }
        }
        table.names = (!numeric).then_some(names);
        table.labels = self
            .labels
            .into_iter()
            .map(|label| label.map(|(coder, labels)| Labels { texts: coder.texts, ..labels }))
            .collect();
        Ok(self.table)
    }
}

fn not_an_id(cell: &[u8]) -> String {
    let text = shown(cell);
    if std::str::from_utf8(cell).is_ok_and(|text| text.parse::<f64>().is_ok()) {
        return format!("`{text}` is not a leaf id: ids are whole numbers");
    }
    format!("`{text}` is not a leaf id; the first row has ids, so all rows must")
}

fn parse_id(cell: &[u8]) -> Option<i64> {
    if !cell.is_empty() && cell.len() < 19 && cell.iter().all(u8::is_ascii_digit) {
        return Some(cell.iter().fold(0, |id, digit| id * 10 + i64::from(digit - b'0')));
    }
    let text = std::str::from_utf8(cell).ok()?;
    text.parse::<i64>().ok().or_else(|| {
        let value = text.parse::<f64>().ok()?;
        (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
    })
}

#[cfg(test)]
mod tests;
