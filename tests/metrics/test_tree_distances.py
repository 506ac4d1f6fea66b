"""Triplet distance and Robinson-Foulds beside naive twins and DendroPy."""

import math

import dendropy
import numpy as np
import pytest
from dendropy.calculate import treecompare
from hypothesis import given, settings
from hypothesis import strategies as st

from ordhc import metrics
from support import metric_twins as naive

QUICK = settings(deadline=None, max_examples=60)


def assert_topologies(a, b, join_ties):
    different = naive.triplet_distance(a, b, join_ties)
    found = metrics.triplet_distance(a, b, normalize=False, join_ties=join_ties)
    assert type(found) is int
    assert found == different
    share = metrics.triplet_distance(a, b, join_ties=join_ties)
    assert share == different / max(math.comb(a.n_leaves, 3), 1)
    different, clusters = naive.clusters_differ(a, b, join_ties)
    found = metrics.robinson_foulds(a, b, normalize=False, join_ties=join_ties)
    assert type(found) is int
    assert found == different
    assert metrics.robinson_foulds(a, b, join_ties=join_ties) == different / max(clusters, 1)


@QUICK
@given(naive.two_trees(), st.booleans())
def test_triplet_distance_and_robinson_foulds(trees, join_ties):
    assert_topologies(*trees, join_ties)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_triplet_distance_and_robinson_foulds_of_all_small_trees(n):
    trees = naive.binary_trees(n)
    for a in trees:
        for b in trees:
            assert_topologies(a, b, False)
            assert (metrics.triplet_distance(a, b) == 0) == (a is b) or n < 3


@QUICK
@given(naive.trees(min_leaves=3, max_leaves=8), st.booleans())
def test_the_twins_agree(tree, join_ties):
    odd = naive.odd_ones_out(tree, join_ties)
    for three, leaf in naive.triples(tree, join_ties).items():
        assert odd[three] == (-1 if leaf is None else leaf)


@pytest.mark.parametrize("join_ties", [False, True])
@pytest.mark.parametrize(
    "trees", [*naive.LARGE, [naive.random_tree(200, seed, n_heights=40) for seed in (8, 9)]]
)
def test_triplet_distance_of_more_leaves(trees, join_ties):
    a, b = (naive.odd_ones_out(tree, join_ties) for tree in trees)
    i, j, k = np.indices(a.shape, sparse=True)
    expected = int(((a != b) & (i < j) & (j < k)).sum())
    assert metrics.triplet_distance(*trees, normalize=False, join_ties=join_ties) == expected
    assert metrics.triplet_distance(*trees, join_ties=join_ties) == expected / math.comb(len(a), 3)


def dendropy_trees(trees, join_ties):
    """The clusters as DendroPy reads them, from text that is not ordhc's."""

    def text(tree):
        clusters = sorted(naive.nodes(tree, join_ties), key=len)
        written = {frozenset([leaf]): f"L{leaf}" for leaf in range(tree.n_leaves)}
        for cluster in clusters:
            parts = [part for part in written if part < cluster]
            written[cluster] = "(" + ",".join(written.pop(part) for part in parts) + ")"
        (whole,) = written.values()
        return f"{whole};"

    names = dendropy.TaxonNamespace([f"L{leaf}" for leaf in range(trees[0].n_leaves)])
    options = {"schema": "newick", "taxon_namespace": names, "rooting": "force-rooted"}
    return [dendropy.Tree.get(data=text(tree), **options) for tree in trees]


@settings(deadline=None, max_examples=40)
@given(naive.two_trees(min_leaves=3), st.booleans())
def test_robinson_foulds_beside_dendropy(trees, join_ties):
    expected = treecompare.symmetric_difference(*dendropy_trees(trees, join_ties))
    assert metrics.robinson_foulds(*trees, normalize=False, join_ties=join_ties) == expected


@pytest.mark.parametrize("join_ties", [False, True])
@pytest.mark.parametrize("trees", naive.LARGE)
def test_robinson_foulds_of_more_leaves_beside_dendropy(trees, join_ties):
    moved = trees[0].relabel([1, 0, *range(2, trees[0].n_leaves)])
    for pair in (trees, (trees[0], moved)):
        expected = treecompare.symmetric_difference(*dendropy_trees(pair, join_ties))
        assert metrics.robinson_foulds(*pair, normalize=False, join_ties=join_ties) == expected
        assert expected > 0
