//! Comparisons from delimited text.

use std::collections::HashMap;
use std::ops::Range;

use csv::{ByteRecord, ReaderBuilder};

use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Which columns hold the leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    /// Any of these sets of names in a header; without a header the columns in their order.
    Known(Vec<Vec<String>>),
    /// These names in the header.
    Named(Vec<String>),
    /// These positions, from 0.
    Positions(Vec<usize>),
}

/// How [`parse_table`] reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableOptions {
    /// The columns with the leaves.
    pub columns: Columns,
    /// Names of a column with weights, any of them, optional in the text.
    pub weight_columns: Vec<String>,
    /// The delimiter; by default whichever of tab, comma, semicolon the first line has, else blanks.
    pub delimiter: Option<u8>,
    /// Whether the first row is a header; by default it is found out.
    pub header: Option<bool>,
}

/// Rows of leaves, as ids or as codes into names.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The leaves, row by row.
    pub ids: Vec<i64>,
    /// The names that ids are codes of, in order of first appearance; none if the text has ids.
    pub names: Option<Vec<String>>,
    /// The weights, if there is such a column.
    pub weights: Option<Vec<f64>>,
    /// The line of each row, from 1.
    pub lines: Vec<u32>,
}

/// Reads rows of leaves (ids or names) and weights from delimited text.
///
/// Lines that begin with `#` and blank lines are passed over, fields may be quoted. If the first
/// row of data is all whole numbers the text has ids, else names. All rows must have as many columns
/// as the first.
///
/// # Errors
/// Text that isn't UTF-8; a wrong number of columns, a value that is no id or no weight, a header
/// that isn't understood: all with the line.
///
/// ```
/// use ordhc::Monitor;
/// use ordhc::comparison::{Columns, TableOptions, parse_table};
///
/// let names = |names: [&str; 3]| names.map(String::from).to_vec();
/// let options = TableOptions {
///     columns: Columns::Known(vec![names(["anchor", "near", "far"]), names(["head", "winner", "loser"])]),
///     weight_columns: vec!["count".into()],
///     delimiter: None,
///     header: None,
/// };
/// let table = parse_table(b"head,winner,loser\n0,2,1\n2,0,1\n", &options, &Monitor::new())?;
/// assert_eq!(table.ids, [0, 2, 1, 2, 0, 1]);
/// let error = parse_table(b"0,1,2\n0,1\n", &options, &Monitor::new()).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: 2 columns instead of 3; the row may be cut short");
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn parse_table(data: &[u8], options: &TableOptions, monitor: &Monitor) -> Result<Table> {
    monitor.start(data.len() as u64);
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    if let Err(error) = std::str::from_utf8(data) {
        let at = error.valid_up_to();
        let line = 1 + data[..at].iter().filter(|&&byte| byte == b'\n').count();
        return Err(Error::Text { line, message: format!("not UTF-8 text (byte {:#04x} at offset {at})", data[at]) });
    }
    match options.delimiter.or_else(|| sniff(data)) {
        Some(delimiter) => read(data, delimiter, options, monitor),
        None => read(&blanks_to_tabs(data), b'\t', options, monitor),
    }
}

fn sniff(data: &[u8]) -> Option<u8> {
    let first = data.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty() && line[0] != b'#')?;
    [b'\t', b',', b';'].into_iter().find(|delimiter| first.contains(delimiter))
}

/// Runs of blanks within a line become one tab.
fn blanks_to_tabs(data: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(data.len());
    for line in data.split_inclusive(|&byte| byte == b'\n') {
        for (at, word) in line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).enumerate() {
            if at > 0 {
                text.push(b'\t');
            }
            text.extend_from_slice(word);
        }
        text.push(b'\n');
    }
    text
}

fn text_error<T>(line: u64, message: impl Into<String>) -> Result<T> {
    Err(Error::Text { line: line as usize, message: message.into() })
}

/// The line on which a record begins; its position is before the blank lines and comments it skips.
fn line_of(data: &[u8], record: &ByteRecord) -> u64 {
    let Some(position) = record.position() else { return 0 };
    let (mut at, mut line) = (position.byte() as usize, position.line());
    loop {
        match data.get(at) {
            Some(b'\n') => line += 1,
            Some(b'\r') => {}
            Some(b'#') => {
                at += data[at..].iter().position(|&byte| byte == b'\n').unwrap_or(data.len() - at - 1);
                line += 1;
            }
            _ => return line,
        }
        at += 1;
    }
}

