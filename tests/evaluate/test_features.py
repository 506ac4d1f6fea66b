"""The bootstrap of vectors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm

import ordhc
from ordhc.errors import InputError
from ordhc.evaluate.features import SCALES, unbiased
from support.trees import clusters_of

ASKED = {"similarity": "euclidean", "linkage": "ward"}


def points(seed, n=12, p=10):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, p)) + 2.5 * (np.arange(n) % 3)[:, None] * random.normal(size=p)


def shares_twin(X, tree, n_resamples, seed):
    """For each scale and node of the tree the share of resamples with the cluster."""
    own = clusters_of(tree)
    found = np.zeros((len(SCALES), len(own)))
    for scale, r in enumerate(SCALES):
        for at in range(n_resamples):
            count = max(1, round(r * X.shape[1]))
            drawn = np.sort(np.random.default_rng([seed, scale, at]).integers(0, X.shape[1], count))
            there = set(clusters_of(ordhc.cluster(X[:, drawn], **ASKED)))
            found[scale] += [cluster in there for cluster in own]
    return found / n_resamples


def unbiased_twin(shares, n_resamples):
    """pvclust's msfit, by the normal equations."""
    shares, r = np.array(shares), np.array(SCALES)
    use = (shares > 0) & (shares < 1)
    if use.sum() < 2:
        return 0.0 if shares.mean() < 0.5 else 1.0
    bp, r = shares[use], r[use]
    zz = -norm.ppf(bp)
    weights = norm.pdf(zz) ** 2 * n_resamples / ((1 - bp) * bp)
    x = np.column_stack([np.sqrt(r), 1 / np.sqrt(r)])
    d, c = np.linalg.solve(x.T @ (weights[:, None] * x), x.T @ (weights * zz))
    return norm.sf(d - c)


@pytest.mark.parametrize("seed", range(3))
def test_support_is_that_of_the_twin(seed):
    X = points(seed)
    found = ordhc.bootstrap(X, **ASKED, n_resamples=8, seed=seed)
    shares = shares_twin(X, found.tree, 8, seed)
    assert np.allclose(found.support, shares[SCALES.index(1.0)])
    assert np.allclose(found.unbiased, [unbiased_twin(column, 8) for column in shares.T])
    assert len(found.trees) == 8
    assert found.tree.replace(support=None) == ordhc.cluster(X, **ASKED)
    assert found.unit == "coordinate"
    assert "of 10 clusters in at least half" in repr(found)
    assert "chance" not in found._repr_html_().split("<svg")[0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=len(SCALES), max_size=len(SCALES)))
def test_unbiased_values_are_those_of_the_twin(counts):
    shares = np.array(counts) / 50
    assert unbiased(shares[:, None], 50)[0] == pytest.approx(unbiased_twin(shares, 50), abs=1e-6)


def test_forms_of_vectors_and_initial_clusters():
    X = points(4)
    names = [f"row {at}" for at in range(len(X))]
    expected = ordhc.bootstrap(X, **ASKED, n_resamples=3)
    frame = ordhc.bootstrap(pd.DataFrame(X, index=names), **ASKED, n_resamples=3)
    assert frame.tree.names == frame.consensus.names == tuple(names)
    assert frame.support.tolist() == expected.support.tolist()
    X = np.abs(X)
    rows = ordhc.bootstrap(sparse.csr_array(X), similarity="cosine", linkage="average", n_resamples=3)
    dense = ordhc.bootstrap(X, "cosine-al", n_resamples=3)
    assert rows.support.tolist() == dense.support.tolist()
    given_tree = ordhc.cluster(X, similarity="euclidean", linkage="single")
    other = ordhc.bootstrap(X, **ASKED, n_resamples=3, tree=given_tree)
    assert other.tree.replace(support=None) == given_tree
    start = np.arange(len(X)) % 3
    started = ordhc.bootstrap(X, **ASKED, n_resamples=3, initial_clusters=start)
    assert {frozenset(np.flatnonzero(start == k).tolist()) for k in range(3)} <= set(
        clusters_of(started.tree)
    )
    assert ordhc.bootstrap([[1.0], [2.0], [9.0]], **ASKED, n_resamples=2).support.tolist() == [1, 1]


def test_what_vectors_do_not_take():
    X = points(0)
    for options, message in [
        ({"unit": "answer"}, "cannot be used with vectors"),
        ({"group": [0] * 12}, "cannot be used with vectors"),
        ({"tree": ordhc.Dendrogram([(0, 1)], [1.0])}, "the tree has 2 leaves"),
        ({"n_resamples": 0}, "n_resamples = 0 is below 1"),
    ]:
        with pytest.raises(InputError, match=message):
            ordhc.bootstrap(X, **ASKED, **options)
    with pytest.raises(InputError, match="For vectors add similarity='euclidean'"):
        ordhc.bootstrap(X)
    with pytest.raises(InputError, match="takes triplets"):
        ordhc.bootstrap(X, "adds3-al")
    X[3, 4] = np.nan
    with pytest.raises(InputError, match="row 3: column 4: nan is not finite"):
        ordhc.bootstrap(X, **ASKED)
