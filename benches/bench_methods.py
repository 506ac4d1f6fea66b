"""Kernels, 3-AL, 4-AL and bootstrap: python benches/bench_methods.py [--large] [--huge] [group ...].

Groups are kernels, memory, 3-al, 4-al, bootstrap and cblearn; by default all. --large adds 4-AL of 41
million quadruplets, --huge of all 411 million (1.6 GB as bytes, before any work; under `ulimit -v` it
says when memory is not enough).

cblearn pins NumPy 1.26 and needs an environment of its own; without cblearn its group is left out:

    python -m venv bench && bench/bin/pip install . cblearn==0.4.0 scipy
    bench/bin/python benches/bench_methods.py cblearn
"""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

import ordhc
from measure import alternating, median_seconds, table

FOOD = str(files("ordhc") / "data" / "food_triplets.csv.gz")
N = 240  # the planted model by default: 8 clusters of 30 leaves


def planted(m, **settings):
    return ordhc.datasets.planted(m, seed=0, **settings)[0]


def against(medians, base, *more):
    """Table rows of medians, with their ratios to `base` and further columns by name."""
    extra = [[column.get(name, "-") for column in more] for name in medians]
    ratios = [f"{seconds / medians[base]:.2f}" for seconds in medians.values()]
    times = [f"{seconds:.3f}" for seconds in medians.values()]
    return [(*row, *cells) for *row, cells in zip(medians, times, ratios, extra, strict=True)]


