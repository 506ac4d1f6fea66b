"""New items in a tree, beside definitions by the members of clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError


def distances(X, Y):
    return np.sqrt(((X[:, None] - Y[None]) ** 2).sum(axis=2))


def to_cluster(name, x, members):
    """The dissimilarity of a point to a cluster of points, by the definition of the linkage."""
    d = np.sqrt(((members - x) ** 2).sum(axis=1))
    n = len(members)
    centre = np.sqrt(((members.mean(axis=0) - x) ** 2).sum())
    return {
        "single": d.min(),
        "complete": d.max(),
        "average": d.mean(),
        "ward": np.sqrt(2 * n / (n + 1)) * centre,
        "centroid": centre,
    }[name]


def by_definition(tree, name, X, x):
    """Return the leaves of the node beside the point, and the height: the first of all possible merges."""
    best = None
    for node in tree.nodes():
        begin = 0.0 if node.is_leaf else node.height
        end = np.inf if node.parent is None else node.parent.height
        height = max(begin, to_cluster(name, x, X[list(node.leaves)]))
        if height <= end and (best is None or height < best[1]):
            best = frozenset(node.leaves), height
    return best


@pytest.mark.parametrize("name", ["single", "complete", "average", "ward", "centroid"])
@given(seed=st.integers(0, 10**6), n=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_places_are_those_of_the_definition(name, seed, n):
    random = np.random.default_rng(seed)
    X, new = random.normal(size=(n, 2)), random.normal(size=(4, 2)) * 2
    tree = ordhc.linkage(distances(X, X), name, dissimilarity=True)
    if not tree.is_monotone:
        with pytest.raises(InputError, match="the tree has inversions"):
            ordhc.place(tree, distances(new, X))
        return
    placed = ordhc.place(tree, distances(new, X))
    larger = placed.extended()
    assert larger.n_leaves == n + 4
    assert larger.is_monotone
    assert larger.keep(range(n)).to_newick() == tree.to_newick()
    for item, x in enumerate(new):
        leaves, height = by_definition(tree, name, X, x)
        assert frozenset(tree.node(int(placed.nodes[item])).leaves) == leaves
        assert placed.heights[item] == pytest.approx(height, abs=1e-7)
        alone = ordhc.place(tree, distances(new[item : item + 1], X)).extended()
        parent = alone.node(n).parent
        assert parent.height == pytest.approx(height, abs=1e-7)
        assert set(parent.leaves) == leaves | {n}


@given(seed=st.integers(0, 10**6), n=st.integers(2, 10))
@settings(max_examples=60, deadline=None)
def test_a_far_item_of_single_linkage_is_that_of_the_tree_of_all(seed, n):
    random = np.random.default_rng(seed)
    X = random.integers(0, 6, size=(n, 2)).astype(float)
    x = np.array([[20.0, 20.0]]) + random.integers(0, 6, size=2)
    d = distances(X, X)
    larger = ordhc.place(ordhc.linkage(d, "single", dissimilarity=True), distances(x, X)).extended()
    both = np.concatenate([X, x])
    expected = ordhc.linkage(distances(both, both), "single", dissimilarity=True)
    np.testing.assert_allclose(larger.cophenetic(), expected.cophenetic(), atol=1e-6)


def test_similarities_labels_and_names():
    S = np.array([[0, 9, 1, 1], [9, 0, 1, 2], [1, 1, 0, 8], [1, 2, 8, 0.0]])
    tree = ordhc.linkage(S, "average", dissimilarity=False, names=["cat", "dog", "car", "bus"])
    placed = ordhc.place(tree, [[9, 9, 0, 1], [1, 0, 7, 9], [0, 0, 0, 0]])
    assert placed.labels(2).tolist() == [0, 1, -1]
    assert placed.heights.tolist() == [9.0, 9.0, 0.0]
    larger = placed.extended(["wolf", "van", "sun"])
    assert set(larger.node(["cat", "dog", "wolf"]).leaves) == {0, 1, 4}
    assert set(larger.node(["bus", "van"]).leaves) == {3, 5}
    assert sorted(len(child.leaves) for child in larger.root.children) == [1, 6]
    with pytest.raises(InputError, match="the tree has names: give 3 names of new items"):
        placed.extended()
    with pytest.raises(InputError, match="cat"):
        placed.extended(["cat", "van", "sun"])


def test_what_is_refused():
    tree = ordhc.linkage([1.0, 2.0, 3.0], "average", dissimilarity=True)
    with pytest.raises(
        InputError, match=r"values have shape \(2,\); a number for each of 3 leaves is needed"
    ):
        ordhc.place(tree, [1, 2])
    with pytest.raises(InputError, match="values are not finite"):
        ordhc.place(tree, [[1, 2, 3], [1, np.nan, 2]])
    with pytest.raises(InputError, match="linkage"):
        ordhc.place(tree, [1, 2, 3], linkage="averege")
    with pytest.raises(InputError, match="the tree does not record its linkage"):
        ordhc.place(ordhc.Dendrogram([(0, 1)], [1.0]), [1, 2])
    with pytest.raises(InputError, match="more than two children"):
        ordhc.place("(a:1,b:1,c:1);", [1, 2, 3], linkage="average")
    one = ordhc.place(ordhc.linkage(np.zeros((1, 1)), dissimilarity=True), [[3.0]])
    assert (one.nodes.tolist(), one.heights.tolist()) == ([0], [3.0])
    assert ordhc.place(tree, np.zeros((0, 3))).nodes.tolist() == []
