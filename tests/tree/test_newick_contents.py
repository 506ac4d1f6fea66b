"""What Newick text tells, and what of it is kept."""

import io
import pickle

import numpy as np
import pytest

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError, OrdhcWarning
from support.newick import clades, read_newick


def test_support_names_lengths_and_degrees():
    text = "((a:1,b:1)95:2,(c:2,d:2,e:2)'95':1)root:7;"
    tree = Dendrogram.from_newick(text)
    assert tree.names == ("a", "b", "c", "d", "e")
    assert tree.scale == "lengths"
    assert tree.parents.tolist() == [5, 5, 6, 6, 6, 7, 7, -1]
    assert tree.lengths.tolist() == [1, 1, 2, 2, 2, 2, 1, 7]
    # Two leaves join at the length of the path between them.
    assert tree.heights.tolist() == [2.0, 4.0, 6.0]
    assert tree.node_names == (None, "95", "root")
    np.testing.assert_array_equal(tree.support, [0.95, np.nan, np.nan])
    assert tree.to_newick() == text
    assert Dendrogram.from_newick("((a:1,b:1)95:2,c:3);").scale == "lengths"
    shape = Dendrogram.from_newick("((a,b),c)x;")
    assert shape.scale == "shape"
    assert shape.to_newick() == "((a,b),c)x;"
    assert shape.to_newick(heights=True) == "((a,b),c)x;"
    for have in ("heights", "lengths"):
        with pytest.raises(InputError, match="neither heights nor lengths"):
            getattr(shape, have)


def test_a_zero_branch_is_no_polytomy():
    binary = Dendrogram.from_newick("((a:1,b:1):0,c:1);")
    three = Dendrogram.from_newick("(a:1,b:1,c:1);")
    assert binary.heights.tolist() == [2, 2]
    assert three.heights.tolist() == [2]
    assert binary != three
    assert [tree.to_newick() for tree in (binary, three)] == ["((a:1,b:1):0,c:1);", "(a:1,b:1,c:1);"]
    support = Dendrogram.from_newick("((a:1,b:1):0,c:1)9;")
    for back in (ordhc.as_dendrogram(support.to_dict()), pickle.loads(pickle.dumps(support))):
        assert back == support
        assert len(back.parents) == 5
    assert ordhc.metrics.robinson_foulds(binary, three) == 1
    assert ordhc.metrics.robinson_foulds(binary, three, join_ties=True) == 0
    assert binary.contract(ties=True) == three


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


@pytest.mark.parametrize(
    ("text", "support"),
    [
        ("((a:1,b:1):0.05[98],c:1.05);", [0.98, np.nan]),
        ("((a:0.1,b:0.2):0.05[98],(c:0.1,d:0.1):0.07[5],e:0.3);", [0.05, 0.98, np.nan]),
        ("((a:0.1,b:0.2)95.2/98:0.05,(c:0.1,d:0.1)80/7:0.07,e:0.3);", [0.07, 0.98, np.nan]),
        ("((a:0.1,b:0.2)0.95/0.98:0.05,(c:0.1,d:0.1)1/0.07:0.07,e:0.3);", [0.07, 0.98, np.nan]),
        ("((a:0.1,b:0.2)100/1:0.05,(c:0.1,d:0.1)80/0.5:0.07,e:0.3);", [0.5, 1.0, np.nan]),
    ],
)
def test_support_as_raxml_and_iqtree_write_it(text, support):
    tree = Dendrogram.from_newick(text)
    np.testing.assert_array_equal(tree.support, support)
    assert tree.node_names is None
    assert tree.lengths[0] == tree.node("a").branch_length == float(text.split(":")[1].split(",")[0])
    assert Dendrogram.from_newick(tree.to_newick()) == tree


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


def test_trees_that_are_not_ultrametric(tmp_path, recwarn):
    text = "((a:1,b:2)90:1,c:3);"
    tree = Dendrogram.from_newick(text)
    assert tree.scale == "lengths"
    np.testing.assert_array_equal(tree.lengths, [1, 2, 3, 1, np.nan])
    assert tree.to_newick() == text
    with pytest.raises(InputError, match="lengths but no heights: leaf 0 is 2 from the root, leaf . 3"):
        tree.heights  # noqa: B018
    assert tree.root.height is None
    (tmp_path / "t.nwk").write_text(text)
    assert ordhc.read_tree(tmp_path / "t.nwk") == tree
    assert not recwarn.list
    with pytest.warns(OrdhcWarning, match="1 of 4 branches have no length") as caught:
        assert Dendrogram.from_newick("((a:1,b):1,c:2);").to_newick() == "((a:1,b):1,c:2);"
    assert caught[0].filename == __file__
    with pytest.warns(OrdhcWarning, match="one child were removed, with their labels `x y`"):
        found = Dendrogram.from_newick("((a:1,b:1):1)'x y';")
    assert found.to_newick() == "(a:1,b:1):1;"
    # Numbers with few digits.
    rounded = Dendrogram.from_newick("((a:0.333333,b:0.333333):0.333333,c:0.666667);")
    assert rounded.heights.tolist() == pytest.approx([2 / 3, 4 / 3], rel=1e-5)
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
    tree = Dendrogram.from_parents(
        [4, 4, 5, 5, 5, -1],
        heights=[1.0, 2.0],
        names=["a_b", "it's", "[c]", "d, e"],
        node_names=["x", "90"],
        support=[0.905, 1],
    )
    for name in ("t.json", "t.nwk"):
        ordhc.write_tree(tree, tmp_path / name)
        back = ordhc.read_tree(tmp_path / name)
        assert clades(back) == clades(tree)
    assert ordhc.read_tree(tmp_path / "t.json") == tree


