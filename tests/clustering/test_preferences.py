"""Linkages of complete or consistent comparisons: 4-SL, 4-CL, BUILD."""

import itertools
import re
import warnings

import numpy as np
import pytest
import scipy.cluster.hierarchy
from hypothesis import given
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from support import twins
from support.comparisons import comparisons, data_of
from support.methods import (
    FEW,
)
from support.trees import clusters_of


def complete_quadruplets(n, seed):
    """All comparisons of pairs, each in a random direction of writing, and the similarities."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n * (n - 1) // 2) + 1
    pairs = twins.pairs_of(n)
    rows = []
    for a, b in itertools.combinations(range(len(pairs)), 2):
        close, far = (a, b) if y[a] > y[b] else (b, a)
        rows.append([*rng.permutation(pairs[close]), *rng.permutation(pairs[far])])
    return ordhc.Quadruplets(np.array(rows, dtype=int)[rng.permutation(len(rows))], n), y


@pytest.mark.parametrize(("method", "name"), [("4-sl", "single"), ("4-cl", "complete")])
@FEW
@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_4_sl_and_4_cl_are_single_and_complete_linkage(method, name, n, seed):
    q, y = complete_quadruplets(n, seed)
    found = clusters_of(ordhc.cluster(q, method=method))
    rule = twins.four_sl if method == "4-sl" else twins.four_cl
    assert found == [a | b for a, b, _ in twins.agglomerate(n, rule(q.rows, q.weights))]
    Z = scipy.cluster.hierarchy.linkage(len(y) + 1.0 - y, name)
    assert found == clusters_of(ordhc.Dendrogram.from_linkage_matrix(Z))


@pytest.mark.parametrize("method", ["4-sl", "4-cl"])
@FEW
@given(st.integers(3, 6), st.integers(0, 2**32 - 1), st.data())
def test_a_missing_comparison_is_named(method, n, seed, data):
    q, _ = complete_quadruplets(n, seed)
    gone = data.draw(st.integers(0, len(q) - 1))
    row = q.rows[gone].tolist()
    with pytest.raises(InputError) as error:
        ordhc.cluster(q[np.arange(len(q)) != gone], method=method)
    for pair in (row[:2], row[2:]):
        assert names_in_order(str(error.value), pair) or names_in_order(str(error.value), pair[::-1])


def names_in_order(text, leaves):
    """Whether the numbers stand in the text one after another."""
    return re.search(r"(?<!\d)" + r"\D+".join(map(str, leaves)) + r"(?!\d)", text) is not None


def random_clusters(n, rng):
    """The clusters of a random binary tree, singletons included."""
    active = [frozenset([leaf]) for leaf in range(n)]
    clusters = set(active)
    while len(active) > 1:
        a = active.pop(rng.integers(len(active)))
        b = active.pop(rng.integers(len(active)))
        active.append(a | b)
        clusters.add(a | b)
    return clusters


def triples_of(clusters, n):
    """All (i, j, k) with a cluster that has i and j, but not k."""
    return [
        (i, j, k)
        for i, j in twins.pairs_of(n)
        for k in range(n)
        if any(i in c and j in c and k not in c for c in clusters)
    ]


def built(triples, n):
    """The clusters of method "build", singletons included."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        tree = ordhc.cluster(data_of(triples, n, width=3), method="build")
    return set(clusters_of(tree)) | {frozenset([leaf]) for leaf in range(n)}


@FEW
@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_build_finds_the_tree_of_all_its_triples(n, seed):
    rng = np.random.default_rng(seed)
    clusters = random_clusters(n, rng)
    triples = triples_of(clusters, n)
    assert twins.build(triples, n) == clusters
    triples = [(j, i, k) if rng.random() < 0.5 else (i, j, k) for i, j, k in triples]
    assert built([triples[at] for at in rng.permutation(len(triples))], n) == clusters


@FEW
@given(st.integers(3, 8), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_build_has_the_nodes_that_some_triples_tell(n, seed, share):
    rng = np.random.default_rng(seed)
    triples = [t for t in triples_of(random_clusters(n, rng), n) if rng.random() < share]
    found = built(triples, n)
    assert twins.build(triples, n) <= found
    # Leaves without answers are merged last.
    assert twins.build(triples, n) == found or len(np.unique(triples)) < n


@FEW
@given(comparisons(3, min_leaves=3, max_leaves=6, max_size=8))
def test_build_tells_consistent_triples_from_others(t):
    triples = t.rows.tolist()
    clusters = twins.build(triples, t.n_leaves)
    if clusters is None:
        with pytest.raises(InputError, match="no tree satisfies"):
            built(triples, t.n_leaves)
    else:
        assert clusters <= built(triples, t.n_leaves)


def lists(text, triple):
    i, j, k = triple
    return names_in_order(text, (i, j, k)) or names_in_order(text, (j, i, k))


@pytest.mark.parametrize(
    "conflict", [[(0, 1, 2), (0, 2, 1)], [(0, 1, 2), (1, 2, 0)], [(0, 1, 2), (1, 2, 3), (2, 3, 0)]]
)
def test_build_lists_triples_that_no_tree_has(conflict):
    others = [(4, 5, 6), (6, 7, 4), (8, 9, 4), (8, 9, 7)]
    with pytest.raises(InputError) as error:
        built([others[0], conflict[0], *others[1:], *conflict[1:]], 10)
    text = str(error.value)
    assert all(lists(text, triple) for triple in conflict)
    assert not any(lists(text, triple) for triple in others)
