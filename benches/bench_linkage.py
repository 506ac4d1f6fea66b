"""Average linkage beside fastcluster and SciPy: python benches/bench_linkage.py [n ...]."""

import sys

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
CALLS = {
    "ordhc": "import ordhc; ordhc.linkage(y, 'average', dissimilarity=True)",
    "fastcluster": "import fastcluster; fastcluster.linkage(y, 'average')",
}


def main():
    sizes = [int(text) for text in sys.argv[1:]] or [1000, 5000, 10_000]
    rows = []
    for n in sizes:
        for kind, code in INPUT.items():
            y = eval(code, {"np": np, "pdist": pdist, "n": n})
            works = {
                "ordhc": lambda y=y: ordhc.linkage(y, "average", dissimilarity=True),
                "fastcluster": lambda y=y: fastcluster.linkage(y, "average"),
            }
            if n <= 5000:
                works["scipy"] = lambda y=y: scipy.cluster.hierarchy.linkage(y, "average")
            medians = alternating(works, 5)
            ours = ordhc.linkage(y, "average", dissimilarity=True).to_scipy()
            assert np.allclose(ours[:, 2], fastcluster.linkage(y, "average")[:, 2])
            del y
            for name, seconds in medians.items():
                memory = "-"
                if name in CALLS:
                    setup = ("import numpy as np", "from scipy.spatial.distance import pdist", f"n = {n}")
                    script = "\n".join((*setup, f"y = {code}", CALLS[name]))
                    memory = f"{peak_megabytes(script):.0f}"
                ratio = f"{medians['fastcluster'] / seconds:.2f}"
                rows.append((f"{n:,}", kind, name, f"{seconds:.3f}", ratio, memory))
    print("Average linkage from a condensed float64 matrix, medians of 5\n")
    table(("n", "input", "code", "median s", "x fastcluster", "peak MB"), rows)


if __name__ == "__main__":
    main()
