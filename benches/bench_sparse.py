"""Linkages of sparse similarities: python benches/bench_sparse.py [n ...].

Every line is a process of its own, which makes its input and clusters it. The bar for a million leaves of 20
neighbours each is 60 s of work and 2,000 MB at the peak, input included. "random" neighbours are drawn
uniformly, those of "blobs" are the nearest of points in the plane, "hubs" are random neighbours and three
leaves linked to all; "tied" values are 1 to 5.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

import ordhc
from measure import alternating, table

DEGREE = 20
KINDS = ("random", "blobs", "hubs", "blobs, tied")
WAYS = [
    ("average", "zero"),
    ("complete", "zero"),
    ("single", "zero"),
    ("average", "ignore"),
    ("complete", "ignore"),
]


def neighbours(n, kind):
    random = np.random.default_rng(0)
    if kind.startswith("blobs"):
        centres = random.random((max(1, n // 500), 2))
        points = centres[random.integers(0, len(centres), n)] + random.normal(scale=0.003, size=(n, 2))
        distances, others = cKDTree(points).query(points, DEGREE + 1, workers=2)
        values = 1 / (1 + distances[:, 1:].ravel() / 0.001)
        columns = others[:, 1:].astype(np.int32).ravel()
    else:
        columns = random.integers(0, n, n * DEGREE, dtype=np.int32)
        if kind == "hubs":
            columns.reshape(n, DEGREE)[:, :3] = [0, n // 2, n - 1]
        values = random.random(n * DEGREE)
    if kind.endswith("tied"):
        values = np.ceil(values * 5)
    starts = np.arange(0, n * DEGREE + 1, DEGREE, dtype=np.int32)
    S = sp.csr_array((values, columns, starts), shape=(n, n))
    # One triangle, where a neighbour of a neighbour counts once.
    S.sum_duplicates()
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(S.indptr))
    low, high = np.minimum(rows, S.indices), np.maximum(rows, S.indices)
    keys = low.astype(np.int64) * n + high
    del rows, low, high
    keys, first = np.unique(keys, return_index=True)
    values = S.data[first]
    del S, first
    low = (keys // n).astype(np.int32)
    high = (keys % n).astype(np.int32)
    kept = low != high
    starts = np.concatenate([[0], np.cumsum(np.bincount(low[kept], minlength=n))]).astype(np.int32)
    return sp.csr_array((values[kept], high[kept], starts), shape=(n, n))


RUN = """
import json, os, sys, time, warnings
sys.path.insert(0, {here!r})
warnings.simplefilter("ignore")
import scipy.sparse as sp
import ordhc
S = sp.load_npz({file!r})
before = os.times()
start = time.perf_counter()
tree = ordhc.linkage(S, {linkage!r}, dissimilarity=False, missing={missing!r})
seconds = time.perf_counter() - start
after = os.times()
lines = open("/proc/self/status").read().splitlines()
peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
print(json.dumps([seconds, after.user + after.system - before.user - before.system, peak]))
"""


def measured(file, linkage, missing):
    code = RUN.format(here=str(Path(__file__).parent), file=str(file), linkage=linkage, missing=missing)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def beside_dense():
    """Where a full matrix still fits."""
    n = 5000
    S = neighbours(n, "blobs")
    full = S.toarray() + S.toarray().T
    rows = []
    for name in ("average", "complete", "single"):
        works = {
            "sparse": lambda name=name: ordhc.linkage(S, name, dissimilarity=False),
            "full": lambda name=name: ordhc.linkage(full, name, dissimilarity=False),
        }
        seconds = alternating(works, 3)
        a, b = ordhc.linkage(S, name, dissimilarity=False), ordhc.linkage(full, name, dissimilarity=False)
        assert np.array_equal(a.merges, b.merges)
        assert np.allclose(a.heights, b.heights, rtol=1e-9, atol=0)
        rows.append(
            (
                name,
                f"{seconds['sparse']:.3f}",
                f"{seconds['full']:.3f}",
                f"{seconds['full'] / seconds['sparse']:.1f}",
            )
        )
    print(f"The same tree from {S.nnz:,} pairs of {n:,} leaves and from the full matrix, medians of 3\n")
    table(("linkage", "sparse s", "full s", "times as fast"), rows)


def main():
    import tempfile

    beside_dense()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in [int(text) for text in sys.argv[1:]] or [1_000_000]:
            for kind in KINDS:
                file = Path(folder) / "neighbours.npz"
                S = neighbours(n, kind)
                pairs = S.nnz
                sp.save_npz(file, S, compressed=False)
                del S
                for linkage, missing in WAYS:
                    seconds, processor, peak = measured(file, linkage, missing)
                    cells = (
                        f"{pairs:,}",
                        linkage,
                        missing,
                        f"{seconds:.1f}",
                        f"{processor:.1f}",
                        f"{peak:.0f}",
                    )
                    rows.append((f"{n:,}", kind, *cells))
                    print(*rows[-1], file=sys.stderr, flush=True)
    print(f"{DEGREE} neighbours each, one run\n")
    table(("n", "neighbours", "pairs", "linkage", "missing", "s", "processor s", "peak MB"), rows)


if __name__ == "__main__":
    main()
