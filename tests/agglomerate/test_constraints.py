"""Sizes of leaves, must-link and cannot-link, beside merges in exact arithmetic by formulas of textbooks."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError

RULES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
SQUARED = ("ward", "centroid", "median")


def joined(rule, sizes, d, i, j, k):
    """The dissimilarity (squared for some rules) of the merge of i and j to k, by Lance and Williams."""
    a, b, c = sizes[i], sizes[j], sizes[k]
    x, y, z = d[i, k], d[j, k], d[i, j]
    return {
        "single": lambda: min(x, y),
        "complete": lambda: max(x, y),
        "average": lambda: (a * x + b * y) / (a + b),
        "weighted": lambda: (x + y) / 2,
        "ward": lambda: ((a + c) * x + (b + c) * y - c * z) / (a + b + c),
        "centroid": lambda: (a * x + b * y) / (a + b) - a * b * z / (a + b) ** 2,
        "median": lambda: (x + y) / 2 - z / 4,
    }[rule]()


def exact(pairs, n, rule, sizes, labels, apart):
    """Return the sets of leaves of all merges, their heights, and the clusters left that are apart."""
    sizes = [Fraction(size) for size in sizes]
    d = {}
    for (i, j), x in zip(itertools.combinations(range(n), 2), pairs, strict=True):
        x = Fraction(x) ** 2 if rule in SQUARED else Fraction(x)
        if rule == "ward":
            x *= 2 * sizes[i] * sizes[j] / (sizes[i] + sizes[j])
        d[i, j] = d[j, i] = x
    clusters = {leaf: {leaf} for leaf in range(n)}
    found = []

    def merge_nearest(allowed):
        choices = [(d[i, j], i, j) for i, j in itertools.combinations(sorted(clusters), 2) if allowed(i, j)]
        if not choices:
            return False
        x, i, j = min(choices)
        for k in clusters.keys() - {i, j}:
            d[i, k] = d[k, i] = joined(rule, sizes, d, i, j, k)
        clusters[i] |= clusters.pop(j)
        sizes[i] += sizes[j]
        found.append([frozenset(clusters[i]), x])
        return True

    for label in dict.fromkeys(labels):
        one = [leaf for leaf in range(n) if labels[leaf] == label]
        while merge_nearest(lambda i, j, one=one: i in one and j in one):
            pass
    within = len(found)

    def free(i, j):
        return not any(
            (a in clusters[i] and b in clusters[j]) or (b in clusters[i] and a in clusters[j])
            for a, b in apart
        )

    while merge_nearest(free):
        pass
    after, n_apart = len(found), len(clusters)
    while merge_nearest(lambda i, j: True):
        pass
    farthest = max((x for _, x in found[within:after]), default=None)
    for merge in found[after:]:
        merge[1] = merge[1] if farthest is None else max(merge[1], farthest)
    if rule not in ("centroid", "median"):
        for before, merge in itertools.pairwise(found[after:]):
            merge[1] = max(merge[1], before[1])
    closest = min((x for _, x in found[within:]), default=None)
    for merge in found[:within]:
        merge[1] = merge[1] if closest is None else min(merge[1], closest)
    root = (lambda x: math.copysign(math.sqrt(abs(x)), x)) if rule in SQUARED else float
    return {leaves: root(x) for leaves, x in found}, n_apart


@st.composite
def problems(draw):
    n = draw(st.integers(2, 7))
    pairs = draw(st.lists(st.integers(0, 4), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 0.5]), min_size=n, max_size=n))
    leaf = st.integers(0, n - 1)
    some = st.lists(st.tuples(leaf, leaf).filter(lambda pair: pair[0] != pair[1]), max_size=4)
    must, cannot = draw(some), draw(some)
    labels = list(range(n))
    for a, b in must:
        labels = [labels[a] if label == labels[b] else label for label in labels]
    cannot = [(a, b) for a, b in cannot if labels[a] != labels[b]]
    return n, pairs, sizes, must, cannot, labels


@given(problems(), st.sampled_from(RULES))
@settings(max_examples=150, deadline=None)
def test_merges_are_those_of_exact_arithmetic(problem, rule):
    n, pairs, sizes, must, cannot, labels = problem
    tree = ordhc.linkage(
        np.array(pairs, dtype=float),
        rule,
        dissimilarity=True,
        must_link=must,
        cannot_link=cannot,
        sizes=sizes,
    )
    expected, n_apart = exact(pairs, n, rule, sizes, labels, cannot)
    found = {frozenset(node.leaves): node.height for node in tree.nodes() if not node.is_leaf}
    assert found.keys() == expected.keys()
    for leaves, height in expected.items():
        assert found[leaves] == pytest.approx(height, abs=1e-7)
    if cannot:
        assert tree.settings["n_apart"] == n_apart
        cut = tree.cut(n_clusters=n_apart)
        assert all(cut[a] != cut[b] for a, b in cannot)
    cut = tree.cut(n_clusters=len(set(labels)))
    assert all(cut[a] == cut[b] for a, b in must) or cannot


@pytest.mark.parametrize("rule", RULES)
def test_a_size_is_like_rows_that_repeat(rule):
    random = np.random.default_rng(4)
    X, sizes = random.normal(size=(30, 3)), random.integers(1, 4, 30)
    which = np.repeat(np.arange(30), sizes)

    def distances(X):
        return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))

    few = ordhc.linkage(distances(X), rule, dissimilarity=True, sizes=sizes)
    many = ordhc.linkage(distances(X[which]), rule, dissimilarity=True)
    first = np.searchsorted(which, np.arange(30))
    for k in (2, 5, 12):
        assert ordhc.metrics.ari(few.cut(k), many.cut(k)[first]) == 1
    np.testing.assert_allclose(np.sort(few.heights)[-10:], np.sort(many.heights)[-10:])


def test_of_names_and_a_random_order():
    S = np.array([[0, 5, 1, 2], [5, 0, 3, 1], [1, 3, 0, 4], [2, 1, 4, 0.0]])
    names = ["cat", "dog", "car", "bus"]
    how = {"dissimilarity": False, "names": names, "cannot_link": [("cat", "dog")]}
    tree = ordhc.linkage(S, "average", **how)
    assert tree.to_newick(branch_lengths=False) == "(cat,(dog,(car,bus)));"
    assert tree.settings["n_apart"] == 2
    for seed in range(5):
        other = ordhc.linkage(S, "average", tie_seed=seed, **how)
        assert other.to_newick(branch_lengths=False) == tree.to_newick(branch_lengths=False)
        assert other.settings["n_apart"] == 2
    # Underscores and blanks are the same in names, as everywhere.
    other = ordhc.linkage(S, dissimilarity=False, names=["a cat", *names[1:]], cannot_link=[("a_cat", "dog")])
    assert other.settings["n_apart"] == 2
    tree = ordhc.linkage(S, "average", dissimilarity=False, names=names, must_link=[("cat", "bus")])
    assert len(tree.node(["cat", "bus"]).leaves) == 2


def test_large_sets_are_kept_apart():
    random = np.random.default_rng(1)
    X = np.concatenate([random.normal(size=(150, 2)), random.normal(size=(150, 2)) + 1])
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    cannot = [(i, 150 + i) for i in range(150)]
    for rule in ("average", "ward", "complete"):
        tree = ordhc.linkage(d, rule, dissimilarity=True, cannot_link=cannot)
        k = tree.settings["n_apart"]
        cut = tree.cut(n_clusters=k)
        assert k >= 2
        assert all(cut[a] != cut[b] for a, b in cannot)
        assert any((tree.cut(n_clusters=k - 1)[a] == tree.cut(n_clusters=k - 1)[b]) for a, b in cannot)
        assert (np.diff(tree.heights) >= 0).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cannot_link": [(0, 3)]}, "cannot_link has leaf 3; the ids of the leaves are 0 to 2"),
        ({"cannot_link": [(1, 1)]}, "cannot_link has leaf 1 twice in a pair"),
        ({"must_link": [(0, 1, 2)]}, "must_link has .*, which is not a pair of leaves"),
        ({"must_link": ["ab"]}, "must_link has 'ab', which is not a pair of leaves"),
        ({"must_link": [(0, "cat")]}, "must_link: "),
        (
            {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]},
            "cannot_link has the pair 0, 2, which must",
        ),
        (
            {"initial_clusters": [4, 4, 1], "cannot_link": [(1, 0)]},
            "cannot_link has the pair 1, 0, which must",
        ),
        ({"sizes": [1, 2]}, r"sizes has shape \(2,\); a positive number for each of 3 leaves is needed"),
        ({"sizes": [1, 0, 2]}, "size 0 of leaf 1 is not a positive number"),
        ({"sizes": [1, np.nan, 2]}, "size nan of leaf 1 is not a positive number"),
        ({"sizes": [1, 1, 1], "overwrite": True}, "overwrite=True takes neither sizes nor cannot_link"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        ordhc.linkage(np.array([1.0, 2.0, 3.0]), "average", dissimilarity=True, **given)


def test_what_else_is_refused():
    S = np.array([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="'ward' takes sizes with dissimilarities only"):
        ordhc.linkage(S, "ward", dissimilarity=False, sizes=[1, 2, 1])
    sparse = pytest.importorskip("scipy.sparse").csr_array(np.eye(3))
    with pytest.raises(InputError, match="a sparse matrix takes neither sizes nor cannot_link"):
        ordhc.linkage(sparse, "average", dissimilarity=False, sizes=[1, 2, 1])
    with pytest.raises(InputError, match="S is a function: leave out"):
        ordhc.linkage(
            lambda i, others: np.ones(len(others)),
            "single",
            dissimilarity=False,
            n_leaves=3,
            must_link=[(0, 1)],
        )
    one = ordhc.linkage(np.zeros((1, 1)), dissimilarity=True, sizes=[3], cannot_link=[])
    assert one.n_leaves == 1