fn field(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the first row says about the columns.
struct Plan {
    leaves: Vec<usize>,
    weight: Option<usize>,
    width: usize,
    has_header: bool,
    /// The first row may be a header that isn't known: its words must occur again.
    doubtful: bool,
}

/// Rows between two looks at the monitor.
const BLOCK: usize = 1 << 14;

fn read(data: &[u8], delimiter: u8, options: &TableOptions, monitor: &Monitor) -> Result<Table> {
    let mut told = 0;
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(data);
    let mut record = ByteRecord::new();
    let mut next = |record: &mut ByteRecord| {
        loop {
            let found = reader.read_byte_record(record);
            let found = found.map_err(|error| Error::Text { line: 0, message: error.to_string() })?;
            // A line of blanks only is no row.
            if !found || record.len() > 1 || !record[0].is_empty() {
                return Ok::<bool, Error>(found);
            }
        }
    };
    if !next(&mut record)? {
        return text_error(1, "there are no rows");
    }
    let plan = plan(data, &record, options)?;
    let first_line = line_of(data, &record);
    let header: Vec<String> = record.iter().map(field).collect();
    if plan.has_header && !next(&mut record)? {
        return text_error(first_line, "there is a header but no rows");
    }

    let guess = data.len() / 8;
    let mut table = Table {
        ids: Vec::with_capacity(guess),
        names: None,
        weights: plan.weight.map(|_| Vec::new()),
        lines: Vec::with_capacity(guess / plan.leaves.len()),
    };
    let mut codes: HashMap<Vec<u8>, i64> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    let numeric = plan.leaves.iter().all(|&at| record.get(at).is_some_and(looks_whole));
    loop {
        let line = line_of(data, &record);
        if record.len() != plan.width {
            let (found, width) = (record.len(), plan.width);
            return text_error(line, format!("{found} columns instead of {width}; the row may be cut short"));
        }
        for &at in &plan.leaves {
            let cell = &record[at];
            if numeric {
                match parse_id(cell) {
                    Some(id) => table.ids.push(id),
                    None => return text_error(line, not_an_id(cell, plan.has_header, &header)),
                }
            } else {
                if cell.is_empty() {
                    return text_error(line, format!("column {} is empty; a leaf is needed", at + 1));
                }
                if cell.contains(&b'\n') {
                    return text_error(line, "a quoted field runs over the end of the line; a quote may be missing");
                }
                let code = match codes.get(cell) {
                    Some(&code) => code,
                    None => {
                        let code = names.len() as i64;
                        codes.insert(cell.to_vec(), code);
                        names.push(field(cell));
                        code
                    }
                };
                table.ids.push(code);
            }
        }
        if let (Some(at), Some(weights)) = (plan.weight, &mut table.weights) {
            let text = field(&record[at]);
            match text.parse::<f64>() {
                Ok(weight) if weight.is_finite() && weight >= 0.0 => weights.push(weight),
                _ => {
                    let column = &header[at];
                    return text_error(
                        line,
                        format!("`{text}` in column `{column}` is no weight; finite numbers from 0 are"),
                    );
                }
            }
        }
        table.lines.push(line as u32);
        if table.lines.len().is_multiple_of(BLOCK) {
            let at = record.position().map_or(told, csv::Position::byte);
            monitor.advance(at - told)?;
            told = at;
        }
        if !next(&mut record)? {
            break;
        }
    }
    if plan.doubtful && !numeric {
        let width = plan.leaves.len();
        let first: Range<i64> = 0..table.ids[..width].iter().max().map_or(0, |&code| code + 1);
        if !table.ids[width..].iter().any(|code| first.contains(code)) {
            let words = header.join(", ");
            return text_error(
                first_line,
                format!(
                    "`{words}` may be a header or leaves, its words occur nowhere else; name the columns or say that there is no header"
                ),
            );
        }
    }
    if !numeric {
        let whole: Vec<bool> = names.iter().map(|name| looks_whole(name.as_bytes())).collect();
        let n_whole = table.ids.iter().filter(|&&code| whole[code as usize]).count();
        if 2 * n_whole > table.ids.len()
            && let Some(at) = table.ids.iter().position(|&code| !whole[code as usize])
        {
            let cell = &names[table.ids[at] as usize];
            let line = u64::from(table.lines[at / plan.leaves.len()]);
            return text_error(line, format!("`{cell}` is not a leaf id, as most others are"));
        }
    }
    table.names = (!numeric).then_some(names);
    Ok(table)
}

fn not_an_id(cell: &[u8], has_header: bool, header: &[String]) -> String {
    let cell = field(cell);
    if !has_header && header.iter().all(|cell| !looks_whole(cell.as_bytes())) {
        return format!("`{cell}` is not a leaf id");
    }
    if cell.parse::<f64>().is_ok() {
        return format!("`{cell}` is not a leaf id: ids are whole numbers");
    }
    format!("`{cell}` is not a leaf id; the first row has ids, so all rows must")
}

fn plan(data: &[u8], first: &ByteRecord, options: &TableOptions) -> Result<Plan> {
    let line = line_of(data, first);
    let cells: Vec<String> = first.iter().map(|cell| field(cell).to_lowercase()).collect();
    let find = |name: &String| cells.iter().position(|cell| *cell == name.to_lowercase());
    let weight = || options.weight_columns.iter().find_map(find);
    let width = cells.len();
    let listed = || first.iter().map(field).collect::<Vec<_>>().join(", ");
    match &options.columns {
        Columns::Named(names) => {
            let mut leaves = Vec::new();
            for name in names {
                match find(name) {
                    Some(at) => leaves.push(at),
                    None => {
                        return text_error(line, format!("there is no column `{name}`; the header has {}", listed()));
                    }
                }
            }
            Ok(Plan { leaves, weight: weight(), width, has_header: true, doubtful: false })
        }
        Columns::Positions(positions) => {
            if let Some(at) = positions.iter().find(|&&at| at >= width) {
                return text_error(line, format!("there is no column {at}; the row has {width}, counted from 0"));
            }
            let numeric = positions.iter().all(|&at| looks_whole(&first[at]));
            let has_header = options.header.unwrap_or(!numeric);
            let weight = if has_header { weight() } else { None };
            Ok(Plan { leaves: positions.clone(), weight, width, has_header, doubtful: false })
        }
        Columns::Known(known) => {
            let k = known.first().map_or(3, Vec::len);
            let found = || known.iter().find_map(|names| names.iter().map(find).collect::<Option<Vec<usize>>>());
            if options.header != Some(false)
                && let Some(leaves) = found()
            {
                return Ok(Plan { leaves, weight: weight(), width, has_header: true, doubtful: false });
            }
            let leaves: Vec<usize> = (0..k).collect();
            if options.header == Some(true) && width >= k {
                return Ok(Plan { leaves, weight: weight(), width, has_header: true, doubtful: false });
            }
            if width != k {
                let known = known.iter().map(|names| names.join(",")).collect::<Vec<_>>().join(" or ");
                return text_error(
                    line,
                    format!(
                        "{width} columns ({}) instead of {k}; other columns need a header with {known}, or be named",
                        listed()
                    ),
                );
            }
            let numeric = (0..k).all(|at| looks_whole(&first[at]));
            Ok(Plan { leaves, weight: None, width, has_header: false, doubtful: !numeric && options.header.is_none() })
        }
    }
}

fn looks_whole(cell: &[u8]) -> bool {
    let digits = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
        || (cell.contains(&b'.') && field(cell).parse::<f64>().is_ok())
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
mod tests {
    use super::*;

    fn parse(text: &[u8], options: &TableOptions) -> Result<Table> {
        parse_table(text, options, &Monitor::new())
    }

    fn options() -> TableOptions {
        let names = |text: &str| text.split(',').map(String::from).collect();
        TableOptions {
            columns: Columns::Known(vec![names("anchor,near,far"), names("head,winner,loser")]),
            weight_columns: names("weight,count"),
            delimiter: None,
            header: None,
        }
    }

    fn table(text: &str) -> Table {
        parse(text.as_bytes(), &options()).unwrap()
    }

    fn message(text: &[u8]) -> String {
        parse(text, &options()).unwrap_err().to_string()
    }

    #[test]
    fn the_usual_files() {
        for text in [
            "0,1,2\n3,4,5\n",
            "# comment\n\nanchor,near,far\r\n0,1,2\r\n3,4,5",
            "\u{feff}Anchor;Near;Far\n0;1;2\n3;4;5\n",
            "far\tnear\tanchor\n2\t1\t0\n5\t4\t3\n",
            "0  1 2\n 3 4   5\n",
            "winner,rt,head,loser\n1,9.5,0,2\n4,7,3,5\n",
            "\"0\",1.0, 2\n3,4,+5\n",
        ] {
            let table = table(text);
            assert_eq!(table.ids, [0, 1, 2, 3, 4, 5], "{text}");
            assert_eq!((table.names, table.weights), (None, None));
        }
        assert_eq!(table("count,anchor,near,far\n2,0,1,2\n0.5,0,2,1\n").weights, Some(vec![2.0, 0.5]));
        assert_eq!(table("#\nanchor,near,far\n\n0,1,2\n").lines, [4]);
    }

    #[test]
    fn names_are_coded_in_order() {
        let table = table("anchor,near,far\nfig,\"apple, red\",kiwi\nkiwi,fig,\"apple, red\"\n");
        assert_eq!(table.ids, [0, 1, 2, 2, 0, 1]);
        assert_eq!(table.names.unwrap(), ["fig", "apple, red", "kiwi"]);
        let bare = parse(b"fig,apple,kiwi\nkiwi,fig,apple\n", &options()).unwrap();
        assert_eq!(bare.ids, [0, 1, 2, 2, 0, 1]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, part) in [
            ("", "no rows"),
            ("# only\n\n", "no rows"),
            ("anchor,near,far\n", "header but no rows"),
            ("0,1,2\n0,1\n", "line 2: 2 columns instead of 3"),
            ("0,1,2\n0,1,2,3\n", "line 2: 4 columns"),
            ("0,1,2,3\n", "4 columns"),
            ("anchor,near,far\n0,1,x\n", "line 2"),
            ("0,1,2\n\n0,1,x\n", "line 3: `x` is not a leaf id"),
            ("0,1,2\n0,1,2.5\n", "`2.5`"),
            ("0,1,2\n0,1,\n", "line 2: `` is not a leaf id"),
            ("ref,closer,further\nfig,pear,kiwi\n", "may be a header"),
            ("ref,closer,further\n0,1,2\n", "may be a header"),
            ("anchor,near,far\na,,c\n", "column 2 is empty"),
            ("anchor,near,far,count\n0,1,2,-1\n", "`-1` in column `count`"),
            ("anchor,near,far,count\n0,1,2,\n", "no weight"),
            ("anchor,near,far,count\n0,1,2,inf\n", "no weight"),
        ] {
            let message = message(text.as_bytes());
            assert!(message.contains(part), "{text:?}: {message}");
        }
        assert_eq!(message(b"0,1,2\n0,\xff,2\n"), "line 2: not UTF-8 text (byte 0xff at offset 8)");
    }

    #[test]
    fn columns_can_be_chosen() {
        let named = TableOptions { columns: Columns::Named(vec!["c".into(), "a".into(), "b".into()]), ..options() };
        assert_eq!(parse(b"a,b,c\n1,2,0\n", &named).unwrap().ids, [0, 1, 2]);
        assert!(parse(b"a,b,d\n1,2,0\n", &named).unwrap_err().to_string().contains("no column `c`"));
        let places = TableOptions { columns: Columns::Positions(vec![3, 1, 2]), ..options() };
        assert_eq!(parse(b"9,1,2,0\n", &places).unwrap().ids, [0, 1, 2]);
        assert_eq!(parse(b"x,y,z,w\n9,1,2,0\n", &places).unwrap().ids, [0, 1, 2]);
        assert!(parse(b"1,2\n", &places).unwrap_err().to_string().contains("no column 3"));
        let bare = TableOptions { header: Some(false), ..options() };
        assert_eq!(parse(b"a,b,c\n", &bare).unwrap().names.unwrap(), ["a", "b", "c"]);
    }
}
