"""Newick text as it is read, and what it says."""

import math
import random
import warnings

from hypothesis import strategies as st

from ordhc import Dendrogram
from ordhc.errors import OrdhcWarning
from support.trees import members

# All that has a meaning in Newick text, and some that has none.
SPECIAL = " _'\"()[]{}:;,=\\/-+.\t\n|é木🌲0159ab"
NAMES = st.text(SPECIAL, min_size=0, max_size=6)
LENGTHS = st.one_of(
    st.integers(0, 9).map(float),
    st.floats(0, 1e6),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
)
SCALES = ("heights", "lengths", "shape")


@st.composite
def dendrograms(draw, scales=SCALES):
    """With everything that a dendrogram can have, or without."""
    n = draw(st.integers(1, 9))
    source = random.Random(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from(scales)) if n > 1 else "heights"
    # A tree that an agglomeration makes is binary, and its nodes are in the order of merges.
    is_agglomerated = scale == "heights" and draw(st.booleans())
    tops, parents, merges = list(range(n)), [-1] * n, []
    while len(tops) > 1:
        degree = 2 if is_agglomerated else source.choice([2, 2, 3, len(tops)])
        chosen = source.sample(tops, min(degree, len(tops)))
        for child in chosen:
            parents[child] = len(parents)
        tops = [top for top in tops if top not in chosen] + [len(parents)]
        parents.append(-1)
        merges.append(chosen)
    n_inner = len(parents) - n

    def maybe(values):
        return values if draw(st.booleans()) else None

    def by_node(values):
        return [draw(st.none() | values) for _ in range(n_inner)]

    shares = st.floats(0, 1) | st.integers(0, 100).map(lambda k: k / 100) | st.floats(0, 0.01)
    options = {
        "names": maybe(draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))),
        "node_names": maybe(by_node(NAMES)),
        "support": maybe([math.nan if share is None else share for share in by_node(shares)]),
    }
    if scale == "shape":
        return Dendrogram.from_parents(parents, **options)
    if scale == "lengths":
        lengths = [draw(LENGTHS | st.just(math.nan)) for _ in parents]
        lengths[0] = draw(LENGTHS)
        return Dendrogram.from_parents(parents, lengths=lengths, **options)
    kind = draw(st.sampled_from(["similarity", "dissimilarity"]))
    heights = [source.randrange(4) * draw(st.sampled_from([1.0, 0.1, 1 / 3])) for _ in range(n_inner)]
    if draw(st.booleans()):
        heights.sort(reverse=kind == "similarity")
    options |= {"kind": kind, "leaf_heights": maybe([draw(LENGTHS) for _ in range(n)])}
    if is_agglomerated or n == 1:
        return Dendrogram(merges, heights, **options)
    return Dendrogram.from_parents(parents, heights=heights, **options)


def read_newick(text, **options):
    """A tree, whatever its text makes us warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        return Dendrogram.from_newick(text, **options)


def clades(tree):
    """By the leaves below each node: its name, its support, the length of the edge above."""
    n = tree.n_leaves
    if tree.scale == "shape":
        lengths = [math.nan] * len(tree.parents)
    elif tree.scale == "lengths":
        lengths = tree.lengths.tolist()
    else:
        heights = tree.heights.tolist()
        rest = 0.0 if tree.kind == "dissimilarity" else max(heights, default=0.0)
        heights = ([rest] * n if tree.leaf_heights is None else tree.leaf_heights.tolist()) + heights
        sign = 0.5 if tree.kind == "dissimilarity" else -0.5
        lengths = [sign * (heights[above] - heights[node]) for node, above in enumerate(tree.parents)]
        lengths[-1] = math.nan
    found = {}
    for node, leaves in enumerate(members(tree)):
        at = node - n
        name = tree.node_names[at] if at >= 0 and tree.node_names is not None else None
        share = tree.support[at] if at >= 0 and tree.support is not None else math.nan
        found[frozenset(tree.labels[leaf] for leaf in leaves)] = (name, f"{share}", f"{lengths[node] + 0.0}")
    return found
