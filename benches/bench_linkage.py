"""Linkages beside fastcluster and SciPy: python benches/bench_linkage.py [largest n] [options].

Each line has its bar, how many times as fast as fastcluster it has to be, and the time in which one
thread reads the input once, in the same run. --inputs and --linkages choose some; MNIST's pixels need
ORDHC_DATA. With --scaling only the time per n^2 of average linkage is measured, up to the largest n, and
plotted into FOLDER; with --small trees of few leaves; with --both-ways the same numbers as similarities
beside them as dissimilarities, in processor time with --processor.
"""

import argparse
import time
from pathlib import Path

import fastcluster
import numpy as np
import scipy.cluster.hierarchy

import ordhc
from inputs import INPUTS, uniform
from measure import alternating, peak_megabytes, table
from ordhc import _ordhc
from ordhc.agglomerate.engine import engine_linkage
from ordhc.specs import LinkageSpec

SCALED = ("uniform", "50-d clusters")
SIZES = (1000, 5000, 10_000, 20_000)
FEW = (20, 50, 100, 240, 500)
LINKAGES = ("average", "complete", "weighted", "ward", "single", "centroid", "median")
#: Inputs in which numbers repeat.
TIED = ("integers 0..49", "0 and 1", "Jaccard", "Hamming", "AddS3, n^2", "AddS3, n^2/16", "all equal")


def bar(kind, name, n):
    """How many times as fast as fastcluster it has to be."""
    tied = kind in TIED
    if name == "single":
        return 3.0 if tied else 5.0
    if name in ("centroid", "median"):
        return 1.0 if tied else 1.5
    return 2.0 if tied else 3.5 if n >= 10_000 else 3.0


CALLS = {
    "ordhc": "import ordhc; ordhc.linkage(y, {name!r}, dissimilarity=True)",
    "ordhc, overwrite": "import ordhc; ordhc.linkage(y, {name!r}, dissimilarity=True, overwrite=True)",
    "fastcluster": "import fastcluster; fastcluster.linkage(y, {name!r})",
}


