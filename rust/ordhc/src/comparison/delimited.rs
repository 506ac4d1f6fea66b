//! Delimited text, cell by cell: delimiters, quotes, and line numbers.
//!
//! All readers of delimited text use this tokenizer and its detection of delimiters.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::memory::{push, room};

/// The delimiter between columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delimiter {
    /// One ASCII character.
    Byte(u8),
    /// One or more blanks or tabs. Blanks and tabs at the start and end of a line are ignored.
    Blanks,
}

/// One cell of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell<'a> {
    /// The text of the cell. If the cell is quoted, the quotes are removed. Otherwise outer blanks are removed.
    pub text: Cow<'a, [u8]>,
    /// True if the cell is in quotes.
    pub quoted: bool,
}

impl Cell<'_> {
    pub(crate) fn trimmed(&self) -> &[u8] {
        self.text.trim_ascii()
    }
}

/// Reads delimited text row by row, and splits each row into cells. Blank lines are skipped.
///
/// ```
/// use ordhc::bindings::{Delimiter, Rows};
///
/// let mut rows = Rows::new(b"a, \"b,\n\"\"c\"\"\"\n\nd,e", Delimiter::Byte(b','), None);
/// let mut cells = Vec::new();
/// assert_eq!(rows.read(&mut cells)?, Some(1));
/// assert_eq!(cells[1].text.as_ref(), b"b,\n\"c\"");
/// assert_eq!(rows.read(&mut cells)?, Some(4));
/// assert_eq!(rows.read(&mut cells)?, None);
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug)]
pub struct Rows<'a> {
    data: &'a [u8],
    at: usize,
    line: usize,
    delimiter: Delimiter,
    comment: Option<u8>,
}

impl<'a> Rows<'a> {
    /// Returns a reader of UTF-8 text that has no byte order mark. The reader skips lines that begin with `comment`.
    pub fn new(data: &'a [u8], delimiter: Delimiter, comment: Option<u8>) -> Self {
        Self { data, at: 0, line: 1, delimiter, comment }
    }

    /// Returns the number of bytes that were read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Reads the next row into `cells`. Returns the line on which the row begins, or `None` at the end of the text.
    ///
    /// # Errors
    /// A quote that is never closed, or is closed before the cell ends.
    pub fn read(&mut self, cells: &mut Vec<Cell<'a>>) -> Result<Option<usize>> {
        loop {
            let line = self.line;
            cells.clear();
            if self.at >= self.data.len() {
                return Ok(None);
            }
            if self.comment.is_some_and(|mark| self.data[self.at] == mark) {
                self.skip_line();
                continue;
            }
            match self.delimiter {
                Delimiter::Byte(delimiter) => self.cells(cells, delimiter)?,
                Delimiter::Blanks => self.words(cells)?,
            }
            self.end_line();
            if !(cells.is_empty() || cells.len() == 1 && !cells[0].quoted && cells[0].text.is_empty()) {
                return Ok(Some(line));
            }
        }
    }

    fn skip_line(&mut self) {
        while !matches!(self.peek(), None | Some(b'\n' | b'\r')) {
            self.at += 1;
        }
        self.end_line();
    }

    fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    fn end_line(&mut self) {
        match self.peek() {
            Some(b'\r') => self.at += 1 + usize::from(self.data.get(self.at + 1) == Some(&b'\n')),
            Some(b'\n') => self.at += 1,
            _ => return,
        }
        self.line += 1;
    }

    fn skip_blanks(&mut self, delimiter: Option<u8>) {
        while let Some(byte @ (b' ' | b'\t')) = self.peek() {
            if Some(byte) == delimiter {
                return;
            }
            self.at += 1;
        }
    }

