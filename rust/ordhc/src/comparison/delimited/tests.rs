//! Cells and delimiters.

use proptest::prelude::*;

use super::*;

fn read(text: &str, delimiter: Delimiter) -> Result<Vec<(usize, Vec<String>)>> {
    let mut rows = Rows::new(text.as_bytes(), delimiter, None);
    let (mut cells, mut found) = (Vec::new(), Vec::new());
    while let Some(line) = rows.read(&mut cells)? {
        let texts = cells.iter().map(|cell| String::from_utf8(cell.text.to_vec()).unwrap());
        found.push((line, texts.collect()));
    }
    Ok(found)
}

fn row(line: usize, cells: &[&str]) -> (usize, Vec<String>) {
    (line, cells.iter().map(ToString::to_string).collect())
}

#[test]
fn lines_end_in_three_ways() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["a,b", "", "\"c", "d\" , e ", "#,f"].join(end);
        let within = format!("c{end}d");
        assert_eq!(
            read(&text, Delimiter::Byte(b',')).unwrap(),
            [row(1, &["a", "b"]), row(3, &[&within, "e"]), row(5, &["#", "f"])]
        );
    }
    assert_eq!(read(" a\t b \n\n c", Delimiter::Blanks).unwrap(), [row(1, &["a", "b"]), row(3, &["c"])]);
    assert_eq!(read("\"\"\n,\n", Delimiter::Byte(b',')).unwrap(), [row(1, &[""]), row(2, &["", ""])]);
}

#[test]
fn quotes_that_do_not_match() {
    let message = |text| read(text, Delimiter::Byte(b',')).unwrap_err().to_string();
    assert_eq!(message("a\n\"b\nc"), "line 2: a quote is opened and never closed");
    assert!(message("a\n\"b\"c,d").starts_with("line 2: a quote closes before its cell ends"));
    assert_eq!(read("5\" pipe,b", Delimiter::Byte(b',')).unwrap(), [row(1, &["5\" pipe", "b"])]);
}

proptest! {
    #[test]
    fn a_cell_ends_at_the_first_stop(data in prop::collection::vec(prop_oneof![Just(b','), Just(b'-'), Just(b'\n'), Just(0xac), any::<u8>()], 0..40)) {
        let stops = [b',', b'\n', b'\r'];
        let expected = data.iter().position(|byte| stops.contains(byte)).unwrap_or(data.len());
        prop_assert_eq!(until(&data, stops), expected);
    }
}

#[test]
fn the_delimiter_is_found() {
    for (text, delimiter) in [
        ("a,b,c\n", Delimiter::Byte(b',')),
        ("0;1;2;0,5\n0;2;1;1,25\n", Delimiter::Byte(b';')),
        ("a b\tc, d\te\n", Delimiter::Byte(b'\t')),
        ("\"a,b\";\"c,d\";e\n", Delimiter::Byte(b';')),
        ("fish, fried;pie;tart\ntart;pie;fish\n", Delimiter::Byte(b';')),
        ("a|b|c\n", Delimiter::Byte(b'|')),
        ("0,1,2\n0,1\n", Delimiter::Byte(b',')),
        ("# made up\n0,1,2\n", Delimiter::Byte(b',')),
        ("a b c\n", Delimiter::Blanks),
    ] {
        assert_eq!(sniff(text.as_bytes(), None), delimiter, "{text}");
    }
}

#[test]
fn what_is_shown_is_short() {
    assert_eq!(shown(b"a\nb\xff"), "a\\nb\u{fffd}");
    assert_eq!(shown(&[b'x'; 500]).chars().count(), 80);
    let cells: Vec<&[u8]> = vec![b"column"; 1260];
    assert!(listed(cells.into_iter()).ends_with("... (1260 in all)"));
}

proptest! {
    #[test]
    fn written_rows_come_back(
        table in prop::collection::vec(prop::collection::vec("[ -~éü\"\n\r\t,;]{0,5}", 1..4), 1..6),
        delimiter in prop::sample::select(b",;\t|".to_vec()),
    ) {
        let quote = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let line = |cells: &Vec<String>| cells.iter().map(quote).collect::<Vec<_>>().join(&char::from(delimiter).to_string());
        let text = table.iter().map(line).collect::<Vec<_>>().join("\n");
        let found = read(&text, Delimiter::Byte(delimiter)).unwrap();
        let cells: Vec<_> = found.into_iter().map(|(_, cells)| cells).collect();
        prop_assert_eq!(cells, table);
    }

    #[test]
    fn no_bytes_make_trouble(data in prop::collection::vec(prop::sample::select(b"a1\",;\t \n\r#".to_vec()), 0..60)) {
        for delimiter in [sniff(&data, None), Delimiter::Blanks] {
            let mut rows = Rows::new(&data, delimiter, Some(b'#'));
            let mut cells = Vec::new();
            let mut last = 0;
            while let Ok(Some(line)) = rows.read(&mut cells) {
                prop_assert!(line > last && !cells.is_empty());
                last = line;
            }
        }
    }
}
