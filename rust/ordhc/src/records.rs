//! Rows of a table, from the bytes of an SQLite file.
//!
//! The format is that of <https://www.sqlite.org/fileformat2.html>. What is read here is what SQLite would read: whatever
//! looks different is left to SQLite, and to what it says of it.

use std::collections::HashMap;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cells {
    /// Whole numbers.
    Whole,
    /// Numbers, whole ones among them.
    Real,
    /// Text.
    Text,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// Whole numbers; `i64::MIN` for null.
    Whole(Vec<i64>),
    /// Numbers; not a number for null.
    Real(Vec<f64>),
    /// Numbers of texts, see [`Records::texts`]; -1 for null.
    Text(Vec<i32>),
}

/// The rows of a table in the order of their ids, some at a time.
#[derive(Debug)]
pub struct Records {
    size: usize,
    usable: usize,
    leaves: Vec<usize>,
    next: usize,
    kinds: Vec<Cells>,
    texts: Vec<String>,
    numbers: HashMap<String, i32>,
}

/// Pages above the rows are at most so many, one on top of the other.
const DEEPEST: usize = 20;

impl Records {
    /// The table that begins at page `root` of a file, with columns of these kinds, the first of which is the row's id.
    /// None if the file is not what SQLite writes.
    ///
    /// ```
    /// use ordhc::records::{Cells, Records};
    ///
    /// assert!(Records::new(b"no database", 1, &[Cells::Whole]).is_none());
    /// ```
    pub fn new(data: &[u8], root: u32, kinds: &[Cells]) -> Option<Self> {
        let size = match u16::from_be_bytes(data.get(16..18)?.try_into().ok()?) {
            1 => 1 << 16,
            size => usize::from(size),
        };
        let usable = size.checked_sub(usize::from(*data.get(20)?))?;
        if !data.starts_with(b"SQLite format 3\0") || size < 512 || usable < 480 {
            return None;
        }
        let (leaves, next, texts, numbers) = (Vec::new(), 0, Vec::new(), HashMap::new());
        let mut new = Self { size, usable, leaves, next, kinds: kinds.to_vec(), texts, numbers };
        new.find(data, root as usize, 0)?;
        Some(new)
    }

