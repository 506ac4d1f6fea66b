"""Hierarchies from vectors: python benches/bench_vectors.py [--large] [--processor] [group ...].

Groups are dense, sparse, free, growth, others and plane; by default all. scikit-learn does what the paper
on dot products does: AgglomerativeClustering on the largest dot product less the others, in float64. --large
adds single linkage of 500,000 points, scikit-learn at n = 20,000 (12 GB) and runs without a matrix of 100,000
and 200,000. Sparse vectors are 20 Newsgroups where ORDHC_DATA names a folder with
newsgroups_train_counts.npz, else random with as many values. Beside each time stands that of reading the
input once in the same run. --processor measures the plane by the time of all processors together.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.cluster.hierarchy
import scipy.sparse as sp
from sklearn.cluster import AgglomerativeClustering

import ordhc
from measure import alternating, median_seconds, table

LARGE = "--large" in sys.argv
PROCESSOR = "--processor" in sys.argv


def vectors(n, p, dtype=np.float64, rank=50):
    """Positive in the mean, with structure: a few factors and noise."""
    random = np.random.default_rng(0)
    factors = random.normal(size=(n, min(rank, p))) @ random.normal(size=(min(rank, p), p))
    return (2 + 0.2 * factors + random.normal(size=(n, p), scale=0.5)).astype(dtype)


def scores(n, r=34):
    """As principal components: the first coordinates are the largest."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, r)) / np.sqrt(np.arange(1, r + 1))
    X[:, 0] = np.abs(X[:, 0]) + 1
    return X


def newsgroups():
    folder = os.environ.get("ORDHC_DATA")
    if folder is None:
        random = np.random.default_rng(0)
        columns = (23_251 * random.random((11_314, 92)) ** 3).astype(int)
        rows = np.repeat(np.arange(11_314), 92)
        counts = sp.csr_matrix((np.ones(columns.size), (rows, columns.ravel())), (11_314, 23_251))
    else:
        parts = np.load(Path(folder) / "newsgroups_train_counts.npz")
        counts = sp.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), parts["shape"])
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    counts = counts.astype(np.float64).multiply(1 + np.log((1 + counts.shape[0]) / (1 + documents))).tocsr()
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return sp.diags(1 / np.where(lengths == 0, 1, lengths)) @ counts


def sklearn_average(X):
    """Appendix B of the paper."""

    def dissimilarity(X):
        S = X @ X.T
        return S.max() - S

    return AgglomerativeClustering(
        n_clusters=None, distance_threshold=0, metric=dissimilarity, linkage="average"
    ).fit(X)


