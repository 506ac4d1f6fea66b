"""Linkages beside fastcluster and SciPy: python benches/bench_linkage.py [largest n] [--scaling FOLDER].

Each line has its bar: how many times as fast as fastcluster it has to be (for n = 1,000, as SciPy). With
--scaling only the time per n^2 is measured, up to the largest n, and plotted into FOLDER.
"""

import argparse
import time
from pathlib import Path

import fastcluster
import numpy as np
import scipy.cluster.hierarchy
from scipy.spatial.distance import pdist

import ordhc
from measure import alternating, peak_megabytes, table
from ordhc import _ordhc
from ordhc.agglomerate.engine import engine_linkage
from ordhc.specs import LinkageSpec

INPUT = {
    "uniform": "np.random.default_rng(0).random(n * (n - 1) // 2)",
    "clustered": "pdist(np.random.default_rng(0).normal(size=(n, 8)) "
    "+ 9 * np.random.default_rng(1).integers(0, 9, (n, 1)))",
}
BARS = [
    ("average", 1000, "scipy", 1 / 0.7),
    ("average", 5000, "fastcluster", 2.0),
    ("average", 10_000, "fastcluster", 3.0),
    ("complete", 10_000, "fastcluster", 3.0),
    ("average", 20_000, "fastcluster", 3.0),
    ("single", 20_000, "fastcluster", 3.0),
]
CALLS = {
    "ordhc": "import ordhc; ordhc.linkage(y, {name!r}, dissimilarity=True)",
    "ordhc, overwrite": "import ordhc; ordhc.linkage(y, {name!r}, dissimilarity=True, overwrite=True)",
    "fastcluster": "import fastcluster; fastcluster.linkage(y, {name!r})",
}


def peaks(name, n, code):
    """Peak memory of a fresh process, input included."""
    script = "import numpy as np\nfrom scipy.spatial.distance import pdist\nn = {}\ny = {}\n{}".format
    return {who: peak_megabytes(script(n, code, call.format(name=name))) for who, call in CALLS.items()}


