"""The dendrogram: exports, cuts, ancestors, bad input."""

import numpy as np
import pytest
import scipy.cluster.hierarchy as hierarchy
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError
from ordhc.testing.strategies import dendrograms
from ordhc.tree.dendrogram import lca_size
from support.trees import members


@st.composite
def trees(draw):
    tree = draw(dendrograms())
    return tree.replace(
        names=draw(st.sampled_from([None, [f"leaf {i}'s (x)" for i in range(tree.n_leaves)]]))
    )


@settings(deadline=None)
@given(trees())
def test_scipy_takes_the_export(tree):
    Z = tree.to_linkage_matrix()
    if tree.n_leaves > 1:
        assert hierarchy.is_valid_linkage(Z, throw=True)
        assert hierarchy.leaves_list(Z).tolist() == tree.leaf_order().tolist()
        back = Dendrogram.from_linkage_matrix(Z)
        np.testing.assert_array_equal(back.merges, tree.merges)
        cut = tree.heights[len(tree.heights) // 2]
        at = cut if tree.kind == "dissimilarity" else tree.heights.max() - cut
        theirs = hierarchy.fcluster(Z, at, "distance")
        ours = tree.cut(height=cut)
        assert (theirs[:, None] == theirs).tolist() == (ours[:, None] == ours).tolist()


@settings(deadline=None)
@given(trees())
def test_cuts_and_ancestors_by_definition(tree):
    n = tree.n_leaves
    found = members(tree)
    for k in range(1, n + 1):
        labels = tree.cut(n_clusters=k)
        kept = found[: n + n - k]
        tops = [c for c in kept if not any(c < other for other in kept)]
        expected = {frozenset(c) for c in tops}
        assert {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels)} == expected
        firsts = [int(np.flatnonzero(labels == label)[0]) for label in range(k)]
        assert firsts == sorted(firsts)
    sign = 1 if tree.kind == "dissimilarity" else -1
    for height in {*tree.heights, *(tree.heights + 0.125), *(tree.heights - 0.125)}:
        labels = tree.cut(height=height)
        whole = [sign * h <= sign * height for h in [-sign * np.inf] * n + tree.heights.tolist()]
        kept = [c for c, fine in zip(found, whole, strict=True) if fine]
        tops = {frozenset(c) for c in kept if not any(c < other for other in kept)}
        assert {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels)} == tops
    i, j = np.meshgrid(np.arange(n), np.arange(n))
    sizes = lca_size(tree, i, j)
    for a in range(n):
        for b in range(n):
            assert sizes[b, a] == min(len(c) for c in found if {a, b} <= c)


def test_matches_by_name_when_scoring():
    t = ordhc.Triplets([("cat", "dog", "car"), ("dog", "cat", "bus"), ("car", "bus", "cat")])
    tree = ordhc.cluster(t, method="adds3-al+spr")
    read = Dendrogram.from_newick("((bus,car),(dog,cat));")
    assert ordhc.score(read, t) == ordhc.score(tree, t) == 6
    with pytest.raises(InputError, match="different names"):
        ordhc.score(Dendrogram.from_newick("((a,b),(c,d));"), t)


def test_bad_input_is_explained():
    for make, part in [
        (lambda: Dendrogram([(0, 1), (0, 2)], [1, 2]), "cluster 0 is merged a second time"),
        (lambda: Dendrogram([(0, 5)], [1]), "cluster 5 is not made yet"),
        (lambda: Dendrogram([(0, -1)], [1]), "below 0"),
        (lambda: Dendrogram([(0, 1.5)], [1]), "1.5"),
        (lambda: Dendrogram([(0, 1)], [np.nan]), "merge 0 is NaN"),
        (lambda: Dendrogram([(0, 1)], [1, 2]), "2 heights for 1 merges"),
        (lambda: Dendrogram([(0, 1)], [1], kind="distance"), "'distance'"),
        (lambda: Dendrogram([(0, 1)], [1], names=["a"]), "names has 1 entries for 2 leaves"),
        (lambda: Dendrogram([(0, 1)], [1], names=["a", "a"]), "'a' occurs twice"),
        (lambda: Dendrogram.from_linkage_matrix([[0, 1, 1, 3]]), "makes 2 leaves"),
        (lambda: Dendrogram.from_linkage_matrix([[0, 1, 1]]), "(n - 1, 4)"),
        (lambda: Dendrogram.from_newick("((a,b),c"), "ends inside the tree"),
        (lambda: Dendrogram.from_newick("(a,b);", names=["a", "c"]), "'b' is not in names"),
        (
            lambda: ordhc.as_dendrogram({"merges": []}),
            "the keys n_leaves and parents, and heights or lengths",
        ),
        (lambda: Dendrogram([(0, 1)], [1]).cut(), "give one of n_clusters, height, depth and path, not none"),
        (lambda: Dendrogram([(0, 1)], [1]).cut(3), "outside 1..=2"),
        (lambda: Dendrogram([(0, 1)], [1]).cut(0), "below 1"),
        (lambda: Dendrogram([(0, 1)], [1]).cut(1.5), "not a whole number"),
        (lambda: Dendrogram([(0, 1)], [1]).cut(height=np.nan), "NaN"),
        (lambda: lca_size(Dendrogram([(0, 1)], [1]), 0, 2), "leaf 2 is outside"),
        (lambda: lca_size(Dendrogram([(0, 1)], [1]), -1, 0), "leaf -1 is outside"),
        (lambda: Dendrogram([(0, 1)], [1]).relabel([0, 0]), "permutation"),
    ]:
        with pytest.raises(InputError) as error:
            make()
        assert part in str(error.value)


def test_arrays_are_made_once_and_read_only():
    tree = Dendrogram([(0, 1), (2, 3)], [1.0, 2.0])
    for name in ("merges", "heights", "sizes"):
        assert getattr(tree, name) is getattr(tree, name)
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 5
    assert tree.labels is tree.labels == ("0", "1", "2")
    given = np.array([1.0, 2.0])
    tree = Dendrogram([(0, 1), (2, 3)], given)
    given[0] = 5
    assert tree.heights[0] == 1.0
    assert tree.replace(names=["a", "b", "c"]).labels == ("a", "b", "c")


def test_shown_in_text_and_notebook():
    tree = ordhc.linkage([3.0, 1.0, 2.0], dissimilarity=False, names=["a", "b", "c"])
    assert repr(tree) == "<Dendrogram: 3 leaves, similarity 3 .. 1.5, average linkage>"
    assert tree._repr_html_().count("<iframe") == 1
    assert repr(Dendrogram([], [])) == "<Dendrogram: 1 leaf>"
