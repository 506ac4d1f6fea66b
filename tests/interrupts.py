"""What Ctrl-C does to long calls, each in a fresh process.

`python tests/interrupts.py --times 100 [case ...]` measures it.

A case is prepared (sizes: "small" for the test suite, "full" for measuring), then called again and
again until a signal ends it; the first call is the first in its process, with all that is imported or
discovered then.
"""

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from select import select as readable

import numpy as np

import ordhc
from support.engines import merged
from support.random_data import random_comparisons, random_tree

CASES = {}
# A signal that has not arrived after so many seconds is lost.
LOST = 60.0


def case(function):
    CASES[function.__name__] = function
    return function


def pairs_of(n):
    """A condensed matrix."""
    return np.random.default_rng(0).random(n * (n - 1) // 2)


def rows_of(small):
    """Vectors."""
    return np.random.default_rng(0).random((4000 if small else 50_000, 20))


@case
def cluster(small, folder):
    data = random_comparisons(2500 if small else 6000, 200_000 if small else 3_000_000)
    return lambda: ordhc.cluster(data, method="adds3-al")


@case
def cluster_3al(small, folder):
    data = random_comparisons(400 if small else 1000, 100_000 if small else 1_000_000)
    return lambda: ordhc.cluster(data, method="3-al")


@case
def linkage_dense(small, folder):
    n = 2500 if small else 10_000
    matrix = pairs_of(n)
    return lambda: ordhc.linkage(matrix, "average", dissimilarity=False)


@case
def linkage_in_place(small, folder):
    n = 2000 if small else 6000
    matrix = pairs_of(n)
    return lambda: ordhc.linkage(matrix.copy(), "ward", dissimilarity=True, overwrite=True)


@case
def linkage_naive(small, folder):
    n = 1000 if small else 2000
    matrix = pairs_of(n)
    return lambda: merged(matrix, "average")


@case
def linkage_sparse(small, folder):
    import scipy.sparse

    n, m = (30_000, 300_000) if small else (1_000_000, 10_000_000)
    generator = np.random.default_rng(0)
    i, j = generator.integers(0, n, (2, m))
    matrix = scipy.sparse.coo_array((generator.random(m), (np.minimum(i, j), np.maximum(i, j))), (n, n))
    matrix = scipy.sparse.csr_array(matrix)
    matrix = matrix + matrix.T
    return lambda: ordhc.linkage(matrix, "average", dissimilarity=False, missing="zero")


@case
def similarity(small, folder):
    data = random_comparisons(3000 if small else 8000, 300_000 if small else 20_000_000)
    return lambda: ordhc.similarity(data)


@case
def similarity_sparse(small, folder):
    data = random_comparisons(50_000 if small else 1_000_000, 300_000 if small else 10_000_000)
    return lambda: ordhc.similarity(data, layout="sparse")


@case
def similarity_mulk(small, folder):
    data = random_comparisons(1000 if small else 3000, 200_000 if small else 3_000_000)
    return lambda: ordhc.similarity(data, "mulk3")


@case
def triplet_distance(small, folder):
    n = 50_000 if small else 1_000_000
    a, b = random_tree(n, 1), random_tree(n, 2)
    return lambda: ordhc.metrics.triplet_distance(a, b)


@case
def refine(small, folder):
    data = random_comparisons(200 if small else 1000, 30_000 if small else 500_000)
    start = random_tree(data.n_leaves)
    return lambda: ordhc.refine(start, data, seed=0)


@case
def bootstrap(small, folder):
    data = random_comparisons(100 if small else 500, 20_000 if small else 200_000)
    return lambda: ordhc.bootstrap(data, n_resamples=500)


@case
def bootstrap_plans(small, folder):
    data = random_comparisons(60 if small else 400, 10_000 if small else 300_000)
    return lambda: ordhc.bootstrap(data, n_resamples=200, method="3-al")


@case
def select(small, folder):
    data = random_comparisons(150 if small else 600, 40_000 if small else 400_000)
    # The warning that this takes long is no trace of an interrupt.
    warnings.filterwarnings("ignore", "select among .* takes about", ordhc.errors.OrdhcWarning)
    return lambda: ordhc.select(data)


@case
def structure(small, folder):
    data = random_comparisons(60 if small else 300, 20_000 if small else 200_000)
    return lambda: ordhc.structure(data)


@case
def people_groups(small, folder):
    data = random_comparisons(60 if small else 300, 20_000 if small else 200_000)
    data = ordhc.Triplets(data.rows, n_leaves=data.n_leaves, groups=np.arange(len(data)) % 40)
    return lambda: ordhc.people_groups(data)


@case
def learn(small, folder):
    truth = random_tree(2000 if small else 20_000)
    return lambda: ordhc.learn(truth, truth.n_leaves)


@case
def learn_robust(small, folder):
    truth = random_tree(100 if small else 500)
    oracle = ordhc.oracles.noisy(truth, 0.8)
    return lambda: ordhc.learn(oracle, truth.n_leaves, method=ordhc.learners.Robust(p=0.8))


@case
def write_comparisons(small, folder):
    data = random_comparisons(1000, 300_000 if small else 3_000_000)
    return lambda: ordhc.write_comparisons(data, folder / "written.csv")


@case
def write_named_comparisons(small, folder):
    data = random_comparisons(1000, 200_000 if small else 3_000_000)
    data = ordhc.Triplets(
        data.rows, names=[f"leaf {leaf}" for leaf in range(1000)], weights=np.ones(len(data))
    )
    return lambda: ordhc.write_comparisons(data, folder / "written.tsv.gz")


@case
def read_comparisons(small, folder):
    file = folder / f"{small}.csv"
    if not file.exists():
        rows = random_comparisons(1000, 100_000 if small else 5_000_000).rows
        lines = "\n".join(["anchor,near,far", *map("{0[0]},{0[1]},{0[2]}".format, rows.tolist())])
        file.write_text(lines + "\n")
    return lambda: ordhc.read_answers(file)


@case
def to_newick(small, folder):
    written = random_tree(100_000 if small else 1_000_000)
    return lambda: written.to_newick()


@case
def from_newick(small, folder):
    text = random_tree(100_000 if small else 1_000_000).to_newick()
    return lambda: ordhc.Dendrogram.from_newick(text)


@case
def vectors(small, folder):
    rows = rows_of(small)
    return lambda: ordhc.cluster(rows, similarity="cosine", linkage="complete")


@case
def vectors_average(small, folder):
    rows = rows_of(small)
    # Around twenty points: neither one cluster for all nor negative similarities, which give warnings.
    rows = 0.1 * rows + np.eye(20)[np.arange(len(rows)) % 20]
    return lambda: ordhc.cluster(rows, similarity="dot", linkage="average")


@case
def vectors_single(small, folder):
    rows = rows_of(small)
    return lambda: ordhc.cluster(rows, similarity="euclidean", linkage="single")


@case
def vectors_neighbors(small, folder):
    rows = np.concatenate([rows_of(small)] * (1 if small else 4))
    rows = rows + np.random.default_rng(1).random(rows.shape)
    return lambda: ordhc.cluster(ordhc.Vectors(rows, neighbors=20), similarity="euclidean", linkage="average")


@case
def score(small, folder):
    n = 3000 if small else 20_000
    a, b = random_tree(n, 1), random_tree(n, 2)
    return lambda: ordhc.metrics.kendall_tau_b(a, b)


def child(name, size, folder):
    """Prepare, say so, and work until interrupted."""
    # What a shell runs in the background ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    work = CASES[name](size == "small", Path(folder))
    try:
        print("ready", flush=True)
        while True:
            work()
            print("done", flush=True)
    except KeyboardInterrupt:
        os.write(1, b"interrupted\n")


def lines_of(process, seconds):
    """Lines until one says that it is over, or time is."""
    end, text = time.monotonic() + seconds, b""
    while (left := end - time.monotonic()) > 0:
        if not readable([process.stdout], [], [], left)[0]:
            break
        part = os.read(process.stdout.fileno(), 4096)
        text += part
        if not part or b"interrupted" in text:
            break
    return text.decode().split("\n")


def interrupt(name, size, folder, delay):
    """Seconds from the signal to the exception, and what the child wrote on standard error."""
    command = [sys.executable, __file__, "--child", name, "--size", size, "--folder", str(folder)]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            ready = process.stdout.readline()
            if ready == b"ready\n":
                time.sleep(delay)
                began = time.monotonic()
                process.send_signal(signal.SIGINT)
                lines = lines_of(process, LOST)
                took = time.monotonic() - began
                trouble = "" if "interrupted" in lines else f"lost: after {took:.1f} s wrote {lines}"
            else:
                took, trouble = float("inf"), f"not ready: {ready!r}"
            if trouble:
                took = float("inf")
                trouble += f", exit code {process.poll()}\n"
        finally:
            process.kill()
        errors.seek(0)
        return took, trouble + errors.read().decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="by default all")
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--size", choices=["small", "full"], default="full")
    parser.add_argument("--within", type=float, default=3.0, help="the latest signal, in seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child")
    parser.add_argument("--folder")
    given = parser.parse_args()
    if given.child:
        child(given.child, given.size, given.folder)
        return
    generator = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        for name in given.cases or CASES:
            took = []
            for _ in range(given.times):
                delay = generator.uniform(0, given.within)
                seconds, errors = interrupt(name, given.size, Path(folder), delay)
                took.append(seconds)
                if errors or not seconds < 1:
                    print(f"  {name}: {seconds:.2f} s, signal after {delay:.3f} s {errors}", flush=True)
            took.sort()
            last = took[min(len(took) - 1, int(0.99 * len(took)))]
            lost = sum(seconds == float("inf") for seconds in took)
            median = statistics.median(took)
            print(
                f"{name:24} median {median:6.3f}  p99 {last:6.3f}  max {took[-1]:6.3f}  lost {lost}",
                flush=True,
            )


if __name__ == "__main__":
    main()