    fn cells(&mut self, cells: &mut Vec<Cell<'a>>, delimiter: u8) -> Result<()> {
        loop {
            self.skip_blanks(Some(delimiter));
            if self.peek() == Some(b'"') && delimiter != b'"' {
                let cell = self.quoted()?;
                self.skip_blanks(Some(delimiter));
                push("a table", cells, cell)?;
            } else {
                let start = self.at;
                self.at += until(&self.data[start..], [delimiter, b'\n', b'\r']);
                let text = self.data[start..self.at].trim_ascii();
                push("a table", cells, Cell { text: Cow::Borrowed(text), quoted: false })?;
            }
            match self.peek() {
                Some(byte) if byte == delimiter => self.at += 1,
                None | Some(b'\n' | b'\r') => return Ok(()),
                Some(_) => return Err(self.early_quote()),
            }
        }
    }

    fn words(&mut self, cells: &mut Vec<Cell<'a>>) -> Result<()> {
        loop {
            self.skip_blanks(None);
            match self.peek() {
                None | Some(b'\n' | b'\r') => return Ok(()),
                Some(b'"') => {
                    let cell = self.quoted()?;
                    push("a table", cells, cell)?;
                    if !matches!(self.peek(), None | Some(b'\n' | b'\r' | b' ' | b'\t')) {
                        return Err(self.early_quote());
                    }
                }
                Some(_) => {
                    let start = self.at;
                    while !matches!(self.peek(), None | Some(b'\n' | b'\r' | b' ' | b'\t')) {
                        self.at += 1;
                    }
                    push("a table", cells, Cell { text: Cow::Borrowed(&self.data[start..self.at]), quoted: false })?;
                }
            }
        }
    }

    fn quoted(&mut self) -> Result<Cell<'a>> {
        let line = self.line;
        self.at += 1;
        let start = self.at;
        let mut doubled = false;
        loop {
            self.at += until(&self.data[self.at..], [b'"', b'\n', b'\r']);
            match self.peek() {
                None => return Err(text_error(line, "a quote is opened and never closed")),
                Some(b'"') if self.data.get(self.at + 1) == Some(&b'"') => {
                    doubled = true;
                    self.at += 2;
                }
                Some(b'"') => break,
                Some(_) => self.end_line(),
            }
        }
        let inside = &self.data[start..self.at];
        self.at += 1;
        let text = if doubled { Cow::Owned(undoubled(inside)?) } else { Cow::Borrowed(inside) };
        Ok(Cell { text, quoted: true })
    }

    fn early_quote(&self) -> Error {
        text_error(
            self.line,
            "a quote closes before its cell ends; write quotes inside a quoted cell twice, or add the missing quote",
        )
    }
}

fn until(data: &[u8], stops: [u8; 3]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, rest) = data.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The highest bit of a byte of `found` is set where the byte equals a stop. Borrows of the subtraction can set
        // this bit in later bytes too, but only the first such byte is used.
        let found = stops.iter().fold(0, |found, &stop| {
            let zero_where_equal = word ^ (ONES * u64::from(stop));
            found | (zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & (ONES << 7))
        });
        if found != 0 {
            return 8 * at + found.trailing_zeros() as usize / 8;
        }
    }
    data.len() - rest.len() + rest.iter().position(|byte| stops.contains(byte)).unwrap_or(rest.len())
}

fn undoubled(inside: &[u8]) -> Result<Vec<u8>> {
    let mut text = room("a cell", inside.len())?;
    let mut after_quote = false;
    for &byte in inside {
        after_quote = byte == b'"' && !after_quote;
        if !after_quote {
            text.push(byte);
        }
    }
    Ok(text)
}

pub(crate) fn text_error(line: usize, message: impl Into<String>) -> Error {
    Error::Line { line, reason: message.into() }
}

pub(crate) fn shown(text: &[u8]) -> String {
    const LIMIT: usize = 80;
    let head = &text[..text.len().min(4 * LIMIT)];
    let mut quoted = String::new();
    let mut count = 0;
    for character in String::from_utf8_lossy(head).chars() {
        let escaped: String =
            if character.is_control() { character.escape_default().collect() } else { character.into() };
        count += escaped.chars().count();
        if count > LIMIT - 1 {
            quoted.push('…');
            return quoted;
        }
        quoted.push_str(&escaped);
    }
    if head.len() < text.len() {
        quoted.push('…');
    }
    quoted
}

