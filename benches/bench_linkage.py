"""Linkages beside fastcluster and SciPy: python benches/bench_linkage.py [largest n].

Each line has its bar: how many times as fast as fastcluster it has to be (for n = 1,000, as SciPy).
"""

import sys
import time

import fastcluster
import numpy as np
import scipy.cluster.hierarchy
from scipy.spatial.distance import pdist

import ordhc
from measure import alternating, peak_megabytes, table

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


def main():
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
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
            ours = ordhc.linkage(y, name, dissimilarity=True).to_scipy()
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


if __name__ == "__main__":
    main()
