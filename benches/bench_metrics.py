"""Scores beside the obvious alternatives: python benches/bench_metrics.py [group ...].

Groups are revenue, dasgupta, kendall, distortion, triplets, clusters and labels; by default all. DendroPy
and tqDist, where they cannot be imported, are left out. dasgupta takes 1.2 GB.
"""

import sys

import numpy as np
from scipy.cluster.hierarchy import cophenet
from scipy.spatial.distance import squareform
from scipy.stats import kendalltau

import ordhc
from bench_methods import added_megabytes
from measure import alternating, median_seconds, table
from ordhc import metrics

HEADER = ("work", "median s", "x ordhc", "bar")


def random_tree(n, seed):
    """Random merges, in rounds in which a fifth of the clusters take part, at random heights."""
    rng = np.random.default_rng(seed)
    there, rounds, made = np.arange(n), [], n
    while len(there) > 1:
        there = rng.permutation(there)
        pairs = there[: 2 * (len(there) // 10 or 1)].reshape(-1, 2)
        rounds.append(pairs)
        there = np.concatenate([there[pairs.size :], np.arange(made, made + len(pairs))])
        made += len(pairs)
    return ordhc.Dendrogram(np.concatenate(rounds), np.sort(rng.random(n - 1)))


def chain(n, seed):
    """One leaf after the other, at random heights."""
    rng = np.random.default_rng(seed)
    leaves = rng.permutation(n)
    merges = np.column_stack([np.append(leaves[0], np.arange(n, 2 * n - 2)), leaves[1:]])
    return ordhc.Dendrogram(merges, np.sort(rng.random(n - 1)))


def two_trees(n):
    return random_tree(n, 0), random_tree(n, 1)


def two_chains(n):
    return chain(n, 0), chain(n, 1)


def two_with_inversions(n):
    rng = np.random.default_rng(2)
    return [ordhc.Dendrogram(tree.merges, rng.permutation(tree.heights)) for tree in two_trees(n)]


def rows_of(works, repeats, bar):
    """Table rows of works run in turn, the first of which is ordhc's and the only one with a bar."""
    medians = alternating(works, repeats)
    ours = next(iter(medians.values()))
    return [
        (name, f"{seconds:.3f}", f"{seconds / ours:,.2f}", bar if at == 0 else "")
        for at, (name, seconds) in enumerate(medians.items())
    ]


def alone(name, work, repeats, bar):
    return (name, f"{median_seconds(work, repeats):.3f}", "", bar)


# --- by comparisons --------------------------------------------------------------------------


def size_table(tree):
    """|H(i, j)| of all pairs."""
    Z = tree.to_linkage_matrix()
    Z[:, 2] = tree.sizes
    return squareform(cophenet(Z).astype(np.int32))


def revenue():
    n, m = 1000, 10_000_000
    rng = np.random.default_rng(0)
    rows = rng.integers(0, n, (m + m // 100, 3), dtype=np.uint16)
    i, j, k = rows.T
    t = ordhc.Triplets(rows[(i != j) & (i != k) & (j != k)][:m], n_leaves=n)
    assert len(t) == m
    tree = random_tree(n, 0)

    def lookups():
        sizes = size_table(tree)
        i, j, k = t.rows.T
        return int(sizes[i, k].sum(dtype=np.int64) - sizes[i, j].sum(dtype=np.int64))

    assert lookups() == metrics.triplet_revenue(tree, t)
    works = {
        "triplet_revenue": lambda: metrics.triplet_revenue(tree, t),
        "lookups in a table of sizes": lookups,
    }
    print(f"Revenue of {m:,} triplets, n = {n:,}, equal results, medians of 5\n")
    table(HEADER, rows_of(works, 5, "0.15 s"))


# --- by similarities -------------------------------------------------------------------------


def dasgupta():
    n = 10_000
    tree, x = random_tree(n, 0), np.random.default_rng(0).random(n)
    S = np.add.outer(x, x)
    y = squareform(S, checks=False)
    rows = []
    for name, values in (("square", S), ("condensed", y)):
        works = {
            f"dasgupta_cost, {name}": lambda values=values: metrics.dasgupta_cost(tree, values),
            f"one read, {name}: S.sum()": lambda values=values: values.sum(),
        }
        rows += rows_of(works, 5, "2 reads")
    print(f"Dasgupta cost of float64 similarities, n = {n:,}, medians of 5\n")
    table(HEADER, rows)


# --- beside another tree ---------------------------------------------------------------------


def scipy_tau(trees, n_sample):
    """SciPy's tau-b of a sample of leaves, from matrices of merge heights."""
    squares = [squareform(cophenet(tree.to_linkage_matrix())) for tree in trees]
    for square in squares:
        np.fill_diagonal(square, -1)
    sample = np.random.default_rng(0).choice(trees[0].n_leaves, n_sample, replace=False)
    return sample, lambda: [kendalltau(*(square[leaf] for square in squares)).statistic for leaf in sample]


def kendall():
    rows = []
    n, n_sample = 5000, 50
    for name, make in (("random merges", two_trees), ("chains", two_chains)):
        trees = make(n)
        sample, with_scipy = scipy_tau(trees, n_sample)
        assert np.allclose(metrics.kendall_tau_b(*trees).values[sample], with_scipy())
        works = {"ordhc": lambda trees=trees: metrics.kendall_tau_b(*trees), "SciPy": with_scipy}
        medians = alternating(works, 3)
        scaled = medians["SciPy"] * n / n_sample
        added = peak_above(make.__name__, n)
        rows.append((f"{n:,}", name, f"{medians['ordhc']:.2f}", "", "2 s", added))
        rows.append(
            (f"{n:,}", f"{name}, SciPy", f"{scaled:.2f}", f"{scaled / medians['ordhc']:,.1f}", "", "-")
        )
    for name, make in (("random merges", two_trees), ("chains", two_chains)):
        trees = make(20_000)
        seconds = median_seconds(lambda trees=trees: metrics.kendall_tau_b(*trees), 1)
        rows.append(("20,000", name, f"{seconds:.2f}", "", "40 s", peak_above(make.__name__, 20_000)))
    print("Mean Kendall tau-b of two trees, medians of 3 (20,000 once). SciPy is scaled up from a sample of")
    print(f"{n_sample} leaves, without the time for its matrices of merge heights; equal results\n")
    table(("n", "work", "median s", "x ordhc", "bar", "MB above the input"), rows)


def peak_above(make, n):
    return added_megabytes(f"__import__('bench_metrics').{make}({n})", "ordhc.metrics.kendall_tau_b(*t)")


def distortion():
    small = two_trees(5000)

    def with_scipy():
        x, y = (cophenet(tree.to_linkage_matrix()) for tree in small)
        return np.abs(x - y).max()

    assert with_scipy() == metrics.merge_distortion(*small)
    works = {
        "n = 5,000, random merges": lambda: metrics.merge_distortion(*small),
        "n = 5,000, random merges, SciPy's cophenet": with_scipy,
    }
    rows = rows_of(works, 3, "")
    makers = {"random merges": two_trees, "chains": two_chains, "inversions": two_with_inversions}
    for name, make in makers.items():
        trees = make(20_000)
        work = lambda trees=trees: metrics.merge_distortion(*trees)  # noqa: E731
        rows.append(alone(f"n = 20,000, {name}", work, 3, "5 s"))
    print("Merge distortion of two trees, equal results, medians of 3\n")
    table(HEADER, rows)


def triplets():
    n = 100_000
    a, b = two_trees(n)
    works = {"triplet_distance, random merges": lambda: metrics.triplet_distance(a, b)}
    try:
        import tqdist
    except ImportError:
        print("tqDist cannot be imported: it is left out\n")
    else:
        texts = [tree.to_newick(branch_lengths=False) for tree in (a, b)]
        works["tqDist, from Newick text"] = lambda: tqdist.triplet_distance(*texts)
        assert np.isclose(works["tqDist, from Newick text"](), metrics.triplet_distance(a, b))
    rows = rows_of(works, 3, "2 s")
    chains = two_chains(n)
    rows.append(alone("triplet_distance, chains", lambda: metrics.triplet_distance(*chains), 3, "2 s"))
    print(f"Triplet distance of two trees of {n:,} leaves, equal results, medians of 3\n")
    table(HEADER, rows)


def clusters():
    a, b = two_trees(1_000_000)
    rows = [alone("n = 1,000,000", lambda: metrics.robinson_foulds(a, b), 3, "2 s")]
    small = two_trees(10_000)
    works = {"n = 10,000": lambda: metrics.robinson_foulds(*small, normalize=False)}
    try:
        import dendropy
        from dendropy.calculate.treecompare import symmetric_difference
    except ImportError:
        print("DendroPy cannot be imported: it is left out\n")
    else:
        names = dendropy.TaxonNamespace([str(leaf) for leaf in range(10_000)])
        theirs = [
            dendropy.Tree.get(
                data=tree.to_newick(branch_lengths=False),
                schema="newick",
                taxon_namespace=names,
                rooting="force-rooted",
            )
            for tree in small
        ]
        works["n = 10,000, DendroPy"] = lambda: symmetric_difference(*theirs)
        assert len({work() for work in works.values()}) == 1
    rows += rows_of(works, 3, "")
    print("Robinson-Foulds of two trees, equal results, medians of 3\n")
    table(HEADER, rows)


# --- beside labels ---------------------------------------------------------------------------


def labels():
    from sklearn.metrics import adjusted_rand_score

    n = 1_000_000
    tree, truth = random_tree(n, 0), random_tree(n, 0).relabel(swapped(n))
    levels = np.column_stack([truth.cut(k) for k in (10, 100, 1000)])
    column = levels[:, 1].copy()

    def sklearn_ari():
        return adjusted_rand_score(column, tree.cut(100))

    def sklearn_aari():
        return np.mean(
            [adjusted_rand_score(levels[:, at], tree.cut(k)) for at, k in enumerate((10, 100, 1000))]
        )

    assert np.isclose(metrics.ari(tree, column), sklearn_ari())
    assert np.isclose(metrics.aari(tree, levels), sklearn_aari())
    rows = rows_of({"ari": lambda: metrics.ari(tree, column), "ari, scikit-learn": sklearn_ari}, 3, "1 s")
    works = {"aari, 3 levels": lambda: metrics.aari(tree, levels), "aari, scikit-learn": sklearn_aari}
    rows += rows_of(works, 3, "1 s")
    print(f"{n:,} labels beside a tree, cuts included (with ordhc.cut for scikit-learn), medians of 3\n")
    table(HEADER, rows)


def swapped(n):
    """Every leaf as itself, but a tenth of them in another order."""
    leaves = np.arange(n)
    leaves[: n // 10] = np.random.default_rng(1).permutation(n // 10)
    return leaves


GROUPS = {
    "revenue": revenue,
    "dasgupta": dasgupta,
    "kendall": kendall,
    "distortion": distortion,
    "triplets": triplets,
    "clusters": clusters,
    "labels": labels,
}


def main():
    for name in [text for text in sys.argv[1:] if text in GROUPS] or GROUPS:
        GROUPS[name]()


if __name__ == "__main__":
    main()