    /// The pages with rows, in order.
    fn find(&mut self, data: &[u8], page: usize, depth: usize) -> Option<()> {
        // A file has fewer pages than that, unless some are on top of each other.
        if depth > DEEPEST || self.leaves.len() > data.len() / self.size {
            return None;
        }
        let (bytes, head) = self.page(data, page)?;
        match bytes.get(head)? {
            0x0D => self.leaves.push(page),
            0x05 => {
                for at in 0..count(bytes, head)? {
                    let cell = number(bytes, head + 12 + 2 * at, 2)?;
                    self.find(data, number(bytes, cell, 4)?, depth + 1)?;
                }
                self.find(data, number(bytes, head + 8, 4)?, depth + 1)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// A page, and where its header begins.
    fn page<'a>(&self, data: &'a [u8], page: usize) -> Option<(&'a [u8], usize)> {
        let start = page.checked_sub(1)?.checked_mul(self.size)?;
        Some((data.get(start..start.checked_add(self.size)?)?, if page == 1 { 100 } else { 0 }))
    }

    /// About so many rows more, column by column; none at the end. None if something is not what SQLite writes, or
    /// stands on several pages.
    pub fn take(&mut self, data: &[u8], most: usize) -> Option<Vec<Column>> {
        let mut columns: Vec<Column> = self.kinds.iter().map(|&kind| Column::new(kind)).collect();
        let mut n = 0;
        while n < most && self.next < self.leaves.len() {
            let (bytes, head) = self.page(data, self.leaves[self.next])?;
            let rows = count(bytes, head)?;
            for at in 0..rows {
                let cell = number(bytes, head + 8 + 2 * at, 2)?;
                self.row(bytes, cell, &mut columns)?;
            }
            n += rows;
            self.next += 1;
        }
        Some(columns)
    }

    /// The texts so far, in the order in which they were met.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    fn row(&mut self, bytes: &[u8], at: usize, columns: &mut [Column]) -> Option<()> {
        let (length, at) = varint(bytes, at)?;
        let (id, at) = varint(bytes, at)?;
        let length = usize::try_from(length).ok().filter(|&length| length + 35 <= self.usable)?;
        let record = bytes.get(at..at + length)?;
        let (header, mut at) = varint(record, 0)?;
        let header = usize::try_from(header).ok()?;
        let mut place = header;
        for (k, column) in columns.iter_mut().enumerate() {
            let (kind, next) = varint(record, at)?;
            at = next;
            let size = match kind {
                0 | 8 | 9 => 0,
                1..=4 => kind as usize,
                5 => 6,
                6 | 7 => 8,
                _ => usize::try_from(kind.checked_sub(13)? / 2).ok()?,
            };
            let value = record.get(place..place.checked_add(size)?)?;
            place += size;
            match column {
                // The first column is null in the record: the id stands for it.
                Column::Whole(values) if k == 0 && kind == 0 => values.push(id),
                Column::Whole(values) => values.push(match kind {
                    0 => i64::MIN,
                    _ => whole(kind, value)?,
                }),
                Column::Real(values) => values.push(match kind {
                    0 => f64::NAN,
                    7 => f64::from_be_bytes(value.try_into().ok()?),
                    _ => whole(kind, value)? as f64,
                }),
                Column::Text(values) => values.push(match kind {
                    0 => -1,
                    13.. if kind % 2 == 1 => text(&mut self.texts, &mut self.numbers, value)?,
                    _ => return None,
                }),
            }
        }
        (at == header && place == length).then_some(())
    }
}

impl Column {
    fn new(kind: Cells) -> Self {
        match kind {
            Cells::Whole => Self::Whole(Vec::new()),
            Cells::Real => Self::Real(Vec::new()),
            Cells::Text => Self::Text(Vec::new()),
        }
    }
}

/// The number of a text.
fn text(texts: &mut Vec<String>, numbers: &mut HashMap<String, i32>, value: &[u8]) -> Option<i32> {
    let value = std::str::from_utf8(value).ok()?;
    if let Some(&number) = numbers.get(value) {
        return Some(number);
    }
    let number = i32::try_from(texts.len()).ok()?;
    texts.push(value.to_owned());
    numbers.insert(value.to_owned(), number);
    Some(number)
}

/// How many rows, or pages but the last, a page has.
fn count(bytes: &[u8], head: usize) -> Option<usize> {
    number(bytes, head + 3, 2)
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    Some(bytes.get(at..at.checked_add(size)?)?.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
}

fn whole(kind: i64, value: &[u8]) -> Option<i64> {
    match kind {
        8 | 9 => Some(kind - 8),
        1..=6 => {
            let first = i64::from(*value.first()? as i8);
            Some(value[1..].iter().fold(first, |sum, &byte| sum << 8 | i64::from(byte)))
        }
        _ => None,
    }
}

fn varint(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut value = 0i64;
    for (k, &byte) in bytes.get(at..)?.iter().take(9).enumerate() {
        if k == 8 {
            return Some((value << 8 | i64::from(byte), at + 9));
        }
        value = value << 7 | i64::from(byte & 0x7F);
        if byte < 0x80 {
            return Some((value, at + k + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_as_sqlite_writes_them() {
        assert_eq!(varint(&[0x7F, 9], 0), Some((127, 1)));
        assert_eq!(varint(&[1, 0x81, 0x00], 1), Some((128, 3)));
        assert_eq!(varint(&[0xFF; 9], 0), Some((-1, 9)));
        assert_eq!(varint(&[0x81; 3], 0), None);
        assert_eq!(varint(&[], 5), None);
        assert_eq!(whole(1, &[0xFE]), Some(-2));
        assert_eq!(whole(2, &[1, 0]), Some(256));
        assert_eq!(whole(9, &[]), Some(1));
        assert_eq!(whole(6, &i64::MIN.to_be_bytes()), Some(i64::MIN));
    }

    /// One page that is root and leaf, with one row of each cell that is given.
    fn file(cells: &[&[u8]]) -> Vec<u8> {
        let mut data = vec![0; 1024];
        data[..16].copy_from_slice(b"SQLite format 3\0");
        data[16..18].copy_from_slice(&512u16.to_be_bytes());
        data[512] = 0x0D;
        data[515..517].copy_from_slice(&(cells.len() as u16).to_be_bytes());
        let mut end = 512;
        for (at, cell) in cells.iter().enumerate() {
            end -= cell.len();
            data[512 + end..][..cell.len()].copy_from_slice(cell);
            data[520 + 2 * at..][..2].copy_from_slice(&(end as u16).to_be_bytes());
        }
        data
    }

    const KINDS: [Cells; 3] = [Cells::Whole, Cells::Real, Cells::Text];

    #[test]
    fn rows_are_read() {
        let data = file(&[&[7, 1, 4, 0, 1, 17, 5, b'h', b'i'], &[5, 2, 4, 0, 0, 0, 0][..6]]);
        let mut records = Records::new(&data, 2, &KINDS).unwrap();
        assert!(records.take(&data, 9).is_none(), "a record that is longer than its parts");
        let data = file(&[&[7, 1, 4, 0, 1, 17, 5, b'h', b'i'], &[4, 2, 4, 0, 0, 0], &[5, 3, 4, 0, 9, 13]]);
        let mut records = Records::new(&data, 2, &KINDS).unwrap();
        assert!(records.take(&data, 9).is_none());
        let data = file(&[&[7, 1, 4, 0, 1, 17, 5, b'h', b'i'], &[4, 2, 4, 0, 0, 0], &[4, 3, 4, 0, 9, 13]]);
        let mut records = Records::new(&data, 2, &KINDS).unwrap();
        let columns = records.take(&data, 9).unwrap();
        assert_eq!(columns[0], Column::Whole(vec![1, 2, 3]));
        let Column::Real(real) = &columns[1] else { panic!() };
        assert!(real[0] == 5.0 && real[1].is_nan() && real[2] == 1.0);
        assert_eq!(columns[2], Column::Text(vec![0, -1, 1]));
        assert_eq!(records.texts(), ["hi", ""]);
        assert_eq!(records.take(&data, 9).unwrap()[0], Column::Whole(vec![]));
        assert!(Records::new(&data, 3, &KINDS).is_none() && Records::new(&data, 0, &KINDS).is_none());
    }

    proptest! {
        /// Whatever the bytes are, there is an answer.
        #[test]
        fn odd_bytes_do_no_harm(changes in prop::collection::vec((0usize..1024, any::<u8>()), 0..40), root in 0u32..5) {
            let mut data = file(&[&[7, 1, 4, 0, 1, 17, 5, b'h', b'i'], &[4, 2, 4, 0, 0, 0], &[4, 3, 4, 0, 9, 13]]);
            for (at, byte) in changes {
                data[at] = byte;
            }
            if let Some(mut records) = Records::new(&data, root, &KINDS) {
                let _ = records.take(&data, 100);
            }
        }
    }
}
