"""Trees in NEXUS, files of many trees, and through Bio.Phylo, DendroPy and ETE4."""

import io
import json
import math
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError, MissingExtraError
from support.newick import clades, read_newick

dendropy = pytest.importorskip("dendropy")

QUICK = settings(deadline=None, max_examples=60)
SPECIAL = " _'\"()[]{}:;,=-+.|é木🌲*/<>09abA"
#: No outer blanks, which some strip; DendroPy takes a quoted mark for the mark.
NAMES = st.text(SPECIAL, min_size=1, max_size=6).filter(
    lambda name: name == name.strip() and name not in set('(){}[],;:=\\"') and not _is_number(name)
)


def _is_number(name):
    try:
        [float(part) for part in name.split("/")]
    except ValueError:
        return False
    return True


@st.composite
def trees(draw, names=NAMES, min_leaves=2, folded=False):
    """Trees as they are read: of names, nodes of any degrees, support or names of nodes, lengths."""
    n = draw(st.integers(min_leaves, 8))
    key = str.casefold if folded else str
    leaves = draw(st.lists(names, min_size=n, max_size=n, unique_by=key))
    kind = draw(st.sampled_from(["none", "support", "names", "both"]))
    with_lengths = draw(st.booleans())

    def length():
        return f":{draw(st.integers(0, 50)) / 8}" if with_lengths else ""

    there = ["'" + leaf.replace("'", "''") + "'" + length() for leaf in leaves]
    while len(there) > 1:
        k = min(len(there), draw(st.sampled_from([2, 2, 3, 4])))
        start = draw(st.integers(0, len(there) - k))
        label = ""
        if kind in ("support", "both") and draw(st.booleans()):
            label = str(draw(st.integers(2, 100)))
        elif kind in ("names", "both") and draw(st.booleans()):
            label = "'" + draw(names).replace("'", "''") + "'"
        node = f"({','.join(there[start : start + k])}){label}"
        there[start : start + k] = [node + (length() if k < len(there) else "")]
    return read_newick(there[0] + ";")


def quietly(call, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **options)


def read(text, **options):
    return quietly(ordhc.read_tree, io.StringIO(text), **options)


# --- NEXUS --------------------------------------------------------------------------------------


@QUICK
@given(
    st.lists(
        trees(min_leaves=1) | trees(names=st.from_regex("[1-9]{1,3}(.5|e1|x)?", fullmatch=True)),
        min_size=1,
        max_size=3,
    )
)
def test_nexus_comes_back(tmp_path_factory, found):
    path = tmp_path_factory.mktemp("nexus") / "t.nex"
    quietly(ordhc.write_trees, found, path)
    back = quietly(ordhc.read_trees, path)
    assert len(back) == len(found)
    for tree, other in zip(found, back, strict=True):
        assert clades(other) == clades(tree)
        assert other.to_newick() == tree.to_newick()


FIGTREE = """#NEXUS
[written by hand]
Begin taxa;
  Dimensions ntax=4;
  Taxlabels 'my cat' a_b A 'it''s; [x], (y):z';
End;
Begin trees;
  Translate 1 'my cat', 2 a_b, 3 A, 4 'it''s; [x], (y):z';
  Tree one = [&R] ((1:1,2:1)[&posterior=0.9,height_95%_HPD={0.1,0.2},!name="n m"]:1,
    (3[&rate=1]:1,4:1)'95':1)root;
  Tree two = [&U] ((1,2)90,3,4);
End;
"""


def test_nexus_as_others_write_it(tmp_path):
    first, second = ordhc.read_trees(io.StringIO(FIGTREE))
    assert first.names == ("my cat", "a b", "A", "it's; [x], (y):z") == second.names
    assert first.node("n m").support is None
    assert first.node("A").parent.support == 0.95
    assert first.root.name == "root"
    assert first.lengths[:-1].tolist() == [1] * 6
    assert first.heights.tolist() == [2, 2, 4]
    assert second.scale == "shape"
    assert second.root.children[0].support == 0.9
    assert len(second.root.children) == 3
    for name in ("t.nex", "t.tre", "t.trees", "t.txt"):
        (tmp_path / name).write_text(FIGTREE)
        assert len(ordhc.read_trees(tmp_path / name)) == 2
    with pytest.raises(InputError, match=r"t.nex: has 2 trees: read them with ordhc.read_trees"):
        ordhc.read_tree(tmp_path / "t.nex")
    one = FIGTREE.replace("  Tree two = [&U] ((1,2)90,3,4);\n", "")
    assert ordhc.read_tree(io.StringIO(one)) == first


@pytest.mark.parametrize(
    "comment", ["support=0.75", "posterior=0.75", "prob=7.5e-01,prob_stddev=0.0", "bootstrap=75"]
)
def test_annotations_are_support(comment):
    text = f"((a:1,b:1)[&{comment}]:1,c:2);"
    nexus = f"#NEXUS\nbegin trees;\ntree x = [&R] {text}\nend;\n"
    for tree in (read(text), read(nexus), read(text.replace("]:1", "]:[&rate=2]1"))):
        assert tree.node("a").parent.support == 0.75
        assert tree.root.support is None


