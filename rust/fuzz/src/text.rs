//! Fuzz targets that read text: delimited tables and Newick trees.

use ordhc::Triplets;
use ordhc::bindings::{Columns, Delimiter, TableOptions, parse_table};
use ordhc::preference::preference_linkage;
use ordhc::similarity::{condensed_len, sparse_adds};
use ordhc::tree::{NewickTree, Underscores, build};

use crate::bytes::Bytes;

/// Reads triplets from delimited text, and makes trees and similarities from them. Errors are allowed, panics are not.
pub fn triplets(data: &[u8]) {
    let mut bytes = Bytes(data);
    let names = |names: [&str; 3]| names.map(String::from).to_vec();
    let choice = bytes.byte();
    let columns = match choice % 3 {
        0 => Columns::Known,
        1 => Columns::Named(names(["anchor", "near", "far"])),
        _ => Columns::Positions(vec![0, 1, 2]),
    };
    let byte = |byte| Some(Delimiter::Byte(byte));
    let delimiter = [None, byte(b','), byte(b'\t'), Some(Delimiter::Blanks), byte(b'"'), byte(b'\n')];
    let delimiter = delimiter[usize::from(choice / 3) % 6];
    let header = [None, Some(true), Some(false)][usize::from(choice / 18) % 3];
    let options = TableOptions {
        columns,
        known: vec![names(["anchor", "near", "far"]), names(["i", "j", "k"])],
        weight_columns: vec!["weight".into()],
        labels: vec![vec!["worker".into()]],
        delimiter,
        comment: (choice >= 216).then_some(b'#'),
        header,
        missing: vec!["NA".into()],
        skip_bad: choice >= 162,
        ..TableOptions::default()
    };
    let Ok(table) = parse_table(bytes.0, &options, None) else { return };
    assert_eq!(table.ids.len(), 3 * table.lines.len(), "three leaves a row");
    assert!(table.weights.as_ref().is_none_or(|weights| weights.len() == table.lines.len()), "a weight a row");
    assert!(table.lines.windows(2).all(|two| two[0] < two[1]), "lines ascend");
    if let Some(names) = &table.names {
        assert!(table.ids.iter().all(|&id| (id as usize) < names.len()), "every id has a name");
    }
    if table.ids.iter().any(|&id| !(0..40).contains(&id)) || table.lines.len() > 200 {
        return;
    }
    let Ok(mut answers) = Triplets::new(table.ids.as_chunks::<3>().0, Some(40)) else { return };
    if let Some(weights) = table.weights {
        let Ok(weighted) = answers.with_weights(weights) else { return };
        answers = weighted;
    }
    for tree in [preference_linkage(&answers, None, None), build(&answers, None)] {
        assert!(tree.is_err() || tree.is_ok_and(|tree| tree.n_leaves() == 40), "a tree of all leaves");
    }
    let mut sums = vec![0.0; condensed_len(40)];
    if ordhc::similarity::adds(&answers, &mut sums, None).is_ok()
        && let Ok(pairs) = sparse_adds(&answers, None)
    {
        assert_eq!(pairs.len(), sums.iter().filter(|&&sum| sum != 0.0).count(), "both find the same pairs");
    }
}

/// Checks that a tree from Newick text does not change when it is written and read again.
pub fn newick(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(read) = NewickTree::read(text, Underscores::Blanks, None) else { return };
    let Ok(newick) = read.tree.newick().annotations(&read.annotations) else {
        panic!("a tree that was read is not written")
    };
    let written = newick.lengths().heights().to_string();
    let again = match NewickTree::read(&written, Underscores::Blanks, None) {
        Ok(read) => read,
        Err(error) => panic!("{written:?} is not read: {error}"),
    };
    assert_eq!(again.tree, read.tree, "the same nodes, heights and lengths: {written:?}");
    assert_eq!(again.annotations.names, read.annotations.names, "the same names: {written:?}");
}
