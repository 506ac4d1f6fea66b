"""What Newick text tells, and what of it is kept."""

import io
import pickle

import numpy as np
import pytest

import ordhc
from ordhc import Dendrogram
from support.newick import clades, read_newick


def test_support_names_lengths_and_degrees():
    tree = Dendrogram.from_newick("((a:1,b:1)95:2,(c:2,d:2,e:2)'95':1)root:7;")
    assert tree.names == ("a", "b", "c", "d", "e")
    assert tree.heights.tolist() == [1.0, 2.0, 2.0, 3.0]
    assert tree.joined.tolist() == [False, True, False, False]
    assert tree.node_names == (None, None, "95", "root")
    np.testing.assert_array_equal(tree.support, [0.95, np.nan, np.nan, np.nan])
    assert tree.branch_lengths[-1] == 7
    assert tree.to_newick() == "((a:1,b:1)95:2,(c:2,d:2,e:2)'95':1)root:7;"
    # Where heights tell the lengths these aren't kept twice.
    assert Dendrogram.from_newick("((a:1,b:1)95:2,c:3);").branch_lengths is None
    assert Dendrogram.from_newick("((a,b),c)x;").to_newick() == "((a,b),c)x;"


def test_a_zero_branch_is_no_polytomy():
    binary = Dendrogram.from_newick("((a:1,b:1):0,c:1);")
    three = Dendrogram.from_newick("(a:1,b:1,c:1);")
    assert binary.joined is None
    assert binary.heights.tolist() == three.heights.tolist()
    assert binary != three
    assert [tree.to_newick() for tree in (binary, three)] == ["((a:1,b:1):0,c:1);", "(a:1,b:1,c:1);"]
    support = Dendrogram.from_newick("((a:1,b:1):0,c:1)9;")
    for back in (Dendrogram.from_dict(support.to_dict()), pickle.loads(pickle.dumps(support))):
        assert back == support
        assert back.joined is None
    assert ordhc.metrics.robinson_foulds(binary, three) == 1
    assert ordhc.metrics.robinson_foulds(binary, three, join_ties=True) == 0
    assert binary.join_ties() == three


@pytest.mark.parametrize(
    ("labels", "support", "names"),
    [
        (("90", "7"), [0.9, 0.07], None),
        (("0.9", "1"), [0.9, 1.0], None),
        (("0.9", "1.5"), [0.009, 0.015], None),
        (("1e1", ".5"), [0.1, 0.005], None),
        (("95/0.98", "x"), [0.98, np.nan], (None, "x")),
        (("95.2/98", "7/90/100"), [0.98, 1.0], None),
        (("'95.2/98'", "90"), [np.nan, 0.9], ("95.2/98", None)),
        (("95/x", "90"), [np.nan, 0.9], ("95/x", None)),
        (("", "90[98]"), [np.nan, 0.9], None),
        (("150", "90"), None, ("150", "90")),
        (("-1", "90"), None, ("-1", "90")),
        (("90", "x_y"), [0.9, np.nan], (None, "x y")),
        (("'90'", "80"), [np.nan, 0.8], ("90", None)),
        (("nan", "inf"), None, ("nan", "inf")),
        (("90[&support=12]", ""), [0.12, np.nan], None),
        (("x[&support=12]", ""), [0.12, np.nan], ("x", None)),
    ],
)
def test_support_or_name(labels, support, names):
    tree = Dendrogram.from_newick("((a,b){},c){};".format(*labels))
    if support is None:
        assert tree.support is None
    else:
        np.testing.assert_array_equal(tree.support, support)
    assert tree.node_names == names
    assert Dendrogram.from_newick(tree.to_newick()) == tree


def test_support_after_a_length():
    tree = Dendrogram.from_newick("((a:1,b:1):0.05[98],c:1.05);")
    np.testing.assert_array_equal(tree.support, [0.98, np.nan])


def test_underscores():
    text = "(my_cat,'my_dog',ant_);"
    tree = Dendrogram.from_newick(text)
    assert tree.names == ("my cat", "my_dog", "ant ")
    assert tree.to_newick() == "('my cat','my_dog','ant ');"
    kept = Dendrogram.from_newick(text, preserve_underscores=True)
    assert kept.names == ("my_cat", "my_dog", "ant_")
    assert kept.to_newick() == "('my_cat','my_dog','ant_');"
    assert ordhc.read_tree(io.StringIO(text)) == tree
    assert ordhc.read_tree(io.StringIO(text), preserve_underscores=True) == kept


