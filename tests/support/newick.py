"""Newick text as it is read, and what it tells."""

import math
import warnings

import numpy as np

import ordhc
from ordhc import Dendrogram


def read_newick(text, **options):
    """A tree, whatever its text makes us warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ordhc.OrdhcWarning)
        return Dendrogram.from_newick(text, **options)


def clades(tree):
    """By the leaves below each node: its name, its support, the length of its branch."""
    n = tree.n_leaves
    below = [frozenset([label]) for label in tree.labels]
    lengths = tree.branch_lengths
    if lengths is None:
        lengths = np.full(2 * n - 1, math.nan)
        heights = tree.heights
        rest = 0.0 if tree.kind == "dissimilarity" else heights.max(initial=-math.inf)
        own = [rest] * n if tree.leaf_heights is None else list(tree.leaf_heights)
        own += list(heights)
        sign = 1 if tree.kind == "dissimilarity" else -1
        for at, pair in enumerate(tree.merges):
            for part in pair:
                top = at
                while tree.joined is not None and tree.joined[top]:
                    top = int(np.flatnonzero((tree.merges == n + top).any(axis=1))[0])
                lengths[part] = sign * (heights[top] - own[part])
    found = {}
    for a, b in tree.merges:
        below.append(below[a] | below[b])
    for cluster, leaves in enumerate(below):
        at = cluster - n
        if at >= 0 and tree.joined is not None and tree.joined[at]:
            continue
        name = tree.node_names[at] if at >= 0 and tree.node_names is not None else None
        share = tree.support[at] if at >= 0 and tree.support is not None else math.nan
        found[leaves] = (name, f"{share}", f"{lengths[cluster] + 0.0}")
    return found
