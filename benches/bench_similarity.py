"""AddS3 beside NumPy's np.add.at: python benches/bench_similarity.py."""

import numpy as np

import ordhc
from measure import alternating, median_seconds, table


def random_triplets(m, n, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n, (m + m // 50, 3), dtype=np.int32)
    i, j, k = rows.T
    rows = rows[(i != j) & (i != k) & (j != k)][:m]
    return ordhc.Triplets(rows, n_leaves=n)


def add_at(triplets):
    i, j, k = triplets.rows.T
    S = np.zeros((triplets.n_leaves, triplets.n_leaves))
    np.add.at(S, (i, j), 1.0)
    np.add.at(S, (i, k), -1.0)
    return S + S.T


def main():
    m = 10_000_000
    rows = []
    t = random_triplets(m, 1000)
    assert np.array_equal(ordhc.similarity(t), add_at(t))
    medians = alternating({"ordhc": lambda: ordhc.similarity(t), "np.add.at": lambda: add_at(t)}, 5)
    for name, seconds in medians.items():
        rows.append((name, "1,000", "square float64", f"{seconds:.3f}", f"{len(t) / seconds / 1e6:.0f}"))
    print(f"AddS3, {m:,} triplets; ratio at n = 1,000: {medians['np.add.at'] / medians['ordhc']:.1f}x\n")
    t = random_triplets(m, 20_000)
    for layout, dtype in (("condensed", "int32"), ("condensed", "float64"), ("square", "float64")):
        seconds = median_seconds(lambda a=layout, b=dtype: ordhc.similarity(t, layout=a, dtype=b), 3)
        rows.append(
            ("ordhc", "20,000", f"{layout} {dtype}", f"{seconds:.3f}", f"{len(t) / seconds / 1e6:.0f}")
        )
    table(("code", "n", "result", "median s", "million triplets/s"), rows)


if __name__ == "__main__":
    main()
