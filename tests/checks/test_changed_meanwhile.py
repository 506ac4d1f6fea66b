"""Arrays into which another thread writes while they are read."""

import numpy as np
import pytest

import ordhc
from support.processes import printed

WRITTEN = """
import sys, threading, time, warnings
import numpy as np
import ordhc

warnings.simplefilter("ignore")
linkage = sys.argv[1]
values = np.random.default_rng(0).random(300 * 299 // 2)
is_over = threading.Event()

def write():
    while not is_over.is_set():
        values[1000] = np.nan
        time.sleep(0.002)
        values[1000] = 0.5
        time.sleep(0.002)

writer = threading.Thread(target=write)
writer.start()
n_trees = 0
try:
    for _ in range(3000):
        try:
            ordhc.linkage(values, linkage, dissimilarity=True)
            n_trees += 1
        except ordhc.InputError:
            pass
        except ordhc.InternalError as error:
            assert "unless another thread changed an array" in str(error)
finally:
    is_over.set()
    writer.join()
print(n_trees)
"""


@pytest.mark.parametrize("linkage", ["single", "average", "ward", "centroid", "median"])
def test_linkage_ends_whatever_is_written_meanwhile(linkage):
    assert int(printed(WRITTEN, linkage, timeout=60)) > 0


VECTORS = """
import sys, threading, time, warnings
import numpy as np
import ordhc

warnings.simplefilter("ignore")
similarity, linkage, n_columns, memory = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
X = np.random.default_rng(0).normal(size=(300, n_columns))
is_over = threading.Event()

def write():
    k = 0
    while not is_over.is_set():
        k += 1
        at = k * 7 % 300, k % n_columns
        old, X[at] = X[at], (np.nan, np.inf, 1e300)[k % 3]
        time.sleep(0.0005 * (k % 5))
        X[at] = old
        time.sleep(0.0005 * (k % 7))

writer = threading.Thread(target=write)
writer.start()
n_trees = 0
end = time.monotonic() + 2
try:
    while not n_trees or time.monotonic() < end:
        try:
            ordhc.cluster(X, similarity=similarity, linkage=linkage, memory=memory)
            n_trees += 1
        except ordhc.InputError:
            pass
finally:
    is_over.set()
    writer.join()
print(n_trees)
"""


@pytest.mark.parametrize("memory", ["vectors", "matrix"])
@pytest.mark.parametrize(
    ("similarity", "linkage", "n_columns"),
    [
        ("euclidean", "single", 3),
        ("euclidean", "single", 30),
        ("euclidean", "ward", 3),
        ("euclidean", "ward", 30),
        ("sqeuclidean", "average", 3),
        ("cosine", "average", 30),
        ("dot", "average", 3),
    ],
)
def test_vectors_that_others_write_to_give_trees_or_input_errors(similarity, linkage, n_columns, memory):
    assert int(printed(VECTORS, similarity, linkage, str(n_columns), memory, timeout=60)) > 0


def test_data_are_left_as_they_are():
    for dtype in ("float64", "float32"):
        X = np.random.default_rng(0).random((30, 4)).astype(dtype)
        before = X.copy()
        X.flags.writeable = False
        for how in (
            {"method": "cosine-al"},
            {"method": "dot-al"},
            {"similarity": "euclidean", "linkage": "ward"},
        ):
            for memory in ("vectors", "matrix"):
                tree = ordhc.cluster(X, memory=memory, **how)
                # Rows in another order in memory are the same rows.
                assert tree == ordhc.cluster(np.asfortranarray(X), memory=memory, **how)
        assert np.array_equal(X, before)
