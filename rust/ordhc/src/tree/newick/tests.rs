//! Reading and writing Newick text.

use proptest::prelude::*;

use super::*;
use crate::kind::Kind;
use crate::monitor::Monitor;
use crate::tree::{Tree, Underscores};

fn read(text: &str) -> (Dendrogram, Vec<String>) {
    Dendrogram::from_newick(text).unwrap()
}

#[test]
fn what_others_write_is_read() {
    let (tree, names) = read(" [&R] ( 'it''s (a)' : 1e0 , b[comment]:1)root:0 ; \n");
    assert_eq!(names, ["it's (a)", "b"]);
    assert_eq!((tree.merges().as_ref(), tree.heights()), (&[[0, 1]][..], &[2.0][..]));
    let (tree, _) = read("(a,b,c,d);");
    assert_eq!((tree.heights(), tree.topology().children(4)), (&[1.0][..], &[0, 1, 2, 3][..]));
    assert_eq!(tree.merges().as_ref(), [[0, 1], [2, 4], [3, 5]]);
    let (tree, _) = read("(((a)),(b,(c,d)));");
    assert_eq!(tree.merges().as_ref(), [[2, 3], [1, 4], [0, 5]]);
    assert_eq!(tree.heights(), [1.0, 2.0, 3.0]);
    assert_eq!(read("lone;").0.n_leaves(), 1);
    assert_eq!(read("(a);").0.n_leaves(), 1);
}

