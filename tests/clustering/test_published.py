"""Numbers of Mandal, Perrot & Ghoshdastidar, Table 3, on the data itself; and of their reference code."""

import pytest

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.tree.dendrogram import lca_size

FOOD, CAR = ordhc.datasets.load_food, ordhc.datasets.load_car


@pytest.mark.parametrize(
    ("source", "size", "leaves", "published"),
    [
        (FOOD, 190_376, 100, "6.137e+06"),
        (CAR, 14_194, 60, "1.521e+05"),
    ],
)
def test_adds3_average_linkage(source, size, leaves, published):
    t = source().triplets
    assert (len(t), t.n_leaves) == (size, leaves)
    tree = ordhc.cluster(t, method="adds3-al")
    assert f"{ordhc.score(tree, t):.3e}" == published
    assert ordhc.cluster(t, similarity="adds3", linkage="average") == tree
    assert ordhc.cluster(t, method="adds4-al") == tree
    assert ordhc.linkage(ordhc.similarity(t), dissimilarity=False, names=t.names) == tree
    assert ordhc.score(tree, t.to_quadruplets()) == ordhc.score(tree, t)


@pytest.mark.parametrize(
    ("source", "mulk3", "kernel4"),
    [
        (FOOD, 6_096_110, 6_137_086),
        (CAR, 126_417, 112_588),
    ],
)
def test_kernels_with_average_linkage(source, mulk3, kernel4):
    t = source().triplets
    assert ordhc.score(ordhc.cluster(t, method="mulk3-al"), t) == mulk3
    assert ordhc.score(ordhc.cluster(t, method="4k-al"), t) == kernel4


def test_theorem_1_holds_in_whole_numbers():
    t = CAR().triplets
    S = ordhc.similarity(t, dtype="int64")
    for name in ("average", "single", "ward"):
        tree = ordhc.linkage(S, name, dissimilarity=False)
        cost = sum(
            int(S[i, j]) * lca_size(tree, i, j) for i in range(t.n_leaves) for j in range(i + 1, t.n_leaves)
        )
        assert ordhc.score(tree, t) == -cost


def test_the_planted_hierarchy_is_found_without_noise():
    t, labels = ordhc.datasets.planted(14_000, levels=3, leaves_per_cluster=4, sigma=0.0, seed=2)
    tree = ordhc.cluster(t)
    for level in range(1, 4):
        cut = tree.cut(n_clusters=2**level)
        truth = labels[:, level - 1]
        assert ((cut[:, None] == cut) == (truth[:, None] == truth)).all()


def test_leaves_without_answers_are_kept():
    t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)], n_leaves=5)
    assert t.unmentioned.tolist() == [3, 4]
    with pytest.warns(OrdhcWarning, match="2 leaves have no answers and are merged last: 3, 4"):
        d = ordhc.cluster(t, method="adds3-al")
    assert d.merges.tolist() == [[0, 1], [2, 5], [3, 6], [4, 7]]
    assert d.heights.tolist() == [2.0, -1.0, -1.0, -1.0]
    with pytest.warns(OrdhcWarning, match="1 leaf has no answers"):
        assert ordhc.cluster(ordhc.Triplets([], n_leaves=1)).n_leaves == 1
    with pytest.warns(OrdhcWarning, match="3 leaves have no answers"):
        d = ordhc.cluster(ordhc.Triplets([], n_leaves=3))
    assert d.to_newick(branch_lengths=False) == "(2,(0,1));"


def test_methods_by_name():
    t = ordhc.Triplets([(0, 1, 2)])
    with pytest.raises(InputError, match="did you mean adds3-al"):
        ordhc.cluster(t, method="adds3al")
    with pytest.raises(InputError, match="not both"):
        ordhc.cluster(t, method="adds3-al", linkage="single")
    with pytest.raises(InputError, match="list is neither Triplets nor Quadruplets"):
        ordhc.cluster([(0, 1, 2)])
    with pytest.raises(InputError, match="unknown metric"):
        ordhc.score(ordhc.cluster(t), t, metric="revenue")
