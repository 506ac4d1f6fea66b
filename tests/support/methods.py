"""Methods with the twins that they are to be, and data for them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

import ordhc
from ordhc.errors import OrdhcWarning
from support import twins
from support.comparisons import comparisons
from support.trees import clusters_of

FROM_TRIPLETS = ["adds3-al", "mulk3-al", "3-al"]
FROM_QUADRUPLETS = ["adds4-al", "mulk4-al", "4k-al", "4-al"]
EXACT = ["adds3-al", "3-al", *FROM_QUADRUPLETS]
FEW = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


def for_method(method, **options):
    """Comparisons as a method takes them."""
    return comparisons(3 if method in FROM_TRIPLETS else 4, **options)


@st.composite
def matrices(draw, max_leaves=8):
    """Small whole similarities, many of them equal."""
    n = draw(st.integers(2, max_leaves))
    y = draw(st.lists(st.integers(-3, 3), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    return squareform(np.array(y))


def rule_of(method, data):
    """The twin of a method, with exact values unless they are normalised."""
    rows, weights, n = data.rows.tolist(), data.weights, data.n_leaves
    if method in FROM_QUADRUPLETS and isinstance(data, ordhc.Triplets):
        rows = twins.as_quadruplets(rows)
    return {
        "adds3-al": lambda: twins.average(twins.adds3(rows, weights, n)),
        "mulk3-al": lambda: twins.average(twins.mulk3(rows, weights, n, True)),
        "mulk3-raw": lambda: twins.average(twins.mulk3(rows, weights, n, False)),
        "3-al": lambda: twins.three_al(rows, weights),
        "adds4-al": lambda: twins.average(twins.adds4(rows, weights, n)),
        "mulk4-al": lambda: twins.average(twins.mulk4(rows, weights, n)),
        "4k-al": lambda: twins.average(twins.four_k(rows, weights, n)),
        "4-al": lambda: twins.four_al(rows, weights),
    }[method]()


def expected_merges(method, data, labels=None):
    """(cluster, height) of each merge; leaves without an answer come last, in order."""
    if labels is not None:
        found = twins.agglomerate(data.n_leaves, rule_of(method, data), labels)
        return [(a | b, float(value)) for a, b, value in found]
    answered = twins.mentioned(data.rows, data.weights)
    found = twins.agglomerate(answered, rule_of(method, data))
    merges = [(a | b, float(value)) for a, b, value in found]
    whole = frozenset(answered)
    for leaf in sorted(set(range(data.n_leaves)) - whole):
        height = merges[-1][1] if merges else 0.0
        if whole:
            merges.append((whole | {leaf}, height))
        whole |= {leaf}
    return merges


def assume_no_near_ties(method, data, labels=None):
    leaves = twins.mentioned(data.rows, data.weights) if labels is None else data.n_leaves
    assume(twins.smallest_gap(leaves, rule_of(method, data), labels) > 1e-9)


def assume_no_rounded_ties(method, data, labels=None):
    """Means of whole similarities are exact, those of others may be rounded: no ties there."""
    if method not in ("3-al", "4-al") and data.weights is not None and (data.weights % 1).any():
        assume_no_near_ties(method, data, labels)


def clustered(data, method, **options):
    """The tree; exactly leaves without an answer are warned of."""
    if len(twins.mentioned(data.rows, data.weights)) == data.n_leaves:
        return ordhc.cluster(data, method=method, **options)
    with pytest.warns(OrdhcWarning):
        return ordhc.cluster(data, method=method, **options)


def assert_merges(tree, expected):
    """The last merges of the tree are the expected ones."""
    first = len(tree.merges) - len(expected)
    assert clusters_of(tree)[first:] == [cluster for cluster, _ in expected]
    heights = [height for _, height in expected]
    np.testing.assert_allclose(tree.heights[first:], heights, rtol=1e-9, atol=1e-9)


def assert_initial(tree, labels):
    first = {}
    for label in labels:
        first.setdefault(label, len(first))
    assert tree.cut(n_clusters=len(first)).tolist() == [first[label] for label in labels]
    assert len(tree.merges) == len(labels) - 1
