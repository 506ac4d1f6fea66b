"""Distances given as similarities, and the reverse: who is warned, and who is left alone."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import ordhc
from ordhc import InputError, OrdhcWarning
from ordhc._checks import is_distances
from support.direction import looks_like_distances

pytestmark = pytest.mark.filterwarnings("error")

METRICS = ["euclidean", "sqeuclidean", "cityblock", "cosine", "correlation", "jensenshannon", "braycurtis"]


def points(seed, n):
    """Clusters of different sizes, positive coordinates."""
    rng = np.random.default_rng(seed)
    centres = rng.gamma(2, 2, size=(5, 8))
    return np.abs(centres[rng.integers(0, 5, n)] + rng.normal(size=(n, 8)))


def distances(seed, n):
    X = points(seed, n)
    for metric in METRICS:
        yield metric, pdist(X, metric)
    yield "ranks", squareform(np.argsort(np.argsort(squareform(pdist(X)))).T + 0.0, checks=False)


def similarities(seed, n):
    X = points(seed, n)
    d = pdist(X)
    wide = np.median(d)
    presence = np.median(X) < X
    for what, square in {
        "dot": X @ X.T,
        "correlation": np.abs(np.corrcoef(X)),
        "co-occurrence": presence.astype(int) @ presence.T,
        "popular": (np.random.default_rng(seed).gamma(2, 2, (n, 1)) < X).astype(int) @ np.ones((8, n)),
    }.items():
        yield what, squareform(np.minimum(square, square.T), checks=False)
    yield from [("rbf", np.exp(-((d / wide) ** 2))), ("narrow", np.exp(-10 * (d / wide) ** 2))]
    yield from [
        ("inverse", 1 / (1 + d)),
        ("turned", d.max() - d),
        ("jaccard", 1 - pdist(presence, "jaccard")),
    ]


@pytest.mark.parametrize("n", [8, 15, 40, 250])
def test_distances_are_told_from_similarities_with_zero_on_the_diagonal(n):
    told = {(way, of): [] for way in ("square", "condensed") for of in ("distances", "similarities")}
    for seed in range(6):
        for of, made in (("distances", distances), ("similarities", similarities)):
            for _, y in made(seed, n):
                told["condensed", of].append(is_distances(y) is not None)
                told["square", of].append(is_distances(squareform(y)) is not None)
    shares = {key: np.mean(found) for key, found in told.items()}
    assert shares["square", "distances"] >= (0.8 if n < 15 else 0.95), shares
    assert shares["condensed", "distances"] >= (0.8 if n < 15 else 0.95), shares
    assert shares["square", "similarities"] <= 0.02, shares
    assert shares["condensed", "similarities"] <= 0.02, shares


@pytest.mark.parametrize("n", [3, 4, 5, 6, 12, 24, 40, 130])
def test_few_leaves_tell_what_all_that_are_looked_at_tell(n):
    random = np.random.default_rng(n)
    given = [y for seed in range(3) for made in (distances, similarities) for _, y in made(seed, n)]
    given += [random.random(n * (n - 1) // 2) for _ in range(20)]
    given += [np.ones(n * (n - 1) // 2), np.zeros(n * (n - 1) // 2), random.integers(0, 2, n * (n - 1) // 2)]
    for y in given:
        for values in (y, squareform(y), -y, squareform(y) + np.eye(n)):
            assert (is_distances(values) is not None) == looks_like_distances(values)


def test_who_says_what_a_matrix_holds_is_not_warned():
    D = squareform(pdist(points(0, 20)))
    for given in (D, squareform(D), D.astype(np.float32), np.round(1000 * D).astype(int), 1e300 * D):
        with pytest.warns(OrdhcWarning, match="looks like distances .* dissimilarity=True") as caught:
            ordhc.linkage(given)
        assert caught[0].filename == __file__
        for dissimilarity in (True, False):
            ordhc.linkage(given, dissimilarity=dissimilarity)
    with pytest.warns(OrdhcWarning, match="looks like distances"):
        better = ordhc.refine(ordhc.linkage(D.max() - D), D)
    assert better == ordhc.refine(ordhc.linkage(D.max() - D), D, dissimilarity=False)
    with pytest.warns(OrdhcWarning, match=r"looks like distances .* give D.max\(\) - D"):
        ordhc.oracles.from_similarity(D)


def test_what_holds_similarities_is_not_warned_of():
    t, _ = ordhc.simulate_planted(2000, seed=1)
    for name in ("adds3", "mulk3"):
        ordhc.linkage(ordhc.similarity(t, name))
        ordhc.linkage(ordhc.similarity(t, name, layout="condensed"))
    X = points(3, 30)
    for S in (X @ X.T, np.corrcoef(X), np.exp(-squareform(pdist(X))), np.zeros((9, 9)), np.ones((9, 9))):
        ordhc.linkage(S)
    for y in ([], [1.0], [1.0, 2.0, 9.0], [0.0, 0.0, 1.0], np.random.default_rng(0).random(45)):
        ordhc.linkage(np.array(y))
    ordhc.linkage([[0, 3, 1], [3, 0, 2], [1, 2, 0]])


@pytest.mark.parametrize(
    "points",
    [[[0, 0], [0, 1], [5, 5], [5, 6]], [[0], [1], [2], [3]], [[0], [0.5], [6]], [[0], [2], [6], [9], [20]]],
)
def test_small_tables_of_distances_by_hand(points):
    with pytest.warns(OrdhcWarning, match="looks like distances"):
        ordhc.linkage(squareform(pdist(points)))


def test_dissimilarities_below_zero():
    y = np.array([1.0, 2.0, -3.5, 1.0, 2.0, 4.0])
    for given in (y, squareform(y)):
        with pytest.warns(
            OrdhcWarning, match=r"leaves 0 and 3 is negative, -3\.5: .* leave out dissimilarity=True"
        ):
            ordhc.linkage(given, dissimilarity=True)
        for name in ("ward", "centroid", "median"):
            with pytest.raises(InputError, match=r"leaves 0 and 3 is negative, -3\.5, and squares") as caught:
                ordhc.linkage(given, name, dissimilarity=True)
            assert caught.value.leaves == ((0, 3),)
            assert ordhc.linkage(given, name).n_leaves == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rounded = np.array([1.0, -1e-15, 1.0])
        ordhc.linkage(rounded, dissimilarity=True)
        ordhc.linkage(squareform(np.abs(y)) - np.eye(4), dissimilarity=True)


def test_a_diagonal_of_similarities_given_as_dissimilarities():
    X = points(5, 12)
    for S in (np.corrcoef(X) ** 2, np.exp(-squareform(pdist(X))), X @ X.T + 1e4 * np.eye(12)):
        with pytest.warns(
            OrdhcWarning, match=r"diagonal is the largest of each row .* looks like similarities"
        ):
            ordhc.linkage(S, dissimilarity=True)
    D = squareform(pdist(X))
    np.fill_diagonal(D, np.inf)
    ordhc.linkage(D, dissimilarity=True)


@pytest.mark.parametrize("metric", ["dasgupta_cost", "dasgupta_revenue", "cophenetic_correlation"])
def test_metrics_say_when_similarities_look_like_distances(metric):
    D = squareform(pdist(points(0, 40)))
    tree = ordhc.linkage(D.max() - D)
    score = getattr(ordhc.metrics, metric)
    remedy = (
        "looks like distances .* dissimilarity=True, similarities that look like them dissimilarity=False"
    )
    with pytest.warns(OrdhcWarning, match=remedy):
        found = score(tree, D)
    with pytest.warns(OrdhcWarning, match=remedy):
        ordhc.score(tree, D, metric=metric)
    # Who says what the matrix holds is not warned; only a correlation turns its sign.
    assert score(tree, D, dissimilarity=False) == found
    assert score(tree, D, dissimilarity=True) == (-found if metric == "cophenetic_correlation" else found)
    score(tree, D.max() - D)
    with pytest.raises(InputError, match="dissimilarity"):
        score(tree, D, dissimilarity="yes")