pub(crate) fn listed<'a>(cells: impl ExactSizeIterator<Item = &'a [u8]>) -> String {
    let count = cells.len();
    let mut text = String::new();
    for (at, cell) in cells.enumerate() {
        let cell = shown(cell);
        if at >= 8 || at > 0 && text.chars().count() + cell.chars().count() > 120 {
            return format!("{text}, ... ({count} in all)");
        }
        text.push_str(if at > 0 { ", " } else { "" });
        text.push_str(&cell);
    }
    text
}

pub(crate) fn checked_utf8(data: &[u8]) -> Result<&[u8]> {
    if let Err(error) = std::str::from_utf8(data) {
        let at = error.valid_up_to();
        let line = 1 + data[..at].iter().filter(|&&byte| byte == b'\n').count();
        return Err(text_error(line, format!("not UTF-8 text (byte {:#04x} at offset {at})", data[at])));
    }
    Ok(data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data))
}

const SAMPLE: usize = 20;

/// Detects the delimiter of a text from its first rows. The candidates are tab, comma, semicolon and bar.
///
/// Returns the candidate that splits all these rows into the same number of cells, at least two. Among several such
/// candidates, returns the candidate with the most cells. If there is no such candidate, returns the first candidate
/// that occurs in these rows. If no candidate occurs, returns [`Delimiter::Blanks`].
pub fn sniff(data: &[u8], comment: Option<u8>) -> Delimiter {
    const KNOWN: [u8; 4] = [b'\t', b',', b';', b'|'];
    let mut best = (1, None);
    let mut fallback = None;
    for delimiter in KNOWN {
        let mut rows = Rows::new(data, Delimiter::Byte(delimiter), comment);
        let mut cells = Vec::new();
        let mut width = None;
        for _ in 0..SAMPLE {
            match rows.read(&mut cells) {
                Ok(Some(_)) if width.is_none_or(|width| width == cells.len()) => width = Some(cells.len()),
                Ok(None) => break,
                _ => {
                    if (cells.len() > 1 || width.is_some_and(|width| width > 1)) && fallback.is_none() {
                        fallback = Some(delimiter);
                    }
                    width = None;
                    break;
                }
            }
        }
        if let Some(width) = width
            && width > best.0
        {
            best = (width, Some(delimiter));
        }
    }
    best.1.or(fallback).map_or(Delimiter::Blanks, Delimiter::Byte)
}

/// Returns the byte offset of the end of the first row, and the number of lines before this offset. Returns `None` if
/// there is no row, or if the text may end in the middle of the row.
pub fn first_row(data: &[u8], delimiter: Delimiter, comment: Option<u8>) -> Option<(usize, usize)> {
    let mut rows = Rows::new(data, delimiter, comment);
    rows.read(&mut Vec::new()).ok().flatten()?;
    (rows.at < data.len() || data.ends_with(b"\n")).then_some((rows.at, rows.line - 1))
}

/// Returns the byte offset of the last row in `data`, and the number of lines before this row. `data` is the beginning
/// of a longer text, so the last row may be cut.
pub fn last_row(data: &[u8], delimiter: Delimiter, comment: Option<u8>) -> (usize, usize) {
    let mut rows = Rows::new(data, delimiter, comment);
    let mut cells = Vec::new();
    loop {
        let (at, line) = (rows.at, rows.line);
        match rows.read(&mut cells) {
            // An error before the end of `data` is a mistake in this row. An error at the end is an open quote, which
            // the rest of the text may close.
            Err(_) if rows.at < data.len() => rows.skip_line(),
            Ok(Some(_)) if rows.at < data.len() => {}
            _ => return (at, line - 1),
        }
    }
}

#[cfg(test)]
mod tests;
