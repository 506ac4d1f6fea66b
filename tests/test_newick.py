"""Newick text: what is kept, what others read, and what is refused."""

import contextlib
import io
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram
from ordhc.testing import strategies

dendropy = pytest.importorskip("dendropy")

QUICK = settings(deadline=None, max_examples=150)
# All that has a meaning in Newick text, and some that has none.
SPECIAL = " _'\"()[]{}:;,=\\/-+.\t\n|é木🌲0159ab"
NAMES = st.text(SPECIAL, min_size=0, max_size=6)
#: DendroPy takes a quoted mark for the mark.
FINE = NAMES.filter(lambda name: name.strip() and name not in set('(){}[],;:=\\"'))
LENGTHS = st.one_of(
    st.integers(0, 9).map(float),
    st.floats(0, 1e6),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
)


def read(text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ordhc.OrdhcWarning)
        return Dendrogram.from_newick(text, **options)


# --- any dendrogram ----------------------------------------------------------------------------


@st.composite
def dendrograms(draw):
    """With everything that a dendrogram can have, or without."""
    shape = draw(strategies.dendrograms(max_leaves=9))
    n, kind, merges = shape.n_leaves, shape.kind, shape.merges.tolist()
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    heights = rng.integers(0, 4, n - 1) * draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    if draw(st.booleans()):
        heights = np.sort(heights)[:: 1 if kind == "dissimilarity" else -1]
    above = {part: at for at, pair in enumerate(merges) for part in pair}
    joined = np.zeros(n - 1, dtype=bool)
    for at in range(n - 2):
        joined[at] = heights[at] == heights[above[n + at]] and draw(st.booleans())

    def maybe(values):
        return values if draw(st.booleans()) else None

    def by_merge(values):
        return [None if part else draw(st.none() | values) for part in joined]

    shares = st.floats(0, 1) | st.integers(0, 100).map(lambda k: k / 100) | st.floats(0, 0.01)
    lengths = [math.nan if at >= n and joined[at - n] else draw(LENGTHS) for at in range(2 * n - 1)]
    return Dendrogram(
        merges,
        heights,
        kind=kind,
        names=maybe(draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))),
        node_names=maybe(by_merge(NAMES)),
        support=maybe([math.nan if share is None else share for share in by_merge(shares)]),
        joined=joined,
        branch_lengths=maybe(lengths),
        leaf_heights=maybe([draw(LENGTHS) for _ in range(n)]),
    )


@QUICK
@given(dendrograms())
def test_any_dendrogram_comes_back(tree):
    assert Dendrogram.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    back = Dendrogram.from_newick(tree.to_newick(heights=True))
    assert back == tree
    assert back.to_newick(heights=True) != ""
    assert Dendrogram.from_newick(back.to_newick(heights=True)) == tree
    # Without comments all but heights and the order of merges.
    plain = read(tree.to_newick(), names=tree.names)
    assert clades(plain) == clades(tree)
    assert read(plain.to_newick(), names=tree.names) == plain


@QUICK
@given(dendrograms(), st.integers(0, 2**32 - 1))
def test_renumbered_leaves_keep_all(tree, seed):
    order = np.random.default_rng(seed).permutation(tree.n_leaves)
    if tree.names is not None:
        assert clades(tree.relabel(order)) == clades(tree)
    assert tree.relabel(order).relabel(np.argsort(order)) == tree


def clades(tree):
    """By the leaves below each node: its name, its support, the length of its branch."""
    n = tree.n_leaves
    below = [frozenset([label]) for label in tree.labels]
    lengths = tree.branch_lengths
    if lengths is None:
        lengths = np.full(2 * n - 1, math.nan)
        heights = tree.heights
        rest = 0.0 if tree.kind == "dissimilarity" else heights.max(initial=-math.inf)
        own = [rest] * n if tree.leaf_heights is None else list(tree.leaf_heights)
        own += list(heights)
        sign = 1 if tree.kind == "dissimilarity" else -1
        for at, pair in enumerate(tree.merges):
            for part in pair:
                top = at
                while tree.joined is not None and tree.joined[top]:
                    top = int(np.flatnonzero((tree.merges == n + top).any(axis=1))[0])
                lengths[part] = sign * (heights[top] - own[part])
    found = {}
    for a, b in tree.merges:
        below.append(below[a] | below[b])
    for cluster, leaves in enumerate(below):
        at = cluster - n
        if at >= 0 and tree.joined is not None and tree.joined[at]:
            continue
        name = tree.node_names[at] if at >= 0 and tree.node_names is not None else None
        share = tree.support[at] if at >= 0 and tree.support is not None else math.nan
        found[leaves] = (name, f"{share}", f"{lengths[cluster] + 0.0}")
    return found


