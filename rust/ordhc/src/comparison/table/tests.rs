//! Tables that are read, and tables that are rejected.

use super::*;

fn parse(text: &[u8], options: &TableOptions) -> Result<Table> {
    parse_table(text, options, None)
}

fn options() -> TableOptions {
    let names = |text: &str| text.split(',').map(String::from).collect();
    TableOptions {
        known: vec![names("anchor,near,far"), names("head,winner,loser")],
        weight_columns: names("weight,count"),
        labels: vec![names("person,who")],
        missing: names("NA"),
        ..TableOptions::default()
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
        "\n\nanchor,near,far\r\n0,1,2\r\n3,4,5",
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
    assert_eq!(table("\nanchor,near,far\n\n0,1,2\n").lines, [4]);
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
        ("\n\n", "no rows"),
        ("# only\n0,1,2\n", "lines with `#` are comments"),
        ("anchor,near,far\n", "header but no rows"),
        ("0,1,2\n0,1\n", "line 2: 2 columns instead of 3"),
        ("0,1,2\n0,1,2,3\n", "line 2: 4 columns"),
        ("0,1,2,3\n", "4 columns"),
        ("anchor,near,far\n0,1,x\n", "line 2"),
        ("0,1,2\n\n0,1,x\n", "line 3: `x` is not a leaf id"),
        ("0,1,2\n0,1,2.5\n", "`2.5`"),
        ("ref,close,away\nfig,pear,kiwi\n", "may be a header"),
        ("ref,close,away\n0,1,2\n", "may be a header"),
        ("anchor,closer,further\nanchor,closer,fig\n", "header of other columns"),
        ("anchor,near,far,near\na,b,c,d\n", "two columns `near`, the 2nd and the 4th"),
        ("anchor,near,far,weight,count\na,b,c,1,2\n", "both `weight` and `count`"),
        ("anchor,near,far,count\n0,1,2,\"0,5\"\n", "decimals need a point"),
        ("anchor,near,far,count\n0,1,2,-1\n", "`-1` in column `count`"),
        ("anchor,near,far,count\n0,1,2,\n", "is not a weight"),
        ("anchor,near,far,count\n0,1,2,inf\n", "is not a weight"),
    ] {
        let message = message(text.as_bytes());
        assert!(message.contains(part), "{text:?}: {message}");
    }
    assert_eq!(message(b"0,1,2\n0,\xff,2\n"), "line 2: not UTF-8 text (byte 0xff at offset 8)");
}

#[test]
fn missing_leaves_are_counted_and_bad_rows_listed() {
    let text = b"anchor,near,far\nNA,b,c\na,b,c\na,,c\n,,\na,b\nb,a,c\n";
    let found = parse(text, &TableOptions { skip_bad: true, ..options() }).unwrap();
    assert_eq!(found.ids, [0, 1, 2, 1, 0, 2]);
    assert_eq!(found.missing, [(2, "NA".to_string()), (4, String::new()), (5, String::new())]);
    assert_eq!(found.bad.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [6]);
    assert_eq!(found.lines, [3, 7]);
    let kept = TableOptions { missing: vec![], skip_bad: true, ..options() };
    assert_eq!(parse(text, &kept).unwrap().names.unwrap()[0], "NA");
}

#[test]
fn names_to_the_letter_and_labels() {
    let text = b"anchor_name,near_name,far_name,who\n\"1\",\" NA\n\",\"\",x\n3,NA,1,y\n1,3,\"NA\",x\n";
    let found = parse(text, &options()).unwrap();
    assert_eq!(found.names.unwrap(), ["1", " NA\n", "", "3", "NA"]);
    assert_eq!(found.lines, [2, 5]);
    let labels = found.labels[0].clone().unwrap();
    assert_eq!((labels.codes, labels.texts), (vec![0, 0], vec!["x".to_string()]));
}

#[test]
fn a_header_in_another_order_is_no_order() {
    let places = |positions| TableOptions { columns: Columns::Positions(positions), ..options() };
    let text = b"far,near,anchor\n2,1,0\n";
    let error = parse(text, &places(vec![0, 1, 2])).unwrap_err().to_string();
    assert!(error.contains("column 0 is named `far`, but used as `anchor`"), "{error}");
    assert_eq!(parse(text, &places(vec![2, 1, 0])).unwrap().ids, [0, 1, 2]);
    let all = TableOptions { columns: Columns::All, ..options() };
    let found = parse(b"reference,x,count,y,z\n0,1,9,2,3\n", &all).unwrap();
    assert_eq!((found.ids, found.weights), (vec![0, 1, 2, 3], Some(vec![9.0])));
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

#[test]
fn parts_of_a_text() {
    // The first row alone looks like ids, but the options say that these are names.
    let names =
        parse(b"1,2,3\nfig,2,1\n", &TableOptions { ids: Some(false), header: Some(false), ..options() }).unwrap();
    assert_eq!(
        (names.ids, names.names.unwrap()),
        (vec![0, 1, 2, 3, 1, 0], ["1", "2", "3", "fig"].map(String::from).to_vec())
    );
    let few = TableOptions { ids: Some(false), header: Some(false), ..options() };
    assert_eq!(parse(b"1,2,3\n1,2,fig\n", &few).unwrap().ids, [0, 1, 2, 0, 1, 3]);
    let ids = TableOptions { ids: Some(true), header: Some(false), ..options() };
    assert!(parse(b"fig,kiwi,apple\n", &ids).unwrap_err().to_string().starts_with("line 1: `fig` is not a leaf id"));
    assert!(table("anchor,near,far\n0,1,2\n").has_header && !table("0,1,2\n").has_header);
}

#[test]
fn more_names_than_slots_are_numbered_as_they_appear() {
    // Every name occurs twice, far apart, so that other names replace most names in the cache in between.
    let n = 3 * SLOTS;
    let names: Vec<String> = (0..n).map(|at| format!("{}{at}", "picture ".repeat(at % 3))).collect();
    let cells = [names.clone(), names.clone()].concat();
    let text: String = cells.chunks(3).map(|row| row.join(",") + "\n").collect();
    let found = table(&format!("anchor,near,far\n{text}"));
    assert_eq!(found.names.unwrap(), names);
    let expected: Vec<i64> = (0..n as i64).chain(0..n as i64).collect();
    assert_eq!(found.ids, expected);
}
