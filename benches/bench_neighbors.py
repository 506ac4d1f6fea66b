"""Vectors along their nearest neighbours, beside others: python benches/bench_neighbors.py [part ...].

Parts are quality, large and million. Each line is a process of its own, with its processor time and peak
memory; data are read or made before the clock starts. A package that is not installed is left out, with a
word.

* quality: 20,000 vectors. The adjusted Rand index (ARI) of cuts into 10, 30, 100 and 1,000 clusters with
  those of the exact tree of the same linkage, and of 10 clusters with the known labels.
* large: 100,000 vectors of 64 coordinates in blobs, which most other packages can still do.
* million: 1,000,000 vectors of 64 coordinates, in blobs and uniform. The bars are 600 s and 8,000 MB.

Blobs are a nested mixture of 10 x 10 x 10 groups. Digits are the 1,797 images of scikit-learn, drawn 20,000
times with noise of standard deviation 2 (pixels are 0 to 16). MNIST is the 10,000 images of the test set, 784
pixels each, where ORDHC_DATA names a folder with mnist_test_pixels.npz.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from measure import PEAK, table

#: The number of clusters of cuts.
CUTS = (10, 30, 100, 1000)
LINKAGES = [
    ("euclidean", "ward"), ("euclidean", "average"), ("cosine", "average"), ("euclidean", "weighted"),
    ("euclidean", "complete"), ("euclidean", "single"),
]  # fmt: skip

DATA = """
import json, os, time
import numpy as np

def blobs(n, p=64):
    random = np.random.default_rng(0)
    centres, scale = np.zeros((1, p)), 1.0
    for k in (10, 10, 10):
        centres = np.repeat(centres, k, 0) + random.normal(size=(len(centres) * k, p)) * scale
        scale *= 0.6
    labels = random.integers(0, len(centres), n)
    X = centres[labels].astype(np.float32)
    X += random.standard_normal(X.shape, dtype=np.float32) / 2
    return X, labels // 100

def uniform(n):
    return np.random.default_rng(0).random((n, 64), dtype=np.float32), None

def digits(n):
    from sklearn.datasets import load_digits
    images, labels = load_digits(return_X_y=True)
    random = np.random.default_rng(0)
    drawn = random.integers(0, len(images), n)
    return (images[drawn] + random.normal(size=(n, 64)) * 2).astype(np.float32), labels[drawn]

def mnist(n):
    parts = np.load(os.path.join(os.environ["ORDHC_DATA"], "mnist_test_pixels.npz"))
    return parts["images"][:n].astype(np.float32), parts["labels"][:n].astype(int)
"""

ORDHC = """
import ordhc
tree = ordhc.cluster({vectors}, similarity={similarity!r}, linkage={linkage!r})
spent()
cuts = [tree.cut(k).tolist() for k in {cuts}]
"""
SCIPY_CUTS = """
spent()
from scipy.cluster.hierarchy import fcluster
cuts = [fcluster(Z, k, "maxclust").tolist() for k in {cuts}]
"""
#: Name: the package, and code that makes flat clusters of X.
PEERS = {
    "fastcluster linkage_vector, ward": (
        "fastcluster",
        "import fastcluster\nZ = fastcluster.linkage_vector(X.astype(float), 'ward')" + SCIPY_CUTS,
    ),
    "fastcluster linkage_vector, single": (
        "fastcluster",
        "import fastcluster\nZ = fastcluster.linkage_vector(X.astype(float), 'single')" + SCIPY_CUTS,
    ),
    "scikit-learn ward, 20 neighbours": (
        "sklearn",
        "from sklearn.neighbors import kneighbors_graph\n"
        "from sklearn.cluster import AgglomerativeClustering\n"
        "graph = kneighbors_graph(X, 20, include_self=False)\n"
        "model = AgglomerativeClustering(10, connectivity=graph, linkage='ward').fit(X)\n"
        "spent()\ncuts = [model.labels_.tolist()]",
    ),
    "scikit-learn HDBSCAN": (
        "sklearn",
        "from sklearn.cluster import HDBSCAN\nmodel = HDBSCAN(min_cluster_size=50).fit(X)\n"
        "spent()\ncuts = [model.labels_.tolist()]",
    ),
    "genieclust": (
        "genieclust",
        "import genieclust\nlabels = genieclust.Genie(n_clusters=10).fit_predict(X)\n"
        "spent()\ncuts = [np.asarray(labels).tolist()]",
    ),
}
SPENT = """
begin = time.perf_counter(), time.process_time()
times = []
def spent():
    times.extend([time.perf_counter() - begin[0], time.process_time() - begin[1]])
