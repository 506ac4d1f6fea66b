//! Comparisons and names of leaves from a file.

use std::path::Path;

use super::Comparisons;
use super::table::{TableOptions, parse_table};
use crate::error::{Error, Result};

impl<const K: usize> Comparisons<'static, K> {
    /// Reads comparisons and the names of leaves from a file of delimited text.
    ///
    /// A header names the columns. For triplets they are `anchor,near,far`, `head,winner,loser`,
    /// `anchor,positive,negative` or `i,j,k`. For quadruplets they are `i,j,k,l` or `near_a,near_b,far_a,far_b`. A
    /// column `weight` has the weights of the rows. Other columns are ignored. Without a header, there must be exactly
    /// `K` columns. They are read as `anchor,near,far` or as `i,j,k,l`. The delimiter is detected.
    ///
    /// Names are numbered in the order of their first appearance, and leaf `i` has the i-th name. If all cells are
    /// whole numbers, they are the leaf ids, and the name of a leaf is its id.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be read; [`Error::Line`] for text that isn't UTF-8, an unknown header, a row
    /// with a different number of columns, an empty cell, or a row that [`Comparisons::new`] rejects; not enough
    /// memory.
    ///
    /// ```
    /// use ordhc::Triplets;
    ///
    /// let path = std::env::temp_dir().join("ordhc-read.csv");
    /// std::fs::write(&path, "anchor,near,far\ncat,dog,car\ndog,cat,bus\n").unwrap();
    /// let (triplets, names) = Triplets::read(&path)?;
    /// assert_eq!(names, ["cat", "dog", "car", "bus"]);
    /// let tree = ordhc::adds_average_linkage(&triplets)?;
    /// assert_eq!(tree.newick().names(&names)?.to_string(), "((cat,dog),(car,bus));");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<(Self, Vec<String>)> {
        let path = path.as_ref();
        let data = std::fs::read(path)
            .map_err(|error| Error::File { path: path.display().to_string(), reason: error.to_string() })?;
        Self::parse(&data)
    }

    fn parse(data: &[u8]) -> Result<(Self, Vec<String>)> {
        let roles: &[&str] = match K {
            3 => &["anchor,near,far", "head,winner,loser", "anchor,positive,negative", "i,j,k"],
            _ => &["i,j,k,l", "near_a,near_b,far_a,far_b"],
        };
        let options = TableOptions {
            known: roles.iter().map(|names| names.split(',').map(String::from).collect()).collect(),
            weight_columns: vec!["weight".into()],
            ..TableOptions::default()
        };
        let table = parse_table(data, &options, None)?;
        if let Some(&(line, _)) = table.missing.first() {
            return Err(Error::Line {
                line: line as usize,
                reason: "a leaf is missing; fill the cell, or remove the row".into(),
            });
        }
        let on_line = |error: Error| match error.row() {
            Some(row) => Error::Line { line: table.lines[row] as usize, reason: error.reason() },
            None => error,
        };
        let n_named = table.names.as_ref().map(Vec::len);
        let comparisons = Self::new(table.ids.as_chunks::<K>().0, n_named).map_err(on_line)?;
        let names = table.names.unwrap_or_else(|| (0..comparisons.n_leaves()).map(|leaf| leaf.to_string()).collect());
        let comparisons = match table.weights {
            Some(weights) => comparisons.with_weights(weights)?,
            None => comparisons,
        };
        Ok((comparisons, names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Quadruplets, Triplets};

    #[test]
    fn names_ids_and_weights_are_read() {
        let (triplets, names) = Triplets::parse(b"weight;far;near;anchor\n2;fig;ant;bee\n.5;bee;fig;ant\n").unwrap();
        assert_eq!(names, ["bee", "ant", "fig"]);
        let expected = Triplets::new(vec![[0, 1, 2], [1, 2, 0]], None).unwrap();
        assert_eq!(triplets, expected.with_weights(vec![2.0, 0.5]).unwrap());
        let (quadruplets, names) = Quadruplets::parse(b"0 1 2 5\n").unwrap();
        assert_eq!((quadruplets.n_leaves(), names.join(",").as_str()), (6, "0,1,2,3,4,5"));
    }

    #[test]
    fn mistakes_have_a_line_or_a_path() {
        let message = |text: &str| Triplets::parse(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            message("anchor,near,far\n\nant,bee,ant\n"),
            "line 3: leaf 0 occurs twice in the triplet [0, 1, 0]; its three leaves must differ"
        );
        assert_eq!(message("0,1,2\n0,3000000000,1\n"), "line 2: leaf 3000000000 is outside 0..=2147483646");
        assert_eq!(message("0,1,2\n0,,1\n"), "line 2: a leaf is missing; fill the cell, or remove the row");
        assert!(message("0,1,2,3\n").contains("4 columns instead of 3"));
        let error = Triplets::read("no/such/file.csv").unwrap_err();
        assert!(matches!(&error, Error::File { path, .. } if path == "no/such/file.csv"), "{error}");
    }
}
