"""Arrays into which another thread writes while they are read."""

import pytest

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
