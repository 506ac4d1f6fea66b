"""Newick text: what is kept, what others read, and what is refused."""

import contextlib
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError
from support.newick import LENGTHS, NAMES, clades, dendrograms, read_newick

dendropy = pytest.importorskip("dendropy")

QUICK = settings(deadline=None, max_examples=60)
#: DendroPy takes a quoted mark for the mark.
FINE = NAMES.filter(lambda name: name.strip() and name not in set('(){}[],;:=\\"'))


# --- any dendrogram ----------------------------------------------------------------------------


@QUICK
@given(dendrograms())
def test_any_dendrogram_comes_back(tree):
    assert ordhc.as_dendrogram(json.loads(json.dumps(tree.to_dict()))) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    back = read_newick(tree.to_newick(heights=True))
    assert back == tree
    assert back.scale == tree.scale
    assert read_newick(back.to_newick(heights=True)) == tree
    # Without comments all but heights and the order of nodes.
    plain = read_newick(tree.to_newick(), names=tree.names)
    assert clades(plain) == clades(tree)
    assert read_newick(plain.to_newick(), names=tree.names) == plain


@QUICK
@given(dendrograms(), st.integers(0, 2**32 - 1))
def test_renumbered_leaves_keep_all(tree, seed):
    order = np.random.default_rng(seed).permutation(tree.n_leaves)
    if tree.names is not None:
        assert clades(tree.relabel(order)) == clades(tree)
    assert tree.relabel(order).relabel(np.argsort(order)) == tree


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
            "both": st.integers(0, 100).map(str) | st.sampled_from(["x1", "95|0.98", "''"]),
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
    tree = read_newick(text)
    assert read_newick(tree.to_newick()) == tree
    assert read_newick(tree.to_newick(heights=True)) == tree
    assert read_newick(tree.to_newick()).to_newick() == tree.to_newick()
    assert read_newick(tree.to_newick(), names=tree.names) == tree


@QUICK
@given(texts())
def test_dendropy_reads_the_same(text):
    theirs = of_dendropy(text)
    tree = read_newick(text)
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
    unit = 1 if tree._annotations.shares else 100
    found = {}
    for leaves, (name, share, length) in clades(tree).items():
        share, length = float(share), float(length)
        label = (name or None) if math.isnan(share) else pytest.approx(share * unit, rel=1e-15)
        found[leaves] = (number_or_name(label) if isinstance(label, str) else label, none_if_nan(length))
    return found


def none_if_nan(value):
    return None if math.isnan(value) else value


@settings(deadline=None, max_examples=150)
@given(st.text("(),:;'[]_&=12.ab \n\\é", max_size=25) | st.text(max_size=25))
def test_no_text_does_harm(text):
    tree = None
    with contextlib.suppress(InputError):
        tree = read_newick(text)
    if tree is not None:
        assert read_newick(tree.to_newick()) == tree