#[test]
fn support_without_a_key_is_read() {
    let support = |text: &str| NewickTree::read(text, Underscores::Blanks, None).unwrap().annotations.support;
    // RAxML, IQ-TREE, and text in neither format.
    assert_eq!(support("((a:1,b:1):0.05[98],c:1);").unwrap()[0], 0.98);
    assert_eq!(support("((a:1,b:1)95.2/98:1,c:2);").unwrap()[0], 0.98);
    assert_eq!(support("((a:1,b:1)90/1/97:1,c:2);").unwrap()[0], 0.97);
    for none in
        ["((a:1[98],b:1):1,c:2);", "((a:1,b:1)x/98:1,c:2);", "((a:1,b:1)'95/98':1,c:2);", "((a:1,b:1):1[x],c:2);"]
    {
        assert_eq!(support(none), None, "{none}");
    }
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, part) in [
        ("", "no tree"),
        ("(a,b)", "does not end"),
        ("(a,\n(b,c);", "line 2"),
        ("(a,b));", "without its"),
        ("(a,b);(c,d);", "more text"),
        ("(a,a);", "`a` occurs twice"),
        ("(a,);", "without a name"),
        ("(a:x,b:1);", "`x` is no branch length"),
        ("(a,'b);", "quoted name"),
        ("(a,[b);", "inside a comment"),
        ("(a b);", "not expected"),
        ("((", "ends inside the tree"),
    ] {
        let message = Dendrogram::from_newick(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn deep_trees_do_not_overflow_the_stack() {
    let n = 200_000;
    let merges: Vec<[u32; 2]> = (0..n - 1).map(|k| if k == 0 { [0, 1] } else { [k + 1, n + k - 1] }).collect();
    let heights: Vec<f64> = (0..n - 1).map(f64::from).collect();
    let tree = Dendrogram::new(merges, heights, Kind::Dissimilarity).unwrap();
    let (back, names) = read(&tree.newick().lengths().to_string());
    assert_eq!((back.n_leaves(), names.len()), (n as usize, n as usize));
}

proptest! {
    #[test]
    fn heights_and_topology_come_back(picks in prop::collection::vec((0usize..100, 0usize..100, 0..5i32), 0..15), dissimilarity: bool) {
        let n = picks.len() + 1;
        let mut there: Vec<u32> = (0..n as u32).collect();
        let mut merges = Vec::new();
        let mut heights = Vec::new();
        let mut height = 0.0;
        for (k, &(a, b, step)) in picks.iter().enumerate() {
            let a = there.remove(a % there.len());
            let b = there.remove(b % there.len());
            merges.push([a, b]);
            there.push((n + k) as u32);
            height += f64::from(step) * 0.1;
            heights.push(if dissimilarity { height } else { -height });
        }
        let tree = Dendrogram::new(merges, heights, Kind::of(dissimilarity)).unwrap();
        for lengths in [false, true] {
            let text = if lengths { tree.newick().lengths() } else { tree.newick() }.heights().to_string();
            let read = NewickTree::read(&text, Underscores::Blanks, None).unwrap();
            prop_assert_eq!(read.tree, Tree::Heights(tree.clone()), "{}", text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[(),;:'\\[\\]ab1 .\n&=é]{0,30}") {
        let _ = Dendrogram::from_newick(&text);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = Dendrogram::from_newick(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn what_is_read_is_written_and_read_again(text in "\\(?\\(a(:[0-9.]{1,3})?,b_?(:1)?\\)('?[x0-9]{1,2}'?)?(:[12])?(,'c ''d'){0,1}(,\\(e,f,g\\)8?){0,1}\\)?(:3)?;") {
        if let Ok(read) = NewickTree::read(&text, Underscores::Blanks, None) {
            for heights in [false, true] {
                let written = read.tree.newick().annotations(&read.annotations).unwrap().lengths();
                let written = if heights { written.heights() } else { written }.to_string();
                let again = NewickTree::read(&written, Underscores::Blanks, None).unwrap();
                prop_assert_eq!(&again.tree, &read.tree, "{} {}", text, written);
                let debug = |tree: &NewickTree| format!("{:?}", tree.annotations);
                prop_assert_eq!(debug(&again), debug(&read), "{} {}", text, written);
            }
        }
    }
}

#[test]
fn work_can_be_stopped() {
    let n = 20_000u32;
    let merges: Vec<[u32; 2]> = (0..n - 1).map(|k| if k == 0 { [0, 1] } else { [k + 1, n + k - 1] }).collect();
    let tree = Dendrogram::new(merges, vec![1.0; n as usize - 1], Kind::Dissimilarity).unwrap();
    let text = tree.newick().to_string();
    let monitor = Monitor::new();
    monitor.cancel();
    assert_eq!(NewickTree::read(&text, Underscores::Blanks, Some(&monitor)), Err(crate::Error::Interrupted));
    assert_eq!(tree.newick().text(Some(&monitor)), Err(crate::Error::Interrupted));
}

#[test]
fn comments_that_do_not_fit_are_errors() {
    for (text, part) in [
        ("(a,b)[&node=1];", "comments number the inner nodes: 1 is not the number of an inner node"),
        ("((a,b)[&node=4],c)[&node=3];", "node 4 is below node 3, so needs a smaller number"),
        ("((a,b)[&node=4],c);", "some inner nodes have none"),
        ("((a,b)[&node=4],c)[&node=4];", "4 is not the number of an inner node, or occurs twice"),
        ("(a[&node=2],b);", "2 is not the number of an inner node"),
        ("(a,b)[&node=x];", "`node=x` is no node"),
        ("(a,b)[&support=101];", "`support=101` is no support"),
        ("(a,b)[&similarity=x];", "`similarity=x` is no height"),
        ("((a,b)[&similarity=1],c)[&dissimilarity=1];", "some heights are similarities and others dissimilarities"),
    ] {
        let message = Dendrogram::from_newick(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn support_of_other_programs_is_read() {
    for (text, support, shares) in [
        ("((a,b)[&posterior=0.9,height_95%_HPD={0.1,0.2}]:1,c);", [0.9, f64::NAN], true),
        (
            "((a[&prob=1.0],b)[&prob=5.0e-01,prob_stddev=0.0,prob(percent)=\"50\"]:1[&rate=0.1],c)[&prob=1];",
            [0.5, 1.0],
            true,
        ),
        ("((a,b)x[&&NHX:S=human:B=90],c);", [0.9, f64::NAN], false),
        ("((a,b)[&bootstrap=90,!name=\"x\"],c)[&bootstrap=100];", [0.9, 1.0], false),
        ("((a,b)90[&posterior=0.98],c);", [0.9, f64::NAN], false),
        ("((a,b)[&support=0.5,posterior=0.98],c)[&posterior=1];", [0.5, f64::NAN], true),
    ] {
        let read = NewickTree::read(text, Underscores::Blanks, None).unwrap();
        let found = read.annotations.support.unwrap();
        assert_eq!(found.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), support.map(f64::to_bits), "{text}");
        assert_eq!(read.annotations.shares, shares, "{text}");
    }
    for text in ["((a,b)[&posterior=101],c);", "((a[&prob=1],b[&prob=1]),c);", "((a,b)[&posterior=NaN,B],c);"] {
        let read = NewickTree::read(text, Underscores::Blanks, None).unwrap();
        assert_eq!(read.annotations.support, None, "{text}");
    }
}

#[test]
fn lengths_are_written_in_the_shortest_way() {
    let text = "((a:5e-324,b:1e300):0.1,c:-250,d:1234.5);";
    let read = NewickTree::read(text, Underscores::Blanks, None).unwrap();
    assert_eq!(read.tree.newick().annotations(&read.annotations).unwrap().lengths().to_string(), text);
}
