"""Newick text as it is read, and what it tells."""

import math
import warnings

import numpy as np
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram
from ordhc.testing import strategies

# All that has a meaning in Newick text, and some that has none.
SPECIAL = " _'\"()[]{}:;,=\\/-+.\t\n|é木🌲0159ab"
NAMES = st.text(SPECIAL, min_size=0, max_size=6)
LENGTHS = st.one_of(
    st.integers(0, 9).map(float),
    st.floats(0, 1e6),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
)


@st.composite
def dendrograms(draw):
    """With everything that a dendrogram can have, or without."""
    shape = draw(strategies.dendrograms(max_leaves=9))
    n, kind, merges = shape.n_leaves, shape.kind, shape.merges.tolist()
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    heights = rng.integers(0, 4, n - 1) * draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    if draw(st.booleans()):
        heights = np.sort(heights)[:: 1 if kind == "dissimilarity" else -1]
    above = {part: at for at, pair in enumerate(merges) for part in pair}
    joined = np.zeros(n - 1, dtype=bool)
    for at in range(n - 2):
        joined[at] = heights[at] == heights[above[n + at]] and draw(st.booleans())

    def maybe(values):
        return values if draw(st.booleans()) else None

    def by_merge(values):
        return [None if part else draw(st.none() | values) for part in joined]

    shares = st.floats(0, 1) | st.integers(0, 100).map(lambda k: k / 100) | st.floats(0, 0.01)
    lengths = [math.nan if at >= n and joined[at - n] else draw(LENGTHS) for at in range(2 * n - 1)]
    return Dendrogram(
        merges,
        heights,
        kind=kind,
        names=maybe(draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))),
        node_names=maybe(by_merge(NAMES)),
        support=maybe([math.nan if share is None else share for share in by_merge(shares)]),
        joined=joined,
        branch_lengths=maybe(lengths),
        leaf_heights=maybe([draw(LENGTHS) for _ in range(n)]),
    )


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
