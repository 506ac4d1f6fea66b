"""The silhouette, beside that of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError
from ordhc.metrics import silhouette


def distances(n, seed, ties):
    random = np.random.default_rng(seed)
    D = random.integers(0, 4, (n, n)).astype(float) if ties else random.random((n, n))
    D = np.triu(D, 1)
    return D + D.T


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 25), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_it_is_that_of_scikit_learn(n, seed, ties, similar):
    score = pytest.importorskip("sklearn.metrics").silhouette_score
    D = distances(n, seed, ties)
    given_matrix = 7.0 - D if similar else D
    tree = ordhc.linkage(given_matrix, "average", dissimilarity=not similar)
    if similar:
        # Distances are max(s) - s.
        D = D - D[~np.eye(n, dtype=bool)].min()
        np.fill_diagonal(D, 0)
    found = silhouette(tree, given_matrix)
    assert list(found.scores) == list(range(2, min(20, n - 1) + 1))
    for k, value in found.scores.items():
        assert value == pytest.approx(score(D, tree.cut(k), metric="precomputed"), abs=1e-12)
        assert float(silhouette(tree, given_matrix, k)) == value
    assert found.value == max(found.scores.values())
    assert found.n_clusters == min(k for k, value in found.scores.items() if value == found.value)
    assert silhouette(tree, given_matrix[np.triu_indices(n, 1)]) == found


def test_it_finds_the_clusters_that_are_there():
    random = np.random.default_rng(0)
    for k in (2, 4, 7):
        X = np.repeat(20 * random.normal(size=(k, 6)), 8, axis=0) + random.normal(size=(8 * k, 6))
        names = [f"x{at}" for at in range(len(X))]
        frame = pd.DataFrame(np.linalg.norm(X[:, None] - X, axis=2), names, names)
        tree = ordhc.linkage(frame, "ward", dissimilarity=True)
        found = silhouette(tree, frame)
        assert silhouette(tree, frame.iloc[::-1, ::-1]).value == pytest.approx(found.value)
        assert (found.n_clusters, found.value > 0.7) == (k, True)
        assert ordhc.score(tree, frame, "silhouette") == found


def test_what_has_no_silhouette():
    D = distances(5, 0, ties=False)
    tree = ordhc.linkage(D, dissimilarity=True)
    for call, message in [
        (lambda: silhouette(tree, D, 5), r"n_clusters = 5 is above 4"),
        (lambda: silhouette(tree, D, 1), r"n_clusters = 1 is below 2"),
        (
            lambda: silhouette(tree, -D),
            r"the dissimilarity at \[0, 1\] is .*, below 0: give dissimilarity=False",
        ),
        (lambda: silhouette(tree, np.where(D[1, 2] == D, np.nan, D)), r"the value at \[1, 2\] is nan"),
        (lambda: silhouette("(0:1,1:1);", [[0, 1], [1, 0]]), "the tree has 2 leaves; silhouettes need 3"),
        (lambda: silhouette("(0:1,1:1,2:1);", distances(3, 0, ties=False)), r"no cut into 2\.\.2 clusters"),
        (lambda: silhouette("((0,1),2);", distances(3, 0, ties=False)), "n_clusters|depth"),
        (lambda: silhouette(tree, D + np.triu(D)), r"not symmetric: \[0, 1\] is .* but \[1, 0\] is"),
    ]:
        with pytest.raises(InputError, match=message):
            call()
    assert silhouette(tree, np.zeros((5, 5))).value == 0