def resident(field):
    """Memory of this process in MB, as Linux tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def peak(data, work):
    """The peak memory in MB of a fresh process that does `work` on `data`, called X, and before it."""
    if not Path("/proc/self/clear_refs").exists():
        return "-", "-"
    here = str(Path(__file__).parent)
    code = (
        f"import sys; sys.path.insert(0, {here!r}); from bench_vectors import *\n"
        f"X = {data}; before = resident('VmRSS:'); forget_peak(); {work}\n"
        "print(f'{resident(\"VmHWM:\"):.0f} {before:.0f}')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def dense():
    X = vectors(5000, 5000, np.float32)
    wide = X.astype(np.float64)
    works = {
        "ordhc, float32": lambda: ordhc.cluster(X, method="dot-al"),
        "ordhc, float64": lambda: ordhc.cluster(wide, method="dot-al"),
        "scikit-learn, float64": lambda: sklearn_average(wide),
    }
    reads = alternating(
        {"ordhc, float32": X.max, "ordhc, float64": wide.max, "scikit-learn, float64": wide.max}, 5
    )
    medians = alternating(works, 5)
    base = medians["scikit-learn, float64"]
    memory = {
        "ordhc, float32": peak("vectors(5000, 5000, np.float32, 5)", "ordhc.cluster(X, method='dot-al')"),
        "scikit-learn, float64": peak("vectors(5000, 5000, np.float64, 5)", "sklearn_average(X)"),
    }
    rows = [
        (name, f"{seconds:.2f}", f"{base / seconds:.2f}", f"{reads[name]:.4f}", *memory.get(name, ("-", "-")))
        for name, seconds in medians.items()
    ]
    print("Average linkage of dot products, n = 5,000, p = 5,000 dense, whole, medians of 5\n")
    table(("work", "median s", "times as fast", "one read s", "peak MB", "before"), rows)


def sparse():
    X = newsgroups()
    seconds = median_seconds(lambda: ordhc.cluster(X, method="dot-al"), 3)
    memory = peak("newsgroups()", "ordhc.cluster(X, method='dot-al')")
    size = f"{X.shape[0]:,} x {X.shape[1]:,}"
    print(f"Average linkage of dot products of {size} sparse vectors, {X.nnz:,} values, medians of 3\n")
    read = median_seconds(X.data.max, 3)
    cells = ("ordhc", f"{seconds:.1f}", f"{read:.5f}", *memory)
    table(("work", "median s", "one read s", "peak MB", "before"), [cells])


def free():
    rows = []
    for n in (5000, 20_000):
        X = scores(n)
        works = {
            "ordhc, vectors": lambda X=X: ordhc.cluster(ordhc.Vectors(X, storage="vectors"), method="dot-al")
        }
        if n <= 10_000 or LARGE:
            works["scikit-learn"] = lambda X=X: sklearn_average(X)
        medians, read = alternating(works, 3), median_seconds(X.max, 3)
        memory = peak(f"scores({n})", "ordhc.cluster(ordhc.Vectors(X, storage='vectors'), method='dot-al')")
        for name, seconds in medians.items():
            ratio = f"{seconds / medians['ordhc, vectors']:.1f}"
            used = memory if name.startswith("ordhc") else ("-", "-")
            rows.append((f"{n:,}", name, f"{seconds:.2f}", ratio, f"{read:.5f}", *used))
    print("Average linkage of dot products of r = 34 scores without a matrix, medians of 3\n")
    table(("n", "work", "median s", "x ordhc", "one read s", "peak MB", "before"), rows)


def growth():
    rows = []
    before = None
    for n in (12_500, 25_000, 50_000, *((100_000, 200_000) if LARGE else ())):
        X = scores(n)
        seconds = median_seconds(lambda X=X: ordhc.cluster(X, method="dot-al"), 1)
        memory = peak(f"scores({n})", "ordhc.cluster(X, method='dot-al')") if n <= 100_000 else ("-", "-")
        order = "-" if before is None else f"{np.log2(seconds / before):.2f}"
        rows.append((f"{n:,}", f"{seconds:.1f}", order, f"{median_seconds(X.max, 3):.5f}", *memory))
        before = seconds
    print("Growth without a matrix, r = 34, once each; the exponent is that of a doubling of n\n")
    table(("n", "s", "exponent", "one read s", "peak MB", "before"), rows)


def others():
    """Single linkage and Ward's; fastcluster's linkage_vector makes no matrix either, its linkage does."""
    import fastcluster

    rows = []
    for linkage, n, p in [
        ("single", 5000, 2),
        ("single", 5000, 50),
        ("ward", 5000, 2),
        ("ward", 5000, 50),
        ("ward", 20_000, 50),
    ]:
        X = np.random.default_rng(0).normal(size=(n, p)) + 4 * np.random.default_rng(1).integers(0, 3, (n, p))

        def ordhc_by(memory, X=X, linkage=linkage):
            return ordhc.cluster(ordhc.Vectors(X, storage=memory), similarity="euclidean", linkage=linkage)

        works = {
            "ordhc, vectors": lambda by=ordhc_by: by("vectors"),
            "ordhc, matrix": lambda by=ordhc_by: by("matrix"),
            "ordhc, auto": lambda by=ordhc_by: by("auto"),
            "fastcluster.linkage_vector": lambda X=X, linkage=linkage: fastcluster.linkage_vector(X, linkage),
            "fastcluster.linkage": lambda X=X, linkage=linkage: fastcluster.linkage(X, linkage),
        }
        if n > 5000:
            del works["fastcluster.linkage_vector"]
        else:
            works["scipy"] = lambda X=X, linkage=linkage: scipy.cluster.hierarchy.linkage(X, linkage)
        heights = ordhc_by("vectors").heights
        assert np.allclose(heights, fastcluster.linkage(X, linkage)[:, 2])
        medians, read = alternating(works, 3), median_seconds(X.max, 3)
        best = min(medians["fastcluster.linkage"], medians.get("fastcluster.linkage_vector", np.inf))
        about = (linkage, f"{n:,}", p)
        rows += [(*about, name, f"{s:.3f}", f"{best / s:.2f}", f"{read:.5f}") for name, s in medians.items()]
    print("Single linkage and Ward's of points, medians of 3 (bar: 2 times the faster of fastcluster's)\n")
    table(("linkage", "n", "p", "work", "median s", "times fastcluster", "one read s"), rows)


def few(kind, n, p):
    """Points of few coordinates."""
    random = np.random.default_rng(0)
    return random.integers(0, 300, (n, p)).astype(np.float64) if kind == "whole" else random.random((n, p))


def plane():
    """Points of few coordinates, beside the spanning tree that genieclust makes single linkage of."""
    import quitefastmst

    rows = []
    for linkage, similarity, kind, n, p in [
        *(
            ("single", "euclidean", "uniform", n, p)
            for n in (20_000, *((500_000,) if LARGE else ()))
            for p in (2, 5, 10)
        ),
        ("single", "euclidean", "whole", 50_000, 2),
        *(("ward", "euclidean", "uniform", 20_000, p) for p in (2, 5, 10)),
        ("ward", "euclidean", "uniform", 100_000, 2),
        *(("average", "sqeuclidean", "uniform", 20_000, p) for p in (2, 5, 10)),
        *(
            ("average", "dot", "uniform", n, p)
            for n, p in ((20_000, 2), (20_000, 5), (20_000, 10), (100_000, 2))
        ),
    ]:
        X = few(kind, n, p)

        def ordhc_by(X=X, linkage=linkage, similarity=similarity):
            return ordhc.cluster(X, similarity=similarity, linkage=linkage)

        works = {"ordhc": ordhc_by, "one read": X.max}
        if linkage == "single":
            works["genieclust"] = lambda X=X: quitefastmst.mst_euclid(X)
        medians = alternating(works, 3, time.process_time if PROCESSOR else time.perf_counter)
        ours, peer = medians["ordhc"], medians.get("genieclust")
        cells = ("-", "-") if peer is None else (f"{peer:.3f}", f"{ours / peer:.2f}")
        rows.append(
            (linkage, similarity, kind, f"{n:,}", p, f"{ours:.3f}", *cells, f"{medians['one read']:.5f}")
        )
    print("Few coordinates, medians of 3 (bars: 1.5 times genieclust; ward of 100,000 in 5 s)\n")
    header = (
        "linkage",
        "of",
        "points",
        "n",
        "p",
        "ordhc s",
        "genieclust s",
        "times genieclust",
        "one read s",
    )
    table(header, rows)


GROUPS = {"dense": dense, "sparse": sparse, "free": free, "growth": growth, "others": others, "plane": plane}


def main():
    for name in [text for text in sys.argv[1:] if text in GROUPS] or GROUPS:
        GROUPS[name]()


if __name__ == "__main__":
    main()