def test_trees_that_are_not_ultrametric(tmp_path):
    text = "((a:1,b:2)90:1,c:3);"
    with pytest.warns(ordhc.OrdhcWarning, match="`a` is 2 from the root, `c` 3: heights are ranks") as caught:
        tree = Dendrogram.from_newick(text)
    assert caught[0].filename == __file__
    assert tree.heights.tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(tree.branch_lengths, [1, 2, 3, 1, np.nan])
    assert tree.to_newick() == text
    (tmp_path / "t.nwk").write_text(text)
    with pytest.warns(ordhc.OrdhcWarning, match="not ultrametric") as caught:
        assert ordhc.read_tree(tmp_path / "t.nwk") == tree
    assert caught[0].filename == __file__
    with pytest.warns(ordhc.OrdhcWarning, match="1 of 4 branches have no length: heights are ranks"):
        assert Dendrogram.from_newick("((a:1,b):1,c:2);").to_newick() == "((a:1,b):1,c:2);"
    with pytest.warns(ordhc.OrdhcWarning, match="one child are passed over with their labels `x y`"):
        assert Dendrogram.from_newick("((a:1,b:1):1)'x y';").n_leaves == 2
    # Numbers with few digits.
    rounded = Dendrogram.from_newick("((a:0.333333,b:0.333333):0.333333,c:0.666667);")
    assert rounded.heights.tolist() == pytest.approx([1 / 3, 2 / 3], rel=1e-5)
    assert rounded.to_newick() == "((a:0.333333,b:0.333333):0.333333,c:0.666667);"


def test_what_others_write():
    # Biopython escapes quotes with backslashes.
    tree = Dendrogram.from_newick("('it\\'s':1.00000,'a b':1.00000):0.00000;\n")
    assert tree.names == ("it's", "a b")
    assert Dendrogram.from_newick("('a\\','b');").names == ("a\\", "b")
    tree = Dendrogram.from_newick(
        "[&R] ((a[&rate=1]:1,b:1)[&!color=#f00]x:1[&&NHX:S=h:B=9],[c [d]] c:2)[&U];"
    )
    assert tree.names == ("a", "b", "c")
    assert tree.node_names == ("x", None)


def test_own_files(tmp_path):
    tree = Dendrogram(
        [(0, 1), (2, 4), (3, 5)],
        [1.0, 2.0, 2.0],
        names=["a_b", "it's", "[c]", "d, e"],
        node_names=["x", None, "90"],
        support=[0.905, np.nan, 1],
        joined=[False, True, False],
    )
    for name in ("t.json", "t.nwk"):
        ordhc.write_tree(tree, tmp_path / name)
        back = ordhc.read_tree(tmp_path / name)
        assert clades(back) == clades(tree)
    assert ordhc.read_tree(tmp_path / "t.json") == tree


def test_joined_merges_are_checked():
    merges, heights = [(0, 1), (2, 3)], [1.0, 2.0]
    for options, part in [
        ({"joined": [True, False]}, "merge 0 is joined with merge 1, but stands at 1, not at 2"),
        ({"joined": [0, 1]}, "joined has type int64"),
        ({"joined": [False]}, "1 marks of joined merges for 2 merges"),
        ({"node_names": ["x"]}, "node_names are 1; one per merge, 2, is needed"),
        ({"node_names": ["x", 3]}, "node_names[1] is 3 of type int"),
        ({"branch_lengths": [1.0]}, "branch_lengths has shape (1,); (5,) is needed"),
        ({"branch_lengths": [1.0, 2, 3, np.inf, 5]}, "branch_lengths[3] is inf"),
    ]:
        with pytest.raises(ordhc.InputError) as error:
            Dendrogram(merges, heights, **options)
        assert part in str(error.value)
    with pytest.raises(ordhc.InputError, match="merge 0 is part of another node"):
        Dendrogram(merges, [2.0, 2.0], joined=[True, False], node_names=["x", None])


def test_ways_to_cut_a_node_are_the_same_tree():
    chain = Dendrogram([(2, 3), (1, 4), (0, 5)], [1.0] * 3, joined=[True, True, False])
    pairs = Dendrogram([(0, 2), (1, 3), (4, 5)], [1.0] * 3, joined=[True, True, False])
    assert chain == pairs
    assert chain != Dendrogram([(0, 2), (1, 3), (4, 5)], [1.0] * 3)
    assert chain != Dendrogram([(0, 2), (1, 3), (4, 5)], [1.0] * 3, joined=[True, False, False])


def test_deep_trees_and_long_names():
    n = 100_000
    merges = np.column_stack([np.arange(1, n), np.arange(n - 1, 2 * n - 2)])
    merges[0] = [0, 1]
    tree = Dendrogram(merges, np.arange(1.0, n))
    back = Dendrogram.from_newick(tree.to_newick())
    assert np.array_equal(back.merges, tree.merges)
    assert np.array_equal(back.heights, tree.heights)
    text = tree.to_newick(heights=True)
    assert Dendrogram.from_newick(text) == tree
    long = "x" * 100_000
    for text, part in [
        (f"({long},{long});", "the leaf name `xxx"),
        (f"(a:{long},b);", "is no branch length"),
        ("(a\x1b[31m,b);", "a comment"),
        ("('\x1b[31m','\x1b[31m');", r"`\u{1b}[31m` occurs twice"),
        (f"(a,b){long} {long};", "is not expected here"),
    ]:
        with pytest.raises(ordhc.InputError) as error:
            read_newick(text)
        assert part in str(error.value)
        assert len(str(error.value)) < 200
        assert "\x1b" not in str(error.value)
    for names in (["a", long], ["a", "\x1b"], ["a", "b", long]):
        with pytest.raises(ordhc.InputError) as error:
            read_newick("(a,b);", names=names)
        assert len(str(error.value)) < 200
        assert "\x1b" not in str(error.value)