def start_peak():
    """Forget the peak memory so far; whether that is possible (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def megabytes(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def print_added(work):
    if not start_peak():
        print("-")
        return
    before = megabytes("VmRSS:")
    work()
    print(f"{megabytes('VmHWM:') - before:.0f}")


def added_megabytes(data, work):
    """The peak memory of `work` above its input `t`, in a fresh process that gives free memory back."""
    here = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {here!r}); from bench_methods import *; t = {data}"
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
    run = [sys.executable, "-c", f"{code}; print_added(lambda: {work})"]
    return subprocess.run(run, env=env, capture_output=True, text=True, check=True).stdout.strip()


# --- kernels beside SciPy --------------------------------------------------------------------


def pair_number(a, b, n):
    low, high = np.minimum(a, b), np.maximum(a, b)
    return low * (2 * n - low - 3) // 2 + high - 1


def scipy_mulk3(t):
    n = t.n_leaves
    i, j, k = t.rows.T.astype(np.int64)
    signs = np.where(j < k, 1.0, -1.0)
    X = csr_matrix((signs, (i, pair_number(j, k, n))), shape=(n, n * (n - 1) // 2))
    answered = np.diff(X.indptr)
    return (X @ X.T).toarray() / np.sqrt(np.outer(answered, answered))


def scipy_4k(q):
    n = q.n_leaves
    i, j, k, o = q.rows.T.astype(np.int64)
    near, far = pair_number(i, j, n) * n, pair_number(k, o, n) * n
    items = np.concatenate([i, j, k, o])
    contexts = np.concatenate([far + j, far + i, near + o, near + k])
    signs = np.repeat([1.0, -1.0], 2 * len(q))
    X = csr_matrix((signs, (items, contexts)), shape=(n, n * n * (n - 1) // 2))
    ends = (np.concatenate([i, k]), np.concatenate([j, o]))
    S = coo_matrix((np.repeat([1.0, -1.0], len(q)), ends), shape=(n, n)).toarray()
    return (X @ X.T).toarray() + 2 * (S + S.T)


def kernels():
    rows = []
    m = 16 * N * N
    inputs = {"mulk3": (planted(m), scipy_mulk3), "4k": (planted(m, quadruplets=True), scipy_4k)}
    for name, (data, with_scipy) in inputs.items():
        works = {
            f"{name}, ordhc": lambda data=data, name=name: ordhc.similarity(data, name),
            f"{name}, SciPy": lambda data=data, build=with_scipy: build(data),
        }
        ours, theirs = (work() for work in works.values())
        assert np.allclose(ours, theirs)
        rows += against(alternating(works, 5), f"{name}, ordhc")
    print(f"Kernels beside sparse matrix products, n = {N}, {m:,} answers, equal results, medians of 5\n")
    table(("work", "median s", "x ordhc"), rows)


# --- all triplets ----------------------------------------------------------------------------


def all_triplets(n):
    S = np.random.default_rng(0).random((n, n))
    S += S.T
    j, k = np.triu_indices(n, 1)
    parts = []
    for i in range(n):
        others = (j != i) & (k != i)
        nearer = S[i, j] > S[i, k]
        near, far = np.where(nearer, j, k), np.where(nearer, k, j)
        parts.append(np.stack([np.full(len(j), i), near, far], axis=1)[others].astype(np.int32))
    return ordhc.Triplets(np.concatenate(parts), n_leaves=n)


def memory():
    t = all_triplets(500)
    works = {name: lambda name=name: ordhc.similarity(t, name) for name in ("mulk3", "adds3")}
    added = {name: added_megabytes("all_triplets(500)", f"ordhc.similarity(t, {name!r})") for name in works}
    rows = against(alternating(works, 3), "adds3", added)
    print(f"All {len(t):,} triplets of n = 500, {t.rows.nbytes / 2**20:.0f} MB, medians of 3\n")
    table(("work", "median s", "x adds3", "MB above the input"), rows)


# --- 3-AL and 4-AL ---------------------------------------------------------------------------


def beside_adds(data, methods, repeats):
    """Rows of the methods, the last of which is the base, with the memory of each."""
    t = eval(data)
    works = {name: lambda name=name: ordhc.cluster(t, method=name) for name in methods}
    added = {name: added_megabytes(data, f"ordhc.cluster(t, method={name!r})") for name in methods}
    rows = against(alternating(works, repeats), methods[-1], added)
    return [(f"{t.n_leaves:,}", f"{len(t):,}", *row) for row in rows]


def three_al():
    rows = []
    for m, leaves in ((16 * N * N, 30), (N * (N - 1) * (N - 2) // 2, 30), (10_000_000, 125)):
        rows += beside_adds(f"planted({m}, leaves_per_cluster={leaves})", ("3-al", "adds3-al"), 3)
    print("3-AL, medians of 3\n")
    table(("n", "triplets", "work", "median s", "x adds3-al", "MB above the input"), rows)


def four_al():
    rows = []
    for m in (4_112_619, 41_126_186)[: 2 if "--large" in sys.argv else 1]:
        rows += beside_adds(f"planted({m}, quadruplets=True)", ("4-al", "adds4-al"), 3)
    print("4-AL of 1% (with --large 10%, too) of all quadruplets, medians of 3\n")
    table(("n", "quadruplets", "work", "median s", "x adds4-al", "MB above the input"), rows)
    if "--huge" in sys.argv:
        huge()


def all_quadruplets():
    """Every pair with all pairs that it beats in a planted similarity, as bytes."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(N, 1)
    cluster = np.arange(N) // 30
    shared = sum((cluster[i] >> level == cluster[j] >> level).astype(int) for level in range(3))
    order = np.argsort(-rng.normal(0.8 - 0.1 * (3 - shared), 0.1))
    pairs = rng.permutation(N).astype(np.uint8)[np.stack([i, j], axis=1)[order]]
    rows = np.empty((len(pairs) * (len(pairs) - 1) // 2, 4), dtype=np.uint8)
    at = 0
    for rank, pair in enumerate(pairs):
        beaten = pairs[rank + 1 :]
        rows[at : at + len(beaten), :2] = pair
        rows[at : at + len(beaten), 2:] = beaten
        at += len(beaten)
    return rows


def huge():
    counts = start_peak()
    rows = all_quadruplets()
    made = f"{megabytes('VmHWM:'):.0f}" if counts else "-"
    try:
        seconds = median_seconds(lambda: ordhc.cluster(ordhc.Quadruplets(rows, n_leaves=N), method="4-al"), 1)
    except MemoryError as error:
        print(f"4-AL of all {len(rows):,} quadruplets of n = {N} does not fit: {error}\n")
        return
    peak = f"{megabytes('VmHWM:'):.0f}" if counts else "-"
    print(f"4-AL of all quadruplets of n = {N}, from bytes, checks included, once\n")
    header = ("quadruplets", "s", "peak MB of the process", "of which to generate them")
    table(header, [(f"{len(rows):,}", f"{seconds:.1f}", peak, made)])


# --- bootstrap -------------------------------------------------------------------------------


def separate_resamples(t, n_resamples):
    rng = np.random.default_rng(0)
    for _ in range(n_resamples):
        ordhc.cluster(t[rng.integers(0, len(t), len(t))], method="adds3-al")


def bootstrap():
    t = ordhc.read_answers(FOOD)
    works = {
        "bootstrap": lambda: ordhc.bootstrap(t, method="adds3-al", n_resamples=200),
        "200 calls of cluster": lambda: separate_resamples(t, 200),
    }
    print(f"200 resamples of the {len(t):,} triplets of Food, AddS3-AL, medians of 5;")
    print("bootstrap scores them and makes support and consensus, too\n")
    table(("work", "median s", "x bootstrap"), against(alternating(works, 5), "bootstrap"))


# --- cblearn ---------------------------------------------------------------------------------


def cblearn():
    """Its linkage is 4-AL, of triplets as quadruplets; of two clusters it takes the anchors of one."""
    try:
        from cblearn.cluster import ComparisonHC
    except ImportError:
        print("cblearn cannot be imported: its group is left out\n")
        return

    def hierarchy():
        merges = ComparisonHC(n_clusters=8).fit(t.rows.copy()).dendrogram_[:, :2].astype(int)
        return ordhc.Dendrogram(merges, np.arange(len(merges)))

    every = planted(40 * 39 * 38 // 2, leaves_per_cluster=5)
    t = every.sample(40 * 40)
    trees = {}
    works = {"cblearn": lambda: trees.update(cblearn=hierarchy())}
    for name in ("4-al", "3-al", "adds3-al"):
        works[name] = lambda name=name: trees.update({name: ordhc.cluster(t, method=name)})
    medians = alternating(works, 3)
    revenue = {name: f"{ordhc.score(tree, every):,}" for name, tree in trees.items()}
    agreed = {name: f"{float(ordhc.score(tree, every, 'satisfied')):.3f}" for name, tree in trees.items()}
    rows = [
        (name, f"{seconds:.5f}", f"{medians['cblearn'] / seconds:,.0f}", revenue[name], agreed[name])
        for name, seconds in medians.items()
    ]
    print(f"cblearn's ComparisonHC beside ordhc.cluster, n = 40, {len(t):,} triplets, medians of 3;")
    print(f"scores on all {len(every):,} triplets\n")
    table(("work", "median s", "times as fast", "revenue", "satisfied"), rows)


GROUPS = {
    "kernels": kernels,
    "memory": memory,
    "3-al": three_al,
    "4-al": four_al,
    "bootstrap": bootstrap,
    "cblearn": cblearn,
}


def main():
    for name in [text for text in sys.argv[1:] if text in GROUPS] or GROUPS:
        GROUPS[name]()


if __name__ == "__main__":
    main()