def small():
    """The time of a call at n = 50, in microseconds."""
    y = np.random.default_rng(0).random(50 * 49 // 2)
    times = []
    for _ in range(200):
        start = time.perf_counter()
        ordhc.linkage(y, "average", dissimilarity=True)
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def average(row_i, row_j, _s_ij, n_i, n_j, *_):
    return (n_i * row_i + n_j * row_j) / (n_i + n_j)


def centroid(row_i, row_j, s_ij, n_i, n_j, *_):
    n = n_i + n_j
    return (n_i * row_i + n_j * row_j) / n - n_i * n_j * s_ij / (n * n)


def median(row_i, row_j, s_ij, *_):
    return 0.5 * row_i + 0.5 * row_j - 0.25 * s_ij


def row_updates(n):
    """Row updates written in Python beside the native linkage, by the same engine."""
    y = np.random.default_rng(0).random(n * (n - 1) // 2)
    rows = []
    for update in (average, centroid, median):
        spec = LinkageSpec(name=update.__name__, summary="a twin", update_row=update)
        linkages = {
            "row update": engine_linkage(spec, {}, lambda: y),
            "native": _ordhc.Linkage.native(update.__name__),
        }
        works = {
            who: lambda linkage=linkage: _ordhc.agglomerate(
                y, linkage, False, "nearest-pair", None, None, False
            )
            for who, linkage in linkages.items()
        }
        seconds = alternating(works, 5)
        ratio = seconds["row update"] / seconds["native"]
        cells = (f"{seconds['row update']:.3f}", f"{seconds['native']:.3f}", f"{ratio:.2f}")
        rows.append((update.__name__, f"{n:,}", *cells, "1.50"))
    table(("row update", "n", "row update s", "native s", "ratio", "bar: at most"), rows)


def watched(n):
    """What progress costs; without it, only Ctrl-C is looked for."""
    y = np.random.default_rng(0).random(n * (n - 1) // 2)
    works = {
        "plain": lambda: ordhc.linkage(y, dissimilarity=True),
        "progress": lambda: ordhc.linkage(y, dissimilarity=True, progress=lambda _: None),
    }
    seconds = alternating(works, 9)
    cost = 100 * (seconds["progress"] / seconds["plain"] - 1)
    print(f"progress at n = {n:,}: {cost:+.1f}% (bar: 1%)")


def scaling(largest, folder):
    """Time / n^2 of average linkage, printed with the spread of 5 runs and plotted."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    rows = []
    for kind, code in INPUT.items():
        points = []
        for n in (n for n in (5000, 7000, 10_000, 14_000, 20_000, 30_000) if n <= largest):
            y = eval(code, {"np": np, "pdist": pdist, "n": n})
            times = []
            for _ in range(5):
                start = time.perf_counter()
                ordhc.linkage(y, dissimilarity=True)
                times.append(1e9 * (time.perf_counter() - start) / n**2)
            del y
            points.append((n, min(times), float(np.median(times)), max(times)))
            cells = tuple(f"{value:.2f}" for value in points[-1][1:])
            rows.append((kind, f"{n:,}", *cells, f"{points[-1][2] / points[0][2]:.2f}"))
        sizes, low, middle, high = np.array(points).T
        axes.errorbar(sizes, middle, [middle - low, high - middle], label=kind, marker="o", capsize=3)
    table(("input", "n", "ns / n^2: least", "median", "most", "median / first (bar: 0.7 to 1.3)"), rows)
    axes.set(xlabel="leaves", ylabel="nanoseconds / n^2", ylim=(0, None), title="average linkage")
    axes.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "linkage_scaling.png", dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("largest", nargs="?", type=int, default=10_000)
    parser.add_argument("--scaling", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.scaling:
        scaling(options.largest, options.scaling)
    else:
        compare(options.largest)


def compare(largest):
    rows = []
    for name, n, peer, bar in BARS:
        for kind, code in INPUT.items() if n <= largest else ():
            y = eval(code, {"np": np, "pdist": pdist, "n": n})
            peers = {"fastcluster": fastcluster.linkage, "scipy": scipy.cluster.hierarchy.linkage}
            works = {
                "ordhc": lambda y=y, name=name: ordhc.linkage(y, name, dissimilarity=True),
                peer: lambda y=y, name=name, peer=peers[peer]: peer(y, name),
            }
            seconds = alternating(works, 5)
            ours = ordhc.linkage(y, name, dissimilarity=True).to_linkage_matrix()
            assert np.allclose(ours[:, 2], fastcluster.linkage(y, name)[:, 2])
            work = y.copy()
            start = time.perf_counter()
            ordhc.linkage(work, name, dissimilarity=True, overwrite=True)
            lent = time.perf_counter() - start
            del y, work
            memory = "-"
            if n >= 10_000:
                memory = " / ".join(f"{peak:.0f}" for peak in peaks(name, n, code).values())
            ratio = seconds[peer] / seconds["ordhc"]
            cells = (
                f"{seconds['ordhc']:.4f}",
                f"{lent:.4f}",
                f"{seconds[peer]:.4f}",
                f"{ratio:.2f}",
                f"{bar:.2f}",
            )
            rows.append((name, f"{n:,}", kind, *cells, peer, memory))
    print("From a condensed float64 matrix, medians of 5 (overwrite: one run)\n")
    head = ("linkage", "n", "input", "ordhc s", "overwrite s", "peer s", "ratio", "bar", "peer")
    table((*head, "peak MB: ordhc / overwrite / fastcluster"), rows)
    print(f"average of n = 50: {small():.0f} microseconds a call (bar: 100)")
    row_updates(min(3000, largest))
    watched(min(10_000, largest))


if __name__ == "__main__":
    main()
