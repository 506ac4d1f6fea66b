"""Trees of few leaves: the short way gives what the long way gives, and leaves it to tell what there is."""

import numpy as np
import pytest
from scipy.spatial.distance import squareform

import ordhc
from ordhc import _ordhc
from ordhc.errors import InputError, OrdhcWarning
from support.engines import merged

LINKAGES = ["single", "complete", "average", "weighted", "ward", "centroid", "median"]


def pairs(kind, n, seed):
    random = np.random.default_rng([n, seed])
    size = n * (n - 1) // 2
    if kind == "uniform":
        return random.random(size)
    return random.integers(0, 5, size) * (1.0 if kind == "whole" else 0.1)


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("kind", ["uniform", "whole", "tenths"])
def test_few_leaves_merge_as_the_naive_engine_says(name, kind):
    for n in (1, 2, 3, 7, 24, 65, 130):
        y = pairs(kind, n, 0)
        for values in (y, squareform(y) if n > 1 else np.zeros((1, 1))):
            for dissimilarity in (True, False):
                tree = ordhc.linkage(values, name, dissimilarity=dissimilarity)
                slow = merged(values, name, dissimilarity)
                assert np.array_equal(tree.merges, slow.merges)
                np.testing.assert_allclose(tree.heights, slow.heights, rtol=1e-9, atol=1e-12)
                long = ordhc.linkage(values, name, dissimilarity=dissimilarity, progress=lambda _: None)
                assert tree == long
                assert (tree.kind, tree.settings, tree.names) == (long.kind, long.settings, None)


def test_the_short_way_takes_plain_arrays_only():
    rule, y = _ordhc.Linkage.native("average"), pairs("uniform", 8, 1)
    assert _ordhc.agglomerate_few(y, rule, True).n_leaves == 8
    for left in (y.astype(np.float32), y[::2], y.astype(">f8"), y[:4], y.reshape(2, 2, 7), y.tolist()):
        assert _ordhc.agglomerate_few(left, rule, True) is None
    assert _ordhc.agglomerate_few(pairs("uniform", 800, 1), rule, True) is None


@pytest.mark.parametrize("n", [8, 60])
def test_what_there_is_to_tell_is_told(n):
    y = pairs("uniform", n, 2)
    for wrong in (np.nan, np.inf):
        bad = y.copy()
        bad[3] = wrong
        for dissimilarity in (True, False):
            with pytest.raises(InputError, match="position 3 .* must be finite"):
                ordhc.linkage(bad, dissimilarity=dissimilarity)
    with pytest.warns(OrdhcWarning, match="negative"):
        ordhc.linkage(y - 0.5, dissimilarity=True)
    with pytest.raises(InputError, match="negative"):
        ordhc.linkage(y - 0.5, "ward", dissimilarity=True)
    with pytest.raises(InputError, match=r"linkage\(S, 'average', dissimilarity=True\) if"):
        ordhc.linkage(y)
    with pytest.warns(OrdhcWarning, match="diagonal"):
        ordhc.linkage(10 * np.eye(n) + squareform(y), dissimilarity=True)
    lopsided = squareform(y)
    lopsided[0, 1] += 1
    with pytest.raises(InputError, match="not symmetric"):
        ordhc.linkage(lopsided, dissimilarity=False)
    with pytest.raises(InputError, match="unknown linkage"):
        ordhc.linkage(y, "averagee", dissimilarity=False)
