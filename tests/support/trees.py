"""Trees at random, and what is in a tree."""

import numpy as np

import ordhc
from ordhc import _ordhc


def members(tree):
    """The leaves of every cluster, by its label."""
    found = [frozenset([leaf]) for leaf in range(tree.n_leaves)]
    for a, b in tree.merges.tolist():
        found.append(found[a] | found[b])
    return found


def clusters_of(tree):
    """The leaves of each merge's cluster, in order of the merges."""
    return members(tree)[tree.n_leaves :]


def same(a, b):
    """Whether two trees have the same clusters, whatever the names of the leaves."""
    return ordhc.metrics.robinson_foulds(a.with_names(None), b.with_names(None), normalize=False) == 0


def random_tree(n, seed=0, shape="uniform"):
    """One of the engine's random trees."""
    return ordhc.Dendrogram._of(_ordhc.random_tree(shape, n, seed), None)


def random_merges(n, seed):
    """Pairs of labels that make a tree of n leaves."""
    rng = np.random.default_rng(seed)
    there, merges = list(range(n)), []
    for at in range(n - 1):
        a, b = (there.pop(rng.integers(len(there))) for _ in range(2))
        merges.append((a, b))
        there.append(n + at)
    return merges