def test_nexml():
    text = "((a:1,'b c':1)x:1,d:2);"
    nexml = dendropy.Tree.get(data=text, schema="newick").as_string("nexml")
    assert clades(read(nexml)) == clades(read_newick(text))
    with pytest.raises(InputError, match="PhyloXML is not read; convert it: Bio.Phylo.convert"):
        read('<?xml version="1.0"?><phyloxml xmlns="http://www.phyloxml.org"></phyloxml>')


def test_deep_trees_in_nexus(tmp_path):
    n = 1_500
    merges = np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])
    tree = Dendrogram(merges, np.arange(n - 1.0), names=[f"leaf {i}" for i in range(n)])
    limit = sys.getrecursionlimit()
    ordhc.write_tree(tree, tmp_path / "deep.nex")
    assert clades(ordhc.read_tree(tmp_path / "deep.nex")).keys() == clades(tree).keys()
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#NEXUS\n", "there are no trees in the file"),
        ("#NEXUS\nbegin trees;\ntree x = ((a,b);\nend;\n", "DendroPy can't read the file as a NEXUS file"),
        ("#NEXUS\nbegin trees;\ntree x = (a,a);\nend;\n", "a"),
        ("#NEXUS\nbegin data;\ndimensions ntax=1;\n", "the stream:2: the block that begins here has no END;"),
        (
            "#NEXUS\nbegin taxa;\ntaxlabels a b;\nhnd;\nbegin trees;\ntree x=(a,b);\nend;",
            "the stream:2: the block",
        ),
        (
            "#NEXUS\n\n[x]begin trees;\ntree x=(a,b);\n",
            "the stream:3: the block that begins here has no END;",
        ),
        ("#NEXUS\nbegin taxa;\ntaxlabels a 'b;\nend;\n", "DendroPy can't read it|has no END"),
        ("<?xml version='1.0'?><nex:nexml>", "a NeXML file"),
    ],
)
def test_what_is_no_nexus(text, message):
    with pytest.raises(InputError, match=message):
        read(text)
    with pytest.raises(InputError, match=message):
        quietly(ordhc.read_trees, io.StringIO(text))


def test_dendropy_is_asked_for(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "dendropy", None)
    with pytest.raises(MissingExtraError, match=r'a NEXUS file needs DendroPy: pip install "ordhc\[trees\]"'):
        read(FIGTREE)
    ordhc.write_tree(read_newick("(a,b);"), tmp_path / "t.nex")
    assert len(ordhc.read_trees(io.StringIO("(a,b);(b,a);"))) == 2


# --- many trees ---------------------------------------------------------------------------------


@QUICK
@given(st.lists(trees(), min_size=1, max_size=4), st.sampled_from(["", " ", "\n", "\n[&R] ", "[; ' ]\n"]))
def test_many_trees_in_a_text(found, between):
    text = between + between.join(tree.to_newick() for tree in found) + between
    back = quietly(ordhc.read_trees, io.StringIO(text))
    assert [tree.to_newick() for tree in back] == [tree.to_newick() for tree in found]
    for name, kind in (("t.json", "json"), ("t.nwk", "newick")):
        buffer = io.BytesIO(ordhc.io.trees.tree_bytes(found, kind))
        buffer.name = name
        again = quietly(ordhc.read_trees, buffer)
        assert [clades(tree) for tree in again] == [clades(tree) for tree in found]
    if len(found) > 1:
        with pytest.raises(InputError, match=f"has {len(found)} trees: read them with ordhc.read_trees"):
            read(text)


def test_trees_of_the_same_leaves_are_numbered_alike(tmp_path):
    (tmp_path / "t.nwk").write_text("((a,b),c);\n(c,(b,a));\n(a,d);\n")
    found = ordhc.read_trees(tmp_path / "t.nwk")
    assert [tree.names for tree in found] == [("a", "b", "c"), ("a", "b", "c"), ("a", "d")]
    assert found[1].to_newick() == "(c,(b,a));"
    assert found[0].cut(depth=1).tolist() == found[1].cut(depth=1).tolist() == [0, 0, 1]
    numbers = ordhc.read_trees(io.StringIO("((0,1),2);((1,0),2);"))
    assert [tree.names for tree in numbers] == [None, None]


def test_places_of_mistakes(tmp_path):
    (tmp_path / "t.nwk").write_text("(a,b);\n((a,b),\nc;\n(a,b);\n")
    with pytest.raises(InputError, match=r"t.nwk:3: `;` comes before all parentheses are closed"):
        ordhc.read_trees(tmp_path / "t.nwk")
    (tmp_path / "t.nwk").write_text("(a,b);\n(a,b)\n")
    with pytest.raises(InputError, match="does not end with `;`|more text"):
        ordhc.read_trees(tmp_path / "t.nwk")
    with pytest.raises(InputError, match=r"there is more text after the tree's `;` \(one tree is read\)"):
        ordhc.read_tree(tmp_path / "t.nwk")


