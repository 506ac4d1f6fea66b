//! Reads comparisons and cells from delimited text.

use std::borrow::Cow;
use std::collections::HashMap;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use ordhc::Error;
use ordhc::bindings::{Columns, Delimiter, Rows, TableOptions, first_row, last_row, sniff};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callbacks;
use crate::error::to_py;

pub(crate) enum Chosen {
    Positions(Vec<usize>),
    Named(Vec<String>),
}

impl FromPyObject<'_, '_> for Chosen {
    type Error = PyErr;

    fn extract(columns: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match columns.extract() {
            Ok(positions) => Ok(Self::Positions(positions)),
            Err(error) if error.is_instance_of::<PyTypeError>(columns.py()) => columns.extract().map(Self::Named),
            Err(error) => Err(error),
        }
    }
}

fn delimiter_of(delimiter: Option<char>) -> PyResult<Option<Delimiter>> {
    let Some(delimiter) = delimiter else { return Ok(None) };
    match u8::try_from(delimiter) {
        Ok(b' ') => Ok(Some(Delimiter::Blanks)),
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'"') => Ok(Some(Delimiter::Byte(byte))),
        _ => Err(to_py(Error::Argument(format!("delimiter {delimiter:?} is not one ASCII character")))),
    }
}

fn ascii(what: &str, text: Option<char>) -> PyResult<Option<u8>> {
    let Some(character) = text else { return Ok(None) };
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii_graphic() => Ok(Some(byte)),
        _ => Err(to_py(Error::Argument(format!("{what} {character:?} is not one ASCII character")))),
    }
}

/// Reads a table. Without `chosen`, reads the columns whose names are in `known`, or all columns if `known` is empty.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call reads a table")]
pub(crate) fn parse_table<'py>(
    py: Python<'py>,
    data: &[u8],
    chosen: Option<Chosen>,
    known: Vec<Vec<String>>,
    weight_columns: Vec<String>,
    labels: Vec<Vec<String>>,
    delimiter: Option<char>,
    comment: Option<char>,
    header: Option<bool>,
    ids: Option<bool>,
    missing: Vec<String>,
    skip_bad: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let columns = match chosen {
        Some(Chosen::Positions(positions)) => Columns::Positions(positions),
        Some(Chosen::Named(names)) => Columns::Named(names),
        None if known.is_empty() => Columns::All,
        None => Columns::Known,
    };
    let comment = ascii("comment", comment)?;
    let found = match delimiter_of(delimiter)? {
        Some(delimiter) => delimiter,
        None => sniff(data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data), comment),
    };
    let delimiter = Some(found);
    let options =
        TableOptions { columns, known, weight_columns, labels, delimiter, comment, header, ids, missing, skip_bad };
    let table = callbacks::run(py, data.len() > 1 << 22, progress.as_ref(), |monitor| {
        ordhc::bindings::parse_table(data, &options, Some(monitor))
    })?;
    let delimiter = match found {
        Delimiter::Byte(byte) => char::from(byte),
        _ => ' ',
    };
    let found = PyDict::new(py);
    found.set_item("delimiter", delimiter)?;
    found.set_item("has_header", table.has_header)?;
    let rows: Bound<'py, PyArray2<i64>> =
        PyArray1::from_vec(py, table.ids).reshape([table.lines.len(), table.width])?;
    found.set_item("rows", rows)?;
    found.set_item("names", table.names)?;
    found.set_item("weights", table.weights.map(|weights| PyArray1::from_vec(py, weights)))?;
    let labels: Vec<_> = table
        .labels
        .into_iter()
        .map(|label| label.map(|label| (label.column, PyArray1::from_vec(py, label.codes), label.texts)))
        .collect();
    found.set_item("labels", labels)?;
    found.set_item("lines", PyArray1::from_vec(py, table.lines))?;
    found.set_item("missing", table.missing)?;
    found.set_item("bad", table.bad)?;
    Ok(found)
}

