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
try:
    for linkage in sys.argv[1:]:
        n_trees = 0
        for _ in range(600):
            try:
                ordhc.linkage(values, linkage, dissimilarity=True)
                n_trees += 1
            except ordhc.errors.InputError:
                pass
            except ordhc.errors.InternalError as error:
                assert "unless another thread changed an array" in str(error)
        print(linkage, n_trees, flush=True)
finally:
    is_over.set()
    writer.join()
"""


def test_linkage_ends_whatever_is_written_meanwhile():
    linkages = ["single", "average", "ward", "centroid", "median"]
    told = printed(WRITTEN, *linkages).split()
    assert told[::2] == linkages
    assert min(map(int, told[1::2])) > 0


VECTORS = """
import sys, threading, time, warnings
import numpy as np
import ordhc

warnings.simplefilter("ignore")

def write(X, is_over):
    k = 0
    while not is_over.is_set():
        k += 1
        at = k * 7 % 300, k % X.shape[1]
        old, X[at] = X[at], (np.nan, np.inf, 1e300)[k % 3]
        time.sleep(0.0005 * (k % 5))
        X[at] = old
        time.sleep(0.0005 * (k % 7))

for case in sys.argv[2:]:
    similarity, linkage, n_columns = case.split()
    X, is_over = np.random.default_rng(0).normal(size=(300, int(n_columns))), threading.Event()
    writer = threading.Thread(target=write, args=(X, is_over))
    writer.start()
    n_trees, end = 0, time.monotonic() + 0.12
    try:
        while not n_trees or time.monotonic() < end:
            try:
                ordhc.cluster(ordhc.Vectors(X, storage=sys.argv[1]), similarity=similarity, linkage=linkage)
                n_trees += 1
            except ordhc.errors.InputError:
                pass
    finally:
        is_over.set()
        writer.join()
    print(case, flush=True)
"""


@pytest.mark.parametrize("memory", ["vectors", "matrix"])
def test_vectors_that_others_write_to_give_trees_or_input_errors(memory):
    cases = [
        "euclidean single 3",
        "euclidean single 30",
        "euclidean ward 3",
        "euclidean ward 30",
        "sqeuclidean average 3",
        "cosine average 30",
        "dot average 3",
    ]
    assert printed(VECTORS, memory, *cases).splitlines() == cases


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
                tree = ordhc.cluster(ordhc.Vectors(X, storage=memory), **how)
                # Rows in another order in memory are the same rows.
                assert tree == ordhc.cluster(ordhc.Vectors(np.asfortranarray(X), storage=memory), **how)
        assert np.array_equal(X, before)