def test_what_holds_one_tree(tmp_path):
    tree = read_newick("((a:1,b:1):1,c:2);")
    for name in ("t.csv", "t.npy"):
        ordhc.write_trees([tree], tmp_path / name)
        assert ordhc.read_trees(tmp_path / name)[0].heights.tolist() == [2, 4]
        with pytest.raises(InputError, match=r"one tree, not 2: write .nwk, .nex or .json"):
            ordhc.write_trees([tree, tree], tmp_path / name)
    ordhc.write_trees((each for each in [tree, tree]), tmp_path / "t.json")
    assert len(json.loads((tmp_path / "t.json").read_text())) == 2
    assert ordhc.read_trees(tmp_path / "t.json") == [tree, tree]
    for wrong in ([], tree, "((a,b),c);", 3, [3]):
        with pytest.raises(InputError, match="tree"):
            ordhc.write_trees(wrong, tmp_path / "t.nwk")
    with pytest.raises(InputError, match="NEXUS|nexml"):
        ordhc.write_tree(tree, tmp_path / "t.nexml")
    with pytest.raises(InputError, match="format"):
        ordhc.write_tree(tree, tmp_path / "t.nwk", "nexml")


# --- other packages -----------------------------------------------------------------------------


@QUICK
@given(trees(NAMES.filter(lambda name: "=" not in name)), st.booleans())
def test_dendropy_writes_what_is_read(tree, as_nexus):
    text = tree.to_newick()
    # In NEXUS it does not read `=` as it writes it.
    options = {"suppress_internal_node_taxa": True, "rooting": "force-rooted"}
    namespace = dendropy.TaxonNamespace(is_case_sensitive=True)
    theirs = dendropy.Tree.get(
        data=text, schema="newick", taxon_namespace=namespace, case_sensitive_taxon_labels=True, **options
    )
    written = theirs.as_string("nexus" if as_nexus else "newick")
    assert clades(read(written)) == clades(tree)


@QUICK
@given(trees(NAMES.filter(lambda name: "'" not in name), folded=True))
def test_biopython_reads_and_writes_the_same(tree):
    Phylo = pytest.importorskip("Bio.Phylo")
    theirs = Phylo.read(io.StringIO(tree.to_newick()), "newick")
    there = {frozenset(leaf.name for leaf in node.get_terminals()): node for node in theirs.find_clades()}
    for leaves, (name, support, length) in clades(tree).items():
        node = there[leaves]
        if len(leaves) > 1:
            assert node.name == name
            known = None if support == "nan" else pytest.approx(100 * float(support))
            assert name is not None or node.confidence == known
        if node.branch_length is not None and len(leaves) < len(tree):
            assert math.isclose(node.branch_length, float(length))
    target = io.StringIO()
    Phylo.write(theirs, target, "newick", format_branch_length="%r", format_confidence="%g")
    # Biopython writes `_` without quotes.
    back = clades(read(target.getvalue(), preserve_underscores=True))
    assert back.keys() == clades(tree).keys()
    for leaves, (name, support, _) in clades(tree).items():
        assert back[leaves][0] == name
        assert name is not None or float(back[leaves][1]) == pytest.approx(float(support), nan_ok=True)


def test_biopython_writes_quotes_as_it_does():
    Phylo = pytest.importorskip("Bio.Phylo")
    names = ["it's", "'", "a'", "''b", "(c', d')"]
    theirs = Phylo.BaseTree.Tree.from_clade(
        Phylo.BaseTree.Clade(clades=[Phylo.BaseTree.Clade(name=name, branch_length=1.0) for name in names])
    )
    target = io.StringIO()
    Phylo.write([theirs, theirs], target, "newick")
    assert [list(tree.names) for tree in ordhc.read_trees(io.StringIO(target.getvalue()))] == [names, names]


@QUICK
@given(trees())
def test_ete_reads_and_writes_the_same(tree):
    ete4 = pytest.importorskip("ete4")
    theirs = ete4.Tree(tree.to_newick(), parser=1)
    mine = clades(tree)
    there = {frozenset(leaf.name for leaf in node.leaves()): node for node in theirs.traverse()}
    assert there.keys() == mine.keys()
    for leaves, (name, support, length) in mine.items():
        node = there[leaves]
        if node.dist is not None and len(leaves) < len(tree):
            assert math.isclose(node.dist, float(length))
        if name is not None:
            assert node.name == name
        elif support != "nan":
            assert float(node.name) == pytest.approx(100 * float(support))
    # ETE4 writes `_` without quotes.
    back = clades(read(theirs.write(parser=1, format_root_node=True), preserve_underscores=True))
    assert back.keys() == mine.keys()
    for leaves, (name, _, length) in mine.items():
        if len(leaves) == 1:
            assert float(back[leaves][2]) == pytest.approx(float(length), nan_ok=True)
        elif name is not None:
            assert back[leaves][0] == name


def test_a_stream_of_text_takes_a_tree(monkeypatch):
    # Notebooks replace standard output with a stream that has no `buffer`.
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    ordhc.write_tree(ordhc.Dendrogram.from_newick("((ä,b),c);"), "-")
    assert ordhc.Dendrogram.from_newick(stream.getvalue()).names == ("ä", "b", "c")