#[pyfunction]
pub(crate) fn split_table(
    data: &str,
    delimiter: Option<char>,
    comment: Option<char>,
) -> PyResult<(Vec<Vec<String>>, Vec<usize>)> {
    let (given, comment) = (delimiter_of(delimiter)?, ascii("comment", comment)?);
    let data = data.strip_prefix('\u{feff}').unwrap_or(data).as_bytes();
    let mut rows = Rows::new(data, given.unwrap_or_else(|| sniff(data, comment)), comment);
    let (mut cells, mut found, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(line) = rows.read(&mut cells).map_err(to_py)? {
        found.push(cells.iter().map(|cell| String::from_utf8_lossy(&cell.text).into_owned()).collect());
        lines.push(line);
    }
    Ok((found, lines))
}

/// A column of a table. For each row: the index of its text in the list, or -1 if the row is too short to have this
/// column. The list has the distinct texts of the column.
type Coded<'py> = (Bound<'py, PyArray1<i32>>, Vec<String>);

/// Reads a table, and returns:
/// * the cells of the first row,
/// * the line number of each row,
/// * the number of cells of each row,
/// * the indices of later rows that equal the first row,
/// * the columns at the positions `wanted`, with each text replaced by an integer code.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "all that one pass over the text finds")]
pub(crate) fn code_table<'py>(
    py: Python<'py>,
    data: &str,
    delimiter: Option<char>,
    comment: Option<char>,
    wanted: Vec<usize>,
) -> PyResult<(Vec<String>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Vec<usize>, Vec<Coded<'py>>)> {
    let (given, comment) = (delimiter_of(delimiter)?, ascii("comment", comment)?);
    let data = data.strip_prefix('\u{feff}').unwrap_or(data).as_bytes();
    let delimiter = given.unwrap_or_else(|| sniff(data, comment));
    let (mut first, mut lines, mut widths, mut repeats) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut columns: Vec<(Vec<i32>, HashMap<Cow<'_, [u8]>, i32>, Vec<String>)> = vec![Default::default(); wanted.len()];
    callbacks::run(py, data.len() > 1 << 22, None, |monitor| {
        let (mut rows, mut cells) = (Rows::new(data, delimiter, comment), Vec::new());
        while let Some(line) = rows.read(&mut cells)? {
            if lines.is_empty() {
                first.clone_from(&cells);
            } else if cells.iter().map(|cell| &cell.text).eq(first.iter().map(|cell| &cell.text)) {
                repeats.push(lines.len());
            }
            if lines.len() % (1 << 16) == 0 {
                monitor.advance(0)?;
            }
            lines.push(line as u32);
            widths.push(cells.len() as u32);
            for (&at, (codes, number, texts)) in wanted.iter().zip(&mut columns) {
                let Some(cell) = cells.get(at) else {
                    codes.push(-1);
                    continue;
                };
                codes.push(number.get(&cell.text).copied().unwrap_or_else(|| {
                    let code = texts.len() as i32;
                    texts.push(String::from_utf8_lossy(&cell.text).into_owned());
                    number.insert(cell.text.clone(), code);
                    code
                }));
            }
        }
        Ok(())
    })?;
    let first = first.iter().map(|cell| String::from_utf8_lossy(&cell.text).into_owned()).collect();
    let columns = columns.into_iter().map(|(codes, _, texts)| (PyArray1::from_vec(py, codes), texts)).collect();
    Ok((first, PyArray1::from_vec(py, lines), PyArray1::from_vec(py, widths), repeats, columns))
}

#[pyfunction]
pub(crate) fn end_of_first_row(
    data: &[u8],
    delimiter: char,
    comment: Option<char>,
) -> PyResult<Option<(usize, usize)>> {
    let delimiter = delimiter_of(Some(delimiter))?.unwrap_or(Delimiter::Blanks);
    Ok(first_row(data, delimiter, ascii("comment", comment)?))
}

#[pyfunction]
pub(crate) fn start_of_last_row(data: &[u8], delimiter: char, comment: Option<char>) -> PyResult<(usize, usize)> {
    let delimiter = delimiter_of(Some(delimiter))?.unwrap_or(Delimiter::Blanks);
    Ok(last_row(data, delimiter, ascii("comment", comment)?))
}
