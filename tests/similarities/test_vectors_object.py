"""`Vectors`: rows with names, neighbours and storage; a plain array is the same."""

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError

X = np.random.default_rng(0).random(size=(30, 3))
WARD = {"similarity": "euclidean", "linkage": "ward"}


def test_a_plain_array_is_vectors_of_it():
    for how in (WARD, {"similarity": "sqeuclidean"}, {"similarity": "cosine", "linkage": "complete"}):
        assert ordhc.cluster(ordhc.Vectors(X), **how) == ordhc.cluster(X, **how)
    np.testing.assert_array_equal(
        ordhc.similarity(ordhc.Vectors(X), "euclidean"), ordhc.similarity(X, "euclidean")
    )
    sparse = pytest.importorskip("scipy.sparse").csr_array(X)
    assert ordhc.cluster(ordhc.Vectors(sparse), **WARD) == ordhc.cluster(sparse, **WARD)


def test_names():
    names = [f"leaf {at}" for at in range(30)]
    found = ordhc.cluster(ordhc.Vectors(X, names), **WARD, tie_seed=1)
    assert found.names == tuple(names)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=names)
    assert ordhc.Vectors(frame).names == ordhc.cluster(frame, **WARD).names == tuple(names)
    assert ordhc.Vectors(frame, names[::-1]).names == tuple(names[::-1])
    assert ordhc.Vectors(pandas.DataFrame({"who": names, "x": X[:, 0]})).names == tuple(names)
    assert ordhc.Vectors(X).names is None
    with pytest.raises(InputError, match="names has 2 entries for 30 leaves"):
        ordhc.Vectors(X, ["a", "b"])
    with pytest.raises(InputError, match="the name 'a' occurs twice"):
        ordhc.Vectors(X[:2], ["a", "a"])


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("storage", ["auto", "matrix", "vectors"])
def test_few_vectors(n, storage):
    vectors = ordhc.Vectors(np.zeros((n, 2)), storage=storage)
    assert len(vectors) == vectors.n_leaves == n
    assert ordhc.cluster(vectors, **WARD).n_leaves == n


def test_the_callers_array_is_copied_unless_neighbours_are_linked():
    assert not np.shares_memory(ordhc.Vectors(X).rows, X)
    assert np.shares_memory(ordhc.Vectors(X, neighbors=3).rows, X)
    vectors = ordhc.Vectors(X.copy())
    before = ordhc.cluster(vectors, **WARD)
    assert ordhc.cluster(vectors, **WARD, tie_seed=3).relabel(range(30)).n_leaves == 30
    assert ordhc.cluster(vectors, **WARD) == before


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: ordhc.Vectors([1, 2]), "vectors have shape"),
        (lambda: ordhc.cluster(ordhc.Vectors(X), "adds3-al"), "takes triplets, not Vectors"),
        (lambda: ordhc.cluster(ordhc.Vectors(X)), "similarity='euclidean', linkage='ward'"),
        (lambda: ordhc.similarity(ordhc.Vectors(X)), "takes triplets, not Vectors"),
    ],
)
def test_mistakes(call, told):
    with pytest.raises(InputError, match=told):
        call()


def test_it_says_what_it_is():
    assert repr(ordhc.Vectors(X)) == "<Vectors: 30 of 3 coordinates>"