def peaks(kind, name, n, calls=CALLS):
    """Peak memory of a fresh process in sizes of the input, of which the first is the input itself."""
    here = str(Path(__file__).parent)
    made = f"import sys; sys.path.insert(0, {here!r}); from inputs import INPUTS; y = INPUTS[{kind!r}]({n})\n"
    size = 8 * (n * (n - 1) // 2) / 2**20
    return {who: peak_megabytes(made + call.format(name=name)) / size for who, call in calls.items()}


def repeated(work, repeats):
    return lambda: [work() for _ in range(repeats)]


def small():
    """Trees of few leaves, one after the other, in microseconds a call."""
    rows = []
    for name in ("average", "ward", "single"):
        for n in FEW:
            y, repeats = uniform(n), 1 + 40_000 // n**2
            works = {
                "similarities": lambda y=y, name=name: ordhc.linkage(y, name, dissimilarity=False),
                "dissimilarities": lambda y=y, name=name: ordhc.linkage(y, name, dissimilarity=True),
                "fastcluster": lambda y=y, name=name: fastcluster.linkage(y, name),
            }
            medians = alternating({who: repeated(work, repeats) for who, work in works.items()}, 25)
            times = [1e6 * medians[who] / repeats for who in works]
            ratios = [f"{times[-1] / ours:.2f}" for ours in times[:-1]]
            rows.append((name, n, *(f"{time:.1f}" for time in times), *ratios, "1.50"))
    print("Few leaves, uniform, microseconds, medians of 25; ratios are fastcluster's time by ours\n")
    head = ("linkage", "n", "similarities", "dissimilarities", "fastcluster", "ratio", "ratio", "bar")
    table(head, rows)


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
    for kind in SCALED:
        points = []
        for n in (n for n in (5000, 7000, 10_000, 14_000, 20_000, 30_000) if n <= largest):
            y = INPUTS[kind](n)
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


def both_ways(options):
    """Similarities beside the dissimilarities that they are the largest number less of."""
    rows = []
    calls = {
        "dissimilarities": "import ordhc; ordhc.linkage(y, {name!r}, dissimilarity=True)",
        "similarities": "import ordhc; y = y.max() - y; ordhc.linkage(y, {name!r}, dissimilarity=False)",
        "fastcluster": CALLS["fastcluster"],
    }
    for n in (n for n in (2000, 5000, 12_000) if n <= options.largest):
        for kind in options.inputs:
            y = INPUTS[kind](n)
            if y is None:
                continue
            s = y.max() - y
            for name in (name for name in ("average", "weighted", "ward") if name in options.linkages):
                works = {
                    "dissimilarities": lambda y=y, name=name: ordhc.linkage(y, name, dissimilarity=True),
                    "similarities": lambda s=s, name=name: ordhc.linkage(s, name, dissimilarity=False),
                    "fastcluster": lambda y=y, name=name: fastcluster.linkage(y, name),
                }
                seconds = alternating(works, 3, time.process_time if options.processor else time.perf_counter)
                used = peaks(kind, name, n, calls) if options.memory else {}
                ratios = f"{seconds['similarities'] / seconds['dissimilarities']:.2f}"
                peak = " / ".join(f"{peak:.2f}" for peak in used.values()) or "-"
                rows.append(
                    (name, f"{n:,}", kind, *(f"{seconds[who]:.4f}" for who in works), ratios, "1.15", peak)
                )
    head = ("linkage", "n", "input", *(f"{who} s" for who in calls), "ratio", "bar: at most")
    table((*head, "peak / input: dissimilarities / similarities / fastcluster"), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("largest", nargs="?", type=int, default=10_000)
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), metavar="INPUT")
    parser.add_argument("--linkages", nargs="+", choices=LINKAGES, default=LINKAGES, metavar="LINKAGE")
    parser.add_argument("--memory", action="store_true", help="peak memory, from 5,000 leaves on")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--both-ways", action="store_true")
    parser.add_argument("--processor", action="store_true", help="processor time, for --both-ways")
    parser.add_argument("--scaling", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.scaling:
        scaling(options.largest, options.scaling)
    elif options.small:
        small()
    elif options.both_ways:
        both_ways(options)
    else:
        compare(options)
        row_updates(min(3000, options.largest))
        watched(min(10_000, options.largest))


def compare(options):
    rows = []
    for n in (n for n in SIZES if n <= options.largest):
        for kind in options.inputs:
            y = INPUTS[kind](n)
            if y is None:
                print(f"no {kind} of {n:,} leaves: ORDHC_DATA names no folder with as many")
                continue
            rows += [compared(kind, name, n, y, options.memory and n >= 5000) for name in options.linkages]
    print("\nFrom a condensed float64 matrix, medians of 5\n")
    head = ("linkage", "n", "input", "ordhc s", "peer s", "ratio", "bar", "one read s")
    table((*head, "peak / input, the input counted: ordhc / overwrite / fastcluster"), rows)


def compared(kind, name, n, y, memory):
    """One linkage of one input: our time and the peer's."""
    works = {
        "ordhc": lambda: ordhc.linkage(y, name, dissimilarity=True),
        "fastcluster": lambda: fastcluster.linkage(y, name),
        "read": y.max,
    }
    seconds = alternating(works, 5)
    ours = ordhc.linkage(y, name, dissimilarity=True).heights
    if kind not in TIED:
        # Where numbers repeat heights are up to which tie is broken how.
        peer = scipy.cluster.hierarchy if n <= 1000 else fastcluster
        assert np.allclose(ours, peer.linkage(y, name)[:, 2])
    used = " / ".join(f"{peak:.2f}" for peak in peaks(kind, name, n).values()) if memory else "-"
    cells = (f"{seconds[who]:.4f}" for who in ("ordhc", "fastcluster"))
    ratio, least = seconds["fastcluster"] / seconds["ordhc"], bar(kind, name, n)
    return (name, f"{n:,}", kind, *cells, f"{ratio:.2f}", f"{least:.2f}", f"{seconds['read']:.4f}", used)


if __name__ == "__main__":
    main()