"""


def run(data, n, code, seconds=3600):
    """Flat clusters, wall and processor seconds, peak MB of a fresh process; None if it takes too long."""
    whole = f"{DATA}\nX, labels = {data}({n})\n{SPENT}\n{code}\nprint(json.dumps([cuts, times]))\n{PEAK}"
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", whole],
            stdout=subprocess.PIPE, text=True, check=True, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    found, peak = done.stdout.splitlines()[-2:]
    return *json.loads(found), int(peak) / 1024


def ordhc_code(similarity, linkage, neighbors, cuts=CUTS):
    vectors = f"ordhc.Vectors(X, neighbors={neighbors})" if neighbors else "X"
    return ORDHC.format(vectors=vectors, similarity=similarity, linkage=linkage, cuts=cuts)


def labels_of(data, n):
    namespace = {}
    exec(DATA, namespace)
    return namespace[data](n)[1]


def ari(one, other):
    from sklearn.metrics import adjusted_rand_score

    return f"{adjusted_rand_score(one, other):.3f}"


def peers(data, n, labels, rows, seconds):
    for name, (package, code) in PEERS.items():
        try:
            __import__(package)
        except ImportError:
            print(f"({package} is not installed: without {name})")
            continue
        found = run(data, n, code.replace("{cuts}", str(CUTS)), seconds)
        if found is None:
            rows.append((data, name, f"more than {seconds}", "", "", *[""] * len(CUTS), ""))
            continue
        cuts, (wall, processor), peak = found
        agreement = ["" if labels is None else ari(labels, cuts[0])]
        rows.append(
            (data, name, f"{wall:.1f}", f"{processor:.1f}", f"{peak:,.0f}", *[""] * len(CUTS), *agreement)
        )


def quality(data, n):
    labels = labels_of(data, n)
    rows: list = []
    for similarity, linkage in LINKAGES:
        exact = None
        for neighbors in (None, 20):
            cuts, (wall, processor), peak = run(data, n, ordhc_code(similarity, linkage, neighbors))
            exact = exact or cuts
            same = [ari(a, b) for a, b in zip(exact, cuts, strict=True)]
            pairs = f"{neighbors} neighbours" if neighbors else "all pairs"
            name = f"ordhc {linkage} of {similarity}, {pairs}"
            told = (f"{wall:.1f}", f"{processor:.1f}", f"{peak:,.0f}", *same, ari(labels, cuts[0]))
            rows.append((data, name, *told))
    peers(data, n, labels, rows, 600)
    heads = [f"ARI, {k}" for k in CUTS]
    print(f"{n:,} vectors\n")
    table(("data", "work", "s", "processor s", "peak MB", *heads, "ARI, labels"), rows)


def alone(data, n, linkages, seconds):
    labels, rows = labels_of(data, n), []
    for similarity, linkage in linkages:
        found = run(data, n, ordhc_code(similarity, linkage, 20, (10,)), seconds)
        name = f"ordhc {linkage} of {similarity}, 20 neighbours"
        if found is None:
            rows.append((data, name, f"more than {seconds}", "", "", ""))
            continue
        cuts, (wall, processor), peak = found
        agreement = "" if labels is None else ari(labels, cuts[0])
        rows.append((data, name, f"{wall:.0f}", f"{processor:.0f}", f"{peak:,.0f}", agreement))
    return rows, labels


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", default=["quality", "large"], choices=["quality", "large", "million", []]
    )
    parser.add_argument("--n", type=int, default=20_000, help="the number of vectors of quality")
    given = parser.parse_args()
    for part in given.parts:
        if part == "quality":
            quality("blobs", given.n)
            quality("digits", given.n)
            if (Path(os.environ.get("ORDHC_DATA", ".")) / "mnist_test_pixels.npz").exists():
                quality("mnist", min(given.n, 10_000))
        elif part == "large":
            rows, labels = alone("blobs", 100_000, LINKAGES, 600)
            rows = [(*row[:5], *[""] * len(CUTS), row[5]) for row in rows]
            peers("blobs", 100_000, labels, rows, 600)
            rows = [(*row[:5], row[-1]) for row in rows]
            table(("data", "work", "s", "processor s", "peak MB", "ARI, labels"), rows)
        else:
            rows = []
            for data in ("blobs", "uniform"):
                rows += alone(data, 1_000_000, LINKAGES[:3], 3600)[0]
            table(("data", "work", "s (bar 600)", "processor s", "peak MB (bar 8,000)", "ARI, labels"), rows)


if __name__ == "__main__":
    main()