def test_parents_are_checked():
    nan = np.nan
    for parents, options, part in [
        ([4, 4, 3, 4, -1], {}, "node 3 has one child"),
        ([2, 2, 3, -1], {}, "node 3 has one child"),
        ([1, -1], {}, "node 1 has one child"),
        ([4, 4, -1, 4, -1], {}, "parents[2] is -1, but only the last node is the root"),
        ([2, -1, 2], {}, "parents[2] is 2, but the last node is the root: -1"),
        ([2, 2, 2], {}, "parents[2] is 2, but the last node is the root: -1"),
        ([9, 9, -1], {}, "parents[0] is 9"),
        ([4, 6, 5, 6, 5, 4, -1], {}, "the parent of node 5 is 4"),
        ([3, 3, 4, 4, 4, 5, -1], {}, "node 5 has one child"),
        ([], {}, "parents have shape (0,)"),
        ([[2, 2, -1]], {}, "parents have shape (1, 3)"),
        ([1.5, 2, -1], {}, "parents[0] = 1.5 is not a whole number"),
        ([3, 3, 3, -1], {"heights": [1.0], "lengths": [1.0] * 4}, "heights= or lengths=, not both"),
        ([3, 3, 3, -1], {"heights": [nan]}, "is NaN"),
        ([3, 3, 3, -1], {"heights": [1.0, 2.0]}, "heights has shape (2,); (1,) is needed"),
        ([3, 3, 3, -1], {"lengths": [1.0, 2, np.inf, nan]}, "the length above node 2 is inf"),
        ([3, 3, 3, -1], {"lengths": [1.0]}, "lengths has shape (1,); (4,) is needed"),
        (
            [3, 3, 3, -1],
            {"node_names": ["x", "y"]},
            "node_names has 2 entries; one for each of the 1 inner nodes",
        ),
        ([3, 3, 3, -1], {"node_names": [3]}, "node_names[0] is 3 of type int"),
        ([3, 3, 3, -1], {"support": [0.5, 0.5]}, "support has shape (2,); (1,) is needed"),
        ([3, 3, 3, -1], {"support": [1.5]}, "support[0] is 1.5; support must be from 0 to 1"),
        ([3, 3, 3, -1], {"names": ["a"]}, "names has 1 entries for 3 leaves"),
        ([3, 3, 3, -1], {"heights": [1], "leaf_heights": [1, 2, nan]}, "leaf 2 has the height NaN"),
        ([3, 3, 3, -1], {"leaf_heights": [1, 2, 3]}, "neither heights nor lengths"),
    ]:
        with pytest.raises(InputError) as error:
            Dendrogram.from_parents(parents, **options)
        assert part in str(error.value)
        if not options:
            n = max(1, len(np.setdiff1d(np.arange(np.size(parents)), parents)))
            with pytest.raises(InputError) as error:
                ordhc.as_dendrogram({"n_leaves": n, "parents": parents})
            assert part in str(error.value)
    with pytest.raises(InputError, match="n_leaves is 3, but parents has 3 nodes, 2 of them leaves"):
        ordhc.as_dendrogram({"n_leaves": 3, "parents": [2, 2, -1]})


def test_deep_trees_and_long_names():
    n = 100_000
    merges = np.column_stack([np.arange(1, n), np.arange(n - 1, 2 * n - 2)])
    merges[0] = [0, 1]
    tree = Dendrogram(merges, np.arange(1.0, n))
    back = Dendrogram.from_newick(tree.to_newick())
    assert np.array_equal(back.merges, tree.merges)
    assert np.array_equal(back.heights, tree.heights)
    assert np.array_equal(back.lengths, tree.lengths, equal_nan=True)
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
        with pytest.raises(InputError) as error:
            read_newick(text)
        assert part in str(error.value)
        assert len(str(error.value)) < 200
        assert "\x1b" not in str(error.value)
    for names in (["a", long], ["a", "\x1b"], ["a", "b", long]):
        with pytest.raises(InputError) as error:
            read_newick("(a,b);", names=names)
        assert len(str(error.value)) < 200
        assert "\x1b" not in str(error.value)
