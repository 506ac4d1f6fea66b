"""Parts of trees and other orders of their leaves, beside what sets of leaves tell."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError
from support import metric_twins as naive
from support.newick import read_newick

QUICK = settings(deadline=None, max_examples=60)
TEXT = "(((cat:1,dog:1)pets:1,cow:2)animals:1,(car:1,bus:1,van:1)80:2)all;"


@st.composite
def texts(draw, max_leaves=9, lengths=True):
    """Newick text of a tree of any degree, with names; each branch with a length, if there are any."""
    source = random.Random(draw(st.integers(0, 10**9)))
    branch = (lambda: f":{source.randint(1, 8)}") if lengths else lambda: ""
    parts = [f"x{leaf}{branch()}" for leaf in range(draw(st.integers(1, max_leaves)))]
    if len(parts) == 1:
        return "x0;"
    numbers = iter(range(100))
    while len(parts) > 1:
        chosen = source.sample(parts, source.randint(2, len(parts)))
        parts = [part for part in parts if part not in chosen]
        parts.append(f"({','.join(chosen)})n{next(numbers)}{branch()}")
    return parts[0].rpartition(":")[0] + ";" if lengths else parts[0] + ";"


def clusters_of(tree):
    return sorted(sorted(node.leaf_names) for node in tree.nodes() if not node.is_leaf)


def path(tree, a, b):
    """The sum of lengths between two leaves."""
    top = tree.node([a, b])
    total = 0.0
    for node in (tree.node(a), tree.node(b)):
        while node != top:
            total += node.branch_length
            node = node.parent
    return total


@QUICK
@given(texts(), st.data())
def test_leaves_that_stay_keep_their_clusters_and_paths(text, data):
    tree = read_newick(text)
    names = data.draw(st.lists(st.sampled_from(tree.names), unique=True, min_size=1))
    part = tree.keep(names)
    assert list(part.names) == sorted(names, key=tree.names.index)
    expected = {tuple(sorted(set(cluster) & set(names))) for cluster in clusters_of(tree)}
    assert clusters_of(part) == sorted(list(cluster) for cluster in expected if len(cluster) > 1)
    for a in names:
        for b in names:
            assert path(part, a, b) == path(tree, a, b)
    for node in part.nodes():
        if not node.is_leaf:
            assert node.name == tree.node(node.leaf_names).name
    rest = [name for name in tree.names if name not in names]
    assert tree.prune(rest) == part
    assert tree.prune([]) is tree
    order = [name for name in (tree.names[leaf] for leaf in tree.leaf_order()) if name in names]
    assert [part.names[leaf] for leaf in part.leaf_order()] == order
    assert ordhc.as_dendrogram(part.to_dict()) == part
    # The text of a single leaf does not say whether the tree has lengths.
    assert Dendrogram.from_newick(part.to_newick(heights=True)) == part or len(part) == 1


@QUICK
@given(naive.trees(max_leaves=9))
def test_cophenetic_is_the_height_of_the_ancestor(tree):
    n = tree.n_leaves
    square = tree.cophenetic(square=True)
    expected = [[tree.node([i, j]).height for j in range(n)] for i in range(n)]
    assert np.array_equal(square, expected)
    assert np.array_equal(tree.cophenetic(), square[np.triu_indices(n, 1)])


def test_leaves_of_similarities_stand_where_they_are():
    tree = Dendrogram([(0, 1), (2, 3)], [5.0, 2.0], kind="similarity")
    assert tree.cophenetic(square=True).tolist() == [[5, 5, 2], [5, 5, 2], [2, 2, 5]]
    part = tree.keep([0, 2])
    assert part.leaf_heights.tolist() == [5, 5]
    assert part.to_newick() == "(0:1.5,1:1.5);"


@QUICK
@given(texts(), st.sampled_from(["ascending", "descending"]), st.data())
def test_orders_of_leaves_keep_the_tree(text, by_size, data):
    tree = read_newick(text)
    ladder = tree.rotate(by_size=by_size)
    for node in ladder.nodes():
        sizes = [child.size for child in node.children]
        assert sizes == sorted(sizes, reverse=by_size == "descending")
    assert ladder.rotate(by_size=by_size).leaf_order().tolist() == ladder.leaf_order().tolist()
    node = data.draw(st.sampled_from([node.label for node in tree.nodes()]))
    turned = tree.rotate(node)
    before, after = (t.node(node).children for t in (tree, turned))
    assert [child.label for child in after] == [child.label for child in before][::-1]
    for other in (ladder, turned):
        assert other == tree
        assert tree.rotate(order=other.leaf_order()).to_newick() == other.to_newick()
        assert clusters_of(other) == clusters_of(tree)
        written = [read_newick(t.to_newick()).names for t in (other, other.rotate(order=other.leaf_order()))]
        assert written[0] == written[1] == tuple(other.names[leaf] for leaf in other.leaf_order())
    assert turned.rotate(node).leaf_order().tolist() == tree.leaf_order().tolist()


def test_an_example_of_each():
    tree = Dendrogram.from_newick(TEXT)
    assert (
        tree.keep(["cat", "cow", "car", "bus"]).to_newick()
        == "((cat:2,cow:2)animals:1,(car:1,bus:1)80:2)all;"
    )
    assert tree.prune(["car", "bus"]).to_newick() == "(((cat:1,dog:1)pets:1,cow:2)animals:1,van:3)all;"
    assert tree.keep("cow").to_newick() == "cow;"
    assert tree.keep(2).n_leaves == 1
    assert tree.keep(np.array([0, 1])).support is None or np.isnan(tree.keep([0, 1]).support).all()
    assert tree.keep(["bus", "van"]).support.tolist() == [0.8]
    assert [tree.root.depth, tree.node("cat").depth] == [0, 3]
    assert tree.rotate(by_size="descending").leaf_order().tolist() == [0, 1, 2, 3, 4, 5]
    leaf = Dendrogram([], [])
    assert leaf.cophenetic().shape == (0,)
    assert leaf.cophenetic(square=True).tolist() == [[0.0]]
    assert leaf.rotate(by_size="ascending") == leaf.rotate(0) == leaf.keep([0]) == leaf


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda d: d.keep([]), "no leaf is given"),
        (lambda d: d.keep([0, 6]), r"leaves\[1\] = 6 is above 5"),
        (lambda d: d.keep([-1]), r"leaves\[0\] = -1 is below 0"),
        (lambda d: d.keep([0, 0]), "'cat' is given 2 times"),
        (lambda d: d.keep(["cat", "cart"]), "cart"),
        (lambda d: d.keep(["pets"]), "'pets' is a node, not a leaf"),
        (lambda d: d.keep([0.5]), "0.5"),
        (lambda d: d.prune(range(6)), "all 6 leaves would be removed"),
        (lambda d: d.node("lion"), "lion"),
        (lambda d: d.rotate(ordhc.Dendrogram([], []).root), "another tree"),
        (lambda d: d.rotate(order=[0, 1, 2]), "'car' is listed 0 times; each of the 6"),
        (
            lambda d: d.rotate(order=[0, 2, 1, 3, 4, 5]),
            "'cow' is between 'cat' and 'dog', which are in a cluster without it",
        ),
        (lambda d: d.cophenetic(square=2), "square"),
    ],
)
def test_what_can_not_be_done_says_why(wrong, words):
    with pytest.raises(InputError, match=words):
        wrong(Dendrogram.from_newick(TEXT))
