"""Trees: scores, operations, consensus, and files in every format."""

import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import ordhc
from digests.answers import all_answers, plain_tree, points, quadruplets
from digests.listing import Listing, on_one_thread, outcome
from ordhc import metrics
from ordhc.tree.dendrogram import lca_size


def run(listing: Listing) -> None:
    """Add all lines about trees."""
    for n in (1, 2, 3, 40, 500):
        of_scores(listing, n)
    of_scores_of_answers(listing)
    of_operations(listing)
    of_files(listing)


def pair(n: int) -> tuple[ordhc.Dendrogram, ordhc.Dendrogram]:
    """Two trees of the same leaves, one of them with many equal heights."""
    rng = np.random.default_rng(n)
    values = rng.integers(0, 6, n * (n - 1) // 2).astype(np.float64)
    first = ordhc.cluster(points(n), similarity="euclidean", linkage="average")
    return first, ordhc.linkage(values, "complete", dissimilarity=True)


def of_scores(listing: Listing, n: int) -> None:
    """A tree beside another, beside labels and beside similarities."""
    tree, other = pair(n)
    scores: dict[str, Any] = {
        "triplet_distance": lambda: metrics.triplet_distance(tree, other),
        "triplet_distance of counts": lambda: metrics.triplet_distance(tree, other, normalize=False),
        "triplet_distance of ties": lambda: metrics.triplet_distance(other, tree, join_ties=True),
        "robinson_foulds": lambda: metrics.robinson_foulds(tree, other),
        "robinson_foulds of ties": lambda: metrics.robinson_foulds(tree, other, join_ties=True),
        "kendall_tau_b": lambda: metrics.kendall_tau_b(tree, other),
        "kendall_tau_b without itself": lambda: metrics.kendall_tau_b(other, tree, False),
        "merge_distortion": lambda: metrics.merge_distortion(tree, other),
        "cophenetic_correlation": lambda: metrics.cophenetic_correlation(tree, other),
        "aari": lambda: metrics.aari(tree, other),
    }
    labels = np.arange(n) * 5 // n
    scores |= {
        "ari": lambda: metrics.ari(tree, labels),
        "ari of clusters": lambda: metrics.ari(other, labels, min(3, n)),
        "aari of labels": lambda: metrics.aari(tree, np.stack([labels, labels // 2], axis=1)),
        "dendrogram_purity": lambda: metrics.dendrogram_purity(tree, labels),
        "dendrogram_purity of ties": lambda: metrics.dendrogram_purity(other, labels, join_ties=True),
    }
    S = np.random.default_rng(n).integers(0, 90, (n, n)).astype(np.float64)
    S = S + S.T
    scores |= {
        "dasgupta_cost of a matrix": lambda: metrics.dasgupta_cost(tree, S),
        "dasgupta_revenue of a matrix": lambda: metrics.dasgupta_revenue(tree, S),
        "cophenetic_correlation of a matrix": lambda: metrics.cophenetic_correlation(
            tree, S, dissimilarity=False
        ),
        "ranking": lambda: metrics.kendall_tau_b(tree, S, tie_self=True, dissimilarity=False),
        "ranking without itself": lambda: metrics.kendall_tau_b(other, S, False, dissimilarity=True),
    }
    for name, call in scores.items():
        listing.same(f"score {n} {name}", call, on_one_thread(call))


def of_scores_of_answers(listing: Listing) -> None:
    """A tree beside answers."""
    for kind, data in all_answers().items():
        tree = plain_tree(data)
        for metric in ("satisfied", "triplet_revenue", "quadruplet_revenue", "answer_accuracy"):
            call = lambda m=metric, t=tree, c=data: getattr(metrics, m)(t, c)
            listing.same(f"score {metric} {kind}", call, on_one_thread(call))
        listing.add(f"contracted {kind}", lambda t=tree, c=data: ordhc.supported(t, c, 3))


def of_operations(listing: Listing) -> None:
    """What trees can be asked and made into."""
    tree, other = pair(40)
    named = tree.replace(names=[f"leaf {i}" for i in range(40)])
    operations: dict[str, Any] = {
        "cut": lambda: [other.cut(k) for k in (1, 2, 7, 40)],
        "cut at a height": lambda: other.cut(height=3.0),
        "labels": lambda: tree.cut(5),
        "cophenetic": tree.cophenetic,
        "leaf order": lambda: tree.leaf_order,
        "sizes": lambda: tree.sizes,
        "ties joined": lambda: other.contract(ties=True),
        "ladderized": lambda: tree.rotate(by_size="ascending"),
        "collapsed": lambda: other.contract(ties=True).collapse(2.0) if hasattr(other, "collapse") else None,
        "pruned": lambda: named.prune(range(0, 40, 3)),
        "kept": lambda: named.keep(range(0, 40, 3)),
        "subtree": lambda: named.keep(named.node(len(tree.parents) - 3)),
        "relabelled": lambda: tree.relabel(np.random.default_rng(1).permutation(40)),
        "rerooted": lambda: named.reroot(0),
        "patristic": lambda: named.patristic,
        "lowest common ancestors": lambda: lca_size(tree, np.arange(39), np.arange(1, 40)),
        "as SciPy has it": lambda: tree.to_linkage_matrix(),
        "as a dictionary": lambda: repr(named.to_dict()),
        "ordered": lambda: tree.rotate(order=tree.leaf_order()[::-1]).leaf_order(),
        "optimal order": lambda: tree.leaf_order(np.abs(np.subtract.outer(*[points(40)[:, 0]] * 2))),
        "rotated": lambda: tree.rotate(tree.root).leaf_order(),
    }
    for name, call in operations.items():
        listing.add(f"tree {name}", lambda c=call: called(c()))
    trees = ordhc.bootstrap(quadruplets(14, 200), n_resamples=9, seed=1).trees
    for settings in ({}, {"threshold": 0.7}, {"extended": True}):
        listing.add(f"consensus {settings}", lambda s=settings: ordhc.consensus(trees, **s))
    listing.add("distances of trees", lambda: metrics.tree_distances(trees, "triplet_distance"))
    for shape in ("yule", "uniform"):
        made = outcome(lambda s=shape: ordhc.datasets.random_tree(30, shape=s, seed=4))
        listing.add(f"random tree {shape}", made)
    S, _ = ordhc.datasets.planted_similarities(levels=2, leaves_per_cluster=4, seed=1)
    model = ordhc.Dendrogram([[0, 1], [2, 3]], [2, 1], kind="similarity", leaf_heights=[4, 3, 2])
    triples = np.array(list(itertools.combinations(range(16), 3)))
    liar = ordhc.oracles.noisy(ordhc.oracles.from_similarity(S), 0.7, noise="persistent", seed=2)
    simulated: dict[str, Any] = {
        "similarities": lambda: S,
        "comparisons": lambda: ordhc.datasets.comparisons_of(S, 50, flip=0.1, seed=3),
        "share of quadruplets": lambda: ordhc.datasets.comparisons_of(S, share=0.01, quadruplets=True),
        "vectors": lambda: ordhc.datasets.vectors_of(model, 6, 4, seed=1)[0],
        "persistent errors": lambda: liar(triples),
    }
    for name, call in simulated.items():
        listing.add(f"simulated {name}", call)


def called(value: Any) -> Any:
    """What a method returns that was not called yet."""
    return value() if callable(value) else value


def of_files(listing: Listing) -> None:
    """Trees as text, as they are written and read."""
    tree, other = pair(40)
    trees = {
        "plain": tree,
        "ties": other.contract(ties=True),
        "named": tree.replace(names=[f"it's [{i}] (a, b); {i % 3}" for i in range(40)]),
        "one leaf": pair(1)[0],
    }
    with tempfile.TemporaryDirectory() as folder:
        for kind, each in trees.items():
            for suffix in ("nwk", "nex", "json", "csv", "npy"):
                file = Path(folder) / f"{kind}.{suffix}"
                written = outcome(lambda t=each, f=file: ordhc.write_tree(t, f))
                if isinstance(written, str):
                    listing.add(f"file {kind} {suffix}", written)
                    continue
                if suffix != "npy":
                    listing.add(f"file {kind} {suffix}", file.read_bytes())
                listing.add(f"file {kind} {suffix} read", lambda f=file: ordhc.read_tree(f))
        file = Path(folder) / "many.nex"
        ordhc.write_trees([tree, other], file)
        listing.add("file of trees", [file.read_bytes(), ordhc.read_trees(file)])
    for text in ("((a,b)ab:1,c:2)root;", "(a:1,b:2,(c:.5,d:.25)x:1e-3);", "((a,b)95[&h=2],'c d');", "(a,b"):
        listing.add(f"newick {text}", lambda t=text: ordhc.Dendrogram.from_newick(t))
    listing.add("newick without lengths", lambda: other.to_newick(branch_lengths=False))