# --- any text ----------------------------------------------------------------------------------


def quoted(name):
    return "'" + name.replace("'", "''") + "'"


@st.composite
def texts(draw, unary=False):
    """Newick text of a tree of any degrees, with labels of all kinds."""
    n = draw(st.integers(2, 10))
    names = draw(st.lists(FINE, min_size=n, max_size=n, unique_by=str.strip))
    with_lengths = draw(st.booleans())
    labels = draw(st.sampled_from(["none", "numbers", "shares", "names", "both"]))

    def length():
        return f":{draw(LENGTHS)!r}" if with_lengths and draw(st.integers(0, 9)) else ""

    def label():
        kinds = {
            "none": st.just(""),
            "numbers": st.integers(0, 100).map(str),
            "shares": st.floats(0, 1).map(repr),
            "names": FINE.map(quoted),
            "both": st.integers(0, 100).map(str) | st.sampled_from(["x1", "95/0.98", "''"]),
        }
        return draw(kinds[labels]) if draw(st.integers(0, 3)) else ""

    there = [quoted(name) + length() for name in names]
    while len(there) > 1:
        k = min(len(there), draw(st.sampled_from([2, 2, 2, 3, 4])))
        start = draw(st.integers(0, len(there) - k))
        node = f"({','.join(there[start : start + k])}){label()}"
        if unary and draw(st.integers(0, 4)) == 0:
            node = f"({node}{length()})"
        there[start : start + k] = [node + length() if k < len(there) else node]
    return there[0] + ";"


@QUICK
@given(texts(unary=True))
def test_any_text_comes_back(text):
    tree = read(text)
    assert read(tree.to_newick()) == tree
    assert read(tree.to_newick(heights=True)) == tree
    assert read(tree.to_newick()).to_newick() == tree.to_newick()
    assert read(tree.to_newick(), names=tree.names) == tree


@QUICK
@given(texts())
def test_dendropy_reads_the_same(text):
    theirs = of_dendropy(text)
    tree = read(text)
    assert of_ours(tree) == theirs
    # And what we write.
    assert of_dendropy(tree.to_newick()) == theirs


def of_dendropy(text):
    options = {
        "suppress_internal_node_taxa": True,
        "suppress_leaf_node_taxa": True,
        "rooting": "force-rooted",
    }
    tree = dendropy.Tree.get(data=text, schema="newick", **options)
    found = {}
    for node in tree.postorder_node_iter():
        leaves = frozenset(leaf.label for leaf in node.leaf_iter())
        label = None if node.is_leaf() else (node.label or None)
        found[leaves] = (number_or_name(label), node.edge.length)
    return found


def number_or_name(label):
    try:
        return float(label)
    except (TypeError, ValueError):
        return label


def of_ours(tree):
    unit = 1 if tree._beside.shares else 100
    found = {}
    for leaves, (name, share, length) in clades(tree).items():
        share, length = float(share), float(length)
        label = (name or None) if math.isnan(share) else pytest.approx(share * unit, rel=1e-15)
        found[leaves] = (number_or_name(label) if isinstance(label, str) else label, none_if_nan(length))
    return found


def none_if_nan(value):
    return None if math.isnan(value) else value


@settings(deadline=None, max_examples=400)
@given(st.text("(),:;'[]_&=12.ab \n\\é", max_size=25) | st.text(max_size=25))
def test_no_text_does_harm(text):
    tree = None
    with contextlib.suppress(ordhc.InputError):
        tree = read(text)
    if tree is not None:
        assert read(tree.to_newick()) == tree


# --- what is kept ------------------------------------------------------------------------------


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
    assert ordhc.metrics.robinson_foulds(binary, three) == 0


@pytest.mark.parametrize(
    ("labels", "support", "names"),
    [
        (("90", "7"), [0.9, 0.07], None),
        (("0.9", "1"), [0.9, 1.0], None),
        (("0.9", "1.5"), [0.009, 0.015], None),
        (("1e1", ".5"), [0.1, 0.005], None),
        (("95/0.98", "x"), None, ("95/0.98", "x")),
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
        ({"joined": [False]}, "1 marks of joined merges for 3 leaves"),
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


# --- size --------------------------------------------------------------------------------------


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
            read(text)
        assert part in str(error.value)
        assert len(str(error.value)) < 200
        assert "\x1b" not in str(error.value)
    for names in (["a", long], ["a", "\x1b"], ["a", "b", long]):
        with pytest.raises(ordhc.InputError) as error:
            read("(a,b);", names=names)
        assert len(str(error.value)) < 200
        assert "\x1b" not in str(error.value)
